//! What the model can do: run commands, and read, write and search files of the workspace.

mod edit;
mod place;
mod read;
mod search;
mod shell;

use std::path::Path;

use dacapo_core::context::{cut, cut_columns};
use dacapo_core::spec::Approval;
use genai::chat::Tool;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::answer::Asked;
use place::Place;

/// The tools of a turn.
#[derive(Debug)]
pub(super) struct Tools {
    place: Place,
    approval: Approval,
    /// A variable that the commands of the model do not get: its own key is none of its business.
    hidden: Option<String>,
}

/// What a tool answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ran {
    pub(super) output: String,
    pub(super) how: ToolOutcome,
}

/// How a call went.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ToolOutcome {
    Done,
    Failed,
    /// It is not allowed here.
    Refused,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Shell,
    Read,
    Search,
    Edit,
    Write,
}

impl Kind {
    const ALL: [Kind; 5] = [Kind::Shell, Kind::Read, Kind::Search, Kind::Edit, Kind::Write];

    fn name(self) -> &'static str {
        match self {
            Kind::Shell => "shell",
            Kind::Read => "read_file",
            Kind::Search => "search",
            Kind::Edit => "edit_file",
            Kind::Write => "write_file",
        }
    }

    fn allowed(self, approval: Approval) -> bool {
        match (self, approval) {
            (Kind::Read | Kind::Search, _) => true,
            (Kind::Edit | Kind::Write, Approval::Auto | Approval::Edits) => true,
            (Kind::Shell, Approval::Auto) => true,
            (Kind::Shell, Approval::Edits | Approval::Ask | Approval::ReadOnly) => false,
            (Kind::Edit | Kind::Write, Approval::Ask | Approval::ReadOnly) => false,
        }
    }

    fn described(self) -> &'static str {
        match self {
            Kind::Shell => {
                "Run a command with `sh -c` in the workspace. Standard input is closed. Returns output and exit code."
            }
            Kind::Read => "Read a text file of the workspace, or some of its lines.",
            Kind::Search => {
                "Search the files of the workspace (those that git ignores are left out). Returns path:line: text."
            }
            Kind::Edit => {
                "Replace a piece of a file. `old` must be exactly as in the file and occur once; give enough lines."
            }
            Kind::Write => "Create a file, or replace all of one. Directories are made as needed.",
        }
    }

    fn schema(self) -> Value {
        let (properties, required): (Value, &[&str]) = match self {
            Kind::Shell => (
                json!({
                    "command": {"type": "string"},
                    "timeout_seconds": {"type": "integer", "description": "Default 600"},
                }),
                &["command"],
            ),
            Kind::Read => (
                json!({
                    "path": {"type": "string"},
                    "first_line": {"type": "integer", "description": "From 1"},
                    "last_line": {"type": "integer"},
                }),
                &["path"],
            ),
            Kind::Search => (
                json!({
                    "pattern": {"type": "string", "description": "A regular expression"},
                    "literal": {"type": "boolean", "description": "The pattern is plain text"},
                    "path": {"type": "string", "description": "Only this directory or file"},
                    "names": {"type": "boolean", "description": "Look at paths of files, not into them"},
                }),
                &["pattern"],
            ),
            Kind::Edit => (
                json!({
                    "path": {"type": "string"},
                    "old": {"type": "string"},
                    "new": {"type": "string"},
                }),
                &["path", "old", "new"],
            ),
            Kind::Write => {
                (json!({"path": {"type": "string"}, "content": {"type": "string"}}), &["path", "content"])
            }
        };
        json!({"type": "object", "properties": properties, "required": required})
    }
}

impl Tools {
    pub(super) fn new(workspace: &Path, approval: Approval, hidden: Option<String>) -> Result<Self, String> {
        Ok(Tools { place: Place::open(workspace)?, approval, hidden })
    }

    /// The directory it is about.
    pub(super) fn workspace(&self) -> &Path {
        self.place.path()
    }

    /// What the model is told of.
    pub(super) fn offered(&self) -> Vec<Tool> {
        let kinds = Kind::ALL.into_iter().filter(|kind| kind.allowed(self.approval));
        kinds
            .map(|kind| Tool::new(kind.name()).with_description(kind.described()).with_schema(kind.schema()))
            .collect()
    }

    /// A line for people.
    pub(super) fn summary(asked: &Asked) -> String {
        let text = |key: &str| asked.call.arguments.get(key).and_then(Value::as_str).unwrap_or_default();
        let told = match Kind::ALL.into_iter().find(|kind| kind.name() == asked.call.name) {
            Some(Kind::Shell) => text("command"),
            Some(Kind::Read | Kind::Edit | Kind::Write) => text("path"),
            Some(Kind::Search) => text("pattern"),
            None => "",
        };
        let line = told.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let line: String = line.chars().take(1000).map(|c| if c.is_control() { ' ' } else { c }).collect();
        cut_columns(line.trim(), 160)
    }

