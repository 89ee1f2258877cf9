//! `dacapo config`.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use dacapo_core::git::Repo;
use signal_hook::consts::SIGINT;

use super::print;
use crate::App;
use crate::args::{Config, ConfigCommand};
use crate::config::{self, Loaded, Project, Sources, Whose, load, sample};
use crate::error::Failure;
use crate::laying::{Laid, lay};
use crate::output::words::{DIM, paint};

pub(super) fn run(app: &App, args: &Config) -> Result<u8, Failure> {
    let sources = match Repo::discover(Path::new("."), &app.env) {
        Ok(repo) => app.project_sources(repo.toplevel()),
        Err(_) => app.user_sources(),
    };
    match args.command.as_ref().unwrap_or(&ConfigCommand::Show { json: false }) {
        ConfigCommand::Schema => print(&format!("{:#}", config::schema())),
        ConfigCommand::Path => {
            for path in [&sources.user_file, &sources.project_file].into_iter().flatten() {
                let there = if path.exists() { "" } else { "  (not there)" };
                print(&format!("{}{there}", path.display()));
            }
        }
        ConfigCommand::Edit { project: false } => return edit_users(app),
        ConfigCommand::Edit { project: true } => return edit_projects(app),
        ConfigCommand::Show { json } => {
            let loaded = config::load(&sources)?;
            if *json {
                print(&format!("{:#}", config::render_json(&loaded)));
            } else {
                print(config::render(&loaded).trim_end());
            }
            for warning in &loaded.warnings {
                complain!("warning: {warning}");
            }
        }
    }
    Ok(0)
}

fn edit_users(app: &App) -> Result<u8, Failure> {
    let sources = app.user_sources();
    let path = sources.user_file.clone().ok_or_else(|| {
        Failure::usage("there is no home directory to keep settings in").hint("set HOME, or XDG_CONFIG_HOME")
    })?;
    edit(app, &path, Whose::User)?;
    checked(&path, &sources, "dacapo config edit")?;
    Ok(0)
}

fn edit_projects(app: &App) -> Result<u8, Failure> {
    let (repo, _) = app.repository()?;
    let sources = app.project_sources(repo.toplevel());
    let path = sources.project_file.clone().unwrap_or_else(|| repo.toplevel().join(".dacapo/config.toml"));
    let trusted = load(&sources).is_ok_and(|before| !matches!(before.project, Project::Unconfirmed { .. }));
    edit(app, &path, Whose::Project)?;
    let loaded = checked(&path, &sources, "dacapo config edit --project")?;
    if let Project::Unconfirmed { brought, .. } = &loaded.project {
        // What one has written oneself needs no further word; what came with the repository does (R6).
        if trusted {
            app.keep_trust(repo.toplevel(), brought);
        } else {
            print("what it sets has no effect until you trust it: dacapo trust");
        }
    }
    Ok(0)
}

/// Opens the file, made from a sample where there is none, and waits until it is closed.
fn edit(app: &App, path: &Path, whose: Whose) -> Result<(), Failure> {
    let editor = editor(app)?;
    let laid = lay(path, sample(whose).as_bytes())?;
    if laid == Laid::Made {
        complain!("note    {} is new: every setting is in it, as a comment", path.display());
    }
    // Ctrl-C at a terminal is for the editor.
    let _ = signal_hook::flag::register(SIGINT, Arc::default());
    // As git does it: the setting may hold arguments, and quotes.
    let ended = Command::new("sh").arg("-c").arg(format!("{editor} \"$@\"")).arg(&editor).arg(path).status();
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::failed(format!("`{editor}` failed ({status})"))
            .kept(format!("{} as it left it", path.display()))
            .hint("EDITOR=… dacapo config edit takes another one")),
        Err(error) => Err(Failure::failed(format!("`{editor}` cannot be started: {error}"))
            .kept(format!("{} as it was", path.display()))
            .hint("EDITOR=… dacapo config edit takes another one")),
    }
}

/// The user's editor. The project has no say: its settings may be what is to be mended.
fn editor(app: &App) -> Result<String, Failure> {
    let set = ["VISUAL", "EDITOR"].into_iter().filter_map(|name| app.var(name)?.to_str().map(str::to_owned));
    let own = load(&app.user_sources()).ok().and_then(|loaded| loaded.config.editor);
    if let Some(editor) = set.chain(own).find(|editor| !editor.trim().is_empty()) {
        return Ok(editor);
    }
    match ["nano", "vim", "vi"].into_iter().find(|name| app.on_path(name).is_some()) {
        Some(name) => Ok(name.to_owned()),
        None => Err(Failure::usage("no editor is known here")
            .hint("EDITOR=… dacapo config edit")
            .hint("dacapo config path shows where the files are")),
    }
}

/// What was written is kept, whatever it is; what is wrong with it is said.
fn checked(path: &Path, sources: &Sources, again: &str) -> Result<Loaded, Failure> {
    let loaded = load(sources).map_err(|error| Failure {
        hints: vec![format!("{again} opens it again").into(), "dacapo config schema lists every key".into()],
        ..Failure::from(error)
            .kept(format!("what you wrote, in {}; until it is mended no task starts", path.display()))
    })?;
    for warning in &loaded.warnings {
        complain!("warning: {warning}");
    }
    print(&format!("{} is in order", path.display()));
    print(&paint(DIM, "dacapo config shows what is in effect, and where each value comes from"));
    Ok(loaded)
}
