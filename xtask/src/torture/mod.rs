//! `cargo xtask torture`: kills, mutilates and starves the program at random, and looks after each case whether what
//! AGENTS.md calls "never broken" still holds.
//!
//! A case is chosen by the seed and its number alone, and runs in a process of its own, so that whatever it leaves alive
//! is found and ended. Nothing outside its directory is touched.

mod case;
mod clone;
mod commands;
mod deaths;
mod disk;
mod filters;
mod hostile;
mod insiders;
mod invariants;
mod mutation;
mod options;
mod processes;
mod random;
mod records;
mod report;
mod special;
mod stories;
mod streams;
mod tally;
mod task;
mod tracer;
mod trial;
mod world;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) use trial::run as trial;

use crate::{Outcome, shell};
use case::Case;
use options::{Extent, Options, Program};
use tally::{Fault, Tally};

/// No case takes longer, unless the program or this one hangs.
const CASE_LIMIT: Duration = Duration::from_secs(600);

/// The one argument that nobody types: this process is a case.
pub(super) const IN_CASE: &str = "--in-case";

/// A class of misfortunes.
struct Campaign {
    name: &'static str,
    what: &'static str,
    run: fn(&mut Case) -> Outcome,
}

/// Case N belongs to campaign N modulo their number, so that a number alone says all.
const CAMPAIGNS: &[Campaign] = &[
    Campaign {
        name: "loops",
        what: "deaths of runner, guard and git in every kind of loop",
        run: deaths::loops,
    },
    Campaign { name: "milestones", what: "the same in milestones", run: deaths::milestones },
    Campaign {
        name: "power",
        what: "everybody dies at once, often while git holds a lock",
        run: deaths::power,
    },
    Campaign {
        name: "commands",
        what: "deaths in merge, drop, undo, prune, rename, kill, pause, tell, set",
        run: commands::run,
    },
    Campaign { name: "journals", what: "damaged and forged journals", run: records::journals },
    Campaign { name: "store", what: "damaged, replaced and planted files of the store", run: records::store },
    Campaign { name: "disk", what: "full and failing disks", run: disk::run },
    Campaign { name: "hostile", what: "agents that turn on the program", run: hostile::run },
    Campaign {
        name: "proofs",
        what: "checks that are green only where the agent works",
        run: hostile::proofs,
    },
    Campaign { name: "insiders", what: "agents that reach for what is not theirs", run: insiders::run },
    Campaign { name: "checks", what: "checks that leave things behind", run: stories::checks },
    Campaign { name: "caches", what: "caches that no longer fit the commit", run: stories::caches },
    Campaign { name: "filters", what: "git filters that hang", run: filters::run },
    Campaign { name: "special-files", what: "pipes where git reads", run: special::run },
    Campaign { name: "streams", what: "fuzzed output of agents", run: streams::fuzz },
    Campaign { name: "readers", what: "readers that stop reading or go away", run: streams::readers },
];

/// A case that failed, and where its directory is.
struct Failed {
    number: u64,
    campaign: &'static str,
    dir: PathBuf,
    faults: Vec<(Fault, String)>,
}

/// What all workers share.
struct Run<'a> {
    options: &'a Options,
    dir: PathBuf,
    program: PathBuf,
    tracer: Option<PathBuf>,
    next: AtomicU64,
    until: Instant,
    sums: Mutex<BTreeMap<&'static str, Tally>>,
    failed: Mutex<Vec<Failed>>,
}

pub(crate) fn run(args: &[String]) -> Outcome<bool> {
    if args.first().is_some_and(|arg| arg == IN_CASE) {
        return in_case(&args[1..]);
    }
    if args.iter().any(|arg| arg == "--help") {
        print!("{}", options::HELP);
        for campaign in CAMPAIGNS {
            println!("  {:<14}{}", campaign.name, campaign.what);
        }
        return Ok(true);
    }
    let names: Vec<&str> = CAMPAIGNS.iter().map(|campaign| campaign.name).collect();
    torture(&Options::parse(args, &names)?)
}

/// The step of `cargo xtask test`: few cases, always the same, of every campaign.
pub(crate) fn short() -> Outcome {
    let options = Options { extent: Extent::Cases(options::SHORT), ..Options::default() };
    if torture(&options)? {
        return Ok(());
    }
    Err("promises did not hold; each case above says how to repeat it".to_owned())
}

fn torture(options: &Options) -> Outcome<bool> {
    if !cfg!(target_os = "linux") {
        return Err(
            "torture finds processes by /proc and strikes by ptrace, as only Linux has them".to_owned()
        );
    }
    let program = match &options.program {
        Program::Debug => build(&[])?,
        Program::Release => build(&["--release"])?,
        Program::File(file) => {
            std::path::absolute(file).map_err(|e| format!("no program {}: {e}", file.display()))?
        }
    };
    let parent = shell::target()?.join("xtask-torture");
    sweep(&parent);
    let dir = parent.join(std::process::id().to_string());
    fs::create_dir_all(&dir).map_err(|e| format!("cannot make {}: {e}", dir.display()))?;
    processes::adopt_orphans()?;
    let start = Instant::now();
    let run = Run {
        tracer: tracer::build(&dir)?,
        until: start + options.extent.time(),
        options,
        dir,
        program,
        next: AtomicU64::new(0),
        sums: Mutex::default(),
        failed: Mutex::default(),
    };
    println!("seed {} · {} jobs · {}", options.seed, options.jobs, options.extent);
    thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(|| run.work());
        }
    });
    // What a case that hung has left fell to this process.
    processes::end_below(i32::try_from(std::process::id()).unwrap_or(0));
    let sums = run.sums.into_inner().unwrap_or_default();
    let mut failed = run.failed.into_inner().unwrap_or_default();
    failed.sort_by_key(|case| case.number);
    report::print(&sums, start.elapsed());
    for case in &failed {
        report::print_again(case, options.seed);
    }
    if failed.is_empty() {
        remove(&run.dir);
    }
    Ok(failed.is_empty())
}

