//! A surface in a few lines, on the application layer alone: it starts a task, follows it, answers what is asked, and merges.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use dacapo_app::App;
use dacapo_app::messages::Messages;
use dacapo_app::note::{MergeStep, Note, Notes};
use dacapo_app::operations::act::{MergeResult, Operation, OperationCanceller, OperationResult};
use dacapo_app::operations::follow::{Hub, Item, Opening};
use dacapo_app::operations::list::Scope;
use dacapo_app::operations::merge::MergeRequest;
use dacapo_app::present::listing::Entry;
use dacapo_app::question::{Answer, Answers, NotYet};
use dacapo_app::request::TaskRequest;

mod plans;

use dacapo_core::follow::Bell;

use crate::support::{World, wait_for};

/// How a surface has something done: by itself, or by a short process.
type Act = fn(&App, &Operation, &Answers) -> Result<OperationResult, NotYet>;

/// Asks in its first iteration, and is done when the prompt has the answer.
const ASKS: &str = "case $(cat) in *'answer: the blue'*) echo 'int x;' > key.c; echo FIN-1;; \
                    *) echo '<blocked>Which key?</blocked>';; esac";

/// The surface.
struct Toy {
    app: App,
    act: Act,
    hub: Hub,
    /// What it heard beside what it asked for.
    heard: Receiver<Note>,
}

impl Toy {
    /// Does something, with a yes to every question on the way; what was asked.
    fn does(&self, operation: &Operation) -> (OperationResult, usize) {
        let mut answers = Answers::default();
        for asked in 0.. {
            match (self.act)(&self.app, operation, &answers) {
                Err(NotYet::Ask(question)) => answers.give(*question, Answer::Yes),
                came => return (came.unwrap(), asked),
            }
        }
        unreachable!()
    }

    /// Follows a task until it rests; the question that it has then.
    fn watches(&self, task: &str) -> Option<String> {
        let (_, dir) = self.app.task(Some(task)).unwrap();
        let mut follow = self.app.follow(&self.hub, &dir, Opening::Start).unwrap();
        let mut events = 0;
        while let Some(item) = follow.next(None).unwrap() {
            match item {
                Item::Event(_) => events += 1,
                Item::Over(_) => break,
                _ => {}
            }
        }
        assert!(events > 5, "{events} events");
        self.app.view(&dir).unwrap().needs.map(|_| task.to_owned())
    }

    /// From the request to the branch of the user.
    fn works(&self) -> OperationResult {
        let request = TaskRequest {
            prompt: Some("use the key".into()),
            name: Some("t".into()),
            agent_cmd: Some(ASKS.into()),
            until: Some("FIN-1".into()),
            project_checks: true,
            ..TaskRequest::default()
        };
        let (started, asked) = self.does(&Operation::Start { request });
        assert!(matches!(started, OperationResult::Started { ref task, .. } if task == "t"), "{started:?}");
        assert_eq!(asked, 1, "whether the check that was found is the project's");
        assert_eq!(self.watches("t"), Some("t".into()), "the agent asks");
        let answer = Some("the blue one".into());
        self.does(&Operation::Resume { task: "t".into(), iter: None, prompt: answer, proof: None });
        assert_eq!(self.watches("t"), None);
        self.does(&Operation::Merge {
            request: MergeRequest { tasks: vec!["t".into()], ..MergeRequest::default() },
        })
        .0
    }
}

fn toy(world: &World, act: Act) -> Toy {
    let (say, heard) = channel();
    let mut command = Command::new("true");
    world.dress(&mut command);
    let env = command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
    let app = App {
        env: env.collect(),
        cwd: Ok(world.repo()),
        user_dir: Some(world.home()),
        program: env!("CARGO_BIN_EXE_dacapo").into(),
        supervision: dacapo_core::process::Supervision::default(),
        kinds: dacapo_core::engine::Kinds::default(),
        messages: Messages::ENGLISH,
        notes: Notes::new(move |note| say.send(note.clone()).unwrap()),
    };
    Toy { app, act, hub: Hub::new().unwrap(), heard }
}

