//! What a key does to a task: the same on every screen that shows one, and a reason where it does nothing now.

use dacapo_app::operations::act::Operation;
use dacapo_app::operations::diff::DiffPart;
use dacapo_core::overview::Brief;
use dacapo_core::view::Status;

use super::before;
use super::command_line::CommandLine;
use super::confirm::Confirm;
use super::effect::{Act, Effect, Foreign, Notice, Pause};
use super::key::Key;
use super::pages;
use super::screen::{Binding, Context, Reply};
use crate::messages::Messages;

/// Something that can be done to a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Open,
    Diff,
    Merge,
    Pause,
    Resume,
    Kill,
    Drop,
    Undo,
    Takeover,
    OpenFiles,
    Attach,
    EditLog,
    Log,
    Tell,
    Copy,
}

/// The most useful first.
const ALL: [(Key, Action); 15] = [
    (Key::Enter, Action::Open),
    (Key::Char('m'), Action::Merge),
    (Key::Char('d'), Action::Diff),
    (Key::Char('p'), Action::Pause),
    (Key::Char('r'), Action::Resume),
    (Key::Char('x'), Action::Kill),
    (Key::Char('o'), Action::OpenFiles),
    (Key::Char('t'), Action::Takeover),
    (Key::Char('P'), Action::Attach),
    (Key::Char('e'), Action::EditLog),
    (Key::Char('g'), Action::Tell),
    (Key::Char('L'), Action::Log),
    (Key::Char('y'), Action::Copy),
    (Key::Char('D'), Action::Drop),
    (Key::Char('u'), Action::Undo),
];

/// A process drives it.
pub(super) fn is_driven(brief: &Brief) -> bool {
    match brief.status {
        Status::Running | Status::Waiting | Status::Queued => true,
        Status::Paused
        | Status::Interrupted
        | Status::Completed
        | Status::Stopped
        | Status::Failed
        | Status::Cancelled => false,
    }
}

impl Action {
    fn words(self, messages: Messages) -> String {
        match self {
            Self::Open => messages.tui_key_open(),
            Self::Diff => messages.tui_key_diff(),
            Self::Merge => messages.tui_key_merge(),
            Self::Pause => messages.tui_key_pause(),
            Self::Resume => messages.tui_key_resume(),
            Self::Kill => messages.tui_key_kill(),
            Self::Drop => messages.tui_key_drop(),
            Self::Undo => messages.tui_key_undo(),
            Self::Takeover => messages.tui_key_takeover(),
            Self::OpenFiles => messages.tui_key_files(),
            Self::Attach => messages.tui_key_attach(),
            Self::EditLog => messages.tui_key_log(),
            Self::Log => messages.page_key_log(),
            Self::Tell => messages.page_key_guide(),
            Self::Copy => messages.tui_key_copy(),
        }
    }

    /// Why it would do nothing.
    fn not_now(self, brief: &Brief, messages: Messages) -> Option<String> {
        let name = &brief.name;
        match self {
            Self::Open | Self::Undo | Self::Attach | Self::EditLog | Self::Log | Self::Tell | Self::Copy => {
                None
            }
            Self::Diff => (!brief.has_changes()).then(|| messages.tui_not_changed(name)),
            Self::Merge if is_driven(brief) => Some(messages.tui_not_while_running(name)),
            Self::Merge if brief.own_branch.is_none() => Some(messages.tui_not_merge_in_place(name)),
            Self::Merge if brief.merged_into.is_some() => Some(messages.tui_not_merged_already(name)),
            Self::Merge => (!brief.has_changes()).then(|| messages.tui_not_changed(name)),
            Self::Pause => (!is_driven(brief)).then(|| messages.tui_not_running(name)),
            Self::Resume => is_driven(brief).then(|| messages.tui_not_resume_running(name)),
            Self::Kill => {
                (!is_driven(brief) && brief.needs.is_none()).then(|| messages.tui_not_running(name))
            }
            Self::Drop => is_driven(brief).then(|| messages.tui_not_while_running(name)),
            Self::Takeover | Self::OpenFiles => {
                let gone = brief.merged_into.is_some() && brief.own_branch.is_some();
                gone.then(|| messages.tui_not_files_merged(name))
            }
        }
    }

