//! Agents that try to steer Dacapo from inside a turn (R7).

use std::fs;

use crate::support::World;

const DACAPO: &str = env!("CARGO_BIN_EXE_dacapo");

/// Runs a shell script as the turn of task `t`, which is never to be steered by it.
fn turn(world: &World, script: &str) {
    let file = world.scratch("turn.sh");
    fs::write(&file, script).unwrap();
    let agent = world.rehearsal(&format!("iterations:\n  - - run: sh {}\n", file.display()));
    let words = ["--name", "t", "--iter", "1", "--max-cost", "1", "--agent", &agent, "go"];
    let _ = world.exec(&words).expect(0);
}

/// Shell code that runs `command`, and keeps its exit code and what it said under `name`.
fn kept(world: &World, name: &str, command: &str) -> String {
    let path = world.scratch(name);
    format!("{command} > {0}.said 2>&1; echo $? > {0}.code\n", path.display())
}

fn outcome(world: &World, name: &str) -> (String, String) {
    let read = |end: &str| fs::read_to_string(world.scratch(&format!("{name}.{end}"))).unwrap_or_default();
    (read("code").trim().to_owned(), read("said"))
}

#[track_caller]
fn refused(world: &World, name: &str) {
    let (code, said) = outcome(world, name);
    assert!(code == "2" && said.contains("from inside a task"), "{name}: exit {code}\n{said}");
}

#[test]
fn r7_an_agent_cannot_raise_its_own_budget() {
    let world = World::new();
    turn(&world, &kept(&world, "set", &format!("{DACAPO} set $DACAPO_TASK max-cost=1000")));
    refused(&world, "set");
    assert_eq!(world.events("t", "command_received"), [] as [serde_json::Value; 0]);
}

#[cfg(target_os = "linux")]
#[test]
fn r7_no_disguise_helps_an_agent() {
    let world = World::new();
    let home = world.data().display().to_string();
    let (link, nested) = (world.scratch("link"), world.scratch("nested"));
    std::os::unix::fs::symlink(world.data(), &link).unwrap();
    fs::create_dir(&nested).unwrap();
    std::os::unix::fs::symlink(world.data().join("repos"), nested.join("repos")).unwrap();
    let set = format!("{DACAPO} set t iter=50");
    let done = world.scratch("detached.code");
    let detached = kept(&world, "detached", &set).replace('\n', "");
    let script = [
        kept(&world, "bare", &format!("env -i PATH=\"$PATH\" HOME=\"$HOME\" DACAPO_HOME={home} {set}")),
        kept(&world, "dots", &format!("env DACAPO_HOME={home}/../data/. {set}")),
        kept(&world, "link", &format!("env DACAPO_HOME={} {set}", link.display())),
        kept(&world, "nested", &format!("env DACAPO_HOME={} {set}", nested.display())),
        format!("(setsid sh -c '{detached}' < /dev/null > /dev/null 2>&1 &)\n"),
        format!("while ! test -s {}; do sleep 0.01; done\n", done.display()),
    ];
    turn(&world, &script.concat());
    for name in ["bare", "dots", "link", "nested", "detached"] {
        refused(&world, name);
    }
    assert_eq!(world.events("t", "command_received"), [] as [serde_json::Value; 0]);
}

#[test]
fn r7_orders_are_refused_and_questions_are_answered() {
    let world = World::new();
    let orders = [
        "set t iter=9",
        "approve t",
        "reject t no",
        "merge t",
        "config set keep_awake false",
        "config unset keep_awake",
        "trust --yes",
        "trust --revoke",
        "resume t",
        "kill t",
        "drop t",
        "rename t u",
        "undo t",
        "prune",
        "takeover t",
        "pr t",
        "milestone approve t",
        "milestone reject t no",
        "milestone resume t",
        "milestone abandon t",
    ];
    let questions = ["list", "status t", "config show", "trust --list", "logs t"];
    let all = orders.iter().chain(&questions).enumerate();
    let script: Vec<String> =
        all.map(|(at, words)| kept(&world, &format!("order{at}"), &format!("{DACAPO} {words}"))).collect();
    turn(&world, &script.concat());
    for at in 0..orders.len() {
        refused(&world, &format!("order{at}"));
    }
    for (at, question) in questions.iter().enumerate() {
        let (code, said) = outcome(&world, &format!("order{}", orders.len() + at));
        assert_eq!(code, "0", "{question}\n{said}");
    }
}

