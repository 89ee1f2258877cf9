//! What judges a commit, on small projects.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::event::InlineChange;

/// Files by their paths.
type Files<'a> = BTreeMap<&'a str, &'a str>;

fn judged(checks: &[&str], protect: &[&str], base: &[(&str, &str)], now: &[(&str, &str)]) -> Judgement {
    let (was, is): (Files<'_>, Files<'_>) = (base.iter().copied().collect(), now.iter().copied().collect());
    let all: BTreeSet<&str> = was.keys().chain(is.keys()).copied().collect();
    let changes: Vec<Change> = all
        .into_iter()
        .filter(|path| was.get(path) != is.get(path))
        .map(|path| Change {
            path: path.to_owned(),
            status: match (was.contains_key(path), is.contains_key(path)) {
                (true, true) => Status::Changed,
                (true, false) => Status::Deleted,
                (false, _) => Status::Added,
            },
        })
        .collect();
    let owned = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
    let (checks, protect) = (owned(checks), owned(protect));
    let paths: BTreeSet<String> = was.keys().map(|path| (*path).to_owned()).collect();
    let comparison = Comparison {
        base: &paths,
        changes: &changes,
        was: &|path| was.get(path).map(|text| (*text).to_owned()),
        is: &|path| is.get(path).map(|text| (*text).to_owned()),
    };
    judge(Judges { checks: &checks, protect: &protect }, &comparison)
}

/// The files that judge and changed, and whether the originals are asked.
fn changed(
    checks: &[&str],
    base: &[(&str, &str)],
    now: &[(&str, &str)],
) -> (Vec<(String, TestChange)>, bool) {
    let found = judged(checks, &[], base, now);
    (found.changed.into_iter().map(|file| (file.path, file.how)).collect(), found.affects_originals)
}

fn one(path: &str, how: TestChange) -> (Vec<(String, TestChange)>, bool) {
    (vec![(path.to_owned(), how)], true)
}

const NOTHING: (Vec<(String, TestChange)>, bool) = (Vec::new(), false);

#[test]
fn l20_tests_that_were_there_and_changed_ask_the_originals() {
    for path in [
        "tests/a.rs",
        "src/parser/tests.rs",
        "test_calc.py",
        "pkg/calc_test.go",
        "testdata/a.txt",
        "web/a.test.ts",
        "web/__snapshots__/a.snap",
        "src/test/java/ATest.java",
        "spec/a_spec.rb",
        "conftest.py",
        "pytest.ini",
        ".github/workflows/ci.yml",
        ".eslintrc.json",
        "ruff.toml",
        "jest.config.js",
        ".mocharc.yml",
        "clippy.toml",
    ] {
        let (base, now) = ([(path, "a"), ("x", "")], [(path, "b"), ("x", "")]);
        assert_eq!(changed(&["make"], &base, &now), one(path, TestChange::Changed), "{path}");
        assert_eq!(changed(&["make"], &base, &now[1..]), one(path, TestChange::Deleted), "{path}");
    }
}

#[test]
fn l20_what_does_not_judge_asks_nobody() {
    for path in
        ["src/lib.py", "README.md", "docs/a.md", "package-lock.json", "Cargo.lock", ".dacapo/config.toml"]
    {
        assert_eq!(changed(&["pytest"], &[(path, "a")], &[(path, "b")]), NOTHING, "{path}");
    }
}

#[test]
fn l20_new_tests_are_welcome() {
    let base = [("test_a.py", "")];
    let now = [("test_a.py", ""), ("test_b.py", "x"), ("tests/data.json", "")];
    let (files, asks) = changed(&["pytest"], &base, &now);
    assert_eq!((files.len(), asks), (2, false));
}

#[test]
fn l20_a_new_file_that_changes_what_is_collected_asks_the_originals() {
    let base = [("test_a.py", ""), ("a.py", "")];
    for path in ["conftest.py", "sub/pytest.ini", "tox.ini", "ruff.toml", "pytest.py", "unittest/__init__.py"]
    {
        let now = [base[0], base[1], (path, "x")];
        assert_eq!(changed(&["pytest"], &base, &now), one(path, TestChange::Added), "{path}");
    }
    let now = [base[0], base[1], ("jest.config.js", "x"), (".eslintrc.json", "x")];
    assert!(!changed(&["pytest"], &base, &now).1, "there is no test or setting of that kind before");
}

