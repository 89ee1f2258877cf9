//! What a `.anima/` directory holds, taken over. The source is only read.
//!
//! ```text
//! VISION.md                      at the top of the repository: read where it is
//! .anima/soul.md, VISION.md, memory/project.md
//! .anima/milestones/ID.md        what a milestone is to bring
//! .anima/milestones/ID.json      what came of it: status, iteration_count, branch_name, base_commit, tokens_used, cost_usd
//! .anima/milestones.json         the same of all of them, in a list, with names in camelCase
//! .anima/config.json             settings
//! ```

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use dacapo_core::spec::TaskName;
use dacapo_core::task::milestone::{Definition, MOST_BYTES};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::InitResult;
use crate::error::Failure;
use crate::messages::{Messages, Text, say};
use crate::milestones::{Folder, read_text};
use crate::new_files::NewFile;
use crate::present::errors;
use crate::present::json::objects::ImportedFile;

/// Where it is looked for.
pub(super) const DIRECTORY: &str = ".anima";
/// No file of settings or state is larger.
const MOST_JSON: usize = 4 << 20;
/// Texts for agents, and where they go.
const TEXTS: [(&str, &str); 3] = [
    ("soul.md", ".dacapo/soul.md"),
    ("VISION.md", ".dacapo/VISION.md"),
    ("memory/project.md", ".dacapo/memory/project.md"),
];
/// What is said of a file by its name.
type Said = fn(Messages, &str) -> String;
/// What has no place here.
const LEFT: [(&str, Said); 3] = [
    ("inbox", Messages::init_ideas_left),
    ("inbox.json", Messages::init_ideas_left),
    ("memory/iterations", Messages::init_summaries_left),
];

/// One thing that was taken over, or was not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Imported {
    from: String,
    to: Option<String>,
    status: Option<String>,
    problem: Option<Text>,
}

impl Imported {
    pub fn file(&self) -> ImportedFile {
        ImportedFile {
            from: self.from.clone(),
            to: self.to.clone(),
            status: self.status.clone(),
            problem: self.problem.as_ref().map(|problem| problem.english().to_owned()),
        }
    }

    /// `milestones/M4.md → .dacapo/milestones/m4.md, completed; line 7: …`
    pub fn in_words(&self, messages: Messages) -> String {
        let to = self.to.as_ref().map_or_else(String::new, |to| format!(" → {to}"));
        let status = self.status.as_ref().map_or_else(String::new, |status| format!(", {status}"));
        let said = format!("{}{to}{status}", self.from);
        match &self.problem {
            Some(problem) => messages.clauses(&said, problem.in_words(messages)),
            None => said,
        }
    }
}

/// A directory to take over from.
pub(super) struct Anima {
    path: PathBuf,
    /// Its settings; empty where it has none.
    settings: Value,
    /// What came of milestones, by their names in small letters.
    states: BTreeMap<String, Value>,
    /// Files that do not read.
    problems: Vec<Text>,
}

impl Anima {
    /// Reads what is there. Nothing is written.
    pub(super) fn at(path: &Path) -> Result<Self, Failure> {
        if !path.is_dir() {
            return Err(Failure::usage(say(|m| m.init_no_directory(&path.display().to_string())))
                .kept(say(Messages::kept_nothing_written))
                .hint(say(Messages::init_name_directory)));
        }
        let mut problems = Vec::new();
        let mut parsed = |name: &str| match json_of(&path.join(name)) {
            Ok(found) => found,
            Err(error) => {
                problems.push(say(|m| m.error_of(name, error.in_words(m))));
                None
            }
        };
        let settings = parsed("config.json").unwrap_or_default();
        let mut states = BTreeMap::new();
        if let Some(Value::Array(all)) = parsed("milestones.json") {
            for state in all {
                if let Some(id) = state["id"].as_str() {
                    states.insert(id.to_lowercase(), state.clone());
                }
            }
        }
        for name in names(&path.join("milestones")) {
            let Some(id) = name.strip_suffix(".json") else { continue };
            if let Some(state) = parsed(&format!("milestones/{name}")) {
                // The file it is about, where it has another name.
                let file = state["file"].as_str().map(Path::new).and_then(Path::file_stem);
                let file = file.and_then(OsStr::to_str).unwrap_or(id).to_lowercase();
                states.insert(file, state.clone());
                states.insert(id.to_lowercase(), state);
            }
        }
        Ok(Self { path: path.to_owned(), settings, states, problems })
    }

