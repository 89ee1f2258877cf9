//! What clients are told when a task ends, is taken up again, or goes away; and how they leave.

use super::*;

fn task() -> (tempfile::TempDir, TaskDir) {
    let scratch = tempfile::tempdir().unwrap();
    let dir = new_task(&scratch.path().join("t"), "text");
    (scratch, dir)
}

#[test]
fn who_follows_is_told_what_was_what_comes_and_when_it_rests() {
    let (_scratch, dir) = task();
    let mut driven = Driven::new(&dir);
    driven.note("one");
    let hub = Hub::new().unwrap();
    let mut follow = hub.open(&dir, kinds(), Opening::Start).unwrap();
    assert_eq!(said(&[next(&mut follow), next(&mut follow)]), ["one", "CaughtUp"]);
    assert!(follow.next(Some(Instant::now())).unwrap().is_none() && follow.is_driven());
    driven.begin_turn();
    driven.print(b"half a li");
    assert_eq!(said(&[next(&mut follow)]), ["turn_started"]);
    driven.print(b"ne\nand");
    assert_eq!(said(&[next(&mut follow)]), ["says \"half a line\\n\""]);
    driven.end_turn();
    assert_eq!(said(&[next(&mut follow), next(&mut follow)]), ["says \"and\"", "turn_finished"]);
    drop(driven);
    assert_eq!(next(&mut follow), Item::Over(Rest::Interrupted));
    assert!(follow.next(Some(Instant::now())).unwrap().is_none() && !follow.is_driven());
    // Somebody takes it up again.
    let mut driven = Driven::new(&dir);
    driven.note("two");
    assert_eq!(said(&[next(&mut follow)]), ["two"]);
    drop(driven);
    assert_eq!(next(&mut follow), Item::Over(Rest::Interrupted));
    assert_eq!(hub.trouble(), None);
}

#[test]
fn a_tail_has_all_events_and_the_last_things_of_the_turn_at_work() {
    let (_scratch, dir) = task();
    let mut driven = Driven::new(&dir);
    driven.begin_turn();
    driven.print(b"earlier turn\n");
    driven.end_turn();
    driven.begin_turn();
    driven.print(b"a\nb\nc\nd\nun");
    let hub = Hub::new().unwrap();
    let mut follow = hub.open(&dir, kinds(), Opening::Tail(2)).unwrap();
    let first: Vec<Item> = (0..6).map(|_| next(&mut follow)).collect();
    let expected =
        ["turn_started", "turn_finished", "turn_started", "says \"c\\n\"", "says \"d\\n\"", "CaughtUp"];
    assert_eq!(said(&first), expected);
    driven.print(b"finished\n");
    assert_eq!(said(&[next(&mut follow)]), ["says \"unfinished\\n\""]);
}

#[test]
fn a_task_that_is_put_away_or_removed_is_gone() {
    for remove in [false, true] {
        let (scratch, dir) = task();
        let mut driven = Driven::new(&dir);
        driven.note("one");
        let hub = Hub::new().unwrap();
        let mut follow = hub.open(&dir, kinds(), Opening::Start).unwrap();
        assert_eq!(said(&[next(&mut follow), next(&mut follow)]), ["one", "CaughtUp"]);
        if remove {
            fs::remove_dir_all(dir.path()).unwrap();
        } else {
            fs::rename(dir.path(), scratch.path().join("dropped")).unwrap();
        }
        assert_eq!(next(&mut follow), Item::Over(Rest::Gone));
        assert_eq!(next(&mut follow), Item::Over(Rest::Gone));
        // Another one of the same name is another task.
        let dir = new_task(&scratch.path().join("t"), "text");
        Driven::new(&dir).note("new");
        let mut other = hub.open(&dir, kinds(), Opening::Start).unwrap();
        assert_eq!(said(&until_rest(&mut other)), ["new"]);
        assert_eq!(next(&mut follow), Item::Over(Rest::Gone));
    }
}

