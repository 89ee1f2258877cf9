//! What is said of a milestone, for people and for programs.

use dacapo_app::messages::{Messages, Text, command, say};
use dacapo_app::present::milestone::json::{
    CriterionObject, DefinitionObject, FeatureCount, FeatureObject, FindingLists, FindingObject,
    MilestoneEntry, MilestoneObject, MilestoneObjectInFull, MilestonePage, RoundObject, StatementObject,
};
use dacapo_app::present::next::Next;
use dacapo_core::event::{Choice, NeedKind};
use dacapo_core::task::milestone::{Definition, Finding, criterion_id, feature_id};
use dacapo_core::view;

use crate::milestones::{Entry, Known, MilestoneTask, Round, Speaker, Statement, Status, Story};
use crate::output::{json, words};

/// Its status, and what its task adds to it.
pub(super) fn status(entry: &Entry, messages: Messages) -> String {
    let status = entry.status().in_words(messages);
    let more = entry.task().and_then(|told| match told.view.status {
        view::Status::Interrupted => Some(messages.page_process_gone()),
        view::Status::Queued => Some(messages.page_queued()),
        view::Status::Waiting => Some(messages.page_waits_for_limit()),
        view::Status::Failed => Some(messages.page_failed()),
        view::Status::Cancelled if entry.status() == Status::PAUSED => Some(messages.page_was_ended()),
        view::Status::Stopped => Some(messages.page_at_limit()),
        view::Status::Running | view::Status::Paused | view::Status::Completed | view::Status::Cancelled => {
            None
        }
    });
    match more {
        Some(more) => messages.page_status_and(&status, &more),
        None => status,
    }
}

/// How many features are done, where that is known, and how many there are.
pub(super) fn features(entry: &Entry) -> Option<(Option<usize>, usize)> {
    let total = entry.definition()?.features.len();
    let done = match &entry.known {
        Known::Task(told) => Some(told.milestone.features_done()),
        Known::Mirrored(_) if entry.status() == Status::COMPLETED => Some(total),
        Known::Nothing | Known::OtherTask => Some(0),
        Known::Mirrored(_) | Known::Unreadable(_) => None,
    };
    Some((done, total))
}

/// The round at work or the newest one, and how many there may be.
pub(super) fn rounds(entry: &Entry) -> Option<(u32, Option<u32>)> {
    match &entry.known {
        Known::Task(told) => {
            let progress = told.progress();
            let at = progress.round.unwrap_or(progress.rounds);
            let over = matches!(entry.status(), Status::COMPLETED | Status::ABANDONED);
            (at > 0).then_some((at, (!over).then_some(progress.max_rounds)))
        }
        Known::Mirrored(mirror) => Some((mirror.rounds.unwrap_or(mirror.iteration_count), None)),
        Known::Nothing | Known::Unreadable(_) | Known::OtherTask => None,
    }
}

/// Developer and Acceptor, where they are known.
pub(super) fn agents(entry: &Entry) -> (Option<String>, Option<String>) {
    match (entry.task(), entry.definition()) {
        (Some(told), _) => {
            let (developer, acceptor) = told.agents();
            (Some(developer), Some(acceptor))
        }
        (None, Some(definition)) => {
            (definition.settings.developer.clone(), definition.settings.acceptor.clone())
        }
        (None, None) => (None, None),
    }
}

/// What it cost so far, where that is known.
pub(super) fn cost(entry: &Entry) -> Option<f64> {
    match &entry.known {
        Known::Task(told) => told.view.cost_usd,
        Known::Mirrored(mirror) => mirror.cost_usd.filter(|cost| *cost > 0.0),
        Known::Nothing | Known::Unreadable(_) | Known::OtherTask => None,
    }
}

fn tokens(entry: &Entry) -> Option<u64> {
    match &entry.known {
        Known::Task(told) => Some(told.view.tokens.input + told.view.tokens.output),
        Known::Mirrored(mirror) => Some(mirror.tokens_used),
        Known::Nothing | Known::Unreadable(_) | Known::OtherTask => None,
    }
}

/// An element of `milestone list --json`.
pub(super) fn brief(entry: &Entry) -> MilestoneObject {
    MilestoneObject::Milestone(Box::new(MilestoneObjectInFull { entry: facts(entry), page: None }))
}

