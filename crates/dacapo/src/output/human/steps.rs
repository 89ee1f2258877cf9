//! What is said of single steps of a task.

use std::time::Duration;

use dacapo_core::event::{
    CheckBrief, CheckPhase, CheckResult, IterationRecord, SetupResult, TaskResult, WaitCause, WritingEnd,
    WritingRecord,
};
use jiff::Timestamp;

use super::ink::tail;
use super::{DEMO_VARIABLE, Human, LAST_WORDS, MOST_REFUSALS};
use crate::output::words::{self, BAD, BOLD, DIM, GOOD, WARN, paint};
use crate::output::{ends, faults};

impl Human {
    /// Says more that is good to know, a line each.
    pub(super) fn notes(&mut self, style: anstyle::Style, texts: impl IntoIterator<Item = String>) {
        for text in texts {
            self.say(&paint(style, &format!("note    {}", words::line(&text, words::WHOLE))));
        }
    }

    pub(super) fn setup(&mut self, setup: &SetupResult) {
        let sign = if setup.passed() { paint(BOLD, "✓") } else { paint(BAD, "✗") };
        let took = words::duration(Duration::from_millis(setup.duration_ms));
        let before = paint(DIM, "setup  ");
        self.say(&format!("{before} {} {sign} {} ({took})", setup.command, setup.ending()));
        self.doing.clear();
    }

    pub(super) fn check(&mut self, check: &CheckResult) {
        if !check.changed_files.is_empty() {
            let files = check.changed_files.join(", ");
            let text =
                format!("`{}` changed files, not committed: {}", check.command, words::line(&files, 120));
            self.say(&paint(WARN, &format!("note    {text}")));
        }
        self.doing.clear();
    }

    pub(super) fn written(&mut self, record: &WritingRecord) {
        self.doing.clear();
        if let WritingEnd::Failed { fault } = &record.end {
            let what = words::writing(record.what);
            let note = format!("note    no {what} from {}: {}", record.by, faults::told(fault));
            self.say(&paint(WARN, &words::line(&note, words::WHOLE)));
        }
    }

    pub(super) fn waiting(&mut self, until: Timestamp, cause: &WaitCause) {
        let until = match cause {
            WaitCause::Limit(_) | WaitCause::Backoff { .. } => {
                format!(" until {}", crate::output::log::clock(until))
            }
            WaitCause::Probe(_) => String::new(),
        };
        let text = format!("waiting{until} ({})", words::line(&ends::wait(cause), 100));
        self.say(&paint(WARN, &text));
        self.doing = text;
    }

    pub(super) fn finished(&mut self, result: &TaskResult) {
        let text = crate::output::report::result(&self.view, result);
        // What is shown of a scratch repository cannot be gone on with: `demo` itself says what can.
        let is_demo = std::env::var_os(DEMO_VARIABLE).is_some();
        let kept = text.lines().filter(|line| !is_demo || !line.starts_with("  next:"));
        self.say(&format!("\n{}", kept.collect::<Vec<_>>().join("\n")));
    }

    pub(super) fn iteration(&mut self, record: &IterationRecord) {
        let sign = words::iteration_sign(record);
        let commit = words::commit(record);
        let took = words::duration(Duration::from_millis(record.duration_ms));
        let files = words::count(u64::from(record.changed_total), "file");
        self.say(&format!(
            "{sign} {}  {commit}  {}  {files} {took}",
            record.iteration + 1,
            words::line(&record.summary, 60)
        ));
        let mut verdicts = Vec::new();
        if self.view.looping && !record.checks.is_empty() {
            let said = match record.blocked {
                Some(_) => "blocked",
                None if record.promise || !self.promise_asked => "done",
                None => "not done",
            };
            if record.success {
                verdicts.push(format!("{}: {said}.", self.agent));
            }
            let no = || paint(BAD, "no");
            let word = |passed| if passed { paint(BOLD, "yes") } else { no() };
            let (proof, here): (Vec<_>, Vec<_>) = record.checks.iter().partition(|check| is_proof(check));
            let late = |check: &CheckBrief| if check.timed_out() { " (timed out)" } else { "" };
            verdicts.extend(
                here.iter().map(|check| format!("{}: {}{}.", check.command, word(check.passed), late(check))),
            );
            if !proof.is_empty() {
                let proven = proof.iter().all(|check| check.passed);
                verdicts.push(format!("proof: {}.", if proven { paint(GOOD, "yes") } else { no() }));
            }
        }
        if let Some(error) = faults::all(&record.faults) {
            verdicts.push(paint(BAD, &words::line(&error, words::WHOLE)));
        }
        if !verdicts.is_empty() {
            self.say(&format!("     {}", verdicts.join(" ")));
        }
    }

    /// A check before the first iteration.
    pub(super) fn before(&mut self, check: &CheckResult) {
        let sign = words::check_sign(check);
        let last = words::quoted(&check.telling_line()).map_or_else(String::new, |line| format!("  {line}"));
        self.promise_asked |= check.passed();
        let proof = if check.passed() { "; already green: the promise is needed too" } else { "" };
        let before = paint(DIM, "before ");
        self.say(&format!("{before} {} {sign} {}{last}{proof}", check.command, check.ending()));
    }

    /// The agent makes a model call again: what it is doing now. In a pipe each reason is said once in a row.
    pub(super) fn retries(&mut self, message: &str, status: Option<u16>) {
        let doing = words::retrying(message, status);
        if !self.live && self.doing != doing {
            self.say_of_agent(&paint(DIM, &format!("  ▸ {doing}")));
        }
        self.doing = doing;
    }

    pub(super) fn was_refused(&mut self, what: &str) {
        self.refusals = self.refusals.saturating_add(1);
        if self.refusals <= MOST_REFUSALS {
            self.say(&paint(WARN, &format!("  not allowed: {}", words::line(what, 120))));
        }
    }

    /// Remembers the end of what the agent says: the live line has no room for more, and there may be gigabytes.
    pub(super) fn agent_says(&mut self, text: &str) {
        self.saying.push_str(tail(text, LAST_WORDS));
        let cut = self.saying.len() - tail(&self.saying, LAST_WORDS).len();
        self.saying.drain(..cut);
        if let Some(last) = self.saying.trim_end().lines().next_back() {
            self.doing = words::line(last, 200);
        }
    }
}

fn is_proof(check: &CheckBrief) -> bool {
    check.phase == CheckPhase::Proof
}
