//! What the model does for a Developer and an Acceptor: it works by the agents' own tools, and reports what these answered.

use std::path::PathBuf;

use crate::agents::Agent;
use crate::model_server::{Answer, Call, Reply, Said};

/// The milestone, and its task.
pub(crate) const ID: &str = "three";

/// A milestone of three features.
pub(crate) const DEFINITION: &str = "# Three files\n## Goal\nA file for each feature.\n\
     ## Features\n- The first file\n  Accept: feature-1.txt is there\n- The second file\n  Accept: feature-2.txt is there\n\
     - The third file\n  Accept: feature-3.txt is there\n\
     ## Acceptance Criteria\n- all three files are there\n- nothing else was touched\n";

/// Whose conversation a call belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Developer,
    Acceptor,
}

/// What a role was asked last, and what its tools have answered since.
#[derive(Debug, Clone)]
pub(crate) struct Asked<'a> {
    pub(crate) role: Role,
    /// From 1.
    pub(crate) round: u32,
    pub(crate) prompt: &'a str,
    pub(crate) results: Vec<&'a str>,
    /// How often this role was asked in this conversation, this time included.
    pub(crate) times: usize,
}

impl<'a> Asked<'a> {
    /// Reads it from the conversation; `None` for a call that is none of the milestone's.
    pub(crate) fn read(call: &'a Call) -> Option<Self> {
        let mut asked: Option<Self> = None;
        for said in &call.said {
            match said {
                Said::User(prompt) => {
                    let Some((role, round)) = opening(prompt) else { continue };
                    let times = asked.map_or(0, |earlier| earlier.times) + 1;
                    asked = Some(Self { role, round, prompt, results: Vec::new(), times });
                }
                Said::Result(text) => {
                    if let Some(asked) = &mut asked {
                        asked.results.push(text);
                    }
                }
                Said::System(_) | Said::Model(_) | Said::Called(..) => {}
            }
        }
        asked
    }
}

/// `You are the Developer of milestone three. Round 2 of 20.`
pub(crate) fn opening(prompt: &str) -> Option<(Role, u32)> {
    let (_, rest) = prompt.split_once("You are the ")?;
    let (role, rest) = rest.split_once(&format!(" of milestone {ID}. Round "))?;
    let role = match role {
        "Developer" => Role::Developer,
        "Acceptor" => Role::Acceptor,
        _ => return None,
    };
    Some((role, rest.split(' ').next()?.parse().ok()?))
}

/// The two agents, and where they work.
#[derive(Clone)]
pub(crate) struct Players {
    pub(crate) developer: &'static Agent,
    pub(crate) acceptor: &'static Agent,
    /// Where the worktree is to be.
    pub(crate) worktree: PathBuf,
}

impl Players {
    /// Answers as a Developer that builds a file a round, and an Acceptor that sends the second one back once.
    pub(crate) fn answer(&self, asked: &Asked<'_>) -> Answer {
        match asked.role {
            Role::Developer => self.develops(asked),
            Role::Acceptor => self.judges(asked),
        }
        .into()
    }

