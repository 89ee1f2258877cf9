//! Object ids, and how a path of any bytes is shown.

use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The id of a git object: 40 (SHA-1) or 64 (SHA-256) hex digits, lower case.
///
/// Validated on the way in, so that an id read from a journal or from a file in `.git` can be put on a
/// command line without being mistaken for an option or a revision expression.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct Oid(String);

/// What was read is not an object id.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("not a git object id: {0:?}")]
pub struct InvalidOid(pub String);

impl Oid {
    /// Takes exactly 40 or 64 hex digits.
    pub fn parse(text: &str) -> Result<Self, InvalidOid> {
        let right_length = matches!(text.len(), 40 | 64);
        if right_length && text.bytes().all(|b| b.is_ascii_hexdigit()) {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err(InvalidOid(text.chars().take(80).collect()))
        }
    }

    /// As [`Oid::parse`], from what git printed; white space around it is git's line end.
    pub(super) fn from_output(bytes: &[u8]) -> Result<Self, InvalidOid> {
        Self::parse(String::from_utf8_lossy(bytes).trim())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first seven digits, as people read them.
    pub fn short(&self) -> &str {
        &self.0[..7]
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Oid {
    type Error = InvalidOid;

    fn try_from(text: String) -> Result<Self, InvalidOid> {
        Self::parse(&text)
    }
}

impl From<Oid> for String {
    fn from(oid: Oid) -> Self {
        oid.0
    }
}

/// A path as text for people and JSON: valid UTF-8 stays as it is, control characters and stray bytes are
/// escaped (`\n`, `\xff`), so that no file name can forge a line of output or be cut by a terminal.
pub fn display_path(path: &Path) -> String {
    let mut shown = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => shown.push_str("\\\\"),
                c if c.is_control() => shown.extend(c.escape_default()),
                c => shown.push(c),
            }
        }
        for byte in chunk.invalid() {
            shown.push_str(&format!("\\x{byte:02x}"));
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn only_whole_ids_pass() {
        let id = "0123456789abcdef0123456789ABCDEF01234567";
        assert_eq!(Oid::parse(id).map(|o| o.short().to_owned()), Ok("0123456".into()));
        for bad in ["", "HEAD", "--help", &id[1..], &format!("{id}\n")] {
            assert!(Oid::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn odd_names_are_shown_on_one_line() {
        let path = Path::new(OsStr::from_bytes(b"a\nb\xff\\\xe7\xb9\xbc"));
        assert_eq!(display_path(path), "a\\nb\\xff\\\\繼");
    }
}
