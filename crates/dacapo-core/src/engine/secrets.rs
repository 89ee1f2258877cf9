//! The secrets that a task must not let out.

use crate::env::Env;
use crate::process::Masker;
use crate::spec::TaskSpec;

/// Masks the secrets of the user, and those that the task or any of its agents is given.
pub fn masker(env: &Env, spec: &TaskSpec) -> Masker {
    let own = spec.env.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_deref()?)));
    let own = own.chain(spec.all_agents().flat_map(|agent| agent.env.iter()));
    let own = own.map(|(name, value)| (name.into(), value.into()));
    Masker::from_env(env.iter().cloned().chain(own))
}
