//! What the parser of the command line says, as the one error at the edge.

use dacapo_app::error::Failure;

/// Its first paragraph is what happened, its tips are what to do. It speaks English alone.
pub(crate) fn misunderstood(error: &clap::Error) -> Failure {
    let said = error.render().to_string();
    let mut paragraphs = said.split("\n\n");
    let first = paragraphs.next().unwrap_or_default();
    let message = first.strip_prefix("error: ").unwrap_or(first).trim();
    let tips = said.lines().filter_map(|line| line.trim_start().strip_prefix("tip: "));
    let failure = tips.fold(Failure::usage(message), |failure, tip| failure.hint(tip));
    if failure.hints.is_empty() { failure.hint("--help shows what can be given") } else { failure }
}
