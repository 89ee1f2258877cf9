//! Strikes at exact system calls, by a small program in C that runs others under ptrace (`tracer.c`). Counting calls and
//! not milliseconds is what makes a case the same each time.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::random::Random;
use crate::Outcome;

const SOURCE: &str = include_str!("tracer.c");

/// Builds the tracer; none where there is no C compiler, or where the kernel forbids tracing.
pub(super) fn build(dir: &Path) -> Outcome<Option<PathBuf>> {
    if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        return Ok(None);
    }
    let (source, tracer) = (dir.join("tracer.c"), dir.join("tracer"));
    std::fs::write(&source, SOURCE).map_err(|e| format!("cannot write {}: {e}", source.display()))?;
    let built = Command::new("cc").args(["-O1", "-o"]).arg(&tracer).arg(&source).output();
    let Ok(built) = built else { return Ok(None) };
    if !built.status.success() {
        return Err(format!("cannot build the tracer: {}", String::from_utf8_lossy(&built.stderr)));
    }
    let mut command = Command::new(&tracer);
    command.arg(format!("report={}", dir.join("tracer.report").display())).args(["--", "true"]);
    let works = command.stdin(Stdio::null()).stderr(Stdio::null()).status();
    Ok(works.is_ok_and(|status| status.success()).then_some(tracer))
}

/// Where to strike, and whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    /// Whose calls are counted.
    pub(super) class: &'static str,
    /// Which calls.
    pub(super) what: &'static str,
    pub(super) call: usize,
    pub(super) when: &'static str,
    pub(super) strike: String,
}

impl Plan {
    pub(super) fn words(&self) -> Vec<String> {
        vec![
            format!("class={}", self.class),
            format!("what={}", self.what),
            format!("n={}", self.call),
            format!("when={}", self.when),
            format!("strike={}", self.strike),
        ]
    }

    /// A death somewhere in a command of about so many changes to files, its git's included.
    pub(super) fn death(random: &mut Random, calls: usize) -> Self {
        let when = random.pick(&["before", "after"]);
        let half = calls / 2;
        let (class, what, end, strike) = match random.below(100) {
            0..30 => ("runner", "change", half, "runner"),
            30..42 => ("git", "change", half, "runner"),
            42..52 => ("git", "change", half, "self"),
            52..60 => ("own", "change", calls, "guard"),
            60..70 => ("own", "change", calls, "runner,guard"),
            70..85 => ("own", "change", calls, "all"),
            _ => ("git", "lock", calls / 8, "all"),
        };
        Self { class, what, call: random.below(end.max(1)), when, strike: strike.to_owned() }
    }

    /// The death of the program's own process alone, which every promise covers without an exception.
    pub(super) fn runner_dies(random: &mut Random, calls: usize) -> Self {
        let (class, when) = (random.pick(&["runner", "git"]), random.pick(&["before", "after"]));
        Self { class, what: "change", call: random.below(calls / 2), when, strike: "runner".to_owned() }
    }

    /// Everybody at once, as when the power fails, often while git holds a lock.
    pub(super) fn power_cut(random: &mut Random, calls: usize) -> Self {
        let (class, what, end) =
            if random.percent(60) { ("git", "lock", calls / 8) } else { ("own", "change", calls) };
        let when = random.pick(&["before", "after", "after"]);
        Self { class, what, call: random.below(end.max(1)), when, strike: "all".to_owned() }
    }

    /// No room, from some call on and for some calls.
    pub(super) fn no_room(random: &mut Random, calls: usize) -> Self {
        /// ENOSPC, EDQUOT and EIO are the same numbers on every Linux.
        const ERRORS: [i32; 4] = [28, 28, 122, 5];
        let (error, failures) = (random.pick(&ERRORS), random.pick(&[1, 1, 3, 20, 100_000]));
        let class = random.pick(&["runner", "git", "own", "own"]);
        Self {
            class,
            what: "space",
            call: random.below(calls),
            when: "before",
            strike: format!("errno:{error}:{failures}"),
        }
    }

    /// Whether somebody but the runner is hit: an agent's turn may fail then, and a git that never came back is an error
    /// of the engine.
    pub(super) fn spares_others(&self) -> bool {
        self.strike == "runner"
    }
}

/// What came of a plan.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Report {
    /// False: the program was done before.
    pub(super) struck: bool,
    /// The classes of those that were killed.
    pub(super) killed: Vec<String>,
    /// Calls that were counted.
    pub(super) calls: usize,
}

impl Report {
    fn read_line(&mut self, line: &str) {
        let mut words = line.split(' ');
        match (words.next(), words.next()) {
            (Some("struck"), _) => self.struck = true,
            (Some("killed"), Some(class)) => self.killed.push(class.to_owned()),
            (Some("calls"), Some(calls)) => self.calls = calls.parse().unwrap_or(0),
            _ => {}
        }
    }

    pub(super) fn read(text: &str) -> Self {
        let mut report = Self::default();
        text.lines().for_each(|line| report.read_line(line));
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traced(dir: &Path, plan: &[&str], script: &str) -> (i32, Report) {
        let tracer = build(dir).unwrap().expect("a C compiler, as Rust itself needs one, and ptrace");
        let report = dir.join("report");
        let mut command = Command::new(tracer);
        command.args(plan).arg(format!("report={}", report.display())).args(["--", "sh", "-c", script]);
        let code = command.current_dir(dir).status().unwrap().code().unwrap();
        (code, Report::read(&std::fs::read_to_string(report).unwrap()))
    }

    #[test]
    fn the_tracer_strikes_git_before_a_change_and_lets_the_rest_live() {
        let dir = std::env::temp_dir().join(format!("xtask-tracer-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let script = "git init -q repo; echo $?";
        let whole = traced(&dir, &["class=git", "n=-1", "strike=self"], script);
        std::fs::remove_dir_all(dir.join("repo")).unwrap();
        let struck = traced(&dir, &["class=git", "n=0", "when=before", "strike=self"], script);
        let left = dir.join("repo").exists();
        std::fs::remove_dir_all(&dir).unwrap();

        assert_eq!((whole.0, whole.1.struck, whole.1.calls > 10), (0, false, true), "{whole:?}");
        assert_eq!(
            (struck.0, struck.1.killed.as_slice(), left),
            (0, &["git".to_owned()][..], false),
            "{struck:?}"
        );
    }

    #[test]
    fn a_report_is_read() {
        let report = Report::read("struck git 4\nkilled git 12\nkilled runner 9\ncalls 7\nexit 137\n");
        assert_eq!(
            report,
            Report { struck: true, killed: vec!["git".to_owned(), "runner".to_owned()], calls: 7 }
        );
    }
}
