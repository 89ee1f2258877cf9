//! The guard's dealings with signals: hear of ended children, be deaf to the rest, hand none of it down.
#![expect(unsafe_code, reason = "signal masks, dispositions and wait4 exist only as C functions")]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

/// Where the handler leaves its note.
static BELL: AtomicI32 = AtomicI32::new(-1);

/// Signals that a deaf process must still die of: they mean that it is broken.
const FAULTS: [libc::c_int; 7] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT, libc::SIGTRAP, libc::SIGSYS];

extern "C" fn ring(_signal: libc::c_int) {
    // SAFETY: `write` is async-signal-safe and the byte outlives the call. A full pipe is as good as one more byte.
    unsafe {
        libc::write(BELL.load(Ordering::Relaxed), [1u8].as_ptr().cast(), 1);
    }
}

/// Blocks everything but faults and SIGCHLD, and returns a pipe that becomes readable when a child ends.
pub(super) fn hear_only_children() -> io::Result<OwnedFd> {
    let (bell, handle) = io::pipe()?;
    rustix::io::ioctl_fionbio(&bell, true)?;
    // Both ends must not block: the handler could otherwise hang in `write` on a full pipe, and the guard in `read`
    // on an empty one.
    rustix::io::ioctl_fionbio(&handle, true)?;
    BELL.store(handle.as_raw_fd(), Ordering::Relaxed);
    // The handler writes to it for as long as the process lives.
    std::mem::forget(handle);
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    let mut mask = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: all-zero is a valid `sigaction`, `sigfillset` initialises the set, and the handler only writes to a pipe.
    unsafe {
        let action = action.assume_init_mut();
        action.sa_sigaction = ring as extern "C" fn(libc::c_int) as libc::sighandler_t;
        // SA_NOCLDSTOP: a job that is merely stopped (Ctrl-Z, a debugger) has not ended. `poll` is not restarted even
        // with SA_RESTART, which is what wakes the loop.
        action.sa_flags = libc::SA_RESTART | libc::SA_NOCLDSTOP;
        libc::sigfillset(&raw mut action.sa_mask);
        libc::sigfillset(mask.as_mut_ptr());
        for signal in FAULTS.iter().chain(&[libc::SIGCHLD]) {
            libc::sigdelset(mask.as_mut_ptr(), *signal);
        }
        if libc::sigprocmask(libc::SIG_SETMASK, mask.as_ptr(), std::ptr::null_mut()) != 0
            // The handler comes last. A child that ended before would be missed, but there is none yet.
            || libc::sigaction(libc::SIGCHLD, action, std::ptr::null_mut()) != 0
        {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(bell.into())
}

/// Gives every signal its default meaning and unblocks it. Between fork and exec: calls nothing but the kernel.
pub(super) fn reset_all() {
    let mut none = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: both calls are async-signal-safe; ids that cannot be set give an error, which is what they should do.
    unsafe {
        // Ignored signals stay ignored over exec: started from a shell under `nohup`, say, the job would not hear
        // SIGHUP.
        for signal in 1..=64 {
            libc::signal(signal, libc::SIG_DFL);
        }
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
    }
}

/// A child that has ended.
pub(super) struct Ended {
    pub(super) pid: u32,
    pub(super) code: Option<i32>,
    pub(super) signal: i32,
    pub(super) cpu: Duration,
}

/// What there is to wait for.
pub(super) enum Waited {
    Ended(Ended),
    /// Children live, none has ended.
    Nothing,
    /// There is no child left.
    Childless,
}

/// Waits for any child without blocking.
pub(super) fn wait_any() -> Waited {
    wait(libc::WNOHANG)
}

/// Waits until a child ends; none: there is none left.
#[cfg(target_os = "linux")]
pub(super) fn wait_next() -> Option<Ended> {
    loop {
        match wait(0) {
            Waited::Ended(ended) => return Some(ended),
            Waited::Nothing => {}
            Waited::Childless => return None,
        }
    }
}

/// Waits until this child has ended.
#[cfg(target_os = "linux")]
pub(super) fn wait_for(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.cast_signed());
    while matches!(
        rustix::process::waitpid(pid, rustix::process::WaitOptions::empty()),
        Err(rustix::io::Errno::INTR)
    ) {}
}

fn wait(options: libc::c_int) -> Waited {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers are valid for writes, and all-zero is a valid `rusage`.
    let (pid, usage) = unsafe {
        // `wait4` and not `waitpid`: it also gives the processor time of the child and of what the child waited for.
        let pid = libc::wait4(-1, &raw mut status, options, usage.as_mut_ptr());
        (pid, usage.assume_init())
    };
    match pid {
        0 => Waited::Nothing,
        pid if pid > 0 => Waited::Ended(Ended {
            pid: pid.cast_unsigned(),
            code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
            signal: if libc::WIFSIGNALED(status) { libc::WTERMSIG(status) } else { 0 },
            cpu: duration(usage.ru_utime) + duration(usage.ru_stime),
        }),
        _ if io::Error::last_os_error().raw_os_error() == Some(libc::ECHILD) => Waited::Childless,
        _ => Waited::Nothing,
    }
}

/// Forks, into new namespaces of these kinds; none: this is the new process. Only for a process with one thread.
#[cfg(target_os = "linux")]
pub(super) fn clone_process(namespaces: libc::c_int) -> io::Result<Option<u32>> {
    let flags = libc::c_long::from(namespaces | libc::SIGCHLD);
    // SAFETY: without a stack and without shared memory this is `fork`. With one thread no lock can be held by another one
    // that is not there afterwards.
    match unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) } {
        0 => Ok(None),
        pid => u32::try_from(pid).map(Some).map_err(|_| io::Error::last_os_error()),
    }
}

