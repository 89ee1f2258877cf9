//! A merge for people, line by line, or for programs as JSON lines.

use std::path::{Path, PathBuf};

use dacapo_app::operations::merge::{MergePlan, WatchMerge};
use dacapo_app::present::face;
use dacapo_core::event::{AgentEvent, FORMAT};
use dacapo_core::git::{Oid, display_path};
use dacapo_core::merge::{Done, Expected, Halt, Home, LeftOut, Outcome, Planned, Proven, Step, Watch};
use dacapo_core::view::{Status, TaskView};
use serde_json::{Value, json};

use super::listen;
use crate::args::Show;
use crate::commands::print;
use crate::error::Failure;
use crate::output::leftovers::not_at_home;
use crate::output::notices;
use crate::output::words::{self, BAD, BOLD, DIM, GOOD, WARN, paint};

/// So many names of files in one line.
const FILES: usize = 5;

/// What there is to say about merging what is not completed.
fn why_unfinished(view: &TaskView) -> String {
    let own = face::of(&view.kind).and_then(|face| face.unfinished(view));
    own.unwrap_or_else(|| format!("the task is {}", view.status.as_str()))
}

fn is_work(expected: &Expected) -> bool {
    !matches!(expected, Expected::AlreadyThere | Expected::Empty)
}

/// Shows a merge.
pub(super) struct Shown {
    show: Show,
    query: Option<String>,
    dry_run: bool,
    into: String,
    width: usize,
    merged: Vec<String>,
    left_out: Vec<String>,
}

impl Shown {
    pub(super) fn new(show: Show, query: Option<String>, dry_run: bool) -> Self {
        let (into, merged, left_out) = (String::new(), Vec::new(), Vec::new());
        Self { show, query, dry_run, into, width: 0, merged, left_out }
    }

    /// Whether something conflicts that nobody would resolve.
    pub(super) fn needs_somebody(&self, plan: &[Planned]) -> bool {
        plan.iter().any(|task| {
            let asks = self.query.is_some() || matches!(task.expected, Expected::Conflicts { .. });
            asks && task.agent.is_none() && is_work(&task.expected)
        })
    }

    fn talks(&self) -> bool {
        !self.show.json && !self.show.quiet
    }

    fn say(&self, line: &str) {
        if self.talks() {
            print(line);
        }
    }

    fn json(&self, kind: &str, mut value: Value) {
        if !self.show.json {
            return;
        }
        if let Some(object) = value.as_object_mut() {
            object.insert("v".into(), FORMAT.into());
            object.insert("type".into(), kind.into());
        }
        print(&value.to_string());
    }

    fn notes(&self, notes: &[String]) {
        for note in notes {
            if self.show.json {
                tracing::warn!("{note}");
            }
            self.say(&paint(WARN, &format!("note    {note}")));
        }
    }

    /// What is going to happen.
    pub(super) fn show(&mut self, plan: &MergePlan) {
        let MergePlan { into, from, tasks: plan, views, merged, warnings } = plan;
        self.into.clone_from(into);
        self.notes(warnings);
        let names = plan.iter().map(|task| &task.name).chain(merged.iter().map(|(name, _)| name));
        self.width = names.map(String::len).max().unwrap_or(0).min(40);
        let width = self.width;
        let tasks: Vec<Value> = plan.iter().map(planned_json).collect();
        self.json(
            "merge_plan",
            json!({"into": self.into, "from": from, "tasks": tasks, "dry_run": self.dry_run}),
        );
        self.say(&format!("{} {} ({})", paint(DIM, "into   "), words::branch(&self.into), from.short()));
        if let Some(query) = &self.query {
            self.say(&format!("{} {}", paint(DIM, "query  "), words::line(query, 100)));
        }
        for (name, merged) in merged {
            let into = words::branch(&merged.into);
            self.say(&format!("  {name:<width$}  merged already, into {into} as {}", merged.commit.short()));
            self.json(
                "merge_result",
                json!({"task": name, "result": "already_merged", "into": merged.into, "commit": merged.commit}),
            );
        }
        for (at, task) in plan.iter().enumerate() {
            let (number, name) = (at + 1, &task.name);
            let size = format!(
                "{}, {}",
                words::count(task.commits, "commit"),
                words::count(task.files.len() as u64, "file")
            );
            self.say(&format!(
                "{number} {} {size:<20}  {}",
                paint(BOLD, &format!("{name:<width$}")),
                expected(task, self.query.is_some())
            ));
            if is_work(&task.expected) {
                self.say(&paint(DIM, &format!("  {:<width$} {}", "", checks(task))));
            }
            let unfinished = views.get(at).filter(|view| view.status != Status::Completed);
            if let Some(unfinished) = unfinished.filter(|_| is_work(&task.expected)) {
                let text =
                    format!("  {:<width$} {}: look whether it is done", "", why_unfinished(unfinished));
                self.say(&paint(WARN, &text));
            }
            if task.uncommitted > 0 && is_work(&task.expected) {
                let files = words::count(task.uncommitted as u64, "file");
                let text =
                    format!("  {:<width$} {files} in its worktree not committed: no part of this, kept", "");
                self.say(&paint(WARN, &text));
            }
        }
        if self.dry_run {
            self.say(&paint(DIM, "nothing was changed (--dry-run)"));
        }
    }

