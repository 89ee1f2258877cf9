//! What the agent is told (C6, L13; the structure is fixed by the formats).
//!
//! User text is inserted, never expanded: everything here is plain concatenation, there is no template to inject into.

use std::fmt::Write as _;

use super::History;
use super::changed_tests::TestsTold;
use super::shortfall::{self, Shortfall};
use crate::agent::PLACEHOLDER;
use crate::event::{CheckResult, LeftFile};
use crate::git::Oid;
use crate::spec::{BYTES_PER_TOKEN, ContextPolicy};
use crate::text::tail_lines;

/// What follows the user's words in a new conversation that is told nothing of the earlier ones (C11).
const BUILD_ON_COMMITS: &str = "Earlier iterations have worked on this already. Look at `git log` and `git diff` to see what they did, \
                                build on it, and go on with what is missing.";
/// The same where nobody commits.
const BUILD_ON_CHANGES: &str = "Earlier iterations have worked on this already and committed nothing. Look at `git status` and \
                                `git diff` to see what they did, build on it, and go on with what is missing.";

/// Everything a prompt is made of.
#[derive(Debug, Clone)]
pub struct PromptParts<'a> {
    /// The user's own words.
    pub prompt: &'a str,
    pub plan: Option<&'a str>,
    /// How much is passed on.
    pub policy: &'a ContextPolicy,
    /// What a follow-up says.
    pub follow_up: &'a str,
    /// Which iteration, from 0.
    pub iteration: u32,
    /// The limit of iterations, where there is one.
    pub cap: Option<u32>,
    /// What everything builds on.
    pub base: Option<&'a Oid>,
    /// What was done before.
    pub history: &'a History,
    /// The commands that judge.
    pub commands: &'a [String],
    /// The newest result of each of them.
    pub checks: Vec<&'a CheckResult>,
    /// What passed where the agent works and failed in a checkout of its commit.
    pub shortfall: Option<Shortfall<'a>>,
    /// What it is told of the tests.
    pub tests: TestsTold<'a>,
    /// Files that the last commit left out because they hold a secret.
    pub left_out: Vec<&'a LeftFile>,
    /// What the agent is to say when it is done.
    pub promise: Option<&'a str>,
    /// It may say that it cannot go on without a person (L18).
    pub may_block: bool,
    /// What people said since the task began.
    pub said: Vec<&'a str>,
    /// The agent still has the conversation before its eyes.
    pub continued: bool,
    /// The completion rule is new to that conversation.
    pub rule_due: bool,
}

