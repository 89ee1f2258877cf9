//! What is wrong with what somebody wrote: the file of a milestone, a prompt, a value.

use dacapo_core::spec::{ExpectedValue, InvalidChange, ValueKind};
use dacapo_core::task::milestone::{DefinitionError, Flaw, ItemForm, KnownNames};

use crate::messages::Messages;
use crate::present::errors::InWords;

pub fn flaw(flaw: &Flaw, messages: Messages) -> String {
    match flaw {
        Flaw::TooLong { bytes, most } => messages.flaw_too_long(*bytes, *most),
        Flaw::NulByte => messages.flaw_nul(),
        Flaw::EmptyGoal => messages.flaw_empty_goal(),
        Flaw::EmptySection { section } => messages.flaw_empty_section(section),
        Flaw::NotAList { section, .. } => messages.flaw_not_a_list(section),
        Flaw::TooManyItems { section, items, most } => messages.flaw_too_many_items(section, *items, *most),
        Flaw::WrongId { own, written } => messages.flaw_wrong_id(own, written),
        Flaw::SaysNothing { id } => messages.flaw_says_nothing(id),
        Flaw::EmptyAccept { id } => messages.flaw_empty_accept(id),
        Flaw::CodeFenceNotClosed => messages.flaw_fence_open(),
        Flaw::CommentNotClosed => messages.flaw_comment_open(),
        Flaw::SectionTwice { section, first } => messages.flaw_section_twice(section, *first),
        Flaw::UnknownSection { written, .. } => messages.flaw_unknown_section(written),
        Flaw::MissingSection { section } => messages.flaw_missing_section(section),
        Flaw::NotASetting => messages.flaw_not_a_setting(),
        Flaw::SettingTwice { key, first } => messages.flaw_setting_twice(key, *first),
        Flaw::UnknownSetting { key, .. } => messages.flaw_unknown_setting(key),
        Flaw::WrongValue { key, value, .. } => messages.flaw_wrong_value(key, value),
        Flaw::FrontMatterNotClosed => messages.flaw_front_matter_open(),
        Flaw::BracesNotClosed => messages.flaw_braces_open(),
        Flaw::UnknownPlaceholder { name, file, .. } => messages.flaw_unknown_placeholder(name, file),
        Flaw::ReadsOtherwise => messages.flaw_reads_otherwise(),
    }
}

/// What to write instead.
pub fn cure(flaw: &Flaw, messages: Messages) -> Option<String> {
    Some(match flaw {
        Flaw::TooLong { .. }
        | Flaw::NulByte
        | Flaw::SaysNothing { .. }
        | Flaw::SectionTwice { .. }
        | Flaw::SettingTwice { .. } => return None,
        Flaw::EmptyGoal => messages.flaw_say_what_for(),
        Flaw::EmptySection { .. } => messages.flaw_write_one_item(),
        Flaw::NotAList { items: ItemForm::Listed, .. } => messages.flaw_begin_items(),
        Flaw::NotAList { items: ItemForm::ListedOrHeaded, .. } => messages.flaw_begin_or_head_items(),
        Flaw::TooManyItems { .. } => messages.flaw_split(),
        Flaw::WrongId { .. } => messages.flaw_leave_id_out(),
        Flaw::EmptyAccept { .. } => messages.flaw_say_when_accepted(),
        Flaw::CodeFenceNotClosed => messages.flaw_close_fence(),
        Flaw::CommentNotClosed => messages.flaw_close_comment(),
        Flaw::UnknownSection { meant, .. } => messages.hint_did_you_mean(meant),
        Flaw::MissingSection { .. } => messages.flaw_all_sections(),
        Flaw::NotASetting => messages.flaw_write_key_value(),
        Flaw::UnknownSetting { known, .. } | Flaw::UnknownPlaceholder { known, .. } => match known {
            KnownNames::Near(name) => messages.hint_did_you_mean(name),
            KnownNames::All(names) => messages.agent_there_are(&names.join(", ")),
        },
        Flaw::WrongValue { expected: value, .. } => messages.flaw_expected(&expected(*value, messages)),
        Flaw::FrontMatterNotClosed => messages.flaw_close_front_matter(),
        Flaw::BracesNotClosed => messages.flaw_close_braces(),
        Flaw::ReadsOtherwise => messages.flaw_leave_marks_out(),
    })
}

/// `a count such as 10 or +5`
fn expected(value: ExpectedValue, messages: Messages) -> String {
    let what = match value.what {
        ValueKind::TrueOrFalse => messages.value_true_or_false(),
        ValueKind::Count => messages.value_a_count(),
        ValueKind::Number => messages.value_number(),
        ValueKind::Duration => messages.value_a_duration(),
        ValueKind::Amount => messages.value_an_amount(),
        ValueKind::AmountInUsd => messages.value_an_amount_in_usd(),
        ValueKind::Day => messages.value_a_day(),
        ValueKind::AgentName => messages.value_an_agent(),
    };
    match value.examples {
        [] => what,
        examples => messages.value_such_as(&what, &examples.join(&messages.value_or())),
    }
}

/// With the line, and what to write instead.
impl InWords for DefinitionError {
    fn in_words(&self, messages: Messages) -> String {
        let said = flaw(&self.flaw, messages);
        let said = match cure(&self.flaw, messages) {
            Some(cure) => messages.flaw_and_hint(&said, &cure),
            None => said,
        };
        messages.flaw_at(self.line, &said)
    }
}

impl InWords for InvalidChange {
    fn in_words(&self, messages: Messages) -> String {
        match self {
            Self::Key(key) => messages.set_unknown_limit(key),
            Self::Value { key, value, expected: wanted } => {
                messages.limit_value(key, value, &expected(*wanted, messages))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use dacapo_core::task::milestone::Definition;

    use super::*;
    use crate::messages::Language;

    #[test]
    fn u5_what_is_wrong_with_a_milestone_is_told_in_the_readers_language() {
        let broken = "---\nauto_strat: true\n---\n";
        let error = Definition::parse(broken).unwrap_err();
        let told = Language::ALL.map(|language| error.in_words(Messages::new(language)));
        assert_eq!(
            told,
            [
                "line 2: 'auto_strat' is not a setting (did you mean 'auto_start'?)",
                "第 2 行：没有“auto_strat”这项设置（你是想输入“auto_start”吗？）",
                "第 2 行：沒有「auto_strat」這項設定（你是想輸入「auto_start」嗎？）",
            ]
        );
        // The words for logs and those for people are the same in English.
        for text in ["", broken, "---\ncreated: soon\n---\n", "## Goal\n\n## Features\n- a\n"] {
            let error = Definition::parse(text).unwrap_err();
            assert_eq!(error.in_words(Messages::ENGLISH), error.to_string());
        }
    }
}
