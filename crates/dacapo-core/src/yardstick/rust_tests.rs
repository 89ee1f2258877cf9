//! Tests in Rust source files: `#[test]` functions, all that is compiled for tests alone, and examples in doc comments.

use std::collections::BTreeMap;

use super::rust_lexer::{Kind, Lexed, Token, lex};
use crate::event::InlineChange;

/// The tests of one source file.
#[derive(Debug, Default)]
pub(super) struct RustTests {
    /// By their path in the file: `tests::adds`.
    items: BTreeMap<String, TestItem>,
    /// The code of examples that run.
    examples: Vec<Example>,
}

/// An example in a doc comment.
#[derive(Debug, Default)]
struct Example {
    first_line: String,
    /// Its code, a line each, without comments.
    code: Vec<String>,
}

/// Something that is compiled for tests alone.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TestItem {
    is_test: bool,
    /// The attributes that decide whether it runs, those of the modules around it included.
    attributes: Vec<String>,
    /// What is in it, statement by statement.
    statements: Vec<String>,
}

impl RustTests {
    pub(super) fn of(text: &str) -> Self {
        let lexed = lex(text);
        let mut found = Self { items: BTreeMap::new(), examples: examples(&lexed) };
        let (gates, _) = inner_attributes(&lexed.tokens);
        found.module(&lexed.tokens, "", &gates);
        found
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty() && self.examples.is_empty()
    }

    /// Names the tests that are not in `now` what they were. One that moved is `elsewhere`, among all other files.
    pub(super) fn weakened(&self, now: &Self, elsewhere: &[&Self]) -> Vec<(String, InlineChange)> {
        let mut found = Vec::new();
        for (name, was) in &self.items {
            let ignored = |item: &TestItem| item.attributes.iter().any(|one| one.contains("ignore"));
            if ignored(was) {
                continue;
            }
            let how = match now.items.get(name) {
                Some(is) if is.attributes != was.attributes && (ignored(is) || was.is_test != is.is_test) => {
                    InlineChange::Ignored
                }
                Some(is) if is.attributes == was.attributes && adds_only(&was.statements, &is.statements) => {
                    continue;
                }
                Some(_) => InlineChange::Changed,
                None => InlineChange::Removed,
            };
            let short = |path: &str| path.rsplit("::").next().unwrap_or_default().to_owned();
            let moved = |file: &&Self| {
                file.items.iter().any(|(other, item)| short(other) == short(name) && item == was)
            };
            if !elsewhere.iter().chain([&now]).any(moved) {
                found.push((name.clone(), how));
            }
        }
        for example in &self.examples {
            let kept = |file: &&Self| file.examples.iter().any(|other| adds_only(&example.code, &other.code));
            if !elsewhere.iter().chain([&now]).any(kept) {
                found.push((format!("example `{}`", example.first_line), InlineChange::Changed));
            }
        }
        // An assertion that is one by name only.
        for name in now.items.keys() {
            if is_fake_assertion(name) && !self.items.contains_key(name) {
                found.push((name.clone(), InlineChange::Changed));
            }
        }
        found
    }

