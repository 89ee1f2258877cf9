//! Runs a command for the model and brings back how it began and how it ended.

use std::collections::VecDeque;
use std::io::{PipeReader, Read as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::place::Place;

const TIMEOUT: u64 = 600;
const LONGEST_TIMEOUT: u64 = 3600;

/// How much of its output is kept: of the beginning, and of the end, where errors stand.
const HEAD: usize = 8 << 10;
const TAIL: usize = 24 << 10;

/// When the command has ended, what it wrote is in the pipe already. Whoever holds the pipe open longer is something it
/// left running, and is not waited for.
const REST: Duration = Duration::from_millis(200);

#[derive(Debug, Deserialize)]
pub(super) struct ShellArguments {
    command: String,
    #[serde(default)]
    timeout_seconds: Option<u64>,
}

/// What comes from the threads that wait.
enum Heard {
    Output(Vec<u8>),
    OutputEnded,
    Ended(std::io::Result<ExitStatus>),
}

pub(super) fn run(place: &Place, hidden: Option<&str>, wanted: &ShellArguments) -> Result<String, String> {
    let seconds = wanted.timeout_seconds.unwrap_or(TIMEOUT).clamp(1, LONGEST_TIMEOUT);
    let failed = |error: std::io::Error| format!("the command cannot be run: {error}");
    // One pipe for both: the order of what is written is part of what it says.
    let (reader, writer) = std::io::pipe().map_err(failed)?;
    let mut command = Command::new("sh");
    command.args(["-c", &wanted.command]).current_dir(place.path()).stdin(Stdio::null());
    command.stdout(writer.try_clone().map_err(failed)?).stderr(writer);
    // A group of its own can be ended as one. What leaves it is ended by the guard, with the turn.
    command.process_group(0);
    if let Some(hidden) = hidden {
        command.env_remove(hidden);
    }
    let mut child = command.spawn().map_err(failed)?;
    // It holds the writing ends.
    drop(command);
    let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    let (send, heard) = channel();
    let output = send.clone();
    let thread = || std::thread::Builder::new();
    let started = thread()
        .name("output".into())
        .spawn(move || listen(reader, &output))
        .and_then(|_| thread().name("child".into()).spawn(move || send.send(Heard::Ended(child.wait()))));
    if let Err(error) = started {
        if let Some(group) = group {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        return Err(format!("the command was ended, as the system starts no more threads: {error}"));
    }

    let mut kept = Kept::default();
    let mut deadline = Instant::now() + Duration::from_secs(seconds);
    let mut killed = false;
    let (mut silent, mut status) = (false, None);
    while !silent || status.is_none() {
        match heard.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(Heard::Output(bytes)) => kept.push(&bytes),
            Ok(Heard::OutputEnded) => silent = true,
            Ok(Heard::Ended(ended)) => {
                status = Some(ended.map_err(failed)?);
                deadline = Instant::now() + REST;
            }
            Err(RecvTimeoutError::Timeout) if status.is_some() || killed => break,
            Err(RecvTimeoutError::Timeout) => {
                if let Some(group) = group {
                    let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
                }
                killed = true;
                deadline = Instant::now() + REST * 10;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Ok(kept.told(&end(status, killed.then_some(seconds))))
}

/// Reads to the end, also when nobody listens any more: what was left running must not die of a full pipe.
fn listen(mut reader: PipeReader, to: &Sender<Heard>) {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => {
                let _ = to.send(Heard::Output(buffer[..length].to_vec()));
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    let _ = to.send(Heard::OutputEnded);
}

fn end(status: Option<ExitStatus>, timed_out: Option<u64>) -> String {
    if let Some(seconds) = timed_out {
        return format!("[ended by force: it took longer than {seconds} s]");
    }
    match status.map(|status| (status.code(), status.signal())) {
        Some((Some(code), _)) => format!("[exit code {code}]"),
        Some((None, Some(signal))) => format!("[ended by signal {signal}]"),
        Some((None, None)) | None => "[it ended in an unknown way]".into(),
    }
}

/// The beginning and the end of an output of any length.
#[derive(Default)]
struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    all: u64,
}

impl Kept {
    fn push(&mut self, bytes: &[u8]) {
        self.all += bytes.len() as u64;
        let (head, rest) = bytes.split_at(bytes.len().min(HEAD - self.head.len()));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(TAIL)..];
        let over = (self.tail.len() + rest.len()).saturating_sub(TAIL);
        self.tail.drain(..over);
        self.tail.extend(rest);
    }

    fn told(mut self, end: &str) -> String {
        let missing = self.all - (self.head.len() + self.tail.len()) as u64;
        if missing == 0 {
            // Nothing is missing between the two, so a character may span them.
            self.head.extend(self.tail.drain(..));
        }
        let mut text = String::from_utf8_lossy(&self.head).into_owned();
        if missing > 0 {
            text.push_str(&format!("\n[... {missing} bytes are left out here ...]\n"));
            text.push_str(&String::from_utf8_lossy(self.tail.make_contiguous()));
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(end);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(command: &str, timeout_seconds: Option<u64>) -> String {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::open(dir.path()).unwrap();
        run(&place, Some("NATIVE_TEST_KEY"), &ShellArguments { command: command.into(), timeout_seconds })
            .unwrap()
    }

    #[test]
    fn output_comes_in_its_order_with_the_exit_code() {
        assert_eq!(ran("echo a; echo b >&2; printf c; exit 3", None), "a\nb\nc\n[exit code 3]");
        assert_eq!(ran("true", None), "[exit code 0]");
        assert_eq!(ran("kill -9 $$", None), "[ended by signal 9]");
    }

    #[test]
    fn standard_input_is_closed() {
        assert_eq!(ran("cat; read x || echo none", None), "none\n[exit code 0]");
    }

    #[test]
    fn r3_a_flood_is_cut_in_its_middle() {
        let output = ran("echo first; head -c 20000000 /dev/zero | tr '\\0' x; echo; echo last", None);
        assert!(output.len() < HEAD + TAIL + 200, "{}", output.len());
        assert!(output.starts_with("first\n") && output.ends_with("last\n[exit code 0]"));
        assert!(output.contains("bytes are left out here"));
    }

    #[test]
    fn what_takes_too_long_is_ended_with_its_children() {
        let output = ran("sleep 1000 & echo $!; sleep 1000 & echo $!; wait", Some(0));
        let lines: Vec<&str> = output.lines().collect();
        let [first, second, "[ended by force: it took longer than 1 s]"] = lines[..] else {
            panic!("{output}")
        };
        for _ in 0..1000 {
            if has_ended(first) && has_ended(second) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("still there: {output}");
    }

    /// One that nobody waits for has ended too: not every first process of a container does that.
    fn has_ended(pid: &str) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let pid = rustix::process::Pid::from_raw(pid.parse().unwrap()).unwrap();
        rustix::process::test_kill_process(pid).is_err() || stat.contains(") Z ")
    }

    #[test]
    fn what_is_left_running_is_not_waited_for() {
        let output = ran("sleep 30 & echo $!", None);
        let pid = output.lines().next().unwrap().parse().unwrap();
        assert_eq!(output, format!("{pid}\n[exit code 0]"));
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }

    #[test]
    fn odd_commands_are_answered() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::open(dir.path()).unwrap();
        let odd = |command: String| run(&place, None, &ShellArguments { command, timeout_seconds: None });
        assert!(odd("a\0b".into()).unwrap_err().contains("cannot be run"));
        assert!(odd(format!("echo {}", "x".repeat(1 << 20))).unwrap_err().contains("cannot be run"));
        assert_eq!(odd("printf '\\377\\n'".into()).unwrap(), "\u{fffd}\n[exit code 0]");
    }

    #[test]
    fn a_character_is_not_split_where_nothing_is_missing() {
        let mut kept = Kept::default();
        let text = "繼".repeat(HEAD);
        kept.push(&text.as_bytes()[..10_000]);
        assert_eq!(
            kept.told("."),
            format!("{}.", String::from_utf8_lossy(&text.as_bytes()[..10_000]) + "\n")
        );
    }
}
