//! What is wrong with the place a task works in, and what would help.

use dacapo_core::event::{HeadAt, InTheWay, WorkspaceProblem};

use crate::messages::Messages;

/// All that is wrong, in a line.
pub fn all(problems: &[WorkspaceProblem], messages: Messages) -> String {
    let told = problems.iter().map(|problem| told(problem, messages));
    told.reduce(|first, second| messages.clauses(&first, &second)).unwrap_or_default()
}

/// What a git was waiting for when it was ended.
pub(super) fn waited_for(programs: &[String], messages: Messages) -> String {
    let named: Vec<String> = programs.iter().map(|program| format!("`{program}`")).collect();
    if named.is_empty() { String::new() } else { messages.workspace_git_waited(&named.join(", ")) }
}

/// What is wrong, and what would help.
pub fn told(problem: &WorkspaceProblem, messages: Messages) -> String {
    let m = messages;
    match problem {
        WorkspaceProblem::HeadMoved { found, home, rescued } => {
            let moved = m.workspace_head_moved(&head(found, m), &head(home, m));
            match rescued.as_slice() {
                [] => moved,
                refs => m.clauses(&moved, &m.workspace_kept_as(&refs.join(", "))),
            }
        }
        WorkspaceProblem::NestedRepository { path } => m.workspace_nested_repository(path),
        WorkspaceProblem::Unmerged { paths, total } => {
            m.clauses(&m.workspace_unmerged(&named(paths, *total)), &m.workspace_nothing_committed())
        }
        WorkspaceProblem::Unfinished { operation } => {
            let unfinished = m.workspace_unfinished(&operation.to_string());
            m.clauses(&unfinished, &m.workspace_nothing_committed())
        }
        WorkspaceProblem::DirectoryGone { path } => m.workspace_directory_gone(path),
        WorkspaceProblem::RepositoryGone { path } => m.workspace_repository_gone(path),
        WorkspaceProblem::SpecialFile { path, kind } => m.workspace_special_file(path, &kind.to_string()),
        WorkspaceProblem::GitEnded { command, limit_seconds, programs } => {
            let waited = waited_for(programs, m);
            match limit_seconds {
                Some(limit) => m.workspace_git_too_long(command, *limit, &waited),
                None => m.workspace_git_stopped(command, &waited),
            }
        }
        WorkspaceProblem::HistoryGone { commit_id } => m.workspace_history_gone(commit_id.short()),
        WorkspaceProblem::LinkReplaced { path } => m.workspace_link_replaced(path),
        WorkspaceProblem::BranchMoved { now: Some(at), rescued } => {
            m.workspace_branch_moved(at.short(), rescued)
        }
        WorkspaceProblem::BranchMoved { now: None, rescued } => m.workspace_branch_removed(rescued),
        WorkspaceProblem::StartGone { commit_id } => m.workspace_start_gone(commit_id.short()),
        WorkspaceProblem::NoCommits => m.workspace_no_commits(),
        WorkspaceProblem::BranchExists { branch } => m.workspace_branch_exists(branch),
        WorkspaceProblem::NotSwitched { branch, found } => {
            m.clauses(&in_the_way(found, m), &m.workspace_to_be_switched(branch))
        }
        WorkspaceProblem::Astray { on, branch, found } => {
            m.astray(&branch_or_none(on.as_deref(), m), branch, &in_the_way(found, m))
        }
        WorkspaceProblem::SwitchFailed { branch, message } => m.workspace_switch_failed(branch, message),
        WorkspaceProblem::SwitchBackFailed { on, branch, message } => {
            m.workspace_switch_back_failed(&branch_or_none(on.as_deref(), m), branch, message)
        }
        WorkspaceProblem::Unusable { of_task, message, removed_branch } => {
            let unusable = m.workspace_unusable(of_task, message);
            match removed_branch {
                Some(branch) => format!("{unusable}\n{}", m.workspace_removed(branch)),
                None => unusable,
            }
        }
        WorkspaceProblem::NotMade { because, unlock } => {
            let not_made = m.workspace_not_made(&told(because, m));
            match unlock {
                Some(command) => m.clauses(&not_made, &m.workspace_unlock(command)),
                None => not_made,
            }
        }
        WorkspaceProblem::Said { message } => message.clone(),
    }
}

fn branch_or_none(branch: Option<&str>, messages: Messages) -> String {
    branch.map_or_else(|| messages.detached_head(), str::to_owned)
}

fn head(head: &HeadAt, messages: Messages) -> String {
    let at = head.commit_id.as_ref();
    let at = at.map_or_else(|| messages.workspace_no_commit(), |at| at.short().to_owned());
    match &head.branch {
        Some(branch) => messages.workspace_branch_at(branch, &at),
        None => messages.workspace_detached_at(&at),
    }
}

