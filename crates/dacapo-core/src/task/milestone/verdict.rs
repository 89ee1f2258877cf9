//! What an Acceptor replies with: `ACCEPTED`, or `REJECTED: reason` with its findings (formats.md).
//!
//! The verdict is the first line that says anything, in English or Chinese, however it is decorated. Lines for criteria are
//! read wherever they stand.

use super::definition::{criterion_id, leading_id};
use super::labels::bare;
use super::lines::{Kind, Lines};
use super::settings::shown;
use crate::context::cut;

/// How much of a reason is kept.
const REASON_BYTES: usize = 8 << 10;
/// How many findings are taken from one reply.
const MOST_FINDINGS: usize = 20;
/// How much of each is kept.
const FINDING_BYTES: usize = 500;

/// An Acceptor's verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// `ACCEPTED`, and what follows it.
    Accepted {
        /// May be empty.
        reason: String,
    },
    /// `REJECTED: …`, and all that follows.
    Rejected {
        /// Never empty.
        reason: String,
        /// Its list items, and of the whole milestone all criteria that are not met; where it has none, the reason itself.
        findings: Vec<RaisedFinding>,
    },
}

/// A finding as the Acceptor writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RaisedFinding {
    /// The number of one that has been raised before: `[R3]`.
    pub id: Option<u32>,
    pub text: String,
}

/// What a verdict is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    Feature,
    /// The whole milestone: the verdict needs a line for each criterion.
    Milestone {
        criteria: usize,
    },
}

/// What a reply says of the criteria. Of a feature nobody asks for them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Criteria {
    /// Those of which it is not said whether they are met: `C-2`.
    pub missing: Vec<String>,
    /// Those that are not met, each with what is found.
    pub unmet: Vec<(String, RaisedFinding)>,
}

impl Verdict {
    /// Reads a reply. The error is a complaint that can be sent back as it is.
    pub fn parse(reply: &str, on: On) -> Result<(Self, Criteria), String> {
        let mut lines = reply.lines().map(str::trim).enumerate();
        // Some put all of it into a code block.
        let says =
            |line: &str| !bare(line).is_empty() && !line.starts_with("```") && !line.starts_with("~~~");
        let (at, first) = lines.find(|(_, line)| says(line)).unwrap_or_default();
        let Some((word, own)) = Word::of(first) else {
            return Err(format!(
                "the first line must be 'ACCEPTED', or begin with 'REJECTED: ' and the reason; it is '{}'",
                shown(first)
            ));
        };
        let rest = reply.lines().skip(at + 1).collect::<Vec<_>>().join("\n");
        let reason = cut(format!("{own}\n{}", rest.trim_end()).trim(), REASON_BYTES);
        let (judged, findings) = listed(own, &rest);
        let criteria = Criteria::of(&judged, on);
        match word {
            Word::Accepted => Ok((Self::Accepted { reason }, criteria)),
            Word::Rejected if reason.is_empty() => {
                Err("'REJECTED:' needs a reason: what is wrong, and what would be right".to_owned())
            }
            Word::Rejected => {
                let findings = raised(findings, &judged, on);
                let findings = if findings.is_empty() {
                    let text = if own.is_empty() { reason.lines().next().unwrap_or_default() } else { own };
                    vec![RaisedFinding { id: None, text: cut(text, FINDING_BYTES) }]
                } else {
                    findings
                };
                Ok((Self::Rejected { reason, findings }, criteria))
            }
        }
    }

    /// What is said of the criteria in a reply that need not have a verdict: it was asked for these alone.
    pub fn criteria(reply: &str, on: On) -> Criteria {
        Criteria::of(&listed("", reply).0, on)
    }
}

/// What a verdict gives as its reason, taken apart for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reason {
    /// All but the lines about criteria; may be empty.
    pub words: String,
    /// The criteria that it says are met: `C-1`.
    pub met: Vec<String>,
    /// Those that it says are not met, with the line that does.
    pub unmet: Vec<(String, String)>,
}

