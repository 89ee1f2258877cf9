//! Offers the branch of a task that is not running as a pull request (S12).

use dacapo_core::store::LockError;

use super::after_task::keep;
use super::start::Intent;
use crate::App;
use crate::error::Failure;
use crate::messages::say;
use crate::note::Note;
use crate::operations::tasks::{still_finishing, still_running};
use crate::present::errors;
use crate::pull_request::{Made, Offered, Plan, Wishes};
use crate::question::{Answers, NotYet};
use crate::request::fill_agents;
use crate::trust::Using;

/// A pull request, planned or made.
#[derive(Debug)]
pub struct Offer {
    pub plan: Plan,
    /// What came of it; none: it was only planned.
    pub made: Option<Made>,
}

impl App {
    /// Opens a pull request for a task, or only plans it.
    pub fn offer(
        &self,
        name: Option<&str>,
        wishes: &Wishes,
        intent: Intent,
        answers: &Answers,
    ) -> Result<Offer, NotYet> {
        let (repo, dir) = self.task(name)?;
        let name = dir.name();
        let lock = dir.lock().map_err(|error| match error {
            LockError::Held => still_running(&name),
            LockError::Lingering => still_finishing(&name),
            LockError::Io { .. } | LockError::RenameUnfinished { .. } => {
                Failure::failed(errors::text(&error))
            }
        })?;
        let mut spec = dir.spec().map_err(|error| Failure::failed(errors::text(&error)))?;
        let loaded = self.settings(repo.toplevel(), &[Using::PullRequests], answers)?;
        fill_agents(self, &loaded.config, &mut spec);
        for warning in &loaded.warnings {
            self.note(&Note::Settings { warning: warning.clone() });
        }
        if wishes.title.as_deref().is_some_and(|title| title.trim().is_empty()) {
            return Err(Failure::usage(say(|m| m.pr_title_empty()))
                .hint(say(|m| m.pr_leave_title_out()))
                .into());
        }
        let plan = Plan::new(self, Offered { spec: &spec, dir: &dir, config: &loaded.config }, wishes)?;
        if intent == Intent::DryRun {
            return Ok(Offer { plan, made: None });
        }
        let made = plan.carry_out()?;
        keep(&dir, &lock, &plan, &made);
        Ok(Offer { plan, made: Some(made) })
    }
}
