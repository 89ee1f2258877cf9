//! What the user has confirmed: `$DACAPO_HOME/trust/REPO/HASH.json`. A file counts if it says the same as its name and place:
//! this content, of this repository. A file each, so that nobody ever has to change one.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use dacapo_core::store::{Home, files};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Reader, shown};
use crate::App;
use crate::config::Brought;
use crate::messages::Messages;

/// The version of a confirmation.
const FORMAT: u32 = 1;

/// No confirmation is longer: what a repository brings are settings, prompts and small files.
const LONGEST: u64 = 64 << 20;

/// Confirmations for one repository.
#[derive(Debug, Clone)]
pub struct Store {
    dir: PathBuf,
    repository: PathBuf,
}

/// Where all confirmations are.
pub fn directory(home: &Home) -> PathBuf {
    home.path().join("trust")
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub v: u32,
    pub hash: String,
    pub source: String,
    pub trusted_at: Timestamp,
    /// The git directory, so that a person finds it again.
    pub repository: PathBuf,
    /// What was confirmed, values that are secret left out.
    pub entries: Vec<String>,
}

impl Store {
    /// That of the repository around a directory; `None` where there is no repository, or no data directory.
    pub fn around(app: &App, dir: &Path) -> Option<Self> {
        let common_dir = dacapo_core::git::common_dir(dir, &app.env).ok()?;
        let home = app.home().ok()?;
        let repo = home.repo(&common_dir);
        let name = repo.path().file_name()?;
        Some(Self { dir: directory(&home).join(name), repository: common_dir })
    }

    /// All that was confirmed.
    pub fn hashes(&self) -> Vec<String> {
        self.records().into_iter().map(|record| record.hash).collect()
    }

    /// With what is known of each, newest first.
    pub fn records(&self) -> Vec<Record> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut records: Vec<Record> =
            names.filter_map(|name| self.record(name.strip_suffix(".json")?)).collect();
        records.sort_by_key(|record| std::cmp::Reverse(record.trusted_at));
        records
    }

    /// A confirmation. A file that is empty, or speaks of something else, is none.
    fn record(&self, hash: &str) -> Option<Record> {
        let bytes = files::read(&self.file(hash), LONGEST).ok()?;
        let record: Record = serde_json::from_slice(&bytes).ok()?;
        let is_it = record.v == FORMAT && record.hash == hash && record.repository == self.repository;
        (is_it && !record.entries.is_empty()).then_some(record)
    }

    /// Keeps a confirmation for good.
    pub fn add(&self, brought: &Brought) -> io::Result<()> {
        let record = Record {
            v: FORMAT,
            hash: brought.hash.clone(),
            source: brought.source.clone(),
            trusted_at: Timestamp::now(),
            repository: self.repository.clone(),
            entries: brought
                .entries
                .iter()
                .map(|entry| shown(entry, Reader::Log, Messages::ENGLISH))
                .collect(),
        };
        DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
        // Complete or not there: a name that is there counts.
        let new = self.dir.join(format!(".{}.{}", brought.hash, std::process::id()));
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(format!("{}\n", serde_json::to_string_pretty(&record)?).as_bytes())?;
        // The name decides, so the file gets it only when it is complete.
        fs::rename(&new, self.file(&brought.hash))
    }

    /// Takes a confirmation back. False where there was none.
    pub fn remove(&self, hash: &str) -> io::Result<bool> {
        match fs::remove_file(self.file(hash)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn file(&self, hash: &str) -> PathBuf {
        self.dir.join(format!("{hash}.json"))
    }
}
