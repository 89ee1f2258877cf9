//! Which repository a directory belongs to, read from files where that is plain: a git process costs more than all the
//! rest of `dacapo list`. Whatever is not plain is left to git, so that both always agree.

use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::places::Places;
use super::regular;
use super::{DiscoverError, Oid, Repo};
use crate::env::Env;

/// The git directory that all working trees of the repository around `dir` share. `env` is for git, should it be asked.
pub fn common_dir(dir: &Path, env: &Env) -> Result<PathBuf, DiscoverError> {
    match from_files(dir) {
        Some((_, common)) => Ok(common),
        None => Repo::discover(dir, env).map(|repo| repo.common_dir().to_owned()),
    }
}

/// The branch that is checked out around `dir`, by its full name, and its commit; none where only git could say.
pub fn current_branch(dir: &Path) -> Option<(String, Oid)> {
    let (git_dir, common) = from_files(dir)?;
    let head = read_text(&git_dir.join("HEAD")).ok()?;
    let name = head.strip_prefix("ref: ")?.trim_end();
    if common.join("reftable").exists() || !name.starts_with("refs/heads/") || name.contains("..") {
        return None;
    }
    let commit = match read_text(&common.join(name)) {
        Ok(text) => Oid::parse(text.trim_end()).ok()?,
        Err(_) => {
            let packed = read_text(&common.join("packed-refs")).ok()?;
            let line =
                packed.lines().find_map(|line| line.split_once(' ').filter(|(_, packed)| *packed == name));
            Oid::parse(line?.0).ok()?
        }
    };
    Some((name.to_owned(), commit))
}

/// This working tree's own git directory and the shared one. None wherever git might see it differently: other owners,
/// other file systems, bare and half-made repositories.
fn from_files(dir: &Path) -> Option<(PathBuf, PathBuf)> {
    let start = fs::canonicalize(dir).ok()?;
    let (user, device) = (rustix::process::geteuid().as_raw(), fs::metadata(&start).ok()?.dev());
    let own = |meta: &Metadata| meta.uid() == user;
    for level in start.ancestors() {
        let here = fs::metadata(level).ok()?;
        // Inside `.git`, or in a repository without a working tree.
        if here.dev() != device || level.join("HEAD").exists() {
            return None;
        }
        let dot_git = level.join(".git");
        let Ok(found) = fs::symlink_metadata(&dot_git) else { continue };
        // Git refuses repositories of other users (`safe.directory`), so git is asked.
        if !own(&here) || !own(&found) {
            return None;
        }
        let git_dir = if found.is_dir() { dot_git } else { linked(&dot_git, &found)? };
        let git_dir = fs::canonicalize(git_dir).ok()?;
        let common = shared(&git_dir)?;
        let whole = git_dir.join("HEAD").exists()
            && common.join("objects").is_dir()
            && common.join("refs").is_dir()
            && own(&fs::metadata(&git_dir).ok()?)
            && has_work_tree(&common);
        return whole.then_some((git_dir, common));
    }
    None
}

/// Where git reads around `dir`; none: only git can say, or there is no repository.
pub(super) fn places(dir: &Path) -> Option<Places> {
    let start = fs::canonicalize(dir).ok()?;
    let (top, found) = start.ancestors().find_map(|level| {
        let found = fs::symlink_metadata(level.join(".git")).ok()?;
        Some((level, found))
    })?;
    let dot_git = top.join(".git");
    let git_dir = if found.is_dir() { Some(dot_git.clone()) } else { linked(&dot_git, &found) };
    // Where it does not say what it should, `.git` itself is what git reads.
    let git_dir = git_dir.unwrap_or(dot_git);
    let common = shared(&git_dir).unwrap_or_else(|| git_dir.clone());
    Some(Places::new(top, &git_dir, &common))
}

fn read_text(path: &Path) -> std::io::Result<String> {
    String::from_utf8(regular::read(path)?).map_err(std::io::Error::other)
}

/// Where a `.git` file points to.
fn linked(file: &Path, meta: &Metadata) -> Option<PathBuf> {
    if !meta.is_file() || meta.len() > 8192 {
        return None;
    }
    let text = regular::read(file).ok()?;
    let target = text.strip_prefix(b"gitdir: ")?;
    let target = target.strip_suffix(b"\n").unwrap_or(target);
    // Joined to an absolute path it is that path.
    Some(file.parent()?.join(Path::new(std::ffi::OsStr::from_bytes(target))))
}

