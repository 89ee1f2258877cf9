//! A loop of 2,000 iterations: the last must cost what the 20th did.
//!
//! git itself slows down as loose objects gather, for bash as well as for Dacapo; bash's own drift is measured too and
//! stands beside.

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::process::Sample;
use super::report::Row;
use super::stats::median;
use super::{Bench, iteration, journal, process};
use crate::Outcome;

/// As in `iteration`, with the time after each; `EPOCHREALTIME` costs no process.
const LOOP: &str = r#"for ((i = 0; i < $2; i++)); do "$1" < "$3"; git add -A; git commit -qm "x"; echo "$EPOCHREALTIME"; done > "$4""#;

/// Iterations before this one warm up and are not looked at.
const FIRST: usize = 10;

/// Drift of the times that is taken for none. Not bent to bash's: that is measured with noise too, and is shown.
const DRIFT: f64 = 1.2;

/// Growth of the memory that is allowed, in MB: what a longer list of a few numbers may take.
const GROWTH: f64 = 2.0;

/// How long the loop is, and how many iterations at either end are compared.
#[derive(Clone, Copy)]
struct Shape {
    count: usize,
    window: usize,
}

impl Shape {
    fn early(self) -> Range<usize> {
        FIRST..FIRST + self.window
    }

    fn late(self) -> Range<usize> {
        self.count - self.window..self.count
    }
}

pub(super) fn measure(bench: &Bench) -> Outcome<Vec<Row>> {
    let shape = bench.size(Shape { count: 2_000, window: 60 }, Shape { count: 120, window: 30 });
    let agent = bench.scratch.trivial_agent()?;
    let (samples, ends) = ours(bench, &agent, "long-ours", shape.count)?;
    let (_, fresh) = ours(bench, &agent, "long-ours-fresh", shape.early().end)?;
    let ours = Times::of(&ends, &fresh, shape)?;
    let ends_of_bash = bash(bench, &agent, "long-theirs", shape.count)?;
    let fresh_of_bash = bash(bench, &agent, "long-theirs-fresh", shape.early().end)?;
    let theirs = Times::of(&ends_of_bash, &fresh_of_bash, shape)?;
    let early_pss = memory(&samples, &ends, &shape.early())?;
    let late_pss = memory(&samples, &ends, &shape.late())?;
    let count = shape.count;
    Ok(vec![
        Row {
            what: format!("iteration {count} against a 20th right after it: time"),
            ours: ours.shown(),
            against: format!("bash loop: {}", theirs.shown()),
            result: format!("{:.2} × (bash {:.2} ×)", ours.drift(), theirs.drift()),
            reach: format!("≤ {DRIFT} ×"),
            met: ours.drift() <= DRIFT,
        },
        Row {
            what: format!("iteration {count} against iteration 20: memory (PSS)"),
            ours: format!("{early_pss:.1} → {late_pss:.1} MB"),
            against: "—".to_owned(),
            result: format!("{:+.1} MB", late_pss - early_pss),
            reach: format!("≤ +{GROWTH} MB"),
            met: late_pss - early_pss <= GROWTH,
        },
    ])
}

/// Milliseconds per iteration: early and late in the long loop, and early in a new one that was started when the long
/// one had ended. The machine may have changed since the early ones of the long loop, so the drift is judged by the new
/// one.
struct Times {
    early: f64,
    late: f64,
    fresh: f64,
}

impl Times {
    fn of(ends: &[f64], fresh: &[f64], shape: Shape) -> Outcome<Self> {
        let middle = |ends: &[f64], range: Range<usize>| {
            let part = ends.get(range.start - 1..range.end);
            let gaps =
                part.map(|part| part.windows(2).map(|pair| (pair[1] - pair[0]) * 1e3).collect::<Vec<_>>());
            gaps.and_then(|gaps| median(&gaps))
                .ok_or_else(|| format!("only {} iterations were timed", ends.len()))
        };
        Ok(Self {
            early: middle(ends, shape.early())?,
            late: middle(ends, shape.late())?,
            fresh: middle(fresh, shape.early())?,
        })
    }

    fn drift(&self) -> f64 {
        self.late / self.fresh
    }

    fn shown(&self) -> String {
        format!("{:.1} → {:.1} ms (new loop {:.1} ms)", self.early, self.late, self.fresh)
    }
}

/// The middle of what was seen while these iterations ran.
fn memory(samples: &[Sample], ends: &[f64], range: &Range<usize>) -> Outcome<f64> {
    let (from, to) = (ends[range.start - 1], ends[range.end - 1]);
    let seen: Vec<f64> = samples.iter().filter(|s| (from..=to).contains(&s.at)).map(|s| s.pss).collect();
    median(&seen).ok_or_else(|| super::busy(&format!("memory was not seen during iterations {range:?}")))
}

fn ours(bench: &Bench, agent: &Path, repo: &str, count: usize) -> Outcome<(Vec<Sample>, Vec<f64>)> {
    let repo = bench.scratch.repository(repo, 3)?;
    let home = bench.scratch.data_home()?;
    let mut command = iteration::exec(bench, &repo, agent, count);
    let samples = process::sampled(&mut command, Duration::from_millis(25))?;
    let journal = journal::find(&home)?;
    let text = fs::read_to_string(&journal).map_err(|e| format!("cannot read the journal: {e}"))?;
    let ends = journal::iteration_ends(&text)?;
    if ends.len() == count {
        Ok((samples, ends))
    } else {
        Err(format!("{} of {count} iterations are in the journal", ends.len()))
    }
}

fn bash(bench: &Bench, agent: &Path, repo: &str, count: usize) -> Outcome<Vec<f64>> {
    let scratch = &bench.scratch;
    let repo = scratch.repository(repo, 3)?;
    let times = scratch.path("long-times");
    let mut command = Command::new("bash");
    command.args(["-c", LOOP, "loop"]).arg(agent).arg(count.to_string());
    command.arg(scratch.path("prompt")).arg(&times).current_dir(&repo);
    process::timed(scratch.clean(&mut command))?;
    let text =
        fs::read_to_string(&times).map_err(|e| format!("cannot read the times of the bash loop: {e}"))?;
    let ends: Result<Vec<f64>, _> = text.lines().map(str::parse).collect();
    ends.map_err(|_| "this bash knows no EPOCHREALTIME; version 5 or newer is needed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn early_and_late_are_told_apart() {
        let shape = Shape { count: 100, window: 30 };
        // 10 ms each up to the 50th, 20 ms from there on; in the new loop 16.
        let ends: Vec<f64> =
            (0..100).map(|i| f64::from(i) * 0.01 + f64::from((i - 50).max(0)) * 0.01).collect();
        let fresh: Vec<f64> = (0..40).map(|i| f64::from(i) * 0.016).collect();
        let times = Times::of(&ends, &fresh, shape).unwrap();
        assert_eq!(times.shown(), "10.0 → 20.0 ms (new loop 16.0 ms)");
        assert!((times.drift() - 1.25).abs() < 1e-6);
        assert!(Times::of(&ends, &fresh[..20], shape).is_err());

        let sample = |at: f64, pss: f64| Sample { at, pss, peak: 0.0 };
        let samples = [sample(0.2, 3.0), sample(0.3, 4.0), sample(0.35, 5.0), sample(1.4, 9.0)];
        assert_eq!(memory(&samples, &ends, &shape.early()), Ok(4.0));
        assert_eq!(memory(&samples, &ends, &shape.late()), Ok(9.0));
    }
}