fn facts(entry: &Entry) -> MilestoneEntry {
    let definition = entry.definition();
    let (done, total) = features(entry).map_or((None, None), |(done, total)| (done, Some(total)));
    let (developer, acceptor) = agents(entry);
    let progress = entry.task().map(MilestoneTask::progress);
    let (rounds, accepted) = match (&progress, &entry.known) {
        (Some(progress), _) => (Some(progress.rounds), Some(progress.accepted)),
        (None, Known::Mirrored(mirror)) => (mirror.rounds, Some(mirror.iteration_count)),
        (None, _) => (None, None),
    };
    let branch = entry.task().and_then(|told| told.view.branch.as_deref());
    MilestoneEntry {
        id: entry.name.clone(),
        status: entry.status().as_str().to_owned(),
        title: definition.and_then(|definition| definition.title.clone()),
        path: entry.written.as_ref().map(|written| written.path.to_string_lossy().into_owned()),
        created_at: definition.and_then(|definition| definition.settings.created),
        auto_start: definition.map(|definition| definition.settings.auto_start),
        requires_human_review: definition.map(|definition| definition.settings.requires_human_review),
        features: FeatureCount { done, total },
        round: progress.and_then(|progress| progress.round),
        rounds,
        max_rounds: progress.map(|progress| progress.max_rounds),
        iteration_count: accepted,
        consecutive_rejections: progress.map(|progress| progress.rejections),
        phase: progress.and_then(|progress| progress.phase),
        developer,
        acceptor,
        tokens_used: tokens(entry),
        cost_usd: cost(entry),
        branch: branch.map(|branch| words::branch(branch).to_owned()),
        task_status: entry.task().map(|told| told.view.status),
        problems: entry.problems().iter().map(|problem| problem.english().to_owned()).collect(),
    }
}

/// All of `milestone show --json`.
pub(super) fn whole(entry: &Entry, story: &Story, next: &[(Text, Text)]) -> MilestoneObject {
    let definition = entry.definition();
    let done = |at: usize| Some(entry.task()?.milestone.features.get(at)?.done);
    let findings = entry.task().map(MilestoneTask::progress).map(|progress| FindingLists {
        open: progress.findings.open().iter().map(finding_object).collect(),
        settled: progress.findings.settled().iter().map(finding_object).collect(),
    });
    let needs = entry.task().and_then(|told| told.view.needs.as_ref());
    let page = MilestonePage {
        definition: definition.map(|definition| definition_object(definition, done)),
        frozen: definition.map(Definition::frozen),
        findings,
        needs: needs.map(|needs| json::needs(needs, &entry.name)),
        said_before: story.before.iter().map(statement).collect(),
        history: story.rounds.iter().map(round_object).collect(),
        next: next
            .iter()
            .map(|(command, what)| Next::new(command.english(), what.english().to_owned()))
            .collect(),
    };
    MilestoneObject::Milestone(Box::new(MilestoneObjectInFull { entry: facts(entry), page: Some(page) }))
}

fn round_object(round: &Round) -> RoundObject {
    RoundObject {
        seen: round.seen.clone(),
        said: round.said.iter().map(statement).collect(),
        duration_seconds: round.duration_ms.map(|took| took as f64 / 1000.0),
        cost_usd: round.cost_usd,
    }
}

fn finding_object(finding: &Finding) -> FindingObject {
    FindingObject { id: format!("R{}", finding.id), text: finding.text.clone() }
}

fn statement(said: &Statement) -> StatementObject {
    StatementObject { who: said.who.as_str().to_owned(), turn: said.turn, text: said.text.clone() }
}

fn definition_object(definition: &Definition, done: impl Fn(usize) -> Option<bool>) -> DefinitionObject {
    let features = definition.features.iter().enumerate().map(|(at, feature)| FeatureObject {
        id: feature_id(at),
        text: feature.text.clone(),
        accept: feature.accept.clone(),
        done: done(at),
    });
    let criteria = definition.criteria.iter().enumerate();
    let criteria = criteria.map(|(at, text)| CriterionObject { id: criterion_id(at), text: text.clone() });
    DefinitionObject {
        goal: definition.goal.clone(),
        features: features.collect(),
        criteria: criteria.collect(),
        constraints: definition.constraints.clone(),
        others: definition.others.clone(),
    }
}

/// What a command is for.
type Words = fn(Messages) -> String;

