//! Pull requests (S12): the task's branch is pushed with the user's own git, and offered with the platform's own program.
//!
//! ```text
//! task ─► Plan (remote, base, title, body, program) ─► push ─► is there one already? ─► open ─► its address
//! ```
//!
//! Nothing here changes the task: whatever fails can be tried again with `dacapo pr NAME`. A push of what is there already
//! does nothing, and a pull request that is open already is found, so a crash in between does no harm.

mod address;
mod body;
mod carry_out;
mod issue;
mod platform;
mod target;

use std::path::PathBuf;

use dacapo_core::context::cut_chars;
use dacapo_core::engine::{KindView, masker};
use dacapo_core::git::{GitError, Looked, Repo};
use dacapo_core::spec::{Place, TaskSpec};
use dacapo_core::store::TaskDir;
use dacapo_core::view::TaskView;

use crate::App;
use crate::committed_secrets::{self, Leaving};
use crate::config::{Config, PlatformCli};
use crate::error::Failure;
use crate::messages::{Messages, Text, command, say};
use crate::present::errors::{self, InWords as _};
use crate::present::json::objects::PullRequest;
use crate::present::words;
use address::Address;
pub use issue::issue;
pub use platform::program;

/// The file of the task that holds the text of its pull request.
const BODY_FILE: &str = "pull-request.md";

/// What people set for one pull request.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// Its title; none: what was asked for with the task, else made from the prompt.
    pub title: Option<String>,
    /// The branch it goes to; none: the one the task came from.
    pub base: Option<String>,
    /// It is not ready yet.
    pub draft: bool,
    /// Commits that hold a known secret are pushed too.
    pub allow_secret: bool,
}

/// The task that is offered.
#[derive(Debug, Clone, Copy)]
pub struct Offered<'a> {
    pub spec: &'a TaskSpec,
    pub dir: &'a TaskDir,
    pub config: &'a Config,
}

/// The text alone, without its commits.
#[cfg(test)]
pub fn body_of(view: &TaskView, spec: &TaskSpec) -> String {
    body::body(view, spec, &[])
}

/// All that is known before anything is done.
#[derive(Debug)]
pub struct Plan {
    pub task: String,
    /// Its worktree, or the checkout where that is gone: here it is pushed from.
    repo: Repo,
    /// Where the platform's program is run: the user's own checkout. Not every one of them understands worktrees.
    cwd: PathBuf,
    tag: String,
    app: App,
    pub remote: String,
    pub address: Address,
    /// What is pushed (full name).
    from: String,
    /// Where it is pushed to, and what it is offered to: the short names that these have on the remote.
    pub branch: String,
    pub base: String,
    pub title: String,
    pub body: String,
    pub draft: bool,
    body_file: PathBuf,
    pub cli: Choice,
    /// The user's commits are signed, and those of the task are not.
    pub unsigned: bool,
}

/// The program that opens it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// This program, chosen for this reason.
    Use(PlatformCli, ChosenBy),
    /// This one, but it is not installed.
    Missing(PlatformCli),
    /// The remote's platform is not known, and no setting says it.
    Unknown,
}

/// Why a program opens it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChosenBy {
    /// The user's `[pr] cli`.
    Config,
    /// The name of the remote's host.
    Host,
    /// It is logged in at that host.
    Login,
}

