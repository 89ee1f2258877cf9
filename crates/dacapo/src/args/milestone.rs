//! Flags of `milestone` and what can be done with one.

use clap::{Args, Subcommand};
use dacapo_app::operations::act::Operation;
use dacapo_app::operations::milestone::MilestoneOperation;

use super::{ProofIn, Show};

/// `milestone` and what can be done with one.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dacapo milestone new login \"Users can log in\" --edit    write down what it should achieve
  dacapo milestone start login                            have it built and judged until it is accepted
  dacapo milestone show login                             what both agents said, round by round, and what you can do

A milestone that was started is a task: attach, logs, tell, set, pause, kill, diff and merge take its ID.")]
pub struct Milestone {
    /// What to do
    #[command(subcommand)]
    pub command: MilestoneCommand,
}

/// What can be done with milestones.
#[derive(Debug, Subcommand)]
pub enum MilestoneCommand {
    /// Create the file of a milestone, with an example to fill in
    New(NewMilestone),
    /// Show the milestones of this repository and their status
    #[command(visible_alias = "ls")]
    List(ListMilestones),
    /// Show a milestone, what both agents said in each round, and what to do next
    Show(ShowMilestone),
    /// Run it on branch milestone/ID: one agent (Developer) builds, another (Acceptor) judges
    Start(Box<StartMilestone>),
    /// Continue a milestone that is paused or interrupted
    Resume(ResumeMilestone),
    /// Approve a milestone that awaits your review, or overrule the last rejection
    Approve(ApproveMilestone),
    /// Send a milestone that awaits your review back to the Developer
    Reject(RejectMilestone),
    /// Give a milestone up for good; its work stays on its branch
    Abandon(AbandonMilestone),
}

impl MilestoneCommand {
    /// The command's name if agents inside a task may not give it (R7); none if they may.
    pub fn order(&self) -> Option<&'static str> {
        match self {
            MilestoneCommand::Resume(_) => Some("milestone resume"),
            MilestoneCommand::Approve(_) => Some("milestone approve"),
            MilestoneCommand::Reject(_) => Some("milestone reject"),
            MilestoneCommand::Abandon(_) => Some("milestone abandon"),
            // Without an ID it goes on with what was cut short.
            MilestoneCommand::Start(args) => args.milestone.is_none().then_some("milestone start"),
            MilestoneCommand::New(_) | MilestoneCommand::List(_) | MilestoneCommand::Show(_) => None,
        }
    }

    /// Whether it changes nothing.
    pub fn only_reads(&self) -> bool {
        match self {
            MilestoneCommand::List(_) | MilestoneCommand::Show(_) => true,
            MilestoneCommand::Resume(_)
            | MilestoneCommand::Approve(_)
            | MilestoneCommand::Reject(_)
            | MilestoneCommand::Abandon(_)
            | MilestoneCommand::Start(_)
            | MilestoneCommand::New(_) => false,
        }
    }

    /// Whether the output is for programs.
    pub fn wants_json(&self) -> bool {
        match self {
            MilestoneCommand::New(args) => args.json,
            MilestoneCommand::List(args) => args.json,
            MilestoneCommand::Show(args) => args.json,
            MilestoneCommand::Start(args) => args.show.json,
            MilestoneCommand::Resume(args) => args.show.json,
            MilestoneCommand::Approve(args) => args.show.json,
            MilestoneCommand::Reject(args) => args.show.json,
            MilestoneCommand::Abandon(args) => args.json,
        }
    }
}

impl super::Command {
    /// What only tasks of one kind have done to them, as a surface that lives long has it done; none: the command is no such
    /// thing, or it only shows something.
    pub(crate) fn own_operation(&self) -> Option<Operation> {
        let Self::Milestone(Milestone { command }) = self else { return None };
        let words = |words: &[String]| Some(words.join(" ")).filter(|words| !words.trim().is_empty());
        let own = match command {
            MilestoneCommand::Start(args) => MilestoneOperation::Start {
                id: args.milestone.clone()?,
                developer: args.developer.clone(),
                acceptor: args.acceptor.clone(),
                checks: args.check.clone(),
            },
            MilestoneCommand::Resume(args) => MilestoneOperation::Resume {
                id: args.milestone.clone(),
                guidance: words(&args.guidance),
                rounds: args.rounds,
                refreeze: args.refreeze,
            },
            MilestoneCommand::Abandon(args) => MilestoneOperation::Abandon { id: args.milestone.clone() },
            MilestoneCommand::Approve(args) => {
                let choice = args.finding.map(|number| number as usize);
                return Some(Operation::Approve { task: args.milestone.clone(), choice });
            }
            MilestoneCommand::Reject(args) => {
                return Some(Operation::Reject { task: args.milestone.clone(), reason: words(&args.reason) });
            }
            MilestoneCommand::New(_) | MilestoneCommand::List(_) | MilestoneCommand::Show(_) => return None,
        };
        Some(own.operation())
    }
}

/// Flags of `milestone new`.
#[derive(Debug, Args)]
#[command(after_help = "The file is .dacapo/milestones/ID.md. An existing file is never overwritten.")]
pub struct NewMilestone {
    /// Its ID: the name of its file, its task and its branch
    #[arg(value_name = "ID")]
    pub id: String,
    /// Its title
    #[arg(value_name = "TITLE")]
    pub title: Vec<String>,
    /// What it is for
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub goal: Option<String>,
    /// A feature (repeatable)
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub feature: Vec<String>,
    /// An acceptance criterion (repeatable)
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub criterion: Vec<String>,
    /// Open the file in your editor
    #[arg(long)]
    pub edit: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "edit")]
    pub json: bool,
}

