//! The files that Dacapo reads in a repository, each with what it is for. Nothing that is there is overwritten.

mod anima;
mod layout;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::App;
use crate::config::{Project, Whose, load, sample};
use crate::error::Failure;
use crate::inside_task::is_inside;
use crate::messages::{Messages, Text, say};
use crate::milestones::Folder;
use crate::new_files::{NewFile, create_new};

pub use anima::Imported;
pub use layout::what_for;

/// What came of it; paths are from the top of the checkout.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct InitResult {
    /// The top of the checkout.
    pub top: PathBuf,
    pub made: Vec<String>,
    pub there: Vec<String>,
    pub imported: Vec<Imported>,
    pub notes: Vec<Text>,
}

impl InitResult {
    fn create_new(&mut self, path: &str, text: &str) -> Result<NewFile, Failure> {
        let file = create_new(&self.top.join(path), text.as_bytes())
            .map_err(|failure| failure.hint(say(Messages::init_make_room)))?;
        match file {
            NewFile::Created => self.made.push(path.to_owned()),
            NewFile::Exists => self.there.push(path.to_owned()),
        }
        Ok(file)
    }
}

impl App {
    /// Creates the files in `.dacapo/`, and takes over what the directory `import` of another program holds.
    pub fn init(&self, import: Option<&Path>) -> Result<InitResult, Failure> {
        let (repo, _) = self.repository()?;
        let folder = Folder::of(&repo);
        let top = folder.top();
        let mut founded = InitResult { top: top.to_owned(), ..InitResult::default() };
        let (mut config, mut settings) = (sample(Whose::Project), Vec::new());
        if let Some(from) = import {
            let here = self.here()?.join(from);
            let anima = anima::Anima::at(&if here.is_dir() { here } else { top.join(from) })?;
            // First: what is taken over is not in the way of itself.
            anima.import(&mut founded)?;
            settings = anima.settings();
            config = anima::Anima::put_in(&config, &settings);
        } else if top.join(anima::DIRECTORY).is_dir() {
            founded.notes.push(say(Messages::init_anima_here));
        }
        for (path, text) in layout::files(&config) {
            founded.create_new(&path, &text)?;
        }
        if founded.made.iter().any(|path| path == layout::CONFIG) {
            self.trust_what_was_laid(top)?;
        }
        if founded.there.iter().any(|path| path == layout::CONFIG) {
            let unset = settings
                .iter()
                .map(|(key, value)| say(|m| m.init_set_it_yourself(layout::CONFIG, key, value)));
            founded.notes.extend(unset);
        }
        if top.join("VISION.md").exists() {
            founded.notes.push(say(Messages::init_vision_at_top));
        }
        Ok(founded)
    }

    /// Settings that Dacapo wrote for this user need no further word (R6); what an agent has it write does.
    fn trust_what_was_laid(&self, top: &Path) -> Result<(), Failure> {
        if let Project::Unconfirmed { brought, .. } = load(&self.project_sources(top))?.project
            && !is_inside(self)?
        {
            self.keep_trust(top, &brought);
        }
        Ok(())
    }
}
