//! `dacapo milestone start` and `resume`: a definition is made a task, and goes on as one.

use dacapo_core::event::Command;
use dacapo_core::git::Repo;
use dacapo_core::spec::TaskSpec;
use dacapo_core::store::{RepoDir, TaskDir};
use dacapo_core::task::milestone::{Details, Frozen};
use dacapo_core::view::TaskView;

use super::which;
use crate::args::milestone::{ResumeMilestone, StartMilestone};
use crate::args::{Exec, Show};
use crate::commands::resume::{GoOn, go_on};
use crate::commands::start::{Consent, claim, fresh_setup, projects_own};
use crate::commands::{exec, print, repository, spawn as in_background, view};
use crate::config::Config;
use crate::error::Failure;
use crate::milestones::{Auto, Catalog, Entry, Folder, Known, Status, Unusable, fold};
use crate::request::Checks;
use crate::request::milestone::{Defined, Wish, milestone};
use crate::trust::{Gate, Using, names_a_script, of_file, of_prompts, of_script, other_programs};

const NOTHING: &str = "everything; nothing was started";

pub(super) fn start(args: &StartMilestone) -> Result<u8, Failure> {
    let wish = Wish {
        developer: args.developer.clone(),
        acceptor: args.acceptor.clone(),
        in_place: args.noworktree,
        background: args.spawn,
        pr: None,
        show: args.show,
        proof: args.proof.into(),
    };
    let Some(id) = &args.milestone else { return start_by_itself(args, &wish) };
    let (repo, data, entry) = which::entry(id)?;
    begin(repo, &data, entry, &wish, &args.check)
}

/// What was cut short goes on, else the oldest that may start by itself does (M2). That nothing is to be done is no error:
/// nobody asked for a certain one.
fn start_by_itself(args: &StartMilestone, wish: &Wish) -> Result<u8, Failure> {
    let (repo, data) = repository()?;
    let catalog = Catalog::read(&repo, &data)
        .map_err(|error| Failure::failed(format!("the milestones cannot be read: {error}")))?;
    if let Some(busy) = catalog.at_work() {
        say(wish.show, &format!("{} is at work; dacapo attach {} shows it", busy.name, busy.name));
        return Ok(0);
    }
    match catalog.next(&repo) {
        Some(Auto::Resume(id)) => {
            let (repo, dir) = begun(id.as_str())?;
            let answers = refreeze(&dir, &repo, args.refreeze)?;
            let as_it_was = only_for_a_new_one(args);
            if !as_it_was.is_empty() && !args.show.quiet {
                let flags = as_it_was.join(", ");
                complain!("note: {id} goes on as it was started; {flags} is for one that begins");
            }
            go_on(&repo, &dir, GoOn { answers, background: args.spawn, show: args.show, ..GoOn::default() })
        }
        Some(Auto::Start(id)) => {
            let (repo, data, entry) = which::entry(id.as_str())?;
            if let Some(Ok((text, _))) = entry.written.as_ref().map(|written| &written.read) {
                // Nobody named it, so somebody must have agreed to what it says.
                let gate = Gate { top: repo.toplevel(), show: wish.show };
                gate.brought(of_file(&Folder::relative(&id), text).as_ref())?;
            }
            begin(repo, &data, entry, wish, &args.check)
        }
        None => {
            say(
                wish.show,
                "no milestone is to start: none was cut short, and none that is pending has auto_start",
            );
            Ok(0)
        }
    }
}

/// Flags that were given and say nothing about a milestone that was begun: who works on it, where, and what it is checked
/// by was decided then. Whoever lets `--auto` choose cannot know, so it is no error.
fn only_for_a_new_one(args: &StartMilestone) -> Vec<&'static str> {
    let flags = [
        ("--developer", args.developer.is_some()),
        ("--acceptor", args.acceptor.is_some()),
        ("--check", !args.check.is_empty()),
        ("--noworktree", args.noworktree),
    ];
    flags.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag).collect()
}

fn say(show: Show, words: &str) {
    if !show.json && !show.quiet {
        print(words);
    }
}

/// `dacapo spawn --milestone ID`.
pub(crate) fn spawn(id: &str, args: &Exec) -> Result<u8, Failure> {
    let wish = Wish {
        in_place: args.noworktree,
        background: true,
        pr: args.pr.clone(),
        show: args.show,
        proof: args.proof.into(),
        ..Wish::default()
    };
    let (repo, data, entry) = which::entry(id)?;
    begin(repo, &data, entry, &wish, &args.check)
}

