//! Disks that are full, or that fail: at an exact write by the tracer, and for real on a small file system.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::case::{Case, WORK};
use super::invariants;
use super::task::{Kind, Suffered, Task, look, settle, wait};
use super::tracer::Plan;
use super::world::{self, Checkout};
use crate::Outcome;

pub(super) fn run(case: &mut Case) -> Outcome {
    let kinds = [&Kind::LOOPS[..], &[Kind::Milestone]].concat();
    let kind = case.random.pick(&kinds);
    if case.random.percent(25) && kind != Kind::Queued {
        return small(case, kind);
    }
    let checkout = Checkout::of(case, kind);
    let mut users = world::make(case, checkout)?;
    let task = Task::new(case, "t", kind)?;
    if kind.is_milestone() {
        users.committed(case)?;
    }
    let plan = Plan::no_room(&mut case.random, kind.calls());
    case.struck(&plan, &task.words)?;
    look(case, "t")?;
    wait(case, &task)?;
    if let Some(status) = settle(case, &task)? {
        invariants::check(case, &task, &status, Suffered::More)?;
    }
    users.check_untracked(case)?;
    users.check(case)
}

/// A mounted file system, which goes with it.
struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn mount(dir: &Path, kilobytes: usize) -> Option<Mounted> {
    let mut command = Command::new("mount");
    command.args(["-t", "tmpfs", "-o", &format!("size={kilobytes}k"), "tmpfs"]).arg(dir);
    let output = command.output().ok()?;
    output.status.success().then(|| Mounted(dir.to_owned()))
}

/// The data directory has little room, until somebody makes some.
fn small(case: &mut Case, kind: Kind) -> Outcome {
    let (data, disk) = (case.path("data"), case.path("disk"));
    let size = 600 + case.random.below(600);
    // A link, so that it can be moved out of a clone's reach.
    let linked = fs::create_dir(&disk)
        .and_then(|()| fs::remove_dir(&data))
        .and_then(|()| std::os::unix::fs::symlink(&disk, &data));
    linked.map_err(|e| format!("cannot put {} in place: {e}", disk.display()))?;
    let Some(mounted) = mount(&disk, size) else {
        case.tally.remark("no file system may be mounted here: disks that are really full were left out");
        return Ok(());
    };
    case.tally.count("small-disks");
    let checkout = Checkout::of(case, kind);
    let mut users = world::make(case, checkout)?;
    let task = Task::new(case, "t", kind)?;
    if kind.is_milestone() {
        users.committed(case)?;
    }
    // All but a few kilobytes are taken by somebody else.
    let (ballast, room) = (data.join("ballast"), case.random.below(60));
    let _ = fs::write(&ballast, vec![7; (size - room) * 1024]);
    case.run(WORK, &task.words)?;
    look(case, "t")?;
    fs::remove_file(&ballast).map_err(|e| format!("cannot make room again: {e}"))?;
    wait(case, &task)?;
    if let Some(status) = settle(case, &task)? {
        invariants::check(case, &task, &status, Suffered::More)?;
    }
    users.check(case)?;
    super::processes::end_below(i32::try_from(std::process::id()).unwrap_or(0));
    drop(mounted);
    Ok(())
}
