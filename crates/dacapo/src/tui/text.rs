//! Text of agents, files and people on its way to the screen: without anything that could drive the terminal, and as wide as
//! it is counted.

use anstyle::Style as Painted;
use dacapo_core::context::is_deceptive;
use ratatui::text::{Line, Span};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::theme::Theme;

/// Where a tab goes to the next of.
const TAB: usize = 8;

/// One line of somebody else's text: escape sequences gone, control characters and what turns the reading direction round too,
/// tabs as spaces. Whatever it was, it is shown as what it says and does nothing.
pub(crate) fn clean(line: &str) -> String {
    let is_plain = |c: char| !c.is_control() && !is_deceptive(c) && !matches!(c, '\u{2028}' | '\u{2029}');
    if line.chars().all(is_plain) {
        return line.to_owned();
    }
    let mut out = String::with_capacity(line.len());
    let mut width = 0;
    for c in anstream::adapter::strip_str(line).to_string().chars() {
        match c {
            '\t' => {
                let gap = TAB - width % TAB;
                out.extend(std::iter::repeat_n(' ', gap));
                width += gap;
            }
            '\u{2028}' | '\u{2029}' => {
                out.push(' ');
                width += 1;
            }
            c if c.is_control() || is_deceptive(c) => {}
            c => {
                out.push(c);
                width += c.width().unwrap_or(0);
            }
        }
    }
    out
}

/// All of it in one line.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<String> =
        text.lines().map(|line| clean(line).trim().to_owned()).filter(|line| !line.is_empty()).collect();
    words.join(" ")
}

pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// At most so many columns, with `…` where something is missing.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    dacapo_core::context::cut_columns(text, columns)
}

/// At most so many columns of its end, with `…` before them: the end of a path says more than its beginning.
pub(crate) fn cut_front(path: &str, columns: usize) -> String {
    if width(path) <= columns {
        return path.to_owned();
    }
    if columns == 0 {
        return String::new();
    }
    let mut kept = String::new();
    for c in path.chars().rev() {
        let mut longer = String::from(c);
        longer.push_str(&kept);
        if width(&longer) + 1 > columns {
            break;
        }
        kept = longer;
    }
    format!("…{kept}")
}

/// Filled up with spaces to so many columns, or cut to them.
pub(crate) fn fit(text: &str, columns: usize) -> String {
    let text = cut(text, columns);
    let gap = columns.saturating_sub(text.width());
    format!("{text}{:gap$}", "")
}

/// In lines of at most so many columns: broken at spaces, and inside of words that are wider than a line. Text without spaces,
/// as in Chinese, is broken between any two characters.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        let mut width = 0;
        for word in paragraph.split_inclusive(' ') {
            let bare = word.trim_end();
            if width > 0 && width + bare.width() > columns && bare.width() <= columns && !is_wide(bare) {
                lines.push(std::mem::take(&mut line).trim_end().to_owned());
                width = 0;
            }
            for c in word.chars() {
                let own = c.width().unwrap_or(0);
                if width + own > columns {
                    lines.push(std::mem::take(&mut line).trim_end().to_owned());
                    width = 0;
                    if c == ' ' {
                        continue;
                    }
                }
                line.push(c);
                width += own;
            }
        }
        lines.push(line.trim_end().to_owned());
    }
    lines
}

fn is_wide(word: &str) -> bool {
    word.chars().any(|c| c.width() == Some(2))
}

/// Text that `present` painted for a terminal, as spans of the theme. Nothing but its styles survives.
pub(crate) fn painted(text: &str, theme: Theme) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut style = Painted::new();
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        let (before, after) = rest.split_at(at);
        push(&mut spans, before, style, theme);
        let Some(end) = after.find('m') else {
            rest = "";
            break;
        };
        style = codes(&after[2..end], style);
        rest = &after[end + 1..];
    }
    push(&mut spans, rest, style, theme);
    Line::from(spans)
}

/// A line in lines of at most so many columns: what goes on below begins where the text behind a label does.
pub(crate) fn hang(line: &Line<'_>, columns: usize) -> Vec<Line<'static>> {
    let whole: String = line.spans.iter().map(|span| span.content.as_ref()).collect();
    if whole.width() <= columns {
        let spans = line.spans.iter().map(|span| Span::styled(span.content.clone().into_owned(), span.style));
        return vec![Line::from(spans.collect::<Vec<_>>())];
    }
    let indent = hanging(&whole).min(columns / 2);
    let mut lines = Vec::new();
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut width = 0;
    for span in &line.spans {
        let words = span.content.split_inclusive(' ');
        for part in words.flat_map(|word| parts(word, columns - indent)) {
            if width + part.trim_end().width() > columns {
                lines.push(Line::from(std::mem::take(&mut spans)));
                spans.push(Span::raw(" ".repeat(indent)));
                width = indent;
            }
            width += part.width();
            spans.push(Span::styled(part, span.style));
        }
    }
    lines.push(Line::from(spans));
    lines
}

/// A word in parts that have room in a line.
fn parts(word: &str, columns: usize) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut width = 0;
    for c in word.chars() {
        let own = c.width().unwrap_or(0);
        if width + own > columns && c != ' ' {
            parts.push(String::new());
            width = 0;
        }
        width += own;
        parts.iter_mut().last().into_iter().for_each(|part| part.push(c));
    }
    parts
}