    fn module(&mut self, tokens: &[Token<'_>], path: &str, gates: &[String]) {
        let mut rest = inner_attributes(tokens).1;
        while !rest.is_empty() {
            let (item, more) = split_item(rest);
            rest = more;
            self.item(item, path, gates);
        }
    }

    fn item(&mut self, tokens: &[Token<'_>], path: &str, gates: &[String]) {
        let (own, body) = outer_attributes(tokens);
        let mut attributes = gates.to_vec();
        attributes.extend(own.iter().filter(|one| decides(one)).cloned());
        let words: Vec<&str> = body.iter().map(|token| token.text).collect();
        let Some((keyword, name)) = named(&words) else { return };
        let path = if path.is_empty() { name.clone() } else { format!("{path}::{name}") };
        let block = body.iter().position(|token| token.text == "{");
        if keyword == "mod"
            && let Some(block) = block
        {
            let inside = &body[block + 1..body.len().saturating_sub(1)];
            attributes.extend(inner_attributes(inside).0);
            return self.module(inside, &path, &attributes);
        }
        let is_test = own.iter().any(|one| is_test_attribute(one));
        let for_tests = attributes.iter().any(|one| is_for_tests(one));
        let redefines = keyword == "macro" && is_fake_assertion(&name);
        let imports = keyword == "use" && !words.iter().any(|word| word.contains("assert"));
        if imports || !(is_test || for_tests || redefines) {
            return;
        }
        let statements = match block {
            Some(block) if keyword == "fn" => {
                let head = joined(&body[..block]);
                std::iter::once(head).chain(statements(&body[block + 1..body.len() - 1])).collect()
            }
            _ => vec![joined(body)],
        };
        // Of the same name, for two targets say, each counts.
        let mut key = path.clone();
        while self.items.contains_key(&key) {
            key.push('\'');
        }
        self.items.insert(key, TestItem { is_test, attributes, statements });
    }
}

/// Returns true if all of `was` is there in its order, and what came to it are assertions.
fn adds_only(was: &[String], is: &[String]) -> bool {
    let mut left = was.iter().peekable();
    for statement in is {
        if left.peek() == Some(&statement) {
            left.next();
        } else if !is_assertion(statement) {
            return false;
        }
    }
    left.next().is_none()
}

const ASSERTIONS: [&str; 6] =
    ["assert", "assert_eq", "assert_ne", "debug_assert", "debug_assert_eq", "debug_assert_ne"];

/// A macro of the project's own with the name of one of these.
fn is_fake_assertion(path: &str) -> bool {
    let name = path.rsplit("::").next().and_then(|last| last.strip_prefix("macro "));
    name.is_some_and(|name| ASSERTIONS.contains(&name))
}

/// One statement, and nothing around it.
fn is_assertion(statement: &str) -> bool {
    let statement = statement.trim();
    let name = statement.split(['!', ' ']).next().unwrap_or_default();
    let leaves = ["return", "break", "continue", "exit", "panic", "unsafe", "?"];
    statement.is_empty()
        || (ASSERTIONS.contains(&name)
            && !leaves.iter().any(|word| statement.split(' ').any(|one| one == *word)))
}

fn joined(tokens: &[Token<'_>]) -> String {
    tokens.iter().map(|token| token.text).collect::<Vec<_>>().join(" ")
}

/// The statements of a block, cut at each `;` of its own.
fn statements(tokens: &[Token<'_>]) -> Vec<String> {
    let (mut all, mut depth, mut from) = (Vec::new(), 0_usize, 0);
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.saturating_sub(1),
            Kind::Mark if token.text == ";" && depth == 0 => {
                all.push(joined(&tokens[from..at]));
                from = at + 1;
            }
            Kind::Word | Kind::Literal | Kind::Mark => {}
        }
    }
    if from < tokens.len() {
        all.push(joined(&tokens[from..]));
    }
    all
}

/// Attributes of the module itself that decide whether it is compiled, and what follows them.
fn inner_attributes<'t, 'a>(tokens: &'t [Token<'a>]) -> (Vec<String>, &'t [Token<'a>]) {
    let (mut found, mut rest) = (Vec::new(), tokens);
    while let [hash, bang, open, ..] = rest
        && (hash.text, bang.text, open.text) == ("#", "!", "[")
    {
        let end = end_of_group(&rest[2..]) + 2;
        found.push(joined(&rest[3..end.saturating_sub(1).max(3)]));
        rest = &rest[end..];
    }
    found.retain(|one| decides(one));
    (found, rest)
}

fn outer_attributes<'t, 'a>(tokens: &'t [Token<'a>]) -> (Vec<String>, &'t [Token<'a>]) {
    let (mut found, mut rest) = (Vec::new(), tokens);
    while let [hash, open, ..] = rest
        && (hash.text, open.text) == ("#", "[")
    {
        let end = end_of_group(&rest[1..]) + 1;
        found.push(joined(&rest[2..end.saturating_sub(1).max(2)]));
        rest = &rest[end..];
    }
    (found, rest)
}

/// Just behind the bracket that closes the first one.
fn end_of_group(tokens: &[Token<'_>]) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            Kind::Word | Kind::Literal | Kind::Mark => {}
        }
    }
    tokens.len()
}

/// The first item with its attributes, and the rest.
fn split_item<'t, 'a>(tokens: &'t [Token<'a>]) -> (&'t [Token<'a>], &'t [Token<'a>]) {
    let body_at = tokens.len() - outer_attributes(tokens).1.len();
    // An initial value may hold a block, and goes on behind it.
    let to_semicolon = tokens[body_at..]
        .iter()
        .map(|token| token.text)
        .take_while(|text| !["{", ";", "("].contains(text))
        .any(|text| ["use", "const", "static", "type", "let"].contains(&text))
        && !tokens[body_at..]
            .iter()
            .map(|token| token.text)
            .take(6)
            .any(|text| text == "fn" || text == "impl");
    let mut at = body_at;
    while at < tokens.len() {
        match (tokens[at].kind, tokens[at].text) {
            (Kind::Open, text) => {
                at += end_of_group(&tokens[at..]);
                if text == "{" && !to_semicolon {
                    return tokens.split_at(at);
                }
                continue;
            }
            (_, ";") => return tokens.split_at(at + 1),
            (Kind::Word | Kind::Literal | Kind::Close | Kind::Mark, _) => {}
        }
        at += 1;
    }
    tokens.split_at(tokens.len())
}

