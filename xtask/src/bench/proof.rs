//! What a proof costs beside the check itself: `cargo test` of a small crate after a change of one line, in the workspace
//! and then in the proof checkout.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::report::Row;
use super::stats::{median, range};
use super::{Bench, journal, process};
use crate::Outcome;

const CHECK: &str = "cargo test --offline --quiet";
const MODULES: usize = 24;

/// Changes one line of one module, as an agent would, and says that it is done.
const AGENT: &str = "\
n=$(($(cat ../round) + 1)); echo $n > ../round
sed -i \"s/^pub const SEED: u64 = .*/pub const SEED: u64 = $n;/\" src/part_07.rs
echo '<promise>COMPLETE</promise>'";

pub(super) fn measure(bench: &Bench) -> Outcome<Vec<Row>> {
    let scratch = &bench.scratch;
    let repo = krate(bench)?;
    let agent = scratch.agent("oneline", AGENT)?;
    scratch.write("round", "0\n")?;
    let home = scratch.data_home()?;
    let rounds = bench.size(9, 2);
    let (mut here, mut there, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    // The first builds everything twice; what is measured is a change of one line.
    for round in 0..=rounds {
        let name = format!("round-{round}");
        process::timed(&mut exec(bench, &repo, &agent, &name)?)?;
        let path = journal::named(&home, &name)?;
        let text = fs::read_to_string(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        let times = journal::check_and_proof(&text)?;
        if round == 0 {
            continue;
        }
        eprintln!("  round {round}: proof {:.0} ms, check {:.0} ms", times.proof * 1e3, times.check * 1e3);
        here.push(times.check);
        there.push(times.proof);
        ratios.push(times.proof / times.check);
    }
    let none = || "nothing was measured".to_owned();
    let (check, proof) = (median(&here).ok_or_else(none)?, median(&there).ok_or_else(none)?);
    Ok(vec![Row::ratio(
        "proof of a one-line change, `cargo test`, checkout warm".to_owned(),
        format!("{proof:.2} s"),
        format!("the same check in the workspace: {check:.2} s"),
        range(&ratios).ok_or_else(none)?,
        1.2,
    )])
}

/// `dacapo exec` of one iteration that is proven.
fn exec(bench: &Bench, repo: &Path, agent: &Path, name: &str) -> Outcome<Command> {
    let mut command = Command::new(&bench.program);
    command.args(["exec", "--agent", "oneline", "--iter", "1", "--no-baseline", "--check", CHECK]);
    command.args(["--until", "COMPLETE", "--name", name, "x"]).current_dir(repo);
    bench.scratch.clean(&mut command);
    let path = agent.display().to_string().replace('\\', r"\\").replace('"', "\\\"");
    command.env("DACAPO_AGENTS_ONELINE_COMMAND", format!("[\"{path}\"]"));
    // The toolchain itself: what chooses one keeps its settings in a home that is not this one.
    let cargo = std::env::var_os("CARGO").ok_or("cargo does not say where it is")?;
    let tools = PathBuf::from(cargo).parent().map(Path::to_owned).unwrap_or_default();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(tools).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(all).map_err(|e| e.to_string())?);
    Ok(command)
}

/// A crate without dependencies: modules that use each other, each with tests, and a test of its own behind them.
fn krate(bench: &Bench) -> Outcome<PathBuf> {
    let repo = bench.scratch.path("crate");
    let write = |name: &str, text: &str| {
        let path = repo.join(name);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&path, text))
            .map_err(|e| format!("cannot write {}: {e}", path.display()))
    };
    write(
        "Cargo.toml",
        "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n",
    )?;
    write("Cargo.lock", "version = 4\n\n[[package]]\nname = \"small\"\nversion = \"0.1.0\"\n")?;
    write(".gitignore", "/target\n")?;
    let mut lib = String::new();
    for number in 0..MODULES {
        // Writing to a String cannot fail.
        let _ = writeln!(lib, "pub mod part_{number:02};");
        write(&format!("src/part_{number:02}.rs"), &module(number))?;
    }
    write("src/lib.rs", &lib)?;
    let mut whole = String::new();
    for number in 0..MODULES {
        let _ = writeln!(
            whole,
            "#[test]\nfn part_{number:02}() {{\n    assert!(small::part_{number:02}::table(9).len() == 9);\n}}"
        );
    }
    write("tests/whole.rs", &whole)?;
    bench.scratch.commit(&repo)?;
    Ok(repo)
}

fn module(number: usize) -> String {
    let before = match number {
        0 => "seed.rotate_left(7)".to_owned(),
        _ => format!("crate::part_{:02}::mix(seed ^ SEED)", number - 1),
    };
    format!(
        "use std::collections::BTreeMap;

pub const SEED: u64 = {number};

pub fn mix(seed: u64) -> u64 {{
    {before}.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}}

pub fn table(size: u64) -> BTreeMap<u64, String> {{
    (0..size).map(|n| (n, format!(\"{{}}-{{}}\", n, mix(n)))).collect()
}}

#[cfg(test)]
mod tests {{
    use super::*;

    #[test]
    fn tables_have_their_size() {{
        for size in 0..50 {{
            assert_eq!(table(size).len() as u64, size);
        }}
    }}

    #[test]
    fn mixing_is_repeatable() {{
        assert_eq!((0..500).map(mix).collect::<Vec<_>>(), (0..500).map(mix).collect::<Vec<_>>());
    }}
}}
"
    )
}
