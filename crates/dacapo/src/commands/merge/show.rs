//! A merge for people, line by line, or for programs as JSON lines.

use std::path::{Path, PathBuf};

use dacapo_app::messages::Messages;
use dacapo_app::operations::merge::{MergePlan, ObserveMerge};
use dacapo_app::present::json::merge::{
    ExpectedMerge, MergeAgent, MergeFinished, MergePlan as PlanObject, MergeResult, MergedCheck,
    PlannedCheck, PlannedTask, TaskMerge,
};
use dacapo_app::present::json::objects::AgentLine;
use dacapo_app::present::json::{self, Object};
use dacapo_app::present::{changed_tests, kind_words, left_out, proof};
use dacapo_core::event::{AgentEvent, TestsMark};
use dacapo_core::git::{Oid, display_path};
use dacapo_core::merge::{
    Expected, Halt, Home, LeftOut, MergeObserver, MergeSuccess, Outcome, Planned, Proven, Step,
};
use dacapo_core::view::{Status, TaskView};
use jiff::Timestamp;

use super::halt_by_signals;
use crate::args::Show;
use crate::commands::console::Printer;
use crate::commands::{Console, pad};
use crate::error::Failure;
use crate::output::leftovers::not_at_home;
use crate::output::notices;
use crate::output::words::{self, BAD, BOLD, DIM, GOOD, WARN, paint};

/// What there is to say about merging what is not completed.
fn why_unfinished(view: &TaskView, messages: Messages) -> String {
    let own = kind_words::of(&view.kind).and_then(|own| own.unfinished(view, messages));
    own.unwrap_or_else(|| messages.merge_task_status(&words::status(view.status, messages)))
}

fn is_work(expected: &Expected) -> bool {
    !matches!(expected, Expected::AlreadyThere | Expected::Empty)
}

pub(super) struct Shown {
    printer: Printer,
    messages: Messages,
    show: Show,
    query: Option<String>,
    dry_run: bool,
    into: String,
    /// The one that is being merged.
    task: String,
    width: usize,
    merged: Vec<String>,
    left_out: Vec<String>,
    /// What is said of the tests that tasks changed.
    tests: Vec<(String, TestsMark)>,
}

