//! `dacapo spawn`: the task is made here and driven by a process of its own (S1).

use std::time::{Duration, Instant};

use dacapo_core::spec::{Place, TaskSpec};
use dacapo_core::store::{Changes, TaskDir};
use dacapo_core::view::{Status, TaskView};

use super::background::{self, Begun, Instructions};
use super::could_not_begin;
use super::start::{Made, make, prepare};
use super::{dry_run, milestone, pr, print, view};
use crate::args::{Exec, Pr, Show, Spawn};
use crate::error::{Failure, Kind};
use crate::inside;
use crate::output::words::{BOLD, DIM, paint};
use crate::request::Request;

pub(super) fn run(args: Spawn) -> Result<u8, Failure> {
    if let Some(id) = &args.milestone {
        return milestone::spawn(id, &args.exec);
    }
    if let Some(offered) = offered(&args.exec) {
        inside::refuse_order("pr")?;
        return pr::run(&offered).map_err(|failure| or_a_prompt(failure, offered.name.as_deref()));
    }
    let show = args.exec.show;
    if args.exec.dry_run {
        return dry_run::show(&prepare(&in_background(args.exec))?, show);
    }
    let started = start(args.exec, |_| {})?;
    if let Some(failure) = started.failed_to_begin() {
        return Err(failure);
    }
    started.tell(show)?;
    Ok(0)
}

/// `spawn --pr NAME`, as it is typed in the interface (S2): a prompt of one word is a task's name, and no task is started.
fn offered(args: &Exec) -> Option<Pr> {
    let ([word], None, Some("")) = (args.prompt.as_slice(), &args.name, args.pr.as_deref()) else {
        return None;
    };
    let one_word = word != "-" && !word.is_empty() && !word.contains(char::is_whitespace);
    one_word.then(|| Pr { name: Some(word.clone()), json: args.show.json, ..Pr::default() })
}

/// A prompt of one word is possible all the same.
fn or_a_prompt(failure: Failure, name: Option<&str>) -> Failure {
    let unknown = failure.kind == Kind::Usage && failure.message.ends_with("not found");
    match name.filter(|_| unknown) {
        Some(word) => failure.hint(format!(
            "spawn --pr NAME offers a task; to start one: dacapo spawn --pr --name {word} {word}"
        )),
        None => failure,
    }
}

/// A task that runs in the background.
pub(super) struct Started {
    begun: Begun,
    pub(super) dir: TaskDir,
    pub(super) spec: TaskSpec,
    pub(super) notes: Vec<String>,
    /// Why this agent, where nobody chose it.
    pub(super) agent_why: Option<String>,
}

/// Makes the task and lets it run in the background; `say` tells of it before it starts.
pub(super) fn start(args: Exec, say: impl FnOnce(&Request)) -> Result<Started, Failure> {
    let made = make(&in_background(args))?;
    say(&made.asked);
    let_run(made)
}

/// What `spawn` means by flags of `exec`.
pub(super) fn in_background(mut args: Exec) -> Exec {
    args.background = true;
    args.worktree = !args.noworktree;
    args
}

/// Lets a task that was just made run in the background.
pub(super) fn let_run(made: Made) -> Result<Started, Failure> {
    let Made { repo: _, loaded: _, asked, dir, lock, _workspace, turn: _ } = made;
    let instructions = Instructions { secrets: asked.secrets, ..Instructions::default() };
    let begun = background::start(&dir, &asked.spec, &instructions);
    let begun = match begun {
        Ok(begun) => begun,
        Err(failure) => {
            // Nothing was done, so nothing stays behind.
            let _ = dir.discard();
            drop(lock);
            return Err(failure.kept("everything; the task was not started"));
        }
    };
    Ok(Started { begun, dir, spec: asked.spec, notes: asked.notes, agent_why: asked.agent_why })
}

impl Started {
    /// Why there is nothing to work in, where that is known soon: a worktree is waited for, its setup for a moment.
    fn failed_to_begin(&self) -> Option<Failure> {
        const FOR_THE_WORKTREE: Duration = Duration::from_secs(60);
        const FOR_THE_SETUP: Duration = Duration::from_secs(2);
        // Told of changes before the first look, so that none is missed.
        let mut changes = Changes::of(&self.dir).ok()?;
        let begun = Instant::now();
        let mut over = false;
        loop {
            let view = TaskView::fold(&self.dir).ok()?;
            if let Some(result) = &view.result {
                return could_not_begin::failure(&self.spec, result);
            }
            let waits = match (view.status, &view.branch) {
                (Status::Queued, _) => return None,
                (_, None) if view.worktree.is_some() => FOR_THE_WORKTREE,
                (_, _) if view.setup.len() < self.spec.place.setup().len() => FOR_THE_SETUP,
                (_, _) => return None,
            };
            if over || begun.elapsed() >= waits {
                return None;
            }
            // What was written last before the end is read once more above.
            over = changes.wait(&[], Some(waits.saturating_sub(begun.elapsed()))).ok()?.over;
        }
    }

    /// Says that it runs.
    pub(super) fn tell(&self, show: Show) -> Result<(), Failure> {
        if show.json {
            print(&view(&self.dir)?.to_json().to_string());
        } else if show.quiet {
            print(self.spec.name.as_str());
        } else {
            self.notes.iter().for_each(|note| print(&format!("note    {note}")));
            print(&self.in_words());
        }
        Ok(())
    }

    fn in_words(&self) -> String {
        let name = &self.spec.name;
        let agent = self.spec.agents.first().map_or("", |agent| agent.name.as_str());
        let why = self.agent_why.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
        let place = match &self.spec.place {
            Place::InPlace { .. } => "in this checkout".to_owned(),
            Place::Worktree { branch, .. } => {
                format!("on branch {}", branch.strip_prefix("refs/heads/").unwrap_or(branch))
            }
        };
        let does = match self.begun {
            Begun::Queued => "is queued until a place is free,",
            Begun::Running => "runs in the background",
        };
        format!(
            "{} {does} with {agent}{why}, {place}\n{}",
            paint(BOLD, name.as_str()),
            paint(DIM, &format!("next: dacapo attach {name} | list | tell {name} \"…\" | kill {name}"))
        )
    }
}
