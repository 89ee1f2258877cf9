//! How a secret looks in output: as it is, and as JSON writers of all sorts escape it.

use std::fmt::Write as _;

/// A form of a secret.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Form {
    pub(super) bytes: Vec<u8>,
    /// It can stand inside a JSON string: there is no bare quote, backslash or control character in it.
    pub(super) in_json: bool,
}

/// What a writer escapes beyond what it must.
#[derive(Debug, Clone, Copy)]
struct Style {
    slash: Slash,
    other: NonAscii,
    markup: Markup,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slash {
    Plain,
    Escaped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NonAscii {
    Plain,
    LowerHex,
    UpperHex,
}

/// `<`, `>` and `&`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Markup {
    Plain,
    Escaped,
}

/// All forms of a secret, each once.
pub(super) fn of(secret: &[u8]) -> Vec<Form> {
    let mut forms = vec![Form { bytes: secret.to_vec(), in_json: can_stand_in_json(secret) }];
    let Ok(text) = std::str::from_utf8(secret) else { return forms };
    for slash in [Slash::Plain, Slash::Escaped] {
        for other in [NonAscii::Plain, NonAscii::LowerHex, NonAscii::UpperHex] {
            for markup in [Markup::Plain, Markup::Escaped] {
                let once = escaped(text, Style { slash, other, markup });
                // JSON in a string of JSON, as arguments of tools are.
                let twice = escaped(
                    &once,
                    Style { slash: Slash::Plain, other: NonAscii::Plain, markup: Markup::Plain },
                );
                forms.extend([once, twice].map(|text| Form { bytes: text.into_bytes(), in_json: true }));
            }
        }
    }
    forms.sort();
    // Most secrets have nothing to escape, so that nearly all forms are the same.
    forms.dedup_by(|a, b| a.bytes == b.bytes);
    forms
}

fn can_stand_in_json(secret: &[u8]) -> bool {
    !secret.iter().any(|byte| matches!(byte, b'"' | b'\\' | 0..0x20))
}

fn escaped(text: &str, style: Style) -> String {
    let mut out = String::with_capacity(text.len());
    let unit = |out: &mut String, unit: u16| {
        let _ = match style.other {
            NonAscii::UpperHex => write!(out, "\\u{unit:04X}"),
            NonAscii::Plain | NonAscii::LowerHex => write!(out, "\\u{unit:04x}"),
        };
    };
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '/' if style.slash == Slash::Escaped => out.push_str("\\/"),
            '\0'..' ' => unit(&mut out, c as u16),
            '<' | '>' | '&' if style.markup == Markup::Escaped => unit(&mut out, c as u16),
            _ if !c.is_ascii() && style.other != NonAscii::Plain => {
                c.encode_utf16(&mut [0; 2]).iter().for_each(|half| unit(&mut out, *half));
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(secret: &str) -> Vec<String> {
        of(secret.as_bytes()).into_iter().map(|form| String::from_utf8(form.bytes).unwrap()).collect()
    }

    #[test]
    fn s15_a_plain_secret_has_one_form() {
        assert_eq!(texts("sk-0123456789abcdef"), ["sk-0123456789abcdef"]);
    }

    #[test]
    fn s15_every_way_to_escape_is_a_form() {
        let secret = "pa\"ss\\w/ö\n<😀>";
        let forms = texts(secret);
        for form in [
            secret,
            "pa\\\"ss\\\\w/ö\\n<😀>",
            "pa\\\"ss\\\\w\\/ö\\n<😀>",
            "pa\\\"ss\\\\w/\\u00f6\\n<\\ud83d\\ude00>",
            "pa\\\"ss\\\\w/\\u00F6\\n<\\uD83D\\uDE00>",
            "pa\\\"ss\\\\w/ö\\n\\u003c😀\\u003e",
            "pa\\\\\\\"ss\\\\\\\\w/ö\\\\n<😀>",
        ] {
            assert!(forms.contains(&form.to_owned()), "{form}: {forms:?}");
        }
        assert!(of(secret.as_bytes()).iter().all(|form| form.in_json == (form.bytes != secret.as_bytes())));
    }
}
