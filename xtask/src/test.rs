//! `cargo xtask test` and `cargo xtask lint`: what must hold before a change is taken, the same here and in CI.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::architecture::{self, Lists};
use crate::counts::{self, Counts};
use crate::steps::Steps;
use crate::{Outcome, scan, setup, shell, torture};

/// Test targets whose names begin so start the program itself, and are left out by `--quick`.
const END_TO_END: &str = "e2e";

/// Files made from code, each with the command that prints what it should hold. Filled as such files come.
const GENERATED: &[Page] = &[MESSAGES, JSON];

/// A page, and the command that prints it.
pub(crate) type Page = (&'static str, &'static [&'static str]);

/// Every message of the program.
pub(crate) const MESSAGES: Page =
    ("docs/messages.md", &["run", "--quiet", "--package", "dacapo-app", "--example", "messages"]);

/// Every object and event that programs are given.
pub(crate) const JSON: Page =
    ("docs/json.md", &["run", "--quiet", "--package", "dacapo-app", "--example", "json"]);

/// Where nobody looks, the property tests draw the same cases each time: a change is refused for what it breaks, not for an
/// older fault that a random case happens to find. At a developer's machine they go on searching.
const PROPERTY_SEED: (&str, &str) = ("PROPTEST_RNG_SEED", "1116");

struct Wanted {
    quick: bool,
    filter: Option<String>,
}

/// What the runner of the tests said at its end.
#[derive(Default)]
struct Said {
    closing: Option<String>,
    /// Tests that passed only when they were tried again.
    flaky: Vec<String>,
}

/// All checks and all tests.
pub(crate) fn test(args: &[String]) -> Outcome<bool> {
    let wanted = parse(args)?;
    let mut steps = Steps::default();
    // Without these nothing else would say anything useful.
    if !steps.run("set-up", setup::run) {
        steps.summary();
        return Ok(false);
    }
    if wanted.filter.is_none() {
        lints(&mut steps, Lists::Check);
    }
    if !wanted.quick {
        steps.run("agent CLIs", setup::install_agents);
    }
    let (mut counts, mut said) = (None, Said::default());
    steps.run("tests", || tests(&wanted, &mut counts, &mut said));
    steps.run("doc tests", || doc_tests(&wanted, &mut counts));
    if !wanted.quick && wanted.filter.is_none() && cfg!(target_os = "linux") {
        steps.run("torture", torture::short);
    }
    if wanted.filter.is_none() {
        papers(&mut steps);
    }
    let failed = steps.summary();
    Ok(close(&wanted, &said, counts, &failed))
}

/// What tests need that is not there yet, the real agents included.
pub(crate) fn set_up(args: &[String]) -> Outcome<bool> {
    if let Some(arg) = args.first() {
        return Err(format!("`setup` takes no '{arg}'"));
    }
    let mut steps = Steps::default();
    steps.run("set-up", setup::run);
    steps.run("agent CLIs", setup::install_agents);
    Ok(steps.summary().is_empty())
}

/// All that needs no test to run.
pub(crate) fn lint(args: &[String]) -> Outcome<bool> {
    let lists = match args {
        [] => Lists::Check,
        [arg] if arg == "--write" => Lists::Shrink,
        [arg, ..] => return Err(format!("`lint` has no '{arg}'; it takes --write")),
    };
    let mut steps = Steps::default();
    if steps.run("set-up", setup::run) {
        lints(&mut steps, lists);
        papers(&mut steps);
    }
    Ok(steps.summary().is_empty())
}

/// Writes a page that is made from code.
pub(crate) fn write_page((file, command): Page, args: &[String]) -> Outcome<bool> {
    if let Some(arg) = args.first() {
        return Err(format!("this command takes no '{arg}'"));
    }
    let output = shell::cargo(command).output().map_err(|e| format!("cannot make {file}: {e}"))?;
    if !output.status.success() {
        return Err(format!("cannot make {file}: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    fs::write(shell::root().join(file), output.stdout).map_err(|e| format!("cannot write {file}: {e}"))?;
    println!("{file} is up to date");
    Ok(true)
}

fn parse(args: &[String]) -> Outcome<Wanted> {
    let mut wanted = Wanted { quick: false, filter: None };
    for arg in args {
        match arg.as_str() {
            "--quick" => wanted.quick = true,
            flag if flag.starts_with('-') => {
                return Err(format!("`test` has no '{flag}'; it takes --quick and a filter"));
            }
            filter if wanted.filter.is_none() => wanted.filter = Some(filter.to_owned()),
            second => return Err(format!("one filter at most; '{second}' is a second")),
        }
    }
    Ok(wanted)
}

fn lints(steps: &mut Steps, lists: Lists) {
    let root = shell::root();
    steps.run("file sizes", || scan::file_sizes(&root));
    steps.run("marks", || scan::forbidden_marks(&root));
    steps.run("architecture", || architecture::check(&root, lists));
    steps.run("format", || shell::run(shell::cargo(&["fmt", "--all", "--check"])));
    steps.run("clippy", || {
        shell::run(shell::cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
    });
}

fn papers(steps: &mut Steps) {
    steps.run("documentation", || {
        let mut doc = shell::cargo(&["doc", "--workspace", "--no-deps", "--document-private-items"]);
        doc.env("RUSTDOCFLAGS", "-D warnings");
        shell::run(doc)
    });
    steps.run("generated", || generated(&shell::root()));
}

fn tests(wanted: &Wanted, counts: &mut Option<Counts>, said: &mut Said) -> Outcome {
    let nextest = shell::version("cargo-nextest", &["nextest", "--version"]);
    let mut command = match &nextest {
        Some(version) => {
            println!("  {version}");
            nextest_command(wanted, shell::in_ci().then_some("ci"))
        }
        None => {
            println!("  cargo-nextest is not installed; `cargo test` runs the same tests");
            libtest_command(wanted, &shell::root())?
        }
    };
    if shell::in_ci() && std::env::var_os(PROPERTY_SEED.0).is_none() {
        command.env(PROPERTY_SEED.0, PROPERTY_SEED.1);
    }
    println!("  {}", shell::shown(&command));
    let (outcome, output) = shell::run_and_keep(command);
    *said = Said { closing: counts::closing(&output), flaky: counts::flaky(&output) };
    let counted = counts::read(&output).map(|counted| {
        // What was asked to be left out is no skipped test, but nextest counts it as one.
        if wanted.quick || wanted.filter.is_some() { Counts { skipped: 0, ..counted } } else { counted }
    });
    add(counts, counted);
    outcome?;
    match counted {
        None => Err("the runner ended well but without a closing line: nothing is proven".to_owned()),
        // A filter may name a doc test, so none here is no fault yet.
        Some(Counts { passed: 0, .. }) if wanted.filter.is_none() => Err("no test ran".to_owned()),
        Some(Counts { skipped: 1.., .. }) if shell::in_ci() => {
            Err("tests were skipped, which CI does not accept".to_owned())
        }
        Some(_) => Ok(()),
    }
}

/// The profiles are in .config/nextest.toml.
fn nextest_command(wanted: &Wanted, profile: Option<&str>) -> Command {
    let mut command = shell::cargo(&["nextest", "run", "--workspace", "--no-fail-fast", "--no-tests=pass"]);
    // Many tests wait, for a limit to end or for a process that does not listen: one more than there are cores keeps them busy.
    let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    command.arg(format!("--test-threads={}", cores + 1));
    if let Some(profile) = profile {
        command.args(["--profile", profile]);
    }
    if wanted.quick {
        command.args(["-E", &format!("not binary(/^{END_TO_END}/)")]);
    }
    command.args(&wanted.filter);
    command
}

fn libtest_command(wanted: &Wanted, root: &Path) -> Outcome<Command> {
    let mut command = shell::cargo(&["test", "--workspace", "--no-fail-fast"]);
    if wanted.quick {
        command.args(["--lib", "--bins"]);
        for target in test_targets(root)?.iter().filter(|name| !name.starts_with(END_TO_END)) {
            command.args(["--test", target]);
        }
    } else {
        // Not the doc tests, which are a step of their own.
        command.args(["--lib", "--bins", "--tests"]);
    }
    command.args(&wanted.filter);
    Ok(command)
}

/// Names of the integration test targets: cargo can include one by name, but not leave one out.
fn test_targets(root: &Path) -> Outcome<Vec<String>> {
    let mut names = Vec::new();
    let crates = root.join("crates");
    let mut members = vec![root.join("xtask")];
    members.extend(entries(&crates)?);
    for tests in members.iter().map(|member| member.join("tests")).filter(|dir| dir.is_dir()) {
        for entry in entries(&tests)? {
            if entry.extension().is_some_and(|e| e == "rs") || entry.join("main.rs").is_file() {
                names.extend(entry.file_stem().map(|name| name.to_string_lossy().into_owned()));
            }
        }
    }
    names.sort();
    names.dedup();
    Ok(names)
}

fn entries(dir: &Path) -> Outcome<Vec<std::path::PathBuf>> {
    let failed = |e: std::io::Error| format!("cannot read {}: {e}", dir.display());
    let entries = fs::read_dir(dir).map_err(failed)?;
    entries.map(|entry| entry.map(|e| e.path()).map_err(failed)).collect()
}

fn doc_tests(wanted: &Wanted, counts: &mut Option<Counts>) -> Outcome {
    let mut command = shell::cargo(&["test", "--doc", "--workspace", "--no-fail-fast"]);
    command.args(&wanted.filter);
    let (outcome, output) = shell::run_and_keep(command);
    add(counts, counts::read(&output));
    outcome?;
    match (&wanted.filter, counts) {
        (Some(filter), Some(Counts { passed: 0, failed: 0, .. })) => {
            Err(format!("no test matches '{filter}'"))
        }
        _ => Ok(()),
    }
}

/// Every generated file holds what its generator prints now.
fn generated(root: &Path) -> Outcome {
    let mut stale = Vec::new();
    for (file, command) in GENERATED {
        let output = shell::cargo(command).output().map_err(|e| format!("cannot make {file}: {e}"))?;
        if !output.status.success() {
            stale.push(format!("{file} cannot be made: {}", String::from_utf8_lossy(&output.stderr).trim()));
        } else if fs::read(root.join(file)).ok() != Some(output.stdout) {
            stale.push(format!("{file} is out of date: `cargo {} > {file}`", command.join(" ")));
        }
    }
    if !stale.is_empty() {
        return Err(stale.join("\n"));
    }
    println!("  {} generated files", GENERATED.len());
    Ok(())
}

fn add(sum: &mut Option<Counts>, counts: Option<Counts>) {
    if let Some(counts) = counts {
        *sum.get_or_insert_with(Counts::default) += counts;
    }
}

/// The last lines: what was left out, and what was counted. Never a count that no runner gave.
fn close(wanted: &Wanted, said: &Said, counts: Option<Counts>, failed: &[&str]) -> bool {
    println!();
    if let Some(closing) = &said.closing {
        println!("{closing}");
    }
    for test in &said.flaky {
        println!("warning: FLAKY, find its race: {test}");
    }
    if wanted.quick {
        println!("left out: end-to-end tests and torture (--quick)");
    }
    if let Some(filter) = &wanted.filter {
        println!("left out: all checks, torture, and tests without '{filter}' in their names");
    }
    let count = counts.map_or("no test was counted".to_owned(), |counts| counts.to_string());
    if failed.is_empty() {
        println!("{count}");
    } else {
        println!("{count}; failed: {}", failed.join(", "));
    }
    failed.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(args: &[&str]) -> Outcome<Wanted> {
        parse(&args.iter().map(|&a| a.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn arguments() {
        let both = wanted(&["--quick", "journal"]).unwrap();
        assert!(both.quick);
        assert_eq!(both.filter.as_deref(), Some("journal"));
        assert!(wanted(&["--fast"]).is_err());
        assert!(wanted(&["a", "b"]).is_err());
    }

    #[test]
    fn only_a_profile_tries_again() {
        let all = wanted(&[]).unwrap();
        assert!(shell::shown(&nextest_command(&all, Some("ci"))).ends_with("--profile ci"));
        assert!(!shell::shown(&nextest_command(&all, None)).contains("profile"));
    }

    #[test]
    fn both_runners_leave_out_the_same() {
        let quick = wanted(&["--quick"]).unwrap();
        assert!(shell::shown(&nextest_command(&quick, None)).ends_with("-E 'not binary(/^e2e/)'"));

        let dir = std::env::temp_dir().join(format!("xtask-targets-{}", std::process::id()));
        for file in ["crates/a/tests/e2e/main.rs", "crates/a/tests/cli.rs", "crates/a/tests/common/mod.rs"] {
            let file = dir.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let command = libtest_command(&quick, &dir);
        fs::remove_dir_all(&dir).unwrap();
        assert!(shell::shown(&command.unwrap()).ends_with("--lib --bins --test cli"));
    }
}
