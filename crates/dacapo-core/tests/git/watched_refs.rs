//! Refs of the user's that move while an agent works (R9).

use crate::fixture::Fixture;

/// What moved, in short: the name, and whether something is there now.
fn moved_by(f: &Fixture, deeds: &[&[&str]], own: Option<&str>) -> Vec<(String, bool)> {
    let before = f.repo.watched_refs(None).expect("refs before");
    for deed in deeds {
        f.git(deed);
    }
    let now = f.repo.watched_refs(Some(&before)).expect("refs now");
    let moved = f.repo.moved_refs(&before, &now, own);
    moved.into_iter().map(|moved| (moved.name, moved.to.is_some())).collect()
}

#[test]
fn r9_branches_tags_and_stashes_that_move_are_found_in_files_and_in_tables() {
    for options in [&[][..], &["--ref-format=reftable"], &["--object-format=sha256"]] {
        let f = Fixture::with_init(options);
        for name in ["packed", "gone"] {
            f.git(&["branch", name]);
        }
        f.git(&["pack-refs", "--all"]);
        f.git(&["branch", "other"]);
        f.git(&["tag", "-a", "-m", "v1", "v1"]);
        for text in ["1", "2"] {
            f.write("a.txt", text);
            f.git(&["stash", "-q"]);
        }
        let deeds: &[&[&str]] = &[
            &["branch", "-f", "packed", "HEAD~1"],
            &["branch", "-D", "gone"],
            &["update-ref", "refs/heads/other", "HEAD~2"],
            &["tag", "-d", "v1"],
            &["stash", "drop", "-q", "stash@{1}"],
            &["branch", "new"],
            &["commit", "-q", "--allow-empty", "-m", "own work"],
        ];
        let expected = [
            ("refs/heads/gone".to_owned(), false),
            ("refs/heads/other".to_owned(), true),
            ("refs/heads/packed".to_owned(), true),
            ("refs/tags/v1".to_owned(), false),
            ("refs/stash".to_owned(), false),
        ];
        // A stash's log is a file only where refs are.
        let seen = if options == ["--ref-format=reftable"] { &expected[..4] } else { &expected };
        assert_eq!(moved_by(&f, deeds, Some("refs/heads/main")), seen, "{options:?}");
        let packing: &[&[&str]] = &[&["pack-refs", "--all"], &["gc", "-q"]];
        assert_eq!(moved_by(&f, packing, None), []);
    }
}

#[test]
fn r9_what_dacapo_moves_is_not_named_but_the_same_move_by_others_is() {
    let f = Fixture::new();
    f.git(&["branch", "a"]);
    f.git(&["branch", "b"]);
    let deeds: &[&[&str]] = &[
        &["update-ref", "-m", "dacapo: merge", "refs/heads/a", "HEAD~1"],
        &["update-ref", "-m", "merge", "refs/heads/b", "HEAD~1"],
    ];
    assert_eq!(moved_by(&f, deeds, None), [("refs/heads/b".to_owned(), true)]);
}

#[test]
fn r9_what_no_ref_leads_to_any_more_is_kept_and_nothing_else() {
    let f = Fixture::new();
    f.git(&["checkout", "-q", "-b", "side"]);
    f.git(&["commit", "-q", "--allow-empty", "-m", "only here"]);
    f.git(&["checkout", "-q", "main"]);
    let before = f.repo.watched_refs(None).expect("refs before");
    f.git(&["branch", "-D", "side"]);
    f.git(&["reset", "-q", "--hard", "HEAD~1"]);
    f.git(&["branch", "again", "HEAD@{1}"]);
    let now = f.repo.watched_refs(Some(&before)).expect("refs now");
    let kept = |name: &str| {
        let moved = f.repo.moved_refs(&before, &now, None);
        let moved = moved.into_iter().find(|moved| moved.name == name).expect("it moved");
        let kept = f.repo.keep_moved("refs/dacapo/rescue/task", &moved.from).expect("asked");
        (kept.map(|kept| kept.name), moved.from)
    };
    let (name, from) = kept("refs/heads/side");
    assert_eq!(name.as_deref(), Some("refs/dacapo/rescue/task/moved"));
    assert_eq!(f.repo.read_ref("refs/dacapo/rescue/task/moved").expect("the ref"), Some(from));
    assert_eq!(kept("refs/heads/main").0, None, "`again` still leads there");
    assert_eq!(kept("refs/heads/side").0, None, "the rescue ref leads there now");
}
