//! Where a setting lives: `spawn_task.max_concurrent`, `prices."gpt-5.5".input`.

use std::fmt;

use toml::de::{DeTable, DeValue};

/// The keys from the root to a setting. Model names contain dots, so this is not a string split at dots.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct KeyPath(pub(super) Vec<String>);

impl KeyPath {
    /// The path of `key` in the table at this path.
    pub(super) fn join(&self, key: &str) -> KeyPath {
        let mut keys = self.0.clone();
        keys.push(key.to_owned());
        KeyPath(keys)
    }

    /// Reads a path as TOML reads a dotted key, quotes included. `None` when it is not one.
    pub(super) fn parse(text: &str) -> Option<KeyPath> {
        // A line break or an equals sign outside quotes would make it more than a key; the shape of the result tells.
        let document = format!("{text} = 0");
        let table = DeTable::parse(&document).ok()?;
        let mut keys = Vec::new();
        let mut table = table.into_inner();
        loop {
            let mut entries = table.into_iter();
            let (key, value) = entries.next()?;
            keys.push(key.into_inner().into_owned());
            match value.into_inner() {
                DeValue::Table(inner) if entries.next().is_none() => table = inner,
                DeValue::Integer(_) if entries.next().is_none() => return Some(KeyPath(keys)),
                _ => return None,
            }
        }
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, key) in self.0.iter().enumerate() {
            let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
            f.write_str(if index == 0 { "" } else { "." })?;
            if bare { f.write_str(key)? } else { write!(f, "{}", super::text::quoted(key))? }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_as_they_are_shown() {
        for keys in
            [vec!["agent"], vec!["prices", "gpt-5.5", "input"], vec!["agents", "a \"b\"\n", "env", "繼續"]]
        {
            let path = KeyPath(keys.into_iter().map(str::to_owned).collect());
            assert_eq!(KeyPath::parse(&path.to_string()), Some(path));
        }
        for text in ["", "a.", "a\nb", "a = 1\nb", "a = {}", "[a]", "a b"] {
            assert_eq!(KeyPath::parse(text), None, "{text}");
        }
    }
}