fn begin(here: Repo, data: &RepoDir, entry: Entry, wish: &Wish, checks: &[String]) -> Result<u8, Failure> {
    not_begun_yet(&entry)?;
    let defined = defined(entry)?;
    // A worktree of the user's may be gone tomorrow; the main checkout has the definitions and stays.
    let top = Folder::of(&here).top().to_owned();
    let repo = if wish.in_place || top == here.toplevel() {
        here
    } else {
        Repo::discover(&top).map_err(|error| Failure::usage(error.to_string()).kept(NOTHING))?
    };
    let gate = Gate { top: repo.toplevel(), show: wish.show };
    let loaded = gate.settings(&uses(&defined, wish, checks))?;
    let set = &defined.definition.settings;
    if names_a_script([&set.developer, &set.acceptor]) {
        gate.brought(of_file(&defined.path, &defined.text).as_ref())?;
    }
    if names_a_script([&wish.developer, &wish.acceptor, &loaded.config.agent]) {
        gate.brought(of_script(repo.toplevel()).as_ref())?;
    }
    let checks = commands(checks, &loaded.config, &repo, data, wish.show)?;
    let mut asked = milestone(defined, wish, &loaded.config, &repo, data, checks)?;
    if let Ok(details) = serde_json::from_value::<Details>(asked.spec.details.clone()) {
        gate.brought(of_prompts(&details.prompts).as_ref())?;
    }
    asked.notes.splice(0..0, other_programs(&asked.spec.agents, &loaded));
    asked.notes.splice(0..0, loaded.warnings.iter().cloned());
    let made = claim(repo, data, loaded, asked)?;
    if wish.background {
        in_background::let_run(made)?.tell(wish.show)?;
        return Ok(0);
    }
    exec::run_here(made, wish.show)
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
        return Err(Failure::usage(format!("milestone '{id}' has no definition: {path} is gone"))
            .kept(NOTHING)
            .hint(format!("dacapo milestone new {id} writes one")));
    };
    match written.read {
        Ok((text, definition)) => Ok(Defined { id, path, text, definition }),
        Err(error) => Err(unreadable(&path, &error)),
    }
}

fn unreadable(path: &str, error: &Unusable) -> Failure {
    let Unusable::Form(error) = error else {
        return Failure::usage(format!("{path}: {error}")).kept(NOTHING);
    };
    let failure = Failure::usage(format!("{path}:{}: {}", error.line, error.message)).kept(NOTHING);
    match &error.hint {
        Some(hint) => failure.hint(hint.clone()),
        None => failure,
    }
}

/// A milestone is begun once; from then on its task is there, or what came of it is mirrored.
fn not_begun_yet(entry: &Entry) -> Result<(), Failure> {
    let id = &entry.name;
    let started =
        || Failure::usage(format!("milestone '{id}' was started already ({})", entry.status().as_str()));
    let failure = match &entry.known {
        Known::Nothing => return Ok(()),
        Known::OtherTask => Failure::usage(format!("Task '{id}' already exists, and is no milestone"))
            .hint("give the milestone's file another name"),
        Known::Mirrored(_) => started()
            .hint(format!("dacapo undo {id} brings its task back, where it was dropped"))
            .hint(format!("remove .dacapo/milestones/{id}.json to begin it anew")),
        Known::Unreadable(error) => Failure::usage(format!("milestone '{id}': {error}")),
        Known::Task(told) if told.is_at_work() => started().hint(format!("dacapo attach {id} shows it")),
        Known::Task(_) if entry.status() == Status::COMPLETED => {
            started().hint(format!("dacapo merge {id} brings it home"))
        }
        Known::Task(_) => started()
            .hint(format!("dacapo milestone resume {id} goes on with it"))
            .hint(format!("dacapo milestone show {id} shows where it stands")),
    };
    Err(failure.kept(NOTHING))
}

fn commands(
    given: &[String],
    config: &Config,
    repo: &Repo,
    data: &RepoDir,
    show: Show,
) -> Result<Checks, Failure> {
    if given.iter().any(|command| command.trim().is_empty()) {
        return Err(Failure::usage("--check is empty").hint("--check 'cargo test'").kept(NOTHING));
    }
    let commands = if given.is_empty() { projects_own(config, repo, data, show)? } else { given.to_vec() };
    let consent = if given.is_empty() && !commands.is_empty() { Consent::Given } else { Consent::None };
    let setup = fresh_setup(config, repo, data, show, consent);
    Ok(Checks { commands, setup })
}

