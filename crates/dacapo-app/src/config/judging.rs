//! Settings of what judges the work: proofs, tests and held-out checks.

use dacapo_core::spec::{CachePolicy, RoomMode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Proofs of commits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Proofs {
    /// What a proof starts with: `base` copies what a proof of the base commit built or installed, where that is safe; `none`
    /// builds everything from nothing.
    #[schemars(title = "Cache", extend("x-trust" = "setup"))]
    pub cache: ProofCaches,
}

/// The caches that a proof starts with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "a doc comment on a variant would turn the schema's `enum` into a `oneOf`")]
pub enum ProofCaches {
    #[default]
    Base,
    None,
}

impl From<ProofCaches> for CachePolicy {
    fn from(caches: ProofCaches) -> Self {
        match caches {
            ProofCaches::Base => CachePolicy::Base,
            ProofCaches::None => CachePolicy::None,
        }
    }
}

/// How far agents are confined, the loosest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "a doc comment on a variant would turn the schema's `enum` into a `oneOf`")]
pub enum RoomChoice {
    None,
    #[default]
    Guarded,
    Strict,
}

impl From<RoomChoice> for RoomMode {
    fn from(choice: RoomChoice) -> Self {
        match choice {
            RoomChoice::None => RoomMode::None,
            RoomChoice::Guarded => RoomMode::Guarded,
            RoomChoice::Strict => RoomMode::Strict,
        }
    }
}

/// The tests that judge the work.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tests {
    /// What an agent may do to the tests, settings and scripts that judge its work. `original`: change them, but the work must also
    /// pass with them as they were, or a person decides. `locked`: nothing, they are put back before every commit. `free`: change
    /// them. A project can only make it stricter.
    #[schemars(title = "Mode", extend("x-trust" = "tighten"))]
    pub mode: TestsMode,
    /// Patterns of further files that judge the work, such as `fixtures/**`. Those of the project come on top of yours.
    #[schemars(title = "Protected files", inner(length(min = 1)), extend("x-trust" = "add"))]
    pub protect: Vec<String>,
}

/// What an agent may do to the tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TestsMode {
    Free,
    #[default]
    Original,
    Locked,
}

impl From<TestsMode> for dacapo_core::spec::TestsMode {
    fn from(mode: TestsMode) -> Self {
        match mode {
            TestsMode::Original => Self::Original,
            TestsMode::Locked => Self::Locked,
            TestsMode::Free => Self::Free,
        }
    }
}

/// Your own settings for one repository.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RepoSettings {
    /// Held-out checks: commands that run only when a commit is proven. Agents never see them or what they print.
    #[schemars(title = "Held-out checks", inner(length(min = 1)), extend("x-trust" = "own"))]
    pub hidden_checks: Vec<String>,
}
