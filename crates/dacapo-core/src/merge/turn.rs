//! An agent's turn in a scratch worktree, by the same engine as any turn of a loop: under a guard, with its limits, what it
//! prints on file. Only that nothing is committed by it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;

use super::{Candidate, LeftOut, MergeObserver, Merger, Resolved, Step, Stopped, names};
use crate::engine::{Activity, Driver, Sink};
use crate::event::{AgentEvent, Envelope, Event, Fault, LeftFile, Outcome, StopDetail, TurnEnd};
use crate::git::{OpenMerge, Repo, Resolution, Unresolved};
use crate::process::sweep;
use crate::spec::{Cap, ContextPolicy, LoopPolicy, Place, ProofPolicy, SessionMode, TaskSpec, random_hex};
use crate::store::{Lock, TaskDir, files};
use crate::task::agent_loop::Loop;

/// The hard limit of the turn, where the task has none of its own.
const TURN: Duration = Duration::from_secs(2 * 3600);
/// New files over this size are left out, as in an iteration's commit (C9).
const MAX_FILE_BYTES: u64 = 50 << 20;
/// Marks a record whose attempt came to its end, one way or the other.
const ENDED: &str = "ended";

/// What one attempt leaves for people to look at: a directory like a task's.
pub(super) struct Record {
    pub(super) dir: TaskDir,
    pub(super) spec: TaskSpec,
    runs: u32,
    pub(super) lock: Lock,
}

impl Record {
    pub(super) fn create(merger: &Merger<'_>, candidate: &Candidate) -> Result<Self, LeftOut> {
        let at = Timestamp::now();
        let name = format!("{}-{}-{}", candidate.spec.name, at.strftime("%Y%m%dT%H%M%SZ"), random_hex(2));
        let dir = TaskDir::at(merger.records().join(name));
        let spec = trial(candidate, at);
        let lock = dir.create(&spec).map_err(|error| LeftOut::trouble(&error))?;
        Ok(Self { dir, spec, runs: 0, lock })
    }

    pub(super) fn next_run(&mut self) -> u32 {
        self.runs += 1;
        self.runs - 1
    }

    /// There is nothing in it that anybody could want to know.
    pub(super) fn discard(self) {
        let _ = self.dir.discard();
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        let empty = |name: &str| {
            fs::read_dir(self.dir.path().join(name)).map_or(true, |mut entries| entries.next().is_none())
        };
        if empty("turns") && empty("checks") {
            let _ = self.dir.discard();
        } else {
            let _ = files::replace(&self.dir.path().join(ENDED), b"");
        }
    }
}

/// The task's own request, for one turn that commits nothing.
fn trial(candidate: &Candidate, at: Timestamp) -> TaskSpec {
    let own = &candidate.spec;
    TaskSpec {
        kind: Loop::NAME.to_owned(),
        details: serde_json::Value::Null,
        created_at: at,
        tag: random_hex(16),
        foreground: true,
        plan: None,
        place: Place::InPlace { allow_dirty: false, branch: None },
        agents: candidate.agents.clone(),
        policy: LoopPolicy {
            looping: false,
            cap: Some(Cap::by_iter(1)),
            time: None,
            until: None,
            checks: Vec::new(),
            baseline: false,
            proof: ProofPolicy::default(),
            max_failures: 1,
            stall: 0,
            turn_timeout: Some(own.policy.turn_timeout.unwrap_or(TURN)),
            session: SessionMode::Fresh,
            // A limit is an answer: somebody waits for this merge.
            max_wait: Duration::ZERO,
            ..own.policy.clone()
        },
        context: ContextPolicy {
            enabled: false,
            auto_commit: false,
            generate_summary: true,
            summary_by: None,
            message_by: None,
            loop_prompt: None,
            ..own.context.clone()
        },
        ..own.clone()
    }
}

