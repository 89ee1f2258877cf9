//! Patterns of paths, as in `.gitignore`: `*` stays in a directory, `**` does not, and a pattern without a `/` fits in any
//! directory.

/// Returns true if the pattern names this path, or a directory above it.
pub(super) fn matches(pattern: &str, path: &str) -> bool {
    let anchored = pattern.trim_end_matches('/').contains('/');
    let pattern = pattern.trim_start_matches("./").trim_matches('/');
    if pattern.is_empty() {
        return false;
    }
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    let starts: Vec<usize> = match anchored {
        true => vec![0],
        false => std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1)).collect(),
    };
    let mut ends = ends;
    ends.any(|end| {
        starts.iter().any(|&start| start <= end && fits(pattern.as_bytes(), &path.as_bytes()[start..end]))
    })
}

/// Quadratic at worst: of several stars only the last one is tried again.
fn fits(pattern: &[u8], text: &[u8]) -> bool {
    // Where to go on when the rest does not fit: behind a star, and how much text it has taken.
    let mut star: Option<(usize, usize)> = None;
    let mut deep: Option<(usize, usize)> = None;
    let (mut at, mut seen) = (0, 0);
    loop {
        let rest = &pattern[at..];
        if let Some(after) = rest.strip_prefix(b"**/") {
            deep = Some((pattern.len() - after.len(), seen));
            star = None;
            at += 3;
        } else if rest.starts_with(b"**") {
            return true;
        } else if rest.first() == Some(&b'*') {
            star = Some((at + 1, seen));
            at += 1;
        } else if seen < text.len()
            && (rest.first() == Some(&text[seen]) || (rest.first() == Some(&b'?') && text[seen] != b'/'))
        {
            at += 1;
            seen += 1;
        } else if rest.is_empty() && seen == text.len() {
            return true;
        } else if let Some((behind, taken)) =
            star.filter(|&(_, taken)| text.get(taken).is_some_and(|b| *b != b'/'))
        {
            star = Some((behind, taken + 1));
            (at, seen) = (behind, taken + 1);
        } else if let Some((behind, taken)) = deep {
            let Some(slash) = text[taken..].iter().position(|byte| *byte == b'/') else { return false };
            deep = Some((behind, taken + slash + 1));
            star = None;
            (at, seen) = (behind, taken + slash + 1);
        } else {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l20_patterns_name_files_and_all_below_directories() {
        for (pattern, path) in [
            ("fixtures/**", "fixtures/a/b.json"),
            ("fixtures/", "fixtures/a/b.json"),
            ("fixtures", "x/fixtures/b.json"),
            ("*.golden", "a/b.golden"),
            ("data/*.json", "data/a.json"),
            ("**/data/*.json", "x/y/data/a.json"),
            ("**/data/*.json", "data/a.json"),
            ("./check?.sh", "check1.sh"),
            ("a*b*c", "aXbYbZc"),
        ] {
            assert!(matches(pattern, path), "{pattern} names {path}");
        }
        for (pattern, path) in [
            ("fixtures/**", "src/fixtures/a"),
            ("data/*.json", "data/x/a.json"),
            ("", "a"),
            ("/", "a"),
            ("*.golden", "a.goldenx"),
            ("a?c", "a/c"),
        ] {
            assert!(!matches(pattern, path), "{pattern} does not name {path}");
        }
    }
}
