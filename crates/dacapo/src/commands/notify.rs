//! `dacapo notify test`: a message by every way that is set, and what came of it (U4).

use std::path::Path;

use dacapo_app::messages::say;
use dacapo_app::present::json::Object;
use dacapo_app::present::json::objects::Notified;

use super::pad;
use crate::args::{NotifyCommand, Show};
use crate::commands::Console;
use crate::config::load;
use crate::error::Failure;
use crate::notify::{Message, Patience, channels, send};
use crate::question::asking;
use crate::trust::Using;

pub(super) fn run(app: &Console, command: &NotifyCommand) -> Result<u8, Failure> {
    let NotifyCommand::Test { json } = command;
    let loaded = match app.discover(Path::new(".")) {
        Ok(repo) => {
            let show = Show { json: *json, quiet: false };
            asking(app, show, |answers| app.settings(repo.toplevel(), &[Using::Notify], answers))?
        }
        Err(_) => load(&app.user_sources())?,
    };
    for warning in &loaded.warnings {
        complain!("{}{}", app.messages.label_warning(), warning.in_words(app.messages));
    }
    let channels = channels(app, &loaded.config.notify);
    if channels.is_empty() {
        return Err(Failure::usage(say(|m| m.notify_no_way())).hint(say(|m| m.notify_set_one())));
    }
    let sent = send(app, &channels, &Message::test(), Patience::Short);
    for one in &sent {
        match (&one.error, json) {
            (error, true) => {
                let (how, ok, error) = (one.how.to_owned(), error.is_none(), error.clone());
                app.print(&Object::Notified(Notified { how, ok, error }).line());
            }
            (None, false) => app.print(&format!("{} {}", pad(one.how, 8), app.messages.notify_sent())),
            (Some(error), false) => {
                app.print(&format!("{} {}", pad(one.how, 8), app.messages.notify_failed(error)));
            }
        }
    }
    Ok(u8::from(sent.iter().any(|one| one.error.is_some())))
}
