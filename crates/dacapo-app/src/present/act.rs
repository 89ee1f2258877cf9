//! What a person may want to do next, as a value. A command line shows it as a command to type, another surface as a key or
//! a button.

use dacapo_core::event::Choice;

use crate::messages::Messages;

/// How many more iterations are offered to a task that has used all of its own.
pub const MORE_ITERATIONS: u32 = 5;

/// One thing to do about a task, or about several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextAct {
    pub command: ActCommand,
    /// None where it is about no single task.
    pub task: Option<String>,
    pub arguments: Vec<ActArgument>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActCommand {
    /// Ends a task that only a person ends for good.
    Abandon,
    Approve,
    Attach,
    Diff,
    Drop,
    Kill,
    List,
    Merge,
    Prune,
    PullRequest,
    Reject,
    Resume,
    Set,
    Status,
    Tell,
}

/// How it is done, where that is not left to the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActArgument {
    /// The answer to what an agent asks; the person has yet to write it.
    Answer,
    /// What agents are told; the person has yet to write it.
    Message,
    /// Further work for a task that is complete; the person has yet to write it.
    MoreWork,
    /// One of the answers that an agent offers; the person has yet to choose it.
    Choice,
    /// This one of the answers that an agent offers, by what the agent calls it.
    Offered { number: usize, name: String },
    /// One open finding, by its number.
    Finding(String),
    /// This many more iterations.
    Iterations(u32),
    /// This many rounds in all.
    Rounds(u32),
    /// This many more rounds.
    MoreRounds(u32),
    /// The checks count where the agent works.
    ProofInWorkspace,
    /// Tasks that need nothing any more, too.
    DoneTasks,
    /// Only what judges the work.
    Tests,
}

impl NextAct {
    pub fn of(command: ActCommand, task: &str) -> Self {
        Self { command, task: Some(task.to_owned()), arguments: Vec::new() }
    }

    /// About no single task.
    pub fn general(command: ActCommand) -> Self {
        Self { command, task: None, arguments: Vec::new() }
    }

    #[must_use]
    pub fn with(mut self, argument: ActArgument) -> Self {
        self.arguments.push(argument);
        self
    }

    /// How a person gives task `name` this answer, the `number`-th of those that it can be given.
    pub fn answer(choice: &Choice, number: usize, name: &str) -> Self {
        let of = |command| Self::of(command, name);
        match choice {
            Choice::Resume => of(ActCommand::Resume),
            Choice::Answer => of(ActCommand::Resume).with(ActArgument::Answer),
            Choice::ResumeUnproven => of(ActCommand::Resume).with(ActArgument::ProofInWorkspace),
            Choice::ResumeWithRounds { rounds } => of(ActCommand::Resume).with(ActArgument::Rounds(*rounds)),
            Choice::AddRounds { rounds } => of(ActCommand::Set).with(ActArgument::MoreRounds(*rounds)),
            Choice::Tell => of(ActCommand::Tell).with(ActArgument::Message),
            Choice::Approve => of(ActCommand::Approve),
            Choice::Reject => of(ActCommand::Reject),
            Choice::Kill => of(ActCommand::Kill),
            Choice::Abandon => of(ActCommand::Abandon),
            Choice::Offered { name } => {
                of(ActCommand::Approve).with(ActArgument::Offered { number, name: name.clone() })
            }
        }
    }

    /// The command to type, in one line. An answer that an agent offers is called as the agent calls it.
    pub fn command_line(&self, messages: Messages) -> String {
        if let [ActArgument::Offered { name, .. }] = self.arguments.as_slice() {
            return name.clone();
        }
        let name = self.task.as_deref().unwrap_or_default();
        let words = [self.words(), name, &self.flags(messages)];
        let words = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>();
        messages.command(words.join(" "))
    }

    /// What stands before the name of the task where a command is typed.
    pub fn before_task(&self, messages: Messages) -> String {
        messages.command(self.words())
    }

    pub fn words(&self) -> &'static str {
        match self.command {
            ActCommand::Abandon => "milestone abandon",
            ActCommand::Approve => "approve",
            ActCommand::Attach => "attach",
            ActCommand::Diff => "diff",
            ActCommand::Drop => "drop",
            ActCommand::Kill => "kill",
            ActCommand::List => "list",
            ActCommand::Merge => "merge",
            ActCommand::Prune => "prune",
            ActCommand::PullRequest => "pr",
            ActCommand::Reject => "reject",
            // Rounds are what only `milestone resume` can change on the way.
            ActCommand::Resume if self.arguments.iter().any(|one| matches!(one, ActArgument::Rounds(_))) => {
                "milestone resume"
            }
            ActCommand::Resume => "resume",
            ActCommand::Set => "set",
            ActCommand::Status => "status",
            ActCommand::Tell => "tell",
        }
    }

    /// What stands behind the name of the task on a command line.
    pub fn flags(&self, messages: Messages) -> String {
        let one = |argument: &ActArgument| match argument {
            ActArgument::Answer => format!("\"{}\"", messages.list_your_answer()),
            ActArgument::Message => "\"…\"".to_owned(),
            ActArgument::MoreWork => format!("\"{}\"", messages.next_also()),
            ActArgument::Choice => "[CHOICE]".to_owned(),
            ActArgument::Offered { number, .. } => number.to_string(),
            ActArgument::Finding(number) => number.clone(),
            ActArgument::Iterations(more) => format!("--iter {more}"),
            ActArgument::Rounds(rounds) => format!("--rounds {rounds}"),
            ActArgument::MoreRounds(rounds) => format!("rounds=+{rounds}"),
            ActArgument::ProofInWorkspace => "--proof workspace".to_owned(),
            ActArgument::DoneTasks => "--done".to_owned(),
            ActArgument::Tests => "--tests".to_owned(),
        };
        self.arguments.iter().map(one).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn u7_an_act_is_the_command_that_a_person_types() {
        let line = |act: NextAct| act.command_line(Messages::ENGLISH);
        assert_eq!(line(NextAct::general(ActCommand::Prune)), "dacapo prune");
        assert_eq!(
            line(NextAct::general(ActCommand::List).with(ActArgument::DoneTasks)),
            "dacapo list --done"
        );
        let resume = || NextAct::of(ActCommand::Resume, "x");
        assert_eq!(resume().command_line(Messages::ENGLISH.for_app()), "/resume x");
        assert_eq!(line(resume()), "dacapo resume x");
        assert_eq!(line(resume().with(ActArgument::Iterations(5))), "dacapo resume x --iter 5");
        assert_eq!(line(resume().with(ActArgument::Rounds(20))), "dacapo milestone resume x --rounds 20");
        let offered = NextAct::answer(&Choice::Offered { name: "Allow once".into() }, 2, "x");
        assert_eq!(offered.command, ActCommand::Approve);
        assert_eq!(
            (line(offered.clone()), offered.flags(Messages::ENGLISH)),
            ("Allow once".into(), "2".into())
        );
    }
}
