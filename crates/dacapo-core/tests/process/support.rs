//! What the tests of processes share.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use dacapo_core::process::{Content, Finished, Job, Launcher, Masker, Running, Stderr, TAG_VARIABLE};
use rustix::process::{Pid, Signal, kill_process};

/// The binary that acts as guard and as a runner to be killed.
pub(crate) const EXE: &str = env!("CARGO_BIN_EXE_dacapo-test-guard");

/// Long enough for a machine that is busy with something else.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Time to end that is never used up, by whom it is given to.
pub(crate) const AMPLE_GRACE: Duration = PATIENCE;

pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "waited in vain for: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn kill(pid: u32, signal: Signal) {
    let _ = kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal);
}

/// Neither there nor a zombie.
pub(crate) fn is_alive(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        stat.rsplit(')').next().is_some_and(|rest| !rest.trim_start().starts_with(['Z', 'X']))
    })
}

/// Live processes with `text` in their command line.
pub(crate) fn named(text: &str) -> Vec<u32> {
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid| {
            fs::read(format!("/proc/{pid}/cmdline"))
                .is_ok_and(|line| memchr::memmem::find(&line, text.as_bytes()).is_some())
                && is_alive(*pid)
        })
        .collect()
}

/// A job that runs a shell script in `dir`, with its files there.
pub(crate) fn script(dir: &Path, script: &str) -> Job {
    Job {
        argv: ["/bin/sh", "-c", script].map(OsString::from).to_vec(),
        cwd: dir.to_path_buf(),
        env: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()), (TAG_VARIABLE.into(), dir.into())],
        stdin: Vec::new().into(),
        stdout: dir.join("out"),
        content: Content::Text,
        index: None,
        stderr: Stderr::File(dir.join("err")),
        grace: Duration::from_millis(500),
        holds: Vec::new(),
        room: None,
    }
}

pub(crate) fn launcher() -> Launcher {
    Launcher::new(EXE.into(), Arc::new(Masker::new([]))).unwrap()
}

pub(crate) fn start(launcher: &mut Launcher, job: Job) -> (Running, mpsc::Receiver<Finished>) {
    let (tell, told) = mpsc::channel();
    let running = launcher.launch(job, move |finished| tell.send(finished).unwrap()).unwrap();
    (running, told)
}

pub(crate) fn run(job: Job) -> Finished {
    start(&mut launcher(), job).1.recv_timeout(PATIENCE).unwrap()
}

/// A runner in a process of its own, to be killed.
pub(crate) struct Runner {
    pub(crate) child: Child,
    pub(crate) dir: tempfile::TempDir,
}

impl Runner {
    pub(crate) fn start(script: &str, grace: Duration) -> Self {
        Self::start_with(&mut Command::new(EXE), script, grace)
    }

    /// One that holds the lock of a directory, and has a child beside the job that is none of it: see `stranger`.
    pub(crate) fn start_locking(target: &Path, script: &str, grace: Duration) -> Self {
        Self::start_with(Command::new(EXE).env("DACAPO_TEST_LOCK", target), script, grace)
    }

    /// One whose program is another than the one that it starts tasks with: see `task`.
    pub(crate) fn start_with_task(program: &Path, script: &str, grace: Duration) -> Self {
        Self::start_with(Command::new(EXE).env("DACAPO_TEST_TASK", program), script, grace)
    }

    /// The task that it has started.
    pub(crate) fn task(&self) -> u32 {
        wait_for("the task's id", || fs::read_to_string(self.path("task")).ok()?.parse().ok())
    }

    fn start_with(command: &mut Command, script: &str, grace: Duration) -> Self {
        let dir = tempfile::tempdir().unwrap();
        command
            .arg("run")
            .arg(dir.path())
            .arg(Self::tag_of(dir.path()))
            .arg(grace.as_millis().to_string())
            .args(["/bin/sh", "-c", script]);
        command.arg(dir.path().join("pids")).stdin(Stdio::piped());
        Self { child: command.spawn().unwrap(), dir }
    }

    fn tag_of(dir: &Path) -> String {
        format!("test-{}", dir.file_name().unwrap().to_string_lossy())
    }

    pub(crate) fn tag(&self) -> String {
        Self::tag_of(self.dir.path())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn guard(&self) -> u32 {
        wait_for("the guard's id", || fs::read_to_string(self.path("guard")).ok()?.parse().ok())
    }

    /// The child of one that holds a lock which is not to have it.
    pub(crate) fn stranger(&self) -> u32 {
        wait_for("the stranger's id", || fs::read_to_string(self.path("stranger")).ok()?.parse().ok())
    }

    /// The ids that the script has left, once there are `count`.
    pub(crate) fn pids(&self, count: usize) -> Vec<u32> {
        wait_for("the ids of the job's processes", || {
            let pids: Vec<u32> = fs::read_to_string(self.path("pids"))
                .ok()?
                .lines()
                .filter_map(|line| line.parse().ok())
                .collect();
            (pids.len() >= count).then_some(pids)
        })
    }

    pub(crate) fn done(&self) -> String {
        wait_for("the end of the job", || fs::read_to_string(self.path("done")).ok())
    }
}

/// A test that failed must not leave processes behind either.
impl Drop for Runner {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        dacapo_core::process::sweep(&self.tag());
    }
}
