//! Deaths: of the runner, its guard, its git, some or all of them, at an exact call or at any moment.

use std::thread;
use std::time::Duration;

use super::case::{Case, WORK};
use super::invariants::{self, Kept};
use super::processes;
use super::task::{Kind, Suffered, Task, look, settle, wait};
use super::tracer::Plan;
use super::world::{self, Checkout, Users};
use crate::Outcome;

/// How people die here.
type Choose = fn(&mut Case, usize) -> Plan;

pub(super) fn loops(case: &mut Case) -> Outcome {
    let kind = case.random.pick(&Kind::LOOPS);
    if case.random.percent(15) {
        return at_any_moment(case, kind);
    }
    if case.random.percent(40) {
        return dies(case, kind, |case, calls| Plan::runner_dies(&mut case.random, calls));
    }
    dies(case, kind, |case, calls| Plan::death(&mut case.random, calls))
}

pub(super) fn milestones(case: &mut Case) -> Outcome {
    let kind = case.random.pick(&[Kind::Milestone, Kind::MilestoneSpawned]);
    if case.random.percent(40) {
        return dies(case, kind, |case, calls| Plan::runner_dies(&mut case.random, calls));
    }
    dies(case, kind, |case, calls| Plan::death(&mut case.random, calls))
}

pub(super) fn power(case: &mut Case) -> Outcome {
    let kinds = [&Kind::LOOPS[..], &[Kind::Milestone, Kind::MilestoneSpawned]].concat();
    let kind = case.random.pick(&kinds);
    dies(case, kind, |case, calls| Plan::power_cut(&mut case.random, calls))
}

/// A repository and a task in it, not started yet.
fn ready(case: &mut Case, kind: Kind) -> Outcome<(Users, Task, Option<Task>)> {
    let checkout = Checkout::of(case, kind);
    let mut users = world::make(case, checkout)?;
    let task = Task::new(case, "t", kind)?;
    if kind.is_milestone() {
        users.committed(case)?;
    }
    let first = if kind == Kind::Queued { Some(occupant(case)?) } else { None };
    Ok((users, task, first))
}

/// A task that has the only place for a little while.
fn occupant(case: &mut Case) -> Outcome<Task> {
    let mut task = Task::with_agent(
        case,
        Kind::Queued,
        "cat > /dev/null; sleep 0.3; echo $DACAPO_ITERATION > f$DACAPO_ITERATION.txt; echo did it",
    )?;
    "first".clone_into(&mut task.name);
    if let Some(name) = task.words.iter_mut().find(|word| *word == "t") {
        "first".clone_into(name);
    }
    case.run(WORK, &task.words)?;
    Ok(task)
}

/// Starts a task, strikes, goes on and strikes again, and lets it come to its end.
fn dies(case: &mut Case, kind: Kind, choose: Choose) -> Outcome {
    let (users, task, first) = ready(case, kind)?;
    let mut words = task.words.clone();
    let mut suffered = Suffered::RunnerOnly;
    let mut kept: Option<Kept> = None;
    let strikes = 1 + case.random.below(3);
    for strike in 0..strikes {
        // What is left to do after a death is about half of it.
        let plan = choose(case, if strike == 0 { kind.calls() } else { kind.calls() / 2 });
        if !plan.spares_others() {
            suffered = Suffered::More;
        }
        case.struck(&plan, &words)?;
        after_death(case, &task)?;
        if let Some(dir) = case.task_dir(&task.name) {
            let mut before = kept.take().unwrap_or_else(|| Kept::of(&dir));
            before.check(case);
            kept = Some(before);
            let status = case.status(&task.name)?;
            if invariants::is_over(status.as_ref()) {
                break;
            }
            let resume: &[&str] =
                if kind.is_milestone() { &["milestone", "resume", "t"] } else { &["resume", "t"] };
            words = resume.iter().map(|word| (*word).to_owned()).collect();
        }
    }
    finish(case, &task, suffered)?;
    if let Some(mut kept) = kept {
        kept.check(case);
    }
    if let Some(first) = first {
        finish(case, &first, suffered)?;
    }
    users.check_untracked(case)?;
    users.check(case)
}

/// SIGKILL after some time, to whoever is there then.
fn at_any_moment(case: &mut Case, kind: Kind) -> Outcome {
    let (users, task, first) = ready(case, kind)?;
    let mut words = task.words.clone();
    let mut suffered = Suffered::RunnerOnly;
    for _ in 0..1 + case.random.below(3) {
        let pause = Duration::from_millis(case.random.next() % 500);
        let whom = case.random.pick(&["runner", "runner", "guard", "both"]);
        if whom != "runner" {
            suffered = Suffered::More;
        }
        let started = case.start(case.dacapo(&words))?;
        thread::sleep(pause);
        for process in processes::ours() {
            let guard = process.command.contains(" __guard");
            let runner = process.command.starts_with(&case.program().display().to_string())
                && !process.command.contains(" __rehearse");
            if ((guard && whom != "runner") || (runner && whom != "guard")) && processes::kill(process.pid) {
                case.tally.count(if guard { "killed-guard" } else { "killed-runner" });
            }
        }
        case.finish(started, WORK)?;
        after_death(case, &task)?;
        if case.task_dir("t").is_some() {
            words = ["resume", "t"].map(str::to_owned).to_vec();
        }
    }
    finish(case, &task, suffered)?;
    if let Some(first) = first {
        finish(case, &first, suffered)?;
    }
    users.check_untracked(case)?;
    users.check(case)
}

/// Those who look find it in order, and the next who looks leaves nobody alive that should not be.
fn after_death(case: &mut Case, task: &Task) -> Outcome {
    if case.random.percent(30) {
        look(case, &task.name)?;
    }
    let status = case.status(&task.name)?;
    if matches!(invariants::word(status.as_ref()), "interrupted" | "completed" | "failed" | "stopped")
        && task.kind != Kind::Queued
    {
        invariants::nobody_left(case);
    }
    Ok(())
}

fn finish(case: &mut Case, task: &Task, suffered: Suffered) -> Outcome {
    wait(case, task)?;
    if let Some(status) = settle(case, task)? {
        invariants::check(case, task, &status, suffered)?;
    }
    Ok(())
}
