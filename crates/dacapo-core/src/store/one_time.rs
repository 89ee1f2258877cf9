//! A signature that can be made once: Winternitz chains of SHA-256.
//!
//! Who has the key can sign one message and never another; who sees the signature cannot sign anything. That is what a seal
//! needs, and a hash is all it takes. The 64 digits of a message's hash, and three that count how much they lack, each say how
//! far along a chain of hashes the signature starts; from there everybody can follow the chain to its end, and nobody back.

use crate::random;

type Link = [u8; 32];

/// The digits of a hash, and those of the sum of what they lack: to raise one digit is to lower another.
const DIGITS: usize = 64;
const CHAINS: usize = DIGITS + 3;
const LONGEST: u8 = 15;

/// A key that was not used yet.
pub(super) struct Key([u8; 32]);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(..)")
    }
}

impl Key {
    pub(super) fn new() -> Self {
        Self(random::bytes())
    }

    /// What everybody may know.
    pub(super) fn public(&self) -> String {
        public_of(|chain| follow(self.start(chain), chain, 0, LONGEST))
    }

    /// Signs the message, and is used up.
    pub(super) fn sign(self, message: &[u8]) -> Vec<String> {
        let digits = digits(message);
        (0..CHAINS).map(|chain| hex(&follow(self.start(chain), chain, 0, digits[chain]))).collect()
    }

    fn start(&self, chain: usize) -> Link {
        hmac_sha256::HMAC::mac([&b"chain"[..], &number(chain)].concat(), self.0)
    }
}

/// Whether the key that belongs to `public` signed this message.
pub(super) fn is_signed(public: &str, message: &[u8], signature: &[String]) -> bool {
    let links: Option<Vec<Link>> = signature.iter().map(|text| link(text)).collect();
    let Some(links) = links.filter(|links| links.len() == CHAINS) else { return false };
    let digits = digits(message);
    public_of(|chain| follow(links[chain], chain, digits[chain], LONGEST)) == public
}

fn public_of(end: impl Fn(usize) -> Link) -> String {
    let mut hash = hmac_sha256::Hash::new();
    (0..CHAINS).for_each(|chain| hash.update(end(chain)));
    hex(&hash.finalize())
}

/// The links of one chain from `from` to `to`. Each hash says which one it is, so that no chain can stand for another.
fn follow(link: Link, chain: usize, from: u8, to: u8) -> Link {
    (from..to).fold(link, |link, step| {
        let mut hash = hmac_sha256::Hash::new();
        hash.update(number(chain));
        hash.update([step]);
        hash.update(link);
        hash.finalize()
    })
}

fn digits(message: &[u8]) -> [u8; CHAINS] {
    let mut digits = [0; CHAINS];
    for (at, byte) in hmac_sha256::Hash::hash(message).into_iter().enumerate() {
        (digits[2 * at], digits[2 * at + 1]) = (byte >> 4, byte & 15);
    }
    let mut lacking: u16 = digits[..DIGITS].iter().map(|digit| u16::from(LONGEST - digit)).sum();
    for digit in &mut digits[DIGITS..] {
        *digit = (lacking & 15) as u8;
        lacking >>= 4;
    }
    digits
}

fn number(chain: usize) -> [u8; 8] {
    (chain as u64).to_le_bytes()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn link(text: &str) -> Option<Link> {
    let mut link = Link::default();
    let is_hex = text.len() == 2 * link.len() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    for (at, byte) in link.iter_mut().enumerate().filter(|_| is_hex) {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    is_hex.then_some(link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r4_a_signature_holds_for_its_message_and_no_other() {
        let key = Key::new();
        let public = key.public();
        let signature = key.sign(b"one");
        assert!(is_signed(&public, b"one", &signature));
        assert!(!is_signed(&public, b"two", &signature));
        assert!(!is_signed(&Key::new().public(), b"one", &signature));
        for broken in [&[][..], &signature[1..], &[&signature[..], &signature[..1]].concat()] {
            assert!(!is_signed(&public, b"one", broken));
        }
    }

    /// Every single step that a forger can take from a signature leads along a chain, and lowers another digit that he cannot
    /// take back.
    #[test]
    fn r4_no_link_can_be_moved_on() {
        let key = Key::new();
        let public = key.public();
        let signature = key.sign(b"one");
        let digits = digits(b"one");
        for chain in 0..CHAINS {
            let mut moved = signature.clone();
            let next =
                follow(link(&moved[chain]).unwrap(), chain, digits[chain], (digits[chain] + 1).min(LONGEST));
            moved[chain] = hex(&next);
            assert_eq!(is_signed(&public, b"one", &moved), digits[chain] == LONGEST, "{chain}");
        }
        for message in [&b""[..], b"one", b"two", &[255; 100]] {
            let digits = super::digits(message);
            let lacking: u32 = digits[..DIGITS].iter().map(|digit| u32::from(LONGEST - digit)).sum();
            let counted: u32 =
                digits[DIGITS..].iter().rev().fold(0, |sum, digit| sum * 16 + u32::from(*digit));
            assert_eq!(lacking, counted);
        }
    }

    #[test]
    fn r4_what_is_no_link_is_no_signature() {
        let key = Key::new();
        let public = key.public();
        let mut signature = key.sign(b"one");
        for odd in ["", "zz", &"g".repeat(64), &"é".repeat(32), &"0".repeat(65)] {
            signature[0] = odd.to_owned();
            assert!(!is_signed(&public, b"one", &signature), "{odd}");
        }
    }
}
