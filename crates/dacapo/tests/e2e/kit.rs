//! More of the world: scripted agents under names of their own, runs in the background, and what is where before and
//! after a command.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::support::{Ran, World, wait_for};

impl World {
    /// `[agents.NAME]` for a scripted agent, for the config file.
    pub(crate) fn scripted(&self, name: &str, yaml: &str) -> String {
        let path = self.scratch(&format!("{name}.yaml"));
        fs::write(&path, yaml).unwrap();
        format!(
            "[agents.{name}]\ncommand = [{:?}, \"__rehearse\", {path:?}]\noutput = \"rehearsal\"\n",
            env!("CARGO_BIN_EXE_dacapo"),
        )
    }

    /// Starts the program and comes back at once; what it prints is kept.
    pub(crate) fn start(&self, words: &[&str]) -> Started {
        let child = self.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        Started(Some(child))
    }

    /// Lets a command find a few plain tools and what the test puts on PATH itself: the agents of whoever runs the tests
    /// are none of its business.
    pub(crate) fn hide_other_programs(&self, command: &mut Command) {
        for name in ["cat", "date", "git", "rm", "setsid", "sh", "sleep", "touch", "yes"] {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let found = std::env::split_paths(&path).map(|dir| dir.join(name)).find(|path| path.exists());
            let place = self.bin().join(name);
            if let (Some(found), false) = (found, place.exists()) {
                std::os::unix::fs::symlink(found, place).unwrap();
            }
        }
        command.env("PATH", self.bin());
    }

    /// Confirms what the repository brings by now, for tests that are about something else.
    pub(crate) fn trust(&self) {
        let _ = self.run(&["trust", "--yes"]).expect(0);
    }

    /// Waits for a file outside the repository, which an agent writes to say that it is at work.
    pub(crate) fn wait_for_file(&self, name: &str) {
        let path = self.scratch(name);
        wait_for(name, || path.exists());
    }

    /// Everything there is: files of the repository, its references and HEAD, and all data of the program.
    pub(crate) fn everything(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        for dir in [self.repo(), self.data(), self.home()] {
            collect(&dir, &mut files);
        }
        // Git refreshes what it knows of file times whenever it looks; that is no change of anybody's.
        files.remove(&self.repo().join(".git/index"));
        // The lock names who had it last.
        files.remove(&self.repo().join(".git/dacapo/lock"));
        files
    }

    /// `iterations_attempted`, `_succeeded`, `_failed`, of a result or a record.
    pub(crate) fn counts(result: &Value) -> [u64; 3] {
        ["iterations_attempted", "iterations_succeeded", "iterations_failed"]
            .map(|field| result[field].as_u64().unwrap())
    }

    /// Receipts of one phase, from `status --json`: command, exit code, whether its time was over.
    pub(crate) fn receipts(&self, name: &str, phase: &str) -> Vec<(String, Option<i64>, bool)> {
        let status = self.status(name);
        let checks = status["checks"].as_array().unwrap().iter().filter(|check| check["phase"] == phase);
        checks
            .map(|check| {
                let command = check["command"].as_str().unwrap().to_owned();
                (command, check["exit_code"].as_i64(), check["timed_out"].as_bool().unwrap())
            })
            .collect()
    }

    /// Names of the files in a commit's tree.
    pub(crate) fn tree(&self, commit: &str) -> Vec<String> {
        self.git(&["ls-tree", "-r", "--name-only", commit]).lines().map(str::to_owned).collect()
    }
}

fn collect(dir: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.insert(path.clone(), Vec::new());
            collect(&path, files);
        } else {
            let bytes = fs::read(&path).unwrap();
            files.insert(path, bytes);
        }
    }
}

/// The program at work. A test that fails meanwhile leaves it to no one: it is ended with the test.
pub(crate) struct Started(Option<Child>);

impl Started {
    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = i32::try_from(self.0.as_ref().unwrap().id()).unwrap();
        rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), signal).unwrap();
    }

    /// How it ended.
    pub(crate) fn end(mut self) -> Ran {
        Ran::from(self.0.take().unwrap().wait_with_output().unwrap())
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
