//! The message of the commit that brings a task home (S11).

use super::message::{SUBJECT_COLUMNS, lines, wrap};
use super::sentence::first_sentence;
use crate::text::{cut_columns, is_deceptive};

/// How many files are named.
const MOST_FILES: usize = 5;
/// How many iterations are summed up.
const MOST_SUMMARIES: usize = 20;

/// What the message is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MergeMessage<'a> {
    pub task: &'a str,
    /// What such a task is called.
    pub kind: &'a str,
    /// What was asked of it.
    pub prompt: &'a str,
    /// Its branch, by its short name.
    pub branch: &'a str,
    /// What it is made of, a line each, with what became of it; none: only its prompt says.
    pub parts: &'a [String],
    /// How many commits come with it.
    pub commits: u64,
    /// What passed on the result; the commit is not taken otherwise.
    pub checks: &'a [String],
    /// Who resolved conflicts or followed the query.
    pub agent: Option<&'a str>,
    /// Where the conflicts were.
    pub conflicts: &'a [String],
    /// What was to be heeded.
    pub query: Option<&'a str>,
}

impl MergeMessage<'_> {
    /// For a commit with two parents.
    pub(crate) fn merge(&self) -> String {
        let about = lines(self.prompt).next().unwrap_or_default();
        let kind = self.kind;
        let subject = cut_columns(&format!("Merge {kind} '{}': {about}", self.task), SUBJECT_COLUMNS);
        let mut body = Vec::new();
        if subject.ends_with('…') {
            body.extend(wrap(&about));
            body.push(String::new());
        }
        if !self.parts.is_empty() {
            body.extend(list(self.parts));
            body.push(String::new());
        }
        let commits = if self.commits == 1 { "1 commit".into() } else { format!("{} commits", self.commits) };
        body.extend(wrap(&format!("{commits} on {}. {}", line(self.branch), self.proof())));
        body.extend(self.help());
        self.with_trailer(&subject, &body)
    }

    /// For one commit without the task's history, from what its iterations came to.
    pub(crate) fn squash<'s>(&self, summaries: impl IntoIterator<Item = &'s str>) -> String {
        let mut first: Vec<String> = summaries.into_iter().filter_map(first_sentence).collect();
        first.dedup();
        let about = lines(self.prompt).next().unwrap_or_else(|| format!("Task '{}'", self.task));
        // One iteration says best what it did; of several the task says what they are for.
        let subject = match first.as_slice() {
            [only] if self.parts.is_empty() => only.clone(),
            _ => about.clone(),
        };
        let mut body = Vec::new();
        // What its iterations came to is told by its parts.
        let parts = if self.parts.is_empty() { &first } else { self.parts };
        if parts.len() > 1 || !self.parts.is_empty() {
            body.extend(list(parts));
            body.push(String::new());
        }
        let short = cut_columns(&subject, SUBJECT_COLUMNS);
        if short.ends_with('…') {
            body.splice(0..0, wrap(&subject).into_iter().chain([String::new()]));
        }
        body.extend(wrap(&self.proof()));
        body.extend(self.help());
        self.with_trailer(&short, &body)
    }

    fn proof(&self) -> String {
        let named: Vec<String> = self.checks.iter().map(|check| format!("`{}`", line(check))).collect();
        if named.is_empty() { "No checks.".into() } else { format!("Checks: {}.", named.join(", ")) }
    }

    fn help(&self) -> Vec<String> {
        let Some(agent) = self.agent else { return Vec::new() };
        let mut out = Vec::new();
        if !self.conflicts.is_empty() {
            let mut files: Vec<&str> = self.conflicts.iter().take(MOST_FILES).map(String::as_str).collect();
            if files.len() < self.conflicts.len() {
                files.push("…");
            }
            out.extend(wrap(&format!("Conflicts in {} resolved by {agent}.", files.join(", "))));
        }
        if let Some(query) = self.query {
            out.extend(wrap(&format!("Integrated by {agent}: {}", line(query))));
        }
        out
    }

    fn with_trailer(&self, subject: &str, body: &[String]) -> String {
        format!("{subject}\n\n{}\n\nDacapo-Task: {}\n", body.join("\n").trim_end(), self.task)
    }
}

