//! Other programs that get the terminal for a while.

use std::fs;
use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use super::effect::{Foreign, Pause};
use crate::App;
use crate::config;

/// Who leaves `attach` before the task has ended is not asked to press anything more.
const LEFT: i32 = 130;

/// Runs it until it ends; the problem in words, where it could not be run.
pub(super) fn run(app: &App, foreign: &Foreign, scratch: &Path) -> Result<(), String> {
    match foreign {
        Foreign::Ourselves { args, directory, pause } => {
            let mut command = ourselves(app, args, directory.as_deref())?;
            let status = in_terminal(app, &mut command)?;
            let stay = match pause {
                Pause::IfFailed => !status.success(),
                Pause::ForEnter => status.code() != Some(LEFT),
            };
            if stay {
                wait_for_enter(app);
            }
            Ok(())
        }
        Foreign::Plan(plan) => {
            // What somebody works in says how one comes back; an editor is known.
            if plan.program.is_none() {
                let mut out = std::io::stdout();
                let _ = writeln!(out, "{}", app.messages.tui_leave_comes_back()).and_then(|()| out.flush());
            }
            let status = in_terminal(app, &mut plan.command(app))?;
            if !status.success() {
                wait_for_enter(app);
            }
            Ok(())
        }
        Foreign::EditOutput { args, directory, name } => {
            let output = ourselves(app, args, directory.as_deref())?
                .stdin(Stdio::null())
                .output()
                .map_err(|error| app.messages.tui_not_started(&error.to_string()))?;
            let text = if output.stdout.is_empty() { output.stderr } else { output.stdout };
            edit(app, &text, &scratch.join(name.replace('/', "-")))
        }
        Foreign::EditText { text, name } => edit(app, text.as_bytes(), &scratch.join(name.replace('/', "-"))),
    }
}

fn ourselves(app: &App, args: &[String], directory: Option<&Path>) -> Result<Command, String> {
    let here = app.here().map_err(|failure| failure.shown(app.messages).to_string())?;
    let mut command = Command::new(&app.program);
    command.args(args).current_dir(directory.unwrap_or(here));
    command.env_clear().envs(app.env.iter().map(|(name, value)| (name, value)));
    Ok(command)
}

fn in_terminal(app: &App, command: &mut Command) -> Result<ExitStatus, String> {
    command.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
    command.status().map_err(|error| app.messages.tui_not_started(&error.to_string()))
}

fn wait_for_enter(app: &App) {
    let mut out = std::io::stdout();
    let _ = write!(out, "\n{} ", app.messages.tui_press_enter()).and_then(|()| out.flush());
    let _ = std::io::stdin().lock().read_line(&mut String::new());
}

/// Opens a text in the user's editor. It is a copy: what is changed there is changed nowhere else.
fn edit(app: &App, text: &[u8], path: &Path) -> Result<(), String> {
    let unable = |error: std::io::Error| app.messages.tui_not_started(&error.to_string());
    let plain: Vec<u8> = anstream::adapter::strip_bytes(text).into_vec();
    fs::write(path, plain).map_err(unable)?;
    let config = config::load(&app.user_sources()).map(|loaded| loaded.config).unwrap_or_default();
    let editor = app.in_editor(&config, path, path.parent().unwrap_or(path));
    let editor = editor.map_err(|failure| failure.shown(app.messages).to_string())?;
    in_terminal(app, &mut editor.command(app)).map(drop)
}