    fn outcome_of(&mut self, branch: &str, name: &str, outcome: &Outcome) {
        match outcome {
            Outcome::Merged(done) => self.merged(name, done),
            Outcome::AlreadyThere(home) => {
                self.merged.push(name.to_owned());
                self.line(BOLD, "✓", name, &format!("is in {} already", words::branch(&self.into)));
                self.home(home, name);
                self.json(
                    "merge_result",
                    json!({"task": name, "result": "already_there", "kept": home.refs}),
                );
            }
            Outcome::Empty => {
                self.line(DIM, "·", name, "has no commits: nothing to merge");
                self.json("merge_result", json!({"task": name, "result": "empty"}));
            }
            Outcome::LeftOut(why) => self.was_left_out(branch, name, why),
            Outcome::Halted => {
                self.left_out.push(name.to_owned());
                self.line(WARN, "■", name, "stopped; nothing of it has changed");
                self.json("merge_result", json!({"task": name, "result": "stopped"}));
            }
        }
    }

    fn line(&self, style: anstyle::Style, mark: &str, name: &str, text: &str) {
        let width = self.width;
        self.say(&format!("{} {}  {text}", paint(style, mark), paint(BOLD, &format!("{name:<width$}"))));
    }

    fn more(&self, text: &str) {
        self.say(&paint(DIM, &format!("  {:<width$}  {text}", "", width = self.width)));
    }

    fn merged(&mut self, name: &str, done: &Done) {
        self.merged.push(name.to_owned());
        let how = if done.fast_forward { "fast-forward to" } else { "merged as" };
        // Only proof is green: without a check it is just there.
        let style = if done.checks.is_empty() { BOLD } else { GOOD };
        self.line(style, "✓", name, &format!("{how} {}{}", done.commit.short(), proven(&done.checks)));
        if let Some(resolved) = &done.resolved {
            if !resolved.conflicts.is_empty() {
                self.more(&format!("{} resolved {}", resolved.agent, files(&resolved.conflicts)));
            }
            let other: Vec<PathBuf> =
                resolved.touched.iter().filter(|path| !resolved.conflicts.contains(path)).cloned().collect();
            if !other.is_empty() {
                self.more(&format!("{} also changed {}", resolved.agent, files(&other)));
            }
            for left in &resolved.left_out {
                self.more(&format!("not committed: {}", notices::left(left)));
            }
            self.more(&format!("what it said: {}", resolved.record.display()));
        }
        self.home(&done.home, name);
        self.json(
            "merge_result",
            json!({
                "task": name,
                "result": "merged",
                "commit": done.commit,
                "from": done.from,
                "fast_forward": done.fast_forward,
                "checks": done.checks.iter().map(|check| json!({"command": check.command, "by_receipt": check.by_receipt})).collect::<Vec<_>>(),
                "agent": done.resolved.as_ref().map(|resolved| &resolved.agent),
                "conflicts": done.resolved.iter().flat_map(|resolved| &resolved.conflicts).map(|path| display_path(path)).collect::<Vec<_>>(),
                "kept": done.home.refs,
                "set_aside": done.home.set_aside.as_deref().map(display_path),
                "problems": done.home.problems.iter().map(|problem| not_at_home(problem, name)).collect::<Vec<_>>(),
            }),
        );
    }

