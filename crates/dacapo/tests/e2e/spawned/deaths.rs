//! SIGKILL of the process of a task at any moment, again and again (R1): after `resume` it has exactly its iterations and
//! its commits. Each case dies fifty times, at moments that differ from run to run only by how fast the machine is.

use std::fs;
use std::time::Duration;

use crate::support::{World, wait_for};

const DEATHS: u32 = 50;

/// Iterations of the task, and of every resumption of it when it had ended.
const ROUNDS: u64 = 3;

/// Numbers that look random and are the same each time.
struct Moments(u64);

impl Moments {
    fn next(&mut self) -> Duration {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        Duration::from_millis(self.0 % 150)
    }
}

/// Ends the process that drives the task, if there is one, and waits until nothing of it is left.
fn kill(world: &World, name: &str) {
    let path = world.task_dir(name);
    let file = fs::File::open(&path).unwrap();
    if file.try_lock_shared().is_err() {
        let text = fs::read_to_string(path.join("lock")).unwrap();
        let holder = text.lines().next().and_then(|line| line.parse().ok());
        // It may just have come to its end by itself; then it gives the lock up and takes its name away.
        if let Some(pid) = holder.and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
    drop(file);
    let lock = fs::File::open(&path).unwrap();
    wait_for("the lock to be free", || lock.try_lock_shared().is_ok());
    assert_eq!(world.processes(name), Vec::<u32>::new(), "a free lock means that nothing is left");
}

fn dies_and_goes_on(seed: u64, flags: &[&str]) {
    let world = World::new();
    let agent = "cat > /dev/null; echo x >> tries; sleep 0.02; \
                 echo $DACAPO_ITERATION > f$DACAPO_ITERATION; echo did it";
    let rounds = ROUNDS.to_string();
    let all: Vec<&str> =
        ["--iter", &rounds, "--agent-cmd", agent].into_iter().chain(flags.iter().copied()).collect();
    let _ = world.spawn("t", &all).expect(0);
    let (mut moments, mut wanted) = (Moments(seed), ROUNDS);
    for _ in 0..DEATHS {
        std::thread::sleep(moments.next());
        kill(&world, "t");
        match world.status("t")["status"].as_str().unwrap() {
            "interrupted" => drop(world.run(&["resume", "t"]).expect(0)),
            "completed" | "stopped" => {
                wanted += ROUNDS;
                let _ = world.run(&["resume", "t", "--iter", &rounds]).expect(0);
            }
            other => panic!("no state to die in: {other}"),
        }
    }
    let _ = world.wait("t");
    let status = world.status("t");
    assert!(matches!(status["status"].as_str(), Some("completed" | "stopped")), "{status}");
    assert_eq!(status["iteration"], wanted);
    let branch = status["branch"].as_str().unwrap();
    let trailers =
        world.git(&["log", "--reverse", "--format=%(trailers:key=Dacapo-Iteration,valueonly)", branch]);
    let committed: Vec<&str> = trailers.lines().filter(|line| !line.is_empty()).collect();
    let each: Vec<String> = (0..wanted).map(|iteration| iteration.to_string()).collect();
    assert_eq!(committed, each, "each iteration is committed once, in order");
    for iteration in &each {
        assert_eq!(world.git(&["show", &format!("{branch}:f{iteration}")]), *iteration);
    }
    world.assert_nothing_left("t");
}

#[test]
fn r1_a_task_in_a_worktree_dies_fifty_times() {
    dies_and_goes_on(0x9e37_79b9, &[]);
}

#[test]
fn r1_a_task_in_the_users_checkout_dies_fifty_times() {
    dies_and_goes_on(0x85eb_ca6b, &["--noworktree"]);
}

#[test]
fn r1_a_task_with_checks_dies_fifty_times() {
    // Never green, always different: the loop uses all its iterations.
    dies_and_goes_on(0xc2b2_ae35, &["--check", "wc -l < tries; date +%N; false", "--stall", "0"]);
}

#[test]
fn r1_a_task_that_waits_for_its_place_dies_fifty_times() {
    let world = World::new();
    world.config("[spawn_task]\nmax_concurrent = 1\n");
    let go = world.scratch("go");
    let agent =
        format!("cat > /dev/null; while ! test -e {}; do sleep 0.02; done; echo did it", go.display());
    world.spawned("other", 1, &agent);
    world.spawned("t", 2, super::AGENT);
    let mut moments = Moments(0x27d4_eb2f);
    for _ in 0..DEATHS {
        std::thread::sleep(moments.next() / 5);
        kill(&world, "t");
        assert_eq!(world.status("t")["status"], "interrupted");
        let _ = world.run(&["resume", "t"]).expect(0);
    }
    fs::write(go, "").unwrap();
    for name in ["other", "t"] {
        let _ = world.wait(name).expect(0);
        world.assert_nothing_left(name);
    }
    assert_eq!(world.git(&["log", "--format=%s", "dacapo/t"]), "[iter-1] did it\n[iter-0] did it\nfirst");
    let row = fs::read_dir(world.data().join("slots")).unwrap().flatten();
    let tickets = row.filter(|entry| entry.file_name().to_string_lossy().starts_with("ticket-")).count();
    assert!(tickets <= 1, "what the dead left in the row was cleared away: {tickets}");
}
