//! A person's wish to end a merge, whatever is under way.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::process::StopSignal;

/// Asked from any thread; seen between steps, and passed on to the child that is at work.
#[derive(Clone, Default)]
pub struct Halt(Arc<Mutex<State>>);

/// Hears by what the merge is ended.
type Listener = Box<dyn Fn(&str) + Send>;

#[derive(Default)]
struct State {
    by: Option<String>,
    /// Rings for the git at work.
    git: Option<StopSignal>,
    listener: Option<Listener>,
}

impl Halt {
    /// Whoever asks also ends what git is doing, after a grace.
    pub fn ringing(git: Option<&StopSignal>) -> Self {
        Self(Arc::new(Mutex::new(State { git: git.cloned(), ..State::default() })))
    }

    /// The merge is to end. What has come home stays; nothing else is changed.
    pub fn ask(&self, by: &str) {
        let mut state = self.state();
        state.by.get_or_insert_with(|| by.to_owned());
        if let Some(git) = &state.git {
            git.ask();
        }
        if let Some(listener) = &state.listener {
            listener(by);
        }
    }

    /// Whether somebody has asked.
    pub fn is_asked(&self) -> bool {
        self.state().by.is_some()
    }

    /// Runs `act`; whoever asks meanwhile, or has asked before, is heard by `listener`.
    pub(super) fn heard_by<T>(&self, listener: impl Fn(&str) + Send + 'static, act: impl FnOnce() -> T) -> T {
        let mut state = self.state();
        // Under the same lock as the registration: whoever asks is heard by the listener now or by `ask`, never by
        // neither.
        if let Some(by) = &state.by {
            listener(by);
        }
        state.listener = Some(Box::new(listener));
        drop(state);
        let done = act();
        self.state().listener = None;
        done
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Halt").field(&self.state().by).finish()
    }
}
