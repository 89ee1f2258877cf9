//! A kind of task is a module and a line of registration (S5): here is one, in a hundred lines, and everything that is
//! there for tasks works on it. `docs/design/kinds.md` walks through this file.

use std::sync::Arc;

use dacapo_core::engine::machine::{Begin, CheckPlan, Effect, Input, Machine, Step};
use dacapo_core::engine::{Activity, Answers, Driver, DriverContext, Kind, Kinds, NotThatKind, Sink};
use dacapo_core::event::{
    AgentEvent, CheckPhase, CheckResult, Command, Envelope, Event, Outcome, StopDetail, StopReason,
    TaskResult, Tokens, Usage,
};
use dacapo_core::git::Oid;
use dacapo_core::process::Supervision;
use dacapo_core::spec::TaskSpec;
use dacapo_core::store::{Home, InheritedLocks, TaskDir};

use super::AGENT;
use crate::support::World;

/// A task without an agent: runs its checks once, one after the other, and says whether all passed.
struct Checklist;

impl Kind for Checklist {
    fn name(&self) -> &'static str {
        "checklist"
    }

    fn machine(&self, spec: Arc<TaskSpec>) -> Result<Box<dyn Machine + Send>, NotThatKind> {
        let title = spec.details["title"]
            .as_str()
            .ok_or_else(|| NotThatKind::Details { kind: "checklist", message: "it has no title".into() })?;
        let title = title.to_owned();
        Ok(Box::new(Ticking {
            spec,
            title,
            base: None,
            ready: false,
            results: Vec::new(),
            end: None,
            over: false,
        }))
    }
}

struct Ticking {
    spec: Arc<TaskSpec>,
    title: String,
    base: Option<Oid>,
    ready: bool,
    results: Vec<CheckResult>,
    end: Option<(Outcome, StopReason)>,
    over: bool,
}

impl Machine for Ticking {
    fn decide(&self, input: &Input) -> Vec<Event> {
        match input {
            Input::Begin(Begin { pid, version, .. }) if !self.ready => {
                vec![Event::TaskStarted { pid: *pid, version: version.clone() }]
            }
            Input::Begin(Begin { pid, version, .. }) => vec![Event::Resumed {
                pid: *pid,
                version: version.clone(),
                more_iterations: None,
                follow_up: None,
                agent: None,
                proof: None,
            }],
            Input::Command(received) => vec![Event::CommandReceived(received.clone())],
            Input::Stop { by } => {
                vec![Event::StopRequested {
                    reason: StopReason::Cancelled,
                    detail: StopDetail::By { by: by.clone() },
                }]
            }
            Input::Notice(notice) => vec![Event::Notice(notice.clone())],
            Input::WorkspaceReady { path, branch, base, kept_changes, port_base, start_sha256 } => {
                vec![Event::WorkspaceReady {
                    path: path.clone(),
                    branch: branch.clone(),
                    base_commit: base.clone(),
                    kept_changes: kept_changes.clone(),
                    port_base: *port_base,
                    start_sha256: start_sha256.clone(),
                }]
            }
            Input::CheckDone(result) => vec![Event::CheckFinished(result.clone())],
            Input::Finishing { last_commit, elapsed, .. } => vec![Event::TaskFinished(TaskResult {
                failed_setup: None,
                outcome: self.end.map_or(Outcome::Failed, |(outcome, _)| outcome),
                stop_reason: self.end.map_or(StopReason::Checks, |(_, reason)| reason),
                verified: false,
                detail: Some(StopDetail::said(&self.title)),
                stderr_tail: None,
                iterations_attempted: 0,
                iterations_succeeded: 0,
                iterations_failed: 0,
                elapsed_seconds: elapsed.as_secs_f64(),
                tokens: Tokens::default(),
                cost_usd: None,
                base_commit: self.base.clone(),
                last_commit: last_commit.clone(),
                trust_files: Vec::new(),
                proof: Vec::new(),
                tests: None,
                proof_state: None,
                proof_cache: None,
                room: None,
            })],
            _ => Vec::new(),
        }
    }

    fn apply(&mut self, line: &Envelope) {
        match &line.event {
            Event::WorkspaceReady { base_commit, .. } => {
                self.ready = true;
                self.base.clone_from(base_commit);
            }
            Event::CheckFinished(result) => {
                self.results.push(result.clone());
                if self.results.len() == self.spec.policy.checks.len() {
                    let passed = self.results.iter().all(CheckResult::passed);
                    let outcome = if passed { Outcome::Completed } else { Outcome::Failed };
                    self.end = Some((outcome, StopReason::Checks));
                }
            }
            Event::StopRequested { .. } => self.end = Some((Outcome::Cancelled, StopReason::Cancelled)),
            Event::CommandReceived(received) if received.command == Command::Kill => {
                self.end = Some((Outcome::Cancelled, StopReason::Cancelled));
            }
            Event::TaskFinished(_) => self.over = true,
            _ => {}
        }
    }

    fn next(&self) -> Option<Step> {
        Some(match self.results.len() {
            _ if self.over => return None,
            _ if self.end.is_some() => Step::Finish,
            _ if !self.ready => Step::PrepareWorkspace,
            index => Step::RunCheck {
                phase: CheckPhase::Baseline,
                iteration: None,
                index: u32::try_from(index).unwrap(),
            },
        })
    }

