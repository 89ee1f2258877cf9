//! `dacapo open`: the files of a task in the user's editor.

use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use dacapo_core::spec::{Place, TaskSpec};

use crate::App;
use crate::args::{Open, Show};
use crate::config::Config;
use crate::error::Failure;
use crate::output::words;
use crate::question::asking;
use crate::trust::Using;

/// Editors with windows of their own, for who has set none.
const FOUND: [&str; 7] = ["code", "cursor", "zed", "windsurf", "codium", "subl", "idea"];

pub(super) fn run(app: &App, args: &Open) -> Result<u8, Failure> {
    let (repo, dir) = app.task(args.name.as_deref())?;
    let spec = dir.spec().map_err(|error| Failure::failed(error.to_string()))?;
    let place = place(&spec).map_err(|failure| match app.view(&dir).ok().and_then(|view| view.merged) {
        Some(merged) => Failure::usage(format!(
            "task '{}' was merged into {}; its worktree is gone",
            spec.name,
            words::branch(&merged.into)
        ))
        .kept("all its commits, in that branch")
        .hint(format!("dacapo diff {} shows what it changed", spec.name)),
        None => failure,
    })?;
    if args.print {
        // Byte for byte: a shell goes there.
        let mut line = place.as_os_str().as_bytes().to_vec();
        line.push(b'\n');
        super::wrote(std::io::stdout().write_all(&line));
        return Ok(0);
    }
    let editor = [Using::Editor];
    let loaded = asking(app, Show::default(), |answers| app.settings(repo.toplevel(), &editor, answers))?;
    Err(in_editor(app, &loaded.config, place, place))
}

/// Opens a path in the user's editor. It takes our place, and with it the terminal: what comes back is why it did not.
pub(super) fn in_editor(app: &App, config: &Config, path: &Path, cwd: &Path) -> Failure {
    let editor = match editor(app, config) {
        Ok(editor) => editor,
        Err(failure) => return failure,
    };
    // As git does it: the setting may hold arguments, and quotes.
    let error = Command::new("sh")
        .arg("-c")
        .arg(format!("{editor} \"$@\""))
        .arg(&editor)
        .arg(path)
        .current_dir(cwd)
        .exec();
    Failure::failed(format!("`{editor}` cannot be started: {error}"))
        .hint("set `editor` in the config, or $EDITOR")
}

fn place(spec: &TaskSpec) -> Result<&Path, Failure> {
    let path = match &spec.place {
        Place::Worktree { path, .. } => path,
        Place::InPlace { .. } => &spec.top,
    };
    if path.is_dir() {
        return Ok(path);
    }
    let gone = Failure::usage(format!(
        "the files of task '{}' are not there any more: {}",
        spec.name,
        path.display()
    ));
    Err(match &spec.place {
        Place::Worktree { branch, .. } => {
            let branch = branch.strip_prefix("refs/heads/").unwrap_or(branch);
            gone.kept("its commits, unless its branch was removed too")
                .hint(format!("git switch {branch} shows them here"))
                .hint(format!("dacapo resume {} makes its worktree again and goes on", spec.name))
        }
        Place::InPlace { .. } => gone,
    })
}

fn editor(app: &App, config: &Config) -> Result<String, Failure> {
    let variable = |name: &str| app.var(name)?.to_str().map(str::to_owned);
    let set = [config.editor.clone(), variable("VISUAL"), variable("EDITOR")];
    if let Some(editor) = set.into_iter().flatten().find(|editor| !editor.trim().is_empty()) {
        return Ok(editor);
    }
    let found: Option<PathBuf> = FOUND.iter().find_map(|name| app.on_path(name));
    match found.as_deref().and_then(Path::file_name) {
        Some(name) => Ok(name.to_string_lossy().into_owned()),
        None => Err(Failure::usage("no editor is known here")
            .hint("editor = \"…\" in ~/.config/dacapo/config.toml, or export EDITOR=…")
            .hint("--print shows where the files are")),
    }
}
