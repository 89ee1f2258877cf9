//! The page of a task, as plain data: what a surface that stays on the screen shows of it, and what it offers. A surface draws it
//! without knowing the kind of the task; a kind that wants another page describes it by its [`KindWords`](super::kind_words::KindWords).

use std::time::Duration;

use dacapo_core::event::{CheckPhase, CheckResult, Choice, IterationRecord};
use dacapo_core::view::{Status, TaskView};
use jiff::Timestamp;

use super::act::ActArgument;
use super::next::Next;
use super::words::{self, BAD, BOLD, DIM, WARN, paint};
use super::{faults, kind_words, needs, report};
use crate::messages::Messages;

/// A page. Texts may be painted; each is one line.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    pub name: String,
    /// For the top line, the most important first: how it stands, how far it is.
    pub facts: Vec<String>,
    pub clock: Clock,
    /// For the top line, after the clock: what it cost, where it works.
    pub more_facts: Vec<String>,
    pub arrangement: Arrangement,
    /// What it has done, the oldest first.
    pub steps: Vec<Step>,
    /// Whose output is shown.
    pub panes: Vec<Pane>,
    /// What else there is to know, the most important first.
    pub sections: Vec<Section>,
    /// What is going on, or what is waited for.
    pub phase: Option<String>,
    /// What a person is asked, and what can be answered.
    pub decision: Option<Decision>,
}

/// Active time, which may be passing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clock {
    pub elapsed: Duration,
    /// It passes, and was so long at this moment.
    pub since: Option<Timestamp>,
}

impl Clock {
    pub fn at(&self, now: Timestamp) -> Duration {
        let more = self.since.map(|since| now.duration_since(since).as_secs_f64().max(0.0));
        self.elapsed + Duration::from_secs_f64(more.unwrap_or(0.0))
    }
}

/// How the parts stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrangement {
    /// Steps and sections at the left, the output of the selected step at the right.
    StepsBeside,
    /// Panes side by side, sections below them.
    PanesAbove,
}

/// An iteration, a round, or what was before.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its number, from 0; none: it is not one that has output.
    pub number: Option<u32>,
    /// It is at work.
    pub current: bool,
    /// How it went, in a sign.
    pub sign: String,
    /// Its commit, or what stands for it.
    pub commit: Option<String>,
    /// What it did in a few words.
    pub text: String,
    /// What the agent claims beside what the checks say, and why it failed.
    pub remarks: Vec<String>,
    pub files: u32,
    pub took: Option<Duration>,
    pub cost: Option<String>,
}

/// The output of one agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Pane {
    pub title: String,
    /// Who is at work now.
    pub active: bool,
    pub turns: Vec<PageTurn>,
}

/// A turn of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageTurn {
    pub turn: u32,
    /// The step it belongs to.
    pub step: u32,
    pub heading: String,
    pub over: bool,
}

/// Something under a heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    pub title: String,
    pub lines: Lines,
}

/// How it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lines {
    /// Below each other.
    Below(Vec<String>),
    /// After each other, as many in a line as fit.
    After(Vec<String>),
}

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    pub question: String,
    pub offers: Vec<Offer>,
}

/// An answer, and the key for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// None: it is chosen from the list of all.
    pub key: Option<char>,
    pub next: Next,
}

impl Offer {
    /// Whether the person has yet to write or choose something.
    pub fn takes_words(&self) -> bool {
        let open = |argument: &ActArgument| match argument {
            ActArgument::Answer | ActArgument::Message | ActArgument::MoreWork | ActArgument::Choice => true,
            ActArgument::Offered { .. }
            | ActArgument::Finding(_)
            | ActArgument::Iterations(_)
            | ActArgument::Rounds(_)
            | ActArgument::MoreRounds(_)
            | ActArgument::ProofInWorkspace
            | ActArgument::DoneTasks
            | ActArgument::Tests => false,
        };
        self.next.act.as_ref().is_some_and(|act| act.arguments.iter().any(open))
    }
}

/// The page of a task.
pub fn page(view: &TaskView, messages: Messages) -> Page {
    let own = kind_words::of(&view.kind).and_then(|own| own.page(view, messages));
    own.unwrap_or_else(|| of_loop(view, messages))
}

