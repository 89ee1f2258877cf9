//! Usage limits (L9): whoever runs into one is waited for; nobody can take over for a Developer or an Acceptor.

use jiff::Timestamp;

use super::{Milestone, Phase, Role};
use crate::event::{Envelope, KnownLimit, WaitReason};

impl Milestone {
    pub(super) fn limit_known(&mut self, known: &KnownLimit) {
        let Some(role) = self.to_ask() else { return };
        let wait = self.life.limit_known(Self::agent(role), known);
        self.phase = Phase::Waits { role, wait };
    }

    pub(super) fn waiting(&mut self, until: Timestamp, why: WaitReason, line: &Envelope) {
        let (role, before) = match &self.phase {
            Phase::Waits { role, wait } => (*role, Some(wait.clone())),
            _ => (self.to_ask().unwrap_or(Role::Developer), None),
        };
        let wait = self.life.falls_asleep(Self::agent(role), before.as_ref(), (until, why), line.at);
        self.phase = Phase::Waits { role, wait };
    }

    pub(super) fn wait_over(&mut self, line: &Envelope) {
        let (role, wait) = match &self.phase {
            Phase::Waits { role, wait } if wait.is_sleep() => (*role, wait.clone()),
            _ => return,
        };
        self.life.wakes(&wait, line);
        if self.round.is_some() {
            self.phase = Phase::Asking(role);
        } else {
            self.phase = Phase::Between;
            self.settle_between();
        }
    }
}
