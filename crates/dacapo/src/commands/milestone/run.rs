//! `dacapo milestone start` and `resume`: a definition is made a task, and goes on as one.

use dacapo_core::git::Repo;
use dacapo_core::spec::{TaskName, TaskSpec};
use dacapo_core::store::{RepoDir, TaskDir};
use dacapo_core::task::milestone::{Definition, Details, Milestones};
use dacapo_core::view::{Status, TaskView};

use crate::args::milestone::{ResumeMilestone, StartMilestone};
use crate::args::{Exec, Show};
use crate::commands::resume::{GoOn, go_on};
use crate::commands::start::{claim, projects_own};
use crate::commands::{exec, repository, spawn as in_background, task, view};
use crate::config::{Config, Sources, load};
use crate::error::{Failure, suggest};
use crate::request::Checks;
use crate::request::milestone::{Wish, Written, milestone};

const NOTHING: &str = "everything; nothing was started";

pub(super) fn start(args: &StartMilestone) -> Result<u8, Failure> {
    let wish = Wish {
        developer: args.developer.clone(),
        acceptor: args.acceptor.clone(),
        in_place: args.noworktree,
        background: args.spawn,
        pr: None,
        show: args.show,
    };
    let id = args.milestone.as_deref().unwrap_or_default();
    begin(id, &wish, &args.check)
}

/// `dacapo spawn --milestone ID`.
pub(crate) fn spawn(id: &str, args: &Exec) -> Result<u8, Failure> {
    let wish = Wish {
        in_place: args.noworktree,
        background: true,
        pr: args.pr.clone(),
        show: args.show,
        ..Wish::default()
    };
    begin(id, &wish, &args.check)
}

fn begin(id: &str, wish: &Wish, checks: &[String]) -> Result<u8, Failure> {
    let (repo, data) = repository()?;
    let written = written(&repo, id)?;
    not_begun_yet(&data, &written.id)?;
    let loaded = load(&Sources::for_repo(repo.toplevel()))?;
    let checks = commands(checks, &loaded.config, &repo, &data, wish.show)?;
    let mut asked = milestone(written, wish, &loaded.config, &repo, &data, checks)?;
    asked.notes.splice(0..0, loaded.warnings.iter().cloned());
    let made = claim(repo, &data, loaded, asked)?;
    if wish.background {
        in_background::let_run(made)?.tell(wish.show)?;
        return Ok(0);
    }
    exec::run_here(made, wish.show)
}

/// The definition of this id, read.
fn written(repo: &Repo, id: &str) -> Result<Written, Failure> {
    let name = TaskName::parse(id).map_err(|error| Failure::usage(error.to_string()).kept(NOTHING))?;
    let path = format!(".dacapo/milestones/{name}.md");
    let text = std::fs::read_to_string(repo.toplevel().join(&path)).map_err(|error| {
        let failure = Failure::usage(format!("milestone '{name}' has no definition: {path}: {error}"));
        let others = ids(repo);
        match suggest(id, others.iter().map(String::as_str)) {
            Some(close) => failure.hint(format!("did you mean '{close}'?")),
            None => failure.hint(format!("dacapo milestone new {name} writes one")),
        }
        .kept(NOTHING)
    })?;
    let definition = Definition::parse(&text).map_err(|error| unreadable(&path, &error))?;
    Ok(Written { id: name, path, text, definition })
}

fn unreadable(path: &str, error: &dacapo_core::task::milestone::DefinitionError) -> Failure {
    let failure = Failure::usage(format!("{path}:{}: {}", error.line, error.message)).kept(NOTHING);
    match &error.hint {
        Some(hint) => failure.hint(hint.clone()),
        None => failure,
    }
}

fn ids(repo: &Repo) -> Vec<String> {
    let entries = std::fs::read_dir(repo.toplevel().join(".dacapo/milestones"));
    let names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.filter_map(|name| Some(name.to_str()?.strip_suffix(".md")?.to_owned())).collect()
}

