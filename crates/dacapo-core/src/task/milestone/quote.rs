//! How what somebody else wrote is put into a prompt: whole, but so that it cannot pass for the prompt itself.
//!
//! What agents, tools and git said stands in a code fence that is longer than any run of marks in it. What the project's
//! people wrote stands between tags that do not occur in it. Neither can be closed from within.

/// What a terminal or a reader could take for something else than text is shown as unreadable. Also a prompt may be an
/// argument, which cannot hold a NUL.
pub(super) fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let odd = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if odd(c) { '\u{fffd}' } else { c }).collect()
}

/// In a fence of its own.
pub(super) fn fenced(language: &str, text: &str) -> String {
    let text = clean(text);
    let marks = "`".repeat(longest_run(&text).max(2) + 1);
    format!("{marks}{language}\n{}\n{marks}", text.trim_end())
}

fn longest_run(text: &str) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for byte in text.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// Between tags; empty where there is nothing.
pub(super) fn document(name: &str, text: Option<&str>) -> String {
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else { return String::new() };
    let text = clean(text);
    let mut tag = name.to_owned();
    let mut nth = 1;
    while text.contains(&format!("</{tag}")) || text.contains(&format!("<{tag}")) {
        nth += 1;
        tag = format!("{name}-{nth}");
    }
    format!("<{tag}>\n{}\n</{tag}>", text.trim_end())
}

/// A list; the further lines of an item stand under its first one.
pub(super) fn list(items: impl Iterator<Item = String>) -> String {
    let lines: Vec<String> =
        items.map(|item| format!("- {}", clean(&item).trim_end().replace('\n', "\n  "))).collect();
    lines.join("\n")
}

/// Under a heading; empty where there is nothing.
pub(super) fn part(heading: &str, text: &str) -> String {
    let text = text.trim_end();
    if text.trim().is_empty() { String::new() } else { format!("## {heading}\n\n{text}") }
}

/// A list of somebody else's words, under a heading of ours.
pub(super) fn quoted_list(heading: &str, items: impl Iterator<Item = String>) -> String {
    let text = list(items);
    if text.is_empty() { text } else { part(heading, &fenced("", &text)) }
}
