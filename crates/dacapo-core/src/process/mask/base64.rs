//! A secret in base64: encoded by itself, and as a part of something longer (`user:TOKEN` in a header).

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The value encoded without its padding; and for each place in a group of three bytes, those digits that hold bits of the
/// value alone.
pub(super) fn of(value: &[u8]) -> Vec<String> {
    let mut all = Vec::new();
    for digits in [STANDARD, URL_SAFE] {
        all.push(encode(value, digits));
        for before in 0..3 {
            let mut shifted = vec![0; before];
            shifted.extend_from_slice(value);
            let encoded = encode(&shifted, digits);
            // Digits that share bits with a neighbour differ with it.
            let from = (before * 8).div_ceil(6);
            let to = shifted.len() * 8 / 6;
            all.extend(encoded.get(from..to).map(str::to_owned));
        }
    }
    all.dedup();
    all.retain(|text| !text.is_empty());
    all
}

fn encode(bytes: &[u8], digits: &[u8; 64]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let at = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        let used = group.len() + 1;
        text.extend(
            [18, 12, 6, 0]
                .into_iter()
                .take(used)
                .map(|shift| char::from(digits[(bits >> shift & 63) as usize])),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_vectors() {
        for (text, encoded) in
            [("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(encode(text.as_bytes(), STANDARD), encoded);
        }
        assert_eq!(encode(&[0xfb, 0xff], STANDARD), "+/8");
        assert_eq!(encode(&[0xfb, 0xff], URL_SAFE), "-_8");
    }
}
