//! Settings of git and of build tools that appeared, or went, while an agent ran. They may be the agent's, so proofs of later
//! tasks do without them until the user has confirmed them.
//!
//! While a task drives agents, a *watch* file holds the settings as they were before: `suspects/NAME.watch` in the data of the
//! repository, locked by the process that drives. Whatever differs from a watch is noted in `suspects/list` when the task ends
//! or, if its process was killed, when the next one looks.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::snapshot::Piece;
use super::{ProofError, files, outside, snapshot};
use crate::files::FileAction;
use crate::git::{Repo, is_own_exclude};

const LIST: &str = "list";
const WATCH: &str = "watch";

/// One setting (`KEY\nVALUE`, as git lists it), or one line of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    piece: Piece,
    text: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Appeared,
    Gone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Suspect,
    /// The user has said that it counts.
    Confirmed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    change: Change,
    state: State,
    entry: Entry,
}

/// What is known of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suspects(Vec<Known>);

/// A setting that does not count, for people.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Suspect {
    /// The key of the setting, or the file and its line.
    pub name: String,
    /// The value of a setting.
    pub value: Option<String>,
}

/// Holds as long as agents of a task run.
#[derive(Debug)]
pub struct Watch {
    /// The data of the repository.
    data: PathBuf,
    file: PathBuf,
    _lock: File,
}

impl Suspects {
    /// Looks at the settings as they are, and brings the list up to date with all watches.
    pub fn look(source: &Repo, data: &Path) -> Result<Self, ProofError> {
        let dir = dir_of(data);
        // No agent has run here yet.
        if !dir.is_dir() {
            return Ok(Self::default());
        }
        Ok(look(source, data, &dir)?.0)
    }

    /// The settings that do not count, by name.
    pub fn names(&self) -> Vec<Suspect> {
        let mut names: Vec<Suspect> = self.suspects().map(|known| shown(&known.entry)).collect();
        names.sort();
        names.dedup();
        names
    }

    /// From now on they count as the user's.
    pub fn confirm(mut self, data: &Path) -> Result<(), ProofError> {
        self.0.iter_mut().for_each(|known| known.state = State::Confirmed);
        let dir = dir_of(data);
        let _lock = lock(&dir)?;
        self.save(&dir)
    }

    /// A piece of the snapshot as it is without them: what appeared is left out, what went is there.
    pub(super) fn without(&self, piece: Piece, text: &[u8]) -> Vec<u8> {
        let end = end_of_entry(piece);
        let all: Vec<&[u8]> = text.split(|byte| *byte == end).collect();
        let of_piece = |change: Change| {
            let known =
                self.suspects().filter(move |known| known.change == change && known.entry.piece == piece);
            known.map(|known| known.entry.text.as_slice())
        };
        let kept: Vec<&[u8]> =
            all.into_iter().filter(|line| !of_piece(Change::Appeared).any(|text| text == *line)).collect();
        // First, so that whatever the user has set since is stronger.
        let gone =
            of_piece(Change::Gone).filter(|text| !kept.iter().any(|line| names_same(piece, line, text)));
        gone.chain(kept.iter().copied()).collect::<Vec<_>>().join(&end)
    }

    fn suspects(&self) -> impl Iterator<Item = &Known> {
        self.0.iter().filter(|known| known.state == State::Suspect)
    }

    /// Takes in what differs from how it was `before` an agent ran, and forgets what is no longer true.
    fn compare(&mut self, before: &[Entry], now: &[Entry]) {
        let appeared =
            now.iter().filter(|entry| !before.contains(entry)).map(|entry| (Change::Appeared, entry));
        let gone = before.iter().filter(|entry| !now.contains(entry)).map(|entry| (Change::Gone, entry));
        for (change, entry) in appeared.chain(gone) {
            if !self.0.iter().any(|known| known.change == change && known.entry == *entry) {
                self.0.push(Known { change, state: State::Suspect, entry: entry.clone() });
            }
        }
    }

    fn forget_what_is_over(&mut self, now: &[Entry]) {
        self.0.retain(|known| now.contains(&known.entry) == (known.change == Change::Appeared));
    }

    /// The settings as they would be without the suspects.
    fn users(&self, now: &[Entry]) -> Vec<Entry> {
        let of = |change: Change| self.suspects().filter(move |known| known.change == change);
        let gone = of(Change::Gone).map(|known| &known.entry);
        let kept = now.iter().filter(|entry| !of(Change::Appeared).any(|known| known.entry == **entry));
        gone.chain(kept).cloned().collect()
    }

