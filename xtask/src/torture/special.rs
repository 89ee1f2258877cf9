//! Pipes where git reads: whoever opens one waits for ever. Nothing of ours may.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::case::{Case, LOOK, WORK};
use super::clone;
use super::invariants;
use super::tally::Fault;
use super::task::look;
use super::world::{self, Checkout};
use crate::Outcome;

/// A task that meets a pipe is refused, or ends, by then.
const LIMIT: Duration = Duration::from_secs(90);

/// Where a pipe is put: in the workspace, in its own git directory, or in the one that all worktrees share.
const PLACES: &[&str] = &[
    "workspace/.gitignore",
    "workspace/.gitattributes",
    "workspace/src/.gitignore",
    "workspace/src/.gitattributes",
    "workspace/.gitmodules",
    "workspace/.worktreeinclude",
    "own/index",
    "own/HEAD",
    "own/commondir",
    "own/gitdir",
    "own/config.worktree",
    "own/COMMIT_EDITMSG",
    "shared/config",
    "shared/packed-refs",
    "shared/info/exclude",
    "shared/info/attributes",
    "shared/info/grafts",
    "shared/shallow",
    "shared/objects/info/alternates",
    "shared/refs/heads/main",
    "shared/refs/heads/dacapo/t",
    "shared/refs/heads/other",
    "shared/logs/HEAD",
];

const CHECK: &str = "test -e f1.txt";

pub(super) fn run(case: &mut Case) -> Outcome {
    let place = case.random.pick(PLACES);
    let by_agent = case.random.percent(60);
    case.log(&format!("a pipe at {place}, put there by the {}", if by_agent { "agent" } else { "user" }));
    case.tally.count("special-files");
    world::make(case, Checkout::Clean)?;
    let before = case.git(&["rev-parse", "main"])?;
    let plant = planting(case, place);
    let agent = format!(
        "cat > /dev/null; echo $DACAPO_ITERATION > f$DACAPO_ITERATION.txt; {}; echo did it",
        if by_agent { plant.as_str() } else { "true" }
    );
    let words = ["exec", "--name", "t", "--worktree", "--max-iterations", "3", "--check", CHECK];
    let words = [&words[..], &["--agent-cmd", &agent, "work"]].concat();
    if !by_agent {
        in_repo(case, &plant)?;
    }
    let ran = case.run(LIMIT, &words)?;
    if ran.code > 130 || ran.code < 0 {
        case.fault(Fault::State, format!("with a pipe at {place}: {}", ran.said()));
    }
    look(case, "t")?;
    for words in [&["merge", "t", "--no-agent"][..], &["kill", "t"], &["list"]] {
        case.run(LIMIT, words)?;
    }
    invariants::nobody_left(case);
    restore(case)?;
    // Without the pipe all is as usual.
    if invariants::word(case.status("t")?.as_ref()) != "none" {
        case.run(WORK, &["resume", "t"])?;
    }
    if let Some(status) = case.status("t")? {
        invariants::proof(case, &status)?;
    }
    clone::main_is_green(case, &before, CHECK)?;
    look(case, "t")?;
    case.run(LOOK, &["drop", "t"])?;
    invariants::nobody_left(case);
    if let Err(why) = case.git(&["fsck", "--connectivity-only", "--no-dangling", "--no-progress"]) {
        case.fault(Fault::Lost, format!("after a pipe at {place} the repository is broken: {why}"));
    }
    Ok(())
}

/// A script that puts the pipe there once and keeps what it replaces in `desk`.
fn planting(case: &Case, place: &str) -> String {
    let desk = case.path("desk").display().to_string();
    let shared = case.repo().join(".git").display().to_string();
    let (whose, path) = place.split_once('/').unwrap_or(("workspace", place));
    let dir = match whose {
        "own" => "own=$(sed -n 's/^gitdir: //p' .git 2>/dev/null || true); dir=${own:-.git}".to_owned(),
        "shared" => format!("dir={shared}"),
        _ => "dir=.".to_owned(),
    };
    format!(
        "if mkdir {desk}/planted 2>/dev/null; then {dir}; at=$(cd $dir && pwd)/{path}; mkdir -p \"${{at%/*}}\"; \
         mv \"$at\" {desk}/was 2>/dev/null; mkfifo \"$at\"; echo \"$at\" > {desk}/at; fi"
    )
}

fn in_repo(case: &mut Case, script: &str) -> Outcome {
    let mut shell = Command::new("sh");
    case.dress(&mut shell).args(["-c", script]);
    let started = case.start(shell)?;
    case.finish(started, LOOK).map(drop)
}

/// Puts back what the pipe replaced.
fn restore(case: &Case) -> Outcome {
    let Ok(at) = fs::read_to_string(case.path("desk/at")) else { return Ok(()) };
    let (at, was) = (PathBuf::from(at.trim()), case.path("desk/was"));
    let cannot = |e: std::io::Error| format!("cannot put {} back: {e}", at.display());
    let is_pipe = |path: &Path| {
        use std::os::unix::fs::FileTypeExt as _;
        fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_fifo())
    };
    if is_pipe(&at) {
        fs::remove_file(&at).map_err(cannot)?;
        if was.exists() {
            fs::rename(&was, &at).map_err(cannot)?;
        }
    }
    Ok(())
}
