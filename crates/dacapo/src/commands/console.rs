//! What every command has at hand: the application for its user, and standard output.

use std::io::{self, Write as _};
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use crate::App;
use crate::error::Failure;
use crate::messages::{Messages, say};

/// The application at a command line. All that an [`App`] does is done on this as well.
#[derive(Debug)]
pub struct Console {
    app: App,
    pub(super) printer: Printer,
}

impl Console {
    pub fn new(app: App) -> Self {
        Self { app, printer: Printer::default() }
    }

    /// Prints to standard output, all at once; a reader that has gone is no error.
    pub(super) fn print(&self, text: &str) {
        self.printer.print(text);
    }

    /// What is to be said at the end of a command whose output could not be written: a full disk is no success (L15).
    pub fn unwritten(&self) -> Result<(), Failure> {
        match self.printer.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(not_written(&error)),
            None => Ok(()),
        }
    }
}

impl Deref for Console {
    type Target = App;

    fn deref(&self) -> &App {
        &self.app
    }
}

/// Standard output, and why it could not be written: the command goes on all the same, for what it shows is not what it
/// does. Clones share that.
#[derive(Debug, Clone, Default)]
pub(super) struct Printer(Arc<Mutex<Option<io::Error>>>);

impl Printer {
    /// Prints all at once.
    pub(super) fn print(&self, text: &str) {
        let mut stdout = io::stdout().lock();
        let mut whole = match anstream::AutoStream::choice(&stdout) {
            anstream::ColorChoice::Never => anstream::adapter::strip_str(text).to_string(),
            _ => text.to_owned(),
        };
        whole.push('\n');
        self.wrote(stdout.write_all(whole.as_bytes()));
    }

    /// Whether somebody still takes the output. That some is missing is remembered; a reader that has gone misses nothing.
    pub(super) fn wrote<T>(&self, result: io::Result<T>) -> bool {
        let Err(error) = result else { return true };
        if error.kind() != io::ErrorKind::BrokenPipe {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
        false
    }
}

/// A failure to show something.
pub(crate) fn not_written(error: &io::Error) -> Failure {
    Failure::failed(say(|m| m.stdout_unwritable(&error.to_string())))
        .kept(say(Messages::stdout_kept))
        .hint(say(Messages::stdout_make_room))
}
