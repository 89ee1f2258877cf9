//! `dacapo list`: grouped by what needs the user.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant, SystemTime};

use dacapo_core::git::{self, Oid};
use dacapo_core::overview::{Brief, Element, Glance, Overview, overview};
use dacapo_core::radar::Known;
use dacapo_core::spec::TaskName;
use dacapo_core::store::{Home, RepoDir, Size, TaskDir, disk_usage, keep_sizes, measure, sizes};
use dacapo_core::view::Status;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::{clear_up_behind, home, print, repository_data};
use crate::args::List;
use crate::error::Failure;
use crate::output::listing::{self, Done, Entry, Frame, Radar, Scope, Sizes};
use crate::output::words;

/// Measuring all tasks ends here, with what was counted until then.
const MEASURE_AT_MOST: Duration = Duration::from_secs(60);

pub(super) fn run(args: &List) -> Result<u8, Failure> {
    let home = home()?;
    let repos = if args.all { all(&home)? } else { vec![repository_data()?] };
    let measure = if args.size { Measure::Now } else { Measure::AsKnown };
    if args.json {
        let mut elements = Vec::new();
        for repo in &repos {
            let known = Occupied::of(repo, measure);
            for mut element in glance::<Element>(repo)? {
                let name = element.0["name"].as_str().unwrap_or_default();
                clear_up_if_interrupted(repo, name, element.status());
                if let Some(size) = known.size(name, element.0["created_at"].as_str()) {
                    element.0["worktree_bytes"] = known.worktree(name, size).into();
                }
                elements.push(element);
            }
        }
        print(&serde_json::to_string(&elements).unwrap_or_default());
        return Ok(0);
    }
    let mut entries = Vec::new();
    for repo in &repos {
        let known = Occupied::of(repo, measure);
        let mut briefs = glance::<Brief>(repo)?;
        briefs.iter_mut().filter(|brief| brief.left_by_hand > 0).for_each(|brief| look_again(repo, brief));
        for brief in &briefs {
            clear_up_if_interrupted(repo, &brief.name, brief.status);
        }
        let marks = Marks::of(repo, &briefs, args);
        entries.extend(briefs.into_iter().map(|brief| entry(brief, &known, &marks)));
    }
    if entries.is_empty() {
        print("no tasks yet; dacapo exec \"what the agent is to do\" starts one");
        return Ok(0);
    }
    let frame = Frame {
        width: terminal_width(),
        now: Timestamp::now(),
        zone: zone(&entries),
        sizes: if args.size { Sizes::All } else { Sizes::Large },
        done: if args.done { Done::Shown } else { Done::Counted },
        scope: if args.all {
            Scope::Everywhere
        } else {
            Scope::Here { everywhere: entries.len() + elsewhere(&home, &repos) }
        },
    };
    print(&listing::list(&entries, &frame));
    if measure == Measure::Now
        && let Some(line) = proofs(&repos)
    {
        print(&line);
    }
    Ok(0)
}

fn clear_up_if_interrupted(repo: &RepoDir, name: &str, status: Status) {
    if status == Status::Interrupted
        && let Ok(name) = TaskName::parse(name)
    {
        clear_up_behind(&repo.task(&name));
    }
}

/// What a takeover left may be committed by now. Only such tasks are looked at, so that the rest costs nothing.
fn look_again(repo: &RepoDir, brief: &mut Brief) {
    let tree =
        TaskName::parse(&brief.name).ok().and_then(|name| git::Repo::discover(&repo.worktree(&name)).ok());
    if let Some(dirt) = tree.and_then(|tree| tree.dirt().ok()) {
        brief.left_by_hand = dirt.count() as u64;
    }
}

