//! Jobs that see only a part of the machine, and jobs that are stopped for a while.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};

use dacapo_core::process::{Exit, Finished, Job, Launcher, Masker, Room, RoomRefused, Shows, Stop};

use crate::support::{AMPLE_GRACE, EXE, PATIENCE, is_alive, launcher, named, script, start, wait_for};

/// A directory with `hidden/secret`, `hidden/kept/file` and `other/file`.
fn furnished() -> (tempfile::TempDir, Room) {
    let dir = tempfile::tempdir().unwrap();
    // For those who are not root.
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let path = dir.path().canonicalize().unwrap();
    for file in ["hidden/secret", "hidden/kept/file", "other/file", "shown/old", "hidden/one"] {
        let file = path.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, file.file_name().unwrap().as_encoded_bytes()).unwrap();
        fs::set_permissions(file.parent().unwrap(), fs::Permissions::from_mode(0o777)).unwrap();
    }
    let mut room = Room::default();
    room.show(path.join("hidden"), Shows::Nothing);
    room.show(path.join("hidden/kept"), Shows::Itself);
    room.show(path.join("hidden/one"), Shows::Itself);
    room.show(path.join("shown"), Shows::Other(path.join("other")));
    room.show(path.join("never/was"), Shows::Nothing);
    (dir, room)
}

fn in_room(dir: &Path, room: &Room, text: &str) -> Job {
    Job { room: Some(room.clone()), ..script(dir, text) }
}

fn run_by(mut launcher: Launcher, job: Job) -> (Finished, String) {
    let out = job.stdout.clone();
    let finished = start(&mut launcher, job).1.recv_timeout(PATIENCE).unwrap();
    (finished, fs::read_to_string(out).unwrap())
}

/// A guard of an ordinary user; none: we are not root, and ourselves one.
fn of_nobody(dir: &Path) -> Option<Launcher> {
    wrapped(dir, "")
}

/// The same, after another command.
fn wrapped(dir: &Path, before: &str) -> Option<Launcher> {
    rustix::process::geteuid().is_root().then(|| {
        // A copy: nobody may not enter every directory that leads to the program.
        let (program, wrapper) = (dir.join("guard"), dir.join("wrapper"));
        fs::copy(EXE, &program).unwrap();
        let text = format!(
            "#!/bin/sh\n{before}\nexec setpriv --reuid=65534 --regid=65534 --clear-groups {} \"$@\"\n",
            program.display()
        );
        fs::write(&wrapper, text).unwrap();
        fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
        Launcher::new(wrapper, Arc::new(Masker::new([]))).unwrap()
    })
}

/// The launchers of root and of an ordinary user, as far as we can be both.
fn launchers(dir: &Path) -> Vec<Launcher> {
    [Some(launcher()), of_nobody(dir)].into_iter().flatten().collect()
}

#[test]
fn a_room_shows_what_it_is_to_show_and_nothing_of_it_can_be_undone() {
    let (dir, room) = furnished();
    let path = dir.path().canonicalize().unwrap();
    for (number, launcher) in launchers(&path).into_iter().enumerate() {
        let text = format!(
            "cd {0}; find hidden shown -type f | sort; cat hidden/kept/file hidden/one shown/file; echo; \
             echo new > hidden/kept/new{number}; umount hidden; umount -l hidden; \
             unshare -Urm umount {0}/hidden; ls hidden; echo $$; id -u; pwd",
            path.display()
        );
        let mut job = in_room(&path, &room, &text);
        job.stdout = path.join(format!("out{number}"));
        job.stderr = dacapo_core::process::Stderr::File(path.join(format!("err{number}")));
        let (finished, out) = run_by(launcher, job);
        let errors = fs::read_to_string(path.join(format!("err{number}"))).unwrap();
        assert_eq!((finished.exit, finished.room_refused), (Exit::Code(0), None), "{errors}");
        let user = [0, 65534][number];
        let expected = format!(
            "hidden/kept/file\nhidden/one\nshown/file\nfileonefile\nkept\none\n2\n{user}\n{}\n",
            path.display()
        );
        let earlier = if number == 1 { "hidden/kept/new0\n" } else { "" };
        assert_eq!(out, expected.replacen("hidden/one\n", &format!("{earlier}hidden/one\n"), 1), "{errors}");
        assert!(path.join(format!("hidden/kept/new{number}")).exists(), "what is kept can be written");
        assert!(path.join("hidden/secret").exists() && path.join("shown/old").exists());
    }
}

#[test]
fn where_no_other_proc_can_be_mounted_a_room_shares_the_processes_of_the_machine() {
    let (dir, room) = furnished();
    let path = dir.path().canonicalize().unwrap();
    // As in a container, where parts of /proc are covered.
    let covered = "[ \"$COVERED\" ] || COVERED=1 exec unshare -m sh \"$0\" \"$@\"; mount --bind /dev/null /proc/version";
    let Some(launcher) = wrapped(&path, covered) else { return };
    let (finished, out) = run_by(launcher, in_room(&path, &room, "ls hidden; [ $$ != 2 ] && exit 7"));
    assert_eq!((finished.exit, finished.room_refused), (Exit::Code(7), None));
    assert_eq!(out, "kept\none\n");
}

