//! Why a merge left a task out.

use std::path::PathBuf;

use dacapo_core::event::CheckResult;
use dacapo_core::git::display_path;
use dacapo_core::merge::LeftOut;

use crate::messages::{Messages, Text, say};
use crate::present::{changed_tests, faults, words};

/// How many names of files stand in one line.
const FILES: usize = 5;

/// In words, in every language.
pub fn why(left_out: &LeftOut) -> Text {
    match left_out {
        LeftOut::Conflicts(paths) => say(|m| m.merge_why_conflicts(&files(paths, m))),
        LeftOut::NoAgent => say(|m| m.merge_why_no_agent()),
        LeftOut::Unresolved { agent, fault, .. } => {
            say(|m| m.merge_why_unresolved(agent, &faults::told(fault, m)))
        }
        LeftOut::Check { result, .. } => {
            say(|m| m.merge_why_check(&result.command, &words::exit(&result.ended(), m), &last_line(result)))
        }
        LeftOut::Setup { result, .. } => {
            say(|m| m.merge_why_setup(&result.command, &words::exit(&result.ended(), m), &last_line(result)))
        }
        LeftOut::Secret(file) => say(|m| m.merge_why_secret(&file.path, &file.variable)),
        LeftOut::Tests(tests) => say(|m| m.merge_why_tests(&changed_tests::files(tests, m))),
        LeftOut::Moved => say(|m| m.merge_why_moved()),
        LeftOut::Switched => say(|m| m.merge_why_switched()),
        LeftOut::InTheWay(files) => say(|m| m.merge_why_in_the_way(files)),
        LeftOut::Trouble(said) => said.clone().into(),
    }
}

/// Five names, then their number.
pub fn files(paths: &[PathBuf], messages: Messages) -> String {
    let mut named: Vec<String> = paths.iter().take(FILES).map(|path| display_path(path)).collect();
    if named.len() < paths.len() {
        named.push(messages.merge_names_in_all(paths.len()));
    }
    named.join(", ")
}

fn last_line(result: &CheckResult) -> String {
    match result.telling_line() {
        line if line.is_empty() => line,
        line => format!(": {}", words::line(&line, 100)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Language;

    #[test]
    fn u5_why_a_task_was_left_out_is_said_in_the_readers_language() {
        let six = || ["a", "b", "c", "d", "e", "f"].map(PathBuf::from).to_vec();
        let all = [
            LeftOut::Conflicts(six()),
            LeftOut::NoAgent,
            LeftOut::Moved,
            LeftOut::Switched,
            LeftOut::Trouble("fatal: no".into()),
        ];
        for left_out in &all {
            // The engine's own words, for logs, and those for people are the same in English.
            assert_eq!(why(left_out).english(), left_out.to_string());
        }
        let shown = all
            .each_ref()
            .map(|left_out| why(left_out).in_words(Messages::new(Language::SimplifiedChinese)).to_owned());
        assert_eq!(
            shown,
            [
                "a, b, c, d, e, ……（共 6 个） 中有冲突，且没有智能体来解决",
                "没有智能体来执行该要求",
                "期间分支被他人移动了两次",
                "期间检出了另一个分支",
                "fatal: no",
            ]
        );
    }
}
