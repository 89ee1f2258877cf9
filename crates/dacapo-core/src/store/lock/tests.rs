use std::process::{Command, Stdio};

use super::*;
use crate::inherited_locks::InheritedLocks;

/// What a task has locked: its directory and its journal.
fn target(dir: &Path) -> LockTarget {
    let journal = dir.join("journal.jsonl");
    std::fs::write(&journal, "").unwrap();
    LockTarget::dir_and_file(dir.to_owned(), journal, dir.join("lock"))
}

/// A lock that a child holds in our place, as a guard or git does.
fn handed_down(target: &LockTarget) -> std::process::Child {
    let lock = Lock::take(target).unwrap();
    let mut cat = Command::new("cat");
    lock.hand_to(&mut cat);
    cat.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
}

#[test]
fn k2_a_holder_that_lives_is_told_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let target = target(dir.path());
    let _lock = Lock::take(&target).unwrap();
    assert!(matches!(Lock::take(&target), Err(LockError::Held)));
}

#[test]
fn k2_a_lock_that_is_held_for_a_moment_is_waited_for_though_its_holder_lives() {
    let dir = tempfile::tempdir().unwrap();
    let target = target(dir.path());
    Lock::take(&target).unwrap().give_up();
    let brief = Lock::take_briefly(&target).unwrap();
    let taking = std::thread::spawn({
        let target = target.clone();
        move || Lock::take(&target).map(drop)
    });
    drop(brief);
    taking.join().unwrap().unwrap();
}

#[test]
fn s7_a_workspace_names_its_holder_by_its_final_name() {
    let dir = tempfile::tempdir().unwrap();
    let mut taken = WorkspaceLock::take(dir.path(), "fix-tests").unwrap();
    taken.name("fix-tests-2").unwrap();
    let (error, holder) = WorkspaceLock::take(dir.path(), "other").unwrap_err();
    assert!(matches!(error, LockError::Held));
    assert_eq!(holder.as_deref(), Some("fix-tests-2"));
}

#[test]
fn k2_what_a_dead_holder_started_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let target = target(dir.path());
    let mut child = handed_down(&target);
    let mut gone = Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    std::fs::write(&target.holder, format!("{}\n", gone.id())).unwrap();
    let taking = std::thread::spawn({
        let target = target.clone();
        move || Lock::take(&target).map(drop)
    });
    drop(child.stdin.take());
    child.wait().unwrap();
    taking.join().unwrap().unwrap();
}

#[test]
fn k2_what_another_thread_starts_meanwhile_does_not_keep_a_lock() {
    let dir = tempfile::tempdir().unwrap();
    let target = target(dir.path());
    for _ in 0..20 {
        let lock = Lock::take(&target).unwrap();
        let (ready, go) = std::sync::mpsc::channel::<()>();
        // Starts unrelated children for as long as the lock is held, and while it is handed to one that shall have it.
        let strangers = std::thread::spawn(move || {
            let mut all = Vec::new();
            while matches!(go.try_recv(), Err(std::sync::mpsc::TryRecvError::Empty)) || all.is_empty() {
                all.push(Command::new("sleep").arg("1000").spawn().unwrap());
            }
            all
        });
        let mut heir = Command::new("cat");
        lock.hand_to(&mut heir);
        let mut heir = heir.stdin(Stdio::piped()).spawn().unwrap();
        drop(ready);
        let strangers = strangers.join().unwrap();
        drop(lock);
        assert!(Lock::is_held(&target).unwrap(), "by the child that it was handed to");
        drop(heir.stdin.take());
        heir.wait().unwrap();
        // A starter goes on when its child has a new program, which is a moment before the kernel closes what that is not
        // to have. A descriptor that was inherited stays open for as long as the stranger lives.
        let deadline = Instant::now() + Duration::from_secs(60);
        while Lock::is_held(&target).unwrap() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        let free = !Lock::is_held(&target).unwrap();
        for mut stranger in strangers {
            stranger.kill().unwrap();
            stranger.wait().unwrap();
        }
        assert!(free, "though others live that were started meanwhile");
    }
}

