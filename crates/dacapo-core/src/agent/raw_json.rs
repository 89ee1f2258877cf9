//! JSON as agents write it, not as it should be: a value of another type than expected is a missing one, and costs nothing
//! but itself. What nobody asks for is passed over without being taken apart.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// No object of an agent's has more fields; what comes after is passed over.
const MOST_FIELDS: usize = 256;

/// The fields of an object, each as it was written.
#[derive(Debug, Default)]
pub(super) struct Object<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Object<'a> {
    /// `None` if it is not a JSON object.
    pub(super) fn parse(json: &'a str) -> Option<Self> {
        json.trim_start().starts_with('{').then(|| serde_json::from_str(json).ok())?
    }

    /// A field as it was written; where its name stands twice, the last one.
    pub(super) fn raw(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(own, _)| own == name).map(|(_, value)| *value)
    }

    /// A field that is an object.
    pub(super) fn object(&self, name: &str) -> Option<Object<'a>> {
        Object::parse(self.raw(name)?.get())
    }

    /// A field that is a text.
    pub(super) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        text(self.raw(name)?)
    }

    /// A field that is a number, and not a negative one.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        number(self.raw(name)?)
    }

    /// A field that counts something.
    pub(super) fn count(&self, name: &str) -> Option<u64> {
        count(self.raw(name)?)
    }

    /// Whether a field says yes.
    pub(super) fn is_true(&self, name: &str) -> bool {
        self.raw(name).and_then(flag) == Some(true)
    }

    /// The elements of a field that is a list.
    pub(super) fn each(&self, name: &str, see: impl FnMut(&'a RawValue)) {
        if let Some(list) = self.raw(name) {
            each(list, see);
        }
    }

    /// All fields that are objects.
    pub(super) fn objects(&self) -> impl Iterator<Item = Object<'a>> {
        self.0.iter().filter_map(|(_, value)| Object::parse(value.get()))
    }
}

/// The elements of a list, one after the other; none where it is no list.
pub(super) fn each<'a>(list: &'a RawValue, see: impl FnMut(&'a RawValue)) {
    struct Elements<F>(F);
    impl<'a, F: FnMut(&'a RawValue)> Visitor<'a> for Elements<F> {
        type Value = ();

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a list")
        }

        fn visit_seq<A: SeqAccess<'a>>(mut self, mut list: A) -> Result<(), A::Error> {
            while let Some(element) = list.next_element()? {
                (self.0)(element);
            }
            Ok(())
        }
    }
    // A raw value is whole already: the only way to fail is to be something else than a list.
    let _ = serde_json::Deserializer::from_str(list.get()).deserialize_seq(Elements(see));
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Object<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut fields = Vec::new();
                while fields.len() < MOST_FIELDS {
                    match map.next_entry::<Name<'de>, &RawValue>()? {
                        Some((name, value)) => fields.push((name.0, value)),
                        None => return Ok(Object(fields)),
                    }
                }
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Object(fields))
            }
        }
        from.deserialize_map(Fields)
    }
}

#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// A number that is not a negative one.
pub(super) fn number(value: &RawValue) -> Option<f64> {
    let number: f64 = serde_json::from_str(value.get()).ok()?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

/// A number of things.
pub(super) fn count(value: &RawValue) -> Option<u64> {
    let whole = serde_json::from_str(value.get()).ok();
    // A cast saturates.
    whole.or_else(|| number(value).map(|number| number as u64))
}

pub(super) fn flag(value: &RawValue) -> Option<bool> {
    serde_json::from_str(value.get()).ok()
}

/// The whole text.
pub(super) fn text(value: &RawValue) -> Option<Cow<'_, str>> {
    let json = value.get();
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    match serde_json::from_str(json) {
        Ok(text) => Some(Cow::Owned(text)),
        // Half a character is no text for a parser, but a tool may have cut one in two.
        Err(_) => Some(Cow::Owned(unescaped(inner, usize::MAX))),
    }
}

/// The beginning of a text, without ever unpacking the rest of it.
pub(super) fn excerpt(value: &RawValue, most: usize) -> Option<String> {
    let inner = value.get().strip_prefix('"')?.strip_suffix('"')?;
    Some(unescaped(inner, most))
}