/// What a person can do now: commands as they are typed, and what each is for.
pub(super) fn next(entry: &Entry) -> Vec<(Text, Text)> {
    let id = &entry.name;
    let mut all: Vec<(Text, Text)> = Vec::new();
    if let Some(written) = entry.written.as_ref().filter(|written| written.read.is_err()) {
        let edit = format!("$EDITOR {}", written.path.display());
        all.push((edit.into(), say(Messages::page_do_edit)));
    }
    let mut add = |words: String, what: Words| all.push((command(words), say(what)));
    let milestone = |word: &str| format!("milestone {word} {id}");
    let Some(told) = entry.task() else {
        match &entry.known {
            Known::Mirrored(_) if entry.status() != Status::COMPLETED => {
                add(format!("undo {id}"), Messages::page_do_undo);
            }
            Known::OtherTask => add(format!("drop {id}"), Messages::page_do_drop_other),
            Known::Nothing | Known::Mirrored(_) | Known::Unreadable(_) | Known::Task(_) => {}
        }
        if entry.status() == Status::Pending && entry.definition().is_some() {
            add(milestone("start"), Messages::page_do_start);
            add(format!("{} --spawn", milestone("start")), Messages::page_do_spawn);
        }
        return all;
    };
    match entry.status() {
        Status::IN_PROGRESS if told.is_interrupted() => {
            add(milestone("resume"), Messages::page_do_resume);
            add(milestone("abandon"), Messages::page_do_abandon);
        }
        Status::Pending | Status::IN_PROGRESS => {
            add(format!("attach {id}"), Messages::page_do_attach);
            add(format!("tell {id} \"…\""), Messages::page_do_tell);
            add(format!("pause {id}"), Messages::page_do_pause);
            add(milestone("abandon"), Messages::page_do_abandon);
        }
        Status::PAUSED => paused(told, &mut add),
        Status::AWAITING_REVIEW => {
            add(format!("diff {id}"), Messages::page_do_see);
            add(milestone("approve"), Messages::page_do_complete);
            let reject = milestone("reject");
            all.push((
                say(|m| m.command(format_args!("{reject} {}", m.page_what_is_wrong()))),
                say(Messages::page_do_reject),
            ));
        }
        Status::COMPLETED if told.view.merged.is_some() => {}
        Status::COMPLETED => {
            add(format!("diff {id}"), Messages::page_do_saw);
            add(format!("merge {id}"), Messages::page_do_merge);
            add(format!("pr {id}"), Messages::page_do_pr);
        }
        Status::ABANDONED => add(format!("drop {id}"), Messages::page_do_drop),
    }
    all
}

fn paused(told: &MilestoneTask, add: &mut impl FnMut(String, Words)) {
    let id = told.spec.name.as_str();
    let needs = told.view.needs.as_ref();
    let progress = told.progress();
    match needs.map(|needs| &needs.kind) {
        Some(NeedKind::Rounds { .. }) => {
            let more = progress.max_rounds.saturating_add(10);
            add(format!("milestone resume {id} --rounds {more}"), Messages::page_do_more_rounds);
        }
        Some(NeedKind::Rejections { .. } | NeedKind::Settled { .. } | NeedKind::Final { .. }) => {
            add(format!("milestone resume {id} \"…\""), Messages::page_do_guide);
        }
        _ => add(format!("milestone resume {id}"), Messages::page_do_resume),
    }
    if needs.is_some_and(|needs| needs.offers(&Choice::Approve)) {
        add(format!("milestone approve {id}"), Messages::page_do_accept);
    }
    // Where it ended otherwise, nothing is asked.
    for finding in progress.findings.open().iter().filter(|_| needs.is_some()) {
        add(format!("milestone approve {id} R{}", finding.id), Messages::page_do_settle);
    }
    add(format!("tell {id} \"…\""), Messages::page_do_tell_both);
    add(format!("diff {id}"), Messages::page_do_see_built);
    add(format!("milestone abandon {id}"), Messages::page_do_abandon);
}

/// Who spoke, as people are told.
pub(super) fn speaker(who: Speaker, messages: Messages) -> String {
    match who {
        Speaker::Developer => "Developer".to_owned(),
        Speaker::Acceptor => "Acceptor".to_owned(),
        Speaker::Engine => "dacapo".to_owned(),
        Speaker::Person => messages.page_you(),
    }
}
