//! What a tool is used for, from its arguments.

use serde::Deserialize;

use super::fields::Excerpt;

/// The arguments of a tool, as far as one of them can stand for the call.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Arguments {
    command: Excerpt,
    cmd: Excerpt,
    path: Excerpt,
    file_path: Excerpt,
    pattern: Excerpt,
    query: Excerpt,
    url: Excerpt,
    description: Excerpt,
    prompt: Excerpt,
}

impl Arguments {
    /// The one that says most to people.
    pub(super) fn telling(&self) -> &str {
        [
            &self.command,
            &self.cmd,
            &self.path,
            &self.file_path,
            &self.pattern,
            &self.query,
            &self.url,
            &self.description,
            &self.prompt,
        ]
        .into_iter()
        .find_map(Excerpt::some)
        .unwrap_or_default()
    }
}