/// What is the same for every kind; the parts that are not are empty.
pub fn frame(view: &TaskView, arrangement: Arrangement, messages: Messages) -> Page {
    let passes = matches!(view.status, Status::Running | Status::Waiting);
    let mut more_facts: Vec<String> = Vec::new();
    more_facts.extend(view.cost_usd.map(words::money));
    match &view.merged {
        Some(merged) => {
            let into = words::branch(&merged.into);
            more_facts.push(messages.status_merged_as(into, merged.commit.short()));
        }
        None => more_facts.extend(view.branch.as_deref().map(|branch| words::branch(branch).to_owned())),
    }
    Page {
        name: view.name.clone(),
        facts: vec![words::status(view.status, messages)],
        clock: Clock {
            elapsed: Duration::from_secs_f64(view.elapsed_seconds.max(0.0)),
            since: view.last_at.filter(|_| passes),
        },
        more_facts,
        arrangement,
        steps: Vec::new(),
        panes: Vec::new(),
        sections: Vec::new(),
        phase: None,
        decision: decision(view, messages),
    }
}

/// Turns as a pane shows them, each under what `heading` says of it.
pub fn turns<'a>(
    view: &TaskView,
    wanted: impl Fn(u32) -> bool + 'a,
    heading: impl Fn(&dacapo_core::view::TurnSeen) -> String,
) -> Vec<PageTurn> {
    let last = view.turns.last().map(|turn| turn.turn);
    let turn = |seen: &dacapo_core::view::TurnSeen| PageTurn {
        turn: seen.turn,
        step: seen.iteration,
        heading: heading(seen),
        // One that was cut off is over when another begins.
        over: seen.over || Some(seen.turn) != last,
    };
    view.turns.iter().filter(|seen| wanted(seen.turn)).map(turn).collect()
}

fn of_loop(view: &TaskView, messages: Messages) -> Page {
    let unit = report::unit(view);
    let mut page = frame(view, Arrangement::StepsBeside, messages);
    let at = view.running_iteration.filter(|_| view.status == Status::Running);
    if view.looping || view.iteration > 1 {
        let done = at.map_or(view.iteration, |at| at + 1);
        page.facts.push(match view.max_iterations {
            Some(most) => format!("{done}/{most}"),
            None => done.to_string(),
        });
    }
    page.phase = view
        .doing
        .as_ref()
        .filter(|_| view.status == Status::Running)
        .map(|step| words::current_step(step, messages));
    if let (Status::Waiting, Some(until)) = (view.status, view.waiting_until) {
        page.phase = Some(messages.status_waiting_until(&super::log::clock(until), &view.agent));
    }
    page.steps.extend(view.baseline().map(|check| before(check, messages)));
    page.steps.extend(view.iterations.iter().map(|record| step(record, messages)));
    page.steps.extend(view.running_iteration.map(|iteration| running(iteration, view, messages)));
    let nth = |iteration: u32| unit.nth(Some(iteration + 1), messages);
    let heading = |seen: &dacapo_core::view::TurnSeen| format!("{} · {}", nth(seen.iteration), seen.agent);
    page.panes =
        vec![Pane { title: view.agent.clone(), active: at.is_some(), turns: turns(view, |_| true, heading) }];
    page.sections.push(goal(view, messages));
    page
}

/// A check before the first iteration.
fn before(check: &CheckResult, messages: Messages) -> Step {
    Step {
        number: None,
        current: false,
        sign: words::check_sign(check),
        commit: None,
        text: format!("{} {}", messages.label_before(), words::exit(&check.ended(), messages)),
        remarks: words::quoted(&check.telling_line()).into_iter().collect(),
        files: 0,
        took: None,
        cost: None,
    }
}