impl Reason {
    /// Takes apart what follows the word of a verdict.
    pub fn of(text: &str) -> Self {
        let (mut reason, mut words) = (Self::default(), Vec::new());
        for line in Lines::lenient(text) {
            let item = match line.kind {
                Kind::Item { text, .. } => text,
                Kind::Blank | Kind::Heading { .. } | Kind::Text | Kind::Fenced => line.text.trim(),
            };
            let judged = Judged::of(item).filter(|_| line.kind != Kind::Fenced);
            match judged.and_then(|judged| Some((format!("C-{}", judged.number), judged.met?, judged.line))) {
                Some((id, true, _)) if !reason.met.contains(&id) => reason.met.push(id),
                Some((id, false, line)) if !reason.says_unmet(&id) => reason.unmet.push((id, line)),
                Some(_) => {}
                None => words.push(line.text),
            }
        }
        // Of two lines about one criterion the no counts.
        reason.met = reason.met.iter().filter(|id| !reason.says_unmet(id)).cloned().collect();
        reason.words = words.join("\n").trim().to_owned();
        reason
    }

    /// Why something was rejected: where nothing else is said, because of what is not met.
    pub fn of_rejection(text: &str) -> String {
        let Self { words, unmet, .. } = Self::of(text);
        match (words.is_empty(), unmet.is_empty()) {
            (false, _) => words,
            (true, false) => unmet.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n"),
            (true, true) => text.trim().to_owned(),
        }
    }

    fn says_unmet(&self, id: &str) -> bool {
        self.unmet.iter().any(|(unmet, _)| unmet == id)
    }
}

/// List items, then what is not met. Of a feature nobody asked for criteria: there they only stand in for what is not said
/// otherwise.
fn raised(mut findings: Vec<RaisedFinding>, judged: &[Judged], on: On) -> Vec<RaisedFinding> {
    findings.truncate(MOST_FINDINGS);
    if findings.is_empty() || matches!(on, On::Milestone { .. }) {
        findings.extend(judged.iter().filter(|judged| judged.met == Some(false)).map(Judged::found));
    }
    // Of the whole milestone there is a line for each criterion, and there are not more.
    let most = if let On::Milestone { criteria } = on { MOST_FINDINGS + criteria } else { MOST_FINDINGS };
    findings.truncate(most);
    findings
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Accepted,
    Rejected,
}

impl Word {
    /// The word that a line begins with, and what follows it. A yes stands alone, or before a colon or a dash: `ACCEPTED with
    /// one exception` is none. A no may go on as it likes.
    fn of(line: &str) -> Option<(Word, &str)> {
        let line = line.trim_start_matches(|c: char| !c.is_alphanumeric() && !is_emphasis(c)).trim_end();
        let text = line.trim_start_matches(|c: char| !c.is_alphanumeric());
        let marks = &line[..line.len() - text.len()];
        // `**REJECTED: …**`: the marks around all of it are no part of the reason.
        let inside = text.strip_suffix(marks.trim()).filter(|inside| !inside.contains(marks.trim()));
        let text = inside.filter(|_| !marks.is_empty()).unwrap_or(text);
        let labels = ["verdict", "结论", "結論", "判定"];
        let labelled = labels.iter().find_map(|label| after(text, label)).and_then(|rest| {
            let value = rest.trim_start_matches(is_drawn).strip_prefix([':', '：'])?;
            Some(value.trim_start_matches(is_drawn))
        });
        let text = labelled.unwrap_or(text);
        let yes = ["accepted", "已接受", "接受", "验收通过", "驗收通過", "已通过", "已通過", "通过", "通過"];
        let no = [
            "rejected",
            "已拒绝",
            "已拒絕",
            "拒绝",
            "拒絕",
            "驳回",
            "駁回",
            "不通过",
            "不通過",
            "未通过",
            "未通過",
        ];
        let read = |words: &[&str]| words.iter().find_map(|word| after(text, word)).map(apart);
        if let Some((separated, rest)) = read(&yes) {
            return (separated || rest.is_empty()).then_some((Word::Accepted, rest));
        }
        let (separated, rest) = read(&no)?;
        let english = text.starts_with(|c: char| c.is_ascii());
        let runs_on = rest.starts_with(|c: char| c.is_alphanumeric()) && !separated && !english;
        (!runs_on).then_some((Word::Rejected, rest))
    }
}

