//! Which line of what a command printed says most about how it went: the summary of the tests, the error; the last line
//! where nothing stands out (`13: <unknown>` is the end of a stack trace, not a reason).

use super::strip_escapes;

/// The line of a failed command's output that says most. Empty only where nothing was printed.
pub fn failure_line(output: &str) -> String {
    said_most(output, failure)
}

/// The same of one that passed: what its tests came to.
pub fn success_line(output: &str) -> String {
    said_most(output, |line| match counted(line) {
        Some(_) => Weight { worth: 2, of_equals: Pick::Last },
        None => Weight::NOTHING,
    })
}

/// The last lines of an output as a record keeps them: no escapes, no control characters, a bounded number.
pub fn last_lines(output: &str, lines: usize, bytes: usize) -> String {
    let plain = strip_escapes(output);
    let filled: Vec<&str> = plain.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    super::tail_lines(&filled.join("\n"), lines, bytes).to_owned()
}

#[derive(Debug, Clone, Copy)]
struct Weight {
    worth: u32,
    of_equals: Pick,
}

/// Which of two lines of the same worth: a later summary sums up more, a first error caused those behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pick {
    First,
    Last,
}

impl Weight {
    /// Better than no line at all.
    const NOTHING: Self = Self { worth: 0, of_equals: Pick::Last };
}

fn said_most(output: &str, weigh: impl Fn(&str) -> Weight) -> String {
    let plain = strip_escapes(output);
    let mut best: Option<(u32, &str)> = None;
    for line in plain.lines().map(bare).filter(|line| line.chars().any(char::is_alphanumeric)) {
        let Weight { worth, of_equals } = weigh(line);
        let better = best.is_none_or(|(than, _)| worth > than || (worth == than && of_equals == Pick::Last));
        if better {
            best = Some((worth, line));
        }
    }
    best.map(|(_, line)| line.to_owned()).unwrap_or_default()
}

/// A line without what frames it: `==== 1 failed ====`, pytest's `E   `, marks of test runners.
fn bare(line: &str) -> &str {
    let line = line.trim().trim_matches(|c: char| matches!(c, '=' | '─' | '━')).trim();
    let line = line.strip_prefix("E  ").unwrap_or(line).trim_start();
    line.trim_start_matches(['✖', '✗', '×', '●', 'ℹ', '❯']).trim_start()
}

fn failure(line: &str) -> Weight {
    let first = |worth| Weight { worth, of_equals: Pick::First };
    let last = |worth| Weight { worth, of_equals: Pick::Last };
    match counted(line) {
        Some(Counted::SomeFailed) => return last(90),
        Some(Counted::AllPassed) => return last(10),
        None => {}
    }
    let lower = line.to_lowercase();
    if is_hollow(&lower) {
        return last(20);
    }
    if lower.contains("not found") && !lower.contains("404") {
        // `sh: 1: mocha: not found`, `go: command not found`: nothing ran at all.
        return first(if is_from_shell(&lower) { 95 } else { 50 });
    }
    if line.starts_with("--- FAIL") || line.starts_with("FAILED (") {
        return first(85);
    }
    if line.starts_with("error[") || lower.contains(": error ts") || lower.contains(" - error ts") {
        return first(70);
    }
    if is_exception(line) || lower.starts_with("panic: ") || lower.starts_with("assertion ") {
        return last(65);
    }
    if lower.starts_with("error: ")
        || lower.starts_with("fatal: ")
        || lower.contains(": error: ")
        || lower.contains(": fatal error: ")
    {
        return first(60);
    }
    if line.contains("FAILED") || line.starts_with("FAIL") || lower.contains("panicked at") {
        return first(50);
    }
    if lower.contains("error") || lower.contains("failed") || lower.contains("invalid") {
        return first(40);
    }
    Weight::NOTHING
}

/// True, and next to nothing: that something above failed.
fn is_hollow(lower: &str) -> bool {
    const HOLLOW: [&str; 10] = [
        "could not compile",
        "aborting due to",
        "test failed, to rerun",
        "process didn't exit successfully",
        "npm err",
        "npm error",
        "make: ***",
        "exited with code",
        "command failed with exit code",
        "error: recipe ",
    ];
    HOLLOW.iter().any(|words| lower.contains(words)) || (lower.starts_with("make[") && lower.contains("***"))
}

/// `sh: 1: mocha: not found`, `bash: line 1: pytest: command not found`, `env: 'node': No such file`.
fn is_from_shell(lower: &str) -> bool {
    lower.contains("command not found")
        || ["sh: ", "bash: ", "zsh: ", "dash: ", "/bin/sh: "].iter().any(|shell| lower.starts_with(shell))
}

