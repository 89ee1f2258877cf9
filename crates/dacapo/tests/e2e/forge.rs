//! A bare repository as the remote, and programs that stand in for `gh`, `glab` and `tea`: each writes down exactly how it
//! was called, and answers as the real one would.

use std::fs;
use std::path::PathBuf;

use crate::support::World;

/// One call of a platform's program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    /// Its words, its own name left out.
    pub(crate) argv: Vec<String>,
    pub(crate) stdin: String,
    pub(crate) env: Vec<String>,
    pub(crate) cwd: PathBuf,
}

impl Call {
    /// The first two words.
    pub(crate) fn verb(&self) -> String {
        self.argv[..2].join(" ")
    }
}

impl World {
    /// With a remote `origin` that is fetched from `url` and pushed to a bare repository beside.
    pub(crate) fn with_remote(url: &str) -> Self {
        let world = Self::new();
        let bare = world.remote();
        world.git(&["init", "-q", "--bare", bare.to_str().unwrap()]);
        world.git(&["remote", "add", "origin", url]);
        world.git(&["config", "remote.origin.pushurl", bare.to_str().unwrap()]);
        world
    }

    /// The bare repository.
    pub(crate) fn remote(&self) -> PathBuf {
        self.scratch("remote.git")
    }

    /// Where a branch is in the bare repository.
    pub(crate) fn pushed(&self, branch: &str) -> String {
        self.git_in(
            &self.remote(),
            &["for-each-ref", "--format=%(objectname)", &format!("refs/heads/{branch}")],
        )
    }

    /// A hook of the bare repository, which refuses or does what else it says.
    pub(crate) fn remote_hook(&self, name: &str, text: &str) -> PathBuf {
        let made = self.program(name, text);
        let path = self.remote().join("hooks").join(name);
        fs::rename(made, &path).unwrap();
        path
    }

    /// Puts a platform's program on PATH. `answers` is shell; `$1 $2` are what it was asked.
    pub(crate) fn platform(&self, name: &str, answers: &str) {
        let calls = self.scratch(&format!("{name}-calls"));
        fs::create_dir_all(&calls).unwrap();
        let text = format!(
            "#!/bin/sh\n\
             n=0; while test -e '{0}'/$n.argv; do n=$((n+1)); done\n\
             pwd > '{0}'/$n.cwd; env > '{0}'/$n.env; cat > '{0}'/$n.stdin\n\
             for word; do printf '%s\\0' \"$word\"; done > '{0}'/$n.argv\n\
             {answers}\n",
            calls.display()
        );
        self.program(name, &text);
    }

    /// How it was called so far.
    pub(crate) fn platform_calls(&self, name: &str) -> Vec<Call> {
        let calls = self.scratch(&format!("{name}-calls"));
        let read = |number: usize, what: &str| fs::read_to_string(calls.join(format!("{number}.{what}")));
        let mut all = Vec::new();
        while let Ok(words) = read(all.len(), "argv") {
            let number = all.len();
            all.push(Call {
                argv: words.split_terminator('\0').map(str::to_owned).collect(),
                stdin: read(number, "stdin").unwrap(),
                env: read(number, "env").unwrap().lines().map(str::to_owned).collect(),
                cwd: read(number, "cwd").unwrap().trim_end().into(),
            });
        }
        all
    }

    /// The one call that opened something.
    #[track_caller]
    pub(crate) fn opened(&self, name: &str) -> Call {
        let calls = self.platform_calls(name);
        let mut opened = calls.iter().filter(|call| call.argv.get(1).is_some_and(|word| word == "create"));
        let first = opened.next().unwrap_or_else(|| panic!("nothing was opened: {calls:?}")).clone();
        assert_eq!(opened.next(), None);
        first
    }
}
