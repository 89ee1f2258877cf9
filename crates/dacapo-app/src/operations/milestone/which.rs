//! Which milestone is meant.

use dacapo_core::git::Repo;
use dacapo_core::spec::TaskName;
use dacapo_core::store::RepoDir;

use crate::App;
use crate::error::{Failure, suggest};
use crate::messages::say;
use crate::milestones::{Catalog, Entry, Unusable};

/// An ID as typed.
pub fn id(text: &str) -> Result<TaskName, Failure> {
    TaskName::parse(text).map_err(|_| {
        let made = TaskName::from_prompt(text);
        let failure =
            Failure::usage(Unusable::Name(text.to_owned()).told()).kept(say(|m| m.kept_nothing_changed()));
        if made.as_str() == "task" {
            failure
        } else {
            failure.hint(say(|m| m.milestones_for_example(made.as_str())))
        }
    })
}

/// The milestone that is meant.
pub fn entry(app: &App, text: &str) -> Result<(Repo, RepoDir, Entry), Failure> {
    let (repo, data) = app.repository()?;
    let found = TaskName::parse(text).ok().and_then(|id| Catalog::one(&repo, &data, &id, app.kinds));
    match found {
        Some(entry) => Ok((repo, data, entry)),
        None => Err(unknown(app, &repo, &data, text)),
    }
}

fn unknown(app: &App, repo: &Repo, data: &RepoDir, text: &str) -> Failure {
    let failure = Failure::usage(say(|m| m.milestones_not_found(text)));
    let catalog = Catalog::read(repo, data, app.kinds).ok();
    let names: Vec<&str> =
        catalog.iter().flat_map(Catalog::entries).map(|entry| entry.name.as_str()).collect();
    // A file may have a name that is no ID.
    if names.contains(&text)
        && let Err(failure) = id(text)
    {
        return failure;
    }
    let failure = match suggest(text, names) {
        Some(close) => failure.hint(say(|m| m.hint_did_you_mean(close))),
        None => failure.hint(say(|m| m.milestones_list_shows())),
    };
    match TaskName::parse(text) {
        Ok(id) => failure.hint(say(|m| m.milestones_new_writes(id.as_str()))),
        Err(_) => failure,
    }
}
