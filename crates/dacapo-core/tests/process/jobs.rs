//! What goes into a job and what comes out of it.

use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use dacapo_core::process::liveness::{ActivityMonitor, Verdict};
use dacapo_core::process::{Content, Exit, Follower, Launcher, Masker, Outputs, Stderr, Stdin, Stop};

use crate::support::{EXE, launcher, run, script, start, wait_for};

#[test]
fn exit_codes_and_signals_arrive() {
    for (text, exit) in [
        ("exit 0", Exit::Code(0)),
        ("exit 42", Exit::Code(42)),
        ("kill -9 $$", Exit::Signal(9)),
        ("kill -15 $$", Exit::Signal(15)),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let finished = run(script(dir.path(), text));
        assert_eq!((finished.exit, finished.guard_lost, finished.leftovers), (exit, false, 0), "{text}");
    }
}

#[test]
fn a_job_one_talks_with_goes_on_in_files_of_its_own_for_each_part() {
    let dir = tempfile::tempdir().unwrap();
    let (theirs, mut ours) = io::pipe().unwrap();
    let mut job = script(dir.path(), "while read -r line; do echo \"$line\"; echo \"err $line\" >&2; done");
    job.stdin = Stdin::From(theirs.into());
    job.stdout = dir.path().join("out0");
    job.stderr = Stderr::File(dir.path().join("err0"));
    let mut launcher = launcher();
    let (running, done) = start(&mut launcher, job);
    for part in 0..3 {
        if part > 0 {
            let outputs = Outputs {
                stdout: dir.path().join(format!("out{part}")),
                content: Content::Text,
                index: None,
                stderr: Stderr::File(dir.path().join(format!("err{part}"))),
            };
            assert!(running.continue_in(&outputs).unwrap());
        }
        let mut follower = Follower::live(running.progress(), 0).unwrap();
        writeln!(ours, "part {part}").unwrap();
        let mut buffer = Vec::new();
        assert!(follower.next(&mut buffer).unwrap());
        assert_eq!(buffer, format!("part {part}\n").as_bytes());
        let errors = running.stderr_progress().unwrap();
        wait_for("its standard error", || (errors.bytes() > 0).then_some(()));
    }
    drop(ours);
    let finished = done.recv().unwrap();
    assert_eq!((finished.exit, finished.output_bytes), (Exit::Code(0), 7));
    for part in 0..3 {
        let read = |name: &str| std::fs::read_to_string(dir.path().join(format!("{name}{part}"))).unwrap();
        assert_eq!([read("out"), read("err")], [format!("part {part}\n"), format!("err part {part}\n")]);
    }
    let late = Outputs {
        stdout: dir.path().join("late"),
        content: Content::Text,
        index: None,
        stderr: Stderr::WithStdout,
    };
    assert!(!running.continue_in(&late).unwrap(), "its streams have ended");
    assert!(!late.stdout.exists());
}

#[test]
fn files_that_a_job_never_came_to_use_end_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let (theirs, ours) = io::pipe().unwrap();
    let mut job = script(dir.path(), "cat");
    job.stdin = Stdin::From(theirs.into());
    let mut launcher = launcher();
    let (running, done) = start(&mut launcher, job);
    let outputs = Outputs {
        stdout: dir.path().join("next"),
        content: Content::Text,
        index: None,
        stderr: Stderr::File(dir.path().join("next-err")),
    };
    assert!(running.continue_in(&outputs).unwrap());
    let mut follower = Follower::live(running.progress(), 0).unwrap();
    drop(ours);
    assert!(!follower.next(&mut Vec::new()).unwrap(), "it ended without a word");
    done.recv().unwrap();
}

#[test]
fn a_start_that_fails_says_why() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("plain"), "no program").unwrap();
    std::fs::write(dir.path().join("orphan"), "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(dir.path().join("orphan"), PermissionsExt::from_mode(0o755)).unwrap();
    let cases: [(&str, &str, io::ErrorKind, &str); 6] = [
        ("no-such-program", ".", io::ErrorKind::NotFound, "cannot run no-such-program"),
        ("./plain", ".", io::ErrorKind::PermissionDenied, "cannot run ./plain"),
        ("./orphan", ".", io::ErrorKind::NotFound, "interpreter"),
        ("/bin/true", "gone", io::ErrorKind::NotFound, "cannot enter"),
        ("/bin/true", "plain", io::ErrorKind::NotADirectory, "cannot enter"),
        ("/bin/true", ".", io::ErrorKind::ArgumentListTooLong, "cannot run /bin/true"),
    ];
    for (number, (program, cwd, expected, words)) in cases.into_iter().enumerate() {
        let mut job = script(dir.path(), "");
        job.argv = vec![program.into()];
        if expected == io::ErrorKind::ArgumentListTooLong {
            job.argv.push("x".repeat(200_000).into());
        }
        job.cwd = dir.path().join(cwd);
        job.stdout = dir.path().join(format!("out{number}"));
        job.stderr = Stderr::WithStdout;
        match run(job).exit {
            Exit::SpawnFailed { kind, message, .. } => {
                assert_eq!(kind, expected, "{message}");
                assert!(message.contains(words), "{message}");
            }
            other => panic!("{program} in {cwd}: {other:?}"),
        }
    }
}

