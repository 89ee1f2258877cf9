//! A milestone: a Developer that builds, an Acceptor that judges (M1–M11), as a pure machine.
//!
//! ```text
//! Preparing ─► Between ─► Asking(Developer) ─► Turn ─► Reported ─► Checking ─► Asking(Acceptor) ─► Turn ─► Judged ─► Settling ─► Between …
//!                              ▲                          │                         ▲                        │
//!                              └── sent back, once ───────┘                         └── sent back, once ─────┘
//! ```
//!
//! A round is an iteration, so everything that shows or counts iterations shows and counts rounds. The two agents of the
//! spec are the Developer and the Acceptor; each has a conversation of its own, and never are both at work. Decisions are
//! events of their own ([`crate::task::milestone::MilestoneStep`]): a later version that reads reports differently still folds an old journal to the
//! state it had. The design is in docs/design/milestones.md.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::engine::machine::{Effect, Input, Machine, Step, Whereabouts};
use crate::engine::{Kind, KindView, NotThatKind};
use crate::event::{Envelope, Event, MainBranch, ProofFailure, Usage};
use crate::git::Oid;
use crate::mirror::Document;
use crate::spec::{Change, InvalidChange, TaskSpec};
use crate::task::lifecycle::{Company, Lifecycle, Wait};

mod apply;
mod change;
mod commands;
mod decide;
mod definition;
mod findings;
mod flaw;
mod judge;
mod labels;
mod lines;
mod main_branch;
mod mirror;
mod own;
mod plan;
mod progress;
mod prompts;
mod proof;
mod quote;
mod refreeze;
mod report;
mod resume;
mod sections;
mod settings;
mod state;
mod step;
mod template;
#[cfg(test)]
mod tests;
mod tree;
mod turns;
mod usage_limits;
mod verdict;
mod view;

pub use change::LIMITS;
pub use definition::{
    Definition, DefinitionError, Feature, MOST_BYTES, MOST_ITEMS, criterion_id, feature_id,
};
pub use findings::Findings;
pub use flaw::{Flaw, ItemForm, KnownNames};
pub use mirror::{MilestoneFile, StateFile};
pub use own::{MilestoneBrief, MilestoneInFull};
pub use progress::{AtWork, LastRound, MilestonePhase, MilestoneProgress, MilestoneStatus};
pub use refreeze::Frozen;
pub use report::{Completion, DeveloperReply, Report};
pub use settings::{KEYS, Settings};
pub use step::{Finding, Judge, MilestoneStep};
pub use template::{MOST_TEMPLATE_BYTES, Placeholder, Prompts, Template, TemplateError, TemplateKind};
pub use verdict::{Criteria, On, RaisedFinding, Reason, Verdict};
pub use view::{FeatureView, FindingView, JudgedBy, MilestoneView, ReportView, RoundView, VerdictView};

use state::{AgentState, Disorder, Judgement, Last, NewDefinition, Phase, Question, Role, Round, Work};
use template::Templates;

/// The kind of task that [`Milestone`] decides for.
#[derive(Debug)]
pub struct Milestones;

impl Milestones {
    /// The word for it.
    pub const NAME: &'static str = "milestone";
}

/// What only a milestone has in its spec. The limits of rounds and calls are those of every task: `policy.cap` and
/// `policy.turn_timeout`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Details {
    /// The text of its file, as it was at the start.
    pub definition: String,
    /// The file, from the top of the repository.
    pub path: String,
    /// The hash of what the review is held to ([`Definition::frozen`]).
    pub frozen: String,
    /// How many rejections in a row need a person.
    pub max_rejections: u32,
    /// A person has the last word.
    pub requires_human_review: bool,
    /// `VISION.md`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vision: Option<String>,
    /// `.dacapo/soul.md`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soul: Option<String>,
    /// `.dacapo/memory/project.md`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// `.dacapo/prompts/`.
    #[serde(default, skip_serializing_if = "Prompts::is_empty")]
    pub prompts: Prompts,
}

impl Kind for Milestones {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn machine(&self, spec: Arc<TaskSpec>) -> Result<Box<dyn Machine + Send>, NotThatKind> {
        Ok(Box::new(Milestone::new(spec)?))
    }

    fn limits(&self) -> &'static [&'static str] {
        &LIMITS
    }

    fn change(&self, key: &str, value: &str) -> Result<Change, InvalidChange> {
        change::parse(key, value)
    }

    fn branches(&self) -> &'static str {
        "refs/heads/milestone/"
    }

    fn takes_turns(&self) -> bool {
        true
    }

    fn publishes(&self) -> bool {
        true
    }

    fn takes_answers(&self) -> bool {
        true
    }

    fn view(&self, spec: &TaskSpec) -> Option<Box<dyn KindView>> {
        MilestoneView::new(spec).map(|view| Box::new(view) as Box<dyn KindView>)
    }

    fn named_by(&self, spec: &TaskSpec) -> Option<String> {
        Some(format!(".dacapo/milestones/{}.md", spec.name))
    }
}