/// Leaves the bell to the process that this one is a copy of.
#[cfg(target_os = "linux")]
pub(super) fn forget_children() {
    // SAFETY: gives a signal its default meaning.
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
    }
}

/// Closes all descriptors from 3 up except these, which are in order. Whoever owns them in this process never drops them.
#[cfg(target_os = "linux")]
pub(super) fn close_all_but(kept: &[u32]) {
    let mut from = 3;
    for next in kept.iter().copied().chain([libc::c_uint::MAX]) {
        if next > from {
            // SAFETY: closes by number; the process is a copy that leaves without using what it inherited.
            unsafe {
                libc::syscall(libc::SYS_close_range, from, next - 1, 0);
            }
        }
        from = next.saturating_add(1);
    }
}

/// Ends this process at once: nothing is flushed, dropped or called.
#[cfg(target_os = "linux")]
pub(super) fn exit_now() -> ! {
    exit_with(0)
}

/// The same with a code.
#[cfg(target_os = "linux")]
pub(super) fn exit_with(code: i32) -> ! {
    // SAFETY: takes a number and does not return.
    unsafe { libc::_exit(code) }
}

fn duration(time: libc::timeval) -> Duration {
    Duration::from_secs(time.tv_sec.try_into().unwrap_or(0))
        + Duration::from_micros(time.tv_usec.try_into().unwrap_or(0))
}

/// Lets a write beyond the limit of file sizes (`ulimit -f`) fail like one to a full disk. By default it would end the process
/// without a word. Programs that are started get the default back.
pub fn survive_file_size_limit() {
    // SAFETY: ignoring a signal has no handler that could run.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// Marks every descriptor from 3 up as not to be inherited.
pub fn keep_descriptors_to_ourselves() {
    #[cfg(target_os = "linux")]
    {
        const CLOSE_RANGE_CLOEXEC: libc::c_uint = 4;
        // SAFETY: takes three numbers and changes a flag of descriptors; nothing is closed.
        // Descriptors that were inherited from whoever started us, and those of libraries, may lack the flag. With
        // one call it is set on all of them; the loop below could miss one that another thread opens meanwhile.
        let done = unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, CLOSE_RANGE_CLOEXEC) };
        if done == 0 {
            return;
        }
    }
    let listed = std::fs::read_dir("/dev/fd").into_iter().flatten().flatten();
    let open: Vec<i32> = listed.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for descriptor in open.into_iter().filter(|descriptor| *descriptor > 2) {
        // SAFETY: sets a flag by number; one that is no longer open gives an error.
        unsafe {
            libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC);
        }
    }
}
