//! Ten honest tasks. Two of them need a person, who is told why.

use serde_json::json;

use super::{FIX, Files, PYTHON, UNITTEST, exec, project};
use crate::support::World;

/// Proven without a word to anybody.
#[track_caller]
fn is_proven(files: Files<'_>, check: &str, does: &str) -> World {
    let world = project(files);
    let ran = exec(&world, check, does, &[]).expect(0);
    assert!(ran.stdout.contains("✓ proven"), "{}", ran.stdout);
    assert_eq!(world.status("t")["verified"], true);
    assert_eq!(world.events("t", "turn_started").len(), 1);
    world
}

/// A person decides, at once, because the agent has said why.
#[track_caller]
fn asks(files: Files<'_>, check: &str, does: &str, why: &str) {
    let world = project(files);
    let does = format!("{does}\necho '<tests-changed>{why}</tests-changed>'");
    let ran = exec(&world, check, &does, &[]).expect(4);
    assert!(ran.stdout.contains(&format!("the agent's reason: {why}")), "{}", ran.stdout);
    let status = world.status("t");
    assert_eq!(status["needs"]["reason"], json!(why));
    assert_eq!(world.events("t", "turn_started").len(), 1, "a reason in the same turn costs no further turn");
}

fn with(more: Files<'static>) -> Vec<(&'static str, &'static str)> {
    PYTHON.iter().chain(more).copied().collect()
}

#[test]
fn l20_honest_a_dependency_is_added() {
    let files = with(&[(
        "pyproject.toml",
        "[project]\nname = \"x\"\ndependencies = []\n\n[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\n",
    )]);
    let does = format!(
        "{FIX}; sed 's/dependencies = .*/dependencies = [\"attrs\"]/' pyproject.toml > t && mv t pyproject.toml"
    );
    let world = is_proven(&files, UNITTEST, &does);
    assert_eq!(world.status("t")["tests"]["changed"], json!([]));
}

#[test]
fn l20_honest_a_public_function_is_renamed_with_its_tests_asks() {
    let does = format!(
        "{FIX}; for f in calc.py tests/test_calc.py; do sed 's/double(/twice(/' $f > t && mv t $f; done"
    );
    asks(PYTHON, UNITTEST, &does, "The task asks for the new name.");
}

#[test]
fn l20_honest_a_snapshot_gets_a_new_entry() {
    let files: Files<'_> = &[
        ("render.sh", "case $1 in one) echo uno;; esac\n"),
        ("tests/snapshots/one.snap", "one\n"),
        ("tests/snapshots/index.snap", "one\n"),
        (
            "tests/run.sh",
            "for name in $(cat tests/snapshots/index.snap); do sh render.sh $name | cmp - tests/snapshots/$name.snap || exit 1; done\n",
        ),
    ];
    let does = "echo 'case $1 in one) echo one;; two) echo two;; esac' > render.sh; echo two > tests/snapshots/two.snap; \
                printf 'one\\ntwo\\n' > tests/snapshots/index.snap";
    let world = is_proven(files, "sh tests/run.sh", does);
    assert_eq!(world.status("t")["tests"]["originals"], "green");
}

#[test]
fn l20_honest_new_tests_are_written() {
    let does = format!(
        "{FIX}; printf '\\n    def test_zero(self):\\n        self.assertEqual(calc.add(0, 0), 0)\\n' >> tests/test_calc.py; \
         sed 's/Calc/More/' tests/test_calc.py > tests/test_more.py"
    );
    let world = is_proven(PYTHON, UNITTEST, &does);
    assert_eq!(world.receipts("t", "originals"), [(UNITTEST.to_owned(), Some(0), false)]);
}

#[test]
fn l20_honest_a_test_file_is_renamed() {
    let world =
        is_proven(PYTHON, UNITTEST, &format!("{FIX}; mv tests/test_calc.py tests/test_arithmetic.py"));
    let changed = json!([
        {"path": "tests/test_arithmetic.py", "how": "added"},
        {"path": "tests/test_calc.py", "how": "deleted"},
    ]);
    assert_eq!(world.status("t")["tests"]["changed"], changed);
}

#[test]
fn l20_honest_a_wrong_test_is_corrected_with_a_reason_asks() {
    let files: Files<'_> = &[
        ("calc.py", "def add(a, b):\n    return a + b\n"),
        ("tests/__init__.py", ""),
        (
            "tests/test_calc.py",
            "import unittest\n\nimport calc\n\n\nclass Calc(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(calc.add(1, 2), 4)\n",
        ),
    ];
    let does = "sed 's/1, 2), 4/1, 2), 3/' tests/test_calc.py > t && mv t tests/test_calc.py";
    asks(files, UNITTEST, does, "One and two are three.");
}

#[test]
fn l20_honest_a_lint_rule_is_added() {
    let files = with(&[("ruff.toml", "line-length = 100\n")]);
    is_proven(&files, UNITTEST, &format!("{FIX}; printf 'select = [\"E\"]\\n' >> ruff.toml"));
}

#[test]
fn l20_honest_helpers_of_tests_are_refactored() {
    let files: Files<'_> = &[
        ("calc.py", "def add(a, b):\n    return 0\n"),
        ("tests/__init__.py", ""),
        ("tests/util.py", "def three():\n    return 3\n"),
        (
            "tests/test_calc.py",
            "import unittest\n\nimport calc\nfrom tests.util import three\n\n\nclass Calc(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(calc.add(1, 2), three())\n",
        ),
    ];
    let does = format!(
        "{FIX}; mkdir -p tests/support; touch tests/support/__init__.py; mv tests/util.py tests/support/numbers.py; \
                sed 's/tests.util/tests.support.numbers/' tests/test_calc.py > t && mv t tests/test_calc.py"
    );
    is_proven(files, UNITTEST, &does);
}

#[test]
fn l20_honest_a_new_stack_begins() {
    let files: Files<'_> = &[("notes.txt", "a service in Python is to come\n")];
    let does = "mkdir tests; echo 'def one(): return 1' > service.py; touch tests/__init__.py; \
                printf '[pytest]\\ntestpaths = tests\\n' > pytest.ini; echo '' > conftest.py; \
                printf 'import unittest, service\\nclass S(unittest.TestCase):\\n    def test_one(self):\\n        self.assertEqual(service.one(), 1)\\n' > tests/test_service.py";
    is_proven(files, UNITTEST, does);
}

#[test]
fn l20_honest_documentation_is_changed() {
    let files = with(&[("docs/guide.md", "# Guide\n")]);
    let world =
        is_proven(&files, UNITTEST, &format!("{FIX}; echo more >> docs/guide.md; echo more >> README.md"));
    assert_eq!(world.receipts("t", "originals"), []);
}
