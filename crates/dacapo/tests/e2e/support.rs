//! A world of its own for each test: home, data, config, repository. Nothing of the user's is read or written, and at
//! its end no process that carries the task's tag may be left.

use dacapo_app::messages::Messages;
use dacapo_app::present::json;
use dacapo_app::present::notices::told;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::documented;

/// Waiting for something that must happen ends here; no test depends on how fast it happens.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A temporary world.
pub(crate) struct World {
    dir: tempfile::TempDir,
    /// The `room` of its environment; none: the default.
    room: Option<&'static str>,
}

impl World {
    /// With a repository that has one commit, on `main`.
    pub(crate) fn new() -> Self {
        let world = Self::without_repo();
        world.found();
        world
    }

    /// One in which agents reach what a room keeps from them.
    pub(crate) fn unconfined() -> Self {
        Self::new().without_rooms()
    }

    pub(crate) fn without_rooms(mut self) -> Self {
        self.room = Some("none");
        self
    }

    fn found(&self) {
        self.git(&["init", "-q", "-b", "main"]);
        self.write("README.md", "hello\n");
        self.git(&["add", "-A"]);
        self.git(&["commit", "-qm", "first"]);
    }

    /// With an empty folder in place of the repository.
    pub(crate) fn without_repo() -> Self {
        Self::in_dir(tempfile::tempdir().unwrap())
    }