/// A milestone is begun once; from then on its task is there.
fn not_begun_yet(data: &RepoDir, id: &TaskName) -> Result<(), Failure> {
    let dir = data.task(id);
    if !dir.exists() {
        return Ok(());
    }
    let seen = view(&dir)?;
    let failure = if seen.kind == Milestones::NAME {
        Failure::usage(format!("milestone '{id}' was started already ({})", seen.status.as_str()))
    } else {
        Failure::usage(format!("Task '{id}' already exists, and is no milestone"))
            .hint("give the milestone's file another name")
    };
    Err(match seen.status {
        _ if seen.kind != Milestones::NAME => failure,
        Status::Running | Status::Queued => failure.hint(format!("dacapo attach {id} shows it")),
        Status::Completed => failure.hint(format!("dacapo merge {id} brings it home")),
        _ => failure
            .hint(format!("dacapo milestone resume {id} goes on with it"))
            .hint(format!("dacapo milestone show {id} shows where it stands")),
    }
    .kept(NOTHING))
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
    Ok(Checks { commands })
}

pub(super) fn resume(args: &ResumeMilestone) -> Result<u8, Failure> {
    let (repo, dir) = begun(&args.milestone)?;
    let words = args.guidance.join(" ");
    let follow_up = (!words.trim().is_empty()).then_some(words);
    let mut answers = Vec::new();
    if let Some(rounds) = args.rounds {
        let change = dacapo_core::event::Command::Set { key: "rounds".to_owned(), value: rounds.to_string() };
        answers.push(("dacapo milestone resume", change));
    }
    go_on(&repo, &dir, GoOn { follow_up, answers, show: args.show, ..GoOn::default() })
}

/// The task of a milestone that was started.
pub(super) fn begun(id: &str) -> Result<(Repo, TaskDir), Failure> {
    let (repo, data) = repository()?;
    if let Ok(name) = TaskName::parse(id)
        && !data.task(&name).exists()
        && ids(&repo).iter().any(|known| known == id)
    {
        return Err(Failure::usage(format!("milestone '{id}' is pending: it was never started"))
            .hint(format!("dacapo milestone start {id}")));
    }
    let (repo, dir) = task(Some(id))?;
    let kind = view(&dir)?.kind;
    if kind == Milestones::NAME {
        return Ok((repo, dir));
    }
    Err(Failure::usage(format!("Task '{id}' is no milestone")).hint(format!("dacapo resume {id}")))
}

/// Whether it can go on as it is: nobody but a person ends a review, and what it is held to is what it was.
pub(crate) fn may_go_on(
    repo: &Repo,
    seen: &TaskView,
    spec: &TaskSpec,
    more: bool,
    answered: bool,
) -> Result<(), Failure> {
    let name = &seen.name;
    let unchanged = "everything; nothing was started";
    match seen.needs.as_ref().map(|needs| needs.kind.as_str()) {
        Some("review") if !answered => {
            return Err(Failure::usage(format!("milestone '{name}' waits for your verdict"))
                .kept(unchanged)
                .hint(format!("dacapo milestone approve {name} completes it"))
                .hint(format!("dacapo milestone reject {name} \"what is wrong\" sends it back")));
        }
        Some("rounds") if !more => {
            let most = seen.max_iterations.unwrap_or(seen.iteration);
            return Err(Failure::usage(format!("milestone '{name}' has used all of its {most} rounds"))
                .kept(unchanged)
                .hint(format!("dacapo milestone resume {name} --rounds {}", most.saturating_add(10))));
        }
        _ => {}
    }
    let Ok(details) = serde_json::from_value::<Details>(spec.details.clone()) else { return Ok(()) };
    // A file that was removed says nothing else; what it said is on record.
    let Ok(text) = std::fs::read_to_string(repo.toplevel().join(&details.path)) else { return Ok(()) };
    let definition = Definition::parse(&text).map_err(|error| {
        unreadable(&details.path, &error).hint(format!("git diff {} shows what was changed", details.path))
    })?;
    if definition.frozen() == details.frozen {
        return Ok(());
    }
    Err(Failure::usage(format!("{} was changed since the milestone was started", details.path))
        .kept(unchanged)
        .hint(format!("dacapo milestone resume {name} --refreeze goes by what it says now"))
        .hint("or bring the file back as it was: the review is held to what was frozen at the start"))
}
