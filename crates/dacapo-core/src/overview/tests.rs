//! With an index or without: the same list.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::spec::TaskName;
use crate::store::Home;

/// A real task, from which all others are made.
fn real(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/v3").join(file);
    fs::read_to_string(path).unwrap()
}

/// The first lines of its journal, and a part of the next one.
fn journal(lines: usize, torn: usize) -> String {
    let text = real("journal.jsonl");
    let whole: String = text.split_inclusive('\n').take(lines).collect();
    let rest: String = text[whole.len()..].chars().take(torn).collect();
    whole + rest.trim_end_matches('\n')
}

struct World {
    _dir: tempfile::TempDir,
    repo: RepoDir,
    /// Not to be inherited by what other tests start: let go is let go.
    locks: BTreeMap<usize, File>,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let repo = Home::new(dir.path().join("data")).repo(Path::new("/somewhere/.git"));
        fs::create_dir_all(repo.tasks_path()).unwrap();
        Self { _dir: dir, repo, locks: BTreeMap::new() }
    }

    fn task(&self, number: usize) -> TaskDir {
        self.repo.task(&TaskName::parse(&format!("t{number}")).unwrap())
    }

    fn make(&self, number: usize) -> TaskDir {
        let dir = self.task(number);
        if !dir.path().exists() {
            fs::create_dir(dir.path()).unwrap();
            let name = format!("\"name\": \"t{number}\"");
            fs::write(dir.spec_path(), real("spec.json").replacen("\"name\": \"old\"", &name, 1)).unwrap();
        }
        dir
    }

    /// Writes the journal as somebody does for whom the clock has gone on since the last change.
    fn write(&self, number: usize, text: &[u8]) {
        let path = self.make(number).journal_path();
        let before = fs::metadata(&path).map(|meta| Stamp::of(&meta)).ok();
        loop {
            fs::write(&path, text).unwrap();
            if before != fs::metadata(&path).map(|meta| Stamp::of(&meta)).ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The list by the index, and made from nothing but journals and locks.
    fn both<T: Glance>(&self) -> [(Vec<String>, Vec<String>); 2] {
        let text = |glance: &T| serde_json::to_string(glance).unwrap();
        let later = SystemTime::now() + Duration::from_secs(3600);
        let found = overview::<T>(&self.repo, Kinds::default(), later).unwrap();
        let problems = found.problems.iter().map(|problem| format!("{}: {}", problem.name, problem.error));
        let mut plain = (Vec::new(), Vec::new());
        for dir in self.repo.tasks().unwrap() {
            match TaskView::load(&dir, Kinds::default()) {
                Ok(view) => plain.0.push(text(&T::of(&view))),
                Err(error) => plain.1.push(format!("{}: {error}", dir.name())),
            }
        }
        [(found.tasks.iter().map(text).collect(), problems.collect()), plain]
    }
}

#[derive(Debug, Clone)]
enum Step {
    /// The journal has so many lines and a torn one: more than before, or fewer.
    Journal {
        lines: usize,
        torn: usize,
    },
    /// The same length, other words.
    Rewritten,
    Damaged,
    JournalGone,
    Removed,
    Driven(bool),
    IndexGone,
    IndexCut(usize),
    Listed,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..32_usize, 0..40_usize).prop_map(|(lines, torn)| Step::Journal { lines, torn }),
        2 => Just(Step::Rewritten),
        1 => Just(Step::Damaged),
        1 => Just(Step::JournalGone),
        2 => Just(Step::Removed),
        2 => any::<bool>().prop_map(Step::Driven),
        1 => Just(Step::IndexGone),
        1 => (0..4000_usize).prop_map(Step::IndexCut),
        6 => Just(Step::Listed),
    ]
}

fn let_go(world: &mut World, number: usize) {
    if let Some(lock) = world.locks.remove(&number) {
        lock.unlock().unwrap();
    }
}

