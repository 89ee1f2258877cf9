//! Time per iteration, against the loop people write themselves.

use std::path::Path;
use std::process::Command;

use super::report::Row;
use super::stats::{as_f64, median, range};
use super::{Bench, process};
use crate::Outcome;

/// The loop in bash: the agent, then everything committed.
const LOOP: &str = r#"for ((i = 0; i < $2; i++)); do "$1" < "$3"; git add -A; git commit -qm "x"; done"#;

/// Lengths of the two loops whose difference is measured, so that starting up is not counted.
#[derive(Clone, Copy)]
struct Lengths {
    short: usize,
    long: usize,
}

pub(super) fn tiny(bench: &Bench) -> Outcome<Vec<Row>> {
    let lengths = bench.size(Lengths { short: 5, long: 45 }, Lengths { short: 1, long: 5 });
    measure(bench, "time per iteration, tiny repository", 3, lengths, bench.size(9, 3))
}

pub(super) fn large(bench: &Bench) -> Outcome<Vec<Row>> {
    let files = bench.size(10_000, 1_000);
    let lengths = bench.size(Lengths { short: 2, long: 22 }, Lengths { short: 1, long: 5 });
    let what = format!("time per iteration, {files} files in 100 folders");
    measure(bench, &what, files, lengths, bench.size(7, 3))
}

fn measure(bench: &Bench, what: &str, files: usize, lengths: Lengths, rounds: usize) -> Outcome<Vec<Row>> {
    let scratch = &bench.scratch;
    let agent = scratch.trivial_agent()?;
    let our_repo = scratch.repository(&format!("ours-{files}"), files)?;
    let their_repo = scratch.repository(&format!("theirs-{files}"), files)?;
    let ours = |count| time_ours(bench, &our_repo, &agent, count);
    let theirs = |count| process::timed(&mut bash(bench, &their_repo, &agent, count));
    // A side that does less is no faster.
    let did_all = |wanted: usize| {
        for (side, repo) in [("the program", &our_repo), ("the bash loop", &their_repo)] {
            let made = scratch.commits(repo)?;
            if made != wanted {
                return Err(format!(
                    "{side} made {made} commits instead of {wanted}: its time means nothing"
                ));
            }
        }
        Ok(())
    };
    // Once each before the first round: the files are then in memory for both.
    ours(lengths.short)?;
    theirs(lengths.short)?;
    did_all(1 + lengths.short)?;
    let (mut our_times, mut their_times, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        // Who comes first changes, or the second would always meet a warmer or a busier machine.
        let (our_time, their_time) = if round % 2 == 0 {
            let our_time = per_iteration(&ours, lengths)?;
            (our_time, per_iteration(&theirs, lengths)?)
        } else {
            let their_time = per_iteration(&theirs, lengths)?;
            (per_iteration(&ours, lengths)?, their_time)
        };
        eprintln!("  round {}: {:.2} ms against {:.2} ms", round + 1, our_time * 1e3, their_time * 1e3);
        our_times.push(our_time * 1e3);
        their_times.push(their_time * 1e3);
        ratios.push(our_time / their_time);
    }
    did_all(1 + lengths.short + rounds * (lengths.short + lengths.long))?;
    let none = || "nothing was measured".to_owned();
    let our_time = median(&our_times).ok_or_else(none)?;
    let their_time = median(&their_times).ok_or_else(none)?;
    Ok(vec![Row::ratio(
        what.to_owned(),
        format!("{our_time:.1} ms"),
        format!("bash loop with `git add -A`, `git commit`: {their_time:.1} ms"),
        range(&ratios).ok_or_else(none)?,
        1.3,
    )])
}

fn per_iteration(side: &impl Fn(usize) -> Outcome<f64>, lengths: Lengths) -> Outcome<f64> {
    let short = side(lengths.short)?;
    let long = side(lengths.long)?;
    let one = (long - short) / as_f64(lengths.long - lengths.short);
    if one > 0.0 { Ok(one) } else { Err(super::busy("a longer loop took less time")) }
}

fn time_ours(bench: &Bench, repo: &Path, agent: &Path, count: usize) -> Outcome<f64> {
    bench.scratch.data_home()?;
    process::timed(&mut exec(bench, repo, agent, count))
}

/// `dacapo exec` in this repository.
pub(super) fn exec(bench: &Bench, repo: &Path, agent: &Path, count: usize) -> Command {
    let mut command = Command::new(&bench.program);
    command.args(["exec", "--agent", "trivial", "--iter", &count.to_string(), "x"]).current_dir(repo);
    bench.scratch.clean(&mut command);
    // Configured, so that it is run as bash runs it: directly, without a shell around it.
    let path = agent.display().to_string().replace('\\', r"\\").replace('"', "\\\"");
    command.env("DACAPO_AGENTS_TRIVIAL_COMMAND", format!("[\"{path}\"]"));
    command
}

fn bash(bench: &Bench, repo: &Path, agent: &Path, count: usize) -> Command {
    let mut command = Command::new("bash");
    command.args(["-c", LOOP, "loop"]).arg(agent).arg(count.to_string()).arg(bench.scratch.path("prompt"));
    bench.scratch.clean(command.current_dir(repo));
    command
}
