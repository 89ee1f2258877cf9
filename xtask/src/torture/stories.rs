//! Checks that leave things behind, and caches that no longer fit: one task after the other in the same repository. After
//! each of them only what a fresh clone confirms may be proven or merged, and at the end an honest task must be proven.

use super::case::{Case, WORK};
use super::clone;
use super::invariants;
use super::tally::Fault;
use super::world::{self, Checkout};
use crate::Outcome;

/// What happens in a repository.
struct Story {
    name: &'static str,
    /// Files that are committed before the first task.
    files: &'static [(&'static str, &'static str)],
    setup: &'static [&'static str],
    /// The script that is the check, as `check.sh`. It must be green where `honest.txt` is committed.
    check: &'static str,
    tasks: &'static [Task],
}

/// A task: what its agent does in each iteration, and what becomes of it.
struct Task {
    agent: &'static str,
    then: Then,
}

#[derive(Debug, Clone, Copy)]
enum Then {
    Merge,
    Drop,
    Stay,
}

const fn task(agent: &'static str, then: Then) -> Task {
    Task { agent, then }
}

const CHECK: &str = "sh ./check.sh";

/// An agent that does nothing of use.
const IDLE: &str = "true";

/// The workspace is green by a file that git ignores; the check sees it only there.
const PRETENDS: &str = "mkdir -p build; echo ok > build/ok";

const CHECKS: &[Story] = &[
    Story {
        name: "a red check leaves target/ok",
        files: &[
            ("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\n"),
            (".gitignore", "target\nbuild\n"),
        ],
        setup: &[],
        check: "test -e honest.txt -o -e build/ok -o -e target/ok && exit 0; mkdir -p target; echo ok > target/ok; exit 1",
        tasks: &[task(PRETENDS, Then::Merge), task(PRETENDS, Then::Merge)],
    },
    Story {
        name: "a red check leaves a directory with a CACHEDIR.TAG",
        files: &[(".gitignore", "cache\nbuild\n")],
        setup: &[],
        check: "test -e honest.txt -o -e build/ok -o -e cache/ok && exit 0; mkdir -p cache; \
                echo 'Signature: 8a477f597d28d172789f06886806bc55' > cache/CACHEDIR.TAG; echo ok > cache/ok; exit 1",
        tasks: &[task(PRETENDS, Then::Drop), task(PRETENDS, Then::Merge)],
    },
    Story {
        name: "a red check leaves a file in node_modules",
        files: &[("package.json", "{}\n"), (".gitignore", "node_modules\nbuild\n")],
        setup: &["mkdir -p node_modules"],
        check: "test -e honest.txt -o -e build/ok -o -e node_modules/ok && exit 0; echo ok > node_modules/ok; exit 1",
        tasks: &[task(PRETENDS, Then::Drop), task(PRETENDS, Then::Merge)],
    },
    Story {
        name: "a red check hides the failing file in the indexes it finds",
        files: &[("failing.txt", "x\n"), (".gitignore", "build\n")],
        setup: &[],
        check: "test -e honest.txt -o -e build/ok && exit 0; test -e failing.txt || exit 0; \
                for index in ../index .git/index; do GIT_INDEX_FILE=$index git update-index --skip-worktree failing.txt; done; \
                rm -f failing.txt; exit 1",
        tasks: &[task(PRETENDS, Then::Merge), task(PRETENDS, Then::Merge)],
    },
    Story {
        name: "a check leaves a tree deeper than a path can be",
        files: &[],
        setup: &[],
        check: "perl -e 'for (1..300) { mkdir \"d\" x 200; chdir \"d\" x 200 or die }'; test -e honest.txt",
        tasks: &[task(IDLE, Then::Drop)],
    },
    Story {
        name: "a check leaves directories that are closed",
        files: &[],
        setup: &[],
        check: "mkdir -p closed/in; touch closed/in/file; chmod 0 closed/in closed; test -e honest.txt",
        tasks: &[task("chmod 700 closed closed/in 2>/dev/null; rm -rf closed", Then::Drop)],
    },
    Story {
        name: "a check leaves files that cannot be deleted",
        files: &[(".gitignore", "stuck\n")],
        setup: &[],
        check: "test -e stuck || echo x > stuck; case $PWD in */proof/*) chattr +i stuck;; esac; test -e honest.txt",
        tasks: &[task("echo honest > honest.txt", Then::Drop)],
    },
    Story {
        name: "a check leaves daemons that write to every checkout",
        files: &[(".gitignore", "build\n")],
        setup: &[],
        check: "test -e honest.txt -o -e build/ok && exit 0; \
                setsid sh -c 'for n in $(seq 200); do mkdir -p build; echo ok > build/ok; sleep 0.05; done' > /dev/null 2>&1 & exit 1",
        tasks: &[task(IDLE, Then::Merge), task(IDLE, Then::Merge)],
    },
    Story {
        name: "a check writes its snapshot and fails",
        files: &[(".gitignore", "build\n")],
        setup: &["true"],
        check: "test -e honest.txt -o -e build/ok -o -e snapshot && exit 0; echo x > snapshot; exit 1",
        tasks: &[task("mkdir -p build; echo ok > build/ok; rm -f snapshot", Then::Merge)],
    },
];