#[test]
fn l20_a_new_stack_brings_its_own_settings() {
    let base = [("README.md", ""), ("lib/tool.rb", "")];
    let now = [
        base[0],
        base[1],
        ("web/package.json", r#"{"scripts": {"test": "jest"}, "jest": {}}"#),
        ("web/jest.config.js", ""),
        ("web/a.test.js", ""),
        ("py/pyproject.toml", "[tool.pytest]\na = 1\n"),
        ("py/conftest.py", ""),
        ("py/test_a.py", ""),
        (".github/workflows/web.yml", ""),
    ];
    assert!(!changed(&["npm test"], &base, &now).1);
}

#[test]
fn l20_scripts_that_a_check_runs_judge() {
    let base = [
        ("check.sh", "sh ci/more.sh; sh app.sh\n"),
        ("app.sh", ""),
        ("ci/more.sh", "node tools/verify.js"),
        ("tools/verify.js", ""),
        ("app.py", ""),
        ("run.sh", ""),
    ];
    let with = |path: &str| {
        let now: Vec<(&str, &str)> =
            base.iter().map(|(name, text)| (*name, if *name == path { "true" } else { *text })).collect();
        changed(&["sh -e ./check.sh && python app.py"], &base, &now)
    };
    for path in ["check.sh", "ci/more.sh", "tools/verify.js"] {
        assert_eq!(with(path), one(path, TestChange::Changed), "{path}");
    }
    for path in ["app.py", "app.sh", "run.sh"] {
        assert_eq!(with(path), NOTHING, "{path} is what is being worked on");
    }
}

#[test]
fn l20_what_a_check_looks_at_does_not_judge() {
    let base = [("answer.txt", "1"), ("done", ""), ("app.sh", "")];
    for check in [
        "test -f done",
        "grep -q 42 answer.txt",
        "cmp answer.txt done",
        "[ \"$(cat answer.txt)\" = 42 ]",
        "sh app.sh | grep -q 42",
        "test \"$(sh app.sh)\" = 42",
        "test `sh app.sh` = 42",
        "sh app.sh > out && cmp out answer.txt",
    ] {
        let now = [("answer.txt", "42"), ("done", "x"), ("app.sh", "echo 42")];
        assert_eq!(changed(&[check], &base, &now), NOTHING, "{check}");
    }
    let now = [base[0], base[1], ("app.sh", "true")];
    for check in ["sh app.sh", "sh app.sh || exit 1", "sh app.sh && test -f done", "cd . && sh app.sh 2>&1"] {
        assert_eq!(changed(&[check], &base, &now), one("app.sh", TestChange::Changed), "{check}");
    }
}

#[test]
fn l20_a_script_of_npm_leads_to_its_file() {
    let base = [
        ("package.json", r#"{"scripts": {"test": "npm run unit", "unit": "sh ci/unit.sh"}}"#),
        ("ci/unit.sh", "a"),
    ];
    let script = [base[0], ("ci/unit.sh", "true")];
    assert_eq!(changed(&["npm test"], &base, &script), one("ci/unit.sh", TestChange::Changed));
    let package = [("package.json", r#"{"scripts": {"test": "npm run unit", "unit": "true"}}"#), base[1]];
    assert_eq!(changed(&["CI=1 npm test"], &base, &package), one("package.json", TestChange::Part));
    assert_eq!(changed(&["make"], &base, &package), NOTHING, "no check runs it");
}

#[test]
fn l20_patterns_of_the_user_judge_too() {
    let found = judged(&["make"], &["golden/**"], &[("golden/a", "1")], &[("golden/a", "2")]);
    assert_eq!(found.changed, [ChangedTest { path: "golden/a".into(), how: TestChange::Changed }]);
    assert_eq!(found.put_back, [PutBack { change: 0, with: Content::Base }]);
}

#[test]
fn l20_a_renamed_test_is_back_under_its_old_name() {
    let found = judged(&["pytest"], &[], &[("test_a.py", "x")], &[("test_b.py", "x")]);
    let expected =
        [PutBack { change: 0, with: Content::Base }, PutBack { change: 1, with: Content::Nothing }];
    assert_eq!((found.put_back.as_slice(), found.affects_originals), (&expected[..], true));
}

#[test]
fn l20_a_link_in_place_of_a_directory_of_tests_is_no_way_around() {
    let found =
        judged(&["sh run"], &["checks/"], &[("checks/a", "x"), ("b", "")], &[("checks", "link"), ("b", "")]);
    assert!(found.affects_originals);
    assert!(found.put_back.contains(&PutBack { change: 0, with: Content::Nothing }), "{found:?}");
}

#[test]
fn l20_tests_in_source_files_are_named() {
    let base = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() { assert!(true); }\n}\n";
    let found = judged(&["cargo test"], &[], &[("src/lib.rs", base)], &[("src/lib.rs", "")]);
    let named =
        InlineTest { path: "src/lib.rs".into(), name: "tests::adds".into(), how: InlineChange::Removed };
    assert_eq!((found.inline, found.affects_originals, found.put_back), (vec![named], true, vec![]));
    let moved = judged(&["cargo test"], &[], &[("src/lib.rs", base)], &[("src/add.rs", base)]);
    assert!(!moved.affects_originals);
}

#[test]
fn l20_examples_of_python_count_where_they_are_run() {
    let (base, now) = ("\"\"\"\n>>> 1\n1\n\"\"\"", "");
    let settings = ("pytest.ini", "[pytest]\naddopts = --doctest-modules\n");
    let with = judged(&["pytest"], &[], &[("a.py", base), settings], &[("a.py", now), settings]);
    assert_eq!(with.inline.len(), 1);
    assert!(judged(&["pytest"], &[], &[("a.py", base)], &[("a.py", now)]).inline.is_empty());
}

#[test]
fn l20_a_check_that_names_a_new_file_does_not_run_with_the_originals() {
    let base = [("tests/a.py", ""), ("conf/x", "")];
    let now = [base[0], base[1], ("tests/b.py", ""), ("new/c.py", ""), ("conftest.py", "")];
    let checks =
        ["pytest tests/a.py", "pytest ./tests/b.py::test_x", "pytest new/", "pytest tests", "pytest"];
    assert_eq!(judged(&checks, &[], &base, &now).not_for_originals, [1, 2]);
}
