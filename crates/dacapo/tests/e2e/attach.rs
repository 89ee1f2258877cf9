//! `attach` and `logs -f`: what another process drives, shown while it happens (S2).

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{World, own_memory_kb, wait_for};

/// Steps of a scripted agent that says it is at work and goes on when it is told to, or when its world is gone.
fn gate(world: &World, name: &str) -> String {
    let (begun, go) = (world.scratch(&format!("{name}-begun")), world.scratch(&format!("{name}-go")));
    let world = world.scratch("home");
    format!(
        "- run: touch {}; while [ -d {} ] && [ ! -e {} ]; do sleep 0.02; done\n",
        begun.display(),
        world.display(),
        go.display()
    )
}

/// An agent that does a few things, waits, and does some more.
fn gated_agent(world: &World) -> String {
    let gate = gate(world, "a").replace("- run", "    - run");
    world.rehearsal(&format!(
        "iterations:
  - - say: \"I read the parser.\\n\"
    - tool: {{ name: Edit, summary: src/parse.rs, output: ok, failed: false }}
    - usage: {{ input: 1200, output: 300, cached: 0, cost_usd: 0.02 }}
{gate}    - split: {{ text: \"and then I\\nwrite 繼續\", at: 3, pause: 1ms }}
    - write: {{ path: a.txt, text: \"hello\\n\", append: true }}
    - usage: {{ input: 2400, output: 600, cached: 0, cost_usd: 0.04 }}
"
    ))
}

fn is_at_work(world: &World) {
    world.wait_for_file("a-begun");
}

fn let_go(world: &World) {
    fs::write(world.scratch("a-go"), "").unwrap();
}

/// An attachment that has begun to show: whatever happens from here on it sees happen.
struct Watching(Child, PathBuf);

fn watching(world: &World, words: &[&str]) -> Watching {
    let shown = world.scratch("shown");
    let child = world.command(words).stdout(File::create(&shown).unwrap()).spawn().unwrap();
    let watching = Watching(child, shown);
    wait_for("the attachment to show something", || watching.shown().contains("limits  "));
    watching
}

impl Watching {
    fn shown(&self) -> String {
        fs::read_to_string(&self.1).unwrap()
    }

    fn end(mut self, code: i32) -> String {
        let status = self.0.wait().unwrap();
        assert_eq!(status.code(), Some(code), "{}", self.shown());
        self.shown()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Events as they were printed, but for when an agent's was read.
fn events(printed: &str) -> Vec<Value> {
    let mut lines: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in lines.iter_mut().filter(|line| line["type"] == "agent_event") {
        line.as_object_mut().unwrap().remove("at").unwrap();
    }
    lines
}

/// From the headline of the result on.
fn closing(printed: &str) -> &str {
    let at = printed.rfind("\n■").or_else(|| printed.rfind("\n●")).or_else(|| printed.rfind("\n✓")).unwrap();
    &printed[at + 1..]
}

#[test]
fn s2_attach_prints_the_events_that_exec_prints_whenever_it_comes() {
    let world = World::new();
    let agent = gated_agent(&world);
    let words = ["exec", "--name", "t", "--iter", "2", "--check", "false", "--agent", &agent, "--json", "go"];
    let task = world.start(&words);
    is_at_work(&world);
    let attached = [world.start(&["attach", "t", "--json"]), world.start(&["attach", "--json"])];
    let_go(&world);
    let printed = events(&task.end().expect(3).stdout);
    assert!(printed.iter().filter(|line| line["type"] == "agent_event").count() >= 10, "{printed:#?}");
    for attached in attached {
        assert_eq!(events(&attached.end().expect(3).stdout), printed);
    }
    let late = world.run(&["attach", "t", "--json"]).expect(3);
    assert_eq!(events(&late.stdout), printed, "of a task that is over");
    assert_eq!(late.result()["outcome"], "max_reached");
}

#[test]
fn s2_what_is_said_to_a_task_in_the_middle_of_a_turn_stands_where_it_was_said() {
    let world = World::new();
    let agent = gated_agent(&world);
    let words = ["exec", "--name", "t", "--iter", "1", "--agent", &agent, "--json", "go"];
    let printed = world.scratch("printed");
    let mut task = world.command(&words).stdout(File::create(&printed).unwrap()).spawn().unwrap();
    wait_for("what comes before the gate", || fs::read_to_string(&printed).unwrap().contains("a-begun"));
    let attached = world.start(&["attach", "t", "--json"]);
    let _ = world.run(&["tell", "t", "and more"]).expect(0);
    wait_for("the task to hear it", || !world.events("t", "command_received").is_empty());
    // The index of what an agent prints has a line in a tenth of a second at most; it tells before from after.
    std::thread::sleep(std::time::Duration::from_millis(300));
    let_go(&world);
    assert!(task.wait().unwrap().success());
    let printed = events(&fs::read_to_string(&printed).unwrap());
    let at = printed.iter().position(|line| line["type"] == "command_received").unwrap();
    assert_eq!((&printed[at - 1]["type"], &printed[at + 1]["sub"]), (&"agent_event".into(), &0.into()));
    assert_eq!(events(&attached.end().expect(0).stdout), printed);
    let late = world.run(&["attach", "t", "--json"]).expect(0);
    assert_eq!(events(&late.stdout), printed);
}

#[test]
fn s2_what_an_agent_says_on_standard_error_alone_is_shown_too() {
    let world = World::new();
    let agent = r#"#!/bin/sh
cat > /dev/null
echo 'timestamp=1 level=ERROR message="stream error" x=y error.error="AI_APICallError: overloaded"' >&2
while [ -d SCRATCH/home ] && [ ! -e SCRATCH/a-go ]; do sleep 0.02; done
echo '{"type":"text","sessionID":"s","part":{"text":"done"}}'
echo '{"type":"step_finish","sessionID":"s","part":{"reason":"stop","tokens":{"input":1,"output":1},"cost":0}}'
echo > f
"#;
    let scratch = world.scratch("").display().to_string();
    world.program("my-opencode", &agent.replace("SCRATCH/", &scratch));
    world.config("[agents.oc]\ncommand = [\"my-opencode\"]\noutput = \"opencode\"\n");
    let printed = world.scratch("printed");
    let words = ["exec", "--name", "t", "--iter", "1", "--agent", "oc", "--json", "go"];
    let mut task = world.command(&words).stdout(File::create(&printed).unwrap()).spawn().unwrap();
    wait_for("the retry", || fs::read_to_string(&printed).unwrap().contains("overloaded"));
    let attached = world.start(&["attach", "t", "--json"]);
    let_go(&world);
    assert!(task.wait().unwrap().success());
    let printed = events(&fs::read_to_string(&printed).unwrap());
    assert_eq!(events(&attached.end().expect(0).stdout), printed);
    assert_eq!(events(&world.run(&["attach", "--json"]).expect(0).stdout), printed);
}

#[test]
fn s2_attach_shows_people_where_it_stands_and_then_what_happens() {
    let world = World::new();
    let agent = gated_agent(&world);
    let words =
        ["exec", "--name", "t", "--iter", "7", "--check", "false", "--stall", "0", "--agent", &agent, "go"];
    let task = world.start(&words);
    is_at_work(&world);
    let attached = watching(&world, &["attach", "t"]);
    let quiet = world.start(&["attach", "t", "--quiet"]);
    let_go(&world);
    let (told, shown) = (task.end().expect(3).stdout, attached.end(3));
    assert!(
        shown.starts_with("task    t\nagent   rehearsal\ncheck   false\nwhere   here, on main\n"),
        "{shown}"
    );
    assert!(shown.contains("before  false ✗ exit 1"), "{shown}");
    assert_eq!(closing(&shown), closing(&told));
    assert!(closing(&shown).starts_with("■ stopped: all iterations used"), "{shown}");
    assert_eq!(quiet.end().expect(3).stdout, "");
    let ended = world.run(&["attach", "t"]).expect(3).stdout;
    assert_eq!(ended, closing(&told), "of a task that is over: how it ended");
}

#[test]
fn s2_who_comes_late_is_told_of_the_newest_iterations_only() {
    let world = World::new();
    let gate = gate(&world, "a").replace("- run", "    - run");
    let quick = "  - - write: { path: a.txt, text: x, append: true }\n";
    let agent = world.rehearsal(&format!("iterations:\n{}  - - say: last\n{gate}", quick.repeat(8)));
    let task = world.start(&["exec", "--name", "t", "--iter", "9", "--agent", &agent, "go"]);
    is_at_work(&world);
    let attached = watching(&world, &["attach"]);
    let_go(&world);
    let _ = task.end().expect(0);
    let shown = attached.end(0);
    assert!(shown.contains("… 3 earlier iterations: dacapo status t"), "{shown}");
    let named: Vec<bool> = (1..=9).map(|number| shown.contains(&format!("● {number}  "))).collect();
    assert_eq!(named, [false, false, false, true, true, true, true, true, true], "{shown}");
}

#[test]
fn s2_a_task_whose_process_dies_is_told_as_interrupted() {
    let world = World::new();
    let agent = gated_agent(&world);
    let task = world.start(&["exec", "--name", "t", "--iter", "2", "--agent", &agent, "go"]);
    is_at_work(&world);
    let attached = [world.start(&["attach", "t"]), world.start(&["attach", "t", "--json"])];
    task.signal(Signal::KILL);
    let _ = task.end();
    for attached in attached {
        let ran = attached.end().expect(1);
        assert!(ran.stderr.contains("Task 't' was interrupted: its process is gone"), "{}", ran.stderr);
        assert!(ran.stderr.contains("dacapo resume t"), "{}", ran.stderr);
    }
    let ran = world.run(&["attach", "t", "--json"]).expect(1);
    let last: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(last["type"], "error");
    let_go(&world);
    let resumed = world.run(&["resume", "t", "--json"]).expect(0);
    let all = world.run(&["attach", "t", "--json"]).expect(0);
    let journal = |text: &str| -> Vec<Value> {
        events(text).into_iter().filter(|line| line["type"] != "agent_event").collect()
    };
    assert!(journal(&all.stdout).ends_with(&journal(&resumed.stdout)));
    assert_eq!(journal(&all.stdout), world.journal("t"));
    world.assert_nothing_left("t");
}

#[test]
fn s2_what_was_noted_after_the_end_does_not_hide_it() {
    let world = World::new();
    world.config("[notify]\ndesktop = false\ncommand = \"true\"\n");
    let _ = world.exec(&["--name", "t", "--agent-cmd", "echo x > x", "go"]).expect(0);
    assert_eq!(world.journal("t").last().unwrap()["type"], "notified");
    for flags in [&["attach", "t"][..], &["attach", "t", "--json"], &["attach", "t", "--quiet"]] {
        let _ = world.run(flags).expect(0);
    }
    let _ = world.run(&["tell", "t", "and more"]).expect(0);
    let ran = world.run(&["attach", "t"]).expect(0);
    assert!(ran.stdout.contains("● finished, unverified"), "{}", ran.stdout);
}

#[test]
fn s2_leaving_without_a_terminal_leaves_the_task_alone() {
    let world = World::new();
    let agent = gated_agent(&world);
    let task = world.start(&["exec", "--name", "t", "--iter", "1", "--agent", &agent, "go"]);
    is_at_work(&world);
    for signal in [Signal::INT, Signal::TERM] {
        let mut attached = world.command(&["attach", "t"]).stdout(Stdio::piped()).spawn().unwrap();
        // Signals are listened to before anything is shown.
        let mut lines = BufReader::new(attached.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "task    t");
        let pid = rustix::process::Pid::from_child(&attached);
        rustix::process::kill_process(pid, signal).unwrap();
        let rest: Vec<String> = lines.map_while(Result::ok).collect();
        assert_eq!(attached.wait().unwrap().code(), Some(130));
        let said =
            rest.iter().any(|line| line == "detached; the task keeps running: dacapo attach t shows it");
        assert_eq!(said, signal == Signal::INT, "{rest:?}");
    }
    let_go(&world);
    let _ = task.end().expect(0);
    assert_eq!(world.events("t", "command_received"), [] as [Value; 0]);
}

#[test]
fn s2_a_reader_that_has_gone_ends_the_attachment_and_not_the_task() {
    let world = World::new();
    let agent = gated_agent(&world);
    let task = world.start(&["exec", "--name", "t", "--iter", "1", "--agent", &agent, "go"]);
    is_at_work(&world);
    let mut attached = world.command(&["attach", "t", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(attached.stdout.take());
    assert_eq!(attached.wait().unwrap().code(), Some(130));
    let_go(&world);
    let _ = task.end().expect(0);
}

#[test]
fn s13_logs_follow_what_the_agent_does_while_it_does_it() {
    let world = World::new();
    let agent = gated_agent(&world);
    let task = world.start(&["exec", "--name", "t", "--iter", "1", "--agent", &agent, "go"]);
    is_at_work(&world);
    let mut follow = world.command(&["logs", "-f", "t"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines =
        BufReader::new(follow.stdout.take().unwrap()).lines().map(|line| line.unwrap().split_off(11));
    // The agent waits: only what is shown live can end this.
    assert!(lines.any(|line| line == "  │ I read the parser."));
    assert!(lines.any(|line| line == "  ▸ Edit src/parse.rs"));
    let_go(&world);
    let _ = task.end().expect(0);
    let rest: Vec<String> = lines.collect();
    assert!(follow.wait().unwrap().success());
    for line in [
        "  │ and then I",
        "  │ write 繼續",
        "  ▸ write a.txt",
        "=== Iteration 1 complete (1 succeeded, 0 failed) ===",
    ] {
        assert!(rest.iter().any(|shown| shown == line), "{line}: {rest:#?}");
    }
    assert!(
        !world.run(&["logs", "t"]).expect(0).stdout.contains("▸ Edit"),
        "the journal leaves that to turns/"
    );
}

#[test]
fn r3_a_hundred_megabytes_are_followed_without_memory() {
    let world = World::new();
    let agent = "head -c 100000000 /dev/zero | tr '\\0' x; echo > f";
    let _ = world.exec(&["--name", "t", "--agent-cmd", agent, "--quiet", "go"]).expect(0);
    let raw = world.task_dir("t").join("turns/0000.raw");
    assert_eq!(fs::metadata(raw).unwrap().len(), 100_000_000);
    let mut command = world.command(&["attach", "t", "--json"]);
    let mut attached = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut out = attached.stdout.take().unwrap();
    let reading = std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()).unwrap());
    let mut peak_kb = 0;
    wait_for("all of it to be shown", || {
        peak_kb = peak_kb.max(own_memory_kb(attached.id()));
        attached.try_wait().unwrap().is_some()
    });
    assert!(attached.wait().unwrap().success());
    assert!(reading.join().unwrap() > 100_000_000, "all that the agent said");
    assert!(peak_kb > 0 && peak_kb < 40 << 10, "{peak_kb} kB");
}

#[cfg(target_os = "linux")]
mod at_a_terminal {
    use super::{gated_agent, is_at_work, let_go};
    use crate::support::{World, wait_for};
    use crate::terminal::Terminal;

    const QUESTION: &str = "[d]etach  [s]top after this iteration  [k]ill";

    fn spawned(world: &World) {
        let agent = gated_agent(world);
        let _ = world.run(&["spawn", "--name", "t", "--iter", "2", "--agent", &agent, "go"]).expect(0);
        is_at_work(world);
    }

    /// Attached, with the question up.
    fn asked(world: &World) -> Terminal {
        let mut terminal = world.at_terminal(&["attach", "t"]);
        terminal.shows("iteration 1 of 2");
        terminal.press("\u{3}");
        terminal.shows(QUESTION);
        terminal.asks();
        terminal
    }

    #[test]
    fn l0_ctrl_c_asks_and_d_escape_and_ctrl_c_leave() {
        let world = World::new();
        spawned(&world);
        for key in ["d", "D", "\u{1b}", "\u{3}"] {
            let mut terminal = asked(&world);
            terminal.press(key);
            let (code, said) = terminal.end();
            assert_eq!(code, Some(130), "{said}");
            assert!(
                said.ends_with("detached; the task keeps running: dacapo attach t shows it\r\n"),
                "{said}"
            );
        }
        let_go(&world);
        let _ = world.run(&["wait", "t"]).expect(0);
        assert!(world.events("t", "command_received").is_empty());
    }

    #[test]
    fn l0_s_pauses_after_the_iteration() {
        let world = World::new();
        spawned(&world);
        let mut terminal = asked(&world);
        terminal.press("s");
        wait_for("the task to hear of it", || !world.events("t", "command_received").is_empty());
        let heard = &world.events("t", "command_received")[0];
        assert_eq!((&heard["command"], &heard["now"]), (&"pause".into(), &false.into()), "{heard}");
        let_go(&world);
        let (code, said) = terminal.end();
        assert_eq!(code, Some(4), "{said}");
        assert!(said.contains("stops after this iteration; dacapo resume t continues it"), "{said}");
        assert_eq!(world.status("t")["iteration"], 1);
        world.assert_nothing_left("t");
    }

    #[test]
    fn l0_k_kills_and_the_end_is_shown() {
        let world = World::new();
        spawned(&world);
        let mut terminal = asked(&world);
        // Back to watching, and asked once more.
        terminal.press("\r");
        wait_for("the live line", || {
            let said = terminal.said();
            said.rfind("iteration 1 of 2") > said.rfind(QUESTION)
        });
        terminal.press("\u{3}");
        terminal.asks();
        terminal.press("k");
        let (code, said) = terminal.end();
        assert_eq!(code, Some(130), "{said}");
        assert!(said.contains("■ cancelled"), "{said}");
        assert_eq!(world.status("t")["status"], "cancelled");
        world.assert_nothing_left("t");
    }

    #[test]
    fn l0_the_terminal_is_put_back_when_the_question_is_cut_off() {
        let world = World::new();
        spawned(&world);
        let terminal = asked(&world);
        rustix::process::kill_process(terminal.pid(), rustix::process::Signal::TERM).unwrap();
        let (code, said) = terminal.end();
        assert_eq!(code, Some(130), "{said}");
        // And when the task ends meanwhile.
        let terminal = asked(&world);
        let_go(&world);
        let (code, said) = terminal.end();
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("● finished, unverified"), "{said}");
    }
}
