//! Who wants to know only that something has changed.

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::*;

/// Whether the bell rings within this time.
fn rings(bell: &Bell, within: Duration) -> bool {
    let mut ready = [PollFd::new(bell, PollFlags::IN)];
    poll(&mut ready, Some(&Timespec::try_from(within).unwrap())).unwrap() > 0
}

#[test]
fn a_record_is_watched_without_what_agents_print() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = new_task(&scratch.path().join("t"), "rehearsal");
    let mut driven = Driven::new(&dir);
    driven.begin_turn();
    let (hub, bell, all) = (Hub::new().unwrap(), Bell::new().unwrap(), Bell::new().unwrap());
    let mut record = hub.watch_record(&dir, &bell).unwrap();
    assert!(record.is_new(), "what is there already is news");
    assert!(!record.is_new());
    bell.silence();
    // Somebody else of the same process wants all of it.
    let mut follow = hub.open(&dir, kinds(), Opening::Start).unwrap();
    follow.ring(&all);
    while follow.next(Some(Instant::now())).unwrap().is_some() || !follow.is_up_to_date() {}
    all.silence();
    bell.silence();
    driven.print(b"{\"kind\":\"text\",\"text\":\"much\"}\n");
    assert!(rings(&all, LONG), "who follows it hears of output");
    assert!(!rings(&bell, Duration::ZERO) && !record.is_new(), "who watches its record does not");
    driven.note("an event");
    assert!(rings(&bell, LONG));
    assert!(record.is_new());
    assert!(!record.is_gone());
    bell.silence();
    fs::rename(dir.path(), scratch.path().join("u")).unwrap();
    assert!(rings(&bell, LONG));
    assert!(record.is_gone());
}

#[test]
fn a_record_tells_that_nobody_drives_the_task_any_more() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = new_task(&scratch.path().join("t"), "rehearsal");
    let mut driven = Driven::new(&dir);
    driven.begin_turn();
    let (hub, bell) = (Hub::new().unwrap(), Bell::new().unwrap());
    let mut record = hub.watch_record(&dir, &bell).unwrap();
    assert!(record.is_new());
    bell.silence();
    drop(driven);
    assert!(rings(&bell, LONG));
    assert!(record.is_new());
}

#[test]
fn a_new_entry_of_a_directory_rings() {
    let scratch = tempfile::tempdir().unwrap();
    let (hub, bell) = (Hub::new().unwrap(), Bell::new().unwrap());
    let watched = hub.watch_directory(scratch.path(), &bell).unwrap();
    assert!(!rings(&bell, Duration::ZERO));
    fs::create_dir(scratch.path().join("t")).unwrap();
    assert!(rings(&bell, LONG));
    bell.silence();
    // Two who watch the same do not lose it when one of them goes.
    let second = hub.watch_directory(scratch.path(), &bell).unwrap();
    drop(watched);
    fs::create_dir(scratch.path().join("u")).unwrap();
    assert!(rings(&bell, LONG));
    drop(second);
    bell.silence();
    fs::create_dir(scratch.path().join("v")).unwrap();
    // Another watch of the same hub: when its news has come, none of the directory is under way any more.
    let other = tempfile::tempdir().unwrap();
    let other_bell = Bell::new().unwrap();
    let _other = hub.watch_directory(other.path(), &other_bell).unwrap();
    fs::create_dir(other.path().join("w")).unwrap();
    assert!(rings(&other_bell, LONG));
    assert!(!rings(&bell, Duration::ZERO), "nobody watches it any more");
}
