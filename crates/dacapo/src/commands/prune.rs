//! `dacapo prune`: removes what is merged, what was dropped long ago, and what crashes left (S9).

use clap::Args;
use dacapo_core::prune::{Item, Prune, PutAway, Rules, What};
use dacapo_core::spec::parse_duration;
use jiff::Timestamp;
use serde_json::json;

use super::{at_work, print, repository};
use crate::error::Failure;
use crate::output::words::{self, DIM, WARN, paint};

/// Flags of `prune`.
#[derive(Debug, Args)]
#[command(
    after_help = "Worktrees of merged tasks go, and of what was dropped all that is merged or older than 30 days.
Proof checkouts go that no proof has used for 7 days (or for D); the next proof makes another.
What git can keep of it is under refs/dacapo/rescue/NAME/ first. Nothing else goes unless it is asked for."
)]
pub struct PruneArgs {
    /// Show what would go, and remove nothing
    #[arg(long, short = 'n')]
    pub dry_run: bool,
    /// Only what is older than D (12h, 30d)
    #[arg(long, value_name = "D")]
    pub older_than: Option<String>,
    /// All that was dropped, merged or not
    #[arg(long)]
    pub dropped: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(args: &PruneArgs) -> Result<u8, Failure> {
    let older_than = args.older_than.as_deref().map(|text| {
        parse_duration(text)
            .map_err(|error| Failure::usage(format!("--older-than: {error}")).hint("--older-than 30d"))
    });
    let rules = Rules {
        older_than: older_than.transpose()?,
        put_away: if args.dropped { PutAway::All } else { PutAway::MergedOrOld },
    };
    let (repo, data) = repository()?;
    let _at_work = if args.dry_run { None } else { at_work(&repo, &data) };
    let prune = Prune::new(&repo, &data, rules, Timestamp::now());
    let plan = prune.plan().map_err(|error| {
        Failure::failed(error.to_string()).kept("everything; nothing was removed").caused_by(error)
    })?;
    let (mut freed, mut removed, mut problems) = (0, Vec::new(), Vec::new());
    for item in &plan.items {
        if args.dry_run {
            freed += item.bytes;
            removed.push((item, Vec::new()));
            continue;
        }
        match prune.remove(item) {
            Ok(Some(refs)) => {
                freed += item.bytes;
                removed.push((item, refs));
            }
            Ok(None) => problems.push(format!("{}: it has changed meanwhile, and stays", item.what.name())),
            // One that cannot go does not keep the others.
            Err(error) => problems.push(format!("{}: {error}", item.what.name())),
        }
    }
    if args.json {
        let gone: Vec<serde_json::Value> = removed
            .iter()
            .map(|(item, refs)| {
                let mut value = serde_json::to_value(item).unwrap_or_default();
                if let Some(object) = value.as_object_mut() {
                    object.insert("refs".into(), json!(refs));
                }
                value
            })
            .collect();
        let line = json!({"v": 1, "type": "pruned", "dry_run": args.dry_run, "bytes": freed,
            "removed": gone, "spared": plan.spared, "problems": problems});
        print(&line.to_string());
    } else {
        for (item, refs) in &removed {
            print(&row(item, refs));
        }
        for spared in &plan.spared {
            print(&paint(
                DIM,
                &format!("stays     {}  {}", spared.name, words::line(&spared.reason, words::WHOLE)),
            ));
        }
        problems.iter().for_each(|problem| print(&paint(WARN, &format!("problem   {problem}"))));
        let verb = if args.dry_run { "would free" } else { "freed" };
        print(&match removed.len() {
            0 => "nothing to remove".to_owned(),
            some => format!("{verb} {} ({})", words::bytes(freed), words::count(some as u64, "thing")),
        });
    }
    Ok(u8::from(!problems.is_empty()))
}

fn row(item: &Item, refs: &[String]) -> String {
    let kind = match item.what {
        What::Worktree { .. } => "worktree",
        What::Dropped { .. } => "dropped",
        What::Proof { .. } => "proof",
        What::Left { .. } => "left over",
    };
    let kept = refs.iter().find(|name| name.ends_with("/tip")).or(refs.first());
    let kept = kept.map_or_else(String::new, |name| format!("; kept as {name}"));
    format!(
        "{kind:<9} {}  {}  {}",
        item.what.name(),
        words::bytes(item.bytes),
        paint(DIM, &format!("{}{kept}", item.reason))
    )
}
