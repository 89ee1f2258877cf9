//! What a commit changes of the files that judge it, and how it does with these files as they were (L20).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CheckBrief;
use crate::git::Oid;
use crate::spec::TestsMode;

/// What a commit changes of the tests, settings and scripts that judge it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestsChange {
    /// The commit that has the files as they were.
    pub base_commit: Oid,
    /// The files, at most 100.
    pub changed: Vec<ChangedTest>,
    /// How many files there are.
    #[serde(rename = "changed_total")]
    pub total: u64,
    /// Tests in source files that are gone, ignored or changed, at most 100. With one of them, the tests as they were count as
    /// failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inline: Vec<InlineTest>,
    /// True if something that existed in the base commit is different now, or a new file decides which tests run. Then the
    /// checks run once more with the files as they were.
    pub affects_originals: bool,
    /// The checks that name a new file, by their number from 0. They do not run with the files as they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_for_originals: Vec<u32>,
}

/// What commits change of the files that judge them, for somebody who decides whether that is right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestsDiff {
    /// The files and tests.
    pub files: TestsChange,
    /// How they differ. Absent if it is too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// A file that judges the work, and what the commit does to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedTest {
    /// Its path from the top of the repository.
    pub path: String,
    /// What happened to it.
    pub how: TestChange,
}

/// What happened to a file that judges the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TestChange {
    /// It is new.
    Added,
    /// It differs.
    Changed,
    /// It is gone.
    Deleted,
    /// The part of it that judges differs: scripts that checks run, settings of tests and linters.
    Part,
    /// It differs, and what judges in it cannot be told from the rest. It is not put back.
    NotSeparable,
    /// Tests in it are gone, ignored or changed.
    Inline,
}

/// A test in a source file that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InlineTest {
    /// The source file.
    pub path: String,
    /// The name of the test.
    pub name: String,
    /// What happened to it.
    pub how: InlineChange,
}

/// What happened to a test in a source file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InlineChange {
    /// It is gone.
    Removed,
    /// It does not run any more.
    Ignored,
    /// It checks something else.
    Changed,
}

/// How a commit does with the tests as they were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Originals {
    /// The checks pass with them.
    Green,
    /// They do not.
    Red,
    /// The checks were not run with them: no test changed, or nobody asked for it.
    #[default]
    NotRun,
}

/// The tests of a task: whether it changed them, and what that means for its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestsResult {
    /// What the user allows (`--tests`).
    pub mode: TestsMode,
    /// The files that judge the work and differ from the base commit, at most 100.
    pub changed: Vec<ChangedTest>,
    /// How many such files there are.
    pub changed_total: u64,
    /// Tests in source files that are gone, ignored or changed, at most 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inline: Vec<InlineTest>,
    /// True if something that existed in the base commit is different now, or a new file decides which tests run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub affected: bool,
    /// How the commit does with these files as they were.
    pub originals: Originals,
    /// The checks that fail with these files as they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<CheckBrief>,
    /// Why the tests must change, in the agent's words; null if it did not say.
    #[serde(default)]
    pub reason: Option<String>,
    /// True if a person approved the changed tests.
    #[serde(default)]
    pub approved: bool,
    /// How many tests ran before and at the end, by what the test runners print, if they became fewer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fewer: Option<FewerTests>,
}

impl TestsResult {
    /// No commit was compared with its base.
    pub(crate) fn unknown(mode: TestsMode) -> Self {
        Self {
            mode,
            changed: Vec::new(),
            changed_total: 0,
            inline: Vec::new(),
            affected: false,
            originals: Originals::NotRun,
            failed: Vec::new(),
            reason: None,
            approved: false,
            fewer: None,
        }
    }

    /// What is said of them; none: nothing was changed, or the work passes with the tests as they were, too.
    pub fn mark(&self) -> Option<TestsMark> {
        match (self.originals, self.mode) {
            (Originals::Red, _) if self.approved => Some(TestsMark::Approved),
            (Originals::Red, _) => Some(TestsMark::AwaitsApproval),
            (Originals::Green, _) => None,
            (Originals::NotRun, _) if !self.affected => None,
            (Originals::NotRun, TestsMode::Free) => Some(TestsMark::Free),
            (Originals::NotRun, TestsMode::Original | TestsMode::Locked) => Some(TestsMark::Reviewed),
        }
    }

    /// Returns true if the commit fails with the tests as they were.
    pub fn is_red(&self) -> bool {
        self.originals == Originals::Red
    }
}

/// What is said of a task's tests wherever its result is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TestsMark {
    /// It passes only with tests that it changed, and nobody has approved that.
    AwaitsApproval,
    /// It passes only with tests that it changed, and a person approved that.
    Approved,
    /// It changed tests, and the user allows that (`--tests free`).
    Free,
    /// It changed tests, and a reviewer saw that.
    Reviewed,
}

/// Numbers of tests that ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FewerTests {
    /// Before the first iteration.
    pub before: u64,
    /// In the proof of the last commit.
    pub after: u64,
}
