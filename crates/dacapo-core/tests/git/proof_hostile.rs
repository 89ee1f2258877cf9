//! What an agent can do in a workspace, and its checks in the proof checkout itself, to make another proof pass (L4).

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use dacapo_core::proof::{Lease, ProofError, Snapshot};

use crate::fixture::{Fixture, git_in};
use crate::proof::{Proofs, content};

const COMMITTED: [(&str, &str); 2] = [("a.txt", "one\ntwo\n3\n"), ("dir/b.txt", "b\n")];

fn committed() -> Vec<(String, String)> {
    COMMITTED.map(|(name, text)| (name.to_owned(), text.to_owned())).to_vec()
}

fn with_attributes() -> Fixture {
    let f = Fixture::new();
    f.write(".gitattributes", "*.txt filter=x\n");
    f.git(&["add", "-A"]);
    f.git(&["commit", "-qm", "attributes"]);
    f
}

fn text(lease: &Lease, name: &str) -> String {
    fs::read_to_string(lease.tree().join(name)).expect("read")
}

#[test]
fn l4_a_smudge_filter_of_the_agent_has_no_say() {
    let proofs = Proofs::start(with_attributes());
    let global = proofs.f.dir.path().join("home/.gitconfig");
    proofs.f.git(&["config", "filter.x.smudge", "sed s/one/forged/"]);
    proofs.f.git(&["config", "--global", "filter.x.smudge", "sed s/one/forged/"]);
    proofs.f.git(&["config", "core.attributesFile", "/nowhere"]);
    assert!(fs::read_to_string(global).expect("read").contains("forged"));
    assert_eq!(text(&proofs.prepared(), "a.txt"), "one\ntwo\n3\n");
}

#[test]
fn l4_a_filter_that_was_there_at_the_start_still_works() {
    let f = with_attributes();
    // As git-lfs has it: a pointer in the commit, the content elsewhere; in the global configuration.
    fs::write(f.dir.path().join("large"), "large content\n").expect("write");
    let smudge = format!("cat >/dev/null; cat {}", f.dir.path().join("large").display());
    f.git(&["config", "--global", "filter.x.smudge", &smudge]);
    f.git(&["config", "--global", "filter.x.required", "true"]);
    f.git(&["config", "--global", "filter.x.clean", "echo pointer"]);
    let proofs = Proofs::start(f);
    proofs.f.git(&["config", "--global", "--remove-section", "filter.x"]);
    let mut lease = proofs.prepared();
    assert_eq!(text(&lease, "a.txt"), "large content\n");
    proofs.f.git(&["config", "filter.x.smudge", "echo forged"]);
    proofs.prepare(&mut lease);
    assert_eq!(text(&lease, "a.txt"), "large content\n");
}

#[test]
fn l4_attributes_and_excludes_are_those_of_the_start() {
    let f = Fixture::new();
    let info = f.repo.common_dir().join("info");
    fs::create_dir_all(&info).expect("directory");
    fs::write(info.join("exclude"), "/start\n").expect("write");
    f.git(&["config", "filter.x.smudge", "sed s/one/filtered/"]);
    let proofs = Proofs::start(f);
    fs::write(info.join("attributes"), "*.txt filter=x\n").expect("write");
    fs::write(info.join("exclude"), "/planted\n").expect("write");
    let excludes = proofs.f.dir.path().join("home/excludes");
    fs::write(&excludes, "/planted\n").expect("write");
    proofs.f.git(&["config", "--global", "core.excludesFile", excludes.to_str().expect("a name")]);
    let mut lease = proofs.prepared();
    assert_eq!(content(lease.tree()), committed());
    for name in ["planted", "start"] {
        fs::write(lease.tree().join(name), "x").expect("write");
    }
    assert_eq!(proofs.git_there(&lease, &["status", "--porcelain"]), "?? planted");
    assert_eq!(proofs.prepare(&mut lease).removed, 2);
    assert_eq!(content(lease.tree()), committed());
}

