//! What real agents printed, read by the parsers: fixtures are cut from runs of the real programs to what a parser reads.

mod codex;
mod copilot;
mod fixtures;
