//! Where the files of milestones are, and what each of them says.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use dacapo_core::git::Repo;
use dacapo_core::spec::TaskName;
use dacapo_core::task::milestone::{Definition, DefinitionError, MOST_BYTES};
use jiff::Timestamp;

use crate::messages::{Messages, Text, say};
use crate::present::errors;

/// The folder of milestones, from the top of the main checkout.
const FOLDER: &str = ".dacapo/milestones";
/// For people; no milestone.
const NOTES: &str = "README.md";

/// The folder that holds the milestones of a repository. There is one, in the main checkout: from a task's worktree the
/// same milestones are seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    top: PathBuf,
}

/// A file that is to define a milestone.
#[derive(Debug, Clone)]
pub struct Written {
    /// The ID, as the file is named; it may be none.
    pub name: String,
    pub path: PathBuf,
    /// Its text and what it says.
    pub read: Result<(String, Definition), Unusable>,
    /// When it was last changed.
    pub modified: Option<Timestamp>,
}

/// Why a file defines no milestone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// Its name is not a valid ID.
    #[error("{}", Messages::ENGLISH.milestones_not_an_id(.0))]
    Name(String),
    /// Its bytes cannot be had, or are no text.
    #[error("{0}")]
    Unreadable(Text),
    /// What it says is not a milestone.
    #[error("{0}")]
    Form(#[from] DefinitionError),
}

impl Unusable {
    pub fn told(&self) -> Text {
        match self {
            Self::Name(name) => say(|m| m.milestones_not_an_id(name)),
            Self::Unreadable(why) => why.clone(),
            Self::Form(error) => errors::text(error),
        }
    }
}

impl Folder {
    /// The folder of the repository.
    pub fn of(repo: &Repo) -> Self {
        Self { top: repo.main_checkout() }
    }

    pub fn top(&self) -> &Path {
        &self.top
    }

    pub fn path(&self) -> PathBuf {
        self.top.join(FOLDER)
    }

    /// The file of a milestone, from the top of the checkout.
    pub fn relative(id: &TaskName) -> String {
        format!("{FOLDER}/{id}.md")
    }

    /// The file of a milestone.
    pub fn file(&self, id: &TaskName) -> PathBuf {
        self.path().join(format!("{id}.md"))
    }

    /// Where what came of it is mirrored (M8).
    pub fn mirror(&self, id: &TaskName) -> PathBuf {
        self.path().join(format!("{id}.json"))
    }

    /// What the file of a milestone says; none: there is no such file.
    pub fn written(&self, id: &TaskName) -> Option<Written> {
        let path = self.file(id);
        path.symlink_metadata().is_ok().then(|| Written::at(id.to_string(), path))
    }

    /// All files of the folder, by name. One that does not read is among them, with what is wrong.
    pub fn all(&self) -> io::Result<Vec<Written>> {
        let entries = match std::fs::read_dir(self.path()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut all = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else {
                continue;
            };
            // What editors leave beside a file that is open begins with a dot.
            if name == NOTES || name.starts_with('.') {
                continue;
            }
            if let Some(id) = name.strip_suffix(".md") {
                all.push(Written::at(id.to_owned(), path));
            }
        }
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }
}

impl Written {
    fn at(name: String, path: PathBuf) -> Self {
        let modified = path.metadata().and_then(|meta| meta.modified()).ok();
        let modified = modified.and_then(|at| Timestamp::try_from(at).ok());
        // A name that is not UTF-8 was made to look like one above; it is no ID either way.
        let read = match TaskName::parse(&name) {
            Err(_) => Err(Unusable::Name(name.clone())),
            Ok(_) => read_text(&path, MOST_BYTES).map_err(Unusable::Unreadable).and_then(|text| {
                let definition = Definition::parse(&text)?;
                Ok((text, definition))
            }),
        };
        Self { name, path, read, modified }
    }

    /// Its ID, where its name is one.
    pub fn id(&self) -> Option<TaskName> {
        TaskName::parse(&self.name).ok()
    }

    /// What it says, where it says something.
    pub fn definition(&self) -> Option<&Definition> {
        self.read.as_ref().ok().map(|(_, definition)| definition)
    }
}

/// Reads a text file of at most `most` bytes.
pub fn read_text(path: &Path, most: usize) -> Result<String, Text> {
    let unreadable = |error: io::Error| say(|m| m.milestones_text_unreadable(&error.to_string()));
    let meta = path.metadata().map_err(unreadable)?;
    // Opening a FIFO would wait for ever for someone to write to it.
    if !meta.is_file() {
        return Err(say(Messages::milestones_not_a_file));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(most as u64 + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    if bytes.len() > most {
        return Err(say(|m| m.milestones_text_too_large(most)));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        say(|m| m.milestones_text_not_utf8(line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "## Goal\nx\n## Features\n- a\n## Acceptance Criteria\n- b\n";

    fn folder() -> (tempfile::TempDir, Folder) {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder { top: dir.path().to_owned() };
        std::fs::create_dir_all(folder.path()).unwrap();
        (dir, folder)
    }

    #[test]
    fn m1_a_file_that_does_not_read_hides_no_other() {
        let (_dir, folder) = folder();
        let write = |name: &str, text: &[u8]| std::fs::write(folder.path().join(name), text).unwrap();
        write("good.md", GOOD.as_bytes());
        write("Upper.md", GOOD.as_bytes());
        write("latin.md", b"## Goal\n\xe9\n");
        write("empty.md", b"");
        write("large.md", &vec![b'x'; MOST_BYTES + 1]);
        write("two\nlines.md", GOOD.as_bytes());
        for ignored in ["README.md", ".good.md.swp", ".hidden.md", "good.json", "notes.txt"] {
            write(ignored, b"?");
        }
        std::fs::create_dir(folder.path().join("folder.md")).unwrap();
        std::os::unix::fs::symlink("nowhere", folder.path().join("link.md")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            folder.path().join("pipe.md"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        let all = folder.all().unwrap();
        let told: Vec<String> = all
            .iter()
            .map(|written| match &written.read {
                Ok((_, definition)) => format!("{}: {}", written.name, definition.goal),
                Err(error) => format!("{}: {error}", written.name),
            })
            .collect();
        assert_eq!(
            told,
            [
                &format!("Upper: {}", Messages::ENGLISH.milestones_not_an_id("Upper")),
                "empty: line 1: the section '## Goal' is missing (a milestone has the sections '## Goal', '## Features', '## Acceptance Criteria')",
                "folder: it is not a file",
                "good: x",
                "large: it is larger than 262144 bytes",
                "latin: line 2 is not UTF-8",
                "link: it cannot be read: No such file or directory (os error 2)",
                "pipe: it is not a file",
                &format!("two\nlines: {}", Messages::ENGLISH.milestones_not_an_id("two\nlines")),
            ]
        );
    }

    #[test]
    fn m1_no_folder_is_no_milestones() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder { top: dir.path().to_owned() };
        assert_eq!(folder.all().unwrap().len(), 0);
        assert!(folder.written(&TaskName::parse("x").unwrap()).is_none());
    }
}
