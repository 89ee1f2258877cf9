//! What an agent can do in a workspace, and its checks in the proof checkout itself, to make another proof pass (L4).

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use dacapo_core::proof::{Lease, ProofError, Snapshot, Suspects};

use crate::fixture::{Fixture, git_in};
use crate::proof::{How, Proofs, content};

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
    proofs.prepare(&mut lease);
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
    fs::write(proofs.f.repo.common_dir().join("shallow"), format!("{tip}\n")).expect("write");
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
fn r1_what_a_crash_left_in_a_place_is_thrown_away() {
    let proofs = Proofs::start(Fixture::new());
    let place = proofs.f.dir.path().join("data/proof/0");
    let left: [(&str, &dyn Fn()); 4] = [
        ("half of a checkout", &|| {
            fs::create_dir_all(place.join("tree/.git")).expect("directories");
            fs::write(place.join("index.lock"), "half").expect("write");
            fs::write(place.join("tree/a.txt"), "half").expect("write");
        }),
        ("a file", &|| fs::write(&place, "x").expect("write")),
        ("a link", &|| symlink(proofs.f.dir.path(), &place).expect("a link")),
        ("half of a store", &|| {
            fs::remove_file(proofs.f.dir.path().join("data/store.git/config")).expect("remove");
        }),
    ];
    drop(proofs.prepared());
    for (what, leave) in left {
        leave();
        let lease = proofs.prepared();
        assert_eq!(content(lease.tree()), committed(), "{what}");
        assert_eq!(proofs.git_there(&lease, &["status", "--porcelain"]), "", "{what}");
    }
}

/// Something that not even root can change or remove, until this goes. None: only root may, and not on every file system.
struct Immutable(std::path::PathBuf);

impl Immutable {
    fn make(path: &std::path::Path) -> Option<Self> {
        chattr("+i", path).then(|| Self(path.to_owned()))
    }
}

impl Drop for Immutable {
    fn drop(&mut self) {
        chattr("-i", &self.0);
    }
}

fn chattr(flag: &str, path: &std::path::Path) -> bool {
    let done = std::process::Command::new("chattr").arg(flag).arg(path).output();
    done.is_ok_and(|done| done.status.success())
}

/// An undeletable file in it must not keep other commits from their proofs.
#[test]
fn l4_a_checkout_that_cannot_be_removed_is_given_up() {
    let proofs = Proofs::start(Fixture::new());
    let lease = proofs.prepared();
    let file = lease.tree().join("undeletable");
    fs::write(&file, "x").expect("write");
    let Some(mut immutable) = Immutable::make(&file) else { return };
    drop(lease);
    let left = fs::read_dir(proofs.f.dir.path().join("data/proof/undeletable")).expect("moved there");
    let left: Vec<_> = left.map(|entry| entry.expect("entry").path()).collect();
    assert_eq!(left.len(), 1);
    // By its new name.
    immutable.0 = left[0].join("tree/undeletable");
    assert_eq!(content(proofs.prepared().tree()), committed());
}

/// The same where the whole place can be neither removed nor moved.
#[test]
fn l4_a_place_that_cannot_be_moved_is_left_and_another_is_used() {
    let proofs = Proofs::start(Fixture::new());
    let lease = proofs.prepared();
    let place = lease.tree().parent().expect("a place").to_owned();
    let Some(immutable) = Immutable::make(&place) else { return };
    drop(lease);
    for _ in 0..2 {
        let lease = proofs.prepared();
        assert_eq!(content(lease.tree()), committed());
        assert_ne!(lease.tree().parent(), Some(place.as_path()));
    }
    let left = fs::read_dir(place.parent().expect("places")).expect("places").flatten();
    let left: Vec<_> = left.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    assert_eq!(left.iter().filter(|path| !path.ends_with("undeletable")).collect::<Vec<_>>(), [&place]);
    // With the cause gone, the place is used again.
    drop(immutable);
    assert_eq!(proofs.prepared().tree().parent(), Some(place.as_path()));
}

