//! What a machine needs before anything is tested, made or checked first.
//!
//! `ALL` is what every command needs. What only some tests need, and is large, is a step of its own (`agents`). A step
//! that installs must be quick when there is nothing to do, and must say what it did.

use crate::{Outcome, shell};

#[path = "../../crates/dacapo/testing/agent_clis.rs"]
mod agent_clis;
mod agents;

pub(crate) use agents::install as install_agents;

/// Oldest git whose porcelain and worktree commands are relied upon.
const GIT: (u32, u32) = (2, 30);

/// Each returns what it found, or what is missing and what to do about it.
const ALL: &[fn() -> Outcome<String>] = &[git, rustfmt, clippy];

/// Runs every step, so that all that is missing is told at once.
pub(crate) fn run() -> Outcome {
    let mut missing = Vec::new();
    for step in ALL {
        match step() {
            Ok(found) => println!("  {found}"),
            Err(what) => missing.push(what),
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(missing.join("\n")) }
}

fn git() -> Outcome<String> {
    let todo = format!(
        "install git {}.{} or newer (https://git-scm.com/downloads) and run this again",
        GIT.0, GIT.1
    );
    let found = shell::version("git", &["--version"]).ok_or_else(|| format!("git is not there: {todo}"))?;
    match git_version(&found) {
        Some(version) if version >= GIT => Ok(found),
        Some(_) => Err(format!("{found} is too old: {todo}")),
        None => Err(format!("git says '{found}', which names no version: {todo}")),
    }
}

fn rustfmt() -> Outcome<String> {
    component("rustfmt", &["fmt", "--version"])
}

fn clippy() -> Outcome<String> {
    component("clippy", &["clippy", "--version"])
}

fn component(name: &str, args: &[&str]) -> Outcome<String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    shell::version(&cargo, args).ok_or_else(|| {
        format!("{name} is not there: `rustup component add {name}`, or your distribution's package of it")
    })
}

/// Vendors add words of their own: `git version 2.39.5 (Apple Git-154)`, `2.47.1.windows.2`.
fn git_version(text: &str) -> Option<(u32, u32)> {
    let number = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let mut parts = number.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::git_version;

    #[test]
    fn reads_what_gits_call_themselves() {
        assert_eq!(git_version("git version 2.47.3"), Some((2, 47)));
        assert_eq!(git_version("git version 2.39.5 (Apple Git-154)"), Some((2, 39)));
        assert_eq!(git_version("git version 2.47.1.windows.2"), Some((2, 47)));
        assert_eq!(git_version("git version 3.0-rc1"), None);
        assert_eq!(git_version("hub"), None);
    }
}
