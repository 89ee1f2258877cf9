//! The seal of a task: that the process which drove it also ended it, and that nobody has changed its journal up to that end
//! since (R4).
//!
//! Before a process does anything for a task it makes up a key that signs once ([`super::one_time`]). It keeps the key to
//! itself, in memory that nobody else can read, and writes down its public part. When it ends the task it signs the whole
//! journal, and the key is used up: nobody can sign that journal anew, changed or not. Who puts a public key of his own in its
//! place is told by the kernel's time of that change, which is later than the start on record and which nobody can set back.
//! What this does not protect against is in docs/design/journal.md.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{files, one_time};

/// The version of both files.
const SEAL_FORMAT: u32 = 2;

/// Neither file is longer.
const LONGEST: u64 = 16 << 10;

const BEGUN: &str = "process.json";
const ENDED: &str = "seal.json";

/// What a process writes down before it does anything.
#[derive(Debug, Serialize, Deserialize)]
struct Begun {
    v: u32,
    /// The public part of its key.
    key: String,
}

/// What it writes down when it ends the task.
#[derive(Debug, Serialize, Deserialize)]
struct Ended {
    v: u32,
    /// How much of the journal is sealed.
    length: u64,
    /// Hash of that much.
    journal: String,
    /// Both, signed.
    signature: Vec<String>,
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
    key: one_time::Key,
}

/// How far a journal goes up to the end of its task, and its hash up to there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) length: u64,
    pub(super) digest: [u8; 32],
}

impl Extent {
    fn message(&self) -> Vec<u8> {
        format!("journal {} {}", self.length, hex(&self.digest)).into_bytes()
    }
}

impl Sealer {
    /// To be called before the start is put on record.
    pub(super) fn begin(task: &Path) -> io::Result<Self> {
        let key = one_time::Key::new();
        let begun = Begun { v: SEAL_FORMAT, key: key.public() };
        files::replace(&task.join(BEGUN), &serde_json::to_vec(&begun)?)?;
        Ok(Self { key })
    }

    /// To be called before the end is put on record: `journal` is what it will be with that.
    pub(super) fn end(self, task: &Path, journal: &Extent) -> io::Result<()> {
        let ended = Ended {
            v: SEAL_FORMAT,
            length: journal.length,
            journal: hex(&journal.digest),
            signature: self.key.sign(&journal.message()),
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
    if !one_time::is_signed(&begun.key, &journal.message(), &ended.signature) {
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
        // Whoever changes what the seal says of the journal cannot sign that.
        let seal = std::fs::read_to_string(dir.path().join(ENDED)).unwrap();
        let other = Extent { digest: [4; 32], ..journal.clone() };
        let rewritten = seal.replace(&hex(&journal.digest), &hex(&other.digest));
        std::fs::write(dir.path().join(ENDED), rewritten).unwrap();
        assert!(check(dir.path(), &other, started).unwrap_err().contains("not of the process"));
        // Whoever makes up a key of his own does not have its public part on file.
        Sealer { key: one_time::Key::new() }.end(dir.path(), &journal).unwrap();
        assert!(check(dir.path(), &journal, started).unwrap_err().contains("not of the process"));
        // Whoever replaces that too is later than the start on record.
        let forger = Sealer::begin(dir.path()).unwrap();
        forger.end(dir.path(), &journal).unwrap();
        assert!(check(dir.path(), &journal, started).unwrap_err().contains("after the start"));
        std::fs::remove_file(dir.path().join(ENDED)).unwrap();
        assert!(check(dir.path(), &journal, started).unwrap_err().contains("no process"));
    }
}
