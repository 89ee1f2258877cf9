//! Settings of build and test tools outside of the checkout: the user's own files (`~/.npmrc`), and files that tools look for
//! in every directory above their working directory (`pytest.ini`).
//!
//! An agent can write them, so they are part of the snapshot, and a proof sees them as they were at the start: what changed
//! since shows its old content, what is new is empty.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::files;
use crate::process::Shows;

/// The directory that a file of the user's is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Home,
    /// `$XDG_CONFIG_HOME`.
    Config,
    /// `$CARGO_HOME`.
    Cargo,
}

/// Files of the user's own that decide what a build or test command does.
const USERS: &[(Base, &str)] = &[
    (Base::Cargo, "config.toml"),
    (Base::Cargo, "config"),
    (Base::Home, ".npmrc"),
    (Base::Home, ".yarnrc"),
    (Base::Home, ".yarnrc.yml"),
    (Base::Home, ".bunfig.toml"),
    (Base::Config, "pnpm/rc"),
    (Base::Config, "pip/pip.conf"),
    (Base::Home, ".pip/pip.conf"),
    (Base::Home, ".pydistutils.cfg"),
    (Base::Config, "uv/uv.toml"),
    (Base::Config, "ruff/ruff.toml"),
    (Base::Config, "mypy/config"),
    (Base::Home, ".mypy.ini"),
    (Base::Home, ".pylintrc"),
    (Base::Config, "pylintrc"),
    (Base::Config, "go/env"),
    (Base::Config, "nextest/config.toml"),
    (Base::Home, ".bundle/config"),
    (Base::Home, ".rspec"),
    (Base::Home, ".m2/settings.xml"),
    (Base::Home, ".gradle/gradle.properties"),
    (Base::Home, ".gradle/init.gradle"),
];

/// Variables that name such a file.
const NAMED: &[&str] = &[
    "npm_config_userconfig",
    "NPM_CONFIG_USERCONFIG",
    "PIP_CONFIG_FILE",
    "UV_CONFIG_FILE",
    "GOENV",
    "MYPY_CONFIG_FILE",
];

/// What tools look for in their working directory and in all directories above it.
const ABOVE: &[&str] = &[
    ".cargo/config.toml",
    ".cargo/config",
    "Cargo.toml",
    "rust-toolchain.toml",
    "rust-toolchain",
    "package.json",
    "node_modules",
    "tsconfig.json",
    "babel.config.js",
    "babel.config.json",
    ".eslintrc.json",
    ".eslintrc.js",
    ".eslintrc",
    "eslint.config.js",
    "eslint.config.mjs",
    ".mocharc.json",
    ".mocharc.yml",
    "jest.config.js",
    "jest.config.json",
    "pytest.ini",
    ".pytest.ini",
    "pyproject.toml",
    "tox.ini",
    "setup.cfg",
    "conftest.py",
    "ruff.toml",
    ".ruff.toml",
    "go.mod",
    "go.work",
    "settings.gradle",
    "settings.gradle.kts",
    "pom.xml",
    "Gemfile",
    ".tool-versions",
    "mise.toml",
];

/// The files to look at, whether they exist or not.
pub(super) fn candidates(variable: impl Fn(&str) -> Option<OsString>, data: &Path) -> Vec<PathBuf> {
    let path = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = path("HOME");
    let below_home = |name: &str| home.as_ref().map(|home| home.join(name));
    let base = |base: Base| match base {
        Base::Home => home.clone(),
        Base::Config => path("XDG_CONFIG_HOME").or_else(|| below_home(".config")),
        Base::Cargo => path("CARGO_HOME").or_else(|| below_home(".cargo")),
    };
    let users = USERS.iter().filter_map(|(dir, name)| Some(base(*dir)?.join(name)));
    let named = NAMED.iter().filter_map(|name| path(name));
    // Proofs are in the data of a repository. What is in there is not seen by their commands, what is above it is.
    let data = data.canonicalize().unwrap_or_else(|_| data.to_owned());
    let above = data.ancestors().skip(1).flat_map(|dir| ABOVE.iter().map(|name| dir.join(name)));
    let mut all: Vec<PathBuf> = users.chain(named).chain(above.collect::<Vec<_>>()).collect();
    all.sort();
    all.dedup();
    all
}

/// What is at a candidate's place.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    Text(Vec<u8>),
    Directory,
}

fn content(path: &Path) -> Option<Content> {
    if path.is_dir() {
        return Some(Content::Directory);
    }
    // What cannot be read does not count for a tool either. Records end with a zero byte, so no text has one.
    let text = files::read_users(path).ok().flatten()?;
    (!text.contains(&0)).then_some(Content::Text(text))
}

/// The candidates that exist, line by line: `PATH`, a line break and the line, with a zero byte behind it. A directory is one
/// empty line behind its path and a slash.
pub(super) fn record(candidates: &[PathBuf]) -> Vec<u8> {
    let mut all = Vec::new();
    let mut entry = |path: &Path, end: &[u8], line: &[u8]| {
        for part in [path.as_os_str().as_bytes(), end, b"\n", line, b"\0"] {
            all.extend_from_slice(part);
        }
    };
    for path in candidates {
        match content(path) {
            Some(Content::Text(text)) => {
                text.split(|byte| *byte == b'\n').for_each(|line| entry(path, b"", line));
            }
            Some(Content::Directory) => entry(path, b"/", b""),
            None => {}
        }
    }
    all
}

