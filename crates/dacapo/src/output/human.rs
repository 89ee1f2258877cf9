//! A running task at a terminal, or as plain lines where there is none (L17).

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use dacapo_app::messages::Messages;
use dacapo_app::present::kind_words::{self, KindWords};
use dacapo_app::present::workspace;
use dacapo_core::agent::acp::Question;
use dacapo_core::engine::{Activity, Reply, Sink};
use dacapo_core::event::{AgentEvent, CheckPhase, Envelope, Event, TurnEnd, Usage};
use dacapo_core::spec::{Place, TaskSpec};
use dacapo_core::task::agent_loop::PromiseRule;
use dacapo_core::view::TaskView;

use self::ink::{ERASE, adapted, terminal_columns};
use super::asking::Asking;
use super::outlet::{Outlet, Stream};
use super::words::{self, BOLD, DIM, WARN, paint};
use super::{ends, notices, untracked};

mod ink;
mod so_far;
mod steps;

pub use so_far::{AlreadyShown, SoFar};

/// Set where the task is one of `dacapo demo`.
pub const DEMO_VARIABLE: &str = "DACAPO_DEMO";

/// How much of what the agent said last is kept for the live line.
const LAST_WORDS: usize = 500;

/// How many refusals of a turn are shown; an agent that tries all night does not fill the screen.
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
    /// Whether the agent has to say that it is done.
    promise: PromiseRule,
    /// Checks that failed when they ran last.
    failing: BTreeSet<String>,
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
    messages: Messages,
}

impl Human {
    /// For a task with this directory that starts or is taken up again.
    pub fn new(view: TaskView, task: &Path, promise: PromiseRule, messages: Messages) -> Self {
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
            promise,
            failing: BTreeSet::new(),
            saying: String::new(),
            refusals: 0,
            asking: Asking::default(),
            asked: false,
            held: None,
            out: Outlet::new(Stream::Stdout, Some(task.to_owned())),
            dropped: 0,
            messages,
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
        let (policy, messages) = (&spec.policy, self.messages);
        self.item(&messages.label_task(), &paint(BOLD, spec.name.as_str()));
        match self.own().and_then(|own| own.preamble(&self.view, messages)) {
            Some(asked) => asked.iter().for_each(|line| self.say(line)),
            None => {
                let names = spec.agents.iter().map(|agent| agent.name.clone());
                let names = names.reduce(|all, next| messages.live_then(&all, &next)).unwrap_or_default();
                let agents = match agent_why {
                    Some(why) => messages.live_because(&names, why),
                    None => names,
                };
                self.item(&messages.label_agent(), &agents);
            }
        }
        for check in &policy.checks {
            self.item(&messages.label_check(), check);
        }
        if let Some(until) = &policy.until {
            self.item(&messages.label_until(), &words::line(until, 80));
        }
        if let Some(plan) = &spec.plan {
            self.item(&messages.label_plan(), &messages.path(&plan.path));
        }
        let detached = messages.detached_head();
        let branch = spec.base_branch.as_deref().map_or(detached.as_str(), words::branch);
        let place = match &spec.place {
            Place::InPlace { branch: Some(own), .. } => messages.live_here_on(words::branch(&own.name)),
            Place::InPlace { branch: None, .. } => messages.live_here_on(branch),
            Place::Worktree { path, branch, .. } => {
                format!("{} · {}", words::branch(branch), messages.path(path))
            }
        };
        self.item(&messages.label_where(), &place);
        let own = self.own().and_then(|own| own.limits(&self.view, policy, more_iterations, messages));
        let limits = own.unwrap_or_else(|| {
            let iterations = match more_iterations {
                Some(more) => Some(messages.more_iterations(u64::from(more))),
                None => policy.cap.map(|cap| messages.iterations(u64::from(cap.iterations))),
            };
            words::limits(policy, iterations, messages)
        });
        let limits = if limits.is_empty() { messages.limit_none() } else { limits.join(&messages.comma()) };
        self.item(&messages.label_limits(), &limits);
        for note in notes {
            self.say(&paint(WARN, &format!("{}{note}", messages.label_note())));
        }
    }

    /// `agent   claude`.
    fn item(&mut self, label: &str, text: &str) {
        self.say(&format!("{} {text}", paint(DIM, &words::padded(label, 7))));
    }

