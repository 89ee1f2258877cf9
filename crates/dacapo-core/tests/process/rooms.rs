//! Jobs that see only a part of the machine, and jobs that are stopped for a while.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};

use dacapo_core::process::{
    Exit, Finished, Job, Launcher, Masker, Otherwise, Processes, Room, RoomRefused, Shows, Stop, Trial, Walls,
};

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

/// Why there was no mount namespace.
fn refused(finished: &Finished) -> Option<RoomRefused> {
    finished.room.expect("the job was to have a room").refused()
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
        assert_eq!((&finished.exit, refused(&finished)), (&Exit::Code(0), None), "{errors}");
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
    assert_eq!((&finished.exit, refused(&finished)), (&Exit::Code(7), None));
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
        assert_eq!((&finished.exit, finished.leftovers, refused(&finished)), (&exit, 0, None), "{text}");
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
    assert_eq!((&finished.exit, out.as_str()), (&Exit::Code(0), "secret"));
    let RoomRefused { step, errno } = refused(&finished).unwrap();
    assert_eq!((step.call(), errno), ("open_tree", 2));
    drop(room);
}

/// A room as an agent has it: `protected/in/dir` cannot be written, all processes are seen.
fn guarded(path: &Path) -> Room {
    fs::create_dir_all(path.join("protected/in/dir")).unwrap();
    for dir in ["protected", "protected/in", "protected/in/dir"] {
        fs::set_permissions(path.join(dir), fs::Permissions::from_mode(0o777)).unwrap();
    }
    let mut room = Room { processes: Processes::Shared, ..Room::default() };
    room.show(path.join("protected/in/dir"), Shows::ReadOnly);
    room.show(path.join("protected/in"), Shows::Pinned);
    room.show(path.join("protected"), Shows::Pinned);
    room
}

#[test]
fn r5_nobody_gets_out_of_a_room() {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let path = dir.path().canonicalize().unwrap();
    let room = guarded(&path);
    for (number, launcher) in launchers(&path).into_iter().enumerate() {
        // Whoever gets out leaves a file, or says so.
        let text = format!(
            "cd {0}/protected/in/dir; echo x > write; touch ../beside || echo beside; \
             umount . ; umount -l {0}/protected/in/dir; mount -o remount,rw {0}/protected/in/dir; echo x > unmounted; \
             unshare -Urm sh -c 'umount -l {0}/protected/in/dir; mount -o remount,rw,bind {0}/protected/in/dir; \
               echo x > {0}/protected/in/dir/nested'; \
             mv {0}/protected {0}/moved; mv {0}/protected/in {0}/protected/moved; mv {0}/protected/in/dir ../moved; \
             rmdir {0}/protected/in/dir; \
             echo x > /proc/$PPID/root{0}/protected/in/dir/root; echo x > /proc/$PPID/cwd/{0}/protected/in/dir/cwd; \
             for d in /proc/$PPID/fd/*; do ls $d/ && echo descriptor $d; done; \
             nsenter -t $PPID -m touch {0}/protected/in/dir/entered; \
             for s in 0 TERM KILL STOP USR1; do kill -$s $PPID && echo signalled $s; done; \
             ls /proc/self/fd | tr '\\n' ' '; grep -h CapEff /proc/self/status",
            path.display()
        );
        let mut job = in_room(&path, &room, &text);
        job.stdout = path.join(format!("out{number}"));
        job.stderr = dacapo_core::process::Stderr::File(path.join(format!("err{number}")));
        let (finished, out) = run_by(launcher, job);
        let errors = fs::read_to_string(path.join(format!("err{number}"))).unwrap();
        let made = finished.room.unwrap();
        assert_eq!((&finished.exit, made.walls), (&Exit::Code(0), Walls::Mounts), "{errors}");
        assert_eq!(made.trials.held().collect::<Vec<_>>(), Trial::ALL);
        let (open, rights) = out.split_once("CapEff:").unwrap();
        assert_eq!(open, "0 1 2 3 ", "{errors}");
        let rights = u64::from_str_radix(rights.trim(), 16).unwrap();
        const SYS_ADMIN: u64 = 1 << 21;
        assert!(if number == 1 { rights == 0 } else { rights & SYS_ADMIN == 0 }, "{rights:x}");
        let left = |place: &str| fs::read_dir(path.join(place)).unwrap().count();
        assert_eq!((left("protected/in/dir"), left("protected")), (0, 1), "{errors}");
        assert!(path.join("protected/in/beside").exists(), "a pinned directory can be written in");
        fs::remove_file(path.join("protected/in/beside")).unwrap();
    }
}

