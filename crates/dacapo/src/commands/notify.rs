//! `dacapo notify test`: a message by every way that is set, and what came of it (U4).

use std::path::Path;

use dacapo_core::git::Repo;
use serde_json::json;

use super::print;
use crate::args::{NotifyCommand, Show};
use crate::config::{Sources, load};
use crate::error::Failure;
use crate::notify::{Message, Patience, send, ways};
use crate::trust::{Gate, Using};

pub(super) fn run(command: &NotifyCommand) -> Result<u8, Failure> {
    let NotifyCommand::Test { json } = command;
    let loaded = match Repo::discover(Path::new(".")) {
        Ok(repo) => {
            let show = Show { json: *json, quiet: false };
            Gate { top: repo.toplevel(), show }.settings(&[Using::Notify])?
        }
        Err(_) => load(&Sources::for_user())?,
    };
    for warning in &loaded.warnings {
        complain!("warning: {warning}");
    }
    let ways = ways(&loaded.config.notify);
    if ways.is_empty() {
        return Err(Failure::usage(
            "there is no way to notify you: no desktop here, and neither webhook nor command is set",
        )
        .hint("[notify] webhook = \"https://…\" or command = \"…\" in ~/.config/dacapo/config.toml"));
    }
    let sent = send(&ways, &Message::test(), Patience::Short);
    for one in &sent {
        match (&one.error, json) {
            (error, true) => {
                print(&json!({"v": 1, "how": one.how, "ok": error.is_none(), "error": error}).to_string());
            }
            (None, false) => print(&format!("{:<8} sent", one.how)),
            (Some(error), false) => print(&format!("{:<8} failed: {error}", one.how)),
        }
    }
    Ok(u8::from(sent.iter().any(|one| one.error.is_some())))
}
