//! Which commands test this project, judged by its files alone. Nothing is run, and no file is believed blindly:
//! a repository may contain anything under any name.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Manifests are small; more than this is not read.
const MOST_BYTES: u64 = 1024 * 1024;

/// What npm writes into a new package.json: a script that only fails.
const NPM_PLACEHOLDER: &str = "no test specified";

/// A check and why it is believed to be one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundCheck {
    /// The command, for `sh -c` in the top folder.
    pub command: String,
    /// The file it was found in, and where in it: `Cargo.toml`, `package.json scripts.test`.
    pub evidence: String,
}

impl FoundCheck {
    pub(super) fn new(command: impl Into<String>, evidence: impl Into<String>) -> FoundCheck {
        FoundCheck { command: command.into(), evidence: evidence.into() }
    }
}

/// The checks of the project in `top`. Several where it is written in several languages; a `test` target of
/// make or just only where nothing says more, because it mostly calls the same commands again.
pub fn find(top: &Path) -> Vec<FoundCheck> {
    let specific = [cargo, javascript, deno, python, go, elixir, jvm];
    let found: Vec<FoundCheck> = specific.iter().filter_map(|finder| finder(&Top(top))).collect();
    if !found.is_empty() {
        return found;
    }
    [just, make].iter().find_map(|finder| finder(&Top(top))).into_iter().collect()
}

/// The top folder of a project.
pub(super) struct Top<'a>(pub(super) &'a Path);

impl Top<'_> {
    /// Whether there is a regular file of this name; a folder or a FIFO called `Cargo.toml` does not count.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.join(name).metadata().is_ok_and(|metadata| metadata.is_file())
    }

    /// The text of a file; `None` where there is none, or it is too large to be what its name says.
    fn text(&self, name: &str) -> Option<String> {
        let bytes = self.bytes(name)?;
        let small = bytes.len() as u64 <= MOST_BYTES;
        small.then(|| String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').to_owned())
    }

    /// How a file begins.
    pub(super) fn head(&self, name: &str) -> Option<String> {
        Some(String::from_utf8_lossy(&self.bytes(name)?).into_owned())
    }

    fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        if !self.has(name) {
            return None;
        }
        let mut bytes = Vec::new();
        File::open(self.0.join(name)).ok()?.take(MOST_BYTES + 1).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    fn toml(&self, name: &str) -> Option<toml::Table> {
        self.text(name)?.parse().ok()
    }

    /// The first of these names that is a file.
    fn first<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        names.iter().copied().find(|name| self.has(name))
    }
}

fn cargo(top: &Top<'_>) -> Option<FoundCheck> {
    let manifest = top.toml("Cargo.toml")?;
    if manifest.contains_key("workspace") {
        Some(FoundCheck::new("cargo test --workspace", "Cargo.toml [workspace]"))
    } else if manifest.contains_key("package") {
        Some(FoundCheck::new("cargo test", "Cargo.toml"))
    } else {
        None
    }
}

fn javascript(top: &Top<'_>) -> Option<FoundCheck> {
    let manifest: Json = serde_json::from_str(&top.text("package.json")?).ok()?;
    let script = manifest["scripts"]["test"].as_str()?;
    if script.trim().is_empty() || script.contains(NPM_PLACEHOLDER) {
        return None;
    }
    let evidence = |lock: &str| format!("package.json scripts.test, {lock}");
    let by_lock = [
        ("pnpm-lock.yaml", "pnpm test"),
        ("yarn.lock", "yarn test"),
        ("bun.lock", "bun run test"),
        ("bun.lockb", "bun run test"),
        ("package-lock.json", "npm test"),
        ("npm-shrinkwrap.json", "npm test"),
    ];
    if let Some((lock, command)) = by_lock.into_iter().find(|(lock, _)| top.has(lock)) {
        return Some(FoundCheck::new(command, evidence(lock)));
    }
    // Without a lock file, the field that corepack reads.
    let manager = manifest["packageManager"].as_str().and_then(|field| field.split('@').next());
    Some(match manager {
        Some("pnpm") => FoundCheck::new("pnpm test", evidence("packageManager")),
        Some("yarn") => FoundCheck::new("yarn test", evidence("packageManager")),
        Some("bun") => FoundCheck::new("bun run test", evidence("packageManager")),
        _ => FoundCheck::new("npm test", "package.json scripts.test"),
    })
}