fn is_emphasis(c: char) -> bool {
    matches!(c, '*' | '_' | '`')
}

fn is_drawn(c: char) -> bool {
    c.is_whitespace() || is_emphasis(c) || matches!(c, '✅' | '❌' | '✓' | '✗' | '\u{fe0f}')
}

/// What follows this word, which ends there.
fn after<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let begins = text.get(..word.len()).is_some_and(|start| start.to_lowercase() == word);
    let rest = text.get(word.len()..).filter(|_| begins)?;
    let latin = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!rest.starts_with(latin) || !word.ends_with(latin)).then_some(rest)
}

/// Whether something stands between a word and what follows it, and that, as it stands.
fn apart(rest: &str) -> (bool, &str) {
    let ends = |c: char| is_drawn(c) || matches!(c, '.' | '!' | '。' | '！');
    if rest.chars().all(ends) {
        return (false, "");
    }
    // `**REJECTED** — …` and `**REJECTED:** …`: marks that close before the reason begins.
    let closed = rest.trim_start_matches(is_drawn);
    match closed.strip_prefix([':', '：', '—', '–', '-', ',', '，']) {
        Some(after) => {
            let open = after.strip_prefix("**").or_else(|| after.strip_prefix("__")).unwrap_or(after);
            (true, open.trim_start_matches(['—', '-']).trim())
        }
        None => (false, closed.trim()),
    }
}

/// A line about one criterion.
struct Judged {
    number: usize,
    /// `None` if the line does not say.
    met: Option<bool>,
    line: String,
}

impl Judged {
    /// `- [x] C-1: …`, `C-2: met …`, `**C-2** 未满足：…`, `✅ C-3`, `| C-4 | met |`.
    fn of(text: &str) -> Option<Self> {
        let text = text.trim_start_matches(['|', ' ', '>']);
        let ticked = ["[x]", "[X]", "[✓]"].iter().find_map(|tick| Some((text.strip_prefix(tick)?, true)));
        let ticked = ticked.or_else(|| Some((text.strip_prefix("[ ]")?, false)));
        let marked = || mark(text).map(|met| (text.trim_start_matches(|c: char| !c.is_alphanumeric()), met));
        let (rest, before) = ticked.or_else(marked).map_or((text, None), |(rest, met)| (rest, Some(met)));
        let (number, words) = leading_id("C-", rest.trim_start())?;
        let line = text.trim_end_matches(['|', ' ']).to_owned();
        Some(Self { number, met: says(words).or(before), line })
    }

    fn found(&self) -> RaisedFinding {
        RaisedFinding { id: named(&self.line), text: cut(&self.line, FINDING_BYTES) }
    }
}

fn mark(text: &str) -> Option<bool> {
    if text.starts_with(['✓', '✔', '✅', '☑']) {
        return Some(true);
    }
    text.starts_with(['✗', '✘', '❌', '✖', '×']).then_some(false)
}