/// What a person decides before a task starts is asked of a surface, which answers by `dacapo __do`: an agent is none.
#[test]
fn r7_an_agent_cannot_answer_for_the_user() {
    let world = World::new();
    world.write(".dacapo/config.toml", "[agents.mine]\ncommand = [\"true\"]\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "settings"]);
    let start = r#""operation":"start","request":{"prompt":"go","agent":"mine","name":"u"}"#;
    let answer = format!(r#"s/^{{"ask":{{\(.*\)}}}}$/{{{start},"answers":[{{\1,"answer":"yes"}}]}}/"#);
    let call = world.scratch("call");
    let script = [
        kept(&world, "asked", &format!("echo '{{{start}}}' | {DACAPO} __do")),
        format!("sed '{answer}' {} > {}\n", world.scratch("asked.said").display(), call.display()),
        kept(&world, "answered", &format!("{DACAPO} __do < {}", call.display())),
        kept(&world, "ordered", &format!(r#"echo '{{"operation":"kill","task":"t"}}' | {DACAPO} __do"#)),
    ];
    turn(&world, &script.concat());
    let (code, said) = outcome(&world, "asked");
    assert!(code == "0" && said.starts_with(r#"{"ask":{"question":"trust""#), "{code} {said}");
    refused(&world, "answered");
    refused(&world, "ordered");
    assert!(!world.data().join("trust").exists(), "nothing is trusted");
    assert_eq!(world.tasks(), ["t"]);
}

#[test]
fn r7_an_agent_may_steer_tasks_of_another_data_directory() {
    let world = World::new();
    let other = world.scratch("other");
    let dacapo = format!("env DACAPO_HOME={} {DACAPO}", other.display());
    let script = [
        kept(&world, "exec", &format!("{dacapo} exec --worktree --name own --agent-cmd 'date > f' go")),
        kept(&world, "set", &format!("{dacapo} set own iter=9")),
        kept(&world, "drop", &format!("{dacapo} drop own")),
    ];
    turn(&world, &script.concat());
    for name in ["exec", "set", "drop"] {
        let (code, said) = outcome(&world, name);
        assert_eq!(code, "0", "{name}\n{said}");
    }
}

/// Every way into a pid namespace of one's own that this machine has for us.
#[cfg(target_os = "linux")]
fn ways_into_a_pid_namespace() -> Vec<&'static str> {
    let ways = ["unshare -p -f --mount-proc", "unshare -p -f", "unshare -U -r -p -f --mount-proc"];
    let works = |way: &&str| {
        let mut words = way.split(' ');
        let mut command = std::process::Command::new(words.next().unwrap());
        command.args(words).arg("true").stderr(std::process::Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    ways.into_iter().filter(works).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn r7_a_pid_namespace_of_its_own_does_not_make_an_agent_a_person() {
    // In a room root has no right to make one.
    let world = World::unconfined();
    let ways = ways_into_a_pid_namespace();
    let scripts = ways.iter().enumerate().map(|(at, way)| {
        kept(&world, &format!("set{at}"), &format!("{way} {DACAPO} set t iter=50"))
            + &kept(&world, &format!("trust{at}"), &format!("{way} {DACAPO} config set keep_awake false"))
    });
    turn(&world, &scripts.collect::<String>());
    for (at, way) in ways.iter().enumerate() {
        for order in ["set", "trust"] {
            let (code, said) = outcome(&world, &format!("{order}{at}"));
            assert!(code == "2" && said.contains("nside a task"), "{way} {order}: {code}\n{said}");
        }
    }
    assert_eq!(world.events("t", "command_received"), [] as [serde_json::Value; 0]);
}

/// A person in a container, with tasks and data of its own there.
#[cfg(target_os = "linux")]
#[test]
fn r7_a_person_in_a_pid_namespace_steers_the_tasks_that_run_there() {
    let Some(way) = ways_into_a_pid_namespace().into_iter().find(|way| way.contains("--mount-proc")) else {
        return;
    };
    let world = World::new();
    let script = world.scratch("session.sh");
    let go = world.scratch("go");
    let agent = format!("while ! test -e {}; do sleep 0.02; done; echo 1 > f", go.display());
    let session = [
        kept(&world, "spawn", &format!("{DACAPO} spawn --name t --iter 1 --agent-cmd '{agent}' go")),
        kept(&world, "set", &format!("{DACAPO} set t iter=2")),
        format!("touch {}\n", go.display()),
        kept(&world, "wait", &format!("{DACAPO} wait t")),
        kept(&world, "drop", &format!("{DACAPO} drop t")),
    ];
    fs::write(&script, session.concat()).unwrap();
    let mut words = way.split(' ');
    let mut command = std::process::Command::new(words.next().unwrap());
    world.dress(&mut command);
    assert!(command.args(words).arg("sh").arg(&script).status().unwrap().success());
    for name in ["spawn", "set", "wait", "drop"] {
        let (code, said) = outcome(&world, name);
        assert_eq!(code, "0", "{name}\n{said}");
    }
}

/// The runner is stopped, so that it cannot end the orphan first.
#[cfg(target_os = "linux")]
#[test]
fn r7_an_agent_that_has_killed_its_guard_is_still_inside() {
    let world = World::unconfined();
    let script = [
        "guard=$PPID; while ! grep -q __guard /proc/$guard/cmdline; do\n\
           guard=$(awk '/^PPid/ {print $2}' /proc/$guard/status)\ndone\n\
         runner=$(awk '/^PPid/ {print $2}' /proc/$guard/status)\n\
         kill -STOP $runner; kill -KILL $guard\n\
         while kill -0 $guard 2>/dev/null && ! grep -q '^State:.Z' /proc/$guard/status; do :; done\n"
            .to_owned(),
        kept(&world, "set", &format!("{DACAPO} set t iter=50")),
        kept(&world, "config", &format!("{DACAPO} config set keep_awake false")),
        "kill -CONT $runner\n".to_owned(),
    ];
    let file = world.scratch("turn.sh");
    fs::write(&file, script.concat()).unwrap();
    let agent = format!("setsid sh {}", file.display());
    let words = ["--name", "t", "--iter", "1", "--max-failures", "1", "--agent-cmd", &agent, "go"];
    let _ = world.exec(&words);
    refused(&world, "set");
    refused(&world, "config");
}
