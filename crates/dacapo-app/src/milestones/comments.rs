//! Texts for agents that nobody has written yet.

/// Whether a text holds anything but blank lines and HTML comments.
pub fn says_something(text: &str) -> bool {
    let mut rest = text;
    loop {
        let (before, comment) = rest.split_once("<!--").unwrap_or((rest, ""));
        if !before.trim().is_empty() {
            return true;
        }
        // What is never closed is a comment to its end.
        match comment.split_once("-->") {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m1_comments_say_nothing() {
        for nothing in ["", " \n\n", "<!-- a -->", "<!-- a\nb -->\n\n<!-- c -->\n", "<!-- open"] {
            assert!(!says_something(nothing), "{nothing}");
        }
        for something in ["x", "<!-- a --> x", "x <!-- a -->", "<!-- a -->\n# Title\n", "-->"] {
            assert!(says_something(something), "{something}");
        }
    }
}
