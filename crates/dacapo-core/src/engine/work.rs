//! What is asked and told about work that agents commit themselves ([`super::machine::Effect::InspectWork`]).

use crate::event::TestsDiff;
use crate::git::Oid;

/// What git is asked about work that agents commit themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkQuery {
    /// The branch of the task (full name).
    pub branch: Option<String>,
    /// The commit that the task began at.
    pub base: Option<Oid>,
    pub iteration: Option<u32>,
    /// HEAD at the beginning of the iteration.
    pub start: Option<Oid>,
    /// Commits, as an agent names them: 7 to 64 hexadecimal digits each.
    pub commits: Vec<String>,
    /// The file that defines the task, from the top of the repository.
    pub definition: String,
    /// Its text as the task is held to it: where the file says just that, nobody has changed anything.
    pub frozen: String,
    /// The main branch (full name).
    pub main: Option<String>,
    /// Where it was when it was last seen; none: it is taken as it is.
    pub main_was: Option<Oid>,
    /// Whether the diff of the iteration is wanted.
    pub diff: bool,
    /// From which commit on it is wanted what changed of the files that judge the work.
    pub tests_since: Option<Oid>,
}

/// What git says about work that agents commit themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkFacts {
    pub head: Option<Oid>,
    /// The branch that HEAD is on (full name); none when detached.
    pub branch: Option<String>,
    /// Where the task's branch is; none: it is gone.
    pub tip: Option<Oid>,
    pub main: Option<Oid>,
    /// Commits that came onto the main branch since it was last seen, and that were made in this working tree or are the
    /// task's own: `hash subject`. What a person commits there in a checkout of theirs is not among them.
    pub main_moved: Vec<String>,
    /// The main branch is gone, or what was on it when it was last seen is not on it any more.
    pub main_lost: bool,
    /// Paths that are not committed, apart from what checks and the setup left, at most [`WorkFacts::MOST_FILES`].
    pub dirty: Vec<String>,
    /// Locks of git, where nobody else works in this tree: while they lie there it refuses to commit.
    pub locks: Vec<String>,
    /// The commits that were asked about.
    pub commits: Vec<NamedCommit>,
    /// The file that defines the task is neither what it was at the base nor what the task is held to.
    pub definition_changed: bool,
    /// What differs from the commit at the start of the iteration, at most [`WorkFacts::MOST_FILES`].
    pub changed_files: Vec<String>,
    /// How many they are in truth.
    pub changed_total: u32,
    /// The commits of the task as `git log --oneline` shows them, newest first, at most [`WorkFacts::MOST_LOG`].
    pub log: Vec<String>,
    /// What the iteration changed, where that was asked for and is at most [`WorkFacts::MOST_DIFF`] long.
    pub diff: Option<String>,
    /// What changed of the files that judge the work, where that was asked for and anything did.
    pub tests: Option<TestsDiff>,
}

impl WorkFacts {
    /// A longer diff is read by whoever judges it.
    pub const MOST_DIFF: usize = 16 << 10;
    /// More files than this are counted, not listed.
    pub const MOST_FILES: usize = 100;
    /// How many commits are listed.
    pub const MOST_LOG: usize = 200;
}

/// A commit that a report names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedCommit {
    /// As it is named there.
    pub named: String,
    /// The commit; none: there is no such one, or there are several.
    pub found: Option<Oid>,
    /// It is on the task's branch, and was not there before the task.
    pub on_branch: bool,
}
