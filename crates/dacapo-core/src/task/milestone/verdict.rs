//! What an Acceptor replies with: `ACCEPTED`, or `REJECTED: reason` with its findings (formats.md).

use super::definition::{criterion_id, leading_id};
use super::lines::{Kind, Lines};
use super::settings::shown;
use crate::context::cut;

/// So much of a reason is kept.
const REASON_BYTES: usize = 8 << 10;
/// So many findings are taken from one reply.
const MOST_FINDINGS: usize = 20;
/// So much of each is kept.
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
        findings: Vec<Found>,
    },
}

/// A finding as the Acceptor writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The number of one that has been raised before: `[R3]`.
    pub id: Option<u32>,
    /// What it is.
    pub text: String,
}

/// What a verdict is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    /// One feature.
    Feature,
    /// The whole milestone: a line for each of so many criteria follows the verdict.
    Milestone {
        /// How many.
        criteria: usize,
    },
}

impl Verdict {
    /// Reads a reply. The error is a complaint that can be sent back as it is.
    pub fn parse(reply: &str, on: On) -> Result<Self, String> {
        let start = reply.find(|c: char| !c.is_whitespace()).unwrap_or(reply.len());
        let (first, rest) = reply[start..].split_once('\n').unwrap_or((&reply[start..], ""));
        let first = first.trim_end();
        let accepted = first == "ACCEPTED";
        if !accepted && !first.starts_with("REJECTED:") {
            return Err(format!(
                "the first line must be 'ACCEPTED', or begin with 'REJECTED: ' and the reason; it is '{}'",
                shown(first)
            ));
        }
        let own = first.strip_prefix("REJECTED:").unwrap_or_default().trim();
        let reason = cut(format!("{own}\n{}", rest.trim_end()).trim(), REASON_BYTES);
        if !accepted && reason.is_empty() {
            return Err("'REJECTED:' needs a reason: what is wrong, and what would be right".to_owned());
        }
        let (criteria, mut findings) = listed(rest);
        if let On::Milestone { criteria: wanted } = on {
            judged(&criteria, wanted, accepted)?;
        }
        if accepted {
            return Ok(Self::Accepted { reason });
        }
        findings.truncate(MOST_FINDINGS);
        // Of a feature nobody asked for them: there they only stand in for what is not said otherwise.
        if findings.is_empty() || matches!(on, On::Milestone { .. }) {
            let unmet = criteria.iter().filter(|judged| judged.clear && !judged.met);
            findings.extend(
                unmet.map(|judged| Found { id: named(&judged.line), text: cut(&judged.line, FINDING_BYTES) }),
            );
        }
        if findings.is_empty() {
            let text = if own.is_empty() { reason.lines().next().unwrap_or_default() } else { own };
            findings = vec![Found { id: None, text: cut(text, FINDING_BYTES) }];
        }
        // Of the whole milestone there is a line for each criterion, and there are not more.
        let most = if let On::Milestone { criteria } = on { MOST_FINDINGS + criteria } else { MOST_FINDINGS };
        findings.truncate(most);
        Ok(Self::Rejected { reason, findings })
    }
}

/// A line about one criterion.
struct Judged {
    number: usize,
    met: bool,
    clear: bool,
    line: String,
}

/// `C-2: met …`, `- C-2: not met …`; every other item of a list is a finding.
fn listed(rest: &str) -> (Vec<Judged>, Vec<Found>) {
    let (mut criteria, mut findings): (Vec<Judged>, Vec<Found>) = (Vec::new(), Vec::new());
    let mut in_finding = false;
    for line in Lines::lenient(rest) {
        let text = match line.kind {
            Kind::Item { text, .. } => text,
            _ => line.text.trim(),
        };
        if let Some((number, words)) = leading_id("C-", text).filter(|_| line.kind != Kind::Fenced) {
            let words = words.trim_start_matches(['*', '_', '`']).to_lowercase();
            let not =
                ["not met", "unmet"].iter().any(|no| says(&words, no)) || words.starts_with(['✗', '❌']);
            let met = says(&words, "met") || words.starts_with(['✓', '✅']);
            criteria.push(Judged { number, met: met && !not, clear: met || not, line: text.to_owned() });
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

/// The text begins with this word, and the word ends there: `metrics` and `met-ish` are others.
fn says(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|after| {
        let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        !after.starts_with(letter) && !after.strip_prefix('-').is_some_and(|more| more.starts_with(letter))
    })
}

fn found(text: &str) -> Found {
    let bare = text.trim_start_matches("**");
    let named = leading_id("R", bare).filter(|_| bare.starts_with("[R"));
    match named.and_then(|(number, rest)| Some((u32::try_from(number).ok()?, rest))) {
        Some((id, rest)) => Found { id: Some(id), text: rest.to_owned() },
        None => Found { id: None, text: text.to_owned() },
    }
}

/// The first finding that a line about a criterion names: `not met: [R3]`.
fn named(line: &str) -> Option<u32> {
    line.match_indices("[R").find_map(|(at, _)| {
        let (number, _) = line[at + 2..].split_once(']')?;
        number.parse().ok()
    })
}

/// Each criterion has exactly one line that says whether it is met, and the verdict does not contradict them.
fn judged(lines: &[Judged], wanted: usize, accepted: bool) -> Result<(), String> {
    let mut wrong = Vec::new();
    for at in 0..wanted {
        let id = criterion_id(at);
        let mut mine = lines.iter().filter(|judged| judged.number == at + 1);
        match (mine.next(), mine.next()) {
            (None, _) => wrong.push(format!("there is no line for {id}")),
            (Some(_), Some(_)) => wrong.push(format!("there are several lines for {id}")),
            (Some(judged), None) if !judged.clear => {
                wrong.push(format!("the line for {id} says neither 'met' nor 'not met'"));
            }
            (Some(judged), None) if accepted && !judged.met => {
                wrong.push(format!("{id} is not met, but the verdict is ACCEPTED"));
            }
            (Some(_), None) => {}
        }
    }
    for judged in lines.iter().filter(|judged| judged.number == 0 || judged.number > wanted) {
        wrong.push(format!("there is no criterion C-{}", judged.number));
    }
    if wrong.is_empty() {
        return Ok(());
    }
    wrong.truncate(MOST_FINDINGS);
    Err(format!(
        "after the verdict write one line for each criterion, 'C-1: met' or 'C-1: not met: why': {}",
        wrong.join("; ")
    ))
}
