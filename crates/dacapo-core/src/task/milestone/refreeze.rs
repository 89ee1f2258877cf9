//! What a milestone is held to, and how a person changes it while it is under way (M11, `--refreeze`).
//!
//! The spec never changes, so the new text comes with a command and is in the journal from then on. It counts as soon as
//! nobody is at work: a report that was taken by then is asked for anew, since it was made for other criteria. Features whose
//! words and acceptance are the same stay accepted, wherever they stand now; findings stay as they are, open ones until the
//! Acceptor does not name them any more.

use std::sync::Arc;

use super::definition::{Definition, DefinitionError, criterion_id, feature_id};
use super::state::{Last, NewDefinition};
use super::{Details, Milestone, Phase, Work};
use crate::context::cut_chars;
use crate::event::{Command, Event, Outcome};
use crate::task::milestone::MilestoneStep;

/// How many differences are told; the rest is counted.
const MOST_CHANGES: usize = 40;
/// How much of the words of each is shown.
const SHOWN: usize = 160;

/// What a milestone is held to by now: the fold of its journal, as far as that is concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frozen {
    /// The text of its file.
    pub definition: String,
    /// Its hash ([`Definition::frozen`]).
    pub frozen: String,
}

impl Frozen {
    /// The definition as the task began with it.
    pub fn of(details: &Details) -> Self {
        Self { definition: details.definition.clone(), frozen: details.frozen.clone() }
    }

    /// Takes in a line of the journal. What a person has asked for counts from then on, though the machine may not have
    /// come to it yet.
    pub fn take_in(&mut self, event: &Event) {
        match event {
            Event::Own(step) => {
                if let Some(MilestoneStep::Refrozen { definition, frozen, .. }) = MilestoneStep::read(step) {
                    *self = Self { definition, frozen };
                }
            }
            Event::CommandReceived(received) => {
                if let Command::Refreeze { definition } = &received.command
                    && let Ok(read) = Definition::parse(definition)
                {
                    *self = Self { definition: definition.clone(), frozen: read.frozen() };
                }
            }
            _ => {}
        }
    }

    /// What is different in the text of a file, a line each, as people and agents are told. None: it is held to the same.
    pub fn differences(&self, text: &str) -> Result<Vec<String>, DefinitionError> {
        let new = Definition::parse(text)?;
        if new.frozen() == self.frozen {
            return Ok(Vec::new());
        }
        // What is frozen was read once; a text that a later version cannot read is different as a whole.
        Ok(match Definition::parse(&self.definition) {
            Ok(old) => differences(&old, &new),
            Err(_) => vec!["all of it".to_owned()],
        })
    }
}

impl Milestone {
    /// Whoever sent it has read it before; what cannot be read changes nothing.
    pub(super) fn refreeze_wanted(&mut self, text: &str) {
        let Ok(definition) = Definition::parse(text) else { return };
        let same = text == self.details.definition;
        self.refreeze =
            (!same).then(|| NewDefinition { text: text.to_owned(), definition: Arc::new(definition) });
    }

    /// Nobody is at work, and the task is not on its way to an end that somebody wanted.
    pub(super) fn refreezes(&self) -> bool {
        let wanted = self.refreeze.is_some() && self.life.result.is_none();
        let idle = match self.phase {
            // Where lines of the record are missing there may be a round already: it goes on first.
            Phase::Preparing => !self.life.workspace.ready && self.round.is_none(),
            Phase::Between | Phase::Asking(_) => true,
            Phase::Turn { .. }
            | Phase::Reported { .. }
            | Phase::Cleaned
            | Phase::Checking { .. }
            | Phase::Judged { .. }
            | Phase::Overdue { .. }
            | Phase::Waits { .. }
            | Phase::Settling => false,
        };
        let goes_on = self
            .life
            .verdict
            .is_none_or(|verdict| matches!(verdict.outcome, Outcome::Paused | Outcome::Completed));
        wanted && idle && goes_on
    }

    pub(super) fn refreeze(&self) -> Option<Event> {
        let NewDefinition { text, definition } = self.refreeze.as_ref()?;
        Some(Event::from(MilestoneStep::Refrozen {
            definition: text.clone(),
            frozen: definition.frozen(),
            changes: differences(&self.definition, definition),
        }))
    }

