//! The plan that goes with a task (C1): the one that was named, else the newest that is found, where it is not an old one.

use std::path::{Path, PathBuf};

use dacapo_core::git::Repo;
use dacapo_core::spec::Plan;
use dacapo_core::store::RepoDir;

use crate::args::Exec;
use crate::error::Failure;
use crate::found_checks::{Question, remember, remembered};
use crate::question::{self, Audience, Default};

/// A plan that nobody named is only taken when it is of a sensible size.
const LARGEST_FOUND: u64 = 256 << 10;

pub(super) fn plan(
    args: &Exec,
    repo: &Repo,
    data: &RepoDir,
    notes: &mut Vec<String>,
) -> Result<Option<Plan>, Failure> {
    if args.no_plan {
        return Ok(None);
    }
    if let Some(path) = &args.plan {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Failure::usage(format!("cannot read the plan {}: {error}", path.display()))
                .hint("--no-plan goes without")
        })?;
        return Ok(Some(Plan { path: path.clone(), text: text.trim_end().to_owned(), named: true }));
    }
    let top = repo.toplevel();
    let Some((path, text)) =
        newest(top).and_then(|path| Some((path.clone(), std::fs::read_to_string(path).ok()?)))
    else {
        return Ok(None);
    };
    let name = path.strip_prefix(top).unwrap_or(&path);
    if is_committed(repo, name, &text) && !is_confirmed(args, data, name, &text) {
        let name = name.display();
        notes.push(format!("plan: {name} is committed and unchanged; not used. --plan {name} uses it"));
        return Ok(None);
    }
    Ok(Some(Plan { path, text: text.trim_end().to_owned(), named: false }))
}

/// Whether HEAD has the file just so: then it is not of today.
fn is_committed(repo: &Repo, name: &Path, text: &str) -> bool {
    let head = repo.head().ok().and_then(|head| head.commit);
    let most = usize::try_from(LARGEST_FOUND).unwrap_or(usize::MAX);
    head.and_then(|head| repo.file_at(&head, name, most).ok().flatten())
        .is_some_and(|committed| committed == text.as_bytes())
}

/// Whether the user said once that a plan of exactly this content is to be used; asked where a person waits for the task.
fn is_confirmed(args: &Exec, data: &RepoDir, name: &Path, text: &str) -> bool {
    let hash = hmac_sha256::Hash::hash(text.as_bytes());
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let found = [name.to_string_lossy().into_owned(), hash];
    if let Some(used) = remembered(data.path(), Question::Plan, &found) {
        return !used.is_empty();
    }
    if args.background || args.dry_run || Audience::now(args.show) != Audience::Person {
        return false;
    }
    anstream::eprintln!("plan    {} (committed, unchanged)", name.display());
    let wanted = question::yes("use it, now and until it changes? [y]es  [Enter] no", Default::No);
    remember(data.path(), Question::Plan, &found, if wanted { &found } else { &[] });
    wanted
}

/// The newest `*.md` in `.dacapo/plans/`, else in `.claude/plans/` (C1).
fn newest(top: &Path) -> Option<PathBuf> {
    [".dacapo/plans", ".claude/plans"].iter().find_map(|dir| {
        let entries = std::fs::read_dir(top.join(dir)).ok()?;
        entries
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "md"))
            .filter_map(|entry| {
                let meta =
                    entry.metadata().ok().filter(|meta| meta.is_file() && meta.len() <= LARGEST_FOUND)?;
                Some((meta.modified().ok()?, entry.path()))
            })
            .max()
            .map(|(_, path)| path)
    })
}
