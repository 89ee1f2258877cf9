//! Light Markdown: what messages of agents are written in, as far as one line at a time can tell.

use super::rows::Run;
use crate::tui::theme::Role;

/// What a line is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Block {
    Prose,
    /// A line that begins or ends a block of code.
    Fence(Inside),
    Code,
    Diff,
}

/// What a fence begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inside {
    Nothing,
    Code,
    Diff,
}

/// Whether lines are inside of a block of code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Fence(Option<Inside>);

impl Fence {
    /// As it was before a line of such a block.
    pub(super) fn before(block: Block) -> Self {
        Self(match block {
            Block::Prose | Block::Fence(Inside::Code | Inside::Diff) => None,
            Block::Fence(Inside::Nothing) | Block::Code => Some(Inside::Code),
            Block::Diff => Some(Inside::Diff),
        })
    }

    /// What this line is part of.
    pub(super) fn block_of(self, line: &str) -> Block {
        match (fence(line), self.0) {
            (Some(inside), None) => Block::Fence(inside),
            (Some(_), Some(_)) => Block::Fence(Inside::Nothing),
            (None, None | Some(Inside::Nothing)) => Block::Prose,
            (None, Some(Inside::Code)) => Block::Code,
            (None, Some(Inside::Diff)) => Block::Diff,
        }
    }

    /// Goes past a line.
    pub(super) fn pass(&mut self, line: &str) {
        if let Some(inside) = fence(line) {
            self.0 = match self.0 {
                None => Some(inside),
                Some(_) => None,
            };
        }
    }
}

/// What begins with this line, if it is a fence.
fn fence(line: &str) -> Option<Inside> {
    let line = line.trim();
    let word = line.strip_prefix("```").or_else(|| line.strip_prefix("~~~"))?;
    match word.trim_start_matches(['`', '~']).trim() {
        // `code` in the middle of a line is no fence.
        word if word.contains('`') => None,
        "diff" | "patch" => Some(Inside::Diff),
        _ => Some(Inside::Code),
    }
}

/// A line, and how far the rows below its first one are indented.
pub(super) fn line(text: &str, block: Block) -> (Vec<Run>, usize) {
    match block {
        Block::Prose => prose(text),
        Block::Fence(_) => (vec![Run::new(Role::Faint, text)], 0),
        Block::Code => (vec![Run::new(Role::Border, "▏ "), Run::new(Role::Plain, text)], 2),
        Block::Diff => (vec![Run::new(Role::Border, "▏ "), Run::new(diff_role(text), text)], 2),
    }
}

/// What a line of a diff is.
pub(crate) fn diff_role(text: &str) -> Role {
    match text.as_bytes() {
        [b'+', b'+', b'+', b' ', ..] | [b'-', b'-', b'-', b' ', ..] => Role::Strong,
        [b'+', ..] => Role::Added,
        [b'-', ..] => Role::Removed,
        [b'@', b'@', ..] => Role::Accent,
        _ if text.starts_with("diff --git ") => Role::Strong,
        _ => Role::Plain,
    }
}

/// Whether these lines are a diff, rather than lines that begin with a sign.
pub(super) fn is_diff(lines: &[String]) -> bool {
    lines.iter().any(|line| line.starts_with("@@ ") || line.starts_with("diff --git "))
}

fn prose(text: &str) -> (Vec<Run>, usize) {
    let bare = text.trim_start();
    let indent = text.len() - bare.len();
    let hashes = bare.bytes().take_while(|byte| *byte == b'#').count();
    if (1..=6).contains(&hashes) && bare[hashes..].starts_with(' ') {
        return (vec![Run::new(Role::Strong, bare[hashes..].trim())], 0);
    }
    if bare.len() >= 3 && bare.chars().all(|c| c == '-') {
        return (vec![Run::new(Role::Border, "─".repeat(24))], 0);
    }
    if let Some(quoted) = bare.strip_prefix('>') {
        let mut runs = vec![Run::new(Role::Border, "▏ ")];
        runs.push(Run::new(Role::Faint, quoted.trim_start()));
        return (runs, 2);
    }
    let (marker, rest) = marker(bare);
    let mut runs = Vec::new();
    if indent > 0 {
        runs.push(Run::new(Role::Plain, " ".repeat(indent)));
    }
    let hang = indent + crate::tui::text::width(&marker);
    if !marker.is_empty() {
        runs.push(Run::new(Role::Accent, marker));
    }
    runs.extend(inline(rest));
    (runs, hang)
}

/// The sign of an item of a list, and what comes after it.
fn marker(text: &str) -> (String, &str) {
    for sign in ["- ", "* ", "+ "] {
        if let Some(rest) = text.strip_prefix(sign) {
            return ("• ".into(), rest);
        }
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=3).contains(&digits) && (text[digits..].starts_with(". ") || text[digits..].starts_with(") ")) {
        let (number, rest) = text.split_at(digits + 2);
        return (number.to_owned(), rest);
    }
    (String::new(), text)
}

/// `**bold**` and `code`; what has no end is shown as it is written.
fn inline(text: &str) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['*', '`']) {
        let (before, after) = rest.split_at(at);
        plain.push_str(before);
        let marked = [("**", Role::Strong), ("`", Role::Accent)].into_iter().find_map(|(mark, role)| {
            let inside = after.strip_prefix(mark)?;
            let end = inside.find(mark).filter(|end| *end > 0)?;
            Some((role, &inside[..end], &inside[end + mark.len()..]))
        });
        match marked {
            Some((role, inside, behind)) => {
                if !plain.is_empty() {
                    runs.push(Run::new(Role::Plain, std::mem::take(&mut plain)));
                }
                runs.push(Run::new(role, inside));
                rest = behind;
            }
            None => {
                let end = after.chars().next().map_or(0, char::len_utf8);
                plain.push_str(&after[..end]);
                rest = &after[end..];
            }
        }
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        runs.push(Run::new(Role::Plain, plain));
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let (runs, _) = prose(text);
        let run = |run: &Run| match run.role {
            Role::Plain => run.text.clone(),
            role => format!("{role:?}({})", run.text),
        };
        runs.iter().map(run).collect()
    }

    #[test]
    fn a_line_says_what_it_is() {
        for (text, expected) in [
            ("## What I did", "Strong(What I did)"),
            ("#hashtag", "#hashtag"),
            ("- fixed `split()`", "Accent(• )fixed Accent(split())"),
            ("  * a **bold** word", "  Accent(• )a Strong(bold) word"),
            ("12. twelfth", "Accent(12. )twelfth"),
            ("2 * 3 * 4 ** and `", "2 * 3 * 4 ** and `"),
            ("> said", "Border(▏ )Faint(said)"),
            ("**繼續**", "Strong(繼續)"),
            ("", ""),
        ] {
            assert_eq!(shown(text), expected);
        }
    }

    #[test]
    fn code_is_left_as_it_is() {
        let mut fence = Fence::default();
        let blocks: Vec<Block> = ["a", "```rust", "# no heading", "```", "b", "```diff", "+x", "```"]
            .into_iter()
            .map(|line| {
                let block = fence.block_of(line);
                fence.pass(line);
                block
            })
            .collect();
        assert_eq!(
            blocks,
            [
                Block::Prose,
                Block::Fence(Inside::Code),
                Block::Code,
                Block::Fence(Inside::Nothing),
                Block::Prose,
                Block::Fence(Inside::Diff),
                Block::Diff,
                Block::Fence(Inside::Nothing),
            ]
        );
        assert_eq!(line("+x", Block::Diff).0[1].role, Role::Added);
        assert_eq!(fence.block_of("```inline``` code"), Block::Prose);
    }
}
