//! `native`: a small agent of Dacapo's own, for where no agent CLI is installed (A6).
#![expect(dead_code, reason = "the agent that uses all this comes with the next step")]

mod answer;
mod conversation;
mod endpoint;
mod failure;
mod model;
mod options;
mod tools;
mod voice;
