//! How many tests ran, read from what the runners print at their end.

use std::fmt;
use std::ops::AddAssign;

/// Tests as the runner counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    /// Ignored, or left out by the runner; tests left out by a filter asked for are not among them.
    pub(crate) skipped: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)?;
        }
        Ok(())
    }
}

/// Sums every closing line in the output of cargo-nextest or of libtest; `None` when there is not one.
pub(crate) fn read(output: &str) -> Option<Counts> {
    let mut sum = None;
    for line in output.lines() {
        let line = plain(line);
        if let Some(counts) = nextest(&line).or_else(|| libtest(&line)) {
            *sum.get_or_insert_with(Counts::default) += counts;
        }
    }
    sum
}

/// The line with which the runner closed, without colours: the last, where there are several.
pub(crate) fn closing(output: &str) -> Option<String> {
    let lines = output.lines().rev().map(plain);
    let line = lines.into_iter().find(|line| nextest(line).or_else(|| libtest(line)).is_some())?;
    Some(line.trim().to_owned())
}

/// The tests that failed and then passed, which nextest names behind its closing line:
/// `FLAKY 2/3 [   0.012s] (3/9) dacapo-core::process jobs::exit_codes_arrive`
pub(crate) fn flaky(output: &str) -> Vec<String> {
    let mut names: Vec<String> = output.lines().filter_map(|line| named_flaky(&plain(line))).collect();
    names.sort();
    names.dedup();
    names
}

fn named_flaky(line: &str) -> Option<String> {
    let (tries, rest) = line.trim_start().strip_prefix("FLAKY ")?.split_once(" [")?;
    let (_, name) = rest.split_once(']')?;
    // Its place in the run, which not every version shows.
    let name = name.trim().trim_start_matches(|c: char| "(/)".contains(c) || c.is_ascii_digit());
    Some(format!("{} (passed at try {tries})", name.trim()))
}

/// `Summary [   0.5s] 12/20 tests run: 9 passed (1 slow), 1 failed, 1 timed out, 1 exec failed, 3 skipped`
fn nextest(line: &str) -> Option<Counts> {
    let (_, rest) = line.trim_start().strip_prefix("Summary [")?.split_once(']')?;
    let (run, outcomes) = rest.split_once(" run: ")?;
    let (done, planned) = run.trim().split_once(' ')?.0.split_once('/').unwrap_or(("", ""));
    let mut counts = Counts::default();
    for part in without_brackets(outcomes).split(',') {
        let (number, what) = part.trim().split_once(' ')?;
        let number: u64 = number.parse().ok()?;
        match what.trim() {
            "passed" => counts.passed += number,
            "skipped" => counts.skipped += number,
            // failed, exec failed, timed out, and whatever ill a later version adds
            _ => counts.failed += number,
        }
    }
    // A run that was broken off says `12/20`: the eight that never ran were not asked to be left out.
    if let (Ok(done), Ok(planned)) = (done.parse::<u64>(), planned.parse::<u64>()) {
        counts.skipped += planned.saturating_sub(done);
    }
    Some(counts)
}

/// `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.00s`
fn libtest(line: &str) -> Option<Counts> {
    let (_, rest) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let mut counts = Counts::default();
    for part in rest.split(';') {
        let (number, what) = part.trim().split_once(' ')?;
        match what {
            "passed" => counts.passed = number.parse().ok()?,
            "failed" => counts.failed = number.parse().ok()?,
            "ignored" => counts.skipped = number.parse().ok()?,
            _ => {}
        }
    }
    Some(counts)
}

fn without_brackets(text: &str) -> String {
    let mut depth = 0_u32;
    let mut kept = String::new();
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(c),
            _ => {}
        }
    }
    kept
}

/// The line without colours.
fn plain(line: &str) -> String {
    let mut kept = String::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\x1b' {
            // All that these runners write is CSI … letter.
            chars.find(char::is_ascii_alphabetic);
        } else {
            kept.push(c);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::{Counts, read};

    fn counts(passed: u64, failed: u64, skipped: u64) -> Option<Counts> {
        Some(Counts { passed, failed, skipped })
    }

    #[test]
    fn nextest_in_all_its_words() {
        assert_eq!(read("     Summary [   0.012s] 3 tests run: 3 passed, 0 skipped"), counts(3, 0, 0));
        assert_eq!(read("     Summary [   0.012s] 1 test run: 1 passed, 4 skipped"), counts(1, 0, 4));
        assert_eq!(
            read(
                "Summary [  61.5s] 12 tests run: 8 passed (1 slow, 2 flaky), 2 failed (1 due to signal), 1 timed out, 1 exec failed, 3 skipped"
            ),
            counts(8, 4, 3)
        );
        assert_eq!(read("Summary [ 1.0s] 12/20 tests run: 11 passed, 1 failed, 0 skipped"), counts(11, 1, 8));
    }

    #[test]
    fn colours_are_no_hindrance() {
        let line = "\x1b[32;1m     Summary\x1b[0m [   0.004s] \x1b[1m2\x1b[0m tests run: \x1b[1m2\x1b[0m \x1b[32;1mpassed\x1b[0m, \x1b[1m0\x1b[0m \x1b[33;1mskipped\x1b[0m";
        assert_eq!(read(line), counts(2, 0, 0));
    }

    #[test]
    fn libtest_sums_over_binaries() {
        let output = "\
running 3 tests
test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

test result: FAILED. 1 passed; 2 failed; 1 ignored; 0 measured; 5 filtered out; finished in 0.10s
";
        assert_eq!(read(output), counts(4, 2, 1));
    }

    #[test]
    fn the_closing_line_is_the_last() {
        let output =
            "test result: ok. 3 passed; 0 failed\n\x1b[1mtest result: ok. 4 passed; 0 failed\x1b[0m\nend";
        assert_eq!(super::closing(output).as_deref(), Some("test result: ok. 4 passed; 0 failed"));
    }

    #[test]
    fn what_passed_only_when_tried_again_is_named_once() {
        let output = "  TRY 1 FAIL [   0.009s] (1/2) xtask a\n  TRY 2 PASS [   0.008s] (1/2) xtask a
     Summary [   0.2s] 2 tests run: 2 passed (1 flaky), 0 skipped
\x1b[33;1m   FLAKY 2/3\x1b[0m [   0.008s] (1/2) \x1b[35;1mxtask\x1b[0m steps::a\n   FLAKY 2/3 [   0.008s] xtask steps::a";
        assert_eq!(super::flaky(output), ["xtask steps::a (passed at try 2/3)"]);
        assert_eq!(super::flaky("Summary [ 1.0s] 2 tests run: 2 passed, 0 skipped"), [] as [&str; 0]);
    }

    #[test]
    fn no_closing_line_is_no_count() {
        assert_eq!(read("error: could not compile `x`\n3 passed, 0 failed"), None);
    }
}
