//! Milestones: a definition is made a task, and goes on as one.

use dacapo_core::engine::Kind as _;
use dacapo_core::event::{Command, Event, NeedKind, Received};
use dacapo_core::git::Repo;
use dacapo_core::spec::TaskSpec;
use dacapo_core::store::{RepoDir, TaskDir};
use dacapo_core::task::milestone::{self as kind, Details, Frozen};
use dacapo_core::view::TaskView;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::act::Operation;
use super::found::{Consent, fresh_setup, project_checks};
use super::kind::{KindOperations, Order, OwnDone, Resuming, StartsByItself};
use super::resume::{GoesOn, Resume, Resumed};
use super::send::AnswerOutcome;
use super::start::{Made, Prepared};
use crate::App;
use crate::agents;
use crate::config::Config;
use crate::error::Failure;
use crate::messages::{Text, command, say};
use crate::milestones::{Auto, Catalog, Entry, Folder, Known, Status, Unusable, fold};
use crate::operations::tasks::checkout;
use crate::present::errors;
use crate::question::{Answers, NotYet};
use crate::request::milestone::{Defined, Wish, memory, milestone, not_read};
use crate::request::{Around, Checks, Driven};
use crate::trust::{Using, names_a_script, of_file, of_prompts, of_script, other_programs};

pub mod answers;
mod by_itself;
pub mod which;

/// What every refusal to start keeps.
fn unstarted() -> Text {
    say(|m| m.kept_nothing_started())
}

/// How a milestone is started.
#[derive(Debug)]
pub struct Start {
    /// Who works on it, and where.
    pub wish: Wish,
    /// Its checks; none: the project's own.
    pub checks: Vec<String>,
    /// Which process drives it.
    pub driven: Driven,
    /// Who can answer what its agents ask.
    pub agent_answers: agents::Answers,
}

/// What milestones add to the operations on tasks.
pub(super) struct Milestones;

impl KindOperations for Milestones {
    fn kind(&self) -> &'static str {
        kind::Milestones.name()
    }

    fn order(&self, step: &Value) -> Option<&'static str> {
        MilestoneOperation::deserialize(step).ok()?.order()
    }

    fn act(&self, app: &App, step: &Value, answers: &Answers) -> Result<OwnDone, NotYet> {
        let operation = MilestoneOperation::deserialize(step)
            .map_err(|error| Failure::usage(say(|m| m.milestones_step_unreadable(&error.to_string()))))?;
        operation.act(app, answers)
    }

    fn starts_by_itself(&self, app: &App) -> Result<Option<StartsByItself>, Failure> {
        by_itself::starts_by_itself(app)
    }

    fn left_answers(&self, dir: &TaskDir, view: &TaskView) -> Result<Vec<Order>, Failure> {
        answers::left(dir, view)
    }

    fn may_go_on(&self, resuming: &Resuming<'_>) -> Result<Option<Command>, Failure> {
        may_go_on(resuming)
    }

    fn approve(
        &self,
        app: &App,
        task: (&Repo, &TaskDir),
        choice: Option<usize>,
        goes_on: GoesOn,
        given: &Answers,
    ) -> Result<AnswerOutcome, NotYet> {
        answers::approve(app, task, choice, goes_on, given)
    }

    fn reject(
        &self,
        app: &App,
        task: (&Repo, &TaskDir),
        reason: Option<String>,
        goes_on: GoesOn,
        given: &Answers,
    ) -> Result<AnswerOutcome, NotYet> {
        answers::reject(app, task, reason, goes_on, given)
    }
}

/// What can be done with a milestone beyond what every task has done to it; it runs in the background.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum MilestoneOperation {
    Start { id: String, developer: Option<String>, acceptor: Option<String>, checks: Vec<String> },
    Resume { id: String, guidance: Option<String>, rounds: Option<u32>, refreeze: bool },
    Abandon { id: String },
}

impl MilestoneOperation {
    /// As a surface has it done.
    pub fn operation(&self) -> Operation {
        let step = serde_json::to_value(self).unwrap_or_default();
        Operation::Own { kind: Milestones.kind().to_owned(), step }
    }

