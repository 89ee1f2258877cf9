//! What an agent may do to the tests that judge its work (L20).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How changed tests are judged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TestsPolicy {
    /// What the agent may do to them.
    pub mode: TestsMode,
    /// Patterns of paths that judge the work beside the known ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub protect: Vec<String>,
    /// True if a reviewer sees every change of them. Then the checks do not run with the tests as they were.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reviewed: bool,
}

/// What an agent may do to the tests, the loosest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TestsMode {
    /// Change them: they are judged as they are in the commit.
    Free,
    /// Change them, but the work must also pass with the tests as they were.
    #[default]
    Original,
    /// Nothing: they are put back before every commit.
    Locked,
}

impl TestsMode {
    /// All of them, the loosest first.
    pub const ALL: [TestsMode; 3] = [TestsMode::Free, TestsMode::Original, TestsMode::Locked];

    /// The word for it on the command line and in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            TestsMode::Free => "free",
            TestsMode::Original => "original",
            TestsMode::Locked => "locked",
        }
    }

    /// Returns the mode of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == name)
    }
}
