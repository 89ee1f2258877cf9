//! `cargo xtask trial`: published packages, scripted agents, and after each run the question whether `verified` and a fresh
//! clone, set up and checked, say the same.

mod agents;
mod fetch;
mod projects;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::case::Case;
use super::options::Program;
use super::random::Random;
use super::{build, clone, invariants, processes, remove, sweep};
use crate::{Outcome, shell};
use agents::{AGENTS, Agent, Class};
use projects::{PROJECTS, Project};

/// A task that installs packages for each of its proofs must be done by then, on a machine with other work, too.
const WORK: Duration = Duration::from_secs(600);

const HELP: &str = "\
cargo xtask trial [--runs N] [--seed S] [--project NAME]… [--release | --bin FILE]

  --runs N        so many tasks [default: 200]
  --seed S        the same seed chooses the same agents [default: 1]
  --project NAME  only this project (repeatable)
  --release       the release build of the program [default: the development build]
  --bin FILE      this program, without building one
";

struct Options {
    runs: usize,
    seed: u64,
    projects: Vec<usize>,
    program: Program,
}

/// A project in a case of its own, which all its runs share.
struct Place {
    project: &'static Project,
    case: Case,
    /// `.git/config` and `.git/info`, as they were before any agent ran.
    git_files: Vec<(PathBuf, Option<Vec<u8>>)>,
    /// What the checks said of the package as it was published.
    ran: String,
}

/// One run, judged.
struct Run {
    number: usize,
    project: &'static str,
    agent: &'static Agent,
    verified: bool,
    green: bool,
    merged: Option<bool>,
    why: String,
}

impl Run {
    fn agrees(&self) -> bool {
        self.verified == self.green && self.merged != Some(false)
    }
}

pub(crate) fn run(args: &[String]) -> Outcome<bool> {
    if args.iter().any(|arg| arg == "--help") {
        print!("{HELP}");
        return Ok(true);
    }
    let options = parse(args)?;
    let program = match &options.program {
        Program::Debug => build(&[])?,
        Program::Release => build(&["--release"])?,
        Program::File(file) => {
            std::path::absolute(file).map_err(|e| format!("no program {}: {e}", file.display()))?
        }
    };
    let parent = shell::target()?.join("xtask-trial");
    sweep(&parent);
    let dir = parent.join(std::process::id().to_string());
    processes::adopt_orphans()?;
    println!("fetching {} projects", options.projects.len());
    fetch::all(&dir.join("fetched"), PROJECTS)?;
    let mut places = Vec::new();
    for &number in &options.projects {
        let place = prepare(&dir, &program, &PROJECTS[number])?;
        let Project { name, version, source, check, .. } = place.project;
        println!("  {name} {version} ({}): `{check}`: {}", source.word(), place.ran);
        places.push(place);
    }
    let mut runs = Vec::new();
    for number in 0..options.runs {
        let count = places.len();
        let run =
            one(&mut places[number % count], number, &mut Random::of_case(options.seed, number as u64))?;
        let said = |yes: bool, words: [&'static str; 2]| if yes { words[0] } else { words[1] };
        let disagrees = || format!("DISAGREE: {:.300}", run.why.replace('\n', " | "));
        println!(
            "run {:>3}  {:<15}{:<8}{:<32}{:<11}clone {:<6}{}{}",
            run.number,
            run.project,
            run.agent.class.word(),
            run.agent.name,
            said(run.verified, ["verified", "unverified"]),
            said(run.green, ["green", "red"]),
            run.merged.map_or("", |green| said(green, ["main green ", "main RED "])),
            if run.agrees() { String::new() } else { disagrees() },
        );
        runs.push(run);
    }
    let faults: Vec<String> = places.iter().flat_map(|place| faults(&place.case)).collect();
    print_table(&runs);
    faults.iter().for_each(|fault| println!("FAULT {fault}"));
    let agreed = runs.iter().filter(|run| run.agrees()).count();
    println!("agree {agreed} of {}", runs.len());
    let all_is_well = agreed == runs.len() && faults.is_empty();
    if all_is_well {
        remove(&dir);
    } else {
        println!("kept: {}", dir.display());
    }
    Ok(all_is_well)
}

fn parse(args: &[String]) -> Outcome<Options> {
    let mut options = Options { runs: 200, seed: 1, projects: Vec::new(), program: Program::Debug };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        let number =
            |text: &String| text.parse::<u64>().map_err(|_| format!("{arg} needs a number, not '{text}'"));
        match arg.as_str() {
            "--runs" => options.runs = usize::try_from(number(value()?)?).unwrap_or(usize::MAX),
            "--seed" => options.seed = number(value()?)?,
            "--release" => options.program = Program::Release,
            "--bin" => options.program = Program::File(value()?.into()),
            "--project" => {
                let name = value()?;
                let found = PROJECTS.iter().position(|project| project.name == name);
                options.projects.push(found.ok_or_else(|| format!("no project '{name}'"))?);
            }
            other => return Err(format!("`trial` has no '{other}'\n\n{HELP}")),
        }
    }
    if options.projects.is_empty() {
        options.projects = (0..PROJECTS.len()).collect();
    }
    Ok(options)
}

