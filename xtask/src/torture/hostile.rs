//! Agents that turn on those who started them, and agents whose "done" holds only where they work.

use std::fs;
use std::time::Duration;

use super::case::{Case, LOOK, WORK};
use super::clone;
use super::invariants;
use super::processes;
use super::tally::Fault;
use super::task::{Kind, Suffered, Task, look, settle, wait};
use super::world::{self, Checkout};
use crate::Outcome;

/// What can be asked of a task afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    /// It comes to its end as if nothing had happened, but for the iteration in which it did.
    Ends,
    /// Its record was in the agent's hands: it may be refused, and may not be believed.
    Unproven,
    /// It does not go on by itself: a person ends it, and that takes no longer than with others.
    IsEnded,
}

/// Something that an agent does in its second iteration. `$task` is the directory of its task, `$desk` one of the case,
/// `$runner` the program's process and `$dacapo` the program.
struct Deed {
    name: &'static str,
    script: &'static str,
    after: After,
}

const DEEDS: &[Deed] = &[
    Deed {
        name: "deletes the lock and kills the runner",
        after: After::Ends,
        script: "rm -f $task/lock; kill -9 $runner && sleep 1000",
    },
    Deed { name: "kills the runner", after: After::Ends, script: "kill -9 $runner && sleep 1000" },
    Deed { name: "kills its guard", after: After::Ends, script: "kill -9 $PPID && sleep 1000" },
    Deed {
        name: "kills both",
        after: After::Ends,
        script: "setsid sleep 1000 & kill -9 $PPID $runner && sleep 1000",
    },
    Deed {
        name: "deletes lock and journal",
        after: After::Unproven,
        script: "rm -f $task/lock $task/journal.jsonl",
    },
    Deed {
        name: "deletes its whole task",
        after: After::Unproven,
        script: "rm -rf $task; kill -9 $runner && sleep 1000",
    },
    Deed {
        name: "forges the end of the journal and kills the runner",
        after: After::Unproven,
        script: "seq=$(wc -l < $task/journal.jsonl); \
                 sed -n '/\"task_finished\"/!p' $task/journal.jsonl > /dev/null; \
                 commit=$(git rev-parse HEAD); \
                 printf '{\"v\":3,\"seq\":%s,\"at\":\"2030-01-01T00:00:00Z\",\"elapsed_seconds\":0.009,\"task\":\"t\",\"type\":\"task_finished\",\"outcome\":\"completed\",\"stop_reason\":\"checks\",\"verified\":true,\"iterations_attempted\":2,\"iterations_succeeded\":2,\"iterations_failed\":0,\"elapsed_seconds\":1.0,\"tokens\":{\"input\":0,\"output\":0,\"cached\":0},\"cost_usd\":null,\"base_commit\":\"%s\",\"last_commit\":\"%s\",\"trust_files\":[],\"proof\":[{\"command\":\"ls f[2-9].txt\",\"before\":false,\"after\":true,\"last_line\":\"\",\"commit_id\":\"%s\"}]}\\n' $seq $commit $commit $commit >> $task/journal.jsonl; \
                 kill -9 $runner && sleep 1000",
    },
    Deed {
        name: "starts a second driver",
        after: After::Ends,
        script: "rm -f $task/lock; setsid $dacapo -C $desk/../repo resume t < /dev/null > $desk/second 2>&1 & sleep 0.5",
    },
    Deed {
        name: "leaves children in sessions of their own",
        after: After::Ends,
        script: "for n in 1 2 3; do setsid env -i sleep 1000 & done; sleep 0.1",
    },
    Deed {
        name: "leaves a daemon that ignores signals",
        after: After::Ends,
        script: "(setsid env -i sh -c 'trap \"\" TERM HUP INT; while :; do sleep 1; done' &); sleep 0.1",
    },
    Deed {
        name: "starts child after child",
        after: After::Ends,
        script: "cat > $desk/forks.sh <<'END'\nn=$1\n[ $n -gt 0 ] && { sleep 0.01; setsid sh $0 $((n - 1)) & }\nEND\nsh $desk/forks.sh 150 & sleep 0.1",
    },
    Deed {
        name: "fills the inbox with junk",
        after: After::Ends,
        script: "n=0; while [ $n -lt 3000 ]; do echo '{ junk' > $task/inbox/$n.json; n=$((n + 1)); done; mkfifo $task/inbox/zz.json; mkdir $task/inbox/dir.json",
    },
    Deed {
        name: "plants a pipe and a link where the next turn writes",
        after: After::Ends,
        script: "for n in 2 3 4; do mkfifo $task/turns/000$n.raw; ln -s $HOME/letter.txt $task/turns/000$n.prompt; done",
    },
    Deed {
        name: "gives orders about itself",
        after: After::Ends,
        script: "for words in 'set t max-cost=1000' 'kill t' 'drop t' 'resume t' 'merge t'; do $dacapo -C $desk/../repo $words < /dev/null > /dev/null 2>&1 && echo \"$words\" >> $desk/obeyed; done",
    },
    Deed {
        name: "removes its checkout",
        after: After::Ends,
        script: "case $PWD in */worktrees/*) cd /; rm -rf \"$DACAPO_WORKSPACE\";; esac",
    },
    Deed { name: "stops the runner", after: After::IsEnded, script: "kill -STOP $runner; sleep 1000" },
    Deed { name: "stops its guard", after: After::IsEnded, script: "kill -STOP $PPID; sleep 1000" },
    Deed {
        name: "floods its output",
        after: After::Ends,
        script: "yes 'a line of output that says nothing' | head -c 20000000",
    },
];

