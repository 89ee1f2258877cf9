//! What a script can say. The names are for people who rehearse a workflow, not for programmers.

use dacapo_core::event::Usage;
use schemars::JsonSchema;
use serde::Deserialize;

use super::values::{Bytes, Capped, Claim, Output, Short, Span, short, short_schema};

/// A rehearsal: what a scripted agent does, iteration by iteration.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Dacapo rehearsal")]
pub struct Script {
    /// Whether the agent has a session that can be resumed.
    #[serde(default = "yes")]
    pub session: bool,
    /// How it talks.
    #[serde(default)]
    pub output: Output,
    /// Whether it reads its prompt. `false`: never, as an agent that hangs before it listens.
    #[serde(default = "yes")]
    pub reads_prompt: bool,
    /// Entry N plays in iteration N (from 0); the last one repeats.
    pub iterations: Vec<Vec<Step>>,
}

fn yes() -> bool {
    true
}

/// One thing the agent does: exactly one key. A flag that is `false` does nothing.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Says something. `{iteration}`, `{attempt}` and `{task}` are filled in.
    Say(String),
    /// Thinks aloud.
    Think(String),
    /// Shows its list of steps.
    Plan(Vec<String>),
    /// Shows the use of a tool; nothing is really done.
    Tool(
        #[serde(deserialize_with = "short")]
        #[schemars(schema_with = "short_schema::<Tool>")]
        Tool,
    ),
    /// Writes a file in the working directory; directories are made.
    Write(Write),
    /// Deletes a file or a directory. It may be gone already.
    Delete(String),
    /// Runs a command with `sh -c`.
    Run(
        #[serde(deserialize_with = "short")]
        #[schemars(schema_with = "short_schema::<Run>")]
        Run,
    ),
    /// Reports what the turn has used so far.
    Usage(UsageReport),
    /// Claims to be done, and means it.
    Done(Claim),
    /// Claims to be done though nothing is proven. Plays like `done`; the name is for the reader.
    Lie(Claim),
    /// Says a text in two pieces with a pause between them.
    Split(Split),
    /// Writes a line on standard error.
    Stderr(String),
    /// Waits.
    Sleep(Span),
    /// Fails: reports an error and ends.
    Fail(
        #[serde(deserialize_with = "short")]
        #[schemars(schema_with = "short_schema::<Fail>")]
        Fail,
    ),
    /// Tells that a model call failed and is made again.
    Retry(
        #[serde(deserialize_with = "short")]
        #[schemars(schema_with = "short_schema::<Retry>")]
        Retry,
    ),
    /// Tells that it was not allowed to use a tool: which, and what for.
    Refuse(String),
    /// Hits a usage limit and ends.
    Limit(
        #[serde(deserialize_with = "short")]
        #[schemars(schema_with = "short_schema::<Limit>")]
        Limit,
    ),
    /// Dies at once with this exit code, without a word.
    Exit(
        #[serde(deserialize_with = "short")]
        #[schemars(schema_with = "short_schema::<Exit>")]
        Exit,
    ),
    /// Never ends: silent, without using the processor.
    Hang(
        #[serde(deserialize_with = "short")]
        #[schemars(schema_with = "short_schema::<Hang>")]
        Hang,
    ),
    /// Silent, but busy: uses the processor for so long.
    Spin(Span),
    /// From here on TERM, INT and HUP do nothing, to it and to what `run` starts.
    IgnoreSignals(bool),
    /// Starts a child that outlives it.
    Leak(
        #[serde(deserialize_with = "short")]
        #[schemars(schema_with = "short_schema::<Leak>")]
        Leak,
    ),
    /// Starts a process that starts its successor and ends, and so on: a new id every moment.
    ForkLoop(
        #[serde(deserialize_with = "short")]
        #[schemars(schema_with = "short_schema::<ForkLoop>")]
        ForkLoop,
    ),
    /// Pours bytes on standard output, as fast as they are taken.
    Flood(Flood),
    /// Writes these bytes on standard output as they are.
    Raw(Bytes),
    /// Closes standard output and lives on.
    CloseStdout(bool),
    /// Shows the prompt it was given.
    EchoPrompt(bool),
    /// The prompt must contain this text, else it fails.
    Expect(String),
    /// Writes the prompt into a file, byte for byte, anywhere. The placeholders of `say` work.
    SavePrompt(String),
    /// Removes its own working directory. Refused in a main checkout: see the documentation.
    Vanish(bool),
    /// Commits everything, with this message.
    Commit(String),
    /// Switches to this branch; makes it where it is missing.
    SwitchBranch(String),
    /// Leaves its branch: a detached HEAD.
    Detach(bool),
    /// Leaves an `index.lock` behind, as a git that was killed does.
    StaleLock(bool),
    /// Makes a repository of its own in this directory, with a commit.
    NestedRepo(String),
    /// Leaves a merge with a conflict unfinished.
    HalfMerge(bool),
    /// Writes a file that is too big for a repository, of bytes that do not compress.
    BigFile(BigFile),
    /// Writes a file that looks like secrets. They are made up.
    Secret(String),
}

