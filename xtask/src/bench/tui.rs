//! The terminal app: how soon keys are answered while tasks print, what it costs to leave it open, and output of any size. All of
//! it is seen from outside, through a terminal.

use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::report::Row;
use super::session::Session;
use super::{Bench, iteration, journal, list, process};
use crate::Outcome;

const TASKS: usize = 10;
const DOWN: &str = "\u{1b}[B";
const PAGE_UP: &str = "\u{1b}[5~";
const HOME: &str = "\u{1b}[H";
const ESC: &str = "\u{1b}";
const CTRL_F: &str = "\u{6}";

/// The app, in a repository.
fn open(bench: &Bench, repo: &Path) -> Outcome<Session> {
    // The terminal becomes its own, as in a window; the process stays the same.
    let mut command = Command::new("setsid");
    bench.scratch.clean(command.arg("--ctty").arg(&bench.program).current_dir(repo));
    Session::start(command)
}

/// Opens the help and closes it again, so many times: how long each key took to be seen, in milliseconds.
fn keys(session: &mut Session, times: usize) -> Outcome<Vec<f64>> {
    let mut took = Vec::new();
    for _ in 0..times {
        session.press("?")?;
        took.push(session.until("the help", |shown| shown.contains("Everywhere"))?.as_secs_f64() * 1e3);
        session.press(ESC)?;
        took.push(session.until("no help", |shown| !shown.contains("Everywhere"))?.as_secs_f64() * 1e3);
        session.watch(Duration::from_millis(40));
    }
    Ok(took)
}

/// The value below which so many hundredths are.
fn percentile(values: &[f64], percent: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(at).copied().unwrap_or(f64::NAN)
}

fn row(what: &str, ours: String, note: String, limit: (f64, f64, &str)) -> Row {
    let (value, most, unit) = limit;
    let reach = if most == 0.0 { format!("no {unit}") } else { format!("< {most} {unit}") };
    let met = if most == 0.0 { value == 0.0 } else { value < most };
    Row { what: what.to_owned(), ours, against: "—".to_owned(), result: note, reach, met }
}

/// Ten tasks that run in the background, with this agent.
fn spawn_ten(bench: &Bench, repo: &Path, agent: &Path) -> Outcome {
    for number in 0..TASKS {
        let mut spawn = Command::new(&bench.program);
        bench.scratch.clean(spawn.current_dir(repo));
        spawn.env("DACAPO_AGENTS_TRIVIAL_COMMAND", format!("[\"{}\"]", agent.display()));
        spawn.env("DACAPO_SPAWN_TASK_MAX_CONCURRENT", TASKS.to_string());
        spawn.args(["spawn", "--agent", "trivial", "--iter", "1", "--name", &format!("task-{number}"), "x"]);
        process::timed(&mut spawn)?;
    }
    Ok(())
}

/// Ends them, so that nothing is left at work.
fn kill_ten(bench: &Bench, repo: &Path) {
    let names: Vec<String> = (0..TASKS).map(|number| format!("task-{number}")).collect();
    let mut kill = Command::new(&bench.program);
    bench.scratch.clean(kill.current_dir(repo)).args(["kill", &names.join(",")]);
    let _ = process::timed_bare(&mut kill);
}

pub(super) fn live(bench: &Bench) -> Outcome<Vec<Row>> {
    let line = "a line of what an agent prints that is as long as people like their lines to be";
    let chunk = bench.scratch.write("chunk", &format!("{line}\n").repeat(100_000 / (line.len() + 1)))?;
    let script = format!("while :; do cat {}; sleep 0.1; done", chunk.display());
    let agent = bench.scratch.agent("printer", &script)?;
    let repo = bench.scratch.repository("tui-live", 3)?;
    bench.scratch.data_home()?;
    spawn_ten(bench, &repo, &agent)?;
    let measured = while_printing(bench, &repo);
    kill_ten(bench, &repo);
    measured
}

