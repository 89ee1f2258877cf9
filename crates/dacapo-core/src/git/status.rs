//! Reads `git status --porcelain=v2 -z` and `git diff-tree --raw -z`. Pure functions over bytes.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::Oid;

/// The mode of a submodule (or of a nested repository that somebody added).
pub(super) const GITLINK: u32 = 0o160_000;
/// The mode of a directory in a tree.
pub(super) const TREE: u32 = 0o040_000;

/// What git wrote does not follow its own format; holds the record.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed(pub(super) Vec<u8>);

/// One look at the working tree.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Status {
    /// HEAD's commit as git saw it; none when unborn.
    pub(super) head: Option<Oid>,
    pub(super) entries: Vec<Entry>,
}

/// One path that git has something to say about.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Tracked(Tracked),
    Unmerged(PathBuf),
    /// A nested repository ends in `/`.
    Untracked(PathBuf),
}

/// A path that differs between HEAD, index and working tree.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tracked {
    pub(super) path: PathBuf,
    /// The index's letter (`X`); `.` means as in HEAD.
    pub(super) index: u8,
    /// The working tree's letter (`Y`); `.` means as in the index.
    pub(super) worktree: u8,
    /// Mode in HEAD; 0 when HEAD does not have it.
    pub(super) mode_head: u32,
    /// Mode in the index; 0 when not there, or only with intent to add.
    pub(super) mode_index: u32,
    pub(super) submodule: Option<Submodule>,
}

/// What differs in a submodule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Submodule {
    /// Another commit is checked out than the one recorded.
    pub(super) moved: bool,
    /// It has changes of its own that no commit holds.
    pub(super) dirty: bool,
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

fn octal(field: &[u8]) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(field).ok()?, 8).ok()
}

/// Reads the whole answer of `git status --porcelain=v2 -z`.
pub(super) fn parse_status(output: &[u8]) -> Result<Status, Malformed> {
    let mut status = Status::default();
    let mut records = output.split(|&b| b == 0);
    while let Some(record) = records.next() {
        let malformed = || Malformed(record.to_vec());
        match record {
            [] => {}
            [b'#', b' ', rest @ ..] => {
                if let Some(oid) = rest.strip_prefix(b"branch.oid ") {
                    status.head = Oid::from_output(oid).ok();
                }
            }
            [b'1', b' ', rest @ ..] => status.entries.push(tracked(rest, 7).ok_or_else(malformed)?),
            [b'2', b' ', rest @ ..] => {
                status.entries.push(tracked(rest, 8).ok_or_else(malformed)?);
                // The record of a rename is followed by the path it came from.
                records.next();
            }
            [b'u', b' ', rest @ ..] => {
                let name = rest.splitn(10, |&b| b == b' ').nth(9).ok_or_else(malformed)?;
                status.entries.push(Entry::Unmerged(path(name)));
            }
            [b'?', b' ', name @ ..] => status.entries.push(Entry::Untracked(path(name))),
            [b'!', b' ', ..] => {}
            _ => return Err(malformed()),
        }
    }
    Ok(status)
}

/// `XY sub mH mI mW hH hI [score] path`: `before` fields, then a path that may hold spaces.
fn tracked(rest: &[u8], before: usize) -> Option<Entry> {
    let fields: Vec<&[u8]> = rest.splitn(before + 1, |&b| b == b' ').collect();
    let (&[xy, sub, mode_head, mode_index], name) = (fields.get(..4)?.first_chunk()?, *fields.get(before)?);
    let submodule = match sub {
        [b'S', moved, modified, untracked] => {
            Some(Submodule { moved: *moved == b'C', dirty: *modified == b'M' || *untracked == b'U' })
        }
        _ => None,
    };
    Some(Entry::Tracked(Tracked {
        path: path(name),
        index: *xy.first()?,
        worktree: *xy.get(1)?,
        mode_head: octal(mode_head)?,
        mode_index: octal(mode_index)?,
        submodule,
    }))
}

/// One line of a raw diff between two trees.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RawChange {
    pub(super) old_mode: u32,
    pub(super) new_mode: u32,
    pub(super) old_oid: Oid,
    pub(super) new_oid: Oid,
    pub(super) status: u8,
    pub(super) path: PathBuf,
}