/// `AssertionError: 3 != 4`, `builtins.ValueError`, `java.lang.IllegalStateException: …`.
fn is_exception(line: &str) -> bool {
    let name = line.split(':').next().unwrap_or_default();
    let of_a_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    !name.is_empty()
        && name.chars().all(of_a_name)
        && (name.ends_with("Error") || name.ends_with("Exception"))
        && name.chars().any(char::is_uppercase)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counted {
    SomeFailed,
    AllPassed,
}

/// How many tests failed and passed, where a line says so: `3 passed; 1 failed`, `1 failing`, `Failures: 2`, `# fail 1`.
fn counted(line: &str) -> Option<Counted> {
    let lower = line.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '.' | ':' | '(' | ')' | '|' | '='))
        .filter(|word| !word.is_empty())
        .collect();
    let mut seen = None;
    for (at, word) in words.iter().enumerate() {
        let fails = matches!(*word, "failed" | "failing" | "failure" | "failures" | "fail");
        if !fails && !matches!(*word, "passed" | "passing" | "pass") {
            continue;
        }
        let before = at.checked_sub(1).and_then(|at| number(words[at]));
        // `# fail 1`, `Failures: 1`: only where the number is not of the next word.
        let behind = words.get(at + 1).and_then(|word| number(word));
        let behind =
            behind.filter(|_| before.is_none() && (at <= 1 || word.ends_with('s') || at + 2 >= words.len()));
        match before.or(behind) {
            Some(count) if fails && count > 0 => return Some(Counted::SomeFailed),
            Some(_) => seen = Some(Counted::AllPassed),
            None => {}
        }
    }
    seen
}

