//! A running task at a terminal, or as plain lines where there is none (L17).

use std::io::{self, IsTerminal as _};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use dacapo_app::present::face::{self, Face};
use dacapo_core::agent::acp::Question;
use dacapo_core::engine::{Activity, Reply, Sink};
use dacapo_core::event::{AgentEvent, CheckPhase, Envelope, Event, TurnEnd, Usage};
use dacapo_core::spec::{Place, TaskSpec};
use dacapo_core::view::TaskView;

use self::ink::{ERASE, adapted, terminal_columns};
use super::asking::Asking;
use super::outlet::{Outlet, Stream};
use super::words::{self, BOLD, DIM, WARN, paint};
use super::{ends, notices, untracked};

mod ink;
mod so_far;
mod steps;

pub use so_far::{SoFar, Told};

/// Set where the task is one of `dacapo demo`.
pub const DEMO_VARIABLE: &str = "DACAPO_DEMO";

/// So much of what the agent said last is kept for the live line.
const LAST_WORDS: usize = 500;

/// So many refusals of a turn are shown; an agent that tries all night does not fill the screen.
const MOST_REFUSALS: u32 = 5;

/// Prints a task as it goes.
pub struct Human {
    view: TaskView,
    agent: String,
    live: bool,
    /// What the agent or the engine is doing.
    doing: String,
    turn_usage: Usage,
    started: Instant,
    elapsed_before: Duration,
    line_is_up: bool,
    /// The agent was asked for a promise; else that it ended its turn is its word for done.
    promise_asked: bool,
    /// The end of what the agent said last.
    saying: String,
    /// Tools that the agent was refused in this turn.
    refusals: u32,
    asking: Asking,
    /// A question stands: the live line would wipe it and what is being typed.
    asked: bool,
    /// A question that is answered by a key: it takes the place of the live line.
    held: Option<String>,
    out: Outlet,
    /// Lines about what the agent does that a reader who had stopped reading has missed.
    dropped: u64,
}

impl Human {
    /// For a task with this directory that starts or is taken up again.
    pub fn new(view: TaskView, task: &Path) -> Self {
        Self {
            agent: view.agent.clone(),
            elapsed_before: Duration::from_secs_f64(view.elapsed_seconds.max(0.0)),
            view,
            // Without a TERM nobody knows how a line is wiped.
            live: std::io::stdout().is_terminal()
                && std::env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb"),
            doing: String::new(),
            turn_usage: Usage::default(),
            started: Instant::now(),
            line_is_up: false,
            promise_asked: false,
            saying: String::new(),
            refusals: 0,
            asking: Asking::default(),
            asked: false,
            held: None,
            out: Outlet::new(Stream::Stdout, Some(task.to_owned())),
            dropped: 0,
        }
    }

    /// What is going to happen, before it does.
    pub fn preamble(
        &mut self,
        spec: &TaskSpec,
        agent_why: Option<&str>,
        notes: &[String],
        more_iterations: Option<u32>,
    ) {
        let policy = &spec.policy;
        self.promise_asked = policy.until.is_some();
        let names: Vec<&str> = spec.agents.iter().map(|agent| agent.name.as_str()).collect();
        self.say(&format!("{} {}", paint(DIM, "task   "), paint(BOLD, spec.name.as_str())));
        let why = agent_why.map_or_else(String::new, |why| format!(" ({why})"));
        match self.own().and_then(|own| own.preamble(&self.view)) {
            Some(asked) => asked.iter().for_each(|line| self.say(line)),
            None => self.say(&format!("{} {}{why}", paint(DIM, "agent  "), names.join(", then "))),
        }
        for check in &policy.checks {
            self.say(&format!("{} {check}", paint(DIM, "check  ")));
        }
        if let Some(until) = &policy.until {
            self.say(&format!("{} {}", paint(DIM, "until  "), words::line(until, 80)));
        }
        if let Some(plan) = &spec.plan {
            self.say(&format!("{} {}", paint(DIM, "plan   "), plan.path.display()));
        }
        let branch = spec.base_branch.as_deref().map_or("a detached HEAD", words::branch);
        let place = match &spec.place {
            Place::InPlace { branch: Some(own), .. } => format!("here, on {}", words::branch(&own.name)),
            Place::InPlace { branch: None, .. } => format!("here, on {branch}"),
            Place::Worktree { path, branch, .. } => format!("{} · {}", words::branch(branch), path.display()),
        };
        self.say(&format!("{} {place}", paint(DIM, "where  ")));
        let own = self.own().and_then(|own| own.limits(&self.view, policy, more_iterations));
        let limits = match (own, more_iterations) {
            (Some(limits), _) => limits,
            (None, Some(more)) => {
                words::limits(policy, Some(words::count(u64::from(more), "more iteration")))
            }
            (None, None) => {
                let iterations = policy.cap.map(|cap| words::count(u64::from(cap.iterations), "iteration"));
                words::limits(policy, iterations)
            }
        };
        self.say(&format!(
            "{} {}",
            paint(DIM, "limits "),
            if limits.is_empty() { "none".into() } else { limits.join(", ") }
        ));
        for note in notes {
            self.say(&paint(WARN, &format!("note    {note}")));
        }
    }