fn deno(top: &Top<'_>) -> Option<FoundCheck> {
    let name = top.first(&["deno.json", "deno.jsonc"])?;
    // Comments are allowed in it, so it may not parse as JSON; then there is no evidence, and nothing is guessed.
    let manifest: Json = serde_json::from_str(&top.text(name)?).ok()?;
    let task = &manifest["tasks"]["test"];
    let named = task.is_string() || task["command"].is_string();
    named.then(|| FoundCheck::new("deno task test", format!("{name} tasks.test")))
}

fn python(top: &Top<'_>) -> Option<FoundCheck> {
    let evidence = pytest_settings(top)?;
    Some(if top.has("uv.lock") {
        FoundCheck::new("uv run pytest -q", format!("{evidence}, uv.lock"))
    } else if top.has("poetry.lock") {
        FoundCheck::new("poetry run pytest -q", format!("{evidence}, poetry.lock"))
    } else {
        FoundCheck::new("python -m pytest -q", evidence)
    })
}

fn pytest_settings(top: &Top<'_>) -> Option<&'static str> {
    let section = |file: &str, header: &str| {
        top.text(file).is_some_and(|text| text.lines().any(|line| line.trim() == header))
    };
    let in_pyproject = || {
        let project = top.toml("pyproject.toml")?;
        project.get("tool")?.as_table()?.keys().any(|key| key == "pytest").then_some(())
    };
    if let Some(file) = top.first(&["pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"]) {
        Some(file)
    } else if in_pyproject().is_some() {
        Some("pyproject.toml [tool.pytest]")
    } else if section("setup.cfg", "[tool:pytest]") {
        Some("setup.cfg [tool:pytest]")
    } else if section("tox.ini", "[pytest]") {
        Some("tox.ini [pytest]")
    } else if top.has("tests/conftest.py") {
        Some("tests/conftest.py")
    } else if top.has("conftest.py") {
        Some("conftest.py")
    } else {
        None
    }
}

fn go(top: &Top<'_>) -> Option<FoundCheck> {
    top.has("go.mod").then(|| FoundCheck::new("go test ./...", "go.mod"))
}

fn elixir(top: &Top<'_>) -> Option<FoundCheck> {
    top.has("mix.exs").then(|| FoundCheck::new("mix test", "mix.exs"))
}

/// Only with the wrapper: without it nobody can tell which version, or whether there is one.
fn jvm(top: &Top<'_>) -> Option<FoundCheck> {
    let gradle = ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"];
    if top.has("gradlew") && top.first(&gradle).is_some() {
        Some(FoundCheck::new("./gradlew test", "gradlew"))
    } else if top.has("mvnw") && top.has("pom.xml") {
        Some(FoundCheck::new("./mvnw -q test", "mvnw"))
    } else {
        None
    }
}

fn make(top: &Top<'_>) -> Option<FoundCheck> {
    let name = top.first(&["GNUmakefile", "makefile", "Makefile"])?;
    let has_target = top.text(name)?.lines().any(|line| {
        // `test: deps`, `lint test:`, `test::`; not `test := x`, which is a variable.
        let Some((targets, rest)) = line.split_once(':') else { return false };
        let rest = rest.trim_start_matches(':');
        !line.starts_with(['\t', '#'])
            && !rest.starts_with('=')
            && targets.split_whitespace().any(|t| t == "test")
    });
    has_target.then(|| FoundCheck::new("make test", format!("{name} test:")))
}

fn just(top: &Top<'_>) -> Option<FoundCheck> {
    let name = top.first(&["justfile", "Justfile", ".justfile"])?;
    let has_recipe = top.text(name)?.lines().any(|line| {
        // `test:`, `@test: build`, `test *args:`; not `test := "x"` (a variable), nor an indented line (a body).
        let Some((head, rest)) = line.split_once(':') else { return false };
        let starts_here = !head.starts_with([' ', '\t', '#']);
        let first = head.split_whitespace().next().map(|word| word.trim_start_matches('@'));
        starts_here && !rest.starts_with('=') && first == Some("test")
    });
    has_recipe.then(|| FoundCheck::new("just test", format!("{name} test")))
}