/// The prompt of a turn.
pub fn prompt(told: &PromptParts<'_>) -> String {
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

/// The user's words, unchanged; the plan; what judges the work and says what before it; the completion rule when there
/// is one.
fn first(told: &PromptParts<'_>) -> String {
    let mut parts = vec![told.prompt.to_owned()];
    if let Some(plan) = told.plan {
        parts.push(format!("## Plan\n{plan}"));
    }
    parts.extend(judges(told));
    parts.extend(completion_rule(told, told.promise));
    parts.extend(heard(told));
    parts.join("\n\n")
}

/// The checks, and how they ended before the first iteration where they ran.
fn judges(told: &PromptParts<'_>) -> Option<String> {
    if told.commands.is_empty() {
        return None;
    }
    let bytes = told.policy.context_max_tokens as usize * BYTES_PER_TOKEN;
    let ran = checks(told.checks.iter().copied(), bytes);
    if ran.is_empty() {
        let named: Vec<String> = told.commands.iter().map(|command| format!("`{command}`")).collect();
        return Some(format!("These checks judge the work when you are done:\n{}", named.join("\n")));
    }
    Some(format!("These checks judge the work when you are done. Before it they say:\n{ran}"))
}

/// Prompt, blank line, follow-up; what checks and people said goes between the two.
fn follow_up(told: &PromptParts<'_>, text: &str) -> String {
    let mut parts = vec![told.prompt.to_owned()];
    let bytes = told.policy.context_max_tokens as usize * BYTES_PER_TOKEN;
    let failed = checks(told.checks.iter().copied().filter(|check| !check.passed()), bytes);
    if !failed.is_empty() {
        parts.push(format!("These checks failed:\n{failed}"));
    }
    parts.extend(told.shortfall.as_ref().map(|shortfall| shortfall.told(bytes / 3)));
    parts.extend(told.tests.shortfall(bytes / 3));
    parts.extend(shortfall::secrets(&told.left_out));
    if !told.continued || told.rule_due {
        // Who named the promise in the prompt has said when to give it.
        let promise = told.promise.filter(|promise| !told.prompt.contains(promise));
        parts.extend(completion_rule(told, promise));
    }
    parts.extend(heard(told));
    parts.push(text.to_owned());
    parts.join("\n\n")
}

fn with_context(told: &PromptParts<'_>) -> String {
    let bytes = told.policy.context_max_tokens as usize * BYTES_PER_TOKEN;
    let mut checks = checks(told.checks.iter().copied(), bytes / 3);
    if let Some(shortfall) = &told.shortfall {
        let _ = write!(checks, "\n\n{}", shortfall.told(bytes / 3));
    }
    if let Some(shortfall) = told.tests.shortfall(bytes / 3) {
        let _ = write!(checks, "\n\n{shortfall}");
    }
    // The number of the iteration grows too.
    let number = (told.iteration + 1).to_string();
    let past = inert(&told.history.render(bytes.saturating_sub(checks.len() + number.len())));
    let checks = inert(&checks);

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

/// Takes the meaning from tags of the context block in what agents and checks said: what they say must not end the block
/// that quotes it. The length stays the same.
pub(crate) fn inert(text: &str) -> String {
    const NAME: &str = "task_context";
    let is_tag = |rest: &str| {
        let name = rest.trim_start().trim_start_matches('/').trim_start();
        name.get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME))
    };
    let mut out = String::with_capacity(text.len());
    let mut parts = text.split('<');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        out.push(if is_tag(part) { '[' } else { '<' });
        out.push_str(part);
    }
    out
}

fn rules(told: &PromptParts<'_>) -> String {
    let mut parts = Vec::new();
    let git = if told.policy.auto_commit {
        "Do not run git commit: your changes are committed for you when you are done. Build on what the earlier \
         iterations did; `git log` and `git diff` show it."
    } else {
        "Build on what the earlier iterations did; `git diff` shows it."
    };
    parts.push(git.to_owned());
    parts.extend(shortfall::secrets(&told.left_out));
    parts.extend(completion_rule(told, told.promise));
    parts.extend(heard(told));
    parts.join("\n\n")
}

/// What people said, in their own words.
fn heard(told: &PromptParts<'_>) -> Option<String> {
    (!told.said.is_empty()).then(|| format!("The user adds:\n{}", told.said.join("\n")))
}

/// The rule under which a promise may be given, and the honest way out (L18). None where nothing is to be complete.
fn completion_rule(told: &PromptParts<'_>, promise: Option<&str>) -> Option<String> {
    let promise = promise.filter(|text| !text.is_empty());
    let mut lines = Vec::new();
    if let Some(promise) = promise {
        lines.push("When the task is really and completely done, and only then, end your answer with exactly this text:");
        lines.push(promise);
        lines.push("If anything is missing, do not write it: say what is missing and go on.");
    }
    let way_out = format!(
        "If you cannot go on without a person, do not guess: end your answer with <blocked>{PLACEHOLDER}</blocked>, with \
         what you need to know or to have in place of `{PLACEHOLDER}`."
    );
    if told.may_block {
        lines.push(&way_out);
    }
    let tests = told.tests.rule();
    lines.extend(tests.as_deref());
    (!lines.is_empty()).then(|| lines.join("\n"))
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
