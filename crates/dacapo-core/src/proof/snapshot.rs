//! What counts for a proof beside the commit, as it was before the first turn.
//!
//! A manifest names each piece by its hash, and the journal names the manifest by its own: what is changed afterwards is
//! noticed when it is used. The pieces themselves are files named by their hash.

use std::ffi::OsStr;
use std::fs::{self, FileTimes, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::suspects::Suspects;
use super::{ProofError, config, files, outside};
use crate::files::FileAction;
use crate::git::{Repo, Settings};

const HEADER: &[u8] = b"dacapo start snapshot 1";
const MANIFEST: &str = "manifest";
const PIECES: &str = "pieces";

/// Git's configuration, excludes, attributes, refs, and the files that `.worktreeinclude` names.
#[derive(Debug, Clone)]
pub struct Snapshot {
    dir: PathBuf,
    sha256: String,
    records: Vec<Record>,
}

/// A piece of the snapshot that git reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Piece {
    /// All settings, as `git config --list -z` prints them.
    Config,
    /// Branches, tags and remote branches, as in `packed-refs`.
    Refs,
    /// The user's own excludes and those of the repository.
    Excludes,
    /// `info/attributes`.
    Attributes,
    /// The user's own attributes file.
    UsersAttributes,
    /// Where the history of a shallow clone ends.
    Shallow,
    /// Settings of tools outside of the checkout (`proof/outside.rs`).
    Outside,
}

/// A file that `.worktreeinclude` named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Included {
    pub(super) path: PathBuf,
    pub(super) kind: IncludedKind,
    piece: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IncludedKind {
    File { mode: u32, modified: SystemTime },
    Link,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Record {
    Piece(Piece, String),
    Included(Included),
}

const NAMES: [(Piece, &str); 7] = [
    (Piece::Config, "config"),
    (Piece::Refs, "refs"),
    (Piece::Excludes, "excludes"),
    (Piece::Attributes, "attributes"),
    (Piece::UsersAttributes, "users-attributes"),
    (Piece::Shallow, "shallow"),
    (Piece::Outside, "outside"),
];

impl Snapshot {
    /// Takes it of the user's checkout into `dir` (`TaskDir::start_path`), which is made anew. Settings that are
    /// suspected to be an agent's are left out. `data` is the data of the repository, where proofs are made.
    pub fn take(source: &Repo, data: &Path, dir: &Path, suspects: &Suspects) -> Result<Self, ProofError> {
        let pieces = dir.join(PIECES);
        let io = || ProofError::file(FileAction::Write, dir);
        files::remove(dir).map_err(io())?;
        files::make_dir(&pieces).map_err(io())?;

        let (all, refs) = source.config_and_refs()?;
        let mut texts = texts(source, data, all)?;
        texts.iter_mut().for_each(|(piece, text)| *text = suspects.without(*piece, text));
        texts.push((Piece::Refs, refs));
        let shallow = source.common_dir().join("shallow");
        let found = files::read_users(&shallow).map_err(ProofError::file(FileAction::Read, shallow))?;
        texts.extend(found.map(|text| (Piece::Shallow, text)));

        let mut records = Vec::new();
        for (piece, text) in texts {
            records.push(Record::Piece(piece, keep(&pieces, &mut text.as_slice()).map_err(io())?));
        }
        for path in source.included()?.0 {
            let full = source.toplevel().join(&path);
            let read = ProofError::file(FileAction::Read, &full);
            records.extend(include(&full, path, &pieces).map_err(read)?.map(Record::Included));
        }
        let manifest = written(&records);
        // Last: what a crash leaves has no manifest.
        files::replace(&dir.join(MANIFEST), &manifest).map_err(io())?;
        Ok(Self { dir: dir.to_owned(), sha256: hex(&hmac_sha256::Hash::hash(&manifest)), records })
    }

    /// Opens one that was taken; refuses it if it is not the one with this hash.
    pub fn open(dir: &Path, sha256: &str) -> Result<Self, ProofError> {
        let path = dir.join(MANIFEST);
        let manifest = match files::read(&path) {
            Ok(manifest) => manifest,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ProofError::SnapshotMissing { path: dir.to_owned() });
            }
            Err(source) => return Err(ProofError::File { what: FileAction::Read, path, source }),
        };
        // The hash comes from the journal. Whoever changes a setting later, and the manifest to match, is found out
        // here.
        let right = hex(&hmac_sha256::Hash::hash(&manifest)) == sha256;
        match parsed(&manifest).filter(|_| right) {
            Some(records) => Ok(Self { dir: dir.to_owned(), sha256: sha256.to_owned(), records }),
            None => Err(ProofError::SnapshotChanged { path }),
        }
    }

    /// Names exactly this content; for the journal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// A piece; none: there was no such file.
    pub(super) fn piece(&self, wanted: Piece) -> Result<Option<Vec<u8>>, ProofError> {
        let hash = self.records.iter().find_map(|record| match record {
            Record::Piece(piece, hash) if *piece == wanted => Some(hash),
            Record::Piece(..) | Record::Included(_) => None,
        });
        let Some(hash) = hash else { return Ok(None) };
        let mut bytes = Vec::new();
        self.copy_piece(hash, &mut bytes)?;
        Ok(Some(bytes))
    }

    /// The settings that a proof checkout gets.
    pub(super) fn settings(&self) -> Result<Settings, ProofError> {
        Ok(reparsed(&self.piece(Piece::Config)?.unwrap_or_default()))
    }

    /// The files that `.worktreeinclude` named.
    pub(super) fn included(&self) -> impl Iterator<Item = &Included> {
        self.records.iter().filter_map(|record| match record {
            Record::Included(included) => Some(included),
            Record::Piece(..) => None,
        })
    }

    /// Puts an included file at `to`, where nothing is.
    pub(super) fn lay_out(&self, included: &Included, to: &Path) -> Result<(), ProofError> {
        let io = || ProofError::file(FileAction::Write, to);
        match included.kind {
            IncludedKind::Link => {
                let mut target = Vec::new();
                self.copy_piece(&included.piece, &mut target)?;
                std::os::unix::fs::symlink(OsStr::from_bytes(&target), to).map_err(io())
            }
            IncludedKind::File { mode, modified } => {
                let mut file = files::create(to).map_err(io())?;
                self.copy_piece(&included.piece, &mut file)?;
                file.set_permissions(Permissions::from_mode(mode)).map_err(io())?;
                // Build tools go by the times of files.
                file.set_times(FileTimes::new().set_modified(modified)).map_err(io())
            }
        }
    }

    /// Whether what is at `path` is the included file, byte for byte.
    pub(super) fn is_same(&self, included: &Included, path: &Path) -> io::Result<bool> {
        let found = match fs::symlink_metadata(path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        let hash = match included.kind {
            IncludedKind::Link if found.is_symlink() => {
                hash_of(&mut fs::read_link(path)?.as_os_str().as_bytes(), &mut io::sink())?
            }
            IncludedKind::File { mode, .. } if found.is_file() && found.mode() & 0o777 == mode => {
                hash_of(&mut files::open(path)?, &mut io::sink())?
            }
            IncludedKind::Link | IncludedKind::File { .. } => return Ok(false),
        };
        Ok(hash == included.piece)
    }

    fn copy_piece(&self, hash: &str, to: &mut dyn Write) -> Result<(), ProofError> {
        let path = self.dir.join(PIECES).join(hash);
        let copied = files::open(&path).and_then(|mut file| hash_of(&mut file, to));
        match copied {
            Ok(found) if found == hash => Ok(()),
            Ok(_) => Err(ProofError::SnapshotChanged { path }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(ProofError::SnapshotMissing { path })
            }
            Err(source) => Err(ProofError::File { what: FileAction::Copy, path, source }),
        }
    }
}