/// Whether these words say that a criterion is met, or that it is not.
fn says(words: &str) -> Option<bool> {
    let words = words
        .trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`' | '|' | ':' | '：'));
    let words = words.to_lowercase();
    let no = ["not met", "unmet", "not satisfied", "unsatisfied", "failed", "fail", "not fulfilled"];
    let yes = ["met", "satisfied", "fulfilled", "passed", "pass"];
    let chinese_no = [
        "未满足",
        "未滿足",
        "不满足",
        "不滿足",
        "没有满足",
        "沒有滿足",
        "未达成",
        "未達成",
        "不符合",
        "未通过",
        "未通過",
        "不通过",
        "不通過",
    ];
    let chinese_yes =
        ["已满足", "已滿足", "满足", "滿足", "已达成", "已達成", "达成", "達成", "符合", "通过", "通過"];
    let begins = |with: &[&str]| with.iter().any(|word| after_word(&words, word));
    if begins(&no) || chinese_no.iter().any(|word| words.starts_with(word)) {
        return Some(false);
    }
    if begins(&yes) || chinese_yes.iter().any(|word| words.starts_with(word)) {
        return Some(true);
    }
    mark(&words)
}

/// The text begins with this word, and the word ends there: `metrics` and `met-ish` are others.
fn after_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|after| {
        let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        !after.starts_with(letter) && !after.strip_prefix('-').is_some_and(|more| more.starts_with(letter))
    })
}

/// Lines about criteria; every other item of a list is a finding. `own`: what follows the verdict in its own line.
fn listed(own: &str, rest: &str) -> (Vec<Judged>, Vec<RaisedFinding>) {
    let mut criteria: Vec<Judged> = Judged::of(own).into_iter().collect();
    let mut findings: Vec<RaisedFinding> = Vec::new();
    let mut in_finding = false;
    for line in Lines::lenient(rest) {
        let text = match line.kind {
            Kind::Item { text, .. } => text,
            Kind::Blank | Kind::Heading { .. } | Kind::Text | Kind::Fenced => line.text.trim(),
        };
        if let Some(judged) = Judged::of(text).filter(|_| line.kind != Kind::Fenced) {
            criteria.push(judged);
            in_finding = false;
            continue;
        }
        match line.kind {
            Kind::Item { indent: 0 | 1, text } if !text.is_empty() => {
                findings.push(found(text));
                in_finding = true;
            }
            Kind::Item { .. } | Kind::Text | Kind::Fenced if in_finding => {
                if let Some(finding) =
                    findings.last_mut().filter(|finding| finding.text.len() < FINDING_BYTES)
                {
                    finding.text.push('\n');
                    finding.text.push_str(line.text.trim());
                }
            }
            Kind::Heading { .. } => in_finding = false,
            Kind::Item { .. } | Kind::Text | Kind::Fenced | Kind::Blank => {}
        }
    }
    for finding in &mut findings {
        finding.text = cut(finding.text.trim(), FINDING_BYTES);
    }
    (criteria, findings)
}

fn found(text: &str) -> RaisedFinding {
    let bare = text.trim_start_matches("**");
    let named = leading_id("R", bare).filter(|_| bare.starts_with("[R"));
    match named.and_then(|(number, rest)| Some((u32::try_from(number).ok()?, rest))) {
        Some((id, rest)) => RaisedFinding { id: Some(id), text: rest.to_owned() },
        None => RaisedFinding { id: None, text: text.to_owned() },
    }
}

/// The first finding that a line about a criterion names: `not met: [R3]`.
fn named(line: &str) -> Option<u32> {
    line.match_indices("[R").find_map(|(at, _)| {
        let (number, _) = line[at + 2..].split_once(']')?;
        number.parse().ok()
    })
}

impl Criteria {
    /// What is not met, as findings.
    pub(super) fn findings(&self) -> Vec<RaisedFinding> {
        self.unmet.iter().map(|(_, found)| found.clone()).collect()
    }

    /// What was not met before and is not taken back now still is not.
    pub(super) fn with_earlier(mut self, earlier: &Self) -> Self {
        let still = earlier.unmet.iter().filter(|(id, _)| self.missing.contains(id)).cloned();
        self.unmet.extend(still.collect::<Vec<_>>());
        self
    }

    /// What is sent back where lines are missing.
    pub(super) fn complaint(&self) -> String {
        let named =
            self.missing.iter().take(MOST_FINDINGS).map(String::as_str).collect::<Vec<_>>().join(", ");
        format!(
            "after the verdict write one line for each criterion, 'C-1: met' or 'C-1: not met: why': nothing is said of {named}"
        )
    }

    /// Of two lines about one criterion the no counts.
    fn of(judged: &[Judged], on: On) -> Self {
        let On::Milestone { criteria: wanted } = on else { return Self::default() };
        let mut criteria = Self::default();
        for at in 0..wanted {
            let mine = || judged.iter().filter(|judged| judged.number == at + 1);
            match mine().find(|judged| judged.met == Some(false)) {
                Some(unmet) => criteria.unmet.push((criterion_id(at), unmet.found())),
                None if mine().any(|judged| judged.met == Some(true)) => {}
                None => criteria.missing.push(criterion_id(at)),
            }
        }
        criteria
    }
}
