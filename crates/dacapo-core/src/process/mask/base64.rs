//! A secret in base64: encoded by itself, and as a part of something longer (`user:TOKEN` in a header).

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Widths at which `base64` and `openssl base64` break their lines.
const LINE_WIDTHS: [usize; 2] = [76, 64];

/// The end of a wrapped value is masked from this length on: shorter ones may be anything.
const SHORTEST_LINE: usize = 16;

/// The value encoded without its padding; for each place in a group of three bytes, those digits that hold bits of the
/// value alone; and the lines of a long value by itself, as the usual programs wrap it.
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
        all.extend(wrapped(value, digits));
    }
    all.dedup();
    all.retain(|text| !text.is_empty());
    all
}

/// The lines of a value that is too long for one. The last digit is left out where it depends on what follows the value.
fn wrapped(value: &[u8], digits: &[u8; 64]) -> Vec<String> {
    let mut encoded = encode(value, digits);
    encoded.truncate(value.len() * 8 / 6);
    let lines = |width: usize| encoded.as_bytes().chunks(width);
    let wraps = LINE_WIDTHS.into_iter().filter(|width| encoded.len() > *width);
    wraps
        .flat_map(lines)
        .filter(|line| line.len() >= SHORTEST_LINE)
        .map(|line| String::from_utf8_lossy(line).into_owned())
        .collect()
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
