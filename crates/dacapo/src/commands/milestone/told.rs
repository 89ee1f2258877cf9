//! What is said of a milestone, for people and for programs.

use dacapo_app::messages::{Messages, Text, command, say};
use dacapo_core::event::{Choice, NeedKind};
use dacapo_core::task::milestone::{Definition, criterion_id, feature_id};
use dacapo_core::view;
use serde_json::{Value, json};

use crate::milestones::{Entry, Known, MilestoneTask, Speaker, Statement, Status, Story};
use crate::output::json::ask;

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
pub(super) fn brief(entry: &Entry) -> Value {
    let definition = entry.definition();
    let (done, total) = features(entry).map_or((None, None), |(done, total)| (done, Some(total)));
    let (developer, acceptor) = agents(entry);
    let progress = entry.task().map(MilestoneTask::progress);
    let (rounds, accepted) = match (&progress, &entry.known) {
        (Some(progress), _) => (Some(progress.rounds), Some(progress.accepted)),
        (None, Known::Mirrored(mirror)) => (mirror.rounds, Some(mirror.iteration_count)),
        (None, _) => (None, None),
    };
    json!({
        "id": entry.name,
        "status": entry.status().as_str(),
        "title": definition.and_then(|definition| definition.title.as_deref()),
        "path": entry.written.as_ref().map(|written| written.path.to_string_lossy()),
        "created": definition.and_then(|definition| definition.settings.created),
        "auto_start": definition.map(|definition| definition.settings.auto_start),
        "requires_human_review": definition.map(|definition| definition.settings.requires_human_review),
        "features": { "done": done, "total": total },
        "round": progress.and_then(|progress| progress.round),
        "rounds": rounds,
        "max_rounds": progress.map(|progress| progress.max_rounds),
        "iteration_count": accepted,
        "consecutive_rejections": progress.map(|progress| progress.rejections),
        "phase": progress.and_then(|progress| progress.phase).map(|phase| phase.as_str()),
        "developer": developer,
        "acceptor": acceptor,
        "tokens_used": tokens(entry),
        "cost_usd": cost(entry),
        "branch": entry.task().and_then(|told| told.view.branch.as_deref()),
        "task_status": entry.task().map(|told| told.view.status.as_str()),
        "problems": entry.problems().iter().map(Text::english).collect::<Vec<_>>(),
    })
}

/// All of `milestone show --json`.
pub(super) fn whole(entry: &Entry, story: &Story, next: &[(Text, Text)]) -> Value {
    let mut value = brief(entry);
    let progress = entry.task().map(MilestoneTask::progress);
    let done = |at: usize| Some(entry.task()?.milestone.features.get(at)?.done);
    if let Some(definition) = entry.definition() {
        value["definition"] = definition_json(definition, done);
        value["frozen"] = definition.frozen().into();
    }
    if let Some(progress) = progress {
        let (open, settled) = (progress.findings.open(), progress.findings.settled());
        value["findings"] = json!({ "open": open, "settled": settled });
    }
    value["needs"] = json!(entry.task().and_then(|told| told.view.needs.as_ref()));
    ask(&mut value["needs"], &entry.name);
    value["said_before"] = story.before.iter().map(said_json).collect();
    value["all_rounds"] = story
        .rounds
        .iter()
        .map(|round| {
            let (seen, report) = (&round.seen, round.seen.report.as_ref());
            json!({
                "round": seen.round,
                "feature": report.and_then(|report| report.feature.as_ref()),
                "feature_id": report.and_then(|report| report.feature_id.as_ref()),
                "final": report.is_some_and(|report| report.feature.is_none()),
                "commit": report.map(|report| &report.commit),
                "said": round.said.iter().map(said_json).collect::<Vec<_>>(),
                "checks": seen.checks,
                "verdict": seen.verdict,
                "duration_ms": round.duration_ms,
                "cost_usd": round.cost_usd,
            })
        })
        .collect();
    let next =
        next.iter().map(|(command, what)| json!({ "command": command.english(), "what": what.english() }));
    value["next"] = next.collect();
    value
}

fn said_json(said: &Statement) -> Value {
    json!({ "who": said.who.as_str(), "turn": said.turn, "text": said.text })
}

fn definition_json(definition: &Definition, done: impl Fn(usize) -> Option<bool>) -> Value {
    let features = definition.features.iter().enumerate().map(|(at, feature)| {
        json!({ "id": feature_id(at), "text": feature.text, "accept": feature.accept, "done": done(at) })
    });
    let criteria = definition.criteria.iter().enumerate();
    let criteria = criteria.map(|(at, text)| json!({ "id": criterion_id(at), "text": text }));
    json!({
        "goal": definition.goal,
        "features": features.collect::<Vec<_>>(),
        "criteria": criteria.collect::<Vec<_>>(),
        "constraints": definition.constraints,
        "others": definition.others,
    })
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
