//! What nobody has committed is kept, and nothing is touched.

use std::fs;

use dacapo_core::git::{Apart, CommitRequest, Loose};

use crate::fixture::{DATE, Fixture, PREFIX};

fn keep(f: &Fixture) -> Loose {
    let head = f.repo.head().expect("a head");
    f.repo
        .keep_loose(&CommitRequest {
            start: head.commit.as_ref(),
            home: &head,
            message: "kept\n",
            date: DATE,
            rescue_prefix: PREFIX,
            exclusive: false,
            max_file_bytes: 1000,
            known: &[],
            landing: None,
            apart: Apart::nothing(),
            secrets: None,
        })
        .expect("kept")
}

/// Index, HEAD and what git says of the files.
fn all(f: &Fixture) -> (Vec<u8>, String, String) {
    let index = fs::read(f.repo.git_dir().join("index")).unwrap_or_default();
    (index, f.git(&["rev-parse", "HEAD"]), f.git(&["ls-files", "--stage"]))
}

#[test]
fn s8_files_are_kept_and_the_index_is_not_touched() {
    let f = Fixture::new();
    f.write("tracked", "one\n");
    f.write("gone", "x\n");
    f.git(&["add", "-A"]);
    f.git(&["commit", "-qm", "two files"]);
    f.write("tracked", "staged\n");
    f.git(&["add", "tracked"]);
    f.write("tracked", "later\n");
    f.write("new \"name\"\n", "new\n");
    f.write("id_rsa", "secret");
    f.write("large", &"x".repeat(2000));
    fs::remove_file(f.path("gone")).expect("removed");
    let before = all(&f);
    let loose = keep(&f);
    assert_eq!(all(&f), before);
    let kept = loose.kept.expect("a ref").name;
    assert_eq!(f.git(&["show", &format!("{kept}:tracked")]).trim_end(), "later");
    assert_eq!(f.git(&["show", &format!("{kept}:new \"name\"\n")]).trim_end(), "new");
    let names = f.git(&["ls-tree", "-r", "-z", "--name-only", &kept]);
    for gone in ["gone", "id_rsa", "large"] {
        assert!(!names.split('\0').any(|name| name == gone), "{gone}: {names:?}");
    }
    let mut left: Vec<_> = loose.left_out.iter().map(|left| left.path.display().to_string()).collect();
    left.sort();
    assert_eq!(left, ["id_rsa", "large"]);
    assert_eq!(f.git(&["rev-parse", &format!("{kept}^")]), before.1, "on HEAD");
    assert!(f.git(&["status", "--porcelain"]).contains("MM tracked"), "as it was");
}

#[test]
fn s8_a_clean_tree_leaves_no_ref() {
    let f = Fixture::new();
    assert_eq!(keep(&f), Loose::default());
    assert_eq!(f.git(&["for-each-ref", "refs/dacapo"]), "");
}

#[test]
fn s8_also_in_the_middle_of_a_merge_and_without_an_index() {
    let f = Fixture::new();
    f.write("a", "base\n");
    f.git(&["add", "-A"]);
    f.git(&["commit", "-qm", "base"]);
    f.git(&["checkout", "-q", "-b", "other"]);
    f.write("a", "theirs\n");
    f.git(&["commit", "-qam", "theirs"]);
    f.git(&["checkout", "-q", "-"]);
    f.write("a", "ours\n");
    f.git(&["commit", "-qam", "ours"]);
    assert!(!f.try_git(&["merge", "other"]).status.success(), "a conflict");
    let before = all(&f);
    let kept = keep(&f).kept.expect("a ref").name;
    assert!(f.git(&["show", &format!("{kept}:a")]).contains("<<<<<<<"), "as it lies there"); // the conflict
    assert_eq!(all(&f), before);
    f.git(&["merge", "--abort"]);
    for broken in [None, Some("no index at all")] {
        let index = f.repo.git_dir().join("index");
        match broken {
            Some(text) => fs::write(&index, text).expect("broken"),
            None => fs::remove_file(&index).expect("removed"),
        }
        f.write("a", "mine\n");
        let kept = keep(&f).kept.expect("a ref").name;
        assert_eq!(f.git(&["show", &format!("{kept}:a")]).trim_end(), "mine");
    }
}