    pub(super) fn refrozen(&mut self, text: &str, frozen: &str, changes: &[String]) {
        self.refreeze = None;
        let Ok(definition) = Definition::parse(text) else { return };
        let before = same(&self.definition.features, &definition.features);
        let was_done = |at: &usize| self.done.get(*at) == Some(&true);
        self.done = before.iter().map(|was| was.as_ref().is_some_and(was_done)).collect();
        if let Some(Last { work: Some(Work::Feature { at, .. }), .. }) = &mut self.last {
            *at = at.and_then(|old| before.iter().position(|was| *was == Some(old)));
        }
        self.findings.renumbered(|old| before.iter().position(|was| *was == Some(old)));
        let details = Arc::make_mut(&mut self.details);
        details.definition = text.to_owned();
        details.frozen = frozen.to_owned();
        self.definition = Arc::new(definition);
        if changes.is_empty() {
            return;
        }
        for state in [&mut self.developer, &mut self.acceptor] {
            state.notes.push(format!(
                "A person has changed what the milestone is held to. From now on only this counts; ids are those of the new text:\n{}",
                changes.join("\n")
            ));
        }
        self.final_rejections = None;
        if self.life.is_completed() || self.in_review() {
            // It was accepted as a whole by other criteria.
            self.life.take_back_verdict();
            self.question = None;
            self.life.renew_allowance();
        }
        // Also where the Developer only cleans up before that report is judged.
        if self.round.as_ref().is_some_and(|round| round.work.is_some()) {
            self.report_anew(
                "what the milestone is held to has changed since your report: see that your work fits, and report again",
            );
        }
        self.settle_between();
    }
}

/// For each new item the index of the old item with the same words. If several match, the one at the same index wins.
fn same<T: PartialEq>(old: &[T], new: &[T]) -> Vec<Option<usize>> {
    let mut taken = vec![false; old.len()];
    let mut places: Vec<Option<usize>> = vec![None; new.len()];
    for (at, item) in new.iter().enumerate() {
        if old.get(at) == Some(item) {
            places[at] = Some(at);
            taken[at] = true;
        }
    }
    for (at, item) in new.iter().enumerate().filter(|(at, _)| old.get(*at) != Some(&new[*at])) {
        places[at] = (0..old.len()).find(|place| !taken[*place] && old[*place] == *item);
        if let Some(place) = places[at] {
            taken[place] = true;
        }
    }
    places
}

/// What is different, a line each.
fn differences(old: &Definition, new: &Definition) -> Vec<String> {
    let mut lines = Vec::new();
    if old.goal != new.goal {
        lines.push(format!("- the goal: {}", brief(&new.goal)));
    }
    let features = same(&old.features, &new.features);
    let accepted_otherwise = |at: usize, old_at: usize| {
        !features.contains(&Some(old_at)) && old.features[old_at].text == new.features[at].text
    };
    let mut known: Vec<usize> = features.iter().flatten().copied().collect();
    for (at, place) in features.iter().enumerate() {
        let (id, feature) = (feature_id(at), &new.features[at]);
        match place {
            Some(place) if *place == at => {}
            Some(place) => {
                lines.push(format!("- {} is {id} now: {}", feature_id(*place), brief(&feature.text)));
            }
            None => match (0..old.features.len())
                .find(|place| !known.contains(place) && accepted_otherwise(at, *place))
            {
                Some(place) => {
                    known.push(place);
                    let by = feature.accept.as_deref().map_or_else(|| "nothing of its own".to_owned(), brief);
                    lines.push(format!(
                        "- {id}, {}, is accepted by something else: {by}",
                        brief(&feature.text)
                    ));
                }
                None => lines.push(format!("- {id} is new: {}", brief(&feature.text))),
            },
        }
    }
    for (place, feature) in old.features.iter().enumerate().filter(|(place, _)| !known.contains(place)) {
        lines.push(format!("- the old {} is gone: {}", feature_id(place), brief(&feature.text)));
    }
    let criteria = same(&old.criteria, &new.criteria);
    for (at, place) in criteria.iter().enumerate() {
        let (id, text) = (criterion_id(at), brief(&new.criteria[at]));
        match place {
            Some(place) if *place == at => {}
            Some(place) => lines.push(format!("- {} is {id} now: {text}", criterion_id(*place))),
            None => lines.push(format!("- {id} is new: {text}")),
        }
    }
    for (place, text) in
        old.criteria.iter().enumerate().filter(|(place, _)| !criteria.contains(&Some(*place)))
    {
        lines.push(format!("- the old {} is gone: {}", criterion_id(place), brief(text)));
    }
    if old.constraints != new.constraints {
        let text = if new.constraints.is_empty() {
            "there are none any more".to_owned()
        } else {
            brief(&new.constraints)
        };
        lines.push(format!("- the constraints: {text}"));
    }
    if old.others != new.others {
        lines.push("- other sections of its file".to_owned());
    }
    let more = lines.len().saturating_sub(MOST_CHANGES);
    if more > 0 {
        lines.truncate(MOST_CHANGES);
        lines.push(format!("- and {more} more"));
    }
    lines
}

fn brief(text: &str) -> String {
    cut_chars(&text.split_whitespace().collect::<Vec<_>>().join(" "), SHOWN)
}
