//! What the two agents are told (formats.md, "Milestones"). Everything that somebody else wrote is put in, never expanded.

use std::fmt::Write as _;

use super::Work;
use super::definition::Feature;
use super::findings::Findings;
use super::judge::named;
use crate::context::{cut, tail_lines};
use crate::event::{CheckResult, Finding};
use crate::git::Oid;

/// So much of what a check printed is shown.
const CHECK_LINES: usize = 20;
const CHECK_BYTES: usize = 2000;
/// So much of a reason is told.
const REASON_BYTES: usize = 8 << 10;
/// So many commits are listed; the rest is counted.
const MOST_COMMITS: usize = 100;

/// What both are told.
#[derive(Debug)]
pub(super) struct Task<'a> {
    pub(super) id: &'a str,
    pub(super) branch: &'a str,
    /// From 1.
    pub(super) round: u32,
    pub(super) max_rounds: u32,
    pub(super) soul: Option<&'a str>,
    pub(super) memory: Option<&'a str>,
    pub(super) said: &'a [String],
    /// What has happened since its last turn.
    pub(super) notes: &'a [String],
    pub(super) recovering: bool,
    pub(super) rounds_done: u32,
    pub(super) log: &'a [String],
    pub(super) findings: &'a Findings,
    /// Why the last reply was sent back.
    pub(super) complaints: &'a [String],
    /// The agent remembers what it was told before.
    pub(super) continued: bool,
}

/// A feature, and whether it was accepted.
#[derive(Debug)]
pub(super) struct FeatureLine<'a> {
    pub(super) id: String,
    pub(super) feature: &'a Feature,
    pub(super) done: bool,
}

/// What the Developer is told.
#[derive(Debug)]
pub(super) struct DeveloperTold<'a> {
    pub(super) task: Task<'a>,
    pub(super) vision: Option<&'a str>,
    /// The milestone's file.
    pub(super) definition: &'a str,
    pub(super) path: &'a str,
    pub(super) features: Vec<FeatureLine<'a>>,
    /// Why the round before was rejected.
    pub(super) rejected: Option<&'a str>,
    pub(super) dirty: &'a [String],
    pub(super) astray: Option<&'a str>,
    pub(super) left: &'a [String],
    /// Only put the tree in order.
    pub(super) cleanup: bool,
}

/// What the Acceptor is told. The Developer's notes, summary and praise are no part of it (M11).
#[derive(Debug)]
pub(super) struct AcceptorTold<'a> {
    pub(super) task: Task<'a>,
    pub(super) base: Option<&'a Oid>,
    /// Where the round began.
    pub(super) start: Option<&'a Oid>,
    pub(super) work: Option<&'a Work>,
    /// The one that is judged, or all where that cannot be told.
    pub(super) features: Vec<FeatureLine<'a>>,
    pub(super) criteria: Vec<(String, &'a str)>,
    pub(super) constraints: &'a str,
    pub(super) checks: &'a [CheckResult],
}

/// A prompt: headings, and what stands under them.
struct Page(String);

impl Page {
    fn part(&mut self, heading: &str, text: &str) {
        let _ = write!(self.0, "## {heading}\n\n{}\n\n", text.trim_end());
    }

    /// A text of somebody else's, headings and all.
    fn document(&mut self, tag: &str, text: Option<&str>) {
        if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
            let _ = write!(self.0, "<{tag}>\n{}\n</{tag}>\n\n", text.trim_end());
        }
    }

    fn end(mut self) -> String {
        self.0.truncate(self.0.trim_end().len());
        self.0.push('\n');
        self.0
    }

    fn part_of(&mut self, heading: &str, text: Option<&str>) {
        if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
            self.part(heading, text);
        }
    }

    fn list(&mut self, heading: &str, items: impl Iterator<Item = String>) {
        let text = items.fold(String::new(), |mut text, item| {
            let _ = writeln!(text, "- {}", item.replace('\n', "\n  "));
            text
        });
        self.part_of(heading, Some(&text));
    }

    /// What is the same for both: people's words, an interruption, why a reply came back.
    fn urgent(&mut self, task: &Task<'_>) {
        self.list("What has happened", task.notes.iter().cloned());
        self.list("What a person says", task.said.iter().cloned());
        if task.recovering {
            let done = match task.rounds_done {
                0 => "No round had been finished.".to_owned(),
                1 => "Round 1 had been finished.".to_owned(),
                many => format!("Rounds 1 to {many} had been finished."),
            };
            let text = format!(
                "Work on this milestone was interrupted. {done} What you remember may be older than the files: look at them and at git before you go on."
            );
            self.part("After an interruption", &text);
        }
    }

    /// What an agent that was interrupted needs to know of the project, where the page does not say it anyway (M9).
    fn recovery(&mut self, task: &Task<'_>) {
        if task.recovering {
            self.document("project_memory", task.memory);
            self.list("Commits so far, newest first", commits(task.log));
        }
    }

    fn findings(&mut self, findings: &Findings, settled: &str) {
        self.list("Open findings", findings.open().iter().map(finding));
        self.list(settled, findings.settled().iter().map(finding));
    }
}