#[test]
fn large_arguments_and_bytes_that_are_no_text_arrive() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = script(dir.path(), r#"printf %s "$1"; printf %s "$ODD" >&2"#);
    job.argv.push("sh".into());
    let mut large = vec![b'a'; 120_000];
    large.extend(b"\xff\xfe");
    job.argv.push(std::ffi::OsString::from_vec(large.clone()));
    job.env.push(("ODD".into(), std::ffi::OsString::from_vec(b"\x80=\xc3".to_vec())));
    for number in 0..4 {
        job.env.push((format!("FILL{number}").into(), "f".repeat(120_000).into()));
    }
    let finished = run(job);
    assert_eq!((finished.exit, finished.output_bytes), (Exit::Code(0), 120_002));
    assert!(std::fs::read(dir.path().join("out")).unwrap() == large);
    assert_eq!(std::fs::read(dir.path().join("err")).unwrap(), b"\x80=\xc3");
}

#[test]
fn standard_input_is_fed_and_closed_and_may_be_ignored() {
    let megabyte = vec![b'm'; 1 << 20];
    let dir = tempfile::tempdir().unwrap();
    let mut job = script(dir.path(), "cat");
    job.stdin = megabyte.clone().into();
    assert_eq!(run(job).exit, Exit::Code(0));
    assert!(std::fs::read(dir.path().join("out")).unwrap() == megabyte);

    let dir = tempfile::tempdir().unwrap();
    let mut job = script(dir.path(), "exec <&-; sleep 0.1; exit 5");
    job.stdin = megabyte.clone().into();
    assert_eq!(run(job).exit, Exit::Code(5));

    let dir = tempfile::tempdir().unwrap();
    let mut job = script(dir.path(), "exit 6");
    job.stdin = megabyte.into();
    assert_eq!(run(job).exit, Exit::Code(6));

    let dir = tempfile::tempdir().unwrap();
    assert_eq!(run(script(dir.path(), "cat; exit 4")).exit, Exit::Code(4));
}

#[test]
fn one_can_talk_with_a_job() {
    let dir = tempfile::tempdir().unwrap();
    let (theirs, mut ours) = io::pipe().unwrap();
    let mut job = script(dir.path(), "while read line; do echo \"<$line>\"; done");
    job.stdin = Stdin::From(theirs.into());
    let (running, told) = start(&mut launcher(), job);
    let mut follower = Follower::live(running.progress(), 0).unwrap();
    let mut heard = Vec::new();
    for word in ["one", "two"] {
        writeln!(ours, "{word}").unwrap();
        assert!(follower.next(&mut heard).unwrap());
        assert_eq!(heard, format!("<{word}>\n").into_bytes());
    }
    drop(ours);
    assert!(!follower.next(&mut heard).unwrap());
    assert_eq!(told.recv().unwrap().exit, Exit::Code(0));
}

#[test]
fn much_output_without_a_newline_arrives_byte_for_byte() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = script(dir.path(), "yes 0123456789abcde | tr '\\n' '\\377' | head -c 67108864");
    job.index = Some(dir.path().join("idx"));
    let (running, told) = start(&mut launcher(), job);
    let mut follower = Follower::live(running.progress(), 0).unwrap();
    let (mut buffer, mut total) = (Vec::new(), 0);
    while follower.next(&mut buffer).unwrap() {
        assert!(buffer.len() <= 64 * 1024);
        total += buffer.len();
    }
    assert_eq!(total, 64 << 20);
    let finished = told.recv().unwrap();
    assert_eq!((finished.output_bytes, finished.capture_error), (64 << 20, None));
    let mut file = std::fs::File::open(dir.path().join("out")).unwrap();
    let mut line = [0; 4096];
    for _ in 0..(64 << 20) / line.len() {
        file.read_exact(&mut line).unwrap();
        assert!(line.chunks(16).all(|chunk| chunk == b"0123456789abcde\xff"));
    }
    assert_eq!(file.read(&mut line).unwrap(), 0);
    assert!(std::fs::read_to_string(dir.path().join("idx")).unwrap().starts_with("0 "));
}