/// The git directory itself, or the one that its file `commondir` names.
fn shared(git_dir: &Path) -> Option<PathBuf> {
    match regular::read(&git_dir.join("commondir")) {
        Ok(text) => {
            let target = text.strip_suffix(b"\n").unwrap_or(&text);
            fs::canonicalize(git_dir.join(Path::new(std::ffi::OsStr::from_bytes(target)))).ok()
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(git_dir.to_owned()),
        Err(_) => None,
    }
}

/// Only the settings that git itself writes into a new repository are plain; one that is bare, or whose working tree is
/// elsewhere, says so here.
fn has_work_tree(common: &Path) -> bool {
    let Ok(config) = regular::read(&common.join("config")) else { return false };
    let text = String::from_utf8_lossy(&config).to_lowercase();
    let odd = |line: &str| {
        let line = line.trim_start();
        line.starts_with("worktree")
            || line.starts_with("[include")
            || (line.starts_with("bare") && !line.contains("false"))
    };
    !text.lines().any(odd)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(dir: &Path, words: &[&str]) {
        let mut command = Command::new("git");
        command.args([
            "-c",
            "user.name=T",
            "-c",
            "user.email=t@localhost",
            "-c",
            "protocol.file.allow=always",
        ]);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        let output = command.args(words).current_dir(dir).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn env() -> Env {
        std::env::vars_os().collect()
    }

    /// What git says; and whether the files were enough to know.
    fn both(dir: &Path) -> (Option<PathBuf>, Option<PathBuf>) {
        (
            Repo::discover(dir, &env()).ok().map(|repo| repo.common_dir().to_owned()),
            from_files(dir).map(|found| found.1),
        )
    }

    #[test]
    fn s14_plain_repositories_are_found_without_git_and_as_git_does() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        git(dir.path(), &["init", "-q", "plain"]);
        git(&at("plain"), &["commit", "-q", "--allow-empty", "-m", "x"]);
        git(&at("plain"), &["worktree", "add", "-q", "../linked", "-b", "other"]);
        git(&at("plain"), &["init", "-q", "nested"]);
        git(dir.path(), &["init", "-q", "--separate-git-dir", "elsewhere.git", "apart"]);
        git(dir.path(), &["init", "-q", "odd\nname 繼"]);
        fs::create_dir_all(at("plain/a/b")).unwrap();
        fs::create_dir_all(at("linked/c")).unwrap();
        std::os::unix::fs::symlink(at("plain/a"), at("link")).unwrap();
        for place in
            ["plain", "plain/a/b", "plain/nested", "linked", "linked/c", "apart", "link", "odd\nname 繼"]
        {
            let (by_git, by_files) = both(&at(place));
            assert!(by_git.is_some(), "{place}");
            assert_eq!(by_files, by_git, "{place}");
        }
        assert_eq!(common_dir(&at("linked/c"), &env()).unwrap(), at("plain/.git").canonicalize().unwrap());
        for packed in [false, true] {
            if packed {
                git(&at("plain"), &["pack-refs", "--all"]);
            }
            let head = Repo::discover(&at("linked"), &env()).unwrap().head().unwrap();
            assert_eq!(current_branch(&at("linked/c")), head.branch.zip(head.commit));
            assert_eq!(current_branch(&at("linked/c")).unwrap().0, "refs/heads/other");
        }
        git(&at("linked"), &["checkout", "-q", "--detach"]);
        assert_eq!(current_branch(&at("linked")), None);
        assert_eq!(current_branch(&at("apart")), None, "no commit yet");
    }

    #[test]
    fn s14_what_is_not_plain_is_left_to_git() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        git(dir.path(), &["init", "-q", "--bare", "bare.git"]);
        git(dir.path(), &["init", "-q", "moved"]);
        git(&at("moved"), &["config", "core.worktree", "../other"]);
        git(dir.path(), &["init", "-q", "broken"]);
        fs::remove_dir_all(at("broken/.git/objects")).unwrap();
        git(dir.path(), &["init", "-q", "barred"]);
        git(&at("barred"), &["config", "core.bare", "true"]);
        git(dir.path(), &["init", "-q", "full"]);
        git(&at("full"), &["commit", "-q", "--allow-empty", "-m", "x"]);
        fs::create_dir(at("nowhere")).unwrap();
        fs::write(at("nowhere/.git"), "gitdir: /not/there\n").unwrap();
        for place in ["bare.git", "moved", "broken", "barred", "full/.git", "full/.git/refs", "nowhere"] {
            assert_eq!(from_files(&at(place)), None, "{place}");
        }
        let found = common_dir(&at("bare.git"), &env());
        assert!(matches!(found, Err(DiscoverError::Bare(_))), "{found:?}");
    }
}