impl ChosenBy {
    fn told(self, messages: Messages) -> String {
        match self {
            ChosenBy::Config => messages.pr_why_configured(),
            ChosenBy::Host => messages.pr_why_host(),
            ChosenBy::Login => messages.pr_why_logged_in(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Made {
    /// The pull request exists: opened now, or found.
    Open {
        url: String,
        /// Who opened or found it.
        cli: PlatformCli,
        /// It was there already, and has the new commits now.
        already: bool,
    },
    /// The branch is on the remote; a person opens it.
    PushedOnly {
        /// Why, and what to do.
        message: Text,
        /// The command to run, where one is known.
        command: Option<String>,
    },
}

/// What can be said before the task begins (`--pr`): without a remote there will never be one.
pub fn look_ahead(
    app: &App,
    repo: &Repo,
    spec: &TaskSpec,
    config: &Config,
) -> Result<Option<String>, Failure> {
    let remote = target::remote(repo, spec.base_branch.as_deref())?;
    let address = Address::parse(&repo.remote_url(&remote.0).map_err(|error| git_failed(&error))?);
    // Who has to be asked is asked at the end.
    Ok(match by_name(&address, config) {
        Some(cli) if app.on_path(program(cli)).is_none() => Some(format!(
            "{} is not installed: at the end the branch is pushed, and the command that opens the pull request is shown",
            program(cli)
        )),
        _ => None,
    })
}

impl Plan {
    /// Finds out all there is to know; nothing is changed.
    pub fn new(app: &App, offered: Offered<'_>, wishes: &Wishes) -> Result<Self, Failure> {
        let Offered { spec, dir, config } = offered;
        let name = spec.name.as_str();
        let Place::Worktree { branch: full, .. } = &spec.place else {
            return Err(Failure::usage(say(|m| m.pr_worked_here(name)))
                .kept(say(|m| m.kept_nothing_pushed()))
                .hint(say(|m| m.pr_push_yourself()))
                .hint(say(|m| m.pr_use_worktree())));
        };
        let view = TaskView::load(dir, app.kinds).map_err(|error| Failure::failed(errors::text(&error)))?;
        // The user's: where the task's own repository pushes to is the agent's to change.
        let repo = app
            .discover(&spec.top)
            .map_err(|error| Failure::failed(say(|m| m.pr_repository_unusable(name, &error.in_words(m)))))?;
        if let Some(merged) = &view.merged {
            let into = words::branch(&merged.into);
            return Err(
                Failure::usage(say(|m| m.pr_was_merged(name, into))).kept(say(|m| m.kept_nothing_pushed()))
            );
        }
        app.carry(&repo, spec)
            .map_err(|error| Failure::failed(errors::text(&error)).kept(say(|m| m.kept_nothing_pushed())))?;
        let Some(tip) = repo.read_ref(full).map_err(|error| git_failed(&error))? else {
            return Err(Failure::usage(say(|m| m.pr_branch_gone(words::branch(full))))
                .kept(say(|m| m.pr_kept_record()))
                .hint(say(|m| m.pr_undo_dropped(name))));
        };
        let base_commit = view.base_commit.as_ref();
        let commits = match base_commit {
            Some(base) if !repo.has_commit(base).map_err(|error| git_failed(&error))? => Vec::new(),
            _ => repo.log_between(base_commit, &tip).map_err(|error| git_failed(&error))?,
        };
        if Some(&tip) == base_commit {
            return Err(Failure::usage(say(|m| m.pr_no_commits(name)))
                .kept(say(|m| m.kept_nothing_pushed()))
                .hint(say(|m| m.hint_resume_continues(name))));
        }
        if !wishes.allow_secret {
            let leaving = Leaving { repo: &repo, spec, view: &view, onto: base_commit, tip: &tip };
            let found = leaving.secrets(app, Looked::EachCommit).map_err(|error| git_failed(&error))?;
            let (kept, allow) =
                (say(|m| m.kept_nothing_pushed()), command(format_args!("pr {name} --allow-secret")));
            if let Some(refused) = committed_secrets::refused(name, &found, kept, allow) {
                return Err(refused);
            }
        }
        let (remote, upstream) = target::remote(&repo, spec.base_branch.as_deref())?;
        let base = target::base(&repo, spec, config, (&remote, upstream), wishes)?;
        let address = Address::parse(&repo.remote_url(&remote).map_err(|error| git_failed(&error))?);
        let masker = masker(&app.env, spec);
        let title =
            wishes.title.clone().or_else(|| spec.pull_request.clone().and_then(|wanted| wanted.title));
        let asked = view.own().and_then(KindView::purpose).map(|purpose| purpose.title);
        let title = one_line(title.as_ref().or(asked.as_ref()).unwrap_or(&spec.prompt));
        let unsigned = repo.signs_commits().map_err(|error| git_failed(&error))?;
        Ok(Plan {
            task: name.to_owned(),
            cwd: spec.top.clone(),
            tag: spec.tag.clone(),
            from: full.clone(),
            // A pull request does not follow a branch to another name: a task that was renamed stays where it was offered.
            branch: view.offered_as.clone().unwrap_or_else(|| words::branch(full).to_owned()),
            title: masker.mask_str(&title),
            body: masker.mask_str(&body::body(&view, spec, &commits)),
            draft: wishes.draft,
            body_file: dir.path().join(BODY_FILE),
            cli: Choice::Unknown,
            remote,
            address,
            base,
            repo,
            app: app.clone(),
            unsigned,
        }
        .with_program(config))
    }

    fn with_program(mut self, config: &Config) -> Self {
        let installed = |cli| self.app.on_path(program(cli)).is_some();
        self.cli = match by_name(&self.address, config) {
            Some(cli) if !installed(cli) => Choice::Missing(cli),
            Some(cli) if config.pr.cli.is_some() => Choice::Use(cli, ChosenBy::Config),
            Some(cli) => Choice::Use(cli, ChosenBy::Host),
            None => match self.address.host.as_deref() {
                Some(host) => platform::ALL
                    .into_iter()
                    .filter(|cli| installed(*cli))
                    .find(|cli| {
                        let done = self.call(platform::knows_host(*cli, host), Vec::new());
                        platform::host_is_known(*cli, host, &done)
                    })
                    .map_or(Choice::Unknown, |cli| Choice::Use(cli, ChosenBy::Login)),
                None => Choice::Unknown,
            },
        };
        self
    }

    /// The text for people of what would be done (`--dry-run`).
    pub fn shown(&self, messages: Messages) -> String {
        let cli = match &self.cli {
            Choice::Use(cli, why) => format!("{} ({})", program(*cli), why.told(messages)),
            Choice::Missing(cli) => messages.pr_plan_missing(program(*cli)),
            Choice::Unknown => messages.pr_plan_unknown(),
        };
        let own = words::branch(&self.from);
        let place = self.address.shown();
        let push = match own == self.branch {
            true => messages.pr_plan_push(own, &self.remote, &place),
            false => messages.pr_plan_push_as(own, &self.branch, &self.remote, &place),
        };
        let base = if self.draft { messages.pr_plan_draft(&self.base) } else { self.base.clone() };
        let title = words::line(&self.title, words::WHOLE);
        format!("{}\n\n{}", messages.pr_plan(&push, &cli, &base, &title), self.body.trim_end())
    }

    /// The same for programs; once it was carried out, with what came of it.
    pub fn object(&self, made: Option<&Made>) -> PullRequest {
        let cli = match &self.cli {
            Choice::Use(cli, _) | Choice::Missing(cli) => Some(program(*cli).to_owned()),
            Choice::Unknown => None,
        };
        let offer = PullRequest {
            task: self.task.clone(),
            remote: self.remote.clone(),
            branch: self.branch.clone(),
            base_branch: self.base.clone(),
            title: self.title.clone(),
            body: self.body.clone(),
            draft: self.draft,
            cli,
            url: None,
            already_open: None,
            message: None,
            command: None,
        };
        match made {
            None => offer,
            Some(Made::Open { url, cli, already }) => PullRequest {
                url: Some(Some(url.clone())),
                cli: Some(program(*cli).to_owned()),
                already_open: Some(*already),
                ..offer
            },
            Some(Made::PushedOnly { message, command }) => PullRequest {
                url: Some(None),
                message: Some(message.english().to_owned()),
                command: command.clone(),
                ..offer
            },
        }
    }

    /// What people should know about what was pushed.
    pub fn note(&self) -> Option<Text> {
        self.unsigned.then(|| say(|m| m.pr_unsigned()))
    }

    fn wanted(&self) -> platform::NewPullRequest<'_> {
        platform::NewPullRequest {
            address: &self.address,
            remote: &self.remote,
            branch: &self.branch,
            base: &self.base,
            title: &self.title,
            body: &self.body,
            body_file: &self.body_file,
            draft: self.draft,
        }
    }
}

/// The program by what the user says, else by the name of the host.
fn by_name(address: &Address, config: &Config) -> Option<PlatformCli> {
    config.pr.cli.or_else(|| address.host.as_deref().and_then(platform::of_host))
}

/// A title has one line, begins with a word and is not longer than people read.
fn one_line(text: &str) -> String {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let first = first.trim_start_matches(['#', '>', '*', ' ']);
    let plain: String = first.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    let title = cut_chars(&words.join(" "), 100);
    if title.is_empty() { "Changes by an agent".to_owned() } else { title }
}

fn git_failed(error: &GitError) -> Failure {
    let told = say(|m| address::without_passwords(&error.in_words(m)));
    Failure::failed(told).kept(say(|m| m.kept_nothing_pushed()))
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn s12_a_title_is_one_line_whatever_was_asked() {
        for (text, title) in [
            ("fix it", "fix it"),
            ("\n\n  # Fix\tit \r\nmore", "Fix it"),
            ("-rf; $(rm) `x` \"q\" 'r'", "-rf; $(rm) `x` \"q\" 'r'"),
            ("\u{1b}[31mred\u{7}", "[31mred"),
            (" \n ", "Changes by an agent"),
        ] {
            assert_eq!(one_line(text), title, "{text:?}");
        }
        assert_eq!(one_line(&"繼".repeat(500)).chars().count(), 100);
    }
}