    fn read(dir: &Path) -> Result<Self, ProofError> {
        let path = dir.join(LIST);
        let text = match files::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(source) => return Err(ProofError::File { what: FileAction::Read, path, source }),
        };
        let known = |record: &[u8]| {
            let mut words = record.splitn(3, |byte| *byte == b' ');
            let change = if words.next()? == b"gone" { Change::Gone } else { Change::Appeared };
            let state = if words.next()? == b"confirmed" { State::Confirmed } else { State::Suspect };
            Some(Known { change, state, entry: parsed_entry(words.next()?)? })
        };
        Ok(Self(records(&text).filter_map(known).collect()))
    }

    fn save(&self, dir: &Path) -> Result<(), ProofError> {
        let mut text = Vec::new();
        for Known { change, state, entry } in &self.0 {
            let change = match change {
                Change::Appeared => "appeared",
                Change::Gone => "gone",
            };
            let state = match state {
                State::Suspect => "suspect",
                State::Confirmed => "confirmed",
            };
            text.extend(format!("{change} {state} ").into_bytes());
            write_entry(entry, &mut text);
        }
        let path = dir.join(LIST);
        files::replace(&path, &text).map_err(ProofError::file(FileAction::Write, path))
    }
}

impl Watch {
    /// Notes how the settings are before agents of the task `name` run.
    pub fn begin(source: &Repo, data: &Path, name: &str) -> Result<Self, ProofError> {
        let dir = dir_of(data);
        let (suspects, now) = look(source, data, &dir)?;
        let mut text = Vec::new();
        suspects.users(&now).iter().for_each(|entry| write_entry(entry, &mut text));
        let file = dir.join(format!("{name}.{WATCH}"));
        let io = || ProofError::file(FileAction::Write, &file);
        files::replace(&file, &text).map_err(io())?;
        let lock = files::open(&file).map_err(io())?;
        lock.lock().map_err(io())?;
        Ok(Self { data: data.to_owned(), file, _lock: lock })
    }

    /// No agent of the task runs any more: what differs from how it was is noted.
    pub fn end(self, source: &Repo) -> Result<(), ProofError> {
        look(source, &self.data, &dir_of(&self.data))?;
        fs::remove_file(&self.file).map_err(ProofError::file(FileAction::Remove, &self.file))
    }
}

fn dir_of(data: &Path) -> PathBuf {
    data.join("suspects")
}

fn lock(dir: &Path) -> Result<File, ProofError> {
    let io = || ProofError::file(FileAction::Lock, dir);
    files::make_dir(dir).map_err(io())?;
    let file = crate::files::open_or_create(&dir.join("lock")).map_err(io())?;
    file.lock().map_err(io())?;
    Ok(file)
}

/// The list, and all settings as they are now.
fn look(source: &Repo, data: &Path, dir: &Path) -> Result<(Suspects, Vec<Entry>), ProofError> {
    let _lock = lock(dir)?;
    let io = |path: &Path| ProofError::file(FileAction::Read, path.to_owned());
    let (before, now) = (Suspects::read(dir)?, entries(source, data)?);
    let mut suspects = before.clone();
    for found in fs::read_dir(dir).map_err(io(dir))? {
        let path = found.map_err(io(dir))?.path();
        if path.extension().is_none_or(|extension| extension != WATCH) {
            continue;
        }
        let file = files::open(&path).map_err(io(&path))?;
        let watched: Vec<Entry> =
            records(&files::read(&path).map_err(io(&path))?).filter_map(parsed_entry).collect();
        suspects.compare(&watched, &now);
        match file.try_lock() {
            // Its process was killed: nothing of it runs any more.
            Ok(()) => fs::remove_file(&path).map_err(io(&path))?,
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(source)) => {
                return Err(ProofError::File { what: FileAction::Lock, path, source });
            }
        }
    }
    suspects.forget_what_is_over(&now);
    if suspects != before {
        suspects.save(dir)?;
    }
    Ok((suspects, now))
}

/// All that decides about contents beside the commits, as it is now.
fn entries(source: &Repo, data: &Path) -> Result<Vec<Entry>, ProofError> {
    let config = source.config()?;
    let mut all = Vec::new();
    for (piece, text) in snapshot::texts(source, data, config)? {
        let end = end_of_entry(piece);
        let lines = text.split(|byte| *byte == end).filter(|line| !line.is_empty() && !is_own_exclude(line));
        all.extend(lines.map(|line| Entry { piece, text: line.to_vec() }));
    }
    Ok(all)
}