/// Reads a candidate's content back from a record; none: it did not exist.
fn recorded(record: &[u8], path: &Path) -> Option<Content> {
    let name = path.as_os_str().as_bytes();
    let mut lines: Vec<&[u8]> = Vec::new();
    for entry in record.split(|byte| *byte == 0) {
        match entry.strip_prefix(name) {
            Some(b"/\n") => return Some(Content::Directory),
            Some([b'\n', line @ ..]) => lines.push(line),
            Some(_) | None => {}
        }
    }
    (!lines.is_empty()).then(|| Content::Text(lines.join(&b'\n')))
}

/// The candidates that are not as the record has them, by paths without links, and what a proof sees there. Old contents are
/// written to files in `dir`.
pub(super) fn differing(
    candidates: &[PathBuf],
    record: &[u8],
    dir: &Path,
) -> io::Result<Vec<(PathBuf, Shows)>> {
    let mut all = Vec::new();
    for path in candidates {
        let (Some(now), Ok(real)) = (content(path), fs::canonicalize(path)) else { continue };
        let text = match (recorded(record, path), now) {
            (before, now) if before.as_ref() == Some(&now) => continue,
            (_, Content::Directory) => {
                all.push((real, Shows::Nothing));
                continue;
            }
            (Some(Content::Text(text)), Content::Text(_)) => text,
            (Some(Content::Directory) | None, Content::Text(_)) => Vec::new(),
        };
        files::make_dir(dir)?;
        let old = dir.join(all.len().to_string());
        files::write(&old, &text)?;
        all.push((real, Shows::Other(old)));
    }
    Ok(all)
}

/// Names an entry of a record for people: the file, and the key of the setting. Values may be credentials.
pub(super) fn shown(entry: &[u8]) -> String {
    let (path, line) = match entry.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&entry[..end], &entry[end + 1..]),
        None => (entry, &b""[..]),
    };
    let key = line.split(|byte| *byte == b'=').next().unwrap_or_default().trim_ascii();
    let path = OsStr::from_bytes(path).to_string_lossy();
    match key {
        b"" => path.into_owned(),
        key => format!("{path}: {}", String::from_utf8_lossy(key)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Machine {
        dir: tempfile::TempDir,
    }

    impl Machine {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            for name in ["home/.cargo", "home/data/repos/r", "out"] {
                fs::create_dir_all(dir.path().join(name)).unwrap();
            }
            Self { dir }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.dir.path().canonicalize().unwrap().join(name)
        }

        fn write(&self, name: &str, text: &str) {
            fs::write(self.path(name), text).unwrap();
        }

        fn candidates(&self) -> Vec<PathBuf> {
            let home = self.path("home").into_os_string();
            let data = self.path("home/data/repos/r");
            candidates(|name| (name == "HOME").then(|| home.clone()), &data)
        }

        /// Which files a proof sees otherwise than they are, and how.
        fn differing(&self, record: &[u8]) -> Vec<(String, Option<String>)> {
            let root = self.path("");
            let all = differing(&self.candidates(), record, &self.path("out")).unwrap();
            let text = |shows: Shows| match shows {
                Shows::Other(path) => Some(fs::read_to_string(path).unwrap()),
                Shows::Nothing | Shows::ReadOnly | Shows::Pinned | Shows::Itself => None,
            };
            let name = |path: PathBuf| path.strip_prefix(&root).unwrap().display().to_string();
            all.into_iter().map(|(path, shows)| (name(path), text(shows))).collect()
        }
    }

    #[test]
    fn l4_settings_of_tools_are_seen_as_they_were_at_the_start() {
        let machine = Machine::new();
        let npmrc = "registry=http://127.0.0.1:1/\n//127.0.0.1:1/:_authToken=secret\n";
        machine.write("home/.npmrc", npmrc);
        machine.write("home/pyproject.toml", "[tool]\n");
        let record = record(&machine.candidates());
        assert_eq!(machine.differing(&record), []);

        machine.write("home/.npmrc", &format!("{npmrc}script-shell=/bin/true\n"));
        machine.write("home/.cargo/config.toml", "[target.x]\nrunner = 'true'\n");
        machine.write("home/data/pytest.ini", "[pytest]\npython_files = none\n");
        fs::create_dir(machine.path("home/node_modules")).unwrap();
        // Of no interest to any tool.
        machine.write("home/notes.txt", "x");
        assert_eq!(
            machine.differing(&record),
            [
                ("home/.cargo/config.toml".to_owned(), Some(String::new())),
                ("home/.npmrc".to_owned(), Some(npmrc.to_owned())),
                ("home/data/pytest.ini".to_owned(), Some(String::new())),
                ("home/node_modules".to_owned(), None),
            ]
        );
    }

    #[test]
    fn l4_a_link_of_the_users_is_followed() {
        let machine = Machine::new();
        machine.write("home/dotfiles-npmrc", "a=1\n");
        std::os::unix::fs::symlink("dotfiles-npmrc", machine.path("home/.npmrc")).unwrap();
        let record = record(&machine.candidates());
        machine.write("home/dotfiles-npmrc", "a=2\n");
        let differing = machine.differing(&record);
        assert_eq!(differing, [("home/dotfiles-npmrc".to_owned(), Some("a=1\n".to_owned()))]);
    }

    #[test]
    fn s15_names_for_people_have_no_values() {
        assert_eq!(shown(b"/home/a/.npmrc\n//x/:_authToken=abc"), "/home/a/.npmrc: //x/:_authToken");
        assert_eq!(shown(b"/home/a/.npmrc\n"), "/home/a/.npmrc");
    }
}
