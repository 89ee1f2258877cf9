//! What each event does to what is shown.

use jiff::Timestamp;

use super::{MergedInto, Status, TaskView, TurnSeen};
use crate::engine::{Counts, KindView};
use crate::event::{
    Command, Envelope, Event, IterationRecord, Notice, Outcome, StopDetail, TaskResult, Usage, WaitCause,
};
use crate::spec::{Amount, Change};
use crate::store::Fault;

impl TaskView {
    /// Takes in what happened.
    pub fn apply(&mut self, line: &Envelope) {
        self.elapsed_seconds = line.elapsed_ms as f64 / 1000.0;
        match &line.event {
            Event::TaskCreated { .. } | Event::StopRequested { .. } | Event::MergeIntent { .. } => {}
            Event::CommandReceived(received) => self.commanded(&received.command),
            Event::Queued => {
                self.status = Status::Queued;
                self.queued_at = Some(line.at);
            }
            Event::Dequeued => self.status = Status::Running,
            Event::TaskStarted { pid, .. } => self.driven_by(*pid),
            Event::Resumed { pid, more_iterations, proof, .. } => {
                self.driven_by(*pid);
                if let Some(proof) = proof {
                    self.proof_policy.clone_from(proof);
                }
                if let Some(more) = more_iterations {
                    let begun = self.iteration + u32::from(self.running_iteration.is_some());
                    self.max_iterations = Some(begun.saturating_add(*more));
                }
            }
            Event::WorkspaceReady { branch, base_commit, port_base, start_sha256, .. } => {
                self.untracked.workspace_made();
                self.port_base = *port_base;
                self.start_sha256.clone_from(start_sha256);
                self.branch.clone_from(branch);
                self.base_commit.clone_from(base_commit);
            }
            Event::PortsLeased { port_base } => self.port_base = Some(*port_base),
            Event::FilesIncluded { uncommitted, .. } => self.uncommitted.extend_from_slice(uncommitted),
            Event::UntrackedFound(found) => self.untracked.found(found),
            Event::UntrackedTouched(touched) => self.untracked.touched(touched),
            Event::SetupFinished(result) => {
                self.uncommitted.extend_from_slice(&result.changed_files);
                self.setup.push(result.clone());
            }
            Event::CheckFinished(result) => {
                self.uncommitted.extend_from_slice(&result.changed_files);
                self.checks.push(result.clone());
                // The seal covers the journal up to the end: a receipt behind it is nobody's.
                if result.phase.is_of_proof() && self.result.is_none() {
                    self.proofs.push(result.clone());
                }
            }
            // Receipts are those of the commit with its own tests; a run with others comes on top.
            Event::ProofStarted { originals: true, .. } => {}
            Event::ProofStarted { originals: false, .. } => self.proofs.clear(),
            // What came of it is in the result.
            Event::ProofUnavailable { .. } | Event::ProofFailed { .. } => {}
            Event::IterationStarted { iteration, .. } => self.running_iteration = Some(*iteration),
            Event::TurnStarted { turn, iteration, agent, .. } => {
                self.guidance_heard = self.guidance.len();
                self.agent.clone_from(agent);
                let (turn, iteration, agent) = (*turn, *iteration, agent.clone());
                self.turns.push(TurnSeen { turn, iteration, agent, over: false });
            }
            Event::AgentChanged { agent, .. } => self.agent.clone_from(agent),
            Event::TurnFinished(record) => {
                self.turns
                    .iter_mut()
                    .filter(|seen| seen.turn == record.turn)
                    .for_each(|seen| seen.over = true);
                self.has_used(&record.usage);
            }
            Event::Written(record) => self.has_used(&record.usage),
            Event::CommitIntent(planned) | Event::NoCommit(planned) => {
                for left in &planned.left_out {
                    if !self.uncommitted.contains(&left.path) {
                        self.uncommitted.push(left.path.clone());
                    }
                }
            }
            Event::Committed { commit, .. } => self.last_commit = Some(commit.clone()),
            // What is in them is for its own part.
            Event::Own(_) | Event::RoomTested(_) => {}
            Event::IterationFinished(record) => self.iteration_finished(record),
            Event::Waiting { until, cause: WaitCause::Limit(_) } => {
                self.status = Status::Waiting;
                self.waiting_until = Some(*until);
            }
            Event::Waiting { cause: WaitCause::Probe(_), .. } => self.status = Status::Waiting,
            Event::Waiting { cause: WaitCause::Backoff { .. }, .. } | Event::LimitKnown(_) => {}
            Event::WaitOver => {
                self.status = Status::Running;
                self.waiting_until = None;
            }
            Event::Asked { needs } => self.needs = Some(needs.clone()),
            Event::Answered => self.needs = None,
            Event::Paused { needs } => {
                self.status = Status::Paused;
                self.needs = Some(needs.clone());
            }
            Event::RecordAltered { message } => {
                self.notices.push(Notice::Said { message: message.clone() });
                self.record.add(Fault::Altered { message: message.clone() });
            }
            Event::WorkspaceFailed { problems } => {
                self.notices.push(Notice::NoWorkspace { problems: problems.clone() });
            }
            Event::Notice(notice) => {
                self.held_out_readable |= *notice == Notice::HeldOutReadable;
                self.notices.push(notice.clone());
            }
            Event::TaskFinished(result) => self.finished(result, line.at),
            Event::PullRequest { url, branch, .. } => {
                self.pull_request = Some(url.clone());
                self.offered_as = Some(branch.clone());
            }
            Event::Notified { how, error: Some(error) } => {
                let (how, error) = (how.clone(), error.clone());
                self.notices.push(Notice::NotNotified { how, error });
            }
            Event::Notified { error: None, .. } => {}
            Event::MergeUndone { .. } => self.merged = None,
            Event::Renamed { branch, .. } => {
                // One that has no workspace yet gets it on the new branch.
                if let (Some(old), Some(new)) = (&mut self.branch, branch) {
                    old.clone_from(new);
                }
            }
            Event::TakenOver { uncommitted } => self.left_by_hand = *uncommitted,
            Event::Merged { into, commit, squash, .. } => {
                let (into, commit) = (into.clone(), commit.clone());
                self.merged = Some(MergedInto { into, commit, squash: *squash, at: line.at });
            }
        }
        self.last_at = Some(line.at);
        self.at_work_on(&line.event);
        self.own_is(line);
    }

