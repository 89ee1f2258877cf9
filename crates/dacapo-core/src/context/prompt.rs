//! What the agent is told (C6, L13; the structure is fixed by the formats).
//!
//! User text is inserted, never expanded: everything here is plain concatenation, there is no template to inject into.

use std::fmt::Write as _;

use super::History;
use super::shortfall::Shortfall;
use super::text::tail_lines;
use crate::event::CheckResult;
use crate::git::Oid;
use crate::spec::{BYTES_PER_TOKEN, ContextPolicy};

/// What follows the user's words in a new conversation that is told nothing of the earlier ones (C11).
const BUILD_ON_COMMITS: &str = "Earlier iterations have worked on this already. Look at `git log` and `git diff` to see what they did, \
                                build on it, and go on with what is missing.";
/// The same where nobody commits.
const BUILD_ON_CHANGES: &str = "Earlier iterations have worked on this already and committed nothing. Look at `git status` and \
                                `git diff` to see what they did, build on it, and go on with what is missing.";

/// Everything a prompt is made of.
#[derive(Debug, Clone)]
pub struct Told<'a> {
    /// The user's own words.
    pub prompt: &'a str,
    /// The plan.
    pub plan: Option<&'a str>,
    /// How much is passed on.
    pub policy: &'a ContextPolicy,
    /// What a follow-up says.
    pub follow_up: &'a str,
    /// Which iteration, from 0.
    pub iteration: u32,
    /// Of how many.
    pub cap: Option<u32>,
    /// What everything builds on.
    pub base: Option<&'a Oid>,
    /// What was done before.
    pub history: &'a History,
    /// The newest result of each check.
    pub checks: Vec<&'a CheckResult>,
    /// What passed where the agent works and failed in a checkout of its commit.
    pub shortfall: Option<Shortfall<'a>>,
    /// What the agent is to say when it is done.
    pub promise: Option<&'a str>,
    /// What people said since the task began.
    pub said: Vec<&'a str>,
    /// The agent still has the conversation before its eyes.
    pub continued: bool,
    /// The completion rule is new to that conversation.
    pub rule_due: bool,
}

/// The prompt of a turn.
pub fn prompt(told: &Told<'_>) -> String {
    if told.continued {
        return follow_up(told, told.follow_up);
    }
    if told.history.is_empty() {
        return first(told);
    }
    if !told.policy.enabled {
        let by_itself = match told.policy.auto_commit {
            true => BUILD_ON_COMMITS,
            false => BUILD_ON_CHANGES,
        };
        return follow_up(told, told.policy.loop_prompt.as_deref().unwrap_or(by_itself));
    }
    with_context(told)
}

/// The user's words, unchanged, and the completion rule when there is one.
fn first(told: &Told<'_>) -> String {
    let mut parts = vec![told.prompt.to_owned()];
    if let Some(plan) = told.plan {
        parts.push(format!("## Plan\n{plan}"));
    }
    parts.extend(heard(told));
    parts.extend(told.promise.filter(|text| !text.is_empty()).map(completion_rule));
    parts.join("\n\n")
}

/// Prompt, blank line, follow-up; what checks and people said goes between the two.
fn follow_up(told: &Told<'_>, text: &str) -> String {
    let mut parts = vec![told.prompt.to_owned()];
    let bytes = told.policy.context_max_tokens as usize * BYTES_PER_TOKEN;
    let failed = checks(told.checks.iter().copied().filter(|check| !check.passed()), bytes);
    if !failed.is_empty() {
        parts.push(format!("These checks failed:\n{failed}"));
    }
    parts.extend(told.shortfall.as_ref().map(|shortfall| shortfall.told(bytes / 3)));
    parts.extend(heard(told));
    if let Some(promise) = told.promise.filter(|promise| !promise.is_empty())
        && (!told.continued || told.rule_due)
        && !told.prompt.contains(promise)
    {
        parts.push(completion_rule(promise));
    }
    parts.push(text.to_owned());
    parts.join("\n\n")
}

fn with_context(told: &Told<'_>) -> String {
    let bytes = told.policy.context_max_tokens as usize * BYTES_PER_TOKEN;
    let mut checks = checks(told.checks.iter().copied(), bytes / 3);
    if let Some(shortfall) = &told.shortfall {
        let _ = write!(checks, "\n\n{}", shortfall.told(bytes / 3));
    }
    // The number of the iteration grows too.
    let number = (told.iteration + 1).to_string();
    let past = told.history.render(bytes.saturating_sub(checks.len() + number.len()));

    let mut out = format!("<task_context>\n## Original Task\n{}\n\n", told.prompt);
    if let Some(plan) = told.plan {
        let _ = write!(out, "## Plan\n{plan}\n\n");
    }
    let of = told.cap.map_or_else(|| "ongoing".to_owned(), |cap| cap.to_string());
    let base = told.base.map_or("none", Oid::short);
    let _ = write!(out, "## Progress\nIteration: {number} of {of}\nBase commit: {base}\n\n");
    let _ = write!(out, "## Previous Iterations\n{past}\n");
    if !checks.is_empty() {
        let _ = write!(out, "\n## Last Checks\n{checks}\n");
    }
    out.push_str("</task_context>\n\n");
    out.push_str(&rules(told));
    out.push_str("\n\n");
    out.push_str(told.prompt);
    out
}

fn rules(told: &Told<'_>) -> String {
    let mut parts = Vec::new();
    let git = if told.policy.auto_commit {
        "Do not run git commit: your changes are committed for you when you are done. Build on what the earlier \
         iterations did; `git log` and `git diff` show it."
    } else {
        "Build on what the earlier iterations did; `git diff` shows it."
    };
    parts.push(git.to_owned());
    parts.extend(heard(told));
    parts.extend(told.promise.filter(|text| !text.is_empty()).map(completion_rule));
    parts.join("\n\n")
}

/// What people said, in their own words.
fn heard(told: &Told<'_>) -> Option<String> {
    (!told.said.is_empty()).then(|| format!("The user adds:\n{}", told.said.join("\n")))
}

/// The rule under which a promise may be given.
pub fn completion_rule(promise: &str) -> String {
    format!(
        "When the task is really and completely done, and only then, end your answer with exactly this text:\n\
         {promise}\n\
         If anything is missing, do not write it: say what is missing and go on."
    )
}

/// `` `cargo test` → exit 101 `` and the last lines of what a failed one printed.
pub(super) fn checks<'a>(results: impl Iterator<Item = &'a CheckResult>, bytes: usize) -> String {
    let results: Vec<&CheckResult> = results.collect();
    let share = bytes / results.iter().filter(|check| !check.passed()).count().max(1);
    let mut blocks = Vec::new();
    for check in results {
        let mut block = format!("`{}` → {}", check.command, check.ending());
        if !check.passed() {
            let tail = tail_lines(&check.tail, usize::MAX, share.saturating_sub(block.len() + 1));
            if !tail.is_empty() {
                let _ = write!(block, "\n{tail}");
            }
        }
        blocks.push(block);
    }
    blocks.join("\n")
}
