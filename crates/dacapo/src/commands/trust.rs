//! `dacapo trust`: shows what this repository would run here, and confirms it (R6).

use dacapo_core::git::Repo;
use serde_json::{Value, json};

use super::{print, repository};
use crate::args::Show;
use crate::args::trust::Trust;
use crate::config::{Brought, Confirmed, Project, Sources, load};
use crate::error::Failure;
use crate::milestones::Folder;
use crate::output::words::{self, BOLD, DIM, WARN, paint};
use crate::question;
use crate::request::milestone::prompts;
use crate::trust::{self, Gate, Reader, Record, Store, VARIABLE, shown, summary};

pub(super) fn run(args: &Trust) -> Result<u8, Failure> {
    let (repo, _) = repository()?;
    let store = Store::around(repo.toplevel()).ok_or_else(|| {
        Failure::usage("there is no data directory to remember it in").hint("set DACAPO_HOME")
    })?;
    if let Some(hash) = &args.revoke {
        return revoke(args, &store, hash.as_deref());
    }
    let all = everything(&repo)?;
    let confirmed = trust::confirmed(repo.toplevel());
    if args.list {
        print(&if args.json {
            listed_json(&all, &confirmed).to_string()
        } else {
            listed(&all, &confirmed, &store.records())
        });
        return Ok(0);
    }
    let open: Vec<&Brought> = all.iter().filter(|brought| !confirmed.includes(brought)).collect();
    confirm(args, &repo, &open)?;
    if args.json {
        print(&listed_json(&all, &trust::confirmed(repo.toplevel())).to_string());
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

fn confirm(args: &Trust, repo: &Repo, open: &[&Brought]) -> Result<(), Failure> {
    let gate = Gate { top: repo.toplevel(), show: Show { json: args.json, quiet: false } };
    if open.is_empty() {
        return Ok(());
    }
    for brought in open {
        anstream::eprintln!("{}", trust::in_words(brought));
    }
    if !args.yes {
        if !gate.somebody_can_be_asked()? {
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
    }
    open.iter().for_each(|brought| gate.keep(brought));
    Ok(())
}

/// All that the repository brings and that needs a person's word.
fn everything(repo: &Repo) -> Result<Vec<Brought>, Failure> {
    let mut all = Vec::new();
    match load(&Sources::for_repo(repo.toplevel()))?.project {
        Project::Harmless => {}
        Project::Confirmed(brought) | Project::Unconfirmed { brought, .. } => all.push(brought),
    }
    let folder = Folder::of(repo);
    all.extend(trust::of_prompts(&prompts(folder.top())?));
    for written in folder.all().unwrap_or_default() {
        let (Some(id), Ok((text, definition))) = (written.id(), &written.read) else { continue };
        let set = &definition.settings;
        if set.auto_start || trust::names_a_script([&set.developer, &set.acceptor]) {
            all.extend(trust::of_file(&Folder::relative(&id), text));
        }
    }
    all.extend(trust::of_script(repo.toplevel()));
    Ok(all)
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
    json!({"v": 1, "brought": all.iter().map(one).collect::<Vec<_>>()})
}

fn revoke(args: &Trust, store: &Store, hash: Option<&str>) -> Result<u8, Failure> {
    let hashes = store.hashes().into_iter().filter(|known| hash.is_none_or(|hash| known == hash));
    let mut revoked = Vec::new();
    for known in hashes {
        let removed = store.remove(&known).map_err(|error| {
            Failure::failed(format!("cannot take {known} back: {error}")).kept("everything that is not named")
        })?;
        if removed {
            revoked.push(known);
        }
    }
    if let (Some(hash), true) = (hash, revoked.is_empty()) {
        return Err(Failure::usage(format!("nothing with the hash {hash} is trusted here"))
            .hint("dacapo trust --list shows what is"));
    }
    if args.json {
        print(&json!({"v": 1, "revoked": revoked}).to_string());
    } else {
        print(&format!("{} taken back", words::count(revoked.len() as u64, "confirmation")));
    }
    Ok(0)
}
