//! Which settings of git reach a proof checkout, and the file that holds them.

use std::path::Path;

use crate::git::Settings;
use crate::git::config_text::{parts, put};

/// Whole sections that decide what files hold, or what a check that uses git needs. Everything else stays behind: hooks,
/// aliases, includes, credentials, other places for the repository, and that only a part of it is checked out.
const SECTIONS: [&str; 12] = [
    "filter",
    "lfs",
    "diff",
    "merge",
    "user",
    "author",
    "committer",
    "i18n",
    "init",
    "color",
    "log",
    "pretty",
];

const CORE: [&str; 14] = [
    "abbrev",
    "autocrlf",
    "bigfilethreshold",
    "checkroundtripencoding",
    "commentchar",
    "eol",
    "filemode",
    "ignorecase",
    "precomposeunicode",
    "protecthfs",
    "protectntfs",
    "quotepath",
    "safecrlf",
    "symlinks",
];

/// What fetching objects that a partial clone left out needs, beside the remote itself.
const FETCHING: [&str; 3] = ["url", "http", "credential"];

/// Of all settings, those that a proof checkout gets.
pub(super) fn kept(all: Settings) -> Settings {
    let promisors: Vec<Vec<u8>> = all.iter().filter_map(promisor).collect();
    let keeps = |key: &[u8]| {
        let (section, subsection, name) = parts(key);
        match section {
            b"core" => {
                CORE.iter().any(|core| core.as_bytes() == name)
                    || !promisors.is_empty() && name == b"sshcommand"
            }
            b"extensions" => !promisors.is_empty() && name == b"partialclone",
            // A clone has remotes; submodules with a relative address need one.
            b"remote" => {
                matches!(name, b"url" | b"fetch")
                    || promisors.iter().any(|remote| remote.as_slice() == subsection)
            }
            section if FETCHING.iter().any(|fetching| fetching.as_bytes() == section) => {
                !promisors.is_empty()
            }
            section => SECTIONS.iter().any(|kept| kept.as_bytes() == section),
        }
    };
    all.into_iter().filter(|(key, _)| keeps(key)).collect()
}

/// The remote of a partial clone, if the setting says that it is one.
fn promisor((key, value): &(Vec<u8>, Option<Vec<u8>>)) -> Option<Vec<u8>> {
    let is_true = || value.as_deref().is_none_or(|value| value.eq_ignore_ascii_case(b"true"));
    match parts(key) {
        (b"remote", remote, b"promisor") if is_true() => Some(remote.to_vec()),
        (b"extensions", b"", b"partialclone") => value.clone(),
        _ => None,
    }
}

/// The last value of a setting.
pub(super) fn last<'a>(all: &'a Settings, key: &str) -> Option<&'a [u8]> {
    let found = all.iter().rev().find(|(known, _)| known == key.as_bytes());
    found.and_then(|(_, value)| value.as_deref())
}

/// What holds in every proof checkout, whatever else is set.
#[derive(Debug)]
pub(super) struct Fixed<'a> {
    pub(super) sha256: bool,
    /// The user's own attributes file, as it was.
    pub(super) attributes: &'a Path,
    /// Where the objects of LFS are that were copied for proofs.
    pub(super) lfs: &'a Path,
}

/// The text of `.git/config`.
pub(super) fn render(settings: &Settings, fixed: &Fixed<'_>) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt as _;
    let mut file = Vec::new();
    for (key, value) in settings {
        put(&mut file, key, value.as_deref());
    }
    let version: &[u8] = if fixed.sha256 || is_partial(settings) { b"1" } else { b"0" };
    let fixed_settings: [(&str, &[u8]); 14] = [
        ("core.repositoryformatversion", version),
        ("core.bare", b"false"),
        ("core.hooksPath", b"/dev/null"),
        ("core.fsmonitor", b"false"),
        ("core.untrackedCache", b"false"),
        ("core.splitIndex", b"false"),
        ("core.trustctime", b"true"),
        ("core.commitGraph", b"false"),
        ("core.attributesFile", fixed.attributes.as_os_str().as_bytes()),
        ("core.excludesFile", b"/dev/null"),
        ("index.sparse", b"false"),
        ("gc.auto", b"0"),
        ("maintenance.auto", b"false"),
        ("lfs.storage", fixed.lfs.as_os_str().as_bytes()),
    ];
    for (key, value) in fixed_settings {
        put(&mut file, key.as_bytes(), Some(value));
    }
    if fixed.sha256 {
        put(&mut file, b"extensions.objectFormat", Some(b"sha256"));
    }
    file
}

