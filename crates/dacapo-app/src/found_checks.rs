//! The project's own checks, found from real evidence (L3), what a fresh checkout needs to run them (L4), and the changed files on which a claim of success rests.

mod choice;
mod evidence;
mod setup;
#[cfg(test)]
mod tests;

pub use choice::{Question, remember, remembered};
pub use dacapo_core::suspect_files::{Role, TrustedFiles, is_sensitive_to_trust};
pub use evidence::{FoundCheck, find};
pub use setup::find_setup;
