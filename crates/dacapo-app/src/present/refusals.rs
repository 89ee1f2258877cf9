//! What an agent cannot do, with what would help.

use dacapo_core::agent::Unable;

use crate::messages::{Messages, Text, say};

/// Why an agent cannot run as it is to run.
pub fn unable(unable: &Unable) -> Text {
    say(|messages| {
        let Unable { agent, approval, .. } = unable;
        messages.unable(agent, approval.as_str(), &why(unable, messages))
    })
}

fn why(unable: &Unable, messages: Messages) -> String {
    let command = unable.acp_command.join(" ");
    let quoted: Vec<String> = unable.acp_command.iter().map(|word| format!("\"{word}\"")).collect();
    let array = quoted.join(", ");
    match unable.agent {
        "codex" => messages.unable_codex(&command),
        "claude" => messages.unable_claude(&command),
        "native" => messages.unable_native(),
        _ if unable.acp_command.is_empty() => messages.unable_command_unknown(),
        _ => messages.unable_headless(&array),
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
        let mut told: Vec<String> = all.chain(others).map(|one| unable(&one).to_string()).collect();
        told.sort();
        insta::assert_snapshot!(told.join("\n"), @r#"
        acp cannot run with --approval ask: its command is not known; define it: [agents.NAME] command = ["…"], output = "acp"
        claude cannot run with --approval ask: it cannot ask while it runs headless; claude-agent-acp can: configure it as [agents.NAME] with output = "acp"
        codex cannot run with --approval ask: `codex exec` cannot ask; codex-acp can: configure it as [agents.NAME] with output = "acp"
        copilot cannot run with --approval ask: it cannot ask while it runs headless; as an ACP agent it can: [agents.NAME] command = ["copilot", "--acp"], output = "acp"
        gemini cannot run with --approval ask: it cannot ask while it runs headless; as an ACP agent it can: [agents.NAME] command = ["gemini", "--acp"], output = "acp"
        native cannot run with --approval ask: it runs unattended; --approval edits leaves out the shell, --approval read-only every tool that changes files
        opencode cannot run with --approval ask: it cannot ask while it runs headless; as an ACP agent it can: [agents.NAME] command = ["opencode", "acp"], output = "acp"
        qwen cannot run with --approval ask: it cannot ask while it runs headless; as an ACP agent it can: [agents.NAME] command = ["qwen", "--acp"], output = "acp"
        "#);
    }
}
