//! Keeps the machine awake while a task works.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A child that keeps the machine awake as long as it lives; it ends with the pipe it reads from, that is with us.
pub(super) struct Awake {
    child: Child,
}

impl Drop for Awake {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

pub(super) fn keep_awake(task: &str) -> Option<Awake> {
    let argv = awake_command(task, "cat")?;
    let mut command = Command::new(&argv[0]);
    // The pipe ends with this process however it dies, and `cat` with the pipe: nothing can keep the machine awake
    // for good.
    command.args(&argv[1..]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    Some(Awake { child: command.spawn().ok()? })
}

/// What keeps the machine awake while `program` runs; none where nothing can.
pub fn awake_command(task: &str, program: &str) -> Option<Vec<OsString>> {
    let why = format!("task {task}");
    let argv: &[&str] = if cfg!(target_os = "macos") {
        &["caffeinate", "-i", program]
    } else if Path::new("/run/systemd/system").exists() {
        &["systemd-inhibit", "--what=idle:sleep", "--who=dacapo", "--mode=block", "--why", &why, program]
    } else {
        return None;
    };
    Some(argv.iter().map(OsString::from).collect())
}
