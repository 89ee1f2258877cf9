//! What was asked and what was given, for a test to look at.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::answer::{Answer, Usage};
use super::call::{Call, CallKind};
use super::http::HttpRequest;

/// One request, whatever it was for.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    /// Method, target, headers, bytes.
    pub(crate) request: HttpRequest,
    /// The body as JSON, where it is.
    pub(crate) body: Value,
    /// The model call it was; `None` for lists of models, counts of tokens and what nobody knows.
    pub(crate) call: Option<Call>,
    /// Whether the server knows what was asked.
    pub(crate) known: bool,
    /// What the script said to it.
    pub(crate) answer: Option<Answer>,
    /// What was charged: only for an answer that was sent to its end.
    pub(crate) usage: Option<Usage>,
}

impl Recorded {
    /// Whether it is a model call of this kind.
    pub(crate) fn is(&self, kind: CallKind) -> bool {
        self.call.as_ref().is_some_and(|call| call.kind == kind)
    }
}

/// Everything so far.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    all: Mutex<Vec<Recorded>>,
    changed: Condvar,
}

impl Ledger {
    fn lock(&self) -> MutexGuard<'_, Vec<Recorded>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a request down, numbers its call, and gives back where it stands.
    pub(crate) fn add(&self, mut recorded: Recorded) -> (usize, Option<Call>) {
        let mut all = self.lock();
        if let Some(call) = &mut recorded.call {
            call.number = all.iter().filter(|earlier| earlier.is(call.kind)).count() as u64;
        }
        let call = recorded.call.clone();
        all.push(recorded);
        self.changed.notify_all();
        (all.len() - 1, call)
    }

    /// Adds what came of it.
    pub(crate) fn update(&self, at: usize, change: impl FnOnce(&mut Recorded)) {
        change(&mut self.lock()[at]);
        self.changed.notify_all();
    }

    /// A copy of all.
    pub(crate) fn all(&self) -> Vec<Recorded> {
        self.lock().clone()
    }

    /// Waits until `holds`; whether it came to that in time.
    pub(crate) fn wait(&self, patience: Duration, holds: impl Fn(&[Recorded]) -> bool) -> bool {
        let end = Instant::now() + patience;
        let mut all = self.lock();
        while !holds(&all) {
            let Some(left) = end.checked_duration_since(Instant::now()) else { return false };
            all = self.changed.wait_timeout(all, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}
