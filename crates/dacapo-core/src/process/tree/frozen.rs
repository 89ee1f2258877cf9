//! Stopping a job for a while: the job itself sleeps, and what it started for its work is ended.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use super::{Members, PATIENCE_WITH_FOREIGN, platform, signal, signal_group};

/// The processes of a job itself, told from those that it starts while it works.
#[derive(Debug, Default)]
pub(in crate::process) struct Frozen {
    own: Members,
    /// The job that is stopped.
    stopped: Option<u32>,
}

impl Frozen {
    /// Stops the processes of the job itself and kills all others below this process. Returns when that is done, or cannot be.
    pub(in crate::process) fn freeze(&mut self, job: u32, own: Members) {
        (self.own, self.stopped) = (own, Some(job));
        // Where descendants cannot be listed, the group stands for them, and its work sleeps with it.
        if cfg!(not(target_os = "linux")) {
            return signal_group(job, Signal::STOP);
        }
        if self.own.is_empty() {
            self.own.extend(platform::identity(job).map(|started| (job, started)));
        }
        // First: one that is stopped starts nothing more.
        self.signal_own(Signal::STOP);
        let begun = Instant::now();
        while self.end_others(job) && begun.elapsed() < PATIENCE_WITH_FOREIGN {
            // The system offers nothing to wait for: these are not children of ours, and nobody is told of a stop.
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Lets the job go on.
    pub(in crate::process) fn thaw(&mut self) {
        let Some(job) = self.stopped.take() else { return };
        if cfg!(not(target_os = "linux")) {
            return signal_group(job, Signal::CONT);
        }
        self.signal_own(Signal::CONT);
    }

    /// Returns true if something is still at work.
    fn end_others(&self, job: u32) -> bool {
        let mut others = Vec::new();
        let mut own_groups = Vec::new();
        let mut at_work = false;
        platform::below(std::process::id(), job, &mut |process| {
            if self.own.contains(&(process.pid, process.started)) {
                own_groups.push(process.group);
                let pid = Pid::from_raw(process.pid.cast_signed());
                at_work |= !process.zombie && !pid.is_some_and(platform::is_stopped);
            } else if !process.zombie {
                others.push((process.pid, process.group));
            }
        });
        for (pid, group) in &others {
            if !own_groups.contains(group) {
                signal_group(*group, Signal::KILL);
            }
            let _ = signal(*pid, Signal::KILL);
        }
        at_work || !others.is_empty()
    }

    fn signal_own(&self, sent: Signal) {
        for (pid, started) in &self.own {
            // Ids are reused.
            if platform::identity(*pid) == Some(*started) {
                let _ = signal(*pid, sent);
            }
        }
    }
}