/// The state of a milestone: the fold of its journal.
#[derive(Debug, Clone)]
pub struct Milestone {
    life: Lifecycle,
    details: Arc<Details>,
    definition: Arc<Definition>,
    templates: Arc<Templates>,
    max_rounds: u32,
    max_rejections: u32,
    phase: Phase,
    developer: AgentState,
    acceptor: AgentState,
    /// The round at work.
    round: Option<Round>,
    /// Rounds begun.
    rounds: u32,
    finished: u32,
    accepted: u32,
    /// Rejections in a row, those of the whole milestone aside.
    rejections: u32,
    /// The commit at which the Acceptor rejected the whole milestone last, and how often it has since a person saw it.
    final_rejections: Option<(Oid, u32)>,
    /// Features that were accepted.
    done: Vec<bool>,
    findings: Findings,
    /// How the newest round ended.
    last: Option<Last>,
    /// The commits of the milestone, newest first, as they were last seen.
    log: Vec<String>,
    /// An interruption lies behind: the tree is looked at before anybody works in it (M9).
    look_due: bool,
    /// Somebody has taken the task up since it was last looked at.
    taken_up: bool,
    /// The next round begins with a turn for what was found.
    cleanup_due: bool,
    /// What was found then, for the Developer to put in order.
    disorder: Option<Disorder>,
    /// What came since then was not accepted, or came by another hand than the Developer's: it is judged with the next
    /// round.
    unjudged: Option<Oid>,
    /// Where the main branch was when it was last seen; none: wherever it is.
    main: Option<Oid>,
    /// What a person is to know of it.
    main_found: Option<MainBranch>,
    /// What it is to be held to as soon as nobody is at work.
    refreeze: Option<NewDefinition>,
    /// The newest proof that failed.
    red_proof: Option<ProofFailure>,
    /// What a person was asked last, until the next turn starts.
    question: Option<Question>,
    /// What nobody had committed when the task was ended is kept.
    kept: bool,
}

impl Milestone {
    /// A milestone of which nothing has happened yet.
    pub fn new(spec: Arc<TaskSpec>) -> Result<Self, NotThatKind> {
        let wrong = |message: String| NotThatKind::Details { kind: Milestones::NAME, message };
        let details: Details =
            serde_json::from_value(spec.details.clone()).map_err(|error| wrong(error.to_string()))?;
        let definition = Definition::parse(&details.definition).map_err(|error| wrong(error.to_string()))?;
        // Whoever asked for it has read these; what was begun goes on, though a later version reads them otherwise.
        let templates = Templates::of(&details.prompts)
            .map_err(|(kind, error)| wrong(format!("{}: {error}", kind.file_name())))?;
        if spec.agents.len() != 2 {
            return Err(wrong(format!(
                "it needs a Developer and an Acceptor, not {} agents",
                spec.agents.len()
            )));
        }
        let Some(cap) = spec.policy.cap else {
            return Err(wrong("it has no limit on rounds".to_owned()));
        };
        Ok(Self {
            max_rounds: cap.iterations,
            max_rejections: details.max_rejections.max(1),
            phase: Phase::Preparing,
            developer: AgentState::default(),
            acceptor: AgentState::default(),
            round: None,
            rounds: 0,
            finished: 0,
            accepted: 0,
            rejections: 0,
            final_rejections: None,
            done: vec![false; definition.features.len()],
            findings: Findings::default(),
            last: None,
            log: Vec::new(),
            look_due: false,
            taken_up: false,
            cleanup_due: false,
            disorder: None,
            unjudged: None,
            main: None,
            main_found: None,
            refreeze: None,
            red_proof: None,
            question: None,
            kept: false,
            details: Arc::new(details),
            definition: Arc::new(definition),
            templates: Arc::new(templates),
            life: Lifecycle::new(spec),
        })
    }

    fn agent(role: Role) -> usize {
        match role {
            Role::Developer => 0,
            Role::Acceptor => 1,
        }
    }

    fn agent_state(&self, role: Role) -> &AgentState {
        match role {
            Role::Developer => &self.developer,
            Role::Acceptor => &self.acceptor,
        }
    }

    fn agent_state_mut(&mut self, role: Role) -> &mut AgentState {
        match role {
            Role::Developer => &mut self.developer,
            Role::Acceptor => &mut self.acceptor,
        }
    }

    /// Whether the next turn goes on in a conversation that an earlier one opened (M3).
    fn continues(&self, role: Role) -> bool {
        let agent = &self.life.spec.agents[Self::agent(role)];
        self.agent_state(role).conversation.continues(agent, Company::Others)
    }

    /// Whose turn is next, where one may start.
    fn to_ask(&self) -> Option<Role> {
        match self.phase {
            Phase::Between => Some(Role::Developer),
            Phase::Asking(role) => Some(role),
            _ => None,
        }
    }
}

impl Machine for Milestone {
    fn decide(&self, input: &Input) -> Vec<Event> {
        self.decide_on(input)
    }

    fn apply(&mut self, line: &Envelope) {
        self.take_in(line);
    }

    fn next(&self) -> Option<Step> {
        self.next_step()
    }

    fn plan(&self, step: Step) -> Effect {
        self.planned(step)
    }

    fn ends_now(&self) -> bool {
        self.life.verdict.is_some()
    }

    fn over_budget(&self, turn: &Usage) -> bool {
        self.life.over_budget(turn)
    }

    fn agents_converse_by_turns(&self) -> bool {
        true
    }

    fn starts_from_base_branch(&self) -> bool {
        true
    }

    fn published(&self, whereabouts: Whereabouts) -> Vec<Document> {
        self.documents(whereabouts)
    }
}
