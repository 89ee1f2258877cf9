//! Rules about source files that no compiler knows: how long they may be, and what may not stay in them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Outcome;

/// A `.rs` file over this many lines asks to be split.
const LINES_ASK: usize = 500;
/// Over this many it must be.
const LINES_FAIL: usize = 800;

/// Marks of unfinished work, in `.rs` files. In two parts, so that this file does not report itself.
const MARKS: &[(&str, &str)] = &[
    (concat!("todo", "!("), "unfinished: write it, or return an error that says it is missing"),
    (concat!("unimplemented", "!("), "unfinished: write it, or return an error that says it is missing"),
    (concat!("dbg", "!("), "left from debugging: remove it"),
    (concat!("FIX", "ME"), "repair it now, or open an issue and name it in a comment"),
    (concat!("#[ign", "ore"), "a test that never runs proves nothing: repair or remove it"),
];

/// Folders of one machine, in any text file.
const PLACES: &[&str] = &[concat!("/ro", "ot/"), concat!("/tmp/", "wt")];

/// A line with this and a reason may break a rule above.
const EXCUSE: &str = "mark-ok:";

/// No Rust file is too long; long ones are named.
pub(crate) fn file_sizes(root: &Path) -> Outcome {
    let mut lengths = Vec::new();
    for file in text_files(root)? {
        if file.extension().is_some_and(|e| e == "rs") {
            let text = read(&root.join(&file))?.unwrap_or_default();
            lengths.push((text.lines().count(), file));
        }
    }
    lengths.sort_by(|a, b| b.cmp(a));
    let list = |wanted: &dyn Fn(usize) -> bool| {
        let over = lengths.iter().filter(|(lines, _)| wanted(*lines));
        over.map(|(lines, file)| format!("  {lines} lines: {}", file.display())).collect::<Vec<_>>()
    };
    let ask = list(&|lines| lines > LINES_ASK && lines <= LINES_FAIL);
    if !ask.is_empty() {
        println!("warning: over {LINES_ASK} lines, split where it reads better:\n{}", ask.join("\n"));
    }
    let fail = list(&|lines| lines > LINES_FAIL);
    if !fail.is_empty() {
        return Err(format!("over {LINES_FAIL} lines, to be split by topic:\n{}", fail.join("\n")));
    }
    println!("  {} Rust files, none over {LINES_FAIL} lines", lengths.len());
    Ok(())
}

/// Nothing unfinished and no path of somebody's machine.
pub(crate) fn forbidden_marks(root: &Path) -> Outcome {
    let own = [Some(root.to_path_buf()), std::env::home_dir()];
    // A root or home of one part (`/src`, `/work`) is too common a word to look for.
    let own: Vec<String> = own
        .into_iter()
        .flatten()
        .filter(|dir| dir.components().count() > 2)
        .map(|dir| dir.to_string_lossy().into_owned())
        .collect();
    let files = text_files(root)?;
    let mut found = Vec::new();
    for file in &files {
        let Some(text) = read(&root.join(file))? else { continue };
        let rust = file.extension().is_some_and(|e| e == "rs");
        for (number, line) in text.lines().enumerate() {
            if let Some(why) = fault(line, rust, &own) {
                found.push(format!("  {}:{}: {why}", file.display(), number + 1));
            }
        }
    }
    if found.is_empty() {
        println!("  {} text files, nothing forbidden", files.len());
        return Ok(());
    }
    Err(format!("to be removed (or excused on the line with `{EXCUSE} REASON`):\n{}", found.join("\n")))
}

fn fault(line: &str, rust: bool, own: &[String]) -> Option<String> {
    if line.split_once(EXCUSE).is_some_and(|(_, reason)| !reason.trim().is_empty()) {
        return None;
    }
    if rust && let Some((mark, why)) = MARKS.iter().find(|(mark, _)| line.contains(mark)) {
        return Some(format!("`{mark}`: {why}"));
    }
    let places = PLACES.iter().copied().chain(own.iter().map(String::as_str));
    for place in places {
        if line.contains(place) {
            return Some(format!("`{place}` is a folder of one machine"));
        }
    }
    None
}

/// Files that could be text, by path below the root, in order. Ignored places and what git keeps are left out.
fn text_files(root: &Path) -> Outcome<Vec<PathBuf>> {
    const TEXT: &[&str] =
        &["css", "html", "js", "json", "md", "rs", "sh", "snap", "svg", "toml", "txt", "yaml", "yml"];
    const LEFT_OUT: &[&str] = &[".git", "target", "node_modules"];
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let shown = root.join(&folder);
        let entries = fs::read_dir(&shown).map_err(|e| format!("cannot read {}: {e}", shown.display()))?;
        for entry in entries {
            let entry = entry.map_err(|e| format!("cannot read {}: {e}", shown.display()))?;
            let kind = entry.file_type().map_err(|e| format!("cannot read {}: {e}", shown.display()))?;
            let name = entry.file_name();
            let path = folder.join(&name);
            if kind.is_dir() {
                // Somebody's target directory may have another name, but always has this tag.
                let cache = entry.path().join("CACHEDIR.TAG").exists();
                if !cache && !LEFT_OUT.iter().any(|n| name == *n) {
                    folders.push(path);
                }
            } else if kind.is_file()
                && (path.extension().is_none_or(|e| TEXT.iter().any(|t| e == *t)))
                // In a worktree this is a file that holds the path of the repository.
                && name != ".git"
            {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// `None` for what is not text.
fn read(path: &Path) -> Outcome<Option<String>> {
    let bytes = fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    Ok(String::from_utf8(bytes).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_count_in_rust_only_and_places_everywhere() {
        let mark = concat!("    dbg", "!(x);");
        assert!(fault(mark, true, &[]).is_some());
        assert!(fault(mark, false, &[]).is_none());
        let place = concat!("see /ro", "ot/notes");
        assert!(fault(place, false, &[]).is_some());
        assert!(fault("see /srv/code/x", false, &["/srv/code".to_owned()]).is_some());
        assert!(fault("let root = dir;", true, &[]).is_none());
    }

    #[test]
    fn an_excuse_needs_a_reason() {
        let bare = concat!("#[ign", "ore] // mark-ok: ");
        assert!(fault(bare, true, &[]).is_some());
        let excused = concat!("#[ign", "ore] // mark-ok: shown in a doc example");
        assert!(fault(excused, true, &[]).is_none());
    }

    #[test]
    fn a_long_file_is_refused_and_named() {
        let dir = std::env::temp_dir().join(format!("xtask-scan-{}", std::process::id()));
        fs::create_dir_all(dir.join("src")).unwrap();
        fs::write(dir.join("src/long.rs"), "//\n".repeat(LINES_FAIL + 1)).unwrap();
        fs::write(dir.join("src/fine.rs"), "//\n".repeat(LINES_FAIL)).unwrap();
        let result = file_sizes(&dir);
        fs::remove_dir_all(&dir).unwrap();
        let message = result.unwrap_err();
        assert!(message.contains("801 lines: src/long.rs"), "{message}");
        assert!(!message.contains("fine.rs"), "{message}");
    }
}