    fn home(&self, home: &Home, name: &str) {
        if let Some(path) = home.set_aside.as_ref().filter(|_| home.uncommitted > 0) {
            let uncommitted = words::count(home.uncommitted as u64, "uncommitted file");
            self.more(&format!("{uncommitted} set aside with its worktree in {}", path.display()));
        }
        if let Some(path) = home.set_aside.as_ref().filter(|_| home.ignored > 0) {
            let ignored = words::count(home.ignored as u64, "ignored file");
            self.more(&format!("{ignored} put away with its worktree in {}", path.display()));
        }
        for problem in &home.problems {
            self.more(&paint(WARN, &not_at_home(problem, name)));
        }
    }

    fn was_left_out(&mut self, branch: &str, name: &str, why: &LeftOut) {
        self.left_out.push(name.to_owned());
        let text = dacapo_app::present::refusals::left_out(why);
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        if self.show.quiet {
            complain!("error: task '{name}' was left out: {}", words::line(first, words::WHOLE));
        }
        self.line(BAD, "✗", name, &format!("left out: {}", words::line(first, words::WHOLE)));
        for line in lines.take(20) {
            self.more(&words::line(line, 200));
        }
        if let Some(path) = why.look_at() {
            self.more(&format!("see {}", path.display()));
        }
        self.more("nothing of it has changed: branch and worktree are as they were");
        if let Some(next) = next_step(words::branch(branch), name, why) {
            self.more(&format!("do: {next}"));
        }
        self.json(
            "merge_result",
            json!({"task": name, "result": "left_out", "why": text, "see": why.look_at().map(|path| display_path(path))}),
        );
    }

    fn sum(&self, from: &Oid, to: Option<&Oid>) {
        self.json(
            "merge_finished",
            json!({"into": self.into, "from": from, "to": to, "merged": self.merged, "left_out": self.left_out}),
        );
        let branch = words::branch(&self.into);
        let moved = match to {
            Some(to) if to != from => format!("{branch}: {} → {}", from.short(), to.short()),
            _ => format!("{branch} has not moved"),
        };
        let mut parts = vec![moved];
        if !self.merged.is_empty() {
            parts.push(format!("{} merged", self.merged.len()));
        }
        if !self.left_out.is_empty() {
            parts.push(format!("{} left out ({})", self.left_out.len(), self.left_out.join(", ")));
        }
        self.say(&parts.join(" · "));
    }
}

fn next_step(branch: &str, name: &str, why: &LeftOut) -> Option<String> {
    match why {
        LeftOut::Conflicts(_) => {
            Some(format!("dacapo merge {name} --agent NAME, or git merge {branch} by hand"))
        }
        LeftOut::NoAgent => Some("--agent NAME or --agent-cmd CMD names one".into()),
        LeftOut::Unresolved { .. } => {
            Some(format!("dacapo merge {name} --agent ANOTHER, or git merge {branch} by hand"))
        }
        LeftOut::Check { .. } => {
            Some(format!("dacapo resume {name} \"rebase onto the new state and make the checks pass\""))
        }
        LeftOut::Setup { .. } => Some("mend [worktree] setup in the config".into()),
        LeftOut::Moved | LeftOut::Switched => Some(format!("dacapo merge {name} again")),
        LeftOut::InTheWay(_) => Some(format!("move these files away, then dacapo merge {name}")),
        LeftOut::Trouble(_) => None,
    }
}

fn files(paths: &[PathBuf]) -> String {
    let mut named: Vec<String> = paths.iter().take(FILES).map(|path| display_path(path)).collect();
    if named.len() < paths.len() {
        named.push(format!("… ({} in all)", paths.len()));
    }
    named.join(", ")
}

