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
use crate::output::{ends, faults, report};

impl Human {
    /// Says more that is good to know, a line each.
    pub(super) fn notes(&mut self, style: anstyle::Style, texts: impl IntoIterator<Item = String>) {
        for text in texts {
            let text = words::line(&text, words::WHOLE);
            self.say(&paint(style, &format!("{}{text}", self.messages.label_note())));
        }
    }

    pub(super) fn setup(&mut self, setup: &SetupResult) {
        let sign = if setup.passed() { paint(BOLD, "✓") } else { paint(BAD, "✗") };
        let took = words::duration(Duration::from_millis(setup.duration_ms));
        let text =
            format!("{} {sign} {} ({took})", setup.command, words::exit(&setup.ended(), self.messages));
        self.item(&self.messages.label_setup(), &text);
        self.doing.clear();
    }

    pub(super) fn check(&mut self, check: &CheckResult) {
        if !check.changed_files.is_empty() {
            let files = check.changed_files.join(", ");
            let text = self.messages.live_check_changed_files(&check.command, &words::line(&files, 120));
            self.notes(WARN, [text]);
        }
        self.doing.clear();
    }

    pub(super) fn written(&mut self, record: &WritingRecord) {
        self.doing.clear();
        if let WritingEnd::Failed { fault } = &record.end {
            let what = words::writing(record.what, self.messages);
            let note = self.messages.live_not_written(&what, &record.by, &faults::told(fault, self.messages));
            self.notes(WARN, [note]);
        }
    }

    pub(super) fn waiting(&mut self, until: Timestamp, cause: &WaitCause) {
        let why = words::line(&ends::wait(cause, self.messages), 100);
        let text = match cause {
            WaitCause::Limit(_) | WaitCause::Backoff { .. } => {
                self.messages.live_waiting_until(&crate::output::log::moment(until), &why)
            }
            WaitCause::Probe(_) => self.messages.live_waiting(&why),
        };
        self.say(&paint(WARN, &text));
        self.doing = text;
    }

    pub(super) fn finished(&mut self, result: &TaskResult) {
        // What is shown of a scratch repository cannot be gone on with: `demo` itself says what can.
        let text = if std::env::var_os(DEMO_VARIABLE).is_some() {
            report::facts(&self.view, result, self.messages)
        } else {
            report::result(&self.view, result, self.messages)
        };
        self.say(&format!("\n{}", text.trim_end()));
    }

    pub(super) fn iteration(&mut self, record: &IterationRecord) {
        let sign = words::iteration_sign(record);
        let commit = words::commit(record, self.messages);
        let took = words::duration(Duration::from_millis(record.duration_ms));
        let files = self.messages.files(u64::from(record.changed_total));
        self.say(&format!(
            "{sign} {}  {commit}  {}  {files} {took}",
            record.iteration + 1,
            words::line(&record.summary, 60)
        ));
        let mut parts = Vec::new();
        if self.view.looping && !record.checks.is_empty() {
            parts.extend(self.claim(record));
            parts.extend(self.evidence(&record.checks));
        }
        if let Some(error) = faults::all(&record.faults, self.messages) {
            parts.push(paint(BAD, &words::line(&error, words::WHOLE)));
        }
        if let Some(line) = parts.into_iter().reduce(|line, part| self.messages.clauses(&line, &part)) {
            self.say(&format!("     {line}"));
        }
    }

    /// What the agent says of its work; nothing where nobody asked it.
    fn claim(&self, record: &IterationRecord) -> Option<String> {
        if !record.success {
            return None;
        }
        match &record.blocked {
            Some(_) => Some(self.messages.said_blocked(&self.agent)),
            None if record.promise => Some(self.messages.said_done(&self.agent)),
            None if self.promise.is_needed() => Some(self.messages.said_nothing(&self.agent)),
            None => None,
        }
    }

    /// What the checks say of it.
    fn evidence(&mut self, checks: &[CheckBrief]) -> Vec<String> {
        let messages = self.messages;
        let (proof, here): (Vec<_>, Vec<_>) = checks.iter().partition(|check| is_proof(check));
        let mut parts = Vec::new();
        for check in here {
            let command = &check.command;
            if check.passed {
                self.failing.remove(command);
                parts.push(messages.check_passes(command));
                continue;
            }
            let failed_before = !self.failing.insert(command.clone());
            let text = match failed_before {
                _ if check.ending.timed_out => messages.check_timed_out(command),
                true => messages.check_still_fails(command),
                false => messages.check_fails(command),
            };
            parts.push(paint(BAD, &text));
        }
        if !proof.is_empty() {
            let failed: Vec<CheckPhase> =
                proof.iter().filter(|check| !check.passed).map(|check| check.phase).collect();
            let all_of = |phase| failed.iter().all(|failed| *failed == phase);
            let (style, text) = match failed[..] {
                [] => (GOOD, messages.proof_passes()),
                _ if all_of(CheckPhase::Originals) => (BAD, messages.proof_fails_with_originals()),
                _ if all_of(CheckPhase::HeldOut) => (BAD, messages.proof_fails_held_out()),
                _ => (BAD, messages.proof_fails()),
            };
            parts.push(paint(style, &text));
        }
        parts
    }

    /// A check before the first iteration.
    pub(super) fn before(&mut self, check: &CheckResult) {
        let sign = words::check_sign(check);
        let last = words::quoted(&check.telling_line()).map_or_else(String::new, |line| format!("  {line}"));
        if !check.passed() {
            self.failing.insert(check.command.clone());
        }
        let text = format!("{} {sign} {}{last}", check.command, words::exit(&check.ended(), self.messages));
        self.item(&self.messages.label_before(), &text);
    }

    /// Green checks alone do not end it.
    pub(super) fn promise_needed(&mut self) {
        self.notes(DIM, [self.messages.live_promise_needed(&self.agent)]);
    }

    /// The agent makes a model call again: what it is doing now. In a pipe each reason is said once in a row.
    pub(super) fn retries(&mut self, message: &str, status: Option<u16>) {
        let doing = words::retrying(message, status, self.messages);
        if !self.live && self.doing != doing {
            self.say_of_agent(&paint(DIM, &format!("  ▸ {doing}")));
        }
        self.doing = doing;
    }

    pub(super) fn was_refused(&mut self, what: &str) {
        self.refusals = self.refusals.saturating_add(1);
        if self.refusals <= MOST_REFUSALS {
            let text = self.messages.live_not_allowed(&words::line(what, 120));
            self.say(&paint(WARN, &format!("  {text}")));
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
    check.phase.is_of_proof()
}
