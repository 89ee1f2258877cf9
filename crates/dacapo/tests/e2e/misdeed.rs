//! An agent that works in every iteration and misbehaves in the second, and what must hold whatever it did.

use std::fs;
use std::path::Path;

use crate::support::{Ran, World};

/// Writes and says something in each iteration; in the second one does `misdeed` as well.
pub(crate) fn agent(misdeed: &str) -> String {
    format!(
        "echo $DACAPO_ITERATION > f$DACAPO_ITERATION; echo did it $DACAPO_ITERATION; \
         if [ $DACAPO_ITERATION = 1 ]; then {misdeed}; fi"
    )
}

/// Runs task `t` for three iterations with such an agent.
pub(crate) fn play(world: &World, flags: &[&str], misdeed: &str) -> Ran {
    let agent = agent(misdeed);
    let mut words = vec!["--name", "t", "--iter", "3", "--agent-cmd", &agent];
    words.extend(flags);
    words.push("go");
    world.exec(&words)
}

impl Ran {
    /// People were told this.
    #[track_caller]
    pub(crate) fn says(&self, text: &str) -> &Self {
        let all = format!("{}{}", self.stdout, self.stderr);
        assert!(
            all.contains(text),
            "not said: {text}\n--- stdout\n{}\n--- stderr\n{}",
            self.stdout,
            self.stderr
        );
        self
    }

    /// People were not bothered with this.
    #[track_caller]
    pub(crate) fn silent_about(&self, text: &str) -> &Self {
        let all = format!("{}{}", self.stdout, self.stderr);
        assert!(!all.contains(text), "said: {text}\n{all}");
        self
    }
}

impl World {
    /// What `dacapo status t` tells people later.
    pub(crate) fn status_text(&self) -> Ran {
        self.run(&["status", "t"]).expect(0)
    }

    /// Status, iterations finished, succeeded and failed, all from the journal, and nothing is left running.
    #[track_caller]
    pub(crate) fn ended(&self, status: &str, [finished, succeeded, failed]: [u64; 3]) {
        let view = self.status("t");
        let seen = [&view["iteration"], &view["iterations_succeeded"], &view["iterations_failed"]];
        assert_eq!(
            (view["status"].as_str().unwrap(), seen.map(|number| number.as_u64().unwrap())),
            (status, [finished, succeeded, failed])
        );
        let numbers: Vec<u64> = self
            .events("t", "iteration_finished")
            .iter()
            .map(|event| event["iteration"].as_u64().unwrap())
            .collect();
        assert_eq!(numbers, (0..finished).collect::<Vec<_>>(), "each iteration is recorded once");
        self.assert_nothing_left("t");
    }

    /// A file as a commit or ref holds it.
    pub(crate) fn at(&self, rev: &str, path: &str) -> String {
        self.git(&["show", &format!("{rev}:{path}")])
    }

    /// Files that a commit changed against its parent.
    pub(crate) fn changed(&self, rev: &str) -> Vec<String> {
        let out = self.git(&["diff-tree", "--no-commit-id", "--name-only", "-r", "--root", rev]);
        out.lines().map(str::to_owned).collect()
    }

    /// `refs/dacapo/rescue/t/…`, without that prefix.
    pub(crate) fn rescued(&self) -> Vec<String> {
        let out = self.git(&["for-each-ref", "--format=%(refname)", "refs/dacapo/rescue/t/"]);
        out.lines().map(|name| name.trim_start_matches("refs/dacapo/rescue/t/").to_owned()).collect()
    }
}

/// Whether process `pid` is still the one that was started with `marker` in its arguments.
pub(crate) fn runs(pid: &str, marker: &str) -> bool {
    let arguments = fs::read(format!("/proc/{}/cmdline", pid.trim())).unwrap_or_default();
    arguments.split(|byte| *byte == 0).any(|word| word == marker.as_bytes())
}

/// All bytes of all files below a directory, with their paths.
pub(crate) fn all_files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(all_files(&path));
        } else if let Ok(bytes) = fs::read(&path) {
            found.push((path.display().to_string(), bytes));
        }
    }
    found
}
