use std::process::Command;
use std::sync::Arc;

use jiff::Timestamp;

use super::*;
use crate::dropped::DropReason;
use crate::engine::Kind;
use crate::engine::machine::Machine;
use crate::event::{Envelope, FORMAT};
use crate::spec::{Place, Setup};
use crate::store::{Home, Journal};
use crate::view::Status;

/// A repository with tasks as they are after their end.
struct World {
    dir: tempfile::TempDir,
    repo: Repo,
    data: RepoDir,
}

fn name(text: &str) -> TaskName {
    TaskName::parse(text).unwrap()
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().join("repo");
        fs::create_dir(&at).unwrap();
        git(&at, &["init", "-q", "-b", "main"]);
        git(&at, &["commit", "-q", "--allow-empty", "-m", "first"]);
        let repo = Repo::discover(&at, &std::env::vars_os().collect()).unwrap();
        let data = Home::new(dir.path().join("data")).repo(repo.common_dir());
        Self { dir, repo, data }
    }

    fn git(&self, words: &[&str]) -> String {
        git(self.repo.toplevel(), words)
    }

    fn worktree(&self, task: &str) -> PathBuf {
        self.data.worktree(&name(task))
    }

    fn spec(&self, task: &str) -> TaskSpec {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/v3/spec.json");
        let mut spec: TaskSpec = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        spec.name = name(task);
        spec.tag = format!("tag of {task}");
        spec.top = self.repo.toplevel().to_owned();
        spec
    }

    /// A task that is proven, in a worktree of its own with a file that no commit holds.
    fn proven(&self, task: &str) -> TaskDir {
        let (path, branch) = (self.worktree(task), format!("refs/heads/dacapo/{task}"));
        let start = self.repo.head().unwrap().commit.unwrap();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        self.repo.add_worktree(&path, &format!("dacapo/{task}"), &start).unwrap();
        git(&path, &["commit", "-q", "--allow-empty", "-m", "work"]);
        self.repo.carry_now(&path, &branch, &format!("refs/dacapo/rescue/{task}")).unwrap();
        fs::write(path.join("mine"), "1\n").unwrap();
        let spec = TaskSpec {
            place: Place::Worktree {
                path: path.clone(),
                branch: branch.clone(),
                with_changes: false,
                base: None,
                setup: Setup::default(),
            },
            ..self.spec(task)
        };
        self.ended(&spec, &path, &branch)
    }

    /// The record of a task whose own process has ended it.
    fn ended(&self, spec: &TaskSpec, path: &Path, branch: &str) -> TaskDir {
        let dir = self.data.task(&spec.name);
        let _lock = dir.create(spec).unwrap();
        fs::write(dir.journal_path(), "").unwrap();
        let mut journal = Journal::open(&dir.journal_path(), |_| {}).unwrap();
        let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/v3/journal.jsonl");
        let mut result = None;
        read(&old, |line| {
            if let Event::TaskFinished(finished) = line.event {
                result = Some(finished);
            }
        })
        .unwrap();
        let events = [
            Event::WorkspaceReady {
                path: path.display().to_string(),
                branch: Some(branch.to_owned()),
                base_commit: None,
                kept_changes: None,
                port_base: None,
                start_sha256: None,
            },
            Event::TaskFinished(result.unwrap()),
        ];
        journal.begin_seal().unwrap();
        let started = Event::TaskStarted { pid: 1, version: String::new() };
        for event in [started].into_iter().chain(events) {
            let (seq, task) = (journal.next_seq(), spec.name.to_string());
            let line =
                Envelope { v: FORMAT, seq, at: Timestamp::now(), elapsed_ms: 0, task, event, came_at: None };
            if let Event::TaskFinished(_) = line.event {
                journal.seal(&line).unwrap();
            }
            journal.append(&line).unwrap();
        }
        dir
    }

    fn renaming(&self) -> Renaming<'_> {
        Renaming::of(&self.repo, &self.data, Kinds::default())
    }

    fn rename(&self, from: &str, to: &str) -> Result<TaskDir, RenameError> {
        let dir = self.data.task(&name(from));
        let lock = dir.lock().unwrap();
        self.renaming().rename(&dir, &lock, &name(to)).map(|(dir, _)| dir)
    }

    /// The first steps, as a process does them that is killed then: the intent, the task's directory, and the rest.
    fn begin(&self, steps: usize) {
        let dir = self.data.task(&name("old"));
        let lock = dir.lock().unwrap();
        if steps == 0 {
            return;
        }
        let record = self.renaming().look(&dir, &name("new")).unwrap();
        dir.write_rename_record(&record).unwrap();
        if steps == 1 {
            return;
        }
        let new = dir.move_to(self.data.task(&name("new")).path()).unwrap();
        let begun = self.renaming().begun(&new, &lock).unwrap().unwrap();
        Begun::STEPS[..steps - 2].iter().try_for_each(|step| step(&begun)).unwrap();
    }

    /// As the same order does it once more.
    fn finish(&self) -> TaskDir {
        let new = self.data.task(&name("new"));
        if !new.exists() {
            return self.rename("old", "new").unwrap();
        }
        let lock = new.lock_to_rename().unwrap();
        self.renaming().finish(&new, &lock).unwrap();
        new
    }

    /// The proven task is `new` in every respect, and `old` is nobody.
    fn is_new(&self, tip: &str) {
        let dir = self.data.task(&name("new"));
        let view = TaskView::load(&dir, Kinds::default()).unwrap();
        assert_eq!(
            (view.name.as_str(), view.status, view.verified, view.record.is_whole()),
            ("new", Status::Completed, true, true)
        );
        assert_eq!(view.branch.as_deref(), Some("refs/heads/dacapo/new"));
        assert_eq!(view.worktree, Some(self.worktree("new").display().to_string()));
        assert_eq!(self.names(), ["new"]);
        assert_eq!(self.git(&["rev-parse", "dacapo/new"]), tip);
        assert_eq!(self.git(&["branch", "--list", "dacapo/old"]), "");
        assert_eq!(git(&self.worktree("new"), &["status", "--porcelain"]), "?? mine");
        assert!(!self.worktree("old").exists());
        let mut renamed = Vec::new();
        read(&dir.journal_path(), |line| {
            if let Event::Renamed { from, to, .. } = line.event {
                renamed.push((line.task, from, to));
            }
        })
        .unwrap();
        assert_eq!(renamed, [("new".into(), "old".into(), "new".into())], "once, and under the new name");
        assert!(dir.unfinished_rename().is_none());
        drop(dir.lock().unwrap());
    }

    fn names(&self) -> Vec<String> {
        self.data.tasks().unwrap().iter().map(TaskDir::name).collect()
    }

    /// All that could have changed: files with their content, and refs.
    fn everything(&self) -> (Vec<(PathBuf, Vec<u8>)>, String) {
        let mut found = Vec::new();
        let mut open = vec![self.data.path().to_owned()];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(dir).unwrap().flatten() {
                let path = entry.path();
                // It names who had it last.
                if path.is_dir() {
                    open.push(path);
                } else if !path.ends_with("lock") {
                    found.push((path.clone(), fs::read(&path).unwrap()));
                }
            }
        }
        found.sort();
        (found, self.git(&["for-each-ref"]))
    }
}