#[test]
fn k2_a_lock_that_was_given_up_is_handed_to_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let target = target(dir.path());
    let lock = Lock::take(&target).unwrap();
    let handed = InheritedLocks::of([&lock]);
    handed.add(&lock);
    assert_eq!(handed.held().len(), 1);
    assert_eq!(handed.shares().unwrap().len(), 2, "the directory and the journal");
    drop(lock);
    assert_eq!(handed.held().len(), 0);
    Lock::take(&target).unwrap();
}

#[test]
fn k2_numbers_that_are_not_the_lock_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let target = target(dir.path());
    for numbers in ["", "x", "0,1,2", "-1", "9999", "3,"] {
        assert!(Lock::inherited(&target, numbers).unwrap().is_none(), "{numbers}");
    }
    // Something else that is open.
    let other = File::open(dir.path().parent().unwrap()).unwrap();
    let number = std::os::fd::IntoRawFd::into_raw_fd(other);
    assert!(Lock::inherited(&target, &number.to_string()).unwrap().is_none());
}

#[test]
fn r1_one_that_ended_and_was_not_waited_for_is_not_alive() {
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let pid = i32::try_from(child.id()).unwrap();
    assert!(is_alive(pid));
    drop(child.stdin.take());
    let start = Instant::now();
    while is_alive(pid) {
        assert!(start.elapsed() < Duration::from_secs(60));
        std::thread::sleep(LOOK_EVERY);
    }
    child.wait().unwrap();
    assert!(!is_alive(pid));
}

#[test]
fn r4_no_file_frees_the_lock_by_being_deleted_or_replaced() {
    type Act = fn(&Path);
    let acts: [(&str, Act); 5] = [
        ("nothing", |_| ()),
        ("the file with the holder's name is deleted", |dir| std::fs::remove_file(dir.join("lock")).unwrap()),
        ("the file with the holder's name is forged", |dir| std::fs::write(dir.join("lock"), "1\n").unwrap()),
        ("the journal is replaced", |dir| {
            std::fs::rename(dir.join("journal.jsonl"), dir.join("aside")).unwrap();
            std::fs::copy(dir.join("aside"), dir.join("journal.jsonl")).unwrap();
        }),
        ("all files are deleted", |dir| {
            for entry in std::fs::read_dir(dir).unwrap() {
                std::fs::remove_file(entry.unwrap().path()).unwrap();
            }
            std::fs::write(dir.join("journal.jsonl"), "").unwrap();
        }),
    ];
    for (what, act) in acts {
        let dir = tempfile::tempdir().unwrap();
        let target = target(dir.path());
        let lock = Lock::take(&target).unwrap();
        act(dir.path());
        assert!(Lock::is_held(&target).unwrap(), "{what}");
        assert!(matches!(Lock::win(&target), Err(LockError::Held | LockError::Lingering)), "{what}");
        drop(lock);
        assert!(!Lock::is_held(&target).unwrap(), "{what}");
        drop(Lock::take(&target).unwrap());
    }
}

#[test]
fn r4_a_renamed_directory_takes_its_lock_along() {
    let dir = tempfile::tempdir().unwrap();
    let (old, new) = (dir.path().join("old"), dir.path().join("new"));
    std::fs::create_dir(&old).unwrap();
    let lock = Lock::take(&target(&old)).unwrap();
    std::fs::rename(&old, &new).unwrap();
    let moved = LockTarget::dir_and_file(new.clone(), new.join("journal.jsonl"), new.join("lock"));
    assert!(matches!(Lock::take(&moved), Err(LockError::Held)));
    drop(lock);
    Lock::take(&moved).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn r4_a_process_that_is_only_named_as_the_holder_is_not_taken_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let target = target(dir.path());
    let lock = Lock::take(&target).unwrap();
    let _lock = lock;
    let own = rustix::process::getpid();
    assert_eq!(Lock::holder(&target, None), Some(own));
    let mut bystander = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    std::fs::write(&target.holder, format!("{}\n", bystander.id())).unwrap();
    assert_eq!(Lock::holder(&target, None), None);
    assert_eq!(Lock::holder(&target, [own]), Some(own), "whom the journal names is seen to have it");
    std::fs::remove_file(&target.holder).unwrap();
    assert_eq!(Lock::holder(&target, [own]), Some(own));
    drop(bystander.stdin.take());
    bystander.wait().unwrap();
}
