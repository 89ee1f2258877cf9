//! Usage limits that all tasks of this machine share (L9, K13): one finds it, the others do not run into it.
//!
//! One file an account says until when it is limited, and who found that. The file stays when that time has come: the
//! first task that wants a turn then *probes*. It holds the account's lock while it tries, and the others sleep on that
//! lock. Its success removes the file, another limit renews it, and its death frees the lock by the kernel's hand.
//!
//! All of this saves turns and decides nothing: a file that is broken, foreign or cannot be written costs a turn that
//! runs into the limit by itself.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::files;
use crate::text::cut;

/// The version of the files.
const LIMIT_FORMAT: u32 = 1;

/// The longest limits that agents have are weekly ones. What says that it lasts longer was written by a wrong clock.
const LONGEST: SignedDuration = SignedDuration::from_hours(8 * 24);

/// Clocks are corrected by up to this much without anybody noticing.
const SKEW: SignedDuration = SignedDuration::from_mins(2);

/// No file of ours is larger.
const LARGEST_FILE: u64 = 64 << 10;

/// How much of what an agent said about its limit is kept.
const LONGEST_MESSAGE: usize = 2000;

/// Who pays, without saying who: only a hash of the credential is ever written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountKey(String);

impl AccountKey {
    /// The account of an agent (by its kind), a credential and the address it is used at.
    pub(crate) fn new(agent: &str, credential: &str, base_url: Option<&str>) -> Self {
        let base_url = base_url.unwrap_or_default().trim_end_matches('/');
        let mut hash = hmac_sha256::Hash::new();
        for part in [agent, credential, base_url] {
            // Its length keeps one part from running into the next.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let digest: String = hash.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        Self(format!("{agent}-{digest}"))
    }
}

/// A limit that a task ran into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedLimit {
    v: u32,
    pub until: Timestamp,
    /// What the agent said.
    pub message: String,
    pub agent: String,
    pub found_by: String,
    pub at: Timestamp,
    /// How many limits in a row had an end that was only guessed, with this one. 0: the agent named the end.
    #[serde(default)]
    pub guesses: u32,
}

impl SharedLimit {
    /// A limit that was found just now. An end that lies too far ahead to be true is brought nearer.
    pub(crate) fn new(found_by: &str, agent: &str, message: &str, until: Timestamp, now: Timestamp) -> Self {
        Self {
            v: LIMIT_FORMAT,
            until: until.min(later(now, LONGEST)),
            message: cut(message, LONGEST_MESSAGE),
            agent: agent.to_owned(),
            found_by: found_by.to_owned(),
            at: now,
            guesses: 0,
        }
    }

    /// Whether it is of use at this time, by a clock that may have been wrong then or be wrong now.
    fn is_sane(&self, now: Timestamp) -> bool {
        self.v == LIMIT_FORMAT && self.at <= later(now, SKEW) && self.until <= later(self.at, LONGEST)
    }

    /// An agent's own word counts for more than a guess; of two that are worth the same the later end is right.
    fn outlasts(&self, other: &Self) -> bool {
        (self.guesses == 0, self.until) > (other.guesses == 0, other.until)
    }
}

/// The place where tasks leave word of limits.
#[derive(Debug, Clone)]
pub struct SharedLimits(PathBuf);

