//! Tasks whose files are written by hand, for tests of screens: everything is read as it is in truth.

use std::fs;

use dacapo_app::operations::list::Scope;
use dacapo_app::present::listing::Entry;
use dacapo_core::overview::{Brief, Glance as _};
use dacapo_core::store::TaskDir;
use dacapo_core::view::TaskView;
use jiff::tz::TimeZone;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::Size;
use ratatui::style::Modifier;
use serde_json::{Value, json};

use super::chrome::{self, Picture};
use super::live::{State, Tasks};
use super::screen::{Context, Screen};
use super::testing::glyphs;
use super::theme::Theme;
use crate::messages::Messages;

/// A task directory that grows.
pub(crate) struct Sample {
    _scratch: tempfile::TempDir,
    pub(crate) name: String,
    pub(crate) dir: TaskDir,
    journal: String,
    seq: u64,
    turn: u32,
}

impl Sample {
    /// A loop named `fix-tests`, whose agent prints in this format.
    pub(crate) fn new(format: &str) -> Self {
        Self::with_spec(|spec| spec["agents"][0]["output"] = json!(format))
    }

    pub(crate) fn with_spec(change: impl FnOnce(&mut Value)) -> Self {
        let text = include_str!("../../../dacapo-core/tests/formats/v3/spec.json");
        let mut spec: Value = serde_json::from_str(text).unwrap();
        spec["name"] = json!("fix-tests");
        spec["agents"][0]["name"] = json!("claude");
        spec["policy"]["checks"] = json!(["cargo test"]);
        // The same check fails in every iteration of most samples.
        spec["policy"]["stall"] = json!(0);
        spec["policy"]["cap"]["iterations"] = json!(10);
        spec["prompt"] = json!("Fix the failing tests");
        change(&mut spec);
        let scratch = tempfile::tempdir().unwrap();
        let name = spec["name"].as_str().unwrap().to_owned();
        let path = scratch.path().join(&name);
        fs::create_dir_all(path.join("turns")).unwrap();
        fs::write(path.join("spec.json"), spec.to_string()).unwrap();
        let mut sample =
            Self { _scratch: scratch, name, dir: TaskDir::at(path), journal: String::new(), seq: 0, turn: 0 };
        sample.event(&json!({
            "type": "task_created", "kind": spec["kind"], "agent": "claude", "prompt": spec["prompt"],
            "max_iterations": 10, "completion_promise": null, "looping": true,
        }));
        sample.event(&json!({"type": "task_started", "pid": 4711, "version": "0.1.0"}));
        sample
    }

    /// A milestone named `auth`, up to a line of its journal; every turn has printed something.
    pub(crate) fn milestone(until: u64) -> Self {
        let spec = include_str!("../../../dacapo-app/tests/fixtures/milestone/spec.json");
        let journal = include_str!("../../../dacapo-app/tests/fixtures/milestone/journal.jsonl");
        let mut spec: Value = serde_json::from_str(spec).unwrap();
        for agent in 0..2 {
            spec["agents"][agent]["output"] = json!("text");
        }
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("auth");
        fs::create_dir_all(path.join("turns")).unwrap();
        fs::write(path.join("spec.json"), spec.to_string()).unwrap();
        let dir = TaskDir::at(path);
        let mut kept = String::new();
        for line in journal.lines() {
            let event: Value = serde_json::from_str(line).unwrap();
            if event["seq"].as_u64().unwrap() > until {
                break;
            }
            kept.push_str(&format!("{line}\n"));
            if event["type"] == "turn_started" {
                let turn = u32::try_from(event["turn"].as_u64().unwrap()).unwrap();
                let said = format!("I look at the **work** of turn {turn}.\n- first this\n- then that\n");
                fs::write(dir.turn_path(turn, "raw"), said).unwrap();
            }
        }
        fs::write(dir.journal_path(), &kept).unwrap();
        Self { _scratch: scratch, name: "auth".into(), dir, journal: kept, seq: until + 1, turn: 0 }
    }

    /// The milestone when it is paused: the first line at which somebody is asked.
    pub(crate) fn paused() -> Self {
        let asked = |seq: &u64| Self::milestone(*seq).view().needs.is_some();
        Self::milestone((0..200).find(asked).unwrap())
    }

    /// The task, as its journal has it.
    pub(crate) fn view(&self) -> TaskView {
        TaskView::fold(&self.dir, dacapo_core::engine::Kinds::default()).unwrap()
    }

    /// Writes an event down; the sample clock moves a minute.
    pub(crate) fn event(&mut self, event: &Value) -> &mut Self {
        let mut line = json!({
            "v": 3, "seq": self.seq, "at": format!("2026-11-15T21:{:02}:00Z", self.seq % 60),
            "elapsed_seconds": self.seq * 60, "task": self.name,
        });
        line.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
        self.journal.push_str(&format!("{line}\n"));
        self.seq += 1;
        fs::write(self.dir.journal_path(), &self.journal).unwrap();
        self
    }

