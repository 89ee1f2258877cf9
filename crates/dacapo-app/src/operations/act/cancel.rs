//! A surface's wish to end an operation that a short process carries out for it.

use std::process::Child;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process};

/// Ends one operation, from any thread. Clones are the same wish.
#[derive(Debug, Clone, Default)]
pub struct OperationCanceller(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    asked: bool,
    /// The process at work. It is not waited for as long as it is here, so that its number is nobody else's.
    process: Option<Pid>,
}

impl OperationCanceller {
    /// The operation is to end, as Ctrl-C ends a command: a merge finishes nothing more and leaves everything in order; what
    /// knows no such end is ended by the signal. Asked again, it ends at once. One that has not begun does not begin.
    pub fn cancel(&self) {
        let mut state = self.state();
        state.asked = true;
        // SIGTERM and not SIGINT: what was started in the background by a shell may ignore the latter.
        let _ = state.process.map(|pid| kill_process(pid, Signal::TERM));
    }

    pub fn is_cancelled(&self) -> bool {
        self.state().asked
    }

    /// Whoever cancels until this is dropped ends `child`; who has cancelled before has ended it now. The child must not be
    /// waited for before that.
    pub(super) fn ends(&self, child: &Child) -> Ends<'_> {
        let mut state = self.state();
        state.process = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        // Cancelled between the check in the caller and the start of the process.
        if state.asked {
            let _ = state.process.map(|pid| kill_process(pid, Signal::TERM));
        }
        Ends(self)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The process of an operation, as long as it can be ended.
pub(super) struct Ends<'a>(&'a OperationCanceller);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.state().process = None;
    }
}
