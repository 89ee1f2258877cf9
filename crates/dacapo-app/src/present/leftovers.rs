//! Why something of a task goes or stays when it is cleared up: by `merge`, by `prune`.

use std::time::Duration;

use dacapo_core::merge::HomeProblem;
use dacapo_core::prune::{PutAwayState, Reason};

use super::errors::InWords as _;
use crate::messages::Messages;

/// What could not be done about worktree and branch of the merged task `name`.
pub fn not_at_home(problem: &HomeProblem, name: &str, messages: Messages) -> String {
    match problem {
        HomeProblem::NotKept { error } => messages.clearing_not_kept(&error.in_words(messages)),
        HomeProblem::NotRecorded { error } => messages.clearing_not_recorded(&error.in_words(messages)),
        HomeProblem::NotPutAway { error } => messages.clearing_not_put_away(&error.in_words(messages), name),
    }
}

/// Why the thing of this name goes, or stays and what would let it go.
pub fn because(reason: &Reason, name: &str, messages: Messages) -> String {
    match reason {
        Reason::Merged { into, put_away: 0 } => messages.clearing_merged(into),
        Reason::Merged { into, put_away } => {
            messages.clearing_merged_with_files(into, *put_away as u64, name)
        }
        Reason::LeftByCrash => messages.clearing_crash(),
        Reason::EmptyAfterCrash => messages.clearing_crash_empty(),
        Reason::NoProofFor { seconds } => {
            messages.clearing_no_proof_for(&days(Duration::from_secs(*seconds), messages))
        }
        Reason::PutAway(state) => put_away(*state, messages),
        Reason::KeptFor { state, days } => messages.clearing_kept_for(&put_away(*state, messages), *days),
        Reason::CutShort => messages.clearing_cut_short(name),
        Reason::GitAtWork => messages.clearing_git_at_work(),
        Reason::Uncommitted { files } => messages.clearing_uncommitted(*files as u64),
        Reason::Nobodys { path } => messages.clearing_nobodys(&messages.path(path)),
        Reason::Said { message } => message.clone(),
    }
}

fn put_away(state: PutAwayState, messages: Messages) -> String {
    match state {
        PutAwayState::Merged => messages.clearing_put_away_merged(),
        PutAwayState::MergedWithFiles => messages.clearing_put_away_with_files(),
        PutAwayState::NotMerged => messages.clearing_put_away_not_merged(),
    }
}

fn days(span: Duration, messages: Messages) -> String {
    match span.as_secs() / (24 * 3600) {
        0 => messages.minutes(span.as_secs() / 60),
        1 => messages.clearing_a_day(),
        days => messages.days(days),
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
            all.each_ref().map(|reason| because(reason, "x", Messages::ENGLISH)),
            [
                "merged into main",
                "merged into main; 1 ignored file is kept: dacapo undo x restores it",
                "merged into main; 2 ignored files are kept: dacapo undo x restores them",
                "not used for a proof for 7 days",
                "merged; contains files that are in no commit",
                "merged; contains files that are in no commit; removed after 30 days, or now with --dropped",
                "its drop was interrupted: dacapo drop x finishes it, dacapo undo x reverts it",
                "1 uncommitted file; dacapo drop keeps it",
                "3 uncommitted files; dacapo drop keeps them",
            ]
        );
    }
}
