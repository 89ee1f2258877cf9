//! Which git commands can start other programs.
//!
//! Filters, merge drivers, text conversions, hooks and helpers are named by configuration and attributes, which an agent can
//! write at any moment. So this depends on the command alone: what is not known to start nothing is taken to start something.

use std::ffi::OsStr;

use crate::process::Reach;

/// Whether a command runs the user's hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hooks {
    None,
    Users,
}

/// Reads and writes refs, objects and settings, never the working tree.
const PLUMBING: [&str; 13] = [
    "commit-tree",
    "config",
    "for-each-ref",
    "ls-tree",
    "merge-base",
    "remote",
    "rev-list",
    "rev-parse",
    "stripspace",
    "symbolic-ref",
    "update-ref",
    "var",
    "write-tree",
];

/// What a command can start, by its words after the settings of every call.
pub(super) fn of<'a>(words: impl Iterator<Item = &'a OsStr>, hooks: Hooks) -> Reach {
    let mut words: Vec<&str> = words.map(|word| word.to_str().unwrap_or_default()).collect();
    while let ["-c", _, ..] = words[..] {
        words.drain(..2);
    }
    let [command, words @ ..] = &words[..] else { return Reach::OtherPrograms };
    let has = |wanted: &str| words.contains(&wanted);
    let names_only = has("--name-only") || has("--name-status") || has("--raw");
    let starts_nothing = match *command {
        // With `--others` it reads every `.gitignore`.
        "ls-files" => !has("--others"),
        "cat-file" => !has("--filters") && !has("--textconv"),
        "diff-tree" => names_only,
        "diff-index" => names_only && has("--cached"),
        "hash-object" => has("--no-filters") || has("--stdin") && !has("--path"),
        // Without it, signatures are shown where the user wants that always, by a program.
        "log" => has("--no-show-signature") && !has("-p"),
        "read-tree" => !has("-u"),
        "update-index" => has("--index-info"),
        "worktree" => has("list"),
        command => PLUMBING.contains(&command),
    };
    let is_hookless = hooks == Hooks::None || matches!(*command, "config" | "rev-parse");
    if starts_nothing && is_hookless { Reach::Itself } else { Reach::OtherPrograms }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(line: &str, hooks: Hooks) -> Reach {
        of(line.split(' ').map(OsStr::new), hooks)
    }

    #[test]
    fn r06_what_can_start_a_filter_is_told_by_the_command() {
        let itself = [
            "rev-parse --verify HEAD",
            "-c core.fsync=none update-ref --stdin",
            "ls-files -z --cached -- a",
            "cat-file blob abc",
            "diff-tree -r -z --name-status a b",
            "hash-object -t commit -w --stdin",
            "hash-object --no-filters --stdin-paths",
            "read-tree HEAD",
            "update-index -z --index-info",
            "worktree list --porcelain",
        ];
        for line in itself {
            assert_eq!(reach(line, Hooks::None), Reach::Itself, "{line}");
        }
        let others = [
            "status --porcelain=v2",
            "update-index -z --add --remove --stdin",
            "read-tree --reset -u abc",
            "worktree add -q x",
            "diff-tree -p a b",
            "merge-tree --write-tree a b",
            "hash-object -- a",
            "log -p",
            "fetch --quiet",
            "some-command-of-tomorrow",
            "",
        ];
        for line in others {
            assert_eq!(reach(line, Hooks::None), Reach::OtherPrograms, "{line}");
        }
        assert_eq!(reach("update-ref refs/heads/a b", Hooks::Users), Reach::OtherPrograms);
    }
}