    /// What was set there and can be set here.
    pub(super) fn settings(&self) -> Vec<(&'static str, String)> {
        let mut set = Vec::new();
        let rounds = self.settings["max_iterations_per_milestone"].as_u64();
        if let Some(rounds) = rounds.filter(|rounds| (1..=10_000).contains(rounds)) {
            set.push(("max_iterations_per_milestone", rounds.to_string()));
        }
        if let Some(limit) = self.settings["agent_timeout_ms"].as_u64().filter(|limit| *limit >= 1000) {
            set.push(("call_timeout", format!("\"{}s\"", limit / 1000)));
        }
        set
    }

    /// The sample of Dacapo's settings with these set.
    pub(super) fn put_in(config: &str, settings: &[(&str, String)]) -> String {
        let mut lines: Vec<String> = config.lines().map(str::to_owned).collect();
        for (key, value) in settings {
            let sample = format!("#{key} = ");
            if let Some(line) = lines.iter_mut().find(|line| line.starts_with(&sample)) {
                *line = format!("{key} = {value}");
            }
        }
        lines.join("\n") + "\n"
    }

    /// Copies what has a place here.
    pub(super) fn import(&self, founded: &mut InitResult) -> Result<(), Failure> {
        for (from, to) in TEXTS {
            if self.path.join(from).symlink_metadata().is_ok() {
                self.copy(from, to, founded)?;
            }
        }
        let mut taken = Vec::new();
        for name in names(&self.path.join("milestones")) {
            // A draft is what an agent is still writing.
            if let Some(stem) = name.strip_suffix(".md").filter(|stem| !stem.ends_with(".draft")) {
                let id = id_of(stem, &taken);
                taken.push(id.clone());
                self.milestone(&name, stem, &id, founded)?;
            }
        }
        let left = LEFT.iter().filter(|(name, _)| self.path.join(name).exists());
        founded.notes.extend(left.map(|(name, why)| say(|m| why(m, name))));
        if self.settings["auto_start"] == true {
            founded.notes.push(say(Messages::init_auto_start));
        }
        founded.notes.extend(self.problems.iter().cloned());
        Ok(())
    }

    fn copy(&self, from: &str, to: &str, founded: &mut InitResult) -> Result<(), Failure> {
        let (to, problem) = match read_text(&self.path.join(from), MOST_BYTES) {
            Ok(text) => match founded.create_new(to, &text)? {
                NewFile::Created => (Some(to.to_owned()), None),
                NewFile::Exists => (None, Some(say(|m| m.init_already_exists(to)))),
            },
            Err(error) => (None, Some(error)),
        };
        founded.imported.push(Imported { from: from.to_owned(), to, status: None, problem });
        Ok(())
    }

    fn milestone(
        &self,
        name: &str,
        stem: &str,
        id: &TaskName,
        founded: &mut InitResult,
    ) -> Result<(), Failure> {
        let from = format!("milestones/{name}");
        let mut imported = Imported { from: from.clone(), to: None, status: None, problem: None };
        let text = match read_text(&self.path.join(&from), MOST_BYTES) {
            Ok(text) => text,
            Err(error) => {
                imported.problem = Some(error);
                founded.imported.push(imported);
                return Ok(());
            }
        };
        let state = self.states.get(&stem.to_lowercase());
        let text = with_front_matter(&text, state, &self.settings);
        let to = Folder::relative(id);
        if founded.create_new(&to, &text)? == NewFile::Exists {
            // What came of another milestone must not be told of the one that is there.
            imported.problem = Some(say(|m| m.init_already_exists(&to)));
            founded.imported.push(imported);
            return Ok(());
        }
        let status = state.map_or("pending", status);
        imported.status = Some(status.to_owned());
        imported.problem = Definition::parse(&text).err().map(|error| errors::text(&error));
        if let Some(state) = state.filter(|_| status != "pending") {
            let mirror = to.replace(".md", ".json");
            founded.create_new(&mirror, &format!("{:#}\n", mirrored(state, status, id)))?;
        }
        imported.to = Some(to);
        founded.imported.push(imported);
        Ok(())
    }
}

/// A value by either of its names.
fn field<'a>(state: &'a Value, snake: &str, camel: &str) -> &'a Value {
    if state[snake].is_null() { &state[camel] } else { &state[snake] }
}

/// The word for it here. What was begun there cannot go on here by itself: its conversations are gone.
fn status(state: &Value) -> &'static str {
    match state["status"].as_str().unwrap_or_default().replace('-', "_").as_str() {
        "completed" => "completed",
        "in_progress" | "paused" => "paused",
        "awaiting_review" => "awaiting_review",
        "failed" | "abandoned" | "cancelled" | "closed" => "abandoned",
        _ => "pending",
    }
}