fn finding(finding: &Finding) -> String {
    format!("[R{}] {}", finding.id, finding.text)
}

fn commits(log: &[String]) -> impl Iterator<Item = String> {
    let more = log.len().saturating_sub(MOST_COMMITS);
    let rest = (more > 0).then(|| format!("... ({more} more)"));
    log.iter().take(MOST_COMMITS).cloned().chain(rest)
}

fn sent_back(complaints: &[String]) -> String {
    complaints.iter().fold(String::new(), |mut text, complaint| {
        let _ = writeln!(text, "- {complaint}");
        text
    })
}

/// The prompt of a turn of the Developer.
pub(super) fn developer(told: &DeveloperTold<'_>) -> String {
    let task = &told.task;
    let mut page = Page(format!(
        "You are the Developer of milestone {}. Round {} of {}.\n\n",
        task.id, task.round, task.max_rounds
    ));
    let disorder = disorder(told);
    // One that remembers needs only what is new when its reply comes back.
    let brief = task.continued && (!task.complaints.is_empty() || told.cleanup);
    if !brief {
        page.document("vision", told.vision);
        page.document("soul", task.soul);
        page.document("milestone", Some(told.definition));
        page.document("project_memory", task.memory);
        page.list(
            "Features, as they stand",
            told.features.iter().map(|line| {
                let state = if line.done { "accepted" } else { "not done" };
                format!("{} ({state}): {}", line.id, line.feature.text)
            }),
        );
        page.list("Commits so far, newest first", commits(task.log));
        page.findings(task.findings, "Settled findings: leave them as they are");
    } else {
        page.recovery(task);
    }
    page.urgent(task);
    page.part_of("First put the tree in order", disorder.as_deref());
    if !task.complaints.is_empty() {
        page.part("Your last reply was sent back", &sent_back(task.complaints));
    }
    if told.cleanup {
        page.part(
            "What is to be done",
            "Only put the tree in order, by commits or by undoing what is not wanted. Do nothing else. Your report on this round is kept. Reply with a line that says what you did.",
        );
        return page.end();
    }
    if let Some(reason) = told.rejected.filter(|_| !brief) {
        page.part("The last round was rejected", &cut(reason, REASON_BYTES));
    }
    let work = if !task.complaints.is_empty() {
        "Put right what is wrong with your last reply, in the files and in git where that is needed. Do not begin anything else."
    } else if told.rejected.is_some() {
        "Repair what was rejected, and settle all open findings."
    } else {
        "Implement the next feature that is not done, and only that one."
    };
    let text = format!(
        "{work} You work on the branch {}, and nowhere else. Run lint, type check and tests. Commit everything on the branch, with conventional commit messages; leave nothing uncommitted. Never change {}, and never touch any other branch.\n\nIf every feature is done and nothing is left to repair, reply with the completion report instead.",
        task.branch, told.path
    );
    page.part("What is to be done", &text);
    page.part("Your reply", &report_form(task.round));
    page.end()
}

fn disorder(told: &DeveloperTold<'_>) -> Option<String> {
    let mut text = String::new();
    if let Some(astray) = told.astray {
        let _ = writeln!(text, "- HEAD is on {astray}: go back to {}.", told.task.branch);
    }
    if !told.dirty.is_empty() {
        let _ =
            writeln!(text, "- These paths are not committed: {}. Commit or undo them.", named(told.dirty));
    }
    for note in told.left {
        let _ = writeln!(text, "- {note}");
    }
    (!text.is_empty()).then_some(text)
}

fn report_form(round: u32) -> String {
    format!(
        "End with exactly this report, filled in, and not in a code block:\n\n## Implementation Report — Round {round}\n\n**Feature**: F-… and its name\n**Commit**: the hash\n**Tests**: {{n}} passed, {{n}} failed\n**Lint**: clean, or {{n}} issues\n\n### Changes\n- {{path}}: what changed\n\n### Notes\noptional\n\nOr, when all features are complete:\n\n## ALL_FEATURES_COMPLETE\n\n### Commits\n- {{hash}}: {{message}}\n\n### Summary\nwhat was done"
    )
}