/// What belongs to no task: checkouts in which commits are proven.
fn proofs(repos: &[RepoDir]) -> Option<String> {
    let deadline = Instant::now() + MEASURE_AT_MOST;
    let all: Vec<_> = repos.iter().flat_map(|repo| repo.proofs().checkouts().unwrap_or_default()).collect();
    let bytes: u64 = all.iter().map(|checkout| disk_usage(&checkout.path, deadline).0).sum();
    let what = words::count(all.len() as u64, "proof checkout");
    (!all.is_empty()).then(|| format!("{what}: {}; dacapo prune removes unused ones", words::bytes(bytes)))
}

/// The one place where what is known of a task beside its journal is put to it.
fn entry(brief: Brief, known: &Occupied, marks: &Marks) -> Entry {
    let occupies = known
        .size(&brief.name, Some(&brief.created_at.to_string()))
        .map(|size| known.worktree(&brief.name, size) + size.record);
    Entry { radar: marks.of_task(&brief), brief, occupies }
}

/// What the conflict radar knows of a repository's tasks. Nothing is looked up here: that costs milliseconds a pair (K13).
#[derive(Default)]
struct Marks {
    known: Known,
    /// The branch that tasks would be merged into, and its tip.
    into: Option<(String, Oid)>,
    /// Whose tip a commit is.
    tasks: HashMap<Oid, String>,
}

impl Marks {
    fn of(repo: &RepoDir, briefs: &[Brief], args: &List) -> Self {
        let here = std::env::current_dir().ok().filter(|_| !args.all);
        let Some(here) = here else { return Self::default() };
        let tasks = briefs.iter().filter(|brief| is_out(brief));
        Self {
            known: dacapo_core::radar::Radar::of(repo).known(),
            into: git::current_branch(&here),
            tasks: tasks.filter_map(|brief| Some((brief.last_commit.clone()?, brief.name.clone()))).collect(),
        }
    }

    fn of_task(&self, brief: &Brief) -> Option<Radar> {
        let tip = brief.last_commit.as_ref().filter(|_| is_out(brief))?;
        let (name, into) = self.into.as_ref()?;
        // It began where that branch is now.
        let ahead = brief.base_commit.as_ref() == Some(into);
        let conflict = if ahead { Some(false) } else { self.known.conflict(tip, into) };
        if conflict == Some(true) {
            return Some(Radar::Branch(words::branch(name).to_owned()));
        }
        let rival = self.known.rivals(tip).iter().find_map(|other| self.tasks.get(other));
        match rival {
            Some(rival) => Some(Radar::Task(rival.clone())),
            None => conflict.map(|_| Radar::Clean),
        }
    }
}

/// It has work on a branch of its own.
fn is_out(brief: &Brief) -> bool {
    brief.own_branch.is_some() && brief.merged_into.is_none() && brief.has_changes()
}

fn all(home: &Home) -> Result<Vec<RepoDir>, Failure> {
    let mut repos =
        home.repos().map_err(|error| Failure::failed(format!("cannot read the data directory: {error}")))?;
    repos.sort_by(|a, b| a.path().cmp(b.path()));
    Ok(repos)
}

/// Tasks of other repositories than these.
fn elsewhere(home: &Home, here: &[RepoDir]) -> usize {
    let repos = home.repos().unwrap_or_default();
    let others = repos.iter().filter(|repo| !here.contains(repo));
    others.map(|repo| repo.tasks().map_or(0, |tasks| tasks.len())).sum()
}

/// Finding out which zone the system has may take longer than all the rest: only where a time is shown.
fn zone(entries: &[Entry]) -> TimeZone {
    let shown = entries.iter().any(|entry| entry.brief.waiting_until.is_some());
    if shown { TimeZone::system() } else { TimeZone::UTC }
}

pub(super) fn glance<T: Glance>(repo: &RepoDir) -> Result<Vec<T>, Failure> {
    let Overview { tasks, problems } = overview(repo, SystemTime::now()).map_err(|error| {
        Failure::failed(format!("cannot read {}: {error}", repo.path().display()))
            .kept("everything as it is; nothing was written")
    })?;
    for problem in problems {
        // A line each: one task that does not read must not hide the others.
        let why = words::line(&problem.error.to_string(), words::WHOLE);
        let path = problem.path.to_string_lossy();
        let at = if why.contains(&*path) { String::new() } else { format!(" ({path})") };
        let _ = writeln!(anstream::stderr(), "warning: task '{}' cannot be read: {why}{at}", problem.name);
    }
    Ok(tasks)
}