/// Makes the repository, sees that its checks pass as published and fail when it is broken, and leaves it broken.
fn prepare(dir: &Path, program: &Path, project: &'static Project) -> Outcome<Place> {
    let number = PROJECTS.iter().position(|one| one.name == project.name).unwrap_or(0);
    let mut case = Case::new(&dir.join(project.name), program, None, (0, number as u64))?;
    // Downloads of those who judge; each run of them has a new home.
    case.judges_env =
        vec![("npm_config_cache", dir.join("judge/npm")), ("PIP_CACHE_DIR", dir.join("judge/pip"))];
    fetch::repository(&mut case, &dir.join("fetched"), project)?;
    let published = case.git(&["rev-parse", "main"])?;
    let name = project.name;
    let ran = match clone::judge(&mut case, &published, project.check)? {
        Ok(said) => summary(&said),
        Err(why) => return Err(format!("{name} as it was published does not pass: {why}")),
    };
    let (file, from, to) = project.broken;
    let path = case.repo().join(file);
    let good = fs::read_to_string(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    let bad = good.replacen(from, to, 1);
    if good == bad {
        return Err(format!("{name}: {file} has no '{from}'"));
    }
    case.write("desk/good", &good)?;
    case.write("desk/bad", &bad)?;
    break_again(&case, project)?;
    let broken = case.git(&["rev-parse", "main"])?;
    if clone::judge(&mut case, &broken, project.check)?.is_ok() {
        return Err(format!("{name}: its tests do not notice that {file} is broken"));
    }
    let git = case.repo().join(".git");
    let git_files = ["config", "info/exclude", "info/attributes"].map(|name| git.join(name));
    let git_files = git_files.into_iter().map(|path| (path.clone(), fs::read(path).ok())).collect();
    Ok(Place { project, case, git_files, ran })
}

/// The line of a test runner that says how many tests ran.
fn summary(said: &str) -> String {
    let counts = ["test result:", "passed", "Ran ", "# pass", "ok "];
    let lines = said.lines().map(str::trim).filter(|line| counts.iter().any(|count| line.contains(count)));
    let mut found: Vec<&str> = lines.collect();
    // Each of cargo's test programs has a line; other runners end with theirs.
    if !found.iter().all(|line| line.starts_with("test result:")) {
        found.retain(|line| !line.starts_with("test ") && !line.starts_with("running"));
        found = found.split_off(found.len().saturating_sub(3));
    }
    if !found.is_empty() {
        return found.join("; ");
    }
    let is_word = |line: &&str| !line.is_empty() && !line.starts_with('>');
    said.lines().map(str::trim).rfind(is_word).unwrap_or("exit 0, without a word").to_owned()
}

/// Commits the broken file on main.
fn break_again(case: &Case, project: &Project) -> Outcome {
    let file = project.broken.0;
    let copied = fs::copy(case.path("desk/bad"), case.repo().join(file));
    copied.map_err(|e| format!("cannot write {file}: {e}"))?;
    case.git(&["commit", "-qam", "break it"]).map(drop)
}

fn one(place: &mut Place, number: usize, random: &mut Random) -> Outcome<Run> {
    let Place { project, case, git_files, .. } = place;
    // What one agent left in the repository's settings is met by one in three of the next.
    if !random.percent(33) {
        restore(git_files)?;
    }
    let class = random.pick(&[Class::Good, Class::Lazy, Class::Hostile, Class::Hostile]);
    let able: Vec<&'static Agent> = AGENTS.iter().filter(|agent| agent.class == class).collect();
    let agent = able[random.below(able.len())];
    let name = format!("run-{number}");
    case.log(&format!("run {number}: {}", agent.name));
    let script = format!(
        "cat > /dev/null; desk={:?}; repo={:?}; file={}; CHECK={:?}\n{}\necho '<promise>COMPLETE</promise>'",
        case.path("desk"),
        case.repo(),
        project.broken.0,
        project.check,
        agent.script
    );
    let words = ["exec", "--name", &name, "--worktree", "--max-iterations", "2", "--check", project.check];
    let ran = case.run(WORK, &[&words[..], &["--agent-cmd", &script, "repair it"]].concat())?;
    invariants::nobody_left(case);
    let status = case.status(&name)?.ok_or_else(|| format!("run {number}: no task: {}", ran.said()))?;
    let commit = case.git(&["rev-parse", &format!("dacapo/{name}")])?;
    let verified = status["verified"] == true;
    let judged = clone::judge(case, &commit, project.check)?;
    repair_object(case)?;
    let green = judged.is_ok();
    let why = judged.err().unwrap_or_else(|| status["result"]["proof_state"].to_string() + &ran.said());
    // Whatever it is, a person may want it merged, proven or not.
    let merged = if random.percent(50) { merged(case, project, &name)? } else { None };
    case.reset_home()?;
    Ok(Run { number, project: project.name, agent, verified, green, merged, why })
}

/// Merges a task. If that moved main: whether a clone of it is green. Main is broken again afterwards.
fn merged(case: &mut Case, project: &Project, name: &str) -> Outcome<Option<bool>> {
    let before = case.git(&["rev-parse", "main"])?;
    case.run(WORK, &["merge", name, "--no-agent"])?;
    let main = case.git(&["rev-parse", "main"])?;
    if main == before {
        return Ok(None);
    }
    let green = clone::judge(case, &main, project.check)?.is_ok();
    if green {
        break_again(case, project)?;
    }
    Ok(Some(green))
}

fn restore(git_files: &[(PathBuf, Option<Vec<u8>>)]) -> Outcome {
    for (path, bytes) in git_files {
        let restored = match bytes {
            Some(bytes) => fs::write(path, bytes),
            None if path.exists() => fs::remove_file(path),
            None => Ok(()),
        };
        restored.map_err(|e| format!("cannot put {} back: {e}", path.display()))?;
    }
    Ok(())
}

/// Puts a replaced object back: with it the repository is broken for every later run.
fn repair_object(case: &Case) -> Outcome {
    let at = case.path("desk/at");
    let Ok(object) = fs::read_to_string(&at) else { return Ok(()) };
    let repaired = fs::copy(case.path("desk/was"), object.trim()).and_then(|_| fs::remove_file(&at));
    repaired.map_err(|e| format!("cannot put {} back: {e}", object.trim()))
}

fn faults(case: &Case) -> Vec<String> {
    case.tally.faults.iter().map(|(fault, text)| format!("{}: {text}", fault.word())).collect()
}

fn print_table(runs: &[Run]) {
    let mut rows: BTreeMap<(&str, &str), [usize; 4]> = BTreeMap::new();
    for run in runs {
        let row = rows.entry((run.project, run.agent.class.word())).or_default();
        row[0] += 1;
        row[1] += usize::from(run.verified);
        row[2] += usize::from(run.green);
        row[3] += usize::from(run.agrees());
    }
    println!("\n| project | agents | runs | verified | clone green | agree |\n|---|---|---|---|---|---|");
    for ((project, class), [runs, verified, green, agree]) in rows {
        println!("| {project} | {class} | {runs} | {verified} | {green} | {agree} |");
    }
}