fn while_printing(bench: &Bench, repo: &Path) -> Outcome<Vec<Row>> {
    let mut session = open(bench, repo)?;
    session.until("the tasks", |shown| shown.contains("task-9"))?;
    session.press("\r")?;
    session.until("the output", |shown| shown.contains("a line of what an agent prints"))?;
    session.watch(Duration::from_secs(2));
    let (cpu, memory, begun) = (session.cpu()?, session.memory()?, Instant::now());
    let took = keys(&mut session, bench.size(100, 10))?;
    session.watch(Duration::from_secs(bench.size(10, 1)));
    let share = (session.cpu()? - cpu) / begun.elapsed().as_secs_f64();
    let (late, middle) = (percentile(&took, 99), percentile(&took, 50));
    let grown = session.memory()? - memory;
    let about = format!("{TASKS} tasks print 1 MB/s each, one is looked at");
    Ok(vec![
        row(
            &format!("a key is answered; {about}"),
            format!("{late:.0} ms (p99)"),
            format!("middle {middle:.0} ms, n={}", took.len()),
            (late, 50.0, "ms"),
        ),
        row(
            &format!("the app's own time; {about}"),
            format!("{:.0} % of a core", share * 100.0),
            "—".to_owned(),
            (share * 100.0, 50.0, "%"),
        ),
        row(
            &format!("the app's memory; {about}"),
            format!("{memory:.1} MB"),
            format!("{grown:+.1} MB since it was opened"),
            (grown, 4.0, "MB more"),
        ),
    ])
}

pub(super) fn idle(bench: &Bench) -> Outcome<Vec<Row>> {
    let repo = bench.scratch.repository("tui-idle", 3)?;
    bench.scratch.data_home()?;
    let agent = bench.scratch.agent("sleeper", "echo begun; exec sleep 600")?;
    spawn_ten(bench, &repo, &agent)?;
    let seconds = bench.size(20, 3);
    let at_work = quiet(bench, &repo, seconds);
    kill_ten(bench, &repo);
    let (share, _) = at_work?;
    // Killed ones need nothing and change nothing.
    let (still, written) = quiet(bench, &repo, seconds)?;
    Ok(vec![
        row(
            &format!("the app with {TASKS} tasks at work that print nothing"),
            format!("{share:.2} % of a core"),
            "clocks move".to_owned(),
            (share, 1.0, "%"),
        ),
        row(
            &format!("the app with {TASKS} tasks that have ended"),
            format!("{written} bytes written in {seconds} s"),
            format!("{still:.2} % of a core"),
            (written as f64, 0.0, "byte"),
        ),
    ])
}

/// Leaves the list open: hundredths of a core, and bytes that it wrote.
fn quiet(bench: &Bench, repo: &Path, seconds: u64) -> Outcome<(f64, u64)> {
    let mut session = open(bench, repo)?;
    session.until("the tasks", |shown| shown.contains("task-9"))?;
    session.watch(Duration::from_secs(3));
    let (cpu, written) = (session.cpu()?, session.written);
    session.watch(Duration::from_secs(seconds));
    Ok(((session.cpu()? - cpu) / seconds as f64 * 100.0, session.written - written))
}