    /// How tasks of this kind are told, where that is not how loops are.
    fn own(&self) -> Option<&'static dyn Face> {
        face::of(&self.view.kind)
    }

    /// Says what an event means in a task of this kind. True: there is no more to it.
    fn told_by_kind(&mut self, line: &Envelope) -> bool {
        let Some(own) = self.own() else { return false };
        let told = own.event(&self.view, line);
        told.lines.iter().for_each(|line| self.say(line));
        if let Some(doing) = told.doing {
            self.doing = doing;
        }
        if told.is_all && matches!(line.event, Event::TurnFinished(_)) {
            self.turn_usage = Usage::default();
        }
        told.is_all
    }

    fn say(&mut self, line: &str) {
        self.say_dropped();
        let erase = if std::mem::take(&mut self.line_is_up) { ERASE } else { "" };
        self.out.keep(adapted(&format!("{erase}{line}\n")));
    }

    /// Says what the agent does; of that a reader who has stopped reading misses something.
    fn say_of_agent(&mut self, line: &str) {
        if self.out.has_room() {
            self.say_dropped();
        }
        if self.dropped > 0 || !self.out.offer(adapted(&format!("{line}\n"))) {
            self.dropped += 1;
        }
    }

    fn say_dropped(&mut self) {
        let count = std::mem::take(&mut self.dropped);
        if count > 0 {
            let events = words::count(count, "agent event");
            let note = format!("note    {events} not shown: nobody read them in time");
            self.out.keep(adapted(&format!("{}\n", paint(WARN, &note))));
        }
    }

    /// All has been said: the reader gets time to take the rest.
    pub fn finish(&mut self) {
        self.say_dropped();
        self.out.finish();
    }

    /// Says something that is no event.
    pub fn note(&mut self, text: &str) {
        self.say(&paint(WARN, text));
        self.draw();
    }

    /// The last words: the task goes on, but is shown no more.
    pub fn leave(&mut self, text: &str) {
        self.say(text);
    }

    /// Whether it is shown at a terminal.
    pub fn is_live(&self) -> bool {
        self.live
    }

    /// Puts a question in the place of the live line, or takes it away again.
    pub fn hold(&mut self, question: Option<&str>) {
        self.held = question.map(str::to_owned);
        if self.held.is_none() && self.line_is_up {
            self.line_is_up = false;
            self.out.keep(adapted(ERASE));
        }
        self.draw();
    }

    /// Whether nobody reads what is printed any more.
    pub fn is_gone(&self) -> bool {
        self.out.is_gone()
    }

    /// Can be read once that is so.
    pub fn alarm(&self) -> io::Result<OwnedFd> {
        self.out.alarm()
    }

    /// Draws the live line again.
    fn draw(&mut self) {
        if !self.live || self.asked || self.view.finished_at.is_some() {
            return;
        }
        let columns = terminal_columns().saturating_sub(1);
        if let Some(question) = &self.held {
            let text = paint(BOLD, &words::line(question, columns));
            self.out.keep(adapted(&format!("{ERASE}{text} ")));
            self.line_is_up = true;
            return;
        }
        let own = self.own().and_then(|own| own.live(&self.view));
        let of_a_loop = own.is_none();
        let mut parts = own.unwrap_or_default();
        if let Some(iteration) = self.view.running_iteration.filter(|_| of_a_loop) {
            let of = self.view.max_iterations.map_or_else(String::new, |max| format!(" of {max}"));
            parts.push(format!("iteration {}{of}", iteration + 1));
        }
        parts.push(words::duration(self.elapsed_before + self.started.elapsed()));
        let used = self.view.tokens.input + self.view.tokens.output + self.turn_usage.tokens();
        if used > 0 {
            parts.push(words::tokens(used));
        }
        let cost = self.view.cost_usd.unwrap_or(0.0) + self.turn_usage.cost_usd.unwrap_or(0.0);
        if cost > 0.0 {
            parts.push(words::money(cost));
        }
        if !self.doing.is_empty() {
            parts.push(format!("▸ {}", self.doing));
        }
        let text = words::line(&parts.join(" · "), columns);
        self.line_is_up |= self.out.redraw(adapted(&format!("{ERASE}{}", paint(DIM, &text))));
    }
}

