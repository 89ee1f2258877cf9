//! What goes to the terminal as bytes: lines that are wiped, colours or none, so many columns.

/// Back to the beginning of a line that is cleared.
pub(super) const ERASE: &str = "\r\u{1b}[K";

/// With colours where the stream shows them. A line that is wiped is no colour: it stays so without them.
pub(super) fn adapted(text: &str) -> Vec<u8> {
    match anstream::AutoStream::choice(&std::io::stdout()) {
        anstream::ColorChoice::Never => uncoloured(text).into_bytes(),
        _ => text.as_bytes().to_vec(),
    }
}

fn uncoloured(text: &str) -> String {
    let (erase, text) = match text.strip_prefix(ERASE) {
        Some(text) => (ERASE, text),
        None => ("", text),
    };
    format!("{erase}{}", anstream::adapter::strip_str(text))
}

/// At most the last `bytes` of a text, from a character on.
pub(super) fn tail(text: &str, bytes: usize) -> &str {
    let mut from = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

/// How wide the terminal is.
pub(super) fn terminal_columns() -> usize {
    rustix::termios::tcgetwinsize(std::io::stdout()).map_or(80, |size| usize::from(size.ws_col)).max(20)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::words::{GOOD, paint};

    #[test]
    fn l17_without_colours_the_live_line_is_still_wiped() {
        let green = paint(GOOD, "✓");
        assert_eq!(uncoloured(&format!("{ERASE}{green} 2s")), format!("{ERASE}✓ 2s"));
        assert_eq!(uncoloured(&format!("{green} done\n")), "✓ done\n");
    }
}
