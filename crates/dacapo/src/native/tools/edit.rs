//! Changes files for the model.

use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};

use serde::Deserialize;

use super::place::{Place, failed};

#[derive(Debug, Deserialize)]
pub(super) struct Edit {
    path: String,
    old: String,
    new: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Write {
    path: String,
    content: String,
}

/// Replaces what occurs exactly once.
pub(super) fn edit(place: &Place, wanted: &Edit) -> Result<String, String> {
    let path = wanted.path.as_str();
    if wanted.old.is_empty() {
        return Err("`old` is empty; write_file replaces a whole file".into());
    }
    if wanted.old == wanted.new {
        return Err("`old` and `new` are the same".into());
    }
    let (file, text) = place.text(path)?;
    // The last place too: occurrences that overlap are two.
    let at = match (text.find(wanted.old.as_str()), text.rfind(wanted.old.as_str())) {
        (Some(at), last) if last == Some(at) => at,
        (Some(_), _) => {
            return Err(format!(
                "`old` is in {path} more than once; give more lines, so that it is one place"
            ));
        }
        (None, _) if text.contains("\r\n") && text.replace("\r\n", "\n").contains(wanted.old.as_str()) => {
            return Err(format!("lines of {path} end in \\r\\n: `old` needs that too"));
        }
        (None, _) => return Err(format!("`old` is not in {path}; read the file again")),
    };
    let changed = [&text[..at], wanted.new.as_str(), &text[at + wanted.old.len()..]].concat();
    put(file, &changed).map_err(|error| failed("write", path, &error))?;
    let line = text[..at].matches('\n').count() + 1;
    Ok(format!("changed {path} at line {line}"))
}

/// Makes or replaces a file.
pub(super) fn write(place: &Place, wanted: &Write) -> Result<String, String> {
    let path = wanted.path.as_str();
    let (file, existed) = place.write(path)?;
    put(file, &wanted.content).map_err(|error| failed("write", path, &error))?;
    let what = if existed { "replaced" } else { "created" };
    Ok(format!("{what} {path}, {} bytes", wanted.content.len()))
}

/// The new content first and the new length last: killed in between, the file has too much, not too little.
fn put(mut file: File, content: &str) -> std::io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(content.as_bytes())?;
    file.set_len(content.len() as u64)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn edited(content: &str, old: &str, new: &str) -> Result<String, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, content).unwrap();
        let place = Place::open(dir.path()).unwrap();
        edit(&place, &Edit { path: "f".into(), old: old.into(), new: new.into() })?;
        Ok(std::fs::read_to_string(path).unwrap())
    }

    #[test]
    fn what_is_there_once_is_replaced() {
        assert_eq!(edited("one two three", "two", "2").unwrap(), "one 2 three");
        assert_eq!(edited("a\nb\nc", "a\nb", "x").unwrap(), "x\nc");
        assert_eq!(edited("繼續", "續", "").unwrap(), "繼");
    }

    #[test]
    fn anything_else_is_refused_and_explained() {
        for (content, old, new, why) in [
            ("aXbX", "X", "y", "more than once"),
            ("aaa", "aa", "b", "more than once"),
            ("abc", "x", "y", "is not in f"),
            ("a\r\nb", "a\nb", "y", "\\r\\n"),
            ("abc", "", "y", "`old` is empty"),
            ("abc", "a", "a", "the same"),
        ] {
            let error = edited(content, old, new).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn files_keep_their_mode_and_shrink() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::open(dir.path()).unwrap();
        let path = dir.path().join("run.sh");
        std::fs::write(&path, "long content\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let wanted = Write { path: "run.sh".into(), content: "short".into() };
        assert_eq!(write(&place, &wanted).unwrap(), "replaced run.sh, 5 bytes");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "short");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o755);
        let made = Write { path: "a/b/c".into(), content: "x".into() };
        assert_eq!(write(&place, &made).unwrap(), "created a/b/c, 1 bytes");
    }

    #[test]
    fn r3_what_cannot_be_edited_says_why() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::open(dir.path()).unwrap();
        std::fs::write(dir.path().join("latin"), b"caf\xe9").unwrap();
        std::fs::write(dir.path().join("huge"), vec![b'x'; 5 << 20]).unwrap();
        let error = |path: &str| {
            edit(&place, &Edit { path: path.into(), old: "x".into(), new: "y".into() }).unwrap_err()
        };
        assert!(error("latin").contains("not UTF-8"));
        assert!(error("huge").contains("larger than 4 MB"));
        assert!(error("none").contains("there is no none"));
    }
}
