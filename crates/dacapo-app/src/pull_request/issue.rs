//! An issue as a prompt (S17): its title and text, by the platform's own program.

use std::ffi::OsString;

use dacapo_core::git::Repo;

use super::address::{self, Address};
use super::{CALL_LIMIT, MOST_OUTPUT, by_name, git_failed, last_lines, platform, program, quietly, target};
use crate::App;
use crate::config::{Config, PlatformCli};
use crate::error::{Code, Failure};
use crate::guarded_command::{CommandEnd, CommandOutput, GuardedCommand};
use crate::messages::say;
use crate::present::words;

const NOTHING: &str = "everything; nothing was started";
const FROM_A_FILE: &str = "--prompt-file FILE takes the text from a file";

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
    pub fn note(&self) -> String {
        let url = self.url.as_ref().map_or_else(String::new, |url| format!(" ({url})"));
        format!("the prompt is issue {}: {}{url}", self.number, words::line(self.title.trim(), words::WHOLE))
    }
}

/// Asks the platform of the repository's remote.
pub fn issue(app: &App, repo: &Repo, config: &Config, number: u64) -> Result<Issue, Failure> {
    let head = repo.head().map_err(|error| git_failed(&error))?;
    let (remote, _) = target::remote(repo, head.branch.as_deref()).map_err(|failure| {
        let message =
            format!("--issue {number}: this repository has no remote, so nobody knows whose issue it is");
        match failure.code {
            Some(Code::NoRemote) => Failure { message: message.into(), ..failure },
            Some(_) | None => failure,
        }
        .kept(NOTHING)
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
        return Err(Failure::usage(format!(
            "--issue {number} needs {program} for {}, and it is not on PATH",
            address.shown()
        ))
        .kept(NOTHING)
        .hint(format!("install {program} and log in"))
        .hint(FROM_A_FILE));
    }
    let done = call(platform::issue(cli, number, &address, &remote));
    if done.end == CommandEnd::Code(0)
        && let Some((title, text, url)) = platform::issue_in(number, &done.stdout)
    {
        return Ok(Issue { number, title, text, url });
    }
    let said = address::without_passwords(&format!("{}\n{}", done.stderr, done.stdout));
    let why = match &done.end {
        CommandEnd::Code(0) | CommandEnd::Flood => {
            format!("{program} did not answer as expected: {}", last_lines(&said, 3))
        }
        CommandEnd::Code(code) => format!("{program} failed (exit {code}): {}", last_lines(&said, 6)),
        CommandEnd::TimeLimit => format!("{program} took longer than {}", words::duration(CALL_LIMIT)),
        CommandEnd::Impossible(message) => message.clone(),
    };
    let failure = Failure::usage(format!("issue {number} of {} cannot be read: {why}", address.shown()));
    let failure = match done.end {
        // It answered, but not in JSON: older ones cannot.
        CommandEnd::Code(0) => failure.hint(format!("a newer {program} may answer in JSON")),
        CommandEnd::Code(_) | CommandEnd::Flood | CommandEnd::TimeLimit | CommandEnd::Impossible(_) => {
            failure.hint(say(|m| platform::how_to_log_in(cli, m)))
        }
    };
    Err(failure.hint(FROM_A_FILE).kept(NOTHING))
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
        [] => Err(Failure::usage(format!("--issue {number} needs gh, glab or tea, and none is on PATH"))
            .kept(NOTHING)
            .hint("install the one of your platform and log in")
            .hint(FROM_A_FILE)),
        [only] => Ok(*only),
        several => several.iter().copied().find(logged_in).ok_or_else(|| {
            let names: Vec<&str> = several.iter().map(|cli| program(*cli)).collect();
            Failure::usage(format!(
                "--issue {number}: which of {} knows {} is not known: none is logged in there",
                names.join(", "),
                address.shown()
            ))
            .kept(NOTHING)
            .hint("[pr] cli = \"gh\", \"glab\" or \"tea\" in the config says which")
            .hint(FROM_A_FILE)
        }),
    }
}