/// An iteration that is over.
pub fn step(record: &IterationRecord, messages: Messages) -> Step {
    let mut remarks = Vec::new();
    let red = record.checks.iter().any(|check| !check.passed && check.phase != CheckPhase::Baseline);
    if record.promise && red {
        remarks.push(paint(WARN, &messages.page_said_done()));
    }
    let fault = faults::all(&record.faults, messages);
    remarks.extend(fault.map(|fault| paint(BAD, &words::line(&fault, words::WHOLE))));
    Step {
        number: Some(record.iteration),
        current: false,
        sign: words::iteration_sign(record),
        commit: record.commit_id.as_ref().map(|oid| oid.short().to_owned()),
        text: words::line(&record.summary, 200),
        remarks,
        files: record.changed_total,
        took: Some(Duration::from_millis(record.duration_ms)),
        cost: record.usage.cost_usd.map(words::money),
    }
}

/// The iteration at work.
pub fn running(iteration: u32, view: &TaskView, messages: Messages) -> Step {
    let text = match view.status {
        Status::Running => messages.page_running(),
        status => words::status(status, messages),
    };
    Step {
        number: Some(iteration),
        current: true,
        sign: paint(BOLD, "▸"),
        commit: None,
        text,
        remarks: Vec::new(),
        files: 0,
        took: None,
        cost: None,
    }
}

/// What is to be reached, how far that is, and what to look at.
fn goal(view: &TaskView, messages: Messages) -> Section {
    let mut lines = Vec::new();
    for command in &view.policy.checks {
        let last = view.checks.iter().rev().find(|check| check.command == *command);
        let sign = last.map_or_else(|| "○".to_owned(), words::check_sign);
        lines.push(format!("{sign} {}", words::line(command, 200)));
    }
    if let Some(until) = &view.policy.until {
        let said = view.iterations.iter().any(|record| record.promise);
        let sign = if said { "●" } else { "○" };
        lines.push(format!("{sign} {}", messages.page_until(&words::line(until, 80))));
    }
    let touched = view.result.as_ref().map_or(0, |result| result.trust_files.len());
    if touched > 0 {
        lines.push(paint(WARN, &format!("⚠ {}", messages.page_tests_touched(touched as u64))));
    }
    for text in &view.guidance {
        lines.push(format!("› {}", words::line(text, 200)));
    }
    if let Some(result) = &view.result {
        lines.insert(0, report::headline(view, result, messages));
    }
    lines.push(paint(DIM, &words::line(&view.prompt, 300)));
    Section { title: messages.label_goal(), lines: Lines::Below(lines) }
}

/// What a person is asked; none: nobody is.
fn decision(view: &TaskView, messages: Messages) -> Option<Decision> {
    let asked = view.needs.as_ref()?;
    let answers = kind_words::of(&view.kind).map(|own| own.answers(view, messages)).unwrap_or_default();
    let answers = if answers.is_empty() { Next::answers(asked, &view.name, messages) } else { answers };
    let known = needs::answers(asked, &view.name);
    let key_of = |next: &Next| {
        let nth = known.iter().position(|act| next.act.as_ref() == Some(act))?;
        asked.choices.get(nth).and_then(key)
    };
    let offers = answers.into_iter().map(|next| Offer { key: key_of(&next), next }).collect();
    Some(Decision { question: needs::question(&asked.kind, messages), offers })
}

/// The same key for the same answer, whatever the task.
fn key(choice: &Choice) -> Option<char> {
    match choice {
        Choice::Tell | Choice::Answer => Some('g'),
        Choice::Approve => Some('a'),
        Choice::Resume => Some('r'),
        Choice::ResumeWithRounds { .. } | Choice::AddRounds { .. } => Some('l'),
        Choice::Kill => Some('x'),
        Choice::ResumeUnproven | Choice::Reject | Choice::Abandon | Choice::Offered { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_passes_only_while_somebody_works() {
        let now = Timestamp::from_second(1_000).unwrap();
        let still = Clock { elapsed: Duration::from_secs(60), since: None };
        assert_eq!(still.at(now), Duration::from_secs(60));
        let passing = Clock { since: Some(Timestamp::from_second(990).unwrap()), ..still };
        assert_eq!(passing.at(now), Duration::from_secs(70));
        assert_eq!(passing.at(Timestamp::from_second(0).unwrap()), Duration::from_secs(60), "never less");
    }
}
