//! What something occupies on disk.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Bytes on disk of all that is at or below `path`; a file with several names counts once. What cannot be read does not
/// count: the number is for people.
pub fn occupied(path: &Path) -> u64 {
    let mut bytes = 0;
    let mut linked = HashSet::new();
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        if found.nlink() > 1 && !found.is_dir() && !linked.insert((found.dev(), found.ino())) {
            continue;
        }
        bytes += found.blocks() * 512;
        if found.is_dir() {
            open.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_two_names_counts_once_and_links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let below = dir.path().join("x");
        fs::create_dir(&below).unwrap();
        fs::write(below.join("a"), vec![1; 1 << 20]).unwrap();
        let once = occupied(&below);
        assert!(once >= 1 << 20, "{once}");
        fs::hard_link(below.join("a"), below.join("b")).unwrap();
        fs::write(dir.path().join("large"), vec![1; 4 << 20]).unwrap();
        std::os::unix::fs::symlink(dir.path().join("large"), below.join("link")).unwrap();
        assert!(occupied(&below) < once + (1 << 19));
        assert_eq!(occupied(&dir.path().join("nothing")), 0);
    }
}
