//! Agents' own output, cut to what a parser reads: what becomes of it, and what never may.
#![expect(clippy::unwrap_used, reason = "a test helper that cannot go on fails its test")]

mod gemini;
mod opencode;
mod replay;
mod robustness;