    /// How tasks of this kind are told, where that is not how loops are.
    fn own(&self) -> Option<&'static dyn KindWords> {
        kind_words::of(&self.view.kind)
    }

    /// Says what an event means in a task of this kind. True: there is no more to it.
    fn told_by_kind(&mut self, line: &Envelope) -> bool {
        let Some(own) = self.own() else { return false };
        let told = own.event(&self.view, line, self.messages);
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
            let note = format!("{}{}", self.messages.label_note(), self.messages.live_not_shown(count));
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
        let own = self.own().and_then(|own| own.live(&self.view, self.messages));
        let of_a_loop = own.is_none();
        let mut parts = own.unwrap_or_default();
        if let Some(iteration) = self.view.running_iteration.filter(|_| of_a_loop) {
            let unit = super::report::unit(&self.view);
            parts.push(unit.nth_of(iteration + 1, self.view.max_iterations, self.messages));
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
        let beside_green = self.promise.is_needed_beside_green_checks();
        self.promise.see(line);
        let messages = self.messages;
        self.view.apply(line);
        self.view.forget_details();
        if self.told_by_kind(line) {
            self.draw();
            return;
        }
        match &line.event {
            Event::FilesIncluded { .. } => {
                self.notes(DIM, [words::included(&line.event, messages)]);
            }
            Event::UntrackedFound(found) => self.notes(DIM, untracked::found(found, messages)),
            Event::UntrackedTouched(touched) => {
                let unit = super::report::unit(&self.view);
                self.notes(WARN, untracked::touched_now(touched, unit, messages));
            }
            Event::SetupFinished(setup) => self.setup(setup),
            Event::CheckFinished(check) if check.phase == CheckPhase::Baseline => self.before(check),
            Event::CheckFinished(check) => self.check(check),
            Event::ProofStarted { .. } => self.doing.clear(),
            // The end says it.
            Event::ProofUnavailable { .. } => {}
            Event::ProofFailed { .. } => {
                if let Some(text) = super::proof::step(&line.event, messages) {
                    self.say(&paint(WARN, &format!("  {}", words::line(&text, words::WHOLE))));
                }
            }
            Event::IterationStarted { .. } => self.doing = messages.live_thinking(),
            Event::TurnStarted { agent, .. } => {
                self.agent.clone_from(agent);
                self.turn_usage = Usage::default();
                self.saying.clear();
                self.refusals = 0;
            }
            Event::TurnFinished(record) => {
                self.turn_usage = Usage::default();
                if record.end == TurnEnd::Interrupted {
                    self.notes(WARN, [messages.live_turn_interrupted()]);
                }
                self.doing.clear();
            }
            Event::Written(record) => self.written(record),
            Event::Committed { commit, subject, .. } => {
                let text = messages.live_committed(commit.short(), &words::line(subject, 80));
                self.say(&paint(DIM, &format!("  {text}")));
            }
            Event::IterationFinished(record) => self.iteration(record),
            Event::Waiting { until, cause } => self.waiting(*until, cause),
            Event::WaitOver => self.doing.clear(),
            Event::AgentChanged { agent, cause } => {
                let why = words::line(&ends::change(cause, messages), 100);
                self.say(&paint(WARN, &messages.live_takes_over(agent, &why)));
            }
            Event::Notice(notice) => self.notes(WARN, [notices::told(notice, &line.task, messages)]),
            Event::WorkspaceFailed { problems } => {
                self.notes(WARN, [workspace::all(problems, messages)]);
            }
            Event::RecordAltered { message } => self.notes(WARN, [message.clone()]),
            Event::StopRequested { detail, .. } => {
                let by = ends::detail(detail, &line.task, messages);
                self.say(&paint(WARN, &messages.live_stopping(&words::line(&by, 100))));
            }
            Event::TaskFinished(result) => self.finished(result),
            Event::TaskCreated { .. }
            | Event::TaskStarted { .. }
            | Event::Resumed { .. }
            | Event::WorkspaceReady { .. }
            | Event::PortsLeased { .. }
            | Event::RoomTested(_)
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
            Event::CommandReceived(received) => self.say(&paint(WARN, &words::command(received, messages))),
            Event::Queued => {
                let label = words::padded(&messages.label_queued(), 8);
                self.say(&paint(DIM, &format!("{label}{}", messages.live_queued())));
            }
        }
        if !beside_green && self.promise.is_needed_beside_green_checks() {
            self.promise_needed();
        }
        self.draw();
    }

    fn agent(&mut self, _: &Envelope, _: u64, event: &AgentEvent) {
        match event {
            AgentEvent::Text { text } => self.agent_says(text),
            AgentEvent::Thinking { .. } => self.doing = self.messages.live_thinking(),
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
        let messages = self.messages;
        self.doing = match activity {
            Activity::Setup(command) => messages.live_setup(command),
            Activity::Check(command) => messages.live_check(command),
            Activity::Proving(commit) => messages.live_proving(commit.short()),
            Activity::Writing { what, by } => messages.live_writing(by, &words::writing(*what, messages)),
            Activity::Committing => return,
            Activity::Stopping => messages.live_stopping_agent(),
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
            for line in self.asking.put(question, reply, self.messages) {
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
