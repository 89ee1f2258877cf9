//! What somebody who comes in the middle is told first: not all that was said, but where the task stands.

use std::path::Path;
use std::time::Duration;

use dacapo_app::messages::Messages;
use dacapo_core::engine::Kinds;
use dacapo_core::event::{CheckResult, Envelope, IterationRecord};
use dacapo_core::spec::TaskSpec;
use dacapo_core::task::agent_loop::PromiseRule;
use dacapo_core::view::{Status, TaskView};
use jiff::Timestamp;

use super::Human;
use crate::output::words::{DIM, WARN, paint};

/// How many of the newest iterations are named.
const NEWEST: usize = 5;

/// What a task has come to, in memory that does not grow with it.
#[derive(Debug)]
pub struct SoFar {
    view: TaskView,
    promise: PromiseRule,
    before: Vec<CheckResult>,
    newest: Vec<IterationRecord>,
    at: Option<Timestamp>,
}

impl SoFar {
    pub fn new(spec: &TaskSpec, kinds: Kinds) -> Self {
        Self {
            view: TaskView::new(spec, kinds),
            promise: PromiseRule::of(spec),
            before: Vec::new(),
            newest: Vec::new(),
            at: None,
        }
    }

    /// Takes in what happened.
    pub fn see(&mut self, line: &Envelope) {
        self.promise.see(line);
        self.view.apply(line);
        self.before.extend(self.view.baseline().cloned());
        self.newest.append(&mut self.view.iterations);
        let older = self.newest.len().saturating_sub(NEWEST);
        self.newest.drain(..older);
        self.view.forget_details();
        self.at = Some(line.at);
    }

    pub fn view(&self) -> &TaskView {
        &self.view
    }
}

impl Human {
    /// Shows a task that is at work elsewhere from here on. `told` is what the user knows already.
    pub fn attached(
        so_far: SoFar,
        spec: &TaskSpec,
        task: &Path,
        told: AlreadyShown,
        messages: Messages,
    ) -> Self {
        let SoFar { mut view, promise, before, newest, at } = so_far;
        let since = at.map(|at| Timestamp::now().duration_since(at));
        let since = since.and_then(|since| Duration::try_from(since).ok()).unwrap_or_default();
        view.elapsed_seconds += since.as_secs_f64();
        let (status, done) = (view.status, view.iteration);
        let waits = view.waiting_until;
        let mut human = Human::new(view, task, promise, messages);
        match told {
            AlreadyShown::Nothing => human.preamble(spec, None, &[], None),
            AlreadyShown::WhatIsAsked => {}
        }
        for check in &before {
            human.before(check);
        }
        if human.promise.is_needed_beside_green_checks() {
            human.promise_needed();
        }
        let unnamed = (done as usize).saturating_sub(newest.len());
        if unnamed > 0 {
            let earlier = crate::output::report::unit(&human.view).earlier(unnamed as u64, messages);
            human.say(&paint(DIM, &messages.live_earlier(&earlier, spec.name.as_str())));
        }
        for record in &newest {
            match human.own().and_then(|own| own.earlier(&human.view, record, messages)) {
                Some(lines) => lines.iter().for_each(|line| human.say(line)),
                None => human.iteration(record),
            }
        }
        let standing = human.own().map(|own| own.so_far(&human.view, messages)).unwrap_or_default();
        standing.iter().for_each(|line| human.say(line));
        match (status, waits) {
            (Status::Queued, _) if done == 0 => human.doing = messages.live_waits_for_turn(),
            (Status::Waiting, Some(until)) => {
                let text = messages
                    .live_waiting_until(&crate::output::log::moment(until), &messages.live_usage_limit());
                human.say(&paint(WARN, &text));
                human.doing = text;
            }
            _ => {}
        }
        human
    }
}

/// What a user knows of a task already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlreadyShown {
    Nothing,
    /// What was asked for: agent, checks, place, limits.
    WhatIsAsked,
}
