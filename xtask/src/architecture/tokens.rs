//! The code of one file as its tokens: which paths and words stand in it, and where. Code for tests is left out.
//!
//! Tokens and not a syntax tree: a tree leaves what stands inside `format!(…)` or `matches!(…)` unread, and much of this program
//! stands there. Comments and strings are told from code by the lexer.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, Ident, Spacing, Span, TokenStream, TokenTree};

/// Kinds of task that are to be known by name in their own rooms alone.
const KINDS: [&str; 1] = ["milestone"];

#[derive(Default)]
pub(super) struct File {
    /// From the workspace's folder on, with `/`.
    pub(super) path: String,
    pub(super) paths: Vec<UsedPath>,
    /// Identifiers and names in quotes that hold the word of a kind, with their lines.
    pub(super) words: Vec<(String, usize)>,
    /// Texts with a blank in them, documentation aside, with their lines.
    pub(super) sentences: Vec<(String, usize)>,
}

/// One path, as `crate::store::lock::Lock` or `std::env::var`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UsedPath {
    /// Begins with `crate` where it stays inside; what a `use` of the same file brings from elsewhere is written out.
    pub(super) segments: Vec<String>,
    /// The module that it stands in, from the crate's root on.
    pub(super) module: Vec<String>,
    pub(super) line: usize,
    pub(super) role: Role,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// In a `use`, with the name that it has from there on.
    Import(String),
    /// Followed by `!`.
    Macro,
    Code,
}

/// The text of one file, and the modules that it says are in files of their own.
pub(super) fn scan(text: &str, module: &[String]) -> Result<(File, Vec<Vec<String>>), String> {
    let tokens: TokenStream = text.parse().map_err(|e| format!("not Rust: {e}"))?;
    let mut scanner = Scanner { module: module.to_vec(), file: File::default(), children: Vec::new() };
    scanner.tokens(tokens);
    let Scanner { mut file, children, .. } = scanner;
    let imported: BTreeMap<String, Vec<String>> = file
        .paths
        .iter()
        .filter_map(|path| match &path.role {
            // What is from inside the crate has been told by the `use` itself.
            Role::Import(name) if path.segments[0] != "crate" => Some((name.clone(), path.segments.clone())),
            Role::Import(_) | Role::Macro | Role::Code => None,
        })
        .collect();
    for path in file.paths.iter_mut().filter(|path| path.role == Role::Code) {
        if let Some(whole) = imported.get(&path.segments[0]) {
            path.segments.splice(..1, whole.iter().cloned());
        }
    }
    Ok((file, children))
}

struct Scanner {
    module: Vec<String>,
    file: File,
    children: Vec<Vec<String>>,
}

