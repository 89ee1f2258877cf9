//! Repositories that are thrown away again.

use std::path::Path;
use std::process::Command;

use crate::error::Failure;
use crate::messages::{Messages, say};

/// Makes a repository of the directory and commits all that is in it.
pub fn commit_all(repo: &Path, message: &str) -> Result<(), Failure> {
    for words in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", message]] {
        git(repo, words)?;
    }
    Ok(())
}

fn git(repo: &Path, words: &[&str]) -> Result<(), Failure> {
    let mut command = Command::new("git");
    // Variables of a hook that this may run in would lead to the user's repository.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX"] {
        command.env_remove(name);
    }
    let output = command
        .arg("-C")
        .arg(repo)
        .args([
            "-c",
            "user.name=Dacapo",
            "-c",
            "user.email=dacapo@localhost",
            "-c",
            "init.defaultBranch=main",
        ])
        // A signature would ask for a passphrase, and a hook of the user's is not meant for a throw-away repository.
        .args(["-c", "commit.gpgSign=false", "-c", "core.hooksPath=/dev/null"])
        .args(words)
        .output()
        .map_err(|error| {
            Failure::usage(say(|m| m.scratch_no_git(&error.to_string())))
                .hint(say(Messages::doctor_install_git))
        })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failure::failed(say(|m| m.scratch_failed(words[0], said.trim()))))
}
