//! An issue as a prompt (S17): its title and text, by the platform's own program.

use std::ffi::OsString;

use dacapo_core::git::Repo;

use super::address::{self, Address};
use super::{CALL_LIMIT, MOST_OUTPUT, by_name, git_failed, last_lines, platform, program, quietly, target};
use crate::config::Config;
use crate::errand::{End, Errand, on_path};
use crate::error::Failure;
use crate::output::words;

const NOTHING: &str = "everything; nothing was started";

/// What an issue asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Issue {
    pub(crate) number: u64,
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) url: Option<String>,
}

impl Issue {
    /// What the agent is told.
    pub(crate) fn prompt(&self) -> String {
        let (title, text) = (self.title.trim(), self.text.trim());
        if text.is_empty() { title.to_owned() } else { format!("{title}\n\n{text}") }
    }

    /// What the user is told.
    pub(crate) fn note(&self) -> String {
        let url = self.url.as_ref().map_or_else(String::new, |url| format!(" ({url})"));
        format!("the prompt is issue {}: {}{url}", self.number, words::line(self.title.trim(), words::WHOLE))
    }
}

/// Asks the platform of the repository's remote.
pub(crate) fn issue(repo: &Repo, config: &Config, number: u64) -> Result<Issue, Failure> {
    let head = repo.head().map_err(|error| git_failed(&error))?;
    let (remote, _) = target::remote(repo, head.branch.as_deref()).map_err(|failure| {
        let no_remote = failure.message.contains("no remote");
        let message =
            format!("--issue {number}: this repository has no remote, so nobody knows whose issue it is");
        if no_remote { Failure { message, ..failure }.kept(NOTHING) } else { failure.kept(NOTHING) }
    })?;
    let address = Address::parse(&repo.remote_url(&remote).map_err(|error| git_failed(&error))?);
    let env: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let installed = |cli| on_path(program(cli), &env).is_some();
    let named = by_name(&address, config);
    let Some(cli) = named.or_else(|| platform::ALL.into_iter().find(|cli| installed(*cli))) else {
        return Err(Failure::usage(format!("--issue {number} needs gh, glab or tea, and none is on PATH"))
            .kept(NOTHING)
            .hint("install the one of your platform and log in")
            .hint("--prompt-file FILE takes the text from a file"));
    };
    let program = program(cli);
    if !installed(cli) {
        return Err(Failure::usage(format!(
            "--issue {number} needs {program} for {}, and it is not on PATH",
            address.shown()
        ))
        .kept(NOTHING)
        .hint(format!("install {program} and log in"))
        .hint("--prompt-file FILE takes the text from a file"));
    }
    let argv = platform::issue(cli, number, &address, &remote);
    let cwd = repo.toplevel().to_owned();
    let errand =
        Errand { argv, cwd, env: quietly(env), stdin: Vec::new(), limit: CALL_LIMIT, most: MOST_OUTPUT };
    let done = errand.run_alone();
    if done.end == End::Code(0)
        && let Some((title, text, url)) = platform::issue_in(cli, &done.stdout)
    {
        return Ok(Issue { number, title, text, url });
    }
    let said = address::without_passwords(&format!("{}\n{}", done.stderr, done.stdout));
    let why = match &done.end {
        End::Code(0) | End::Flood => {
            format!("{program} did not answer as expected: {}", last_lines(&said, 3))
        }
        End::Code(code) => format!("{program} failed (exit {code}): {}", last_lines(&said, 6)),
        End::TimeLimit => format!("{program} took longer than {}", words::duration(CALL_LIMIT)),
        End::Impossible(message) => message.clone(),
    };
    Err(Failure::usage(format!("issue {number} of {} cannot be read: {why}", address.shown()))
        .kept(NOTHING)
        .hint(platform::how_to_log_in(cli)))
}