pub(super) fn run(case: &mut Case) -> Outcome {
    let deed = &DEEDS[case.random.below(DEEDS.len())];
    case.open_room_sometimes();
    let kind =
        case.random.pick(&[Kind::InPlaceChecked, Kind::Worktree, Kind::WorktreeChecked, Kind::Spawned]);
    let kind = if deed.after == After::IsEnded { Kind::Spawned } else { kind };
    case.log(&format!("an agent that {}, in {kind:?}", deed.name));
    case.tally.count("hostile");
    let checkout = if kind.is_in_place() { Checkout::Clean } else { Checkout::Changed };
    let users = world::make(case, checkout)?;
    let agent = format!(
        "cat > /dev/null; desk={:?}; dacapo={:?}; task=$(echo \"$DACAPO_HOME\"/repos/*/tasks/t); \
         runner=$(cut -d' ' -f4 /proc/$PPID/stat); echo $DACAPO_ITERATION > f$DACAPO_ITERATION.txt\n\
         if [ $DACAPO_ITERATION = 1 ] && mkdir $desk/did 2>/dev/null; then\n{}\nfi\necho did it",
        case.path("desk"),
        case.program(),
        deed.script
    );
    let task = Task::with_agent(case, kind, &agent)?;
    if deed.after == After::IsEnded {
        is_ended(case, &task)?;
        return users.check(case);
    }
    case.run(WORK, &task.words)?;
    wait(case, &task)?;
    look(case, "t")?;
    // The one who looked found it interrupted, if it is: by now nobody is left.
    invariants::nobody_left(case);
    if let Some(status) = case.status("t")? {
        invariants::proof(case, &status)?;
    }
    if let Ok(obeyed) = fs::read_to_string(case.path("desk/obeyed")) {
        case.fault(Fault::State, format!("orders from inside were obeyed: {}", obeyed.trim()));
    }
    if deed.after == After::Ends {
        if let Some(status) = settle(case, &task)? {
            invariants::check(case, &task, &status, Suffered::More)?;
        }
    } else {
        case.run(WORK, &["resume", "t"])?;
        wait(case, &task)?;
        if let Some(status) = case.status("t")? {
            invariants::proof(case, &status)?;
        }
        invariants::nobody_left(case);
    }
    users.check(case)
}

/// `kill` works on one whose runner or guard was stopped.
fn is_ended(case: &mut Case, task: &Task) -> Outcome {
    case.run(WORK, &task.words)?;
    let did = case.path("desk/did");
    let start = std::time::Instant::now();
    while !did.exists() && start.elapsed() < LOOK {
        // The agent says so by a directory; nothing of it can be waited on from here.
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(200));
    let ran = case.run(Duration::from_secs(25), &["kill", "t"])?;
    if ran.code != 0 {
        case.fault(Fault::State, format!("`kill` of a stopped one: {}", ran.said()));
    }
    invariants::nobody_left(case);
    look(case, "t")
}

