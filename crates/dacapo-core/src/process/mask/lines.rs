//! The lines of a secret that has several, as a private key has: each is a secret, whatever stands before it.

use super::format_words::is_format_word;
use super::names::SHORTEST;

/// The lines that are a secret by themselves: long enough, and not what every key begins with.
pub(super) fn of(value: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = value.split(|byte| *byte == b'\n').collect();
    if lines.len() == 1 && value.starts_with(b"-----BEGIN") {
        // In files of variables the ends of lines are often written as `\n`.
        lines = split_at_escapes(value);
    }
    if lines.len() == 1 {
        return Vec::new();
    }
    let lines = lines.into_iter().map(<[u8]>::trim_ascii);
    lines
        .filter(|line| line.len() >= SHORTEST && !line.starts_with(b"-----") && !is_format_word(line))
        .collect()
}

/// Whether a file that has this line has the secret: it is a line of digits and letters, not of words.
pub(super) fn is_telling(line: &[u8]) -> bool {
    line.len() >= 20
        && line.iter().any(u8::is_ascii_digit)
        && line.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=-_".contains(byte))
}

fn split_at_escapes(value: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    let mut from = 0;
    for at in memchr::memmem::find_iter(value, b"\\n") {
        lines.push(&value[from..at]);
        from = at + 2;
    }
    lines.push(&value[from..]);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_keys_and_of_nothing_else() {
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG\r\n  c2hvcnQgbGluZXM9\nend\n-----END RSA PRIVATE KEY-----";
        let lines = [b"MIIEvQIBADANBgkqhkiG".as_slice(), b"c2hvcnQgbGluZXM9"];
        assert_eq!(of(key.as_bytes()), lines);
        assert_eq!(of(key.replace('\r', "").replace('\n', "\\n").as_bytes()), lines);
        assert!(of(b"one long line of a secret").is_empty());
        assert!(!is_telling(b"service_account_of_mine") && is_telling(b"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"));
        assert!(!is_telling(b"\"type\": \"service_account\","));
    }
}