pub(super) fn resume(args: &ResumeMilestone) -> Result<u8, Failure> {
    let (repo, dir) = begun(&args.milestone)?;
    let words = args.guidance.join(" ");
    let follow_up = (!words.trim().is_empty()).then_some(words);
    let mut answers = refreeze(&dir, &repo, args.refreeze)?;
    if let Some(rounds) = args.rounds {
        more_than_used(&view(&dir)?, rounds)?;
        let change = Command::Set { key: "rounds".to_owned(), value: rounds.to_string() };
        answers.push(("dacapo milestone resume", change));
    }
    let how = GoOn { follow_up, answers, background: args.spawn, show: args.show, ..GoOn::default() };
    go_on(&repo, &dir, how)
}

/// A limit that is used up already would only pause it again.
fn more_than_used(seen: &TaskView, rounds: u32) -> Result<(), Failure> {
    let used = seen.iteration;
    if rounds > used || seen.needs.as_ref().is_none_or(|needs| needs.kind != "rounds") {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "milestone '{}' has used {used} rounds: --rounds {rounds} leaves none",
        seen.name
    ))
    .kept(NOTHING)
    .hint(format!("dacapo milestone resume {} --rounds {}", seen.name, used.saturating_add(10))))
}

/// The task of a milestone that was started.
pub(super) fn begun(id: &str) -> Result<(Repo, TaskDir), Failure> {
    let (repo, _, entry) = which::entry(id)?;
    match entry.known {
        Known::Task(told) => Ok((repo, told.dir)),
        Known::OtherTask => Err(Failure::usage(format!("Task '{id}' is no milestone"))
            .kept("everything; nothing was changed")
            .hint(format!("dacapo resume {id}, or give the milestone's file another name"))),
        Known::Nothing => Err(Failure::usage(format!("milestone '{id}' is pending: it was never started"))
            .hint(format!("dacapo milestone start {id}"))),
        Known::Mirrored(mirror) => {
            Err(Failure::usage(format!("milestone '{id}' was {}, and its task is gone", mirror.status))
                .hint(format!("dacapo undo {id} brings it back, where it was dropped")))
        }
        Known::Unreadable(error) => Err(Failure::failed(format!("milestone '{id}': {error}"))),
    }
}

/// `--refreeze`: what the file says now is what counts from here on.
fn refreeze(dir: &TaskDir, repo: &Repo, wanted: bool) -> Result<Vec<(&'static str, Command)>, Failure> {
    let spec = dir.spec().map_err(|error| Failure::failed(error.to_string()))?;
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
        unreadable(&details.path, &error).hint(format!("git diff {} shows what was changed", details.path))
    })?;
    Ok((definition.frozen() != frozen.frozen).then_some(text))
}

/// Whether it can go on as it is: nobody but a person ends a review, and what it is held to is what it was.
pub(crate) fn may_go_on(
    repo: &Repo,
    dir: &TaskDir,
    seen: &TaskView,
    spec: &TaskSpec,
    answers: &[(&str, Command)],
    more: bool,
) -> Result<(), Failure> {
    let name = &seen.name;
    match seen.needs.as_ref().map(|needs| needs.kind.as_str()) {
        Some("review") if answers.is_empty() => {
            return Err(Failure::usage(format!("milestone '{name}' waits for your verdict"))
                .kept(NOTHING)
                .hint(format!("dacapo milestone approve {name} completes it"))
                .hint(format!("dacapo milestone reject {name} \"what is wrong\" sends it back")));
        }
        // A limit that was raised since is the answer to that.
        Some("rounds")
            if answers.is_empty()
                && !more
                && seen.max_iterations.is_none_or(|most| most <= seen.iteration) =>
        {
            let most = seen.max_iterations.unwrap_or(seen.iteration);
            return Err(Failure::usage(format!("milestone '{name}' has used all of its {most} rounds"))
                .kept(NOTHING)
                .hint(format!("dacapo milestone resume {name} --rounds {}", most.saturating_add(10))));
        }
        _ => {}
    }
    let refrozen = answers.iter().any(|(_, command)| matches!(command, Command::Refreeze { .. }));
    if refrozen || changed(dir, repo, spec)?.is_none() {
        return Ok(());
    }
    let path = Folder::relative(&spec.name);
    Err(Failure::usage(format!("{path} was changed since the milestone was started"))
        .kept(NOTHING)
        .hint(format!("dacapo milestone resume {name} --refreeze goes by what it says now"))
        .hint("or bring the file back as it was: the review is held to what was frozen at the start"))
}
