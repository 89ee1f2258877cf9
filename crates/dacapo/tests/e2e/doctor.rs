//! `dacapo doctor` (A4): what is there, what is missing, and whether it works.

use std::fs;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;

use crate::support::{Ran, World, wait_for};

const PONG: &str = "iterations:\n  - - say: pong\n    - usage: { input: 40, output: 2, cost_usd: 0.0042 }\n";

/// The program with a place of its own for temporary files.
fn doctor(world: &World, words: &[&str]) -> Command {
    fs::create_dir_all(world.scratch("tmp")).unwrap();
    let mut command = world.command(&[&["doctor"], words].concat());
    command.env("TMPDIR", world.scratch("tmp"));
    world.hide_other_programs(&mut command);
    command
}

fn ran(world: &World, words: &[&str]) -> Ran {
    let ran = Ran::from(doctor(world, words).output().unwrap());
    assert_eq!(fs::read_dir(world.scratch("tmp")).unwrap().count(), 0, "nothing is left behind");
    ran
}

fn report(ran: &Ran) -> Value {
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&report["v"], &report["type"]), (&3.into(), &"doctor".into()));
    report
}

fn agent<'a>(report: &'a Value, name: &str) -> &'a Value {
    report["agents"].as_array().unwrap().iter().find(|agent| agent["name"] == name).unwrap()
}

fn check<'a>(report: &'a Value, name: &str) -> &'a Value {
    report["machine"].as_array().unwrap().iter().find(|check| check["name"] == name).unwrap()
}