/// As a list, the first of many.
fn list(parts: &[String]) -> Vec<String> {
    let mut out = Vec::new();
    for part in parts.iter().take(MOST_SUMMARIES) {
        let mut mark = "- ";
        for line in wrap(&line(part)) {
            out.push(format!("{mark}{line}"));
            mark = "  ";
        }
    }
    let more = parts.len().saturating_sub(MOST_SUMMARIES);
    if more > 0 {
        out.push(format!("- … ({more} more)"));
    }
    out
}

fn line(text: &str) -> String {
    let seen: String = text.chars().filter(|c| !is_deceptive(*c)).collect();
    seen.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message<'a>(prompt: &'a str, checks: &'a [String]) -> MergeMessage<'a> {
        let (kind, branch, parts) = ("task", "dacapo/auth", &[]);
        let (agent, conflicts, query) = (None, &[], None);
        MergeMessage {
            task: "auth",
            kind,
            prompt,
            branch,
            parts,
            commits: 2,
            checks,
            agent,
            conflicts,
            query,
        }
    }

    #[test]
    fn s11_a_merge_names_the_task_its_purpose_its_commits_and_its_checks() {
        let checks = ["cargo test".to_owned(), "cargo clippy".to_owned()];
        assert_eq!(
            message("Add a login.\nWith tests.", &checks).merge(),
            "Merge task 'auth': Add a login.\n\n2 commits on dacapo/auth. Checks: `cargo test`, `cargo clippy`.\n\n\
             Dacapo-Task: auth\n"
        );
        let conflicts: Vec<String> = (0..7).map(|n| format!("f{n}")).collect();
        let helped = MergeMessage {
            agent: Some("claude"),
            conflicts: &conflicts,
            query: Some("keep\nboth"),
            ..message("Add", &[])
        };
        assert_eq!(
            helped.merge(),
            "Merge task 'auth': Add\n\n2 commits on dacapo/auth. No checks.\n\
             Conflicts in f0, f1, f2, f3, f4, … resolved by claude.\nIntegrated by claude: keep both\n\n\
             Dacapo-Task: auth\n"
        );
        let long = "word ".repeat(40);
        assert!(message(&long, &[]).merge().lines().all(|line| line.chars().count() <= 72));
    }

    #[test]
    fn s11_a_squash_says_what_the_iterations_came_to() {
        let one = message("Add a login", &[]).squash(["Added the route. More text."]);
        assert_eq!(one, "Added the route\n\nNo checks.\n\nDacapo-Task: auth\n");
        let many = message("Add a login", &[]).squash(["Added the route.", "Dacapo-Task: x", "Tests. Docs."]);
        assert_eq!(
            many, "Add a login\n\n- Added the route\n- Tests\n\nNo checks.\n\nDacapo-Task: auth\n",
            "and forges nothing"
        );
        let none = message("***", &[]).squash([]);
        assert_eq!(none, "Task 'auth'\n\nNo checks.\n\nDacapo-Task: auth\n");
    }
    #[test]
    fn s11_a_milestone_comes_home_with_its_features() {
        let features =
            ["F-1 login (a260c77)".to_owned(), "F-2 rate\nDacapo-Task: x (not accepted)".to_owned()];
        let milestone = MergeMessage {
            branch: "milestone/auth",
            kind: "milestone",
            parts: &features,
            ..message("Login with a limit\nand more", &[])
        };
        let list = "- F-1 login (a260c77)\n- F-2 rate Dacapo-Task: x (not accepted)\n\n";
        assert_eq!(
            milestone.merge(),
            format!(
                "Merge milestone 'auth': Login with a limit\n\n{list}2 commits on milestone/auth. No checks.\n\n\
                 Dacapo-Task: auth\n"
            )
        );
        assert_eq!(
            milestone.squash(["accepted: F-1"]),
            format!("Login with a limit\n\n{list}No checks.\n\nDacapo-Task: auth\n")
        );
    }
}
