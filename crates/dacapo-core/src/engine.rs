//! The loop: a pure machine decides why it goes on or ends.

pub mod machine;
pub mod stop;
