//! Removes what is merged, what was dropped long ago, and what crashes left (S9).

use dacapo_core::prune::{Item, Prune, Rules, Spared};
use jiff::Timestamp;

use super::rename::finish_all;
use crate::App;
use crate::error::Failure;
use crate::messages::{Text, say};
use crate::present::errors::{self, InWords};

/// What went, or would go.
#[derive(Debug)]
pub struct Pruned {
    /// Each with the refs that keep what git can keep of it.
    pub removed: Vec<(Item, Vec<String>)>,
    /// What stays, and why.
    pub spared: Vec<Spared>,
    /// What should have gone and did not.
    pub problems: Vec<Text>,
    pub bytes: u64,
}

impl App {
    /// What would go by these rules. Nothing is removed.
    pub fn prune_plan(&self, rules: Rules) -> Result<Pruned, Failure> {
        let (repo, data) = self.repository()?;
        let plan = Prune::new(&repo, &data, self.kinds, rules, Timestamp::now()).plan().map_err(failed)?;
        let bytes = plan.items.iter().map(|item| item.bytes).sum();
        let removed = plan.items.into_iter().map(|item| (item, Vec::new())).collect();
        Ok(Pruned { removed, spared: plan.spared, problems: Vec::new(), bytes })
    }

    /// Removes what these rules name; what git can keep of it is under a rescue ref first.
    pub fn prune(&self, rules: Rules) -> Result<Pruned, Failure> {
        let (repo, data) = self.repository()?;
        // Worktrees that have no task of their name would seem to be left.
        finish_all(self, &repo, &data);
        let _at_work = self.at_work(&repo, &data);
        let prune = Prune::new(&repo, &data, self.kinds, rules, Timestamp::now());
        let plan = prune.plan().map_err(failed)?;
        let mut pruned = Pruned { removed: Vec::new(), spared: plan.spared, problems: Vec::new(), bytes: 0 };
        for item in plan.items {
            match prune.remove(&item) {
                Ok(Some(refs)) => {
                    pruned.bytes += item.bytes;
                    pruned.removed.push((item, refs));
                }
                Ok(None) => {
                    pruned.problems.push(say(|m| m.prune_changed_meanwhile(&item.what.name())));
                }
                // One that cannot go does not keep the others.
                Err(error) => {
                    let name = item.what.name();
                    pruned.problems.push(say(|m| m.error_of(&name, &error.in_words(m))));
                }
            }
        }
        Ok(pruned)
    }
}

fn failed(error: impl InWords + std::error::Error + Send + Sync + 'static) -> Failure {
    Failure::failed(errors::text(&error)).kept(say(|m| m.kept_nothing_removed())).caused_by(error)
}
