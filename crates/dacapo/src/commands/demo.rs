//! `dacapo demo`: a whole loop with the scripted agent in a scratch repository; a false "done" is caught on the way.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dacapo_app::messages::{Messages, say};
use dacapo_app::present::next::{self, Next};
use dacapo_app::scratch::commit_all;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::args::Demo;
use crate::commands::Console;
use crate::error::Failure;
use crate::output::human::DEMO_VARIABLE;
use crate::output::words::{DIM, paint};
use crate::rehearsal;

const PROMPT: &str = "Make greet.sh pass its tests";
const PROMISE: &str = "<promise>COMPLETE</promise>";

pub(super) fn run(app: &Console, args: &Demo) -> Result<u8, Failure> {
    let no_folder =
        |error: std::io::Error| Failure::failed(say(|m| m.demo_cannot_make_folder(&error.to_string())));
    let not_written =
        |error: std::io::Error| Failure::failed(say(|m| m.demo_cannot_write(&error.to_string())));
    let not_cleared =
        |error: std::io::Error| Failure::failed(say(|m| m.demo_cannot_clear_up(&error.to_string())));
    let scratch = tempfile::Builder::new().prefix("dacapo-demo-").tempdir().map_err(no_folder)?;
    let repo = scratch.path().join("greeter");
    for (path, content) in rehearsal::demo_files() {
        let path = repo.join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(no_folder)?;
        }
        std::fs::write(&path, content).map_err(not_written)?;
    }
    let script = scratch.path().join("demo.yaml");
    std::fs::write(&script, rehearsal::DEMO).map_err(not_written)?;
    commit_all(&repo, "A greeter with a bug")?;
    let messages = app.messages;
    let talks = !args.show.json && !args.show.quiet;
    if talks {
        app.print(&paint(DIM, &messages.demo_intro()));
        app.print(&paint(DIM, "$ git log --oneline"));
        app.print(&log(&repo));
        app.print(&paint(
            DIM,
            &format!("$ dacapo exec --agent rehearsal --check 'sh test.sh' --until '{PROMISE}' \"{PROMPT}\""),
        ));
    }
    let code = exec(args, scratch.path(), &repo, &script)?;
    if talks {
        app.print(&format!("\n{}\n{}", paint(DIM, "$ git log --oneline"), log(&repo)));
    }
    if args.keep {
        let kept = scratch.keep();
        app.print(&format!("{}{}", messages.label_kept(), messages.path(&kept)));
        if talks {
            let (data, repo) = (kept.join("data"), kept.join("greeter"));
            let diff = format!("DACAPO_HOME={} dacapo -C {} diff demo", data.display(), repo.display());
            app.print(&format!("{}{diff}", messages.label_next()));
        }
    } else if talks {
        app.print(&paint(DIM, &messages.demo_nothing_spent()));
        app.print(&in_your_repository(messages));
        scratch.close().map_err(not_cleared)?;
    } else if let Err(error) = scratch.close() {
        return Err(not_cleared(error));
    }
    Ok(code)
}

fn in_your_repository(messages: Messages) -> String {
    let all = [
        Next::new(messages.command("doctor"), messages.next_doctor()),
        Next::new("dacapo \"fix the failing tests\"", messages.next_first_task()),
    ];
    let mut out = messages.next_in_your_repository();
    for line in next::explained(&all) {
        out += &format!("\n  {line}");
    }
    out
}

/// The real command in a process of its own, so that it touches neither the user's tasks nor the user's settings.
fn exec(args: &Demo, scratch: &Path, repo: &Path, script: &Path) -> Result<u8, Failure> {
    // Ctrl-C reaches the child as well: it stops in good order, and then the scratch is cleared up here.
    let seen = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        let _ = signal_hook::flag::register(signal, Arc::clone(&seen));
    }
    let program = std::env::current_exe()
        .map_err(|error| Failure::failed(say(|m| m.own_program_missing(&error.to_string()))))?;
    let mut command = Command::new(program);
    command
        .current_dir(repo)
        .env("DACAPO_HOME", scratch.join("data"))
        .env("XDG_CONFIG_HOME", scratch.join("config"))
        .env(DEMO_VARIABLE, "1")
        .args(["exec", "--name", "demo", "--agent", &format!("rehearsal:{}", script.display())])
        .args(["--check", "sh test.sh", "--until", PROMISE])
        .args(args.show.json.then_some("--json"))
        .args(args.show.quiet.then_some("--quiet"))
        .arg(PROMPT);
    let status = command
        .status()
        .map_err(|error| Failure::failed(say(|m| m.demo_cannot_start(&error.to_string()))))?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

fn log(repo: &Path) -> String {
    let output =
        crate::scrub(&mut Command::new("git")).arg("-C").arg(repo).args(["log", "--oneline"]).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim_end().to_owned()).unwrap_or_default()
}
