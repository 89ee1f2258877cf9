//! What the model is to do in these tests.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use crate::agents::Agent;
use crate::model_server::{Answer, Call, Last, Reply};
use crate::support::PATIENCE;

/// Something that a test lets happen at its own time.
#[derive(Clone, Default)]
pub(crate) struct Switch(Arc<(Mutex<bool>, Condvar)>);

impl Switch {
    pub(crate) fn turn_on(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }

    pub(crate) fn is_on(&self) -> bool {
        *self.0.0.lock().unwrap()
    }

    /// Waits until it is on, or the test has failed meanwhile.
    pub(crate) fn wait(&self) {
        let on = self.0.0.lock().unwrap();
        drop(self.0.1.wait_timeout_while(on, PATIENCE, |on| !*on).unwrap());
    }
}

/// Asked anything, the model has the agent write `file-N.txt`, N from 0, by its own tool, and then says so.
pub(crate) fn writer(
    agent: &'static Agent,
    repo: PathBuf,
) -> impl Fn(&Call) -> Answer + Send + Sync + 'static {
    let asked = AtomicU32::new(0);
    move |call| match call.last() {
        Last::Prompt(_) => {
            let number = asked.fetch_add(1, Ordering::SeqCst);
            let path = repo.join(format!("file-{number}.txt"));
            Reply::call((agent.write)(&path, &format!("text {number}\n"))).into()
        }
        Last::Result(_) => {
            let number = asked.load(Ordering::SeqCst).saturating_sub(1);
            Reply::say(format!("Added file-{number}.txt with one line.")).into()
        }
    }
}

/// Answers with `answer` until the switch is on, and then as `writer` does.
pub(crate) fn until(
    on: Switch,
    answer: impl Fn() -> Answer + Send + Sync + 'static,
    then: impl Fn(&Call) -> Answer + Send + Sync + 'static,
) -> impl Fn(&Call) -> Answer + Send + Sync + 'static {
    move |call| if on.is_on() { then(call) } else { answer() }
}