    /// What an order that only a person outside of a task gives is called (R7).
    fn order(&self) -> Option<&'static str> {
        match self {
            MilestoneOperation::Start { .. } => None,
            MilestoneOperation::Resume { .. } => Some("milestone resume"),
            MilestoneOperation::Abandon { .. } => Some("milestone abandon"),
        }
    }

    fn act(&self, app: &App, answers: &Answers) -> Result<OwnDone, NotYet> {
        let agent_answers = agents::Answers::ByCommand;
        match self {
            MilestoneOperation::Start { id, developer, acceptor, checks } => {
                let start = Start {
                    wish: Wish {
                        developer: developer.clone(),
                        acceptor: acceptor.clone(),
                        ..Wish::default()
                    },
                    checks: checks.clone(),
                    driven: Driven::InBackground,
                    agent_answers,
                };
                let made = app.start_milestone(id, &start, Chosen::ByUser, answers)?;
                Ok(OwnDone::Started(Box::new(made.in_background(app)?)))
            }
            MilestoneOperation::Resume { id, guidance, rounds, refreeze } => {
                let wish = ResumeMilestone {
                    guidance: guidance.clone(),
                    refreeze: *refreeze,
                    rounds: *rounds,
                    background: true,
                    agent_answers,
                };
                Ok(OwnDone::Resumed(app.resume_milestone(id, &wish, answers)?))
            }
            MilestoneOperation::Abandon { id } => {
                app.abandon_milestone(id)?;
                Ok(OwnDone::Ended { task: id.clone() })
            }
        }
    }
}

/// Who chose the milestone that starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chosen {
    /// The user, who so agrees to what its file says.
    ByUser,
    /// Its file has `auto_start`.
    ByItself,
}

/// What is to be done where nobody named a milestone (M2).
#[derive(Debug, PartialEq, Eq)]
pub enum ByItself {
    /// This milestone is at work.
    AtWork(String),
    /// This one was cut short, and goes on.
    Resume(String),
    /// The oldest that may start by itself does.
    Start(String),
    /// None was cut short, and none may start by itself.
    Nothing,
}

impl App {
    /// What was cut short goes on, else the oldest that may start by itself does (M2).
    pub fn next_milestone(&self) -> Result<ByItself, Failure> {
        let (repo, data) = self.repository()?;
        let catalog = Catalog::read(&repo, &data, self.kinds)
            .map_err(|error| Failure::failed(say(|m| m.milestones_unreadable(&error.to_string()))))?;
        if let Some(busy) = catalog.at_work() {
            return Ok(ByItself::AtWork(busy.name.to_string()));
        }
        Ok(match catalog.next(&repo) {
            Some(Auto::Resume(id)) => ByItself::Resume(id.to_string()),
            Some(Auto::Start(id)) => ByItself::Start(id.to_string()),
            None => ByItself::Nothing,
        })
    }

    /// Makes a task of a milestone that was never started.
    pub fn start_milestone(
        &self,
        id: &str,
        start: &Start,
        chosen: Chosen,
        answers: &Answers,
    ) -> Result<Made, NotYet> {
        let (repo, data, entry) = which::entry(self, id)?;
        if chosen == Chosen::ByItself
            && let Some(Ok((text, _))) = entry.written.as_ref().map(|written| &written.read)
        {
            // Nobody named it, so somebody must have agreed to what it says.
            let brought = of_file(&Folder::relative(&which::id(id)?), text);
            self.brought(repo.toplevel(), brought.as_ref(), answers)?;
        }
        begin(self, (repo, data), entry, start, answers)
    }

