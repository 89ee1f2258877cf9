//! `dacapo wait`: sleeps on the tasks' locks, which the kernel frees when the tasks' processes are gone.

use std::sync::mpsc;

use dacapo_core::store::{Lock, TaskDir};

use super::{interrupted, print, task, tasks, view, with_each};
use crate::args::Wait;
use crate::error::Failure;
use crate::output::report;

pub(super) fn run(args: &Wait) -> Result<u8, Failure> {
    let all = if args.names.is_empty() { vec![task(None)?] } else { tasks(&args.names)? };
    let dirs: Vec<TaskDir> = all.into_iter().map(|(_, dir)| dir).collect();
    let several = dirs.len() > 1;
    // Of several it must be seen which one it is.
    let heading = |dir: &TaskDir| if several { format!("{}\n", dir.name()) } else { String::new() };
    if args.any && several {
        let first = first_to_end(&dirs)?;
        return told(first, args, &heading(first));
    }
    with_each(dirs.iter().collect(), |dir| {
        Lock::wait_until_free(&dir.lock_target()).map_err(|error| cannot_wait(dir, &error))?;
        told(dir, args, &heading(dir))
    })
}

fn cannot_wait(dir: &TaskDir, error: &std::io::Error) -> Failure {
    Failure::failed(format!("cannot wait for task '{}': {error}", dir.name()))
}

/// One that has ended already, in their order; else whichever lock is free first. A thread waits for each: nothing else can wait
/// for several locks at once.
fn first_to_end(dirs: &[TaskDir]) -> Result<&TaskDir, Failure> {
    for dir in dirs {
        if !dir.is_driven().map_err(|error| cannot_wait(dir, &error))? {
            return Ok(dir);
        }
    }
    let (tell, told) = mpsc::channel();
    for (at, dir) in dirs.iter().enumerate() {
        let (tell, lock) = (tell.clone(), dir.lock_target());
        let waiting = std::thread::Builder::new().name("lock".into()).spawn(move || {
            let _ = tell.send((at, Lock::wait_until_free(&lock)));
        });
        waiting.map_err(|error| cannot_wait(dir, &error))?;
    }
    drop(tell);
    match told.recv() {
        Ok((at, Ok(()))) => Ok(&dirs[at]),
        Ok((at, Err(error))) => Err(cannot_wait(&dirs[at], &error)),
        Err(_) => Err(Failure::failed("nobody waits for these tasks any more")),
    }
}

/// How it ended; its exit code.
fn told(dir: &TaskDir, args: &Wait, heading: &str) -> Result<u8, Failure> {
    let view = view(dir)?;
    let Some(result) = &view.result else {
        return Err(interrupted(dir));
    };
    if args.json {
        print(&view.to_json().to_string());
    } else {
        print(&format!("{heading}{}", report::result(&view, result)));
    }
    Ok(result.outcome.exit_code())
}