    /// What its kind makes of it.
    fn own_is(&mut self, line: &Envelope) {
        let Some(own) = self.own.get_mut() else { return };
        own.apply(line);
        if let Some(Counts { most, succeeded, failed, commits }) = own.counts() {
            self.max_iterations = Some(most);
            self.iterations_succeeded = succeeded;
            self.iterations_failed = failed;
            self.commits = commits;
        }
    }

    fn commanded(&mut self, command: &Command) {
        if let Command::Tell { text, standing: true } = command
            && !self.own().is_some_and(KindView::remembers_guidance)
        {
            self.guidance.push(text.clone());
        }
        if *command == Command::Untell {
            self.guidance.clear();
            self.guidance_heard = 0;
        }
        if let Command::Set { key, value } = command
            && let Ok(change) = Change::parse(key, value)
        {
            let mut cap = self.policy.cap;
            change.apply(&mut self.policy, &mut cap);
        }
        if let Command::Set { key, value } = command
            && let Ok(Change::Iterations(amount)) = self.kinds.change(&self.kind, key, value)
        {
            let begun = self.iteration + u32::from(self.running_iteration.is_some());
            let most = match amount {
                Amount::To(most) => most,
                Amount::More(more) => self.max_iterations.unwrap_or(0).saturating_add(more),
            };
            self.max_iterations = Some(most.max(begun).max(1));
        }
    }

