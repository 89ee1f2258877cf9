//! An issue as a prompt (S17): its title and text, by the platform's own program.

use std::ffi::OsString;

use dacapo_core::git::Repo;

use super::address::{self, Address};
use super::carry_out::{CALL_LIMIT, MOST_OUTPUT, last_lines, quietly};
use super::{by_name, git_failed, platform, program, target};
use crate::App;
use crate::config::{Config, PlatformCli};
use crate::error::{Code, Failure};
use crate::guarded_command::{CommandEnd, CommandOutput, GuardedCommand};
use crate::messages::{Messages, Text, say};
use crate::present::words;

/// What an issue asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    pub number: u64,
    pub title: String,
    pub text: String,
    pub url: Option<String>,
}

impl Issue {
    /// What the agent is told.
    pub fn prompt(&self) -> String {
        let (title, text) = (self.title.trim(), self.text.trim());
        if text.is_empty() { title.to_owned() } else { format!("{title}\n\n{text}") }
    }

    /// What the user is told.
    pub fn note(&self) -> Text {
        let title = words::line(self.title.trim(), words::WHOLE);
        say(|m| match &self.url {
            Some(url) => m.issue_is_prompt_at(self.number, &title, url),
            None => m.issue_is_prompt(self.number, &title),
        })
    }
}

/// Asks the platform of the repository's remote.
pub fn issue(app: &App, repo: &Repo, config: &Config, number: u64) -> Result<Issue, Failure> {
    let head = repo.head().map_err(|error| git_failed(&error))?;
    let (remote, _) = target::remote(repo, head.branch.as_deref()).map_err(|failure| {
        match failure.code {
            Some(Code::NoRemote) => Failure { message: say(|m| m.issue_no_remote(number)), ..failure },
            Some(_) | None => failure,
        }
        .kept(say(Messages::kept_nothing_started))
    })?;
    let address = Address::parse(&repo.remote_url(&remote).map_err(|error| git_failed(&error))?);
    let installed = |cli| app.on_path(program(cli)).is_some();
    let call = |argv| {
        let (cwd, env) = (repo.toplevel().to_owned(), quietly(app.env.to_vec()));
        GuardedCommand { argv, cwd, env, stdin: Vec::new(), limit: CALL_LIMIT, most: MOST_OUTPUT }
            .run_alone(app)
    };
    let cli = match by_name(&address, config) {
        Some(cli) => cli,
        None => {
            let there: Vec<PlatformCli> = platform::ALL.into_iter().filter(|cli| installed(*cli)).collect();
            at_unknown_host(&there, &address, number, call)?
        }
    };
    let program = program(cli);
    if !installed(cli) {
        return Err(Failure::usage(say(|m| m.issue_needs(number, program, &address.shown())))
            .kept(say(Messages::kept_nothing_started))
            .hint(say(|m| m.issue_install(program)))
            .hint(say(Messages::issue_from_file)));
    }
    let done = call(platform::issue(cli, number, &address, &remote));
    if done.end == CommandEnd::Code(0)
        && let Some((title, text, url)) = platform::issue_in(number, &done.stdout)
    {
        return Ok(Issue { number, title, text, url });
    }
    let said = address::without_passwords(&format!("{}\n{}", done.stderr, done.stdout));
    let why = |m: Messages| match &done.end {
        CommandEnd::Code(0) | CommandEnd::Flood => m.issue_unexpected(program, &last_lines(&said, 3)),
        CommandEnd::Code(code) => m.issue_failed(program, *code, &last_lines(&said, 6)),
        CommandEnd::TimeLimit => m.issue_slow(program, &words::duration(CALL_LIMIT)),
        CommandEnd::Impossible(message) => message.in_words(m).to_owned(),
    };
    let failure = Failure::usage(say(|m| m.issue_unreadable(number, &address.shown(), &why(m))));
    let failure = match done.end {
        // It answered, but not in JSON: older ones cannot.
        CommandEnd::Code(0) => failure.hint(say(|m| m.issue_newer(program))),
        CommandEnd::Code(_) | CommandEnd::Flood | CommandEnd::TimeLimit | CommandEnd::Impossible(_) => {
            failure.hint(say(|m| platform::how_to_log_in(cli, m)))
        }
    };
    Err(failure.hint(say(Messages::issue_from_file)).kept(say(Messages::kept_nothing_started)))
}

/// The one of those that are installed that is logged in at this host; the only one there is may try.
fn at_unknown_host(
    installed: &[PlatformCli],
    address: &Address,
    number: u64,
    call: impl Fn(Vec<OsString>) -> CommandOutput,
) -> Result<PlatformCli, Failure> {
    let logged_in = |cli: &PlatformCli| {
        let host = address.host.as_deref();
        host.is_some_and(|host| platform::host_is_known(*cli, host, &call(platform::knows_host(*cli, host))))
    };
    match installed {
        [] => Err(Failure::usage(say(|m| m.issue_needs_one(number)))
            .kept(say(Messages::kept_nothing_started))
            .hint(say(Messages::issue_install_one))
            .hint(say(Messages::issue_from_file))),
        [only] => Ok(*only),
        several => several.iter().copied().find(logged_in).ok_or_else(|| {
            let names: Vec<&str> = several.iter().map(|cli| program(*cli)).collect();
            let names = names.join(", ");
            Failure::usage(say(|m| m.issue_which(number, &names, &address.shown())))
                .kept(say(Messages::kept_nothing_started))
                .hint(say(Messages::issue_say_which))
                .hint(say(Messages::issue_from_file))
        }),
    }
}
