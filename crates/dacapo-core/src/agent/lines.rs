//! Splits bytes into lines in bounded memory: an overlong line is passed over, not gathered.

/// No agent writes events this long; what does is not an event for us (it stays in the raw file all the same).
const LONGEST: usize = 8 << 20;

/// Gathers lines from chunks.
#[derive(Debug, Default)]
pub(super) struct Lines {
    held: Vec<u8>,
    skipping: bool,
}

impl Lines {
    /// Calls `each` for every line that ends in these bytes.
    pub(super) fn feed(&mut self, mut bytes: &[u8], mut each: impl FnMut(&[u8])) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            if self.skipping {
                self.skipping = false;
            } else if self.held.is_empty() {
                each(line);
            } else if self.held.len() + line.len() <= LONGEST {
                self.held.extend_from_slice(line);
                each(&self.held);
            }
            self.held = Vec::new();
            bytes = rest;
        }
        if self.skipping {
            return;
        }
        if self.held.len() + bytes.len() > LONGEST {
            self.held = Vec::new();
            self.skipping = true;
        } else {
            self.held.extend_from_slice(bytes);
        }
    }

    /// The last line may lack its newline.
    pub(super) fn finish(&mut self, mut each: impl FnMut(&[u8])) {
        if !self.held.is_empty() && !self.skipping {
            each(&std::mem::take(&mut self.held));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lines_are_the_same_however_they_are_cut(bytes in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..200), size in 1_usize..20) {
            let mut seen = Vec::new();
            let mut lines = Lines::default();
            for chunk in bytes.chunks(size) {
                lines.feed(chunk, |line| seen.push(line.to_vec()));
            }
            lines.finish(|line| seen.push(line.to_vec()));
            let mut expected: Vec<Vec<u8>> = bytes.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
            if expected.last().is_some_and(Vec::is_empty) {
                expected.pop();
            }
            prop_assert_eq!(seen, expected);
        }
    }

    #[test]
    fn r3_an_overlong_line_is_passed_over_in_bounded_memory() {
        let mut seen = Vec::new();
        let mut lines = Lines::default();
        let chunk = vec![b'x'; 1 << 20];
        for _ in 0..40 {
            lines.feed(&chunk, |_| panic!("no line has ended"));
            assert!(lines.held.len() <= LONGEST);
        }
        lines.feed(b"\nnext\n", |line| seen.push(line.to_vec()));
        assert_eq!(seen, [b"next".to_vec()]);
    }
}
