//! The main branch, which a milestone never touches (M2). Where it is found otherwise than work of a person's leaves it, nobody
//! can tell whose hand it was: an agent commits and moves branches under the person's name. So no agent is asked to undo
//! it; it is said, taken as it is from then on, and a person is asked.

use super::{Milestone, Question};
use crate::engine::machine::WorkFacts;
use crate::event::{Event, MainBranch};
use crate::task::milestone::MilestoneStep;

impl Milestone {
    /// Whoever looked finds main otherwise than it should be: that comes first, and then it is looked at again.
    pub(super) fn odd_main(&self, facts: &WorkFacts) -> Option<Event> {
        let odd = facts.main_lost || !facts.main_moved.is_empty();
        odd.then(|| {
            Event::from(MilestoneStep::MainMoved {
                was: self.main.clone(),
                now: facts.main.clone(),
                lost: facts.main_lost,
                commits: facts.main_moved.clone(),
            })
        })
    }

    pub(super) fn main_has_moved(&mut self, step: &MilestoneStep) {
        let MilestoneStep::MainMoved { was, now, lost, commits } = step else { return };
        self.main.clone_from(now);
        let main = self.life.spec.base_branch.as_deref();
        self.main_found = Some(MainBranch {
            branch: main.map(|main| main.strip_prefix("refs/heads/").unwrap_or(main).to_owned()),
            since_round: self.rounds.max(1),
            was: was.clone(),
            now: now.clone(),
            lost: *lost,
            commits: commits.clone(),
        });
        let paused_by_hand = self.life.is_paused() && matches!(self.question, Some(Question::GoOn { .. }));
        if self.life.verdict.is_none() || paused_by_hand {
            self.pause(Question::Main);
        }
    }
}
