//! What reaches the driver from elsewhere: commands in the task's inbox, and answers to what its agents ask.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::driver::{Driver, Message};
use super::machine::Input;
use super::surroundings::{Answers, DriverError, Reply};
use crate::agent::acp::Question;
use crate::event::{Command, Event, Needs};
use crate::git::display_path;
use crate::store::Watch;

impl Driver<'_> {
    /// Listens to the inbox, and takes what lies there already.
    pub(super) fn open_inbox(&mut self) -> Result<Option<Watch>, DriverError> {
        let outbox = self.outbox.clone();
        let mail = Arc::clone(&self.mail);
        let watch = self.dir.inbox().watch(move || {
            // One look is enough for however many files came before it.
            if !mail.swap(true, Ordering::SeqCst) {
                let _ = outbox.send(Message::Mail);
            }
        });
        self.take_orders()?;
        match watch {
            Ok(watch) => Ok(Some(watch)),
            Err(error) => {
                self.input(&Input::Notice(format!("commands cannot reach this task: {error}")))?;
                Ok(None)
            }
        }
    }

    /// Each is in the journal before its file goes, and none is taken twice.
    pub(super) fn take_orders(&mut self) -> Result<(), DriverError> {
        self.mail.store(false, Ordering::SeqCst);
        let inbox = self.dir.inbox();
        // An inbox that cannot be read is empty; who put something in waits for it to be taken, and says so.
        loop {
            let taken = inbox.take().unwrap_or_default();
            if taken.strangers > 0 && !std::mem::replace(&mut self.strangers_named, true) {
                let message = format!(
                    "{} in {} are no commands of Dacapo's; they are not obeyed",
                    if taken.strangers == 1 { "1 file".into() } else { format!("{} files", taken.strangers) },
                    display_path(inbox.path())
                );
                self.input(&Input::Notice(message))?;
            }
            let mut gone = false;
            for received in taken.orders {
                if self.commands_taken.insert(received.id.clone()) {
                    self.input(&Input::Command(received.clone()))?;
                    self.answer_with(&received.command);
                }
                gone |= inbox.done(&received).is_ok();
            }
            // There may be more than are taken at once.
            if !gone {
                return Ok(());
            }
        }
    }

    /// Puts a question to whoever is at hand, and into the journal for all others. False: nobody can answer.
    pub(super) fn is_asked(&mut self, question: &Question, reply: &Reply) -> Result<bool, DriverError> {
        let here = self.sink.ask(question, reply);
        if !here && self.setting.answers == Answers::Here {
            return Ok(false);
        }
        let mut options: Vec<String> = question.choices.iter().map(|choice| choice.name.clone()).collect();
        options.iter_mut().for_each(|option| *option = self.masker.mask_str(option));
        let needs =
            Needs { kind: "permission".into(), question: self.masker.mask_str(&question.what), options };
        self.asked = Some(question.clone());
        self.record(Event::Asked { needs })?;
        Ok(true)
    }

    /// A command that answers what was asked last; one that comes too late changes nothing.
    fn answer_with(&self, command: &Command) {
        let Some(question) = &self.asked else { return };
        let fitting = |allows: bool| {
            let all = question.choices.iter().enumerate().filter(|(_, choice)| choice.allows == allows);
            all.min_by_key(|(_, choice)| choice.for_good).map(|(at, _)| at)
        };
        let choice = match command {
            Command::Approve { choice: None } => fitting(true),
            Command::Approve { choice: Some(number) } => number.checked_sub(1),
            Command::Reject { .. } => fitting(false),
            Command::Kill
            | Command::Abandon
            | Command::Pause { .. }
            | Command::Tell { .. }
            | Command::Untell
            | Command::Refreeze { .. }
            | Command::Set { .. } => return,
        };
        Reply::new(self.outbox.clone(), question).choose(choice);
    }

    /// What was asked is answered, or its turn is over.
    pub(super) fn needs_no_answer(&mut self) -> Result<(), DriverError> {
        match self.asked.take() {
            Some(_) => self.record(Event::Answered),
            None => Ok(()),
        }
    }
}
