//! Notifications on the desktop, by the program that each system has for it.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use super::{MOST_OUTPUT, Message, judged};
use crate::App;
use crate::guarded_command::{GuardedCommand, on_path};

/// A desktop that does not answer is not there.
const LIMIT: Duration = Duration::from_secs(10);

/// The program that shows a desktop notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// Linux and others, through the session's bus.
    NotifySend,
    Osascript,
}

/// The program for this machine and session; none: there is no desktop.
pub(super) fn program(env: &[(OsString, OsString)]) -> Option<Program> {
    if cfg!(target_os = "macos") {
        return on_path("osascript", env).map(|_| Program::Osascript);
    }
    let variable = |name: &str| env.iter().find(|(known, value)| known == name && !value.is_empty());
    let bus = variable("DBUS_SESSION_BUS_ADDRESS").is_some()
        || variable("XDG_RUNTIME_DIR").is_some_and(|(_, dir)| Path::new(dir).join("bus").exists());
    on_path("notify-send", env).filter(|_| bus).map(|_| Program::NotifySend)
}

pub(super) fn send(app: &App, program: Program, message: &Message) -> Result<(), String> {
    let argv: Vec<OsString> = match program {
        Program::NotifySend => {
            let urgency = if message.urgent { "--urgency=critical" } else { "--urgency=normal" };
            // Some desktops read markup in the text.
            let text = message.text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            vec![
                "notify-send".into(),
                "--app-name=dacapo".into(),
                urgency.into(),
                "--".into(),
                message.title.clone().into(),
                text.into(),
            ]
        }
        Program::Osascript => [
            "osascript",
            "-e",
            "on run argv",
            "-e",
            "display notification (item 2 of argv) with title (item 1 of argv)",
            "-e",
            "end run",
            "--",
            &message.title,
            &message.text,
        ]
        .map(OsString::from)
        .into(),
    };
    let command = GuardedCommand {
        argv,
        cwd: "/".into(),
        env: app.env.to_vec(),
        stdin: Vec::new(),
        limit: LIMIT,
        most: MOST_OUTPUT,
    };
    judged(&command.run_alone(app), LIMIT)
}