fn expected(task: &Planned, joined: bool) -> String {
    let helper = match &task.agent {
        Some(agent) => format!("{agent} resolves them"),
        None => "no agent: it will be left out".to_owned(),
    };
    let text = match &task.expected {
        Expected::AlreadyThere => return "is there already".into(),
        Expected::Empty => return "nothing to merge".into(),
        Expected::FastForward => "fast-forward".to_owned(),
        Expected::Merge => "merge".to_owned(),
        Expected::Squash => "squash".to_owned(),
        Expected::Conflicts { files: paths, with } => {
            let with = if with.is_empty() { String::new() } else { format!(" with {}", with.join(", ")) };
            return paint(WARN, &format!("conflicts{with} in {}; {helper}", files(paths)));
        }
    };
    match (&task.agent, joined) {
        (_, false) => text,
        (Some(agent), true) => format!("{text}, joined by {agent}"),
        (None, true) => paint(WARN, &format!("{text}; no agent for the query: it will be left out")),
    }
}

fn checks(task: &Planned) -> String {
    if task.checks.is_empty() {
        return "no checks: nothing will be proven".into();
    }
    let one = |(command, proven): &(String, bool)| {
        let note = if *proven { " (proven on this very commit)" } else { "" };
        format!("{}{note}", words::line(command, 60))
    };
    format!("checks: {}", task.checks.iter().map(one).collect::<Vec<_>>().join(" · "))
}

fn proven(checks: &[Proven]) -> String {
    let one = |check: &Proven| {
        let note = if check.by_receipt { " ✓ (on this commit before)" } else { " ✓" };
        format!(" · {}{note}", words::line(&check.command, 60))
    };
    checks.iter().map(one).collect()
}

fn planned_json(task: &Planned) -> Value {
    let (expected, conflicts, with): (&str, &[PathBuf], &[String]) = match &task.expected {
        Expected::AlreadyThere => ("already_there", &[], &[]),
        Expected::Empty => ("empty", &[], &[]),
        Expected::FastForward => ("fast_forward", &[], &[]),
        Expected::Merge => ("merge", &[], &[]),
        Expected::Squash => ("squash", &[], &[]),
        Expected::Conflicts { files, with } => ("conflicts", files, with),
    };
    json!({
        "task": task.name,
        "commits": task.commits,
        "files": task.files.iter().map(|path| display_path(path)).collect::<Vec<_>>(),
        "expected": expected,
        "conflicts": conflicts.iter().map(|path| display_path(path)).collect::<Vec<_>>(),
        "conflicts_with": with,
        "checks": task.checks.iter().map(|(command, proven)| json!({"command": command, "proven": proven})).collect::<Vec<_>>(),
        "agent": task.agent,
        "uncommitted": task.uncommitted,
    })
}

impl Watch for Shown {
    fn step(&mut self, step: &Step<'_>) {
        match step {
            Step::Begin(_) => {}
            Step::Resolving { agent, conflicts, record } => {
                let what = if conflicts.is_empty() {
                    "joins them".into()
                } else {
                    format!("resolves {}", files(conflicts))
                };
                self.more(&format!("{agent} {what}"));
                self.json(
                    "merge_agent",
                    json!({"agent": agent, "conflicts": conflicts.iter().map(|path| display_path(path)).collect::<Vec<_>>(), "record": display_path(record as &Path)}),
                );
            }
            Step::Agent(event) => {
                self.json("agent_event", json!({"event": event}));
                if let AgentEvent::ToolCall { name, summary, .. } = event {
                    self.more(&format!("▸ {}", words::line(&format!("{name} {summary}"), 80)));
                }
            }
            Step::Check(command) => self.more(&format!("runs {}", words::line(command, 80))),
            Step::Checked(_) => {}
            Step::Again => self.more("the branch has moved meanwhile: once more from there"),
        }
    }
}

impl WatchMerge for Shown {
    fn begins(&mut self, halt: &Halt) -> Result<(), Failure> {
        listen(halt.clone())
    }

    fn plan(&mut self, plan: &MergePlan) {
        self.show(plan);
    }

    fn outcome(&mut self, branch: &str, name: &str, outcome: &Outcome) {
        self.outcome_of(branch, name, outcome);
    }

    fn finished(&mut self, from: &Oid, now: Option<&Oid>) {
        self.sum(from, now);
    }
}