#[test]
fn exit_codes_signals_and_missing_programs_arrive_from_a_room() {
    let (dir, room) = furnished();
    for (number, (text, exit)) in
        [("exit 42", Exit::Code(42)), ("kill -9 $$", Exit::Signal(9)), ("kill -15 $$", Exit::Signal(15))]
            .into_iter()
            .enumerate()
    {
        let mut job = in_room(dir.path(), &room, text);
        job.stdout = dir.path().join(format!("o{number}"));
        job.stderr = dacapo_core::process::Stderr::WithStdout;
        let (finished, _) = run_by(launcher(), job);
        assert_eq!((finished.exit, finished.leftovers, finished.room_refused), (exit, 0, None), "{text}");
    }
    let mut job = in_room(dir.path(), &room, "");
    job.argv = vec!["no-such-program".into()];
    let (finished, _) = run_by(launcher(), job);
    assert!(
        matches!(&finished.exit, Exit::SpawnFailed { errno: 2, message, .. } if message.contains("no-such-program")),
        "{finished:?}"
    );
}

#[test]
fn a_daemon_ends_with_the_job_of_its_room_and_is_counted() {
    let (dir, room) = furnished();
    // Its own session, its own parent, no environment.
    let sleeper = format!("sleep 98765.{}", std::process::id());
    let text = format!(
        "(setsid env -i {sleeper} </dev/null >/dev/null 2>&1 &); until pgrep -f '^{sleeper}' >/dev/null; do :; done"
    );
    let (finished, _) = run_by(launcher(), in_room(dir.path(), &room, &text));
    assert_eq!((finished.exit, finished.leftovers), (Exit::Code(0), 1));
    assert_eq!(named(&sleeper), Vec::<u32>::new());
}

#[test]
fn a_gentle_stop_reaches_what_runs_in_a_room() {
    let (dir, room) = furnished();
    let text = "trap 'echo asked; exit 3' TERM; echo ready; while :; do sleep 0.01; done";
    let job = Job { grace: AMPLE_GRACE, ..in_room(dir.path(), &room, text) };
    let out = job.stdout.clone();
    let mut launcher = launcher();
    let (running, done) = start(&mut launcher, job);
    wait_for("the job", || fs::read_to_string(&out).ok().filter(|text| text.contains("ready")));
    running.stop(Stop::Gentle);
    let finished = done.recv_timeout(PATIENCE).unwrap();
    assert_eq!(finished.exit, Exit::Code(3));
    assert_eq!(fs::read_to_string(&out).unwrap(), "ready\nasked\n");
}

#[test]
fn nothing_of_a_room_outlives_its_guard() {
    let (dir, room) = furnished();
    let text = format!("echo $$; exec sleep 98764.{}", std::process::id());
    let job = in_room(dir.path(), &room, &text);
    let out = job.stdout.clone();
    let mut launcher = launcher();
    let (running, done) = start(&mut launcher, job);
    wait_for("the job", || fs::read_to_string(&out).ok().filter(|text| text.contains('\n')));
    let sleeper = format!("98764.{}", std::process::id());
    let pid = wait_for("the job's own program", || named(&format!("sleep\0{sleeper}")).first().copied());
    crate::support::kill(running.pid(), rustix::process::Signal::KILL);
    assert!(done.recv_timeout(PATIENCE).unwrap().guard_lost);
    wait_for("its end", || (!is_alive(pid)).then_some(()));
}

#[test]
fn a_job_runs_without_its_room_where_the_kernel_refuses_and_that_is_known() {
    let (dir, room) = furnished();
    let path: PathBuf = dir.path().canonicalize().unwrap();
    // In a room there are no rights to make another one.
    let mut nested = Room::default();
    nested.show(path.join("hidden"), Shows::Other(path.join("no-such")));
    let (finished, out) = run_by(launcher(), in_room(&path, &nested, "cat hidden/secret"));
    assert_eq!((finished.exit, out.as_str()), (Exit::Code(0), "secret"));
    let RoomRefused { step, errno } = finished.room_refused.unwrap();
    assert_eq!((step.call(), errno), ("open_tree", 2));
    drop(room);
}

#[test]
fn a_frozen_job_sleeps_without_its_work_and_goes_on_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let work = format!("sleep 98763.{}", std::process::id());
    // A helper that it starts with, then work that it is told to begin.
    let text = format!(
        "sleep 98762.{0} & helper=$!; echo $helper; read word; setsid {work} & echo $!; {work} & echo $!; \
         read word; kill $helper; echo over",
        std::process::id()
    );
    let (theirs, mut ours) = std::io::pipe().unwrap();
    let mut job = script(dir.path(), &text);
    job.stdin = dacapo_core::process::Stdin::From(theirs.into());
    let out = job.stdout.clone();
    let mut launcher = launcher();
    let (running, done) = start(&mut launcher, job);
    let lines = |count: usize| {
        wait_for("its lines", || {
            let text = fs::read_to_string(&out).unwrap_or_default();
            let lines: Vec<u32> = text.lines().filter_map(|line| line.parse().ok()).collect();
            (lines.len() >= count).then_some(lines)
        })
    };
    let helper = lines(1)[0];
    running.remember();
    std::io::Write::write_all(&mut ours, b"work\n").unwrap();
    assert_eq!(lines(3).len(), 3);
    wait_for("its work", || (named(&work.replace(' ', "\0")).len() == 2).then_some(()));
    let (tell, told) = mpsc::channel();
    running.freeze(move || tell.send(()).unwrap());
    told.recv_timeout(PATIENCE).unwrap();
    assert_eq!(named(&work.replace(' ', "\0")), Vec::<u32>::new());
    let pid = rustix::process::Pid::from_raw(helper.cast_signed()).unwrap();
    assert!(dacapo_core::process::is_stopped(pid), "the helper is the job's own");
    running.thaw();
    std::io::Write::write_all(&mut ours, b"end\n").unwrap();
    let finished = done.recv_timeout(PATIENCE).unwrap();
    assert_eq!(finished.exit, Exit::Code(0));
    assert!(fs::read_to_string(&out).unwrap().ends_with("over\n"));
}
