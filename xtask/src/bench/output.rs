//! A flood of agent output, against the same agent piped into a file.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::report::Row;
use super::stats::{median, range};
use super::{Bench, iteration, journal, process};
use crate::Outcome;

/// One endless line; lines as people write them; the shortest lines there are.
const KINDS: &[(&str, &str)] = &[
    ("one line", r"head -c {size} /dev/zero | tr '\0' x"),
    (
        "80-column lines",
        "yes 'a line of agent output that is as long as people like their lines to be, more' | head -c {size}",
    ),
    ("`yes`", "yes | head -c {size}"),
];

pub(super) fn measure(bench: &Bench) -> Outcome<Vec<Row>> {
    let megabytes: u64 = bench.size(200, 20);
    let mut rows = Vec::new();
    for (number, (kind, script)) in KINDS.iter().enumerate() {
        let script = script.replace("{size}", &format!("{megabytes}M"));
        let agent = bench.scratch.agent(&format!("flood-{number}"), &script)?;
        let repo = bench.scratch.repository(&format!("flood-repo-{number}"), 3)?;
        rows.extend(one(
            bench,
            &format!("{megabytes} MB of output, {kind}"),
            &agent,
            &repo,
            megabytes << 20,
        )?);
    }
    Ok(rows)
}

fn one(bench: &Bench, what: &str, agent: &Path, repo: &Path, size: u64) -> Outcome<Vec<Row>> {
    let ours = || {
        bench.scratch.data_home()?;
        process::timed(&mut iteration::exec(bench, repo, agent, 1))
    };
    let theirs = || process::timed(&mut piped(bench, agent));
    ours()?;
    theirs()?;
    let (mut our_times, mut their_times, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..bench.size(7, 3) {
        let (our_time, their_time) = if round % 2 == 0 {
            let our_time = ours()?;
            (our_time, theirs()?)
        } else {
            let their_time = theirs()?;
            (ours()?, their_time)
        };
        our_times.push(our_time);
        their_times.push(their_time);
        ratios.push(our_time / their_time);
    }
    // In a run of its own: looking at memory takes the program's time.
    bench.scratch.data_home()?;
    let samples = process::sampled(&mut iteration::exec(bench, repo, agent, 1), Duration::from_millis(10))?;
    // What was lost on the way took no time.
    let kept = journal::kept_output(&bench.scratch.path("data"))?;
    if kept < size {
        return Err(format!("{what}: only {kept} of {size} bytes were kept"));
    }
    let peak = samples.iter().map(|s| s.peak).fold(0.0, f64::max);
    let pss = samples.iter().map(|s| s.pss).fold(0.0, f64::max);
    bench.scratch.data_home()?;
    let none = || "nothing was measured".to_owned();
    if samples.is_empty() {
        return Err(super::busy(&format!("{what}: the run was over before its memory could be seen")));
    }
    Ok(vec![
        Row::ratio(
            what.to_owned(),
            format!("{:.2} s", median(&our_times).ok_or_else(none)?),
            format!("`agent | cat > file`: {:.2} s", median(&their_times).ok_or_else(none)?),
            range(&ratios).ok_or_else(none)?,
            1.5,
        ),
        // Either measure alone could hide something: pages shared with nobody, or a guard's.
        Row::below(
            format!("{what}: peak memory"),
            peak.max(pss),
            &format!("VmHWM {peak:.1} MB, PSS with guard {pss:.1} MB"),
            30.0,
        ),
    ])
}

fn piped(bench: &Bench, agent: &Path) -> Command {
    let mut command = Command::new("bash");
    // A fresh file each time, as Dacapo's is: truncating an old one costs time of its own.
    let script = r#"rm -f "$2"; "$1" | cat > "$2""#;
    command.args(["-c", script, "pipe"]).arg(agent).arg(bench.scratch.path("flood.out"));
    bench.scratch.clean(&mut command);
    command
}