#[test]
fn output_is_followed_in_a_directory_that_is_made_later_or_anew() {
    let (_scratch, dir) = task();
    let turns = dir.path().join("turns");
    fs::remove_dir(&turns).unwrap();
    let hub = Hub::new().unwrap();
    let mut driven = Driven::new(&dir);
    let mut follow = hub.open(&dir, kinds(), Opening::Start).unwrap();
    assert_eq!(next(&mut follow), Item::CaughtUp);
    for _ in 0..2 {
        fs::create_dir(&turns).unwrap();
        driven.begin_turn();
        assert_eq!(said(&[next(&mut follow)]), ["turn_started"]);
        driven.print(b"x\n");
        assert_eq!(said(&[next(&mut follow)]), ["says \"x\\n\""]);
        driven.end_turn();
        assert_eq!(said(&[next(&mut follow)]), ["turn_finished"]);
        fs::remove_dir_all(&turns).unwrap();
    }
}

#[test]
fn a_sleep_is_cancelled_from_another_thread() {
    let (_scratch, dir) = task();
    let _driven = Driven::new(&dir);
    let hub = Hub::new().unwrap();
    let mut follow = hub.open(&dir, kinds(), Opening::Start).unwrap();
    assert_eq!(next(&mut follow), Item::CaughtUp);
    let canceller = follow.canceller();
    let sleeper = std::thread::spawn(move || follow.next(None).unwrap());
    canceller.cancel();
    assert_eq!(sleeper.join().unwrap(), None);
    assert_eq!(hub.tasks(), 0);
}

#[test]
fn one_bell_rings_for_many() {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let scratch = tempfile::tempdir().unwrap();
    let dirs = ["a", "b"].map(|name| new_task(&scratch.path().join(name), "text"));
    let mut driven = dirs.each_ref().map(Driven::new);
    let hub = Hub::new().unwrap();
    let bell = Bell::new().unwrap();
    let mut follows = dirs.each_ref().map(|dir| hub.open(dir, kinds(), Opening::Start).unwrap());
    let rings = |timeout: Duration| {
        let timeout = Timespec::try_from(timeout).unwrap();
        poll(&mut [PollFd::new(&bell, PollFlags::IN)], Some(&timeout)).unwrap() == 1
    };
    for follow in &mut follows {
        follow.ring(&bell);
        assert_eq!(next(follow), Item::CaughtUp);
    }
    for which in [1, 0, 1] {
        bell.silence();
        assert!(follows.iter_mut().all(|follow| follow.next(Some(Instant::now())).unwrap().is_none()));
        driven[which].note("here");
        assert!(rings(LONG));
        assert_eq!(said(&[next(&mut follows[which])]), ["here"]);
        bell.silence();
    }
}

#[test]
fn what_nobody_is_told_of_is_looked_at() {
    let (scratch, dir) = task();
    let mut driven = Driven::new(&dir);
    let hub = Hub::without_notices();
    assert!(hub.trouble().unwrap().contains("looked at 3 times a second"));
    let mut follow = hub.open(&dir, kinds(), Opening::Start).unwrap();
    assert_eq!(next(&mut follow), Item::CaughtUp);
    driven.note("one");
    assert_eq!(said(&[next(&mut follow)]), ["one"]);
    drop(driven);
    assert_eq!(next(&mut follow), Item::Over(Rest::Interrupted));
    fs::rename(dir.path(), scratch.path().join("dropped")).unwrap();
    assert_eq!(next(&mut follow), Item::Over(Rest::Gone));
}

#[test]
fn the_end_of_a_task_without_a_journal_is_noticed() {
    let (_scratch, dir) = task();
    let driven = Driven::new(&dir);
    fs::remove_file(dir.journal_path()).unwrap();
    let hub = Hub::new().unwrap();
    let mut watched = hub.watch(&dir).unwrap();
    assert!(watched.is_driven());
    drop(driven);
    watched.wait_until_at_rest();
    assert!(!watched.is_driven());
}
