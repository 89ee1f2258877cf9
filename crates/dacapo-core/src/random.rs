//! Randomness of the system.

/// This many random bytes, in hexadecimal.
///
/// # Panics
/// When the system has no randomness to give, which no supported one does.
pub(crate) fn hex(bytes: usize) -> String {
    let mut buffer = vec![0_u8; bytes];
    let mut filled = 0;
    while filled < bytes {
        match rustix::rand::getrandom(&mut buffer[filled..], rustix::rand::GetRandomFlags::empty()) {
            Ok(more) => filled += more,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => panic!("no randomness: {error}"),
        }
    }
    buffer.iter().map(|byte| format!("{byte:02x}")).collect()
}
