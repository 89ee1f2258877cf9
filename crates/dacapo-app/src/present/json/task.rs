//! A task for programs: what `status --json` and `list --json` say of it.

use dacapo_core::event::{
    CheckResult, FORMAT, IterationRecord, Needs, Notice, Outcome, SetupResult, StopReason, TaskResult,
    TestsResult, Tokens,
};
use dacapo_core::git::Oid;
use dacapo_core::json::short_branch;
use dacapo_core::store::Record;
use dacapo_core::view::{CurrentStep, MergedInto, Status, TaskView, UntrackedView};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::words;
use crate::messages::Messages;
use crate::present::listing::{Group, MergeForecast};
use crate::present::next::Next;
use crate::present::{ends, kind_words, report};

/// A task.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Task {
    /// The version of this format.
    pub v: u32,
    /// Says what the object is.
    #[schemars(extend("const" = "task"))]
    pub r#type: &'static str,
    /// The task's name. It is unique in its repository.
    pub name: String,
    /// The path of the checkout in which the task was started.
    pub repo: String,
    /// The kind of task: `loop` or `milestone`.
    pub kind: String,
    /// What the task is doing, or how it ended.
    pub status: Status,
    /// How the task ended; null while it has not.
    pub outcome: Option<Outcome>,
    /// Why the task ended; null while it has not.
    pub stop_reason: Option<StopReason>,
    /// True if the checks passed on the last commit in a checkout that no agent writes to, also with the tests as they were. A claim of the agent is never enough.
    pub verified: bool,
    /// The tests that judge the work, and whether the task changed them; null while it has no result, or if there are no checks.
    pub tests: Option<TestsResult>,
    /// Whether the checks passed the last time they ran; null if the task has no checks, or has not ended.
    pub checks_passed: Option<bool>,
    /// Whether the task's journal is complete and unchanged. If it is not, `verified` is false.
    pub record: Record,
    /// What a person must decide; null if nobody is needed.
    #[schemars(with = "Option<Needs>")]
    pub needs: Option<Value>,
    /// Why the last iteration, or the whole task, failed: a sentence. Absent if nothing failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The last lines that the agent wrote to standard error, if its last turn failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr_tail: Option<String>,
    /// Instructions given with `dacapo tell` that still apply. Absent if there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub guidance: Vec<String>,
    /// How many iterations have finished.
    pub iteration: u32,
    /// The limit on iterations; null if there is none.
    pub max_iterations: Option<u32>,
    /// How many of the finished iterations succeeded.
    pub iterations_succeeded: u32,
    /// How many of the finished iterations failed.
    pub iterations_failed: u32,
    /// How long the task has been active. Time in which it was paused, queued or had no process does not count.
    pub elapsed_seconds: f64,
    /// The tokens used so far.
    pub tokens: Tokens,
    /// The cost so far; null if no agent reported it and no prices are configured.
    pub cost_usd: Option<f64>,
    /// The agent that works on the task, or worked on it last.
    pub agent: String,
    /// The prompt of the task.
    pub prompt: String,
    /// The branch that the user was on when the task started; null if HEAD was detached.
    pub base_branch: Option<String>,
    /// The commit the task started from; null before its workspace is ready, and in a repository without commits.
    pub base_commit: Option<Oid>,
    /// The newest commit of the task; null if it has made none.
    pub last_commit: Option<Oid>,
    /// The branch the task works on; null before its workspace is ready.
    pub branch: Option<String>,
    /// The path of the task's own worktree; null if it works in the user's checkout.
    pub worktree: Option<String>,
    /// The first of the ten ports that are reserved for the task while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port_base: Option<u16>,
    /// The process that drives the task; null if none does.
    pub pid: Option<u32>,
    /// When the usage limit that the task waits for will end; null if it does not wait, or the time is not known.
    pub waiting_until: Option<Timestamp>,
    /// When the task was created.
    pub created_at: Timestamp,
    /// When the task ended; null while it has not.
    pub finished_at: Option<Timestamp>,
    /// Where the task was merged. Absent if it was not merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged: Option<MergedInto>,
    /// The address of the pull request that offers the task's branch; null if there is none.
    pub pull_request: Option<String>,
    /// What the task is doing. Absent if it is not running.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<CurrentStep>")]
    pub doing: Option<Value>,
    /// How many files a person left uncommitted in the task's worktree (`dacapo takeover`). Absent if there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub uncommitted_total: u64,
    /// What only this kind of task has, under the name of the kind.
    #[serde(flatten)]
    #[schemars(with = "kind_words::OwnJson")]
    own: Map<String, Value>,
}

