//! Starting and saying one's version, against git.

use std::path::Path;
use std::process::Command;

use super::report::Row;
use super::stats::{median, range};
use super::{Bench, process};
use crate::Outcome;

pub(super) fn measure(bench: &Bench) -> Outcome<Vec<Row>> {
    let command = |program: &Path| {
        let mut command = Command::new(program);
        bench.scratch.clean(command.arg("--version"));
        command
    };
    let time = |program: &Path| process::timed_bare(&mut command(program)).map(|seconds| seconds * 1e3);
    let git = Path::new("git");
    // Watched first: one that never ends is found out here.
    for program in [&bench.program, git] {
        process::timed(&mut command(program))?;
    }
    let (mut ours, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    // Ratios of the middles of blocks: that of two single runs is mostly the noise of both.
    for _ in 0..bench.size(15, 5) {
        let (mut our_block, mut their_block) = (Vec::new(), Vec::new());
        for _ in 0..bench.size(20, 10) {
            our_block.push(time(&bench.program)?);
            their_block.push(time(git)?);
        }
        ratios.extend(median(&our_block).zip(median(&their_block)).map(|(ours, theirs)| ours / theirs));
        ours.extend(our_block);
        theirs.extend(their_block);
    }
    let none = || "nothing was measured".to_owned();
    let runs = ours.len();
    let (ours, theirs) = (median(&ours).ok_or_else(none)?, median(&theirs).ok_or_else(none)?);
    Ok(vec![Row::ratio(
        format!("start-up, `dacapo --version`, {runs} runs each"),
        format!("{ours:.2} ms"),
        format!("`git --version`: {theirs:.2} ms"),
        range(&ratios).ok_or_else(none)?,
        3.0,
    )])
}
