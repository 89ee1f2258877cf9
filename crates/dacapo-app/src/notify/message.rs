//! What people are told: a title, a few lines, and all of it as JSON for programs.

use std::path::PathBuf;
use std::time::Duration;

use dacapo_core::event::TaskResult;
use dacapo_core::process::Masker;
use dacapo_core::spec::TaskSpec;
use dacapo_core::view::{Status, TaskView};
use serde_json::Value;

use super::body::Notification;
use crate::App;
use crate::messages::Messages;
use crate::present::act::{ActCommand, NextAct};
use crate::present::next::Next;
use crate::present::{ends, kind_words, needs, report, words};

/// Chat rooms take 2000 characters.
const LONGEST: usize = 1_800;

/// A message about a task, known secrets masked.
#[derive(Debug, Clone)]
pub struct Message {
    pub title: String,
    pub text: String,
    /// Somebody has to do something.
    pub urgent: bool,
    /// For programs; `v` is the version of its form.
    pub json: Value,
    pub env: Vec<(&'static str, String)>,
    workspace: PathBuf,
}

impl Message {
    /// About a task that ended or needs a person.
    pub fn of_task(app: &App, view: &TaskView, spec: &TaskSpec) -> Self {
        let masker = Masker::from_env(app.env.iter().cloned());
        let name = &view.name;
        let result = view.result.as_ref();
        let needs = view.needs.as_ref().filter(|_| !view.status.has_ended());
        let said = match needs {
            Some(needs) => Some(needs::question(&needs.kind, Messages::ENGLISH)),
            None => result
                .and_then(|result| result.detail.as_ref())
                .map(|detail| ends::detail(detail, name, Messages::ENGLISH)),
        };
        let said = said.map(|said| masker.mask_str(&words::line(&said, 600)));
        let alone = |command| Next::of(NextAct::of(command, name), String::new(), Messages::ENGLISH);
        let next = match (needs, result) {
            (Some(_), None) => {
                [ActCommand::Approve, ActCommand::Reject, ActCommand::Status].map(alone).to_vec()
            }
            // There are more answers than one.
            (Some(_), Some(result)) if app.kinds.take_answers(&view.kind) => typed_next(view, result),
            (Some(_), Some(_)) => vec![alone(ActCommand::Status)],
            (None, Some(result)) => typed_next(view, result),
            (None, None) => vec![alone(ActCommand::Resume)],
        };
        let mut facts = vec![report::unit(view).count(u64::from(view.iteration), Messages::ENGLISH)];
        facts.push(words::duration(Duration::from_secs_f64(view.elapsed_seconds.max(0.0))));
        facts.extend(view.cost_usd.map(words::money));
        let mut lines = vec![facts.join(" · ")];
        lines.extend(said.clone());
        lines.extend(view.pull_request.clone());
        lines.push(next.iter().map(|next| next.command.as_str()).collect::<Vec<_>>().join(" | "));
        let title = format!("{name}: {}", headline(view));
        let text = lines.join("\n");
        let value = Notification::of_task(view, needs, said, next).masked(|text| masker.mask_str(text));
        let outcome = value["outcome"].as_str().unwrap_or_default().to_owned();
        let workspace = view.worktree.clone().unwrap_or_else(|| view.repo.clone());
        let env = vec![
            ("DACAPO_TASK", name.clone()),
            ("DACAPO_STATUS", view.status.as_str().to_owned()),
            ("DACAPO_OUTCOME", outcome),
            ("DACAPO_VERIFIED", view.verified.to_string()),
            ("DACAPO_MESSAGE", format!("{title}\n{text}")),
            ("DACAPO_COST_USD", view.cost_usd.map_or_else(String::new, |cost| cost.to_string())),
            ("DACAPO_WORKSPACE", workspace.clone()),
            ("DACAPO_PULL_REQUEST", view.pull_request.clone().unwrap_or_default()),
        ];
        let urgent = needs.is_some() || view.status == Status::Failed;
        let workspace = [PathBuf::from(workspace), spec.top.clone()].into_iter().find(|path| path.is_dir());
        Self { title, text, urgent, json: value, env, workspace: workspace.unwrap_or_default() }.for_chats()
    }

    /// A message to test the channels with.
    pub fn test() -> Self {
        let (title, text) = ("dacapo: a test".to_owned(), "This is how you will be told.".to_owned());
        let env = vec![
            ("DACAPO_TASK", "test".to_owned()),
            ("DACAPO_STATUS", "completed".to_owned()),
            ("DACAPO_OUTCOME", "completed".to_owned()),
            ("DACAPO_VERIFIED", "false".to_owned()),
            ("DACAPO_MESSAGE", format!("{title}\n{text}")),
            ("DACAPO_COST_USD", String::new()),
            ("DACAPO_WORKSPACE", String::new()),
            ("DACAPO_PULL_REQUEST", String::new()),
        ];
        let json = Notification::test(&text).masked(str::to_owned);
        Self { title, text, urgent: false, json, env, workspace: PathBuf::new() }.for_chats()
    }

    /// Where a command runs.
    pub(super) fn cwd(&self) -> PathBuf {
        if self.workspace.is_dir() { self.workspace.clone() } else { PathBuf::from("/") }
    }

    /// Adds the fields that chat rooms show: `text` (Slack, Mattermost, Teams, Google Chat), `content` (Discord). What is in
    /// them calls nobody and is no link of an agent's making.
    fn for_chats(mut self) -> Self {
        let whole = dacapo_core::context::cut_chars(&format!("{}\n{}", self.title, self.text), LONGEST);
        let quiet = whole.replace('@', "@\u{200b}");
        let escaped = quiet.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        if let Some(fields) = self.json.as_object_mut() {
            fields.insert("text".into(), escaped.into());
            fields.insert("content".into(), quiet.into());
        }
        self
    }
}

/// What can be typed next.
fn typed_next(view: &TaskView, result: &TaskResult) -> Vec<Next> {
    report::next(view, result, Messages::ENGLISH)
}

fn headline(view: &TaskView) -> String {
    if let Some(own) = kind_words::of(&view.kind).and_then(|own| own.headline(view, Messages::ENGLISH)) {
        return own;
    }
    let words = match view.status {
        Status::Completed if view.verified => "✓ proven",
        Status::Completed => "finished, unverified",
        Status::Paused => "needs you",
        Status::Running if view.needs.is_some() => "needs you",
        Status::Failed => "✗ failed",
        Status::Stopped => "stopped, not done",
        Status::Cancelled => "cancelled",
        Status::Queued | Status::Running | Status::Waiting => "is at work",
        Status::Interrupted => "was interrupted",
    };
    words.to_owned()
}
