//! The main branch, which a milestone never touches (M2). Where it is found otherwise than work of a person's leaves it, nobody
//! can tell whose hand it was: an agent commits and moves branches under the person's name. So no agent is asked to undo
//! it; it is said, taken as it is from then on, and a person is asked.

use super::judge::named;
use super::{Milestone, Question};
use crate::event::{Event, MilestoneStep, WorkFacts};
use crate::git::Oid;

impl Milestone {
    /// Whoever looked finds main otherwise than it should be: that comes first, and then it is looked at again.
    pub(super) fn odd_main(&self, facts: &WorkFacts) -> Option<Event> {
        let odd = facts.main_lost || !facts.main_moved.is_empty();
        odd.then(|| {
            Event::Milestone(MilestoneStep::MainMoved {
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
        let main = self.spec.base_branch.as_deref().unwrap_or("the main branch");
        let main = main.strip_prefix("refs/heads/").unwrap_or(main);
        let since = self.rounds.max(1);
        let was = was.as_ref().map_or("elsewhere", Oid::short);
        let mut found = Vec::new();
        match now {
            None => found.push(format!("{main} is gone since round {since}; it was at {was}")),
            Some(now) if *lost => found.push(format!(
                "{main} was at {was} and is at {} since round {since}, without what was on it",
                now.short()
            )),
            Some(_) => {}
        }
        if !commits.is_empty() {
            found.push(format!(
                "{main} holds commits of this milestone since round {since} ({})",
                named(commits)
            ));
        }
        self.main_found = Some(format!("{}: was it you? Nothing was undone", found.join("; ")));
        let paused_by_hand = self.is_paused() && matches!(self.question, Some(Question::GoOn { .. }));
        if self.verdict.is_none() || paused_by_hand {
            self.pause(Question::Main);
        }
    }
}
