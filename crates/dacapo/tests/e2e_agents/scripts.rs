//! What the model is to do in these tests.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::agents::Agent;
use crate::model_server::{Answer, Call, Last, Reply};

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