impl Scanner {
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut rest = tokens.as_slice();
        while !rest.is_empty() {
            rest = self.step(rest);
        }
    }

    /// Takes what stands first; what is left.
    fn step<'a>(&mut self, tokens: &'a [TokenTree]) -> &'a [TokenTree] {
        match tokens {
            [TokenTree::Punct(hash), TokenTree::Punct(bang), TokenTree::Group(inner), rest @ ..]
                if hash.as_char() == '#' && bang.as_char() == '!' =>
            {
                // `#![cfg(test)]`: all that follows is for tests.
                if for_tests(inner.stream()) { &[] } else { rest }
            }
            [TokenTree::Punct(hash), TokenTree::Group(attribute), rest @ ..] if hash.as_char() == '#' => {
                if for_tests(attribute.stream()) {
                    return after_item(rest);
                }
                if !is_documentation(attribute.stream()) {
                    self.tokens(attribute.stream());
                }
                rest
            }
            [TokenTree::Ident(word), TokenTree::Ident(name), rest @ ..] if word == "mod" => {
                self.module(name, rest);
                // The body, or the semicolon.
                rest.get(1..).unwrap_or_default()
            }
            [TokenTree::Ident(word), rest @ ..] if word == "use" && !is(rest, '<') => {
                let end = rest.iter().position(|token| is_punct(token, ';')).unwrap_or(rest.len());
                self.import(&rest[..end], &[]);
                &rest[end..]
            }
            [TokenTree::Ident(_), ..] => self.path(tokens),
            [TokenTree::Group(group), rest @ ..] => {
                self.tokens(group.stream());
                rest
            }
            [TokenTree::Literal(literal), rest @ ..] => {
                let text = literal.to_string();
                // With a blank it is a sentence; without it is a key, a file, a ref: what code goes by.
                if text.contains('"') && !text.contains(char::is_whitespace) {
                    self.word(&text, literal.span());
                } else if text.starts_with('"') || text.starts_with('r') {
                    self.file.sentences.push((text, literal.span().start().line));
                }
                rest
            }
            [_, rest @ ..] => rest,
            [] => tokens,
        }
    }

    fn module(&mut self, name: &Ident, rest: &[TokenTree]) {
        let name = self.name(name);
        self.module.push(name);
        match rest.first() {
            Some(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace => {
                self.tokens(body.stream());
            }
            Some(token) if is_punct(token, ';') => self.children.push(self.module.clone()),
            _ => {}
        }
        self.module.pop();
    }

    fn path<'a>(&mut self, tokens: &'a [TokenTree]) -> &'a [TokenTree] {
        let (segments, rest) = self.segments(tokens);
        let called = is(rest, '!') && matches!(rest.get(1), Some(TokenTree::Group(_)));
        if called || segments.len() > 1 {
            self.keep(&segments, tokens[0].span(), if called { Role::Macro } else { Role::Code });
        }
        rest
    }

    /// `a::b::c` as far as it goes.
    fn segments<'a>(&mut self, mut tokens: &'a [TokenTree]) -> (Vec<String>, &'a [TokenTree]) {
        let mut segments = Vec::new();
        while let [TokenTree::Ident(name), rest @ ..] = tokens {
            segments.push(self.name(name));
            match after_colons(rest) {
                Some(after @ [TokenTree::Ident(_), ..]) => tokens = after,
                _ => return (segments, rest),
            }
        }
        (segments, tokens)
    }

    /// The inside of a `use`, or of a group in one.
    fn import(&mut self, tree: &[TokenTree], prefix: &[String]) {
        for branch in tree.split(|token| is_punct(token, ',')) {
            let Some(first) = branch.first() else { continue };
            let branch = after_colons(branch).unwrap_or(branch);
            let (segments, rest) = self.segments(branch);
            let mut whole = [prefix, &segments].concat();
            match after_colons(rest).unwrap_or(rest) {
                [TokenTree::Group(group), ..] => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    self.import(&inner, &whole);
                    continue;
                }
                [TokenTree::Punct(star), ..] if star.as_char() == '*' => whole.push("*".to_owned()),
                // What a macro is given: `use $path;`.
                _ if whole.is_empty() => continue,
                _ => {}
            }
            if whole.len() > 1 && whole.last().is_some_and(|last| last == "self") {
                whole.pop();
            }
            let name = match rest {
                [TokenTree::Ident(word), TokenTree::Ident(name), ..] if word == "as" => Some(self.name(name)),
                _ => whole.last().cloned(),
            };
            self.keep(&whole, first.span(), Role::Import(name.unwrap_or_default()));
        }
    }

    fn keep(&mut self, segments: &[String], at: Span, role: Role) {
        let (mut above, mut below) = (self.module.clone(), segments);
        let inside = matches!(below.first().map(String::as_str), Some("crate" | "self" | "super"));
        while let Some((first, rest)) = below.split_first() {
            match first.as_str() {
                "crate" => above.clear(),
                "self" => {}
                "super" => drop(above.pop()),
                _ => break,
            }
            below = rest;
        }
        let segments = if inside {
            ["crate".to_owned()].into_iter().chain(above).chain(below.iter().cloned()).collect()
        } else {
            segments.to_vec()
        };
        let line = at.start().line;
        self.file.paths.push(UsedPath { segments, module: self.module.clone(), line, role });
    }

    fn name(&mut self, name: &Ident) -> String {
        let text = name.to_string();
        self.word(&text, name.span());
        text.strip_prefix("r#").map(str::to_owned).unwrap_or(text)
    }

    fn word(&mut self, text: &str, at: Span) {
        let lower = text.to_ascii_lowercase();
        if KINDS.iter().any(|kind| lower.contains(kind)) {
            self.file.words.push((text.to_owned(), at.start().line));
        }
    }
}

