//! The pages of help. The first one has the commands in groups. A command's own page has the flags that people use, so that it
//! fits a screen; all of them are on the page of `--help=all`, and in the manual.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::{Arg, Command, CommandFactory as _};

use super::Cli;

/// What shows every flag.
const ALL: &str = "--help=all";

/// What `dacapo --help` shows.
pub(super) const PAGE: &str = "\
{about-with-newline}
{usage-heading} {usage}

Start work:
  exec         Run an agent in this repository, once or in a loop, in the foreground [alias: run]
  spawn        Run an agent in the background, in a separate worktree
  rerun        Start a task again under a new name
  milestone    Plan larger work as milestones; one agent builds, another judges [alias: ms]

Watch it:
  list         Show the tasks of this repository [aliases: ls, ps]
  status       Show what a task did, what is proven and what it cost [alias: show]
  attach       Watch a running task as if it ran here; Ctrl-C asks what to do
  logs         Show a task's log [alias: log]
  diff         Show what a task changed
  open         Open a task's files in your editor
  wait         Wait for tasks to end, and exit with the first exit code that is not 0

Steer it:
  tell         Give a task an instruction, from its next iteration on
  set          Change a task's limits, even while it runs
  pause        Pause running tasks after the current iteration
  resume       Continue a task that is not running
  kill         End a running task and everything it started [alias: stop, which asks first]
  takeover     Work in the agent's own interactive session; the loop goes on when you leave it
  approve      Answer yes to a task's question
  reject       Answer no to a task's question
  rename       Rename a task, its worktree and its branch

Finish it:
  merge        Merge tasks into the current branch, if the checks pass on the result
  pr           Push a task's branch and open a pull request
  drop         Remove a task with its worktree and branch; `undo` brings it back [alias: rm]
  undo         Bring back what `drop` or `merge` removed
  prune        Remove worktrees of merged tasks, and what was dropped long ago

Set up and try:
  init         Create .dacapo/ in this repository: settings, milestones, prompts, memory
  doctor       Show which agents you can use, who pays for them, and what is missing
  demo         Run a whole loop with a scripted agent in a scratch repository, for free
  config       Show the settings and where each comes from, or change them
  trust        Show what this repository would run on your machine, and confirm it
  notify       Try out notifications
  completions  Print the script that completes commands, tasks and agents in your shell
  man          Print the manual page of a command, or write all of them
  rehearsal    Check or print scripts for the built-in agent `rehearsal`

Options:
{options}{after-help}";

/// Whether every flag is asked for.
pub fn wants_all(words: &[OsString]) -> bool {
    words.iter().take_while(|word| *word != "--").any(|word| word == ALL)
}

/// The page of the command that these words name: the flags that people use, or every flag if that is asked for.
pub fn page(words: &[OsString]) -> StyledStr {
    let all = wants_all(words);
    let mut cli = Cli::command();
    cli.build();
    let mut command = &cli;
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next().and_then(|word| word.to_str()) {
        match word {
            "-C" | "--directory" | "--color" => _ = words.next(),
            flag if flag.starts_with('-') => {}
            "help" => {}
            name => match command.find_subcommand(name) {
                Some(found) => command = found,
                None => break,
            },
        }
    }
    let is_first_page = command.get_name() == cli.get_name();
    let shown = |arg: Arg| match arg.get_id().as_str() {
        "help" if all => arg.help("Print help"),
        _ if all || is_first_page => arg.hide_short_help(false),
        // The first page has them.
        "directory" | "color" | "version" => arg.hide(true),
        "help" => arg.help("Print help; --help=all shows every flag"),
        _ => arg,
    };
    let mut page = command.clone().mut_args(shown);
    if all && !is_first_page {
        page = without_the_way_here(page);
    }
    page.render_help()
}

/// The page of all flags need not say how to get there.
fn without_the_way_here(page: Command) -> Command {
    let Some(after) = page.get_after_help().map(ToString::to_string) else { return page };
    let lines: Vec<&str> = after.lines().filter(|line| !line.contains(ALL)).collect();
    page.after_help(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn u6_every_command_is_in_one_group() {
        let named: Vec<&str> =
            PAGE.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next()).collect();
        let mut sorted = named.clone();
        sorted.sort_unstable();
        let command = Cli::command();
        let visible = command.get_subcommands().filter(|command| !command.is_hide_set());
        let mut known: Vec<&str> = visible.map(clap::Command::get_name).collect();
        known.sort_unstable();
        assert_eq!(sorted, known);
        assert!(PAGE.lines().all(|line| line.chars().count() <= 100));
    }

    fn shown(words: &str) -> String {
        page(&words.split(' ').map(OsString::from).collect::<Vec<_>>()).to_string()
    }

    #[test]
    fn u7_the_pages_of_exec_and_spawn_fit_a_screen_and_all_flags_are_behind_help_all() {
        let cli = Cli::command();
        for name in ["exec", "spawn"] {
            let short = shown(&format!("dacapo -C x {name} --help"));
            assert!((24..=40).contains(&short.lines().count()), "{} lines:\n{short}", short.lines().count());
            assert!(short.lines().all(|line| line.chars().count() <= 100), "{short}");
            let all = shown(&format!("dacapo {name} --help=all"));
            let command = cli.find_subcommand(name).unwrap();
            for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
                let flag = arg.get_long().map_or_else(|| "[PROMPT]".to_owned(), |long| format!("--{long}"));
                assert!(all.contains(&flag), "{flag} in\n{all}");
            }
            assert!(all.contains("--idle-timeout") && !short.contains("--idle-timeout"), "{short}");
            assert!(short.contains(&format!("dacapo {name} --help=all")), "{short}");
            assert_eq!(all.matches("--help").count(), 1, "only the flag itself: {all}");
        }
    }

    #[test]
    fn u7_each_command_has_its_own_page() {
        assert!(shown("dacapo --help").contains("Start work:"));
        assert!(shown("dacapo --help").contains("--directory"), "{}", shown("dacapo --help"));
        assert!(shown("dacapo ms start login --help").contains("--acceptor"));
        assert!(shown("dacapo merge a,b --help=all").contains("--color"));
    }
}
