//! Finds out which secrets a file holds (C9), in memory that does not grow with it.

use std::collections::BTreeSet;
use std::io::{self, Read};

use super::Masker;
use super::finder::{self, Progress};

/// How much of a file is in memory at once.
const PIECE: usize = 64 << 10;

/// A search through bytes that come in pieces.
#[derive(Debug)]
pub struct SecretScan<'m> {
    masker: &'m Masker,
    /// The end of what came before: a secret may begin in it.
    held: Vec<u8>,
    found: BTreeSet<usize>,
}

impl<'m> SecretScan<'m> {
    pub fn new(masker: &'m Masker) -> Self {
        Self { masker, held: Vec::new(), found: BTreeSet::new() }
    }

    /// Takes in the next piece.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
        let (mut from, mut progress) = (0, Progress::default());
        let Masker { forms, finder, .. } = self.masker;
        while let Some((start, _)) = finder.find(forms, &self.held, from, &mut progress) {
            let here = finder::at(forms, &self.held[start..]).filter(|form| form.is_evidence);
            self.found.extend(here.map(|form| form.variable));
            from = start + 1;
        }
        let kept = self.masker.longest.saturating_sub(1).min(self.held.len());
        self.held.drain(..self.held.len() - kept);
    }

    /// The variables whose values were found.
    pub fn variables(self) -> Vec<String> {
        let mut names: Vec<String> =
            self.found.into_iter().map(|variable| self.masker.variables[variable].clone()).collect();
        names.sort();
        names.dedup();
        names
    }
}

impl Masker {
    /// The variables whose values these bytes hold.
    pub fn secrets_in(&self, bytes: &[u8]) -> Vec<String> {
        let mut scan = SecretScan::new(self);
        scan.feed(bytes);
        scan.variables()
    }

    /// The variables whose values a file or stream holds.
    pub fn secrets_in_file(&self, mut file: impl Read) -> io::Result<Vec<String>> {
        let mut scan = SecretScan::new(self);
        let mut piece = vec![0; PIECE];
        loop {
            match file.read(&mut piece) {
                Ok(0) => return Ok(scan.variables()),
                Ok(read) => scan.feed(&piece[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masker() -> Masker {
        Masker::from_env(
            [
                ("API_TOKEN", "t0ken-0123456789"),
                ("OTHER_KEY", "0ther-key-of-mine"),
                ("NOTES_KEY", "a line of plain words\nand another one here"),
            ]
            .map(|(name, value)| (name.into(), value.into())),
        )
    }

    #[test]
    fn c9_a_secret_is_found_wherever_a_file_is_cut() {
        let masker = masker();
        let text = b"\0\xffbinary t0ken-0123456789 more";
        for cut in 0..text.len() {
            let mut scan = SecretScan::new(&masker);
            scan.feed(&text[..cut]);
            scan.feed(&text[cut..]);
            assert_eq!(scan.variables(), ["API_TOKEN"], "{cut}");
        }
        let large = [vec![b'x'; PIECE - 5], b"0ther-key-of-mine".to_vec(), vec![b'y'; PIECE]].concat();
        assert_eq!(masker.secrets_in_file(large.as_slice()).unwrap(), ["OTHER_KEY"]);
        assert!(masker.secrets_in(b"nothing in here: t0ken-012345678").is_empty());
    }

    #[test]
    fn c9_a_line_of_words_is_no_evidence() {
        let masker = masker();
        assert!(masker.secrets_in(b"and another one here").is_empty());
        assert_eq!(masker.mask_str("and another one here"), "*".repeat(20));
        assert_eq!(masker.secrets_in(b"x a line of plain words\nand another one here"), ["NOTES_KEY"]);
    }
}
