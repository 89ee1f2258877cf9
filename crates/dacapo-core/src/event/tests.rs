//! What is said as a value reads as it was written, whatever is in it.

use proptest::prelude::*;

use super::*;
use crate::spec::Approval;

fn oid(number: u32) -> Oid {
    Oid::parse(&format!("{number:040x}")).unwrap()
}

/// What the values are made of.
#[derive(Debug, Clone)]
struct Made {
    text: String,
    number: u32,
    flag: bool,
}

impl Made {
    fn text(&self) -> String {
        self.text.clone()
    }

    fn maybe(&self) -> Option<String> {
        self.flag.then(|| self.text())
    }

    fn main(&self) -> MainBranch {
        MainBranch {
            branch: self.maybe(),
            since_round: self.number,
            was: self.flag.then(|| oid(self.number)),
            now: Some(oid(self.number)),
            lost: self.flag,
            commits: self.maybe().into_iter().collect(),
        }
    }

    fn limit(&self) -> LimitSaid {
        LimitSaid { message: self.text(), found_by: self.maybe(), probing: self.flag }
    }

    fn exit(&self) -> Exit {
        Exit { exit_code: self.flag.then_some(127), timed_out: !self.flag }
    }

    fn needs(&self) -> Vec<NeedKind> {
        let failure = ProofFailure {
            commit_id: oid(self.number),
            checks: Vec::new(),
            hidden: vec![Hidden { path: self.text(), why: HiddenWhy::Ignored }],
            hidden_total: u64::from(self.number),
            cure: self.maybe(),
        };
        let found = self.flag.then(|| self.main());
        vec![
            NeedKind::Resume { by: self.maybe() },
            NeedKind::Blocked { question: self.text() },
            NeedKind::Permission { question: self.text() },
            NeedKind::Proof { failure: self.flag.then_some(failure) },
            NeedKind::Rejections { times: self.number, reason: self.text() },
            NeedKind::Settled { reason: self.text() },
            NeedKind::Final { times: self.number, reason: self.text() },
            NeedKind::Rounds { used: self.number, reason: self.maybe() },
            NeedKind::Main { found: found.clone() },
            NeedKind::Review { found },
        ]
    }

    fn choices(&self) -> Vec<Choice> {
        let rounds = self.number;
        vec![
            Choice::Resume,
            Choice::Answer,
            Choice::ResumeUnproven,
            Choice::ResumeWithRounds { rounds },
            Choice::AddRounds { rounds },
            Choice::Tell,
            Choice::Approve,
            Choice::Reject,
            Choice::Kill,
            Choice::Abandon,
            Choice::Offered { name: self.text() },
        ]
    }

    fn details(&self) -> Vec<StopDetail> {
        let (agent, command) = (self.text(), self.text());
        vec![
            StopDetail::By { by: self.text() },
            StopDetail::LimitTooLong { limit: self.limit() },
            StopDetail::TimeUsed,
            StopDetail::BudgetUsed,
            StopDetail::UsageUnknown { agent, amount: Metered::Cost, turns: self.number },
            StopDetail::Setup { command: command.clone(), exit: self.exit(), tail: self.text() },
            StopDetail::Check { command, exit: self.exit(), line: self.text() },
            StopDetail::NoSession,
            StopDetail::Main(self.main()),
            StopDetail::Said { message: self.text() },
        ]
    }

    fn left(&self) -> LeftFile {
        let why = match self.number % 5 {
            0 => LeftWhy::Secret,
            2 => LeftWhy::HoldsSecret { variable: self.text() },
            3 => LeftWhy::NameHoldsSecret { variable: self.text() },
            1 => LeftWhy::TooBig { bytes: u64::from(self.number) },
            _ => LeftWhy::NotStageable { message: self.text() },
        };
        LeftFile { path: self.text(), why }
    }

