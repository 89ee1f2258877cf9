//! `dacapo undo`: brings back what was put away (S9).

use dacapo_app::operations::undo::{PutAway, Undone};
use dacapo_core::dropped::Why;
use serde_json::Value;

use super::print;
use crate::App;
use crate::args::Undo;
use crate::error::Failure;
use crate::output::words::{self, BOLD, DIM, paint};

pub(super) fn run(app: &App, args: &Undo) -> Result<u8, Failure> {
    if args.list {
        let all = app.put_away()?;
        if args.json {
            print(&all.into_iter().map(|one| one.json).collect::<Value>().to_string());
        } else {
            list(&all);
        }
        return Ok(0);
    }
    let Undone { kept, way_back, json } = app.undo(args.name.as_deref())?;
    if args.json {
        print(&json.to_string());
        return Ok(0);
    }
    let name = &kept.name;
    let what = match (&kept.why, &kept.worktree, &kept.branch) {
        (_, Some(path), Some(branch)) => {
            let branch = branch.strip_prefix("refs/heads/").unwrap_or(branch);
            format!("branch {branch} and {}", path.display())
        }
        (Why::Dropped | Why::Merged { .. }, _, _) => "its record".to_owned(),
    };
    print(&format!("{name} is back: {what}"));
    if let Why::Merged { into, .. } = &kept.why {
        let short = words::branch(into);
        print(&paint(DIM, &format!("  what was merged into {short} stays there")));
        way_back.iter().for_each(|way| print(&paint(DIM, &format!("  {way}"))));
    }
    print(&paint(DIM, &format!("  dacapo status {name}")));
    Ok(0)
}

fn list(all: &[PutAway]) {
    if all.is_empty() {
        print("nothing to bring back");
        return;
    }
    let width = all.iter().map(|one| one.kept.name.chars().count()).max().unwrap_or(0).min(40);
    for PutAway { kept, bytes, .. } in all {
        let why = match (&kept.why, kept.merged, &kept.worktree) {
            (Why::Merged { .. }, _, _) => "merged",
            (Why::Dropped, _, None) => "in place",
            (Why::Dropped, true, _) => "dropped, merged",
            (Why::Dropped, false, _) => "dropped, not merged",
        };
        let when = kept.at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string();
        let size = words::bytes(*bytes);
        print(&format!(
            "{}  {when}  {size:>8}  {why:<19}  {}  {}",
            paint(BOLD, &format!("{:<width$}", kept.name)),
            words::line(&kept.prompt, 40),
            paint(DIM, &format!("dacapo undo {}", kept.id))
        ));
    }
}