#[test]
fn l4_the_users_own_excludes_and_attributes_come_along() {
    let f = Fixture::new();
    let config = f.dir.path().join("home/xdg/git");
    fs::create_dir_all(&config).expect("directory");
    fs::write(config.join("ignore"), "*.swp\n").expect("write");
    fs::write(config.join("attributes"), "*.txt filter=up\n").expect("write");
    f.git(&["config", "filter.up.smudge", "tr a-z A-Z"]);
    let proofs = Proofs::start(f);
    fs::remove_dir_all(&config).expect("remove");
    let lease = proofs.prepared();
    assert_eq!(text(&lease, "a.txt"), "ONE\nTWO\n3\n");
    fs::write(lease.tree().join("x.swp"), "x").expect("write");
    fs::write(lease.tree().join("x.txt"), "x").expect("write");
    assert_eq!(proofs.git_there(&lease, &["ls-files", "--others", "--exclude-standard"]), "x.txt");
}

#[test]
fn l4_hidden_edits_do_not_reach_a_proof() {
    let proofs = Proofs::start(with_attributes());
    proofs.f.git(&["update-index", "--assume-unchanged", "a.txt"]);
    proofs.f.git(&["update-index", "--skip-worktree", "dir/b.txt"]);
    proofs.f.git(&["config", "filter.x.clean", "git cat-file -p HEAD:%f"]);
    proofs.f.write("a.txt", "hidden\n");
    proofs.f.write("dir/b.txt", "hidden\n");
    assert_eq!(proofs.f.status(), "");
    let lease = proofs.prepared();
    assert_eq!(
        (text(&lease, "a.txt").as_str(), text(&lease, "dir/b.txt").as_str()),
        ("one\ntwo\n3\n", "b\n")
    );
}

#[test]
fn l4_replaced_objects_and_grafts_have_no_say() {
    let f = Fixture::new();
    f.write("a.txt", "forged\n");
    f.git(&["add", "a.txt"]);
    let tree = f.git(&["write-tree"]);
    let forged = f.git(&["commit-tree", &tree, "-m", "forged"]);
    f.git(&["reset", "-q", "--hard"]);
    let tip = f.oid("HEAD");
    let proofs = Proofs::start(f);
    proofs.f.git(&["replace", tip.as_str(), &forged]);
    fs::write(proofs.f.repo.common_dir().join("info/grafts"), format!("{tip}\n")).expect("write");
    let lease = proofs.prepared();
    assert_eq!(content(lease.tree()), committed());
    assert_eq!(proofs.git_there(&lease, &["log", "--format=%s"]), "c3\nc2\nc1");
}

#[test]
fn l4_what_checks_did_to_the_checkout_is_undone() {
    let proofs = Proofs::start(Fixture::new());
    let mut lease = proofs.prepared();
    let tree = lease.tree().to_owned();
    let outside = proofs.f.dir.path().join("outside");
    fs::create_dir(&outside).expect("directory");
    fs::write(outside.join("b.txt"), "outside\n").expect("write");
    proofs.git_there(&lease, &["update-index", "--assume-unchanged", "a.txt"]);
    proofs.git_there(&lease, &["config", "core.sparseCheckout", "true"]);
    proofs.git_there(&lease, &["config", "core.worktree", "/nowhere"]);
    fs::write(tree.join(".git/info/exclude"), "*\n").expect("write");
    fs::write(tree.join(".git/info/attributes"), "* eol=crlf\n").expect("write");
    fs::write(tree.join("a.txt"), "forged\n").expect("write");
    fs::remove_dir_all(tree.join("dir")).expect("remove");
    symlink(&outside, tree.join("dir")).expect("a link");
    symlink(&outside, tree.join("target")).expect("a link");
    fs::create_dir_all(tree.join("nested/closed/in")).expect("directory");
    assert!(git_in(proofs.f.dir.path(), &tree.join("nested"), &["init", "-q"]).status.success());
    fs::write(tree.join("nested/closed/in/x"), "x").expect("write");
    for dir in ["nested/closed/in", "nested/closed"] {
        fs::set_permissions(tree.join(dir), fs::Permissions::from_mode(0o000)).expect("mode");
    }
    proofs.prepare(&mut lease);
    assert_eq!(content(&tree), committed());
    assert_eq!(
        fs::read_to_string(outside.join("b.txt")).expect("read"),
        "outside\n",
        "nothing outside was touched"
    );
    assert_eq!(proofs.git_there(&lease, &["status", "--porcelain", "--ignored"]), "");
}

