//! The repository of a case, with things in it that are the user's own and must be the same afterwards.

use std::fs;
use std::path::PathBuf;

use super::case::Case;
use super::tally::Fault;
use crate::Outcome;

/// What the user has, byte for byte.
#[derive(Debug, Clone)]
pub(super) struct Users {
    files: Vec<(PathBuf, Vec<u8>)>,
    /// The commit that `main` was on.
    pub(super) main: String,
}

/// How the user's checkout looks when the task begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Checkout {
    Clean,
    /// With a change and a new file that are not committed.
    Changed,
}

/// Makes the repository.
pub(super) fn make(case: &mut Case, checkout: Checkout) -> Outcome<Users> {
    case.write("repo/README.md", "hello\n")?;
    case.write("repo/.gitignore", "*.o\nbuild/\nresults/\n")?;
    case.write("repo/src/main.txt", "one\ntwo\n")?;
    case.git(&["init", "-q", "-b", "main"])?;
    case.git(&["add", "-A"])?;
    case.git(&["commit", "-qm", "first"])?;
    let mut users = Users { files: Vec::new(), main: case.git(&["rev-parse", "main"])? };
    users.add(case, "repo/notes.o", 300)?;
    users.add(case, "home/letter.txt", 100)?;
    if checkout == Checkout::Changed {
        users.add(case, "repo/draft.txt", 200)?;
        users.add(case, "repo/src/main.txt", 100)?;
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
}
