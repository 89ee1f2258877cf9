//! What tasks need of the machine beside agents.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use dacapo_core::store::Home;

use super::Here;
use super::ask::{Answer, Question, all};
use super::report::{Check, CheckState};
use super::survey::version_in;
use crate::error::Failure;
use crate::messages::Text;
use crate::operations::awake::awake_command;
use crate::present::words;

pub(super) fn checks(here: &Here) -> Vec<Check> {
    let awake = awake_command("doctor", "true");
    let mut questions = vec![question(here, vec!["git".into(), "--version".into()])];
    questions.extend(awake.iter().map(|argv| question(here, argv.clone())));
    let mut answers = all(&here.app, questions).into_iter();
    let mut checks = vec![git(&answers.next().unwrap_or(Answer::Silent)), data(&here.home)];
    checks.extend(here.home.as_ref().ok().and_then(|home| disk(home.path())));
    checks.extend(here.home.as_ref().ok().map(|home| locks(home.path())));
    checks.extend(here.config_problem.as_ref().map(|problem| {
        let failure = Failure::from(problem.clone());
        check(
            "config",
            CheckState::Bad,
            failure.message.to_string(),
            failure.hints.first().map(Text::to_string),
        )
    }));
    checks.extend(here.untrusted.as_ref().map(|brought| {
        let keys: Vec<&str> = brought.entries.iter().map(|entry| entry.key.as_str()).collect();
        let detail = format!(
            "settings of {} have no effect until you confirm them: {}",
            brought.source,
            keys.join(", ")
        );
        check(
            "trust",
            CheckState::Note,
            words::line(&detail, words::WHOLE),
            Some("dacapo trust shows them and asks".into()),
        )
    }));
    checks.push(keep_awake(answers.next().as_ref(), here.config.keep_awake));
    checks.extend(root());
    checks
}

fn question(here: &Here, argv: Vec<std::ffi::OsString>) -> Question {
    Question { argv, env: here.env.to_vec(), cwd: here.top.clone() }
}

fn check(name: &'static str, state: CheckState, detail: impl Into<String>, hint: Option<String>) -> Check {
    Check { name, state, detail: detail.into(), hint }
}

fn git(answer: &Answer) -> Check {
    match answer {
        Answer::Said { code: 0, text } => check("git", CheckState::Good, version_in(text), None),
        Answer::Said { code, text } => {
            let said = words::line(text, 200);
            check(
                "git",
                CheckState::Bad,
                format!("does not run (exit {code}): {said}"),
                Some("repair git".into()),
            )
        }
        Answer::Silent => check("git", CheckState::Bad, "does not answer", Some("run git --version".into())),
        Answer::Impossible(why) => check("git", CheckState::Bad, why.clone(), Some("install git".into())),
    }
}

/// The directory itself, or, where there is none yet, the one it will be made in.
fn nearest(path: &Path) -> io::Result<&Path> {
    match path.ancestors().find(|path| path.symlink_metadata().is_ok()) {
        Some(path) if path.is_dir() => Ok(path),
        Some(_) => Err(io::ErrorKind::NotADirectory.into()),
        None => Err(io::ErrorKind::NotFound.into()),
    }
}

fn data(home: &Result<Home, Failure>) -> Check {
    let home = match home {
        Ok(home) => home.path(),
        Err(failure) => {
            return check(
                "data",
                CheckState::Bad,
                failure.message.to_string(),
                failure.hints.first().map(Text::to_string),
            );
        }
    };
    let tried = nearest(home).and_then(tempfile::tempfile_in);
    let shown = home.display();
    match tried {
        Ok(_) if home.is_dir() => check("data", CheckState::Good, shown.to_string(), None),
        Ok(_) => check("data", CheckState::Good, format!("{shown} (made with the first task)"), None),
        Err(error) => {
            let hint = "make it writable, or set DACAPO_HOME to another place".to_owned();
            check("data", CheckState::Bad, format!("{shown} cannot be written: {error}"), Some(hint))
        }
    }
}

/// How much room there is for worktrees and records; none where the system does not say.
fn disk(home: &Path) -> Option<Check> {
    let found = rustix::fs::statvfs(nearest(home).ok()?).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
    // Some file systems have no fixed number of files.
    let files = (found.f_files > 0).then_some(found.f_favail);
    Some(room(bytes(found.f_bavail), bytes(found.f_blocks), files))
}

