//! Labels of a report: `**Commit**: …`, `- Commit: …`, `### Commit`, `**提交**：…`, `| Commit | … |`.

use super::lines::{Kind, Line};

/// What a report says under a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    Feature,
    Commit,
    Changes,
    Summary,
}

impl Label {
    /// Every way to write it, in small letters; a longer one before one that begins it.
    fn words(self) -> &'static [&'static str] {
        match self {
            Label::Feature => &[
                "implemented feature",
                "feature implemented",
                "features",
                "feature",
                "实现的功能",
                "實現的功能",
                "实现功能",
                "實現功能",
                "功能描述",
                "功能",
                "特性",
            ],
            Label::Commit => &[
                "commit hashes",
                "commit hash",
                "commit sha",
                "commit id",
                "commits",
                "commit",
                "提交哈希",
                "提交列表",
                "提交记录",
                "提交紀錄",
                "提交记錄",
                "提交 hash",
                "提交号",
                "提交號",
                "提交",
            ],
            Label::Changes => &[
                "files changed",
                "changed files",
                "changes",
                "change",
                "变更内容",
                "變更內容",
                "变更文件",
                "变更",
                "變更",
                "改动",
                "改動",
                "修改",
                "更改",
            ],
            Label::Summary => &["summary", "总结", "總結", "小结", "小結", "摘要", "概述", "概要"],
        }
    }

    /// What follows the label in a line; may be empty.
    fn value(self, text: &str) -> Option<&str> {
        let text = text.trim_start_matches(|c: char| {
            c.is_whitespace() || matches!(c, '*' | '_' | '`' | '>' | '|' | '#')
        });
        self.words().iter().find_map(|word| {
            let begins = text.get(..word.len()).is_some_and(|start| start.to_lowercase() == **word);
            let after = text.get(word.len()..).filter(|_| begins)?;
            let after = after.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`'));
            Some(clean(after.strip_prefix([':', '：', '|'])?))
        })
    }

    /// A heading says nothing but the label.
    fn is(self, heading: &str) -> bool {
        let bare = bare(heading).trim_end_matches([':', '：']).trim_end().to_lowercase();
        self.words().contains(&bare.as_str())
    }
}

/// Without what is drawn around it.
fn clean(value: &str) -> &str {
    value.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '|'))
}

/// A line without marks of emphasis, code or quotation around it.
pub(super) fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`' | '>' | '#' | '|'))
}

fn text_of<'a>(line: &Line<'a>) -> &'a str {
    match line.kind {
        Kind::Heading { text, .. } | Kind::Item { text, .. } => text,
        Kind::Blank | Kind::Text | Kind::Fenced => line.text.trim(),
    }
}

/// A line with any label of ours, or one in bold: what stood before it ends there.
fn begins_another(line: &Line<'_>) -> bool {
    let text = match line.kind {
        Kind::Heading { .. } => return true,
        Kind::Text => line.text.trim(),
        Kind::Item { .. } | Kind::Blank | Kind::Fenced => return false,
    };
    let bold = text.strip_prefix("**").and_then(|rest| rest.split_once("**"));
    let bold = bold.is_some_and(|(name, after)| {
        name.ends_with([':', '：']) || after.trim_start().starts_with([':', '：'])
    });
    let known = [Label::Feature, Label::Commit, Label::Changes, Label::Summary];
    bold || known.iter().any(|label| label.value(text).is_some())
}

/// What stands behind a label, or below it: each place where it says something, in order.
pub(super) fn values(lines: &[Line<'_>], label: Label) -> Vec<String> {
    let mut values = Vec::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.kind != Kind::Fenced) {
        let text = text_of(line);
        let own = match line.kind {
            Kind::Heading { .. } if label.is(text) => Some(""),
            _ => label.value(text),
        };
        let below = || {
            let next = lines[at + 1..].iter().find(|line| line.kind != Kind::Blank && !is_fence(line));
            next.filter(|next| !begins_another(next)).map(text_of)
        };
        let value = match own {
            None => continue,
            Some("") => below(),
            Some(value) => Some(value),
        };
        values.extend(value.map(clean).filter(|value| !value.is_empty()).map(str::to_owned));
    }
    values
}

/// A label, and what stands below it up to the next one.
#[derive(Debug)]
pub(super) struct Part<'l, 'a> {
    own: &'a str,
    lines: &'l [Line<'a>],
}

/// The first part with this label.
pub(super) fn part<'l, 'a>(lines: &'l [Line<'a>], label: Label) -> Option<Part<'l, 'a>> {
    let found =
        lines.iter().enumerate().filter(|(_, line)| line.kind != Kind::Fenced).find_map(|(at, line)| {
            let text = text_of(line);
            match line.kind {
                Kind::Heading { .. } if label.is(text) => Some((at, "")),
                _ => label.value(text).map(|own| (at, own)),
            }
        });
    let (at, own) = found?;
    let below = &lines[at + 1..];
    let end = below.iter().position(begins_another).unwrap_or(below.len());
    Some(Part { own, lines: &below[..end] })
}

/// The first or last line of a code block.
pub(super) fn is_fence(line: &Line<'_>) -> bool {
    let text = line.text.trim();
    line.kind == Kind::Fenced && (text.starts_with("```") || text.starts_with("~~~"))
}

impl<'a> Part<'_, 'a> {
    /// What is said, a line each, without list marks.
    pub(super) fn lines(&self) -> impl Iterator<Item = &'a str> {
        let said = self.lines.iter().filter(|line| line.kind != Kind::Blank && !is_fence(line));
        std::iter::once(self.own).chain(said.map(text_of)).filter(|text| !text.is_empty())
    }

    /// The items of its list with what belongs to each; without a list, its lines.
    pub(super) fn items(&self) -> Vec<String> {
        let listed = self.lines.iter().any(|line| matches!(line.kind, Kind::Item { .. }));
        if !listed {
            return self.lines().map(str::to_owned).collect();
        }
        let mut items: Vec<String> = Vec::new();
        items.extend(Some(self.own).filter(|own| !own.is_empty()).map(str::to_owned));
        let mut within = false;
        for line in self.lines {
            match (line.kind, items.last_mut()) {
                (Kind::Blank, _) => {}
                (Kind::Item { indent, text }, _) if !within || indent <= 1 => {
                    items.push(text.to_owned());
                    within = true;
                }
                (_, Some(item)) if within => {
                    item.push(' ');
                    item.push_str(line.text.trim());
                }
                (_, _) => {}
            }
        }
        items
    }

    /// All of it, as it stands.
    pub(super) fn text(&self) -> String {
        let below = self.lines.iter().map(|line| line.text.trim_end());
        let all: Vec<&str> = std::iter::once(self.own).chain(below).collect();
        all.join("\n").trim().to_owned()
    }
}
