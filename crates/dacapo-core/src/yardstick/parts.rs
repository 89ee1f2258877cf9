//! Files that do more than judge: which part of them does, and the file with that part as it was (L20).

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// A kind of such a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mixed {
    Cargo,
    Pyproject,
    Ini,
    /// `package.json`, `composer.json`.
    Package,
    /// Makefiles and justfiles.
    Rules,
    /// What judges in it cannot be told from the rest.
    Opaque,
}

/// What became of the part that judges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Same,
    /// It differs; this is the new file with the part as it was.
    Differs(String),
    /// It may differ, and cannot be told from the rest.
    NotSeparable,
}

impl Mixed {
    /// `is_used`: a check runs the program that reads it.
    pub(super) fn of(path: &str, is_used: bool) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        Some(match name.to_ascii_lowercase().as_str() {
            "cargo.toml" => Self::Cargo,
            "pyproject.toml" => Self::Pyproject,
            "setup.cfg" => Self::Ini,
            "package.json" | "composer.json" => Self::Package,
            "makefile" | "gnumakefile" | "justfile" | ".justfile" if is_used => Self::Rules,
            "deno.json" | "deno.jsonc" | "build.rs" | "mix.exs" | "build.gradle" | "build.gradle.kts"
            | "gradlew" | "pom.xml" | "mvnw" | "rakefile" | "gemfile"
                if is_used =>
            {
                Self::Opaque
            }
            _ => return None,
        })
    }

    /// Compares the part that judges. `used` are the names of scripts and targets that checks run. Of a file that was not
    /// there, nothing judged.
    pub(super) fn compare(self, was: Option<&str>, is: &str, used: &BTreeSet<String>) -> Part {
        match self {
            Self::Cargo => toml(was, is, cargo_merged),
            Self::Pyproject => toml(was, is, pyproject_merged),
            Self::Ini => ini(was.unwrap_or_default(), is),
            Self::Package => package(was, is, used),
            Self::Rules => super::makefile::rules(was.unwrap_or_default(), is, used),
            Self::Opaque if was.is_none() => Part::Same,
            Self::Opaque => Part::NotSeparable,
        }
    }
}

fn toml(was: Option<&str>, is: &str, merged: fn(&toml::Table, &toml::Table) -> toml::Table) -> Part {
    let (Ok(was), Ok(is)) = (was.unwrap_or_default().parse::<toml::Table>(), is.parse::<toml::Table>())
    else {
        return Part::NotSeparable;
    };
    let merged = merged(&was, &is);
    if merged == is {
        return Part::Same;
    }
    toml::to_string(&merged).map_or(Part::NotSeparable, Part::Differs)
}

/// `to` with what `from` has at this place, or without it.
fn put(to: &mut toml::Table, from: &toml::Table, path: &[&str]) {
    let [first, rest @ ..] = path else { return };
    if rest.is_empty() {
        match from.get(*first) {
            Some(value) => to.insert((*first).to_owned(), value.clone()),
            None => to.remove(*first),
        };
        return;
    }
    let empty = toml::Table::new();
    let below = from.get(*first).and_then(toml::Value::as_table).unwrap_or(&empty);
    let is_there = |table: &toml::Table| table.get(*first).is_some_and(toml::Value::is_table);
    if !is_there(to) {
        if below.is_empty() {
            return;
        }
        to.insert((*first).to_owned(), toml::Value::Table(toml::Table::new()));
    }
    if let Some(toml::Value::Table(table)) = to.get_mut(*first) {
        put(table, below, rest);
        // A table that holds nothing but this part came with it.
        if table.is_empty() && !is_there(from) {
            to.remove(*first);
        }
    }
}

fn cargo_merged(was: &toml::Table, is: &toml::Table) -> toml::Table {
    let mut merged = is.clone();
    let parts: [&[&str]; 11] = [
        &["lints"],
        &["workspace", "lints"],
        &["workspace", "exclude"],
        &["test"],
        &["profile", "test"],
        &["lib", "test"],
        &["lib", "doctest"],
        &["lib", "harness"],
        &["package", "autotests"],
        &["package", "metadata", "nextest"],
        &["workspace", "metadata", "nextest"],
    ];
    for part in parts {
        put(&mut merged, was, part);
    }
    for key in ["members", "default-members"] {
        keep_members(&mut merged, was, key);
    }
    for key in ["bin", "example"] {
        keep_harness(&mut merged, was, key);
    }
    merged
}