    /// Goes on with a milestone that is not running.
    pub fn resume_milestone(
        &self,
        id: &str,
        wish: &ResumeMilestone,
        answers: &Answers,
    ) -> Result<Resumed, NotYet> {
        let (repo, dir) = begun(self, id)?;
        let mut orders = refreeze(&dir, &repo, wish.refreeze)?;
        if let Some(rounds) = wish.rounds {
            more_than_used(&self.view(&dir)?, rounds)?;
            let change = Command::Set { key: "rounds".to_owned(), value: rounds.to_string() };
            orders.push(("dacapo milestone resume", change));
        }
        let how = Resume {
            follow_up: wish.guidance.clone(),
            orders,
            background: wish.background,
            agent_answers: wish.agent_answers,
            ..Resume::default()
        };
        self.resume(&repo, &dir, &how, answers)
    }
}

/// How a milestone goes on.
#[derive(Debug)]
pub struct ResumeMilestone {
    /// What both sides are to hear.
    pub guidance: Option<String>,
    /// Its file was changed since it was started: it is judged by what it says now.
    pub refreeze: bool,
    /// The limit on rounds, in all.
    pub rounds: Option<u32>,
    /// In the background, however it was started.
    pub background: bool,
    /// Who can answer what its agents ask.
    pub agent_answers: agents::Answers,
}

fn begin(
    app: &App,
    (here, data): (Repo, RepoDir),
    entry: Entry,
    start: &Start,
    answers: &Answers,
) -> Result<Made, NotYet> {
    let Start { wish, checks, driven, agent_answers } = start;
    not_begun_yet(&entry)?;
    let defined = defined(entry)?;
    // A worktree of the user's may be gone tomorrow; the main checkout has the definitions and stays.
    let main = Folder::of(&here).top().to_owned();
    let repo = if wish.in_place || main == here.toplevel() { here } else { checkout(app, &main)? };
    let top = repo.toplevel();
    let loaded = app.settings(top, &uses(&defined, wish, checks), answers)?;
    let set = &defined.definition.settings;
    if names_a_script([&set.developer, &set.acceptor]) {
        app.brought(top, of_file(&defined.path, &defined.text).as_ref(), answers)?;
    }
    if names_a_script([&wish.developer, &wish.acceptor, &loaded.config.agent]) {
        app.brought(top, of_script(top).as_ref(), answers)?;
    }
    let checks = commands(checks, &loaded.config, (&repo, &data), answers)?;
    let around = Around {
        app,
        config: &loaded.config,
        repo: &repo,
        data: &data,
        driven: *driven,
        answers: *agent_answers,
    };
    let mut asked = milestone(defined, wish, &around, checks)?;
    if let Ok(details) = serde_json::from_value::<Details>(asked.spec.details.clone()) {
        app.brought(top, of_prompts(&details.prompts).as_ref(), answers)?;
    }
    asked.notes.splice(0..0, other_programs(&asked.spec.agents, &loaded));
    asked.notes.splice(0..0, loaded.warnings.iter().cloned());
    Ok(Prepared { repo, data, loaded, asked }.claim(app)?)
}

/// What a milestone uses of the settings, up to its end.
fn uses<'a>(defined: &'a Defined, wish: &'a Wish, checks: &[String]) -> Vec<Using<'a>> {
    let set = &defined.definition.settings;
    let developer = wish.developer.as_deref().or(set.developer.as_deref());
    let acceptor = wish.acceptor.as_deref().or(set.acceptor.as_deref());
    let mut uses = vec![Using::Agents(developer), Using::Notify];
    uses.extend(acceptor.map(|name| Using::Agents(Some(name))));
    uses.extend(checks.is_empty().then_some(Using::Checks));
    // In place it is for the checkout in which the milestone is proven.
    uses.push(Using::Setup);
    uses.extend(wish.pr.as_ref().map(|_| Using::PullRequests));
    uses
}

/// What the file of a milestone says.
fn defined(entry: Entry) -> Result<Defined, Failure> {
    let id = which::id(&entry.name)?;
    let path = Folder::relative(&id);
    let Some(written) = entry.written else {
        return Err(Failure::usage(say(|m| m.milestones_no_definition(id.as_str(), &path)))
            .kept(unstarted())
            .hint(say(|m| m.milestones_new_writes(id.as_str()))));
    };
    match written.read {
        Ok((text, definition)) => Ok(Defined { id, path, text, definition }),
        Err(error) => Err(unreadable(&path, &error)),
    }
}