#[test]
fn a4_every_agent_is_listed_with_what_to_do_and_nothing_of_the_users_is_touched() {
    let world = World::new();
    world.program("bot", &format!("#!/bin/sh\ntouch {}\n", world.scratch("bot-ran").display()));
    world.config(
        "[agents.bot]\ncommand = [\"bot\"]\n[agents.gone]\ncommand = [\"no-such-bot\"]\n[agents.bare]\nmodel = \"m\"\n",
    );
    let before = world.everything();
    let ran = ran(&world, &[]).expect(0);
    assert!(ran.stdout.contains("✓ bot"), "{}", ran.stdout);
    assert!(ran.stdout.contains("– gone        not found: no-such-bot\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("✗ bare        unknown agent 'bare'\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("– native      not configured\n"), "{}", ran.stdout);
    assert!(!ran.stdout.contains('\u{1b}'), "plain without a terminal");
    let all = report(&self::ran(&world, &["--json"]).expect(0));
    assert_eq!(agent(&all, "bot")["state"], "ready");
    assert_eq!(agent(&all, "bot")["path"], world.bin().join("bot").to_str().unwrap());
    assert!(agent(&all, "gone")["hint"].is_string());
    for (name, state) in [("git", "good"), ("data", "good"), ("locks", "good")] {
        assert_eq!(check(&all, name)["state"], state, "{all}");
    }
    assert!(world.everything() == before);
    assert!(
        !world.scratch("bot-ran").exists(),
        "a command of the user's own is not run without being asked to"
    );
}

#[test]
fn a4_without_any_agent_it_says_so_by_its_exit_code() {
    let world = World::without_repo();
    world.config("[agents.gone]\ncommand = [\"no-such-bot\"]\n");
    let ran = ran(&world, &["gone", "rehearsal"]).expect(1);
    assert!(ran.stdout.contains("no agent can be used yet"), "{}", ran.stdout);
    let ran = self::ran(&world, &["gnoe"]).expect(2);
    assert!(ran.stderr.contains("did you mean 'gone'?"), "{}", ran.stderr);
    let ran = self::ran(&world, &["--json", "--probe", "gone"]).expect(1);
    assert!(ran.stderr.contains("no agent is ready for a test turn"), "{}", ran.stderr);
    assert_eq!(report(&ran)["ok"], false);
}

#[test]
fn a4_a_test_turn_goes_through_all_that_a_turn_does_and_leaves_nothing() {
    let world = World::new();
    let scripts = [
        ("good", PONG, "done"),
        ("limited", "iterations:\n  - - limit: { resets_in: 2h }\n", "limit"),
        ("locked", "iterations:\n  - - fail: { message: 'run `x login`', permanent: true }\n", "refused"),
        ("flaky", "iterations:\n  - - fail: connection lost\n", "failed"),
    ];
    let config: String = scripts.iter().map(|(name, script, _)| world.scripted(name, script)).collect();
    world.config(&config);
    let before = world.everything();
    let all = ran(&world, &["--probe", "--json"]).expect(0);
    assert!(all.stderr.contains("4 short, real turns"), "{}", all.stderr);
    assert!(all.stderr.contains("this costs a little"), "{}", all.stderr);
    let all = report(&all);
    for (name, _, outcome) in scripts {
        assert_eq!(agent(&all, name)["probe"]["outcome"], outcome, "{all}");
    }
    let good = &agent(&all, "good")["probe"];
    assert_eq!((&good["reply"], &good["cost_usd"]), (&"pong".into(), &0.0042.into()));
    assert_eq!(good["tokens"], serde_json::json!({"input": 40, "output": 2, "cached": 0}));
    assert!(agent(&all, "locked")["probe"]["message"].as_str().unwrap().contains("x login"));
    let ran = self::ran(&world, &["--probe", "limited", "locked"]).expect(1);
    assert!(ran.stdout.contains("○ limited     at its usage limit"), "{}", ran.stdout);
    assert!(ran.stdout.contains("✗ locked      cannot work"), "{}", ran.stdout);
    assert!(world.everything() == before);
}

#[test]
fn l9_a_limit_that_others_wait_for_is_shown_and_a_test_turn_that_works_lifts_it() {
    let world = World::new();
    let limited = "iterations:\n  - - limit: { resets_in: 2h, message: 'the limit is reached' }\n";
    world.config(&world.scripted("bot", limited));
    let exec = |name: &str| {
        let mut command =
            world.command(&["exec", "--name", name, "--agent", "bot", "--max-wait", "1h", "--json", "go"]);
        Ran::from(command.env("REHEARSAL_ACCOUNT", "mine").output().unwrap())
    };
    let _ = exec("t").expect(3);
    world.config(&world.scripted("bot", PONG));
    let run =
        |words: &[&str]| Ran::from(doctor(&world, words).env("REHEARSAL_ACCOUNT", "mine").output().unwrap());
    let said = run(&["bot"]).expect(0).stdout;
    assert!(
        said.contains("limited until ") && said.contains("found by task t: the limit is reached"),
        "{said}"
    );
    let lifted = report(&run(&["--probe", "--json", "bot"]).expect(0));
    assert_eq!(
        (&agent(&lifted, "bot")["limit"], &agent(&lifted, "bot")["probe"]["outcome"]),
        (&Value::Null, &"done".into())
    );
    let _ = exec("u").expect(0);
    assert_eq!(world.events("u", "waiting").len(), 0);
    assert!(!run(&["bot"]).expect(0).stdout.contains("limited until"));
}

#[cfg(target_os = "linux")]
#[test]
fn a4_a_program_that_hangs_or_floods_does_not_keep_the_user_waiting() {
    for (deed, says) in [
        ("setsid sleep 1000 & echo $! > {pids}; echo $$ >> {pids}; sleep 1001", "no answer"),
        ("echo $$ > {pids}; exec yes 'git version 9.9.9'", "9.9.9"),
        ("echo $$ > {pids}; echo broken; exit 3", "does not run (exit 3): broken"),
    ] {
        let world = World::new();
        let git =
            String::from_utf8(Command::new("sh").args(["-c", "command -v git"]).output().unwrap().stdout);
        let pids = world.scratch("pids");
        let deed = deed.replace("{pids}", pids.to_str().unwrap());
        let text = format!(
            "#!/bin/sh\nif [ \"$1\" = --version ]; then {deed}; fi\nexec {} \"$@\"\n",
            git.unwrap().trim()
        );
        world.program("git", &text);
        world.program("bot", "#!/bin/sh\n");
        world.config("[agents.bot]\ncommand = [\"bot\"]\n");
        let all = ran(&world, &["--json"]);
        let all = report(&all);
        assert!(check(&all, "git")["detail"].as_str().unwrap().contains(says), "{all}");
        assert_eq!(all["ok"], says == "9.9.9");
        for pid in fs::read_to_string(&pids).unwrap().lines() {
            let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
            wait_for("the program to be gone", || test_kill_process(pid).is_err());
        }
    }
}

#[test]
fn a4_settings_that_cannot_be_read_are_a_finding_and_not_the_end() {
    let world = World::new();
    world.config("agnet = \"claude\"\n");
    let ran = ran(&world, &[]).expect(1);
    assert!(ran.stdout.contains("✗ config") && ran.stdout.contains("unknown key 'agnet'"), "{}", ran.stdout);
    let world = World::new();
    fs::remove_dir(world.data()).unwrap();
    fs::write(world.data(), "in the way").unwrap();
    let all = report(&self::ran(&world, &["--json"]).expect(1));
    assert_eq!(check(&all, "data")["state"], "bad", "{all}");
}

#[test]
fn s15_a_key_is_named_and_never_shown() {
    let world = World::new();
    let secret = "sk-0123456789abcdef";
    let names = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GITHUB_TOKEN", "MY_KEY"];
    world.config("[agents.native]\napi = \"openai\"\nmodel = \"m\"\nkey_env = \"MY_KEY\"\nbase_url = \"http://u:sk-0123456789abcdef@127.0.0.1:1/v1\"\n");
    for flags in [&[][..], &["--json"]] {
        let mut command = doctor(&world, flags);
        names.iter().for_each(|name| {
            command.env(name, secret);
        });
        let ran = Ran::from(command.output().unwrap());
        assert!(!ran.stdout.contains(secret) && !ran.stderr.contains(secret), "{}", ran.stdout);
    }
}

#[test]
fn l14_ctrl_c_ends_a_test_turn_and_all_that_it_started() {
    let world = World::new();
    let ready = world.scratch("ready");
    let script = format!("iterations:\n  - - run: 'echo $$ > {}; sleep 1000'\n", ready.display());
    world.config(&(world.scripted("slow", &script) + &world.scripted("next", PONG)));
    let mut command = doctor(&world, &["--probe", "slow", "next"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("the agent", || fs::read_to_string(&ready).is_ok_and(|text| text.ends_with('\n')));
    kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), Signal::INT).unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap()).expect(130);
    assert!(ran.stdout.contains("○ slow        cancelled"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("✓ next        answered"), "{}", ran.stdout);
    let pid = Pid::from_raw(fs::read_to_string(&ready).unwrap().trim().parse().unwrap()).unwrap();
    wait_for("the agent's child to be gone", || test_kill_process(pid).is_err());
    assert_eq!(fs::read_dir(world.scratch("tmp")).unwrap().count(), 0);
}
