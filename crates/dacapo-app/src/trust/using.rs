//! What of that which a repository brings a command is about to use, and the words for it.

use super::{Reader, VARIABLE, shown};
use crate::config::{Brought, Entry, Loaded, Origin, Project, Use};
use crate::error::Failure;
use crate::messages::{Messages, say};

/// What a command is about to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Using<'a> {
    /// These agents, as in `--agent`; `None`: whichever the settings name.
    Agents(Option<&'a str>),
    Checks,
    /// The setup of a fresh worktree.
    Setup,
    /// The channels by which people are told.
    Notify,
    Editor,
    /// The program for pull requests.
    PullRequests,
}

impl Using<'_> {
    fn touches(self, entry: &Entry) -> bool {
        let Some(used_by) = entry.used_by else { return true };
        match (self, used_by) {
            (Using::Agents(names), Use::Agents) => match (&entry.agent, names) {
                (_, None) => true,
                // `native` also writes summaries and commit messages for others.
                (Some(agent), Some(names)) => agent == "native" || named(names).any(|name| name == agent),
                (None, Some(_)) => entry.key != "agent",
            },
            (Using::Checks, Use::Checks)
            | (Using::Setup, Use::Setup)
            | (Using::Notify, Use::Notify)
            | (Using::Editor, Use::Editor)
            | (Using::PullRequests, Use::PullRequests) => true,
            (
                Using::Agents(_)
                | Using::Checks
                | Using::Setup
                | Using::Notify
                | Using::Editor
                | Using::PullRequests,
                Use::Agents | Use::Checks | Use::Setup | Use::Notify | Use::Editor | Use::PullRequests,
            ) => false,
        }
    }
}

/// What the repository's file brings, the command uses, and the user has not confirmed.
pub fn unconfirmed<'a>(loaded: &'a Loaded, uses: &[Using<'_>]) -> Option<&'a Brought> {
    let Project::Unconfirmed { brought, then } = &loaded.project else { return None };
    let counts = |entry: &&Entry| matches!(then.origin(&entry.key), Origin::Project { .. });
    let mut used = brought.entries.iter().filter(counts);
    used.any(|entry| uses.iter().any(|using| using.touches(entry))).then_some(brought)
}

/// The agents in `claude, rehearsal:script.yaml`.
fn named(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(|name| name.split(':').next().unwrap_or(name).trim())
}

/// What is shown before it is asked.
pub fn in_words(brought: &Brought, messages: Messages) -> String {
    let what = brought.entries.iter().map(|entry| indented(&shown(entry, Reader::Person, messages)));
    let what = what.collect::<Vec<_>>().join("\n");
    format!("{}\n\n{what}\n", messages.trust_unconfirmed(&brought.source))
}

/// Why a command that nobody can be asked about ends here.
pub fn refused(brought: &Brought) -> Failure {
    let message = |m: Messages| {
        let what = brought.entries.iter().map(|entry| indented(&shown(entry, Reader::Log, m)));
        m.trust_refused(&brought.source, &what.collect::<Vec<_>>().join("\n"))
    };
    Failure::usage(say(message))
        .kept(say(Messages::kept_nothing_started_or_changed))
        .hint(say(Messages::trust_asks_at_terminal))
        .hint(say(|m| m.trust_by_variable(VARIABLE, &brought.hash)))
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
