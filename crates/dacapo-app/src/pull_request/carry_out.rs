//! The push, and the calls of the platform's program that find or open the pull request.

use std::ffi::OsString;
use std::time::Duration;

use dacapo_core::git::UsersGit;
use dacapo_core::process::TAG_VARIABLE;
use dacapo_core::store::files;

use super::{Choice, Made, Plan, address, git_failed, platform, program};
use crate::config::PlatformCli;
use crate::error::Failure;
use crate::guarded_command::{CommandEnd, CommandOutput, GuardedCommand};
use crate::messages::{Messages, say};
use crate::present::words;

/// A push may run hooks of the user's, which may run tests.
const PUSH_LIMIT: Duration = Duration::from_secs(15 * 60);

/// One call of a platform's program.
pub(super) const CALL_LIMIT: Duration = Duration::from_secs(60);

/// No such program says more that matters.
pub(super) const MOST_OUTPUT: u64 = 1 << 20;

impl Plan {
    /// Pushes the branch and opens the pull request, or finds the one that is open.
    pub fn carry_out(&self) -> Result<Made, Failure> {
        let said = self.push()?;
        let wanted = self.wanted();
        // For people who open it by hand, and for the next attempt.
        let written = files::replace(&self.body_file, self.body.as_bytes());
        let by_hand = |cli: PlatformCli| written.is_ok().then(|| platform::by_hand(cli, &wanted));
        match self.cli {
            Choice::Use(cli, _) => self.open(cli, by_hand(cli)),
            Choice::Missing(cli) => {
                let message = say(|m| m.pr_cli_missing(program(cli)));
                Ok(Made::PushedOnly { message, command: by_hand(cli) })
            }
            Choice::Unknown => {
                let at = self.address.shown();
                let message = match platform::offered_address(&said) {
                    Some(url) => say(|m| m.pr_open_at(&url)),
                    None => say(|m| m.pr_program_unknown(&at)),
                };
                Ok(Made::PushedOnly { message, command: None })
            }
        }
    }

    fn push(&self) -> Result<String, Failure> {
        let UsersGit { argv, cwd, env } =
            self.repo.push(&self.remote, &self.from, &self.branch).map_err(|error| git_failed(&error))?;
        let env = self.tagged(env);
        let command =
            GuardedCommand { argv, cwd, env, stdin: Vec::new(), limit: PUSH_LIMIT, most: MOST_OUTPUT };
        let done = command.run_alone(&self.app);
        if done.end == CommandEnd::Code(0) {
            return Ok(done.stderr);
        }
        Err(self.push_failed(&done))
    }

    fn push_failed(&self, done: &CommandOutput) -> Failure {
        let refused = done.stdout.lines().find_map(|line| line.strip_prefix("!\t")?.split_once('\t'));
        let said = address::without_passwords(&done.stderr);
        let why = |m: Messages| match (&done.end, refused) {
            (CommandEnd::TimeLimit, _) => m.pr_took_longer(&words::duration(PUSH_LIMIT)),
            (CommandEnd::Impossible(message), _) => message.in_words(m).to_owned(),
            (_, Some((_, reason))) => reason.to_owned(),
            (CommandEnd::Code(_) | CommandEnd::Flood, None) => last_lines(&said, 3),
        };
        let (task, remote) = (&self.task, &self.remote);
        // What a hook says is what helps.
        let hook = last_lines(&said, 12);
        let hook = if refused.is_some() && !hook.is_empty() { format!("\n{hook}") } else { String::new() };
        let message = say(|m| format!("{}{hook}", m.pr_push_failed(&self.branch, remote, &why(m))));
        let failure = Failure::failed(message).kept(say(|m| m.pr_kept_commits()));
        let why = why(Messages::ENGLISH);
        if why.contains("non-fast-forward") || why.contains("fetch first") {
            return failure.hint(say(|m| m.pr_someone_pushed(&self.branch, remote, task)));
        }
        failure.hint(say(|m| m.pr_fix_push(remote, &self.branch, task)))
    }

