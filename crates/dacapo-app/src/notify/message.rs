//! What people are told: a title, a few lines, and all of it as JSON for programs.

use std::path::PathBuf;
use std::time::Duration;

use dacapo_core::event::{FORMAT, TaskResult};
use dacapo_core::process::Masker;
use dacapo_core::spec::TaskSpec;
use dacapo_core::view::{Status, TaskView};
use serde_json::{Value, json};

use crate::App;
use crate::messages::Messages;
use crate::present::{ends, json as told, kind_words, needs, report, words};

/// Chat rooms take 2000 characters.
const LONGEST: usize = 1_800;

/// A message about a task, known secrets masked.
#[derive(Debug, Clone)]
pub struct Message {
    /// One line.
    pub title: String,
    /// A few lines.
    pub text: String,
    /// Somebody has to do something.
    pub urgent: bool,
    /// For programs; `v` is the version of its form.
    pub json: Value,
    /// For commands.
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
        let next = match (needs, result) {
            (Some(_), None) => {
                ["approve", "reject", "status"].map(|say| format!("dacapo {say} {name}")).to_vec()
            }
            // There are more answers than one.
            (Some(_), Some(result)) if app.kinds.take_answers(&view.kind) => commands(view, result),
            (Some(_), Some(_)) => vec![format!("dacapo status {name}")],
            (None, Some(result)) => commands(view, result),
            (None, None) => vec![format!("dacapo resume {name}")],
        };
        let mut facts = vec![report::unit(view).count(u64::from(view.iteration), Messages::ENGLISH)];
        facts.push(words::duration(Duration::from_secs_f64(view.elapsed_seconds.max(0.0))));
        facts.extend(view.cost_usd.map(words::money));
        let mut lines = vec![facts.join(" · ")];
        lines.extend(said.clone());
        lines.extend(view.pull_request.clone());
        lines.push(next.join(" | "));
        let title = format!("{name}: {}", headline(view));
        let text = lines.join("\n");
        let mut value = json!({
            "v": FORMAT,
            "type": if needs.is_some() { "needs_person" } else { "task_finished" },
            "name": name,
            "repo": view.repo,
            "kind": view.kind,
            "status": view.status,
            "outcome": view.outcome,
            "stop_reason": result.map(|result| result.stop_reason),
            "verified": view.verified,
            "needs": needs,
            "message": said,
            "iterations": view.iteration,
            "max_iterations": view.max_iterations,
            "elapsed_seconds": view.elapsed_seconds,
            "tokens": view.tokens,
            "cost_usd": view.cost_usd,
            "agent": view.agent,
            "branch": view.branch.as_deref().map(words::branch),
            "last_commit": view.last_commit,
            "trust_files": result.map(|result| &result.trust_files),
            "pull_request": view.pull_request,
            "next": next,
        });
        told::ask(&mut value["needs"], name);
        if let Some(own) = view.own() {
            value[&view.kind] = own.to_json();
        }
        mask(&mut value, &masker);
        let workspace = view.worktree.clone().unwrap_or_else(|| view.repo.clone());
        let outcome = value["outcome"].as_str().unwrap_or_default().to_owned();
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

    /// To try the ways.
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
        let json =
            json!({"v": FORMAT, "type": "test", "name": "test", "status": "completed", "message": text});
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
fn commands(view: &TaskView, result: &TaskResult) -> Vec<String> {
    report::next(view, result, Messages::ENGLISH).into_iter().map(|next| next.command).collect()
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

fn mask(value: &mut Value, masker: &Masker) {
    match value {
        Value::String(text) => *text = masker.mask_str(text),
        Value::Array(all) => all.iter_mut().for_each(|one| mask(one, masker)),
        Value::Object(fields) => fields.values_mut().for_each(|one| mask(one, masker)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
