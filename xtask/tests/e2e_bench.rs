//! The benchmarks themselves, tried on a stand-in for the program: that they run to their end, fill the table and
//! leave nothing behind. What they measure is not looked at.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Output};

fn bench(args: &[&str]) -> Output {
    let stand_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stand-in");
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.arg("bench").args(args).arg("--bin").arg(stand_in).output().expect("xtask starts")
}

#[test]
fn every_benchmark_fills_its_rows() {
    // Those of the terminal app (`tui-…`) need the program itself: a script has no screen.
    let names = ["iteration", "output", "start-up", "list", "memory", "proof", "long"];
    let output = bench(&[&["--quick"], names.as_slice()].concat());
    let (table, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // Tests run many at a time: that a measurement finds the machine too busy is no fault of the benchmarks.
    let failures: Vec<&str> = said.lines().filter(|line| line.contains("FAILED")).collect();
    let faults: Vec<&&str> = failures.iter().filter(|line| !line.contains("too busy to measure")).collect();
    assert!(faults.is_empty(), "{said}\n{table}");
    assert_eq!(output.status.success(), failures.is_empty(), "{said}\n{table}");
    let rows = [
        "| time per iteration, tiny repository | ",
        "| time per iteration, 1000 files in 100 folders | ",
        "| 20 MB of output, one line | ",
        "| 20 MB of output, `yes`: peak memory | ",
        "| start-up, `dacapo --version`, 50 runs each | ",
        "| `dacapo list`, 100 tasks that have ended | ",
        "| own memory during a loop (PSS, guard included) | ",
        "| proof of a one-line change, cargo, `cargo test --offline --quiet`: from nothing | ",
        "| proof of a one-line change, node, `npm test`: from ",
        "| iteration 120 against a 20th right after it: time | ",
        "| iteration 120 against iteration 20: memory (PSS) | ",
    ];
    let missing: Vec<&&str> = rows.iter().filter(|row| !table.contains(**row)).collect();
    // A benchmark that failed leaves out at most the two rows looked for.
    assert!(missing.len() <= 2 * failures.len(), "no {missing:?} in\n{table}\n{said}");
    let scratch = Path::new(env!("CARGO_BIN_EXE_xtask")).ancestors().nth(2).unwrap().join("xtask-bench");
    let left: Vec<_> =
        std::fs::read_dir(&scratch).into_iter().flatten().flatten().map(|e| e.path()).collect();
    // Another test of this workspace may be at work there; what belongs to no living process is left over.
    let dead = |path: &std::path::PathBuf| !Path::new("/proc").join(path.file_name().unwrap()).exists();
    assert!(!left.iter().any(dead), "{left:?}");
}

#[test]
fn a_program_that_fails_is_an_error_with_its_reason() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    let output = command.args(["bench", "--quick", "memory", "--bin", "/bin/false"]).output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("not measured: memory"), "{said}");
}
