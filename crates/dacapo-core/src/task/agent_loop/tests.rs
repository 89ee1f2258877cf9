//! The rules of the loop, in a world that is only a script: no process, no clock, no disk.

mod blocked;
mod changed_tests;
mod commands;
mod completion;
mod crash;
mod damaged;
mod ends;
mod held_out;
mod permissions;
mod prompts;
mod proof;
mod properties;
mod records;
mod resume;
mod sessions;
mod setup;
mod shared_limits;
mod specs;
mod stop;
mod usage_limits;
mod world;
mod writing;