/// Flags of `milestone list`.
#[derive(Debug, Args)]
pub struct ListMilestones {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `milestone show`.
#[derive(Debug, Args)]
pub struct ShowMilestone {
    /// The milestone
    #[arg(value_name = "ID")]
    pub milestone: String,
    /// Show what was said in every round, not only in the last five
    #[arg(long)]
    pub all: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `milestone start`.
#[derive(Debug, Args)]
#[command(
    after_help = "Flags override the front matter of its file, which overrides [milestone] in the config.
The exit code is 0 if it was accepted, and 4 if a person is needed."
)]
pub struct StartMilestone {
    /// The milestone
    #[arg(value_name = "ID", required_unless_present = "auto", conflicts_with = "auto")]
    pub milestone: Option<String>,
    /// Continue an interrupted milestone, or else start the oldest pending one with `auto_start: true`
    #[arg(long)]
    pub auto: bool,

    /// Agent that builds [default: `developer` in its file, or else the agent of every task]
    #[arg(long, value_name = "NAME", help_heading = "Agents")]
    pub developer: Option<String>,
    /// Agent that judges [default: `acceptor` in its file, or else the Developer's, in a conversation of its own]
    #[arg(long, value_name = "NAME", help_heading = "Agents")]
    pub acceptor: Option<String>,

    /// Run CMD before the Acceptor judges, and show it the result (repeatable) [default: the project's own checks]
    #[arg(long, value_name = "CMD", help_heading = "What is judged")]
    pub check: Vec<String>,
    #[arg(
        long,
        value_name = "WHERE",
        value_enum,
        default_value = "checkout",
        help_heading = "What is judged"
    )]
    /// Where the final run of the checks happens: in a clean checkout of the commit, or in the workspace (not a proof)
    pub proof: ProofIn,
    /// With --auto: if a milestone's file was changed since its start, judge by what it says now
    #[arg(long, conflicts_with = "milestone", help_heading = "What is judged")]
    pub refreeze: bool,

    /// Run in the background; waits if another milestone runs in this repository
    #[arg(long, help_heading = "Where")]
    pub spawn: bool,
    /// Work in this checkout, not in a separate worktree
    #[arg(long, help_heading = "Where")]
    pub noworktree: bool,

    /// How it is shown
    #[command(flatten)]
    pub show: Show,
}

/// Flags of `milestone resume`.
#[derive(Debug, Args)]
pub struct ResumeMilestone {
    /// The milestone
    #[arg(value_name = "ID")]
    pub milestone: String,
    /// What both agents should be told
    #[arg(value_name = "GUIDANCE")]
    pub guidance: Vec<String>,
    /// If its file was changed since the start, judge by what it says now
    #[arg(long)]
    pub refreeze: bool,
    /// Continue in the background, even if it was started in the foreground
    #[arg(long)]
    pub spawn: bool,
    /// Pause after N rounds in all
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: Option<u32>,
    /// How it is shown
    #[command(flatten)]
    pub show: Show,
}

/// Flags of `milestone approve`.
#[derive(Debug, Args)]
pub struct ApproveMilestone {
    /// The milestone
    #[arg(value_name = "ID")]
    pub milestone: String,
    /// Settle only this finding: R3
    #[arg(value_name = "FINDING", value_parser = finding)]
    pub finding: Option<u32>,
    /// How it is shown
    #[command(flatten)]
    pub show: Show,
}

/// Flags of `milestone reject`.
#[derive(Debug, Args)]
pub struct RejectMilestone {
    /// The milestone
    #[arg(value_name = "ID")]
    pub milestone: String,
    /// What is wrong; the Developer is told
    #[arg(value_name = "REASON")]
    pub reason: Vec<String>,
    /// How it is shown
    #[command(flatten)]
    pub show: Show,
}

/// Flags of `milestone abandon`.
#[derive(Debug, Args)]
pub struct AbandonMilestone {
    /// The milestone
    #[arg(value_name = "ID")]
    pub milestone: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `R3`, `r3`, `3`.
pub(super) fn finding(word: &str) -> Result<u32, String> {
    let digits = word.strip_prefix(['R', 'r']).unwrap_or(word);
    match digits.parse() {
        Ok(number) if number > 0 && digits.bytes().all(|byte| byte.is_ascii_digit()) => Ok(number),
        _ => Err("a finding is written R3; dacapo milestone show ID lists them".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Cli, Command};

    fn parsed(line: &str) -> Result<MilestoneCommand, clap::Error> {
        match Cli::try_parse_from(line.split(' '))?.command {
            Command::Milestone(args) => Ok(args.command),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn m1_every_command_is_understood() {
        for line in [
            "dacapo milestone new login Users can log in --goal x --feature a --feature b --criterion c --edit",
            "dacapo ms list --json",
            "dacapo ms ls",
            "dacapo milestone show login",
            "dacapo milestone start login --spawn --noworktree --developer a --acceptor b --check x --check y",
            "dacapo milestone start --auto --json --refreeze",
            "dacapo milestone resume login use the other table --refreeze --rounds 30 --spawn --quiet",
            "dacapo milestone approve login R3",
            "dacapo milestone reject login it is too slow",
            "dacapo milestone abandon login",
        ] {
            assert!(parsed(line).is_ok(), "{line}: {:?}", parsed(line));
        }
        for line in [
            "dacapo milestone",
            "dacapo milestone start",
            "dacapo milestone start login --auto",
            "dacapo milestone start login --refreeze",
            "dacapo milestone approve login R",
            "dacapo milestone approve login +3",
            "dacapo milestone approve login R0",
            "dacapo milestone resume login --rounds 0",
        ] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }

    #[test]
    fn m11_findings_are_named_as_they_are_shown() {
        assert_eq!(["R3", "r3", "3"].map(finding), [Ok(3), Ok(3), Ok(3)]);
        assert!(finding("F-3").is_err());
    }
}