/// Whether an attribute keeps what follows out of everything but tests: `test`, `cfg(test)`, `cfg(all(test, unix))`.
/// A comment for readers is an attribute to the lexer.
fn is_documentation(attribute: TokenStream) -> bool {
    matches!(attribute.into_iter().next(), Some(TokenTree::Ident(name)) if name == "doc")
}

fn for_tests(attribute: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = attribute.into_iter().collect();
    match tokens.as_slice() {
        [TokenTree::Ident(test)] => test == "test",
        [TokenTree::Ident(word), TokenTree::Group(arguments)] => {
            let arguments: Vec<TokenTree> = arguments.stream().into_iter().collect();
            let mut parts = arguments
                .split(|token| is_punct(token, ','))
                .filter(|part| !part.is_empty())
                .map(|part| for_tests(part.iter().cloned().collect()));
            match word.to_string().as_str() {
                "cfg" | "all" => parts.any(|part| part),
                "any" => parts.all(|part| part),
                _ => false,
            }
        }
        _ => false,
    }
}

/// What follows an item, field, arm or statement.
fn after_item(tokens: &[TokenTree]) -> &[TokenTree] {
    let words = tokens.iter().take_while(|token| !is_punct(token, ';')).filter_map(|token| match token {
        TokenTree::Ident(word) => Some(word.to_string()),
        _ => None,
    });
    let words: Vec<String> = words.take(4).collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    // A `const fn` ends with its body, a `const` with its semicolon, whatever braces its value has.
    let body = has(&["enum", "fn", "impl", "macro_rules", "mod", "struct", "trait", "union"]);
    let value = !body && has(&["const", "let", "static", "type", "use"]);
    let last = tokens.iter().position(|token| match token {
        TokenTree::Group(group) => body && group.delimiter() == Delimiter::Brace,
        token => is_punct(token, ';') || (!body && !value && is_punct(token, ',')),
    });
    last.map_or(&[], |last| &tokens[last + 1..])
}

fn after_colons(tokens: &[TokenTree]) -> Option<&[TokenTree]> {
    match tokens {
        [TokenTree::Punct(first), TokenTree::Punct(second), rest @ ..]
            if first.as_char() == ':' && first.spacing() == Spacing::Joint && second.as_char() == ':' =>
        {
            Some(rest)
        }
        _ => None,
    }
}

