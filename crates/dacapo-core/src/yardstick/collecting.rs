//! New files that change which tests run, or what a linter says, of what was there before.

use std::collections::BTreeSet;

use crate::suspect_files::{Role, is_sensitive_to_trust};

/// What a file has a say in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Tests in these languages, by the endings of their files.
    Tests(&'static [&'static str]),
    /// All source files with these endings: a linter runs without settings, too.
    Sources(&'static [&'static str]),
    /// Settings of the same tool that were there: it does not run without any.
    Settings(&'static [&'static str]),
}

const PYTHON: &[&str] = &["py"];
const SCRIPT: &[&str] = &["js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "vue", "svelte"];
const RUST: &[&str] = &["rs"];

/// Returns true if something that was there is judged differently because of this new file.
pub(super) fn matters(path: &str, base: &BTreeSet<String>) -> bool {
    let Some(reach) = reach(path) else { return false };
    let ends = |path: &str, endings: &[&str]| {
        path.rsplit_once('.').is_some_and(|(_, ending)| endings.contains(&ending))
    };
    match reach {
        Reach::Tests(endings) => {
            base.iter().any(|path| ends(path, endings) && is_sensitive_to_trust(path) == Some(Role::Test))
        }
        Reach::Sources(endings) => base.iter().any(|path| ends(path, endings)),
        Reach::Settings(names) => {
            base.iter().any(|path| names.iter().any(|begin| file_name(path).starts_with(begin)))
        }
    }
}

/// Returns true if it has a say though no rule of names knows it.
pub(super) fn matters_by_name(path: &str) -> bool {
    reach(path).is_some()
}

fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

fn reach(path: &str) -> Option<Reach> {
    const ESLINT: &[&str] = &[".eslintrc", "eslint.config."];
    let name = file_name(path);
    let begins = |names: &[&str]| names.iter().any(|begin| name.starts_with(begin));
    // A module of the project's own that Python takes for the runner.
    let shadows = ["pytest", "_pytest", "unittest", "doctest", "nose"]
        .iter()
        .any(|module| path == format!("{module}.py") || path.starts_with(&format!("{module}/")));
    Some(match name {
        _ if shadows => Reach::Tests(PYTHON),
        "__init__.py" if is_sensitive_to_trust(path) == Some(Role::Test) => Reach::Tests(PYTHON),
        "conftest.py" | "pytest.ini" | ".pytest.ini" | "pytest.toml" | ".pytest.toml" | "tox.ini"
        | "noxfile.py" | "sitecustomize.py" | "usercustomize.py" => Reach::Tests(PYTHON),
        ".npmrc" | ".yarnrc.yml" => Reach::Tests(SCRIPT),
        "rust-toolchain" | "rust-toolchain.toml" | "clippy.toml" | ".clippy.toml" => Reach::Sources(RUST),
        "ruff.toml" | ".ruff.toml" | ".flake8" | "mypy.ini" | ".mypy.ini" | ".pylintrc" | "pylintrc"
        | "pyrightconfig.json" | ".coveragerc" => Reach::Sources(PYTHON),
        ".rubocop.yml" | ".rspec" => Reach::Sources(&["rb"]),
        "phpunit.xml" | "phpunit.xml.dist" | "phpcs.xml" | "phpstan.neon" => Reach::Sources(&["php"]),
        ".shellcheckrc" => Reach::Sources(&["sh", "bash"]),
        ".eslintignore" => Reach::Settings(ESLINT),
        _ if path.ends_with(".cargo/config.toml") || path.ends_with(".cargo/config") => Reach::Sources(RUST),
        _ if path.ends_with(".config/nextest.toml") => Reach::Sources(RUST),
        _ if begins(&[
            "jest.conf",
            "vitest.conf",
            "vitest.workspace",
            ".mocharc",
            "karma.conf",
            "playwright.conf",
        ]) || begins(&["cypress.conf", "ava.conf", "wdio.conf", "jasmine.json"]) =>
        {
            Reach::Tests(SCRIPT)
        }
        _ if begins(ESLINT) => Reach::Settings(ESLINT),
        _ if begins(&[".golangci."]) => Reach::Sources(&["go"]),
        _ if begins(&[".stylelintrc", "stylelint.config."]) => {
            Reach::Settings(&[".stylelintrc", "stylelint.config."])
        }
        _ => return None,
    })
}
