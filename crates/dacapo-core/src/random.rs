//! Randomness of the system.

/// This many random bytes, in hexadecimal.
///
/// # Panics
/// When the system has no randomness to give, which no supported one does.
pub(crate) fn hex(bytes: usize) -> String {
    let mut buffer = vec![0_u8; bytes];
    fill(&mut buffer);
    buffer.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// 32 random bytes.
///
/// # Panics
/// As [`hex`].
pub(crate) fn bytes() -> [u8; 32] {
    let mut buffer = [0; 32];
    fill(&mut buffer);
    buffer
}

fn fill(buffer: &mut [u8]) {
    let mut filled = 0;
    while filled < buffer.len() {
        match rustix::rand::getrandom(&mut buffer[filled..], rustix::rand::GetRandomFlags::empty()) {
            Ok(more) => filled += more,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => panic!("no randomness: {error}"),
        }
    }
}