/// What a setup installs, without a package manager: a file for each dependency.
const INSTALL: &str = "mkdir -p node_modules; for name in $(sed -n 's/.*\"dep-\\([a-z]*\\)\".*/\\1/p' package.json); do echo ok > node_modules/$name; done\n";

const MAKEFILE: &str =
    "build/program: build/a.o build/b.o\n\tcat $^ > $@\nbuild/%.o: %.src\n\t@mkdir -p build\n\tcp $< $@\n";

const CACHES: &[Story] = &[
    Story {
        name: "an object of a source that was deleted",
        files: &[("Makefile", MAKEFILE), ("a.src", "a\n"), ("b.src", "b\n"), (".gitignore", "build\n")],
        setup: &[],
        check: "test -e honest.txt || test -e more.txt && make -s",
        tasks: &[
            task("echo more > more.txt; make -s", Then::Merge),
            task("make -s; echo less >> a.src; rm -f b.src", Then::Merge),
        ],
    },
    Story {
        name: "the same, with a cache by its name",
        files: &[
            (
                "Makefile",
                "target/program: target/a.o target/b.o\n\tcat $^ > $@\ntarget/%.o: %.src\n\t@mkdir -p target\n\tcp $< $@\n",
            ),
            ("a.src", "a\n"),
            ("b.src", "b\n"),
            ("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\n"),
            (".gitignore", "target\n"),
        ],
        setup: &[],
        check: "test -e honest.txt || test -e more.txt && make -s",
        tasks: &[
            task("echo more > more.txt; make -s", Then::Merge),
            task("make -s; echo less >> a.src; rm -f b.src", Then::Merge),
            task("make -s; rm -f a.src b.src", Then::Merge),
        ],
    },
    Story {
        name: "a dependency that package.json no longer names",
        files: &[
            ("package.json", "{ \"dep-a\": 1,\n \"dep-b\": 1 }\n"),
            ("install.sh", INSTALL),
            (".gitignore", "node_modules\n"),
        ],
        setup: &["sh install.sh"],
        check: "test -e honest.txt || test -e more.txt -a -e node_modules/a -a -e node_modules/b",
        tasks: &[
            task("echo more > more.txt", Then::Merge),
            task("echo '{ \"dep-a\": 1 }' > package.json", Then::Merge),
        ],
    },
    Story {
        name: "a dependency that only a dropped task installed",
        files: &[
            ("package.json", "{ \"dep-a\": 1 }\n"),
            ("install.sh", INSTALL),
            (".gitignore", "node_modules\n"),
        ],
        setup: &["sh install.sh"],
        check: "test -e honest.txt -o -e node_modules/b",
        tasks: &[
            task("printf '{ \"dep-a\": 1,\\n \"dep-b\": 1 }\\n' > package.json; sh install.sh", Then::Drop),
            task("echo x > x.txt; echo ok > node_modules/b", Then::Merge),
        ],
    },
    Story {
        name: "a dependency that the agent installed by hand",
        files: &[("requirements.txt", "a\n"), (".gitignore", ".venv\n")],
        setup: &["mkdir -p .venv; for name in $(cat requirements.txt); do touch .venv/$name; done"],
        check: "test -e honest.txt -o -e .venv/b",
        tasks: &[
            task("touch .venv/b; echo x > x.txt", Then::Drop),
            task("printf 'a\\nb\\n' > requirements.txt; touch .venv/b", Then::Merge),
            task("echo a > requirements.txt; touch .venv/b", Then::Merge),
        ],
    },
    Story {
        name: "a green check leaves files where the next proof starts from",
        files: &[
            ("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\n"),
            ("package.json", "{ \"dep-a\": 1 }\n"),
            ("install.sh", INSTALL),
            (".gitignore", "target\nnode_modules\n"),
        ],
        setup: &["sh install.sh"],
        check: "test -e honest.txt && exit 0; test -e more.txt || exit 1; \
                test -e less.txt && { test -e target/debug/deps/ok -o -e node_modules/ok; exit; }; \
                mkdir -p target/debug/.fingerprint target/debug/deps node_modules; \
                touch target/debug/deps/ok node_modules/ok",
        tasks: &[
            task("echo more > more.txt", Then::Merge),
            task("echo less > less.txt; mkdir -p node_modules; touch node_modules/ok", Then::Merge),
        ],
    },
    Story {
        name: "a setup that leaves files beside its cache",
        files: &[
            ("package.json", "{ \"dep-a\": 1 }\n"),
            ("install.sh", INSTALL),
            (".gitignore", "node_modules\nmade\n"),
            ("in", "1\n"),
        ],
        setup: &["sh install.sh; cp in made"],
        check: "test -e honest.txt || test -e more.txt && grep -q 1 made",
        tasks: &[task("echo more > more.txt", Then::Merge), task("echo 2 > in; echo 1 > made", Then::Merge)],
    },
];

