//! The secrets that a task must not let out.

use serde_json::Value;

use super::context::DriverError;
use super::driver::Driver;
use super::machine::Input;
use crate::env::Env;
use crate::event::{Event, GitNotice, Notice};
use crate::git::{Looked, Oid};
use crate::process::Masker;
use crate::spec::TaskSpec;

/// Fields that are compared or handed back, or that Dacapo itself has chosen.
const OPAQUE: &[&str] =
    &["session_id", "reference", "kept", "kept_changes", "branch", "base_branch", "into", "url"];

/// Masks the secrets of the user, and those that the task or any of its agents is given.
pub fn masker(env: &Env, spec: &TaskSpec) -> Masker {
    let own = spec.env.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_deref()?)));
    let own = own.chain(spec.all_agents().flat_map(|agent| agent.env.iter()));
    let own = own.map(|(name, value)| (name.into(), value.into()));
    Masker::from_env(env.iter().cloned().chain(own))
}

/// An event as it may be on record: no text in it holds a secret, names of files among them. What is derived from events
/// (prompts, commit messages, pages, JSON) holds none then.
pub(super) fn masked(event: Event, masker: &Masker) -> Event {
    // Where the task works: it must be found again.
    if masker.is_empty() || matches!(event, Event::WorkspaceReady { .. } | Event::Renamed { .. }) {
        return event;
    }
    let Ok(mut value) = serde_json::to_value(&event) else { return event };
    if !mask_texts(&mut value, masker) {
        return event;
    }
    // A word of our own format is no secret.
    serde_json::from_value(value).unwrap_or(event)
}

/// Masks all texts in a value; false if there was nothing to mask.
fn mask_texts(value: &mut Value, masker: &Masker) -> bool {
    match value {
        Value::String(text) => {
            let masked = masker.mask_str(text);
            let differs = masked != *text;
            *text = masked;
            differs
        }
        Value::Array(items) => items.iter_mut().fold(false, |any, item| mask_texts(item, masker) | any),
        Value::Object(fields) => {
            let fields = fields.iter_mut().filter(|(name, _)| !OPAQUE.contains(&name.as_str()));
            fields.fold(false, |any, (_, item)| mask_texts(item, masker) | any)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

impl Driver<'_> {
    /// Names the files by which commits that an agent has made bring a secret (C9).
    pub(super) fn report_committed_secrets(
        &mut self,
        from: Option<&Oid>,
        to: Option<&Oid>,
    ) -> Result<(), DriverError> {
        let Some(to) = to.filter(|to| Some(*to) != from) else { return Ok(()) };
        let workspace = self.workspace()?;
        if workspace.searched.as_ref() == Some(to) {
            return Ok(());
        }
        let found = workspace.repo.secrets_between(from, to, Looked::EachCommit, self.launcher.masker());
        let found = found.unwrap_or_else(|error| {
            // Whoever merges it looks again.
            tracing::warn!(%error, "commits of the agent could not be searched for secrets");
            Vec::new()
        });
        self.workspace_mut()?.searched = Some(to.clone());
        for secret in &found {
            let notice = GitNotice::SecretCommitted(secret.into());
            self.input(&Input::Notice(Notice::Git(notice)))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{CommitPlanned, LeftFile, LeftWhy};

    #[test]
    fn s15_names_of_files_in_events_are_masked() {
        let masker = Masker::from_env([("API_TOKEN".into(), "t0ken-0123456789".into())]);
        let planned = |name: &str| {
            let why = LeftWhy::NameHoldsSecret { variable: "API_TOKEN".into() };
            Event::NoCommit(CommitPlanned {
                changed_files: vec![format!("d/{name}.txt"), "other".into()],
                left_out: vec![LeftFile { path: name.into(), why }],
                ..CommitPlanned::default()
            })
        };
        assert_eq!(masked(planned("t0ken-0123456789"), &masker), planned("****************"));
        assert_eq!(masked(planned("harmless"), &masker), planned("harmless"));
        let ready = Event::WorkspaceReady {
            path: "/x/t0ken-0123456789".into(),
            branch: None,
            base_commit: None,
            kept_changes: None,
            port_base: None,
            start_sha256: None,
        };
        assert_eq!(masked(ready.clone(), &masker), ready, "it must be found again");
        let masker = Masker::from_env([("API_TOKEN".into(), "task_started".into())]);
        let started = Event::TaskStarted { pid: 1, version: "1".into() };
        assert_eq!(masked(started.clone(), &masker), started, "a word of the format is no secret");
    }
}
