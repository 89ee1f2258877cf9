//! Patterns in `info/exclude`: added once, beside what is there.

use std::fs;
use std::os::unix::fs::symlink;

use crate::fixture::Fixture;

const LINES: [&str; 2] = ["/.dacapo/state.json", "/.dacapo/milestones/*.json"];

#[test]
fn m8_patterns_are_added_once_and_what_is_there_stays() {
    let f = Fixture::new();
    let path = f.repo.common_dir().join("info/exclude");
    fs::write(&path, "# mine\n*.log\n/last-without-newline").expect("a file");
    f.repo.exclude(&LINES).expect("added");
    let once = fs::read_to_string(&path).expect("a file");
    assert_eq!(
        once,
        "# mine\n*.log\n/last-without-newline\n/.dacapo/state.json\n/.dacapo/milestones/*.json\n"
    );
    f.repo.exclude(&LINES).expect("nothing to do");
    assert_eq!(fs::read_to_string(&path).expect("a file"), once);
    fs::write(&path, "/.dacapo/state.json\r\n").expect("a file");
    f.repo.exclude(&LINES).expect("added");
    let text = fs::read_to_string(&path).expect("a file");
    assert_eq!(text, "/.dacapo/state.json\r\n/.dacapo/milestones/*.json\n", "only the missing one");
}

#[test]
fn m8_a_missing_directory_is_made_and_a_link_is_not_written_through() {
    let f = Fixture::new();
    let info = f.repo.common_dir().join("info");
    fs::remove_dir_all(&info).expect("removed");
    f.repo.exclude(&LINES).expect("added");
    assert!(fs::read_to_string(info.join("exclude")).expect("a file").ends_with("*.json\n"));
    let elsewhere = f.dir.path().join("elsewhere");
    fs::write(&elsewhere, "theirs\n").expect("a file");
    fs::remove_file(info.join("exclude")).expect("removed");
    symlink(&elsewhere, info.join("exclude")).expect("a link");
    f.repo.exclude(&LINES).expect_err("not through a link");
    assert_eq!(fs::read_to_string(&elsewhere).expect("a file"), "theirs\n");
    // Who has put it there and has the patterns already needs nothing of us.
    fs::write(&elsewhere, format!("{}\n{}\n", LINES[0], LINES[1])).expect("a file");
    f.repo.exclude(&LINES).expect("nothing to do");
}
