//! What the agent does to files. Everything but `save_prompt` stays inside the working directory:
//! a script with a wrong path must not cost its author a file.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Component, Path, PathBuf};

/// The place meant by a path of the script, when it lies inside the working directory.
pub(super) fn inside(path: &str) -> Result<PathBuf, String> {
    locate(path, 0)
}

/// [`inside`], without following links in the last `own` parts of the path.
fn locate(path: &str, own: usize) -> Result<PathBuf, String> {
    let root = std::env::current_dir()
        .and_then(|dir| dir.canonicalize())
        .map_err(|error| format!("the working directory is gone: {error}"))?;
    let mut target = PathBuf::new();
    for part in root.join(path).components() {
        match part {
            Component::ParentDir => {
                target.pop();
            }
            Component::CurDir => {}
            part => target.push(part),
        }
    }
    // Links are followed as far as the path exists: one that leads out leads out.
    let existing = target
        .ancestors()
        .skip(own)
        .find(|dir| dir.symlink_metadata().is_ok())
        .and_then(|dir| dir.canonicalize().ok());
    match existing {
        Some(existing) if existing.starts_with(&root) && target != root => Ok(target),
        _ => Err(format!("`{path}` is not inside the working directory")),
    }
}

/// Writes or extends a file, and makes the directories it needs.
pub(super) fn write(path: &str, text: &[u8], append: bool) -> Result<(), String> {
    let target = inside(path)?;
    let failed = |error: std::io::Error| format!("cannot write `{path}`: {error}");
    make_parents(&target).map_err(failed)?;
    OpenOptions::new()
        .create(true)
        .write(true)
        .append(append)
        .truncate(!append)
        .open(&target)
        .and_then(|mut file| file.write_all(text))
        .map_err(failed)
}

/// Deletes a file, a link (itself, wherever it leads) or a whole directory.
pub(super) fn delete(path: &str) -> Result<(), String> {
    let target = locate(path, 1)?;
    match target.symlink_metadata() {
        Ok(kind) if kind.is_dir() => fs::remove_dir_all(&target),
        Ok(_) => fs::remove_file(&target),
        Err(error) => Err(error),
    }
    .map_err(|error| format!("cannot delete `{path}`: {error}"))
}

/// Keeps what the agent was told, anywhere: a test wants it where the loop does not clean up.
pub(super) fn save(path: &str, bytes: &[u8]) -> Result<(), String> {
    let target = Path::new(path);
    make_parents(target)
        .and_then(|()| fs::write(target, bytes))
        .map_err(|error| format!("cannot write `{path}`: {error}"))
}

/// A file of bytes that neither git nor a file system can make smaller.
pub(super) fn big(path: &str, mb: u32) -> Result<(), String> {
    let target = inside(path)?;
    let failed = |error: std::io::Error| format!("cannot write `{path}`: {error}");
    make_parents(&target).map_err(failed)?;
    let mut file = fs::File::create(&target).map_err(failed)?;
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut block = vec![0; 1024 * 1024];
    for _ in 0..mb {
        for word in block.chunks_exact_mut(8) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            word.copy_from_slice(&state.to_le_bytes());
        }
        file.write_all(&block).map_err(failed)?;
    }
    Ok(())
}

/// A file that any scanner takes for secrets. They are put together here, so that this source
/// does not look like secrets itself.
pub(super) fn secret(path: &str) -> Result<(), String> {
    let dashes = "-----";
    let text = format!(
        "AWS_ACCESS_KEY_ID=AKIA{}\n\
         AWS_SECRET_ACCESS_KEY={}\n\
         GITHUB_TOKEN=ghp_{}\n\
         {dashes}BEGIN RSA PRIVATE KEY{dashes}\n{}\n{dashes}END RSA PRIVATE KEY{dashes}\n",
        "Q7REHEARSAL4XN2W",
        "kR8v".repeat(10),
        "a1B2c3D4e".repeat(4),
        "MIIEowIBAAKCAQEA".repeat(4),
    );
    write(path, text.as_bytes(), false)
}

/// Removes the working directory, where nothing of a person's own can be lost: inside the
/// workspace Dacapo gave, and not in a main checkout (a linked worktree has a `.git` file).
pub(super) fn vanish() -> Result<PathBuf, String> {
    let here = std::env::current_dir().map_err(|error| format!("it is gone already: {error}"))?;
    let real = |path: PathBuf| path.canonicalize().ok();
    let given = std::env::var_os("DACAPO_WORKSPACE").map(PathBuf::from).and_then(real);
    if !given.is_some_and(|given| here.starts_with(given)) {
        return Err("`vanish` works only inside DACAPO_WORKSPACE".into());
    }
    let home = std::env::var_os("HOME").map(PathBuf::from).and_then(real);
    if here.parent().is_none() || home.as_ref() == Some(&here) || here.join(".git").is_dir() {
        return Err(format!(
            "`vanish` does not remove {}: it is a main checkout or a home directory",
            here.display()
        ));
    }
    fs::remove_dir_all(&here).map_err(|error| format!("cannot remove {}: {error}", here.display()))?;
    Ok(here)
}

fn make_parents(path: &Path) -> std::io::Result<()> {
    match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => fs::create_dir_all(dir),
        _ => Ok(()),
    }
}
