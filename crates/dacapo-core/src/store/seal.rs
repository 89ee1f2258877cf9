//! The seal of a task: that the process which drove it also ended it, and that nobody has changed its journal up to that end
//! since (R4).
//!
//! Before a process does anything for a task it makes up a secret, which it keeps to itself, and writes down its hash. When it
//! ends the task it writes down the secret, beside a hash of the whole journal. Who forges a journal and kills the process
//! does not know the secret. He can replace the hash by one of his own, but the kernel then notes a time of change that is
//! later than the start on record, and nobody can set that time back. What this does not protect against is in
//! docs/design/journal.md.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::files;
use crate::random;

/// The version of both files.
const SEAL_FORMAT: u32 = 1;

/// Neither file is longer.
const LONGEST: u64 = 4 << 10;

const BEGUN: &str = "process.json";
const ENDED: &str = "seal.json";

/// What a process writes down before it does anything.
#[derive(Debug, Serialize, Deserialize)]
struct Begun {
    v: u32,
    /// Hash of the secret.
    commitment: String,
}

/// What it writes down when it ends the task.
#[derive(Debug, Serialize, Deserialize)]
struct Ended {
    v: u32,
    secret: String,
    /// How much of the journal is sealed.
    length: u64,
    /// Hash of that much.
    journal: String,
}

/// A hash of all that was written or read so far.
#[derive(Clone, Copy)]
pub(super) struct Running(hmac_sha256::Hash);

impl Running {
    pub(super) fn new() -> Self {
        Self(hmac_sha256::Hash::new())
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(super) fn digest(&self) -> [u8; 32] {
        self.0.finalize()
    }
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hex(&self.digest()))
    }
}

/// A process's own part of the seal.
#[derive(Debug)]
pub(super) struct Sealer {
    secret: String,
}

/// How far a journal goes up to the end of its task, and its hash up to there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) length: u64,
    pub(super) digest: [u8; 32],
}

impl Sealer {
    /// To be called before the start is put on record.
    pub(super) fn begin(task: &Path) -> io::Result<Self> {
        let secret = random::hex(32);
        let begun = Begun { v: SEAL_FORMAT, commitment: hash_of(&secret) };
        files::replace(&task.join(BEGUN), &serde_json::to_vec(&begun)?)?;
        Ok(Self { secret })
    }

    /// To be called before the end is put on record: `journal` is what it will be with that.
    pub(super) fn end(&self, task: &Path, journal: &Extent) -> io::Result<()> {
        let ended = Ended {
            v: SEAL_FORMAT,
            secret: self.secret.clone(),
            length: journal.length,
            journal: hex(&journal.digest),
        };
        files::replace(&task.join(ENDED), &serde_json::to_vec(&ended)?)
    }
}

/// Whether the process that put its start on record at `started` sealed this journal; if not, why.
pub(super) fn check(task: &Path, journal: &Extent, started: Timestamp) -> Result<(), &'static str> {
    let ended: Ended = read(task, ENDED).ok_or("no process has sealed it at the end")?;
    if (ended.length, ended.journal) != (journal.length, hex(&journal.digest)) {
        return Err("it was changed after the task ended, or the task was not ended by its own process");
    }
    let begun: Begun = read(task, BEGUN).ok_or("nothing is known of the process that ended it")?;
    if begun.commitment != hash_of(&ended.secret) {
        return Err("its seal is not of the process that drove the task");
    }
    // The kernel sets ctime itself, at every change of content, name or attributes. Unlike mtime no call can set it
    // back.
    let changed = task.join(BEGUN).symlink_metadata().ok().and_then(|found| {
        let nanoseconds = i32::try_from(found.ctime_nsec()).ok()?;
        Timestamp::new(found.ctime(), nanoseconds).ok()
    });
    match changed {
        Some(changed) if changed <= started => Ok(()),
        Some(_) | None => {
            Err("the seal was begun after the start that is on record (or its files were copied)")
        }
    }
}

fn read<T: serde::de::DeserializeOwned>(task: &Path, name: &str) -> Option<T> {
    serde_json::from_slice(&files::read(&task.join(name), LONGEST).ok()?).ok()
}

fn hash_of(text: &str) -> String {
    hex(&hmac_sha256::Hash::hash(text.as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed() -> (tempfile::TempDir, Extent, Timestamp) {
        let dir = tempfile::tempdir().unwrap();
        let journal = Extent { length: 7, digest: [3; 32] };
        let sealer = Sealer::begin(dir.path()).unwrap();
        let started = Timestamp::now();
        sealer.end(dir.path(), &journal).unwrap();
        (dir, journal, started)
    }

    #[test]
    fn r4_only_the_process_that_began_can_seal() {
        let (dir, journal, started) = sealed();
        assert_eq!(check(dir.path(), &journal, started), Ok(()));
        let longer = Extent { length: 8, ..journal.clone() };
        let other = Extent { digest: [4; 32], ..journal.clone() };
        for changed in [longer, other] {
            assert!(check(dir.path(), &changed, started).unwrap_err().contains("changed after"));
        }
        // Who makes up a secret of his own does not have its hash on file.
        Sealer { secret: "forged".into() }.end(dir.path(), &journal).unwrap();
        assert!(check(dir.path(), &journal, started).unwrap_err().contains("not of the process"));
        // Who replaces the hash too is later than the start on record.
        let forger = Sealer::begin(dir.path()).unwrap();
        forger.end(dir.path(), &journal).unwrap();
        assert!(check(dir.path(), &journal, started).unwrap_err().contains("after the start"));
        std::fs::remove_file(dir.path().join(ENDED)).unwrap();
        assert!(check(dir.path(), &journal, started).unwrap_err().contains("no process"));
    }
}