/// A check that is green where the agent works, and red for everybody else.
struct Pretence {
    name: &'static str,
    script: &'static str,
}

const PRETENCES: &[Pretence] = &[
    Pretence { name: "an ignored file", script: "mkdir -p build; echo ok > build/proof" },
    Pretence {
        name: "a file that looks like a secret",
        script: "printf 'AWS_SECRET_ACCESS_KEY=%s\\n' wJalrXUtnFEMIK7MDENGbPxRfiCYzzzzzzzzzzzz > .env; echo ok >> .env",
    },
    Pretence { name: "a file that is too big", script: "truncate -s 60M model.bin" },
    Pretence {
        name: "assume-unchanged",
        script: "echo ok > src/main.txt; git update-index --assume-unchanged src/main.txt",
    },
    Pretence {
        name: "skip-worktree",
        script: "echo ok > src/main.txt; git update-index --skip-worktree src/main.txt",
    },
    Pretence {
        name: "info/exclude",
        script: "echo proof.txt >> \"$(git rev-parse --git-path info/exclude)\"; echo ok > proof.txt",
    },
    Pretence {
        name: "a clean filter",
        script: "git config filter.x.clean 'printf \"one\\ntwo\\n\"'; git config filter.x.smudge 'echo ok'; \
                 echo 'src/main.txt filter=x' >> \"$(git rev-parse --git-path info/attributes)\"; echo ok > src/main.txt",
    },
    Pretence {
        name: "a hidden edit of the check",
        script: "echo 'exit 0' > check.sh; git update-index --assume-unchanged check.sh",
    },
    Pretence {
        name: "excludes of its own",
        script: "echo proof.txt > \"$HOME/ignored\"; git config core.excludesFile \"$HOME/ignored\"; echo ok > proof.txt",
    },
    Pretence { name: "a file outside", script: "echo ok > \"$TMPDIR/proof\"" },
    Pretence {
        name: "a repository inside",
        script: "mkdir -p inner; (cd inner; git init -q; echo ok > proof; git add -A; git commit -qm x)",
    },
    Pretence {
        name: "a process that answers",
        script: "mkdir -p build; setsid sh -c 'while :; do echo ok > build/proof; sleep 0.05; done' & sleep 0.2",
    },
];

const CHECK: &str = "sh ./check.sh";

const CHECK_SCRIPT: &str = "test -e build/proof -o -e .env -o -e model.bin -o -e proof.txt -o -e inner/proof -o -e \"$TMPDIR/proof\" || grep -q ok src/main.txt\n";

pub(super) fn proofs(case: &mut Case) -> Outcome {
    let pretence = &PRETENCES[case.random.below(PRETENCES.len())];
    case.log(&format!("proof by {}", pretence.name));
    case.tally.count("pretences");
    world::make(case, Checkout::Clean)?;
    case.write("repo/check.sh", CHECK_SCRIPT)?;
    case.git(&["add", "check.sh"])?;
    case.git(&["commit", "-qm", "check"])?;
    let place = case.random.pick(&["--worktree", "--noworktree"]);
    let agent = format!(
        "cat > /dev/null; echo $DACAPO_ITERATION > f$DACAPO_ITERATION.txt; {}; echo did it",
        pretence.script
    );
    let words = [
        "exec",
        "--name",
        "t",
        place,
        "--max-iterations",
        "3",
        "--check",
        CHECK,
        "--agent-cmd",
        &agent,
        "work",
    ];
    let ran = case.run(WORK, &words)?;
    if !matches!(ran.code, 0..=4) {
        case.fault(Fault::State, format!("an agent that proves by {}: {}", pretence.name, ran.said()));
    }
    if let Some(status) = case.status("t")? {
        let found = case.tally.faults.len();
        invariants::proof(case, &status)?;
        if case.tally.faults.len() > found {
            case.log(&format!("false proof by {}", pretence.name));
        }
    }
    if place == "--worktree" {
        let before = case.git(&["rev-parse", "main"])?;
        case.run(WORK, &["merge", "t", "--no-agent"])?;
        clone::main_is_green(case, &before, CHECK)?;
    }
    look(case, "t")?;
    invariants::nobody_left(case);
    let left = processes::ours();
    if !left.is_empty() {
        case.fault(Fault::Orphan, format!("{left:?}"));
    }
    Ok(())
}
