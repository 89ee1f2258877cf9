//! Files that hold the value of a known secret stay out of commits, whatever their name; in commits of others they are found.

use dacapo_core::git::{CommittedSecret, LeftOutReason, Looked};
use dacapo_core::process::Masker;

use crate::fixture::{Fixture, changed};

const TOKEN: &str = "t0ken-0123456789";

fn masker() -> Masker {
    Masker::from_env([("API_TOKEN".into(), TOKEN.into()), ("DB_PASSWORD".into(), "correct horse".into())])
}

fn fixture() -> Fixture {
    let mut f = Fixture::new();
    f.secrets = Some(masker());
    f
}

fn left_out(prepared: &dacapo_core::git::Prepared) -> Vec<(String, LeftOutReason)> {
    let mut left: Vec<_> =
        prepared.left_out.iter().map(|left| (left.path.display().to_string(), left.why.clone())).collect();
    left.sort_by(|a, b| a.0.cmp(&b.0));
    left
}

fn holds(path: &str, variable: &str) -> (String, LeftOutReason) {
    (path.to_owned(), LeftOutReason::HoldsSecret { variable: variable.to_owned() })
}

#[test]
fn c9_new_content_with_a_known_secret_is_left_out_staged_or_not() {
    let mut f = fixture();
    f.write("new.py", &format!("key = '{TOKEN}'\n"));
    f.write("staged.bin", &format!("\0\u{1}{TOKEN}\0"));
    f.write("a.txt", &format!("changed {TOKEN}"));
    f.write("dir/b.txt", "correct horse");
    f.git(&["add", "staged.bin", "dir/b.txt"]);
    f.git(&["add", "-N", "new.py"]);
    std::os::unix::fs::symlink(format!("/{TOKEN}"), f.path("link")).unwrap();
    f.write("ok", "ok");
    let head = f.git(&["rev-parse", "HEAD:dir/b.txt"]);
    let prepared = f.commit();
    assert_eq!(changed(&prepared), ["A ok"]);
    assert_eq!(
        left_out(&prepared),
        [
            holds("a.txt", "API_TOKEN"),
            holds("dir/b.txt", "DB_PASSWORD"),
            holds("link", "API_TOKEN"),
            holds("new.py", "API_TOKEN"),
            holds("staged.bin", "API_TOKEN")
        ]
    );
    assert_eq!(f.git(&["rev-parse", "HEAD:dir/b.txt"]), head, "it is as it was");
    assert_eq!(f.read("dir/b.txt"), "correct horse", "and stays where it is");
    // Told until it is gone; alone it is no reason for a commit.
    f.known = prepared.left_out.iter().map(|left| left.path.clone()).collect();
    let again = f.prepare();
    assert_eq!((again.commit, again.left_out.len()), (None, 5));
    f.write("a.txt", "key from the environment");
    assert_eq!(changed(&f.commit()), ["M a.txt"]);
}

#[test]
fn c9_what_a_file_held_before_is_the_projects_decision() {
    let mut f = fixture();
    f.write("compose.yml", &format!("password: {TOKEN}\n"));
    f.write("old name", &format!("{TOKEN}\n"));
    f.git(&["add", "."]);
    f.git(&["commit", "-qm", "theirs"]);
    f.home = f.repo.head().expect("head");
    f.write("compose.yml", &format!("user: me\npassword: {TOKEN}\n"));
    f.git(&["mv", "old name", "new name"]);
    f.write("new name", &format!("{TOKEN} and more\n"));
    assert_eq!(changed(&f.commit()), ["M compose.yml", "A new name", "D old name"]);
    // Another secret in the same file is new.
    f.write("compose.yml", &format!("password: {TOKEN}\nother: correct horse\n"));
    assert_eq!(left_out(&f.prepare()), [holds("compose.yml", "DB_PASSWORD")]);
}

#[test]
fn s15_a_file_whose_name_holds_a_secret_is_left_out() {
    let mut f = fixture();
    f.write(format!("d-{TOKEN}/x"), "x");
    f.write("ok", "ok");
    let prepared = f.commit();
    assert_eq!(changed(&prepared), ["A ok"]);
    let why = LeftOutReason::NameHoldsSecret { variable: "API_TOKEN".into() };
    assert_eq!(left_out(&prepared), [(format!("d-{TOKEN}/x"), why)]);
}

#[test]
fn c9_secrets_in_commits_are_found_by_commit_and_by_result() {
    let f = fixture();
    let base = f.oid("HEAD");
    f.write("settings.py", &format!("key = '{TOKEN}'\n"));
    f.write("fine", "fine");
    f.git(&["add", "."]);
    f.git(&["commit", "-qm", "one"]);
    let first = f.oid("HEAD");
    f.git(&["rm", "-q", "settings.py"]);
    // In base64, inside of a header.
    f.write("deep/er/auth", "Authorization: Basic dXNlcjp0MGtlbi0wMTIzNDU2Nzg5\n");
    f.git(&["add", "."]);
    f.git(&["commit", "-qm", "two"]);
    let second = f.oid("HEAD");
    f.write("deep/er/auth", "Authorization: Basic dXNlcjp0MGtlbi0wMTIzNDU2Nzg5\nmore\n");
    f.git(&["commit", "-qam", "three"]);
    let tip = f.oid("HEAD");
    let secret = |path: &str, commit: &dacapo_core::git::Oid| CommittedSecret {
        path: path.into(),
        variable: "API_TOKEN".into(),
        commit: commit.clone(),
    };
    let between = |looked| f.repo.secrets_between(Some(&base), &tip, looked, &masker()).unwrap();
    assert_eq!(between(Looked::EachCommit), [secret("settings.py", &first), secret("deep/er/auth", &second)]);
    assert_eq!(between(Looked::Result), [secret("deep/er/auth", &tip)]);
    let none = Masker::new([]);
    assert_eq!(f.repo.secrets_between(Some(&base), &tip, Looked::EachCommit, &none).unwrap(), []);
    let from_the_first = f.repo.secrets_between(None, &tip, Looked::EachCommit, &masker()).unwrap();
    assert_eq!(from_the_first.len(), 2);
    let kept = f.repo.commits_among([&first, &base], (Some(&base), &tip)).unwrap();
    assert_eq!(kept, std::collections::BTreeSet::from([first.clone()]));
    assert!(!f.repo.still_holds(&tip, &first, "settings.py").unwrap());
    assert!(f.repo.still_holds(&tip, &tip, "deep/er/auth").unwrap());
}