impl Run<'_> {
    /// Takes one case after the other until the time or the cases are over.
    fn work(&self) {
        while Instant::now() < self.until {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(number) = self.options.case_number(index, CAMPAIGNS.len()) else { return };
            self.one(number);
        }
    }

    fn one(&self, number: u64) {
        let campaign = campaign(number);
        let dir = self.dir.join(format!("case-{number}"));
        let mut tally = self.spawn(number, &dir).unwrap_or_else(|why| {
            let mut tally = Tally::default();
            tally.fault(Fault::State, format!("the case itself broke: {why}"));
            tally
        });
        tally.count("cases");
        let faults = tally.faults.clone();
        if let Ok(mut sums) = self.sums.lock() {
            sums.entry(campaign.name).or_default().add(tally);
        }
        if faults.is_empty() {
            remove(&dir);
        } else {
            let failed = Failed { number, campaign: campaign.name, dir, faults };
            report::print_failed(&failed, self.options.seed);
            if let Ok(mut all) = self.failed.lock() {
                all.push(failed);
            }
        }
    }

    /// Runs a case in a process of its own.
    fn spawn(&self, number: u64, dir: &Path) -> Outcome<Tally> {
        // Not by its path: cargo may have linked this program anew since it was started.
        let mut command = Command::new("/proc/self/exe");
        command.args(["torture", IN_CASE, &self.options.seed.to_string(), &number.to_string()]);
        command.arg(dir).arg(&self.program).args(&self.tracer);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().map_err(|e| format!("cannot start a case: {e}"))?;
        let mut out = child.stdout.take();
        let (end, ended) = mpsc::channel();
        let reader = thread::spawn(move || {
            let mut text = String::new();
            let read = out.as_mut().map(|out| out.read_to_string(&mut text));
            // The other side has gone only when it no longer wants to know.
            let _ = end.send(());
            read.map(|_| text).unwrap_or_default()
        });
        let hung = ended.recv_timeout(CASE_LIMIT).is_err();
        let pid = i32::try_from(child.id()).unwrap_or(0);
        if hung {
            processes::end_below(pid);
            processes::kill(pid);
        }
        let status = child.wait().map_err(|e| format!("lost a case: {e}"))?;
        if hung {
            return Err(format!("it was not done after {CASE_LIMIT:?}"));
        }
        let text = reader.join().map_err(|_| "the reading thread broke".to_owned())?;
        if !status.success() {
            return Err(format!("it ended with {status}"));
        }
        Ok(Tally::read(&text))
    }
}

fn campaign(number: u64) -> &'static Campaign {
    let count = CAMPAIGNS.len();
    &CAMPAIGNS[usize::try_from(number % count as u64).unwrap_or(0)]
}

/// The process of a case; its arguments are seed, number, directory, program and, where there is one, the tracer.
fn in_case(args: &[String]) -> Outcome<bool> {
    let [seed, number, dir, program, tracer @ ..] = args else {
        return Err(format!("{IN_CASE} is not for people"));
    };
    let number_of = |text: &String| text.parse::<u64>().map_err(|e| format!("{text}: {e}"));
    let (seed, number) = (number_of(seed)?, number_of(number)?);
    processes::adopt_orphans()?;
    let tracer = tracer.first().map(Path::new);
    let mut case = Case::new(Path::new(dir), Path::new(program), tracer, (seed, number))?;
    if let Err(why) = (campaign(number).run)(&mut case)
        && !case.hung
    {
        case.fault(Fault::State, format!("the case could not go on: {why}"));
    }
    processes::end_below(i32::try_from(std::process::id()).unwrap_or(0));
    print!("{}", case.tally);
    Ok(true)
}

fn build(more: &[&str]) -> Outcome<PathBuf> {
    let args = [&["build", "--package", "dacapo", "--bin", "dacapo"], more].concat();
    shell::run(shell::cargo(&args))?;
    Ok(shell::target()?.join(if more.is_empty() { "debug/dacapo" } else { "release/dacapo" }))
}

fn remove(dir: &Path) {
    if let Err(e) = fs::remove_dir_all(dir)
        && e.kind() != std::io::ErrorKind::NotFound
    {
        eprintln!("warning: cannot remove {}: {e}", dir.display());
    }
}

/// Removes what earlier runs kept: folders named by a process that is no more.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if !Path::new("/proc").join(entry.file_name()).exists() {
            remove(&entry.path());
        }
    }
}
