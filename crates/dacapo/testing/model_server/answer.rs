//! What the server answers, the same for every wire format.

use serde_json::Value;

/// What comes of one model call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// The model answers.
    Reply(Reply),
    /// It does not.
    Fail(Failure),
}

/// A model's answer: words, then tools it wants used.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Reply {
    /// What it says.
    pub(crate) text: String,
    /// What it wants done.
    pub(crate) calls: Vec<ToolUse>,
    /// What it charges; by default something else for every call, so that a sum that leaves one out is wrong.
    pub(crate) usage: Option<Usage>,
}

impl Reply {
    /// Words alone, which end an agent's turn.
    pub(crate) fn say(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A tool, with a word about it as models do.
    pub(crate) fn call(tool: ToolUse) -> Self {
        Self { text: "Let me use a tool.".into(), calls: vec![tool], usage: None }
    }

    /// Charges this.
    pub(crate) fn used(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        Self::Reply(reply)
    }
}

impl From<Failure> for Answer {
    fn from(failure: Failure) -> Self {
        Self::Fail(failure)
    }
}

/// A tool of the agent that the model wants used.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolUse {
    /// As the agent offered it.
    pub(crate) name: String,
    /// What it is given.
    pub(crate) input: ToolInput,
}

/// What a tool is given.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ToolInput {
    /// An object of arguments.
    Arguments(Value),
    /// Free text: a `custom` tool of the Responses format, as `apply_patch` is one.
    Text(String),
}

impl ToolUse {
    /// With arguments.
    pub(crate) fn new(name: impl Into<String>, arguments: Value) -> Self {
        Self { name: name.into(), input: ToolInput::Arguments(arguments) }
    }

    /// What it is given, as an object.
    pub(crate) fn arguments(&self) -> Value {
        match &self.input {
            ToolInput::Arguments(value) => value.clone(),
            ToolInput::Text(text) => serde_json::json!({ "input": text }),
        }
    }
}

/// Tokens of one call, or of several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Read, cached ones included.
    pub(crate) input: u64,
    /// Written.
    pub(crate) output: u64,
    /// Of those read, from a cache.
    pub(crate) cached: u64,
}

impl Usage {
    /// Something else for every call.
    pub(crate) fn of_call(number: u64) -> Self {
        Self { input: 1000 + 17 * number, output: 50 + 3 * number, cached: 100 + number }
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cached += other.cached;
    }
}

impl std::iter::Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        let mut sum = Self::default();
        all.for_each(|usage| sum += usage);
        sum
    }
}

/// A model call that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Answered, with an error.
    Refused(Refusal),
    /// The request is read and never answered.
    Hang,
    /// The answer begins, and never goes on.
    HangInStream,
    /// The connection is dropped in the middle of the answer.
    Cut,
}

impl Failure {
    /// 401.
    pub(crate) const UNAUTHORIZED: Self = Self::Refused(Refusal::Unauthorized);

    /// 429 of an API key, which ends in so many seconds, where that is said.
    pub(crate) fn limited(resets_in: Option<u64>) -> Self {
        Self::Refused(Refusal::Limited(Limit { resets_in, of_plan: false }))
    }

    /// 429 of a subscription.
    pub(crate) fn plan_limited(resets_in: Option<u64>) -> Self {
        Self::Refused(Refusal::Limited(Limit { resets_in, of_plan: true }))
    }

    /// Another status.
    pub(crate) fn status(status: u16) -> Self {
        Self::Refused(Refusal::Status(status))
    }
}

/// An error in the words of the API that was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// 401.
    Unauthorized,
    /// 429.
    Limited(Limit),
    /// Another status, as the API words its server errors.
    Status(u16),
}

/// What a 429 says beside its number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Limit {
    /// In how many seconds the limit ends: in headers and body, wherever this API says it; `None`: nowhere.
    pub(crate) resets_in: Option<u64>,
    /// The limit of a subscription (hours to days) in place of one of an API key (seconds), where the API tells them
    /// apart.
    pub(crate) of_plan: bool,
}
