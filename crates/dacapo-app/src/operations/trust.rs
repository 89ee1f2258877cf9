//! What this repository would run here or tell agents, and what of it the user has confirmed (R6).

use std::path::PathBuf;

use dacapo_core::git::Repo;
use dacapo_core::proof::Suspects;

use crate::App;
use crate::config::{Brought, Confirmed, Project, load};
use crate::error::Failure;
use crate::messages::{Messages, say};
use crate::milestones::Folder;
use crate::request::milestone::prompts;
use crate::trust::{self, Record, Store};

/// All that needs a person's word, and what they said.
#[derive(Debug)]
pub struct TrustState {
    /// The top of the checkout.
    pub top: PathBuf,
    /// What the repository brings.
    pub brought: Vec<Brought>,
    /// What of it counts.
    pub confirmed: Confirmed,
    /// What was confirmed when.
    pub records: Vec<Record>,
}

impl TrustState {
    /// What has no effect yet.
    pub fn open(&self) -> Vec<&Brought> {
        self.brought.iter().filter(|brought| !self.confirmed.includes(brought)).collect()
    }
}

impl App {
    /// What the repository brings, and what of it the user has confirmed.
    pub fn trust_state(&self) -> Result<TrustState, Failure> {
        let (repo, _) = self.repository()?;
        Ok(TrustState {
            top: repo.toplevel().to_owned(),
            brought: everything(self, &repo)?,
            confirmed: trust::confirmed(self, repo.toplevel()),
            records: store(self, &repo)?.records(),
        })
    }

    /// Confirms exactly the content with this hash.
    pub fn trust(&self, hash: &str) -> Result<(), Failure> {
        let state = self.trust_state()?;
        let brought = state.brought.iter().find(|brought| brought.hash == hash).ok_or_else(|| {
            Failure::usage(say(|m| m.trust_no_such_hash(hash)))
                .kept(say(Messages::kept_nothing_newly_trusted))
                .hint(say(Messages::trust_list_shows_brought))
        })?;
        self.keep_trust(&state.top, brought);
        Ok(())
    }

    /// Takes a confirmation back, or all of this repository; what was taken back.
    pub fn revoke_trust(&self, hash: Option<&str>) -> Result<Vec<String>, Failure> {
        let (repo, _) = self.repository()?;
        let store = store(self, &repo)?;
        let mut revoked = Vec::new();
        for known in store.hashes().into_iter().filter(|known| hash.is_none_or(|hash| known == hash)) {
            let removed = store.remove(&known).map_err(|error| {
                let error = error.to_string();
                Failure::failed(say(|m| m.trust_not_revoked(&known, &error)))
                    .kept(say(Messages::trust_kept_others))
            })?;
            if removed {
                revoked.push(known);
            }
        }
        match (hash, revoked.is_empty()) {
            (Some(hash), true) => Err(Failure::usage(say(|m| m.trust_hash_not_trusted(hash)))
                .hint(say(Messages::trust_list_shows_trusted))),
            _ => Ok(revoked),
        }
    }
}

fn store(app: &App, repo: &Repo) -> Result<Store, Failure> {
    Store::around(app, repo.toplevel()).ok_or_else(|| {
        Failure::usage(say(Messages::trust_no_data_directory))
            .hint(say(|m| m.hint_set_variable("DACAPO_HOME")))
    })
}

/// All that the repository brings and that needs a person's word.
fn everything(app: &App, repo: &Repo) -> Result<Vec<Brought>, Failure> {
    let mut all = Vec::new();
    match load(&app.project_sources(repo.toplevel()))?.project {
        Project::Harmless => {}
        Project::Confirmed(brought) | Project::Unconfirmed { brought, .. } => all.push(brought),
    }
    let folder = Folder::of(repo);
    all.extend(trust::of_prompts(&prompts(folder.top())?));
    for written in folder.all().unwrap_or_default() {
        let (Some(id), Ok((text, definition))) = (written.id(), &written.read) else { continue };
        let set = &definition.settings;
        if set.auto_start || trust::names_a_script([&set.developer, &set.acceptor]) {
            all.extend(trust::of_file(&Folder::relative(&id), text));
        }
    }
    all.extend(trust::of_script(repo.toplevel()));
    if let Ok(home) = app.home() {
        let suspects = Suspects::look(repo, home.repo(repo.common_dir()).path());
        all.extend(suspects.ok().and_then(|suspects| trust::of_git(&suspects.names())));
    }
    Ok(all)
}
