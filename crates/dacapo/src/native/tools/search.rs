//! Looks for something in the files of the workspace, those that git ignores aside.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use dacapo_core::context::cut;
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

use super::place::{LARGEST, Place};
use super::read::is_binary;

/// How much is shown at once.
const SHOWN: usize = 24 << 10;
const SHOWN_LINE: usize = 300;

/// How long a search may take.
const LONGEST: Duration = Duration::from_secs(30);

/// A longer path is none.
const LONGEST_PATH: u64 = 64 << 10;

#[derive(Debug, Deserialize)]
pub(super) struct SearchArguments {
    pattern: String,
    #[serde(default)]
    literal: bool,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    names: bool,
}

/// Why a search ends before its end.
enum Enough {
    Shown,
    Time,
}

pub(super) fn run(place: &Place, wanted: &SearchArguments) -> Result<String, String> {
    let pattern = if wanted.literal { regex::escape(&wanted.pattern) } else { wanted.pattern.clone() };
    let regex = RegexBuilder::new(&pattern)
        .size_limit(1 << 20)
        .dfa_size_limit(4 << 20)
        .build()
        .map_err(|error| cut(&format!("the pattern is no regular expression: {error}"), 1000))?;
    let below = match wanted.path.as_deref() {
        None | Some("" | ".") => None,
        Some(path) => Some(place.relative(path)?),
    };
    let below = below.filter(|path| !path.as_os_str().is_empty());
    let mut git = Listing(list(place, below.as_deref().map(std::path::Path::as_os_str))?);
    let mut found = SearchOutput { text: String::new(), until: Instant::now() + LONGEST };
    let enough = match git.0.stdout.take() {
        Some(files) => found.look(place, &regex, wanted.names, files),
        None => None,
    };
    if enough.is_none() {
        git.ended()?;
    }
    let mut text = found.text;
    match enough {
        Some(Enough::Shown) => text.push_str("[there is more; use a narrower pattern or path]\n"),
        Some(Enough::Time) => text.push_str("[it took too long; use a narrower path]\n"),
        None if text.is_empty() => text.push_str("[nothing was found]\n"),
        None => {}
    }
    Ok(text)
}

