//! The user's home directory is `~` in what people read. JSON and logs have whole paths: their messages know no home.

use std::path::Path;

use super::Messages;

impl Messages {
    /// For a user whose home directory this is. A surface does this once: the text is kept for as long as the program runs.
    #[must_use]
    pub fn at_home(self, home: &Path) -> Self {
        let text = home.to_str().map(|text| text.trim_end_matches('/')).filter(|text| !text.is_empty());
        Self { home: text.map(|text| &*Box::leak(text.to_owned().into_boxed_str())), ..self }
    }

    /// A path as people read it.
    pub fn path(self, path: &Path) -> String {
        let whole = path.display().to_string();
        match self.home.and_then(|home| path.strip_prefix(home).ok()) {
            Some(below) if below.as_os_str().is_empty() => "~".to_owned(),
            Some(below) => format!("~/{}", below.display()),
            None => whole,
        }
    }

    /// The same for every path in a text. One in quotes stays whole: it may be for a shell, which expands no `~` there.
    pub fn with_short_paths(self, text: &str) -> String {
        let Some(home) = self.home else { return text.to_owned() };
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(home) {
            let (before, after) = (&rest[..at], &rest[at + home.len()..]);
            out.push_str(before);
            let begins =
                out.chars().next_back().is_none_or(|c| c.is_whitespace() || "([,;:（：，；·".contains(c))
                    || ends_in_colour(&out);
            let ends = after.chars().next().is_none_or(|c| c == '/' || !is_part_of_name(c));
            out.push_str(if begins && ends { "~" } else { home });
            rest = after;
        }
        out.push_str(rest);
        out
    }
}

fn is_part_of_name(c: char) -> bool {
    c.is_alphanumeric() || "._-+@~".contains(c)
}

/// Whether a text ends in an escape sequence that sets a colour.
fn ends_in_colour(text: &str) -> bool {
    text.strip_suffix('m').is_some_and(|text| {
        text.trim_end_matches(|c: char| c.is_ascii_digit() || c == ';').ends_with("\u{1b}[")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn u7_the_home_directory_is_a_tilde_for_people() {
        let messages = Messages::ENGLISH.at_home(Path::new("/home/me/"));
        assert_eq!(messages.path(Path::new("/home/me/a/b")), "~/a/b");
        assert_eq!(messages.path(Path::new("/home/me")), "~");
        assert_eq!(messages.path(Path::new("/home/meg/a")), "/home/meg/a");
        assert_eq!(Messages::ENGLISH.path(Path::new("/home/me/a")), "/home/me/a");
        for (text, shown) in [
            ("see /home/me/a, or /home/me", "see ~/a, or ~"),
            ("查看：/home/me/a（/home/me/b）", "查看：~/a（~/b）"),
            ("\u{1b}[1m/home/me/a\u{1b}[0m", "\u{1b}[1m~/a\u{1b}[0m"),
            ("rm '/home/me/my data'", "rm '/home/me/my data'"),
            ("/mnt/home/me/a /home/meg /home/me.old", "/mnt/home/me/a /home/meg /home/me.old"),
            ("DACAPO_HOME=/home/me/d", "DACAPO_HOME=/home/me/d"),
        ] {
            assert_eq!(messages.with_short_paths(text), shown);
        }
        assert_eq!(Messages::ENGLISH.at_home(Path::new("/")).path(Path::new("/a")), "/a");
    }
}
