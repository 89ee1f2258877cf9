//! What was derived from the journals of a repository's tasks, kept in one file so that a list of a thousand tasks reads
//! that file and looks at each journal's metadata, and folds only what has changed.
//!
//! It can be deleted at any time and is never believed over a journal: an entry counts only for the very file it was made
//! from, with the same length and the same time of its last change. A file that was changed just now could change again
//! within the same tick of the clock, unseen; of such a one nothing is kept.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::marker::PhantomData;
use std::ops::Range;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use memchr::memchr;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::files;

/// The version of the file. One of another version, or of another Dacapo, is made anew.
const INDEX_FORMAT: u32 = 5;

/// File systems count time in steps; none that is in use has longer ones.
const CLOCK_STEP: Duration = Duration::from_secs(2);

/// An entry longer than this is cheaper to make again than to read past every time.
const LONGEST_ENTRY: usize = 32 << 10;

/// No index is larger.
const LARGEST_FILE: u64 = 1 << 30;

/// The state of a file from which something was derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp(u64, i64, i64, u64, u64);

impl Stamp {
    /// The stamp of a file that is there.
    #[cfg(test)]
    pub(crate) fn of(meta: &fs::Metadata) -> Self {
        Self(meta.len(), meta.ctime(), meta.ctime_nsec(), meta.ino(), meta.dev())
    }

    /// The same, of a file below an open directory: without a walk over the whole path.
    #[expect(
        clippy::useless_conversion,
        reason = "the fields of `stat` differ in type from system to system"
    )]
    pub(crate) fn below(dir: &File, path: &Path) -> rustix::io::Result<Self> {
        let stat = rustix::fs::statat(dir, path, rustix::fs::AtFlags::empty())?;
        let number = |value: i64| u64::try_from(value).unwrap_or_default();
        Ok(Self(
            number(i64::from(stat.st_size)),
            i64::from(stat.st_ctime),
            i64::try_from(stat.st_ctime_nsec).unwrap_or_default(),
            u64::from(stat.st_ino),
            u64::from(stat.st_dev),
        ))
    }

    /// Whether any further change would be seen, at `now`.
    fn is_past(&self, now: SystemTime) -> bool {
        let Ok(now) = now.duration_since(UNIX_EPOCH) else { return false };
        let seconds = u64::try_from(self.1).unwrap_or(u64::MAX);
        // One second more, because the stamp's nanoseconds are left out of this comparison.
        Duration::from_secs(seconds).saturating_add(CLOCK_STEP + Duration::from_secs(1)) <= now
    }
}

/// Entries by the name of their task.
///
/// A line each, `NAME STAMP JSON`, sorted by name. Only what is asked for is parsed, and what is kept is written again as
/// it was read.
#[derive(Debug)]
pub struct Index<T> {
    path: PathBuf,
    text: Vec<u8>,
    /// Where in the text each entry is.
    old: Vec<EntrySpans>,
    new: BTreeMap<String, Vec<u8>>,
    now: SystemTime,
    of: PhantomData<T>,
}

#[derive(Debug)]
struct EntrySpans {
    name: Range<usize>,
    stamp: Stamp,
    value: Range<usize>,
}

#[derive(PartialEq, Serialize, Deserialize)]
struct Header {
    v: u32,
    program: String,
}

impl Header {
    fn own() -> Self {
        Self { v: INDEX_FORMAT, program: env!("CARGO_PKG_VERSION").to_owned() }
    }
}

impl<T: Serialize + DeserializeOwned> Index<T> {
    /// Reads the index at `path`; where something is wrong with it, it ends there.
    pub(crate) fn open(path: PathBuf, now: SystemTime) -> Self {
        let text = files::read(&path, LARGEST_FILE).unwrap_or_default();
        let old = places(&text);
        Self { path, text, old, new: BTreeMap::new(), now, of: PhantomData }
    }

    /// What was derived from a file in this state.
    pub(crate) fn get(&self, name: &str, stamp: &Stamp) -> Option<T> {
        let at =
            self.old.binary_search_by(|place| self.text[place.name.clone()].cmp(name.as_bytes())).ok()?;
        let place = self.old.get(at).filter(|place| place.stamp == *stamp)?;
        serde_json::from_slice(&self.text[place.value.clone()]).ok()
    }

