//! Commands, and what agents do wrong with git. The repository work is done by git itself, from
//! small shell scripts: what is left behind is exactly what a real agent would leave.

use std::io::{self, Read, Seek};
use std::process::{Command, Stdio};

use super::emit::Emitter;
use dacapo_app::rehearsal::Flood;

/// How much of a command's output is told. Agents cut it too.
const MAX_OUTPUT: u64 = 64 * 1024;

/// What a command left: whether it went well, and what it printed.
pub(super) struct Ran {
    pub(super) ok: bool,
    pub(super) output: String,
}

/// Runs a command with `sh -c`, `$1` being the argument. Its output goes through a file and not a
/// pipe: something it leaves in the background must not keep the agent waiting.
pub(super) fn shell(script: &str, argument: &str, ignoring: bool) -> io::Result<Ran> {
    let mut file = tempfile::tempfile()?;
    // Ignored signals stay ignored in all that the shell starts.
    let trap = if ignoring { "trap '' TERM INT HUP\n" } else { "" };
    let status = Command::new("sh")
        .args(["-c", &format!("{trap}{script}"), "sh", argument])
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file.try_clone()?)
        .status()?;
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(MAX_OUTPUT).read_to_end(&mut bytes)?;
    let mut output = String::from_utf8_lossy(&bytes).into_owned();
    if !status.success() {
        if !output.is_empty() && !output.ends_with('\n') {
            output.push('\n');
        }
        output.push_str(&format!("({status})"));
    }
    Ok(Ran { ok: status.success(), output })
}

/// An identity of its own and no signing: a rehearsal works on a machine without a git setup and
/// never asks for a passphrase.
const GIT: &str = "set -eu
git() {
  command git -c user.name=Rehearsal -c user.email=rehearsal@localhost -c commit.gpgsign=false \"$@\"
}
";

/// Something an agent does to a repository.
#[derive(Debug, Clone, Copy)]
pub(super) enum GitTrick {
    Commit,
    SwitchBranch,
    Detach,
    StaleLock,
    NestedRepo,
    HalfMerge,
}

impl GitTrick {
    pub(super) fn name(self) -> &'static str {
        match self {
            GitTrick::Commit => "commit",
            GitTrick::SwitchBranch => "switch_branch",
            GitTrick::Detach => "detach",
            GitTrick::StaleLock => "stale_lock",
            GitTrick::NestedRepo => "nested_repo",
            GitTrick::HalfMerge => "half_merge",
        }
    }

    /// Does it. It did not work: an error, since a rehearsal of nothing would pass every test.
    pub(super) fn play(self, argument: &str, ignoring: bool) -> Result<String, String> {
        let script = match self {
            GitTrick::Commit => "git add -A && git commit --quiet --allow-empty -m \"$1\"",
            GitTrick::SwitchBranch => {
                "if git rev-parse --quiet --verify \"refs/heads/$1\" >/dev/null
                then git switch --quiet \"$1\"
                else git switch --quiet -c \"$1\"
                fi"
            }
            GitTrick::Detach => "git switch --quiet --detach",
            GitTrick::StaleLock => ": >\"$(git rev-parse --git-path index.lock)\"",
            GitTrick::NestedRepo => {
                "git init --quiet \"$1\"
                cd \"$1\"
                echo nested >nested.txt
                git add nested.txt
                git commit --quiet --allow-empty -m nested"
            }
            // The other side is made without touching the work tree or leaving a branch.
            GitTrick::HalfMerge => {
                "base=$(git rev-parse HEAD)
                blob=$(echo theirs | git hash-object -w --stdin)
                tree=$({ git ls-tree \"$base\" | { grep -v '\tconflict.txt$' || :; }
                  printf '100644 blob %s\\tconflict.txt\\n' \"$blob\"; } | git mktree)
                other=$(git commit-tree \"$tree\" -p \"$base\" -m theirs)
                echo ours >conflict.txt
                git add conflict.txt
                git commit --quiet --allow-empty -m ours
                git merge \"$other\" || :
                git rev-parse --quiet --verify MERGE_HEAD"
            }
        };
        let ran = shell(&format!("{GIT}{script}"), argument, ignoring).map_err(|error| error.to_string())?;
        if ran.ok { Ok(ran.output) } else { Err(format!("`{}` did not work: {}", self.name(), ran.output)) }
    }
}

/// Pours out what the script wants, in big pieces.
pub(super) fn flood(emitter: &mut Emitter, flood: &Flood) -> io::Result<()> {
    let unit = if flood.bytes.0.is_empty() { b"x" } else { flood.bytes.0.as_slice() };
    let mut pattern = unit.to_vec();
    if flood.newline {
        while pattern.len() < 99 {
            pattern.extend_from_slice(unit);
        }
        pattern.push(b'\n');
    }
    let piece = pattern.repeat((64 * 1024 / pattern.len()).max(1));
    let mut left = u64::from(flood.mb) * 1024 * 1024;
    while left > 0 {
        let part = piece.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        emitter.raw(&piece[..part])?;
        left -= part as u64;
    }
    Ok(())
}