fn number(word: &str) -> Option<u64> {
    word.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ends of what real tools print, and the line that says most.
    const FAILED: [(&str, &str, &str); 22] = [
        (
            "cargo test",
            "running 4 tests\ntest a ... ok\ntest tests::adds ... FAILED\n\nfailures:\n\n---- tests::adds stdout ----\n\
             thread 'tests::adds' panicked at src/lib.rs:9:9:\nassertion `left == right` failed\n  left: 4\n right: 5\n\
             stack backtrace:\n   0: __rustc::rust_begin_unwind\n\nfailures:\n    tests::adds\n\n\
             test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n\
             error: test failed, to rerun pass `--lib`\n",
            "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        ),
        (
            "cargo test --no-fail-fast",
            "test result: FAILED. 3 passed; 1 failed; 0 ignored\n   Doc-tests x\ntest result: ok. 2 passed; 0 failed; 0 ignored\n\
             error: 1 target failed:\n    `--lib`\n",
            "test result: FAILED. 3 passed; 1 failed; 0 ignored",
        ),
        (
            "a backtrace at the end",
            "thread 'main' panicked at src/main.rs:2:5:\nindex out of bounds: the len is 3 but the index is 9\n\
             stack backtrace:\n  12: __libc_start_main\n  13: <unknown>\n",
            "thread 'main' panicked at src/main.rs:2:5:",
        ),
        (
            "rustc",
            "   Compiling x v0.1.0 (/x)\nerror[E0308]: mismatched types\n --> src/lib.rs:1:24\n  |\nerror[E0425]: cannot find value `y`\n\
             Some errors have detailed explanations: E0308, E0425.\nFor more information about an error, try `rustc --explain E0308`.\n\
             error: could not compile `x` (lib) due to 2 previous errors\n",
            "error[E0308]: mismatched types",
        ),
        (
            "clippy after tests that passed",
            "test result: ok. 3 passed; 0 failed; 0 ignored\nerror: unused variable: `x`\n --> src/lib.rs:1:9\n\
             error: could not compile `x` (lib) due to 1 previous error\n",
            "error: unused variable: `x`",
        ),
        (
            "pytest",
            "    def test_add():\n>       assert add(1, 2) == 4\nE       assert 3 == 4\n\ntest_a.py:5: AssertionError\n\
             =========================== short test summary info ============================\n\
             FAILED test_a.py::test_add - assert 3 == 4\n\
             ========================= 1 failed, 2 passed in 0.03s ==========================\n",
            "1 failed, 2 passed in 0.03s",
        ),
        (
            "pytest -q without its module",
            "E   ModuleNotFoundError: No module named 'requests'\n=== short test summary info ===\nERROR test_a.py\n\
             !!!!!!!! Interrupted: 1 error during collection !!!!!!!!\n1 error in 0.07s\n",
            "ModuleNotFoundError: No module named 'requests'",
        ),
        (
            "unittest",
            "FAIL: test_add (test_a.T)\n----\nTraceback (most recent call last):\n  File \"test_a.py\", line 5, in test_add\n\
             AssertionError: 3 != 4\n\n----\nRan 2 tests in 0.001s\n\nFAILED (failures=1)\n",
            "FAILED (failures=1)",
        ),
        (
            "a traceback",
            "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nValueError: invalid literal for int(): 'x'\n",
            "ValueError: invalid literal for int(): 'x'",
        ),
        (
            "jest",
            "  ● adds\n\n    expect(received).toBe(expected)\n\nTest Suites: 1 failed, 1 total\nTests:       1 failed, 2 passed, 3 total\n\
             Snapshots:   0 total\nTime:        0.4 s\nRan all test suites.\nnpm ERR! Test failed.  See above for more details.\n",
            "Tests:       1 failed, 2 passed, 3 total",
        ),
        (
            "vitest",
            " Test Files  1 failed (1)\n      Tests  1 failed | 2 passed (3)\n   Start at  12:00:00\n   Duration  200ms\n",
            "Tests  1 failed | 2 passed (3)",
        ),
        (
            "mocha",
            "  2 passing (5ms)\n  1 failing\n\n  1) adds:\n\n      AssertionError [ERR_ASSERTION]: 3 == 4\n      at Context.<anonymous> (test/a.js:5:12)\n      at processImmediate (node:internal/timers:483:21)\n",
            "1 failing",
        ),
        (
            "node --test",
            "ℹ tests 3\nℹ suites 0\nℹ pass 2\nℹ fail 1\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0\nℹ duration_ms 44.1\n",
            "fail 1",
        ),
        (
            "go test",
            "--- FAIL: TestAdd (0.00s)\n    a_test.go:6: got 3, want 4\nFAIL\nFAIL\texample.com/a\t0.002s\nFAIL\n",
            "--- FAIL: TestAdd (0.00s)",
        ),
        (
            "go build",
            "# example.com/a\n./a.go:3:2: undefined: x\nFAIL\texample.com/a [build failed]\nFAIL\n",
            "FAIL\texample.com/a [build failed]",
        ),
        (
            "make",
            "cc -c main.c\nmain.c:3:5: error: expected ';' before 'return'\nmake: *** [Makefile:2: main.o] Error 1\n",
            "main.c:3:5: error: expected ';' before 'return'",
        ),
        (
            "make alone",
            "false\nmake: *** [Makefile:2: test] Error 1\n",
            "make: *** [Makefile:2: test] Error 1",
        ),
        (
            "tsc",
            "src/a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.\nsrc/b.ts(1,1): error TS2304: Cannot find name 'x'.\n",
            "src/a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.",
        ),
        (
            "npm without its modules",
            "\n> x@1.0.0 test\n> mocha\n\nsh: 1: mocha: not found\n",
            "sh: 1: mocha: not found",
        ),
        (
            "rspec",
            "Finished in 0.01 seconds\n3 examples, 1 failure\n\nFailed examples:\n\nrspec ./a_spec.rb:5 # adds\n",
            "3 examples, 1 failure",
        ),
        (
            "colours",
            "\u{1b}[31merror\u{1b}[0m: no such file: a.txt\r\n\u{1b}[2mhint: look\u{1b}[0m\n",
            "error: no such file: a.txt",
        ),
        ("nothing that stands out", "checking\nstill red\n\n---\n", "still red"),
    ];

    #[test]
    fn s2_the_line_of_a_failure_that_is_quoted_says_most() {
        for (tool, output, line) in FAILED {
            assert_eq!(failure_line(output), line, "{tool}");
        }
        assert_eq!(failure_line(" \n\n"), "");
    }

    #[test]
    fn s2_of_a_success_the_summary_is_quoted_and_no_word_about_errors() {
        let cargo =
            "test parses::error: ... ok\ntest result: ok. 208 passed; 0 failed; 0 ignored\n   Doc-tests x\n";
        assert_eq!(success_line(cargo), "test result: ok. 208 passed; 0 failed; 0 ignored");
        assert_eq!(success_line("ok  \texample.com/a\t0.002s\n"), "ok  \texample.com/a\t0.002s");
        assert_eq!(success_line("0 errors\nDone in 2s\n"), "Done in 2s");
    }

    #[test]
    fn u6_last_lines_are_bounded_and_cannot_drive_a_terminal() {
        let said = "one\n\u{1b}[31mtwo\u{1b}[0m\n\n\u{7}three\u{202e}\r\n";
        assert_eq!(last_lines(said, 2, 100), "two\nthree");
        assert_eq!(last_lines(&"x".repeat(5000), 9, 100).len(), 100);
        assert_eq!(last_lines("\n \n", 9, 100), "");
    }
}
