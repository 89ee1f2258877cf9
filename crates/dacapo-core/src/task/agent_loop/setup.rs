//! What makes a fresh worktree usable: commands in order, each of which must succeed (S3).

use super::{AgentLoop, Phase};
use crate::engine::machine::{Effect, SetupPlan};
use crate::event::{Outcome, SetupResult, StopReason};
use crate::spec::{Place, Setup};

/// So many of the last lines are in the message.
const LINES_SAID: usize = 8;

impl AgentLoop {
    pub(super) fn setup(&self, index: usize) -> Effect {
        let Place::Worktree { setup: Setup { commands, timeout }, .. } = &self.spec.place else {
            return Effect::Settle;
        };
        Effect::RunSetup(SetupPlan {
            index: u32::try_from(index).unwrap_or(u32::MAX),
            command: commands.get(index).cloned().unwrap_or_default(),
            timeout: *timeout,
        })
    }

    /// The next one, or the end: in a worktree that is not usable no turn is worth its money. Whoever takes the task up
    /// again has mended the cause; it goes on with the one that failed.
    pub(super) fn setup_finished(&mut self, result: &SetupResult) {
        if result.passed() {
            self.set_up = result.index as usize + 1;
            if matches!(self.phase, Phase::Setup { .. }) {
                self.phase = self.before_the_first();
            }
            return;
        }
        let lines: Vec<&str> = result.tail.lines().collect();
        let last = lines[lines.len().saturating_sub(LINES_SAID)..].join("\n");
        let mut message = format!("setup `{}` failed ({})", result.command, result.ending());
        if !last.trim().is_empty() {
            message.push('\n');
            message.push_str(&last);
        }
        self.end(Outcome::Failed, StopReason::SetupFailed, &message);
    }

    /// The command that the worktree waits for.
    pub(super) fn failed_setup(&self) -> Option<String> {
        self.spec.place.setup().get(self.set_up).filter(|_| self.ready).cloned()
    }
}
