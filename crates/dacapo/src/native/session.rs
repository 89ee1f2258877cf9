//! A conversation in a file: `DIR/ID.json`, for its owner alone, always whole.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::conversation::{Message, is_whole};
use super::failure::Problem;

/// The version of the format.
const FORMAT: u32 = 1;

/// A conversation fits into a model's window; nothing near this size is one.
const LARGEST: u64 = 64 << 20;

/// Where a conversation is kept.
#[derive(Debug)]
pub(super) struct Store {
    path: PathBuf,
    pub(super) id: String,
}

#[derive(Serialize, Deserialize)]
struct File<M> {
    v: u32,
    messages: M,
}

/// What every version has.
#[derive(Deserialize)]
struct Version {
    v: u32,
}

impl Store {
    /// A new conversation. Its file is there before anybody hears of its id.
    pub(super) fn create(directory: &Path, id: Option<String>) -> Result<Self, Problem> {
        let id = id.unwrap_or_else(random_uuid);
        let store = Store { path: directory.join(format!("{id}.json")), id };
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
        made.map_err(|error| store.failed("make a place for", &error))?;
        if store.path.exists() {
            return Err(Problem::Permanent(format!(
                "session {} exists already in {}; continue it, or choose another id",
                store.id,
                directory.display()
            )));
        }
        store.save(&[])?;
        Ok(store)
    }

    /// An old one, with what was said in it.
    pub(super) fn open(directory: &Path, id: String) -> Result<(Self, Vec<Message>), Problem> {
        let store = Store { path: directory.join(format!("{id}.json")), id };
        let size = match fs::metadata(&store.path) {
            Ok(meta) => meta.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Problem::Permanent(format!(
                    "there is no session {} in {}; --session fresh begins a new one each time",
                    store.id,
                    directory.display()
                )));
            }
            Err(error) => return Err(store.failed("read", &error)),
        };
        if size > LARGEST {
            return Err(store.broken("it is far too large"));
        }
        let text = fs::read_to_string(&store.path).map_err(|error| store.failed("read", &error))?;
        match serde_json::from_str::<Version>(&text) {
            Ok(Version { v: FORMAT }) => {}
            Ok(Version { v }) => {
                return Err(store.broken(&format!("its format {v} is not known to this version of Dacapo")));
            }
            Err(error) => return Err(store.broken(&error.to_string())),
        }
        let file: File<Vec<Message>> =
            serde_json::from_str(&text).map_err(|error| store.broken(&error.to_string()))?;
        if !is_whole(&file.messages) {
            return Err(store.broken("calls and answers in it do not go together"));
        }
        Ok((store, file.messages))
    }

    /// Keeps what was said, all or nothing.
    pub(super) fn save(&self, messages: &[Message]) -> Result<(), Problem> {
        let write = || {
            let text = serde_json::to_vec(&File { v: FORMAT, messages })?;
            // For the owner alone from the start: temporary files are made so.
            let mut file = tempfile::NamedTempFile::new_in(self.path.parent().unwrap_or(Path::new(".")))?;
            file.write_all(&text)?;
            // Content before name: after a power cut the session is the old one or the new one, never an empty file.
            file.as_file().sync_data()?;
            file.persist(&self.path).map_err(|error| error.error)?;
            Ok::<(), io::Error>(())
        };
        write().map_err(|error| Problem::Transient(self.words("write", &error)))
    }

    fn failed(&self, what: &str, error: &io::Error) -> Problem {
        Problem::Permanent(self.words(what, error))
    }

    fn words(&self, what: &str, error: &io::Error) -> String {
        format!("cannot {what} session {} ({}): {error}", self.id, self.path.display())
    }

    fn broken(&self, why: &str) -> Problem {
        Problem::Permanent(format!(
            "session {} cannot be continued: {} is broken: {why}; --session fresh begins a new one each time",
            self.id,
            self.path.display()
        ))
    }
}

/// A random id in the form that others use too.
fn random_uuid() -> String {
    let hex = dacapo_core::spec::random_hex(16);
    format!("{}-{}-4{}-8{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use serde_json::Map;

    use super::super::conversation::{Call, ToolAnswer};
    use super::*;

    fn messages() -> Vec<Message> {
        let call = Call { id: "1".into(), name: "shell".into(), arguments: Map::new() };
        vec![
            Message::User { text: "繼續".into() },
            Message::Assistant { text: "a".into(), calls: vec![call], thoughts: Vec::new() },
            Message::Results { answers: vec![ToolAnswer { id: "1".into(), output: "b".into() }] },
            Message::said("c"),
        ]
    }

    #[test]
    fn l13_a_conversation_comes_back_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("sessions");
        let store = Store::create(&place, None).unwrap();
        assert_eq!(store.id.len(), 36);
        assert_eq!(Store::open(&place, store.id.clone()).unwrap().1, []);
        store.save(&messages()).unwrap();
        assert_eq!(Store::open(&place, store.id.clone()).unwrap().1, messages());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&place), mode(&store.path)), (0o700, 0o600));
        assert_eq!(fs::read_dir(&place).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn an_id_is_given_once() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(dir.path(), Some("mine".into())).unwrap();
        store.save(&messages()).unwrap();
        let error = Store::create(dir.path(), Some("mine".into())).unwrap_err();
        assert!(
            matches!(error, Problem::Permanent(ref message) if message.contains("exists already")),
            "{error:?}"
        );
        assert_eq!(Store::open(dir.path(), "mine".into()).unwrap().1, messages());
    }

    #[test]
    fn l13_what_cannot_be_continued_says_why() {
        let dir = tempfile::tempdir().unwrap();
        let at = |id: &str, text: &[u8]| {
            fs::write(dir.path().join(format!("{id}.json")), text).unwrap();
            let Problem::Permanent(message) = Store::open(dir.path(), id.into()).unwrap_err() else {
                panic!("{id}")
            };
            message
        };
        let Problem::Permanent(message) = Store::open(dir.path(), "none".into()).unwrap_err() else {
            panic!()
        };
        assert!(message.contains("there is no session none"), "{message}");
        assert!(at("a", b"").contains("is broken"));
        assert!(at("b", b"{\"v\":1,\"messages\":[{\"role\":\"user\"").contains("is broken"));
        assert!(at("c", b"{\"v\":7,\"talk\":[]}").contains("format 7 is not known"));
        assert!(at("d", b"\xff\xfe").contains("cannot read"));
        assert!(
            at("e", b"{\"v\":1,\"messages\":[{\"role\":\"results\",\"answers\":[]}]}")
                .contains("go together")
        );
        assert!(at("f", b"{\"v\":1,\"messages\":[{\"role\":\"oracle\"}]}").contains("is broken"));
    }
}
