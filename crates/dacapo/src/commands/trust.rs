//! `dacapo trust`: shows what this repository would run here, and confirms it (R6).

use dacapo_app::operations::trust::TrustState;
use dacapo_core::event::FORMAT;
use serde_json::{Value, json};

use super::print;
use crate::App;
use crate::args::Show;
use crate::args::trust::Trust;
use crate::config::{Brought, Confirmed};
use crate::error::Failure;
use crate::output::words::{self, BOLD, DIM, WARN, paint};
use crate::question;
use crate::trust::{self, Reader, Record, VARIABLE, shown, summary};

pub(super) fn run(app: &App, args: &Trust) -> Result<u8, Failure> {
    if let Some(hash) = &args.revoke {
        let revoked = app.revoke_trust(hash.as_deref())?;
        print(&if args.json {
            json!({"v": FORMAT, "revoked": revoked}).to_string()
        } else {
            format!("{} taken back", words::count(revoked.len() as u64, "confirmation"))
        });
        return Ok(0);
    }
    let state = app.trust_state()?;
    let TrustState { brought: all, confirmed, records, .. } = &state;
    if args.list {
        print(&if args.json {
            listed_json(all, confirmed).to_string()
        } else {
            listed(all, confirmed, records)
        });
        return Ok(0);
    }
    let open = state.open();
    confirm(app, args, &open)?;
    open.iter().for_each(|brought| app.keep_trust(&state.top, brought));
    if args.json {
        print(&listed_json(all, &trust::confirmed(app, &state.top)).to_string());
    } else if open.is_empty() {
        print(
            "there is nothing to confirm: this repository brings nothing that runs here, or you trust it already",
        );
    } else {
        let what: Vec<String> =
            open.iter().map(|brought| summary(&brought.source, brought.entries.len())).collect();
        print(&format!("trusted, until it changes: {}", what.join(", ")));
        print(&paint(DIM, "dacapo trust --revoke takes it back"));
    }
    Ok(0)
}

fn confirm(app: &App, args: &Trust, open: &[&Brought]) -> Result<(), Failure> {
    if open.is_empty() {
        return Ok(());
    }
    for brought in open {
        anstream::eprintln!("{}", trust::in_words(brought));
    }
    if args.yes {
        return Ok(());
    }
    if !question::somebody_can_be_trusted(app, Show { json: args.json, quiet: false })? {
        return Err(Failure::usage("nobody can be asked here whether to trust this")
            .kept("everything; nothing is trusted that was not")
            .hint("dacapo trust --yes confirms it, if you have read it")
            .hint(format!(
                "{VARIABLE}=HASH confirms it for one command; dacapo trust --list names the hash"
            )));
    }
    if !question::yes("Trust all of this, until it changes? [y/N]", question::Default::No) {
        return Err(Failure::usage("it is not trusted").kept("everything; nothing was changed"));
    }
    Ok(())
}

fn listed(all: &[Brought], confirmed: &Confirmed, known: &[Record]) -> String {
    if all.is_empty() {
        return "this repository brings nothing that needs your word".to_owned();
    }
    let one = |brought: &Brought| {
        let since = known.iter().find(|record| record.hash == brought.hash).map(|record| record.trusted_at);
        let state = match (confirmed.includes(brought), since) {
            (true, Some(at)) => format!("trusted since {}", at.strftime("%Y-%m-%d %H:%M UTC")),
            (true, None) => format!("trusted by {VARIABLE}"),
            (false, _) => paint(WARN, "not trusted: no effect"),
        };
        let mut lines =
            vec![format!("{}  {state}", paint(BOLD, &brought.source)), format!("  {}", brought.hash)];
        let entries = brought.entries.iter().map(|entry| shown(entry, Reader::Log));
        lines.extend(
            entries.flat_map(|text| text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>()),
        );
        lines.join("\n")
    };
    all.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn listed_json(all: &[Brought], confirmed: &Confirmed) -> Value {
    let one = |brought: &Brought| {
        let entries = brought.entries.iter().map(|entry| shown(entry, Reader::Log)).collect::<Vec<_>>();
        json!({"source": brought.source, "hash": brought.hash, "trusted": confirmed.includes(brought), "entries": entries})
    };
    json!({"v": FORMAT, "brought": all.iter().map(one).collect::<Vec<_>>()})
}
