//! `cargo xtask bench`: what Dacapo costs beside bash and git, as ratios from one run.
//!
//! Absolute times say more about the machine than about the program, so both sides run in turns within the same
//! minute and only their ratio is judged. Nothing here is a test: a missed aim is printed, not failed.

mod iteration;
mod journal;
mod list;
mod long;
mod memory;
mod output;
mod process;
mod projects;
mod proof;
mod report;
mod scratch;
mod session;
mod startup;
mod stats;
mod tui;

use std::path::PathBuf;

use crate::{Outcome, shell};
use report::Row;
use scratch::Scratch;

const HELP: &str = "\
cargo xtask bench [--quick] [--write] [--bin FILE] [NAME…]

  --quick     fewer rounds and less load: to see that it works, not for figures
  --write     put the table into docs/benchmarks.md (all benchmarks, full size only)
  --bin FILE  measure this program instead of building and measuring this one

A NAME selects the benchmarks that begin with it:
";

/// Everything a benchmark needs.
struct Bench {
    /// The program that is measured.
    program: PathBuf,
    scratch: Scratch,
    quick: bool,
}

impl Bench {
    /// The size of a load: full, or enough to see that it works.
    fn size<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }
}

type Measure = fn(&Bench) -> Outcome<Vec<Row>>;

const ALL: &[(&str, &str, Measure)] = &[
    ("iteration-tiny", "time per iteration in a tiny repository, against a bash loop", iteration::tiny),
    ("iteration-10k", "the same in a repository of 10,000 files", iteration::large),
    ("output", "200 MB of agent output, against `agent | cat > file`", output::measure),
    ("start-up", "`dacapo --version`, against `git --version`", startup::measure),
    ("list-1000", "`dacapo list` with 1,000 tasks, against `git branch --list`", list::measure),
    ("memory", "own memory while an agent works", memory::measure),
    ("proof", "a proof from nothing and from caches, against the same check by hand", proof::measure),
    ("tui-live", "the terminal app while ten tasks print 1 MB/s each", tui::live),
    ("tui-idle", "the terminal app while nothing happens", tui::idle),
    ("tui-1000", "the first screen of the terminal app with 1,000 tasks", tui::many),
    ("tui-large", "1 GB of output: opened, scrolled, searched", tui::large),
    ("long", "iteration 2,000 against iteration 20, in time and memory", long::measure),
];

#[derive(Default)]
struct Wanted {
    quick: bool,
    write: bool,
    program: Option<PathBuf>,
    names: Vec<String>,
}

/// Measures what was asked for and prints the table.
pub(crate) fn run(args: &[String]) -> Outcome<bool> {
    if args.iter().any(|a| a == "--help") {
        print!("{HELP}");
        for (name, what, _) in ALL {
            println!("  {name:<16}{what}");
        }
        return Ok(true);
    }
    let wanted = parse(args)?;
    if !cfg!(target_os = "linux") {
        return Err("the benchmarks read memory from /proc, which only Linux has".to_owned());
    }
    // Before the build, which is load of our own.
    let load = report::load();
    if load.is_some_and(|load| load > 1.0) {
        eprintln!("warning: this machine is at work already; the ratios will spread");
    }
    let program = match wanted.program {
        Some(program) => {
            std::path::absolute(&program).map_err(|e| format!("no program {}: {e}", program.display()))?
        }
        None => build()?,
    };
    if !program.is_file() {
        return Err(format!("{} is not there; was it built?", program.display()));
    }
    let bench = Bench { program, scratch: Scratch::new()?, quick: wanted.quick };
    let mut rows = Vec::new();
    let mut failed = Vec::new();
    for (name, what, measure) in ALL {
        if !wanted.names.is_empty() && !wanted.names.iter().any(|n| name.starts_with(n.as_str())) {
            continue;
        }
        eprintln!("{name}: {what}");
        match measure(&bench) {
            Ok(more) => {
                more.iter().for_each(|row| eprintln!("  {}", row.line()));
                rows.extend(more);
            }
            Err(why) => {
                eprintln!("  FAILED: {why}");
                failed.push(*name);
            }
        }
    }
    let table = report::table(&rows, wanted.quick, load);
    println!("\n{table}");
    if !failed.is_empty() {
        return Err(format!("not measured: {}; nothing was written", failed.join(", ")));
    }
    if wanted.write {
        report::write(&shell::root().join("docs/benchmarks.md"), &table)?;
        println!("written to docs/benchmarks.md");
    }
    Ok(true)
}

fn parse(args: &[String]) -> Outcome<Wanted> {
    let mut wanted = Wanted::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--quick" => wanted.quick = true,
            "--write" => wanted.write = true,
            "--bin" => wanted.program = Some(args.next().ok_or("--bin needs a file")?.into()),
            name if ALL.iter().any(|(known, ..)| known.starts_with(name)) => {
                wanted.names.push(name.to_owned());
            }
            other => {
                let names: Vec<&str> = ALL.iter().map(|(name, ..)| *name).collect();
                return Err(format!("`bench` has no '{other}'; it knows {}", names.join(", ")));
            }
        }
    }
    if wanted.write && (wanted.quick || wanted.program.is_some() || !wanted.names.is_empty()) {
        return Err(
            "--write replaces the whole table, so it takes only a full run of this program".to_owned()
        );
    }
    Ok(wanted)
}

/// Why a measurement failed for which nobody but the machine is to blame.
fn busy(what: &str) -> String {
    format!("{what}: the machine is too busy to measure")
}

fn build() -> Outcome<PathBuf> {
    shell::run(shell::cargo(&["build", "--release", "--package", "dacapo", "--bin", "dacapo"]))?;
    Ok(shell::target()?.join("release/dacapo"))
}

#[cfg(test)]
mod tests {
    use super::parse;

    fn ok(args: &[&str]) -> bool {
        parse(&args.iter().map(|&a| a.to_owned()).collect::<Vec<_>>()).is_ok()
    }

    #[test]
    fn arguments() {
        assert!(ok(&["--quick", "iteration", "start-up"]));
        assert!(ok(&["--write"]));
        assert!(!ok(&["itertion"]));
        assert!(!ok(&["--bin"]));
    }

    #[test]
    fn a_part_never_replaces_the_whole_table() {
        assert!(!ok(&["--write", "--quick"]));
        assert!(!ok(&["--write", "memory"]));
        assert!(!ok(&["--write", "--bin", "x"]));
    }
}