/// The column of the text behind the label of a line, such as `  agent   claude`; that of its first word where it has none.
fn hanging(line: &str) -> usize {
    let first = line.len() - line.trim_start().len();
    let label = line[first..].find("  ").map(|end| first + end);
    let behind = label.and_then(|end| Some(end + line[end..].find(|c| c != ' ')?));
    behind.map_or(first, |at| line[..at].width()).min(12)
}

fn push(spans: &mut Vec<Span<'static>>, text: &str, style: Painted, theme: Theme) {
    let text = clean(text);
    if !text.is_empty() {
        spans.push(Span::styled(text, theme.painted(style)));
    }
}

/// What these codes make of a style; those that `present` does not use change nothing.
fn codes(codes: &str, style: Painted) -> Painted {
    use anstyle::AnsiColor::{Cyan, Green, Magenta, Red, Yellow};
    codes.split(';').fold(style, |style, code| match code {
        "" | "0" => Painted::new(),
        "1" => style.bold(),
        "2" => style.dimmed(),
        "4" => style.underline(),
        "31" => style.fg_color(Some(Red.into())),
        "32" => style.fg_color(Some(Green.into())),
        "33" => style.fg_color(Some(Yellow.into())),
        "35" => style.fg_color(Some(Magenta.into())),
        "36" => style.fg_color(Some(Cyan.into())),
        "39" => style.fg_color(None),
        _ => style,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_long_name_is_shown() {
        assert_eq!(cut_front("src/parse.rs", 20), "src/parse.rs");
        assert_eq!(cut_front("src/parse.rs", 9), "…parse.rs");
        assert_eq!(cut_front("文件/名称.rs", 8), "…名称.rs");
        assert_eq!(cut_front("文件/名称.rs", 7), "…称.rs");
        assert_eq!(cut_front("src", 0), "");
    }
    use crate::tui::theme::Role;

    #[test]
    fn what_an_agent_says_cannot_drive_the_terminal() {
        let said = "a\u{1b}[2J\u{1b}]0;title\u{7}b\u{202e}c\td\u{9b}31me\r\u{8}f";
        let shown = clean(said);
        assert!(!shown.chars().any(|c| c.is_control() || is_deceptive(c)), "{shown:?}");
        assert!(shown.starts_with("abc"), "{shown:?}");
        assert_eq!(clean("\tx\ty"), "        x       y");
        assert_eq!(one_line("one\n\n  two\u{7}\n"), "one two");
    }

    #[test]
    fn lines_are_broken_where_people_break_them() {
        assert_eq!(wrap("the quick brown fox", 10), ["the quick", "brown fox"]);
        assert_eq!(wrap("abcdefghijkl", 5), ["abcde", "fghij", "kl"]);
        assert_eq!(wrap("任务已经完成", 5), ["任务", "已经", "完成"]);
        assert_eq!(wrap("one\n\ntwo", 20), ["one", "", "two"]);
        assert_eq!(wrap("", 5), Vec::<String>::new());
    }

    #[test]
    fn cut_and_filled_by_columns() {
        assert_eq!(fit("ab", 4), "ab  ");
        assert_eq!(width(&fit("任务完成", 5)), 5);
    }

    #[test]
    fn what_goes_on_below_begins_behind_the_label() {
        let text = |line: &str, columns| -> Vec<String> {
            let lines = hang(&Line::raw(line.to_owned()), columns);
            lines.iter().map(|line| line.to_string().trim_end().to_owned()).collect()
        };
        assert_eq!(
            text("  needs   one or the other, says the spec", 24),
            ["  needs   one or the", "          other, says", "          the spec"]
        );
        assert_eq!(text("short", 24), ["short"]);
        assert_eq!(
            text("  where   /a/very/long/path/that/has/no/room", 20),
            ["  where   /a/very/lo", "          ng/path/th", "          at/has/no/", "          room"]
        );
    }

    #[test]
    fn painted_text_becomes_spans() {
        use dacapo_app::present::words::{GOOD, paint};
        let line = painted(&format!("{} 3 iterations", paint(GOOD, "✓ proven")), Theme::Coloured);
        assert_eq!(
            line,
            Line::from(vec![
                Span::styled("✓ proven", Theme::Coloured.style(Role::Good)),
                Span::styled(" 3 iterations", Theme::Coloured.style(Role::Plain)),
            ])
        );
    }
}
