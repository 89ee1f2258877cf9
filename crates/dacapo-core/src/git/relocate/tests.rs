use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::process::Command;

use super::*;
use crate::env::Env;

const OLD: &str = "refs/heads/dacapo/old";
const NEW: &str = "refs/heads/dacapo/new";

/// A repository with a worktree `old` on `dacapo/old`, and things in it that no commit holds.
struct World {
    dir: tempfile::TempDir,
    repo: Repo,
}

/// All that must be the same afterwards, by whatever name.
#[derive(Debug, PartialEq)]
struct All {
    files: BTreeMap<PathBuf, (u32, i64, Vec<u8>)>,
    status: String,
    staged: String,
    log: String,
    reflog: Vec<u8>,
    upstream: String,
}

impl World {
    fn new() -> Self {
        Self::with_init(&[])
    }

    fn with_init(options: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("worktrees")).unwrap();
        fs::write(
            dir.path().join(".gitconfig"),
            "[user]\nname = Ada\nemail = ada@example.org\n[protocol \"file\"]\nallow = always\n",
        )
        .unwrap();
        let at = dir.path().join("repo");
        fs::create_dir(&at).unwrap();
        git_in(dir.path(), &at, &[&["init", "-q", "-b", "main"], options].concat());
        git_in(dir.path(), &at, &["commit", "-q", "--allow-empty", "-m", "first"]);
        let repo = Repo::discover(&at, &std::env::vars_os().collect::<Env>().with(env(dir.path()))).unwrap();
        let world = Self { dir, repo };
        let start = world.repo.head().unwrap().commit.unwrap();
        world.repo.add_worktree(&world.at("old"), "dacapo/old", &start).unwrap();
        world.write("old/a", "1\n");
        world.write("old/.gitignore", "ignored\n");
        world.git("old", &["add", "-A"]);
        world.git("old", &["commit", "-qm", "work"]);
        world.write("old/a", "changed\n");
        world.write("old/ignored", "kept\n");
        world.write("old/untracked", "kept\n");
        world.write("old/staged", "staged\n");
        world.git("old", &["add", "staged"]);
        world.write("old/staged", "changed since\n");
        world.git("../repo", &["config", "branch.dacapo/old.merge", "refs/heads/theirs"]);
        world
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join("worktrees").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.at(name), text).unwrap();
    }

    fn git(&self, worktree: &str, words: &[&str]) -> String {
        git_in(self.dir.path(), &self.at(worktree), words)
    }

    /// The first steps, as a process does that is killed then.
    fn begin(&self, steps: usize) {
        let (from, to) = (self.at("old"), self.at("new"));
        let relocation = Relocation {
            repo: self.repo.shared(),
            from: BranchWorktree { path: &from, branch: OLD },
            to: BranchWorktree { path: &to, branch: NEW },
        };
        Relocation::STEPS[..steps].iter().try_for_each(|step| step(&relocation)).unwrap();
    }

    fn can(&self) -> Result<(), WorktreeError> {
        let (from, to) = (self.at("old"), self.at("new"));
        self.repo.can_relocate(
            BranchWorktree { path: &from, branch: OLD },
            BranchWorktree { path: &to, branch: NEW },
        )
    }

    fn relocate(&self) -> Result<(), WorktreeError> {
        self.relocate_unless(false)
    }

    fn relocate_unless(&self, anothers: bool) -> Result<(), WorktreeError> {
        let (from, to) = (self.at("old"), self.at("new"));
        let (from, to) =
            (BranchWorktree { path: &from, branch: OLD }, BranchWorktree { path: &to, branch: NEW });
        self.repo.relocate(from, to, || anothers)
    }

    fn all(&self, name: &str) -> All {
        let branch = format!("dacapo/{name}");
        let section = format!("branch.{branch}.merge");
        All {
            files: snapshot(&self.at(name)),
            status: self.git(name, &["status", "--porcelain", "-uall", "--ignored"]),
            staged: self.git(name, &["ls-files", "-s"]),
            log: self.git(name, &["log", "--format=%H", &branch]),
            reflog: fs::read(self.at(name).join(".git/logs/refs/heads").join(&branch)).unwrap_or_default(),
            upstream: self.git("../repo", &["config", &section]),
        }
    }

    /// Nothing has the old name, and git knows the new one.
    fn is_renamed(&self) {
        assert!(!self.at("old").exists());
        assert_eq!(self.git("../repo", &["branch", "--list", "dacapo/old"]), "");
        assert_eq!(self.git("new", &["symbolic-ref", "HEAD"]), NEW);
        let config = fs::read_to_string(self.repo.common_dir().join("config")).unwrap();
        assert!(!config.contains("dacapo/old"), "{config}");
        let litter = self.git("../repo", &["fsck", "--no-dangling"]);
        assert_eq!(litter, "");
        assert_eq!(self.git("new", &["fsck", "--no-dangling"]), "");
    }
}

