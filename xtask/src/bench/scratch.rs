//! A place of its own for every run: repositories, homes and agents, gone at the end.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use crate::{Outcome, shell};

/// Files of a repository are spread over this many folders.
const FOLDERS: usize = 100;

/// A folder in the target directory: on the disk the code is on, where fsync costs what it costs a user. A system's
/// temporary folder is often memory.
pub(super) struct Scratch {
    dir: PathBuf,
}

impl Scratch {
    pub(super) fn new() -> Outcome<Self> {
        let parent = shell::target()?.join("xtask-bench");
        sweep(&parent);
        let scratch = Self { dir: parent.join(std::process::id().to_string()) };
        fs::create_dir_all(scratch.dir.join("home")).map_err(|e| cannot("make", &scratch.dir, &e))?;
        // Detached housekeeping would outlive the run and disturb the next measurement.
        scratch.write(
            "home/.gitconfig",
            "[user]\n\tname = Bench\n\temail = bench@example.invalid\n[init]\n\tdefaultBranch = main\n\
             [gc]\n\tautoDetach = false\n[maintenance]\n\tautoDetach = false\n",
        )?;
        scratch.write("prompt", "Write one more line.\n")?;
        Ok(scratch)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub(super) fn write(&self, name: &str, text: &str) -> Outcome<PathBuf> {
        let path = self.path(name);
        fs::write(&path, text).map_err(|e| cannot("write", &path, &e))?;
        Ok(path)
    }

    /// An agent: a shell script, ready to be run by its path.
    pub(super) fn agent(&self, name: &str, script: &str) -> Outcome<PathBuf> {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.write(name, &format!("#!/bin/sh\n{script}\n"))?;
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&path, mode).map_err(|e| cannot("make executable", &path, &e))?;
        Ok(path)
    }

    /// The agent that does next to nothing: a line more in one file, no process of its own.
    pub(super) fn trivial_agent(&self) -> Outcome<PathBuf> {
        self.agent("agent", "echo one more line >> notes.txt")
    }

    /// A repository with so many files, all committed.
    pub(super) fn repository(&self, name: &str, files: usize) -> Outcome<PathBuf> {
        let repo = self.path(name);
        for folder in 0..FOLDERS.min(files) {
            let folder_path = repo.join(format!("src/part-{folder:02}"));
            fs::create_dir_all(&folder_path).map_err(|e| cannot("make", &folder_path, &e))?;
            for file in (folder..files).step_by(FOLDERS) {
                let path = folder_path.join(format!("file-{file:05}.txt"));
                let text = format!("file {file}\n").repeat(20);
                write_aged(&path, &text).map_err(|e| cannot("write", &path, &e))?;
            }
        }
        self.commit(&repo)?;
        Ok(repo)
    }

    /// Makes a folder a repository with all that is in it.
    pub(super) fn commit(&self, repo: &Path) -> Outcome {
        for args in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "base"]] {
            let output = self.clean(Command::new("git").args(args).current_dir(repo)).output();
            let output = output.map_err(|e| format!("cannot start git: {e}"))?;
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr);
                return Err(format!("git {} in a new repository: {}", args.join(" "), said.trim()));
            }
        }
        Ok(())
    }

    /// Commits in a repository, on all its branches: what a side has really done.
    pub(super) fn commits(&self, repo: &Path) -> Outcome<usize> {
        let mut git = Command::new("git");
        let output = self.clean(git.args(["rev-list", "--count", "--all"]).current_dir(repo)).output();
        let output = output.map_err(|e| format!("cannot start git: {e}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        text.trim().parse().map_err(|_| format!("git cannot count the commits in {}", repo.display()))
    }

    /// A fresh `DACAPO_HOME`.
    pub(super) fn data_home(&self) -> Outcome<PathBuf> {
        let home = self.path("data");
        remove(&home)?;
        fs::create_dir_all(&home).map_err(|e| cannot("make", &home, &e))?;
        Ok(home)
    }

    /// The command without this machine's settings: the same environment on both sides.
    pub(super) fn clean<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .env("DACAPO_HOME", self.path("data"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null())
    }
}

/// git reads files again that are as young as its index; those of a repository in use are older, and so are these.
fn write_aged(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = fs::File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.set_modified(SystemTime::now() - Duration::from_secs(3600))
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(why) = remove(&self.dir) {
            eprintln!("warning: {why}");
        }
    }
}

/// Removes what a run left that was ended from outside: folders named by a process that is no more.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let alive = Path::new("/proc").join(entry.file_name()).exists();
        if !alive && let Err(why) = remove(&entry.path()) {
            eprintln!("warning: {why}");
        }
    }
}

pub(super) fn remove(dir: &Path) -> Outcome {
    match fs::remove_dir_all(dir) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(cannot("remove", dir, &e)),
        _ => Ok(()),
    }
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> String {
    format!("cannot {what} {}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_clean_and_gone_at_the_end() {
        let scratch = Scratch::new().unwrap();
        let repo = scratch.repository("repo", 250).unwrap();
        let mut status = Command::new("git");
        let output =
            scratch.clean(status.args(["status", "--porcelain"]).current_dir(&repo)).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "");
        let mut files = Command::new("git");
        let output = scratch.clean(files.arg("ls-files").current_dir(&repo)).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 250);
        let dir = scratch.dir.clone();
        drop(scratch);
        assert!(!dir.exists());
    }
}
