//! What a webhook is sent, and what a command of the user's reads on standard input.

use dacapo_core::event::{FORMAT, Needs, Outcome, StopReason, TestsResult, Tokens};
use dacapo_core::git::Oid;
use dacapo_core::view::{Status, TaskView};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::present::next::Next;
use crate::present::{json, kind_words, words};

/// A notification: what a webhook is sent, and what `[notify] command` reads on standard input.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Notification {
    /// The version of this format.
    v: u32,
    /// What the notification is about.
    r#type: NotificationType,
    /// The task's name.
    name: String,
    /// What the task is doing, or how it ended.
    status: Status,
    /// What a person is asked, or why the task ended, as a sentence; null if there is nothing to say.
    message: Option<String>,
    #[serde(flatten)]
    task: Option<TaskNews>,
    /// The whole notification as text, escaped for Slack, Mattermost, Teams and Google Chat.
    pub(super) text: String,
    /// The same text for Discord.
    pub(super) content: String,
}

/// What a notification is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum NotificationType {
    /// A task needs a person.
    NeedsPerson,
    /// A task ended.
    TaskFinished,
    /// `dacapo notify test`: most fields are absent.
    Test,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
struct TaskNews {
    /// The path of the checkout in which the task was started.
    repo: String,
    /// The kind of task: `loop` or `milestone`.
    kind: String,
    /// How the task ended; null while it has not.
    outcome: Option<Outcome>,
    /// Why the task ended; null while it has not.
    stop_reason: Option<StopReason>,
    /// True if the checks passed on the last commit in a checkout that no agent writes to.
    verified: bool,
    /// What a person must decide; null if nobody is needed.
    #[schemars(with = "Option<Needs>")]
    needs: Option<Value>,
    /// How many iterations have finished.
    iteration: u32,
    /// The limit on iterations; null if there is none.
    max_iterations: Option<u32>,
    /// How long the task has been active.
    elapsed_seconds: f64,
    /// The tokens used so far.
    tokens: Tokens,
    /// The cost so far; null if it is not known.
    cost_usd: Option<f64>,
    /// The agent that worked on the task last.
    agent: String,
    /// The branch the task works on; null if it has none yet.
    branch: Option<String>,
    /// The newest commit of the task; null if it has made none.
    last_commit: Option<Oid>,
    /// Changed files that decide what passes: tests, CI, checks. Null while the task has not ended.
    trust_files: Option<Vec<String>>,
    /// The tests that judge the work, and whether the task changed them; null while it has no result, or if there are no checks.
    tests: Option<TestsResult>,
    /// The address of the task's pull request; null if there is none.
    pull_request: Option<String>,
    /// Commands that a person may want to run next, the most likely first.
    next: Vec<Next>,
    /// What only this kind of task has, under the name of the kind.
    #[serde(flatten)]
    #[schemars(with = "kind_words::OwnJson")]
    own: Map<String, Value>,
}

impl Notification {
    /// About a task that ended, or that needs a person for this.
    pub(super) fn of_task(
        view: &TaskView,
        needs: Option<&Needs>,
        message: Option<String>,
        next: Vec<Next>,
    ) -> Self {
        let result = view.result.as_ref();
        let own = view.own().map(dacapo_core::engine::KindView::to_json);
        let news = TaskNews {
            repo: view.repo.clone(),
            kind: view.kind.clone(),
            outcome: view.outcome,
            stop_reason: result.map(|result| result.stop_reason),
            verified: view.verified,
            needs: needs.map(|needs| json::needs(needs, &view.name)),
            iteration: view.iteration,
            max_iterations: view.max_iterations,
            elapsed_seconds: view.elapsed_seconds,
            tokens: view.tokens,
            cost_usd: view.cost_usd,
            agent: view.agent.clone(),
            branch: view.branch.as_deref().map(|branch| words::branch(branch).to_owned()),
            last_commit: view.last_commit.clone(),
            trust_files: result.map(|result| result.trust_files.clone()),
            tests: view.tests().cloned(),
            pull_request: view.pull_request.clone(),
            next,
            own: own.map(|own| Map::from_iter([(view.kind.clone(), own)])).unwrap_or_default(),
        };
        let r#type =
            if needs.is_some() { NotificationType::NeedsPerson } else { NotificationType::TaskFinished };
        Self {
            v: FORMAT,
            r#type,
            name: view.name.clone(),
            status: view.status,
            message,
            task: Some(news),
            text: String::new(),
            content: String::new(),
        }
    }

    /// A message to test the channels with.
    pub(super) fn test(message: &str) -> Self {
        Self {
            v: FORMAT,
            r#type: NotificationType::Test,
            name: "test".to_owned(),
            status: Status::Completed,
            message: Some(message.to_owned()),
            task: None,
            text: String::new(),
            content: String::new(),
        }
    }

    /// With known secrets masked, wherever they are.
    pub(super) fn masked(&self, mask: impl Fn(&str) -> String) -> Value {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        mask_each(&mut value, &mask);
        value
    }
}

fn mask_each(value: &mut Value, mask: &impl Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = mask(text),
        Value::Array(all) => all.iter_mut().for_each(|one| mask_each(one, mask)),
        Value::Object(fields) => fields.values_mut().for_each(|one| mask_each(one, mask)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