/// Removes what attempts that died have left running, and records beyond the newest.
pub(super) fn sweep_records(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let mut records: Vec<(std::time::SystemTime, PathBuf)> = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        let task = TaskDir::at(path.clone());
        // Another merge is at work with it; what cannot be told counts as that.
        if task.is_driven().unwrap_or(true) {
            continue;
        }
        if !path.join(ENDED).exists()
            && let Ok(spec) = task.spec()
        {
            let swept = sweep(&spec.tag);
            tracing::debug!(killed = swept.killed.len(), "cleared up behind a merge that died");
            let _ = files::replace(&path.join(ENDED), b"");
        }
        let changed = path.metadata().and_then(|found| found.modified());
        records.push((changed.unwrap_or(std::time::UNIX_EPOCH), path));
    }
    records.sort();
    let surplus = records.len().saturating_sub(super::MOST_RECORDS);
    for (_, path) in records.into_iter().take(surplus) {
        let _ = fs::remove_dir_all(path);
    }
}

impl Merger<'_> {
    /// Has an agent resolve the merge that is open in `scratch`, and judges what it left.
    pub(super) fn resolve(
        &self,
        candidate: &Candidate,
        scratch: &Repo,
        open: &OpenMerge,
        record: &mut Record,
        observer: &mut dyn MergeObserver,
    ) -> Result<(Resolution, Resolved), Stopped> {
        let agent = candidate.agents.first().map(|agent| agent.name.clone()).unwrap_or_default();
        let left = |fault: Fault| LeftOut::Unresolved {
            agent: agent.clone(),
            fault: Box::new(fault),
            record: record.dir.path().to_owned(),
        };
        observer.step(&Step::Resolving {
            agent: &agent,
            conflicts: &open.conflicts,
            record: record.dir.path(),
        });
        let spec = TaskSpec {
            top: scratch.toplevel().to_owned(),
            prompt: self.prompt(candidate, open)?,
            ..record.spec.clone()
        };
        let mut sink = Passing { observer, last: None };
        let setting = (self.setting)();
        // The guard of the turn holds it too: a free lock then means that nothing of this attempt is left.
        setting.locks.add(&record.lock);
        let (driver, control) = Driver::new(spec, record.dir.clone(), setting, &mut sink)
            .map_err(|error| left(error.to_string().into()))?;
        let ended = self.halt.heard_by(move |by| _ = control.stop(by), || driver.run());
        if self.halt.is_asked() {
            return Err(Stopped::Halted);
        }
        match ended {
            Ok(result) if result.outcome == Outcome::Completed => {}
            Ok(result) => {
                let said = || result.detail.and_then(StopDetail::into_said).map(Fault::from);
                let fault = sink.last.or_else(said).unwrap_or_else(|| "its turn failed".into());
                return Err(left(fault).into());
            }
            Err(error) => return Err(left(error.to_string().into()).into()),
        }
        let resolution = match scratch.resolution(open, MAX_FILE_BYTES)? {
            Ok(resolution) => resolution,
            Err(unresolved) => return Err(left(why(&unresolved).into()).into()),
        };
        let resolved = Resolved {
            agent: agent.clone(),
            conflicts: open.conflicts.clone(),
            touched: resolution.touched.clone(),
            left_out: resolution.left_out.iter().map(LeftFile::from).collect(),
            record: record.dir.path().to_owned(),
        };
        Ok((resolution, resolved))
    }
}

fn why(unresolved: &Unresolved) -> String {
    match unresolved {
        Unresolved::GivenUp => "it gave the merge up; nothing of the task would be in it".into(),
        Unresolved::Elsewhere => "it moved HEAD to where only one side is".into(),
        Unresolved::Markers(files) => format!("conflict markers are left in {}", names(files)),
        Unresolved::Undecided(files) => {
            format!("{} has a conflict without markers, which nobody has decided", names(files))
        }
    }
}

/// Passes on what the agent does, and keeps why its turn failed.
struct Passing<'a> {
    observer: &'a mut dyn MergeObserver,
    last: Option<Fault>,
}

impl Sink for Passing<'_> {
    fn event(&mut self, line: &Envelope) {
        if let Event::TurnFinished(record) = &line.event {
            self.last = match &record.end {
                TurnEnd::Failed { fault, .. } => Some(fault.clone()),
                TurnEnd::Limit { message, .. } => Some(message.as_str().into()),
                TurnEnd::Done | TurnEnd::Cancelled | TurnEnd::Budget | TurnEnd::Interrupted => None,
            };
        }
    }

    fn agent(&mut self, _: &Envelope, _: u64, event: &AgentEvent) {
        self.observer.step(&Step::Agent(event));
    }

    fn activity(&mut self, _: &Activity<'_>) {}
}