/// What was measured of a repository's tasks, and which worktrees are still there.
struct Occupied {
    sizes: BTreeMap<String, Size>,
    worktrees: HashSet<OsString>,
}

#[derive(Clone, Copy, PartialEq)]
enum Measure {
    Now,
    AsKnown,
}

impl Occupied {
    fn of(repo: &RepoDir, when: Measure) -> Self {
        let mut sizes = sizes(repo);
        if when == Measure::Now {
            sizes.extend(measure_all(repo));
        }
        let worktrees = if sizes.is_empty() { HashSet::new() } else { repo.worktrees().unwrap_or_default() };
        Self { sizes, worktrees }
    }

    /// Of this very task, not of an earlier one of its name.
    fn size(&self, name: &str, created_at: Option<&str>) -> Option<&Size> {
        self.sizes.get(name).filter(|size| created_at == Some(size.task_created_at.to_string().as_str()))
    }

    /// A worktree that has gone since takes nothing.
    fn worktree(&self, name: &str, size: &Size) -> u64 {
        if self.worktrees.contains(std::ffi::OsStr::new(name)) { size.worktree } else { 0 }
    }
}

fn measure_all(repo: &RepoDir) -> Vec<(String, Size)> {
    let deadline = Instant::now() + MEASURE_AT_MOST;
    let mut measured = Vec::new();
    for dir in repo.tasks().unwrap_or_default() {
        let Ok(name) = TaskName::parse(&dir.name()) else { continue };
        let worktree = repo.worktree(&name);
        if let Ok(size) = measure(&dir, worktree.is_dir().then_some(&worktree), deadline) {
            if size.at_least {
                tracing::warn!("task '{name}' takes more than was counted in {MEASURE_AT_MOST:?}");
            }
            measured.push((name.to_string(), size));
        }
    }
    // A place that cannot be written keeps nothing; that is no reason to show nothing.
    if let Err(error) = keep_sizes(repo, measured.iter().cloned()) {
        tracing::warn!("what tasks take on disk cannot be kept: {error}");
    }
    measured
}

/// What a task takes on disk, as far as that was measured.
pub(super) fn occupied(dir: &TaskDir) -> Option<u64> {
    let repo = dir.repo()?;
    let known = Occupied::of(&repo, Measure::AsKnown);
    let size = known.size(&dir.name(), Some(&dir.spec().ok()?.created_at.to_string()))?;
    Some(known.worktree(&dir.name(), size) + size.record)
}

/// Measures a task that has just ended, for the next list. Whoever waits for its end waits for this too: not for long.
pub(super) fn remember_size(dir: &TaskDir) {
    const AT_MOST: Duration = Duration::from_millis(500);
    let (Some(repo), Ok(name)) = (dir.repo(), TaskName::parse(&dir.name())) else { return };
    let worktree = repo.worktree(&name);
    // What a task in the user's own checkout takes is next to nothing, and not its own.
    if !worktree.is_dir() {
        return;
    }
    let measured = measure(dir, Some(&worktree), Instant::now() + AT_MOST);
    let kept = measured.and_then(|size| keep_sizes(&repo, [(name.to_string(), size)]));
    if let Err(error) = kept {
        tracing::debug!("what task '{name}' takes on disk is not known: {error}");
    }
}

/// None where the output goes elsewhere: nothing is cut there.
fn terminal_width() -> Option<usize> {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let columns = rustix::termios::tcgetwinsize(&stdout).map_or(0, |size| usize::from(size.ws_col));
    Some(if columns == 0 { 80 } else { columns.max(40) })
}
