use super::*;
use proptest::prelude::*;

fn masker(secrets: &[&str]) -> Masker {
    Masker::new(secrets.iter().map(|secret| secret.as_bytes().to_vec()))
}

/// Feeds the pieces as a stream would.
fn stream<'a>(masker: Masker, content: Content, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut mask = StreamMask::new(Arc::new(masker), content);
    let (mut held, mut out) = (Vec::new(), Vec::new());
    for piece in pieces {
        held.extend_from_slice(piece);
        let done = mask.mask(&mut held);
        out.extend(held.drain(..done));
    }
    mask.finish(&mut held);
    out.extend(held);
    out
}

fn in_json(secrets: &[&str], text: &str) -> String {
    let masked = stream(masker(secrets), Content::JsonLines, [text.as_bytes()]);
    for size in 1..40 {
        let pieces = text.as_bytes().chunks(size);
        assert_eq!(stream(masker(secrets), Content::JsonLines, pieces), masked, "in pieces of {size}");
    }
    assert_eq!(masked.len(), text.len());
    String::from_utf8(masked).unwrap()
}

#[test]
fn s15_only_texts_of_a_json_line_are_masked() {
    let secret = "0123456789ab";
    let line = r#"{"session_id":"0123456789ab","n":0123456789ab,"text":"x 0123456789ab"}"#;
    assert_eq!(
        in_json(&[secret], line),
        r#"{"session_id":"0123456789ab","n":************,"text":"x ************"}"#,
        "letters outside a string are no JSON"
    );
    let digits = "123456789012";
    let line = r#"{"at":123456789012,"list":[1, 123456789012],"id":"123456789012","text":"123456789012, 9"}"#;
    let masked =
        r#"{"at":123456789012,"list":[1, 123456789012],"id":"123456789012","text":"************, 9"}"#;
    assert_eq!(in_json(&[digits], line), masked);
    assert_eq!(
        in_json(&[digits], "told 123456789012\n{\"a\":123456789012}\n: 123456789012\n"),
        "told ************\n{\"a\":123456789012}\n: ************\n",
        "other lines are text"
    );
    let nested = r#"{"output":"{\"session_id\":\"0123456789ab\"}"}"#;
    assert_eq!(in_json(&[secret], nested), r#"{"output":"{\"session_id\":\"************\"}"}"#);
    let long = format!(r#"{{"id":"0123456789ab{}"}}"#, "x".repeat(300));
    assert!(in_json(&[secret], &long).starts_with(r#"{"id":"************x"#), "no id is that long");
}

#[test]
fn s15_an_escape_is_never_cut() {
    let secrets = ["nothing-to-see", "00e9-and-more", "e9-and-more-x"];
    let line = r#"{"text":"a\nothing-to-see \u00e9-and-more-x \\nothing-to-see"}"#;
    assert_eq!(in_json(&secrets, line), r#"{"text":"a\nothing-to-see \u00e9-and-more-x \\**************"}"#);
}

#[test]
fn s15_escaped_forms_are_masked_and_structure_is_not() {
    let secret = "pa\"ss\\wörd/\nend";
    let all = ["plain", r"\u00f6", r"\u00F6"].map(|style| {
        let json = serde_json::to_string(secret).unwrap();
        if style == "plain" { json } else { json.replace('ö', style) }
    });
    for json in all {
        for json in [json.clone(), json.replace('/', "\\/")] {
            let line = format!(r#"{{"text":"x","said":{json}}}"#);
            let masked = in_json(&[secret], &line);
            let value: serde_json::Value = serde_json::from_str(&masked).unwrap();
            assert_eq!(value["said"], "*".repeat(json.len() - 2), "{json}");
        }
    }
    // What looks like a secret with quotes is the line's own structure.
    let line = r#"{"type":"text","text":"hello"}"#;
    assert_eq!(in_json(&[r#""type":"text""#, r#"text":"hello""#], line), line);
    assert_eq!(
        masker(&[r#"a"b"c"d"e"f"g"h"#]).mask_str(r#"echo a"b"c"d"e"f"g"h"#),
        format!("echo {}", "*".repeat(15))
    );
}

/// The value as it is, and what programs make of it.
fn written(value: &str) -> Vec<String> {
    let percent = |upper: bool| {
        let mut text = String::new();
        for byte in value.bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => text.push(byte.into()),
                _ if upper => text.push_str(&format!("%{byte:02X}")),
                _ => text.push_str(&format!("%{byte:02x}")),
            }
        }
        text
    };
    let mut all = vec![value.to_owned(), serde_json::to_string(value).unwrap().trim_matches('"').to_owned()];
    all.extend([percent(true), percent(false)]);
    let encoded = base64(value.as_bytes());
    let padded = format!("{encoded}{}", "=".repeat(encoded.len().next_multiple_of(4) - encoded.len()));
    for encoded in [encoded, padded] {
        all.push(encoded.replace('+', "-").replace('/', "_"));
        all.push(encoded);
    }
    all
}

/// By the book, bit by bit: nothing of the code that is tested.
fn base64(bytes: &[u8]) -> String {
    let digits: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect();
    let bits: Vec<u8> = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)).collect();
    let digit = |bits: &[u8]| (0..6).fold(0, |sum, at| sum * 2 + usize::from(*bits.get(at).unwrap_or(&0)));
    bits.chunks(6).map(|bits| digits[digit(bits)]).collect()
}

#[test]
fn s15_url_and_base64_forms_are_masked() {
    let value = "s3cr3t/with+signs and=blanks?~>>>???";
    let masker = masker(&[value]);
    for form in written(value) {
        let text = format!("key: {form}; more");
        let masked = masker.mask_str(&text);
        assert_eq!(masked.len(), text.len(), "{form}");
        let stars = masked.bytes().filter(|byte| *byte == b'*').count();
        let padding = form.bytes().rev().take_while(|byte| *byte == b'=').count();
        assert_eq!(stars, form.len() - padding, "{form}: {masked}");
    }
}

#[test]
fn s15_a_value_inside_of_base64_is_masked() {
    let value = "0123456789abcdefghijkl";
    let masker = masker(&[value]);
    for before in ["", "u", "us", "use", "user:"] {
        let whole = base64(format!("{before}{value}:after").as_bytes());
        let masked = masker.mask_str(&whole);
        // At each end a character can hold bits of what stands beside the value.
        let stars = masked.bytes().filter(|byte| *byte == b'*').count();
        assert!(stars >= (value.len() * 8 - 10) / 6, "{whole}: {masked}");
    }
}

#[test]
fn s15_a_long_value_is_masked_in_base64_of_several_lines() {
    let value: String = (0..40).map(|number| format!("{:03}x", number * 7)).collect();
    let masker = masker(&[&value]);
    for (width, after) in [(76, ""), (76, "\n"), (64, "\n")] {
        let digits: Vec<char> = base64(format!("{value}{after}").as_bytes()).chars().collect();
        let lines: Vec<String> = digits.chunks(width).map(|line| line.iter().collect()).collect();
        assert!(lines.len() >= 3);
        let masked = masker.mask_str(&lines.join("\n"));
        let left: usize = masked.lines().map(|line| line.trim_matches('*').len()).sum();
        // The last digits hold bits of what follows.
        assert!(left <= 3, "{masked}");
    }
}

#[test]
fn s15_a_key_of_many_lines_is_masked_line_by_line() {
    let key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\nshort\n-----END PRIVATE KEY-----\n";
    let masker = Masker::from_env([("DEPLOY_KEY".into(), key.into())]);
    let prefixed: String = key.lines().map(|line| format!("+ {line}\n")).collect();
    assert_eq!(
        masker.mask_str(&prefixed),
        format!(
            "+ -----BEGIN PRIVATE KEY-----\n+ {stars}\n+ {stars}\n+ short\n+ -----END PRIVATE KEY-----\n",
            stars = "*".repeat(32)
        )
    );
    let other = "-----BEGIN PRIVATE KEY-----\nnot ours at all\n-----END PRIVATE KEY-----\n";
    assert_eq!(masker.mask_str(other), other, "what every key begins with is no secret");
}

#[test]
fn s15_no_form_of_a_secret_is_stored_wherever_it_is_split() {
    for value in ["sk-live/0123+456=789~abc", "plain-0123456789-token", "pa\"ss\\wörd\nsecond line of it"] {
        for form in written(value) {
            // A line of JSON holds a form only in the way that JSON has.
            let in_json =
                !form.contains(['"', '\n']) && (form == form.replace('\\', "") || form.contains("\\n"));
            let json = format!("{{\"type\":\"text\",\"text\":\"x {form} y\",\"n\":12}}\n");
            let plain = (Content::Text, format!("x {form} y\n"));
            for (content, text) in std::iter::once(plain).chain(in_json.then_some((Content::JsonLines, json)))
            {
                let whole = stream(masker(&[value]), content, [text.as_bytes()]);
                let shown = String::from_utf8_lossy(&whole).into_owned();
                assert_eq!(whole.len(), text.len());
                let kept = form.trim_end_matches('=');
                assert!(!shown.contains(kept), "{content:?} {form}: {shown}");
                for cut in 0..text.len() {
                    let (first, second) = text.as_bytes().split_at(cut);
                    assert_eq!(
                        stream(masker(&[value]), content, [first, second]),
                        whole,
                        "{form} cut at {cut}"
                    );
                }
                assert_eq!(stream(masker(&[value]), content, text.as_bytes().chunks(1)), whole, "{form}");
            }
        }
    }
}

#[test]
fn a_secret_split_at_any_byte_is_caught() {
    let masker = || masker(&["sk-0123456789abcdef", "sk-0123456789abcdef-long", "f-other-secret"]);
    let text = b"a sk-0123456789abcdef-long b sk-0123456789abcdef c f-other-secret sk-01".as_slice();
    let whole = stream(masker(), Content::Text, [text]);
    assert_eq!(whole, b"a ************************ b ******************* c ************** sk-01".as_slice());
    for first in 0..text.len() {
        for second in first..text.len() {
            let pieces = [&text[..first], &text[first..second], &text[second..]];
            assert_eq!(stream(masker(), Content::Text, pieces), whole, "split at {first} and {second}");
        }
    }
    assert_eq!(stream(masker(), Content::Text, text.chunks(1)), whole);
}

#[test]
fn only_a_possible_beginning_is_held_back() {
    let mask = || StreamMask::new(Arc::new(masker(&["abcdefghijkl"])), Content::Text);
    assert_eq!(mask().mask(&mut b"hello abc".to_vec()), 6);
    assert_eq!(mask().mask(&mut b"hello abd".to_vec()), 9);
}

#[test]
fn more_secrets_than_the_vector_search_knows() {
    let masker = Masker::new((0..300).map(|n| format!("secret-number-{n:04}").into_bytes()));
    assert_eq!(masker.mask_str("x secret-number-0299 y"), "x ****************** y");
}

#[test]
fn s15_whatever_the_value_looks_like() {
    let masked = |name: &str, value: &str| !Masker::from_env([(name.into(), value.into())]).is_empty();
    for value in ["correct horse battery", "alllowercase", "/etc/no/place", "000000000000", " 12bytesvalue "]
    {
        assert!(masked("PGPASSWORD", value), "{value}");
        assert!(!masked("EDITOR", value), "{value}");
    }
    assert!(!masked("PGPASSWORD", "elevenbytes"), "too short");
    for word in ["input_tokens", "cache_read_input_tokens", "RESOURCE_EXHAUSTED"] {
        assert!(!masked("FOO_TOKEN", word), "{word} is a word of a format");
    }
}

proptest! {
    #[test]
    fn chunks_never_matter(text in "[ab*]{0,60}", cuts in proptest::collection::vec(0usize..60, 0..8)) {
        let masker = || masker(&["aab", "ab", "abba", "b*a"]);
        let whole = stream(masker(), Content::Text, [text.as_bytes()]);
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
        cuts.push(0);
        cuts.push(text.len());
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| &text.as_bytes()[pair[0]..pair[1]]);
        prop_assert_eq!(&stream(masker(), Content::Text, pieces), &whole);
        let mut at_once = text.into_bytes();
        masker().mask_all(&mut at_once);
        prop_assert_eq!(at_once, whole);
    }
}