    /// Carries a call out. Whatever the model wrote, the answer is for the model.
    pub(super) fn run(&self, asked: &Asked) -> Ran {
        let name = asked.call.name.as_str();
        let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.name() == name) else {
            let names: Vec<&str> = self.offered_names().collect();
            let output =
                format!("there is no tool `{}`; there are {}", name.escape_debug(), names.join(", "));
            return Ran { output, how: ToolOutcome::Failed };
        };
        if !kind.allowed(self.approval) {
            let output = format!("{name} is not allowed here (--approval {})", self.approval.as_str());
            return Ran { output, how: ToolOutcome::Refused };
        }
        if let Some(why) = &asked.malformed {
            let output =
                format!("{why}. If the answer was cut at its length limit, do it in smaller pieces.");
            return Ran { output, how: ToolOutcome::Failed };
        }
        let arguments = &asked.call.arguments;
        let done = match kind {
            Kind::Shell => {
                fit(arguments).and_then(|wanted| shell::run(&self.place, self.hidden.as_deref(), &wanted))
            }
            Kind::Read => fit(arguments).and_then(|wanted| read::run(&self.place, &wanted)),
            Kind::Search => fit(arguments).and_then(|wanted| search::run(&self.place, &wanted)),
            Kind::Edit => fit(arguments).and_then(|wanted| edit::edit(&self.place, &wanted)),
            Kind::Write => fit(arguments).and_then(|wanted| edit::write(&self.place, &wanted)),
        };
        match done {
            Ok(output) => Ran { output, how: ToolOutcome::Done },
            Err(output) => Ran { output, how: ToolOutcome::Failed },
        }
    }

    fn offered_names(&self) -> impl Iterator<Item = &'static str> {
        let approval = self.approval;
        Kind::ALL.into_iter().filter(move |kind| kind.allowed(approval)).map(Kind::name)
    }
}

fn fit<T: DeserializeOwned>(arguments: &Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(arguments.clone()))
        .map_err(|error| cut(&format!("the arguments do not fit the tool: {error}"), 500))
}

#[cfg(test)]
mod tests {
    use super::super::conversation::Call;
    use super::*;

    fn asked(name: &str, arguments: Value) -> Asked {
        let Value::Object(arguments) = arguments else { panic!() };
        Asked { call: Call { id: "1".into(), name: name.into(), arguments }, malformed: None }
    }

    fn tools(dir: &Path, approval: Approval) -> Tools {
        Tools::new(dir, approval, None).unwrap()
    }

    #[test]
    fn a8_only_what_is_approved_is_offered_and_carried_out() {
        let dir = tempfile::tempdir().unwrap();
        for (approval, names) in [
            (Approval::Auto, &["shell", "read_file", "search", "edit_file", "write_file"][..]),
            (Approval::Edits, &["read_file", "search", "edit_file", "write_file"]),
            (Approval::ReadOnly, &["read_file", "search"]),
        ] {
            let tools = tools(dir.path(), approval);
            let offered: Vec<String> =
                tools.offered().into_iter().map(|tool| tool.name.to_string()).collect();
            assert_eq!(offered, names);
            for (name, arguments) in [
                ("shell", json!({"command": "touch shell"})),
                ("write_file", json!({"path": "write", "content": ""})),
                ("edit_file", json!({"path": "x", "old": "a", "new": "b"})),
            ] {
                let ran = tools.run(&asked(name, arguments));
                assert_eq!(ran.how == ToolOutcome::Refused, !names.contains(&name), "{name}: {ran:?}");
            }
            assert_eq!(dir.path().join("shell").exists(), approval == Approval::Auto);
            for name in ["shell", "write"] {
                let _ = std::fs::remove_file(dir.path().join(name));
            }
        }
    }

    #[test]
    fn what_the_model_got_wrong_is_told_to_the_model() {
        let dir = tempfile::tempdir().unwrap();
        let tools = tools(dir.path(), Approval::Edits);
        let unknown = tools.run(&asked("bro\u{7}wser", json!({})));
        assert_eq!(
            unknown.output,
            "there is no tool `bro\\u{7}wser`; there are read_file, search, edit_file, write_file"
        );
        let missing = tools.run(&asked("read_file", json!({})));
        assert!(missing.output.contains("missing field `path`"), "{}", missing.output);
        let wrong = tools.run(&asked("read_file", json!({"path": 7})));
        assert!(wrong.output.contains("invalid type"), "{}", wrong.output);
        let broken = Asked { malformed: Some("not JSON".into()), ..asked("read_file", json!({})) };
        assert!(tools.run(&broken).output.contains("smaller pieces"));
    }

    #[test]
    fn people_see_one_short_line() {
        let summary = |name: &str, arguments| Tools::summary(&asked(name, arguments));
        assert_eq!(summary("shell", json!({"command": "\n  cargo test\nls"})), "cargo test");
        assert_eq!(summary("shell", json!({"command": "a\u{1b}[2Jb\tc"})), "a [2Jb c");
        assert_eq!(summary("read_file", json!({"path": ["x"]})), "");
        assert_eq!(summary("what", json!({"path": "x"})), "");
        assert!(summary("shell", json!({"command": "繼".repeat(10_000)})).chars().count() <= 80);
    }
}
