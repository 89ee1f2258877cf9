//! Keeps the values of keys and tokens out of everything that is written to disk.
//!
//! Masking happens once, between the pipe and the raw file, so that whatever reads the file later (parser, log, page,
//! summary) cannot leak what was never stored. A secret becomes as many `*` as it has bytes: offsets stay true.
//! Escaped forms of a secret (JSON escapes, base64, URL encoding) are not recognised.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use aho_corasick::{AhoCorasick, packed};

/// Values shorter than this are masked only when the name leaves no doubt.
const CERTAIN_LENGTH: usize = 12;
/// Below this length a value collides with ordinary words, whatever its name.
const SHORTEST: usize = 8;

/// Words of a variable's name that say its value is a secret.
const SECRET_WORDS: &[&str] = &[
    "KEY",
    "APIKEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "PASS",
    "PWD",
    "CREDENTIAL",
    "CREDENTIALS",
    "AUTH",
    "AUTHORIZATION",
    "PAT",
    "COOKIE",
];

/// Words that turn a `…KEY…` or `…AUTH…` name into the place, kind or number of a secret rather than the secret.
const HARMLESS_WORDS: &[&str] = &[
    "SOCK", "SOCKET", "FILE", "FILES", "PATH", "DIR", "HOME", "MODE", "TYPE", "METHOD", "ID", "NAME", "URL",
    "URI", "HOST", "LIMIT", "COUNT", "MAX", "MIN", "HELPER", "PROGRAM", "COMMAND", "BINDING", "BINDINGS",
    "LAYOUT",
];

/// Replaces known secrets in byte streams and texts.
pub struct Masker {
    secrets: Vec<Vec<u8>>,
    longest: usize,
    finder: Finder,
}

enum Finder {
    Nothing,
    Packed(packed::Searcher),
    Automaton(AhoCorasick),
}

impl Finder {
    fn new(secrets: &[Vec<u8>]) -> Self {
        if secrets.is_empty() {
            return Self::Nothing;
        }
        // The vector search knows up to 64 patterns; past that it would fall back to something slower than the automaton.
        let vectorised = (secrets.len() <= 64)
            .then(|| {
                packed::Config::new()
                    .match_kind(packed::MatchKind::LeftmostLongest)
                    .builder()
                    .extend(secrets)
                    .build()
            })
            .flatten();
        if let Some(searcher) = vectorised {
            return Self::Packed(searcher);
        }
        AhoCorasick::builder()
            .match_kind(aho_corasick::MatchKind::LeftmostLongest)
            .build(secrets)
            .map_or(Self::Nothing, Self::Automaton)
    }

    /// The first secret in `bytes`, as start and end.
    fn find(&self, bytes: &[u8]) -> Option<(usize, usize)> {
        match self {
            Self::Nothing => None,
            Self::Packed(searcher) => searcher.find(bytes).map(|m| (m.start(), m.end())),
            Self::Automaton(automaton) => automaton.find(bytes).map(|m| (m.start(), m.end())),
        }
    }
}

impl Masker {
    /// Masks exactly these values; empty ones are left out.
    pub fn new(secrets: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let mut secrets: Vec<_> = secrets.into_iter().filter(|secret| !secret.is_empty()).collect();
        secrets.sort();
        secrets.dedup();
        let longest = secrets.iter().map(Vec::len).max().unwrap_or(0);
        let finder = Finder::new(&secrets);
        Self { secrets, longest, finder }
    }

    /// Masks the values of those variables whose name and value look like a secret.
    pub fn from_env(vars: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self::new(
            vars.into_iter()
                .filter(|(name, value)| is_secret(name, value))
                .map(|(_, value)| value.as_bytes().trim_ascii().to_vec()),
        )
    }

    /// The length of the longest secret: what a stream may have to hold back.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// True when there is nothing to mask, so that callers can leave the bytes alone.
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Masks `bytes`, the newest part of a stream, in place and returns how many of them are final.
    ///
    /// The rest may be the beginning of a secret: the caller keeps it and passes it again in front of what follows,
    /// or writes it as it is when the stream has ended (`mask_all` has the last word then).
    #[must_use]
    pub fn mask_stream(&self, bytes: &mut [u8]) -> usize {
        if self.is_empty() {
            return bytes.len();
        }
        let mut done = 0;
        loop {
            let open = self.open_end(bytes, done);
            match self.finder.find(&bytes[done..]) {
                // A match behind an open end would lose against the longer, earlier secret that may still complete.
                Some((start, end)) if done + start < open => {
                    bytes[done + start..done + end].fill(b'*');
                    done += end;
                }
                _ => return open,
            }
        }
    }

    /// Masks a complete piece, or the end of a stream, in place.
    pub fn mask_all(&self, bytes: &mut [u8]) {
        let mut done = 0;
        while let Some((start, end)) = self.finder.find(&bytes[done..]) {
            bytes[done + start..done + end].fill(b'*');
            done += end;
        }
    }

    /// The text without its secrets.
    pub fn mask_str(&self, text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        self.mask_all(&mut bytes);
        match String::from_utf8(bytes) {
            Ok(masked) => masked,
            // Only a secret that is not UTF-8 itself can cut a character in two.
            Err(cut) => String::from_utf8_lossy(cut.as_bytes()).into_owned(),
        }
    }

    /// Where the longest suffix of `bytes[from..]` begins that is a proper prefix of a secret; `bytes.len()` if none.
    fn open_end(&self, bytes: &[u8], from: usize) -> usize {
        let first = bytes.len().saturating_sub(self.longest.saturating_sub(1)).max(from);
        (first..bytes.len())
            .find(|&at| {
                let tail = &bytes[at..];
                self.secrets.iter().any(|secret| secret.len() > tail.len() && secret.starts_with(tail))
            })
            .unwrap_or(bytes.len())
    }
}

