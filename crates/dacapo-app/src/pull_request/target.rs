//! Where a pull request goes: to which remote, to which branch there.

use dacapo_core::git::Repo;
use dacapo_core::spec::TaskSpec;

use super::{Wishes, git_failed};
use crate::config::Config;
use crate::error::{Code, Failure};
use crate::messages::{command, say};
use crate::present::words;

/// The remote: that of the base branch's upstream, else `origin`, else the only one. With the branch that is followed there.
pub(super) fn remote(repo: &Repo, base_branch: Option<&str>) -> Result<(String, Option<String>), Failure> {
    let remotes = repo.remotes().map_err(|error| git_failed(&error))?;
    let upstream = base_branch
        .map(|branch| repo.upstream(branch))
        .transpose()
        .map_err(|error| git_failed(&error))?
        .flatten();
    if let Some((remote, branch)) = upstream
        && remotes.contains(&remote)
    {
        return Ok((remote, Some(branch)));
    }
    match remotes.as_slice() {
        [] => Err(Failure::usage(say(|m| m.pr_no_remote()))
            .coded(Code::NoRemote)
            .kept(say(|m| m.kept_nothing_pushed()))
            .hint("git remote add origin URL")),
        _ if remotes.iter().any(|remote| remote == "origin") => Ok(("origin".to_owned(), None)),
        [only] => Ok((only.clone(), None)),
        _ => {
            let branch = base_branch.map_or("BRANCH", words::branch);
            Err(Failure::usage(say(|m| m.pr_several_remotes(&remotes.join(", "))))
                .kept(say(|m| m.kept_nothing_pushed()))
                .hint(say(|m| m.pr_say_which_remote(&remotes[0], branch))))
        }
    }
}

/// The branch that the pull request goes to, by its name on the remote.
pub(super) fn base(
    repo: &Repo,
    spec: &TaskSpec,
    config: &Config,
    (remote, upstream): (&str, Option<String>),
    wishes: &Wishes,
) -> Result<String, Failure> {
    let own = |branch: &str| words::branch(branch).to_owned();
    if let Some(base) = &wishes.base {
        return Ok(own(base));
    }
    let known =
        upstream.or_else(|| spec.base_branch.as_deref().map(own)).or_else(|| config.main_branch.clone());
    match known
        .map_or_else(|| repo.main_branch_of(remote), |base| Ok(Some(base)))
        .map_err(|error| git_failed(&error))?
    {
        Some(base) => Ok(base),
        None => Err(Failure::usage(say(|m| m.pr_no_base(spec.name.as_str())))
            .kept(say(|m| m.kept_nothing_pushed()))
            .hint(command(format_args!("pr {} --base main", spec.name)))),
    }
}
