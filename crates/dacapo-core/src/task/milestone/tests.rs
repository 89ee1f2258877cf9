//! The rules of milestones, in a world that is only a script.

mod convergence;
mod damaged;
mod definitions;
mod final_verdicts;
mod forms;
mod main_branch;
mod pauses;
mod people;
mod progress;
mod prompts;
mod proof;
mod properties;
mod recovery;
mod refreeze;
mod replies;
mod reports;
mod rounds;
mod specs;
mod templates;
mod tree;
mod usage_limits;
mod verdicts;
mod world;
