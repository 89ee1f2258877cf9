//! `dacapo config`.

use std::path::Path;

use dacapo_core::git::Repo;

use super::print;
use crate::args::{Config, ConfigCommand};
use crate::config::{self, Sources};
use crate::error::Failure;

pub(super) fn run(args: &Config) -> Result<u8, Failure> {
    let sources = match Repo::discover(Path::new(".")) {
        Ok(repo) => Sources::for_repo(repo.toplevel()),
        Err(_) => Sources::for_user(),
    };
    match args.command.as_ref().unwrap_or(&ConfigCommand::Show { json: false }) {
        ConfigCommand::Schema => print(&format!("{:#}", config::schema())),
        ConfigCommand::Path => {
            for path in [&sources.user_file, &sources.project_file].into_iter().flatten() {
                let there = if path.exists() { "" } else { "  (not there)" };
                print(&format!("{}{there}", path.display()));
            }
        }
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