fn unreadable(path: &str, error: &Unusable) -> Failure {
    match error {
        Unusable::Form(error) => not_read(path, error.line, &error.flaw),
        Unusable::Name(_) | Unusable::Unreadable(_) => {
            let why = error.told();
            Failure::usage(say(|m| m.error_of(path, why.in_words(m)))).kept(unstarted())
        }
    }
}

/// A milestone is begun once; from then on its task is there, or what came of it is mirrored.
fn not_begun_yet(entry: &Entry) -> Result<(), Failure> {
    let id = &entry.name;
    let started = || Failure::usage(say(|m| m.milestones_already_started(id, &entry.status().in_words(m))));
    let failure = match &entry.known {
        Known::Nothing => return Ok(()),
        Known::OtherTask => Failure::usage(say(|m| m.milestones_other_task_exists(id)))
            .hint(say(|m| m.milestones_rename_file())),
        Known::Mirrored(_) => {
            started().hint(say(|m| m.milestones_undo_task(id))).hint(say(|m| m.milestones_remove_mirror(id)))
        }
        Known::Unreadable(error) => Failure::usage(say(|m| m.milestones_error(id, error.in_words(m)))),
        Known::Task(told) if told.is_at_work() => started().hint(say(|m| m.milestones_attach_shows(id))),
        Known::Task(_) if entry.status() == Status::COMPLETED => {
            started().hint(say(|m| m.milestones_merge(id)))
        }
        Known::Task(_) => {
            started().hint(say(|m| m.milestones_resume(id))).hint(say(|m| m.milestones_show(id)))
        }
    };
    Err(failure.kept(unstarted()))
}

fn commands(
    given: &[String],
    config: &Config,
    (repo, data): (&Repo, &RepoDir),
    answers: &Answers,
) -> Result<Checks, NotYet> {
    if given.iter().any(|command| command.trim().is_empty()) {
        return Err(Failure::usage(say(|m| m.milestones_check_empty()))
            .hint("--check 'cargo test'")
            .kept(unstarted())
            .into());
    }
    let commands =
        if given.is_empty() { project_checks(config, (repo, data), answers)? } else { given.to_vec() };
    let consent = if given.is_empty() && !commands.is_empty() { Consent::Given } else { Consent::None };
    let setup = fresh_setup(config, (repo, data), consent, answers)?;
    Ok(Checks { commands, setup })
}

/// A limit that is used up already would only pause it again.
fn more_than_used(seen: &TaskView, rounds: u32) -> Result<(), Failure> {
    let used = seen.iteration;
    if rounds > used
        || !seen.needs.as_ref().is_some_and(|needs| matches!(needs.kind, NeedKind::Rounds { .. }))
    {
        return Ok(());
    }
    Err(Failure::usage(say(|m| m.milestones_rounds_too_few(&seen.name, used, rounds)))
        .kept(unstarted())
        .hint(command(format_args!("milestone resume {} --rounds {}", seen.name, used.saturating_add(10)))))
}

/// The task of a milestone that was started.
pub(super) fn begun(app: &App, id: &str) -> Result<(Repo, TaskDir), Failure> {
    let (repo, _, entry) = which::entry(app, id)?;
    match entry.known {
        Known::Task(told) => Ok((repo, told.dir)),
        Known::OtherTask => Err(Failure::usage(say(|m| m.milestones_not_one(id)))
            .kept(say(|m| m.kept_nothing_changed()))
            .hint(say(|m| m.milestones_resume_task(id)))),
        Known::Nothing => Err(Failure::usage(say(|m| m.milestones_pending(id)))
            .hint(command(format_args!("milestone start {id}")))),
        Known::Mirrored(mirror) => {
            Err(Failure::usage(say(|m| m.milestones_task_gone(id, &mirror.status_in_words(m))))
                .hint(say(|m| m.milestones_undo_task(id))))
        }
        Known::Unreadable(error) => Err(Failure::failed(say(|m| m.milestones_error(id, error.in_words(m))))),
    }
}

