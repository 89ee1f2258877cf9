//! Which changed files a person must look at when a run claims success: whoever may edit the tests can make any
//! code pass them. Nothing is forbidden; the result names them (L16).

/// Why a changed file bears on the proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// It is a test, or data that tests compare with.
    Test,
    /// It decides what runs in continuous integration.
    Ci,
    /// It decides what a check does: the check's own script, or the settings of its runner.
    Check,
    /// It decides what Dacapo does here: its settings, prompts and milestones.
    Dacapo,
}

/// The role that a file has by its path alone (relative to the top, with `/`).
pub fn is_sensitive_to_trust(path: &str) -> Option<Role> {
    TrustedFiles::default().role(path)
}

/// Decides roles, knowing the checks of this run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedFiles {
    commands: Vec<String>,
    evidence: Vec<String>,
}

impl TrustedFiles {
    /// For a run with these check commands, some of which were found from the files that `evidence` names.
    pub fn new<'a>(
        commands: impl IntoIterator<Item = &'a str>,
        evidence: impl IntoIterator<Item = &'a str>,
    ) -> TrustedFiles {
        let evidence = evidence.into_iter().flat_map(|text| text.split([' ', ',']));
        TrustedFiles {
            commands: commands.into_iter().map(str::to_owned).collect(),
            evidence: evidence.filter(|word| !word.is_empty()).map(str::to_owned).collect(),
        }
    }

    /// The role of a changed file, by its path from the top.
    pub fn role(&self, path: &str) -> Option<Role> {
        let path = path.strip_prefix("./").unwrap_or(path);
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        if path.starts_with(".dacapo/") {
            return Some(Role::Dacapo);
        }
        if self.is_named(path) || self.decides_commands(path, name) {
            return Some(Role::Check);
        }
        by_ci(path, folders, name)
            .or_else(|| by_runner_settings(path, name))
            .or_else(|| by_test_name(folders, name))
    }

    /// `sh ./scripts/check.sh --all` names `scripts/check.sh`.
    fn is_named(&self, path: &str) -> bool {
        !path.is_empty() && self.commands.iter().any(|command| names(command, path))
    }

    /// `make test` does what the Makefile says, though it does not name it. Where no check uses it, a changed
    /// Makefile proves and disproves nothing.
    fn decides_commands(&self, path: &str, name: &str) -> bool {
        if self.evidence.iter().any(|evidence| evidence == path) {
            return true;
        }
        let programs: &[&str] = match name.to_ascii_lowercase().as_str() {
            "makefile" | "gnumakefile" => &["make", "gmake"],
            "justfile" | ".justfile" => &["just"],
            "package.json" => &["npm", "pnpm", "yarn", "bun", "npx"],
            "deno.json" | "deno.jsonc" => &["deno"],
            "cargo.toml" | "build.rs" => &["cargo"],
            "mix.exs" => &["mix"],
            "build.gradle" | "build.gradle.kts" | "gradlew" => &["gradle", "gradlew"],
            "pom.xml" | "mvnw" => &["mvn", "mvnw"],
            "noxfile.py" => &["nox"],
            _ => return false,
        };
        self.commands.iter().any(|command| words(command).any(|word| programs.contains(&base_name(word))))
    }
}

/// Whether a shell command contains this path as a whole, not as a part of a longer one.
fn names(command: &str, path: &str) -> bool {
    let belongs = |c: char| c.is_alphanumeric() || "/._-".contains(c);
    command.match_indices(path).any(|(start, found)| {
        let before = &command[..start];
        let before = before.strip_suffix("./").unwrap_or(before);
        !before.ends_with(belongs) && !command[start + found.len()..].starts_with(belongs)
    })
}

fn words(command: &str) -> impl Iterator<Item = &str> {
    command.split(|c: char| c.is_whitespace() || ";&|()'\"`".contains(c)).filter(|word| !word.is_empty())
}

fn base_name(word: &str) -> &str {
    word.rsplit_once('/').map_or(word, |(_, name)| name)
}

