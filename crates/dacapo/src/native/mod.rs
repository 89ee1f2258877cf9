//! `native`: a small agent of Dacapo's own, for where no agent CLI is installed (A6).

#[cfg_attr(not(test), expect(dead_code, reason = "the agent that uses them comes with the next steps"))]
mod tools;