impl Step {
    /// How many attempts of the iteration end here: `None` for a step that the turn survives,
    /// `Some(None)` for one that ends every attempt.
    pub fn stops(&self) -> Option<Option<u32>> {
        match self {
            Step::Limit(limit) => Some(Some(limit.attempts)),
            Step::Fail(fail) => Some(fail.attempts),
            Step::Exit(exit) => Some(exit.attempts),
            Step::Hang(hang) => Some(hang.attempts),
            _ => None,
        }
    }
}

/// The use of a tool, shown and not done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// A line for people.
    #[serde(default)]
    pub summary: String,
    /// What it answered.
    #[serde(default)]
    pub output: String,
    /// Whether it failed.
    #[serde(default)]
    pub failed: bool,
}

impl Short for Tool {
    const EXPECTS: &'static str = "the tool's name or `{ name: …, summary: …, output: … }`";
    const TYPES: &'static [&'static str] = &["string"];

    fn from_text(name: String) -> Option<Self> {
        Some(Tool { name, ..Tool::default() })
    }
}

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Write {
    /// Where, inside the working directory. The placeholders of `say` work.
    pub path: String,
    /// What. The placeholders of `say` work.
    #[serde(default)]
    pub text: String,
    /// Adds to the file instead of replacing it.
    #[serde(default)]
    pub append: bool,
}

/// A command to run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// For `sh -c`.
    pub command: String,
    /// Whether its failure ends the turn.
    #[serde(default)]
    pub must: bool,
}

impl Short for Run {
    const EXPECTS: &'static str = "a command or `{ command: …, must: true }`";
    const TYPES: &'static [&'static str] = &["string"];

    fn from_text(command: String) -> Option<Self> {
        Some(Run { command, must: false })
    }
}

/// Tokens and money, for the whole turn so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UsageReport {
    /// Tokens read, cached ones included.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// Tokens of the input that came from a cache.
    pub cached: u64,
    /// What it cost.
    pub cost_usd: Option<f64>,
}

impl From<&UsageReport> for Usage {
    fn from(usage: &UsageReport) -> Usage {
        let UsageReport { input, output, cached, cost_usd } = *usage;
        Usage { input, output, cached, cost_usd, ..Usage::default() }
    }
}

/// A text said in two pieces.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// The text.
    pub text: String,
    /// After how many characters it is cut; the middle where none is given.
    #[serde(default)]
    pub at: Option<u32>,
    /// How long the pause is.
    #[serde(default)]
    pub pause: Span,
}

/// A failure.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fail {
    /// What it says.
    pub message: String,
    /// Its exit code.
    pub code: u8,
    /// Whether trying again is useless.
    pub permanent: bool,
    /// How many attempts fail; all where none is given.
    pub attempts: Option<u32>,
}

impl Default for Fail {
    fn default() -> Self {
        Fail {
            message: "the rehearsal failed as it was told to".into(),
            code: 1,
            permanent: false,
            attempts: None,
        }
    }
}

impl Short for Fail {
    const EXPECTS: &'static str = "a message or `{ message: …, code: 1, permanent: false, attempts: 1 }`";
    const TYPES: &'static [&'static str] = &["string"];

    fn from_text(message: String) -> Option<Self> {
        Some(Fail { message, ..Fail::default() })
    }
}

/// Model calls that are made again.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Retry {
    /// What went wrong.
    pub message: String,
    /// The HTTP status, where the agent tells it.
    pub status: Option<u16>,
    /// How often in a row.
    pub times: Capped<10_000>,
    /// How long it waits before each.
    pub pause: Span,
}

impl Default for Retry {
    fn default() -> Self {
        let message = "the model server does not answer".into();
        Retry { message, status: None, times: Capped(1), pause: Span::default() }
    }
}

impl Short for Retry {
    const EXPECTS: &'static str = "a message or `{ status: 503, times: 3, pause: 1s }`";
    const TYPES: &'static [&'static str] = &["string"];

    fn from_text(message: String) -> Option<Self> {
        Some(Retry { message, ..Retry::default() })
    }
}

