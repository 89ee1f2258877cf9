//! What it does to processes. Every process is killed by the id it told.

use std::io::Read;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use super::stage::{Played, Running, Stage, soon};

/// A leaked process, ended with the test.
struct Leaked(Pid);

impl Drop for Leaked {
    fn drop(&mut self) {
        let _ = kill_process(self.0, Signal::KILL);
    }
}

impl Leaked {
    fn of(played: &Played) -> Vec<Leaked> {
        let pids = played.answers().into_iter().filter_map(|(_, output)| {
            let pid = output.strip_prefix("pid ")?.parse().ok()?;
            Pid::from_raw(pid).map(Leaked)
        });
        pids.collect()
    }

    fn alive(&self) -> bool {
        // One that init has not yet taken away does not count.
        let stat = std::fs::read_to_string(self.proc("stat")).unwrap_or_default();
        test_kill_process(self.0).is_ok() && !stat.contains(") Z ")
    }

    fn proc(&self, name: &str) -> PathBuf {
        format!("/proc/{}/{name}", self.0.as_raw_nonzero()).into()
    }

    #[cfg(target_os = "linux")]
    fn id(&self) -> u32 {
        self.0.as_raw_nonzero().get().cast_unsigned()
    }

    #[cfg(target_os = "linux")]
    fn group_and_session(&self) -> (u32, u32) {
        group_and_session(&self.proc("stat"))
    }
}

/// From the process's `stat`: a group or session made outside of this PID namespace is 0 there, which is no `Pid`.
#[cfg(target_os = "linux")]
fn group_and_session(stat: &std::path::Path) -> (u32, u32) {
    let stat = std::fs::read_to_string(stat).unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    (fields[2].parse().unwrap(), fields[3].parse().unwrap())
}

fn signal(running: &Running, signal: Signal) {
    kill_process(Pid::from_child(&running.0), signal).unwrap();
}

/// Processor time of a process in clock ticks, a hundredth of a second each.
#[cfg(target_os = "linux")]
fn ticks(running: &Running) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", running.0.id())).unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

