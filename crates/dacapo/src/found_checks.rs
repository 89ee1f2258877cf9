//! The project's own checks, found from real evidence (L3), and the changed files on which a claim of success rests.

mod choice;
mod evidence;
#[cfg(test)]
mod tests;

pub use choice::{remember, remembered};
pub use dacapo_core::trust::{Role, TrustedFiles, is_sensitive_to_trust};
pub use evidence::{Found, find};
