//! The `dacapo` program: arguments, configuration, commands and what people see. The loop itself is `dacapo-core`.

pub mod config;
pub mod error;
pub mod found_checks;
pub mod rehearsal;
