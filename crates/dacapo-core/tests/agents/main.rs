//! What real agents printed, read by their parsers: what becomes of it, and what never may. The fixtures are cut from runs
//! of the real programs to what a parser reads.
#![expect(clippy::unwrap_used, reason = "a test helper that cannot go on fails its test")]

mod acp;
mod claude;
mod codex;
mod copilot;
mod gemini;
mod masking;
mod metering;
mod opencode;
mod qwen;
mod replay;
mod robustness;
