//! Examples in Python's docstrings, for projects whose checks run them.

use crate::event::InlineChange;

/// Examples: what is typed, and what it answers.
pub(super) fn examples(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with(">>>") {
            found.push(line.to_owned());
            inside = true;
        } else if inside && !line.is_empty() && !line.starts_with("\"\"\"") && !line.starts_with("'''") {
            if let Some(last) = found.last_mut() {
                last.push('\n');
                last.push_str(line);
            }
        } else {
            inside = false;
        }
    }
    found
}

/// Names the examples that are not there any more, as they were.
pub(super) fn weakened(was: &[String], is: &[String]) -> Vec<(String, InlineChange)> {
    let mut left: Vec<&String> = is.iter().collect();
    let mut found = Vec::new();
    for example in was {
        match left.iter().position(|one| *one == example) {
            Some(at) => {
                left.remove(at);
            }
            None => {
                let first = example.lines().next().unwrap_or_default();
                found.push((format!("example `{first}`"), InlineChange::Changed));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l20_an_example_of_a_docstring_that_changed_is_named() {
        let base = "def add(a, b):\n    \"\"\"\n    >>> add(1, 2)\n    3\n\n    More.\n    >>> add(0, 0)\n    0\n    \"\"\"\n";
        let was = examples(base);
        assert_eq!(was, [">>> add(1, 2)\n3", ">>> add(0, 0)\n0"]);
        assert_eq!(weakened(&was, &examples(&base.replace("More", "Less"))), []);
        let found = weakened(&was, &examples(&base.replace("3\n", "4\n")));
        assert_eq!(found, [("example `>>> add(1, 2)`".to_owned(), InlineChange::Changed)]);
    }
}
