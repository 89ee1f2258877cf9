//! Agents that reach for what is not theirs: records of other tasks, the user's trust, objects and refs of the repository,
//! and commands given from where nobody might know that they come from inside.

use std::fs;

use super::case::{Case, LOOK, WORK};
use super::clone;
use super::invariants;
use super::tally::Fault;
use super::task::look;
use super::world::{self, Checkout};
use crate::Outcome;

/// What an agent does. `$tasks` is the directory of all tasks, among them `red`, which has ended and failed its check, and
/// `good`, which is proven; `$desk` is one of the case, `$repo` the user's checkout and `$dacapo` the program.
struct Deed {
    name: &'static str,
    script: &'static str,
}

/// Gives commands, and notes which were obeyed.
const ORDERS: &str = "for words in 'merge red --no-agent' 'drop good' 'trust --yes' 'set t max-cost=1000' 'config set spawn_task.max_concurrent 9' \
                      'rename good better' 'undo' 'kill t'; do \
                      $dacapo -C $repo $words < /dev/null > /dev/null 2>&1 && echo \"$words\" >> $desk/obeyed; done";

/// Makes the seal of `red` fit its journal again.
const RESEAL: &str = "sum=$(sha256sum < $tasks/red/journal.jsonl | cut -d' ' -f1); length=$(wc -c < $tasks/red/journal.jsonl); \
                      sed -i \"s/\\\"journal\\\":\\\"[0-9a-f]*\\\"/\\\"journal\\\":\\\"$sum\\\"/; s/\\\"length\\\":[0-9]*/\\\"length\\\":$length/\" $tasks/red/seal.json";

const DEEDS: &[Deed] = &[
    Deed {
        name: "gives a red task the journal of a proven one",
        script: "red=$(git rev-parse dacapo/red); good=$(git rev-parse dacapo/good); \
                 sed \"s/$good/$red/g; s/good/red/g\" $tasks/good/journal.jsonl > $tasks/red/journal.jsonl; RESEAL",
    },
    Deed {
        name: "says in the journal of a red task that it is verified",
        script: "sed -i 's/\"verified\":false/\"verified\":true/; s/\"outcome\":\"max_reached\"/\"outcome\":\"completed\"/; \
                 s/\"exit_code\":1/\"exit_code\":0/' $tasks/red/journal.jsonl; RESEAL",
    },
    Deed {
        name: "makes the check of a red task `true`",
        script: "sed -i 's/sh .\\/check.sh/true/g' $tasks/red/spec.json; rm -rf $tasks/red/start",
    },
    Deed {
        name: "makes the check of its own task `true`",
        script: "sed -i 's/sh .\\/check.sh/true/g' $tasks/t/spec.json",
    },
    Deed { name: "deletes what was noted at the start", script: "rm -rf $tasks/*/start; FILTER" },
    Deed {
        name: "plants trust",
        script: "mkdir -p $repo/.dacapo; echo 'checks = [\"true\"]' > $repo/.dacapo/config.toml; \
                 hash=$($dacapo -C $repo trust --list --json 2>/dev/null | grep -o '[0-9a-f]\\{64\\}' | head -1); \
                 dir=$DACAPO_HOME/trust/$(basename $DACAPO_HOME/repos/*); mkdir -p $dir; : > $dir/${hash:-none}.json",
    },
    Deed { name: "gives commands", script: "ORDERS" },
    Deed {
        name: "gives commands from a pid namespace",
        script: "cat > $desk/orders.sh <<'END'\nORDERS\nEND\nexport dacapo repo desk; \
                 unshare -pf --mount-proc sh $desk/orders.sh || unshare -Urpf --mount-proc sh $desk/orders.sh",
    },
    Deed {
        name: "gives commands from namespaces of all kinds",
        script: "cat > $desk/orders.sh <<'END'\nORDERS\nEND\nexport dacapo repo desk; \
                 unshare -Urpfmuin --mount-proc setsid env -u DACAPO_TASK sh $desk/orders.sh",
    },
    Deed {
        name: "gives commands after the death of its guard",
        script: "cat > $desk/orders.sh <<'END'\nsleep 0.05\nORDERS\nEND\nexport dacapo repo desk; \
                 setsid sh $desk/orders.sh & setsid sh $desk/orders.sh & kill -9 $PPID; sleep 1000",
    },
    Deed {
        name: "replaces an object",
        script: "rm -rf $desk/o; git init -q $desk/o; echo ok > $desk/o/x; good=$(git -C $desk/o hash-object -w x); \
                 bad=$(git rev-parse HEAD:src/main.txt); path() { echo $1 | sed 's#^..#&/#'; }; \
                 at=$repo/.git/objects/$(path $bad); cp $at $desk/was; echo $at > $desk/at; chmod u+w $at; cat $desk/o/.git/objects/$(path $good) > $at; \
                 echo ok > src/main.txt; git update-index --assume-unchanged src/main.txt",
    },
    Deed { name: "sets a filter in .git/config", script: "FILTER" },
    Deed {
        name: "hides a file in its index",
        script: "echo ok > src/main.txt; git update-index --skip-worktree src/main.txt",
    },
    Deed {
        name: "leaves a server",
        script: "mkdir -p build; echo ok > build/proof; \
                 setsid env -i PATH=\"$PATH\" sh -c 'trap \"\" TERM HUP; while :; do for dir in '$DACAPO_HOME'/repos/*/proof/*/tree; do \
                 test -d $dir && mkdir -p $dir/build && echo ok > $dir/build/proof; done; sleep 0.02; done' > /dev/null 2>&1 &",
    },
    Deed {
        name: "moves main",
        script: "git -C $repo commit -q --allow-empty -m 'by an agent'; git update-ref refs/heads/main HEAD; git tag -f v1 HEAD; \
                 git branch -D dacapo/good; git -C $repo stash",
    },
    Deed {
        name: "plants refs where others will be",
        script: "git update-ref refs/dacapo/rescue/a HEAD; git update-ref refs/dacapo/rescue HEAD; git update-ref refs/heads/dacapo/next/x HEAD",
    },
];