/// The text between the quotes, at most `most` bytes of it; half a character becomes `�`.
fn unescaped(inner: &str, most: usize) -> String {
    let mut text = String::new();
    let mut rest = inner.chars();
    while let Some(first) = rest.next() {
        let next = if first == '\\' { escaped(&mut rest) } else { first };
        if text.len() + next.len_utf8() > most {
            break;
        }
        text.push(next);
    }
    text
}

fn escaped(rest: &mut std::str::Chars<'_>) -> char {
    match rest.next() {
        Some('n') => '\n',
        Some('t') => '\t',
        Some('r') => '\r',
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some('u') => unit(rest).map_or(char::REPLACEMENT_CHARACTER, |unit| character(unit, rest)),
        Some(other) => other,
        None => char::REPLACEMENT_CHARACTER,
    }
}

/// Four hexadecimal digits.
fn unit(rest: &mut std::str::Chars<'_>) -> Option<u32> {
    let digits = rest.as_str().get(..4)?;
    let unit = u32::from_str_radix(digits, 16).ok()?;
    *rest = rest.as_str()[4..].chars();
    Some(unit)
}

fn character(high: u32, rest: &mut std::str::Chars<'_>) -> char {
    if let (0xD800..0xDC00, Some(low)) = (high, rest.as_str().strip_prefix("\\u")) {
        let mut after = low.chars();
        if let Some(low @ 0xDC00..0xE000) = unit(&mut after) {
            *rest = after;
            let joined = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
            return char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER);
        }
    }
    char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).unwrap()
    }

    #[test]
    fn a3_a_field_of_another_type_costs_nothing_but_itself() {
        for odd in ["null", "true", "-1", "1e999", "\"s\"", "[1,[2]]", "{\"a\":{}}", "\"\\ud83d\""] {
            let json = format!(r#"{{"new":[{odd}],"x":{odd},"type":"kept","n":7}}"#);
            let object = Object::parse(&json).unwrap();
            assert_eq!(object.text("type").as_deref(), Some("kept"), "{odd}");
            assert_eq!(object.count("n"), Some(7), "{odd}");
            assert_eq!(object.text("x").is_some(), odd.starts_with('"'), "{odd}");
            assert_eq!(object.object("x").is_some(), odd.starts_with('{'), "{odd}");
            assert_eq!((object.number("x"), object.count("x")), (None, None), "{odd}");
            assert_eq!(object.is_true("x"), odd == "true", "{odd}");
        }
        let float = Object::parse(r#"{"x":600.5}"#).unwrap();
        assert_eq!((float.count("x"), float.number("x")), (Some(600), Some(600.5)));
    }

    #[test]
    fn what_is_no_object_is_none() {
        for json in ["", "x", "[1]", "\"{}\"", "{\"a\":", "{}}", "{\"a\":1,}"] {
            assert!(Object::parse(json).is_none(), "{json}");
        }
    }

    #[test]
    fn r3_what_is_kept_of_an_object_is_bounded() {
        let json = format!("{{{}\"last\":1}}", "\"a\":0,".repeat(10_000));
        assert_eq!(Object::parse(&json).unwrap().0.len(), MOST_FIELDS);
    }

    #[test]
    fn a3_half_a_character_costs_nothing_but_itself() {
        assert_eq!(text(&value(r#""a\ud83d""#)).unwrap(), "a\u{fffd}");
        assert_eq!(text(&value(r#""\ud83d\ude00 \ude00\ud83dx\n""#)).unwrap(), "😀 \u{fffd}\u{fffd}x\n");
        assert_eq!(text(&value("7")), None);
    }

    #[test]
    fn lists_are_read_one_by_one() {
        let mut seen = Vec::new();
        each(&value("[1,{\"a\":[2]},\"x\"]"), |element| seen.push(element.get().to_owned()));
        each(&value("{\"a\":1}"), |_| panic!("no list"));
        assert_eq!(seen, ["1", "{\"a\":[2]}", "\"x\""]);
    }

    proptest! {
        #[test]
        fn c8_an_excerpt_is_the_beginning_cut_between_characters(text in "(\\PC|[\n\t\"\\\\\u{1}\u{1f600}])*", most in 0_usize..20) {
            let json = value(&serde_json::to_string(&text).unwrap());
            prop_assert_eq!(excerpt(&json, usize::MAX).unwrap(), text.clone());
            let start = excerpt(&json, most).unwrap();
            prop_assert!(start.len() <= most && text.starts_with(&start));
            prop_assert!(start.len() + 4 > most.min(text.len()));
        }
    }
}