/// Whether two entries are about the same: the same setting, or the same line.
fn names_same(piece: Piece, one: &[u8], other: &[u8]) -> bool {
    match piece {
        Piece::Config => key(one) == key(other),
        Piece::Refs
        | Piece::Excludes
        | Piece::Attributes
        | Piece::UsersAttributes
        | Piece::Shallow
        | Piece::Outside => one == other,
    }
}

/// The byte behind each entry of a piece.
fn end_of_entry(piece: Piece) -> u8 {
    match piece {
        Piece::Config | Piece::Outside => 0,
        Piece::Refs | Piece::Excludes | Piece::Attributes | Piece::UsersAttributes | Piece::Shallow => b'\n',
    }
}

fn key(setting: &[u8]) -> &[u8] {
    setting.split(|byte| *byte == b'\n').next().unwrap_or_default()
}

fn shown(entry: &Entry) -> Suspect {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let line = |file: &str| Suspect { name: format!("{file}: {}", text(&entry.text)), value: None };
    match entry.piece {
        Piece::Config => {
            let key = key(&entry.text);
            let value = entry.text.get(key.len() + 1..).map(text);
            Suspect { name: text(key), value }
        }
        Piece::Excludes => line("info/exclude"),
        Piece::Attributes => line("info/attributes"),
        Piece::UsersAttributes => line("core.attributesFile"),
        Piece::Refs => line("refs"),
        Piece::Shallow => line("shallow"),
        Piece::Outside => Suspect { name: outside::shown(&entry.text), value: None },
    }
}

fn records(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    // A setting has no zero byte, but its record may be empty text; the last byte ends the last record.
    text.split(|byte| *byte == 0).filter(|record| !record.is_empty())
}

fn write_entry(entry: &Entry, text: &mut Vec<u8>) {
    text.extend(snapshot::name_of(entry.piece).as_bytes());
    text.push(b' ');
    text.extend_from_slice(&entry.text);
    text.push(0);
}

fn parsed_entry(record: &[u8]) -> Option<Entry> {
    let space = record.iter().position(|byte| *byte == b' ')?;
    let piece = snapshot::piece_of(&record[..space])?;
    Some(Entry { piece, text: record[space + 1..].to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(text: &str) -> Entry {
        Entry { piece: Piece::Config, text: text.as_bytes().to_vec() }
    }

    fn without(suspects: &Suspects, text: &str) -> String {
        String::from_utf8(suspects.without(Piece::Config, text.as_bytes())).unwrap()
    }

    #[test]
    fn l4_what_an_agent_set_is_left_out_and_what_it_took_or_replaced_is_back() {
        let before = [setting("filter.a\nusers"), setting("core.eol\nlf"), setting("user.name\nAda")];
        let now = [setting("filter.a\nagents"), setting("filter.b\nagents"), setting("user.name\nAda")];
        let mut suspects = Suspects::default();
        suspects.compare(&before, &now);
        let text = "filter.a\nagents\0filter.b\nagents\0user.name\nAda\0";
        assert_eq!(without(&suspects, text), "filter.a\nusers\0core.eol\nlf\0user.name\nAda\0");
        // What the user sets afterwards is the user's.
        let text = "filter.a\nother\0filter.b\nagents\0";
        assert_eq!(without(&suspects, text), "core.eol\nlf\0filter.a\nother\0");
        let names: Vec<String> = suspects.names().into_iter().map(|suspect| suspect.name).collect();
        assert_eq!(names, ["core.eol", "filter.a", "filter.a", "filter.b"]);
    }

    #[test]
    fn l4_the_next_watch_begins_from_what_is_the_users() {
        let (before, now) =
            ([setting("user.name\nAda")], [setting("filter.b\nagents"), setting("user.name\nAda")]);
        let mut suspects = Suspects::default();
        suspects.compare(&before, &now);
        assert_eq!(suspects.users(&now), before);
        // Gone again, it is forgotten; back again, it differs from what was watched.
        suspects.forget_what_is_over(&before);
        assert_eq!(suspects, Suspects::default());
        suspects.compare(&before, &now);
        assert_eq!(suspects.0.len(), 1);
    }

    #[test]
    fn l4_what_was_confirmed_is_not_suspected_again() {
        let (before, now) = ([], [setting("filter.b\nusers")]);
        let mut suspects = Suspects::default();
        suspects.compare(&before, &now);
        suspects.0[0].state = State::Confirmed;
        suspects.compare(&before, &now);
        assert_eq!(suspects.names(), []);
        assert_eq!(without(&suspects, "filter.b\nusers\0"), "filter.b\nusers\0");
    }
}