    pub(crate) fn workspace(&mut self) -> &mut Self {
        let base = "c".repeat(40);
        let (path, branch) = (format!("/work/{}", self.name), format!("dacapo/{}", self.name));
        self.event(&json!({"type": "workspace_ready", "path": path, "branch": branch, "base_commit": base}))
    }

    /// An iteration whose turn prints this, as far as that has come.
    pub(crate) fn turn(&mut self, iteration: u32, output: &[u8]) -> &mut Self {
        if self.turn == 0 || iteration > 0 {
            self.event(
                &json!({"type": "iteration_started", "iteration": iteration, "start_commit": "c".repeat(40)}),
            );
        }
        let turn = self.turn;
        self.turn += 1;
        self.event(&json!({"type": "turn_started", "turn": turn, "iteration": iteration, "agent": "claude", "session_id": null, "continued": false}));
        fs::write(self.dir.turn_path(turn, "raw"), output).unwrap();
        fs::write(self.dir.turn_path(turn, "err"), "warning: a cache was rebuilt\n").unwrap();
        self
    }

    /// The turn at work prints more.
    pub(crate) fn print(&self, output: &[u8]) {
        use std::io::Write as _;
        let path = self.dir.turn_path(self.turn - 1, "raw");
        fs::OpenOptions::new().append(true).open(path).unwrap().write_all(output).unwrap();
    }

    pub(crate) fn turn_ends(&mut self, iteration: u32, promise: bool) -> &mut Self {
        let turn = self.turn - 1;
        self.event(&json!({
            "type": "turn_finished", "turn": turn, "iteration": iteration, "end": "done", "session_id": null, "promise": promise,
            "summary": "Handle empty input", "tokens": {"input": 61_000, "output": 1_200, "cached": 0}, "cost_usd": 0.4,
            "duration_seconds": 170, "output_bytes": 335, "exit_code": 0,
        }))
    }

    /// What the iteration came to: a commit, and one check that passed or not.
    pub(crate) fn iteration_ends(&mut self, iteration: u32, promise: bool, passed: bool) -> &mut Self {
        let commit = char::from(b'1' + u8::try_from(iteration).unwrap()).to_string().repeat(40);
        let files = json!(["src/parse.rs", "tests/parse.rs"]);
        let exit_code = if passed { 0 } else { 101 };
        let tail = if passed {
            "test result: ok. 212 passed; 0 failed\n"
        } else {
            "test result: FAILED. 208 passed; 4 failed\n"
        };
        let plan = json!({"type": "commit_intent", "iteration": iteration, "commit_id": commit, "parent_commit": "c".repeat(40), "subject": "Handle empty input", "changed_files": files, "changed_files_total": 2});
        self.event(&plan);
        self.event(&json!({"type": "committed", "iteration": iteration, "commit_id": commit, "subject": "Handle empty input"}));
        self.event(&json!({
            "type": "check_finished", "phase": "iteration", "iteration": iteration, "index": 0, "command": "cargo test",
            "exit_code": exit_code, "timed_out": false, "duration_seconds": 9, "commit_id": commit, "tail": tail, "fingerprint": "7f",
        }));
        self.event(&json!({
            "type": "iteration_finished", "iteration": iteration, "commit_id": commit, "changed_files": files, "changed_files_total": 2,
            "summary": "Handle empty input", "success": true, "outcome": "success", "promise": promise, "timestamp": "2026-11-15T21:00:17Z",
            "tokens": {"input": 61_000, "output": 1_200, "cached": 0}, "cost_usd": 0.4, "duration_seconds": 180,
            "checks": [{"command": "cargo test", "phase": "iteration", "passed": passed, "exit_code": exit_code, "timed_out": false}],
        }))
    }

    /// A loop whose agent asks this in its second iteration.
    pub(crate) fn asking(name: &str, question: &str) -> Self {
        let mut sample = Self::with_spec(|spec| {
            spec["name"] = json!(name);
            spec["prompt"] = json!("Sign the releases");
        });
        sample.workspace().baseline();
        sample.turn(0, b"x\n").turn_ends(0, false).iteration_ends(0, false, false);
        sample.turn(1, b"x\n").turn_ends(1, false).asks(question);
        sample
    }

    /// Its agent cannot go on without a person.
    pub(crate) fn asks(&mut self, question: &str) -> &mut Self {
        let choices = json!([{"choice": "answer"}, {"choice": "kill"}]);
        self.event(&json!({
            "type": "paused", "needs": {"kind": "blocked", "question": question, "choices": choices},
        }))
    }

