//! Starts a child that is handed descriptors by number, and nothing else that we have open.
//!
//! All our descriptors close on exec, always: between a change of that flag and the change back another thread could start
//! a child of its own, which would keep a lock for as long as it lives. So the flag is changed in the child alone. On Linux
//! by an action of `posix_spawn`, which copies no page tables: with `Command::pre_exec`, which needs `fork`, starting a git
//! took 1.2 times as long in a process of 1 MB, 1.45 times in one of 10 MB and 2.9 times in one of 60 MB.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::process::Command;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, waitpid};

/// The argument that turns the program into the process of a task in the background.
pub const RUNNER_ARGUMENT: &str = "__run";

/// Leaves a child that goes on by itself alone. When it ends it is waited for, so that nothing of it stays behind in a
/// process that lives longer.
pub fn leave(mut child: std::process::Child) {
    let waiting = std::thread::Builder::new().name("reaper".into()).stack_size(64 << 10);
    // Without a thread it stays a zombie until we end.
    let _ = waiting.spawn(move || child.wait());
}

/// Whose signals of the terminal a child hears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    /// The same as this process: it is in our group.
    Ours,
    /// None: it is in a process group of its own.
    Own,
}

/// What a child is started with beside its command line.
#[derive(Debug)]
pub(crate) struct With<'a> {
    /// Its standard input, output and error.
    pub(crate) streams: [OwnedFd; 3],
    /// What it keeps open, under the same numbers.
    pub(crate) handed: &'a [BorrowedFd<'a>],
    pub(crate) group: Group,
}

/// A child that was started, until it is waited for.
#[derive(Debug)]
pub(super) struct Child(Pid);

impl Child {
    /// Starts a command whose program is a path and whose environment is complete (`Env::dress`).
    pub(super) fn start(command: &mut Command, with: With<'_>) -> io::Result<Self> {
        system::start(command, with).map(Self)
    }

    pub(super) fn id(&self) -> u32 {
        self.0.as_raw_nonzero().get().cast_unsigned()
    }

    /// Ends it at once.
    pub(super) fn kill(&self) -> io::Result<()> {
        self.signal(Signal::KILL)
    }

    pub(super) fn signal(&self, signal: Signal) -> io::Result<()> {
        Ok(kill_process(self.0, signal)?)
    }