fn git(at: &Path, words: &[&str]) -> String {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"GIT_")) {
        command.env_remove(name);
    }
    command.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]);
    let output = command.args(words).current_dir(at).output().unwrap();
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

#[test]
fn s17_a_proven_task_stays_proven_under_its_new_name() {
    let world = World::new();
    world.proven("old");
    let tip = world.git(&["rev-parse", "dacapo/old"]);
    world.rename("old", "new").unwrap();
    world.is_new(&tip);
    // The old name is free, and can be had back.
    world.rename("new", "old").unwrap();
    world.rename("old", "other").unwrap();
    world.proven("old");
    assert_eq!(world.names(), ["old", "other"]);
    let view = TaskView::load(&world.data.task(&name("other")), Kinds::default()).unwrap();
    assert_eq!((view.verified, view.branch.as_deref()), (true, Some("refs/heads/dacapo/other")));
}

#[test]
fn r1_killed_after_any_step_it_is_finished_by_the_same_order() {
    for steps in 0..=Begun::STEPS.len() + 2 {
        let world = World::new();
        world.proven("old");
        let tip = world.git(&["rev-parse", "dacapo/old"]);
        world.begin(steps);
        let (now, half) = match steps {
            0 | 1 => ("old", false),
            all if all == Begun::STEPS.len() + 2 => ("new", false),
            _ => ("new", true),
        };
        assert_eq!(world.names(), [now], "killed after {steps} steps");
        let dir = world.data.task(&name(now));
        assert_eq!(TaskView::load(&dir, Kinds::default()).unwrap().name, now);
        assert_eq!(dir.lock().is_err(), half, "who does not finish it does nothing else with it either");
        world.finish();
        world.is_new(&tip);
        world.finish();
        world.is_new(&tip);
    }
}