    fn plan(&self, step: Step) -> Effect {
        match step {
            Step::Finish => Effect::Finish { base: self.base.clone() },
            Step::PrepareWorkspace => Effect::PrepareWorkspace,
            Step::RunCheck { phase, iteration, index } => Effect::RunCheck(CheckPlan {
                phase,
                iteration,
                index,
                command: self.spec.policy.checks[index as usize].clone(),
                timeout: self.spec.policy.check_timeout,
                commit: self.base.clone(),
            }),
            other => panic!("no list of checks asks for {other:?}"),
        }
    }

    fn ends_now(&self) -> bool {
        self.end.is_some()
    }

    fn over_budget(&self, _: &Usage) -> bool {
        false
    }
}

/// Nobody looks.
pub(super) struct Nobody;

impl Sink for Nobody {
    fn event(&mut self, _: &Envelope) {}
    fn agent(&mut self, _: &Envelope, _: u64, _: &AgentEvent) {}
    fn activity(&mut self, _: &Activity<'_>) {}
}

/// Makes a task of another kind from one that the program has made: same name, same place.
fn checklist(world: &World, checks: &[&str], details: serde_json::Value) -> (TaskDir, TaskSpec) {
    let _ = world.exec(&["--name", "model", "--worktree", "--agent-cmd", AGENT, "go"]).expect(0);
    let mut json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(world.task_dir("model").join("spec.json")).unwrap()).unwrap();
    json["name"] = "list".into();
    json["kind"] = "checklist".into();
    json["details"] = details;
    json["policy"]["checks"] = checks.iter().copied().collect();
    for key in ["path", "branch"] {
        json["place"][key] = json["place"][key].as_str().unwrap().replace("model", "list").into();
    }
    let spec: TaskSpec = serde_json::from_value(json).unwrap();
    let dir = TaskDir::at(world.task_dir("model").with_file_name("list"));
    (dir, spec)
}

fn drive(world: &World, dir: &TaskDir, spec: &TaskSpec) -> Result<TaskResult, String> {
    let setting = DriverContext {
        user_settings: Vec::new(),
        guarded: None,
        program: env!("CARGO_BIN_EXE_dacapo").into(),
        env: std::env::vars_os().collect(),
        supervision: Supervision::default(),
        locks: InheritedLocks::default(),
        version: "test".into(),
        limits: Home::new(world.data()).limits(),
        more_iterations: None,
        follow_up: None,
        proof: None,
        kinds: Kinds::of(&[&Checklist]),
        answers: Answers::Here,
        repo_slot: None,
        machine_slot: None,
    };
    let mut nobody = Nobody;
    let (driver, _) =
        Driver::new(spec.clone(), dir.clone(), setting, &mut nobody).map_err(|error| error.to_string())?;
    driver.run().map_err(|error| error.to_string())
}

#[test]
fn s5_a_new_kind_has_the_whole_life_of_a_task() {
    let world = World::new();
    let (dir, spec) =
        checklist(&world, &["true", "test -e README.md"], serde_json::json!({ "title": "All in order?" }));
    let lock = dir.create(&spec).unwrap();
    let result = drive(&world, &dir, &spec).unwrap();
    assert_eq!(
        (result.outcome, result.detail),
        (Outcome::Completed, Some(StopDetail::said("All in order?")))
    );
    drop(lock);
    let status = world.status("list");
    assert_eq!((&status["kind"], &status["status"]), (&"checklist".into(), &"completed".into()));
    assert_eq!(status["checks"].as_array().unwrap().len(), 2);
    let _ = world.wait("list").expect(0);
    let listed = world.run(&["list"]).expect(0);
    assert!(listed.stdout.contains("list"), "{}", listed.stdout);
    let logs = world.run(&["logs", "list", "--json"]).expect(0);
    assert!(logs.stdout.contains("\"kind\":\"checklist\""), "{}", logs.stdout);
}

#[test]
fn s8_a_new_kind_is_killed_as_any_other() {
    let world = World::new();
    let (dir, spec) = checklist(&world, &["true", "sleep 1000"], serde_json::json!({ "title": "Long" }));
    let _lock = dir.create(&spec).unwrap();
    dir.inbox().put("test", Command::Kill).unwrap();
    let result = drive(&world, &dir, &spec).unwrap();
    assert_eq!(result.outcome, Outcome::Cancelled);
}

#[test]
fn s5_a_kind_that_is_not_known_is_said_and_nothing_is_touched() {
    let world = World::new();
    let (dir, spec) = checklist(&world, &["true"], serde_json::Value::Null);
    drop(dir.create(&spec).unwrap());
    let before = world.everything();
    let said = world.run(&["resume", "list"]).expect(1);
    assert!(said.stderr.contains("does not know tasks of kind 'checklist'"), "{}", said.stderr);
    assert_eq!(
        drive(&world, &dir, &spec).unwrap_err(),
        "cannot read the spec of this checklist: it has no title"
    );
    assert_eq!(world.everything().len(), before.len());
}
