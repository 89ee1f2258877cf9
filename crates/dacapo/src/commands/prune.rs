//! `dacapo prune`: removes what is merged, what was dropped long ago, and what crashes left (S9).

use dacapo_app::operations::prune::Pruned;
use dacapo_core::event::FORMAT;
use dacapo_core::prune::{Item, PutAway, Rules, What};
use dacapo_core::spec::parse_duration;
use serde_json::json;

use super::print;
use crate::App;
use crate::args::Prune;
use crate::error::Failure;
use crate::output::leftovers::because;
use crate::output::words::{self, DIM, WARN, paint};

pub(super) fn run(app: &App, args: &Prune) -> Result<u8, Failure> {
    let older_than = args.older_than.as_deref().map(|text| {
        parse_duration(text)
            .map_err(|error| Failure::usage(format!("--older-than: {error}")).hint("--older-than 30d"))
    });
    let rules = Rules {
        older_than: older_than.transpose()?,
        put_away: if args.dropped { PutAway::All } else { PutAway::MergedOrOld },
    };
    let pruned = if args.dry_run { app.prune_plan(rules)? } else { app.prune(rules)? };
    let Pruned { removed, spared, problems, bytes: freed } = pruned;
    if args.json {
        let gone: Vec<serde_json::Value> = removed
            .iter()
            .map(|(item, refs)| {
                let mut value = serde_json::to_value(item).unwrap_or_default();
                if let Some(object) = value.as_object_mut() {
                    object.insert("refs".into(), json!(refs));
                    object.insert("reason".into(), because(&item.reason, &item.what.name()).into());
                }
                value
            })
            .collect();
        let spared = spared
            .iter()
            .map(|spared| json!({"name": spared.name, "reason": because(&spared.reason, &spared.name)}));
        let spared: Vec<serde_json::Value> = spared.collect();
        let line = json!({"v": FORMAT, "type": "pruned", "dry_run": args.dry_run, "bytes": freed,
            "removed": gone, "spared": spared, "problems": problems});
        print(&line.to_string());
    } else {
        for (item, refs) in &removed {
            print(&row(item, refs));
        }
        for spared in &spared {
            print(&paint(
                DIM,
                &format!(
                    "stays     {}  {}",
                    spared.name,
                    words::line(&because(&spared.reason, &spared.name), words::WHOLE)
                ),
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
        paint(DIM, &format!("{}{kept}", because(&item.reason, &item.what.name())))
    )
}