#[test]
fn s17_what_is_refused_has_changed_nothing() {
    let world = World::new();
    let dir = world.proven("old");
    world.proven("other");
    world.git(&["branch", "dacapo/taken"]);
    fs::create_dir_all(world.worktree("there")).unwrap();
    let before = world.everything();
    for (to, why) in [
        ("other", "Task 'other' already exists"),
        ("taken", "branch 'dacapo/taken' already exists"),
        ("there", "worktrees/there already exists"),
    ] {
        let error = world.rename("old", to).unwrap_err().to_string();
        assert!(error.ends_with(why), "{to}: {error}");
    }
    assert_eq!(world.everything(), before);

    // Somebody else claims the name in the last moment: what was intended is forgotten.
    let (lock, record) = (dir.lock().unwrap(), world.renaming().look(&dir, &name("late")).unwrap());
    dir.write_rename_record(&record).unwrap();
    drop(lock);
    assert_eq!(TaskView::load(&dir, Kinds::default()).unwrap().name, "old");
    world.rename("old", "new").unwrap();

    let broken = world.data.task(&name("new"));
    let mut text = fs::read_to_string(broken.journal_path()).unwrap();
    text.insert_str(0, "nothing that reads\n");
    fs::write(broken.journal_path(), text).unwrap();
    let before = world.everything();
    assert!(matches!(world.rename("new", "newer"), Err(RenameError::Record(_))));
    assert_eq!(world.everything(), before);
}

#[test]
fn s17_a_drop_that_was_cut_short_comes_first() {
    let world = World::new();
    let dir = world.proven("old");
    let spec = dir.spec().unwrap();
    let dropped = Dropped::of(&world.repo, &world.data, Kinds::default());
    let kept = dropped.prepare(&spec, DropReason::Dropped).unwrap();
    let before = world.everything();
    assert!(matches!(world.rename("old", "new"), Err(RenameError::PutAway(found)) if *found == kept));
    assert_eq!(world.everything(), before);
    dropped.bring_back(&kept).unwrap();
    world.rename("old", "new").unwrap();
}

#[test]
fn s9_what_was_dropped_after_a_rename_comes_back_under_the_new_name() {
    let world = World::new();
    world.proven("old");
    let tip = world.git(&["rev-parse", "dacapo/old"]);
    let dir = world.rename("old", "new").unwrap();
    let dropped = Dropped::of(&world.repo, &world.data, Kinds::default());
    let lock = dir.lock().unwrap();
    let kept = dropped.put_away(&dir, &dir.spec().unwrap(), DropReason::Dropped).unwrap();
    drop(lock);
    assert_eq!((kept.name.as_str(), world.names().len()), ("new", 0));
    dropped.bring_back(&kept).unwrap();
    world.is_new(&tip);
}

#[test]
fn s9_what_a_merge_put_away_comes_back_under_the_new_name() {
    for killed in [false, true] {
        let world = World::new();
        let dir = world.proven("old");
        let tip = world.git(&["rev-parse", "dacapo/old"]);
        let dropped = Dropped::of(&world.repo, &world.data, Kinds::default());
        let why = DropReason::Merged { into: "refs/heads/main".into(), from: None, commit: None };
        dropped.put_away(&dir, &dir.spec().unwrap(), why).unwrap();
        assert!(!world.worktree("old").exists());
        if killed {
            world.begin(4);
            world.finish();
        } else {
            world.rename("old", "new").unwrap();
        }
        // The old names are somebody else's by now.
        world.proven("old");
        let [kept] = &dropped.all().unwrap()[..] else { panic!("one was put away") };
        assert_eq!(kept.name, "new");
        dropped.bring_back(kept).unwrap();
        assert_eq!(world.git(&["rev-parse", "dacapo/new"]), tip);
        let at = world.worktree("new");
        assert_eq!(git(&at, &["symbolic-ref", "HEAD"]), "refs/heads/dacapo/new");
        assert_eq!(git(&at, &["status", "--porcelain"]), "?? mine");
        assert!(dropped.all().unwrap().is_empty());
        drop(dir);
    }
}

