//! The user's tests are the yardstick (L20): an agent that weakens them proves nothing, and honest work is not bothered.

mod decisions;
mod honest;
mod weakened;

use crate::support::{Ran, World};

/// Files of a project, by their paths.
type Files<'a> = &'a [(&'a str, &'a str)];

/// Python must not take a changed file of the same size and second for the one it has compiled.
const UNITTEST: &str = "python3 -B -m unittest discover -s tests -t . -p 'test_*.py'";

/// A small project in Python whose `add` is wrong, with a test that says so and one that passes.
const PYTHON: Files<'static> = &[
    ("calc.py", "def add(a, b):\n    return 0\n\n\ndef double(a):\n    return 2 * a\n"),
    ("tests/__init__.py", ""),
    (
        "tests/test_calc.py",
        "import unittest\n\nimport calc\n\n\nclass Calc(unittest.TestCase):\n    def test_add(self):\n        \
         self.assertEqual(calc.add(1, 2), 3)\n\n    def test_double(self):\n        \
         self.assertEqual(calc.double(2), 4)\n",
    ),
];

/// What makes the test of [`PYTHON`] pass.
const FIX: &str = "sed -i.bak 's/return 0/return a + b/' calc.py && rm calc.py.bak";

/// A repository with these files in its one commit.
fn project(files: Files<'_>) -> World {
    let world = World::new();
    for (path, text) in files {
        world.write(path, text);
    }
    // What Python leaves beside its sources is nobody's change.
    world.write(".gitignore", "__pycache__/\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "project"]);
    world
}

/// `exec` of task `t` in a worktree, whose agent runs this script each time.
fn exec(world: &World, check: &str, script: &str, flags: &[&str]) -> Ran {
    let agent = world.scratch("agent.sh");
    std::fs::write(&agent, script).unwrap();
    let agent = format!("sh {}", agent.display());
    let words = ["--name", "t", "--worktree", "--iter", "3", "--check", check, "--agent-cmd", &agent];
    world.exec(&[&words[..], flags, &["go"]].concat())
}
