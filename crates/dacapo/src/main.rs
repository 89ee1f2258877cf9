//! The `dacapo` command.

fn main() {
    if std::env::args_os().nth(1).is_some_and(|word| word == dacapo_core::process::guard::ARGUMENT) {
        dacapo_core::process::guard::main();
    }
}