    /// It is over, and proven on its last commit.
    pub(crate) fn proven(&mut self, iterations: u32) -> &mut Self {
        let commit = char::from(b'0' + u8::try_from(iterations).unwrap()).to_string().repeat(40);
        let last_line = "test result: ok. 212 passed; 0 failed";
        self.event(&json!({
            "type": "task_finished", "outcome": "completed", "stop_reason": "checks", "verified": true,
            "iterations_attempted": iterations, "iterations_succeeded": iterations, "iterations_failed": 0,
            "tokens": {"input": 183_000, "output": 3_600, "cached": 0}, "cost_usd": 1.2,
            "base_commit": "c".repeat(40), "last_commit": commit, "trust_files": ["tests/parse.rs"],
            "proof_state": {"state": "proven", "commit_id": commit},
            "proof": [{"command": "cargo test", "before": false, "after": true, "last_line": last_line, "commit_id": commit}],
        }))
    }

    pub(crate) fn baseline(&mut self) -> &mut Self {
        self.event(&json!({
            "type": "check_finished", "phase": "baseline", "iteration": null, "index": 0, "command": "cargo test",
            "exit_code": 101, "timed_out": false, "duration_seconds": 8, "commit_id": "c".repeat(40),
            "tail": "test result: FAILED. 208 passed; 4 failed\n", "fingerprint": "7f",
        }))
    }
}

/// What a person sees, line by line; a wide character takes the place of two.
fn text_of(buffer: &Buffer) -> String {
    let mut out = String::new();
    for y in 0..buffer.area.height {
        let mut line = String::new();
        let mut hidden = 0;
        for x in 0..buffer.area.width {
            if hidden > 0 {
                hidden -= 1;
                continue;
            }
            let symbol = buffer[(x, y)].symbol();
            hidden = crate::tui::text::width(symbol).saturating_sub(1);
            line.push_str(symbol);
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// A line of Claude's output.
pub(crate) fn claude_says(text: &str) -> String {
    let message = json!({"role": "assistant", "content": [{"type": "text", "text": text}]});
    format!("{}\n", json!({"type": "assistant", "message": message, "session_id": "s"}))
}

/// Claude uses a tool, and what the tool answers.
pub(crate) fn claude_calls(id: &str, name: &str, input: &Value, answer: (&str, bool)) -> String {
    let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": name, "input": input}]});
    let (output, failed) = answer;
    let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed}]});
    let call = json!({"type": "assistant", "message": call, "session_id": "s"});
    let result = json!({"type": "user", "message": result, "session_id": "s"});
    format!("{call}\n{result}\n")
}

pub(crate) fn claude_begins() -> String {
    format!("{}\n", json!({"type": "system", "subtype": "init", "session_id": "s", "tools": []}))
}

/// Everything that a screen may know, at a moment that does not move.
pub(crate) struct Stage {
    tasks: Tasks,
    messages: Messages,
    zone: TimeZone,
}

impl Stage {
    /// With this one task.
    pub(crate) fn new(view: &TaskView, messages: Messages) -> Self {
        let mut tasks = Tasks::new(Scope::Repository);
        tasks.state = State::Known;
        tasks.entries.push(Entry { brief: Brief::of(view), occupies: None, radar: None });
        Self { tasks, messages, zone: TimeZone::UTC }
    }

    pub(crate) fn brief(&self) -> &Brief {
        &self.tasks.entries[0].brief
    }

    pub(crate) fn context(&self, columns: u16, rows: u16) -> Context<'_> {
        Context {
            messages: self.messages,
            theme: Theme::Coloured,
            glyphs: glyphs(self.messages.language()),
            tasks: &self.tasks,
            now: "2026-11-15T22:00:00Z".parse().unwrap(),
            zone: &self.zone,
            top: None,
            page: Size::new(columns, rows - 2),
        }
    }

    /// The whole terminal, as text.
    pub(crate) fn draw(&self, screen: &dyn Screen, columns: u16, rows: u16) -> String {
        text_of(&self.drawn(screen, columns, rows))
    }

    /// Only what is drawn in reverse, line by line.
    pub(crate) fn reversed(&self, screen: &dyn Screen, columns: u16, rows: u16) -> Vec<String> {
        let mut buffer = self.drawn(screen, columns, rows);
        for cell in &mut buffer.content {
            if !cell.modifier.contains(Modifier::REVERSED) {
                cell.set_symbol(" ");
            }
        }
        let lines = text_of(&buffer);
        lines.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }

    fn drawn(&self, screen: &dyn Screen, columns: u16, rows: u16) -> Buffer {
        let context = self.context(columns, rows);
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        let draw = |frame: &mut ratatui::Frame<'_>| {
            let titles = vec![screen.title(&context)];
            let picture = Picture { visible: vec![screen], titles, notice: None, acting: String::new() };
            chrome::draw(frame, &picture, &context);
            glyphs(self.messages.language()).translate(frame.buffer_mut());
        };
        terminal.draw(draw).unwrap();
        terminal.backend().buffer().clone()
    }
}
