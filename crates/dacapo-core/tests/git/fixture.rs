//! A repository in a temporary directory, with a configuration of its own, and an "agent" that uses git in it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use dacapo_core::env::Env;
use dacapo_core::git::{
    Apart, ChangeKind, CommitDate, CommitRequest, Head, Landed, Landing, Oid, Prepared, Repo, display_path,
};
use dacapo_core::process::Masker;
use tempfile::TempDir;

pub(crate) const PREFIX: &str = "refs/dacapo/rescue/task/iter-1";
pub(crate) const DATE: CommitDate = CommitDate { unix_seconds: 1_700_000_000, offset_minutes: 60 };

pub(crate) struct Fixture {
    pub(crate) dir: TempDir,
    pub(crate) repo: Repo,
    pub(crate) home: Head,
    pub(crate) exclusive: bool,
    pub(crate) max_file_bytes: u64,
    pub(crate) known: Vec<PathBuf>,
    pub(crate) apart: Apart,
    pub(crate) secrets: Option<Masker>,
}

/// An environment in which nothing of the machine's configuration is seen.
pub(crate) fn env(dir: &Path) -> Env {
    let home = dir.join("home");
    let env: Env = std::env::vars_os().filter(|(name, _)| !name.as_bytes().starts_with(b"GIT_")).collect();
    env.with([
        ("HOME", home.clone()),
        ("XDG_CONFIG_HOME", home.join("xdg")),
        ("GIT_CONFIG_GLOBAL", home.join(".gitconfig")),
        ("GIT_CONFIG_SYSTEM", "/dev/null".into()),
    ])
}

/// Runs git as an agent or a user would.
pub(crate) fn git_in(dir: &Path, cwd: &Path, args: &[&str]) -> Output {
    let mut command = Command::new("git");
    env(dir).dress(&mut command).args(args).current_dir(cwd);
    command.output().expect("git runs")
}

pub(crate) fn temp() -> TempDir {
    let dir = tempfile::tempdir().expect("temporary directory");
    fs::create_dir(dir.path().join("home")).expect("home");
    fs::write(
        dir.path().join("home/.gitconfig"),
        "[user]\nname = Ada\nemail = ada@example.org\n[init]\ndefaultBranch = main\n[protocol \"file\"]\nallow = always\n",
    )
    .expect("configuration");
    fs::create_dir(dir.path().join("repo")).expect("repository");
    dir
}

impl Fixture {
    /// Three commits: `a.txt` and `dir/b.txt`.
    pub(crate) fn new() -> Self {
        Self::with_init(&[])
    }

    pub(crate) fn with_init(options: &[&str]) -> Self {
        let mut fixture = Self::unborn(options);
        for n in 1..=3 {
            fixture.write("a.txt", &format!("one\ntwo\n{n}\n"));
            fixture.write("dir/b.txt", "b\n");
            fixture.git(&["add", "-A"]);
            fixture.git(&["commit", "-qm", &format!("c{n}")]);
        }
        fixture.home = fixture.repo.head().expect("head");
        fixture
    }

    pub(crate) fn unborn(options: &[&str]) -> Self {
        let dir = temp();
        let at = dir.path().join("repo");
        let args = [&["init", "-q"], options].concat();
        assert!(git_in(dir.path(), &at, &args).status.success());
        Self::open(dir, &at)
    }

    pub(crate) fn open(dir: TempDir, at: &Path) -> Self {
        let repo = Repo::discover(at, &env(dir.path())).expect("a repository");
        let home = repo.head().expect("head");
        Self {
            dir,
            repo,
            home,
            exclusive: false,
            max_file_bytes: 1000,
            known: Vec::new(),
            apart: Apart::default(),
            secrets: None,
        }
    }

    pub(crate) fn path(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.repo.toplevel().join(name.as_ref())
    }

    pub(crate) fn write(&self, name: impl AsRef<OsStr>, content: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(path, content).expect("write");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("read")
    }

    pub(crate) fn try_git(&self, args: &[&str]) -> Output {
        git_in(self.dir.path(), self.repo.toplevel(), args)
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = self.try_git(args);
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    pub(crate) fn oid(&self, rev: &str) -> Oid {
        Oid::parse(&self.git(&["rev-parse", rev])).expect("an id")
    }

    pub(crate) fn request(&self) -> CommitRequest<'_> {
        CommitRequest {
            start: self.home.commit.as_ref(),
            home: &self.home,
            message: "[iter-1] work\n\nbody\n",
            date: DATE,
            rescue_prefix: PREFIX,
            exclusive: self.exclusive,
            max_file_bytes: self.max_file_bytes,
            known: &self.known,
            landing: Some("dacapo: iter-1"),
            apart: &self.apart,
            secrets: self.secrets.as_ref(),
        }
    }

    pub(crate) fn prepare(&self) -> Prepared {
        self.repo.prepare_commit(&self.request()).expect("prepared")
    }

    pub(crate) fn land(&self, prepared: &Prepared) -> Landed {
        let commit = prepared.commit.as_ref().expect("a commit");
        let landing = Landing {
            branch: prepared.head.branch.as_deref(),
            old: commit.parent.as_ref(),
            new: &commit.oid,
            reason: "dacapo: iter-1",
            rescue_prefix: PREFIX,
            exclusive: self.exclusive,
        };
        self.repo.land(&landing).expect("landed")
    }

    /// Prepares, lands, and expects no problem.
    pub(crate) fn commit(&mut self) -> Prepared {
        let prepared = self.prepare();
        assert_eq!(prepared.problems, []);
        assert_eq!(self.land(&prepared), Landed::Now);
        self.home = self.repo.head().expect("head");
        prepared
    }

    /// What `git status` tells the user, ignored files aside.
    pub(crate) fn status(&self) -> String {
        self.git(&["status", "--porcelain", "-uall"])
    }

    /// The content of a path in a commit.
    pub(crate) fn show(&self, rev: &str, path: &str) -> String {
        self.git(&["show", &format!("{rev}:{path}")])
    }
}

/// Changes in short: `A new`, `D old`.
pub(crate) fn changed(prepared: &Prepared) -> Vec<String> {
    let letter = |kind| match kind {
        ChangeKind::Added => 'A',
        ChangeKind::Modified => 'M',
        ChangeKind::Deleted => 'D',
        ChangeKind::TypeChanged => 'T',
    };
    prepared.changed.iter().map(|c| format!("{} {}", letter(c.kind), display_path(&c.path))).collect()
}