    /// The same outside of temp, where a strict room keeps agents from writing.
    pub(crate) fn outside_temp() -> Self {
        let world = Self::in_dir(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
        world.found();
        world
    }

    fn in_dir(dir: tempfile::TempDir) -> Self {
        for name in ["home", "data", "repo", "bin", "tmp"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        let world = Self { dir, room: None };
        fs::write(world.home().join(".gitconfig"), "[user]\n\tname = Test\n\temail = test@localhost\n")
            .unwrap();
        world
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.dir.path().join("repo")
    }

    /// First on PATH: programs put here are found before the real ones.
    pub(crate) fn bin(&self) -> PathBuf {
        self.dir.path().join("bin")
    }

    /// A path outside the repository.
    pub(crate) fn scratch(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file of the repository.
    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.repo().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.repo().join(path)).unwrap_or_default()
    }

    /// Puts an executable script on PATH.
    pub(crate) fn program(&self, name: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.bin().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// Writes a script for the agent `rehearsal` and gives back the value for `--agent`.
    pub(crate) fn rehearsal(&self, yaml: &str) -> String {
        let path = self.scratch("script.yaml");
        fs::write(&path, yaml).unwrap();
        format!("rehearsal:{}", path.display())
    }

    /// The user's config file.
    pub(crate) fn config(&self, toml: &str) {
        let path = self.home().join(".config/dacapo/config.toml");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, toml).unwrap();
    }

    /// The environment of this world, for any program.
    pub(crate) fn dress(&self, command: &mut Command) {
        self.prepare(command);
    }

    fn prepare(&self, command: &mut Command) {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path =
            std::env::join_paths(std::iter::once(self.bin()).chain(std::env::split_paths(&path))).unwrap();
        command
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.home())
            .env("DACAPO_HOME", self.data())
            // A proof sees of temp only what the environment names.
            .env("WORLD", self.scratch(""))
            // What a program leaves there goes with the world: agents leave reports and libraries of many megabytes.
            .env("TMPDIR", self.scratch("tmp"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("LANG", "C.UTF-8")
            .env("TZ", "UTC")
            .envs(self.room.map(|room| ("DACAPO_ROOM", room)))
            .current_dir(self.repo())
            .stdin(Stdio::null());
    }

    pub(crate) fn git(&self, words: &[&str]) -> String {
        self.git_in(&self.repo(), words)
    }

    pub(crate) fn git_in(&self, dir: &Path, words: &[&str]) -> String {
        let mut command = Command::new("git");
        self.prepare(&mut command);
        let output = command.current_dir(dir).args(words).output().unwrap();
        assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    /// Whatever comes of a git command, as bytes.
    pub(crate) fn git_output(&self, words: &[&str]) -> Output {
        let mut command = Command::new("git");
        self.prepare(&mut command);
        command.args(words).output().unwrap()
    }

    /// A command line of the program, not started yet.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, words: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dacapo"));
        self.prepare(&mut command);
        command.args(words);
        command
    }

    /// Runs the program to its end. What it prints for programs must be what the documentation says.
    #[must_use]
    #[track_caller]
    pub(crate) fn run<S: AsRef<OsStr>>(&self, words: &[S]) -> Ran {
        let ran = Ran::from(self.command(words).output().unwrap());
        if words.iter().any(|word| word.as_ref() == "--json") {
            documented::check(&ran.stdout);
        }
        ran
    }

    /// `dacapo exec …`
    #[must_use]
    pub(crate) fn exec<S: AsRef<OsStr>>(&self, words: &[S]) -> Ran {
        let words: Vec<&OsStr> =
            std::iter::once(OsStr::new("exec")).chain(words.iter().map(AsRef::as_ref)).collect();
        self.run(&words)
    }

    /// The directory of a task.
    pub(crate) fn task_dir(&self, name: &str) -> PathBuf {
        let repos = fs::read_dir(self.data().join("repos")).expect("no task was made");
        let found: Vec<PathBuf> = repos
            .map(|repo| repo.unwrap().path().join("tasks").join(name))
            .filter(|path| path.exists())
            .collect();
        assert_eq!(found.len(), 1, "task {name}");
        found.into_iter().next().unwrap()
    }

    /// The directory of a task, once something is in its journal.
    pub(crate) fn task_dir_or_none(&self, name: &str) -> Option<PathBuf> {
        let made = self.tasks().iter().any(|task| task == name);
        let begun =
            |dir: &PathBuf| fs::metadata(dir.join("journal.jsonl")).is_ok_and(|found| found.len() > 0);
        made.then(|| self.task_dir(name)).filter(begun)
    }

    /// Names of all tasks.
    pub(crate) fn tasks(&self) -> Vec<String> {
        let Ok(repos) = fs::read_dir(self.data().join("repos")) else { return Vec::new() };
        let mut names: Vec<String> = repos
            .filter_map(|repo| fs::read_dir(repo.unwrap().path().join("tasks")).ok())
            .flat_map(|tasks| tasks.map(|task| task.unwrap().file_name().into_string().unwrap()))
            .collect();
        names.sort();
        names
    }

    /// The journal of a task.
    pub(crate) fn journal(&self, name: &str) -> Vec<Value> {
        whole_lines(&self.task_dir(name).join("journal.jsonl"))
    }

    /// Events of one type, as `logs --json` shows them: with words for people.
    pub(crate) fn events(&self, name: &str, kind: &str) -> Vec<Value> {
        let lines = self.journal(name).into_iter().filter(|line| line["type"] == kind);
        let in_words = |line: Value| serde_json::from_value(line).map(|line| json::event(&line));
        lines.map(|line| in_words(line.clone()).unwrap_or(line)).collect()
    }

    /// What its journal has for people, in the words that they are told.
    pub(crate) fn notices(&self, name: &str) -> Vec<String> {
        let notices = self.events(name, "notice").into_iter();
        notices.map(|line| told(&serde_json::from_value(line).unwrap(), name, Messages::ENGLISH)).collect()
    }

    /// `status --json`.
    pub(crate) fn status(&self, name: &str) -> Value {
        let ran = self.run(&["status", name, "--json"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        serde_json::from_str(&ran.stdout).unwrap()
    }

    /// What the agent was told in a turn.
    pub(crate) fn prompt(&self, name: &str, turn: u32) -> String {
        fs::read_to_string(self.task_dir(name).join(format!("turns/{turn:04}.prompt"))).unwrap()
    }

    /// Subjects of the commits on HEAD, newest first.
    pub(crate) fn subjects(&self) -> Vec<String> {
        self.git(&["log", "--format=%s"]).lines().map(str::to_owned).collect()
    }

    /// Processes that carry the tag of a task.
    pub(crate) fn processes(&self, name: &str) -> Vec<u32> {
        let spec: Value =
            serde_json::from_slice(&fs::read(self.task_dir(name).join("spec.json")).unwrap()).unwrap();
        let tag = format!("DACAPO_RUN={}", spec["tag"].as_str().unwrap());
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let environ = fs::read(entry.path().join("environ")).unwrap_or_default();
            if environ.split(|byte| *byte == 0).any(|variable| variable == tag.as_bytes()) {
                found.push(pid);
            }
        }
        found
    }

    /// Nothing of the task is left: no process, no lock.
    pub(crate) fn assert_nothing_left(&self, name: &str) {
        wait_for("all processes of the task to end", || self.processes(name).is_empty());
        let lock = fs::File::open(self.task_dir(name)).unwrap();
        wait_for("the task's lock to be free", || lock.try_lock().is_ok());
        lock.unlock().unwrap();
        if let Ok(lock) = fs::File::open(self.repo().join(".git")) {
            wait_for("the workspace's lock to be free", || lock.try_lock().is_ok());
            lock.unlock().unwrap();
        }
    }
}

/// A test that fails leaves no task in the background behind.
impl Drop for World {
    fn drop(&mut self) {
        let Ok(repos) = fs::read_dir(self.data().join("repos")) else { return };
        let tasks = repos.flatten().filter_map(|repo| fs::read_dir(repo.path().join("tasks")).ok());
        for path in tasks.flatten().flatten().map(|task| task.path()) {
            let held = fs::File::open(&path).is_ok_and(|file| file.try_lock().is_err());
            let holder =
                fs::read_to_string(path.join("lock")).ok().and_then(|text| text.lines().next()?.parse().ok());
            // A test that drives a task itself is its holder, by its name still when a child has its lock for a moment more.
            let another = |pid: &rustix::process::Pid| *pid != rustix::process::getpid();
            if let Some(pid) =
                holder.filter(|_| held).and_then(rustix::process::Pid::from_raw).filter(another)
            {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    }
}

/// The lines of a file to which somebody may be adding one at this moment, of which half can be there.
pub(crate) fn whole_lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Whether a process is at its end. One that nobody has waited for is: in a container nobody may ever do that.
pub(crate) fn is_gone(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.map_or(true, |stat| stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" Z")))
}

/// Looks until `holds`, or fails the test.
pub(crate) fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// How much anonymous memory a process holds; 0 once it has ended. Not its resident set: how much of a program's own file
/// the kernel maps ahead differs from machine to machine.
pub(crate) fn own_memory_kb(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// How a run of the program ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Ran {
    /// The exit code is as expected; else everything is shown.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "\n--- stdout\n{}\n--- stderr\n{}", self.stdout, self.stderr);
        self
    }

    /// The last line of `--json` output, the result.
    pub(crate) fn result(&self) -> Value {
        let last = self.stdout.lines().last().expect("some output");
        let value: Value = serde_json::from_str(last).unwrap();
        assert_eq!(value["type"], "task_finished");
        value
    }
}
