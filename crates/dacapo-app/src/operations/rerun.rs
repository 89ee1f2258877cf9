//! The request of a task anew, under a new name (S17).

use dacapo_core::spec::TaskName;
use dacapo_core::store::RepoDir;
use dacapo_core::task::agent_loop::Loop;

use super::found::{Consent, fresh_setup};
use super::start::{Intent, Prepared, commands, look_over};
use crate::App;
use crate::agents;
use crate::error::Failure;
use crate::messages::{Messages, say};
use crate::operations::tasks::vouched_spec;
use crate::present::kind_words;
use crate::question::{Answers, NotYet};
use crate::request::again::{Again, Settled};
use crate::request::{Around, Driven, TaskRequest, rename};
use crate::trust::{Using, names_a_script, of_script, other_programs};

impl App {
    /// What `prepare` is for a new request: that of the task `name`, with what `changes` says otherwise. `here` is who can
    /// answer its agents where this process drives it.
    pub fn prepare_again(
        &self,
        name: &str,
        changes: &TaskRequest,
        here: agents::Answers,
        intent: Intent,
        answers: &Answers,
    ) -> Result<Prepared, NotYet> {
        let (repo, dir) = self.task(Some(name))?;
        let data = self.home()?.repo(repo.common_dir());
        let before = vouched_spec(&dir)?;
        if before.kind != Loop::NAME {
            return Err(Failure::usage(say(|m| {
                m.start_not_rerun(before.name.as_str(), &kind_words::name(&before.kind, m))
            }))
            .kept(say(Messages::kept_nothing_started))
            .hint(say(|m| m.hint_resume_continues(before.name.as_str())))
            .into());
        }
        let wanted = new_name(&before.name, changes, &data)?;
        let again = Again::new(&before, changes);
        let names = again.names();
        let loaded = self.settings(repo.toplevel(), &uses(&again, &names), answers)?;
        if again.chooses_agents() && names_a_script([&changes.agent]) {
            self.brought(repo.toplevel(), of_script(repo.toplevel()).as_ref(), answers)?;
        }
        let checks = commands(again.flags(), &loaded, (&repo, &data), answers)?;
        let consent = if again.flags().project_checks { Consent::Given } else { Consent::None };
        let setup = match again.needs_setup() {
            true => Some(fresh_setup(&loaded.config, (&repo, &data), consent, answers)?),
            false => None,
        };
        let driven = Driven::foreground(before.foreground);
        let around = Around {
            app: self,
            config: &loaded.config,
            repo: &repo,
            data: &data,
            driven,
            answers: match driven {
                Driven::Here => here,
                Driven::InBackground => agents::Answers::ByCommand,
            },
        };
        let mut asked = again.request(&around, Settled { checks, setup })?;
        if again.chooses_agents() {
            asked.notes.splice(0..0, other_programs(&asked.spec.agents, &loaded));
        }
        rename(&mut asked.spec, &data, wanted);
        look_over(&repo, &loaded, &mut asked, intent)?;
        if !asked.named && intent == Intent::DryRun {
            let name = next_free(&asked.spec.name, &data);
            rename(&mut asked.spec, &data, name);
        }
        Ok(Prepared { repo, data, loaded, asked })
    }
}

fn new_name(before: &TaskName, changes: &TaskRequest, data: &RepoDir) -> Result<TaskName, Failure> {
    match &changes.name {
        Some(name) => TaskName::parse(name).map_err(|error| {
            Failure::usage(say(|m| m.task_invalid_name(&error.0)))
                .kept(say(Messages::kept_nothing_started))
                .hint(format!("--name {}", TaskName::from_prompt(name)))
        }),
        None => Ok(first_of(before, data)),
    }
}

/// Of the settings only what the record does not say is used, and what happens at the end.
fn uses<'a>(again: &Again<'_>, names: &'a str) -> Vec<Using<'a>> {
    let flags = again.flags();
    let mut uses = vec![Using::Notify];
    uses.extend(again.chooses_agents().then_some(Using::Agents(Some(names))));
    uses.extend(flags.project_checks.then_some(Using::Checks));
    uses.extend(again.needs_setup().then_some(Using::Setup));
    let asks_platform = flags.pr.is_some() || flags.issue.is_some();
    uses.extend(asks_platform.then_some(Using::PullRequests));
    uses
}

/// The name that numbers are put to: `x` for `x-2`, where there is a task `x`.
fn first_of(name: &TaskName, data: &RepoDir) -> TaskName {
    let first = name.as_str().rsplit_once('-').filter(|(_, number)| number.parse::<u32>().is_ok());
    let first = first.and_then(|(first, _)| TaskName::parse(first).ok());
    first.filter(|first| data.task(first).exists()).unwrap_or_else(|| name.clone())
}

/// The name that it would get.
fn next_free(name: &TaskName, data: &RepoDir) -> TaskName {
    (2..)
        .map(|number| name.numbered(number))
        .find(|name| !data.task(name).exists())
        .unwrap_or_else(|| name.clone())
}
