//! The thread that tells the loop how all tasks stand, whenever something changed in one of them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use dacapo_app::operations::list::Scope;
use dacapo_core::follow::Bell;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::effect::Services;
use super::live::News;
use super::message::Message;

/// However much happens, people read no faster.
const AT_MOST_EVERY: Duration = Duration::from_millis(150);

pub(super) fn run(
    services: &Services,
    scope: Scope,
    bell: &Bell,
    closed: &AtomicBool,
    messages: &SyncSender<Message>,
) {
    let mut list = services.app.live_list(&services.hub, scope, bell.clone());
    loop {
        let looked = Instant::now();
        bell.silence();
        if closed.load(Ordering::Acquire) {
            return;
        }
        if let Some(listed) = list.look().transpose()
            && messages.send(Message::Tasks(News { scope, listed })).is_err()
        {
            return;
        }
        sleep(bell, None);
        // What follows soon is told together with this.
        let early = AT_MOST_EVERY.saturating_sub(looked.elapsed());
        if !early.is_zero() && !closed.load(Ordering::Acquire) {
            std::thread::sleep(early);
        }
    }
}

fn sleep(bell: &Bell, at_most: Option<Duration>) {
    let timeout = at_most.and_then(|time| Timespec::try_from(time).ok());
    let mut ready = [PollFd::new(bell, PollFlags::IN)];
    let _ = poll(&mut ready, timeout.as_ref());
}