    pub(super) fn wait(self) -> io::Result<WaitStatus> {
        loop {
            match waitpid(Some(self.0), WaitOptions::empty()) {
                Ok(Some((_, status))) => return Ok(status),
                Ok(None) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[cfg(target_os = "linux")]
mod system {
    #![expect(unsafe_code, reason = "posix_spawn and its actions exist only as C functions")]

    use std::ffi::{CString, OsStr};
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::AsRawFd as _;
    use std::os::unix::ffi::OsStrExt as _;
    use std::process::Command;
    use std::ptr;

    use rustix::process::Pid;

    use super::{Group, With};

    pub(super) fn start(command: &Command, with: With<'_>) -> io::Result<Pid> {
        // Our copies of its streams are closed when this returns.
        let With { streams, handed, group } = with;
        let program = word(command.get_program())?;
        // Without a path it would be looked up in the PATH of this process.
        if !program.as_bytes().contains(&b'/') {
            return Err(io::ErrorKind::NotFound.into());
        }
        let args: Vec<CString> = std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(word)
            .collect::<io::Result<_>>()?;
        let variable = |(name, value): (&OsStr, Option<&OsStr>)| {
            let line = [name.as_bytes(), b"=", value?.as_bytes()].concat();
            Some(CString::new(line).map_err(io::Error::from))
        };
        let variables: Vec<CString> = command.get_envs().filter_map(variable).collect::<io::Result<_>>()?;
        let mut actions = Actions::new()?;
        if let Some(dir) = command.get_current_dir() {
            // In the child: the working directory belongs to the whole process, so other threads would see a change
            // of ours.
            actions.change_dir(&word(dir.as_os_str())?)?;
        }
        for (number, stream) in (0..).zip(&streams) {
            actions.duplicate(stream.as_raw_fd(), number)?;
        }
        for handed in handed {
            // To the same number: that it closes on exec is taken back.
            actions.duplicate(handed.as_raw_fd(), handed.as_raw_fd())?;
        }
        let attributes = Attributes::new(group)?;
        let (argv, envp) = (pointers(&args), pointers(&variables));
        let mut pid = 0;
        // SAFETY: all pointers are to initialised memory that lives until the call has returned; both lists end in null.
        check(unsafe {
            libc::posix_spawn(
                &raw mut pid,
                program.as_ptr(),
                actions.0.as_ptr(),
                attributes.0.as_ptr(),
                argv.as_ptr(),
                envp.as_ptr(),
            )
        })?;
        Pid::from_raw(pid).ok_or_else(|| io::Error::other("a process without an id"))
    }

    fn word(text: &OsStr) -> io::Result<CString> {
        Ok(CString::new(text.as_bytes())?)
    }

    fn pointers(words: &[CString]) -> Vec<*mut libc::c_char> {
        words.iter().map(|word| word.as_ptr().cast_mut()).chain([ptr::null_mut()]).collect()
    }

    fn check(error: libc::c_int) -> io::Result<()> {
        if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
    }

    /// What the child does before it becomes the program.
    struct Actions(MaybeUninit<libc::posix_spawn_file_actions_t>);

    impl Actions {
        fn new() -> io::Result<Self> {
            let mut actions = MaybeUninit::uninit();
            // SAFETY: initialises what it is given.
            check(unsafe { libc::posix_spawn_file_actions_init(actions.as_mut_ptr()) })?;
            Ok(Self(actions))
        }

        fn change_dir(&mut self, dir: &CString) -> io::Result<()> {
            // SAFETY: initialised, and the path is copied.
            check(unsafe { libc::posix_spawn_file_actions_addchdir_np(self.0.as_mut_ptr(), dir.as_ptr()) })
        }

        fn duplicate(&mut self, from: i32, to: i32) -> io::Result<()> {
            // SAFETY: initialised.
            check(unsafe { libc::posix_spawn_file_actions_adddup2(self.0.as_mut_ptr(), from, to) })
        }
    }

    impl Drop for Actions {
        fn drop(&mut self) {
            // SAFETY: initialised, and used no more.
            unsafe { libc::posix_spawn_file_actions_destroy(self.0.as_mut_ptr()) };
        }
    }

    /// Signals as a program expects them: none blocked, and the two that we ignore (SIGPIPE, SIGXFSZ) as they are by default.
    struct Attributes(MaybeUninit<libc::posix_spawnattr_t>);

    impl Attributes {
        fn new(group: Group) -> io::Result<Self> {
            let mut all = MaybeUninit::uninit();
            // SAFETY: initialises what it is given.
            check(unsafe { libc::posix_spawnattr_init(all.as_mut_ptr()) })?;
            let mut made = Self(all);
            let (mut none, mut ignored) =
                (MaybeUninit::<libc::sigset_t>::uninit(), MaybeUninit::<libc::sigset_t>::uninit());
            let mut flags = libc::POSIX_SPAWN_SETSIGDEF | libc::POSIX_SPAWN_SETSIGMASK;
            if group == Group::Own {
                flags |= libc::POSIX_SPAWN_SETPGROUP;
            }
            let flags = libc::c_short::try_from(flags).map_err(io::Error::other)?;
            // SAFETY: the sets are initialised before they are used, the attributes above; group 0 is one of its own.
            unsafe {
                libc::sigemptyset(none.as_mut_ptr());
                libc::sigemptyset(ignored.as_mut_ptr());
                libc::sigaddset(ignored.as_mut_ptr(), libc::SIGPIPE);
                libc::sigaddset(ignored.as_mut_ptr(), libc::SIGXFSZ);
                check(libc::posix_spawnattr_setsigmask(made.0.as_mut_ptr(), none.as_ptr()))?;
                check(libc::posix_spawnattr_setsigdefault(made.0.as_mut_ptr(), ignored.as_ptr()))?;
                check(libc::posix_spawnattr_setpgroup(made.0.as_mut_ptr(), 0))?;
                check(libc::posix_spawnattr_setflags(made.0.as_mut_ptr(), flags))?;
            }
            Ok(made)
        }
    }

    impl Drop for Attributes {
        fn drop(&mut self) {
            // SAFETY: initialised, and used no more.
            unsafe { libc::posix_spawnattr_destroy(self.0.as_mut_ptr()) };
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io;
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    use rustix::process::Pid;

    use super::{Group, With, hand_down};

    pub(super) fn start(command: &mut Command, with: With<'_>) -> io::Result<Pid> {
        let [stdin, stdout, stderr] = with.streams;
        command.stdin(stdin).stdout(stdout).stderr(stderr);
        if with.group == Group::Own {
            command.process_group(0);
        }
        if !with.handed.is_empty() {
            hand_down(command, with.handed);
        }
        let child = command.spawn()?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        pid.ok_or_else(|| io::Error::other("a process without an id"))
    }
}
