//! Tokens of Rust source, as far as it takes to tell one item from another. Whatever the text is, it yields tokens.

/// A token. Comments and white space are none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Literal,
    Open,
    Close,
    Mark,
}

/// The tokens of a source file, and the lines of its doc comments, each with what is behind its mark; an empty option ends a
/// run of them.
#[derive(Debug, Default)]
pub(super) struct Lexed<'a> {
    pub(super) tokens: Vec<Token<'a>>,
    pub(super) docs: Vec<Option<&'a str>>,
}

pub(super) fn lex(text: &str) -> Lexed<'_> {
    let mut lexed = Lexed::default();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if let Some(line) = rest.strip_prefix("//") {
            let end = line.find('\n').unwrap_or(line.len());
            let doc = line[..end].strip_prefix('/').filter(|more| !more.starts_with('/'));
            match doc.or_else(|| line[..end].strip_prefix('!')) {
                Some(doc) => lexed.docs.push(Some(doc)),
                None => lexed.end_docs(),
            }
            2 + end
        } else if rest.starts_with("/*") {
            let end = end_of_comment(rest);
            let inside = rest[2..end].strip_suffix("*/").unwrap_or(&rest[2..end]);
            if let Some(doc) = inside.strip_prefix('!').or_else(|| inside.strip_prefix('*')) {
                lexed.docs.extend(doc.lines().map(|line| Some(line.trim_start().trim_start_matches('*'))));
                lexed.end_docs();
            }
            end
        } else {
            lexed.end_docs();
            let (kind, length) = token(rest, first);
            lexed.tokens.push(Token { kind, text: &rest[..length] });
            length
        };
        rest = &rest[length..];
    }
    lexed.end_docs();
    lexed
}

impl Lexed<'_> {
    fn end_docs(&mut self) {
        if self.docs.last().is_some_and(Option::is_some) {
            self.docs.push(None);
        }
    }
}

fn token(rest: &str, first: char) -> (Kind, usize) {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    if let Some(length) = raw_string(rest) {
        return (Kind::Literal, length);
    }
    let prefix = ["b\"", "c\"", "\""].into_iter().find(|prefix| rest.starts_with(prefix));
    if let Some(prefix) = prefix {
        return (Kind::Literal, prefix.len() + quoted(&rest[prefix.len()..], '"'));
    }
    if first == '\'' || rest.starts_with("b'") {
        let begin = if first == 'b' { 2 } else { 1 };
        let behind = &rest[begin..];
        let mut chars = behind.chars();
        let one = chars.next().unwrap_or_default();
        // A lifetime has no quote behind its first character.
        if begin == 2 || one == '\\' || chars.next() == Some('\'') {
            return (Kind::Literal, begin + quoted(behind, '\''));
        }
        let name: usize = behind.chars().take_while(|c| is_word(*c)).map(char::len_utf8).sum();
        return (Kind::Word, 1 + name);
    }
    if is_word(first) {
        let length = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let kind = if first.is_ascii_digit() { Kind::Literal } else { Kind::Word };
        return (kind, length);
    }
    let kind = match first {
        '(' | '[' | '{' => Kind::Open,
        ')' | ']' | '}' => Kind::Close,
        _ => Kind::Mark,
    };
    (kind, first.len_utf8())
}

/// Up to and with the quote that ends it.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match (escaped, c) {
            (true, _) => escaped = false,
            (false, '\\') => escaped = true,
            (false, c) if c == quote => return at + c.len_utf8(),
            (false, _) => {}
        }
    }
    text.len()
}

fn raw_string(rest: &str) -> Option<usize> {
    let begin = ["br", "cr", "r"].into_iter().find(|prefix| {
        rest.strip_prefix(prefix).is_some_and(|more| more.trim_start_matches('#').starts_with('"'))
    })?;
    let hashes = rest[begin.len()..].bytes().take_while(|byte| *byte == b'#').count();
    let from = begin.len() + hashes + 1;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(rest[from..].find(&end).map_or(rest.len(), |at| from + at + end.len()))
}

/// Block comments nest.
fn end_of_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    let bytes = text.as_bytes();
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => {
                depth += 1;
                at += 2;
            }
            b"*/" => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<&str> {
        lex(text).tokens.iter().map(|token| token.text).collect()
    }

    #[test]
    fn l20_comments_strings_and_lifetimes_are_told_apart() {
        let text = r###"fn a<'x>(c: &'x str) { /* } /* */ */ b('}', '\'', "}\"", r#"}"#, 1_0); } // }"###;
        let expected = [
            "fn",
            "a",
            "<",
            "'x",
            ">",
            "(",
            "c",
            ":",
            "&",
            "'x",
            "str",
            ")",
            "{",
            "b",
            "(",
            "'}'",
            ",",
            r"'\''",
            ",",
            r#""}\"""#,
            ",",
            r##"r#"}"#"##,
            ",",
            "1_0",
            ")",
            ";",
            "}",
        ];
        assert_eq!(words(text), expected);
    }

    proptest! {
        #[test]
        fn l20_any_text_yields_its_tokens(text in "[a-z'\"#/*r{}()\\\\ \n!é]{0,80}") {
            for token in lex(&text).tokens {
                prop_assert!(!token.text.is_empty());
            }
        }
    }
}
