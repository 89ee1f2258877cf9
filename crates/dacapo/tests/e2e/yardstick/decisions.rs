//! What a person decides about tests that an agent changed, and what the user allows from the start.

use serde_json::json;

use super::{FIX, PYTHON, UNITTEST, exec, project};

/// Weakens a test.
const WEAKEN: &str = "sed 's/1, 2), 3/1, 2), 0/' tests/test_calc.py > t && mv t tests/test_calc.py";

/// The agent weakens a test until it is told to put it back.
const WEAKENS: &str = "prompt=$(cat)\n\
    case $prompt in\n\
    *'The tests must stay'*) git checkout -q main -- tests; sed 's/return 0/return a + b/' calc.py > t && mv t calc.py;;\n\
    *) sed 's/1, 2), 3/1, 2), 0/' tests/test_calc.py > t && mv t tests/test_calc.py;;\n\
    esac\n\
    echo '<tests-changed>Adding gives nothing.</tests-changed>'\n";

#[test]
fn l20_approved_it_is_completed_unverified_marked_and_merged() {
    let world = project(PYTHON);
    let ran = exec(&world, UNITTEST, WEAKENS, &[]).expect(4);
    assert_eq!(world.events("t", "turn_started").len(), 1, "{}", ran.stdout);
    let next = "  next: dacapo diff t --tests  see what changed of the tests\n        dacapo approve t";
    assert!(ran.stdout.contains(next), "{}", ran.stdout);
    assert!(ran.stdout.contains("passes; not with the tests as they were"), "{}", ran.stdout);
    let left = world.run(&["merge", "t"]).expect(1);
    assert!(left.stdout.contains("not with the tests as they were"), "{}", left.stdout);
    assert!(left.stdout.contains("dacapo approve t"), "{}", left.stdout);

    let approved = world.run(&["approve", "t"]).expect(0);
    let mark = "passes with changed tests, approved";
    assert!(approved.stdout.contains(mark), "{}\n{}", approved.stdout, approved.stderr);
    let status = world.status("t");
    assert_eq!((&status["status"], &status["verified"]), (&json!("completed"), &json!(false)));
    let tests = &status["tests"];
    assert_eq!(
        json!([tests["mode"], tests["originals"], tests["reason"], tests["approved"]]),
        json!(["original", "red", "Adding gives nothing.", true])
    );
    for words in
        [&["list"][..], &["status", "t"], &["merge", "t", "--dry-run"], &["merge", "--ready", "--dry-run"]]
    {
        let shown = world.run(words).expect(0).stdout;
        assert!(shown.contains(mark), "{words:?}\n{shown}");
        assert!(!shown.contains("✓ proven"), "{words:?}\n{shown}");
    }
    let merged = world.run(&["merge", "--ready"]).expect(0).stdout;
    assert!(merged.contains(mark), "{merged}");
    assert!(world.read("tests/test_calc.py").contains("1, 2), 0"));
    assert_eq!(world.events("t", "turn_started").len(), 1);
}

#[test]
fn l20_rejected_it_goes_on_with_the_text() {
    let world = project(PYTHON);
    let _ = exec(&world, UNITTEST, WEAKENS, &[]).expect(4);
    let ran = world.run(&["reject", "t", "Fix add instead."]).expect(0);
    assert!(ran.stdout.contains("✓ proven"), "{}", ran.stdout);
    let told = world.prompt("t", 1);
    assert!(told.contains("Make the work pass with them.\nFix add instead."), "{told}");
    let status = world.status("t");
    assert_eq!((&status["verified"], &status["tests"]["originals"]), (&json!(true), &json!("not_run")));
}

#[test]
fn l20_free_is_one_run_and_says_so() {
    let world = project(PYTHON);
    let ran = exec(&world, UNITTEST, WEAKENS, &["--tests", "free"]).expect(0);
    assert!(ran.stdout.contains("✓ proven"), "{}", ran.stdout);
    assert!(ran.stdout.contains("⚠ tests changed (--tests free): tests/test_calc.py"), "{}", ran.stdout);
    assert_eq!(world.receipts("t", "originals"), []);
    let list = world.run(&["list"]).expect(0).stdout;
    assert!(list.contains("✓ proven") && list.contains("⚠ tests changed (--tests free)"), "{list}");
    let plan = world.run(&["merge", "t", "--dry-run"]).expect(0).stdout;
    assert!(plan.contains("⚠ tests changed (--tests free)"), "{plan}");
}

