//! What the engine refuses to do, with what would help.

use dacapo_core::agent::Unable;
use dacapo_core::dropped::DropError;
use dacapo_core::store::LockError;

/// Why an agent cannot run as it is to run.
pub fn unable(unable: &Unable) -> String {
    let Unable { agent, approval, acp_command } = unable;
    let asks = acp_command.join(" ");
    let quoted: Vec<String> = acp_command.iter().map(|word| format!("\"{word}\"")).collect();
    let array = quoted.join(", ");
    let why = match *agent {
        "codex" => format!("`codex exec` has nobody to ask; {asks} as an agent with output = \"acp\" can"),
        "copilot" => {
            format!("with a prompt it has nobody to ask; `{asks}` as an agent with output = \"acp\" can")
        }
        "claude" => format!(
            "nobody can be asked while it runs headless; set up {asks} as [agents.NAME] with output = \"acp\", \
             which asks"
        ),
        "qwen" => format!(
            "nobody can be asked while it runs headless; [agents.NAME] command = [{array}], output = \"acp\" asks"
        ),
        "native" => {
            "it runs unattended; --approval edits leaves the shell out, read-only all that changes files"
                .to_owned()
        }
        _ if acp_command.is_empty() => {
            "its command is not known; define it: [agents.NAME] command = [\"…\"], output = \"acp\""
                .to_owned()
        }
        _ => format!(
            "it asks nobody when it runs without a terminal; as an ACP agent it does: [agents.NAME] command = \
             [{array}], output = \"acp\""
        ),
    };
    format!("{agent} cannot run with --approval {}: {why}", approval.as_str())
}

/// Why a task cannot be had.
pub fn lock(error: &LockError) -> String {
    match error {
        LockError::RenameUnfinished { from, to } => {
            format!("Task '{to}' is not completely renamed: dacapo rename {from} {to} finishes it")
        }
        LockError::Held | LockError::Lingering | LockError::Io { .. } => error.to_string(),
    }
}

/// Why a task cannot be put away or brought back.
pub fn put_away(error: &DropError) -> String {
    match error {
        DropError::Lock(error) => lock(error),
        DropError::Worktree(_) | DropError::File { .. } | DropError::NameTaken(_) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use dacapo_core::agent::{BUILT_IN, Wish};
    use dacapo_core::spec::Approval;

    use super::*;

    #[test]
    fn a8_who_cannot_ask_says_what_can() {
        let wish = Wish { model: None, approval: Approval::Ask, as_root: false };
        let all = BUILT_IN.iter().filter_map(|adapter| adapter.profile(&wish).err());
        let others =
            ["acp", "native"].map(|agent| Unable { agent, approval: Approval::Ask, acp_command: &[] });
        let mut told: Vec<String> = all.chain(others).map(|one| unable(&one)).collect();
        told.sort();
        assert_eq!(
            told,
            [
                "acp cannot run with --approval ask: its command is not known; define it: [agents.NAME] command = \
                 [\"…\"], output = \"acp\"",
                "claude cannot run with --approval ask: nobody can be asked while it runs headless; set up \
                 claude-agent-acp as [agents.NAME] with output = \"acp\", which asks",
                "codex cannot run with --approval ask: `codex exec` has nobody to ask; codex-acp as an agent with \
                 output = \"acp\" can",
                "copilot cannot run with --approval ask: with a prompt it has nobody to ask; `copilot --acp` as an \
                 agent with output = \"acp\" can",
                "gemini cannot run with --approval ask: it asks nobody when it runs without a terminal; as an ACP \
                 agent it does: [agents.NAME] command = [\"gemini\", \"--acp\"], output = \"acp\"",
                "native cannot run with --approval ask: it runs unattended; --approval edits leaves the shell out, \
                 read-only all that changes files",
                "opencode cannot run with --approval ask: it asks nobody when it runs without a terminal; as an ACP \
                 agent it does: [agents.NAME] command = [\"opencode\", \"acp\"], output = \"acp\"",
                "qwen cannot run with --approval ask: nobody can be asked while it runs headless; [agents.NAME] \
                 command = [\"qwen\", \"--acp\"], output = \"acp\" asks",
            ]
        );
    }

    #[test]
    fn c14_a_rename_that_is_not_complete_says_what_completes_it() {
        let error = LockError::RenameUnfinished { from: "old".into(), to: "new".into() };
        assert_eq!(lock(&error), "Task 'new' is not completely renamed: dacapo rename old new finishes it");
        assert_eq!(lock(&LockError::Held), LockError::Held.to_string());
    }
}
