//! Words of people and agents inside Markdown of ours. They stay words: whatever is in them opens no block, closes none of
//! ours, and calls nobody.

use std::fmt::Write as _;

/// Several lines as a quotation.
pub(crate) fn quotation(text: &str) -> String {
    let mut out = String::new();
    for line in text.trim().lines() {
        let _ = writeln!(out, "> {}", plain(line.trim_end()));
    }
    out
}

/// One line, every sign of Markdown in it as itself.
pub(crate) fn plain(line: &str) -> String {
    let mut out = String::with_capacity(line.len() + 8);
    let indent = line.len() - line.trim_start().len();
    for (at, c) in line.char_indices() {
        match c {
            '\t' => out.push(' '),
            c if c.is_control() => out.push('\u{fffd}'),
            // At the beginning of a line these make headings, lists and rules.
            '#' | '-' | '+' | '=' | ':' if at == indent => {
                out.push('\\');
                out.push(c);
            }
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '$' | '!' => {
                out.push('\\');
                out.push(c);
            }
            // Nobody is called by what an agent quotes (`@types/node`).
            '@' => out.push_str("@\u{200b}"),
            // A number with a dot begins a list.
            '.' | ')' if at > indent && line[indent..at].bytes().all(|b| b.is_ascii_digit()) => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    // Four spaces would be a block of code.
    let text = out.trim_start();
    format!("{}{text}", " ".repeat(indent.min(3)))
}

/// One line as code, whatever it holds.
pub(crate) fn code(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let (mut longest, mut run) = (0, 0);
    for c in line.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    let pad = if line.starts_with('`') || line.ends_with('`') || line.trim().is_empty() { " " } else { "" };
    format!("{fence}{pad}{line}{pad}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s12_what_people_write_stays_words() {
        for (text, shown) in [
            ("# not a heading", "\\# not a heading"),
            ("  - item", "  \\- item"),
            ("        deep", "   deep"),
            ("12. twelve", "12\\. twelve"),
            ("<details> `x` @you", "\\<details\\> \\`x\\` @\u{200b}you"),
            ("fixes #12", "fixes #12"),
            ("a\u{1b}[1mb", "a\u{fffd}\\[1mb"),
        ] {
            assert_eq!(plain(text), shown);
        }
        assert_eq!(quotation("a\n\n```\nb"), "> a\n> \n> \\`\\`\\`\n> b\n");
        assert_eq!(
            (code("a"), code("a`b"), code("``"), code("a\nb")),
            ("`a`".into(), "``a`b``".into(), "``` `` ```".into(), "`a b`".into())
        );
    }
}