impl Shown {
    pub(super) fn new(app: &Console, show: Show, query: Option<String>, dry_run: bool) -> Self {
        let (printer, messages) = (app.printer.clone(), app.messages);
        let (into, task, merged, left_out) = (String::new(), String::new(), Vec::new(), Vec::new());
        let tests = Vec::new();
        Self { printer, messages, show, query, dry_run, into, task, width: 0, merged, left_out, tests }
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
            self.printer.print(line);
        }
    }

    fn json(&self, object: Object) {
        if self.show.json {
            self.printer.print(&object.line());
        }
    }

    fn json_result(&self, task: &str, result: TaskMerge) {
        self.json(Object::MergeResult(MergeResult { task: task.to_owned(), result }));
    }

    fn branch(&self) -> String {
        words::branch(&self.into).to_owned()
    }

    fn notes(&self, notes: &[String]) {
        for note in notes {
            if self.show.json {
                tracing::warn!("{note}");
            }
            self.say(&paint(WARN, &format!("{}{note}", self.messages.label_note())));
        }
    }

    pub(super) fn show(&mut self, plan: &MergePlan) {
        let MergePlan { into, from, tasks: plan, views, merged, warnings } = plan;
        self.into.clone_from(into);
        self.notes(warnings);
        let names = plan.iter().map(|task| &task.name).chain(merged.iter().map(|(name, _)| name));
        self.width = names.map(String::len).max().unwrap_or(0).min(40);
        let width = self.width;
        self.json(Object::MergePlan(PlanObject {
            into: self.branch(),
            from_commit: from.clone(),
            tasks: plan.iter().map(planned_object).collect(),
            dry_run: self.dry_run,
        }));
        let messages = self.messages;
        let label = |text: String| paint(DIM, &pad(&text, 7));
        let into = label(messages.merge_label_into());
        self.say(&format!("{into} {} ({})", words::branch(&self.into), from.short()));
        if let Some(query) = &self.query {
            self.say(&format!("{} {}", label(messages.merge_label_query()), words::line(query, 100)));
        }
        for (name, merged) in merged {
            let into = words::branch(&merged.into);
            let there = messages.merge_merged_before(into, merged.commit.short());
            self.say(&format!("  {name:<width$}  {there}"));
            let (into, commit_id) = (into.to_owned(), merged.commit.clone());
            self.json_result(name, TaskMerge::AlreadyMerged { into, commit_id });
        }
        for (at, task) in plan.iter().enumerate() {
            let (number, name) = (at + 1, &task.name);
            let size = messages
                .merge_size(&messages.commits(task.commits), &messages.files(task.files.len() as u64));
            self.say(&format!(
                "{number} {} {}  {}",
                paint(BOLD, &format!("{name:<width$}")),
                pad(&size, 20),
                self.expected(task)
            ));
            if is_work(&task.expected) {
                self.say(&paint(DIM, &format!("  {:<width$} {}", "", checks(task, messages))));
            }
            if let Some(mark) = task.tests.filter(|_| is_work(&task.expected)) {
                let text = changed_tests::mark(mark, messages);
                self.say(&paint(WARN, &format!("  {:<width$} ⚠ {text}", "")));
                self.tests.push((name.clone(), mark));
            }
            let unfinished = views.get(at).filter(|view| view.status != Status::Completed);
            if let Some(unfinished) = unfinished.filter(|_| is_work(&task.expected)) {
                let text = messages.merge_look_whether_done(&why_unfinished(unfinished, messages));
                self.say(&paint(WARN, &format!("  {:<width$} {text}", "")));
            }
            if task.uncommitted > 0 && is_work(&task.expected) {
                let text = messages.merge_uncommitted_kept(task.uncommitted as u64);
                self.say(&paint(WARN, &format!("  {:<width$} {text}", "")));
            }
        }
        if self.dry_run {
            self.say(&paint(DIM, &messages.merge_dry_run()));
        }
    }

    fn expected(&self, task: &Planned) -> String {
        let messages = self.messages;
        let text = match &task.expected {
            Expected::AlreadyThere => return messages.merge_expected_there(),
            Expected::Empty => return messages.merge_expected_empty(),
            Expected::FastForward => messages.merge_expected_fast_forward(),
            Expected::Merge => messages.merge_expected_merge(),
            Expected::Squash => messages.merge_expected_squash(),
            Expected::Conflicts { files, with } => {
                let helper = match &task.agent {
                    Some(agent) => messages.merge_agent_resolves(agent),
                    None => messages.merge_no_agent(),
                };
                let files = left_out::files(files, messages);
                return paint(
                    WARN,
                    &match with.is_empty() {
                        true => messages.merge_expected_conflicts(&files, &helper),
                        false => messages.merge_expected_conflicts_with(&with.join(", "), &files, &helper),
                    },
                );
            }
        };
        match (&task.agent, &self.query) {
            (_, None) => text,
            (Some(agent), Some(_)) => messages.merge_joined_by(&text, agent),
            (None, Some(_)) => paint(WARN, &messages.merge_no_agent_for_query(&text)),
        }
    }

    fn outcome_of(&mut self, branch: &str, name: &str, outcome: &Outcome) {
        match outcome {
            Outcome::Merged(done) => self.merged(name, done),
            Outcome::AlreadyThere(home) => {
                self.merged.push(name.to_owned());
                self.line(BOLD, "✓", name, &self.messages.merge_is_there(words::branch(&self.into)));
                self.home(home, name);
                self.json_result(name, TaskMerge::AlreadyThere { kept: home.refs.clone() });
            }
            Outcome::Empty => {
                self.line(DIM, "·", name, &self.messages.merge_nothing_to_merge());
                self.json_result(name, TaskMerge::Empty);
            }
            Outcome::LeftOut(why) => self.was_left_out(branch, name, why),
            Outcome::Halted => {
                self.left_out.push(name.to_owned());
                self.line(WARN, "■", name, &self.messages.merge_stopped());
                self.json_result(name, TaskMerge::Stopped);
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

    fn merged(&mut self, name: &str, done: &MergeSuccess) {
        self.merged.push(name.to_owned());
        let messages = self.messages;
        let (commit, checks) = (done.commit.short(), proven(&done.checks, messages));
        let text = match done.fast_forward {
            true => messages.merge_fast_forward_to(commit, &checks),
            false => messages.merge_merged_as(commit, &checks),
        };
        // Only proof is green: without a check it is just there.
        let style = if done.checks.is_empty() { BOLD } else { GOOD };
        self.line(style, "✓", name, &text);
        let tests = self.tests.iter().find(|(task, _)| task == name).map(|(_, mark)| *mark);
        if let Some(mark) = tests {
            self.more(&paint(WARN, &format!("⚠ {}", changed_tests::mark(mark, messages))));
        }
        if let Some(resolved) = &done.resolved {
            if !resolved.conflicts.is_empty() {
                self.more(
                    &messages
                        .merge_resolved(&resolved.agent, &left_out::files(&resolved.conflicts, messages)),
                );
            }
            let other: Vec<PathBuf> =
                resolved.touched.iter().filter(|path| !resolved.conflicts.contains(path)).cloned().collect();
            if !other.is_empty() {
                self.more(&messages.merge_also_changed(&resolved.agent, &left_out::files(&other, messages)));
            }
            for left in &resolved.left_out {
                self.more(&messages.merge_not_committed(&notices::left(left, messages)));
            }
            self.more(&messages.merge_agent_output(&messages.path(&resolved.record)));
        }
        if let Some(exposed) = done.checks.iter().find_map(|check| check.exposed.as_ref()) {
            self.more(&proof::exposed(exposed, messages));
        }
        self.home(&done.home, name);
        let resolved = done.resolved.as_ref();
        let check = |check: &Proven| MergedCheck {
            command: check.command.clone(),
            by_receipt: check.by_receipt,
            exposed: check.exposed.clone(),
        };
        let problem = |problem| not_at_home(problem, name, Messages::ENGLISH);
        self.json_result(
            name,
            TaskMerge::Merged {
                commit_id: done.commit.clone(),
                from_commit: done.from.clone(),
                fast_forward: done.fast_forward,
                checks: done.checks.iter().map(check).collect(),
                agent: resolved.map(|resolved| resolved.agent.clone()),
                conflicts: resolved.map(|resolved| shown(&resolved.conflicts)).unwrap_or_default(),
                tests,
                kept: done.home.refs.clone(),
                set_aside: done.home.set_aside.as_deref().map(display_path),
                problems: done.home.problems.iter().map(problem).collect(),
            },
        );
    }

    fn home(&self, home: &Home, name: &str) {
        if let Some(path) = home.set_aside.as_ref().filter(|_| home.uncommitted > 0) {
            let files = home.uncommitted as u64;
            self.more(&self.messages.merge_set_aside(files, &self.messages.path(path)));
        }
        if let Some(path) = home.set_aside.as_ref().filter(|_| home.ignored > 0) {
            let files = home.ignored as u64;
            self.more(&self.messages.merge_ignored_kept(files, &self.messages.path(path)));
        }
        for problem in &home.problems {
            self.more(&paint(WARN, &not_at_home(problem, name, self.messages)));
        }
    }

    fn was_left_out(&mut self, branch: &str, name: &str, why: &LeftOut) {
        self.left_out.push(name.to_owned());
        let messages = self.messages;
        let reason = left_out::why(why);
        let mut lines = reason.in_words(messages).lines();
        let first = lines.next().unwrap_or_default();
        if self.show.quiet {
            let text = messages.merge_task_left_out(name, &words::line(first, words::WHOLE));
            complain!("{}{text}", messages.label_error());
        }
        self.line(BAD, "✗", name, &messages.note_merge_left_out(&words::line(first, words::WHOLE)));
        for line in lines.take(20) {
            self.more(&words::line(line, 200));
        }
        if let Some(path) = why.look_at() {
            self.more(&messages.merge_see(&messages.path(path)));
        }
        self.more(&messages.merge_nothing_changed());
        if let Some(next) = next_step(words::branch(branch), name, why, messages) {
            self.more(&format!("{}{next}", messages.label_do()));
        }
        let (message, see) = (reason.english().to_owned(), why.look_at().map(|path| display_path(path)));
        self.json_result(name, TaskMerge::LeftOut { message, see });
    }

    fn sum(&self, from: &Oid, to: Option<&Oid>) {
        self.json(Object::MergeFinished(MergeFinished {
            into: self.branch(),
            from_commit: from.clone(),
            to_commit: to.cloned(),
            merged: self.merged.clone(),
            left_out: self.left_out.clone(),
        }));
        let branch = words::branch(&self.into);
        let moved = match to {
            Some(to) if to != from => format!("{branch}: {} → {}", from.short(), to.short()),
            _ => self.messages.merge_not_moved(branch),
        };
        let mut parts = vec![moved];
        if !self.merged.is_empty() {
            parts.push(self.messages.merge_count_merged(self.merged.len()));
        }
        if !self.left_out.is_empty() {
            parts.push(self.messages.merge_count_left_out(self.left_out.len(), &self.left_out.join(", ")));
        }
        self.say(&parts.join(" · "));
    }
}

fn next_step(branch: &str, name: &str, why: &LeftOut, messages: Messages) -> Option<String> {
    match why {
        LeftOut::Conflicts(_) => Some(messages.merge_do_agent_or_git(name, branch)),
        LeftOut::NoAgent => Some(messages.merge_do_name_agent()),
        LeftOut::Unresolved { .. } => Some(messages.merge_do_another_agent(name, branch)),
        LeftOut::Check { .. } => Some(messages.merge_do_make_checks_pass(name)),
        LeftOut::Tests(_) => Some(messages.merge_do_decide_about_tests(name)),
        LeftOut::Secret(_) => Some(messages.merge_do_allow_secret(name)),
        LeftOut::Setup { .. } => Some(messages.merge_do_fix_setup()),
        LeftOut::Moved | LeftOut::Switched => Some(messages.merge_do_again(name)),
        LeftOut::InTheWay(_) => Some(messages.merge_do_move_away(name)),
        LeftOut::Trouble(_) => None,
    }
}

fn checks(task: &Planned, messages: Messages) -> String {
    if task.checks.is_empty() {
        return messages.merge_no_checks();
    }
    let one = |(command, proven): &(String, bool)| match (words::line(command, 60), proven) {
        (command, true) => messages.merge_check_proven(&command),
        (command, false) => command,
    };
    messages.merge_checks(&task.checks.iter().map(one).collect::<Vec<_>>().join(" · "))
}

fn proven(checks: &[Proven], messages: Messages) -> String {
    let one = |check: &Proven| match (words::line(&check.command, 60), check.by_receipt) {
        (command, true) => messages.merge_passed_before(&command),
        (command, false) => format!(" · {command} ✓"),
    };
    checks.iter().map(one).collect()
}

fn shown(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| display_path(path)).collect()
}

fn planned_object(task: &Planned) -> PlannedTask {
    let (expected, conflicts, with): (ExpectedMerge, &[PathBuf], &[String]) = match &task.expected {
        Expected::AlreadyThere => (ExpectedMerge::AlreadyThere, &[], &[]),
        Expected::Empty => (ExpectedMerge::Empty, &[], &[]),
        Expected::FastForward => (ExpectedMerge::FastForward, &[], &[]),
        Expected::Merge => (ExpectedMerge::Merge, &[], &[]),
        Expected::Squash => (ExpectedMerge::Squash, &[], &[]),
        Expected::Conflicts { files, with } => (ExpectedMerge::Conflicts, files, with),
    };
    let check =
        |(command, proven): &(String, bool)| PlannedCheck { command: command.clone(), proven: *proven };
    PlannedTask {
        task: task.name.clone(),
        commits: task.commits,
        files: shown(&task.files),
        expected,
        conflicts: shown(conflicts),
        conflicts_with: with.to_vec(),
        checks: task.checks.iter().map(check).collect(),
        agent: task.agent.clone(),
        tests: task.tests,
        uncommitted_total: task.uncommitted as u64,
    }
}

impl MergeObserver for Shown {
    fn step(&mut self, step: &Step<'_>) {
        match step {
            Step::Begin(task) => self.task = (*task).to_owned(),
            Step::Resolving { agent, conflicts, record } => {
                let messages = self.messages;
                self.more(&match conflicts.is_empty() {
                    true => messages.merge_agent_integrates(agent),
                    false => {
                        messages.merge_agent_resolves_files(agent, &left_out::files(conflicts, messages))
                    }
                });
                self.json(Object::MergeAgent(MergeAgent {
                    task: self.task.clone(),
                    agent: (*agent).to_owned(),
                    conflicts: shown(conflicts),
                    output_file: display_path(record as &Path),
                }));
            }
            Step::Agent(event) => {
                let (at, task, event_object) = (Timestamp::now(), self.task.clone(), json::agent(event));
                let line = AgentLine { seq: None, sub: None, at, task, event: event_object };
                self.json(Object::AgentEvent(line));
                if let AgentEvent::ToolCall { name, summary, .. } = event {
                    self.more(&format!("▸ {}", words::line(&format!("{name} {summary}"), 80)));
                }
            }
            Step::Check(command) => self.more(&self.messages.merge_runs(&words::line(command, 80))),
            Step::Checked(_) => {}
            Step::Again => self.more(&self.messages.note_merge_again()),
        }
    }
}

impl ObserveMerge for Shown {
    fn begins(&mut self, halt: &Halt) -> Result<(), Failure> {
        halt_by_signals(halt)
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