/// A task, with everything that happened to it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TaskInFull {
    #[serde(flatten)]
    pub task: Task,
    /// A record of every finished iteration.
    #[schemars(with = "Vec<IterationRecord>")]
    pub iterations: Vec<Value>,
    /// The commands that made the worktree usable, each with its result.
    pub setup: Vec<SetupResult>,
    /// Every run of a check, in order.
    pub checks: Vec<CheckResult>,
    /// The result of the task, as in the event `task_finished`; null while it has not ended.
    #[schemars(with = "Option<TaskResult>")]
    pub result: Option<Value>,
    /// Files of the checkout that were untracked before the task. Absent if there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untracked: Option<UntrackedView>,
    /// What a person should know about the task.
    #[schemars(with = "Vec<Notice>")]
    pub notices: Vec<Value>,
    /// Commands that a person may want to run next, the most likely first.
    pub next: Vec<Next>,
}

/// A task of a list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ListedTask {
    #[serde(flatten)]
    #[schemars(with = "Task")]
    pub task: Value,
    /// The heading under which `dacapo list` shows the task.
    pub group: Group,
    /// Whether the task's branch can be merged without conflicts; null if nobody has looked yet, the task has nothing to merge, or
    /// the list is of all repositories (`--all`).
    pub merges: Option<MergeForecast>,
    /// The command that `dacapo list` suggests for the task.
    pub next: Vec<Next>,
    /// How much the task's worktree takes on disk. Absent if it has not been measured (`--size` measures).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree_bytes: Option<u64>,
    /// How much the task takes on disk, its worktree and its record together. Absent if it has not been measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_bytes: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

impl Task {
    /// What a list says of a task.
    pub fn of(view: &TaskView) -> Self {
        let own = view.own().map(dacapo_core::engine::KindView::to_json);
        Self::with(view, own)
    }

    fn with(view: &TaskView, own: Option<Value>) -> Self {
        let result = view.result.as_ref();
        let short = |branch: &Option<String>| branch.as_deref().map(|branch| short_branch(branch).to_owned());
        Self {
            v: FORMAT,
            r#type: "task",
            name: view.name.clone(),
            repo: view.repo.clone(),
            kind: view.kind.clone(),
            status: view.status,
            outcome: view.outcome,
            stop_reason: result.map(|result| result.stop_reason),
            verified: view.verified,
            tests: view.tests().cloned(),
            checks_passed: result.and_then(checks_passed),
            record: view.record.clone(),
            needs: view.needs.as_ref().map(|needs| words::needs(needs, &view.name)),
            error: view.error.as_ref().map(|error| ends::detail(error, &view.name, Messages::ENGLISH)),
            stderr_tail: view.stderr_tail.clone(),
            guidance: view.guidance.clone(),
            iteration: view.iteration,
            max_iterations: view.max_iterations,
            iterations_succeeded: view.iterations_succeeded,
            iterations_failed: view.iterations_failed,
            elapsed_seconds: view.elapsed_seconds,
            tokens: view.tokens,
            cost_usd: view.cost_usd,
            agent: view.agent.clone(),
            prompt: view.prompt.clone(),
            base_branch: short(&view.base_branch),
            base_commit: view.base_commit.clone(),
            last_commit: view.last_commit.clone(),
            branch: short(&view.branch),
            worktree: view.worktree.clone(),
            port_base: view.port_base,
            pid: view.pid,
            waiting_until: view.waiting_until,
            created_at: view.created_at,
            finished_at: view.finished_at,
            merged: view.merged.clone(),
            pull_request: view.pull_request.clone(),
            doing: view.doing.as_ref().map(words::current_step),
            uncommitted_total: view.left_by_hand,
            own: own.map(|own| Map::from_iter([(view.kind.clone(), own)])).unwrap_or_default(),
        }
    }
}

fn checks_passed(result: &TaskResult) -> Option<bool> {
    let after: Vec<bool> = result.proof.iter().filter_map(|proof| proof.after).collect();
    (!after.is_empty()).then(|| after.iter().all(|passed| *passed))
}

impl TaskInFull {
    /// All that `status --json` says.
    pub fn of(view: &TaskView) -> Self {
        let name = &view.name;
        let result = view.result.as_ref();
        Self {
            task: Task::with(view, view.own().map(dacapo_core::engine::KindView::to_json_in_full)),
            iterations: view.iterations.iter().map(words::iteration).collect(),
            setup: view.setup.clone(),
            checks: view.checks.clone(),
            result: result.map(|result| words::result(result, name)),
            untracked: (!view.untracked.is_empty()).then(|| view.untracked.clone()),
            notices: view.notices.iter().map(|notice| words::notice(notice, name)).collect(),
            next: result.map(|result| report::next(view, result, Messages::ENGLISH)).unwrap_or_default(),
        }
    }
}