    fn notices(&self) -> Vec<Notice> {
        let (agent, error, path) = (self.text(), self.text(), self.text());
        let (pid, count) = (self.number, u64::from(self.number));
        let (first, more) = (self.text(), count);
        let workspace = [
            WorkspaceNotice::SwitchedBack { from: self.text(), to: self.text() },
            WorkspaceNotice::StaysOn { branch: self.text(), before: self.maybe() },
            WorkspaceNotice::WorkingDirectoryMadeAgain { commit_id: self.flag.then(|| oid(pid)) },
            WorkspaceNotice::ChangesCameAlong { written: count, removed: 0 },
            WorkspaceNotice::TestsPutBack { first: self.text(), more, kept: self.maybe() },
            WorkspaceNotice::EmptySubmodules { first, more },
            WorkspaceNotice::NoPorts { error: self.maybe() },
            WorkspaceNotice::SettingsChanged { files: vec![self.text()] },
            WorkspaceNotice::SettingsLeftOut { settings: vec![self.text()] },
        ];
        let git = [
            GitNotice::Reattached { from: self.maybe(), to: self.maybe() },
            GitNotice::IndexRebuilt { kept: self.maybe() },
            GitNotice::CommittedByAgent(self.left()),
            GitNotice::SecretCommitted(SecretFile {
                path: self.text(),
                variable: self.text(),
                commit_id: oid(pid),
            }),
            GitNotice::RefMoved {
                reference: self.text(),
                from: oid(pid),
                to: self.flag.then(|| oid(pid)),
                kept: self.maybe(),
            },
            GitNotice::MoreRefsMoved { more: count },
            GitNotice::Warned { message: self.text() },
        ];
        let others = [
            Notice::HeldOutReadable,
            Notice::UsageUnknown { agent: agent.clone(), amount: Metered::Tokens },
            Notice::NoModeFor { agent, approval: Approval::Edits },
            Notice::ProcessLeft { pid, program: self.text() },
            Notice::EarlierProcessesEnded { count },
            Notice::SetAside { found: self.text(), path: self.text(), aside: self.text() },
            Notice::ProofCheckoutsInUse,
            Notice::Mirror(MirrorProblem::NotUpToDate { path, error }),
            Notice::NotCommitted(self.left()),
            Notice::NoPullRequest,
            Notice::NotNotified { how: self.text(), error: self.text() },
            Notice::Said { message: self.text() },
        ];
        let workspace = workspace.into_iter().map(Notice::Workspace);
        workspace.chain(git.into_iter().map(Notice::Git)).chain(others).collect()
    }

    fn events(&self) -> Vec<Event> {
        let until = Timestamp::UNIX_EPOCH;
        let wait = |cause| Event::Waiting { until, cause };
        let mut events = vec![
            wait(WaitCause::Limit(self.limit())),
            wait(WaitCause::Probe(self.limit())),
            wait(WaitCause::Backoff { failed: Attempt::Call, pause_seconds: u64::from(self.number) }),
            Event::AgentChanged { agent: self.text(), cause: ChangeCause::Limit(self.limit()) },
            Event::AgentChanged { agent: self.text(), cause: ChangeCause::LimitOver },
        ];
        let asked = |kind| Event::Paused { needs: Needs { kind, choices: self.choices() } };
        events.extend(self.needs().into_iter().map(asked));
        let stopped = |detail| Event::StopRequested { reason: StopReason::Cancelled, detail };
        events.extend(self.details().into_iter().map(stopped));
        events.extend(self.notices().into_iter().map(Event::Notice));
        let left_out = vec![self.left()];
        events.push(Event::NoCommit(CommitPlanned { left_out, ..CommitPlanned::default() }));
        events
    }
}

proptest! {
    #[test]
    fn r4_what_is_said_as_a_value_reads_as_it_was_written(text: String, number: u32, flag: bool) {
        for event in (Made { text, number, flag }).events() {
            let line = Envelope {
                v: FORMAT,
                seq: 7,
                at: Timestamp::UNIX_EPOCH,
                elapsed_ms: 5,
                task: "t".into(),
                came_at: None,
                event,
            };
            let written = serde_json::to_string(&line).unwrap();
            let read: Envelope = serde_json::from_str(&written).unwrap();
            prop_assert_eq!(&read, &line, "{}", written);
        }
    }
}
