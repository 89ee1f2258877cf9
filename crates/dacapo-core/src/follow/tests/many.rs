//! A thousand tasks, one thread.

use super::*;

/// Lines of `/proc/self/status`.
fn status(key: &str) -> u64 {
    let all = fs::read_to_string("/proc/self/status").unwrap();
    let line = all.lines().find_map(|line| line.strip_prefix(key)).unwrap();
    line.trim_start_matches(':').split_whitespace().next().unwrap().parse().unwrap()
}

/// Open descriptors, and those of them that are inotify instances.
fn descriptors() -> (usize, usize) {
    let links: Vec<_> = fs::read_dir("/proc/self/fd")
        .unwrap()
        .filter_map(|entry| fs::read_link(entry.unwrap().path()).ok())
        .collect();
    let notices = links.iter().filter(|link| link.to_str() == Some("anon_inode:inotify")).count();
    (links.len(), notices)
}

#[cfg(target_os = "linux")]
#[test]
fn a_thousand_tasks_cost_one_thread_and_one_instance() {
    const TASKS: usize = 1000;
    let scratch = tempfile::tempdir().unwrap();
    let dirs: Vec<TaskDir> =
        (0..TASKS).map(|n| new_task(&scratch.path().join(format!("t{n}")), "claude")).collect();
    for dir in &dirs {
        let mut driven = Driven::new(dir);
        driven.note("begins");
        driven.begin_turn();
        driven.print(b"{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n");
    }
    let (threads, memory, (files, notices)) = (status("Threads"), status("RssAnon"), descriptors());
    let hub = Hub::new().unwrap();
    let mut follows: Vec<Follow> =
        dirs.iter().map(|dir| hub.open(dir, kinds(), Opening::Start).unwrap()).collect();
    for follow in &mut follows {
        assert_eq!(until_rest(follow).len(), 3);
    }
    assert_eq!(hub.tasks(), TASKS);
    assert_eq!(hub.trouble(), None);
    let grown = status("RssAnon").saturating_sub(memory);
    let (files_now, notices_now) = descriptors();
    assert_eq!((status("Threads") - threads, notices_now - notices), (1, 1));
    assert!(files_now - files <= 4, "{files_now} descriptors");
    assert!(grown < 64 << 10, "{grown} kB for {TASKS} tasks");
    // News of any of them comes to its client.
    for n in [0, 500, TASKS - 1] {
        let mut driven = Driven::new(&dirs[n]);
        driven.note("again");
        assert_eq!(said(&[next(&mut follows[n])]), ["again"]);
    }
    drop(follows);
    assert_eq!(hub.tasks(), 0);
    drop(hub);
    assert_eq!((status("Threads"), descriptors()), (threads, (files, notices)), "nothing is left behind");
}

#[test]
fn clients_of_one_task_share_its_tape_and_leave_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = new_task(&scratch.path().join("t"), "rehearsal");
    let mut driven = Driven::new(&dir);
    driven.begin_turn();
    let hub = Hub::new().unwrap();
    let mut follows: Vec<Follow> =
        (0..10).map(|_| hub.open(&dir, kinds(), Opening::Start).unwrap()).collect();
    for n in 0..50 {
        driven.print(format!("{{\"kind\":\"text\",\"text\":\"{n}\"}}\n").as_bytes());
        // Some are always there, others come from far behind.
        for follow in follows.iter_mut().skip(n % 3).step_by(3) {
            while follow.next(Some(Instant::now())).unwrap().is_some() {}
        }
    }
    let texts = |follow: &mut Follow| {
        let mut count = 0;
        while follow.next(Some(Instant::now())).unwrap().is_some() || !follow.is_up_to_date() {
            count += 1;
        }
        (count, follow.position().clone())
    };
    let ends: Vec<Position> = follows.iter_mut().map(|follow| texts(follow).1).collect();
    assert!(ends.iter().all(|end| *end == ends[0] && end.raw.bytes > 1000), "{ends:?}");
    drop(follows);
    assert_eq!(hub.tasks(), 0);
}
