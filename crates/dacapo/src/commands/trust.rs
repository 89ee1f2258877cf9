//! `dacapo trust`: shows what this repository would run here, and confirms it (R6).

use dacapo_app::operations::trust::TrustState;
use dacapo_app::present::json::Object;
use dacapo_app::present::json::objects::{BroughtFile, Trust as TrustObject, TrustRevoked};

use crate::args::Show;
use crate::args::trust::Trust;
use crate::commands::Console;
use crate::config::{Brought, Confirmed};
use crate::error::Failure;
use crate::messages::{Messages, say};
use crate::output::words::{BOLD, DIM, WARN, paint};
use crate::question;
use crate::trust::{self, Reader, Record, VARIABLE, shown, summary};

pub(super) fn run(app: &Console, args: &Trust) -> Result<u8, Failure> {
    if let Some(hash) = &args.revoke {
        let revoked = app.revoke_trust(hash.as_deref())?;
        app.print(&if args.json {
            Object::TrustRevoked(TrustRevoked { revoked }).line()
        } else {
            app.messages.trust_taken_back(revoked.len() as u64)
        });
        return Ok(0);
    }
    let state = app.trust_state()?;
    let TrustState { brought: all, confirmed, records, .. } = &state;
    if args.list {
        app.print(&if args.json {
            listed_json(all, confirmed)
        } else {
            listed(all, confirmed, records, app.messages)
        });
        return Ok(0);
    }
    let open = state.open();
    confirm(app, args, &open)?;
    open.iter().for_each(|brought| app.keep_trust(&state.top, brought));
    if args.json {
        app.print(&listed_json(all, &trust::confirmed(app, &state.top)));
    } else if open.is_empty() {
        app.print(&app.messages.trust_nothing_to_confirm());
    } else {
        let one = |brought: &&Brought| summary(&brought.source, brought.entries.len(), app.messages);
        let what: Vec<String> = open.iter().map(one).collect();
        app.print(&app.messages.trust_given(&what.join(", ")));
        app.print(&paint(DIM, &app.messages.trust_revoke_takes_back()));
    }
    Ok(0)
}

fn confirm(app: &Console, args: &Trust, open: &[&Brought]) -> Result<(), Failure> {
    if open.is_empty() {
        return Ok(());
    }
    for brought in open {
        anstream::eprintln!("{}", trust::in_words(brought, app.messages));
    }
    if args.yes {
        return Ok(());
    }
    if !question::somebody_can_be_trusted(app, Show { json: args.json, quiet: false })? {
        return Err(Failure::usage(say(Messages::trust_nobody_to_ask))
            .kept(say(Messages::kept_nothing_newly_trusted))
            .hint(say(Messages::trust_yes_confirms))
            .hint(say(|m| m.trust_variable_for_one_command(VARIABLE))));
    }
    if !question::yes(&app.messages.question_trust_all(), question::Default::No) {
        return Err(Failure::usage(say(Messages::trust_declined)).kept(say(Messages::kept_nothing_changed)));
    }
    Ok(())
}

fn listed(all: &[Brought], confirmed: &Confirmed, known: &[Record], messages: Messages) -> String {
    if all.is_empty() {
        return messages.trust_nothing_brought();
    }
    let one = |brought: &Brought| {
        let since = known.iter().find(|record| record.hash == brought.hash).map(|record| record.trusted_at);
        let state = match (confirmed.includes(brought), since) {
            (true, Some(at)) => messages.trust_since(&at.strftime("%Y-%m-%d %H:%M UTC").to_string()),
            (true, None) => messages.trust_trusted_by(VARIABLE),
            (false, _) => paint(WARN, &messages.trust_no_effect()),
        };
        let mut lines =
            vec![format!("{}  {state}", paint(BOLD, &brought.source)), format!("  {}", brought.hash)];
        let entries = brought.entries.iter().map(|entry| shown(entry, Reader::Log, messages));
        lines.extend(
            entries.flat_map(|text| text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>()),
        );
        lines.join("\n")
    };
    all.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn listed_json(all: &[Brought], confirmed: &Confirmed) -> String {
    let one = |brought: &Brought| BroughtFile {
        source: brought.source.clone(),
        hash: brought.hash.clone(),
        trusted: confirmed.includes(brought),
        entries: brought.entries.iter().map(|entry| shown(entry, Reader::Log, Messages::ENGLISH)).collect(),
    };
    Object::Trust(TrustObject { brought: all.iter().map(one).collect() }).line()
}