#[test]
fn l20_locked_tests_are_put_back_before_every_commit() {
    let world = project(PYTHON);
    // It weakens a test, takes the other away, and writes one of its own; then it does the work.
    let does = format!(
        "if test -e tests/test_new.py; then {FIX}; else {WEAKEN}; rm tests/__init__.py; \
         sed 's/Calc/New/' tests/test_calc.py > tests/test_new.py; sed -i.bak 's/1, 2), 0/0, 0), 0/' tests/test_new.py; \
         rm tests/*.bak; fi"
    );
    let ran = exec(&world, UNITTEST, &does, &["--tests", "locked"]).expect(0);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(
        said.contains("tests put back as they were (--tests locked): tests/__init__.py and 1 more"),
        "{said}"
    );
    assert!(said.contains("✓ proven"), "{said}");
    let tip = world.status("t")["last_commit"].as_str().unwrap().to_owned();
    for (path, text) in PYTHON.iter().filter(|(path, _)| path.starts_with("tests/")) {
        assert_eq!(world.git(&["show", &format!("{tip}~1:{path}")]), text.trim_end(), "{path}");
    }
    assert!(world.git(&["show", &format!("{tip}:tests/test_new.py")]).contains("class New"));
    let kept = world.git(&["for-each-ref", "--format=%(refname)", "refs/dacapo/rescue/t/"]);
    let kept =
        kept.lines().find(|name| name.ends_with("/tests")).unwrap_or_else(|| panic!("{kept}")).to_owned();
    assert!(world.git(&["show", &format!("{kept}:tests/test_calc.py")]).contains("1, 2), 0"));
    let told = world.prompt("t", 0);
    assert!(told.contains("put back before every commit"), "{told}");
}

#[test]
fn l20_locked_tests_are_put_back_on_top_of_the_agents_own_commit() {
    let world = project(PYTHON);
    let does = format!(
        "git show -s --format=%s | grep -q weaker || {{ {WEAKEN}; git commit -qam weaker; }}; grep -q 'a + b' calc.py || {{ {FIX}; }}"
    );
    let ran = exec(&world, UNITTEST, &does, &["--tests", "locked"]).expect(0);
    assert!(ran.stdout.contains("✓ proven"), "{}", ran.stdout);
    let tip = world.status("t")["last_commit"].as_str().unwrap().to_owned();
    assert!(world.git(&["show", &format!("{tip}:tests/test_calc.py")]).contains("1, 2), 3"));
    assert!(world.git(&["log", "--format=%s", "--max-count=3", &tip]).contains("weaker"));
}

#[test]
fn r6_a_project_can_make_the_mode_stricter_and_not_looser() {
    let world = project(PYTHON);
    world.write(".dacapo/config.toml", "[tests]\nmode = \"free\"\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "settings"]);
    let ran = exec(&world, UNITTEST, WEAKENS, &[]).expect(4);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains("a project can only make it stricter"), "{said}");
    assert_eq!(world.status("t")["tests"]["mode"], "original");
}

#[test]
fn l20_a_merge_asks_the_tests_of_the_branch_it_comes_to() {
    let world = project(PYTHON);
    let _ = exec(&world, UNITTEST, FIX, &[]).expect(0);
    // Meanwhile the branch got a test that the task knows nothing of, and does not pass.
    world.write(
        "tests/test_later.py",
        "import unittest\n\nimport calc\n\n\nclass Later(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(calc.add('a', 'b'), 'b')\n",
    );
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "later"]);
    let left = world.run(&["merge", "t"]).expect(1);
    assert!(left.stdout.contains("fails on the result"), "{}", left.stdout);
}
