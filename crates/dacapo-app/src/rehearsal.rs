//! Scripts of the agent `rehearsal` (A5): what they can say, and how they are read.

mod parse;
mod script;
mod values;

pub use parse::{At, MAX_BYTES, ScriptError, check, parse};
pub use script::{
    BigFile, Exit, Fail, Flood, ForkLoop, Hang, Leak, Limit, Retry, Run, Script, Split, Step, Tool,
    UsageReport, Write,
};
pub use values::{Bytes, Capped, Claim, Output, Span};

/// The hidden command that plays a script.
pub const COMMAND: &str = "__rehearse";

/// The JSON Schema of scripts, for editors.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Script)
}