impl SharedLimits {
    /// In this directory, which is made when something is first written.
    pub(super) fn at(path: PathBuf) -> Self {
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// What is known of an account: a limit that holds, or one whose time has come and of which nobody knows yet whether
    /// it is over.
    pub fn known(&self, account: &AccountKey, now: Timestamp) -> Option<SharedLimit> {
        let bytes = files::read(&self.file(account), LARGEST_FILE).ok()?;
        serde_json::from_slice(&bytes).ok().filter(|limit: &SharedLimit| limit.is_sane(now))
    }

    /// Leaves word of a limit. Of two that are found at the same instant one is kept, whole.
    pub(crate) fn announce(&self, account: &AccountKey, limit: &SharedLimit) -> io::Result<()> {
        if let Some(known) = self.known(account, limit.at)
            && known.until > limit.at
            && known.outlasts(limit)
        {
            return Ok(());
        }
        files::make_dir(&self.0)?;
        // Read, compared and replaced without a lock. Two that announce at once may leave the worse of the two words,
        // which costs a turn; waiting for a lock would let one stuck process hold up every task of the account.
        files::replace(&self.file(account), &serde_json::to_vec_pretty(limit)?)
    }

    /// The limit is over.
    pub fn lift(&self, account: &AccountKey) -> io::Result<()> {
        match fs::remove_file(self.file(account)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Takes the account's lock for a task that is going to try; or says who tries already.
    pub(crate) fn try_probe(
        &self,
        account: &AccountKey,
        task: &str,
    ) -> io::Result<Result<ProbeLock, Option<String>>> {
        let file = self.open_lock(account)?;
        match file.try_lock() {
            Ok(()) => {
                let mut lock = ProbeLock { account: account.clone(), file };
                lock.name(task);
                Ok(Ok(lock))
            }
            Err(TryLockError::WouldBlock) => Ok(Err(holder(&file))),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Sleeps until nobody tries any more, and has the lock then. To be called from a thread of its own.
    pub(crate) fn wait_for_probe(&self, account: &AccountKey) -> io::Result<ProbeLock> {
        let file = self.open_lock(account)?;
        loop {
            match file.lock() {
                Ok(()) => return Ok(ProbeLock { account: account.clone(), file }),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn file(&self, account: &AccountKey) -> PathBuf {
        self.0.join(format!("{}.json", account.0))
    }

    /// A file of its own: the other one is replaced, and a lock on what was replaced locks nobody out. It is never
    /// removed for the same reason.
    fn open_lock(&self, account: &AccountKey) -> io::Result<File> {
        files::open_or_create(&self.0.join(format!("{}.lock", account.0)))
    }
}

/// The right to try whether a limit is over; free for the next when dropped, or when this process dies.
#[derive(Debug)]
pub(crate) struct ProbeLock {
    account: AccountKey,
    file: File,
}

impl ProbeLock {
    pub(crate) fn account(&self) -> &AccountKey {
        &self.account
    }

    /// Says which task tries, for those who wait. That it cannot be written keeps nobody from trying.
    pub(crate) fn name(&mut self, task: &str) {
        let _ =
            self.file.set_len(0).and_then(|()| self.file.rewind()).and_then(|()| write!(self.file, "{task}"));
    }
}

fn holder(lock: &File) -> Option<String> {
    let mut name = String::new();
    lock.take(200).read_to_string(&mut name).ok()?;
    Some(name).filter(|name| !name.is_empty())
}

fn later(now: Timestamp, by: SignedDuration) -> Timestamp {
    now.checked_add(by).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn now() -> Timestamp {
        at("2026-11-15T12:00:00Z")
    }

    fn key() -> AccountKey {
        AccountKey::new("claude", "sk-1", None)
    }

    fn found(until: &str) -> SharedLimit {
        SharedLimit::new("fix", "claude", "limit reached", at(until), now())
    }

    fn limits() -> (tempfile::TempDir, SharedLimits) {
        let dir = tempfile::tempdir().unwrap();
        let limits = SharedLimits::at(dir.path().join("limits"));
        (dir, limits)
    }

    #[test]
    fn k13_agent_credential_and_address_make_an_account_and_none_of_them_can_be_read_from_it() {
        let all = [
            AccountKey::new("claude", "sk-1", None),
            AccountKey::new("codex", "sk-1", None),
            AccountKey::new("claude", "sk-2", None),
            AccountKey::new("claude", "sk-1", Some("http://localhost:1/v1")),
            AccountKey::new("claude", "sk-", Some("1")),
        ];
        for (index, one) in all.iter().enumerate() {
            assert!(!all[..index].contains(one), "{one:?}");
            assert!(!one.0.contains("sk-") && !one.0.contains("localhost"), "{one:?}");
        }
        assert_eq!(all[3], AccountKey::new("claude", "sk-1", Some("http://localhost:1/v1/")));
        // Files of an older Dacapo are found again.
        assert_eq!(all[0].0, "claude-4c658fe90d4dce856b6392c074083f1e");
    }

    #[test]
    fn l9_what_one_task_announces_the_others_know_until_one_lifts_it() {
        let (_dir, limits) = limits();
        assert_eq!(limits.known(&key(), now()), None, "no directory, no limit");
        limits.lift(&key()).unwrap();
        let limit = found("2026-11-15T14:00:00Z");
        limits.announce(&key(), &limit).unwrap();
        assert_eq!(limits.known(&key(), now()), Some(limit.clone()));
        assert_eq!(limits.known(&AccountKey::new("codex", "sk-1", None), now()), None);
        let passed = at("2026-11-15T15:00:00Z");
        assert_eq!(limits.known(&key(), passed), Some(limit), "that its time has come does not lift it");
        limits.lift(&key()).unwrap();
        assert_eq!(limits.known(&key(), now()), None);
        let names: Vec<_> = fs::read_dir(limits.path()).unwrap().collect();
        assert_eq!(names.len(), 0, "{names:?}");
    }

    #[test]
    fn l9_what_is_broken_foreign_or_from_a_wrong_clock_is_not_believed() {
        let (_dir, limits) = limits();
        let good = found("2026-11-15T14:00:00Z");
        limits.announce(&key(), &good).unwrap();
        let path = limits.file(&key());
        let text = fs::read_to_string(&path).unwrap();
        let nul = vec![0; 5000];
        let large = format!("{{\"message\":\"{}\"}}", "x".repeat(1 << 20));
        for bytes in
            [&b""[..], b"{", b"[]", b"null", &nul, b"\xff\xfe", &text.as_bytes()[..60], large.as_bytes()]
        {
            fs::write(&path, bytes).unwrap();
            assert_eq!(limits.known(&key(), now()), None);
        }
        for (old, new) in [
            ("\"v\": 1", "\"v\": 2"),
            ("2026-11-15T14", "2099-11-15T14"),
            ("2026-11-15T12", "2027-11-15T12"),
            ("\"until\"", "\"till\""),
        ] {
            fs::write(&path, text.replace(old, new)).unwrap();
            assert_ne!(text, text.replace(old, new));
            assert_eq!(limits.known(&key(), now()), None, "{new}");
        }
        // A newer Dacapo may say more.
        fs::write(&path, text.replace("\"v\": 1", "\"new\": [1], \"v\": 1")).unwrap();
        assert_eq!(limits.known(&key(), now()), Some(good));
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(limits.known(&key(), now()), None);
    }

    #[test]
    fn l9_an_end_too_far_ahead_is_brought_nearer() {
        let (_dir, limits) = limits();
        limits.announce(&key(), &found("2099-01-01T00:00:00Z")).unwrap();
        let known = limits.known(&key(), now()).unwrap();
        assert_eq!(known.until, at("2026-11-23T12:00:00Z"));
        let endless = SharedLimit::new("fix", "claude", "", Timestamp::MAX, Timestamp::MAX);
        assert_eq!(endless.until, Timestamp::MAX);
    }

    #[test]
    fn l9_of_two_that_find_a_limit_the_better_word_counts() {
        let guess = |until| SharedLimit { guesses: 1, ..found(until) };
        let (early, late) = ("2026-11-15T13:00:00Z", "2026-11-15T14:00:00Z");
        for (first, second, kept) in [
            (found(early), found(late), found(late)),
            (found(late), found(early), found(late)),
            (guess(late), found(early), found(early)),
            (found(early), guess(late), found(early)),
            (found("2026-11-15T11:00:00Z"), guess(early), guess(early)),
        ] {
            let (_dir, limits) = limits();
            limits.announce(&key(), &first).unwrap();
            limits.announce(&key(), &second).unwrap();
            assert_eq!(limits.known(&key(), now()), Some(kept));
        }
    }

    #[test]
    fn l9_many_that_announce_at_once_leave_one_whole_file() {
        let (_dir, limits) = limits();
        std::thread::scope(|scope| {
            for task in 0..8 {
                let limits = limits.clone();
                scope.spawn(move || {
                    for _ in 0..50 {
                        let name = format!("task-{task}");
                        let until = at("2026-11-15T14:00:00Z");
                        let limit = SharedLimit::new(&name, "claude", &"x".repeat(1000), until, now());
                        limits.announce(&key(), &limit).unwrap();
                        assert!(limits.known(&key(), now()).is_some());
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(limits.path()).unwrap().count(), 1);
    }

    #[test]
    fn k13_one_tries_and_the_others_sleep_until_it_has_a_result() {
        let (_dir, limits) = limits();
        limits.announce(&key(), &found("2026-11-15T11:00:00Z")).unwrap();
        let lock = limits.try_probe(&key(), "first").unwrap().unwrap();
        assert_eq!(limits.try_probe(&key(), "second").unwrap().unwrap_err().as_deref(), Some("first"));
        let others: Vec<_> = (0..3)
            .map(|_| {
                let limits = limits.clone();
                std::thread::spawn(move || {
                    let lock = limits.wait_for_probe(&key()).unwrap();
                    assert_eq!(*lock.account(), key());
                    limits.known(&key(), now())
                })
            })
            .collect();
        limits.lift(&key()).unwrap();
        drop(lock);
        for other in others {
            assert_eq!(other.join().unwrap(), None, "freed only when it is known that the limit is over");
        }
        let mut again = limits.try_probe(&key(), "a-long-name").unwrap().unwrap();
        again.name("b");
        assert_eq!(limits.try_probe(&key(), "c").unwrap().unwrap_err().as_deref(), Some("b"));
    }

    #[test]
    fn a_place_that_cannot_be_written_is_an_error_and_not_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("limits");
        fs::write(&path, "in the way").unwrap();
        let limits = SharedLimits::at(path);
        assert_eq!(limits.known(&key(), now()), None);
        assert!(limits.announce(&key(), &found("2026-11-15T14:00:00Z")).is_err());
        assert!(limits.try_probe(&key(), "t").is_err());
        assert!(limits.wait_for_probe(&key()).is_err());
    }
}