/// A member that is not one any more is not tested.
fn keep_members(merged: &mut toml::Table, was: &toml::Table, key: &str) {
    let list = |table: &toml::Table| {
        table
            .get("workspace")
            .and_then(|workspace| workspace.get(key))
            .and_then(toml::Value::as_array)
            .cloned()
    };
    let Some(was) = list(was) else {
        // All members are the default.
        if key == "default-members"
            && let Some(toml::Value::Table(workspace)) = merged.get_mut("workspace")
        {
            workspace.remove(key);
        }
        return;
    };
    let Some(toml::Value::Table(workspace)) = merged.get_mut("workspace") else { return };
    let is = workspace.entry(key).or_insert_with(|| toml::Value::Array(Vec::new()));
    if let Some(is) = is.as_array_mut() {
        let gone: Vec<toml::Value> = was.into_iter().filter(|member| !is.contains(member)).collect();
        is.extend(gone);
    }
}

/// `test = false` of a target.
fn keep_harness(merged: &mut toml::Table, was: &toml::Table, key: &str) {
    let named = |table: &toml::Table, name: &toml::Value| {
        let all = table.get(key).and_then(toml::Value::as_array);
        all.and_then(|all| all.iter().find(|one| one.get("name") == Some(name))).cloned()
    };
    let Some(toml::Value::Array(targets)) = merged.get_mut(key) else { return };
    for target in targets.iter_mut().filter_map(toml::Value::as_table_mut) {
        let before = target.get("name").and_then(|name| named(was, name));
        let before = before.and_then(|value| value.as_table().cloned());
        if let Some(before) = before {
            for part in ["test", "harness", "doctest"] {
                put(target, &before, &[part]);
            }
        }
    }
}

fn pyproject_merged(was: &toml::Table, is: &toml::Table) -> toml::Table {
    const TOOLS: [&str; 17] = [
        "pytest",
        "ruff",
        "coverage",
        "mypy",
        "pylint",
        "pyright",
        "basedpyright",
        "flake8",
        "tox",
        "nox",
        "ty",
        "bandit",
        "taskipy",
        "poe",
        "pydocstyle",
        "isort",
        "black",
    ];
    let mut merged = is.clone();
    for tool in TOOLS {
        put(&mut merged, was, &["tool", tool]);
    }
    put(&mut merged, was, &["tool", "pdm", "scripts"]);
    put(&mut merged, was, &["tool", "hatch", "envs"]);
    put(&mut merged, was, &["project", "entry-points", "pytest11"]);
    merged
}

/// Whether a section of `setup.cfg` judges.
fn is_judging_section(name: &str) -> bool {
    const NAMES: [&str; 11] = [
        "tool:pytest",
        "pytest",
        "flake8",
        "pycodestyle",
        "pydocstyle",
        "pylint",
        "isort",
        "aliases",
        "doctest",
        "pep8",
        "tox",
    ];
    NAMES.contains(&name)
        || ["mypy", "coverage:", "tox:", "testenv", "pylint", "flake8:", "doc8"]
            .iter()
            .any(|begin| name.starts_with(begin))
}

fn ini(was: &str, is: &str) -> Part {
    let judging = |text: &str| -> Vec<(String, String)> {
        let sections = sections(text).into_iter().filter(|(name, _)| is_judging_section(name));
        sections.map(|(name, text)| (name, text.trim().to_owned())).collect()
    };
    let before = judging(was);
    if before == judging(is) {
        return Part::Same;
    }
    let rest = sections(is).into_iter().filter(|(name, _)| !is_judging_section(name)).map(|(_, text)| text);
    let mut merged: String = rest.collect();
    for (_, text) in before {
        if !merged.is_empty() && !merged.ends_with('\n') {
            merged.push('\n');
        }
        merged.push_str(&text);
        merged.push('\n');
    }
    Part::Differs(merged)
}