/// What came of it, as Dacapo mirrors it (M8).
fn mirrored(state: &Value, status: &str, id: &TaskName) -> Value {
    let count = field(state, "iteration_count", "iterationCount").as_u64().unwrap_or(0);
    let mut mirror = Map::new();
    mirror.insert("id".into(), id.as_str().into());
    mirror.insert("status".into(), status.into());
    mirror.insert("iteration_count".into(), count.into());
    mirror.insert("rounds".into(), count.into());
    mirror.insert("consecutive_rejections".into(), 0.into());
    mirror.insert("branch_name".into(), field(state, "branch_name", "branchName").clone());
    mirror.insert("base_commit".into(), field(state, "base_commit", "baseCommit").clone());
    mirror.insert(
        "tokens_used".into(),
        field(state, "tokens_used", "totalTokens").as_u64().unwrap_or(0).into(),
    );
    mirror.insert("cost_usd".into(), field(state, "cost_usd", "totalCost").clone());
    mirror.insert("imported_from".into(), DIRECTORY.into());
    Value::Object(mirror)
}

/// The text with what was known beside it, where it has no front matter of its own.
fn with_front_matter(text: &str, state: Option<&Value>, settings: &Value) -> String {
    if text.lines().next().is_some_and(|line| line.trim_end() == "---") {
        return text.to_owned();
    }
    let mut lines = Vec::new();
    let nothing = Value::Null;
    let state = state.unwrap_or(&nothing);
    let created = field(state, "created_at", "createdAt").as_str();
    if let Some(created) = created.and_then(|at| at.parse::<jiff::Timestamp>().ok()) {
        lines.push(format!("created: {created}"));
    }
    let review = field(state, "requires_human_review", "requiresHumanReview");
    if review.as_bool().unwrap_or(settings["default_requires_human_review"] == true) {
        lines.push("requires_human_review: true".to_owned());
    }
    if lines.is_empty() { text.to_owned() } else { format!("---\n{}\n---\n\n{text}", lines.join("\n")) }
}

/// An ID as near to the old name as one can be, and not one of these.
fn id_of(stem: &str, taken: &[TaskName]) -> TaskName {
    let small = stem.to_lowercase();
    let plain = |c: char| if c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' { c } else { '-' };
    let plain: String = small.chars().map(plain).take(64).collect();
    let id = TaskName::parse(plain.trim_matches('-')).unwrap_or_else(|_| TaskName::from_prompt("milestone"));
    if !taken.contains(&id) {
        return id;
    }
    (2..).map(|number| id.numbered(number)).find(|id| !taken.contains(id)).unwrap_or(id)
}

/// Names of the files of a directory, in order.
fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    // A name that is not UTF-8 is not found again by what stands for it here, and so it is reported.
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| !name.starts_with('.') && name != "README.md");
    names.sort();
    names
}

/// None: there is no such file.
fn json_of(path: &Path) -> Result<Option<Value>, Text> {
    if path.symlink_metadata().is_err() {
        return Ok(None);
    }
    let text = read_text(path, MOST_JSON)?;
    serde_json::from_str(&text).map(Some).map_err(|error| say(|m| m.init_not_json(&error.to_string())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn m1_old_names_become_ids() {
        let taken = [TaskName::parse("m1").unwrap()];
        for (stem, id) in [
            ("M4-iteration-loop", "m4-iteration-loop"),
            ("0b1c-uuid", "0b1c-uuid"),
            ("M1", "m1-2"),
            ("a b.c", "a-b-c"),
            ("里程碑", "milestone"),
            ("-x-", "x"),
        ] {
            assert_eq!(id_of(stem, &taken).as_str(), id, "{stem}");
        }
        assert!(id_of(&"x".repeat(100), &[]).as_str().len() == 64);
    }

    #[test]
    fn m1_what_is_known_beside_the_text_comes_before_it() {
        let state = json!({ "created_at": "2026-02-28T00:00:00Z", "requires_human_review": true });
        let text = with_front_matter("# T\n", Some(&state), &Value::Null);
        assert_eq!(text, "---\ncreated: 2026-02-28T00:00:00Z\nrequires_human_review: true\n---\n\n# T\n");
        assert_eq!(with_front_matter("---\na: b\n---\n", Some(&state), &Value::Null), "---\na: b\n---\n");
        assert_eq!(with_front_matter("# T\n", None, &Value::Null), "# T\n");
        let asks = json!({ "default_requires_human_review": true });
        assert_eq!(with_front_matter("x", None, &asks), "---\nrequires_human_review: true\n---\n\nx");
    }

    #[test]
    fn m1_old_words_for_the_status_are_understood() {
        for (old, new) in [
            ("completed", "completed"),
            ("in-progress", "paused"),
            ("in_progress", "paused"),
            ("awaiting_review", "awaiting_review"),
            ("failed", "abandoned"),
            ("pending", "pending"),
            ("draft", "pending"),
            ("not-started", "pending"),
            ("", "pending"),
        ] {
            assert_eq!(status(&json!({ "status": old })), new, "{old}");
        }
    }
}