/// The keyword of an item and its name; of something without one, what it begins with.
fn named(words: &[&str]) -> Option<(&'static str, String)> {
    const NAMED: [&str; 11] =
        ["fn", "mod", "struct", "enum", "union", "trait", "type", "const", "static", "use", "impl"];
    if let [first, "!", rest @ ..] = words {
        let name = rest.first().filter(|_| *first == "macro_rules");
        return Some(match name {
            Some(name) => ("macro", format!("macro {name}")),
            None => ("call", format!("{first}!")),
        });
    }
    let head: Vec<&str> = words.iter().copied().take_while(|word| !["{", ";", "="].contains(word)).collect();
    let is_fn = head.iter().position(|word| *word == "fn");
    let at = is_fn.or_else(|| head.iter().position(|word| NAMED.contains(word)))?;
    let keyword = NAMED.into_iter().find(|known| *known == head[at])?;
    let name = match keyword {
        "impl" | "use" => {
            words[at..].iter().take_while(|word| **word != "{").copied().collect::<Vec<_>>().join(" ")
        }
        _ => (*head.get(at + 1)?).to_owned(),
    };
    Some((keyword, name))
}

fn decides(attribute: &str) -> bool {
    let first = attribute.split([' ', '(']).next().unwrap_or_default();
    ["cfg", "cfg_attr", "ignore", "should_panic", "test_runner"].contains(&first)
        || is_test_attribute(attribute)
}

/// `test`, `tokio::test`, `rstest`, `test_case(…)`.
fn is_test_attribute(attribute: &str) -> bool {
    let path = attribute.split('(').next().unwrap_or_default();
    let last = path.rsplit("::").next().unwrap_or(path).trim_matches([' ', ':']);
    let last = last.rsplit(' ').next().unwrap_or_default();
    last == "test"
        || last.starts_with("test_")
        || ["rstest", "quickcheck", "wasm_bindgen_test", "proptest"].contains(&last)
}

/// `cfg(test)`, `cfg(all(test, unix))`.
fn is_for_tests(attribute: &str) -> bool {
    attribute.starts_with("cfg (")
        && attribute.split(' ').any(|word| word == "test")
        && !attribute.contains("not ( test )")
}

/// The examples in doc comments that `cargo test` runs.
fn examples(lexed: &Lexed<'_>) -> Vec<Example> {
    let mut found = Vec::new();
    let mut open: Option<(bool, Example)> = None;
    for line in &lexed.docs {
        let Some(line) = line else {
            open = None;
            continue;
        };
        let line = line.trim();
        if let Some(info) = line.strip_prefix("```").or_else(|| line.strip_prefix("~~~")) {
            open = match open.take() {
                None => Some((runs(info), Example::default())),
                Some((true, example)) if !example.code.is_empty() => {
                    found.push(example);
                    None
                }
                Some(_) => None,
            };
        } else if let Some((_, example)) = &mut open {
            let plain = line.split(" //").next().unwrap_or_default().trim_end();
            if !plain.starts_with("//") && !plain.is_empty() {
                if example.code.is_empty() {
                    plain.clone_into(&mut example.first_line);
                }
                example
                    .code
                    .push(lex(plain).tokens.iter().map(|token| token.text).collect::<Vec<_>>().join(" "));
            }
        }
    }
    found
}