fn is(tokens: &[TokenTree], wanted: char) -> bool {
    tokens.first().is_some_and(|token| is_punct(token, wanted))
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, module: &str) -> (File, Vec<Vec<String>>) {
        let module: Vec<String> = module.split_terminator("::").map(str::to_owned).collect();
        scan(text, &module).unwrap()
    }

    fn paths(text: &str, module: &str) -> Vec<String> {
        read(text, module).0.paths.iter().map(|path| path.segments.join("::")).collect()
    }

    #[test]
    fn imports_are_written_out() {
        let text = "use crate::{a, b::{self, c as d, e::*}};\npub use ::std::io;\nuse r#dyn::X as _;";
        let all = ["crate::a", "crate::b", "crate::b::c", "crate::b::e::*", "std::io", "dyn::X"];
        assert_eq!(paths(text, "x"), all);
        let names: Vec<Role> = read(text, "x").0.paths.into_iter().map(|path| path.role).collect();
        assert_eq!(names, ["a", "b", "d", "*", "io", "_"].map(|name| Role::Import(name.to_owned())));
    }

    #[test]
    fn paths_from_above_and_from_here() {
        assert_eq!(paths("use super::super::x; use self::v;", "a::b"), ["crate::x", "crate::a::b::v"]);
        assert_eq!(paths("fn f() { super::w::g() }", "a::b"), ["crate::a::w::g"]);
        // In a module with a body `super` is the file's own module.
        assert_eq!(paths("mod c { use super::x; use super::super::y; }", "a"), ["crate::a::x", "crate::y"]);
    }

    #[test]
    fn paths_in_code_and_in_macros() {
        let text = r#"
            fn f() -> crate::a::A { let _: <crate::b::B as T>::C = format!("{}", crate::c::d()); }
            macro_rules! m { ($p:path) => { use $p; $crate::e::f!() } }
            #[derive(crate::g::G)]
            pub(in crate::h) struct S(pub(crate) u8);
        "#;
        let all =
            ["crate::a::A", "crate::b::B", "format", "crate::c::d", "crate::e::f", "crate::g::G", "crate::h"];
        assert_eq!(paths(text, "x"), all);
    }

    #[test]
    fn comments_strings_and_captures_are_no_paths() {
        let text = r##"
            //! [crate::a::A]
            /// [crate::b::B]
            fn f<'a>() -> impl Sized + use<'a> { /* crate::c::C */ let _ = ("crate::d", r#"crate::e"#, 'f'); }
        "##;
        assert_eq!(paths(text, "x"), [""; 0]);
    }

    #[test]
    fn what_a_use_brings_is_written_out_where_it_is_used() {
        let text = "use std::{env, io as streams};\nfn f() { env::var(); streams::stdin(); own::g(); }";
        let all = ["std::env", "std::io", "std::env::var", "std::io::stdin", "own::g"];
        assert_eq!(paths(text, "x"), all);
        let lines: Vec<usize> = read(text, "x").0.paths.iter().map(|path| path.line).collect();
        assert_eq!(lines, [1, 1, 2, 2, 2]);
    }

    #[test]
    fn code_for_tests_is_left_out() {
        let text = "
            #[cfg(test)] mod tests { use crate::no; }
            #[cfg(test)] mod more;
            #[cfg(all(test, unix))] use crate::{no, never::*};
            #[cfg(test)] #[derive(Debug)] pub(crate) struct No { no: crate::no::No }
            #[cfg(test)] const NO: No = No { no: crate::no::NO };
            #[cfg(test)] const fn no() -> u8 { crate::no::no() }
            #[test] fn no_more() { crate::no::no(); }
            struct Yes { #[cfg(test)] no: crate::no::No, yes: crate::a::A }
            #[cfg(not(test))] use crate::b;
            #[cfg(any(test, unix))] use crate::c;
        ";
        assert_eq!(paths(text, "x"), ["crate::a::A", "crate::b", "crate::c"]);
        assert_eq!(read(text, "x").1, Vec::<Vec<String>>::new());
        assert_eq!(paths("#![cfg(test)]\nuse crate::no;", "x"), [""; 0]);
    }

    #[test]
    fn words_of_a_kind() {
        let text = r#"
            /// The milestone.
            use crate::task::milestone::{Milestone as Other, one};
            mod milestones { fn f(is_milestone: bool) { g("milestone", "refs/milestone/", "a milestone ended"); } }
        "#;
        let words: Vec<(String, usize)> = read(text, "x").0.words;
        let words: Vec<(&str, usize)> = words.iter().map(|(word, line)| (word.as_str(), *line)).collect();
        let quoted = [("\"milestone\"", 4), ("\"refs/milestone/\"", 4)];
        assert_eq!(
            words,
            [&[("milestone", 3), ("Milestone", 3), ("milestones", 4), ("is_milestone", 4)], &quoted[..]]
                .concat()
        );
    }
}
