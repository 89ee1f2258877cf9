//! What a setup installed, told apart from what checks wrote beside it.
//!
//! A check runs the code of a commit, and so an agent's. A file that it writes into `node_modules` would be there in the next
//! proof, while a fresh clone has only what the setup installs. So names and time are noted when the setup is done, and before
//! caches are kept, whatever was added or changed since is removed. Nobody can set the time that is compared (`ctime`).

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::caches::{Cache, CacheKind};
use super::files;

/// The names in installed caches, and when they were noted.
#[derive(Debug)]
pub(super) struct Installed {
    names: HashSet<PathBuf>,
    noted_at: Changed,
}

/// When a file was last changed in any way: seconds and nanoseconds.
type Changed = (i64, i64);

/// The kernel stamps files with a clock that moves in steps of at most 10 ms.
const TICK: Duration = Duration::from_millis(1);

impl Installed {
    /// Notes what is in the installed caches of a checkout; `marker` is a file beside it. Returns None where it has none.
    pub(super) fn note(tree: &Path, caches: &[Cache], marker: &Path) -> io::Result<Option<Self>> {
        let dirs: Vec<PathBuf> = installed(tree, caches).collect();
        if dirs.is_empty() {
            return Ok(None);
        }
        let mut names = HashSet::new();
        for dir in dirs {
            walk(&dir, &mut |path, _| {
                names.insert(path.to_owned());
                Ok(Next::Enter)
            })?;
        }
        let noted_at = stamp(marker)?;
        // What is changed after this must bear a later time. Nothing can wake us when the clock of files has moved.
        while stamp(marker)? == noted_at {
            std::thread::sleep(TICK);
        }
        Ok(Some(Self { names, noted_at }))
    }

    /// Removes what was added or changed since. What is missing then is installed again by the first proof that needs it: one
    /// that is red from a copy is made from nothing.
    pub(super) fn restore(&self, tree: &Path, caches: &[Cache]) -> io::Result<()> {
        for dir in installed(tree, caches) {
            walk(&dir, &mut |path, found| {
                let is_changed = !found.is_dir() && changed(found) > self.noted_at;
                if is_changed || !self.names.contains(path) {
                    files::remove(path)?;
                    return Ok(Next::Skip);
                }
                Ok(Next::Enter)
            })?;
        }
        Ok(())
    }
}

fn installed<'a>(tree: &'a Path, caches: &'a [Cache]) -> impl Iterator<Item = PathBuf> + 'a {
    let installed = caches.iter().filter(|cache| cache.kind == CacheKind::Installed);
    let dirs = installed.map(|cache| tree.join(&cache.path));
    dirs.filter(|dir| fs::symlink_metadata(dir).is_ok_and(|found| found.is_dir()))
}

/// Whether the entries of a directory are visited as well.
enum Next {
    Enter,
    Skip,
}

/// Visits a directory and everything below it.
fn walk(top: &Path, visit: &mut dyn FnMut(&Path, &Metadata) -> io::Result<Next>) -> io::Result<()> {
    let mut open = vec![top.to_owned()];
    while let Some(path) = open.pop() {
        let found = fs::symlink_metadata(&path)?;
        if let Next::Enter = visit(&path, &found)?
            && found.is_dir()
        {
            files::open_up(&path, &found)?;
            for entry in fs::read_dir(&path)? {
                open.push(entry?.path());
            }
        }
    }
    Ok(())
}

fn stamp(marker: &Path) -> io::Result<Changed> {
    files::write(marker, b"")?;
    Ok(changed(&fs::symlink_metadata(marker)?))
}

fn changed(found: &Metadata) -> Changed {
    (found.ctime(), found.ctime_nsec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l4_of_node_modules_only_what_the_setup_installed_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let (tree, marker) = (dir.path().join("tree"), dir.path().join("marker"));
        let modules = tree.join("node_modules");
        fs::create_dir_all(modules.join("dep/lib")).unwrap();
        for name in ["dep/package.json", "dep/lib/index.js", "moved", "changed", "back-dated"] {
            fs::write(modules.join(name), "installed").unwrap();
        }
        let caches = [Cache { path: "node_modules".into(), kind: CacheKind::Installed }];
        let installed = Installed::note(&tree, &caches, &marker).unwrap().unwrap();

        fs::create_dir_all(modules.join("planted/deep")).unwrap();
        fs::write(modules.join("dep/lib/planted.js"), "x").unwrap();
        fs::write(modules.join("changed"), "x").unwrap();
        let old = fs::metadata(modules.join("dep/package.json")).unwrap().modified().unwrap();
        fs::write(modules.join("back-dated"), "installeD").unwrap();
        let file = fs::File::options().write(true).open(modules.join("back-dated")).unwrap();
        file.set_modified(old).unwrap();
        fs::rename(modules.join("moved"), modules.join("moved-away")).unwrap();
        fs::create_dir(modules.join("closed")).unwrap();
        fs::set_permissions(modules.join("closed"), std::os::unix::fs::PermissionsExt::from_mode(0o0))
            .unwrap();

        installed.restore(&tree, &caches).unwrap();
        let mut left = Vec::new();
        walk(&modules, &mut |path, found| {
            if !found.is_dir() {
                left.push(path.strip_prefix(&modules).unwrap().display().to_string());
            }
            Ok(Next::Enter)
        })
        .unwrap();
        left.sort();
        assert_eq!(left, ["dep/lib/index.js", "dep/package.json"]);
        assert!(!modules.join("planted").exists() && !modules.join("closed").exists());
    }

    #[test]
    fn a_checkout_without_installed_caches_notes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let caches = [
            Cache { path: "node_modules".into(), kind: CacheKind::Installed },
            Cache { path: "target".into(), kind: CacheKind::Cargo },
        ];
        fs::create_dir(dir.path().join("target")).unwrap();
        assert!(Installed::note(dir.path(), &caches, &dir.path().join("marker")).unwrap().is_none());
    }
}
