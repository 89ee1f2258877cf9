//! What people want of a milestone: kill, pause, tell, set, and their answers to what it asks (M10).

use std::sync::Arc;

use super::judge::MOST_ALIKE;
use super::{Last, Milestone, Phase, Question, Reason};
use crate::event::{Choice, Command, NeedKind, Needs, Received, StopDetail, StopReason};
use crate::spec::{Amount, Cap, Change};

/// How many more rounds are offered where all are used.
const MORE_ROUNDS: u32 = 10;

impl Milestone {
    pub(super) fn command_received(&mut self, received: &Received) {
        let by = &received.by;
        match &received.command {
            Command::Kill => self.stop_requested(StopDetail::by(by), StopReason::Cancelled),
            Command::Abandon => self.stop_requested(StopDetail::by(by), StopReason::Abandoned),
            Command::Pause { now: true } => self.stop_requested(StopDetail::by(by), StopReason::NeedsPerson),
            Command::Pause { now: false } => {
                self.life.pausing = Some(by.clone());
                self.pause_if_idle();
            }
            // Whoever is at work remembers it: the two have a conversation that goes on.
            Command::Tell { text, .. } => self.tell(text),
            Command::Untell => {
                self.developer.told.clear();
                self.acceptor.told.clear();
            }
            Command::Set { key, value } => self.set(key, value),
            Command::Refreeze { definition } => self.refreeze_wanted(definition),
            Command::Remember { memory } => {
                let memory = Some(memory.clone()).filter(|memory| !memory.is_empty());
                Arc::make_mut(&mut self.details).memory = memory;
            }
            Command::Approve { choice } => self.approved(*choice),
            Command::Reject { reason } => self.rejected_by_person(reason.as_deref()),
        }
    }

    pub(super) fn tell(&mut self, text: &str) {
        self.developer.told.push(text.to_owned());
        self.acceptor.told.push(text.to_owned());
    }

    /// A pause takes hold between two rounds, before anything was begun (it may stand in a row), and where a round only waits
    /// for a limit.
    fn pause_if_idle(&mut self) {
        let waits = match self.phase {
            Phase::Preparing => !self.life.workspace.ready,
            Phase::Waits { .. } => true,
            _ => false,
        };
        if waits && self.life.verdict.is_none() {
            if let Some(by) = self.life.pausing.take() {
                self.pause(Question::GoOn { by: Some(by) });
            }
        } else {
            self.settle_between();
        }
    }

    /// Whoever sent it has read it before; what cannot be read changes nothing.
    fn set(&mut self, key: &str, value: &str) {
        let Ok(change) = super::change::parse(key, value) else { return };
        if let Change::Rejections(amount) = change {
            self.max_rejections = match amount {
                Amount::To(most) => most,
                Amount::More(more) => self.max_rejections.saturating_add(more),
            };
        }
        let mut cap = Some(Cap::by_iter(self.max_rounds));
        change.apply(&mut self.life.policy, &mut cap);
        // A lower limit does not undo what was begun.
        self.max_rounds = cap.map_or(self.max_rounds, |cap| cap.iterations).max(self.rounds).max(1);
        self.ask_again();
    }

    /// Another limit may be the answer to what was asked.
    fn ask_again(&mut self) {
        let by_limit = matches!(self.question, Some(Question::Rounds | Question::Rejections));
        if by_limit && self.life.is_paused() && self.life.result.is_none() {
            self.life.verdict = None;
        }
        self.settle_between();
    }

    /// Yes: to the whole milestone in review, to a finding by its number, or to the newest round against the Acceptor's
    /// verdict. Without a question of ours it is the answer to somebody else's.
    fn approved(&mut self, choice: Option<usize>) {
        let Some(question) = self.asked() else { return };
        if let Some(finding) = choice {
            if let Ok(id) = u32::try_from(finding) {
                self.findings.settle(id);
            }
            return;
        }
        match question {
            Question::Review => self.complete(),
            Question::Rejections
            | Question::Settled
            | Question::Final
            | Question::Rounds
            | Question::Proof => self.overrule(),
            // The round at work is about what was rejected last: it goes on.
            Question::GoOn { .. } | Question::Main if self.round.is_some() => {}
            Question::GoOn { .. } | Question::Main => self.overrule(),
        }
    }

