//! Agents that npm installs as a small script and, beside it, a package with the program for this machine. The script
//! merely starts the program; stopped, it may leave it behind.

use std::path::{Path, PathBuf};

/// The script's package, where `script` (links resolved) lies in `…/SCOPE/NAME/…`.
pub(super) fn root<'a>(script: &'a Path, scope: &str, name: &str) -> Option<&'a Path> {
    let mut above = script.ancestors().skip(1);
    above.find(|path| path.file_name().is_some_and(|own| own == name) && above_is(path, scope))
}

fn above_is(path: &Path, name: &str) -> bool {
    path.parent().and_then(Path::file_name).is_some_and(|own| own == name)
}

/// Where a package that the script's one depends on may lie: beside it, or below it.
pub(super) fn dependency(root: &Path, scope: &str, name: &str) -> Vec<PathBuf> {
    let beside = root.parent().map(|scope| scope.join(name));
    let below = root.join("node_modules").join(scope).join(name);
    beside.into_iter().chain([below]).filter(|path| path.is_dir()).collect()
}

/// What Node calls this machine: `linux`, `x64`. None: no agent is built for it.
pub(super) fn machine() -> Option<(&'static str, &'static str)> {
    let system = match std::env::consts::OS {
        "linux" => "linux",
        "macos" => "darwin",
        _ => return None,
    };
    let processor = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        _ => return None,
    };
    Some((system, processor))
}

#[cfg(test)]
pub(super) mod testing {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    /// An empty program, and the directories above it.
    pub(in crate::agent) fn program(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_is_found_by_its_name_and_not_by_how_deep_it_lies() {
        let script = Path::new("/n/.pnpm/x/node_modules/@openai/codex/bin/codex.js");
        assert_eq!(
            root(script, "@openai", "codex"),
            Some(Path::new("/n/.pnpm/x/node_modules/@openai/codex"))
        );
        assert_eq!(root(Path::new("/usr/bin/codex"), "@openai", "codex"), None);
        assert_eq!(root(Path::new("/opt/codex/bin/codex"), "@openai", "codex"), None);
    }
}