    /// Keeps what was derived from a file; `stamp` was taken before the file was read.
    pub(crate) fn put(&mut self, name: &str, stamp: Stamp, value: &T) {
        // A name that a line cannot hold is no task's.
        if !stamp.is_past(self.now) || name.bytes().any(|byte| byte.is_ascii_whitespace()) {
            return;
        }
        let Stamp(length, seconds, nanoseconds, inode, device) = stamp;
        let mut line = format!("{name} {length} {seconds} {nanoseconds} {inode} {device} ").into_bytes();
        if serde_json::to_writer(&mut line, value).is_ok() && line.len() < LONGEST_ENTRY {
            line.push(b'\n');
            self.new.insert(name.to_owned(), line);
        }
    }

    /// Writes the index, if there is anything new in it, with the entries of tasks that are still there.
    ///
    /// Nothing is lost when that fails, so nobody is told: the directory may be read-only or the disk full. Of two that
    /// write at once one does.
    pub(crate) fn save(&self, is_there: impl Fn(&str) -> bool) {
        if !self.new.is_empty()
            && let Err(error) = self.write(is_there)
        {
            tracing::debug!("{} is not written: {error}", self.path.display());
        }
    }

    fn write(&self, is_there: impl Fn(&str) -> bool) -> io::Result<()> {
        // A cache: who finds another writer at work leaves it to that one, and nobody waits.
        let Some(file) = claim(&self.path)? else { return Ok(()) };
        let old = self.old.iter().filter_map(|place| {
            // With the line break behind it.
            let line = self.text.get(place.name.start..=place.value.end)?;
            Some((std::str::from_utf8(&self.text[place.name.clone()]).ok()?, line))
        });
        let mut lines: BTreeMap<&str, &[u8]> = old.collect();
        lines.extend(self.new.iter().map(|(name, line)| (name.as_str(), line.as_slice())));
        // Only after the claim: the file may hold what a writer that was killed has left.
        file.set_len(0)?;
        let mut out = BufWriter::new(&file);
        serde_json::to_writer(&mut out, &Header::own())?;
        out.write_all(b"\n")?;
        for (_, line) in lines.iter().filter(|(name, _)| is_there(name)) {
            out.write_all(line)?;
        }
        out.flush()?;
        drop(out);
        // Without a sync: after a power cut the index may be empty or torn, and is then made anew from the journals.
        fs::rename(new_path(&self.path), &self.path)
    }
}

/// Entries up to the first that does not read.
fn places(text: &[u8]) -> Vec<EntrySpans> {
    let Some(mut at) = memchr(b'\n', text).map(|end| end + 1) else { return Vec::new() };
    if serde_json::from_slice::<Header>(&text[..at]).ok() != Some(Header::own()) {
        return Vec::new();
    }
    let mut places: Vec<EntrySpans> = Vec::with_capacity(text.len() / 256);
    while let Some(place) = memchr(b'\n', &text[at..]).and_then(|end| place(text, at..at + end)) {
        let sorted = places.last().is_none_or(|last| text[last.name.clone()] < text[place.name.clone()]);
        if !sorted {
            break;
        }
        at = place.value.end + 1;
        places.push(place);
    }
    places
}

fn place(text: &[u8], line: Range<usize>) -> Option<EntrySpans> {
    let mut at = line.start;
    let mut word = || {
        let end = at + memchr(b' ', &text[at..line.end])?;
        let word = at..end;
        at = end + 1;
        Some(word)
    };
    fn number<N: std::str::FromStr>(word: &[u8]) -> Option<N> {
        std::str::from_utf8(word).ok()?.parse().ok()
    }
    let name = word()?;
    let stamp = Stamp(
        number(&text[word()?])?,
        number(&text[word()?])?,
        number(&text[word()?])?,
        number(&text[word()?])?,
        number(&text[word()?])?,
    );
    Some(EntrySpans { name, stamp, value: at..line.end })
}

fn new_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    PathBuf::from(name)
}