/// The pieces that decide what files hold, as they are now. All of them may be an agent's doing.
pub(super) fn texts(source: &Repo, data: &Path, all: Settings) -> Result<Vec<(Piece, Vec<u8>)>, ProofError> {
    let read = |path: PathBuf| files::read_users(&path).map_err(ProofError::file(FileAction::Read, path));
    let users = |key: &str, default: &str| match source.users_file(config::last(&all, key), default) {
        Some(path) => read(path),
        None => Ok(None),
    };
    let info = source.common_dir().join("info");
    let mut excludes = users("core.excludesfile", "ignore")?.unwrap_or_default();
    excludes.push(b'\n');
    excludes.extend(read(info.join("exclude"))?.unwrap_or_default());
    let attributes = (users("core.attributesfile", "attributes")?, read(info.join("attributes"))?);
    let texts = [
        (Piece::UsersAttributes, attributes.0),
        (Piece::Excludes, Some(excludes)),
        (Piece::Attributes, attributes.1),
        (Piece::Config, Some(unparsed(&config::kept(all)))),
        (Piece::Outside, Some(outside::record(&outside::candidates(|name| source.variable(name), data)))),
    ];
    Ok(texts.into_iter().filter_map(|(piece, text)| Some((piece, text?))).collect())
}

pub(super) fn name_of(piece: Piece) -> &'static str {
    NAMES.iter().find(|(known, _)| *known == piece).map_or("", |(_, name)| name)
}

