//! What it does to files and repositories.

use super::stage::Stage;

#[test]
fn files_are_written_extended_and_deleted() {
    let stage = Stage::new(
        r#"
- write: { path: a/b/c.txt, text: "one {iteration}\n" }
- write: { path: a/b/c.txt, text: "two\n", append: true }
- write: { path: old.txt }
- delete: old.txt
- delete: old.txt
- write: { path: dir/x }
- delete: dir/
"#,
    );
    let played = stage.play().ok();
    assert_eq!(stage.file("a/b/c.txt"), "one 0\ntwo\n");
    assert!(!stage.work().join("old.txt").exists());
    assert!(!stage.work().join("dir").exists());
    let failed: Vec<bool> = played.answers().iter().map(|(failed, _)| *failed).collect();
    assert_eq!(failed, [false, false, false, false, true, false, false]);
}

#[test]
fn an_absolute_path_inside_is_inside() {
    let stage = Stage::new("- run: 'true'");
    let path = stage.work().join("x/y.txt");
    let script = format!("iterations: [[{{write: {{path: {}, text: hi}}}}]]", path.display());
    std::fs::write(stage.outside().join("r.yaml"), script).unwrap();
    stage.play().ok();
    assert_eq!(stage.file("x/y.txt"), "hi");
}

#[test]
fn nothing_outside_is_touched() {
    for path in ["../r.yaml", "/dev/null/x", "a/../../r.yaml", ".", "", "link/r.yaml", "out"] {
        for step in ["write: { path: 'P', text: x }", "big_file: { path: 'P', mb: 1 }", "secret: 'P'"] {
            let stage = Stage::new(&format!("- {}", step.replace('P', path)));
            std::os::unix::fs::symlink("..", stage.work().join("link")).unwrap();
            std::os::unix::fs::symlink("../r.yaml", stage.work().join("out")).unwrap();
            let script = std::fs::read(stage.outside().join("r.yaml")).unwrap();
            stage.play().refused("is not inside the working directory");
            assert_eq!(std::fs::read(stage.outside().join("r.yaml")).unwrap(), script);
        }
    }
    let stage = Stage::new("- delete: ../r.yaml\n- delete: link/r.yaml\n- delete: .\n- delete: link");
    std::os::unix::fs::symlink("..", stage.work().join("link")).unwrap();
    let failed: Vec<bool> = stage.play().ok().answers().iter().map(|(failed, _)| *failed).collect();
    assert_eq!(failed, [true, true, true, false], "a link itself may go");
    assert!(stage.outside().join("r.yaml").exists());
}

#[test]
fn commands_report_their_failure_and_may_insist() {
    let played = Stage::new("- run: echo hi; echo there >&2\n- run: exit 4").play().ok();
    let answers = played.answers();
    assert_eq!(answers[0], (false, "hi\nthere\n".into()));
    assert!(answers[1].0 && answers[1].1.contains('4'));
    Stage::new("- run: { command: 'false', must: true }").play().refused("`false` failed");
}

#[test]
fn big_files_are_big_and_secrets_look_secret() {
    let stage = Stage::new("- big_file: { path: x/big.bin, mb: 2 }\n- secret: .env");
    stage.play().ok();
    let bytes = std::fs::read(stage.work().join("x/big.bin")).unwrap();
    assert_eq!(bytes.len(), 2 * 1024 * 1024);
    assert!(bytes.chunks(64).all(|part| part.iter().any(|byte| *byte != part[0])));
    assert!(stage.file(".env").contains("PRIVATE KEY"));
}

#[test]
fn it_commits_with_an_identity_of_its_own() {
    let stage = Stage::new("- write: { path: b.txt }\n- commit: 'it''s {iteration}'\n- commit: again")
        .with_repository();
    stage.play().ok();
    assert_eq!(stage.git("log --format=%s/%an"), "again/Rehearsal\nit's 0/Rehearsal\nfirst/T");
    assert_eq!(stage.git("status --porcelain"), "");
}

#[test]
fn it_leaves_its_branch() {
    let stage =
        Stage::new("- switch_branch: other\n- switch_branch: main\n- switch_branch: other").with_repository();
    stage.play().ok();
    assert_eq!(stage.git("symbolic-ref --short HEAD"), "other");
    let stage = Stage::new("- detach: true").with_repository();
    stage.play().ok();
    assert_eq!(stage.git("rev-parse --abbrev-ref HEAD"), "HEAD");
}

#[test]
fn it_leaves_a_lock() {
    let stage = Stage::new("- stale_lock: true\n- commit: a").with_repository();
    stage.play().refused("`commit` did not work");
    assert!(stage.work().join(".git/index.lock").exists());
}

#[test]
fn it_leaves_a_repository_in_the_repository() {
    let stage = Stage::new("- nested_repo: vendor/thing\n- nested_repo: ../no").with_repository();
    stage.play().refused("`../no` is not inside");
    assert_eq!(stage.git("-C vendor/thing log --format=%s"), "nested");
}

#[test]
fn it_leaves_a_merge_half_done() {
    let stage = Stage::new("- half_merge: true").with_repository();
    stage.play().ok();
    stage.git("rev-parse --verify MERGE_HEAD");
    assert_eq!(stage.git("status --porcelain"), "AA conflict.txt");
    assert!(stage.file("conflict.txt").contains("<<<<<<<"));
    // Again, in the state it left.
    stage.play().refused("`half_merge` did not work");
}

#[test]
fn it_removes_its_directory_but_never_a_checkout() {
    let stage = Stage::new("- vanish: true\n- say: still here");
    assert_eq!(stage.play().ok().said(), ["still here"]);
    assert!(!stage.work().exists());
    let stage = Stage::new("- vanish: true").with_repository();
    stage.play().refused("it is a main checkout");
    assert!(stage.work().join("a.txt").exists());
    let stage = Stage::new("- vanish: true");
    let mut command = stage.command();
    command.env_remove("DACAPO_WORKSPACE");
    super::stage::finish(command, b"").refused("only inside DACAPO_WORKSPACE");
    let mut command = stage.command();
    command.env("HOME", stage.work());
    super::stage::finish(command, b"").refused("home directory");
    assert!(stage.work().exists());
}

#[test]
fn a_linked_worktree_may_vanish() {
    let stage = Stage::new("- vanish: true").with_repository();
    stage.git("worktree add -q ../linked");
    let linked = stage.work().parent().unwrap().join("linked");
    let mut command = stage.command();
    command.current_dir(&linked).env("DACAPO_WORKSPACE", &linked);
    super::stage::finish(command, b"").ok();
    assert!(!linked.exists() && stage.work().exists());
}
