//! The files of a task, and the command that opens them: run by the surface that has a terminal, or a desktop.

use std::path::{Path, PathBuf};

use dacapo_core::spec::{Place, TaskSpec};

use super::terminal_plan::TerminalPlan;
use crate::App;
use crate::config::Config;
use crate::error::Failure;
use crate::messages::{Messages, say};
use crate::present::errors;
use crate::present::words;
use crate::question::{Answers, NotYet};
use crate::trust::Using;

/// Editors with windows of their own, for who has set none.
const FOUND: [&str; 7] = ["code", "cursor", "zed", "windsurf", "codium", "subl", "idea"];

impl App {
    /// Where the files of a task are; without a name, of the latest.
    pub fn files_of(&self, name: Option<&str>) -> Result<PathBuf, Failure> {
        let (_, dir) = self.task(name)?;
        let spec = dir.spec().map_err(|error| Failure::failed(errors::text(&error)))?;
        place(&spec).map_err(|failure| match self.view(&dir).ok().and_then(|view| view.merged) {
            Some(merged) => {
                let (name, branch) = (spec.name.as_str(), words::branch(&merged.into));
                Failure::usage(say(|m| m.open_merged(name, branch)))
                    .kept(say(Messages::open_kept_in_branch))
                    .hint(say(|m| m.open_diff_shows(name)))
            }
            None => failure,
        })
    }

    /// What opens the files at a path in the user's editor. One that the repository's settings name is confirmed first (R6).
    pub fn open_files(&self, path: &Path, answers: &Answers) -> Result<TerminalPlan, NotYet> {
        let (repo, _) = self.repository()?;
        let loaded = self.settings(repo.toplevel(), &[Using::Editor], answers)?;
        Ok(self.in_editor(&loaded.config, path, path)?)
    }

    /// What opens a path in the user's editor, by settings that were confirmed.
    pub fn in_editor(&self, config: &Config, path: &Path, cwd: &Path) -> Result<TerminalPlan, Failure> {
        let editor = self.editor(config)?;
        // As git does it: the setting may hold arguments, and quotes.
        let arguments = vec!["-c".into(), format!("{editor} \"$@\"").into(), (&editor).into(), path.into()];
        let program = Some("sh".into());
        Ok(TerminalPlan { name: editor, program, arguments, cwd: cwd.to_owned(), env: Vec::new() })
    }

    fn editor(&self, config: &Config) -> Result<String, Failure> {
        let variable = |name: &str| self.var(name)?.to_str().map(str::to_owned);
        let set = [config.editor.clone(), variable("VISUAL"), variable("EDITOR")];
        if let Some(editor) = set.into_iter().flatten().find(|editor| !editor.trim().is_empty()) {
            return Ok(editor);
        }
        let found: Option<PathBuf> = FOUND.iter().find_map(|name| self.on_path(name));
        match found.as_deref().and_then(Path::file_name) {
            Some(name) => Ok(name.to_string_lossy().into_owned()),
            None => Err(Failure::usage(say(Messages::open_no_editor))
                .hint(say(Messages::open_set_editor))
                .hint(say(Messages::open_print_shows))),
        }
    }
}

fn place(spec: &TaskSpec) -> Result<PathBuf, Failure> {
    let path = match &spec.place {
        Place::Worktree { path, .. } => path,
        Place::InPlace { .. } => &spec.top,
    };
    if path.is_dir() {
        return Ok(path.clone());
    }
    let (name, path) = (spec.name.as_str(), path.display().to_string());
    let gone = Failure::usage(say(|m| m.open_files_gone(name, &path)));
    Err(match &spec.place {
        Place::Worktree { branch, .. } => {
            let branch = branch.strip_prefix("refs/heads/").unwrap_or(branch);
            gone.kept(say(Messages::open_kept_commits))
                .hint(say(|m| m.open_switch_shows(branch)))
                .hint(say(|m| m.open_resume_recreates(name)))
        }
        Place::InPlace { .. } => gone,
    })
}
