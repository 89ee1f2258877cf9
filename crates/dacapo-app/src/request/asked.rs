//! [`TaskRequest`]: the one way to ask for work.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dacapo_core::spec::SessionMode;
use dacapo_core::spec::{Approval, ProofAt, TestsMode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::Timespan;

/// What is asked for, the same for a command line, a form, a tool of another agent and a step of a workflow. All of it is
/// optional but the prompt; what is left out follows the settings. Names are those of the long flags.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TaskRequest {
    /// What the agent is to do.
    pub prompt: Option<String>,
    /// Take title and text of this issue as the prompt.
    pub issue: Option<u64>,
    /// Name of the task; made from the prompt if not given.
    pub name: Option<String>,

    /// The agent: a name from the settings; several (`a,b`) take over from each other at usage limits.
    pub agent: Option<String>,
    /// Any command as agent: run by `sh -c`, prompt on stdin, plain text out.
    pub agent_cmd: Option<String>,
    /// The model the agent is to use.
    pub model: Option<String>,
    /// What the agent may do without asking.
    #[schemars(with = "Option<String>", extend("enum" = ["auto", "edits", "ask", "read_only", null]))]
    pub approval: Option<Approval>,
    /// A new agent session each iteration, or follow-ups in the same one.
    #[schemars(with = "Option<String>", extend("enum" = ["fresh", "resume", null]))]
    pub session: Option<SessionMode>,

    /// Run this many iterations.
    #[schemars(range(min = 1))]
    pub iter: Option<u32>,
    /// Start no iteration after this time.
    pub time: Option<Timespan>,
    /// The most iterations until it is done.
    pub max_iterations: Option<i64>,
    /// End after this many failed iterations in a row; 0: never.
    pub max_failures: Option<u32>,
    /// End after this many iterations in a row without progress; 0: never.
    pub stall: Option<u32>,
    /// The most it may cost, in USD.
    pub max_cost: Option<f64>,
    /// The most tokens it may use.
    pub max_tokens: Option<u64>,
    /// Hard limit of one turn of the agent.
    pub turn_timeout: Option<Timespan>,
    /// End a turn that shows no sign of life for this long.
    pub idle_timeout: Option<Timespan>,
    /// The longest wait for usage limits in all.
    pub max_wait: Option<Timespan>,

    /// Done when the agent says exactly this.
    pub until: Option<String>,
    /// Done when all of these commands succeed.
    pub checks: Vec<String>,
    /// Done when the project's own checks succeed.
    pub project_checks: bool,
    /// Commands that must succeed when a commit is proven, and that no agent sees.
    pub hidden_checks: Vec<String>,
    /// Limit of one run of a check.
    pub check_timeout: Option<Timespan>,
    /// Do not run the checks before the first iteration.
    pub no_baseline: bool,
    /// Where the last run of the checks happens.
    #[schemars(with = "Option<String>", extend("enum" = ["checkout", "workspace", null]))]
    pub proof: Option<ProofAt>,
    /// What the agent may do to the tests that judge its work.
    #[schemars(with = "Option<String>", extend("enum" = ["original", "locked", "free", null]))]
    pub tests: Option<TestsMode>,

    /// Let the agent change nothing but its worktree, temp, its own state and the caches of tools.
    pub sandbox: bool,
    /// Work in a worktree of its own; by default a task in the background does, one in the foreground does not.
    pub worktree: Option<bool>,
    /// With a worktree: start from this branch, tag or commit.
    pub base: Option<String>,
    /// With a worktree: take uncommitted files along.
    pub with_changes: bool,
    /// Start although there are uncommitted changes; they are set apart in a commit of their own first.
    pub allow_dirty: bool,
    /// Push the branch and open a pull request with this title when it is completed; empty: a title is made.
    pub pr: Option<String>,
    /// Variables for the agent, its checks and the setup; values of secrets are not stored.
    pub env: BTreeMap<String, String>,

    /// The plan that goes with the prompt.
    pub plan: Option<PathBuf>,
    /// No plan, also none that is found.
    pub no_plan: bool,
    /// Do not tell later iterations what earlier ones did.
    pub no_context: bool,
    /// Do not commit.
    pub no_commit: bool,
    /// Do not summarise iterations.
    pub no_summary: bool,
    /// Bound of one summary, in tokens.
    pub summary_max_tokens: Option<u32>,
    /// Bound of what prompts say about earlier iterations and checks, in tokens.
    pub context_max_tokens: Option<u32>,
    /// A model that writes commit messages.
    pub commit_message_model: Option<String>,
    /// A model that writes summaries.
    pub summary_model: Option<String>,
    /// What follows the prompt without context.
    pub loop_prompt: Option<String>,
}

/// Where a task's process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Driven {
    /// It is the one that asks, and somebody watches it.
    Here,
    /// It is one of its own.
    InBackground,
}

impl Driven {
    /// As a spec says it.
    pub fn foreground(foreground: bool) -> Self {
        if foreground { Self::Here } else { Self::InBackground }
    }
}

impl TaskRequest {
    /// Where the last run of the checks happens.
    pub fn proof_at(&self) -> ProofAt {
        self.proof.unwrap_or_default()
    }

    /// Whether it works in a worktree of its own.
    pub fn in_worktree(&self, driven: Driven) -> bool {
        self.worktree.unwrap_or(driven == Driven::InBackground)
    }
}

/// The JSON Schema of a request, for tools and editors.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(TaskRequest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_reads_with_the_names_of_the_long_flags() {
        let text = r#"{"prompt": "fix it", "iter": 5, "time": "1h30m", "checks": ["cargo test"], "approval": "read_only",
                       "session": "resume", "worktree": true, "env": {"MODE": "a"}, "max_cost": 2.5}"#;
        let request: TaskRequest = serde_json::from_str(text).unwrap();
        let expected = TaskRequest {
            prompt: Some("fix it".into()),
            iter: Some(5),
            time: Some(Timespan::from_secs(5400)),
            checks: vec!["cargo test".into()],
            approval: Some(Approval::ReadOnly),
            session: Some(SessionMode::Resume),
            worktree: Some(true),
            env: [("MODE".to_owned(), "a".to_owned())].into(),
            max_cost: Some(2.5),
            ..TaskRequest::default()
        };
        assert_eq!(request, expected);
        let again: TaskRequest = serde_json::from_str(&serde_json::to_string(&request).unwrap()).unwrap();
        assert_eq!(again, request);
    }

    #[test]
    fn what_nobody_knows_is_refused() {
        let error = serde_json::from_str::<TaskRequest>(r#"{"promt": "x"}"#).unwrap_err();
        assert!(error.to_string().contains("unknown field `promt`"), "{error}");
    }

    #[test]
    fn the_schema_has_every_field_and_no_other() {
        let schema = schema().to_value();
        let mut known: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        let written = serde_json::to_value(TaskRequest::default()).unwrap();
        let mut fields: Vec<&String> = written.as_object().unwrap().keys().collect();
        known.sort();
        fields.sort();
        assert_eq!(known, fields);
        assert_eq!(schema["additionalProperties"], false);
        assert!(schema.get("required").is_none());
    }
}
