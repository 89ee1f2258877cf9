//! The git we need, one function an operation.
//!
//! In the order in which an iteration meets it: [`Repo::discover`] and [`Repo::dirt`] at the start,
//! [`Repo::keep_user_changes`] or [`Repo::add_worktree`] and [`Repo::copy_uncommitted`] to get a workspace,
//! [`Repo::prepare_commit`] when the agent's processes are dead, then (after the intent is in the journal)
//! [`Repo::land`], and [`durable`] beside the next turn.
//!
//! Git is always the user's own program, run by `run.rs`; file names are bytes throughout.

mod ahead;
mod apart;
mod bare;
mod carry;
mod commit;
pub(crate) mod config_text;
mod dirt;
pub mod durable;
mod error;
mod exclude;
mod first_commit;
mod guard;
mod half_moved;
mod identity;
mod ignored;
mod include;
mod index;
mod inspect;
mod land;
mod left_locks;
mod locate;
mod loose;
mod main_branch;
mod merge;
mod oid;
mod outcome;
mod patch;
mod places;
mod private;
mod reach;
mod reconcile;
mod refs;
mod regular;
mod relocate;
mod remote;
mod repo;
mod rescue;
mod resolution;
mod restore;
mod run;
mod secrets;
mod settings_files;
mod stage;
mod standalone;
mod stat;
mod status;
mod uncommitted;
mod untracked;
mod watched_refs;
mod worktree;
mod worktree_admin;

pub use apart::Apart;
pub(crate) use bare::{Bare, Blob, Changed, History};
pub use carry::Carried;
pub(crate) use carry::Found;
pub use commit::{CommitDate, CommitRequest};
pub use dirt::{Dirt, Operation};
pub use error::{GitError, SpecialKind};
pub use guard::LeftOutReason;
pub(crate) use identity::Identity;
pub(crate) use ignored::Ignored;
pub use land::{Landed, Landing};
pub(crate) use left_locks::EndedRun;
pub use locate::{common_dir, current_branch};
pub use loose::Loose;
pub use main_branch::MainBranch;
pub(crate) use merge::Joining;
pub use merge::{Advanced, MergeStyle, Merged, Preview};
pub use oid::{InvalidOid, Oid, display_path};
pub use outcome::{Change, ChangeKind, LeftOut, NewCommit, Notice, Prepared, Problem};
pub use patch::Whitespace;
pub use refs::{Head, Rescued};
pub(crate) use relocate::BranchWorktree;
pub use remote::UsersGit;
pub use repo::{DiscoverError, Repo};
pub use rescue::SetAside;
pub use resolution::{OpenMerge, Resolution, Unresolved};
pub use secrets::{CommittedSecret, Looked};
pub(crate) use settings_files::is_own_exclude;
pub use settings_files::{LONGEST_LIST, SettingsFiles};
pub(crate) use standalone::{Entry, Flags, IgnoredBy, Settings, Standalone, quoted};
pub use stat::{FileStat, Lines};
pub use uncommitted::{Copied, SavedChanges};
pub use untracked::{Compared, KeepLimits, NotKept, Untracked};
pub use watched_refs::{MovedRef, WatchedRefs};
pub use worktree::{CleanCheckout, WorktreeError};
