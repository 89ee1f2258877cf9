//! The program at a terminal of its own, with keys that are pressed and a screen that is read.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use crate::support::{World, wait_for};

/// A program that has a terminal. It is ended with the test.
pub(crate) struct Terminal {
    keyboard: File,
    said: Arc<Mutex<Vec<u8>>>,
    modes: String,
    reading: JoinHandle<()>,
    child: Option<Child>,
}

impl World {
    /// Starts the program as the only one of a terminal.
    pub(crate) fn at_terminal(&self, words: &[&str]) -> Terminal {
        Terminal::start(&self.command(words))
    }
}

impl Terminal {
    /// Runs this command with everything at a new terminal.
    pub(crate) fn start(command: &Command) -> Self {
        Self::start_with(command, "")
    }

    /// The same, at a terminal where this was typed before.
    pub(crate) fn start_with(command: &Command, typed: &str) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let size = Winsize { ws_row: 40, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let slave = File::options().read(true).write(true).open(name).unwrap();
        let modes = modes(&tcgetattr(&slave).unwrap());
        File::from(master.try_clone().unwrap()).write_all(typed.as_bytes()).unwrap();
        let end = || Stdio::from(slave.try_clone().unwrap());
        // It makes a session and the terminal on its standard input the session's own, and then is the command.
        let mut inside = Command::new("setsid");
        inside.arg("--ctty").arg(command.get_program()).args(command.get_args()).env_clear();
        inside.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        inside.env("TERM", "xterm").current_dir(command.get_current_dir().unwrap());
        let child = inside.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        drop((inside, slave));
        let said = Arc::new(Mutex::new(Vec::new()));
        let mut screen = File::from(master);
        let keyboard = screen.try_clone().unwrap();
        let seen = Arc::clone(&said);
        let reading = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // It fails when nobody has the other end any more.
            while let Ok(count) = screen.read(&mut buffer) {
                seen.lock().unwrap().extend_from_slice(&buffer[..count]);
            }
        });
        Self { keyboard, said, modes, reading, child: Some(child) }
    }

    /// All bytes that came so far.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.said.lock().unwrap().clone()
    }

    /// Gives the terminal another size; the program is told by the signal.
    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.keyboard, size).unwrap();
    }

    /// Whether lines are typed as before the program came.
    pub(crate) fn is_as_before(&self) -> bool {
        tcgetattr(&self.keyboard).is_ok_and(|now| modes(&now) == self.modes)
    }

    /// All that was shown so far.
    pub(crate) fn said(&self) -> String {
        String::from_utf8_lossy(&self.said.lock().unwrap()).into_owned()
    }

    /// Waits until this was shown.
    pub(crate) fn shows(&self, text: &str) {
        wait_for(&format!("{text:?} at the terminal"), || self.said().contains(text));
    }

    /// Waits until the terminal gives keys away one by one, as it is while a question stands.
    pub(crate) fn asks(&self) {
        wait_for("single keys to be read", || {
            tcgetattr(&self.keyboard).is_ok_and(|now| modes(&now) != self.modes)
        });
    }

    /// Presses keys.
    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> rustix::process::Pid {
        let pid = i32::try_from(self.child.as_ref().unwrap().id()).unwrap();
        rustix::process::Pid::from_raw(pid).unwrap()
    }

    /// Whether the program is gone.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.as_mut().unwrap().try_wait().unwrap().is_some()
    }

    /// The exit code and all that was shown; the terminal is as it was.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let mut child = self.child.take().unwrap();
        let mut status = None;
        wait_for("the program to end", || {
            status = child.try_wait().unwrap();
            status.is_some()
        });
        wait_for("all of it to be shown", || self.reading.is_finished());
        assert_eq!(modes(&tcgetattr(&self.keyboard).unwrap()), self.modes, "modes of the terminal");
        (status.unwrap().code(), self.said())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The same command line, given to `sh`.
pub(crate) fn in_shell(command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(command.get_args()).env_clear().current_dir(command.get_current_dir().unwrap());
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell
}

fn modes(of: &Termios) -> String {
    format!("{:?} {:?} {:?}", of.input_modes, of.output_modes, of.local_modes)
}