fn runs(info: &str) -> bool {
    let words = info.split([',', ' ', '\t']).map(str::trim).filter(|word| !word.is_empty());
    words.into_iter().all(|word| {
        ["rust", "should_panic", "no_run", "compile_fail"].contains(&word) || word.starts_with("edition")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = r#"
/// Adds.
///
/// ```
/// assert_eq!(x::add(1, 2), 3);
/// ```
pub fn add(a: i32, b: i32) -> i32 { a + b }

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> i32 { 2 }

    #[test]
    fn adds() {
        let two = sample();
        assert_eq!(add(1, two), 3);
    }

    #[tokio::test]
    #[ignore] // mark-ok: text of a test
    async fn slow() { assert!(false); }
}
"#;

    fn weakened(now: &str) -> Vec<(String, InlineChange)> {
        RustTests::of(BASE).weakened(&RustTests::of(now), &[])
    }

    fn with(from: &str, to: &str) -> Vec<(String, InlineChange)> {
        let now = BASE.replace(from, to);
        assert_ne!(now, BASE, "{from}");
        weakened(&now)
    }

    #[test]
    fn l20_what_is_not_a_test_may_change() {
        assert_eq!(with("{ a + b }", "{ b + a /* } */ }"), []);
        assert_eq!(with("/// Adds.", "/// Adds two numbers."), []);
        assert_eq!(with("use super::*;", "use super::{add};"), []);
        assert_eq!(with("#[ignore]", "#[ignore = \"slow\"]"), [], "it did not run before"); // mark-ok: text of a test
        assert_eq!(with("let two", "// One more.\n        let two"), []);
    }

    #[test]
    fn l20_new_tests_and_assertions_are_welcome() {
        assert_eq!(with("    #[tokio::test]", "    #[test]\n fn more() {}\n    #[tokio::test]"), []);
        assert_eq!(with("assert_eq!(add(1, two), 3);", "assert_eq!(add(1, two), 3); assert!(two > 0);"), []);
        assert_eq!(with("/// ```\npub", "/// assert!(true);\n/// ```\npub"), []);
    }

    #[test]
    fn l20_a_test_that_is_gone_ignored_or_changed_is_named() {
        let adds = |how| vec![("tests::adds".to_owned(), how)];
        assert_eq!(with("fn adds()", "fn adds_not()"), adds(InlineChange::Removed));
        assert_eq!(with("    #[test]", "    #[test]\n    #[ignore]"), adds(InlineChange::Ignored)); // mark-ok: text of a test
        assert_eq!(with("    #[test]\n", ""), adds(InlineChange::Ignored));
        assert_eq!(with("    #[test]", "    #[cfg(any())]\n    #[test]"), adds(InlineChange::Changed));
        assert_eq!(with("        assert_eq!(add(1, two), 3);", ""), adds(InlineChange::Changed));
        assert_eq!(with("(1, two), 3)", "(1, two), 4)"), adds(InlineChange::Changed));
        assert_eq!(with("let two", "return; let two"), adds(InlineChange::Changed));
        assert_eq!(
            with("let two = sample();", "let two = sample(); let two = 9;"),
            adds(InlineChange::Changed)
        );
        assert_eq!(
            with("let two = sample();", "let two = sample(); assert!({ return; true });"),
            adds(InlineChange::Changed)
        );
        let sample = vec![("tests::sample".to_owned(), InlineChange::Changed)];
        assert_eq!(with("{ 2 }", "{ 3 }"), sample);
    }

    #[test]
    fn l20_a_module_of_tests_that_is_not_compiled_any_more_is_named() {
        let names =
            |found: Vec<(String, InlineChange)>| found.into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        let both = ["tests::adds", "tests::sample"];
        assert_eq!(names(with("#[cfg(test)]", "#[cfg(any())]")), both);
        assert_eq!(names(with("mod tests {", "mod tests { #![cfg(any())]")), both);
        let declared = RustTests::of("#[cfg(test)]\nmod tests;\n");
        assert_eq!(names(declared.weakened(&RustTests::of(""), &[])), ["tests"]);
    }

    #[test]
    fn l20_an_assertion_that_does_nothing_is_named() {
        let found = with("pub fn add", "macro_rules! assert_eq { ($($x:tt)*) => {} }\npub fn add");
        assert_eq!(found, [("macro assert_eq".to_owned(), InlineChange::Changed)]);
    }

    #[test]
    fn l20_an_example_that_is_gone_or_changed_is_named() {
        let name = vec![("example `assert_eq!(x::add(1, 2), 3);`".to_owned(), InlineChange::Changed)];
        assert_eq!(with("/// ```\n/// assert", "/// ```ignore\n/// assert"), name);
        assert_eq!(with("add(1, 2), 3", "add(1, 2), 4"), name);
        assert_eq!(with("/// assert", "/// # return;\n/// assert"), name);
    }

    #[test]
    fn l20_tests_that_moved_to_another_file_are_the_same() {
        let (base, moved) = (RustTests::of(BASE), RustTests::of(BASE));
        assert_eq!(base.weakened(&RustTests::of(""), &[&moved]), []);
    }
}
