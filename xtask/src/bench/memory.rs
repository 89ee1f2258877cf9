//! Own memory while an agent works.

use std::time::Duration;

use super::report::Row;
use super::stats::median;
use super::{Bench, iteration, process};
use crate::Outcome;

pub(super) fn measure(bench: &Bench) -> Outcome<Vec<Row>> {
    let seconds = bench.size("1", "0.3");
    let agent =
        bench.scratch.agent("sleeper", &format!("echo one more line >> notes.txt; exec sleep {seconds}"))?;
    let repo = bench.scratch.repository("memory-repo", 3)?;
    bench.scratch.data_home()?;
    let mut command = iteration::exec(bench, &repo, &agent, bench.size(5, 2));
    let samples = process::sampled(&mut command, Duration::from_millis(20))?;
    let pss: Vec<f64> = samples.iter().map(|s| s.pss).collect();
    let middle =
        median(&pss).ok_or_else(|| super::busy("the run was over before its memory could be seen"))?;
    let most = pss.iter().copied().fold(0.0, f64::max);
    let note = format!("most of {} looks; middle {middle:.1} MB", pss.len());
    Ok(vec![Row::below("own memory during a loop (PSS, guard included)".to_owned(), most, &note, 10.0)])
}