#[test]
fn r5_a_strict_room_can_be_written_only_where_it_says_so() {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let path = dir.path().canonicalize().unwrap();
    for place in ["work", "beside"] {
        fs::create_dir(path.join(place)).unwrap();
        fs::set_permissions(path.join(place), fs::Permissions::from_mode(0o777)).unwrap();
    }
    let mut room = Room { processes: Processes::Shared, otherwise: Otherwise::Refuse, ..Room::default() };
    room.show("/", Shows::ReadOnly);
    room.show("/dev", Shows::Itself);
    room.show(path.join("work"), Shows::Itself);
    let text = format!(
        "cd {0}; echo x > beside/file; echo x > work/file && echo wrote; echo x > /dev/null && echo null; \
         mv work moved; ln work/file beside/link; cat work/file",
        path.display()
    );
    let kept_from_mounts = without_mounts(&path);
    for (number, launcher) in launchers(&path).into_iter().chain(kept_from_mounts).enumerate() {
        let mut job = in_room(&path, &room, &text);
        job.stdout = path.join(format!("out{number}"));
        job.stderr = dacapo_core::process::Stderr::WithStdout;
        let (finished, out) = run_by(launcher, job);
        let walls = finished.room.unwrap_or_else(|| panic!("{finished:?}")).walls;
        assert_eq!(matches!(walls, Walls::Mounts), number < 2, "{walls:?}");
        let said: Vec<&str> =
            out.lines().filter(|line| !line.contains("cannot") && !line.contains("failed")).collect();
        assert_eq!(said, ["wrote", "null", "x"], "{number}: {out}");
        fs::remove_file(path.join("work/file")).unwrap();
    }
}

/// A guard of root to which the kernel refuses mounts, as in a container.
fn without_mounts(dir: &Path) -> Option<Launcher> {
    rustix::process::geteuid().is_root().then(|| {
        let wrapper = dir.join("contained");
        let text =
            format!("#!/bin/sh\nexec setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin {EXE} \"$@\"\n");
        fs::write(&wrapper, text).unwrap();
        fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
        Launcher::new(wrapper, Arc::new(Masker::new([]))).unwrap()
    })
}

#[test]
fn r5_without_mounts_a_guarded_job_runs_and_a_strict_one_that_landlock_cannot_keep_does_not() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap();
    let room = guarded(&path);
    let text = "kill -0 $PPID || echo kept";
    let Some(launcher) = without_mounts(&path) else { return };
    let (finished, out) = run_by(launcher, in_room(&path, &room, text));
    let walls = finished.room.unwrap().walls;
    assert!(matches!(walls, Walls::None(RoomRefused { errno: libc::EPERM, .. })), "{walls:?}");
    assert_eq!((finished.exit, out.as_str()), (Exit::Code(0), "kept\n"), "signals are Landlock's");
    let strict = Room { otherwise: Otherwise::Refuse, ..room };
    let mut job = in_room(&path, &strict, text);
    job.stdout = path.join("strict");
    job.stderr = dacapo_core::process::Stderr::WithStdout;
    let (finished, _) = run_by(without_mounts(&path).unwrap(), job);
    assert!(
        matches!(&finished.exit, Exit::SpawnFailed { message, .. } if message.contains("cannot confine")),
        "{finished:?}"
    );
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
