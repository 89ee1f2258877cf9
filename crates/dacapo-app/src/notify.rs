//! Telling people that a task ended or needs them (U4): on the desktop, at an address, by a command of theirs.
//!
//! All ways are tried at once, each under a guard and for a bounded time. What fails is told and is never a failure of the
//! task.

mod body;
mod desktop;
mod doorbell;
mod message;
mod webhook;

use std::ffi::OsString;
use std::time::Duration;

pub use body::Notification;
pub use doorbell::Doorbell;
pub use message::Message;

use crate::App;
use crate::config::Notify;
use crate::guarded_command::{CommandEnd, CommandOutput, GuardedCommand};
use crate::present::words;

/// How much of a failing command's output is read.
const MOST_OUTPUT: u64 = 256 << 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Channel {
    /// A desktop notification, by this program.
    Desktop(desktop::Program),
    /// At this address; it is a secret.
    Webhook(String),
    /// By `sh -c`, for at most so long.
    Command(String, Duration),
}

impl Channel {
    pub fn name(&self) -> &'static str {
        match self {
            Channel::Desktop(_) => "desktop",
            Channel::Webhook(_) => "webhook",
            Channel::Command(..) => "command",
        }
    }
}

/// What came of one channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// Name of the channel.
    pub how: &'static str,
    pub error: Option<String>,
}

/// How long an address that does not answer is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Somebody waits for the prompt of their shell.
    Short,
    /// Nobody waits.
    Long,
}

/// The ways that are set and can be gone here. A desktop that is not there is no mistake: servers have none.
pub fn channels(app: &App, set: &Notify) -> Vec<Channel> {
    let desktop = set.desktop.then(|| desktop::program(&app.env)).flatten().map(Channel::Desktop);
    if set.desktop && desktop.is_none() {
        tracing::debug!("no desktop to notify on");
    }
    let webhook = set.webhook.clone().map(Channel::Webhook);
    let limit = set.command_timeout.duration();
    let command = set.command.clone().map(|command| Channel::Command(command, limit));
    desktop.into_iter().chain(webhook).chain(command).collect()
}

/// Tells people by all ways at once.
pub fn send(app: &App, channels: &[Channel], message: &Message, patience: Patience) -> Vec<Sent> {
    std::thread::scope(|scope| {
        let all: Vec<_> = channels
            .iter()
            .map(|way| {
                let sending = move || match way {
                    Channel::Desktop(program) => desktop::send(app, *program, message),
                    Channel::Webhook(url) => webhook::send(app, url, message, patience),
                    Channel::Command(command, limit) => run(app, command, *limit, message),
                };
                (way.name(), std::thread::Builder::new().spawn_scoped(scope, sending))
            })
            .collect();
        all.into_iter()
            .map(|(how, sending)| {
                let ended = match sending {
                    Ok(sending) => sending.join().unwrap_or_else(|_| Err("it could not be tried".to_owned())),
                    Err(error) => Err(format!("the system starts no more threads: {error}")),
                };
                Sent { how, error: ended.err() }
            })
            .collect()
    })
}

fn run(app: &App, command: &str, limit: Duration, message: &Message) -> Result<(), String> {
    let mut env = app.env.to_vec();
    env.retain(|(name, _)| !message.env.iter().any(|(ours, _)| name == ours));
    env.extend(message.env.iter().map(|(name, value)| ((*name).into(), value.into())));
    let done = GuardedCommand {
        argv: ["sh", "-c", command].map(OsString::from).into(),
        cwd: message.cwd(),
        env,
        stdin: format!("{}\n", message.json).into_bytes(),
        limit,
        most: MOST_OUTPUT,
    }
    .run_alone(app);
    judged(&done, limit)
}

/// Whether a program did its job.
fn judged(done: &CommandOutput, limit: Duration) -> Result<(), String> {
    let said = format!("{}\n{}", done.stdout, done.stderr);
    let said = dacapo_core::context::tail_lines(said.trim(), 1, 300);
    match &done.end {
        // That it talks too much does not mean that nobody was told.
        CommandEnd::Code(0) | CommandEnd::Flood => Ok(()),
        CommandEnd::Code(code) => Err(words::line(&format!("exit {code}: {said}"), words::WHOLE)),
        CommandEnd::TimeLimit => Err(format!("no end within {}; it was ended", words::duration(limit))),
        CommandEnd::Impossible(why) => Err(why.to_string()),
    }
}
