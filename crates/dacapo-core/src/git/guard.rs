//! Which new files must not slip into a commit: what looks like a secret, what is too big.
//!
//! Only files that are new since the start of the iteration are asked about. A file that the project already
//! tracks is the project's decision.

use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Why a new file was left out of a commit. The file itself is untouched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeftOutReason {
    /// Its name (or, for a few names, its content) says that it holds a key, a password or a token.
    Secret,
    /// Its content holds the value of these variables, which it did not hold before.
    HoldsSecret { variable: String },
    /// Its name does.
    NameHoldsSecret { variable: String },
    /// It is larger than the limit.
    TooBig { bytes: u64 },
    /// Git could not take it (unreadable, not a regular file, …); holds what git said.
    NotStageable(String),
}

impl LeftOutReason {
    /// Whether the value of a known secret is in it, so that whoever wrote it has to take it out.
    pub(super) fn is_known_secret(&self) -> bool {
        match self {
            Self::HoldsSecret { .. } | Self::NameHoldsSecret { .. } => true,
            Self::Secret | Self::TooBig { .. } | Self::NotStageable(_) => false,
        }
    }
}

const SECRET_NAMES: [&str; 17] = [
    ".netrc",
    "_netrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".dockercfg",
    ".htpasswd",
    ".vault-token",
    ".terraformrc",
    "credentials.json",
    "client_secret.json",
    "service-account.json",
    "service_account.json",
    "id_ed25519_sk",
    "id_ecdsa_sk",
    ".s3cfg",
];
const SECRET_EXTENSIONS: [&str; 10] =
    ["pem", "key", "p12", "pfx", "p8", "ppk", "keystore", "jks", "kdbx", "keytab"];
/// Names that are secret in one directory only.
const SECRET_IN: [(&str, &str); 6] = [
    (".aws", "credentials"),
    (".docker", "config.json"),
    (".kube", "config"),
    (".cargo", "credentials"),
    (".cargo", "credentials.toml"),
    (".config/gh", "hosts.yml"),
];
const KEY_NAMES: [&str; 4] = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
const ENV_EXAMPLES: [&str; 6] = ["example", "sample", "template", "dist", "tmpl", "defaults"];
/// Files that are harmless until a token is written into them.
const TOKEN_FILES: [&str; 3] = [".npmrc", ".yarnrc", ".yarnrc.yml"];
const TOKENS: [&str; 4] = ["_authtoken", "_password", "npmauthtoken", "_auth="];
/// How much of such a file is searched.
const TOKEN_SEARCH: u64 = 64 * 1024;

/// Whether a path's name alone says "secret".
pub(super) fn is_secret_name(path: &Path) -> bool {
    let Some(name) = path.file_name() else { return false };
    let name = String::from_utf8_lossy(name.as_bytes()).to_ascii_lowercase();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);

    if let Some(rest) = name.strip_prefix(".env") {
        let is_env = rest.is_empty() || rest == "rc" || rest.starts_with(['.', '-', '_']);
        return is_env && !ENV_EXAMPLES.contains(&extension);
    }
    let is_key = KEY_NAMES.iter().any(|key| {
        // `id_rsa_work` is a key, `id_rsa.pub` is public, `id_rsa_test.go` is source.
        name.strip_prefix(key)
            .is_some_and(|rest| rest.is_empty() || !rest.contains('.') && rest.starts_with(['_', '-']))
    });
    let in_directory = SECRET_IN.iter().any(|(directory, file)| {
        name == *file && path.parent().is_some_and(|parent| parent.ends_with(directory))
    });
    is_key
        || in_directory
        || SECRET_NAMES.contains(&name.as_str())
        || name.contains('.') && SECRET_EXTENSIONS.contains(&extension)
}

/// Judges one new file of the working tree at `toplevel`.
pub(super) fn judge(toplevel: &Path, path: &Path, max_file_bytes: u64) -> Option<LeftOutReason> {
    if is_secret_name(path) {
        return Some(LeftOutReason::Secret);
    }
    let full = toplevel.join(path);
    let found = fs::symlink_metadata(&full).ok()?;
    if !found.is_file() {
        return None;
    }
    if found.len() > max_file_bytes {
        return Some(LeftOutReason::TooBig { bytes: found.len() });
    }
    let may_hold_token = path.file_name().is_some_and(|name| TOKEN_FILES.iter().any(|file| name == *file));
    (may_hold_token && holds_token(&full)).then_some(LeftOutReason::Secret)
}

fn holds_token(file: &Path) -> bool {
    let mut text = Vec::new();
    let Ok(opened) = fs::File::open(file) else { return false };
    if opened.take(TOKEN_SEARCH).read_to_end(&mut text).is_err() {
        return false;
    }
    text.make_ascii_lowercase();
    TOKENS.iter().any(|token| memchr::memmem::find(&text, token.as_bytes()).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets() {
        for name in [
            ".env",
            ".ENV",
            "a/.env.local",
            ".env.production",
            ".envrc",
            ".env-prod",
            "x.pem",
            "deep/er/tls.key",
            "id_rsa",
            "id_ed25519",
            "id_rsa_work",
            "a.p12",
            ".netrc",
            ".aws/credentials",
            "home/.kube/config",
            "credentials.json",
            "vault.kdbx",
            ".cargo/credentials.toml",
        ] {
            assert!(is_secret_name(Path::new(name)), "{name}");
        }
        for name in [
            ".env.example",
            ".env.sample",
            ".env.local.template",
            ".env.dist",
            ".environment",
            "env",
            "id_rsa.pub",
            "id_rsa_test.go",
            "key",
            "pem",
            "keys.rs",
            "config",
            "credentials",
            "monkey.txt",
            ".npmrc",
        ] {
            assert!(!is_secret_name(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn a_token_makes_an_npmrc_a_secret() {
        let dir = tempfile::tempdir().expect("temporary directory");
        let file = dir.path().join(".npmrc");
        fs::write(&file, "registry=https://example.org\n").expect("write");
        assert_eq!(judge(dir.path(), Path::new(".npmrc"), 1000), None);
        fs::write(&file, "//example.org/:_authToken=abc\n").expect("write");
        assert_eq!(judge(dir.path(), Path::new(".npmrc"), 1000), Some(LeftOutReason::Secret));
        assert_eq!(judge(dir.path(), Path::new("gone"), 1000), None);
        fs::write(dir.path().join("big"), [0; 11]).expect("write");
        assert_eq!(judge(dir.path(), Path::new("big"), 10), Some(LeftOutReason::TooBig { bytes: 11 }));
        assert_eq!(judge(dir.path(), Path::new("big"), 11), None);
    }
}