fn list(place: &Place, below: Option<&OsStr>) -> Result<Child, String> {
    let mut git = Command::new("git");
    // Nothing that is set up in the repository may run a program here: where only reading is allowed, that counts.
    git.args(["--literal-pathspecs", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false"])
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(place.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_bytes().starts_with(b"GIT_")) {
        git.env_remove(name);
    }
    if let Some(below) = below {
        git.arg("--").arg(below);
    }
    git.spawn().map_err(|error| format!("git cannot be run: {error}"))
}

/// A git that lists files; it does not outlive the search.
struct Listing(Child);

impl Listing {
    fn ended(&mut self) -> Result<(), String> {
        let mut words = String::new();
        if let Some(stderr) = self.0.stderr.take() {
            let _ = stderr.take(1000).read_to_string(&mut words);
        }
        match self.0.wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(_) => Err(format!("git cannot list the files: {}", words.trim())),
            Err(error) => Err(format!("git cannot list the files: {error}")),
        }
    }
}

impl Drop for Listing {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct SearchOutput {
    text: String,
    until: Instant,
}

impl SearchOutput {
    fn look(
        &mut self,
        place: &Place,
        regex: &Regex,
        names: bool,
        files: impl std::io::Read,
    ) -> Option<Enough> {
        let mut files = BufReader::new(files);
        let (mut path, mut before) = (Vec::new(), Vec::new());
        loop {
            path.clear();
            match (&mut files).take(LONGEST_PATH).read_until(0, &mut path) {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
            path.pop_if(|last| *last == 0);
            // A file in conflict is listed once for every side.
            if path == before {
                continue;
            }
            before.clone_from(&path);
            if Instant::now() > self.until {
                return Some(Enough::Time);
            }
            let shown = String::from_utf8_lossy(&path).into_owned();
            if names {
                if regex.is_match(&path) && !self.push(&shown) {
                    return Some(Enough::Shown);
                }
            } else if let Some(enough) = self.look_into(place, regex, &shown) {
                return Some(enough);
            }
        }
    }

    fn look_into(&mut self, place: &Place, regex: &Regex, path: &str) -> Option<Enough> {
        // What cannot be read (a link that leads out, a file that is gone) has nothing for us.
        let file = place.read(path).ok()?;
        let mut content = Vec::new();
        let read = file.take(LARGEST + 1).read_to_end(&mut content);
        if read.is_err() || content.len() as u64 > LARGEST || is_binary(&content) {
            return None;
        }
        for (number, line) in content.split(|byte| *byte == b'\n').enumerate() {
            if number % 1000 == 999 && Instant::now() > self.until {
                return Some(Enough::Time);
            }
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if !regex.is_match(line) {
                continue;
            }
            let line = String::from_utf8_lossy(&line[..line.len().min(SHOWN_LINE * 4)]);
            let line: String = line.chars().take(SHOWN_LINE).collect();
            if !self.push(&format!("{path}:{}: {line}", number + 1)) {
                return Some(Enough::Shown);
            }
        }
        None
    }

    fn push(&mut self, line: &str) -> bool {
        self.text.push_str(line);
        self.text.push('\n');
        self.text.len() < SHOWN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Ground {
        dir: tempfile::TempDir,
        place: Place,
    }

    fn ground(files: &[(&str, &[u8])]) -> Ground {
        let dir = tempfile::tempdir().unwrap();
        let work = dir.path().join("work");
        std::fs::create_dir(&work).unwrap();
        let mut git = Command::new("git");
        git.args(["init", "-q"])
            .current_dir(&work)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap());
        assert!(git.status().unwrap().success());
        for (path, content) in files {
            let path = work.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let place = Place::open(&work).unwrap();
        Ground { dir, place }
    }

    impl Ground {
        fn search(&self, wanted: serde_json::Value) -> Result<String, String> {
            run(&self.place, &serde_json::from_value(wanted).unwrap())
        }
    }

    #[test]
    fn a6_files_are_searched_but_for_what_git_ignores() {
        let ground = ground(&[
            ("a.txt", b"one\ntwo (x)\r\n"),
            ("src/b.txt", b"two (x)"),
            (".gitignore", b"target\n"),
            ("target/c.txt", b"two"),
            ("d.bin", b"two\0"),
        ]);
        let json = |text: &str| serde_json::from_str(text).unwrap();
        let found = |text: &str| ground.search(json(text)).unwrap();
        assert_eq!(found(r#"{"pattern": "^t.o"}"#), "a.txt:2: two (x)\nsrc/b.txt:1: two (x)\n");
        assert_eq!(
            found(r#"{"pattern": "o (x)", "literal": true, "path": "src"}"#),
            "src/b.txt:1: two (x)\n"
        );
        assert_eq!(found(r#"{"pattern": "txt$", "names": true}"#), "a.txt\nsrc/b.txt\n");
        assert_eq!(found(r#"{"pattern": "three"}"#), "[nothing was found]\n");
        let error = ground.search(json(r#"{"pattern": "("}"#)).unwrap_err();
        assert!(error.contains("no regular expression"), "{error}");
        let error = ground.search(json(r#"{"pattern": "x", "path": "../.."}"#)).unwrap_err();
        assert!(error.contains("not inside the workspace"), "{error}");
    }

    #[test]
    fn a6_links_out_of_the_workspace_are_not_searched() {
        let ground = ground(&[("a.txt", b"inside")]);
        std::fs::write(ground.dir.path().join("secret"), "needle").unwrap();
        std::os::unix::fs::symlink("../secret", ground.dir.path().join("work/link")).unwrap();
        std::os::unix::fs::symlink("..", ground.dir.path().join("work/up")).unwrap();
        for wanted in
            [serde_json::json!({"pattern": "needle"}), serde_json::json!({"pattern": "needle", "path": "up"})]
        {
            assert_eq!(ground.search(wanted).unwrap(), "[nothing was found]\n");
        }
    }

    #[test]
    fn r3_results_are_bounded_whatever_is_there() {
        let flood = "needle in a very long haystack\n".repeat(100_000);
        let line = vec![b'n'; 3 << 20];
        let ground = ground(&[("flood", flood.as_bytes()), ("line", &line), ("huge", &vec![b'n'; 5 << 20])]);
        let flood = ground.search(serde_json::json!({"pattern": "needle"})).unwrap();
        assert!(flood.len() < SHOWN + 200 && flood.contains("[there is more"));
        let line = ground.search(serde_json::json!({"pattern": "(n+)+$"})).unwrap();
        assert_eq!(line, format!("line:1: {}\n", "n".repeat(SHOWN_LINE)), "the huge file is left out");
        let bomb = ground.search(serde_json::json!({"pattern": "(((a{100}){100}){100}){100}"})).unwrap_err();
        assert!(bomb.contains("no regular expression"), "{bomb}");
    }

    #[test]
    fn without_a_repository_git_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::open(dir.path()).unwrap();
        let error = run(&place, &serde_json::from_str(r#"{"pattern": "x"}"#).unwrap()).unwrap_err();
        assert!(error.contains("git cannot list the files"), "{error}");
    }
}