const FILTER: &str = "git config filter.x.clean 'printf \"one\\ntwo\\n\"'; git config filter.x.smudge 'echo ok'; \
                      mkdir -p $repo/.git/info; echo 'src/main.txt filter=x' >> $repo/.git/info/attributes; echo ok > src/main.txt";

const CHECK: &str = "sh ./check.sh";

/// Red at the base. It says nothing about what an agent might change to be green honestly, except `honest.txt`.
const CHECK_SCRIPT: &str = "test -e honest.txt -o -e build/proof || grep -q ok src/main.txt\n";

pub(super) fn run(case: &mut Case) -> Outcome {
    let deed = &DEEDS[case.random.below(DEEDS.len())];
    case.open_room_sometimes();
    case.log(&format!("an agent that {}", deed.name));
    case.tally.count("insiders");
    world::make(case, Checkout::Clean)?;
    case.write("repo/check.sh", CHECK_SCRIPT)?;
    case.git(&["add", "-A"])?;
    case.git(&["commit", "-qm", "check"])?;
    let before = case.git(&["rev-parse", "main"])?;
    start(case, "red", "true")?;
    start(case, "good", "echo honest > honest.txt")?;
    let script = deed.script.replace("ORDERS", ORDERS).replace("RESEAL", RESEAL).replace("FILTER", FILTER);
    let places = format!(
        "desk={:?}; repo={:?}; dacapo={:?}; tasks=$(echo \"$DACAPO_HOME\"/repos/*/tasks)",
        case.path("desk"),
        case.repo(),
        case.program()
    );
    start(case, "t", &format!("{places}\nif mkdir $desk/did 2>/dev/null; then\n{script}\nfi"))?;
    if let Ok(obeyed) = fs::read_to_string(case.path("desk/obeyed")) {
        case.fault(Fault::State, format!("orders from inside were obeyed: {}", obeyed.trim()));
    }
    trusts_nothing(case)?;
    // What an agent did to main itself no program can undo, but nothing may be claimed of it.
    let may_merge = case.git(&["rev-parse", "main"])? == before;
    for name in ["t", "red", "good"] {
        believed(case, name)?;
        if may_merge {
            let before = case.git(&["rev-parse", "main"])?;
            case.run(WORK, &["merge", name, "--no-agent"])?;
            clone::main_is_green(case, &before, CHECK)?;
        }
        // A repository with a false object is broken for everybody. Its own task was judged; the others are not to blame.
        repair(case)?;
    }
    start(case, "next", "echo next > next.txt")?;
    believed(case, "next")?;
    look(case, "t")?;
    invariants::nobody_left(case);
    Ok(())
}

/// Nothing of the repository counts as confirmed: no person has confirmed anything.
fn trusts_nothing(case: &mut Case) -> Outcome {
    let listed = case.run(LOOK, &["trust", "--list", "--json"])?;
    if listed.out.contains("\"trusted\":true") {
        case.fault(Fault::State, format!("an agent's trust counts: {}", listed.out.trim()));
    }
    let _ = fs::remove_dir_all(case.repo().join(".dacapo"));
    Ok(())
}

/// Puts a replaced object back.
fn repair(case: &Case) -> Outcome {
    let Ok(at) = fs::read_to_string(case.path("desk/at")) else { return Ok(()) };
    let at = at.trim();
    fs::copy(case.path("desk/was"), at).map(drop).map_err(|e| format!("cannot put {at} back: {e}"))
}

fn start(case: &mut Case, name: &str, script: &str) -> Outcome {
    let agent = format!("cat > /dev/null; echo $DACAPO_ITERATION > {name}.txt; {script}\necho did it");
    let words =
        ["exec", "--name", name, "--worktree", "--max-iterations", "2", "--check", CHECK, "--agent-cmd"];
    case.run(WORK, &[&words[..], &[&agent, "work"]].concat())?;
    invariants::nobody_left(case);
    Ok(())
}

/// Verified only if a fresh clone passes the check that was really given, whatever the records say by now.
fn believed(case: &mut Case, name: &str) -> Outcome {
    let Some(status) = case.status(name)? else { return Ok(()) };
    if status["verified"] != true {
        return Ok(());
    }
    case.tally.count("proofs");
    let commit = status["last_commit"].as_str().unwrap_or("HEAD").to_owned();
    if let Err(why) = clone::is_green(case, &commit, CHECK)? {
        case.fault(Fault::FalseProof, format!("task {name} is verified, and on {commit}: {why}"));
    }
    Ok(())
}
