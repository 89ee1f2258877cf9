//! Evidence and roles, table by table.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::*;

/// Name and text of files, or command and evidence of checks.
type Pairs<'a> = &'a [(&'a str, &'a str)];

fn found(files: Pairs<'_>) -> Vec<(String, String)> {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    find(dir.path()).into_iter().map(|found| (found.command, found.evidence)).collect()
}

const SCRIPT: (&str, &str) = ("package.json", r#"{"scripts": {"test": "vitest"}}"#);
const PLACEHOLDER: (&str, &str) =
    ("package.json", r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#);
const CARGO: (&str, &str) = ("Cargo.toml", "[package]\nname = 'x'\n");
const PYTEST: (&str, &str) = ("pytest.ini", "[pytest]\n");

#[test]
fn commands_come_from_evidence() {
    let table: Vec<(Pairs<'_>, Pairs<'_>)> = vec![
        (&[], &[]),
        (&[CARGO], &[("cargo test", "Cargo.toml")]),
        (&[("Cargo.toml", "[workspace]\n")], &[("cargo test --workspace", "Cargo.toml [workspace]")]),
        (&[("Cargo.toml", "not toml [")], &[]),
        (&[("Cargo.toml", "")], &[]),
        (&[SCRIPT], &[("npm test", "package.json scripts.test")]),
        (&[SCRIPT, ("pnpm-lock.yaml", "")], &[("pnpm test", "package.json scripts.test, pnpm-lock.yaml")]),
        (&[SCRIPT, ("yarn.lock", "")], &[("yarn test", "package.json scripts.test, yarn.lock")]),
        (&[SCRIPT, ("bun.lock", "")], &[("bun run test", "package.json scripts.test, bun.lock")]),
        (
            &[("package.json", r#"{"packageManager": "pnpm@9.1.0", "scripts": {"test": "x"}}"#)],
            &[("pnpm test", "package.json scripts.test, packageManager")],
        ),
        (&[PLACEHOLDER], &[]),
        (&[("package.json", r#"{"scripts": {"test": ["x"]}}"#)], &[]),
        (&[("package.json", "[]")], &[]),
        (&[PYTEST], &[("python -m pytest -q", "pytest.ini")]),
        (&[PYTEST, ("uv.lock", "")], &[("uv run pytest -q", "pytest.ini, uv.lock")]),
        (&[PYTEST, ("poetry.lock", "")], &[("poetry run pytest -q", "pytest.ini, poetry.lock")]),
        (
            &[("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '-q'\n")],
            &[("python -m pytest -q", "pyproject.toml [tool.pytest]")],
        ),
        (&[("pyproject.toml", "[tool.ruff]\n")], &[]),
        (&[("setup.cfg", "[tool:pytest]\n")], &[("python -m pytest -q", "setup.cfg [tool:pytest]")]),
        (&[("tox.ini", "[pytest]\n")], &[("python -m pytest -q", "tox.ini [pytest]")]),
        (&[("tox.ini", "[tox]\n")], &[]),
        (&[("tests/conftest.py", "")], &[("python -m pytest -q", "tests/conftest.py")]),
        (&[("go.mod", "module x\n")], &[("go test ./...", "go.mod")]),
        (&[("mix.exs", "")], &[("mix test", "mix.exs")]),
        (
            &[("deno.json", r#"{"tasks": {"test": "deno test"}}"#)],
            &[("deno task test", "deno.json tasks.test")],
        ),
        (&[("gradlew", ""), ("build.gradle.kts", "")], &[("./gradlew test", "gradlew")]),
        (&[("gradlew", "")], &[]),
        (&[("mvnw", ""), ("pom.xml", "")], &[("./mvnw -q test", "mvnw")]),
        (&[("Makefile", "all:\n\techo\ntest: all\n\techo\n")], &[("make test", "Makefile test:")]),
        (&[("Makefile", "test := x\n.PHONY: test\nlatest:\n\ttest: x\n")], &[]),
        (&[("justfile", "set x\n@test *args: build\n  echo\n")], &[("just test", "justfile test")]),
        (&[("justfile", "test := 'x'\n  test: no\n")], &[]),
        (&[("Makefile", "test:\n"), CARGO], &[("cargo test", "Cargo.toml")]),
        (&[CARGO, SCRIPT], &[("cargo test", "Cargo.toml"), ("npm test", "package.json scripts.test")]),
    ];
    for (files, expected) in table {
        let expected: Vec<_> = expected.iter().map(|(c, e)| ((*c).to_owned(), (*e).to_owned())).collect();
        assert_eq!(found(files), expected, "{files:?}");
    }
}

#[test]
fn hostile_files_are_no_evidence() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["Cargo.toml", "go.mod", "Makefile"] {
        fs::create_dir(dir.path().join(name)).unwrap();
    }
    fs::write(dir.path().join("package.json"), b"\xff\xfe{").unwrap();
    fs::write(dir.path().join("pyproject.toml"), vec![b'['; 2 << 20]).unwrap();
    fs::write(dir.path().join("justfile"), b"\xfftest:\n:test\n").unwrap();
    assert_eq!(find(dir.path()), []);
    assert_eq!(find(Path::new("/nonexistent")), []);
}

#[test]
fn roles_by_path() {
    let table = [
        (Role::Test, "tests/parse.rs"),
        (Role::Test, "crates/a/tests/x/y.bin"),
        (Role::Test, "pkg/a_test.go"),
        (Role::Test, "test_a.py"),
        (Role::Test, "src/a.test.ts"),
        (Role::Test, "src/a.spec.tsx"),
        (Role::Test, "src/__tests__/a.js"),
        (Role::Test, "spec/models/user_spec.rb"),
        (Role::Test, "src/tests.rs"),
        (Role::Test, "src/LoginTest.java"),
        (Role::Test, "src/snapshots/a.txt"),
        (Role::Test, "src/a.snap"),
        (Role::Ci, ".github/workflows/ci.yml"),
        (Role::Ci, ".gitlab-ci.yml"),
        (Role::Ci, ".ci/run.sh"),
        (Role::Ci, "Jenkinsfile"),
        (Role::Ci, ".circleci/config.yml"),
        (Role::Ci, "azure-pipelines.yml"),
        (Role::Check, "conftest.py"),
        (Role::Check, "tests/conftest.py"),
        (Role::Check, "web/jest.config.ts"),
        (Role::Check, "vitest.config.mts"),
        (Role::Check, "vitest.workspace.ts"),
        (Role::Check, "pytest.ini"),
        (Role::Check, "tox.ini"),
        (Role::Check, ".cargo/config.toml"),
        (Role::Check, "rust-toolchain"),
        (Role::Check, "./rust-toolchain.toml"),
        (Role::Dacapo, ".dacapo/config.toml"),
        (Role::Dacapo, ".dacapo/prompts/developer.md"),
    ];
    for (role, path) in table {
        assert_eq!(is_sensitive_to_trust(path), Some(role), "{path}");
    }
    for path in [
        "",
        "/",
        "src/main.rs",
        "src/latest.java",
        "contest.py",
        "src/attest.rs",
        "docs/testimony.md",
        "Makefile",
    ] {
        assert_eq!(is_sensitive_to_trust(path), None, "{path}");
    }
}

#[test]
fn roles_by_the_checks_of_the_run() {
    let found =
        [FoundCheck { command: "cargo test".to_owned(), evidence: "Cargo.toml [workspace]".to_owned() }];
    let files = TrustedFiles::new(
        ["./scripts/check.sh --all", "cd web && npm test", "make -C x lint"],
        found.iter().map(|found| found.evidence.as_str()),
    );
    let table = [
        ("scripts/check.sh", Some(Role::Check)),
        ("Cargo.toml", Some(Role::Check)),
        ("web/package.json", Some(Role::Check)),
        ("x/Makefile", Some(Role::Check)),
        ("check.sh", None),
        ("ripts/check.sh", None),
        ("scripts/check", None),
        ("justfile", None),
        ("crates/a/Cargo.toml", None),
        ("src/web.rs", None),
    ];
    for (path, expected) in table {
        assert_eq!(files.role(path), expected, "{path}");
    }
    let cargo = TrustedFiles::new(["cargo test"], []);
    assert_eq!(cargo.role("crates/a/Cargo.toml"), Some(Role::Check));
}

proptest! {
    #[test]
    fn no_path_or_command_panics(path in "\\PC{0,30}", command in "\\PC{0,30}") {
        let _ = TrustedFiles::new([command.as_str(), path.as_str()], []).role(&path);
    }

    #[test]
    fn no_file_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), which in 0_usize..7) {
        let names = ["Cargo.toml", "package.json", "pyproject.toml", "deno.json", "Makefile", "justfile", "tox.ini"];
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(names[which]), bytes).unwrap();
        let _ = find(dir.path());
    }
}
