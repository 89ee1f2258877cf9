//! Why something of a task goes or stays when it is cleared up: by `merge`, by `prune`.

use std::time::Duration;

use dacapo_core::merge::HomeProblem;
use dacapo_core::prune::{PutAwayState, Reason};

/// What could not be done about worktree and branch of the merged task `name`.
pub fn not_at_home(problem: &HomeProblem, name: &str) -> String {
    match problem {
        HomeProblem::NotKept { error } => {
            format!("its worktree and branch stay, as they could not be kept first: {error}")
        }
        HomeProblem::NotRecorded { error } => {
            format!("its worktree and branch stay, as the merge could not be recorded: {error}")
        }
        HomeProblem::NotPutAway { error } => {
            format!("its worktree or branch could not be put away: {error}; dacapo merge {name} tries again")
        }
    }
}

/// Why the thing of this name goes, or stays and what would let it go.
pub fn because(reason: &Reason, name: &str) -> String {
    match reason {
        Reason::Merged { into, put_away: 0 } => format!("merged into {into}"),
        Reason::Merged { into, put_away: 1 } => {
            format!("merged into {into}; 1 ignored file is put away: dacapo undo {name}")
        }
        Reason::Merged { into, put_away } => {
            format!("merged into {into}; {put_away} ignored files are put away: dacapo undo {name}")
        }
        Reason::LeftByCrash => "left by a crash".to_owned(),
        Reason::EmptyAfterCrash => "left by a crash; nothing is in it".to_owned(),
        Reason::NoProofFor { seconds } => format!("no proof for {}", days(Duration::from_secs(*seconds))),
        Reason::PutAway(state) => put_away(*state).to_owned(),
        Reason::KeptFor { state, days } => {
            format!("{}: goes after {days} days, or with --dropped", put_away(*state))
        }
        Reason::CutShort => {
            format!("its drop was cut short: dacapo drop {name} goes on, dacapo undo {name} takes it back")
        }
        Reason::GitAtWork => "git is in the middle of something there".to_owned(),
        Reason::Uncommitted { files: 1 } => "1 uncommitted file; dacapo drop keeps it".to_owned(),
        Reason::Uncommitted { files } => format!("{files} uncommitted files; dacapo drop keeps them"),
        Reason::Nobodys { path } => format!("belongs to no task; look at {}", path.display()),
        Reason::Said { message } => message.clone(),
    }
}

fn put_away(state: PutAwayState) -> &'static str {
    match state {
        PutAwayState::Merged => "put away, merged",
        PutAwayState::MergedWithFiles => "put away, merged, with files that are in no commit",
        PutAwayState::NotMerged => "put away, not merged",
    }
}

fn days(span: Duration) -> String {
    match span.as_secs() / (24 * 3600) {
        0 => format!("{} minutes", span.as_secs() / 60),
        1 => "a day".to_owned(),
        days => format!("{days} days"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s9_every_reason_says_what_would_help() {
        let state = PutAwayState::MergedWithFiles;
        let all = [
            Reason::Merged { into: "main".into(), put_away: 0 },
            Reason::Merged { into: "main".into(), put_away: 1 },
            Reason::Merged { into: "main".into(), put_away: 2 },
            Reason::NoProofFor { seconds: 7 * 24 * 3600 },
            Reason::PutAway(state),
            Reason::KeptFor { state, days: 30 },
            Reason::CutShort,
            Reason::Uncommitted { files: 1 },
            Reason::Uncommitted { files: 3 },
        ];
        assert_eq!(
            all.each_ref().map(|reason| because(reason, "x")),
            [
                "merged into main",
                "merged into main; 1 ignored file is put away: dacapo undo x",
                "merged into main; 2 ignored files are put away: dacapo undo x",
                "no proof for 7 days",
                "put away, merged, with files that are in no commit",
                "put away, merged, with files that are in no commit: goes after 30 days, or with --dropped",
                "its drop was cut short: dacapo drop x goes on, dacapo undo x takes it back",
                "1 uncommitted file; dacapo drop keeps it",
                "3 uncommitted files; dacapo drop keeps them",
            ]
        );
    }
}
