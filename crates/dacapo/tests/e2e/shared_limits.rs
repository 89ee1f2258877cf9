//! Loops that share an account share its limits (L9, K13): one finds it, the others do not run into it, and at its end one
//! tries while the others wait for what comes of it.

use std::fs;
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use rustix::process::Signal;
use serde_json::Value;

use crate::kit::Started;
use crate::support::{World, wait_for};

/// Runs into a limit where the file `limit-TASK` says how many seconds it lasts from then on, once. Else it says by `begun-TASK` that it has begun,
/// answers when `answer` is there, and ends when `end` is.
const AGENT: &str = r#"cd "$STAGE" || exit 9
if [ -e "limit-$DACAPO_TASK" ]; then
  until=$(date -u -d "$(cat "limit-$DACAPO_TASK") seconds" +%Y-%m-%dT%H:%M:%S.%NZ)
  printf '{"kind":"limit","message":"the limit is reached","resets_at":"%s"}\n' "$until"
  rm "limit-$DACAPO_TASK"
  exit 1
fi
: > "begun-$DACAPO_TASK"
while [ ! -e answer ]; do sleep 0.02; done
echo '{"kind":"tool_call","id":"1","name":"sh"}'
while [ ! -e end ]; do sleep 0.02; done
echo '{"kind":"end","reason":"end_turn"}'
"#;

/// Several loops on one stage.
struct Loops {
    world: World,
}

impl Loops {
    /// Agents by name, each with its account.
    fn new(agents: &[(&str, &str)]) -> Self {
        let world = World::new();
        fs::create_dir(world.scratch("stage")).unwrap();
        fs::write(world.scratch("agent.sh"), AGENT).unwrap();
        let mut config = String::new();
        for (name, account) in agents {
            config += &format!(
                "[agents.{name}]\ncommand = [\"sh\", {:?}]\noutput = \"rehearsal\"\nenv = {{ STAGE = {:?}, REHEARSAL_ACCOUNT = {account:?} }}\n",
                world.scratch("agent.sh"),
                world.scratch("stage"),
            );
        }
        world.config(&config);
        Self { world }
    }

    fn stage(&self, name: &str) -> PathBuf {
        self.world.scratch("stage").join(name)
    }

    fn put(&self, name: &str) {
        fs::write(self.stage(name), "").unwrap();
    }

    /// The next turn of this task runs into a limit that ends so much later than it finds it: how long the loop takes to
    /// get there does not matter.
    fn limit(&self, task: &str, lasts: SignedDuration) {
        fs::write(self.stage(&format!("limit-{task}")), lasts.as_secs().to_string()).unwrap();
    }

    fn start(&self, task: &str, agents: &str, flags: &[&str]) -> Started {
        let words = ["exec", "--worktree", "--iter", "1", "--name", task, "--agent", agents, "--json"];
        self.world.start(&[&words, flags, &["go"]].concat())
    }

    /// Events so far; none of a task that is not there yet.
    fn events(&self, task: &str, kind: &str) -> Vec<Value> {
        let there = self.world.tasks().iter().any(|name| name == task)
            && self.world.task_dir(task).join("journal.jsonl").exists();
        if !there {
            return Vec::new();
        }
        let text = fs::read_to_string(self.world.task_dir(task).join("journal.jsonl")).unwrap();
        // The last line may be half written.
        let lines = text.lines().filter_map(|line| serde_json::from_str(line).ok());
        lines.filter(|line: &Value| line["type"] == kind).collect()
    }

    fn waits(&self, task: &str, why: &str) -> Vec<String> {
        let waits = self.events(task, "waiting");
        let waits = waits.iter().filter(|wait| wait["why"] == why);
        let said = waits.map(|wait| {
            let by = wait["found_by"].as_str().map_or_else(String::new, |task| format!("{task}: "));
            format!("{by}{}", wait["message"].as_str().unwrap())
        });
        said.collect()
    }