fn by_ci(path: &str, folders: &str, name: &str) -> Option<Role> {
    let folder =
        [".github/workflows/", ".github/actions/", ".circleci/", ".ci/", ".buildkite/", ".gitlab/ci/"];
    let file = ["azure-pipelines.yml", "azure-pipelines.yaml", "bitbucket-pipelines.yml", "appveyor.yml"];
    let file =
        file.contains(&name) || [".appveyor.yml", ".travis.yml", ".drone.yml", ".cirrus.yml"].contains(&name);
    let is_ci = folder.iter().any(|folder| path.starts_with(folder))
        || folders.starts_with(".azure-pipelines")
        || file
        || name == "Jenkinsfile"
        || name.starts_with("Jenkinsfile.")
        || name.ends_with(".gitlab-ci.yml")
        || name.ends_with(".gitlab-ci.yaml");
    is_ci.then_some(Role::Ci)
}

fn by_runner_settings(path: &str, name: &str) -> Option<Role> {
    const NAMES: [&str; 13] = [
        "conftest.py",
        "pytest.ini",
        ".pytest.ini",
        "pytest.toml",
        ".pytest.toml",
        "tox.ini",
        "setup.cfg",
        "noxfile.py",
        "rust-toolchain",
        "rust-toolchain.toml",
        ".coveragerc",
        "phpunit.xml",
        ".rspec",
    ];
    const RUNNERS: [&str; 8] =
        ["jest", "vitest", "playwright", "cypress", "karma", "ava", "wdio", "vitest.workspace"];
    let of_runner = RUNNERS.iter().any(|runner| {
        let rest = name.strip_prefix(runner);
        rest.is_some_and(|rest| rest.starts_with(".conf") || (runner.contains('.') && rest.starts_with('.')))
    });
    let mocha = name.starts_with(".mocharc");
    let cargo = [".cargo/config.toml", ".cargo/config", ".config/nextest.toml"]
        .iter()
        .any(|file| path == *file || path.strip_suffix(file).is_some_and(|before| before.ends_with('/')));
    (NAMES.contains(&name) || of_runner || mocha || cargo || lints(name)).then_some(Role::Check)
}

/// Settings of linters and type checkers.
fn lints(name: &str) -> bool {
    const NAMES: [&str; 21] = [
        "ruff.toml",
        ".ruff.toml",
        "clippy.toml",
        ".clippy.toml",
        "deny.toml",
        ".flake8",
        "mypy.ini",
        ".mypy.ini",
        ".pylintrc",
        "pylintrc",
        "pyrightconfig.json",
        "biome.json",
        "biome.jsonc",
        ".rubocop.yml",
        "phpstan.neon",
        "phpstan.neon.dist",
        "phpcs.xml",
        "detekt.yml",
        ".swiftlint.yml",
        ".shellcheckrc",
        ".pre-commit-config.yaml",
    ];
    const BEGINNINGS: [&str; 9] = [
        ".eslintrc",
        ".eslintignore",
        "eslint.config.",
        ".golangci.",
        ".stylelintrc",
        "stylelint.config.",
        ".nycrc",
        ".c8rc",
        ".yamllint",
    ];
    NAMES.contains(&name) || BEGINNINGS.iter().any(|begin| name.starts_with(begin))
}

fn by_test_name(folders: &str, name: &str) -> Option<Role> {
    const FOLDERS: [&str; 12] = [
        "test",
        "tests",
        "__tests__",
        "spec",
        "specs",
        "e2e",
        "testdata",
        "__snapshots__",
        "snapshots",
        "__mocks__",
        "fixtures",
        "golden",
    ];
    let lower = name.to_ascii_lowercase();
    let in_folder = folders.split('/').any(|folder| FOLDERS.contains(&folder.to_ascii_lowercase().as_str()));
    let stem = lower.rsplit_once('.').map_or(lower.as_str(), |(stem, _)| stem);
    let by_stem = stem.starts_with("test_")
        || ["_test", "_tests", ".test", ".spec", "_spec", ".e2e", ".cy"]
            .iter()
            .any(|end| stem.ends_with(end))
        || stem == "tests"
        || stem == "test";
    // `LoginTest.java`: the capital tells it from `latest.java`.
    let by_capital = ["Test", "Tests", "Spec", "IT"].iter().any(|end| {
        let stem = name.rsplit_once('.');
        stem.is_some_and(|(stem, ext)| {
            stem.ends_with(end)
                && ["java", "kt", "scala", "groovy", "cs", "swift", "php", "fs"].contains(&ext)
        })
    });
    let snapshot = lower.ends_with(".snap") || lower.ends_with(".snap.new");
    (in_folder || by_stem || by_capital || snapshot).then_some(Role::Test)
}
