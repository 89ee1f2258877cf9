//! Pull requests (S12): what a remote's address says, how the platforms' own programs are called, and how words of people
//! and agents go into Markdown.
#![expect(dead_code, reason = "the parts come before what puts them together")]

mod address;
mod platform;
mod prose;
