//! Stands in for the `dacapo` binary in the tests of `process`: a guard, and a runner that a test can kill.
//!
//! `run DIR TAG GRACE PROGRAM ARGUMENT…` launches one job with its files in DIR, obeys the lines `gentle` and `now` on its
//! standard input, writes the guard's id to DIR/guard and how it ended to DIR/done, and exits then. GRACE is in
//! milliseconds.

use std::ffi::OsString;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use dacapo_core::process::{Content, Job, Launcher, Masker, Stderr, Stop, TAG_VARIABLE, guard};

fn main() {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match arguments.as_slice() {
        [mode] if mode == guard::ARGUMENT => guard::main(),
        [mode, dir, tag, grace, argv @ ..] if mode == "run" => {
            let grace = grace.to_str().and_then(|ms| ms.parse().ok()).expect("a number of milliseconds");
            run(&PathBuf::from(dir), tag, Duration::from_millis(grace), argv);
        }
        _ => std::process::exit(64),
    }
}

fn run(dir: &Path, tag: &OsString, grace: Duration, argv: &[OsString]) {
    let exe = std::env::current_exe().expect("this program has a path");
    let mut launcher = Launcher::new(exe, Arc::new(Masker::new([]))).expect("a launcher");
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
    };
    let (tell, told) = mpsc::channel();
    let running =
        launcher.launch(job, move |finished| tell.send(finished).expect("someone waits")).expect("a launch");
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
