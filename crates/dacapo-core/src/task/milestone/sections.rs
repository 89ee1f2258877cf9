//! The sections of a milestone's file, by their headings: in English or Chinese, numbered and decorated as people do it (M1).

use super::definition::DefinitionError;
use super::flaw::Flaw;
use super::lines::{Kind, Line, Lines};
use super::settings;

/// The sections that mean something. All others are for the agents to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    Goal,
    Features,
    Criteria,
    Constraints,
}

impl Name {
    const ALL: [Name; 4] = [Name::Goal, Name::Features, Name::Criteria, Name::Constraints];

    /// As messages and our own files have it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Name::Goal => "Goal",
            Name::Features => "Features",
            Name::Criteria => "Acceptance Criteria",
            Name::Constraints => "Constraints",
        }
    }

    /// Every way to write it, in small letters.
    fn words(self) -> &'static [&'static str] {
        match self {
            Name::Goal => &["goal", "goals", "objective", "objectives", "目标", "目標", "目的"],
            Name::Features => &[
                "features",
                "feature",
                "feature list",
                "功能",
                "功能列表",
                "功能清单",
                "功能清單",
                "功能点",
                "功能點",
                "功能需求",
                "特性",
            ],
            Name::Criteria => &[
                "acceptance criteria",
                "acceptance criterion",
                "acceptance",
                "criteria",
                "验收标准",
                "驗收標準",
                "验收准则",
                "驗收準則",
                "验收条件",
                "驗收條件",
                "验收",
                "驗收",
            ],
            Name::Constraints => &[
                "constraints",
                "constraint",
                "约束",
                "約束",
                "约束条件",
                "約束條件",
                "限制",
                "限制条件",
                "限制條件",
            ],
        }
    }

    /// The section that a heading names: `1. Features`, `**Goal**:`, `Features / 功能`, `一、目标`.
    fn of(heading: &str) -> Option<Name> {
        let apart = |c: char| matches!(c, '/' | '|' | '·' | '—' | '–' | '(' | '（' | '【' | '：' | ':');
        let named = |part: &str| {
            let plain = plain(part);
            Name::ALL.into_iter().find(|name| name.words().contains(&plain.as_str()))
        };
        heading.split(apart).flat_map(|part| part.split(" - ")).find_map(named)
    }
}

/// Words without what is drawn around them and without the number in front.
fn plain(text: &str) -> String {
    let bare = text.trim_matches(|c: char| !c.is_alphanumeric());
    let unnumbered = bare.trim_start_matches(|c: char| c.is_numeric() || !c.is_alphanumeric());
    let chinese = "一二三四五六七八九十";
    let counted = unnumbered.trim_start_matches(|c| chinese.contains(c));
    let unnumbered = counted.strip_prefix(['、', '.', '．']).unwrap_or(unnumbered).trim_start();
    unnumbered.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// `1. Login` is `Login`; `2FA` and `3.5 times` stay.
pub(super) fn unnumbered(text: &str) -> &str {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let after = rest.strip_prefix(['.', ')', '、', '．']).filter(|_| rest.len() < text.len());
    after.filter(|after| !after.starts_with(|c: char| c.is_ascii_digit())).map_or(text, str::trim_start)
}

/// A heading and what stands under it.
#[derive(Debug)]
pub(super) struct Section<'a> {
    pub(super) name: Name,
    pub(super) line: usize,
    pub(super) body: Vec<Line<'a>>,
}

/// A file, taken apart.
#[derive(Debug, Default)]
pub(super) struct Sections<'a> {
    pub(super) title: Option<String>,
    known: Vec<Section<'a>>,
    /// All that is in none of these, as it stands.
    others: Vec<Line<'a>>,
    /// Headings of other sections, for who looks for one that is missing.
    unknown: Vec<(usize, &'a str)>,
    last: usize,
}

impl<'a> Sections<'a> {
    /// Of a text, the first line of which has the number `from`.
    pub(super) fn of(body: &'a str, from: usize) -> Result<Self, DefinitionError> {
        let lines = Lines::of(body, from).collect::<Result<Vec<_>, _>>()?;
        let level = level(&lines);
        let last = (from + body.lines().count()).saturating_sub(1).max(1);
        let mut sections = Sections { last, ..Sections::default() };
        let mut open = false;
        for line in lines {
            let heading = match line.kind {
                Kind::Heading { level: its, text } if its <= level => Some((its, text)),
                Kind::Heading { .. } | Kind::Item { .. } | Kind::Text | Kind::Fenced | Kind::Blank => None,
            };
            let Some((its, text)) = heading else {
                match sections.known.last_mut().filter(|_| open) {
                    Some(section) => section.body.push(line),
                    None => sections.others.push(line),
                }
                continue;
            };
            let name = Name::of(text).filter(|_| its == level);
            open = name.is_some();
            match name {
                Some(name) => sections.begin(name, line.number)?,
                None if its == 1 && sections.title.is_none() && sections.known.is_empty() => {
                    sections.title = Some(text.to_owned());
                }
                None => {
                    sections.unknown.push((line.number, text));
                    sections.others.push(line);
                }
            }
        }
        Ok(sections)
    }

    fn begin(&mut self, name: Name, line: usize) -> Result<(), DefinitionError> {
        if let Some(first) = self.known.iter().find(|section| section.name == name) {
            let flaw = Flaw::SectionTwice { section: name.as_str(), first: first.line };
            return Err(DefinitionError::at(line, flaw));
        }
        self.known.push(Section { name, line, body: Vec::new() });
        Ok(())
    }

    /// The section, where it is there.
    pub(super) fn find(&self, name: Name) -> Option<&Section<'a>> {
        self.known.iter().find(|section| section.name == name)
    }

    /// The section, without which there is no milestone.
    pub(super) fn need(&self, name: Name) -> Result<&Section<'a>, DefinitionError> {
        self.find(name).ok_or_else(|| {
            let near = |text: &str| settings::is_near(&plain(text), &name.as_str().to_lowercase());
            match self.unknown.iter().find(|(_, text)| near(text)) {
                Some((line, text)) => {
                    let (written, meant) = (settings::shown(text), name.as_str());
                    DefinitionError::at(*line, Flaw::UnknownSection { written, meant })
                }
                None => DefinitionError::at(self.last, Flaw::MissingSection { section: name.as_str() }),
            }
        })
    }

    /// What is in no section that is known, for the agents to read.
    pub(super) fn others(&self) -> String {
        prose(&self.others)
    }
}

/// The level that sections have: that of the features, which most people write as the second.
fn level(lines: &[Line<'_>]) -> usize {
    let at = |wanted: usize| {
        lines.iter().any(|line| {
            matches!(line.kind, Kind::Heading { level, text } if level == wanted && Name::of(text) == Some(Name::Features))
        })
    };
    [2, 1, 3].into_iter().find(|level| at(*level)).unwrap_or(2)
}

/// Text as it stands, without blank lines around it and at the ends of lines.
pub(super) fn prose(body: &[Line<'_>]) -> String {
    let lines: Vec<&str> = body.iter().map(|line| line.text.trim_end()).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}
