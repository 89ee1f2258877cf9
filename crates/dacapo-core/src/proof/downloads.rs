//! Download caches of package managers, of the proofs' own: a package that an agent put into the user's caches has no say.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::caches::{Transfer, directory};
use super::files;

/// The variable that leads a tool to its cache, the directory, and what of it later proofs may start from; nothing: all.
const TOOLS: [(&str, &str, &[&str]); 10] = [
    // The sources that cargo unpacks are not compared with what was downloaded, so they are unpacked each time.
    (CARGO_HOME, "cargo", &["registry/cache", "registry/index", "git/db"]),
    ("npm_config_cache", "npm", &["_cacache"]),
    ("npm_config_store_dir", "pnpm", &[]),
    ("YARN_CACHE_FOLDER", "yarn", &[]),
    ("BUN_INSTALL_CACHE_DIR", "bun", &[]),
    ("PIP_CACHE_DIR", "pip", &[]),
    ("UV_CACHE_DIR", "uv", &[]),
    ("POETRY_CACHE_DIR", "poetry", &[]),
    ("GOMODCACHE", "go-modules", &["cache/download"]),
    // Go's builds: named by the content of all that goes into them.
    ("GOCACHE", "go-build", &[]),
];

const CARGO_HOME: &str = "CARGO_HOME";

/// What the user has beside the downloads in cargo's own directory, and a build needs.
const OF_CARGO: [&str; 4] = ["config.toml", "config", "credentials.toml", "credentials"];

/// Variables that lead builds out of the checkout, to a place that agents write to as well.
const LEADING_OUT: [&str; 2] = ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"];

/// Makes the directory of a new proof's downloads.
pub(super) fn make(dir: &Path, users: &[(OsString, OsString)]) -> io::Result<()> {
    let cargo = dir.join("cargo");
    files::make_dir(dir)?;
    files::make_dir(&cargo)?;
    let Some(home) = users_cargo(users) else { return Ok(()) };
    for name in OF_CARGO.iter().filter(|name| home.join(name).is_file()) {
        std::os::unix::fs::symlink(home.join(name), cargo.join(name))?;
    }
    Ok(())
}

/// The environment of a command that runs in the checkout at `tree`.
pub(super) fn environment(
    users: Vec<(OsString, OsString)>,
    dir: &Path,
    tree: &Path,
) -> Vec<(OsString, OsString)> {
    let target = users_target_dir(&users).then(|| ("CARGO_TARGET_DIR".into(), tree.join("target").into()));
    let ours: Vec<(OsString, OsString)> = TOOLS
        .iter()
        .map(|(variable, name, _)| ((*variable).into(), dir.join(name).into()))
        // Of no use to a checkout that is built once, and as large as the rest.
        .chain([("CARGO_INCREMENTAL".into(), "0".into())])
        // Packages for the user alone are not part of a clone, and an agent may have installed them.
        .chain([("PYTHONNOUSERSITE".into(), "1".into())])
        .chain(target)
        .collect();
    let replaced = |name: &OsStr| {
        LEADING_OUT.iter().any(|out| name == *out)
            || ours.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
    };
    let mut env: Vec<_> = users.into_iter().filter(|(name, _)| !replaced(name)).collect();
    env.extend(ours);
    env
}

/// Transfers what later proofs may start from.
pub(super) fn transfer(from: &Path, to: &Path, how: Transfer) -> io::Result<()> {
    for (_, name, parts) in TOOLS {
        let parts = if parts.is_empty() { &[""][..] } else { parts };
        for part in parts.iter().map(|part| Path::new(name).join(part)) {
            let (from, to) = (from.join(&part), to.join(&part));
            if fs::symlink_metadata(&from).is_ok_and(|found| found.is_dir()) {
                fs::create_dir_all(to.parent().unwrap_or(&to))?;
                directory(&from, &to, how)?;
            }
        }
    }
    Ok(())
}

/// Cargo's own directory as the user has it.
fn users_cargo(users: &[(OsString, OsString)]) -> Option<PathBuf> {
    let variable = |wanted: &str| {
        let found = users.iter().find(|(name, value)| name == wanted && !value.is_empty());
        found.map(|(_, value)| PathBuf::from(value))
    };
    variable(CARGO_HOME).or_else(|| Some(variable("HOME")?.join(".cargo"))).filter(|home| home.is_absolute())
}

/// Returns true if the user's own settings lead cargo's builds to one place for all checkouts.
fn users_target_dir(users: &[(OsString, OsString)]) -> bool {
    let Some(home) = users_cargo(users) else { return false };
    let set = |name| files::read_users(&home.join(name)).ok().flatten();
    let names = |text: Vec<u8>| memchr::memmem::find(&text, b"target-dir").is_some();
    OF_CARGO[..2].iter().filter_map(set).any(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(list: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        list.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    fn get<'a>(env: &'a [(OsString, OsString)], wanted: &str) -> Vec<&'a OsStr> {
        env.iter().filter(|(name, _)| name == wanted).map(|(_, value)| value.as_os_str()).collect()
    }

    #[test]
    fn l4_builds_and_downloads_do_not_leave_the_proof() {
        let users = env(&[
            ("PATH", "/bin"),
            ("CARGO_HOME", "/nowhere/cargo"),
            ("CARGO_TARGET_DIR", "/shared/target"),
            ("CARGO_BUILD_TARGET_DIR", "/shared/target"),
            ("NPM_CONFIG_CACHE", "/shared/npm"),
            ("npm_config_cache", "/shared/npm"),
        ]);
        let env = environment(users, Path::new("/p/downloads"), Path::new("/p/tree"));
        assert_eq!(get(&env, "PATH"), ["/bin"]);
        assert_eq!(get(&env, "CARGO_HOME"), ["/p/downloads/cargo"]);
        assert_eq!(get(&env, "npm_config_cache"), ["/p/downloads/npm"]);
        assert_eq!(get(&env, "PYTHONNOUSERSITE"), ["1"]);
        assert!(!env.iter().any(|(_, value)| value.to_string_lossy().starts_with("/shared")), "{env:?}");
    }

    #[test]
    fn l4_a_shared_target_directory_of_the_users_settings_has_no_say() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join(".cargo");
        fs::create_dir(&home).unwrap();
        fs::write(home.join("config.toml"), "[build]\ntarget-dir = \"/shared\"\n").unwrap();
        let users = env(&[("HOME", dir.path().to_str().unwrap())]);
        let downloads = dir.path().join("downloads");
        make(&downloads, &users).unwrap();
        assert!(fs::read_to_string(downloads.join("cargo/config.toml")).unwrap().contains("target-dir"));
        let env = environment(users, &downloads, Path::new("/p/tree"));
        assert_eq!(get(&env, "CARGO_TARGET_DIR"), ["/p/tree/target"]);
    }
}
