//! Which directories of a checkout are caches that a later proof may start from, and the files they depend on (L4).
//!
//! A cache counts only where a tool that is known to notice deleted inputs wrote it (cargo), or where what it was installed
//! from has not changed (`node_modules`, `.venv`). Everything else that git ignores starts empty.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::files;
use super::snapshot::hex;
use super::tracked::Tracked;

/// Files that say which packages a project needs. Where one of them changes, the setup runs again.
const MANIFESTS: [&str; 42] = [
    ".npmrc",
    ".nvmrc",
    ".python-version",
    ".tool-versions",
    ".yarnrc.yml",
    "Cargo.lock",
    "Cargo.toml",
    "Gemfile",
    "Gemfile.lock",
    "Package.resolved",
    "Pipfile",
    "Pipfile.lock",
    "build.gradle",
    "build.gradle.kts",
    "bun.lock",
    "bun.lockb",
    "composer.json",
    "composer.lock",
    "deno.json",
    "deno.lock",
    "environment.yml",
    "flake.lock",
    "flake.nix",
    "go.mod",
    "go.sum",
    "gradle.lockfile",
    "mix.exs",
    "mix.lock",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "package.json",
    "pdm.lock",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    "poetry.lock",
    "pom.xml",
    "pubspec.lock",
    "pubspec.yaml",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "uv.lock",
];

/// The manifest that stands beside a cache, and the cache.
const CACHES: [(&str, &str, CacheKind); 8] = [
    ("Cargo.toml", "target", CacheKind::Cargo),
    ("package.json", "node_modules", CacheKind::Installed),
    ("pyproject.toml", ".venv", CacheKind::Installed),
    ("setup.py", ".venv", CacheKind::Installed),
    ("setup.cfg", ".venv", CacheKind::Installed),
    ("Pipfile", ".venv", CacheKind::Installed),
    ("requirements.txt", ".venv", CacheKind::Installed),
    ("uv.lock", ".venv", CacheKind::Installed),
];

/// What cargo keeps of a build in the directory of a profile, and needs to go on from. What it links there for people
/// (`target/debug/program`) is made again, and nothing else in `target` is cargo's. See [`retain_units`].
const CARGO_PROFILE: [&str; 3] = [".fingerprint", "build", "deps"];

/// Files at the top of cargo's `target`.
const CARGO_FILES: [&str; 2] = ["CACHEDIR.TAG", ".rustc_info.json"];

/// Who wrote a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CacheKind {
    /// Cargo's `target`: cargo rebuilds what depends on a file that changed or is gone.
    Cargo,
    /// What a setup installed from a manifest and a lock file.
    Installed,
}

/// A cache in a checkout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cache {
    /// Below the top of the checkout.
    pub(super) path: PathBuf,
    pub(super) kind: CacheKind,
}

/// The caches that a checkout of these files may have.
pub(super) fn of(tracked: &Tracked) -> Vec<Cache> {
    let mut found: Vec<Cache> = Vec::new();
    for entry in tracked.iter() {
        let path = Path::new(OsStr::from_bytes(&entry.path));
        for (manifest, name, kind) in CACHES {
            if path.file_name() != Some(OsStr::new(manifest)) {
                continue;
            }
            let cache = Cache { path: path.with_file_name(name), kind };
            let bytes = cache.path.as_os_str().as_bytes();
            // One that the commit itself has files in is no cache. Names that are not text are not worth the trouble.
            let is_tracked = tracked.get(bytes).is_some() || tracked.has_below(bytes);
            if !is_tracked && cache.path.to_str().is_some() && !found.contains(&cache) {
                found.push(cache);
            }
        }
    }
    found
}

/// Names the setup commands and all that they install from.
pub(super) fn fingerprint(setup: &[String], tracked: &Tracked) -> String {
    let mut hash = hmac_sha256::Hash::new();
    for command in setup {
        hash.update(command.as_bytes());
        hash.update([0]);
    }
    for entry in tracked.iter() {
        let name = entry.path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let is_requirements = name.starts_with(b"requirements") && name.ends_with(b".txt");
        if is_requirements || MANIFESTS.binary_search_by(|known| known.as_bytes().cmp(name)).is_ok() {
            hash.update(&entry.path);
            hash.update([0]);
            hash.update(entry.oid.as_bytes());
            hash.update([0]);
        }
    }
    hex(&hash.finalize())
}

