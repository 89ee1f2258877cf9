//! `dacapo merge`: everything is checked first, then the plan is shown, then tasks come home one by one (S11).

use dacapo_core::git::{How, Oid, Repo};
use dacapo_core::merge::{Halt, Merger, Outcome, take_back_cut_short};
use dacapo_core::radar::Radar;
use dacapo_core::store::{Lock, LockError, LockTarget, RepoDir, files};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::start::take_workspace;
use super::{at_work, drive, repository};
use crate::args::Merge;
use crate::config::{Loaded, Sources, load};
use crate::error::Failure;
use crate::output::words;
use crate::trust::{Gate, Using};

mod candidates;
mod room;
mod show;

use candidates::{Gathered, gather};
use show::Shown;

/// Who has a checkout while a merge is under way in it. No task can have this name.
pub(super) const HOLDER: &str = "(merge)";

const NOTHING: &str = "everything; nothing was merged";

pub(super) fn run(args: &Merge) -> Result<u8, Failure> {
    let (repo, data) = repository()?;
    let (into, from) = current_branch(&repo)?;
    let loaded = settings(args, &repo)?;
    let query = query(args, &data)?;
    let _merging = if args.dry_run { None } else { Some(one_at_a_time(&data)?) };
    let _at_work = if args.dry_run { None } else { at_work(&repo, &data) };
    let gathered = gather(args, &repo, &data, &loaded.config, &into)?;
    if !args.dry_run {
        take_back(&repo, &gathered, &into)?;
    }
    room::look(&repo, &from, &gathered.candidates)?;
    let _workspace = if args.dry_run { None } else { Some(take_workspace(&repo, HOLDER)?) };
    let limits = super::home()?.limits();
    let setting = || drive::setting(limits.clone());
    let merger = Merger {
        repo: &repo,
        data: &data,
        into: into.clone(),
        how: if args.squash { How::Squash } else { How::Merge },
        query,
        setup: loaded.config.worktree.setup.clone(),
        keep: loaded.config.proof.keep.clone(),
        setup_timeout: loaded.config.worktree.setup_timeout.duration(),
        setting: &setting,
        halt: Halt::default(),
    };
    let mut shown = Shown::new(args.show, &into);
    shown.notes(&loaded.warnings);
    let code = bring_home(&merger, &gathered, &from, args, &mut shown)?;
    // What lists show of conflicts is looked up here, where somebody waits anyway.
    if let Err(error) = Radar::of(&data).survey(&repo, &into) {
        tracing::debug!(%error, "the conflict radar could not be brought up to date");
    }
    Ok(code)
}

/// A plan runs nothing, so it needs nobody's word.
fn settings(args: &Merge, repo: &Repo) -> Result<Loaded, Failure> {
    if args.dry_run {
        return Ok(load(&Sources::for_repo(repo.toplevel()))?);
    }
    let gate = Gate { top: repo.toplevel(), show: args.show };
    let agents = if args.agent_cmd.is_some() || args.no_agent { Some("") } else { args.agent.as_deref() };
    gate.settings(&[Using::Agents(agents), Using::Checks, Using::Setup])
}

fn bring_home(
    merger: &Merger<'_>,
    gathered: &Gathered,
    from: &Oid,
    args: &Merge,
    shown: &mut Shown,
) -> Result<u8, Failure> {
    let failed = |error: dacapo_core::merge::LeftOut| Failure::failed(error.to_string()).kept(NOTHING);
    if !args.dry_run {
        listen(merger.halt.clone())?;
        merger.clear_up().map_err(failed)?;
    }
    let plan = merger.plan(&gathered.candidates).map_err(failed)?;
    shown.plan(from, &plan, gathered, args);
    if args.dry_run {
        return Ok(u8::from(show::needs_somebody(&plan, args)));
    }
    let mut left_out = 0;
    for candidate in &gathered.candidates {
        let outcome = merger.merge(candidate, shown);
        shown.outcome(&candidate.branch, candidate.spec.name.as_str(), &outcome);
        match outcome {
            Outcome::LeftOut(_) => left_out += 1,
            Outcome::Halted => {
                shown.finished(from, &merger.repo.head().ok().and_then(|head| head.commit));
                return Ok(130);
            }
            Outcome::Merged(_) | Outcome::AlreadyThere(_) | Outcome::Empty => {}
        }
    }
    shown.finished(from, &merger.repo.head().ok().and_then(|head| head.commit));
    Ok(u8::from(left_out > 0))
}

