//! A commit in a checkout with the tests as they were at its base (L20).

use std::os::unix::fs::{PermissionsExt as _, symlink};

use dacapo_core::event::{ChangedTest, TestChange, TestsChange};
use dacapo_core::proof::{Lease, ProofRun};

use crate::fixture::Fixture;
use crate::proof::{How, Proofs, content};

/// A project with tests, and the tag `base` at it.
fn project() -> Proofs {
    let f = Fixture::new();
    f.git(&["rm", "-qr", "."]);
    f.write("calc.py", "def add(a, b): pass\n");
    f.write("tests/test_calc.py", "the tests\n");
    f.write("tests/data.json", "{}\n");
    f.write("run_checks.sh", "#!/bin/sh\n");
    f.write("package.json", "{\"scripts\": {\"test\": \"node --test\"}}\n");
    let path = f.path("run_checks.sh");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("an executable");
    let proofs = Proofs::start(f);
    proofs.commit_all();
    proofs.f.git(&["tag", "base"]);
    proofs
}

fn checks() -> Vec<String> {
    vec!["./run_checks.sh".to_owned(), "npm test".to_owned()]
}

fn prepared(proofs: &Proofs, run: ProofRun) -> (Lease, TestsChange) {
    let mut lease = proofs.lease();
    let how = How { base: Some("base"), run, checks: &checks(), ..How::default() };
    let prepared = proofs.try_prepare(&mut lease, how).expect("prepared");
    (lease, prepared.tests.expect("compared with the base"))
}

fn text(lease: &Lease, path: &str) -> Option<String> {
    content(lease.tree()).into_iter().find(|(name, _)| name == path).map(|(_, text)| text)
}

#[test]
fn l20_what_judges_is_as_it_was_and_the_rest_is_the_commits() {
    let proofs = project();
    proofs.f.write("calc.py", "def add(a, b): return a + b\n");
    proofs.f.write("tests/test_calc.py", "assert True\n");
    proofs.f.git(&["rm", "-q", "tests/data.json"]);
    proofs.f.write("tests/test_new.py", "new\n");
    proofs.f.write("conftest.py", "collect_ignore = []\n");
    proofs.f.write("run_checks.sh", "exit 0\n");
    proofs.f.write("package.json", "{\"scripts\": {\"test\": \"true\"}, \"dependencies\": {\"a\": \"1\"}}\n");
    proofs.commit_all();
    let (lease, tests) = prepared(&proofs, ProofRun::Commit);
    let how = |path: &str| tests.changed.iter().find(|file| file.path == path).map(|file| file.how);
    assert!(tests.affects_originals);
    assert_eq!(
        ["conftest.py", "package.json", "run_checks.sh", "tests/data.json", "tests/test_calc.py", "calc.py"]
            .map(how),
        [
            Some(TestChange::Added),
            Some(TestChange::Part),
            Some(TestChange::Changed),
            Some(TestChange::Deleted),
            Some(TestChange::Changed),
            None,
        ]
    );
    assert_eq!(
        text(&lease, "tests/test_calc.py").as_deref(),
        Some("assert True\n"),
        "the first run is the commit"
    );
    drop(lease);
    let (lease, again) = prepared(&proofs, ProofRun::Originals);
    assert_eq!(again, tests);
    assert_eq!(text(&lease, "tests/test_calc.py").as_deref(), Some("the tests\n"));
    assert_eq!(text(&lease, "tests/data.json").as_deref(), Some("{}\n"));
    assert_eq!(text(&lease, "run_checks.sh").as_deref(), Some("#!/bin/sh\n"));
    assert_eq!((text(&lease, "tests/test_new.py"), text(&lease, "conftest.py")), (None, None));
    assert_eq!(text(&lease, "calc.py").as_deref(), Some("def add(a, b): return a + b\n"));
    let package = text(&lease, "package.json").expect("it is there");
    assert!(package.contains("node --test") && package.contains("dependencies"), "{package}");
    let mode =
        std::fs::metadata(lease.tree().join("run_checks.sh")).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o111, 0o111);
    assert_eq!(proofs.git_there(&lease, &["rev-parse", "HEAD"]), proofs.f.oid("HEAD").to_string());
}

#[test]
fn l20_a_link_in_place_of_the_tests_gives_way_to_them() {
    let proofs = project();
    proofs.f.git(&["rm", "-qr", "tests"]);
    proofs.f.write("elsewhere/test_calc.py", "assert True\n");
    symlink("elsewhere", proofs.f.path("tests")).expect("a link");
    proofs.commit_all();
    let (lease, _) = prepared(&proofs, ProofRun::Originals);
    assert_eq!(text(&lease, "tests/test_calc.py").as_deref(), Some("the tests\n"));
}

#[test]
fn l20_what_was_built_with_the_originals_is_not_kept() {
    let proofs = project();
    proofs.f.write("Cargo.toml", "[package]\nname = \"x\"\n");
    proofs.f.write("tests/test_calc.py", "assert True\n");
    proofs.commit_all();
    let (mut lease, _) = prepared(&proofs, ProofRun::Originals);
    std::fs::create_dir_all(lease.tree().join("target/debug")).expect("a directory");
    std::fs::write(lease.tree().join("target/debug/x"), "x").expect("a file");
    lease.keep_caches().expect("nothing to keep");
    drop(lease);
    let mut lease = proofs.lease();
    let how = How { base: Some("HEAD"), ..How::default() };
    assert_eq!(proofs.try_prepare(&mut lease, how).expect("prepared").cache, None);
}

#[test]
fn l20_a_base_outside_of_the_history_is_compared_all_the_same() {
    let proofs = project();
    proofs.f.git(&["checkout", "-q", "--orphan", "rewritten"]);
    proofs.f.write("tests/test_calc.py", "assert True\n");
    proofs.commit_all();
    let (lease, tests) = prepared(&proofs, ProofRun::Originals);
    let expected = ChangedTest { path: "tests/test_calc.py".into(), how: TestChange::Changed };
    assert_eq!((tests.changed, tests.total), (vec![expected], 1));
    assert_eq!(text(&lease, "tests/test_calc.py").as_deref(), Some("the tests\n"));
}