/// How a cache gets from one place to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transfer {
    /// On the same file system; the original is gone.
    Move,
    Copy,
}

impl Cache {
    /// Transfers what counts of this cache from one checkout to another. Returns false if it is not there.
    pub(super) fn transfer(&self, from: &Path, to: &Path, how: Transfer) -> io::Result<bool> {
        let (from, to) = (from.join(&self.path), to.join(&self.path));
        if !is_dir(&from) || fs::symlink_metadata(&to).is_ok() {
            return Ok(false);
        }
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)?;
        }
        match self.kind {
            CacheKind::Installed => directory(&from, &to, how)?,
            CacheKind::Cargo => cargo(&from, &to, how)?,
        }
        Ok(true)
    }
}

/// Transfers a directory.
pub(super) fn directory(from: &Path, to: &Path, how: Transfer) -> io::Result<()> {
    match how {
        Transfer::Move => fs::rename(from, to),
        Transfer::Copy => files::copy_dir(from, to),
    }
}

fn cargo(from: &Path, to: &Path, how: Transfer) -> io::Result<()> {
    fs::create_dir(to)?;
    for name in CARGO_FILES {
        let source = from.join(name);
        if fs::symlink_metadata(&source).is_ok_and(|found| found.is_file()) {
            files::copy_file(&source, &to.join(name))?;
        }
    }
    // `target/debug`, and `target/TRIPLE/debug` where it was built for another machine.
    for dir in directories_in(from)? {
        let mut profiles = vec![dir.clone()];
        profiles.extend(directories_in(&from.join(&dir))?.into_iter().map(|name| dir.join(name)));
        for profile in profiles.iter().filter(|profile| is_dir(&from.join(profile).join(CARGO_PROFILE[0]))) {
            fs::create_dir_all(to.join(profile))?;
            for part in
                CARGO_PROFILE.map(|name| profile.join(name)).iter().filter(|part| is_dir(&from.join(part)))
            {
                directory(&from.join(part), &to.join(part), how)?;
            }
            retain_units(&to.join(profile))?;
        }
    }
    Ok(())
}

/// Removes what is not named after a unit of cargo's: a check could have written it, and then a fresh clone would not have
/// it. Outputs without a hash (of a `dylib`) go as well; cargo makes them again.
fn retain_units(profile: &Path) -> io::Result<()> {
    let [fingerprints, build, deps] = CARGO_PROFILE.map(|name| profile.join(name));
    let mut units = HashSet::new();
    for name in names_in(&fingerprints)? {
        match unit_hash(&name) {
            Some((hash, "")) => drop(units.insert(hash.to_owned())),
            Some(_) | None => files::remove(&fingerprints.join(name))?,
        }
    }
    for dir in [build, deps] {
        for name in names_in(&dir)? {
            if unit_hash(&name).is_none_or(|(hash, _)| !units.contains(hash)) {
                files::remove(&dir.join(name))?;
            }
        }
    }
    Ok(())
}

/// The hash in the name of something that cargo wrote (`libserde-0123456789abcdef.rlib`), and what follows it.
fn unit_hash(name: &OsStr) -> Option<(&str, &str)> {
    const LENGTH: usize = 16;
    let name = name.to_str()?;
    let is_hash = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    name.match_indices('-').find_map(|(at, _)| {
        let (hash, rest) = name[at + 1..].split_at_checked(LENGTH)?;
        (is_hash(hash) && (rest.is_empty() || rest.starts_with('.'))).then_some((hash, rest))
    })
}