fn in_the_way(found: &InTheWay, messages: Messages) -> String {
    match found {
        InTheWay::Operation { operation } => messages.astray_operation(&operation.to_string()),
        InTheWay::Files { paths, total } => messages.astray_uncommitted(&named(paths, *total)),
    }
}

fn named(paths: &[String], total: u64) -> String {
    let more = if total > paths.len() as u64 { ", …" } else { "" };
    format!("{}{more}", paths.join(", "))
}

#[cfg(test)]
mod tests {
    use dacapo_core::context;
    use dacapo_core::event::Fault;
    use dacapo_core::git::{Oid, Operation, SpecialKind};

    use super::*;
    use crate::messages::Language;

    fn all_kinds() -> Vec<WorkspaceProblem> {
        let commit_id = Oid::parse(&"1".repeat(40)).unwrap();
        let at = |branch: Option<&str>, commit_id: Option<&Oid>| HeadAt {
            branch: branch.map(str::to_owned),
            commit_id: commit_id.cloned(),
        };
        let (branch, path, message) = (|| "b".to_owned(), || "/w".to_owned(), || "fatal: no".to_owned());
        let files = || InTheWay::Files { paths: vec!["f".into()], total: 2 };
        let operation = Operation::Merge;
        vec![
            WorkspaceProblem::HeadMoved {
                found: at(None, Some(&commit_id)),
                home: at(Some("b"), None),
                rescued: vec!["refs/r".into()],
            },
            WorkspaceProblem::NestedRepository { path: path() },
            WorkspaceProblem::Unmerged { paths: vec!["f".into(), "g".into()], total: 2 },
            WorkspaceProblem::Unfinished { operation },
            WorkspaceProblem::DirectoryGone { path: path() },
            WorkspaceProblem::RepositoryGone { path: path() },
            WorkspaceProblem::SpecialFile { path: path(), kind: SpecialKind::Fifo },
            WorkspaceProblem::GitEnded {
                command: "git status".into(),
                limit_seconds: Some(600),
                programs: vec!["slow f".into()],
            },
            WorkspaceProblem::GitEnded {
                command: "git status".into(),
                limit_seconds: None,
                programs: Vec::new(),
            },
            WorkspaceProblem::HistoryGone { commit_id: commit_id.clone() },
            WorkspaceProblem::LinkReplaced { path: path() },
            WorkspaceProblem::BranchMoved { now: Some(commit_id.clone()), rescued: "refs/r".into() },
            WorkspaceProblem::BranchMoved { now: None, rescued: "refs/r".into() },
            WorkspaceProblem::StartGone { commit_id },
            WorkspaceProblem::NoCommits,
            WorkspaceProblem::BranchExists { branch: branch() },
            WorkspaceProblem::NotSwitched { branch: branch(), found: files() },
            WorkspaceProblem::Astray {
                on: Some("m".into()),
                branch: branch(),
                found: InTheWay::Operation { operation },
            },
            WorkspaceProblem::SwitchFailed { branch: branch(), message: message() },
            WorkspaceProblem::SwitchBackFailed { on: Some("m".into()), branch: branch(), message: message() },
            WorkspaceProblem::Unusable { of_task: "t".into(), message: message(), removed_branch: None },
            WorkspaceProblem::NotMade {
                because: Box::new(WorkspaceProblem::Said { message: message() }),
                unlock: None,
            },
            WorkspaceProblem::Said { message: message() },
        ]
    }

    #[test]
    fn people_read_in_english_what_agents_are_told() {
        for problem in all_kinds() {
            let agents = context::fault(&Fault::Workspace(problem.clone()));
            assert_eq!(told(&problem, Messages::ENGLISH), agents);
        }
    }

    #[test]
    fn what_would_help_is_for_people_alone() {
        let unusable = WorkspaceProblem::Unusable {
            of_task: "t".into(),
            message: "fatal: no".into(),
            removed_branch: Some("b".into()),
        };
        assert_eq!(
            told(&unusable, Messages::ENGLISH),
            "the workspace of task 't' cannot be used: fatal: no\nits worktree and branch b were removed; git branch b \
             COMMIT brings the branch back, and the worktree comes with it"
        );
        let locked = WorkspaceProblem::NotMade {
            because: Box::new(WorkspaceProblem::NoCommits),
            unlock: Some("rm x.lock".into()),
        };
        assert_eq!(
            told(&locked, Messages::ENGLISH),
            "cannot create the worktree: a repository without commits cannot have a worktree; rm x.lock, if no git and \
             no editor is running in this repository"
        );
    }

    #[test]
    fn u10_no_english_is_left_in_chinese() {
        let chinese = Messages::new(Language::SimplifiedChinese);
        for problem in all_kinds().iter().filter(|problem| problem.quoted().is_none()) {
            let text = told(problem, chinese).replace("fatal: no", "");
            let word = text.split(|c: char| !c.is_ascii_alphabetic()).find(|word| word.len() > 6);
            assert_eq!(word, None, "{text}");
        }
    }
}