    fn begun<'a>(&self, tasks: &[&'a str]) -> Vec<&'a str> {
        tasks.iter().copied().filter(|task| self.stage(&format!("begun-{task}")).exists()).collect()
    }

    /// Waits until one of them tries and all others wait for it.
    fn wait_for_one_that_tries<'a>(&self, tasks: &[&'a str]) -> &'a str {
        wait_for("one that tries and others that wait for it", || {
            let waiting = tasks.iter().filter(|task| !self.waits(task, "probe").is_empty()).count();
            waiting == tasks.len() - 1 && self.begun(tasks).len() == 1
        });
        let begun = self.begun(tasks);
        assert_eq!(begun.len(), 1, "{begun:?}");
        begun[0]
    }

    /// Word of a limit.
    fn word(&self) -> Option<Value> {
        let mut files = fs::read_dir(self.world.data().join("limits")).ok()?;
        let path = files.find_map(|file| {
            Some(file.unwrap().path()).filter(|path| path.extension().is_some_and(|end| end == "json"))
        })?;
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }

    fn at(event: &Value) -> Timestamp {
        event["at"].as_str().unwrap().parse().unwrap()
    }
}

#[test]
fn l9_one_finds_the_limit_the_others_start_no_turn_and_exactly_one_tries_at_its_end() {
    let loops = Loops::new(&[("bot", "mine")]);
    let all = ["a", "b", "c"];
    loops.limit("a", SignedDuration::from_secs(4));
    let a = loops.start("a", "bot", &[]);
    wait_for("the first to wait", || !loops.waits("a", "limit").is_empty());
    let word = loops.word().unwrap();
    assert_eq!(
        (&word["v"], &word["found_by"], &word["agent"], &word["message"]),
        (&1.into(), &"a".into(), &"bot".into(), &"the limit is reached".into())
    );
    assert!(!word.to_string().contains("mine"), "{word}");
    let until: Timestamp = word["until"].as_str().unwrap().parse().unwrap();
    let others = [loops.start("b", "bot", &[]), loops.start("c", "bot", &[])];

    let prober = loops.wait_for_one_that_tries(&all);
    for task in all {
        let turns = loops.events(task, "turn_started");
        let tried: Vec<&Value> = turns.iter().filter(|turn| Loops::at(turn) >= until).collect();
        assert_eq!(turns.len() - tried.len(), usize::from(task == "a"), "{task} {turns:?}");
        assert_eq!(tried.len(), usize::from(task == prober), "{task} {turns:?}");
        if task != prober {
            // Who looks in the instant before the other has left its name knows only that there is one.
            let by = |name: &str| vec![format!("{name}: the limit is reached")];
            let waits = loops.waits(task, "probe");
            assert!(waits == by(prober) || waits == by("of another process"), "{task} {waits:?}");
            assert_eq!(loops.world.status(task)["status"], "waiting");
        }
        if task != "a" {
            let found = "a: the limit is reached";
            assert!(loops.waits(task, "limit").iter().all(|message| message == found));
        }
    }
    assert!(loops.word().is_some(), "nobody knows yet whether it is over");

    // An answer frees the others while the turn goes on.
    loops.put("answer");
    wait_for("all to begin", || loops.begun(&all).len() == 3);
    assert_eq!(loops.word(), None);
    assert_eq!(loops.events(prober, "task_finished").len(), 0);
    loops.put("end");
    for run in [a].into_iter().chain(others) {
        assert_eq!(World::counts(&run.end().expect(0).result()), [1, 1, 0]);
    }
    for task in all {
        assert_eq!(loops.world.status(task)["status"], "completed");
        loops.world.assert_nothing_left(task);
    }
}

