//! Stands in for the `dacapo` binary in the tests of `process`: a guard, and a runner that a test can kill.
//!
//! `run DIR TAG GRACE PROGRAM ARGUMENT…` launches one job with its files in DIR, obeys the lines `gentle` and `now` on its
//! standard input, writes the guard's id to DIR/guard and how it ended to DIR/done, and exits then. GRACE is in
//! milliseconds. Where `DACAPO_TEST_LOCK` names a directory it holds the directory's lock, as the runner of a task does, and
//! another thread of it starts a child that has nothing to do with the job (DIR/stranger). Where `DACAPO_TEST_TASK` names a
//! program it starts that as a task in the background (DIR/task), as a server does whose own program is another.

use std::ffi::OsString;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use dacapo_core::process::{
    Content, Job, Launcher, Masker, RUNNER_ARGUMENT, Stderr, Stop, TAG_VARIABLE, guard, leave,
};
use dacapo_core::store::{InheritedLocks, Lock, LockTarget};

fn main() {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match arguments.as_slice() {
        [mode] if mode == guard::ARGUMENT => guard::main(),
        // The process of a task in the background, which has a session of its own.
        [mode] if mode == RUNNER_ARGUMENT => {
            rustix::process::setsid().expect("a session");
            std::thread::sleep(Duration::from_secs(1000));
        }
        [mode, dir, tag, grace, argv @ ..] if mode == "run" => {
            let grace = grace.to_str().and_then(|ms| ms.parse().ok()).expect("a number of milliseconds");
            run(&PathBuf::from(dir), tag, Duration::from_millis(grace), argv);
        }
        _ => std::process::exit(64),
    }
}

fn run(dir: &Path, tag: &OsString, grace: Duration, argv: &[OsString]) {
    let exe = std::env::current_exe().expect("this program has a path");
    let launcher = Launcher::new(exe, Arc::new(Masker::new([]))).expect("a launcher");
    let lock = std::env::var_os("DACAPO_TEST_LOCK").map(PathBuf::from).map(|held| {
        let holder = held.join("holder");
        Lock::take(&LockTarget::dir(held, holder)).expect("the lock")
    });
    let mut launcher = launcher.holding(&InheritedLocks::of(&lock));
    if lock.is_some() {
        let stranger = std::thread::spawn(|| Command::new("sleep").arg("1000").spawn().expect("sleep").id());
        publish(&dir.join("stranger"), &stranger.join().expect("an id").to_string());
    }
    launcher.prepare();
    let mut env: Vec<_> = std::env::vars_os().collect();
    env.push((TAG_VARIABLE.into(), tag.clone()));
    let job = Job {
        argv: argv.to_vec(),
        cwd: dir.to_path_buf(),
        env,
        stdin: Vec::new().into(),
        stdout: dir.join("out"),
        content: Content::Text,
        index: None,
        stderr: Stderr::File(dir.join("err")),
        grace,
        holds: Vec::new(),
        room: None,
    };
    let (tell, told) = mpsc::channel();
    let running =
        launcher.launch(job, move |finished| tell.send(finished).expect("someone waits")).expect("a launch");
    if let Some(program) = std::env::var_os("DACAPO_TEST_TASK") {
        let task = Command::new(program).arg(RUNNER_ARGUMENT).spawn().expect("a task");
        publish(&dir.join("task"), &task.id().to_string());
        leave(task);
    }
    publish(&dir.join("guard"), &running.pid().to_string());
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            running.stop(if line == "now" { Stop::Now } else { Stop::Gentle });
        }
    });
    let finished = told.recv().expect("every job ends");
    publish(&dir.join("done"), &format!("{finished:?}"));
}

/// Whole or not at all: a test waits for the file to appear.
fn publish(path: &Path, text: &str) {
    let new = path.with_extension("new");
    std::fs::write(&new, text).expect("a file");
    std::fs::rename(new, path).expect("a file");
}
