//! Turns a package, as its ordinary client fetches it, into the repository of a case.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::case::Case;
use super::projects::{Needs, Project, Source};
use crate::Outcome;

/// Fetches all published packages of a source into a directory, each to `NAME`.
pub(super) fn all(dir: &Path, projects: &[Project]) -> Outcome {
    let of = |source: Source| projects.iter().filter(move |project| project.source == source);
    fs::create_dir_all(dir).map_err(|e| format!("cannot make {}: {e}", dir.display()))?;
    crates(dir, &of(Source::Cargo).collect::<Vec<_>>())?;
    for project in of(Source::Npm) {
        let name = format!("{}@{}", project.name, project.version);
        run(Command::new("npm").args(["pack", "--silent", &name]).current_dir(dir))?;
        unpack(dir, &format!("{}-{}.tgz", project.name, project.version), project.name)?;
    }
    for project in of(Source::PyPi) {
        let name = format!("{}=={}", project.name, project.version);
        let words =
            ["download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:"];
        run(Command::new("pip").args(words).arg(&name).current_dir(dir))?;
        unpack(dir, &format!("{}-{}.tar.gz", project.name, project.version), project.name)?;
    }
    Ok(())
}

fn crates(dir: &Path, projects: &[&Project]) -> Outcome {
    let mut manifest = "[package]\nname = \"scratch\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n\n[dependencies]\n".to_owned();
    for project in projects {
        manifest.push_str(&format!("{} = \"={}\"\n", project.name, project.version));
    }
    let scratch = dir.join("scratch");
    let made = fs::create_dir_all(scratch.join("src"))
        .and_then(|()| fs::write(scratch.join("Cargo.toml"), manifest))
        .and_then(|()| fs::write(scratch.join("src/lib.rs"), ""));
    made.map_err(|e| format!("cannot write {}: {e}", scratch.display()))?;
    let mut cargo = crate::shell::cargo(&["vendor", "--quiet", "vendor"]);
    run(cargo.current_dir(&scratch))?;
    for project in projects {
        let (from, to) = (scratch.join("vendor").join(project.name), dir.join(project.name));
        let moved = fs::rename(&from, &to).and_then(|()| fs::remove_file(to.join(".cargo-checksum.json")));
        // All of this lies below another workspace: this one's.
        let manifest = to.join("Cargo.toml");
        let alone = moved.and_then(|()| fs::read_to_string(&manifest));
        alone
            .and_then(|text| fs::write(&manifest, format!("{text}\n[workspace]\n")))
            .map_err(|e| format!("cargo has not brought {}: {e}", project.name))?;
    }
    Ok(())
}

fn unpack(dir: &Path, archive: &str, name: &str) -> Outcome {
    let to = dir.join(name);
    fs::create_dir_all(&to).map_err(|e| format!("cannot make {}: {e}", to.display()))?;
    run(Command::new("tar").args(["xzf", archive, "--strip-components=1", "-C", name]).current_dir(dir))
}

fn run(command: &mut Command) -> Outcome {
    let shown = crate::shell::shown(command);
    let output = command.output().map_err(|e| format!("cannot start {shown}: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{shown}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

/// Makes the repository of a project in its case: the package as it was published, committed and tagged.
pub(super) fn repository(case: &mut Case, fetched: &Path, project: &Project) -> Outcome {
    match project.source {
        Source::Cargo | Source::Npm | Source::PyPi => {
            let from = fetched.join(project.name);
            run(Command::new("cp").arg("-a").arg(from.join(".")).arg(case.repo()))?;
        }
        Source::Here(files) => {
            for (name, text) in files {
                case.write(&format!("repo/{name}"), text)?;
            }
        }
    }
    case.write("repo/.gitignore", project.ignored)?;
    case.git(&["init", "-q", "-b", "main"])?;
    match project.needs {
        Needs::Nothing | Needs::Tag => {}
        Needs::Lock(command) => shell(case, command)?,
        Needs::Submodule => {
            let library = library(case)?.display().to_string();
            case.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &library, "library"])?;
        }
        Needs::Filter => case.add_git_settings(
            "[filter \"rot13\"]\n\tclean = tr 'a-z' 'n-za-m'\n\tsmudge = tr 'a-z' 'n-za-m'\n\trequired = true\n",
        )?,
    }
    case.git(&["add", "-A"])?;
    case.git(&["commit", "-qm", &format!("{} {}", project.name, project.version)])?;
    case.git(&["tag", "v1.2.3"])?;
    case.set_up_by(project.setup, "")
}

/// The repository of the submodule. It is not among what is moved away while a clone is judged: it is public.
fn library(case: &Case) -> Outcome<PathBuf> {
    case.write("library/library.sh", "say() { echo \"hello $1\"; }\n")?;
    let dir = case.path("library");
    for words in [&["init", "-q", "-b", "main"][..], &["add", "-A"], &["commit", "-qm", "library"]] {
        case.git_in(&dir, words)?;
    }
    Ok(dir)
}

fn shell(case: &Case, command: &str) -> Outcome {
    let mut shell = Command::new("sh");
    run(case.dress(&mut shell).args(["-c", command]))
}
