//! The git module against real git, in hermetic repositories.

mod excludes;
mod fixture;
mod heads;
mod landing;
mod locks;
mod loose;
mod main_branches;
mod merging;
mod private;
mod proof;
mod proof_hidden;
mod proof_hostile;
mod proof_originals;
mod repositories;
mod rescue;
mod secrets;
mod settings;
mod staging;
mod untracked;
mod watched_refs;
mod workspaces;