#[test]
fn l9_one_that_is_killed_while_it_tries_makes_way_for_the_next() {
    let loops = Loops::new(&[("bot", "mine")]);
    let tasks = ["a", "b", "c"];
    loops.limit("a", SignedDuration::from_secs(4));
    let a = loops.start("a", "bot", &[]);
    wait_for("the first to wait", || !loops.waits("a", "limit").is_empty());
    let mut runs = vec![("a", a), ("b", loops.start("b", "bot", &[])), ("c", loops.start("c", "bot", &[]))];
    let prober = loops.wait_for_one_that_tries(&tasks);
    let at = runs.iter().position(|(task, _)| *task == prober).unwrap();
    let (_, killed) = runs.remove(at);
    killed.signal(Signal::KILL);
    let _ = killed.end();
    let rest: Vec<&str> = runs.iter().map(|(task, _)| *task).collect();
    wait_for("the next to try", || loops.begun(&rest).len() == 1);
    // It is the only one: the last one either still waits for the first, or for this one by now.
    let third = if loops.begun(&rest) == [rest[0]] { rest[1] } else { rest[0] };
    assert!(loops.events(third, "turn_started").len() <= usize::from(third == "a"));
    loops.put("answer");
    loops.put("end");
    for (_, run) in runs {
        let _ = run.end().expect(0);
    }
    let _ = loops.world.run(&["resume", prober, "--json"]).expect(0);
    tasks.iter().for_each(|task| loops.world.assert_nothing_left(task));
}

#[test]
fn l9_a_limit_that_is_found_again_is_told_to_those_who_wait() {
    let loops = Loops::new(&[("bot", "mine")]);
    loops.limit("a", SignedDuration::from_secs(4));
    let most = ["--max-wait", "30m"];
    let a = loops.start("a", "bot", &most);
    wait_for("the first to wait", || !loops.waits("a", "limit").is_empty());
    // Whoever tries runs into it again; then it lasts longer than anybody wants to wait.
    for task in ["a", "b", "c"] {
        loops.limit(task, SignedDuration::from_hours(2));
    }
    let others = [loops.start("b", "bot", &most), loops.start("c", "bot", &most)];
    for run in [a].into_iter().chain(others) {
        assert_eq!(run.end().expect(3).result()["stop_reason"], "limit_wait");
    }
    let turns: usize = ["a", "b", "c"].iter().map(|task| loops.events(task, "turn_started").len()).sum();
    assert_eq!(turns, 2, "one found it, one tried");
    assert!(loops.begun(&["a", "b", "c"]).is_empty());
}

#[test]
fn l14_a_loop_that_waits_for_another_to_try_can_be_stopped() {
    let loops = Loops::new(&[("bot", "mine")]);
    let tasks = ["a", "b"];
    loops.limit("a", SignedDuration::from_secs(4));
    let a = loops.start("a", "bot", &[]);
    wait_for("the first to wait", || !loops.waits("a", "limit").is_empty());
    let b = loops.start("b", "bot", &[]);
    let prober = loops.wait_for_one_that_tries(&tasks);
    let ((tries, name), (waits, waiting)) =
        if prober == "a" { ((a, "a"), (b, "b")) } else { ((b, "b"), (a, "a")) };
    waits.signal(Signal::TERM);
    let result = waits.end().expect(130).result();
    assert_eq!(result["outcome"], "cancelled");
    loops.world.assert_nothing_left(waiting);
    loops.put("answer");
    loops.put("end");
    let _ = tries.end().expect(0);
    loops.world.assert_nothing_left(name);
    assert_eq!(loops.word(), None);
    let _ = loops.world.run(&["resume", waiting, "--iter", "1", "--json"]).expect(0);
}

/// A limit of account `mine` that lasts for hours and was found by task `a`.
fn long_limit(loops: &Loops) {
    loops.limit("a", SignedDuration::from_hours(2));
    let result = loops.start("a", "bot", &["--max-wait", "1h"]).end().expect(3).result();
    assert_eq!(result["stop_reason"], "limit_wait");
    assert!(loops.word().is_some());
}

