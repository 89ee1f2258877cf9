//! The agent `native` (A6) as a process, against a scripted model server: both wire formats, tools, sessions, and all
//! that models, endpoints and networks do wrong.

mod desk;
mod endpoints;
mod failures;
mod hostile;
mod loops;
mod memory;
mod turns;
