//! The crates of this workspace, each with the files that it is compiled from.

use std::fs;
use std::path::{Path, PathBuf};

use super::tokens::{File, scan};
use crate::Outcome;

/// What is compiled as one: a library, or a program beside it.
pub(super) struct Crate {
    /// The folder's name, and behind it a program's file.
    pub(super) name: String,
    pub(super) files: Vec<File>,
}

/// All crates below `crates/`, found and not listed: a new one is checked from its first day.
pub(super) fn crates(root: &Path) -> Outcome<Vec<Crate>> {
    let mut crates = Vec::new();
    for folder in entries(&root.join("crates"))? {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let library = folder.join("src/lib.rs");
        let mut programs = vec![folder.join("src/main.rs")];
        for program in entries(&folder.join("src/bin"))? {
            programs.push(if program.is_dir() { program.join("main.rs") } else { program });
        }
        programs.retain(|program| program.is_file());
        if library.is_file() {
            crates.push(Crate { files: read(root, &library)?, name: name.clone() });
        }
        for program in programs {
            let shown = program.strip_prefix(&folder).unwrap_or(&program).display();
            crates.push(Crate { files: read(root, &program)?, name: format!("{name}/{shown}") });
        }
    }
    Ok(crates)
}

/// The files of a crate, from its root along `mod name;`: what is compiled for tests alone is never reached.
fn read(root: &Path, entry: &Path) -> Outcome<Vec<File>> {
    let mut files = Vec::new();
    let mut open = vec![(entry.to_path_buf(), Vec::new())];
    while let Some((file, module)) = open.pop() {
        let path = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).map_err(|e| format!("cannot read {path}: {e}"))?;
        let (scanned, children) = scan(&text, &module).map_err(|e| format!("cannot read {path}: {e}"))?;
        let owns_folder = module.is_empty() || file.ends_with("mod.rs");
        let folder = if owns_folder { file.with_file_name("") } else { file.with_extension("") };
        for child in children {
            let below = folder.join(child[module.len()..].iter().collect::<PathBuf>());
            let places = [below.with_extension("rs"), below.join("mod.rs")];
            let found = places.iter().find(|place| place.is_file());
            let found = found.ok_or_else(|| format!("{path}: no file for `mod {}`", child.join("::")))?;
            open.push((found.clone(), child));
        }
        files.push(File { path, ..scanned });
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// In order; none where there is no such folder.
fn entries(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let failed = |e: std::io::Error| format!("cannot read {}: {e}", folder.display());
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut paths =
        entries.map(|entry| entry.map(|e| e.path())).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_along_the_modules() {
        let dir = std::env::temp_dir().join(format!("xtask-source-{}", std::process::id()));
        for (file, text) in [
            ("lib.rs", "mod engine; mod store; #[cfg(test)] mod no;"),
            ("engine.rs", "mod run; mod inner { mod deep; }"),
            ("engine/run.rs", "use super::x;"),
            ("engine/inner/deep.rs", ""),
            ("store/mod.rs", "mod lock;"),
            ("store/lock.rs", ""),
            ("no.rs", "not Rust: '"),
            ("bin/other.rs", "mod own;"),
            ("bin/own.rs", ""),
        ] {
            let file = dir.join("crates/one/src").join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let crates = crates(&dir);
        fs::remove_dir_all(&dir).unwrap();
        let crates = crates.unwrap();
        let all = |one: &Crate| {
            let paths = one.files.iter().map(|file| file.path.replace("crates/one/src/", ""));
            (one.name.clone(), paths.collect::<Vec<_>>().join(" "))
        };
        let library = "engine.rs engine/inner/deep.rs engine/run.rs lib.rs store/lock.rs store/mod.rs";
        assert_eq!(all(&crates[0]), ("one".to_owned(), library.to_owned()));
        assert_eq!(
            all(&crates[1]),
            ("one/src/bin/other.rs".to_owned(), "bin/other.rs bin/own.rs".to_owned())
        );
    }
}