fn env(dir: &Path) -> Vec<(OsString, OsString)> {
    vec![
        ("HOME".into(), dir.into()),
        ("GIT_CONFIG_GLOBAL".into(), dir.join(".gitconfig").into()),
        ("GIT_CONFIG_SYSTEM".into(), "/dev/null".into()),
    ]
}

fn git_in(dir: &Path, cwd: &Path, words: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(words).current_dir(cwd);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"GIT_")) {
        command.env_remove(name);
    }
    let output = command.envs(env(dir)).output().unwrap();
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

fn snapshot(root: &Path) -> BTreeMap<PathBuf, (u32, i64, Vec<u8>)> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(root).unwrap().flatten() {
        let (path, meta) = (entry.path(), entry.metadata().unwrap());
        if path.ends_with(".git") {
            continue;
        }
        let name = path.strip_prefix(root).unwrap().to_owned();
        all.insert(name, (meta.mode(), meta.mtime_nsec(), fs::read(&path).unwrap_or_default()));
    }
    all
}

#[test]
fn s17_a_worktree_and_its_branch_get_other_names_and_nothing_else_changes() {
    for options in [&[][..], &["--ref-format=reftable"], &["--object-format=sha256"]] {
        let world = World::with_init(options);
        let before = world.all("old");
        assert_eq!(before.reflog.is_empty(), options == ["--ref-format=reftable"]);
        world.can().unwrap();
        world.relocate().unwrap();
        world.is_renamed();
        assert_eq!(world.all("new"), before, "{options:?}");
        is_of_use(&world);
    }
}

fn is_of_use(world: &World) {
    // Work goes on there, and the old names are free.
    world.git("new", &["commit", "-qam", "more"]);
    let start = world.repo.head().unwrap().commit.unwrap();
    world.repo.add_worktree(&world.at("old"), "dacapo/old", &start).unwrap();
    assert_eq!(world.git("new", &["log", "-1", "--format=%s"]), "more");
}

#[test]
fn r1_killed_after_any_step_it_is_finished_from_there() {
    for steps in 0..=Relocation::STEPS.len() {
        let world = World::new();
        let before = world.all("old");
        world.begin(steps);
        // Git clears up as thoroughly as it can.
        world.git("../repo", &["gc", "-q", "--prune=now"]);
        world.relocate().unwrap();
        world.is_renamed();
        assert_eq!(world.all("new"), before, "killed after {steps} steps");
        world.relocate().unwrap();
        assert_eq!(world.all("new"), before, "and once more");
    }
}

#[test]
fn r1_what_is_committed_in_between_stays() {
    for steps in 1..=Relocation::STEPS.len() {
        let world = World::new();
        world.begin(steps);
        world.git("new", &["commit", "-qam", "in between"]);
        let tip = world.git("new", &["rev-parse", "HEAD"]);
        world.relocate().unwrap();
        world.is_renamed();
        assert_eq!(world.git("new", &["rev-parse", "dacapo/new"]), tip, "{steps} steps");
        world.repo.carry_now(&world.at("new"), NEW, "refs/dacapo/rescue/new").unwrap();
        assert_eq!(world.git("../repo", &["rev-parse", "dacapo/new"]), tip, "{steps} steps");
    }
}

#[test]
fn s17_what_is_in_the_way_is_seen_before_anything_changes() {
    let world = World::new();
    let before = world.all("old");
    let refused = |world: &World| world.can().unwrap_err().to_string();

    fs::create_dir(world.at("new")).unwrap();
    assert!(refused(&world).ends_with("worktrees/new already exists"), "{}", refused(&world));
    fs::remove_dir(world.at("new")).unwrap();

    world.git("../repo", &["branch", "dacapo/new"]);
    assert_eq!(refused(&world), "branch 'dacapo/new' already exists");
    world.git("../repo", &["branch", "-m", "dacapo/new", "dacapo/new/deeper"]);
    assert_eq!(
        refused(&world),
        "git cannot create branch 'dacapo/new' while there is a branch 'dacapo/new/deeper'"
    );
    world.git("../repo", &["branch", "-D", "dacapo/new/deeper"]);

    world.git("../repo", &["checkout", "-q", "dacapo/old"]);
    assert!(refused(&world).starts_with("branch 'dacapo/old' is checked out at "), "{}", refused(&world));
    world.git("../repo", &["checkout", "-q", "main"]);

    fs::create_dir(world.at("old/.git/rebase-merge")).unwrap();
    assert!(refused(&world).starts_with("a rebase, am or bisect is in progress in "), "{}", refused(&world));
    fs::remove_dir(world.at("old/.git/rebase-merge")).unwrap();

    world.can().unwrap();
    assert_eq!(world.all("old"), before);
}