    fn reply(self, brief: &Brief, context: &Context<'_>) -> Reply {
        let messages = context.messages;
        let task = brief.name.clone();
        let directory = context.directory_of(brief);
        let act = |operation: Operation| Act::new(operation).at(context.directory_of(brief));
        match self {
            Self::Open => pages::task(brief, context),
            Self::Diff => pages::diff(brief, DiffPart::All, context),
            Self::Merge => before::merge(brief, context),
            Self::Pause => Reply::effect(Effect::Act(act(Operation::Pause { task, now: false }))),
            Self::Resume => match more(brief) {
                // How far it is to go is for the user to say.
                Some(iterations) => {
                    let line = format!("resume {task} --iter {iterations}");
                    Reply::to(CommandLine::with(&line, Some(brief), context))
                }
                None => {
                    let operation = Operation::Resume { task, iter: None, prompt: None, proof: None };
                    Reply::effect(Effect::Act(act(operation)))
                }
            },
            Self::Kill => {
                let question = messages.tui_confirm_kill(&task);
                let detail = Some(messages.tui_confirm_kill_keeps());
                Reply::to(Confirm::new(question, detail, act(Operation::Kill { task })))
            }
            Self::Drop => {
                let question = messages.tui_confirm_drop(&task);
                let detail = Some(messages.tui_confirm_drop_keeps());
                Reply::to(Confirm::new(question, detail, act(Operation::Drop { tasks: vec![task] })))
            }
            Self::Undo => before::undo(directory, messages),
            // Who does not work is not disturbed.
            Self::Takeover if is_driven(brief) => before::takeover(brief, context),
            Self::Takeover => Reply::effect(Effect::Act(act(Operation::Takeover { task, no_resume: false }))),
            Self::OpenFiles => Reply::effect(Effect::Act(act(Operation::Open { task }))),
            Self::Attach => {
                let args = vec!["attach".to_owned(), task];
                Reply::effect(Effect::Run(Foreign::Ourselves { args, directory, pause: Pause::ForEnter }))
            }
            Self::EditLog => {
                let args = vec!["logs".to_owned(), task.clone()];
                let name = format!("{task}.log");
                Reply::effect(Effect::Run(Foreign::EditOutput { args, directory, name }))
            }
            Self::Log => pages::log(brief, context),
            Self::Tell => Reply::to(CommandLine::with(&format!("tell {task} "), Some(brief), context)),
            Self::Copy => {
                let said = Notice::done(messages.tui_copied(&task));
                Reply::effect(Effect::Copy(task)).saying(said)
            }
        }
    }
}

/// How many iterations a task that has used all of its own is offered.
fn more(brief: &Brief) -> Option<u32> {
    let used = brief.max_iterations.is_some_and(|max| brief.iteration >= max);
    (brief.status.has_ended() && (used || brief.status == Status::Completed)).then_some(5)
}

/// Why a key about a task does nothing where none is selected.
pub(crate) fn none_selected(brief: Option<&Brief>, messages: Messages) -> Option<String> {
    brief.is_none().then(|| messages.tui_no_task_selected())
}

/// The keys for a task, each with why it would do nothing now.
pub(crate) fn bindings(brief: Option<&Brief>, messages: Messages) -> Vec<Binding> {
    let binding = |(key, action): &(Key, Action)| {
        let why = match brief {
            Some(brief) => action.not_now(brief, messages),
            None => none_selected(brief, messages),
        };
        Binding::new(*key, action.words(messages)).not_now(why)
    };
    ALL.iter().map(binding).collect()
}

/// What a key does to this task; none: it is no key for tasks.
pub(crate) fn key(key: Key, brief: &Brief, context: &Context<'_>) -> Option<Reply> {
    let (_, action) = ALL.iter().find(|(own, _)| *own == key)?;
    Some(match action.not_now(brief, context.messages) {
        Some(why) => Reply::say(why),
        None => action.reply(brief, context),
    })
}