/// The file that becomes the index, ours alone as long as it is open. One name for all writers: what one that was killed
/// leaves is used by the next.
fn claim(path: &Path) -> io::Result<Option<File>> {
    let path = new_path(path);
    let file = files::open_or_create(&path)?;
    if file.try_lock().is_err() {
        return Ok(None);
    }
    // Whoever had it before us may have renamed it meanwhile: then it is the index, and not to be touched.
    let (ours, there) = (file.metadata()?, fs::symlink_metadata(&path));
    let same = there.is_ok_and(|there| (there.ino(), there.dev()) == (ours.ino(), ours.dev()));
    Ok(same.then_some(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATER: Duration = Duration::from_secs(3600);

    fn stamp(path: &Path) -> Stamp {
        Stamp::of(&fs::metadata(path).unwrap())
    }

    fn place() -> (tempfile::TempDir, PathBuf, Stamp) {
        let dir = tempfile::tempdir().unwrap();
        let journal = dir.path().join("journal");
        fs::write(&journal, "x").unwrap();
        let stamp = stamp(&journal);
        let index = dir.path().join("index");
        (dir, index, stamp)
    }

    fn open(path: &Path, now: SystemTime) -> Index<String> {
        Index::open(path.to_owned(), now)
    }

    #[test]
    fn s14_what_was_kept_is_found_again_for_the_same_file_only() {
        let (dir, path, first) = place();
        let later = SystemTime::now() + LATER;
        let mut index = open(&path, later);
        index.put("a", first, &"one".to_owned());
        index.put("gone", first, &"two".to_owned());
        index.save(|name| name != "gone");
        let index = open(&path, later);
        assert_eq!(index.get("a", &first), Some("one".to_owned()));
        assert_eq!(index.get("gone", &first), None);
        fs::write(dir.path().join("other"), "x").unwrap();
        assert_eq!(index.get("a", &stamp(&dir.path().join("other"))), None);
        assert_eq!(Stamp::below(&File::open(dir.path()).unwrap(), Path::new("journal")), Ok(first));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3, "nothing else is left");
    }

    #[test]
    fn s14_of_a_file_that_changed_just_now_nothing_is_kept() {
        let (_dir, path, stamp) = place();
        let mut index = open(&path, SystemTime::now());
        index.put("a", stamp, &"one".to_owned());
        index.save(|_| true);
        assert!(!path.exists());
        // Nor of one from the future: somebody has set the clock.
        let mut index = open(&path, SystemTime::now() - LATER);
        index.put("a", stamp, &"one".to_owned());
        index.save(|_| true);
        assert!(!path.exists());
    }

    #[test]
    fn r2_a_damaged_older_or_newer_index_is_made_anew() {
        let (_dir, path, stamp) = place();
        let later = SystemTime::now() + LATER;
        let mut index = open(&path, later);
        index.put("a", stamp, &"one".to_owned());
        index.put("b", stamp, &"two".to_owned());
        index.save(|_| true);
        let good = fs::read_to_string(&path).unwrap();
        let known = |text: &[u8]| {
            fs::write(&path, text).unwrap();
            let index = open(&path, later);
            ["a", "b"].map(|name| index.get(name, &stamp))
        };
        assert_eq!(known(good.as_bytes()), [Some("one".to_owned()), Some("two".to_owned())]);
        for cut in 0..good.len() {
            // Cut between two lines it is a shorter index, and as good.
            let [a, b] = known(&good.as_bytes()[..cut]);
            assert!(b.is_none() && a.is_none_or(|a| a == "one"), "cut at {cut}");
        }
        let header = format!("\"v\":{INDEX_FORMAT}");
        assert_eq!(known(good.replace(&header, "\"v\":0").as_bytes()), [None, None]);
        assert_eq!(known(good.replace(&header, "\"v\":99").as_bytes()), [None, None]);
        assert_eq!(known(good.replace("\"program\":\"", "\"program\":\"9").as_bytes()), [None, None]);
        assert_eq!(known(&good.as_bytes().iter().map(|byte| byte ^ 0x80).collect::<Vec<_>>()), [None, None]);
        assert_eq!(known(&vec![0; 4096]), [None, None]);
    }

    #[test]
    fn r2_nobody_is_stopped_by_a_place_that_cannot_be_written() {
        let (dir, _, stamp) = place();
        let mut index = open(&dir.path().join("no such directory/index"), SystemTime::now() + LATER);
        index.put("a", stamp, &"one".to_owned());
        index.save(|_| true);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn s14_writers_at_once_leave_one_whole_index() {
        let (_dir, path, stamp) = place();
        let later = SystemTime::now() + LATER;
        // One that was killed while it wrote.
        fs::write(new_path(&path), "half a li").unwrap();
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    for round in 0..50 {
                        let mut index = open(path, later);
                        let known = index.old.len();
                        assert!(known == 0 || known == 100, "half an index: {known}");
                        for task in 0..100 {
                            index.put(&format!("task-{task}"), stamp, &format!("{writer} {round}"));
                        }
                        index.save(|_| true);
                    }
                });
            }
        });
        assert_eq!(open(&path, later).old.len(), 100);
    }

    #[test]
    fn s14_an_entry_that_is_too_long_is_not_kept() {
        let (_dir, path, stamp) = place();
        let mut index = open(&path, SystemTime::now() + LATER);
        index.put("a", stamp, &"x".repeat(LONGEST_ENTRY));
        index.save(|_| true);
        assert!(!path.exists());
    }
}
