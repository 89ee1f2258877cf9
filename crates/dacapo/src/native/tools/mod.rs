//! What the model can do: run commands, and read, write and search files of the workspace.

mod edit;
mod place;
mod read;
mod search;
mod shell;
