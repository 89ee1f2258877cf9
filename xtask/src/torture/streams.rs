//! What agents print, broken; and readers of the program's own output that do not read.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;

use super::case::{Case, LOOK, WORK};
use super::invariants;
use super::processes;
use super::tally::Fault;
use super::task::{AGENT, Kind, Task, look};
use super::world::{self, Checkout};
use crate::{Outcome, shell};

const FORMATS: [&str; 8] = ["claude", "codex", "copilot", "gemini", "opencode", "qwen", "rehearsal", "acp"];

/// What real agents of a format printed, in an order that is always the same.
fn recordings(format: &str) -> Vec<PathBuf> {
    let dir = shell::root().join("crates/dacapo-core/tests/fixtures/agents").join(format);
    let mut files: Vec<PathBuf> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    files.sort();
    files
}

/// A recording with bytes changed, cut out, doubled or put in from somewhere else.
fn fuzzed(case: &mut Case, mut bytes: Vec<u8>) -> Vec<u8> {
    for _ in 0..1 + case.random.below(12) {
        let (from, length) = (case.random.below(bytes.len()), case.random.below(200));
        let to = (from + length).min(bytes.len());
        match case.random.below(8) {
            0 => {
                if let Some(byte) = bytes.get_mut(from) {
                    *byte ^= 1 << case.random.below(8);
                }
            }
            1 => drop(bytes.drain(from..to)),
            2 => {
                let part = bytes[from..to].to_vec();
                bytes.splice(to..to, part);
            }
            3 => {
                let junk = case.random.bytes(length);
                bytes.splice(from..from, junk);
            }
            4 => {
                let numbers: [&[u8]; 6] =
                    [b"-1", b"1e999", b"null", b"\"7\"", b"18446744073709551616", b"0.1"];
                let number = case.random.pick(&numbers);
                if let Some(digit) = bytes[from..].iter().position(u8::is_ascii_digit) {
                    bytes.splice(from + digit..=from + digit, number.iter().copied());
                }
            }
            5 => bytes.splice(from..from, std::iter::repeat_n(b'[', 3000)).for_each(drop),
            6 => bytes.splice(from..from, std::iter::repeat_n(b'x', 300_000)).for_each(drop),
            _ => bytes.truncate(from),
        }
    }
    bytes
}

pub(super) fn fuzz(case: &mut Case) -> Outcome {
    let format = case.random.pick(&FORMATS);
    let files = recordings(format);
    if files.is_empty() {
        return Err(format!("there are no recordings of {format}"));
    }
    let users = world::make(case, Checkout::Clean)?;
    let file = files[case.random.below(files.len())].clone();
    let bytes = fs::read(&file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
    let stream = fuzzed(case, bytes);
    let stream = case.write("desk/stream", stream)?;
    let code = case.random.pick(&[0, 0, 1, 7]);
    let script = format!("echo hi > f$DACAPO_ITERATION.txt; cat {}; exit {code}", stream.display());
    case.config(&format!(
        "[agents.fuzz]\ncommand = [\"sh\", \"-c\", {script:?}]\noutput = \"{format}\"\n{}",
        if format == "acp" { "" } else { "prompt = \"stdin\"\n" }
    ))?;
    case.log(&format!("{} of {format}", file.display()));
    let words = [
        "exec",
        "--name",
        "t",
        "--agent",
        "fuzz",
        "--iter",
        "2",
        "--max-failures",
        "1",
        "--max-wait",
        "1s",
        "--turn-timeout",
        "5s",
        "--json",
        "work",
    ];
    let ran = case.run(WORK, &words)?;
    case.tally.count("streams");
    if !matches!(ran.code, 0..=4) {
        case.fault(Fault::State, format!("a fuzzed stream of {format}: {}", ran.said()));
    }
    let live = agent_events(&ran.out);
    look(case, "t")?;
    let replayed = case.run(LOOK, &["logs", "t", "--json"])?;
    // Not every version has it; where it has, what is read again is what was seen.
    if replayed.code == 0 {
        let replayed = agent_events(&replayed.out);
        if !replayed.is_empty() && replayed != live {
            case.fault(Fault::State, format!("{} events live, {} read again", live.len(), replayed.len()));
        }
    }
    invariants::nobody_left(case);
    users.check(case)
}

/// Events of the agent, without what says when.
fn agent_events(text: &str) -> Vec<serde_json::Value> {
    text.lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|event| event["type"] == "agent_event")
        .map(|mut event| {
            if let Some(fields) = event.as_object_mut() {
                for field in ["at", "elapsed_seconds", "seq", "sub"] {
                    fields.remove(field);
                }
            }
            event
        })
        .collect()
}

/// How a reader fails the one who writes to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// It never reads.
    Stops,
    /// It reads a little, and goes away.
    Leaves,
}

pub(super) fn readers(case: &mut Case) -> Outcome {
    let users = world::make(case, Checkout::Clean)?;
    let reader = case.random.pick(&[Reader::Stops, Reader::Leaves]);
    let flood = "yes 'a line of output that says nothing at all' | head -c 3000000; ";
    let task = Task::with_agent(case, Kind::InPlace, &format!("{flood}{AGENT}"))?;
    let mut words = task.words.clone();
    if case.random.percent(60) {
        words.insert(1, "--json".to_owned());
    }
    let ending = case.random.pick(&["runs", "runs", "term", "timeout"]);
    if ending != "runs" {
        // It never ends by itself.
        let at = words.len() - 2;
        words[at] = format!("{flood}sleep 1000");
    }
    if ending == "timeout" {
        words.splice(1..1, ["--turn-timeout", "2s", "--max-failures", "1"].map(str::to_owned));
    }
    case.log(&format!("a reader that {reader:?}, and a task that {ending}: {words:?}"));
    case.tally.count("readers");
    let mut command = case.dacapo(&words);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| format!("cannot start dacapo: {e}"))?;
    let pid = i32::try_from(child.id()).unwrap_or(0);
    let mut pipe = child.stdout.take();
    if reader == Reader::Leaves {
        let mut some = [0; 200];
        let _ = pipe.as_mut().map(|pipe| std::io::Read::read(pipe, &mut some));
        pipe = None;
    }
    if ending == "term" {
        std::thread::sleep(Duration::from_millis(1500));
        processes::send(pid, Signal::TERM);
    }
    let limit = Duration::from_secs(45);
    let start = std::time::Instant::now();
    let mut ended = None;
    while ended.is_none() && start.elapsed() < limit {
        ended = child.try_wait().map_err(|e| format!("lost dacapo: {e}"))?;
        // Its output is not read, so its end can only be asked for.
        std::thread::sleep(Duration::from_millis(20));
    }
    if ended.is_none() {
        case.fault(Fault::Hang, format!("held up by a reader that {reader:?} ({ending}); {words:?}"));
        processes::end_below(pid);
        processes::kill(pid);
        let _ = child.wait();
    }
    drop(pipe);
    look(case, "t")?;
    if ending == "runs" && ended.is_some() {
        let status = case.status("t")?;
        if invariants::word(status.as_ref()) != "completed" {
            case.fault(
                Fault::State,
                format!("a reader that {reader:?} has ended the task: {}", invariants::word(status.as_ref())),
            );
        }
    }
    invariants::nobody_left(case);
    users.check(case)
}
