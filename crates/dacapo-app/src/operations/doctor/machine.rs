//! What tasks need of the machine beside agents.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use dacapo_core::store::Home;

use super::DoctorContext;
use super::ask::{Answer, Question, all};
use super::report::{Check, CheckState};
use super::survey::version_in;
use crate::error::Failure;
use crate::messages::{Messages, Text, say};
use crate::operations::awake::awake_command;
use crate::operations::rooms;
use crate::present::rooms::told;
use crate::present::words;

pub(super) fn checks(here: &DoctorContext) -> Vec<Check> {
    let awake = awake_command("doctor", "true");
    let mut questions = vec![question(here, vec!["git".into(), "--version".into()])];
    questions.extend(awake.iter().map(|argv| question(here, argv.clone())));
    let mut answers = all(&here.app, questions).into_iter();
    let mut checks = vec![git(&answers.next().unwrap_or(Answer::Silent)), data(&here.home)];
    checks.extend(here.home.as_ref().ok().and_then(|home| disk(home.path())));
    checks.extend(here.home.as_ref().ok().map(|home| locks(home.path())));
    checks.extend(here.config_problem.as_ref().map(|problem| failed("config", &problem.clone().into())));
    checks.extend(here.untrusted.as_ref().map(|brought| {
        let keys: Vec<&str> = brought.entries.iter().map(|entry| entry.key.as_str()).collect();
        let keys = words::line(&keys.join(", "), words::WHOLE);
        let detail = say(|m| m.doctor_untrusted(&brought.source.to_string(), &keys));
        check("trust", CheckState::Note, detail, Some(say(Messages::doctor_run_trust)))
    }));
    checks.push(keep_awake(answers.next().as_ref(), here.config.keep_awake));
    checks.extend(confinement(here));
    checks.extend(root());
    checks
}

/// How agents are confined here.
fn confinement(here: &DoctorContext) -> Option<Check> {
    let mode = here.config.room.into();
    let note = |detail: Text| check("room", CheckState::Note, detail, None);
    Some(match rooms::held(&here.app, mode, None) {
        Ok(None) => note(say(Messages::room_unneeded)),
        Ok(Some(Ok(receipt))) if receipt.holds() => {
            let detail = say(|m| format!("{}. {}", told(&receipt, m), m.doctor_room_no_sudo()));
            check("room", CheckState::Good, detail, None)
        }
        Ok(Some(Ok(receipt))) => note(say(|m| told(&receipt, m))),
        Ok(Some(Err(why))) => {
            let detail = say(|m| m.room_sandbox_impossible(&why));
            check("room", CheckState::Bad, detail, Some(say(Messages::room_without_sandbox)))
        }
        Err(failure) => note(failure.message),
    })
}

fn question(here: &DoctorContext, argv: Vec<std::ffi::OsString>) -> Question {
    Question { argv, env: here.env.to_vec(), cwd: here.top.clone() }
}

fn check(name: &'static str, state: CheckState, detail: impl Into<Text>, hint: Option<Text>) -> Check {
    Check { name, state, detail: detail.into(), hint }
}

fn failed(name: &'static str, failure: &Failure) -> Check {
    check(name, CheckState::Bad, failure.message.clone(), failure.hints.first().cloned())
}

fn git(answer: &Answer) -> Check {
    let bad =
        |detail: Text, hint: fn(Messages) -> String| check("git", CheckState::Bad, detail, Some(say(hint)));
    match answer {
        Answer::Said { code: 0, text } => check("git", CheckState::Good, version_in(text), None),
        Answer::Said { code, text } => {
            let said = words::line(text, 200);
            bad(say(|m| m.doctor_does_not_run_exit(*code, &said)), Messages::doctor_repair_git)
        }
        Answer::Silent => bad(say(Messages::doctor_git_silent), Messages::doctor_run_git),
        Answer::Impossible(why) => bad(why.clone(), Messages::doctor_install_git),
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
        Err(failure) => return failed("data", failure),
    };
    let tried = nearest(home).and_then(tempfile::tempfile_in);
    let shown = home.display().to_string();
    match tried {
        Ok(_) if home.is_dir() => check("data", CheckState::Good, shown, None),
        Ok(_) => check("data", CheckState::Good, say(|m| m.doctor_data_to_be_made(&shown)), None),
        Err(error) => {
            let detail = say(|m| m.doctor_data_not_writable(&shown, &error.to_string()));
            check("data", CheckState::Bad, detail, Some(say(Messages::doctor_make_data_writable)))
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
    let (free_now, size) = (words::bytes(free), words::bytes(size));
    let room = |m: Messages| m.doctor_free(&free_now, &size);
    let hint = || Some(say(Messages::doctor_free_space));
    let with_hint = |state, detail: Text| check("disk", state, detail, hint());
    match files.filter(|files| *files < FEW_FILES) {
        _ if free < TOO_LITTLE => with_hint(CheckState::Bad, say(|m| m.doctor_disk_full(&room(m)))),
        Some(files) => with_hint(CheckState::Bad, say(|m| m.doctor_few_files(files, &room(m)))),
        None if free < LITTLE => with_hint(CheckState::Note, say(|m| m.doctor_disk_nearly_full(&room(m)))),
        None => check("disk", CheckState::Good, say(room), None),
    }
}

/// Everything that must not happen twice hangs on these.
fn locks(home: &Path) -> Check {
    let bad = |detail| check("locks", CheckState::Bad, detail, Some(say(Messages::doctor_local_disk)));
    match nearest(home).and_then(locks_work) {
        Ok(true) => check("locks", CheckState::Good, say(Messages::doctor_locks_work), None),
        Ok(false) => bad(say(Messages::doctor_locks_do_not_work)),
        Err(error) => bad(say(|m| m.doctor_locks_unavailable(&error.to_string()))),
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
    let note = |detail: Text| check("awake", CheckState::Note, detail, None);
    match answer {
        _ if !wanted => note(say(Messages::doctor_may_sleep_by_setting)),
        Some(Answer::Said { code: 0, .. }) => {
            check("awake", CheckState::Good, say(Messages::doctor_kept_awake), None)
        }
        Some(Answer::Said { text, .. }) => {
            let why = words::line(text, 120);
            note(say(|m| m.doctor_may_sleep(&why)))
        }
        Some(Answer::Silent | Answer::Impossible(_)) | None => note(say(Messages::doctor_cannot_keep_awake)),
    }
}

fn root() -> Option<Check> {
    rustix::process::geteuid().is_root().then(|| {
        check("root", CheckState::Note, say(Messages::doctor_root), Some(say(Messages::doctor_not_root)))
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
        assert_eq!(
            data(&Ok(Home::new(dir.path().to_owned()))).detail.english(),
            dir.path().display().to_string()
        );
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
