//! What a proof costs beside the same check in the workspace: from nothing, and from the caches of its base.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::journal::{self, CheckAndProof};
use super::projects::{self, Project, succeed};
use super::report::Row;
use super::stats::{median, range};
use super::{Bench, process};
use crate::Outcome;

/// Changes one line, as an agent would, and says that it is done.
const AGENT: &str = "\
n=$(($(cat ../round) + 1)); echo $n > ../round
sed -i \"s/^\\(SEED[^=]*=\\).*/\\1 $n;/\" \"$EDITED\"
echo '<promise>COMPLETE</promise>'";

/// Seconds that one round took.
struct Round {
    /// A clone, its setup and its check, by hand.
    by_hand: f64,
    from_nothing: f64,
    /// The check in the workspace, before the proof from the caches.
    check: f64,
    /// `cp -a` of those caches.
    copy: f64,
    from_caches: f64,
}

pub(super) fn measure(bench: &Bench) -> Outcome<Vec<Row>> {
    let agent = bench.scratch.agent("oneline", AGENT)?;
    bench.scratch.write("round", "0\n")?;
    let mut rows = Vec::new();
    for project in [projects::cargo(bench)?, projects::node(bench)?] {
        rows.extend(measure_one(bench, &project, &agent)?);
    }
    Ok(rows)
}

fn measure_one(bench: &Bench, project: &Project, agent: &Path) -> Outcome<Vec<Row>> {
    configure(bench, project)?;
    // The workspace of somebody who works there: set up and built.
    for command in project.setup.iter().chain([&project.check]) {
        succeed(&mut shell(bench, command, &project.repo)?)?;
    }
    let mut rounds = Vec::new();
    let mut size = 0;
    for number in 0..bench.size(5, 1) {
        // Nothing is removed before the end of the run: for minutes after that ext4 takes ten times as long to make files.
        let place = bench.scratch.path(&format!("{}-{number}", project.name));
        let proven = |name: &str| proven(bench, project, agent, (&place.join("data"), name));
        let by_hand = by_hand(bench, project, &place.join("clone"))?;
        let from_nothing = proven("nothing")?.proof;
        let kept = kept(&place.join("data"), project)?;
        size = megabytes(&kept);
        let before = copied(&kept, &place.join("before"))?;
        let CheckAndProof { check, proof } = proven("caches")?;
        let copy = f64::midpoint(before, copied(&kept, &place.join("after"))?);
        let round = Round { by_hand, from_nothing, check, copy, from_caches: proof };
        eprintln!(
            "  {}: from nothing {:.2} s, by hand {by_hand:.2} s; from caches {proof:.2} s, check {check:.2} s, cp -a {copy:.2} s",
            project.name, round.from_nothing
        );
        rounds.push(round);
    }
    rows(project, size, &rounds).ok_or_else(|| "nothing was measured".to_owned())
}

fn rows(project: &Project, size: u64, rounds: &[Round]) -> Option<Vec<Row>> {
    let all = |of: fn(&Round) -> f64| rounds.iter().map(of).collect::<Vec<_>>();
    let (check, copy) = (median(&all(|r| r.check))?, median(&all(|r| r.copy))?);
    let Project { name, cache, check: command, .. } = project;
    Some(vec![
        Row::ratio(
            format!("proof of a one-line change, {name}, `{command}`: from nothing"),
            format!("{:.2} s", median(&all(|r| r.from_nothing))?),
            format!("clone, setup and check by hand: {:.2} s", median(&all(|r| r.by_hand))?),
            range(&all(|r| r.from_nothing / r.by_hand))?,
            1.3,
        ),
        Row::ratio(
            format!("proof of a one-line change, {name}, `{command}`: from {size} MB of `{cache}`"),
            format!("{:.2} s", median(&all(|r| r.from_caches))?),
            format!("the same check in the workspace: {check:.2} s, and `cp -a`: {copy:.2} s"),
            range(&all(|r| r.from_caches / (r.check + r.copy)))?,
            1.3,
        ),
    ])
}

/// Clone, setup and check as a person would do it, with empty download caches as a proof from nothing has them.
fn by_hand(bench: &Bench, project: &Project, clone: &Path) -> Outcome<f64> {
    fs::create_dir_all(clone).map_err(|e| format!("cannot make {}: {e}", clone.display()))?;
    let repo = project.repo.display();
    let commands = project.setup.into_iter().chain([project.check]).collect::<Vec<_>>().join(" && ");
    let mut all = shell(bench, &format!("git clone -q '{repo}' tree && cd tree && {commands}"), clone)?;
    process::timed_bare(all.env("npm_config_cache", clone.join("downloads")))
}

/// What is kept of the project's cache after a proof from nothing.
fn kept(home: &Path, project: &Project) -> Outcome<PathBuf> {
    let below = |dir: PathBuf| fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let bases = below(home.join("repos")).flat_map(|repo| below(repo.join("bases")));
    let mut caches = bases.map(|base| base.join("tree").join(project.cache)).filter(|cache| cache.is_dir());
    caches
        .next()
        .ok_or_else(|| format!("a proof of the {} project has kept no {}", project.name, project.cache))
}

fn copied(cache: &Path, to: &Path) -> Outcome<f64> {
    process::timed_bare(Command::new("cp").arg("-a").args([cache, to]))
}

fn megabytes(dir: &Path) -> u64 {
    let mut sum = 0;
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(found) if found.is_dir() => open.push(entry.path()),
                Ok(found) => sum += found.len(),
                Err(_) => {}
            }
        }
    }
    sum / 1_000_000
}

fn configure(bench: &Bench, project: &Project) -> Outcome {
    let setup = project.setup.map_or(String::new(), |setup| format!("\"{setup}\""));
    let config = bench.scratch.path("home/.config/dacapo/config.toml");
    let made = config.parent().map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| fs::write(&config, format!("[worktree]\nsetup = [{setup}]\n")))
        .map_err(|e| format!("cannot write {}: {e}", config.display()))
}

/// `dacapo exec` of one iteration that is proven: how long check and proof took.
fn proven(
    bench: &Bench,
    project: &Project,
    agent: &Path,
    (home, name): (&Path, &str),
) -> Outcome<CheckAndProof> {
    let mut command = Command::new(&bench.program);
    command.args(["exec", "--agent", "oneline", "--iter", "1", "--no-baseline", "--check", project.check]);
    command.args(["--until", "COMPLETE", "--name", name, "x"]);
    dress(bench, &mut command, &project.repo)?;
    let path = agent.display().to_string().replace('\\', r"\\").replace('"', "\\\"");
    command
        .env("DACAPO_AGENTS_ONELINE_COMMAND", format!("[\"{path}\"]"))
        .env("EDITED", project.edited)
        .env("DACAPO_HOME", home);
    process::timed(&mut command)?;
    let path = journal::named(home, name)?;
    let text = fs::read_to_string(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    journal::check_and_proof(&text)
}

fn shell(bench: &Bench, script: &str, dir: &Path) -> Outcome<Command> {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    dress(bench, &mut command, dir)?;
    Ok(command)
}

fn dress(bench: &Bench, command: &mut Command, dir: &Path) -> Outcome {
    bench.scratch.clean(command).current_dir(dir);
    // The toolchain itself: what chooses one keeps its settings in a home that is not this one.
    let cargo = std::env::var_os("CARGO").ok_or("cargo does not say where it is")?;
    let tools = PathBuf::from(cargo).parent().map(Path::to_owned).unwrap_or_default();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(tools).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(all).map_err(|e| e.to_string())?);
    Ok(())
}