/// The text of the configuration of a store; `source` is the repository that a partial one is filled from.
pub(super) fn of_store(settings: &Settings, source: &Path, sha256: bool) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt as _;
    let mut file = Vec::new();
    let partial = is_partial(settings);
    let version: &[u8] = if sha256 || partial { b"1" } else { b"0" };
    put(&mut file, b"core.repositoryformatversion", Some(version));
    put(&mut file, b"core.bare", Some(b"true"));
    // Whatever the umask is (R0).
    put(&mut file, b"core.sharedRepository", Some(b"0600"));
    put(&mut file, b"gc.auto", Some(b"0"));
    put(&mut file, b"maintenance.auto", Some(b"false"));
    if sha256 {
        put(&mut file, b"extensions.objectFormat", Some(b"sha256"));
    }
    if partial {
        // What comes from there may refer to objects that the user's own clone has left out as well.
        put(&mut file, b"extensions.partialClone", Some(PARTIAL_SOURCE.as_bytes()));
        for (name, value) in [
            ("url", source.as_os_str().as_bytes()),
            ("promisor", b"true"),
            ("partialCloneFilter", b"blob:none"),
        ] {
            put(&mut file, format!("remote.{PARTIAL_SOURCE}.{name}").as_bytes(), Some(value));
        }
    }
    file
}

/// The name of the remote that the store of a partial clone is filled from.
pub(super) const PARTIAL_SOURCE: &str = "source";

/// Returns true if these are the settings of a partial clone.
pub(super) fn is_partial(settings: &Settings) -> bool {
    settings.iter().any(|setting| promisor(setting).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(list: &[(&str, &str)]) -> Settings {
        list.iter().map(|(key, value)| (key.as_bytes().to_vec(), Some(value.as_bytes().to_vec()))).collect()
    }

    fn names(all: &Settings) -> Vec<String> {
        all.iter().map(|(key, _)| String::from_utf8_lossy(key).into_owned()).collect()
    }

    #[test]
    fn l4_only_settings_about_content_reach_a_proof() {
        let all = settings(&[
            ("core.autocrlf", "input"),
            ("core.hookspath", "/x"),
            ("core.worktree", "/x"),
            ("core.fsmonitor", "/x"),
            ("core.sshcommand", "/x"),
            ("include.path", "/x"),
            ("includeif.gitdir:/x.path", "/x"),
            ("alias.st", "!x"),
            ("remote.origin.url", "/x"),
            ("url./x.insteadof", "/y"),
            ("filter.lfs.smudge", "git-lfs smudge -- %f"),
            ("extensions.worktreeconfig", "true"),
            ("user.name", "Ada"),
        ]);
        let expected = ["core.autocrlf", "remote.origin.url", "filter.lfs.smudge", "user.name"];
        assert_eq!(names(&kept(all)), expected);
    }

    #[test]
    fn l4_a_partial_clone_keeps_the_remote_that_has_the_rest() {
        let all = settings(&[
            ("remote.origin.url", "/x"),
            ("remote.origin.promisor", "true"),
            ("remote.fork.url", "/y"),
            ("core.sshcommand", "ssh -v"),
        ]);
        let expected = ["remote.origin.url", "remote.origin.promisor", "remote.fork.url", "core.sshcommand"];
        assert_eq!(names(&kept(all)), expected);
    }

    #[test]
    fn l4_git_reads_back_what_was_written() {
        let mut all = settings(&[
            ("filter.a.b \"c\\d.smudge", "x \"y\" \\ z\n\tend ;#"),
            ("filter.x.clean", " spaces "),
            ("user.name", "Ada"),
        ]);
        all.push((b"diff.plain".to_vec(), None));
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config");
        let mut text = Vec::new();
        all.iter().for_each(|(key, value)| put(&mut text, key, value.as_deref()));
        std::fs::write(&file, text).unwrap();
        let git =
            std::process::Command::new("git").args(["config", "--list", "-z", "-f"]).arg(&file).output();
        let mut expected = Vec::new();
        for (key, value) in &all {
            expected.extend_from_slice(key);
            if let Some(value) = value {
                expected.push(b'\n');
                expected.extend_from_slice(value);
            }
            expected.push(0);
        }
        let stdout = git.unwrap().stdout;
        assert_eq!(String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&expected));
    }
}
