//! The real agent CLIs, from npm, each in a folder of its own outside the repository.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::agent_clis::{self, AgentCli, COMMANDS, MARKER, UNPACKED};
use crate::{Outcome, shell};

/// Oldest Node on which all of them run.
const NODE: u32 = 20;

/// A download that fails is tried so often in all.
const ATTEMPTS: u32 = 3;

const INSTALL_NODE: &str =
    "install Node 20 or newer, which brings npm (https://nodejs.org/en/download), and run this again";

/// Installs what is missing; quick when nothing is.
pub(crate) fn install() -> Outcome {
    let cache = agent_clis::cache().ok_or("neither DACAPO_TEST_CACHE nor XDG_CACHE_HOME nor HOME is set")?;
    // Most of them are scripts for it: it is needed to run them as much as to install them.
    println!("  {}", node()?);
    if agent_clis::ALL.iter().any(|cli| !cli.is_installed(&cache)) {
        let npm = shell::version("npm", &["--version"]);
        println!("  npm {}", npm.ok_or_else(|| format!("npm is not there: {INSTALL_NODE}"))?);
    }
    for cli in &agent_clis::ALL {
        // What keeps one from coming keeps the others: each would only take its time to say so.
        println!("  {}", one(cli, &cache)?);
    }
    println!("  in {}", cache.join("agents").display());
    Ok(())
}

fn node() -> Outcome<String> {
    let found =
        shell::version("node", &["--version"]).ok_or_else(|| format!("node is not there: {INSTALL_NODE}"))?;
    match node_version(&found) {
        Some(major) if major >= NODE => Ok(format!("node {found}")),
        Some(_) => Err(format!("node {found} is too old: {INSTALL_NODE}")),
        None => Err(format!("node says '{found}', which names no version: {INSTALL_NODE}")),
    }
}

fn node_version(text: &str) -> Option<u32> {
    text.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

/// Says what was found or done.
fn one(cli: &AgentCli, cache: &Path) -> Outcome<String> {
    let there = format!("{} {}", cli.name, cli.version);
    if cli.is_installed(cache) {
        return Ok(there);
    }
    let folder = cli.folder(cache);
    let failed = |what: &str, e: io::Error| format!("{there}: cannot {what} in {}: {e}", folder.display());
    let agents = folder.parent().unwrap_or(cache);
    fs::create_dir_all(agents).map_err(|e| failed("create folders", e))?;
    // Several may be testing at once; the kernel gives the lock back however one of them ends.
    let lock = File::create(beside(&folder, "lock")).map_err(|e| failed("create a lock", e))?;
    lock.lock().map_err(|e| failed("lock", e))?;
    if cli.is_installed(cache) {
        return Ok(format!("{there}, installed by somebody else meanwhile"));
    }
    let partial = beside(&folder, "partial");
    let mut attempt = 1;
    loop {
        match into(cli, &partial) {
            Ok(()) => break,
            Err(why) if attempt == ATTEMPTS => {
                return Err(format!("{there}: not installed after {ATTEMPTS} attempts: {why}"));
            }
            Err(why) => println!("  {there}: attempt {attempt} of {ATTEMPTS} failed, once more: {why}"),
        }
        attempt += 1;
    }
    // A folder without its marker is what somebody took out of it by hand.
    remove(&folder).map_err(|e| failed("remove what was there", e))?;
    fs::rename(&partial, &folder).map_err(|e| failed("put it in place", e))?;
    Ok(format!("{there}: installed from npm"))
}

/// Installs into `partial`, tries it, marks it.
fn into(cli: &AgentCli, partial: &Path) -> Outcome {
    let failed = |e: io::Error| format!("cannot write into {}: {e}", partial.display());
    remove(partial).map_err(failed)?;
    let home = partial.join("home");
    fs::create_dir_all(&home).map_err(failed)?;
    // Without a manifest of its own npm would look for one further up, and install there.
    fs::write(partial.join("package.json"), "{ \"private\": true }\n").map_err(failed)?;

    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock"])
        .args(["--loglevel=error", "--save-exact"])
        .arg(format!("{}@{}", cli.package, cli.version))
        .current_dir(partial);
    quietly(npm)?;
    if let Some(script) = cli.finish {
        let mut finish = Command::new("node");
        finish.arg(script).current_dir(partial.join("node_modules").join(cli.package));
        quietly(finish)?;
    }

    // npm says nothing when the package with the native binary, an optional one, did not come.
    let mut asked = Command::new(partial.join(COMMANDS).join(cli.name));
    asked.arg("--version").current_dir(&home).env("COPILOT_AUTO_UPDATE", "false");
    // What it leaves there goes with them.
    asked.env("HOME", &home).env("TMPDIR", &home);
    if let Some(variable) = cli.unpacks_by {
        asked.env(variable, partial.join(UNPACKED));
    }
    let said = quietly(asked)?;
    if !said
        .split(|c: char| !c.is_ascii_digit() && c != '.')
        .any(|word| word.trim_matches('.') == cli.version)
    {
        return Err(format!("`{} --version` says '{}'", cli.name, said.trim()));
    }
    remove(&home).map_err(failed)?;
    fs::write(partial.join(MARKER), format!("{}@{}\n", cli.package, cli.version)).map_err(failed)
}

/// Runs to the end; its standard output, or what it complained of first, which is what matters in npm's words.
fn quietly(mut command: Command) -> Outcome<String> {
    let shown = shell::shown(&command);
    let output = command.stdin(Stdio::null()).output().map_err(|e| format!("cannot start `{shown}`: {e}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = complaint.lines().filter(|line| !line.trim().is_empty()).take(6).collect();
    Err(format!("`{shown}` ended with {}\n{}", output.status, lines.join("\n")))
}

/// `NAME.WHAT` next to a folder: a version has dots of its own, so it is no extension to be replaced.
fn beside(folder: &Path, what: &str) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(".");
    name.push(what);
    name.into()
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::agent_clis::{ALL, cache_by};
    use super::node_version;

    #[test]
    fn reads_what_node_calls_itself() {
        assert_eq!(node_version("v20.20.2"), Some(20));
        assert_eq!(node_version("v23.0.0-nightly2025"), Some(23));
        assert_eq!(node_version("20.20.2"), None);
        assert_eq!(node_version(""), None);
    }

    #[test]
    fn the_cache_is_where_the_environment_says() {
        let with = |pairs: &[(&str, &str)]| {
            let pairs: Vec<(String, PathBuf)> = pairs.iter().map(|&(n, v)| (n.into(), v.into())).collect();
            cache_by(|name| pairs.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone()))
        };
        let home = ("HOME", "/h");
        assert_eq!(with(&[home]), Some("/h/.cache/dacapo-test".into()));
        assert_eq!(with(&[home, ("XDG_CACHE_HOME", "/c")]), Some("/c/dacapo-test".into()));
        assert_eq!(with(&[home, ("XDG_CACHE_HOME", "/c"), ("DACAPO_TEST_CACHE", "/t")]), Some("/t".into()));
        assert_eq!(with(&[]), None);
    }

    #[test]
    fn every_cli_and_version_has_a_folder_of_its_own() {
        let folders: Vec<PathBuf> = ALL.iter().map(|cli| cli.folder(Path::new("/c"))).collect();
        assert_eq!(folders[0], Path::new("/c/agents/claude-2.1.325"));
        let mut apart = folders.clone();
        apart.sort();
        apart.dedup();
        assert_eq!(apart.len(), folders.len());
        assert!(!ALL[0].is_installed(Path::new("/nowhere")));
    }
}
