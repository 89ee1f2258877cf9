//! Agents that try to change what judges them (R5).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::support::{Ran, World};

const DACAPO: &str = env!("CARGO_BIN_EXE_dacapo");
const TRIALS: [&str; 6] = ["write", "signal", "unmount", "namespace", "rename", "descriptor"];

/// Who runs the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum User {
    Own,
    Nobody,
    /// Root to whom the kernel grants no mount namespace, as in a container.
    Contained,
}

impl User {
    /// Those that we can be.
    fn all() -> Vec<Self> {
        if rustix::process::geteuid().is_root() { vec![Self::Own, Self::Nobody] } else { vec![Self::Own] }
    }

    fn contained() -> Option<Self> {
        rustix::process::geteuid().is_root().then_some(Self::Contained)
    }

    fn program(self, world: &World) -> PathBuf {
        match self {
            Self::Own | Self::Contained => DACAPO.into(),
            Self::Nobody => {
                let program = world.bin().join("dacapo");
                fs::copy(DACAPO, &program).unwrap();
                let owned = Command::new("chown").args(["-R", "65534:65534"]).arg(world.scratch("")).status();
                assert!(owned.unwrap().success());
                program
            }
        }
    }

    fn run(self, world: &World, words: &[&str]) -> Ran {
        let program = self.program(world);
        let before: &[&str] = match self {
            Self::Own => &[],
            Self::Nobody => &["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"],
            Self::Contained => &["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"],
        };
        let program = program.to_str().unwrap();
        let line: Vec<&str> = before.iter().chain([&program]).chain(words).copied().collect();
        let mut command = Command::new(line[0]);
        world.dress(&mut command);
        Ran::from(command.args(&line[1..]).output().unwrap())
    }
}

/// Has an agent run a script, once, and returns its result.
fn attempt(user: User, world: &World, flags: &[&str], script: &str) -> serde_json::Value {
    let file = world.scratch("turn.sh");
    let guard = "guard=$PPID; while ! grep -q __guard /proc/$guard/cmdline; do\n\
                   guard=$(awk '/^PPid/ {print $2}' /proc/$guard/status)\ndone\n";
    fs::write(&file, format!("{guard}{script}")).unwrap();
    let agent = format!("sh {}", file.display());
    let words = [
        "exec",
        "--json",
        "--name",
        "t",
        "--max-iterations",
        "1",
        "--agent-cmd",
        &agent,
        "--check",
        "test -f work",
    ];
    let ran = user.run(world, &[&words, flags, &["go"]].concat());
    ran.result()
}

#[track_caller]
fn assert_room(result: &serde_json::Value, mode: &str) {
    let room = &result["room"];
    let seen = json!({ "mode": room["mode"], "walls": room["walls"], "closed": room["closed"], "open": room["open"] });
    assert_eq!(seen, json!({ "mode": mode, "walls": "namespace", "closed": TRIALS, "open": null }));
}

/// A line of a script that says so if a command succeeds.
fn tried(world: &World, name: &str, command: &str) -> String {
    format!("if ({command}) 2>>{0}; then echo {name} >> {1}; fi\n", out(world, "err"), out(world, "done"))
}

fn out(world: &World, name: &str) -> String {
    world.scratch(&format!("tmp/{name}")).display().to_string()
}

