//! The projects of a trial: published packages with their own tests, and small ones made here.

/// Where a project comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// crates.io, by `cargo vendor`.
    Cargo,
    /// npm, by `npm pack`.
    Npm,
    /// PyPI, by `pip download`, as source.
    PyPi,
    /// These files.
    Here(&'static [(&'static str, &'static str)]),
}

impl Source {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Cargo => "crates.io",
            Self::Npm => "npm",
            Self::PyPi => "PyPI",
            Self::Here(_) => "made here",
        }
    }
}

/// What a project needs that a plain clone has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    Nothing,
    /// A lock file, which its package manager writes.
    Lock(&'static str),
    /// The tag `v1.2.3` on its first commit.
    Tag,
    /// A second repository, as a submodule at `library`.
    Submodule,
    /// A filter in the user's git settings, for `*.secret`.
    Filter,
}

pub(super) struct Project {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    pub(super) source: Source,
    pub(super) needs: Needs,
    pub(super) setup: &'static [&'static str],
    pub(super) check: &'static str,
    pub(super) ignored: &'static str,
    /// The file in which the first text is replaced by the second, so that the check fails.
    pub(super) broken: (&'static str, &'static str, &'static str),
}

const CARGO_TEST: &str = "cargo test --offline --lib --tests";

const fn krate(
    name: &'static str,
    version: &'static str,
    broken: (&'static str, &'static str, &'static str),
) -> Project {
    Project {
        name,
        version,
        source: Source::Cargo,
        needs: Needs::Lock("cargo generate-lockfile --offline"),
        setup: &[],
        check: CARGO_TEST,
        ignored: "target\n",
        broken,
    }
}

const fn npm(
    name: &'static str,
    version: &'static str,
    broken: (&'static str, &'static str, &'static str),
) -> Project {
    Project {
        name,
        version,
        source: Source::Npm,
        needs: Needs::Nothing,
        setup: &[],
        check: "npm test",
        ignored: "node_modules\n",
        broken,
    }
}

const PYTEST: &[&str] = &[
    "python3 -m venv .venv",
    ".venv/bin/python -m pip install -q --disable-pip-version-check pytest==8.3.3",
];

const SCM: &[&str] = &[
    "python3 -m venv .venv",
    ".venv/bin/python -m pip install -q --disable-pip-version-check setuptools_scm==8.1.0",
];

const TEST_SCM: &str = "import unittest\nimport setuptools_scm\nimport tool\n\n\nclass Test(unittest.TestCase):\n    \
    def test_version(self):\n        version = setuptools_scm.get_version()\n        \
    self.assertRegex(version, r'^1\\.2\\.(3$|4\\.dev)')\n\n    def test_double(self):\n        self.assertEqual(tool.double(4), 8)\n";

const TEST_SUBMODULE: &str = "set -e\n. library/library.sh\n. ./tool.sh\ntest \"$(greet world)\" = 'hello world'\necho '1 test passed'\n";

const TEST_SHELL: &str =
    "set -e\n. ./tool.sh\ntest \"$(add 2 3)\" = 5\ntest \"$(add 0 0)\" = 0\necho '2 tests passed'\n";

const MAKEFILE: &str = "CFLAGS = -O0\nbuild/tool: build/main.o build/sum.o\n\t$(CC) -o $@ $^\nbuild/%.o: %.c sum.h\n\t@mkdir -p build\n\
    \t$(CC) $(CFLAGS) -c -o $@ $<\ntest: build/tool\n\tbuild/tool\n.PHONY: test\n";

const MAIN_C: &str = "#include <stdio.h>\n#include \"sum.h\"\n\nint main(void) {\n    if (sum(2, 3) != 5) return 1;\n    \
    puts(\"1 test passed\");\n    return 0;\n}\n";

pub(super) const PROJECTS: &[Project] = &[
    krate("fnv", "1.0.7", ("lib.rs", "FnvHasher(0xcbf29ce484222325)", "FnvHasher(0xcbf29ce484222326)")),
    krate(
        "scopeguard",
        "1.2.0",
        (
            "src/lib.rs",
            "    fn should_run() -> bool {\n        true",
            "    fn should_run() -> bool {\n        false",
        ),
    ),
    krate("heck", "0.5.0", ("src/snake.rs", "write!(f, \"_\")", "write!(f, \"-\")")),
    krate("shlex", "1.3.0", ("src/lib.rs", "pub fn split(", "pub fn splits(")),
    krate("strsim", "0.11.1", ("src/lib.rs", "count += 1;", "count += 2;")),
    npm(
        "path-parse",
        "1.0.6",
        ("index.js", "module.exports.posix = posix.parse;", "module.exports.posix = win32.parse;"),
    ),
    npm("color-name", "1.1.3", ("index.js", "\"red\": [255, 0, 0]", "\"red\": [254, 0, 0]")),
    npm("inherits", "2.0.1", ("inherits.js", "require('util').inherits", "function () {}")),
    Project {
        needs: Needs::Lock("npm install --package-lock-only --no-audit --no-fund"),
        setup: &["npm ci --no-audit --no-fund"],
        ..npm("concat-map", "0.0.1", ("index.js", "res.push.apply(res, x)", "res.push(x)"))
    },
    Project {
        name: "idna",
        version: "3.4",
        source: Source::PyPi,
        needs: Needs::Nothing,
        setup: &[],
        // No bytecode: it goes by size and seconds, and the repaired file has both in common with the broken one.
        check: "python3 -B -m unittest -q tests.test_idna tests.test_idna_compat tests.test_intranges",
        ignored: "__pycache__\n.venv\n",
        broken: ("idna/core.py", "_alabel_prefix = b'xn--'", "_alabel_prefix = b'xx--'"),
    },
    Project {
        name: "inflection",
        version: "0.5.1",
        source: Source::PyPi,
        needs: Needs::Nothing,
        setup: PYTEST,
        check: ".venv/bin/python -B -m pytest -q -p no:cacheprovider test_inflection.py",
        ignored: "__pycache__\n.venv\n",
        broken: ("inflection/__init__.py", "(quiz)$\", r'\\1zes'", "(quiz)$\", r'\\1zos'"),
    },
    Project {
        name: "tagged",
        version: "1.2.3",
        source: Source::Here(&[
            (
                "pyproject.toml",
                "[build-system]\nrequires = [\"setuptools>=64\", \"setuptools_scm>=8\"]\nbuild-backend = \"setuptools.build_meta\"\n\n[project]\nname = \"tagged\"\ndynamic = [\"version\"]\n\n[tool.setuptools_scm]\n",
            ),
            ("tool.py", "def double(number):\n    return 2 * number\n"),
            ("test_tool.py", TEST_SCM),
        ]),
        needs: Needs::Tag,
        setup: SCM,
        check: ".venv/bin/python -B -m unittest -q test_tool",
        ignored: "__pycache__\n.venv\n",
        broken: ("tool.py", "2 * number", "3 * number"),
    },
    Project {
        name: "with-submodule",
        version: "1.0.0",
        source: Source::Here(&[
            ("tool.sh", "greet() { say \"$1\"; }\n"),
            ("test.sh", TEST_SUBMODULE),
            ("NOTES", "x\n"),
        ]),
        needs: Needs::Submodule,
        setup: &["git -c protocol.file.allow=always submodule --quiet update --init"],
        check: "sh test.sh",
        ignored: "build\n",
        broken: ("tool.sh", "say \"$1\"", "say nobody"),
    },
    Project {
        name: "with-filter",
        version: "1.0.0",
        source: Source::Here(&[
            (".gitattributes", "*.secret filter=rot13\n"),
            ("word.secret", "hello\n"),
            ("tool.sh", "word() { cat word.secret; }\n"),
            ("test.sh", "set -e\n. ./tool.sh\ntest \"$(word)\" = hello\necho '1 test passed'\n"),
            ("NOTES", "x\n"),
        ]),
        needs: Needs::Filter,
        setup: &[],
        check: "sh test.sh",
        ignored: "build\n",
        broken: ("tool.sh", "cat word.secret", "cat /dev/null"),
    },
    Project {
        name: "with-make",
        version: "1.0.0",
        source: Source::Here(&[
            ("Makefile", MAKEFILE),
            ("main.c", MAIN_C),
            ("sum.h", "int sum(int a, int b);\n"),
            ("sum.c", "#include \"sum.h\"\n\nint sum(int a, int b) {\n    return a + b;\n}\n"),
            ("NOTES", "x\n"),
        ]),
        needs: Needs::Nothing,
        setup: &[],
        check: "make -s test",
        ignored: "build\n",
        broken: ("sum.c", "a + b", "a - b"),
    },
    Project {
        name: "with-shell",
        version: "1.0.0",
        source: Source::Here(&[
            ("tool.sh", "add() { echo $(($1 + $2)); }\n"),
            ("test.sh", TEST_SHELL),
            ("NOTES", "x\n"),
        ]),
        needs: Needs::Nothing,
        setup: &[],
        check: "sh test.sh",
        ignored: "build\n",
        broken: ("tool.sh", "$1 + $2", "$1 - $2"),
    },
];
