//! What an agent may do (A8): the mode of its own that it is set to, and the answers to what it asks all the same.

use super::tools::ToolKind;
use super::wire::{Opened, PermissionOption};
use crate::spec::Approval;

/// The answer to a request for permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Allow,
    Reject,
    Ask,
}

/// What is answered when a tool of this kind wants to be used.
pub(super) fn decide(approval: Approval, kind: ToolKind) -> Decision {
    let looks = matches!(kind, ToolKind::Read | ToolKind::Search | ToolKind::Think);
    let edits = matches!(kind, ToolKind::Edit | ToolKind::Delete | ToolKind::Move);
    match approval {
        Approval::Auto => Decision::Allow,
        Approval::Ask => Decision::Ask,
        Approval::Edits if looks || edits => Decision::Allow,
        Approval::ReadOnly if looks => Decision::Allow,
        Approval::Edits | Approval::ReadOnly => Decision::Reject,
    }
}

/// An option of a request, by what it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What the agent knows it by.
    pub id: String,
    pub name: String,
    /// It lets the tool be used.
    pub allows: bool,
    /// It holds for more than this one time.
    pub for_good: bool,
}

impl Choice {
    pub(super) fn of(option: PermissionOption) -> Option<Self> {
        let (allows, for_good) = match option.kind.as_deref()? {
            "allow_once" => (true, false),
            "allow_always" => (true, true),
            "reject_once" => (false, false),
            "reject_always" => (false, true),
            _ => return None,
        };
        let id = option.option_id?;
        let name = option.name.unwrap_or_else(|| id.clone());
        Some(Self { id, name, allows, for_good })
    }
}

/// The narrowest option that does it: what is allowed for good may be written into the user's own settings.
pub(super) fn narrowest(choices: &[Choice], allow: bool) -> Option<&Choice> {
    let fits = |choice: &&Choice| choice.allows == allow;
    choices.iter().filter(fits).min_by_key(|choice| choice.for_good)
}

/// How a session is put into a mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetMode {
    Mode(String),
    /// By an option of its configuration.
    Option {
        id: String,
        value: String,
    },
}

/// The mode of the agent's own that fits, where it has one.
pub(super) fn mode_for(approval: Approval, opened: &Opened) -> Option<SetMode> {
    let modes = opened.modes.as_ref().and_then(|modes| modes.available_modes.as_ref());
    let ids: Vec<&str> = modes.into_iter().flatten().filter_map(|mode| mode.id.as_deref()).collect();
    if let Some(mode) = fitting(approval, &ids) {
        return Some(SetMode::Mode(mode.to_owned()));
    }
    let options = opened.config_options.iter().flatten();
    let mut modes = options.filter(|option| option.category.as_deref() == Some("mode"));
    modes.find_map(|option| {
        let values = option.options.iter().flatten();
        let values: Vec<&str> = values.filter_map(|value| value.value.as_deref()).collect();
        let value = fitting(approval, &values)?.to_owned();
        Some(SetMode::Option { id: option.id.clone()?, value })
    })
}

/// Agents have words of their own for the same few modes.
fn fitting<'a>(approval: Approval, ids: &[&'a str]) -> Option<&'a str> {
    let wanted: &[&str] = match approval {
        Approval::Auto => &["yolo", "bypasspermissions", "agentfullaccess", "fullaccess"],
        Approval::Edits => &["autoedit", "acceptedits", "workspacewrite"],
        Approval::ReadOnly => &["readonly", "plan"],
        Approval::Ask => &[],
    };
    let found = wanted.iter().find_map(|word| ids.iter().find(|id| plain(id) == *word));
    // Where there is a mode that asks by default, `auto` means that the model itself judges.
    let judges = ids.iter().any(|id| plain(id) == "default");
    let auto = || ids.iter().find(|id| approval == Approval::Auto && !judges && plain(id) == "auto");
    found.or_else(auto).copied()
}

/// Without the address in front of it and without marks: `…/session-modes#auto-edit` and `autoEdit` are the same.
fn plain(id: &str) -> String {
    let name = id.rsplit(['#', '/']).next().unwrap_or(id);
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a8_each_approval_has_its_answers() {
        use Decision::{Allow, Ask, Reject};
        let kinds = [
            ToolKind::Read,
            ToolKind::Think,
            ToolKind::Edit,
            ToolKind::Execute,
            ToolKind::Fetch,
            ToolKind::Other,
        ];
        for (approval, expected) in [
            (Approval::Auto, [Allow; 6]),
            (Approval::Edits, [Allow, Allow, Allow, Reject, Reject, Reject]),
            (Approval::ReadOnly, [Allow, Allow, Reject, Reject, Reject, Reject]),
            (Approval::Ask, [Ask; 6]),
        ] {
            assert_eq!(kinds.map(|kind| decide(approval, kind)), expected, "{approval:?}");
        }
        assert_eq!(decide(Approval::ReadOnly, ToolKind::SwitchMode), Reject, "it would leave the mode");
    }

    #[test]
    fn a8_the_modes_of_real_agents_are_known() {
        let gemini = ["default", "autoEdit", "yolo", "plan"];
        let claude = ["default", "acceptEdits", "plan", "auto", "bypassPermissions"];
        let as_root = ["default", "acceptEdits", "plan", "auto"];
        let codex = ["read-only", "workspace-write", "agent", "agent-full-access"];
        let copilot = [
            "https://x.y/session-modes#agent",
            "https://x.y/session-modes#plan",
            "https://x.y/session-modes#autopilot",
        ];
        let goose = ["auto", "approve", "smart_approve", "chat"];
        for (ids, auto, edits, read_only) in [
            (&gemini[..], Some("yolo"), Some("autoEdit"), Some("plan")),
            (&claude, Some("bypassPermissions"), Some("acceptEdits"), Some("plan")),
            (&as_root, None, Some("acceptEdits"), Some("plan")),
            (&codex, Some("agent-full-access"), Some("workspace-write"), Some("read-only")),
            (&copilot, None, None, Some(copilot[1])),
            (&goose, Some("auto"), None, None),
            (&[], None, None, None),
        ] {
            let found = [Approval::Auto, Approval::Edits, Approval::ReadOnly].map(|way| fitting(way, ids));
            assert_eq!(found, [auto, edits, read_only], "{ids:?}");
            assert_eq!(fitting(Approval::Ask, ids), None);
        }
    }

    #[test]
    fn the_narrowest_option_is_taken() {
        let choice = |kind: &str| PermissionOption {
            option_id: Some(kind.into()),
            name: None,
            kind: Some(kind.into()),
        };
        let all = ["allow_always", "allow_once", "reject_once", "reject_always", "new_kind"];
        let choices: Vec<Choice> = all.into_iter().filter_map(|kind| Choice::of(choice(kind))).collect();
        assert_eq!(choices.len(), 4);
        assert_eq!(narrowest(&choices, true).map(|choice| choice.id.as_str()), Some("allow_once"));
        assert_eq!(narrowest(&choices, false).map(|choice| choice.id.as_str()), Some("reject_once"));
        assert_eq!(narrowest(&choices[..1], false), None);
    }
}