/// Sections with their names and all their text; what is before the first one has no name.
fn sections(text: &str) -> Vec<(String, String)> {
    let mut all = vec![(String::new(), String::new())];
    for line in text.split_inclusive('\n') {
        if let Some(name) = line.trim_end().strip_prefix('[').and_then(|line| line.split(']').next()) {
            all.push((name.trim().to_owned(), String::new()));
        }
        if let Some((_, text)) = all.last_mut() {
            text.push_str(line);
        }
    }
    all
}

/// Settings of test runners and linters in `package.json`.
const PACKAGE_KEYS: [&str; 15] = [
    "jest",
    "mocha",
    "vitest",
    "ava",
    "tap",
    "nyc",
    "c8",
    "eslintConfig",
    "eslintIgnore",
    "stylelint",
    "prettier",
    "xo",
    "standard",
    "jasmine",
    "config",
];

fn package(was: Option<&str>, is: &str, used: &BTreeSet<String>) -> Part {
    let parsed = |text: &str| serde_json::from_str::<Map<String, Value>>(text.trim_start_matches('\u{feff}'));
    let (Ok(before), Ok(now)) = (was.map_or_else(|| Ok(Map::new()), parsed), parsed(is)) else {
        return Part::NotSeparable;
    };
    let mut merged = now.clone();
    for key in PACKAGE_KEYS {
        put_json(&mut merged, &before, key);
    }
    let scripts = |package: &Map<String, Value>| package.get("scripts").and_then(Value::as_object).cloned();
    let (old, new) = (scripts(&before).unwrap_or_default(), scripts(&now));
    let mut put_back = new.clone().unwrap_or_default();
    for name in used {
        put_json(&mut put_back, &old, name);
    }
    if new.is_some() || !put_back.is_empty() {
        merged.insert("scripts".to_owned(), Value::Object(put_back));
    }
    if merged == now {
        return Part::Same;
    }
    serde_json::to_string_pretty(&merged).map_or(Part::NotSeparable, Part::Differs)
}

fn put_json(to: &mut Map<String, Value>, from: &Map<String, Value>, key: &str) {
    match from.get(key) {
        Some(value) => {
            to.insert(key.to_owned(), value.clone());
        }
        None => {
            to.shift_remove(key);
        }
    }
}