pub(super) fn many(bench: &Bench) -> Outcome<Vec<Row>> {
    let count = bench.size(1000, 100);
    let repo = bench.scratch.repository("tui-many", 3)?;
    bench.scratch.data_home()?;
    list::copies(bench, &repo, count)?;
    std::thread::sleep(list::OLD_ENOUGH);
    let mut took = Vec::new();
    for _ in 0..bench.size(10, 3) {
        let begun = Instant::now();
        let mut session = open(bench, &repo)?;
        session.until("the first screen", |shown| shown.contains("task-0"))?;
        took.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    let middle = percentile(&took, 50);
    let most = percentile(&took, 100);
    Ok(vec![row(
        &format!("the first screen with {count} tasks"),
        format!("{middle:.0} ms"),
        format!("at most {most:.0} ms, n={}", took.len()),
        (middle, 200.0, "ms"),
    )])
}

/// What an agent has printed.
#[derive(Clone, Copy)]
enum Printed {
    Text,
    /// As Claude Code prints it.
    Claude,
}

pub(super) fn large(bench: &Bench) -> Outcome<Vec<Row>> {
    let mut rows = Vec::new();
    for (name, printed) in [("plain text", Printed::Text), ("claude", Printed::Claude)] {
        let repo = bench.scratch.repository(&format!("tui-large-{}", printed as u8), 3)?;
        bench.scratch.data_home()?;
        let agent = bench.scratch.trivial_agent()?;
        process::timed(iteration::exec(bench, &repo, &agent, 1).args(["--name", "large"]))?;
        let task = journal::named(&bench.scratch.path("data"), "large")?;
        let task = task.parent().map(Path::to_owned).unwrap_or_default();
        let megabytes = bench.size(1000, 50);
        print_into(&task, printed, megabytes << 20)?;
        rows.extend(look_at(bench, &repo, &format!("{megabytes} MB of output, {name}"))?);
    }
    Ok(rows)
}

/// Puts so many bytes in the place of what the agent of the only turn printed.
fn print_into(task: &Path, printed: Printed, bytes: u64) -> Outcome {
    let path: PathBuf = task.join("turns").join("0000.raw");
    let failed = |e: std::io::Error| format!("cannot write {}: {e}", path.display());
    let mut file = BufWriter::new(fs::File::create(&path).map_err(failed)?);
    let line = |text: &str| match printed {
        Printed::Text => format!("{text}\n"),
        Printed::Claude => format!(
            "{{\"type\":\"assistant\",\"message\":{{\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}},\"session_id\":\"s\"}}\n"
        ),
    };
    let mut size = 0;
    let mut number = 0_u64;
    file.write_all(line("the needle at the very beginning").as_bytes()).map_err(failed)?;
    while size < bytes {
        let line =
            line(&format!("line {number}: what an agent says about what it does, at the usual length"));
        file.write_all(line.as_bytes()).map_err(failed)?;
        size += line.len() as u64;
        number += 1;
    }
    file.write_all(line("the very last line").as_bytes()).map_err(failed)?;
    file.flush().map_err(failed)?;
    if matches!(printed, Printed::Claude) {
        let spec = task.join("spec.json");
        let text = fs::read_to_string(&spec).map_err(failed)?;
        let as_claude = text.replace("\"output\":\"text\"", "\"output\":\"claude\"");
        let as_claude = as_claude.replace("\"output\": \"text\"", "\"output\": \"claude\"");
        fs::write(&spec, as_claude).map_err(failed)?;
    }
    Ok(())
}

fn look_at(bench: &Bench, repo: &Path, what: &str) -> Outcome<Vec<Row>> {
    let milliseconds = |took: Duration| took.as_secs_f64() * 1e3;
    let mut session = open(bench, repo)?;
    // Not by its name alone, which is part of the repository's: that is there before the tasks are read.
    session.until("the task", |shown| shown.contains("DONE 1"))?;
    session.press("\r")?;
    let opened = milliseconds(session.until("its end", |shown| shown.contains("the very last line"))?);
    let first = keys(&mut session, bench.size(20, 5))?;
    session.until("all of it known", |shown| !shown.contains("reading "))?;
    let mut scrolled = Vec::new();
    for _ in 0..bench.size(50, 10) {
        let before = number_of(&session.shown());
        session.press(PAGE_UP)?;
        scrolled.push(milliseconds(session.until("a page up", |shown| number_of(shown) != before)?));
    }
    // At the end one searches upwards.
    session.press("G")?;
    session.until("its end again", |shown| shown.contains("the very last line"))?;
    session.press(CTRL_F)?;
    session.until("the search", |shown| shown.contains("search:"))?;
    session.press("the needle\r")?;
    let begun = Instant::now();
    let while_searching = keys(&mut session, bench.size(20, 5))?;
    session.until("what was searched for", |shown| shown.contains("the needle at the very beginning"))?;
    let searched = begun.elapsed().as_secs_f64();
    session.press(DOWN)?;
    session.press(HOME)?;
    session.until("the start", |shown| shown.contains("the needle at the very beginning"))?;
    let memory = session.memory()?;
    let answered: Vec<f64> = first.into_iter().chain(while_searching).collect();
    let (late, page) = (percentile(&answered, 99), percentile(&scrolled, 99));
    Ok(vec![
        row(
            &format!("opened at its end; {what}"),
            format!("{opened:.0} ms"),
            "—".to_owned(),
            (opened, 500.0, "ms"),
        ),
        row(
            &format!("a key is answered while it is read or searched; {what}"),
            format!("{late:.0} ms (p99)"),
            format!("a page up {page:.0} ms (p99)"),
            (late, 50.0, "ms"),
        ),
        row(
            &format!("searched from its end to its start; {what}"),
            format!("{searched:.1} s"),
            "—".to_owned(),
            (searched, 30.0, "s"),
        ),
        Row::below(format!("the app's memory after that; {what}"), memory, "", 40.0),
    ])
}

/// The first number of a line that is shown.
fn number_of(shown: &str) -> Option<String> {
    let rest = shown.split("line ").nth(1)?;
    Some(rest.chars().take_while(char::is_ascii_digit).collect())
}