    fn develops(&self, asked: &Asked<'_>) -> Reply {
        let Asked { prompt, round, results, .. } = asked;
        let shell = self.developer.shell;
        if let Some((_, left)) = prompt.split_once("## First put the tree in order") {
            // What an interruption left is committed as it is.
            let number = (1..=3).find(|number| left.contains(&format!("feature-{number}.txt"))).unwrap_or(0);
            return match results.len() {
                0 => Reply::call(shell(&format!("git add -A && git commit -qm 'feat: file {number}'"))),
                _ => Reply::say("The tree is in order."),
            };
        }
        let next = (1..=3).find(|number| prompt.contains(&format!("F-{number} (not done)")));
        let Some(next) = next else {
            return match results.last() {
                None => Reply::call(shell(&format!("git log --format='- %H: %s' main..milestone/{ID}"))),
                Some(log) => Reply::say(format!(
                    "## ALL_FEATURES_COMPLETE\n\n### Commits\n{}\n\n### Summary\nThree files.",
                    commits_in(log)
                )),
            };
        };
        let repair = prompt.contains("## The last round was rejected");
        let (kind, file) = if repair {
            ("fix", format!("feature-{next}-more.txt"))
        } else {
            ("feat", format!("feature-{next}.txt"))
        };
        // What was committed before an interruption is reported.
        let message = format!("{kind}: file {next}");
        let committed = prompt.contains("## After an interruption") && prompt.contains(&message);
        match results.len() {
            0 if committed => {
                Reply::call(shell(&format!("git log -1 --format='- %H: %s' --grep '^{message}'")))
            }
            0 => Reply::call((self.developer.write)(&self.worktree.join(&file), &format!("{kind} {next}\n"))),
            1 if !committed => Reply::call(shell(&format!(
                "git add -A; git diff --cached --quiet || git commit -qm '{message}'; git log -1 --format='- %H: %s'"
            ))),
            _ => {
                let commit = commits_in(results.last().unwrap_or(&""));
                let hash = commit.trim_start_matches("- ").split(':').next().unwrap_or_default().to_owned();
                Reply::say(format!(
                    "It is done.\n\n## Implementation Report — Round {round}\n\n**Feature**: F-{next}\n**Commit**: {hash}\n\
                     **Tests**: 1 passed, 0 failed\n**Lint**: clean\n\n### Changes\n- {file}: new\n\n### Notes\nI am proud of it."
                ))
            }
        }
    }

    fn judges(&self, asked: &Asked<'_>) -> Reply {
        let Asked { prompt, results, .. } = asked;
        let is_final = prompt.contains("## Acceptance criteria");
        let wanted = if is_final { "`git diff " } else { "`git show " };
        let Some(read) = results.last() else {
            // As the prompt words it; the files' names are enough.
            let command = prompt.split(wanted).nth(1).and_then(|rest| rest.split('`').next()).unwrap_or("?");
            let git = wanted.trim_start_matches('`');
            return Reply::call((self.acceptor.shell)(&format!("{git}--stat {command}")));
        };
        let missing = |file: &&str| !read.contains(*file);
        if is_final {
            let files = ["feature-1.txt", "feature-2.txt", "feature-2-more.txt", "feature-3.txt"];
            return match files.iter().find(|file| missing(file)) {
                None => Reply::say("ACCEPTED\n\nC-1: met\nC-2: met"),
                Some(file) => Reply::say(format!(
                    "REJECTED: {file} is missing in {read}\nC-1: not met: {file}\nC-2: met"
                )),
            };
        }
        // The file that the Developer says to have made must be in the commit itself.
        let changes = prompt.split("## Changes, by the Developer's word").nth(1).unwrap_or_default();
        let file = changes.lines().find_map(|line| line.strip_prefix("- ")?.split(':').next());
        match file {
            Some("feature-2.txt") if !missing(&"feature-2.txt") => Reply::say(
                "REJECTED: the second file says too little\n- it has one line only\n- it has no title",
            ),
            Some(file) if !missing(&file) => Reply::say("ACCEPTED\n\nAs the feature says."),
            _ => Reply::say(format!("REJECTED: {file:?} is not in {read}")),
        }
    }
}

/// Lines of the form `- HASH: MESSAGE` in what a tool printed, whatever the agent wraps it in.
pub(crate) fn commits_in(printed: &str) -> String {
    let printed = printed.replace("\\n", "\n");
    let is_commit = |line: &&str| {
        let hash = line.strip_prefix("- ").and_then(|rest| rest.split(':').next()).unwrap_or_default();
        hash.len() == 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let lines = printed.lines().filter_map(|line| line.find("- ").map(|at| line[at..].trim_end()));
    lines.filter(is_commit).collect::<Vec<_>>().join("\n")
}