pub(super) fn piece_of(name: &[u8]) -> Option<Piece> {
    NAMES.iter().find(|(_, known)| known.as_bytes() == name).map(|(piece, _)| *piece)
}

/// Keeps bytes under their hash.
fn keep(pieces: &Path, from: &mut dyn Read) -> io::Result<String> {
    let new = pieces.join("new");
    let hash = hash_of(from, &mut files::create(&new)?)?;
    fs::rename(new, pieces.join(&hash))?;
    Ok(hash)
}

/// None: it is gone since git saw it, or is neither a file nor a link.
fn include(full: &Path, path: PathBuf, pieces: &Path) -> io::Result<Option<Included>> {
    let found = match fs::symlink_metadata(full) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if found.is_symlink() {
        let target = fs::read_link(full)?;
        let piece = keep(pieces, &mut target.as_os_str().as_bytes())?;
        return Ok(Some(Included { path, kind: IncludedKind::Link, piece }));
    }
    if !found.is_file() {
        return Ok(None);
    }
    let piece = keep(pieces, &mut files::open(full)?)?;
    let kind = IncludedKind::File { mode: found.mode() & 0o777, modified: found.modified()? };
    Ok(Some(Included { path, kind, piece }))
}

pub(super) fn hash_of(from: &mut dyn Read, to: &mut dyn Write) -> io::Result<String> {
    let mut hash = hmac_sha256::Hash::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(hex(&hash.finalize())),
            read => {
                hash.update(&buffer[..read]);
                to.write_all(&buffer[..read])?;
            }
        }
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A record each, with a zero byte behind it: `piece NAME HASH`, `file MODE SECONDS NANOS HASH PATH`, `link HASH PATH`.
fn written(records: &[Record]) -> Vec<u8> {
    let mut text = HEADER.to_vec();
    text.push(0);
    for record in records {
        match record {
            Record::Piece(piece, hash) => {
                text.extend(format!("piece {} {hash}", name_of(*piece)).into_bytes());
            }
            Record::Included(Included { path, kind, piece }) => {
                let head = match kind {
                    IncludedKind::File { mode, modified } => {
                        let since = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
                        format!("file {mode:o} {} {} {piece} ", since.as_secs(), since.subsec_nanos())
                    }
                    IncludedKind::Link => format!("link {piece} "),
                };
                text.extend(head.into_bytes());
                text.extend_from_slice(path.as_os_str().as_bytes());
            }
        }
        text.push(0);
    }
    text
}

fn parsed(manifest: &[u8]) -> Option<Vec<Record>> {
    let mut lines = manifest.strip_suffix(b"\0")?.split(|byte| *byte == 0);
    if lines.next()? != HEADER {
        return None;
    }
    lines.map(parsed_record).collect()
}

fn parsed_record(line: &[u8]) -> Option<Record> {
    let word = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    let path = |bytes: &[u8]| PathBuf::from(std::ffi::OsString::from_vec(bytes.to_vec()));
    let mut words = line.split(|byte| *byte == b' ');
    match words.next()? {
        b"piece" => {
            let piece = piece_of(words.next()?)?;
            Some(Record::Piece(piece, word(words.next()?)?))
        }
        b"file" => {
            let mut words = line.splitn(6, |byte| *byte == b' ').skip(1);
            let mode = u32::from_str_radix(&word(words.next()?)?, 8).ok()?;
            let (seconds, nanos) = (word(words.next()?)?.parse().ok()?, word(words.next()?)?.parse().ok()?);
            let modified = SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanos))?;
            let piece = word(words.next()?)?;
            let kind = IncludedKind::File { mode, modified };
            Some(Record::Included(Included { path: path(words.next()?), kind, piece }))
        }
        b"link" => {
            let mut words = line.splitn(3, |byte| *byte == b' ').skip(1);
            let piece = word(words.next()?)?;
            Some(Record::Included(Included { path: path(words.next()?), kind: IncludedKind::Link, piece }))
        }
        _ => None,
    }
}

fn unparsed(settings: &Settings) -> Vec<u8> {
    let mut text = Vec::new();
    for (key, value) in settings {
        text.extend_from_slice(key);
        if let Some(value) = value {
            text.push(b'\n');
            text.extend_from_slice(value);
        }
        text.push(0);
    }
    text
}

fn reparsed(text: &[u8]) -> Settings {
    let entry = |entry: &[u8]| match entry.iter().position(|byte| *byte == b'\n') {
        Some(end) => (entry[..end].to_vec(), Some(entry[end + 1..].to_vec())),
        None => (entry.to_vec(), None),
    };
    text.split(|byte| *byte == 0).filter(|text| !text.is_empty()).map(entry).collect()
}
