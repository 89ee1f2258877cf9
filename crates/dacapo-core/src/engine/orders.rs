//! What reaches the driver from elsewhere: commands in the task's inbox, and answers to what its agents ask.

use super::context::{Answers, DriverError, Reply};
use super::driver::Driver;
use super::machine::Input;
use crate::agent::acp::Question;
use crate::event::{Choice, Event, NeedKind, Needs, Notice};
use crate::git::display_path;
use crate::store::InboxWatch;

impl Driver<'_> {
    /// Listens to the inbox, and takes what lies there already.
    pub(super) fn open_inbox(&mut self) -> Result<Option<InboxWatch>, DriverError> {
        // Watched first, read second: a command that comes between the two is found by the read or rings.
        let watch = self.mailbox.watch(&self.dir.inbox());
        self.take_orders()?;
        match watch {
            Ok(watch) => Ok(Some(watch)),
            Err(error) => {
                self.input(&Input::Notice(Notice::NoCommands { error: error.to_string() }))?;
                Ok(None)
            }
        }
    }

    /// Each is in the journal before its file goes, and none is taken twice.
    pub(super) fn take_orders(&mut self) -> Result<(), DriverError> {
        self.mailbox.opens_mail();
        let inbox = self.dir.inbox();
        // An inbox that cannot be read is empty; who put something in waits for it to be taken, and says so.
        loop {
            let taken = inbox.take().unwrap_or_default();
            if taken.strangers > 0 && self.mailbox.names_strangers() {
                let (files, path) = (taken.strangers as u64, display_path(inbox.path()));
                self.input(&Input::Notice(Notice::NoCommandsOfOurs { files, path }))?;
            }
            let mut gone = false;
            for received in taken.orders {
                if self.mailbox.is_new(&received) {
                    // Journal, then removal. Killed in between, the file is found again and skipped by its id.
                    self.input(&Input::Command(received.clone()))?;
                    self.mailbox.answer_with(&received.command);
                }
                gone |= inbox.done(&received).is_ok();
            }
            // There may be more than are taken at once.
            if !gone {
                if self.machine.ends_now() {
                    self.mailbox.stop_signal().ask();
                }
                return Ok(());
            }
        }
    }

    /// Puts a question to whoever is at hand, and into the journal for all others. False: nobody can answer.
    pub(super) fn is_asked(&mut self, question: &Question, reply: &Reply) -> Result<bool, DriverError> {
        let here = self.record.sink.ask(question, reply);
        if !here && self.context.answers == Answers::Here {
            return Ok(false);
        }
        let masker = self.launcher.masker();
        let offered = |name: &str| Choice::Offered { name: masker.mask_str(name) };
        let needs = Needs {
            kind: NeedKind::Permission { question: masker.mask_str(&question.what) },
            choices: question.choices.iter().map(|choice| offered(&choice.name)).collect(),
        };
        self.mailbox.asks(question);
        self.record(Event::Asked { needs })?;
        Ok(true)
    }

    /// What was asked is answered, or its turn is over.
    pub(super) fn needs_no_answer(&mut self) -> Result<(), DriverError> {
        if self.mailbox.withdraw() { self.record(Event::Answered) } else { Ok(()) }
    }
}
