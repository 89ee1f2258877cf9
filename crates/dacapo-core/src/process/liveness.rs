//! Is the agent still at work? Judged by evidence, not by silence alone.
//!
//! A compiler can be silent for half an hour while it burns a core; a node process that hangs on a dead socket still
//! burns 0.15–0.4 % of one. So a turn is idle only if over a whole window there was no output, less than 1 % of one
//! core was used by the whole tree (more for a program that is known to burn more while it waits), and no process came
//! or went.

use std::collections::VecDeque;
use std::time::Duration;

/// Percent of one core that are work, where nothing else is known of the program.
const WORK: u32 = 1;

/// What the process tree of one job looked like at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TreeSample {
    /// Processor time of all processes below the guard, the ended ones they waited for included.
    pub cpu_ms: u64,
    /// A hash of the set of processes: different when one came or went.
    pub processes: u64,
    /// How many processes there are.
    pub count: u32,
}

/// What the evidence says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It wrote, worked, or started or ended a process since the last look.
    Alive,
    /// No sign since `since`, but not for long enough, or not sure enough, to call it idle.
    Quiet {
        /// When the last output or change of processes was seen, on the clock of `observe`.
        since: Duration,
    },
    /// No sign of life over the whole window.
    Idle,
}

/// Collects the evidence; has no clock and does no I/O, so that every rule can be tested.
#[derive(Debug)]
pub struct ActivityMonitor {
    window: Duration,
    /// How many percent of one core count as work.
    work: u32,
    bytes: u64,
    tree: Option<TreeSample>,
    last_sign: Option<Duration>,
    /// Processor time by the time of observation; the first entry is the newest one that is at least a window old.
    cpu: VecDeque<(Duration, u64)>,
}

impl ActivityMonitor {
    /// A watch that calls the job idle after `window` without any sign of life.
    pub fn new(window: Duration) -> Self {
        Self { window, work: WORK, bytes: 0, tree: None, last_sign: None, cpu: VecDeque::new() }
    }

    /// The same for a program that uses up to `percent` of one core while it merely waits.
    #[must_use]
    pub(crate) fn beyond(mut self, percent: u32) -> Self {
        self.work = percent.max(WORK);
        self
    }

    /// How often to observe: often enough to be right within a tenth of the window, too seldom to cost anything.
    pub fn tick_every(&self) -> Duration {
        (self.window / 10).clamp(Duration::from_millis(20), Duration::from_secs(30))
    }

    /// Takes in what is known at `now` (time since the start of the job).
    ///
    /// `bytes` is the output so far. Without a `sample` there is no proof that nothing works, hence no `Idle`.
    pub fn observe(&mut self, now: Duration, bytes: u64, sample: Option<TreeSample>) -> Verdict {
        let wrote = bytes != self.bytes;
        self.bytes = bytes;
        let Some(sample) = sample else {
            // A gap in the samples breaks the proof: what was used during it is not known, so the window begins
            // again.
            self.cpu.clear();
            if wrote || self.last_sign.is_none() {
                self.last_sign = Some(now);
            }
            return self.verdict(now, wrote, false);
        };
        let moved = self.tree.is_some_and(|tree| {
            (tree.processes, tree.count) != (sample.processes, sample.count)
                // Time that vanished belonged to a process that vanished.
                || sample.cpu_ms < tree.cpu_ms
        });
        let worked = self.tree.is_some_and(|tree| {
            let since = self.cpu.back().map_or(now, |(at, _)| *at);
            self.is_work(sample.cpu_ms.saturating_sub(tree.cpu_ms), now.saturating_sub(since))
        });
        self.tree = Some(sample);
        if wrote || moved || self.last_sign.is_none() {
            self.last_sign = Some(now);
        }
        self.cpu.push_back((now, sample.cpu_ms));
        // The front entry is kept until the second is a whole window old, so that there is always one entry that
        // spans the window.
        while self.cpu.get(1).is_some_and(|(at, _)| now.saturating_sub(*at) >= self.window) {
            self.cpu.pop_front();
        }
        let slept = self.cpu.front().is_some_and(|&(at, cpu_ms)| {
            let span = now.saturating_sub(at);
            span >= self.window && !self.is_work(sample.cpu_ms.saturating_sub(cpu_ms), span)
        });
        self.verdict(now, wrote || moved || worked, slept)
    }