/// The prompt of a turn of the Acceptor.
pub(super) fn acceptor(told: &AcceptorTold<'_>) -> String {
    let task = &told.task;
    let mut page = Page(format!(
        "You are the Acceptor of milestone {}. Round {} of {}. You judge; you change nothing, neither files nor git.\n\n",
        task.id, task.round, task.max_rounds
    ));
    let is_final = Work::is_final(told.work);
    let brief = task.continued && !task.complaints.is_empty();
    if !brief {
        page.document("soul", task.soul);
        match told.work {
            Some(Work::Feature { text, at, commit, changes }) => {
                page.part("Feature", text);
                let heading = if at.is_some() {
                    "Accepted by"
                } else {
                    "Accepted by (all features: which one it is cannot be told)"
                };
                page.list(heading, told.features.iter().map(accepted_by));
                page.part("Commit", commit.as_str());
                page.list("Changes, by the Developer's word", changes.iter().cloned());
            }
            Some(Work::Everything { commit, .. }) => {
                page.list(
                    "Acceptance criteria",
                    told.criteria.iter().map(|(id, text)| format!("{id}: {text}")),
                );
                page.list(
                    "Features",
                    told.features.iter().map(|line| {
                        let state = if line.done { "accepted" } else { "never accepted by itself" };
                        format!("{} ({state}): {}", line.id, line.feature.text)
                    }),
                );
                page.part("Tip of the branch", commit.as_str());
                if !task.recovering {
                    page.list("All commits, newest first", commits(task.log));
                }
            }
            None => {}
        }
        page.part_of("Constraints", Some(told.constraints));
        page.list("Checks that Dacapo ran on it", told.checks.iter().map(check));
        page.findings(task.findings, "Settled findings: they stay settled");
    }
    page.recovery(task);
    page.urgent(task);
    if !task.complaints.is_empty() {
        page.part("Your last reply was sent back", &sent_back(task.complaints));
    }
    page.part("What is to be done", &acceptors_work(told, is_final));
    page.part("Your reply", &verdict_form(told, is_final));
    page.end()
}

fn accepted_by(line: &FeatureLine<'_>) -> String {
    match &line.feature.accept {
        Some(accept) => format!("{} {}\nAccept: {accept}", line.id, line.feature.text),
        None => format!("{} {}", line.id, line.feature.text),
    }
}

fn check(result: &CheckResult) -> String {
    let mut text = format!(
        "`{}` → {}",
        result.command,
        if result.passed() { "passed".to_owned() } else { result.ending() }
    );
    let tail = tail_lines(&result.tail, CHECK_LINES, CHECK_BYTES);
    if !result.passed() && !tail.is_empty() {
        let _ = write!(text, "\n{tail}");
    }
    text
}

fn acceptors_work(told: &AcceptorTold<'_>, is_final: bool) -> String {
    let branch = told.task.branch;
    if is_final {
        let range =
            told.base.map_or_else(String::new, |base| format!(" (`git diff {}..HEAD`)", base.short()));
        return format!(
            "The Developer says that all features are complete. Judge the whole milestone on {branch} against every criterion{range}: read the code, do not take its word."
        );
    }
    let commit = told.work.map_or("HEAD", |work| work.commit().short());
    // A report names one commit; what else came with it is no secret.
    let whole = told.start.map_or_else(String::new, |start| {
        format!(" (`git diff {}..HEAD` is all that this round changed)", start.short())
    });
    format!(
        "Read the change on {branch} with `git show {commit}`{whole}, and the code around it. Judge whether the feature is done as its acceptance says, with the constraints kept. Judge this feature only."
    )
}

fn verdict_form(told: &AcceptorTold<'_>, is_final: bool) -> String {
    let mut text = "The first line is the verdict, exactly `ACCEPTED`, or `REJECTED: ` and the reason in a sentence. After a rejection come the findings, a list item each: `- [R3] …` for an open one that still holds, under its id; `- …` for a new one. Open findings that you do not name are settled.".to_owned();
    if is_final {
        let last = told.criteria.last().map_or("C-1", |(id, _)| id.as_str());
        let _ = write!(
            text,
            " After the verdict comes one line for each criterion, C-1 to {last}: `C-1: met` or `C-1: not met: why`."
        );
    }
    text
}