impl std::fmt::Debug for Masker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Never the values.
        f.debug_struct("Masker").field("secrets", &self.secrets.len()).finish_non_exhaustive()
    }
}

fn is_secret(name: &OsStr, value: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let value = value.as_bytes().trim_ascii();
    if value.len() < SHORTEST || is_place(value) || is_plain(value) {
        return false;
    }
    let name = name.to_ascii_uppercase();
    let words: Vec<&str> =
        name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if words.last().is_some_and(|word| HARMLESS_WORDS.contains(word)) {
        return false;
    }
    let looks_secret = words
        .iter()
        .any(|word| SECRET_WORDS.contains(word) || word.ends_with("KEY") || word.ends_with("TOKEN"));
    looks_secret && (value.len() >= CERTAIN_LENGTH || leaves_no_doubt(&words))
}

fn leaves_no_doubt(words: &[&str]) -> bool {
    match words {
        [.., "API", "KEY"] | [.., "APIKEY" | "TOKEN" | "SECRET"] => true,
        [.., last] => last.ends_with("PASSWORD") || last.ends_with("PASSWD"),
        [] => false,
    }
}

/// A path or a list of paths: masking it would blank half of every log.
fn is_place(value: &[u8]) -> bool {
    value.starts_with(b"/")
        || value.starts_with(b"~/")
        || value.starts_with(b"./")
        || memchr::memmem::find(value, b":/").is_some()
}

/// A lone lower-case word, a number or a repetition of one character, as in `AUTH=disabled`.
fn is_plain(value: &[u8]) -> bool {
    value.iter().all(|byte| byte.is_ascii_digit() && value.len() < CERTAIN_LENGTH)
        || (value.len() < 20 && value.iter().all(u8::is_ascii_lowercase))
        || value.iter().all(|byte| *byte == value[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn masker(secrets: &[&str]) -> Masker {
        Masker::new(secrets.iter().map(|secret| secret.as_bytes().to_vec()))
    }

    /// Feeds the pieces as a stream would.
    fn stream<'a>(masker: &Masker, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
        let (mut held, mut out) = (Vec::new(), Vec::new());
        for piece in pieces {
            held.extend_from_slice(piece);
            let done = masker.mask_stream(&mut held);
            out.extend(held.drain(..done));
        }
        masker.mask_all(&mut held);
        out.extend(held);
        out
    }

    #[test]
    fn a_secret_split_at_any_byte_is_caught() {
        let masker = masker(&["sk-0123456789abcdef", "sk-0123456789abcdef-long", "f-other-secret"]);
        let text = b"a sk-0123456789abcdef-long b sk-0123456789abcdef c f-other-secret sk-01".as_slice();
        let whole = stream(&masker, [text]);
        assert_eq!(
            whole,
            b"a ************************ b ******************* c ************** sk-01".as_slice()
        );
        for first in 0..text.len() {
            for second in first..text.len() {
                let pieces = [&text[..first], &text[first..second], &text[second..]];
                assert_eq!(stream(&masker, pieces), whole, "split at {first} and {second}");
            }
        }
        assert_eq!(stream(&masker, text.chunks(1)), whole);
    }

    #[test]
    fn only_a_possible_beginning_is_held_back() {
        let masker = masker(&["abcdefghijkl"]);
        let mut bytes = b"hello abc".to_vec();
        assert_eq!(masker.mask_stream(&mut bytes), 6);
        let mut bytes = b"hello abd".to_vec();
        assert_eq!(masker.mask_stream(&mut bytes), 9);
    }

    #[test]
    fn more_secrets_than_the_vector_search_knows() {
        let masker = Masker::new((0..300).map(|n| format!("secret-number-{n:04}").into_bytes()));
        assert_eq!(masker.mask_str("x secret-number-0299 y"), "x ****************** y");
    }

    #[test]
    fn names_and_values_decide() {
        let secret = |name: &str, value: &str| is_secret(OsStr::new(name), OsStr::new(value));
        for (name, value) in [
            ("OPENAI_API_KEY", "sk-abc123"),
            ("GH_TOKEN", "ghp_0123456789"),
            ("DB_PASSWORD", "hunter22!"),
            ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG"),
            ("npm_config_//registry/:_authToken", "npm_0123456789abcdef"),
            ("X_AUTH", "Basic 0123456789=="),
        ] {
            assert!(secret(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("SSH_AUTH_SOCK", "agent.sock.123456"),
            ("AUTH_DB", "/var/lib/auth.database"),
            ("KEY_PATHS", "one:/usr/share/keys"),
            ("OPENAI_API_KEY", "short"),
            ("USE_TOKEN", "enabled-true".strip_suffix("-true").unwrap_or_default()),
            ("MAX_TOKENS", "123456789012345"),
            ("MONKEY", "true"),
            ("EDITOR", "0123456789abcdef"),
            ("XKEY_ID", "0123456789abcdef"),
            ("SOME_KEY", "short-val"),
        ] {
            assert!(!secret(name, value), "{name}={value}");
        }
    }

    proptest! {
        #[test]
        fn chunks_never_matter(text in "[ab*]{0,60}", cuts in proptest::collection::vec(0usize..60, 0..8)) {
            let masker = masker(&["aab", "ab", "abba", "b*a"]);
            let whole = stream(&masker, [text.as_bytes()]);
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.push(0);
            cuts.push(text.len());
            cuts.sort_unstable();
            let pieces = cuts.windows(2).map(|pair| &text.as_bytes()[pair[0]..pair[1]]);
            prop_assert_eq!(&stream(&masker, pieces), &whole);
            let mut at_once = text.into_bytes();
            masker.mask_all(&mut at_once);
            prop_assert_eq!(at_once, whole);
        }
    }
}
