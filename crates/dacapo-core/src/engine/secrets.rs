//! The secrets that a task must not let out.

use super::context::DriverError;
use super::driver::Driver;
use super::machine::Input;
use crate::env::Env;
use crate::event::{GitNotice, Notice};
use crate::git::{Looked, Oid};
use crate::process::Masker;
use crate::spec::TaskSpec;

/// Masks the secrets of the user, and those that the task or any of its agents is given.
pub fn masker(env: &Env, spec: &TaskSpec) -> Masker {
    let own = spec.env.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_deref()?)));
    let own = own.chain(spec.all_agents().flat_map(|agent| agent.env.iter()));
    let own = own.map(|(name, value)| (name.into(), value.into()));
    Masker::from_env(env.iter().cloned().chain(own))
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