#[test]
fn l9_max_wait_holds_for_what_another_found_and_it_is_shown_who_did() {
    let loops = Loops::new(&[("bot", "mine")]);
    long_limit(&loops);
    let words = ["exec", "--worktree", "--name", "b", "--agent", "bot", "--max-wait", "1h", "go"];
    let ran = loops.world.run(&words).expect(3);
    assert!(ran.stdout.contains("found by task a: the limit is reached"), "{}", ran.stdout);
    assert_eq!(loops.events("b", "turn_started").len(), 0);
    let words = ["exec", "--worktree", "--name", "c", "--agent", "bot", "--max-wait", "3h", "go"];
    let c = loops.world.start(&words);
    wait_for("the wait", || !loops.waits("c", "limit").is_empty());
    let list = loops.world.run(&["list"]).expect(0).stdout;
    assert!(list.contains("waiting until"), "{list}");
    c.signal(Signal::INT);
    let said = c.end().expect(130).stdout;
    assert!(said.contains("waiting until ") && said.contains("(found by task a: "), "{said}");
    assert_eq!(loops.events("c", "turn_started").len(), 0);
}

#[test]
fn l9_the_next_agent_takes_over_and_other_accounts_are_free() {
    let loops = Loops::new(&[("bot", "mine"), ("same", "mine"), ("other", "yours"), ("none", "")]);
    long_limit(&loops);
    loops.put("answer");
    loops.put("end");
    for (task, agents, worked) in
        [("b", "bot,other", "other"), ("c", "other", "other"), ("d", "none", "none")]
    {
        let result = loops.start(task, agents, &[]).end().expect(0).result();
        assert_eq!(World::counts(&result), [1, 1, 0]);
        let turns = loops.events(task, "turn_started");
        let agents: Vec<&str> = turns.iter().map(|turn| turn["agent"].as_str().unwrap()).collect();
        assert_eq!(agents, [worked], "{task}");
    }
    let result = loops.start("e", "bot,same", &["--max-wait", "1h"]).end().expect(3).result();
    assert_eq!(result["stop_reason"], "limit_wait");
    assert_eq!(loops.events("e", "turn_started").len(), 0);
}

#[test]
fn l9_word_that_makes_no_sense_is_not_listened_to() {
    let loops = Loops::new(&[("bot", "mine")]);
    long_limit(&loops);
    loops.put("answer");
    loops.put("end");
    let dir = loops.world.data().join("limits");
    let mut files = fs::read_dir(&dir).unwrap().map(|file| file.unwrap().path());
    let file = files.find(|path| path.extension().is_some_and(|end| end == "json")).unwrap();
    let good = fs::read_to_string(&file).unwrap();
    for (task, bytes) in
        [("b", "{ not json".to_owned()), ("c", good.replace("\"v\": 1", "\"v\": 9")), ("d", String::new())]
    {
        fs::write(&file, bytes).unwrap();
        let _ = loops.start(task, "bot", &[]).end().expect(0);
        assert!(loops.events(task, "notice").is_empty());
    }
}

#[test]
fn l9_where_nothing_can_be_shared_the_loop_goes_on_by_itself_and_says_so_once() {
    let loops = Loops::new(&[("bot", "mine")]);
    fs::write(loops.world.data().join("limits"), "in the way").unwrap();
    loops.put("answer");
    loops.put("end");
    // A reset that has passed is no end: the loop would wait for a minute.
    loops.limit("a", SignedDuration::from_secs(-9));
    let words = ["exec", "--name", "a", "--agent", "bot", "--max-wait", "10s", "go"];
    let ran = loops.world.run(&words).expect(3);
    let said = ran.stdout.matches("usage limits are not shared with other tasks: ").count();
    assert_eq!(said, 1, "{}", ran.stdout);
    loops.limit("b", SignedDuration::from_secs(4));
    let b = loops.start("b", "bot", &[]);
    assert_eq!(World::counts(&b.end().expect(0).result()), [1, 1, 0]);
    assert_eq!(loops.events("b", "notice").len(), 1);
}
