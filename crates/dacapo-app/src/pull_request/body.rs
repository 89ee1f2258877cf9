//! The text of a pull request: what was asked, what was done, what proves it, what to look at.

use std::fmt::Write as _;
use std::time::Duration;

use dacapo_core::context::cut;
use dacapo_core::event::{CheckPhase, Proof, ProofState, Unproven};
use dacapo_core::git::Oid;
use dacapo_core::spec::TaskSpec;
use dacapo_core::view::TaskView;

use crate::messages::Messages;
use crate::present::proof::unproven_because;
use crate::present::prose::{code, plain, quotation};
use crate::present::{changed_tests, kind_words, report, words};

/// Platforms take 65,536 characters; one argument of a program 131,072 bytes.
const LONGEST: usize = 60_000;
const LONGEST_PROMPT: usize = 4_000;
const LONGEST_SUMMARY: usize = 6_000;
const MOST_COMMITS: usize = 50;
const MOST_FILES: usize = 20;

/// The text. `commits` are the newest first.
pub(super) fn body(view: &TaskView, spec: &TaskSpec, commits: &[(Oid, String)]) -> String {
    let own = kind_words::of(&view.kind).and_then(|own| own.pull_request(view));
    let mut out = own.unwrap_or_else(|| of_task(view, spec));
    let _ = writeln!(out, "### Checks\n\n{}", checks(view));
    let trusted = view.result.as_ref().map(|result| result.trust_files.as_slice()).unwrap_or_default();
    if !trusted.is_empty() {
        let named: Vec<String> = trusted.iter().take(MOST_FILES).map(|file| code(file)).collect();
        let more = trusted.len().saturating_sub(MOST_FILES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let _ = writeln!(
            out,
            "⚠ **Tests, CI, checks or settings were changed** (look at these first): {}{more}\n",
            named.join(", ")
        );
    }
    out.push_str(&tests(view));
    let _ = writeln!(out, "### Commits\n");
    for (oid, subject) in commits.iter().rev().take(MOST_COMMITS) {
        let _ = writeln!(out, "- {} {}", code(oid.short()), plain(subject));
    }
    if commits.len() > MOST_COMMITS {
        let _ = writeln!(out, "- … and {} more", commits.len() - MOST_COMMITS);
    }
    let _ = writeln!(out, "\n{}", facts(view));
    if out.len() > LONGEST { format!("{}\n", cut(&out, LONGEST)) } else { out }
}

/// What a reviewer should know of the tests that judge the work.
fn tests(view: &TaskView) -> String {
    let Some(tests) = view.tests() else { return String::new() };
    let mut out = String::new();
    if let Some(mark) = tests.mark() {
        let mark = changed_tests::mark(mark, Messages::ENGLISH);
        let _ = writeln!(
            out,
            "⚠ **{}**: {}\n",
            plain(&mark),
            plain(&changed_tests::files(tests, Messages::ENGLISH))
        );
    }
    if let Some(fewer) = tests.fewer {
        let _ = writeln!(out, "⚠ {}\n", Messages::ENGLISH.tests_fewer(fewer.before, fewer.after));
    }
    if let Some(reason) = &tests.reason {
        let _ = writeln!(out, "Why the tests changed:\n\n{}", quotation(&cut(reason, LONGEST_SUMMARY)));
    }
    out
}

fn of_task(view: &TaskView, spec: &TaskSpec) -> String {
    let mut out = String::new();
    let summary =
        view.iterations.iter().rev().map(|record| &record.summary).find(|text| !text.trim().is_empty());
    if let Some(summary) = summary {
        let _ = writeln!(out, "{}", quotation(&cut(summary, LONGEST_SUMMARY)));
    }
    let _ = writeln!(out, "### Task\n\n{}", quotation(&cut(&spec.prompt, LONGEST_PROMPT)));
    out
}

fn checks(view: &TaskView) -> String {
    let proofs = view.result.as_ref().map(|result| result.proof.as_slice()).unwrap_or_default();
    let mut out = String::new();
    for proof in proofs {
        let _ = writeln!(out, "- {}", receipt(proof));
    }
    if proofs.is_empty() {
        // One that is not over has receipts all the same.
        let counts = |phase| !matches!(phase, CheckPhase::Baseline | CheckPhase::HeldOut);
        for check in view.checks.iter().rev().filter(|check| counts(check.phase)).take(1) {
            let _ = writeln!(out, "- {}: {}", code(&check.command), check.ending());
        }
    }
    if out.is_empty() {
        out.push_str("None were run: nothing here is proven.\n");
    } else if let Some(ProofState::PassedHere(unproven)) =
        view.result.as_ref().and_then(|result| result.proof_state.as_ref())
    {
        let mut unproven = unproven.clone();
        if let Unproven::Failed(failure) = &mut unproven {
            // A pull request can be read by the next agent.
            failure.checks.retain(|check| check.phase != CheckPhase::HeldOut);
        }
        let why = plain(&words::line(&unproven_because(&unproven, Messages::ENGLISH), 300));
        let _ = writeln!(out, "\nPassed where the agent worked, not proven on the commit: {why}");
    } else if !view.verified {
        out.push_str(match kind_words::of(&view.kind) {
            Some(_) => "\nNot proven: it is not completed with all checks green on its last commit.\n",
            None => "\nNot proven: no check went from red to green, or not all are green.\n",
        });
    }
    out
}

/// `cargo test`: ✗ → ✓ on c0ffee1 "212 passed".
fn receipt(proof: &Proof) -> String {
    let sign = |passed: Option<bool>| match passed {
        Some(true) => "✓",
        Some(false) => "✗",
        None => "–",
    };
    let way = match (proof.before, proof.after) {
        (Some(true), Some(true)) => "✓ before and after".to_owned(),
        (before, after) => format!("{} → {}", sign(before), sign(after)),
    };
    let commit = proof.commit.as_ref().map_or_else(String::new, |oid| format!(" on {}", code(oid.short())));
    let last = words::line(&proof.last_line, 200);
    let last = if last.is_empty() { last } else { format!(": {}", code(&last)) };
    format!("{} {way}{commit}{last}", code(&proof.command))
}

fn facts(view: &TaskView) -> String {
    let mut facts = vec![report::unit(view).count(u64::from(view.iteration), Messages::ENGLISH)];
    if kind_words::of(&view.kind).is_some() {
        facts.push(format!("{} accepted", view.iterations_succeeded));
    } else if view.iterations_failed > 0 {
        facts.push(format!("{} failed", view.iterations_failed));
    }
    facts.push(words::duration(Duration::from_secs_f64(view.elapsed_seconds.max(0.0))));
    facts.extend(view.cost_usd.map(words::money));
    let workers = kind_words::of(&view.kind).and_then(|own| own.workers(view));
    facts.push(workers.unwrap_or_else(|| format!("agent {}", plain(&view.agent))));
    if let Some(outcome) = view.result.as_ref().map(|result| result.outcome)
        && outcome.exit_code() != 0
    {
        facts.push(format!("ended as {}", view.status.as_str()));
    }
    format!("{} · task {} of Dacapo", facts.join(" · "), code(&view.name))
}