/// A usage limit.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limit {
    /// When it says it may go on; it does not say where none is given.
    pub resets_in: Option<Span>,
    /// How many attempts hit it; the next one goes on after it.
    pub attempts: u32,
    /// What it says.
    pub message: String,
}

impl Default for Limit {
    fn default() -> Self {
        Limit { resets_in: None, attempts: 1, message: "usage limit reached".into() }
    }
}

impl Short for Limit {
    const EXPECTS: &'static str = "`true`, a message or `{ resets_in: 2s, attempts: 1 }`";
    const TYPES: &'static [&'static str] = &["boolean", "string"];

    fn from_text(message: String) -> Option<Self> {
        Some(Limit { message, ..Limit::default() })
    }

    fn from_flag(flag: bool) -> Option<Self> {
        Some(Limit { attempts: flag.into(), ..Limit::default() })
    }
}

/// A sudden death.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exit {
    /// The exit code.
    pub code: u8,
    /// How many attempts die; all where none is given.
    #[serde(default)]
    pub attempts: Option<u32>,
}

impl Short for Exit {
    const EXPECTS: &'static str = "an exit code (0 to 255) or `{ code: 3, attempts: 1 }`";
    const TYPES: &'static [&'static str] = &["integer"];

    fn from_number(number: u64) -> Option<Result<Self, String>> {
        Some(
            u8::try_from(number)
                .map(|code| Exit { code, attempts: None })
                .map_err(|_| format!("{number} is no exit code: 0 to 255")),
        )
    }
}

/// A hang.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Hang {
    /// How many attempts hang; all where none is given.
    pub attempts: Option<u32>,
}

impl Short for Hang {
    const EXPECTS: &'static str = "`true` or `{ attempts: 1 }`";
    const TYPES: &'static [&'static str] = &["boolean"];

    fn from_flag(flag: bool) -> Option<Self> {
        Some(Hang { attempts: (!flag).then_some(0) })
    }
}

/// A child that outlives the agent, for a while: it ends by itself, whatever happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Leak {
    /// How long it lives.
    pub r#for: Span,
    /// In a session and process group of its own.
    pub setsid: bool,
    /// As a daemon: its parent is gone at once and it leaves the working directory.
    pub daemon: bool,
    /// Keeps standard output open, so that a reader never sees its end.
    pub hold_stdout: bool,
    /// Without the environment, so without any mark of its origin.
    pub empty_env: bool,
    /// TERM, INT and HUP do nothing to it.
    pub ignore_signals: bool,
    /// How many of them.
    pub count: Capped<100>,
}

impl Default for Leak {
    fn default() -> Self {
        Leak {
            r#for: Span(std::time::Duration::from_secs(600)),
            setsid: false,
            daemon: false,
            hold_stdout: false,
            empty_env: false,
            ignore_signals: false,
            count: Capped(1),
        }
    }
}

impl Short for Leak {
    const EXPECTS: &'static str = "`true` or `{ for: 10m, setsid: true, … }`";
    const TYPES: &'static [&'static str] = &["boolean"];

    fn from_flag(flag: bool) -> Option<Self> {
        Some(Leak { count: Capped(flag.into()), ..Leak::default() })
    }
}

/// Processes that replace each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForkLoop {
    /// How many there will be, one after the other.
    pub times: Capped<10_000>,
    /// How long each lives before it starts the next.
    #[serde(default = "moment")]
    pub pause: Span,
    /// Each in a session of its own.
    #[serde(default)]
    pub setsid: bool,
}

fn moment() -> Span {
    Span(std::time::Duration::from_millis(10))
}

impl Short for ForkLoop {
    const EXPECTS: &'static str = "how many or `{ times: 200, pause: 10ms, setsid: true }`";
    const TYPES: &'static [&'static str] = &["integer"];

    fn from_number(number: u64) -> Option<Result<Self, String>> {
        Some(Capped::try_from(number).map(|times| ForkLoop { times, pause: moment(), setsid: false }))
    }
}

/// Much output.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flood {
    /// How much, in MiB.
    pub mb: Capped<8192>,
    /// In lines of about a hundred bytes; else it is one endless line.
    #[serde(default)]
    pub newline: bool,
    /// What is repeated.
    #[serde(default = "letter")]
    pub bytes: Bytes,
}

fn letter() -> Bytes {
    Bytes(b"x".to_vec())
}

/// A big file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BigFile {
    /// Where, inside the working directory.
    pub path: String,
    /// How big, in MiB.
    pub mb: Capped<4096>,
}
