//! A scratch directory, a script, and the program that plays it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use dacapo_core::event::AgentEvent;

pub(crate) struct Stage {
    dir: tempfile::TempDir,
}

/// A process that is killed, by its id, whatever becomes of the test.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Stage {
    /// With these steps in iteration 0.
    pub(crate) fn new(steps: &str) -> Self {
        Self::script(&format!("iterations:\n  - {}\n", steps.trim().replace('\n', "\n    ")))
    }

    pub(crate) fn script(text: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("work")).unwrap();
        std::fs::write(dir.path().join("r.yaml"), text).unwrap();
        Stage { dir }
    }

    /// The working directory is a repository with one commit.
    pub(crate) fn with_repository(self) -> Self {
        self.git("init -q -b main");
        std::fs::write(self.work().join("a.txt"), "a\n").unwrap();
        self.git("add a.txt");
        self.git("-c user.name=T -c user.email=t@localhost commit -q -m first");
        self
    }

    pub(crate) fn git(&self, arguments: &str) -> String {
        let out = Command::new("git").args(arguments.split(' ')).current_dir(self.work()).output().unwrap();
        assert!(out.status.success(), "git {arguments}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("work")
    }

    pub(crate) fn file(&self, path: &str) -> String {
        std::fs::read_to_string(self.work().join(path)).unwrap()
    }

    pub(crate) fn outside(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dacapo"));
        command
            .arg("__rehearse")
            .arg(self.dir.path().join("r.yaml"))
            .current_dir(self.work())
            .env("DACAPO_TASK", "task1")
            .env("DACAPO_WORKSPACE", self.work())
            .env("HOME", self.dir.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env_remove("DACAPO_ITERATION")
            .env_remove("DACAPO_ATTEMPT")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn play(&self) -> Played {
        self.turn(0, 0, "")
    }

    pub(crate) fn prompt(&self, prompt: &str) -> Played {
        self.turn(0, 0, prompt)
    }

    pub(crate) fn turn(&self, iteration: u32, attempt: u32, prompt: &str) -> Played {
        let mut command = self.command();
        command.env("DACAPO_ITERATION", iteration.to_string()).env("DACAPO_ATTEMPT", attempt.to_string());
        finish(command, prompt.as_bytes())
    }

    pub(crate) fn start(&self) -> Running {
        let mut child = self.command().spawn().unwrap();
        drop(child.stdin.take());
        Running(child)
    }
}

pub(crate) fn finish(mut command: Command, prompt: &[u8]) -> Played {
    let mut child = command.spawn().unwrap();
    // It may end before it reads.
    let _ = child.stdin.take().unwrap().write_all(prompt);
    Played(child.wait_with_output().unwrap())
}

/// What a turn left.
pub(crate) struct Played(pub(crate) Output);

impl Played {
    pub(crate) fn code(&self) -> i32 {
        self.0.status.code().unwrap()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.0.stdout).into_owned()
    }

    /// All events; every line must be one.
    pub(crate) fn events(&self) -> Vec<AgentEvent> {
        self.stdout().lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }

    /// What it said, piece by piece.
    pub(crate) fn said(&self) -> Vec<String> {
        self.events()
            .into_iter()
            .filter_map(|event| match event {
                AgentEvent::Text { text } => Some(text),
                _ => None,
            })
            .collect()
    }

    /// The tools' answers: whether they failed, and what they said.
    pub(crate) fn answers(&self) -> Vec<(bool, String)> {
        self.events()
            .into_iter()
            .filter_map(|event| match event {
                AgentEvent::ToolResult { failed, output, .. } => Some((failed, output)),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn ended(&self, how: &str) -> bool {
        self.events().last() == Some(&AgentEvent::End { reason: how.into() })
    }

    /// It went through to its end.
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code(), 0, "{}{}", self.stdout(), self.stderr());
        assert!(self.ended("end_turn"), "{}", self.stdout());
        self
    }

    /// It was told to do something it could not do.
    pub(crate) fn refused(self, why: &str) {
        assert_eq!(self.code(), 1, "{}{}", self.stdout(), self.stderr());
        assert!(self.stderr().contains(why), "{}", self.stderr());
        assert!(self.ended("error"));
    }
}

/// Waits for something that must happen soon.
pub(crate) fn soon(what: &str, mut happened: impl FnMut() -> bool) {
    let began = Instant::now();
    while !happened() {
        assert!(began.elapsed() < Duration::from_secs(60), "{what} did not happen");
        std::thread::sleep(Duration::from_millis(10));
    }
}