    fn is_work(&self, cpu_ms: u64, span: Duration) -> bool {
        // Zero is never work, even over a span of zero (two observations at the same instant).
        cpu_ms > 0 && u128::from(cpu_ms) * 100 >= span.as_millis() * u128::from(self.work)
    }

    fn verdict(&self, now: Duration, sign: bool, slept: bool) -> Verdict {
        let since = self.last_sign.unwrap_or(now);
        if sign {
            Verdict::Alive
        } else if slept && now.saturating_sub(since) >= self.window {
            Verdict::Idle
        } else {
            Verdict::Quiet { since }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WINDOW: Duration = Duration::from_secs(600);

    fn sample(cpu_ms: u64, processes: u64) -> Option<TreeSample> {
        Some(TreeSample { cpu_ms, processes, count: 3 })
    }

    /// Verdicts of a job observed every minute for an hour.
    fn hour(mut at: impl FnMut(u64) -> (u64, Option<TreeSample>)) -> Vec<Verdict> {
        let mut watch = ActivityMonitor::new(WINDOW);
        (0..60)
            .map(|minute| {
                let (bytes, sample) = at(minute);
                watch.observe(Duration::from_secs(minute * 60), bytes, sample)
            })
            .collect()
    }

    #[test]
    fn a_program_that_burns_more_while_it_waits_is_known_for_it() {
        let verdicts = |percent: u32, burnt: u64| -> Vec<Verdict> {
            let mut watch = ActivityMonitor::new(WINDOW).beyond(percent);
            let at =
                |minute: u64| watch.observe(Duration::from_secs(minute * 60), 10, sample(minute * burnt, 7));
            (0..60).map(at).collect()
        };
        // 1.7 % of a core.
        assert!(!verdicts(0, 1_020).contains(&Verdict::Idle));
        assert!(verdicts(3, 1_020).contains(&Verdict::Idle));
        assert!(!verdicts(3, 1_800).contains(&Verdict::Idle));
    }

    #[test]
    fn a_silent_compiler_is_spared() {
        let verdicts = hour(|minute| (10, sample(minute * 60_000, 7)));
        assert!(!verdicts.contains(&Verdict::Idle));
    }

    #[test]
    fn work_of_just_one_percent_is_spared_and_a_hung_node_is_not() {
        assert!(!hour(|minute| (10, sample(minute * 600, 7))).contains(&Verdict::Idle));
        let hung = hour(|minute| (10, sample(minute * 180, 7)));
        assert_eq!(hung.iter().position(|verdict| *verdict == Verdict::Idle), Some(10));
    }

    #[test]
    fn processes_that_come_and_go_are_a_sign_of_life() {
        let verdicts = hour(|minute| (10, sample(0, minute / 9)));
        assert!(!verdicts.contains(&Verdict::Idle));
    }

    #[test]
    fn a_burst_of_work_counts_for_the_window_it_fell_into() {
        let verdicts = hour(|minute| (10, sample(if minute < 5 { 0 } else { 30_000 }, 7)));
        assert_eq!(verdicts.iter().position(|verdict| *verdict == Verdict::Idle), Some(15));
    }

    #[test]
    fn without_a_sample_nothing_is_proven() {
        let verdicts = hour(|_| (10, None));
        assert!(!verdicts.contains(&Verdict::Idle));
        assert_eq!(verdicts[30], Verdict::Quiet { since: Duration::ZERO });
    }

    #[test]
    fn ticks_stay_in_bounds() {
        assert_eq!(ActivityMonitor::new(Duration::from_millis(50)).tick_every(), Duration::from_millis(20));
        assert_eq!(ActivityMonitor::new(Duration::from_secs(60)).tick_every(), Duration::from_secs(6));
        assert_eq!(ActivityMonitor::new(Duration::from_secs(7200)).tick_every(), Duration::from_secs(30));
    }

    proptest! {
        #[test]
        fn output_within_the_window_is_never_idle(steps in proptest::collection::vec((1u64..300, any::<bool>()), 1..60)) {
            let mut watch = ActivityMonitor::new(WINDOW);
            let (mut now, mut bytes, mut wrote_at) = (0, 0, 0);
            watch.observe(Duration::ZERO, 0, sample(0, 1));
            for (step, writes) in steps {
                now += step;
                if writes {
                    bytes += 1;
                    wrote_at = now;
                }
                let verdict = watch.observe(Duration::from_secs(now), bytes, sample(0, 1));
                prop_assert_eq!(verdict == Verdict::Idle, now - wrote_at >= WINDOW.as_secs());
            }
        }
    }
}
