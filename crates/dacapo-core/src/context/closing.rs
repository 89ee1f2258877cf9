//! The closing words of an agent that prints plain text (C5). All that it printed is one message, so what it says of its
//! work has to be told from the log lines before it.

/// Fewer lines are taken as they are.
const LEAST_LINES: usize = 3;

/// The last paragraphs, back to the first one that is a log. Where the last one is a log itself: what follows its lines,
/// else its last line.
pub(super) fn closing_words(text: &str) -> String {
    let mut paragraphs: Vec<&str> = Vec::new();
    for paragraph in text.rsplit("\n\n").map(|paragraph| paragraph.trim_matches('\n')) {
        let lines: Vec<&str> = paragraph.lines().filter(|line| !line.trim().is_empty()).collect();
        if lines.is_empty() {
            continue;
        }
        if is_log(&lines) {
            let end = if paragraphs.is_empty() { after_log(&lines) } else { Vec::new() };
            let end = end.join("\n");
            return paragraphs_joined(&end, &paragraphs);
        }
        paragraphs.push(paragraph);
    }
    paragraphs_joined("", &paragraphs)
}

/// They were gathered from the last to the first.
fn paragraphs_joined(first: &str, gathered: &[&str]) -> String {
    let all = std::iter::once(first).chain(gathered.iter().rev().copied());
    let said: Vec<&str> = all.filter(|paragraph| !paragraph.is_empty()).collect();
    said.join("\n\n")
}

/// Most of its lines are a program's, not somebody's account.
fn is_log(lines: &[&str]) -> bool {
    lines.len() >= LEAST_LINES && (0..lines.len()).filter(|n| is_logged(lines, *n)).count() * 2 > lines.len()
}

fn after_log<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let last_logged = (0..lines.len()).rev().find(|n| is_logged(lines, *n));
    match last_logged {
        Some(n) if n + 1 < lines.len() => lines[n + 1..].to_vec(),
        Some(_) | None => lines.last().copied().into_iter().collect(),
    }
}

/// A step that was reported: it begins like its neighbour, with a time or a bracket, or it ends without a full stop where
/// the next line begins anew. Wrapped prose goes on in lower case; items of a list belong together.
fn is_logged(lines: &[&str], n: usize) -> bool {
    let line = lines[n].trim();
    if is_item(line) {
        return false;
    }
    let next = lines.get(n + 1).map(|line| line.trim());
    let before = n.checked_sub(1).map(|n| lines[n].trim());
    let begins_alike =
        |other: Option<&str>| other.and_then(first_word).is_some_and(|word| first_word(line) == Some(word));
    let stamped = line.starts_with(|c: char| c == '[' || c.is_ascii_digit());
    let step = !ends_sentence(line) && next.is_some_and(begins_anew);
    stamped || step || begins_alike(next) || begins_alike(before)
}

/// An item of a list, a heading, a quotation or a row of a table.
fn is_item(line: &str) -> bool {
    let marked = ["- ", "* ", "+ ", "• ", "#", ">", "|", "```", "✓", "✔", "✅"];
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = digits.len() < line.len() && (digits.starts_with(". ") || digits.starts_with(") "));
    numbered || marked.iter().any(|mark| line.starts_with(mark))
}

fn first_word(line: &str) -> Option<&str> {
    line.split_whitespace().next()
}

fn ends_sentence(line: &str) -> bool {
    line.ends_with(['.', '!', '?', ':', '。', '！', '？', '：'])
}

fn begins_anew(line: &str) -> bool {
    line.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit() || c == '[')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn steps(count: u32) -> String {
        (1..=count).map(|n| format!("building step {n}\n")).collect()
    }

    #[test]
    fn c5_log_lines_are_no_closing_words() {
        for (text, words) in [
            (format!("{}Fixed the bug in parser.rs.", steps(30)), "Fixed the bug in parser.rs."),
            (format!("{}\nFixed the bug.\n\nTests pass.", steps(30)), "Fixed the bug.\n\nTests pass."),
            ("Looking at the code\nRunning tests\nFixed the bug".to_owned(), "Fixed the bug"),
            (steps(3), "building step 3"),
            ("Compiling a v1\nCompiling b v2\nFinished\nAll good.".to_owned(), "All good."),
            ("[12:00:01] start\n[12:00:02] work\n[12:00:03] end".to_owned(), "[12:00:03] end"),
            ("Building\n[1/2] compile\n[2/2] link\n   \n".to_owned(), "[2/2] link"),
        ] {
            assert_eq!(closing_words(&text), words, "{text}");
        }
    }

    #[test]
    fn c5_prose_and_lists_are_kept_whole() {
        for text in [
            "Fixed the bug in the parser: it read one byte\ntoo many where a line was empty,\nand now it does not.",
            "Done:\n- reads `a.b`\n- writes c\n- tests for both",
            "did it\nall of it",
            "Added the route.\nAdded its tests too.",
            "修复了解析器。\n增加了测试。\n全部通过。",
            "1. Read the file\n2. Changed it\n3. Ran the tests",
        ] {
            assert_eq!(closing_words(text), text);
        }
    }

    proptest! {
        #[test]
        fn c5_closing_words_are_the_end_of_what_was_said(text in "([A-Za-z\\[\\-. ]{0,12}\n{1,2}){0,12}") {
            let words = closing_words(&text);
            let said: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
            let kept: Vec<&str> = words.lines().filter(|line| !line.trim().is_empty()).collect();
            prop_assert!(said.ends_with(&kept), "{words:?}");
            prop_assert_eq!(kept.is_empty(), said.is_empty());
        }
    }
}
