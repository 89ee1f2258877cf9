//! Where a command passes that wants to use what the repository brings: it is shown, and the user is asked once.

use std::path::Path;

use super::{Reader, Store, VARIABLE, shown};
use crate::args::Show;
use crate::config::{Brought, Entry, Loaded, Origin, Project, Sources, Use, load};
use crate::error::Failure;
use crate::inside::is_inside;
use crate::question::{self, Audience, Default};

const NOTHING: &str = "everything; nothing was started and nothing was changed";

/// What a command is about to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Using<'a> {
    /// These agents, as in `--agent`; `None`: whichever the settings name.
    Agents(Option<&'a str>),
    /// The project's checks.
    Checks,
    /// The setup of a fresh worktree.
    Setup,
    /// The ways to tell people.
    Notify,
    /// The editor.
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

/// The agents in `claude, rehearsal:script.yaml`.
fn named(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(|name| name.split(':').next().unwrap_or(name).trim())
}

/// Asks the user of a command, where one can be asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gate<'a> {
    /// The top of the checkout whose settings count.
    pub(crate) top: &'a Path,
    /// How the command shows what it does: whoever reads JSON cannot be asked.
    pub(crate) show: Show,
}

impl Gate<'_> {
    /// The settings to go by. What the repository's file brings and the command uses is confirmed first; where it is not, the
    /// command ends here.
    pub(crate) fn settings(&self, uses: &[Using<'_>]) -> Result<Loaded, Failure> {
        let mut loaded = load(&Sources::for_repo(self.top))?;
        let Project::Unconfirmed { brought, then } = &loaded.project else { return Ok(loaded) };
        let counts = |entry: &&Entry| matches!(then.origin(&entry.key), Origin::Project(..));
        let mut used = brought.entries.iter().filter(counts);
        if !used.any(|entry| uses.iter().any(|using| using.touches(entry))) {
            return Ok(loaded);
        }
        self.pass(brought)?;
        if let Project::Unconfirmed { then, .. } = loaded.project {
            loaded = *then;
        }
        Ok(loaded)
    }

    /// Something else of the repository that is about to be used, such as a text.
    pub(crate) fn brought(&self, brought: Option<&Brought>) -> Result<(), Failure> {
        match brought.filter(|brought| !super::confirmed(self.top).includes(brought)) {
            Some(brought) => self.pass(brought),
            None => Ok(()),
        }
    }

    fn pass(&self, brought: &Brought) -> Result<(), Failure> {
        if !self.somebody_can_be_asked()? {
            return Err(refused(brought));
        }
        anstream::eprintln!("{}", in_words(brought));
        if !question::yes("Trust it, until it changes? [y/N]", Default::No) {
            return Err(Failure::usage(format!("{} is not trusted", brought.source))
                .kept(NOTHING)
                .hint("dacapo trust asks again")
                .hint("dacapo config shows what is in effect without it"));
        }
        self.keep(brought);
        Ok(())
    }

    /// Remembers what the user has confirmed, or had Dacapo write.
    pub(crate) fn keep(&self, brought: &Brought) {
        let kept = Store::around(self.top).map(|store| store.add(brought));
        if let Some(Err(error)) = kept {
            anstream::eprintln!("warning: this cannot be remembered, and will be asked again: {error}");
        }
    }

    /// Not below a guard: an agent can make itself a terminal, and would say yes.
    pub(crate) fn somebody_can_be_asked(&self) -> Result<bool, Failure> {
        Ok(Audience::now(self.show) == Audience::Person && !is_inside()?)
    }
}

/// What is shown before it is asked.
pub(crate) fn in_words(brought: &Brought) -> String {
    let what = brought.entries.iter().map(|entry| indented(&shown(entry, Reader::Person)));
    format!(
        "This repository's {} sets what runs on your machine or what agents are told, and you have not confirmed it:\n\n{}\n",
        brought.source,
        what.collect::<Vec<_>>().join("\n")
    )
}

fn refused(brought: &Brought) -> Failure {
    let what = brought.entries.iter().map(|entry| indented(&shown(entry, Reader::Log)));
    let message = format!(
        "this repository's {} sets what runs on your machine or what agents are told, and you have not confirmed it:\n{}",
        brought.source,
        what.collect::<Vec<_>>().join("\n")
    );
    Failure::usage(message)
        .kept(NOTHING)
        .hint("dacapo trust shows it and asks, at a terminal")
        .hint(format!("{VARIABLE}={} confirms exactly this, in CI for example", brought.hash))
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