fn succeeded(world: &World) -> Vec<String> {
    let text = fs::read_to_string(out(world, "done")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// What no agent may do, by name.
fn misdeeds(world: &World) -> Vec<(&'static str, String)> {
    let (data, home, repo) = (world.data(), world.home(), world.repo());
    let (data, home, repo) = (data.display(), home.display(), repo.display());
    vec![
        (
            "journal",
            format!("for f in {data}/repos/*/tasks/t/journal.jsonl; do echo x >> $f || exit 1; done"),
        ),
        ("spec", format!("for f in {data}/repos/*/tasks/t/spec.json; do echo x >> $f || exit 1; done")),
        ("worktrees", format!("mkdir {data}/repos/new")),
        ("settings", format!("echo 'room = \"none\"' > {home}/.config/dacapo/config.toml")),
        ("replaced settings", format!("mv {home}/.config {home}/.c2 && mkdir -p {home}/.config/dacapo")),
        ("replaced data", format!("mv {data} {data}2")),
        ("git settings", "git config --global core.fsmonitor false".to_owned()),
        ("hooks", format!("echo x > {repo}/.git/hooks/post-commit")),
        ("git config", format!("git -C {repo} config core.fsmonitor false")),
        ("excludes", format!("echo x >> {repo}/.git/info/exclude")),
        ("unmount", format!("umount {data} || umount -l {data}")),
        ("namespace", format!("unshare -Urm sh -c 'umount {data} && touch {data}/x'")),
        ("signal", "kill -0 $guard".to_owned()),
        ("root of another", format!("touch /proc/$guard/root{data}/x")),
        (
            "descriptor",
            "ls /proc/self/fd | grep -v '^[0-3]$'; test -n \"$(ls /proc/self/fd | grep -v '^[0-3]$')\""
                .to_owned(),
        ),
    ]
}

fn script(world: &World) -> String {
    let lines: Vec<String> =
        misdeeds(world).iter().map(|(name, command)| tried(world, &format!("'{name}'"), command)).collect();
    format!("{}echo work > work\n", lines.concat())
}

fn prepared(world: &World) -> String {
    world.config("keep_awake = false\n");
    fs::write(out(world, "done"), "").unwrap();
    script(world)
}

#[test]
fn r5_an_agent_cannot_change_what_judges_it() {
    for user in User::all() {
        for place in ["--worktree", "--noworktree"] {
            let world = World::new();
            let script = prepared(&world);
            let result = attempt(user, &world, &[place], &script);
            assert_eq!(succeeded(&world), [] as [&str; 0], "{user:?} {place}");
            assert_room(&result, "guarded");
            let read_only = result["room"]["read_only"].to_string();
            // A worktree is a repository of its own, and so needs nothing of the user's.
            let git = if place == "--worktree" { "/repo/.git" } else { "/repo/.git/hooks" };
            for place in ["/data", "/home/.config/dacapo", "/home/.gitconfig", git] {
                assert!(read_only.contains(&format!("{place}\"")), "{place} in {read_only}");
            }
            assert_eq!((&result["outcome"], &result["verified"]), (&json!("completed"), &json!(true)));
            assert_eq!(
                fs::read_to_string(world.home().join(".config/dacapo/config.toml")).unwrap(),
                "keep_awake = false\n"
            );
        }
    }
}

#[test]
fn r5_a_sandbox_leaves_only_the_worktree_and_temp_writable() {
    for user in User::all() {
        if user == User::Nobody && !can_reach(Path::new(env!("CARGO_TARGET_TMPDIR"))) {
            continue;
        }
        let world = World::outside_temp();
        let (home, repo) = (world.home(), world.repo());
        let more = [
            tried(&world, "shell", &format!("echo x > {}/.bashrc", home.display())),
            tried(&world, "checkout", &format!("echo x > {}/file", repo.display())),
            tried(&world, "temp", "touch $TMPDIR/x /tmp/dacapo-room-test && rm /tmp/dacapo-room-test"),
            tried(&world, "null", "echo x > /dev/null"),
            tried(&world, "commit", "echo y > y && git add y && git commit -qm y"),
        ];
        let script = prepared(&world) + &more.concat();
        let result = attempt(user, &world, &["--worktree", "--sandbox"], &script);
        assert_eq!(succeeded(&world), ["temp", "null", "commit"], "{user:?}");
        assert_room(&result, "strict");
        assert_eq!(result["verified"], json!(true), "{user:?}");
    }
}

/// Returns true if everybody may enter a directory.
fn can_reach(dir: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    dir.ancestors().all(|dir| dir.metadata().is_ok_and(|found| found.permissions().mode() & 1 == 1))
}

#[test]
fn r5_where_there_are_no_namespaces_tasks_run_and_sandboxes_do_not() {
    let Some(user) = User::contained() else { return };
    let world = World::new();
    let _ = prepared(&world);
    let result = attempt(user, &world, &["--worktree"], &tried(&world, "signal", "kill -0 $guard"));
    assert_eq!((&result["room"]["walls"], &result["iterations_succeeded"]), (&json!("none"), &json!(1)));
    assert_eq!(succeeded(&world), [] as [&str; 0], "signals are Landlock's");
    assert!(result["room"]["refused"].as_str().unwrap().contains("not permitted"), "{result}");
    let words = ["exec", "--name", "s", "--iter", "1", "--sandbox", "--agent-cmd", "true", "go"];
    let ran = user.run(&world, &words).expect(2);
    assert!(ran.stderr.contains("sandbox") && world.task_dir_or_none("s").is_none(), "{}", ran.stderr);
}

#[test]
fn r5_an_agent_can_be_left_alone() {
    let world = World::new();
    world.config("room = \"none\"\n");
    let result = attempt(User::Own, &world, &[], &format!("touch {}/x; echo x > x", world.data().display()));
    assert_eq!((&result["room"], world.data().join("x").exists()), (&json!(null), true));
}

#[test]
fn r6_a_project_can_only_make_the_room_stricter() {
    let world = World::new();
    world.write(".dacapo/config.toml", "room = \"none\"\n");
    let ran = User::Own.run(&world, &["config", "show"]).expect(0);
    assert!(ran.stdout.contains("room = \"guarded\""), "{}", ran.stdout);
    assert!(ran.stderr.contains("stricter"), "{}", ran.stderr);
    world.write(".dacapo/config.toml", "room = \"strict\"\n");
    let ran = User::Own.run(&world, &["config", "show"]).expect(0);
    assert!(ran.stdout.contains("room = \"strict\""), "{}", ran.stdout);
}

#[test]
fn r7_from_inside_tasks_are_seen_and_none_is_started() {
    let world = World::new();
    let script = format!(
        "{DACAPO} list > list; {DACAPO} logs t > logs; {DACAPO} spawn --agent-cmd true go > spawn 2>&1; echo $? >> spawn"
    );
    let _ = attempt(User::Own, &world, &["--noworktree"], &script);
    assert!(world.read("list").contains('t') && world.read("logs").contains("Task t started"));
    let spawn = world.read("spawn");
    assert!(spawn.contains("no other task can be started") && spawn.ends_with("\n2\n"), "{spawn}");
    assert_eq!(world.tasks(), ["t"]);
}

#[test]
fn r5_git_settings_that_an_agent_makes_are_named() {
    let world = World::new();
    let made = world.home().join(".config/git/config");
    let script = format!("mkdir -p {}; echo '[core]' > {}", made.parent().unwrap().display(), made.display());
    let _ = attempt(User::Own, &world, &[], &script);
    let notices = world.notices("t").join("\n");
    assert!(notices.contains(made.to_str().unwrap()), "{notices}");
}

#[test]
fn r5_doctor_says_what_holds_here() {
    let world = World::new();
    for (user, expected) in
        [Some((User::Own, "Confined (guarded)")), User::contained().map(|user| (user, "Not confined"))]
            .into_iter()
            .flatten()
    {
        let ran = user.run(&world, &["doctor"]);
        assert!(ran.stdout.contains(expected), "{user:?}: {}", ran.stdout);
    }
}

#[test]
fn r5_an_agent_is_told_what_it_cannot_change() {
    let world = World::new();
    let result = attempt(User::Own, &world, &["--sandbox"], "echo \"$DACAPO_READ_ONLY\" > work");
    let told = world.read("work");
    let listed: Vec<String> = told.trim().split(':').map(str::to_owned).collect();
    assert_eq!(result["room"]["read_only"], json!(listed));
    assert!(world.prompt("t", 0).contains("You work in a sandbox"), "{}", world.prompt("t", 0));
}
