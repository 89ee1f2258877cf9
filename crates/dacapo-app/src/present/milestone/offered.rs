//! A milestone in the text of its pull request.

use std::fmt::Write as _;

use dacapo_core::context::cut;
use dacapo_core::task::milestone::MilestoneView;

use crate::present::prose::{code, plain, quotation};
use crate::present::words;

const LONGEST_GOAL: usize = 4_000;

/// What it is for, and its features with the commits that were accepted.
pub(super) fn text(milestone: &MilestoneView) -> String {
    let mut out = format!("### Goal\n\n{}\n### Features\n\n", quotation(&cut(&milestone.goal, LONGEST_GOAL)));
    for feature in &milestone.features {
        let tick = if feature.done { 'x' } else { ' ' };
        let commit = milestone.accepted(&feature.id).filter(|_| feature.done);
        let commit = commit.map_or_else(String::new, |report| format!(": {}", code(report.commit.short())));
        let text = plain(feature.text.lines().next().unwrap_or_default());
        let _ = writeln!(out, "- [{tick}] {} {text}{commit}", feature.id);
    }
    out.push('\n');
    let open: Vec<String> = milestone
        .open_findings()
        .map(|finding| format!("- {} {}", finding.id, plain(&words::line(&finding.text, 200))))
        .collect();
    if !open.is_empty() {
        let _ = writeln!(out, "⚠ **Not settled with the Acceptor**\n\n{}\n", open.join("\n"));
    }
    out
}
