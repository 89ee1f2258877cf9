//! Names of tasks: `[a-z0-9_][a-z0-9_-]{0,63}` (S1).

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A task's name. It is a directory, a branch and a word on the command line, so it is narrow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct TaskName(String);

/// A name that cannot be one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid task name '{0}': use 1 to 64 of a-z, 0-9, '_' and '-', not starting with '-'")]
pub struct InvalidName(pub String);

const LONGEST: usize = 64;

/// From here on: Chinese, Japanese, Korean and what is written like them.
const FIRST_IDEOGRAPH: u32 = 0x2e80;

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

    /// Makes one from the words of a prompt: `Fix the failing tests!` → `fix-the-failing-tests`. Of other scripts the words
    /// stay that can be typed anywhere (`修复 login 的测试` → `login`), or none: `task`.
    pub fn from_prompt(prompt: &str) -> Self {
        // An accented letter is part of its word, a character of a script without spaces is none.
        let in_word = |c: char| c.is_alphanumeric() && (c as u32) < FIRST_IDEOGRAPH;
        let foreign = prompt.chars().any(|c| c.is_alphabetic() && !c.is_ascii());
        // Beside another script a number or a letter alone names nothing.
        let says = |word: &&str| {
            word.is_ascii() && (!foreign || (word.len() > 1 && word.bytes().any(|b| b.is_ascii_alphabetic())))
        };
        let mut name = String::new();
        for word in prompt.split(|c: char| !in_word(c)).filter(|w| !w.is_empty()).filter(says).take(5) {
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
            ("修复 login 的测试", "login"),
            ("修复login和parser.rs的测试", "login-parser-rs"),
            ("修复第3个测试", "task"),
            ("把 a 改成 b", "task"),
            ("Réparer les tests", "les-tests"),
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
