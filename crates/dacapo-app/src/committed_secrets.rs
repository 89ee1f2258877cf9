//! Secrets in the commits of a task, before these leave its branch (C9).

use dacapo_core::engine::masker;
use dacapo_core::event::{GitNotice, Notice, SecretFile};
use dacapo_core::git::{GitError, Looked, Oid, Repo};
use dacapo_core::spec::TaskSpec;
use dacapo_core::view::TaskView;

use crate::App;
use crate::error::Failure;
use crate::messages::{Text, say};

/// The commits of a task that would go somewhere.
#[derive(Debug, Clone, Copy)]
pub struct Leaving<'a> {
    pub repo: &'a Repo,
    pub spec: &'a TaskSpec,
    pub view: &'a TaskView,
    /// Where they go, or where they began; none: from the very first commit on.
    pub onto: Option<&'a Oid>,
    pub tip: &'a Oid,
}

impl Leaving<'_> {
    /// The files that bring a secret: those on record, whose values may not be known here, and those that are found now.
    pub fn secrets(&self, app: &App, looked: Looked) -> Result<Vec<SecretFile>, GitError> {
        let Self { repo, spec, view, onto, tip } = *self;
        let masker = masker(&app.env, spec);
        let from = match (looked, onto) {
            (Looked::EachCommit, onto) => onto.cloned(),
            (Looked::Result, Some(onto)) => repo.merge_base(onto, tip)?,
            (Looked::Result, None) => None,
        };
        let found = repo.secrets_between(from.as_ref(), tip, looked, &masker)?;
        let mut all: Vec<SecretFile> = Vec::new();
        for secret in self.recorded(looked, view)?.into_iter().chain(found.iter().map(SecretFile::from)) {
            let secret = SecretFile { path: masker.mask_str(&secret.path), ..secret };
            let is_known =
                |known: &SecretFile| (&known.path, &known.variable) == (&secret.path, &secret.variable);
            if !all.iter().any(is_known) {
                all.push(secret);
            }
        }
        Ok(all)
    }

    fn recorded(&self, looked: Looked, view: &TaskView) -> Result<Vec<SecretFile>, GitError> {
        let Self { repo, onto, tip, .. } = *self;
        let recorded = view.notices.iter().filter_map(|notice| match notice {
            Notice::Git(GitNotice::SecretCommitted(file)) => Some(file),
            _ => None,
        });
        let mut recorded: Vec<SecretFile> = recorded.cloned().collect();
        if recorded.is_empty() {
            return Ok(recorded);
        }
        let among = repo.commits_among(recorded.iter().map(|file| &file.commit_id), (onto, tip))?;
        recorded.retain(|file| among.contains(&file.commit_id));
        if looked == Looked::Result {
            let mut still = Vec::new();
            for file in recorded {
                if repo.still_holds(tip, &file.commit_id, &file.path)? {
                    still.push(file);
                }
            }
            recorded = still;
        }
        Ok(recorded)
    }
}

/// A refusal that names the files; none where there are none.
pub fn refused(task: &str, found: &[SecretFile], kept: Text, allow: Text) -> Option<Failure> {
    let first = found.first()?;
    let more = found.len() as u64 - 1;
    let message = say(|m| match more {
        0 => m.secret_in_commit(&first.path, task, &first.variable),
        more => m.secrets_in_commits(&first.path, task, &first.variable, more),
    });
    Some(Failure::usage(message).kept(kept).hint(allow).hint(say(|m| m.secret_take_it_out(task))))
}
