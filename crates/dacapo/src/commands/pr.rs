//! `dacapo pr`: offers the branch of a task that is not running (S12).

use dacapo_core::store::LockError;
use serde_json::json;

use super::resume::{still_finishing, still_running};
use super::{print, task};
use crate::after_task::{keep, told};
use crate::args::{Pr, Show};
use crate::error::Failure;
use crate::pull_request::{Made, Offered, Plan, Wishes, program};
use crate::trust::{Gate, Using};

pub(super) fn run(args: &Pr) -> Result<u8, Failure> {
    let (repo, dir) = task(args.name.as_deref())?;
    let name = dir.name();
    let lock = dir.lock().map_err(|error| match error {
        LockError::Held => still_running(&name),
        LockError::Lingering => still_finishing(&name),
        LockError::Io { .. } => Failure::failed(error.to_string()),
    })?;
    let spec = dir.spec().map_err(|error| Failure::failed(error.to_string()))?;
    let show = Show { json: args.json, quiet: false };
    let loaded = Gate { top: repo.toplevel(), show }.settings(&[Using::PullRequests])?;
    for warning in &loaded.warnings {
        complain!("warning: {warning}");
    }
    if args.title.as_deref().is_some_and(|title| title.trim().is_empty()) {
        return Err(
            Failure::usage("--title is empty").hint("leave it out: the title is made from the prompt")
        );
    }
    let wishes = Wishes { title: args.title.clone(), base: args.base.clone(), draft: args.draft };
    let plan = Plan::new(Offered { spec: &spec, dir: &dir, config: &loaded.config }, &wishes)?;
    if args.dry_run {
        if args.json {
            print(&plan.to_json().to_string());
        } else {
            print(&plan.shown());
        }
        return Ok(0);
    }
    let made = plan.carry_out()?;
    keep(&dir, &lock, &plan, &made);
    if let Some(note) = plan.note() {
        complain!("note: {note}");
    }
    if !args.json {
        print(&told(&plan, &made));
        return Ok(0);
    }
    let mut shown = plan.to_json();
    let came = match &made {
        Made::Open { url, cli, already } => {
            json!({"url": url, "cli": program(*cli), "already_open": already})
        }
        Made::PushedOnly { message, command } => json!({"url": null, "message": message, "command": command}),
    };
    if let (Some(all), Some(more)) = (shown.as_object_mut(), came.as_object()) {
        all.extend(more.clone());
    }
    print(&shown.to_string());
    Ok(0)
}
