//! R1, R2, L14: whatever ends the program, at whatever instant, the task goes on from there and nothing is lost, done
//! twice or left behind.
//!
//! The program under test is the real one. It dies at an exact event by a library that is preloaded into it and counts
//! the writes of its journal (`journal_shim.c`), so that every instant can be walked and none depends on time.
#![expect(clippy::unwrap_used, reason = "a test helper that cannot go on fails its test")]

mod events;
pub(crate) mod git;
pub(crate) mod guards;
mod journal;
mod locks;
mod orphans;
mod places;
mod scarcity;
mod signals;

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::support::{Ran, World};

pub(crate) const SIGKILL: i32 = 9;

/// Adds a line each turn, and says in the fifth iteration that it is done.
const AGENT: &str = "echo $DACAPO_ITERATION.$DACAPO_TURN >> log
if [ $DACAPO_ITERATION = 4 ]; then echo '<promise>COMPLETE</promise>'; else echo 'Not yet.'; fi";

/// Green after the fifth iteration. What it prints differs each time, or the loop would be called stalled.
const CHECK: &str = "tail -n 1 log | tr 0-9 a-j; grep -q ^4 log";

/// Five iterations with a check and a promise.
const FIVE: [&str; 10] = [
    "--name",
    "t",
    "--max-iterations",
    "5",
    "--until",
    "<promise>COMPLETE</promise>",
    "--check",
    CHECK,
    "--json",
    "work",
];

/// An instant, by the number of the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At {
    /// All that leads to the event is done; it is not written.
    Before(usize),
    /// It is written; nothing was done about it.
    After(usize),
    /// Half of it is written.
    Torn(usize),
    /// The disk has room for half of it.
    Full(usize),
    /// It is written, and at once there is a Ctrl-C.
    Signal(usize),
}

impl At {
    fn plan(self) -> String {
        match self {
            Self::Before(event) => format!("before:{event}"),
            Self::After(event) => format!("after:{event}"),
            Self::Torn(event) => format!("torn:{event}"),
            Self::Full(event) => format!("full:{event}"),
            Self::Signal(event) => format!("signal:{event}"),
        }
    }
}

/// The preloaded library. Each test is a process of its own, so it is kept in the build directory for all of them.
fn shim() -> &'static Path {
    static SHIM: OnceLock<PathBuf> = OnceLock::new();
    SHIM.get_or_init(|| {
        let source = include_str!("crash/journal_shim.c");
        let mut hash = DefaultHasher::new();
        source.hash(&mut hash);
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("journal_shim-{:016x}.so", hash.finish()));
        if path.exists() {
            return path;
        }
        // Several tests may get here at once: each builds its own, and the last one stays.
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let built = dir.path().join("journal_shim.so");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/crash/journal_shim.c");
        let ran = Command::new("cc").args(["-O1", "-shared", "-fPIC", "-o"]).arg(&built).arg(file).output();
        let ran = ran.expect("the C compiler that Rust links with");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        fs::rename(&built, &path).unwrap();
        path
    })
}

/// Gives every item to `each`, several at a time: most of the time is spent waiting.
pub(crate) fn for_each<T: Sync>(items: &[T], each: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    each(item);
                }
            });
        }
    });
}

impl World {
    /// Runs the program until it dies at that instant, or ends.
    pub(crate) fn run_to<S: AsRef<std::ffi::OsStr>>(&self, at: At, words: &[S]) -> (ExitStatus, Ran) {
        let mut command = self.command(words);
        let output = command
            .env("LD_PRELOAD", shim())
            .env("CRASH_AT", at.plan())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        (output.status, Ran::from(output))
    }

    /// Runs the program, which must die there. False: it had ended before.
    pub(crate) fn dies<S: AsRef<std::ffi::OsStr> + std::fmt::Debug>(&self, at: At, words: &[S]) -> bool {
        let (status, ran) = self.run_to(at, words);
        match status.signal() {
            Some(signal) => {
                assert_eq!(signal, SIGKILL, "{at:?} {words:?}\n{}", ran.stderr);
                true
            }
            None => {
                assert_eq!(ran.code, 0, "{at:?} {words:?}\n{}\n{}", ran.stdout, ran.stderr);
                false
            }
        }
    }

    fn exec_dies(&self, at: At, words: &[&str]) -> bool {
        self.dies(at, &[&["exec"], words].concat())
    }

    /// The journal, which may not be there yet.
    pub(crate) fn journal_or_none(&self, name: &str) -> Vec<Value> {
        if self.task_dir(name).join("journal.jsonl").exists() { self.journal(name) } else { Vec::new() }
    }

    /// Goes on if there is something to go on with, with nothing between a death and this.
    fn resume_to_the_end(&self, name: &str) {
        let ran = self.run(&["resume", name, "--json"]);
        let over_before = ran.code == 2 && ran.stderr.contains("is completed");
        assert!(ran.code == 0 || over_before, "resume: {}\n{}\n{}", ran.code, ran.stdout, ran.stderr);
    }

    /// R1: five iterations, five commits in order, none twice, and nothing left.
    fn assert_five(&self, name: &str, branch: &str) {
        let status = self.status(name);
        assert_eq!(status["outcome"], "completed", "{status:#}");
        assert_eq!((&status["iteration"], &status["iterations_succeeded"]), (&json!(5), &json!(5)));
        let finished: Vec<u64> = self
            .events(name, "iteration_finished")
            .iter()
            .map(|event| event["iteration"].as_u64().unwrap())
            .collect();
        assert_eq!(finished, [0, 1, 2, 3, 4]);
        let format = "--format=%(trailers:key=Dacapo-Iteration,valueonly,separator=%x2C)";
        let commits = self.git(&["log", "--reverse", format, branch]);
        assert_eq!(commits.lines().collect::<Vec<_>>(), ["", "0", "1", "2", "3", "4"]);
        let recorded: Vec<String> = self
            .events(name, "iteration_finished")
            .iter()
            .map(|event| event["commit_id"].as_str().unwrap_or_default().to_owned())
            .collect();
        let there = self.git(&["log", "--reverse", "--format=%H", branch]);
        assert_eq!(recorded, there.lines().skip(1).collect::<Vec<_>>(), "what is recorded is what is there");
        self.assert_in_order(name);
    }

    /// The journal is whole, the tree clean, nothing held and nothing half-done.
    fn assert_in_order(&self, name: &str) {
        let numbers: Vec<u64> = self.journal(name).iter().map(|line| line["seq"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>());
        assert_eq!(self.git(&["status", "--porcelain"]), "");
        assert_eq!(self.git(&["for-each-ref", "refs/dacapo/rescue"]), "", "nothing had to be rescued");
        for lock in ["index.lock", "HEAD.lock", "refs/heads/main.lock"] {
            assert!(!self.repo().join(".git").join(lock).exists(), "{lock}");
        }
        self.assert_nothing_left(name);
    }
}