#[test]
fn l4_a_replaced_object_fails_the_proof() {
    let proofs = Proofs::start(Fixture::new());
    proofs.f.write("test.sh", "exit 1\n");
    proofs.commit_all();
    let id = proofs.f.git(&["rev-parse", "HEAD:test.sh"]);
    proofs.f.write("good.sh", "exit 0\n");
    let good = proofs.f.git(&["hash-object", "-w", "good.sh"]);
    let object = |id: &str| proofs.f.repo.objects_dir().join(&id[..2]).join(&id[2..]);
    fs::remove_file(object(&id)).expect("remove");
    fs::copy(object(&good), object(&id)).expect("copy");
    let refused = proofs.try_prepare(&mut proofs.lease(), How::default());
    assert!(matches!(refused, Err(ProofError::Git(_))), "{refused:?}");
}

#[test]
fn l4_bits_in_the_index_of_a_checkout_hide_nothing_in_the_next() {
    let proofs = Proofs::start(Fixture::new());
    let mut lease = proofs.prepared();
    let ours = lease.tree().with_file_name("index");
    let env = [("GIT_INDEX_FILE", ours.as_os_str())];
    let done = std::process::Command::new("git")
        .args(["-C", lease.tree().to_str().expect("a name"), "update-index", "--skip-worktree", "a.txt"])
        .envs(env)
        .status();
    assert!(done.expect("git").success());
    fs::remove_file(lease.tree().join("a.txt")).expect("remove");
    proofs.prepare(&mut lease);
    assert_eq!(content(lease.tree()), committed());
}

#[test]
fn l4_objects_of_lfs_are_taken_only_if_they_are_what_their_name_says() {
    let f = Fixture::new();
    // As git-lfs has it: the object is looked for in `lfs.storage`, by the name in the pointer.
    let smudge = "dir=$(git config lfs.storage); oid=$(sed -n 's/oid sha256://p'); \
                  cat \"$dir/objects/$(echo $oid | cut -c1-2)/$(echo $oid | cut -c3-4)/$oid\"";
    f.git(&["config", "filter.lfs.smudge", smudge]);
    f.git(&["config", "filter.lfs.clean", "cat"]);
    f.git(&["config", "filter.lfs.required", "true"]);
    f.write(".gitattributes", "*.bin filter=lfs\n");
    let content = b"large\n";
    let sum: String = hmac_sha256::Hash::hash(content).iter().map(|byte| format!("{byte:02x}")).collect();
    f.write("x.bin", &format!("version https://git-lfs.github.com/spec/v1\noid sha256:{sum}\nsize 6\n"));
    f.git(&["add", "-A"]);
    f.git(&["commit", "-qm", "lfs"]);
    let object = f.repo.common_dir().join("lfs/objects").join(&sum[..2]).join(&sum[2..4]).join(&sum);
    fs::create_dir_all(object.parent().expect("a parent")).expect("directories");
    fs::write(&object, "forged\n").expect("write");
    let proofs = Proofs::start(f);
    let refused = proofs.try_prepare(&mut proofs.lease(), How::default());
    assert!(refused.is_err(), "there is no such object: {refused:?}");
    fs::write(&object, content).expect("write");
    assert_eq!(text(&proofs.prepared(), "x.bin"), "large\n");
    // Once it is in the store, what becomes of it elsewhere does not matter.
    fs::write(&object, "forged\n").expect("write");
    assert_eq!(text(&proofs.prepared(), "x.bin"), "large\n");
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
        let refused = proofs.try_prepare(&mut lease, How::default());
        assert!(matches!(refused, Err(ProofError::SnapshotChanged { .. })), "{refused:?}");
        fs::remove_file(&piece).expect("remove");
        let refused = proofs.try_prepare(&mut lease, How::default());
        assert!(matches!(refused, Err(ProofError::SnapshotMissing { .. })), "{refused:?}");
        fs::write(&piece, before).expect("write");
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
    let taken = Snapshot::take(&f.repo, f.dir.path(), &dir, &Suspects::default()).expect("a snapshot");
    let again = Snapshot::take(&f.repo, f.dir.path(), &dir, &Suspects::default()).expect("a snapshot");
    assert_eq!(taken.sha256(), again.sha256(), "of the same state the same");
    Snapshot::open(&dir, again.sha256()).expect("there");
}
