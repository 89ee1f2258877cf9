//! The first page of help: commands in groups, those that people need first at the top.

/// What `dacapo --help` shows.
pub(super) const PAGE: &str = "\
{about-with-newline}
{usage-heading} {usage}

Start work:
  exec         Run an agent in this repository, once or in a loop, in the foreground [alias: run]
  spawn        Run an agent in the background, in a worktree of its own; it outlives the terminal
  rerun        Start the request of a task anew, under a new name
  milestone    Write milestones down and have them built and judged until accepted [alias: ms]

Look at it:
  list         Show the tasks of this repository [aliases: ls, ps]
  status       Show what a task did, proved and cost [alias: show]
  attach       Show a running task as if it ran here; Ctrl-C asks what to do
  logs         Show a task's log [alias: log]
  diff         Show what a task changed
  open         Open a task's files in your editor
  wait         Wait for tasks to end; the exit code is the task's

Steer it:
  tell         Tell a task something that its next iteration hears
  set          Change limits of a task, also while it runs
  pause        Let running tasks pause after this iteration
  resume       Go on with a task that is not running
  kill         End a running task: its agent and all it started [alias: stop, which asks]
  takeover     Work in the agent's own interactive session; then the loop goes on
  approve      Say yes to what a task asks a person for
  reject       Say no to what a task asks a person for
  rename       Give a task another name, with its worktree and branch

Bring it home, or put it away:
  merge        Bring tasks home: into the branch that is checked out here, each proven first
  pr           Push a task's branch and open a pull request with the platform's own program
  drop         Remove a task with its worktree and branch; `undo` brings it back [alias: rm]
  undo         Bring back what `drop` or `merge` put away, bit for bit
  prune        Remove worktrees that are merged and what was dropped long ago

Set up and try:
  init         Lay .dacapo/ out in this repository: settings, milestones, prompts, memory
  doctor       Show which agents can be used here, who pays for them, and what is missing
  demo         Run a whole loop with a scripted agent in a scratch repository, free of cost
  config       Show the settings and where each comes from, or edit them
  trust        Show what this repository would run here, and confirm it
  notify       Try how you are told that a task ended or needs you
  completions  Print what a shell needs to complete commands, tasks and agents
  man          Print the manual page of a command, or write all of them
  rehearsal    Check or show scripts for the built-in agent `rehearsal`

Options:
{options}{after-help}";

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::PAGE;
    use crate::args::Cli;

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
}
