//! What is to be run, and how it ended.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use super::mask::Content;
use super::room::{Room, RoomMade};

/// A foreign command with everything it needs.
#[derive(Debug)]
pub struct Job {
    /// Program and arguments. A program without a slash is looked up in the `PATH` of `env`; a relative one in `cwd`.
    pub argv: Vec<OsString>,
    pub cwd: PathBuf,
    /// Its complete environment; nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
    pub stdin: Stdin,
    /// The raw file for its output. It must not exist yet.
    pub stdout: PathBuf,
    /// What its output is made of; its standard error is text.
    pub content: Content,
    /// A side file of lines `offset unix_millis`: when which part of the output came.
    pub index: Option<PathBuf>,
    /// Where its standard error goes.
    pub stderr: Stderr,
    /// How long it may take to end after a gentle stop.
    pub grace: Duration,
    /// Descriptors, of locks for example, that the guard keeps open until the tree is empty. With the locks of the launcher at most 29.
    pub holds: Vec<OwnedFd>,
    /// What it sees of the machine and may change; none: as much as the user, or what the launcher gives to all jobs.
    pub room: Option<Room>,
}

impl Job {
    /// The usual grace between SIGTERM and SIGKILL.
    pub(crate) const GRACE: Duration = Duration::from_secs(3);
}

/// Where the streams of a job go, for one that goes on in other files while it runs.
#[derive(Debug)]
pub struct Outputs {
    /// The raw file for its output. It must not exist yet.
    pub stdout: PathBuf,
    /// What its output is made of; its standard error is text.
    pub content: Content,
    /// The index beside the raw file, where there is to be one.
    pub index: Option<PathBuf>,
    /// Where its standard error goes. What has gone with the output from the start goes on to do so.
    pub stderr: Stderr,
}

/// What a job reads on its standard input.
#[derive(Debug)]
pub enum Stdin {
    /// These bytes, then the end. A job that does not read them all is not an error.
    Bytes(Vec<u8>),
    /// Whatever comes from here, for jobs one talks with.
    From(OwnedFd),
}

impl From<Vec<u8>> for Stdin {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

/// Where a job's standard error goes.
#[derive(Debug)]
pub enum Stderr {
    /// To a raw file of its own, which must not exist yet.
    File(PathBuf),
    /// Into the same pipe as its output.
    WithStdout,
}

/// How hard to stop a job. The order is that of force: a stop only escalates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// SIGTERM to the whole tree, SIGKILL after the grace.
    Gentle,
    /// SIGKILL to the whole tree.
    Now,
}

/// How a job ended. A job that fails is data, not an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
    SpawnFailed {
        /// What kind of failure.
        kind: io::ErrorKind,
        /// The system's number for it.
        errno: i32,
        /// A sentence that names the program or directory.
        message: String,
    },
    /// Nobody can say: the guard was killed, or the main process could not be ended.
    Lost,
}

/// What is known when nothing of a job is left.
#[derive(Debug, Clone)]
pub struct Finished {
    /// How its main process ended.
    pub exit: Exit,
    /// The stop that was asked for. Agents exit with 0 on SIGTERM: the exit alone does not tell.
    pub stopped: Option<Stop>,
    /// From the launch to the end of the main process.
    pub duration: Duration,
    /// Processor time of the whole tree.
    pub cpu_ms: u64,
    /// Bytes in the raw file of its output.
    pub output_bytes: u64,
    /// Why output is missing, if some is.
    pub capture_error: Option<String>,
    /// How many processes it had left running, which are dead now.
    pub leftovers: u32,
    /// Processes that could not be ended: they belong to someone else, or are stuck in the kernel.
    pub unreachable: Vec<Unreachable>,
    /// How much of its room there was; none where it was to have none, or did not start.
    pub room: Option<RoomMade>,
    /// The guard was killed; the runner has cleared up in its place.
    pub guard_lost: bool,
}

/// A process that could not be ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreachable {
    pub pid: u32,
    /// Its name as the kernel knows it.
    pub name: String,
}

/// Why a job could not be handed to a guard. That the job itself cannot be started is an [`Exit`].
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// A raw file could not be created.
    #[error("cannot create {}", path.display())]
    Output { path: PathBuf, source: io::Error },
    /// There are no pipes or threads to be had.
    #[error("cannot set up the streams of a job")]
    Streams(#[source] io::Error),
    /// The guard could not be started or died at once.
    #[error("cannot start a guard process")]
    Guard(#[source] io::Error),
}
