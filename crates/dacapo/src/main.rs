//! The `dacapo` command.

fn main() {}