fn names_in(dir: &Path) -> io::Result<Vec<OsString>> {
    match fs::read_dir(dir) {
        Ok(entries) => entries.map(|entry| Ok(entry?.file_name())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn directories_in(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.push(entry.file_name().into());
        }
    }
    Ok(found)
}

fn is_dir(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::Entry;

    fn tracked(paths: &[(&str, &str)]) -> Tracked {
        let entry = |(path, oid): &(&str, &str)| Entry {
            path: path.as_bytes().to_vec(),
            mode: 0o100_644,
            oid: (*oid).to_owned(),
        };
        Tracked::new(paths.iter().map(entry).collect())
    }

    #[test]
    fn l4_a_cache_is_one_only_beside_its_manifest() {
        let files = tracked(&[
            ("Cargo.toml", "1"),
            ("Makefile", "1"),
            ("py/pyproject.toml", "1"),
            ("py/setup.py", "1"),
            ("vendored/node_modules/x", "1"),
            ("vendored/package.json", "1"),
            ("web/package.json", "1"),
        ]);
        let found: Vec<String> = of(&files).iter().map(|cache| cache.path.display().to_string()).collect();
        assert_eq!(found, ["target", "py/.venv", "web/node_modules"]);
    }

    #[test]
    fn l4_a_changed_manifest_is_another_fingerprint() {
        assert!(MANIFESTS.is_sorted());
        let setup = ["npm install".to_owned()];
        let before = fingerprint(&setup, &tracked(&[("package.json", "1"), ("src/a.js", "1")]));
        assert_eq!(before, fingerprint(&setup, &tracked(&[("package.json", "1"), ("src/a.js", "2")])));
        for other in [&[("package.json", "2")][..], &[("web/package.json", "1")], &[]] {
            assert_ne!(before, fingerprint(&setup, &tracked(other)));
        }
        assert_ne!(before, fingerprint(&[], &tracked(&[("package.json", "1")])));
        let pinned = |oid| fingerprint(&setup, &tracked(&[("requirements-dev.txt", oid)]));
        assert_ne!(pinned("1"), pinned("2"));
    }

    #[test]
    fn l4_of_target_only_what_cargo_goes_on_from_is_transferred() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        fs::create_dir(&to).unwrap();
        for name in [
            "CACHEDIR.TAG",
            "ok",
            "planted/ok",
            "debug/ok",
            "debug/program",
            "debug/incremental/x",
            "debug/deps/libone-0123456789abcdef.rlib",
            "debug/deps/one-0123456789abcdef",
            "debug/deps/ok",
            "debug/deps/planted-0123456789abcdee",
            "debug/deps/planted/ok",
            "debug/.fingerprint/ok",
            "debug/.fingerprint/one-0123456789abcdef/dep",
            "debug/build/ok",
            "debug/build/one-0123456789abcdef/out/x",
            "x86_64-unknown-linux-musl/release/.fingerprint/y-ffffffffffffffff/dep",
            "x86_64-unknown-linux-musl/release/deps/y-ffffffffffffffff.y.0123-cgu.0.rcgu.o",
        ] {
            let path = from.join("target").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let cache = Cache { path: "target".into(), kind: CacheKind::Cargo };
        assert!(cache.transfer(&from, &to, Transfer::Copy).unwrap());
        let mut found = Vec::new();
        let mut open = vec![to.clone()];
        while let Some(next) = open.pop() {
            for path in fs::read_dir(next).unwrap().map(|entry| entry.unwrap().path()) {
                if path.is_dir() {
                    open.push(path);
                } else {
                    found.push(path.strip_prefix(&to).unwrap().display().to_string());
                }
            }
        }
        found.sort();
        let expected = [
            "target/CACHEDIR.TAG",
            "target/debug/.fingerprint/one-0123456789abcdef/dep",
            "target/debug/build/one-0123456789abcdef/out/x",
            "target/debug/deps/libone-0123456789abcdef.rlib",
            "target/debug/deps/one-0123456789abcdef",
            "target/x86_64-unknown-linux-musl/release/.fingerprint/y-ffffffffffffffff/dep",
            "target/x86_64-unknown-linux-musl/release/deps/y-ffffffffffffffff.y.0123-cgu.0.rcgu.o",
        ];
        assert_eq!(found, expected);
        let gone = Cache { path: "web/node_modules".into(), kind: CacheKind::Installed };
        assert!(!gone.transfer(&from, &to, Transfer::Copy).unwrap());
    }
}