/// The scripts of a `package.json`, by their names.
pub(super) fn scripts(text: &str) -> Vec<(String, String)> {
    let Ok(package) = serde_json::from_str::<Map<String, Value>>(text) else { return Vec::new() };
    let scripts = package.get("scripts").and_then(Value::as_object);
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    scripts.into_iter().flatten().map(|(name, value)| (name.clone(), text(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn compare(mixed: Mixed, was: &str, is: &str) -> Part {
        mixed.compare(Some(was), is, &used(&["test"]))
    }

    #[test]
    fn l20_dependencies_stay_and_what_judges_is_put_back() {
        let cargo = "[package]\nname = \"x\"\n\n[lints.rust]\nunsafe_code = \"deny\"\n";
        let more = format!("{cargo}\n[dependencies]\nlog = \"0.4\"\n");
        assert_eq!(compare(Mixed::Cargo, cargo, &more), Part::Same);
        let weaker = more.replace("deny", "allow") + "[lib]\ntest = false\n";
        let Part::Differs(merged) = compare(Mixed::Cargo, cargo, &weaker) else { panic!("it differs") };
        let merged: toml::Table = merged.parse().unwrap();
        assert_eq!(merged["lints"]["rust"]["unsafe_code"].as_str(), Some("deny"));
        assert_eq!(merged["dependencies"]["log"].as_str(), Some("0.4"));
        assert!(merged.get("lib").is_none_or(|lib| lib.get("test").is_none()), "{merged}");
        assert_eq!(compare(Mixed::Cargo, cargo, "no [toml"), Part::NotSeparable);
    }

    #[test]
    fn l20_a_member_of_a_workspace_may_come_and_not_go() {
        let base = "[workspace]\nmembers = [\"a\", \"b\"]\n";
        assert_eq!(compare(Mixed::Cargo, base, "[workspace]\nmembers = [\"a\", \"b\", \"c\"]\n"), Part::Same);
        let gone = compare(Mixed::Cargo, base, "[workspace]\nmembers = [\"a\"]\n");
        let Part::Differs(merged) = gone else { panic!("{gone:?}") };
        assert!(merged.contains("\"b\""), "{merged}");
        let fewer = compare(Mixed::Cargo, base, &format!("{base}default-members = [\"a\"]\n"));
        assert!(matches!(fewer, Part::Differs(_)), "{fewer:?}");
    }

    #[test]
    fn l20_tables_of_pytest_and_ruff_are_what_judges_in_pyproject() {
        let base = "[project]\nname = \"x\"\n[tool.ruff]\nline-length = 80\n";
        assert_eq!(compare(Mixed::Pyproject, base, &base.replace("\"x\"", "\"y\"")), Part::Same);
        let ignored = format!("{base}[tool.pytest.ini_options]\naddopts = \"-k nothing\"\n");
        let Part::Differs(merged) = compare(Mixed::Pyproject, base, &ignored) else { panic!("it differs") };
        assert_eq!(merged.parse::<toml::Table>().unwrap(), base.parse::<toml::Table>().unwrap());
    }

    #[test]
    fn l20_sections_of_setup_cfg_that_judge_are_put_back() {
        let base = "[metadata]\nname = x\n\n[tool:pytest]\ntestpaths = tests\n";
        assert_eq!(compare(Mixed::Ini, base, &base.replace("= x", "= y")), Part::Same);
        let Part::Differs(merged) =
            compare(Mixed::Ini, base, "[metadata]\nname = y\n[tool:pytest]\naddopts = -k a\n")
        else {
            panic!("it differs")
        };
        assert_eq!(merged, "[metadata]\nname = y\n[tool:pytest]\ntestpaths = tests\n");
    }

    #[test]
    fn l20_scripts_that_a_check_runs_are_what_judges_in_package_json() {
        let base = r#"{"name": "x", "scripts": {"test": "node --test", "build": "tsc"}}"#;
        let build = r#"{"name": "x", "scripts": {"test": "node --test", "build": "esbuild"}, "dependencies": {"a": "1"}}"#;
        assert_eq!(compare(Mixed::Package, base, build), Part::Same);
        let weaker = build
            .replace("node --test", "true")
            .replace("\"name\"", "\"jest\": {\"testMatch\": []}, \"name\"");
        let Part::Differs(merged) = compare(Mixed::Package, base, &weaker) else { panic!("it differs") };
        let merged: Value = serde_json::from_str(&merged).unwrap();
        let scripts = serde_json::json!({"test": "node --test", "build": "esbuild"});
        assert_eq!((&merged["scripts"], merged.get("jest")), (&scripts, None));
        assert_eq!(merged["dependencies"]["a"], "1");
        assert_eq!(Mixed::Package.compare(Some("{"), "{}", &used(&[])), Part::NotSeparable);
    }

    #[test]
    fn l20_targets_that_a_check_makes_are_what_judges_in_a_makefile() {
        let base =
            "FLAGS = -q\nall: build\n\nbuild:\n\tcc a.c\n\ntest: unit\n\t./t $(FLAGS)\n\nunit:\n\t./u\n";
        assert_eq!(compare(Mixed::Rules, base, &base.replace("cc a.c", "cc b.c")), Part::Same);
        for (from, to) in
            [("./u", "true"), ("./t $(FLAGS)", "true"), ("= -q", "= --none"), ("test: unit", "test:")]
        {
            let now = base.replace(from, to).replace("cc a.c", "cc b.c");
            let Part::Differs(merged) = compare(Mixed::Rules, base, &now) else { panic!("{from} differs") };
            for line in
                ["FLAGS = -q", "test: unit", "\t./t $(FLAGS)", "\t./u", "\tcc b.c", ".DEFAULT_GOAL := all"]
            {
                assert!(merged.contains(line), "{line} in {merged}");
            }
            assert!(!merged.contains("true") && !merged.contains("--none"), "{merged}");
        }
    }
}
