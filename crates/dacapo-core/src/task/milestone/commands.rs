//! What people want of a milestone: kill, pause, tell, set, and their answers to what it asks (M10).

use super::judge::MOST_ALIKE;
use super::{Last, Milestone, Phase, Question};
use crate::event::{Command, Needs, Received, StopReason};
use crate::spec::{Amount, Cap, Change};

impl Milestone {
    pub(super) fn command_received(&mut self, received: &Received) {
        let by = &received.by;
        match &received.command {
            Command::Kill => self.stop_requested(by, StopReason::Cancelled),
            Command::Abandon => self.stop_requested(by, StopReason::Abandoned),
            Command::Pause { now: true } => self.stop_requested(by, StopReason::NeedsPerson),
            Command::Pause { now: false } => {
                self.pausing = Some(by.clone());
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
            Command::Approve { choice } => self.approved(*choice),
            Command::Reject { reason } => self.rejected_by_person(reason.as_deref()),
        }
    }

    /// Both sides hear it.
    pub(super) fn tell(&mut self, text: &str) {
        self.developer.told.push(text.to_owned());
        self.acceptor.told.push(text.to_owned());
    }

    /// A pause takes hold between two rounds, before anything was begun (it may stand in a row), and where a round only waits
    /// for a limit.
    fn pause_if_idle(&mut self) {
        let waits = matches!(
            self.phase,
            Phase::Fresh | Phase::Waiting { .. } | Phase::Probed { .. } | Phase::LimitHit { .. }
        );
        if waits && self.verdict.is_none() {
            if let Some(by) = self.pausing.take() {
                self.pause(Question::GoOn { by });
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
        change.apply(&mut self.policy, &mut cap);
        // A lower limit does not undo what was begun.
        self.max_rounds = cap.map_or(self.max_rounds, |cap| cap.iterations).max(self.rounds).max(1);
        self.ask_again();
    }

    /// Another limit may be the answer to what was asked.
    fn ask_again(&mut self) {
        let by_limit = matches!(self.question, Some(Question::Rounds | Question::Rejections));
        if by_limit && self.is_paused() && self.result.is_none() {
            self.verdict = None;
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
        let stopped = self.verdict.is_some() && !self.is_paused();
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
        self.verdict = None;
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
        let question = self.question.as_ref().filter(|_| self.is_paused())?;
        let name = &self.spec.name;
        let resume = format!("dacapo resume {name}");
        let tell = format!("dacapo tell {name} \"…\"");
        let approve = format!("dacapo approve {name}");
        let abandon = format!("dacapo milestone abandon {name}");
        let reason = self.last.as_ref().and_then(|last| last.reason.lines().next()).unwrap_or_default();
        let (kind, question, options) = match question {
            Question::GoOn { by } => ("resume", format!("paused by {by}"), vec![resume, approve, abandon]),
            Question::Rejections => (
                "rejections",
                format!("rejected {}×: {reason}", self.rejections),
                vec![tell, resume, approve, abandon],
            ),
            Question::Settled => (
                "settled",
                format!("the Acceptor insists on what is settled: {reason}"),
                vec![tell, resume, approve, abandon],
            ),
            Question::Final => (
                "final",
                format!("the whole milestone was rejected {MOST_ALIKE}× without a new commit: {reason}"),
                vec![tell, resume, approve, abandon],
            ),
            Question::Rounds => (
                "rounds",
                match &self.last {
                    Some(Last { accepted: false, .. }) => {
                        format!("all {} rounds are used: {reason}", self.rounds)
                    }
                    Some(_) | None => format!("all {} rounds are used", self.rounds),
                },
                // Without more rounds it would only ask again.
                vec![
                    format!("dacapo milestone resume {name} --rounds {}", self.max_rounds.saturating_add(10)),
                    format!("dacapo set {name} rounds=+10"),
                    approve,
                    abandon,
                ],
            ),
            Question::Main => {
                ("main", self.main_found.clone().unwrap_or_default(), vec![resume, approve, abandon])
            }
            Question::Proof => (
                "proof",
                self.proof_question.clone().unwrap_or_default(),
                vec![tell, resume.clone(), format!("{resume} --proof workspace"), approve, abandon],
            ),
            Question::Review => (
                "review",
                match &self.main_found {
                    Some(found) => format!("all features are accepted; have a look. And {found}"),
                    None => "all features are accepted; have a look".to_owned(),
                },
                vec![approve, format!("dacapo reject {name}"), abandon],
            ),
        };
        // What nobody could accept is not offered.
        let rejected = matches!(self.last, Some(Last { work: Some(_), accepted: false, .. }));
        let acceptable = self.in_review() || rejected && self.round.is_none();
        let offered =
            options.into_iter().filter(|option| acceptable || !option.starts_with("dacapo approve"));
        Some(Needs { kind: kind.into(), question, options: offered.collect() })
    }
}