/// A project whose check is found.
fn project() -> World {
    let world = World::new();
    world.write("Makefile", "test:\n\ttest -e key.c\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "a check"]);
    world
}

fn is_merged(world: &World, done: &OperationResult) {
    let OperationResult::Merged { tasks, halted: false, .. } = done else { panic!("{done:?}") };
    assert!(matches!(tasks[..], [ref one] if matches!(one.result, MergeResult::Merged { .. })), "{tasks:?}");
    assert_eq!(world.read("key.c"), "int x;\n");
    world.assert_nothing_left("t");
}

#[test]
fn a_surface_starts_follows_answers_and_merges_by_the_application_alone() {
    let world = project();
    let done = toy(&world, App::act).works();
    is_merged(&world, &done);
}

#[test]
fn a_surface_that_lives_long_leaves_no_lock_and_no_zombie_and_spares_its_other_children() {
    let world = project();
    let toy = toy(&world, App::act_elsewhere);
    let mut others = vec![other_child(&world)];
    let done = toy.works();
    others.push(other_child(&world));
    is_merged(&world, &done);
    wait_for("all that it started to be waited for", || zombies_of(std::process::id()).is_empty());
    let data = world.data();
    for child in &mut others {
        let open = fs::read_dir(format!("/proc/{}/fd", child.id())).unwrap().flatten();
        let open: Vec<_> = open.filter_map(|fd| fs::read_link(fd.path()).ok()).collect();
        assert!(open.iter().all(|path| !path.starts_with(&data)), "{open:?}");
        assert_eq!(child.try_wait().unwrap(), None, "nobody ended it");
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let refused = (toy.act)(&toy.app, &Operation::Untell { task: "no".into() }, &Answers::default());
    let Err(NotYet::Refused(failure)) = refused else { panic!("{refused:?}") };
    assert_eq!((failure.message.english(), failure.exit_code()), ("Task 'no' not found", 2));
}

/// A task whose check on the merged result waits at a gate, once that is armed; and the surface that has it.
fn gated(world: &World) -> (Toy, String, PathBuf) {
    // The check on the result goes on once somebody who heard that it runs says so.
    let gate = world.scratch("gate");
    let made = Command::new("mkfifo").arg(&gate).status().unwrap();
    assert!(made.success());
    let check = format!("test -e key.c && if test -e {0}.armed; then cat {0}; fi", gate.display());
    let request = TaskRequest {
        prompt: Some("make the key".into()),
        name: Some("t".into()),
        agent_cmd: Some("echo 'int x;' > key.c; echo FIN-1".into()),
        until: Some("FIN-1".into()),
        checks: vec![check.clone()],
        ..TaskRequest::default()
    };
    let toy = toy(world, App::act_elsewhere);
    toy.does(&Operation::Start { request });
    assert_eq!(toy.watches("t"), None);
    // The branch moves on, so that what was proven is not what is merged.
    world.write("other.c", "int y;\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "elsewhere"]);
    fs::write(world.scratch("gate.armed"), "").unwrap();
    (toy, check, gate)
}

fn merge_it() -> Operation {
    Operation::Merge { request: MergeRequest { tasks: vec!["t".into()], ..MergeRequest::default() } }
}

/// How far the merge of `t` has come.
fn next_step(heard: &Receiver<Note>) -> MergeStep {
    match heard.recv_timeout(Duration::from_secs(60)).unwrap() {
        Note::Merging { task, now } if task == "t" => now,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_surface_that_lives_long_hears_how_far_a_merge_has_come_as_it_happens() {
    let world = project();
    let (toy, check, gate) = gated(&world);
    let Toy { app, heard, .. } = toy;
    let merge = std::thread::spawn(move || app.act_elsewhere(&merge_it(), &Answers::default()).unwrap());
    let next = || next_step(&heard);
    assert_eq!(next(), MergeStep::Begun);
    assert_eq!(next(), MergeStep::Check { command: check.clone() });
    assert!(!merge.is_finished(), "it is said while it happens");
    fs::write(&gate, "").unwrap();
    assert_eq!(next(), MergeStep::Checked { command: check, passed: true });
    let MergeStep::Ended { result } = next() else { panic!("it has ended") };
    let done = merge.join().unwrap();
    let OperationResult::Merged { tasks, .. } = &done else { panic!("{done:?}") };
    assert_eq!(tasks[0].result, result);
    is_merged(&world, &done);
}

#[test]
fn a_surface_ends_a_merge_in_good_order_and_can_merge_again() {
    let world = project();
    let (toy, check, gate) = gated(&world);
    let before = world.git(&["rev-parse", "HEAD"]);
    let canceller = OperationCanceller::default();
    let (app, cancels) = (toy.app.clone(), canceller.clone());
    let merge = std::thread::spawn(move || {
        app.act_elsewhere_until(&merge_it(), &Answers::default(), &cancels).unwrap()
    });
    assert_eq!(next_step(&toy.heard), MergeStep::Begun);
    assert_eq!(next_step(&toy.heard), MergeStep::Check { command: check });
    wait_for("the check to wait", || !waiting_at(&gate).is_empty());
    canceller.cancel();
    let done = merge.join().unwrap();
    let OperationResult::Merged { tasks, halted: true, .. } = &done else { panic!("{done:?}") };
    assert!(matches!(tasks[..], [ref one] if one.result == MergeResult::Halted), "{tasks:?}");
    assert_eq!(next_step(&toy.heard), MergeStep::Ended { result: MergeResult::Halted }, "told to the end");
    assert_eq!(waiting_at(&gate), [0; 0], "nothing of it is left");
    assert_eq!(world.git(&["rev-parse", "HEAD"]), before, "the branch is where it was");
    assert_eq!(zombies_of(std::process::id()), [0; 0]);
    fs::remove_file(world.scratch("gate.armed")).unwrap();
    is_merged(&world, &toy.does(&merge_it()).0);
}

/// Processes that read from this pipe, or were told to.
fn waiting_at(gate: &Path) -> Vec<u32> {
    let words = format!("cat\0{}\0", gate.display());
    let pids =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line == words.as_bytes()))
        .collect()
}

#[test]
fn a_surface_that_stays_sees_tasks_come_change_and_go() {
    let world = project();
    let toy = toy(&world, App::act_elsewhere);
    let bell = Bell::new().unwrap();
    let mut list = toy.app.live_list(&toy.hub, Scope::Repository, bell.clone());
    // What it looked like when it was looked at last, and how often that was.
    let mut seen: Option<Vec<String>> = None;
    let mut looks = 0;
    let mut until = |wanted: &[&str]| {
        wait_for(&format!("{wanted:?} in the list"), || {
            bell.silence();
            if let Some(listed) = list.look().unwrap() {
                looks += 1;
                let brief = |Entry { brief, .. }| format!("{} {}", brief.name, brief.status.as_str());
                seen = Some(listed.entries.into_iter().map(brief).collect());
            }
            seen.as_ref().is_some_and(|seen| seen == wanted)
        });
    };
    until(&[]);
    let request = TaskRequest {
        prompt: Some("wait".into()),
        name: Some("t".into()),
        agent_cmd: Some("while test ! -e ../../../../go; do sleep 0.02; done".into()),
        iter: Some(1),
        ..TaskRequest::default()
    };
    toy.does(&Operation::Start { request });
    until(&["t running"]);
    toy.does(&Operation::Kill { task: "t".into() });
    until(&["t cancelled"]);
    toy.does(&Operation::Rename { task: "t".into(), name: "u".into() });
    until(&["u cancelled"]);
    toy.does(&Operation::Drop { tasks: vec!["u".into()] });
    until(&[]);
    // Nothing happens, and nothing is read.
    let before = looks;
    bell.silence();
    assert!(list.look().unwrap().is_none() && looks == before);
}

/// Something else that the surface has started.
fn other_child(world: &World) -> Child {
    let mut command = Command::new("sleep");
    world.dress(&mut command);
    command.arg("300").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Children that have ended and that nobody has waited for.
fn zombies_of(parent: u32) -> Vec<u32> {
    let stat = |pid: u32| {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (_, rest) = text.rsplit_once(')')?;
        let mut words = rest.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.parse::<u32>().ok()?))
    };
    let pids =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| stat(*pid).is_some_and(|(state, of)| state == "Z" && of == parent)).collect()
}