    fn open(&self, cli: PlatformCli, by_hand: Option<String>) -> Result<Made, Failure> {
        let wanted = self.wanted();
        let find = || {
            let done = self.call(platform::find(cli, &wanted), Vec::new());
            (done.end == CommandEnd::Code(0)).then(|| platform::found(cli, &wanted, &done.stdout)).flatten()
        };
        if let Some(url) = find() {
            return Ok(Made::Open { url, cli, already: true });
        }
        let (argv, stdin) = platform::create(cli, &wanted);
        let done = self.call(argv, stdin);
        if done.end == CommandEnd::Code(0)
            && let Some(url) = platform::created(&done.stdout)
        {
            return Ok(Made::Open { url, cli, already: false });
        }
        // It may have been made all the same, by this call or by somebody else a moment ago.
        if let Some(url) = find() {
            return Ok(Made::Open { url, cli, already: done.end != CommandEnd::Code(0) });
        }
        let program = program(cli);
        let said = address::without_passwords(&format!("{}\n{}", done.stderr, done.stdout));
        let why = match &done.end {
            CommandEnd::Code(0) | CommandEnd::Flood => {
                say(|m| m.pr_no_address(program, &last_lines(&said, 3)))
            }
            CommandEnd::Code(code) => say(|m| m.pr_program_failed(program, *code, &last_lines(&said, 6))),
            CommandEnd::TimeLimit => say(|m| m.pr_program_slow(program, &words::duration(CALL_LIMIT))),
            CommandEnd::Impossible(message) => say(|m| m.pr_none(message.in_words(m))),
        };
        let failure = Failure::failed(why)
            .kept(say(|m| m.pr_kept_pushed(&self.branch, &self.remote)))
            .hint(say(|m| m.pr_then_again(&platform::how_to_log_in(cli, m), &self.task)));
        Err(match by_hand {
            Some(command) => failure.hint(command),
            None => failure,
        })
    }

    pub(super) fn call(&self, argv: Vec<OsString>, stdin: Vec<u8>) -> CommandOutput {
        let env = quietly(self.tagged(self.app.env.to_vec()));
        let command =
            GuardedCommand { argv, cwd: self.cwd.clone(), env, stdin, limit: CALL_LIMIT, most: MOST_OUTPUT };
        command.run_alone(&self.app)
    }

    /// What a task has started can be found by its tag, whoever is killed.
    fn tagged(&self, mut env: Vec<(OsString, OsString)>) -> Vec<(OsString, OsString)> {
        env.retain(|(name, _)| name != TAG_VARIABLE);
        env.push((TAG_VARIABLE.into(), self.tag.clone().into()));
        env
    }
}

/// Each of the platforms' programs asks, pages and looks for updates unless it is told not to.
pub(super) fn quietly(mut env: Vec<(OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let quiet = [
        ("GH_PROMPT_DISABLED", "1"),
        ("GH_NO_UPDATE_NOTIFIER", "1"),
        ("GH_PAGER", "cat"),
        ("NO_PROMPT", "true"),
        ("GLAB_CHECK_UPDATE", "false"),
        ("NO_COLOR", "1"),
        ("GIT_TERMINAL_PROMPT", "0"),
    ];
    env.retain(|(name, _)| !quiet.iter().any(|(known, _)| name == known) && !names_a_repository(name));
    env.extend(quiet.map(|(name, value)| (name.into(), value.into())));
    env
}

/// What would lead a program to another repository than the one it is run in.
fn names_a_repository(name: &std::ffi::OsStr) -> bool {
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GH_REPO"]
        .iter()
        .any(|known| name == *known)
}

pub(super) fn last_lines(text: &str, lines: usize) -> String {
    dacapo_core::context::tail_lines(text.trim(), lines, 2000).trim().to_owned()
}
