//! Remotes: which there are, what is behind them, and how a branch is pushed to one in the user's own name.

use std::ffi::OsString;
use std::path::PathBuf;

use super::error::GitError;
use super::{Oid, Repo};

/// What ssh must not do where nobody answers.
const NO_QUESTIONS: &str = "-o BatchMode=yes";

/// A git command that runs hooks, credential helpers and other programs of the user's: it belongs under a guard, with a
/// limit of time.
#[derive(Debug, Clone)]
pub struct UsersGit {
    pub argv: Vec<OsString>,
    pub cwd: PathBuf,
    pub env: Vec<(OsString, OsString)>,
}

impl Repo {
    /// The names of all remotes.
    pub fn remotes(&self) -> Result<Vec<String>, GitError> {
        let out = self.call("list remotes").arg("remote").stdout()?;
        Ok(String::from_utf8_lossy(&out).lines().map(str::to_owned).collect())
    }

    /// The address of a remote, as git would use it. It may hold a password.
    pub fn remote_url(&self, remote: &str) -> Result<String, GitError> {
        let out = self.call("look at a remote").args(["remote", "get-url", "--", remote]).stdout()?;
        Ok(String::from_utf8_lossy(&out).lines().next().unwrap_or_default().to_owned())
    }

    /// The remote that a local branch (by its full name) follows, and which branch of it (short).
    pub fn upstream(&self, branch: &str) -> Result<Option<(String, String)>, GitError> {
        let short = branch.strip_prefix("refs/heads/").unwrap_or(branch);
        let remote = self.setting(&format!("branch.{short}.remote"))?;
        let merge = self.setting(&format!("branch.{short}.merge"))?;
        Ok(remote
            .zip(merge)
            .and_then(|(remote, merge)| Some((remote, merge.strip_prefix("refs/heads/")?.to_owned()))))
    }

    /// The branch that a remote calls its main one, as far as it is known here (short).
    pub fn main_branch_of(&self, remote: &str) -> Result<Option<String>, GitError> {
        let name = format!("refs/remotes/{remote}/HEAD");
        let answer = self.call("look at a remote").args(["symbolic-ref", "-q", &name]).output()?;
        let target = String::from_utf8_lossy(&answer.stdout).trim_end().to_owned();
        Ok(target.strip_prefix(&format!("refs/remotes/{remote}/")).map(str::to_owned))
    }

    /// A setting of the user's git; none: it is not set.
    pub(crate) fn setting(&self, key: &str) -> Result<Option<String>, GitError> {
        let answer = self.call("read a setting").args(["config", "--get", key]).output()?;
        match answer.exit {
            Some(0) => {
                let text = String::from_utf8_lossy(&answer.stdout).into_owned();
                Ok(Some(text.strip_suffix('\n').map_or_else(|| text.clone(), str::to_owned)))
            }
            // Not there, or a key that git cannot have.
            Some(1) => Ok(None),
            _ => Err(answer.error()),
        }
    }

    /// Whether commits of the user's are signed.
    pub fn signs_commits(&self) -> Result<bool, GitError> {
        let call = self.call_as_user("read a setting");
        let answer = call.args(["config", "--type=bool", "--get", "commit.gpgSign"]).output()?;
        Ok(answer.stdout.starts_with(b"true"))
    }

    /// The commits of `tip` that `base` does not have, newest first: id and first line of the message.
    pub fn log_between(&self, base: Option<&Oid>, tip: &Oid) -> Result<Vec<(Oid, String)>, GitError> {
        const OPERATION: &str = "list commits";
        let mut call =
            self.call(OPERATION).args(["log", "-z", "--format=%H %s", "--end-of-options", tip.as_str()]);
        if let Some(base) = base {
            call = call.arg(format!("^{}", base.as_str()));
        }
        let out = call.stdout()?;
        let lines = out.split(|&byte| byte == 0).filter(|line| !line.is_empty());
        lines
            .map(|line| {
                let text = String::from_utf8_lossy(line);
                let (id, subject) = text.split_once(' ').unwrap_or((&text, ""));
                let id = Oid::parse(id).map_err(|_| GitError::unexpected(OPERATION, line))?;
                Ok((id, subject.to_owned()))
            })
            .collect()
    }

    /// The push of `from` (a commit or a ref) to the branch `to` (short) of a remote: with the user's hooks and
    /// credentials, and without a question that nobody would answer. Never by force.
    pub fn push(&self, remote: &str, from: &str, to: &str) -> Result<UsersGit, GitError> {
        let words = ["push", "--porcelain", "--", remote, &format!("{from}:refs/heads/{to}")];
        self.users_git(&words)
    }

    fn users_git(&self, words: &[&str]) -> Result<UsersGit, GitError> {
        let mut env = self.git().users_environment().to_vec();
        // Hooks find the repository as they do when a person pushes from this worktree.
        env.push(("GIT_DIR".into(), self.git_dir().into()));
        env.push(("GIT_TERMINAL_PROMPT".into(), "0".into()));
        env.push(("SSH_ASKPASS_REQUIRE".into(), "never".into()));
        let set = |name: &str| env.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        if set("GIT_SSH").is_none() || set("GIT_SSH_COMMAND").is_some() {
            let own = set("GIT_SSH_COMMAND").and_then(|value| value.into_string().ok());
            let command = match own {
                Some(own) => own,
                None => self.setting("core.sshCommand")?.unwrap_or_else(|| "ssh".to_owned()),
            };
            env.retain(|(name, _)| name != "GIT_SSH_COMMAND");
            env.push(("GIT_SSH_COMMAND".into(), unattended(&command).into()));
        }
        let argv = std::iter::once(self.git().program().as_os_str().to_owned());
        let cwd = if self.toplevel().is_dir() { self.toplevel() } else { self.common_dir() };
        Ok(UsersGit {
            argv: argv.chain(words.iter().map(OsString::from)).collect(),
            cwd: cwd.to_owned(),
            env,
        })
    }
}

/// OpenSSH's own word for "ask nothing". Other programs in its place do not know it.
fn unattended(command: &str) -> String {
    let program = command.split_whitespace().next().unwrap_or_default();
    let is_ssh = program.rsplit('/').next() == Some("ssh");
    if is_ssh && !command.contains("BatchMode") {
        format!("{command} {NO_QUESTIONS}")
    } else {
        command.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ssh_asks_nothing_and_other_programs_are_left_alone() {
        assert_eq!(unattended("ssh"), "ssh -o BatchMode=yes");
        assert_eq!(unattended("/usr/bin/ssh -i ~/.ssh/k"), "/usr/bin/ssh -i ~/.ssh/k -o BatchMode=yes");
        assert_eq!(unattended("ssh -oBatchMode=no"), "ssh -oBatchMode=no");
        assert_eq!(unattended("plink -batch"), "plink -batch");
    }
}
