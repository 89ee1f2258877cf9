//! `dacapo config`.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use dacapo_app::operations::config::{ConfigChange, Effect, Written};
use signal_hook::consts::SIGINT;

use crate::args::{Config, ConfigCommand};
use crate::commands::Console;
use crate::config::{self, Origin, Whose};
use crate::error::Failure;
use crate::messages::{Messages, Text, say};
use crate::new_files::NewFile;
use crate::output::words::{DIM, paint};

pub(super) fn run(app: &Console, args: &Config) -> Result<u8, Failure> {
    let (sources, messages) = (app.config_sources(), app.messages);
    match args.command.as_ref().unwrap_or(&ConfigCommand::Show { json: false }) {
        ConfigCommand::Schema => app.print(&format!("{:#}", config::schema())),
        ConfigCommand::Path => {
            for path in [&sources.user_file, &sources.project_file].into_iter().flatten() {
                let there = if path.exists() { String::new() } else { messages.config_path_missing() };
                app.print(&format!("{}{there}", path.display()));
            }
        }
        ConfigCommand::Set { key, value, project } => {
            let change = app.set_config(whose(*project), key, value)?;
            match change.written {
                Written::Changed => {
                    app.print(&messages.config_set_in(key, &messages.path(Path::new(&change.path))));
                }
                Written::AsItWas => {
                    app.print(&messages.config_set_already(key, &messages.path(Path::new(&change.path))));
                }
            }
            tell_effect(app, &change);
        }
        ConfigCommand::Unset { key, project } => {
            let change = app.unset_config(whose(*project), key)?;
            match change.written {
                Written::Changed => {
                    app.print(&messages.config_unset_in(key, &messages.path(Path::new(&change.path))));
                }
                Written::AsItWas => {
                    app.print(&messages.config_not_set_in(key, &messages.path(Path::new(&change.path))));
                }
            }
            tell_effect(app, &change);
        }
        ConfigCommand::Edit { project } => return edit(app, whose(*project)),
        ConfigCommand::Show { json } => {
            let loaded = config::load(&sources)?;
            if *json {
                app.print(&serde_json::to_string_pretty(&config::object(&loaded)).unwrap_or_default());
            } else {
                app.print(config::render(&loaded, app.messages).trim_end());
            }
            warn(&loaded.warnings, messages);
        }
    }
    Ok(0)
}

fn whose(project: bool) -> Whose {
    if project { Whose::Project } else { Whose::User }
}

/// Says where the value comes from now, unless it is the file that was just written.
fn tell_effect(app: &Console, change: &ConfigChange) {
    let messages = app.messages;
    match &change.effect {
        Effect::Untrusted => app.print(&messages.config_untrusted()),
        Effect::StillWrong { problems } => warn(std::slice::from_ref(problems), messages),
        Effect::From { origin: Origin::User { path, .. } | Origin::Project { path, .. } }
            if path.display().to_string() == change.path => {}
        Effect::From { origin: Origin::Default } => {}
        Effect::From { origin } => {
            complain!("{}{}", messages.label_note(), messages.config_overridden(&origin.in_words(messages)));
        }
    }
}

fn warn(warnings: &[Text], messages: Messages) {
    for warning in warnings {
        complain!("{}{}", messages.label_warning(), warning.in_words(messages));
    }
}

/// Opens the file, made from a sample where there is none, and waits until it is closed.
fn edit(app: &Console, whose: Whose) -> Result<u8, Failure> {
    let file = app.config_file(whose)?;
    let editor = app.config_editor()?;
    let (path, messages) = (app.messages.path(&file.path), app.messages);
    if app.create_config(&file)? == NewFile::Created {
        complain!("{}{}", messages.label_note(), messages.config_new_file(&path));
    }
    // Ctrl-C at a terminal is for the editor.
    let _ = signal_hook::flag::register(SIGINT, Arc::default());
    // As git does it: the setting may hold arguments, and quotes.
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{editor} \"$@\"")).arg(&editor).arg(&file.path);
    let ended = crate::scrub(&mut shell).status();
    let another = || say(Messages::config_another_editor);
    match ended {
        Ok(status) if status.success() => {}
        Ok(status) => {
            let status = status.to_string();
            return Err(Failure::failed(say(|m| m.editor_failed(&editor, &status)))
                .kept(say(|m| m.config_kept_as_left(&path)))
                .hint(another()));
        }
        Err(error) => {
            let error = error.to_string();
            return Err(Failure::failed(say(|m| m.editor_cannot_start(&editor, &error)))
                .kept(say(|m| m.config_kept_as_was(&path)))
                .hint(another()));
        }
    }
    let again = match whose {
        Whose::User => "config edit",
        Whose::Project => "config edit --project",
    };
    let written = app.take_config(&file, again)?;
    warn(&written.loaded.warnings, messages);
    app.print(&messages.config_valid(&path));
    app.print(&paint(DIM, &messages.config_shows_effect()));
    if written.untrusted {
        app.print(&messages.config_untrusted());
    }
    Ok(0)
}