fn wait_for(stage: &Stage, file: &str) {
    soon(file, || stage.work().join(file).exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_hang_is_silent_and_idle_and_ends_when_told() {
    let stage = Stage::new("- write: { path: here }\n- hang: true");
    let mut running = stage.start();
    wait_for(&stage, "here");
    // It may still be on its way from the one to the other.
    soon("rest", || {
        let before = ticks(&running);
        std::thread::sleep(Duration::from_millis(200));
        ticks(&running) == before
    });
    assert_eq!(running.0.try_wait().unwrap(), None);
    signal(&running, Signal::TERM);
    soon("its end", || running.0.try_wait().unwrap().is_some());
    assert_eq!(Stage::new("- hang: { attempts: 1 }\n- say: awake").turn(0, 1, "").ok().said(), ["awake"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_spin_is_silent_and_busy() {
    let stage = Stage::new("- write: { path: here }\n- spin: 60s");
    let running = stage.start();
    wait_for(&stage, "here");
    soon("work", || ticks(&running) >= 10);
}

#[test]
fn sleep_takes_its_time() {
    let began = Instant::now();
    Stage::new("- sleep: 200ms").play().ok();
    assert!(began.elapsed() >= Duration::from_millis(200));
}

#[test]
fn it_may_be_deaf_and_so_is_what_it_runs() {
    let stage = Stage::new(
        "- ignore_signals: true\n- write: { path: here }\n- run: kill -TERM $$; kill -HUP $$; echo alive\n- write: { path: there }\n- hang: true",
    );
    let mut running = stage.start();
    wait_for(&stage, "here");
    for deaf_to in [Signal::TERM, Signal::INT, Signal::HUP] {
        signal(&running, deaf_to);
    }
    wait_for(&stage, "there");
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(running.0.try_wait().unwrap(), None);
    running.0.kill().unwrap();
    let mut out = String::new();
    running.0.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert!(out.contains("alive\\n"), "{out}");
}

#[test]
fn a_child_outlives_it_without_holding_its_output() {
    let began = Instant::now();
    let played = Stage::new("- leak: { for: 60s, count: 2 }").play().ok();
    assert!(began.elapsed() < Duration::from_secs(30));
    let leaked = Leaked::of(&played);
    assert_eq!(leaked.len(), 2);
    assert!(leaked.iter().all(Leaked::alive));
    kill_process(leaked[0].0, Signal::TERM).unwrap();
    soon("its end", || !leaked[0].alive());
}

#[test]
fn what_a_command_leaves_in_the_background_is_not_waited_for() {
    let began = Instant::now();
    let played = Stage::new("- run: sleep 60 & echo pid $!").play().ok();
    // The answer ends with a newline, which the id does not.
    let (_, output) = played.answers().remove(0);
    let leaked = Leaked(Pid::from_raw(output.trim().strip_prefix("pid ").unwrap().parse().unwrap()).unwrap());
    assert!(began.elapsed() < Duration::from_secs(30) && leaked.alive());
}

#[test]
fn a_child_ends_by_itself() {
    let played = Stage::new("- leak: { for: 300ms }\n- leak: false").play().ok();
    let leaked = Leaked::of(&played);
    assert_eq!(leaked.len(), 1);
    soon("its end", || !leaked[0].alive());
}

#[cfg(target_os = "linux")]
#[test]
fn a_child_may_leave_session_environment_and_parent() {
    let played = Stage::new(
        "- leak: { for: 60s, setsid: true, empty_env: true, ignore_signals: true }\n- leak: { for: 60s, setsid: true, daemon: true }\n- leak: { for: 60s }",
    )
    .play()
    .ok();
    let leaked = Leaked::of(&played);
    let [own, daemon, plain] = &leaked[..] else { panic!("{}", played.stdout()) };
    let environment = |of: &Leaked| std::fs::read(of.proc("environ")).unwrap();
    let has = |bytes: &[u8], text: &str| String::from_utf8_lossy(bytes).contains(text);

    let (_, here) = group_and_session("/proc/self/stat".as_ref());
    assert_eq!(own.group_and_session(), (own.id(), own.id()));
    assert!(!has(&environment(own), "DACAPO"));
    kill_process(own.0, Signal::TERM).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    assert!(own.alive(), "it is deaf");

    let (_, session) = daemon.group_and_session();
    assert_ne!(session, here);
    assert_ne!(session, daemon.id(), "its parent led the session");
    assert_eq!(std::fs::read_link(daemon.proc("cwd")).unwrap(), PathBuf::from("/"));
    assert!(has(&environment(daemon), "DACAPO_TASK=task1"));

    assert_eq!(plain.group_and_session().1, here);
    assert!(has(&environment(plain), "DACAPO_TASK=task1"));
}

#[test]
fn a_child_may_hold_the_output_open() {
    let stage = Stage::new("- leak: { for: 60s, hold_stdout: true }");
    let mut running = stage.start();
    assert!(running.0.wait().unwrap().success());
    let mut stdout = running.0.stdout.take().unwrap();
    let mut out = Vec::new();
    let mut byte = [0];
    while !String::from_utf8_lossy(&out).contains("\"end\"") {
        assert_eq!(stdout.read(&mut byte).unwrap(), 1);
        out.push(byte[0]);
    }
    let mut played = Played(std::process::Output { status: Default::default(), stdout: out, stderr: vec![] });
    played.0.stdout.extend_from_slice(b",\"reason\":\"\"}");
    let leaked = Leaked::of(&played);
    assert!(leaked[0].alive());
    let reader = std::thread::spawn(move || stdout.read_to_end(&mut Vec::new()));
    std::thread::sleep(Duration::from_millis(100));
    assert!(!reader.is_finished(), "the end is not seen while it lives");
    drop(leaked);
    reader.join().unwrap().unwrap();
}

/// The processes of a fork loop work in the stage's directory.
#[cfg(target_os = "linux")]
fn working_in(stage: &Stage) -> usize {
    let all = std::fs::read_dir("/proc").unwrap();
    all.filter_map(|entry| std::fs::read_link(entry.ok()?.path().join("cwd")).ok())
        .filter(|dir| *dir == stage.work())
        .count()
}

#[cfg(target_os = "linux")]
#[test]
fn a_fork_loop_outlives_it_and_ends() {
    let stage = Stage::new("- fork_loop: { times: 40, pause: 50ms, setsid: true }\n- fork_loop: 5");
    stage.play().ok();
    // A look at all processes may fall between one of them and the next.
    soon("one of them", || working_in(&stage) > 0);
    soon("its end", || working_in(&stage) == 0);
}
