//! The repository of a case, with things in it that are the user's own and must be the same afterwards.

use std::fs;
use std::path::PathBuf;

use super::case::Case;
use super::tally::Fault;
use super::task::Kind;
use crate::Outcome;

/// A file of the user's, untracked before a task in place, that agents write to.
const DIARY: &str = "diary.txt";

/// What the user has, byte for byte.
#[derive(Debug, Clone)]
pub(super) struct Users {
    files: Vec<(PathBuf, Vec<u8>)>,
    /// What the diary was.
    diary: Option<Vec<u8>>,
    /// The commit that `main` was on.
    pub(super) main: String,
}

/// How the user's checkout looks when the task begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Checkout {
    Clean,
    /// With a change and a new file that are not committed.
    Changed,
    /// With new files that are not committed: no obstacle for a task that works in it (C10).
    Untracked,
}

impl Checkout {
    /// One in which a task of this kind can begin.
    pub(super) fn of(case: &mut Case, kind: Kind) -> Self {
        match kind.is_in_place() {
            false => Self::Changed,
            true if case.random.percent(30) => Self::Clean,
            true => Self::Untracked,
        }
    }
}

/// Makes the repository.
pub(super) fn make(case: &mut Case, checkout: Checkout) -> Outcome<Users> {
    case.write("repo/README.md", "hello\n")?;
    case.write("repo/.gitignore", "*.o\nbuild/\nresults/\n")?;
    case.write("repo/src/main.txt", "one\ntwo\n")?;
    case.git(&["init", "-q", "-b", "main"])?;
    case.git(&["add", "-A"])?;
    case.git(&["commit", "-qm", "first"])?;
    let mut users = Users { files: Vec::new(), diary: None, main: case.git(&["rev-parse", "main"])? };
    users.add(case, "repo/notes.o", 300)?;
    users.add(case, "home/letter.txt", 100)?;
    if checkout == Checkout::Changed {
        users.add(case, "repo/draft.txt", 200)?;
        users.add(case, "repo/src/main.txt", 100)?;
    }
    if checkout == Checkout::Untracked {
        users.add(case, "repo/draft.txt", 200)?;
        users.add(case, "repo/papers/plan b.txt", 100)?;
        let bytes = case.random.bytes(150);
        case.write(&format!("repo/{DIARY}"), &bytes)?;
        users.diary = Some(bytes);
    }
    Ok(users)
}

impl Users {
    fn add(&mut self, case: &mut Case, name: &str, length: usize) -> Outcome {
        let bytes = case.random.bytes(length);
        self.files.push((case.write(name, &bytes)?, bytes));
        Ok(())
    }

    /// What the user did on `main` meanwhile: a commit of the case itself, not of the program.
    pub(super) fn committed(&mut self, case: &Case) -> Outcome {
        self.main = case.git(&["rev-parse", "main"])?;
        Ok(())
    }

    /// All of it is as it was, `main` has only gained commits, and git finds nothing broken.
    pub(super) fn check(&self, case: &mut Case) -> Outcome {
        for (path, bytes) in &self.files {
            if fs::read(path).ok().as_ref() != Some(bytes) {
                case.fault(Fault::Lost, format!("the user's {} is not what it was", path.display()));
            }
        }
        self.check_diary(case)?;
        if case.git(&["merge-base", "--is-ancestor", &self.main, "main"]).is_err() {
            case.fault(Fault::Lost, format!("main no longer has the user's commit {}", self.main));
        }
        match case.git(&["symbolic-ref", "HEAD"]) {
            Ok(head) if head == "refs/heads/main" => {}
            other => {
                case.fault(Fault::State, format!("the user's checkout is not on main any more: {other:?}"));
            }
        }
        if let Err(why) = case.git(&["fsck", "--connectivity-only", "--no-dangling", "--no-progress"]) {
            case.fault(Fault::Lost, format!("the repository is broken: {why}"));
        }
        Ok(())
    }

    /// Agents add to it; what it was before must be in the repository then.
    fn check_diary(&self, case: &mut Case) -> Outcome {
        let Some(before) = &self.diary else { return Ok(()) };
        let now = fs::read(case.repo().join(DIARY)).unwrap_or_default();
        if now == *before {
            return Ok(());
        }
        if !now.starts_with(before) {
            case.fault(Fault::Lost, format!("the user's {DIARY} is neither what it was nor added to"));
        }
        let was = case.write("desk/diary.txt", before)?;
        let was = case.git(&["hash-object", "--no-filters", &was.display().to_string()])?;
        let refs = case.git(&["for-each-ref", "--format=%(refname)", "refs/dacapo/rescue"])?;
        let holds =
            |name: &str| case.git(&["rev-parse", &format!("{name}:{DIARY}")]).is_ok_and(|id| id == was);
        if !refs.lines().filter(|name| name.contains("/before/untracked")).any(holds) {
            case.fault(Fault::Lost, format!("no ref holds what the user's {DIARY} was; there are {refs}"));
        }
        Ok(())
    }

    /// What was untracked and nobody touched is in no commit.
    pub(super) fn check_untracked(&self, case: &mut Case) -> Outcome {
        if self.diary.is_some() {
            let commits = case.git(&["log", "--format=%h", "main", "--", "draft.txt", "papers"])?;
            if !commits.is_empty() {
                case.fault(Fault::State, format!("files that were untracked are in commits: {commits}"));
            }
        }
        Ok(())
    }
}
