//! How many tests ran, by what their runner prints at its end.

/// Returns how many tests ran, skipped ones aside; none if no runner that is known printed its summary.
pub(crate) fn tests_run(output: &str) -> Option<u64> {
    let mut total = None;
    for line in output.lines() {
        let line = plain(line);
        if let Some(count) = of_line(line.trim()) {
            total = Some(total.unwrap_or(0) + count);
        }
    }
    total.or_else(|| node(output)).or_else(|| go(output))
}

fn of_line(line: &str) -> Option<u64> {
    if let Some(rest) = line.strip_prefix("test result: ") {
        return Some(number_before(rest, "passed")? + number_before(rest, "failed").unwrap_or(0));
    }
    // Jest: `Tests:       1 failed, 2 passed, 3 total`; vitest: `Tests  2 passed (2)`.
    if let Some(rest) = line.strip_prefix("Tests:").or_else(|| line.strip_prefix("Tests  ")) {
        return Some(number_before(rest, "passed")? + number_before(rest, "failed").unwrap_or(0));
    }
    // Unittest: `Ran 3 tests in 0.001s`.
    if let Some(rest) = line.strip_prefix("Ran ") {
        let words: Vec<&str> = rest.split(' ').collect();
        return match words.as_slice() {
            [count, "test" | "tests", "in", ..] => count.parse().ok(),
            _ => None,
        };
    }
    // Nextest: `Summary [   0.1s] 3 tests run: 3 passed, 0 skipped`.
    if line.starts_with("Summary [") {
        return number_before(line, "tests run").or_else(|| number_before(line, "test run"));
    }
    // Pytest: `=== 2 passed, 1 skipped in 0.03s ===`, `2 passed in 0.01s`.
    let bare = line.trim_matches(['=', ' ']);
    let counts = ["passed", "failed", "errors", "error"];
    if bare.contains(" in ") && counts.iter().any(|word| number_before(bare, word).is_some()) {
        let first = bare.split(' ').next().unwrap_or_default();
        return first
            .parse::<u64>()
            .is_ok()
            .then(|| ["passed", "failed"].iter().filter_map(|word| number_before(bare, word)).sum());
    }
    None
}

/// `# pass 3`, `ℹ pass 3`.
fn node(output: &str) -> Option<u64> {
    let count = |what: &str| {
        let line = output.lines().rev().map(plain).find_map(|line| {
            let rest =
                line.trim().strip_prefix("# ").or(line.trim().strip_prefix("ℹ ")).map(str::to_owned)?;
            rest.strip_prefix(what).map(str::to_owned)
        });
        line.and_then(|rest| rest.trim().parse::<u64>().ok())
    };
    Some(count("pass ")? + count("fail ").unwrap_or(0))
}

/// `--- PASS: TestX` of `go test -v`. Without `-v` it does not count.
fn go(output: &str) -> Option<u64> {
    let begins =
        |line: &str| ["--- PASS:", "--- FAIL:"].iter().any(|begin| line.trim_start().starts_with(begin));
    let count = output.lines().filter(|line| begins(line)).count() as u64;
    (count > 0).then_some(count)
}

/// The number right before this word.
fn number_before(text: &str, word: &str) -> Option<u64> {
    text.match_indices(word).find_map(|(at, _)| {
        let before = text[..at].strip_suffix(' ')?;
        let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse().ok()
    })
}

/// Without colours.
fn plain(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            chars.by_ref().take(1).for_each(drop);
            for c in chars.by_ref() {
                if c.is_ascii_alphabetic() {
                    break;
                }
            }
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l20_runners_say_how_many_tests_ran() {
        for (output, count) in [
            (
                "test result: ok. 3 passed; 0 failed; 1 ignored;\n\ntest result: FAILED. 1 passed; 2 failed;",
                6,
            ),
            ("=========== 2 passed, 1 skipped in 0.03s ===========", 2),
            ("1 failed, 2 passed in 0.03s", 3),
            ("\u{1b}[32m\u{1b}[1m5 passed\u{1b}[0m\u{1b}[32m in 0.01s\u{1b}[0m", 5),
            ("Ran 4 tests in 0.001s\n\nOK", 4),
            ("Tests:       1 failed, 2 passed, 3 total", 3),
            (" Tests  2 passed (2)", 2),
            ("# tests 3\n# pass 2\n# fail 1", 3),
            ("ℹ tests 3\nℹ pass 3\nℹ fail 0", 3),
            ("=== RUN TestA\n--- PASS: TestA (0.00s)\nPASS", 1),
            ("     Summary [   0.012s] 7 tests run: 7 passed, 2 skipped", 7),
        ] {
            assert_eq!(tests_run(output), Some(count), "{output}");
        }
        for output in ["", "ok", "2 files passed in review", "all passed"] {
            assert_eq!(tests_run(output), None, "{output}");
        }
    }
}