#[test]
fn l4_directories_of_the_commit_that_checks_closed_are_opened() {
    let proofs = Proofs::start(Fixture::new());
    let mut lease = proofs.prepared();
    for closed in ["dir", ""] {
        fs::set_permissions(lease.tree().join(closed), fs::Permissions::from_mode(0o000)).expect("mode");
    }
    proofs.prepare(&mut lease);
    assert_eq!(content(lease.tree()), committed());
    fs::remove_dir_all(lease.tree().join(".git")).expect("remove");
    symlink("/nowhere", lease.tree().join(".git")).expect("a link");
    proofs.prepare(&mut lease);
    assert_eq!(content(lease.tree()), committed());
}

#[test]
fn l4_an_edit_that_keeps_size_and_time_is_undone() {
    let proofs = Proofs::start(Fixture::new());
    let mut lease = proofs.prepared();
    // Until git is sure that its index is newer than the file, it would look at the content anyway.
    proofs.prepare(&mut lease);
    let path = lease.tree().join("a.txt");
    let modified = fs::metadata(&path).expect("there").modified().expect("a time");
    fs::write(&path, "two\none\n3\n").expect("write");
    let file = fs::File::options().write(true).open(&path).expect("open");
    file.set_times(fs::FileTimes::new().set_modified(modified)).expect("times");
    proofs.prepare(&mut lease);
    assert_eq!(content(lease.tree()), committed());
}

