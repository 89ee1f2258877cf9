//! What a tool is used for, from its arguments, whoever the agent is.

use serde::Deserialize;
use serde::de::Deserializer;
use serde_json::value::RawValue;

use super::excerpt::{EXCERPT, one_line};
use super::raw_json::{self, Object};

/// How many steps of a plan are kept.
const MOST_STEPS: usize = 100;

/// The arguments that can stand for a call, in the order of what says most to people.
const BY_RANK: [&str; 19] = [
    "command",
    "cmd",
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "notebook_path",
    "fileName",
    "pattern",
    "query",
    "url",
    "dir_path",
    "skill",
    "description",
    "prompt",
    "title",
    "fact",
    "agent_name",
    // Of a call to a tool that is not there.
    "tool",
];

/// What is kept of the arguments of a tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Arguments {
    /// One that can stand for the call was there, if only an empty one.
    pub(super) any: bool,
    telling: String,
    /// The steps of a plan, where that is what the tool is for.
    pub(super) steps: Vec<String>,
}

impl Arguments {
    /// Of a value that may be no object.
    pub(super) fn of(input: &RawValue) -> Self {
        let Some(input) = Object::parse(input.get()) else { return Self::default() };
        let any = BY_RANK.iter().any(|name| input.raw(name).is_some());
        let mut told = BY_RANK.iter().filter_map(|name| words(input.raw(name)?));
        let telling = told.find(|text| !text.trim().is_empty()).unwrap_or_default();
        let mut steps = Vec::new();
        input.each("todos", |todo| {
            let todo = Object::parse(todo.get()).unwrap_or_default();
            let step = todo.text("content").or_else(|| todo.text("description"));
            let step = step.map(|step| one_line(&step)).filter(|step| !step.is_empty());
            steps.extend(step.filter(|_| steps.len() < MOST_STEPS));
        });
        Self { any, telling, steps }
    }

    /// The one that says most to people.
    pub(super) fn telling(&self) -> &str {
        &self.telling
    }
}

/// Text, or a list of words such as a command line. One line is all that is needed of it.
fn words(value: &RawValue) -> Option<String> {
    if let Some(text) = raw_json::excerpt(value, EXCERPT) {
        return Some(text);
    }
    let mut line = String::new();
    raw_json::each(value, |word| {
        let gap = if line.is_empty() { "" } else { " " };
        let room = EXCERPT.saturating_sub(line.len() + gap.len());
        if let Some(word) = raw_json::excerpt(word, room).filter(|word| !word.is_empty()) {
            line.push_str(gap);
            line.push_str(&word);
        }
    });
    (!line.is_empty()).then_some(line)
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(from).map(Self::of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> Arguments {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a3_the_argument_that_says_most_stands_for_the_call() {
        let told = |json: &str| of(json).telling().to_owned();
        assert_eq!(told(r#"{"description":"List files","command":"ls"}"#), "ls");
        assert_eq!(told(r#"{"content":"…","filePath":"a.rs"}"#), "a.rs");
        assert_eq!(told(r#"{"command":["git","log"],"path":"x"}"#), "git log");
        assert_eq!(told(r#"{"command":" ","path":7,"query":"q"}"#), "q");
        for none in ["{}", "null", "7", "[]", "\"ls\"", r#"{"new":"x"}"#] {
            assert_eq!(of(none), Arguments::default(), "{none}");
        }
    }

    #[test]
    fn a3_a_plan_is_among_the_arguments() {
        let plan = r#"{"todos":[{"content":"a\nb"},{"description":"c"},{"content":""},7]}"#;
        assert_eq!(of(plan).steps, ["a b", "c"]);
    }

    #[test]
    fn r3_what_is_kept_is_bounded() {
        let long = "繼".repeat(1 << 18);
        let todos = format!("{{\"content\":\"{}\"}},", "x".repeat(300)).repeat(1000);
        let kept = of(&format!(r#"{{"command":["{long}","{long}"],"todos":[{todos}{{}}]}}"#));
        assert!(kept.telling().len() <= EXCERPT && kept.steps.len() == MOST_STEPS);
    }
}