#[test]
fn s17_parts_that_are_not_there_are_no_obstacle() {
    // The directory.
    let world = World::new();
    let tip = world.git("old", &["rev-parse", "HEAD"]);
    world.repo.carry_now(&world.at("old"), OLD, "refs/dacapo/rescue/old").unwrap();
    fs::remove_dir_all(world.at("old")).unwrap();
    world.can().unwrap();
    world.relocate().unwrap();
    assert_eq!(world.git("../repo", &["rev-parse", "dacapo/new"]), tip);
    world.repo.add_worktree_again(&world.at("new"), "dacapo/new").unwrap().unwrap();
    world.is_renamed();

    // The branch, in both repositories.
    let world = World::new();
    world.git("old", &["checkout", "-q", "--detach"]);
    world.git("old", &["branch", "-qD", "dacapo/old"]);
    world.git("../repo", &["branch", "-qD", "dacapo/old"]);
    let files = snapshot(&world.at("old"));
    world.relocate().unwrap();
    assert_eq!(snapshot(&world.at("new")), files);
    assert_eq!(world.git("new", &["rev-parse", "HEAD"]), tip_of(&world));

    // Everything.
    let world = World::new();
    world.repo.remove_worktree(&world.at("old")).unwrap();
    world.git("../repo", &["branch", "-qD", "dacapo/old"]);
    world.relocate().unwrap();
    assert!(!world.at("new").exists());
}

fn tip_of(world: &World) -> String {
    world.git("new", &["log", "-1", "--format=%H", "--grep=^work$"])
}

#[test]
fn s17_who_has_the_old_names_by_now_is_left_alone() {
    let world = World::new();
    // All but the settings.
    world.begin(3);
    let start = world.repo.head().unwrap().commit.unwrap();
    world.repo.add_worktree(&world.at("old"), "dacapo/old", &start).unwrap();
    let (theirs, ours) = (snapshot(&world.at("old")), snapshot(&world.at("new")));
    world.relocate_unless(true).unwrap();
    assert_eq!((snapshot(&world.at("old")), snapshot(&world.at("new"))), (theirs, ours));
    assert_eq!(world.git("old", &["symbolic-ref", "HEAD"]), OLD);
}

#[test]
fn s17_submodules_still_work() {
    let world = World::new();
    let module = world.dir.path().join("module");
    fs::create_dir(&module).unwrap();
    git_in(world.dir.path(), &module, &["init", "-q", "-b", "main"]);
    git_in(world.dir.path(), &module, &["commit", "-q", "--allow-empty", "-m", "in the module"]);
    world.git("old", &["submodule", "--quiet", "add", "../../module", "deep/er"]);
    world.git("old", &["submodule", "--quiet", "add", "--name", "na/me", "../../module", "other"]);
    world.git("old", &["commit", "-qm", "submodules"]);
    for steps in [0, 1, 2, Relocation::STEPS.len()] {
        let (from, to) = (world.at("old"), world.at("new"));
        world.begin(steps);
        world.relocate().unwrap();
        for path in ["new/deep/er", "new/other"] {
            assert_eq!(world.git(path, &["log", "--format=%s"]), "in the module", "{path}");
            assert_eq!(world.git(path, &["status", "--porcelain"]), "");
        }
        // And back.
        let (from, to) =
            (BranchWorktree { path: &to, branch: NEW }, BranchWorktree { path: &from, branch: OLD });
        world.repo.relocate(from, to, || false).unwrap();
        assert_eq!(world.git("old/deep/er", &["log", "--format=%s"]), "in the module");
    }
}

#[test]
fn s17_a_record_that_was_set_aside_comes_back_under_the_new_names() {
    for options in [&[][..], &["--ref-format=reftable"]] {
        comes_back_under_the_new_names(&World::with_init(options));
    }
}

fn comes_back_under_the_new_names(world: &World) {
    let (from, to) = (world.at("old"), world.at("new"));
    let before = snapshot(&from);
    let away = world.dir.path().join("away");
    let kept = world.repo.keep_under("refs/dacapo/rescue/old/1", OLD, &from).unwrap();
    world.repo.set_aside(&from, OLD, &away, &kept).unwrap();
    for _ in 0..2 {
        world.repo.bring_back(&away, &to, NEW, kept.tip.as_ref()).unwrap();
        world.repo.take_new_branch(&to, OLD, NEW).unwrap();
    }
    assert_eq!(snapshot(&to), before);
    assert_eq!(world.git("new", &["symbolic-ref", "HEAD"]), NEW);
}