#[test]
fn l4_files_that_become_directories_and_back_are_what_the_commit_says() {
    let proofs = Proofs::start(Fixture::new());
    let mut lease = proofs.prepared();
    fs::create_dir(lease.tree().join("new")).expect("directory");
    fs::create_dir(lease.tree().join("target")).expect("directory");
    for name in ["new/planted", "target/built"] {
        fs::write(lease.tree().join(name), "x").expect("write");
    }
    proofs.f.write("new", "a file\n");
    proofs.f.write("target", "a file\n");
    proofs.f.git(&["rm", "-q", "dir/b.txt"]);
    proofs.f.write("dir", "a file\n");
    proofs.commit_all();
    proofs.prepare(&mut lease);
    let expected =
        [("a.txt", "one\ntwo\n3\n"), ("dir", "a file\n"), ("new", "a file\n"), ("target", "a file\n")];
    assert_eq!(content(lease.tree()), expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
    proofs.f.git(&["reset", "-q", "--hard", "HEAD~1"]);
    proofs.prepare(&mut lease);
    assert_eq!(content(lease.tree()), committed());
}

#[test]
fn l4_hooks_of_the_commit_or_of_the_user_do_not_run() {
    let f = Fixture::new();
    f.git(&["config", "core.hooksPath", "hooks"]);
    f.write("hooks/post-checkout", "#!/bin/sh\ntouch ran\n");
    f.write("hooks/post-index-change", "#!/bin/sh\ntouch ran\n");
    for hook in ["post-checkout", "post-index-change"] {
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(f.path("hooks").join(hook), mode).expect("mode");
    }
    f.git(&["add", "-A"]);
    f.git(&["-c", "core.hooksPath=/dev/null", "commit", "-qm", "hooks"]);
    let proofs = Proofs::start(f);
    let mut lease = proofs.prepared();
    proofs.prepare(&mut lease);
    assert!(!lease.tree().join("ran").exists());
}

#[test]
fn r1_a_prepare_that_was_cut_short_is_repaired_by_the_next() {
    let proofs = Proofs::start(Fixture::new());
    let lease = proofs.prepared();
    let (dir, tree) = (lease.tree().parent().expect("a parent").to_owned(), lease.tree().to_owned());
    drop(lease);
    let broken: [(&str, &dyn Fn()); 6] = [
        ("killed in the middle of git", &|| {
            fs::write(dir.join("index.lock"), "half").expect("write");
            fs::write(tree.join("a.txt"), "half").expect("write");
            fs::remove_file(tree.join("dir/b.txt")).expect("remove");
        }),
        ("a half written index", &|| fs::write(dir.join("index"), "DIRC").expect("write")),
        ("no index", &|| fs::remove_file(dir.join("index")).expect("remove")),
        ("no git directory", &|| fs::remove_dir_all(tree.join(".git")).expect("remove")),
        ("no tree", &|| fs::remove_dir_all(&tree).expect("remove")),
        ("a tree that is a link", &|| {
            fs::rename(&tree, dir.join("elsewhere")).expect("rename");
            symlink("elsewhere", &tree).expect("a link");
        }),
    ];
    for (what, break_it) in broken {
        break_it();
        let lease = proofs.prepared();
        assert_eq!(content(lease.tree()), committed(), "{what}");
        assert!(!fs::symlink_metadata(&tree).expect("there").is_symlink());
        assert_eq!(proofs.git_there(&lease, &["status", "--porcelain"]), "", "{what}");
    }
}

/// Git lives on when whoever started it is killed; until it is done the checkout is not free.
#[test]
fn r1_a_checkout_is_not_free_while_a_git_of_a_dead_process_works_in_it() {
    let f = Fixture::new();
    f.write(".gitattributes", "a.txt filter=x\n");
    f.git(&["add", "-A"]);
    f.git(&["commit", "-qm", "attributes"]);
    let fifo = f.dir.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo").success());
    f.git(&["config", "filter.x.smudge", &format!("cat {}", fifo.display())]);
    let proofs = Proofs::start(f);
    let (other, holders) = std::thread::scope(|scope| {
        let preparing = scope.spawn(|| proofs.prepare(&mut proofs.lease()));
        // Opening it waits for the filter to read: git is in the middle of its work.
        let open = fs::OpenOptions::new().write(true).open(&fifo).expect("open");
        let other = proofs.lease().tree().to_owned();
        let holders = holders_of(&proofs.f.dir.path().join("data/proof/0.lock"));
        drop(open);
        preparing.join().expect("no panic");
        (other, holders)
    });
    assert!(other.ends_with("1/tree"), "{}", other.display());
    assert!(holders.iter().any(|name| name == "git"), "{holders:?}");
}

/// The names of processes that have a file open.
fn holders_of(file: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for process in fs::read_dir("/proc").expect("proc").flatten() {
        let open = fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten();
        if open.into_iter().any(|fd| fs::read_link(fd.path()).is_ok_and(|target| target == file)) {
            names.extend(fs::read_to_string(process.path().join("comm")).map(|name| name.trim().to_owned()));
        }
    }
    names
}

#[test]
fn l4_a_snapshot_that_was_tampered_with_is_refused() {
    let f = with_attributes();
    f.write(".worktreeinclude", "secret\n");
    f.write(".gitignore", "secret\n");
    f.write("secret", "start\n");
    f.git(&["config", "filter.x.smudge", "cat"]);
    let proofs = Proofs::start(f);
    let (dir, sha256) = (proofs.snapshot.dir().to_owned(), proofs.snapshot.sha256().to_owned());
    let opened = Snapshot::open(&dir, &sha256).expect("as it was taken");
    let mut lease = proofs.lease();
    let proofs = Proofs { snapshot: opened, ..proofs };
    proofs.prepare(&mut lease);

    for piece in fs::read_dir(dir.join("pieces")).expect("pieces").map(|entry| entry.expect("entry").path()) {
        let before = fs::read(&piece).expect("read");
        fs::write(&piece, [&before[..], b"\n"].concat()).expect("write");
        let refused = proofs.try_prepare(&mut lease, &[], &[]);
        assert!(matches!(refused, Err(ProofError::SnapshotChanged { .. })), "{refused:?}");
        fs::remove_file(&piece).expect("remove");
        let refused = proofs.try_prepare(&mut lease, &[], &[]);
        assert!(matches!(refused, Err(ProofError::SnapshotMissing { .. })), "{refused:?}");
        fs::write(&piece, before).expect("write");
        // The file that was laid out before would do, were it not asked for again.
        fs::remove_dir_all(lease.tree()).expect("remove");
    }
    let manifest = dir.join("manifest");
    let text = fs::read(&manifest).expect("read");
    fs::write(&manifest, [&text[..], b"piece refs 0\0"].concat()).expect("write");
    assert!(matches!(Snapshot::open(&dir, &sha256), Err(ProofError::SnapshotChanged { .. })));
    fs::remove_file(&manifest).expect("remove");
    assert!(matches!(Snapshot::open(&dir, &sha256), Err(ProofError::SnapshotMissing { .. })));
}

#[test]
fn l4_a_snapshot_that_was_cut_short_is_taken_again() {
    let f = Fixture::new();
    let dir = f.dir.path().join("task/start");
    fs::create_dir_all(dir.join("pieces")).expect("directory");
    fs::write(dir.join("pieces/new"), "half").expect("write");
    let taken = Snapshot::take(&f.repo, &dir).expect("a snapshot");
    let again = Snapshot::take(&f.repo, &dir).expect("a snapshot");
    assert_eq!(taken.sha256(), again.sha256(), "of the same state the same");
    Snapshot::open(&dir, again.sha256()).expect("there");
}