/// `--refreeze`: what the file says now is what counts from here on.
fn refreeze(dir: &TaskDir, repo: &Repo, wanted: bool) -> Result<Vec<(&'static str, Command)>, Failure> {
    let spec = dir.spec().map_err(|error| Failure::failed(errors::text(&error)))?;
    let changed = if wanted { changed(dir, repo, &spec)? } else { None };
    let refrozen = changed.map(|definition| Command::Refreeze { definition });
    Ok(refrozen.map(|command| ("--refreeze", command)).into_iter().collect())
}

/// The text of the file, where it asks for something else than what the milestone is held to by now.
fn changed(dir: &TaskDir, repo: &Repo, spec: &TaskSpec) -> Result<Option<String>, Failure> {
    let Ok(details) = serde_json::from_value::<Details>(spec.details.clone()) else { return Ok(None) };
    // A file that was removed says nothing else; what it said is on record.
    let Some(written) = Folder::of(repo).written(&spec.name) else { return Ok(None) };
    let mut frozen = Frozen::of(&details);
    fold(dir, |line| frozen.take_in(&line.event)).map_err(Failure::failed)?;
    let (text, definition) = written.read.map_err(|error| {
        unreadable(&details.path, &error).hint(say(|m| m.milestones_diff_shows(&details.path)))
    })?;
    Ok((definition.frozen() != frozen.frozen).then_some(text))
}

/// What the project's memory says by now, where that is not what the agents were told last (M9).
fn remember(dir: &TaskDir, spec: &TaskSpec) -> Result<Option<Command>, Failure> {
    let Ok(details) = serde_json::from_value::<Details>(spec.details.clone()) else { return Ok(None) };
    // A checkout that is gone does not say that nothing is remembered.
    if !spec.top.is_dir() {
        return Ok(None);
    }
    let mut told = details.memory.unwrap_or_default();
    fold(dir, |line| {
        if let Event::CommandReceived(Received { command: Command::Remember { memory }, .. }) = &line.event {
            told.clone_from(memory);
        }
    })
    .map_err(Failure::failed)?;
    let memory = memory(&spec.top)?.unwrap_or_default();
    Ok((memory != told).then_some(Command::Remember { memory }))
}

/// Whether it can go on as it is: nobody but a person ends a review, and what it is held to is what it was. What the agents
/// are to be told first.
fn may_go_on(resuming: &Resuming<'_>) -> Result<Option<Command>, Failure> {
    let Resuming { repo, dir, spec, view: seen, orders, more } = *resuming;
    let more = more.is_some();
    let name = &seen.name;
    match seen.needs.as_ref().map(|needs| &needs.kind) {
        Some(NeedKind::Review { .. }) if orders.is_empty() => {
            return Err(Failure::usage(say(|m| m.milestones_awaits_verdict(name)))
                .kept(unstarted())
                .hint(say(|m| m.milestones_approve_completes(name)))
                .hint(say(|m| m.milestones_reject_sends_back(name))));
        }
        // A limit that was raised since is the answer to that.
        Some(NeedKind::Rounds { .. })
            if orders.is_empty()
                && !more
                && seen.max_iterations.is_none_or(|most| most <= seen.iteration) =>
        {
            let most = seen.max_iterations.unwrap_or(seen.iteration);
            return Err(Failure::usage(say(|m| m.milestones_used_up(name, most))).kept(unstarted()).hint(
                command(format_args!("milestone resume {name} --rounds {}", most.saturating_add(10))),
            ));
        }
        _ => {}
    }
    let refrozen = orders.iter().any(|(_, command)| matches!(command, Command::Refreeze { .. }));
    if refrozen || changed(dir, repo, spec)?.is_none() {
        return remember(dir, spec);
    }
    let path = Folder::relative(&spec.name);
    Err(Failure::usage(say(|m| m.milestones_file_changed(&path)))
        .kept(unstarted())
        .hint(say(|m| m.milestones_refreeze(name)))
        .hint(say(|m| m.milestones_restore_file())))
}
