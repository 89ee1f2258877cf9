//! A secret as it stands in an address or a form: with `%2F` and the like.

use std::fmt::Write as _;

/// What stays as it is besides letters, digits and `-._`: by RFC 3986, in JavaScript, in Python, in forms.
const KEPT: [&[u8]; 4] = [b"~", b"~!*'()", b"~/", b"*"];

/// Every way to encode it that changes anything.
pub(super) fn of(value: &[u8]) -> Vec<String> {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._".contains(byte);
    if value.iter().all(plain) {
        return Vec::new();
    }
    let mut all = Vec::new();
    for (style, kept) in KEPT.iter().enumerate() {
        for upper in [true, false] {
            let mut text = String::new();
            for byte in value {
                let _ = match byte {
                    byte if plain(byte) || kept.contains(byte) => write!(text, "{}", char::from(*byte)),
                    b' ' if style == KEPT.len() - 1 => write!(text, "+"),
                    byte if upper => write!(text, "%{byte:02X}"),
                    byte => write!(text, "%{byte:02x}"),
                };
            }
            all.push(text);
        }
    }
    all.sort();
    all.dedup();
    all.retain(|text| text.as_bytes() != value);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_to_encode() {
        assert!(of(b"sk-0123456789_abc.def").is_empty());
        assert_eq!(of(b"a/b c~"), ["a%2Fb%20c~", "a%2Fb+c%7E", "a%2fb%20c~", "a%2fb+c%7e", "a/b%20c~"]);
    }
}