    /// What a person was asked and may answer now: at the pause, whoever wrote the answer down, or after it.
    fn asked(&self) -> Option<&Question> {
        let stopped = self.life.verdict.is_some() && !self.life.is_paused();
        self.question.as_ref().filter(|_| !stopped)
    }

    /// The newest round is accepted after all, if there was something in it to accept.
    fn overrule(&mut self) {
        let Some(Last { work: Some(work), accepted: false, .. }) = &self.last else { return };
        let is_final = super::Work::is_final(Some(work));
        let beside = self.findings.beside(super::Work::about(Some(work)));
        self.findings.accepted(&beside);
        self.accept_last();
        // What the Acceptor committed is not what a person accepted.
        self.unjudged = self.last.as_mut().and_then(|last| last.left_at.take());
        if is_final {
            self.complete();
        }
    }

    /// No: to the whole milestone in review. To anything else it is what the Acceptor said already, and its words are
    /// guidance.
    fn rejected_by_person(&mut self, reason: Option<&str>) {
        let Some(question) = self.asked() else { return };
        if *question != Question::Review {
            if let Some(reason) = reason {
                self.tell(reason);
            }
            return;
        }
        let words = match reason {
            Some(reason) => format!("a person rejected the milestone: {reason}"),
            None => "a person rejected the milestone".to_owned(),
        };
        self.question = None;
        self.life.verdict = None;
        // Else it would accept the same again.
        self.acceptor.notes.push(format!("You accepted the milestone; {words}"));
        if let Some(last) = self.last.as_mut() {
            self.accepted = self.accepted.saturating_sub(u32::from(last.accepted));
            last.accepted = false;
            last.reason = words;
        }
        self.settle_between();
    }

    /// What a paused milestone asks a person for.
    pub(super) fn needs(&self) -> Option<Needs> {
        let question = self.question.as_ref().filter(|_| self.life.is_paused())?;
        let why = self.last.as_ref().map(|last| Reason::of_rejection(&last.reason)).unwrap_or_default();
        let reason = why.lines().next().unwrap_or_default().to_owned();
        let go_on = vec![Choice::Resume, Choice::Approve, Choice::Abandon];
        let tell = vec![Choice::Tell, Choice::Resume, Choice::Approve, Choice::Abandon];
        let (kind, mut choices) = match question {
            Question::GoOn { by } => (NeedKind::Resume { by: by.clone() }, go_on),
            Question::Rejections => (NeedKind::Rejections { times: self.rejections, reason }, tell),
            Question::Settled => (NeedKind::Settled { reason }, tell),
            Question::Final => (NeedKind::Final { times: MOST_ALIKE, reason }, tell),
            Question::Rounds => {
                let rejected = self.last.as_ref().is_some_and(|last| !last.accepted);
                let kind = NeedKind::Rounds { used: self.rounds, reason: rejected.then_some(reason) };
                // Without more rounds it would only ask again.
                let more = Choice::ResumeWithRounds { rounds: self.max_rounds.saturating_add(MORE_ROUNDS) };
                let add = Choice::AddRounds { rounds: MORE_ROUNDS };
                (kind, vec![more, add, Choice::Approve, Choice::Abandon])
            }
            Question::Main => (NeedKind::Main { found: self.main_found.clone() }, go_on),
            Question::Proof => {
                let kind = NeedKind::Proof { failure: self.red_proof.clone() };
                let unproven = Choice::ResumeUnproven;
                (kind, vec![Choice::Tell, Choice::Resume, unproven, Choice::Approve, Choice::Abandon])
            }
            Question::Review => {
                let kind = NeedKind::Review { found: self.main_found.clone() };
                (kind, vec![Choice::Approve, Choice::Reject, Choice::Abandon])
            }
        };
        // What nobody could accept is not offered.
        let rejected = matches!(self.last, Some(Last { work: Some(_), accepted: false, .. }));
        let acceptable = self.in_review() || rejected && self.round.is_none();
        choices.retain(|choice| acceptable || *choice != Choice::Approve);
        Some(Needs { kind, choices })
    }
}