    fn has_used(&mut self, usage: &Usage) {
        self.used = self.used.plus(usage);
        self.tokens = self.used.in_and_out();
        self.cost_usd = self.used.cost_usd;
    }

    fn driven_by(&mut self, pid: u32) {
        self.pid = Some(pid);
        self.status = Status::Running;
        self.outcome = None;
        // What it does from now on is nowhere yet.
        self.merged = None;
        self.result = None;
        self.finished_at = None;
        self.needs = None;
        self.error = None;
        self.stderr_tail = None;
        // Part of its next commit.
        self.left_by_hand = 0;
        self.waiting_until = None;
        self.verified = false;
        // What another process has proven is no receipt: who killed it may have written it.
        self.proofs.clear();
        self.started = true;
    }

    fn iteration_finished(&mut self, record: &IterationRecord) {
        self.iteration = record.iteration + 1;
        self.running_iteration = None;
        if record.success {
            self.iterations_succeeded += 1;
        } else {
            self.iterations_failed += 1;
        }
        if !self.own().is_some_and(KindView::explains_failures) {
            self.error = StopDetail::faults(&record.faults);
            self.stderr_tail.clone_from(&record.stderr_tail);
        }
        if let Some(commit) = &record.commit_id {
            self.last_commit = Some(commit.clone());
            self.commits += 1;
        }
        self.iterations.push(record.clone());
    }

    fn finished(&mut self, result: &TaskResult, at: Timestamp) {
        self.status = Status::of(result.outcome);
        self.outcome = Some(result.outcome);
        self.verified = result.verified && self.record.is_whole();
        self.last_commit.clone_from(&result.last_commit);
        self.finished_at = Some(at);
        self.waiting_until = None;
        self.pid = None;
        self.running_iteration = None;
        if result.outcome != Outcome::Paused {
            self.needs = None;
        }
        match result.outcome {
            Outcome::Failed => self.error.clone_from(&result.detail),
            Outcome::Completed => self.error = None,
            Outcome::MaxReached
            | Outcome::TimeElapsed
            | Outcome::BudgetExhausted
            | Outcome::Stalled
            | Outcome::Paused
            | Outcome::Cancelled => {}
        }
        self.stderr_tail.clone_from(&result.stderr_tail);
        if result.outcome == Outcome::Completed {
            // What no turn was given is for when the task is resumed.
            self.guidance.drain(..self.guidance_heard.min(self.guidance.len()));
            self.guidance_heard = 0;
        }
        self.result = Some(result.clone());
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::engine::Kinds;
    use crate::event::{CheckPhase, Envelope, Event, ProofState};
    use crate::spec::TaskSpec;
    use crate::store::read;
    use crate::view::TaskView;

    /// The seal ends with the task: whatever somebody appends behind it is no receipt.
    #[test]
    fn r4_a_receipt_behind_the_end_proves_nothing() {
        let real = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/formats/v3"));
        let spec = TaskSpec::read(&std::fs::read(real.join("spec.json")).unwrap()).unwrap();
        let mut view = TaskView::new(&spec, Kinds::default());
        let mut receipt = None;
        read(&real.join("journal.jsonl"), |mut line| {
            // The journal is of a task without a proof: its last check becomes one.
            match &mut line.event {
                Event::CheckFinished(result) => {
                    result.phase = CheckPhase::Proof;
                    receipt = Some(line.clone());
                }
                Event::TaskFinished(result) => {
                    let commit_id = result.last_commit.clone().unwrap();
                    result.proof_state = Some(ProofState::Proven { commit_id, cache: None, exposed: None });
                }
                _ => {}
            }
            view.apply(&line);
        })
        .unwrap();
        let commit = view.last_commit.clone().unwrap();
        let mut forged: Envelope = receipt.unwrap();
        let Event::CheckFinished(result) = &mut forged.event else { unreachable!() };
        assert!(view.proves(&result.command, &commit));
        result.command = "make release".into();
        view.apply(&forged);
        assert!(!view.proves("make release", &commit));
    }
}
