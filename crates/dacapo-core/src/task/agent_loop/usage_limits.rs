//! Usage limits (L9): the next agent takes over, or the loop sleeps, or it has slept long enough.

use jiff::Timestamp;

use super::{AgentLoop, Phase};
use crate::engine::stop;
use crate::event::{Envelope, KnownLimit, WaitReason};
use crate::spec::AgentSpec;
use crate::task::lifecycle::Wait;

impl AgentLoop {
    pub(super) fn wait(&self) -> Option<&Wait> {
        match &self.phase {
            Phase::Waits(wait) => Some(wait),
            _ => None,
        }
    }

    pub(super) fn limit_known(&mut self, known: &KnownLimit) {
        self.phase = Phase::Waits(self.life.limit_known(self.agent, known));
    }

    pub(super) fn waiting(&mut self, until: Timestamp, why: WaitReason, line: &Envelope) {
        let before = self.wait().cloned();
        self.phase = Phase::Waits(self.life.falls_asleep(self.agent, before.as_ref(), (until, why), line.at));
    }

    pub(super) fn wait_over(&mut self, line: &Envelope) {
        let Some(wait) = self.wait().filter(|wait| wait.is_sleep()).cloned() else { return };
        self.life.wakes(&wait, line);
        self.phase = self.before_a_turn();
        if self.current.is_none() {
            let elapsed = self.life.time_in_allowance();
            self.life.verdict = stop::out_of_time(&self.life.policy, elapsed, self.succeeded);
        }
    }

    pub(super) fn agent_changed(&mut self, name: &str, at: Timestamp) {
        let wait = self.wait().cloned();
        self.life.note_limit(self.agent, wait.as_ref(), at);
        let named = |(index, agent): (usize, &AgentSpec)| {
            (index != self.agent && agent.name == name).then_some(index)
        };
        if let Some(agent) = self.life.spec.agents.iter().enumerate().find_map(named) {
            self.agent = agent;
            // Another agent cannot continue this one's conversation.
            self.conversation.lost();
        }
        // In a sleep that has just ended, its end follows.
        if !matches!(self.phase, Phase::Waits(Wait::Asleep { .. })) {
            self.phase = self.before_a_turn();
        }
    }
}