#[test]
fn no_secret_reaches_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let masker = Masker::new([b"sk-live-0123456789".to_vec()]);
    let mut launcher = Launcher::new(EXE.into(), Arc::new(masker)).unwrap();
    let job = script(
        dir.path(),
        "printf 'a sk-live-'; sleep 0.1; printf '0123456789 b'; printf 'sk-live-0123456789' >&2; printf ' sk-live'",
    );
    assert_eq!(start(&mut launcher, job).1.recv().unwrap().exit, Exit::Code(0));
    assert_eq!(std::fs::read(dir.path().join("out")).unwrap(), b"a ****************** b sk-live");
    assert_eq!(std::fs::read(dir.path().join("err")).unwrap(), b"******************");
}

#[test]
fn both_streams_can_share_a_file_and_it_is_never_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let job = |text| {
        let mut job = script(dir.path(), text);
        job.stderr = Stderr::WithStdout;
        job
    };
    assert_eq!(run(job("echo out; echo err >&2")).exit, Exit::Code(0));
    let error = launcher().launch(job("echo again"), |_| panic!("it never began")).unwrap_err();
    assert!(error.to_string().contains("cannot create"), "{error}");
    assert_eq!(std::fs::read(dir.path().join("out")).unwrap(), b"out\nerr\n");
}

#[test]
fn a_spare_guard_is_used_replaced_and_ended() {
    let mut launcher = launcher();
    for number in 0..3 {
        let dir = tempfile::tempdir().unwrap();
        launcher.prepare();
        launcher.prepare();
        let finished = start(&mut launcher, script(dir.path(), &format!("exit {number}"))).1.recv().unwrap();
        assert_eq!(finished.exit, Exit::Code(number));
    }
    launcher.prepare();
    launcher.discard_spare();
    drop(launcher);
}

#[test]
fn a_sleeping_tree_is_idle_and_a_busy_one_is_not() {
    for (text, idle) in [("sleep 1000", true), ("while :; do :; done", false)] {
        let dir = tempfile::tempdir().unwrap();
        let (running, told) = start(&mut launcher(), script(dir.path(), text));
        wait_for("the job's process", || running.sample().filter(|sample| sample.count > 0));
        // Where nobody gets a hundredth of a core for two seconds, a busy one cannot be told from an idle one.
        let mut watch = ActivityMonitor::new(Duration::from_secs(2));
        let begun = std::time::Instant::now();
        let mut verdicts = Vec::new();
        let enough = if idle { crate::support::PATIENCE } else { Duration::from_secs(4) };
        while begun.elapsed() < enough && !verdicts.contains(&Verdict::Idle) {
            verdicts.push(watch.observe(begun.elapsed(), running.progress().seen(), running.sample()));
            std::thread::sleep(watch.tick_every());
        }
        assert_eq!(verdicts.contains(&Verdict::Idle), idle, "{text}: {verdicts:?}");
        running.stop(Stop::Now);
        let finished = told.recv().unwrap();
        assert_eq!((finished.exit, finished.stopped), (Exit::Signal(9), Some(Stop::Now)));
        assert_eq!(running.sample(), None);
    }
}

#[test]
fn a_guard_serves_one_job_after_the_other_until_it_had_to_stop_one() {
    let dirs: Vec<_> = (0..5).map(|_| tempfile::tempdir().unwrap()).collect();
    let mut launcher = launcher();
    let mut run = |index: usize, text: &str, stop: bool| {
        let (running, done) = start(&mut launcher, script(dirs[index].path(), text));
        if stop {
            running.stop(Stop::Now);
        }
        let finished = done.recv_timeout(crate::support::PATIENCE).unwrap();
        (running.pid(), finished.exit, finished.leftovers)
    };
    let (first, exit, _) = run(0, "exit 3", false);
    assert_eq!(exit, Exit::Code(3));
    // The second job leaves a child behind, which is none of the third one's.
    assert_eq!(run(1, "sleep 600 & exit 4", false), (first, Exit::Code(4), 1));
    assert_eq!(run(2, "pwd > where; exit 5", false), (first, Exit::Code(5), 0));
    assert_eq!(
        std::fs::read_to_string(dirs[2].path().join("where")).unwrap().trim(),
        dirs[2].path().to_str().unwrap()
    );
    assert_eq!(run(3, "exec sleep 600", true), (first, Exit::Signal(9), 0));
    let (other, exit, _) = run(4, "exit 6", false);
    assert_eq!(exit, Exit::Code(6));
    assert_ne!(other, first, "a guard that was told to stop may have more to hear: it is not used again");
}