#[test]
fn s17_a_task_in_the_checkout_changes_only_its_record() {
    let world = World::new();
    world.ended(&world.spec("old"), world.repo.toplevel(), "refs/heads/main");
    let refs = world.everything().1;
    let dir = world.rename("old", "new").unwrap();
    let view = TaskView::load(&dir, Kinds::default()).unwrap();
    assert_eq!(
        (view.name.as_str(), view.verified, view.branch.as_deref()),
        ("new", true, Some("refs/heads/main"))
    );
    assert_eq!((view.worktree, world.everything().1), (None, refs));
    // A branch of the name would not be the task's.
    world.git(&["branch", "dacapo/newer"]);
    world.rename("new", "newer").unwrap();
}

/// A kind that is not built in: only the caller knows it.
struct Errands;

impl Kind for Errands {
    fn name(&self) -> &'static str {
        "errand"
    }

    fn machine(&self, _: Arc<TaskSpec>) -> Result<Box<dyn Machine + Send>, NotThatKind> {
        Err(NotThatKind::Unknown(self.name().to_owned()))
    }

    fn branches(&self) -> &'static str {
        "refs/heads/errands/"
    }
}

#[test]
fn s5_tasks_of_the_callers_own_kinds_are_known() {
    let world = World::new();
    let kinds = Kinds::of(&[&Errands]);
    let spec = TaskSpec { kind: "errand".to_owned(), ..world.spec("old") };
    let dir = world.ended(&spec, world.repo.toplevel(), "refs/heads/main");
    let lock = dir.lock().unwrap();
    assert!(matches!(
        world.renaming().rename(&dir, &lock, &name("new")).unwrap_err(),
        RenameError::Kind(NotThatKind::Unknown(kind)) if kind == "errand"
    ));
    let renaming = Renaming::of(&world.repo, &world.data, kinds);
    assert_eq!(renaming.rename(&dir, &lock, &name("new")).unwrap().0.name(), "new");
    // A branch of another such task does not count as one that the work was merged into.
    world.git(&["checkout", "-q", "-b", "errands/other"]);
    world.git(&["commit", "-q", "--allow-empty", "-m", "work"]);
    let tip = world.repo.head().unwrap().commit.unwrap();
    let merged_into = |kinds| {
        Dropped::of(&world.repo, &world.data, kinds).branch_with(&tip, "refs/heads/errands/new").unwrap()
    };
    assert_eq!(merged_into(kinds), None);
    assert_eq!(merged_into(Kinds::default()).as_deref(), Some("refs/heads/errands/other"));
}

#[test]
fn s17_a_task_that_never_began_still_begins() {
    let world = World::new();
    let dir = world.data.task(&name("old"));
    drop(dir.create(&world.spec("old")).unwrap());
    let dir = world.rename("old", "new").unwrap();
    assert!(!dir.has_begun(), "nothing is written before its first line");
    assert_eq!(dir.spec().unwrap().name, name("new"));
    drop(dir.lock().unwrap());
}

#[test]
fn s17_a_task_in_the_checkout_may_take_the_old_name_while_the_worktree_still_has_it() {
    let world = World::new();
    world.proven("old");
    let tip = world.git(&["rev-parse", "dacapo/old"]);
    world.begin(3);
    drop(world.data.task(&name("old")).create(&world.spec("old")).unwrap());
    world.finish();
    assert_eq!(world.names(), ["new", "old"]);
    assert_eq!(world.git(&["rev-parse", "dacapo/new"]), tip);
    assert!(world.worktree("new").join("mine").exists() && !world.worktree("old").exists());
}

#[test]
fn r6_settings_of_the_branch_that_move_are_no_agents_doing() {
    let world = World::new();
    let dir = world.proven("old");
    world.git(&["config", "branch.dacapo/old.remote", "origin"]);
    let before = SettingsFiles::of(&world.repo, &world.worktree("old"), None);
    fs::write(dir.settings_files_path(), serde_json::to_vec(&before).unwrap()).unwrap();
    let dir = world.rename("old", "new").unwrap();
    let known = |dir: &TaskDir| -> SettingsFiles {
        serde_json::from_slice(&fs::read(dir.settings_files_path()).unwrap()).unwrap()
    };
    let now = SettingsFiles::of(&world.repo, &world.worktree("new"), None);
    assert_eq!(now.changed_since(&known(&dir)), [""; 0]);
    assert_eq!(world.git(&["config", "branch.dacapo/new.remote"]), "origin");
    // What somebody else has changed before is still seen.
    world.git(&["config", "core.editor", "theirs"]);
    let dir = world.rename("new", "newer").unwrap();
    let now = SettingsFiles::of(&world.repo, &world.worktree("newer"), None);
    assert_eq!(now.changed_since(&known(&dir)), [".git/config"]);
    drop(world.dir);
}