fn play(world: &mut World, number: usize, step: &Step) {
    let path = world.task(number).journal_path();
    match step {
        Step::Journal { lines, torn } => world.write(number, journal(*lines, *torn).as_bytes()),
        Step::Rewritten => {
            if let Ok(text) = fs::read_to_string(&path) {
                world.write(number, text.replace("claude", "gemini").replace("0.01", "0.02").as_bytes());
            }
        }
        Step::Damaged => {
            if let Ok(mut bytes) = fs::read(&path) {
                bytes.iter_mut().skip(1).take(1).for_each(|byte| *byte = 0);
                world.write(number, &bytes);
            }
        }
        Step::JournalGone => drop(fs::remove_file(&path)),
        Step::Removed => {
            let_go(world, number);
            let _ = fs::remove_dir_all(world.task(number).path());
        }
        Step::Driven(true) => {
            let lock = world.make(number).path().to_owned();
            world.locks.entry(number).or_insert_with(|| {
                let lock = File::open(&lock).unwrap();
                lock.lock().unwrap();
                lock
            });
        }
        Step::Driven(false) => let_go(world, number),
        Step::IndexGone => drop(fs::remove_file(world.repo.path().join(Brief::INDEX))),
        Step::IndexCut(length) => {
            let index = world.repo.path().join(Brief::INDEX);
            if let Ok(bytes) = fs::read(&index) {
                fs::write(&index, &bytes[..bytes.len().min(*length)]).unwrap();
            }
        }
        Step::Listed => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn s14_a_list_by_the_index_is_the_list_without_it(
        steps in proptest::collection::vec((0..4_usize, step()), 1..40)
    ) {
        let mut world = World::new();
        for (number, step) in &steps {
            play(&mut world, *number, step);
            if matches!(step, Step::Listed) {
                let [indexed, plain] = world.both::<Brief>();
                prop_assert_eq!(indexed, plain);
            }
        }
        let [indexed, plain] = world.both::<Brief>();
        prop_assert_eq!(indexed, plain);
    }
}

/// That the property above is about something: entries are made, and used.
#[test]
fn s14_a_task_that_has_ended_is_read_from_the_index() {
    let world = World::new();
    world.write(0, journal(31, 0).as_bytes());
    world.write(1, journal(20, 0).as_bytes());
    let later = SystemTime::now() + Duration::from_secs(3600);
    let statuses = |found: &Overview<Brief>| -> Vec<(String, Status)> {
        found.tasks.iter().map(|brief| (brief.agent.clone(), brief.status)).collect()
    };
    let first = statuses(&overview(&world.repo, Kinds::default(), later).unwrap());
    assert_eq!(
        first.iter().map(|(_, status)| *status).collect::<Vec<_>>(),
        [Status::Completed, Status::Interrupted]
    );
    let index = world.repo.path().join(Brief::INDEX);
    let agent = format!("\"agent\":{:?}", first[0].0);
    let marked = fs::read_to_string(&index).unwrap().replace(&agent, "\"agent\":\"from the index\"");
    fs::write(&index, &marked).unwrap();
    let second = statuses(&overview(&world.repo, Kinds::default(), later).unwrap());
    assert!(second.iter().all(|(agent, _)| agent == "from the index"), "{second:?}");
    assert_eq!(second[1].1, Status::Interrupted);
    assert_eq!(fs::read_to_string(&index).unwrap(), marked, "nothing new, nothing written");
    // Somebody drives it again: no index says otherwise.
    let lock = world.task(1).lock().unwrap();
    assert_ne!(statuses(&overview(&world.repo, Kinds::default(), later).unwrap())[1].1, Status::Interrupted);
    drop(lock);
    fs::remove_dir_all(world.task(0).path()).unwrap();
    assert_eq!(statuses(&overview(&world.repo, Kinds::default(), later).unwrap()).len(), 1);
}

#[test]
fn s14_a_task_that_runs_is_not_written_into_the_index_every_time() {
    let world = World::new();
    world.write(0, journal(20, 0).as_bytes());
    let _lock = world.task(0).lock().unwrap();
    let later = SystemTime::now() + Duration::from_secs(3600);
    let found = overview::<Brief>(&world.repo, Kinds::default(), later).unwrap();
    assert!(!found.tasks[0].status.is_settled());
    assert!(!world.repo.path().join(Brief::INDEX).exists());
}

#[test]
fn r2_tasks_that_do_not_read_are_named_and_hide_no_other() {
    let world = World::new();
    world.write(0, journal(31, 0).as_bytes());
    world.write(1, journal(31, 0).as_bytes());
    fs::remove_file(world.task(1).spec_path()).unwrap();
    world.write(2, journal(31, 0).as_bytes());
    let newer = fs::read_to_string(world.task(2).spec_path()).unwrap().replacen("\"v\": 4", "\"v\": 99", 1);
    fs::write(world.task(2).spec_path(), newer).unwrap();
    world.write(3, journal(31, 0).replacen("{", "[", 5).as_bytes());
    // Nobody can open this one, whoever it is.
    std::os::unix::fs::symlink("t4", world.task(4).path()).unwrap();
    fs::write(world.task(5).path(), "a file").unwrap();
    let found = overview::<Brief>(&world.repo, Kinds::default(), SystemTime::now()).unwrap();
    assert_eq!(found.tasks.iter().map(|brief| brief.name.as_str()).collect::<Vec<_>>(), ["t0"]);
    let said: Vec<String> = found.problems.iter().map(|problem| problem.error.to_string()).collect();
    let words =
        ["no task at ", "newer Dacapo (format 99)", "damaged at line 1", "symbolic links", "irectory"];
    assert_eq!(said.len(), words.len());
    for (said, words) in said.iter().zip(words) {
        assert!(said.contains(words), "{words}: {said}");
    }
}
