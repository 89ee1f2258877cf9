//! How a secret looks in output: as it is, as JSON writers of all sorts escape it, encoded for an address, in base64, and
//! line by line.

use std::fmt::Write as _;

use super::{base64, lines, url};

/// A form of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) bytes: Vec<u8>,
    /// It can stand inside a JSON string: there is no bare quote, backslash or control character in it.
    pub(super) in_json: bool,
    /// Where it stands, the secret is known: a line of a key may be a line of many files.
    pub(super) is_evidence: bool,
    /// The place of its variable among all that are known.
    pub(super) variable: usize,
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

/// All forms of a secret.
pub(super) fn of(secret: &[u8], variable: usize) -> Vec<Form> {
    let form = |bytes: Vec<u8>, is_evidence| Form {
        in_json: can_stand_in_json(&bytes),
        bytes,
        is_evidence,
        variable,
    };
    let mut forms = vec![form(secret.to_vec(), true)];
    forms.extend(url::of(secret).into_iter().map(|text| form(text.into_bytes(), true)));
    let escapes = |bytes: &[u8], is_evidence| {
        let mut texts = std::str::from_utf8(bytes).map(escapes).unwrap_or_default();
        texts.retain(|text| text.as_bytes() != bytes);
        texts.into_iter().map(move |text| Form { in_json: true, ..form(text.into_bytes(), is_evidence) })
    };
    forms.extend(escapes(secret, true));
    for text in base64::of(secret) {
        forms.extend(escapes(text.as_bytes(), true));
        forms.push(form(text.into_bytes(), true));
    }
    for line in lines::of(secret) {
        let is_evidence = lines::is_telling(line);
        forms.push(form(line.to_vec(), is_evidence));
        forms.extend(escapes(line, is_evidence));
    }
    forms
}

/// Sorts them, and leaves one of each.
pub(super) fn once_each(mut forms: Vec<Form>) -> Vec<Form> {
    forms.sort_by(|a, b| a.bytes.cmp(&b.bytes));
    forms.dedup_by(|next, kept| {
        let same = next.bytes == kept.bytes;
        kept.in_json |= same && next.in_json;
        kept.is_evidence |= same && next.is_evidence;
        same
    });
    forms
}

/// A text as JSON writers escape it, once and twice.
fn escapes(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for slash in [Slash::Plain, Slash::Escaped] {
        for other in [NonAscii::Plain, NonAscii::LowerHex, NonAscii::UpperHex] {
            for markup in [Markup::Plain, Markup::Escaped] {
                let once = escaped(text, Style { slash, other, markup });
                // JSON in a string of JSON, as arguments of tools are.
                all.push(escaped(
                    &once,
                    Style { slash: Slash::Plain, other: NonAscii::Plain, markup: Markup::Plain },
                ));
                all.push(once);
            }
        }
    }
    all.sort();
    // Most secrets have nothing to escape, so that nearly all are the same.
    all.dedup();
    all
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
        let forms = once_each(of(secret.as_bytes(), 0));
        forms.into_iter().map(|form| String::from_utf8(form.bytes).unwrap()).collect()
    }

    #[test]
    fn s15_a_plain_secret_has_few_forms() {
        // As it is, and what of its base64 does not depend on what stands around it, at each place in a group of three.
        assert_eq!(
            texts("sk-0123456789abcd"),
            [
                "NrLTAxMjM0NTY3ODlhYmNk",
                "c2stMDEyMzQ1Njc4OWFiY2",
                "c2stMDEyMzQ1Njc4OWFiY2Q",
                "sk-0123456789abcd",
                "zay0wMTIzNDU2Nzg5YWJjZ"
            ]
        );
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
        // Its first line is too short to be one by itself.
        let forms = once_each(of(secret.as_bytes(), 0));
        assert!(forms.iter().all(|form| form.in_json == (form.bytes != secret.as_bytes())));
    }
}
