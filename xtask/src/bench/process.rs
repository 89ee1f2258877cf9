//! Running a side of a benchmark: for its time, or for its memory, never for both at once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::Outcome;

/// No run may take longer: a hang ends the benchmark, not the day.
const LIMIT: Duration = Duration::from_secs(900);

/// Seconds that the command took, started anew. Its output goes nowhere.
pub(super) fn timed(command: &mut Command) -> Outcome<f64> {
    let (took, ()) = watched(command, |_, _| ())?;
    Ok(took.as_secs_f64())
}

/// Seconds of a command that is over at once and is known to end: no thread and no pipe, whose cost would be much of
/// what is measured.
pub(super) fn timed_bare(command: &mut Command) -> Outcome<f64> {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status();
    let took = start.elapsed().as_secs_f64();
    match status {
        Ok(status) if status.success() => Ok(took),
        Ok(status) => Err(format!("{} ended with {status}", shown(command))),
        Err(e) => Err(format!("cannot start {}: {e}", shown(command))),
    }
}

/// What one look at the program found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    /// Seconds since 1970, to be matched with a journal.
    pub(super) at: f64,
    /// Proportional memory of the program and its guards, in MB.
    pub(super) pss: f64,
    /// Peak of the program's own resident memory so far, in MB.
    pub(super) peak: f64,
}

/// Runs the command and looks at its memory again and again.
pub(super) fn sampled(command: &mut Command, every: Duration) -> Outcome<Vec<Sample>> {
    let (_, samples) = watched(command, |pid, ended| {
        let mut samples = Vec::new();
        loop {
            samples.extend(sample(pid));
            if !matches!(ended.recv_timeout(every), Err(RecvTimeoutError::Timeout)) {
                return samples;
            }
        }
    })?;
    Ok(samples)
}

/// Runs a command to its end while `watch` looks on; the channel closes when it has ended.
fn watched<T: Send>(
    command: &mut Command,
    watch: impl FnOnce(u32, mpsc::Receiver<()>) -> T + Send,
) -> Outcome<(Duration, T)> {
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let start = Instant::now();
    let mut child = command.spawn().map_err(|e| format!("cannot start {}: {e}", shown(command)))?;
    let pid = child.id();
    let stderr = child.stderr.take();
    let (end, ended) = mpsc::channel();
    let (watch_end, watch_ended) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            let status = child.wait();
            // Nobody listens any more only when all is over.
            let _ = end.send((status, start.elapsed(), child));
            drop(watch_end);
        });
        let said = scope.spawn(move || tail(stderr));
        let watcher = scope.spawn(move || watch(pid, watch_ended));
        let result = match ended.recv_timeout(LIMIT) {
            Ok(end) => end,
            Err(_) => {
                // Not reaped yet, so the number is still ours. A guard ends what the program had started.
                let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
                return Err(format!("{} was still running after {LIMIT:?} and was killed", shown(command)));
            }
        };
        let said = said.join().unwrap_or_default();
        let watched = watcher.join().map_err(|_| "the watching thread broke".to_owned())?;
        judge(command, result, &said).map(|took| (took, watched))
    })
}

type Ended = (std::io::Result<ExitStatus>, Duration, Child);

fn judge(command: &Command, (status, took, _): Ended, said: &str) -> Outcome<Duration> {
    match status {
        Ok(status) if status.success() => Ok(took),
        Ok(status) => Err(format!("{} ended with {status}: {}", shown(command), said.trim())),
        Err(e) => Err(format!("lost {}: {e}", shown(command))),
    }
}

/// The last of what was said on stderr, read to its end so that nobody blocks on it.
fn tail(stderr: Option<impl std::io::Read>) -> String {
    let mut kept = Vec::new();
    let mut buffer = [0; 8192];
    let Some(mut stderr) = stderr else { return String::new() };
    while let Ok(count @ 1..) = stderr.read(&mut buffer) {
        kept.extend_from_slice(&buffer[..count]);
        let surplus = kept.len().saturating_sub(2000);
        kept.drain(..surplus);
    }
    String::from_utf8_lossy(&kept).into_owned()
}

fn shown(command: &Command) -> String {
    crate::shell::shown(command)
}

fn sample(pid: u32) -> Option<Sample> {
    let own = exe(pid)?;
    let mut pss = pss(pid)?;
    for child in descendants(pid) {
        // Guards are the same program; an agent's memory is its own affair.
        if exe(child).as_ref() == Some(&own) {
            pss += self::pss(child).unwrap_or(0.0);
        }
    }
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let at = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs_f64();
    Some(Sample { at, pss, peak: field(&status, "VmHWM:")? })
}

fn exe(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe")).ok()
}

pub(super) fn pss(pid: u32) -> Option<f64> {
    field(&fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?, "Pss:")
}

/// Seconds of processor time that a process has used, its children aside.
pub(super) fn cpu_seconds(pid: u32) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program stands in brackets and may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let ticks: f64 = fields.next()?.parse::<f64>().ok()? + fields.next()?.parse::<f64>().ok()?;
    Some(ticks / rustix::param::clock_ticks_per_second() as f64)
}

/// `Name:   1234 kB` in MB.
fn field(text: &str, name: &str) -> Option<f64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: f64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes / 1024.0)
}

/// Children, theirs, and so on. By parent, since guards have sessions and groups of their own.
fn descendants(pid: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let child = entry.file_name().to_str()?.parse().ok()?;
            Some((child, parent(&entry.path())?))
        })
        .collect();
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(&one) = found.get(next) {
        next += 1;
        found.extend(parents.iter().filter(|(_, parent)| *parent == one).map(|(child, _)| *child));
    }
    found.split_off(1)
}

fn parent(process: &Path) -> Option<u32> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    // `PID (any name, brackets too) S PPID …`
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn time_is_taken_and_failure_told() {
        assert!(timed(&mut sh("exit 0")).unwrap() < 60.0);
        let why = timed(&mut sh("echo the reason >&2; exit 4")).unwrap_err();
        assert!(why.contains("the reason") && why.contains('4'), "{why}");
    }

    #[test]
    fn memory_counts_the_same_program_below_and_no_other() {
        // Both shells are the same program, `cat` is another; `ready` says that all three are there.
        let mut outer = sh("sh -c 'cat <&3 & echo ready; wait' 3<&0; :")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = [0; 6];
        outer.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
        let (alone, below) = (pss(outer.id()), descendants(outer.id()));
        let shells: f64 = below.iter().filter(|p| exe(**p) == exe(outer.id())).filter_map(|p| pss(*p)).sum();
        let seen = sample(outer.id());
        drop(outer.stdin.take());
        outer.wait().unwrap();

        let (alone, seen) = (alone.unwrap(), seen.unwrap());
        assert!(below.len() >= 2, "{below:?}");
        assert!(shells > 0.0 && seen.peak > 0.0 && seen.at > 1e9, "{shells} {seen:?}");
        // Proportions shift as other processes come and go.
        assert!((seen.pss - alone - shells).abs() < 0.3 && seen.pss > alone, "{alone} + {shells} {seen:?}");
    }

    #[test]
    fn a_run_is_looked_at_until_it_ends() {
        let samples = sampled(&mut sh("sleep 0.2; :"), Duration::from_millis(20)).unwrap();
        assert!(samples.is_sorted_by_key(|s| s.at), "{samples:?}");
    }

    #[test]
    fn fields_are_in_megabytes() {
        assert_eq!(field("Rss:  9 kB\nPss:    2048 kB\n", "Pss:"), Some(2.0));
        assert_eq!(field("", "Pss:"), None);
    }
}