/// Files that a merge was moving here when it was killed go back first: they are nobody's changes.
fn take_back(repo: &Repo, gathered: &Gathered, into: &str) -> Result<(), Failure> {
    use std::io::Write as _;
    for candidate in &gathered.candidates {
        let files = take_back_cut_short(repo, candidate, into)
            .map_err(|error| Failure::failed(error.to_string()).kept(NOTHING))?;
        if files > 0 {
            let (files, name) = (words::count(files as u64, "file"), &candidate.spec.name);
            let _ = writeln!(
                anstream::stderr(),
                "note    took back {files} of a merge of '{name}' that was killed"
            );
        }
    }
    Ok(())
}

/// The branch that is checked out here, and where it is.
fn current_branch(repo: &Repo) -> Result<(String, Oid), Failure> {
    let head = repo.head().map_err(|error| Failure::failed(error.to_string()))?;
    match (head.branch, head.commit) {
        (Some(branch), Some(commit)) => Ok((branch, commit)),
        (None, _) => Err(Failure::usage("HEAD is detached: there is no branch to merge into")
            .kept(NOTHING)
            .hint("git switch main, or whichever branch the work is for")),
        (Some(branch), None) => Err(Failure::usage(format!(
            "branch '{}' has no commits yet: there is nothing to merge into",
            words::branch(&branch)
        ))
        .kept(NOTHING)
        .hint("git switch to the branch the work is for")),
    }
}

/// Words that are tasks' names are a mistake: `a b` was meant to be `a,b`. What is quoted is a sentence.
fn query(args: &Merge, data: &RepoDir) -> Result<Option<String>, Failure> {
    let tasks: Vec<String> = data.tasks().unwrap_or_default().iter().map(|dir| dir.name()).collect();
    let meant: Vec<&String> = args.query.iter().filter(|word| tasks.contains(word)).collect();
    if !meant.is_empty() {
        let all: Vec<&str> =
            args.names.iter().map(String::as_str).chain(meant.iter().map(|word| word.as_str())).collect();
        return Err(Failure::usage(format!("'{}' is a task, not a part of a query", meant[0]))
            .kept(NOTHING)
            .hint(format!("did you mean '{}'?", all.join(",")))
            .hint("put the query in quotes where it speaks of a task"));
    }
    let text = args.query.join(" ");
    if !args.query.is_empty() && text.trim().is_empty() {
        return Err(Failure::usage("the query is empty").kept(NOTHING).hint("leave it out"));
    }
    if text.contains('\0') {
        return Err(Failure::usage("the query contains a NUL byte").kept(NOTHING));
    }
    Ok((!args.query.is_empty()).then_some(text))
}

/// Two merges in one repository would each prove something that is not there any more (R4).
fn one_at_a_time(data: &RepoDir) -> Result<Lock, Failure> {
    let made = files::make_dir(data.path());
    made.map_err(|error| Failure::failed(format!("cannot write {}: {error}", data.path().display())))?;
    // Nothing else locks the directory of a repository's data.
    let target = LockTarget::dir(data.path().to_owned(), data.path().join("merge.lock"));
    Lock::take(&target).map_err(|error| match error {
        LockError::Held => Failure::usage("another merge is under way in this repository")
            .kept(NOTHING)
            .hint("wait until it is done, then merge"),
        LockError::Lingering => {
            Failure::usage("a merge has ended here, but a git or hook that it started is still at work")
                .kept(NOTHING)
                .hint("wait until it is done, then merge")
        }
        LockError::Io { .. } => Failure::failed(error.to_string()).kept(NOTHING),
    })
}

/// The first signal ends the merge in good order, the second at once: the guards see to what is running then.
fn listen(halt: Halt) -> Result<(), Failure> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|error| Failure::failed(format!("cannot listen to signals: {error}")))?;
    let listening = std::thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            if halt.is_asked() {
                std::process::exit(130);
            }
            halt.ask(if signal == SIGINT { "Ctrl-C" } else { "a signal" });
        }
    });
    listening.map(drop).map_err(|error| drive::no_more_threads(&error).kept(NOTHING))
}