impl Sink for Human {
    fn event(&mut self, line: &Envelope) {
        self.view.apply(line);
        self.view.forget_details();
        if self.told_by_kind(line) {
            self.draw();
            return;
        }
        match &line.event {
            Event::FilesIncluded { .. } => {
                self.say(&paint(DIM, &format!("note    {}", words::included(&line.event))));
            }
            Event::UntrackedFound(found) => self.notes(DIM, untracked::found(found)),
            Event::UntrackedTouched(touched) => {
                self.notes(WARN, untracked::touched_now(touched, super::report::unit(&self.view)));
            }
            Event::SetupFinished(setup) => self.setup(setup),
            Event::CheckFinished(check) if check.phase == CheckPhase::Baseline => self.before(check),
            Event::CheckFinished(check) => self.check(check),
            Event::ProofStarted { .. } => self.doing.clear(),
            // The end says it.
            Event::ProofUnavailable { .. } => {}
            Event::ProofFailed { .. } => {
                if let Some(text) = super::proof::step(&line.event) {
                    self.say(&paint(WARN, &format!("  {}", words::line(&text, words::WHOLE))));
                }
            }
            Event::IterationStarted { .. } => "thinking".clone_into(&mut self.doing),
            Event::TurnStarted { agent, .. } => {
                self.agent.clone_from(agent);
                self.turn_usage = Usage::default();
                self.saying.clear();
                self.refusals = 0;
            }
            Event::TurnFinished(record) => {
                self.turn_usage = Usage::default();
                if record.end == TurnEnd::Interrupted {
                    self.say(&paint(WARN, "note    the last turn was interrupted: the iteration runs again"));
                }
                self.doing.clear();
            }
            Event::Written(record) => self.written(record),
            Event::Committed { commit, subject, .. } => {
                self.say(&paint(
                    DIM,
                    &format!("  committed {} {}", commit.short(), words::line(subject, 80)),
                ));
            }
            Event::IterationFinished(record) => self.iteration(record),
            Event::Waiting { until, cause } => self.waiting(*until, cause),
            Event::WaitOver => self.doing.clear(),
            Event::AgentChanged { agent, cause } => {
                let why = words::line(&ends::change(cause), 100);
                self.say(&paint(WARN, &format!("{agent} takes over: {why}")));
            }
            Event::Notice(notice) => self.notes(WARN, [notices::told(notice, &line.task)]),
            Event::WorkspaceFailed { message } | Event::RecordAltered { message } => {
                self.notes(WARN, [message.clone()]);
            }
            Event::StopRequested { detail, .. } => {
                let by = ends::detail(detail, &line.task);
                self.say(&paint(
                    WARN,
                    &format!("stopping ({}); what is there is kept", words::line(&by, 100)),
                ));
            }
            Event::TaskFinished(result) => self.finished(result),
            Event::TaskCreated { .. }
            | Event::TaskStarted { .. }
            | Event::Resumed { .. }
            | Event::WorkspaceReady { .. }
            | Event::PortsLeased { .. }
            | Event::LimitKnown(_)
            | Event::CommitIntent(_)
            | Event::NoCommit(_)
            | Event::Own(_)
            | Event::Paused { .. }
            | Event::Asked { .. }
            | Event::Answered
            | Event::MergeIntent { .. }
            | Event::Merged { .. }
            | Event::MergeUndone { .. }
            | Event::Renamed { .. }
            | Event::TakenOver { .. }
            // After the end, and told by who does it.
            | Event::PullRequest { .. }
            | Event::Notified { .. }
            | Event::Dequeued => {}
            Event::CommandReceived(received) => self.say(&paint(WARN, &words::command(received))),
            Event::Queued => {
                self.say(&paint(DIM, "queued  all places are taken; it begins when one is free"));
            }
        }
        self.draw();
    }

    fn agent(&mut self, _: &Envelope, _: u64, event: &AgentEvent) {
        match event {
            AgentEvent::Text { text } => self.agent_says(text),
            AgentEvent::Thinking { .. } => "thinking".clone_into(&mut self.doing),
            AgentEvent::ToolCall { name, summary, .. } => self.doing = format!("{name} {summary}"),
            AgentEvent::Usage(usage) => self.turn_usage = *usage,
            AgentEvent::Retry { message, status } => self.retries(message, *status),
            AgentEvent::Refused { what } => self.was_refused(what),
            AgentEvent::Session { .. }
            | AgentEvent::ToolResult { .. }
            | AgentEvent::Plan { .. }
            | AgentEvent::Limit { .. }
            | AgentEvent::Error { .. }
            | AgentEvent::End { .. } => {}
        }
        if !self.live
            && let AgentEvent::ToolCall { name, summary, .. } = event
        {
            self.say_of_agent(&paint(DIM, &format!("  ▸ {name} {}", words::line(summary, 120))));
        }
    }

    fn activity(&mut self, activity: &Activity<'_>) {
        self.doing = match activity {
            Activity::Setup(command) => format!("setup {command}"),
            Activity::Check(command) => format!("check {command}"),
            Activity::Proving(commit) => format!("proof of {}", commit.short()),
            Activity::Writing { what, by } => format!("{by} writes the {}", words::writing(*what)),
            Activity::Committing => return,
            Activity::Stopping => "stopping the agent".to_owned(),
        };
        self.draw();
    }

    fn tick_every(&self) -> Option<Duration> {
        self.live.then_some(Duration::from_millis(250))
    }

    fn tick(&mut self) {
        self.draw();
    }

    fn ask(&mut self, question: &Question, reply: &Reply) -> bool {
        let there = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        if there {
            for line in self.asking.put(question, reply) {
                self.say(&paint(WARN, &words::line(&line, words::WHOLE)));
            }
            self.asked = true;
        }
        there
    }

    fn withdraw(&mut self) {
        self.asking.withdraw();
        self.asked = false;
    }
}