fn room(free: u64, size: u64, files: Option<u64>) -> Check {
    /// A task of a small project needs about as much; with less even a journal may not be written.
    const TOO_LITTLE: u64 = 100_000_000;
    const LITTLE: u64 = 2_000_000_000;
    const FEW_FILES: u64 = 10_000;
    let detail = format!("{} free of {}", words::bytes(free), words::bytes(size));
    let hint = || {
        Some(
            "free some space: dacapo list --size, dacapo prune; or set DACAPO_HOME to another disk"
                .to_owned(),
        )
    };
    match files.filter(|files| *files < FEW_FILES) {
        _ if free < TOO_LITTLE => check("disk", CheckState::Bad, format!("full: {detail}"), hint()),
        Some(files) => {
            check("disk", CheckState::Bad, format!("room for only {files} more files ({detail})"), hint())
        }
        None if free < LITTLE => check("disk", CheckState::Note, format!("nearly full: {detail}"), hint()),
        None => check("disk", CheckState::Good, detail, None),
    }
}

/// Everything that must not happen twice hangs on these.
fn locks(home: &Path) -> Check {
    match nearest(home).and_then(locks_work) {
        Ok(true) => check("locks", CheckState::Good, "hold, and are free again", None),
        Ok(false) => {
            let hint = "set DACAPO_HOME to a place on a local disk".to_owned();
            check("locks", CheckState::Bad, "do not keep a second process out", Some(hint))
        }
        Err(error) => {
            let hint = "set DACAPO_HOME to a place on a local disk".to_owned();
            check("locks", CheckState::Bad, format!("cannot be had: {error}"), Some(hint))
        }
    }
}

fn locks_work(dir: &Path) -> io::Result<bool> {
    let first = tempfile::NamedTempFile::new_in(dir)?;
    let second = File::open(first.path())?;
    first.as_file().lock()?;
    match second.try_lock() {
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(error)) => return Err(error),
        Ok(()) => return Ok(false),
    }
    first.as_file().unlock()?;
    match second.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn keep_awake(answer: Option<&Answer>, wanted: bool) -> Check {
    let note = |detail: String| check("awake", CheckState::Note, detail, None);
    match answer {
        _ if !wanted => note("keep_awake = false: the machine may sleep while a task runs".into()),
        Some(Answer::Said { code: 0, .. }) => {
            check("awake", CheckState::Good, "the machine is kept awake while a task runs", None)
        }
        Some(Answer::Said { text, .. }) => {
            note(format!("the machine may sleep while a task runs: {}", words::line(text, 120)))
        }
        Some(Answer::Silent | Answer::Impossible(_)) | None => {
            note("nothing here can keep the machine awake while a task runs".into())
        }
    }
}

fn root() -> Option<Check> {
    rustix::process::geteuid().is_root().then(|| {
        let detail = "this is root: agents may do anything to this machine";
        let hint = "work as an ordinary user, or in a container".to_owned();
        check("root", CheckState::Note, detail, Some(hint))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a4_locks_are_tried_and_leave_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("not/yet/there");
        assert_eq!(locks(&home).state, CheckState::Good);
        assert_eq!(data(&Ok(Home::new(home))).state, CheckState::Good);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        assert_eq!(data(&Ok(Home::new(dir.path().to_owned()))).detail, dir.path().display().to_string());
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        for path in [file.clone(), file.join("below")] {
            assert_eq!(locks(&path).state, CheckState::Bad);
            assert_eq!(data(&Ok(Home::new(path))).state, CheckState::Bad);
        }
    }

    #[test]
    fn a4_a_disk_that_is_nearly_full_is_no_tick() {
        let tera = 1_000_000_000_000;
        let state = |free, files| room(free, tera, files).state;
        assert_eq!(state(500_000_000_000, Some(1_000_000)), CheckState::Good);
        assert_eq!(state(500_000_000_000, None), CheckState::Good);
        assert_eq!(state(1_500_000_000, None), CheckState::Note);
        assert_eq!((state(50_000_000, None), state(0, Some(0))), (CheckState::Bad, CheckState::Bad));
        assert_eq!(state(500_000_000_000, Some(12)), CheckState::Bad);
        assert_eq!(room(1_500_000_000, tera, None).detail, "nearly full: 1.5 GB free of 1.0 TB");
    }

    #[test]
    fn a4_what_git_says_is_its_version_or_a_problem() {
        let said = |code, text: &str| Answer::Said { code, text: text.into() };
        assert_eq!(git(&said(0, "git version 2.47.1\n")).detail, "2.47.1");
        for answer in [said(127, "no"), Answer::Silent, Answer::Impossible("not found".into())] {
            let check = git(&answer);
            assert_eq!(check.state, CheckState::Bad);
            assert!(check.hint.is_some());
        }
    }
}
