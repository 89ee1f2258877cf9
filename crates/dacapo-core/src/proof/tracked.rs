//! The paths of a commit.

use crate::git::Entry;

/// The files of a commit, ordered by the bytes of their paths.
#[derive(Debug, Default)]
pub(super) struct Tracked(Vec<Entry>);

impl Tracked {
    pub(super) fn new(entries: Vec<Entry>) -> Self {
        Self(entries)
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, Entry> {
        self.0.iter()
    }

    pub(super) fn get(&self, path: &[u8]) -> Option<&Entry> {
        let at = self.0.binary_search_by(|entry| entry.path.as_slice().cmp(path)).ok()?;
        self.0.get(at)
    }

    /// Returns true if something below a directory is tracked.
    pub(super) fn has_below(&self, dir: &[u8]) -> bool {
        let prefix = [dir, b"/"].concat();
        let at = self.0.partition_point(|entry| entry.path < prefix);
        self.0.get(at).is_some_and(|entry| entry.path.starts_with(&prefix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l4_paths_are_found_by_their_bytes() {
        let entry = |path: &str| Entry { path: path.into(), mode: 0o100_644, oid: String::new() };
        let tracked = Tracked::new(["a-b", "a/b", "a0", "b/c/d"].map(entry).to_vec());
        assert!(tracked.get(b"a/b").is_some() && tracked.get(b"a").is_none());
        assert!(tracked.has_below(b"a") && tracked.has_below(b"b") && tracked.has_below(b"b/c"));
        assert!(!tracked.has_below(b"a-b") && !tracked.has_below(b"c") && !tracked.has_below(b""));
    }
}
