//! Names of tasks: `[a-z0-9_][a-z0-9_-]{0,63}` (S1).

use std::fmt;

use serde::{Deserialize, Serialize};

/// A task's name. It is a directory, a branch and a word on the command line, so it is narrow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TaskName(String);

/// A name that cannot be one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid task name '{0}': use 1 to 64 of a-z, 0-9, '_' and '-', not starting with '-'")]
pub struct InvalidName(pub String);

const LONGEST: usize = 64;

impl TaskName {
    /// Takes a name as typed.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        let bytes = text.as_bytes();
        let fits = (1..=LONGEST).contains(&bytes.len())
            && plain(bytes[0])
            && bytes[1..].iter().all(|&b| plain(b) || b == b'-');
        if fits { Ok(Self(text.to_owned())) } else { Err(InvalidName(text.to_owned())) }
    }

    /// Makes one from the words of a prompt: `Fix the failing tests!` → `fix-the-failing-tests`.
    pub fn from_prompt(prompt: &str) -> Self {
        let mut name = String::new();
        for word in prompt.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).take(5) {
            if name.len() + word.len() + 1 > 40 {
                break;
            }
            if !name.is_empty() {
                name.push('-');
            }
            name.push_str(&word.to_ascii_lowercase());
        }
        Self(if name.is_empty() { "task".to_owned() } else { name })
    }

    /// The same with a number behind it, for a name that is taken.
    pub fn numbered(&self, number: u32) -> Self {
        let suffix = format!("-{number}");
        let mut name = self.0.clone();
        name.truncate(LONGEST - suffix.len());
        Self(name + &suffix)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for TaskName {
    type Error = InvalidName;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

impl From<TaskName> for String {
    fn from(name: TaskName) -> Self {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s1_names_are_narrow() {
        for good in ["a", "0", "_x", "task-1", &"a".repeat(64)] {
            assert!(TaskName::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "-a", "A", "a b", "..", "a/b", "a.b", "é", &"a".repeat(65), "a\n"] {
            assert!(TaskName::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn s1_a_name_made_from_a_prompt_is_a_name() {
        for (prompt, name) in [
            ("Fix the failing tests!", "fix-the-failing-tests"),
            ("繼續", "task"),
            ("", "task"),
            ("a b c d e f g", "a-b-c-d-e"),
            (&"x".repeat(100), "task"),
        ] {
            let made = TaskName::from_prompt(prompt);
            assert_eq!(made.as_str(), name);
            assert!(TaskName::parse(made.as_str()).is_ok());
            assert!(TaskName::parse(made.numbered(12).as_str()).is_ok());
        }
        assert_eq!(TaskName::parse(&"a".repeat(64)).unwrap().numbered(2).as_str().len(), 64);
    }
}