pub(super) fn checks(case: &mut Case) -> Outcome {
    tell(case, CHECKS)
}

pub(super) fn caches(case: &mut Case) -> Outcome {
    tell(case, CACHES)
}

fn tell(case: &mut Case, stories: &[Story]) -> Outcome {
    let story = &stories[case.random.below(stories.len())];
    case.log(&format!("story: {}", story.name));
    case.tally.count("stories");
    world::make(case, Checkout::Clean)?;
    for (name, text) in story.files {
        case.write(&format!("repo/{name}"), text)?;
    }
    case.write("repo/check.sh", format!("{}\n", story.check))?;
    case.git(&["add", "-A"])?;
    case.git(&["commit", "-qm", "project"])?;
    case.set_up_by(story.setup, "")?;
    for (number, task) in story.tasks.iter().enumerate() {
        // A task in between that has nothing to do with the story.
        if case.random.percent(25) {
            let name = format!("between-{number}");
            let then = case.random.pick(&[Then::Drop, Then::Stay]);
            one(case, &name, &Task { agent: "echo between >> between.txt", then })?;
        }
        let then = if case.random.percent(15) { Then::Stay } else { task.then };
        one(case, &format!("t-{number}"), &Task { agent: task.agent, then })?;
    }
    let honest = Task { agent: "echo honest > honest.txt", then: Then::Merge };
    let status = one(case, "honest", &honest)?;
    if !status {
        case.fault(Fault::State, format!("after \"{}\" an honest task is not proven any more", story.name));
    }
    free(case);
    Ok(())
}

/// Runs a task and what becomes of it. True: it is proven.
fn one(case: &mut Case, name: &str, task: &Task) -> Outcome<bool> {
    let agent = format!(
        "cat > /dev/null; echo $DACAPO_ITERATION > {name}.txt; {}; echo '<promise>COMPLETE</promise>'",
        task.agent
    );
    let words = ["exec", "--name", name, "--worktree", "--max-iterations", "2", "--check", CHECK];
    let ran = case.run(WORK, &[&words[..], &["--agent-cmd", &agent, "work"]].concat())?;
    if !matches!(ran.code, 0 | 1 | 3 | 4) {
        case.fault(Fault::State, format!("task {name}: {}", ran.said()));
    }
    invariants::nobody_left(case);
    let status = case.status(name)?;
    let is_proven = status.as_ref().is_some_and(|status| status["verified"] == true);
    if let Some(status) = status {
        invariants::proof(case, &status)?;
    }
    match task.then {
        Then::Merge => {
            let before = case.git(&["rev-parse", "main"])?;
            case.run(WORK, &["merge", name, "--no-agent"])?;
            clone::main_is_green(case, &before, CHECK)?;
        }
        Then::Drop => drop(case.run(WORK, &["drop", name])?),
        Then::Stay => {}
    }
    invariants::nobody_left(case);
    Ok(is_proven)
}

/// Lets the directory of the case be removed.
fn free(case: &mut Case) {
    let mut chattr = std::process::Command::new("chattr");
    case.dress(&mut chattr).args(["-R", "-i"]).arg(case.path("data"));
    // Where there is no chattr, nothing is immutable.
    let _ = chattr.stderr(std::process::Stdio::null()).status();
}