/// Reads `git diff-tree --raw -z --no-abbrev --no-renames`.
pub(super) fn parse_raw_diff(output: &[u8]) -> Result<Vec<RawChange>, Malformed> {
    let mut changes = Vec::new();
    let mut records = output.split(|&b| b == 0);
    while let Some(record) = records.next() {
        let Some(fields) = record.strip_prefix(b":") else {
            // The end, or the commit's own id that some forms of the command print first.
            continue;
        };
        let malformed = || Malformed(record.to_vec());
        let fields: Vec<&[u8]> = fields.split(|&b| b == b' ').collect();
        let &[old_mode, new_mode, old_oid, new_oid, status] = fields.as_slice() else {
            return Err(malformed());
        };
        let name = records.next().ok_or_else(malformed)?;
        changes.push(RawChange {
            old_mode: octal(old_mode).ok_or_else(malformed)?,
            new_mode: octal(new_mode).ok_or_else(malformed)?,
            old_oid: Oid::from_output(old_oid).map_err(|_| malformed())?,
            new_oid: Oid::from_output(new_oid).map_err(|_| malformed())?,
            status: *status.first().ok_or_else(malformed)?,
            path: path(name),
        });
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const H: &str = "0123456789012345678901234567890123456789";

    #[test]
    fn every_kind_of_record_is_read() {
        let text = format!(
            "# branch.oid {H}\0# branch.head main\0\
             1 .M N... 100644 100644 100644 {H} {H} a b\nc\0\
             1 A. S.MU 000000 160000 160000 {H} {H} sub\0\
             2 R. N... 100644 100644 100644 {H} {H} R100 new\0old\0\
             u UU N... 100644 100644 100644 100644 {H} {H} {H} both ways\0\
             ? -x\0! ignored\0? nested/\0"
        );
        let status = parse_status(text.as_bytes()).expect("well formed");
        assert_eq!(status.head, Oid::parse(H).ok());
        let tracked = |path: &str, [index, worktree]: [u8; 2], mode_head, mode_index, submodule| {
            Entry::Tracked(Tracked { path: path.into(), index, worktree, mode_head, mode_index, submodule })
        };
        assert_eq!(
            status.entries,
            vec![
                tracked("a b\nc", *b".M", 0o100_644, 0o100_644, None),
                tracked("sub", *b"A.", 0, GITLINK, Some(Submodule { moved: false, dirty: true })),
                tracked("new", *b"R.", 0o100_644, 0o100_644, None),
                Entry::Unmerged("both ways".into()),
                Entry::Untracked("-x".into()),
                Entry::Untracked("nested/".into()),
            ]
        );
    }

    #[test]
    fn an_unborn_head_has_no_commit() {
        assert_eq!(parse_status(b"# branch.oid (initial)\0# branch.head main\0"), Ok(Status::default()));
    }

    #[test]
    fn a_torn_record_is_refused() {
        assert!(parse_status(b"1 .M N... 100644\0").is_err());
        assert!(parse_status(b"garbage\0").is_err());
        assert!(parse_raw_diff(b":100644 000000\0x\0").is_err());
    }

    #[test]
    fn raw_diffs_are_read() {
        let text = format!(":000000 040000 {H} {H} A\0dir\0:100644 000000 {H} {H} D\0x \n\0");
        let changes = parse_raw_diff(text.as_bytes()).expect("well formed");
        assert_eq!(changes.len(), 2);
        assert_eq!((changes[0].new_mode, changes[0].status), (TREE, b'A'));
        assert_eq!((changes[1].path.as_path(), changes[1].status), (std::path::Path::new("x \n"), b'D'));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse_status(&bytes);
            let _ = parse_raw_diff(&bytes);
        }

        #[test]
        fn nearly_right_bytes_too(
            parts in proptest::collection::vec(
                prop_oneof![
                    Just(b"1 ".to_vec()), Just(b"2 ".to_vec()), Just(b"u ".to_vec()), Just(b"? ".to_vec()),
                    Just(b"# branch.oid ".to_vec()), Just(b".M ".to_vec()), Just(b"S.M. ".to_vec()),
                    Just(b"100644 ".to_vec()), Just(b":".to_vec()), Just(b"\0".to_vec()), Just(H.as_bytes().to_vec()),
                    proptest::collection::vec(any::<u8>(), 0..6),
                ],
                0..30,
            )
        ) {
            let bytes = parts.concat();
            let _ = parse_status(&bytes);
            let _ = parse_raw_diff(&bytes);
        }

        #[test]
        fn every_name_comes_back(name in proptest::collection::vec(1u8.., 1..40)) {
            let mut text = format!("1 .M N... 100644 100644 100644 {H} {H} ").into_bytes();
            text.extend(&name);
            text.extend(b"\0? ");
            text.extend(&name);
            text.push(0);
            let status = parse_status(&text).expect("well formed");
            let paths: Vec<PathBuf> = status.entries.into_iter().map(|entry| match entry {
                Entry::Tracked(tracked) => tracked.path,
                Entry::Unmerged(path) | Entry::Untracked(path) => path,
            }).collect();
            prop_assert_eq!(paths, vec![path(&name), path(&name)]);
        }
    }
}
