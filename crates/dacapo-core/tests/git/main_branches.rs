//! Which branch is the main one.

use crate::fixture::Fixture;

fn main_of(f: &Fixture, configured: Option<&str>) -> Option<String> {
    f.repo.main_branch(configured).expect("an answer").map(|main| main.name)
}

#[test]
fn m2_the_configured_one_else_the_remotes_else_the_usual_ones() {
    let f = Fixture::new();
    let tip = f.oid("HEAD");
    let first = f.repo.head().expect("a head").branch.expect("a branch");
    let first = first.strip_prefix("refs/heads/").expect("a local one");
    f.git(&["checkout", "-q", "-b", "elsewhere"]);
    if first != "master" {
        f.git(&["branch", "-m", first, "master"]);
    }
    assert_eq!(main_of(&f, None).as_deref(), Some("refs/heads/master"));
    f.git(&["branch", "main"]);
    assert_eq!(main_of(&f, None).as_deref(), Some("refs/heads/main"), "before master");
    f.git(&["update-ref", "refs/remotes/origin/trunk", tip.as_str()]);
    f.git(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk"]);
    let there = f.repo.main_branch(None).expect("an answer").expect("one");
    assert_eq!((there.name.as_str(), &there.tip), ("refs/heads/trunk", &tip), "what the remote says");
    assert_eq!(main_of(&f, Some("elsewhere")).as_deref(), Some("refs/heads/elsewhere"));
    assert_eq!(main_of(&f, Some("refs/heads/main")).as_deref(), Some("refs/heads/main"));
    assert_eq!(main_of(&f, Some("origin/trunk")).as_deref(), Some("refs/heads/trunk"));
    for wrong in ["gone", "", "-x", "../../HEAD", "a b"] {
        assert_eq!(main_of(&f, Some(wrong)), None, "{wrong}: no other is taken for it");
    }
    f.git(&["update-ref", "-d", "refs/remotes/origin/trunk"]);
    assert_eq!(main_of(&f, None).as_deref(), Some("refs/heads/main"), "the remote's is gone");
}
