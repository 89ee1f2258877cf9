use dacapo_app::operations::act::Operation;

use crate::config::Whose;
use crate::messages::Language;
use crate::tui::key::Key;
use crate::tui::testing::{Stage, a_day, pictures};

fn settings(columns: u16, rows: u16, language: Language) -> Stage {
    let mut stage = Stage::in_language(columns, rows, language);
    let home = stage.services.app.user_dir.clone().unwrap();
    std::fs::create_dir_all(home.join(".config/dacapo")).unwrap();
    let text = "# mine\nchecks = [\"make test\"]\n\n[agents.claude]\nloop_enabled = true\n";
    std::fs::write(home.join(".config/dacapo/config.toml"), text).unwrap();
    stage.tasks(a_day()).press(&[Key::Char('s')]);
    stage
}

#[test]
fn u5_settings_have_their_origin() {
    pictures("settings", |look| settings(look.columns, look.rows, look.language).shown());
    pictures("settings_end", |look| {
        settings(look.columns, look.rows, look.language).press(&[Key::End]).shown()
    });
    pictures("settings_typing", |look| {
        settings(look.columns, look.rows, look.language).press(&[Key::Down, Key::Enter]).shown()
    });
}

#[test]
fn u5_a_switch_is_turned_a_choice_is_picked_and_a_text_is_typed() {
    let mut stage = settings(160, 50, Language::English);
    let last = |stage: &Stage| (*stage.acts.last().unwrap().operation).clone();
    let set =
        |key: &str, value: &str, file| Operation::SetConfig { key: key.into(), value: value.into(), file };
    // agent, checks, language, glyphs, mouse, keep_awake
    stage.press(&[Key::Down, Key::Down, Key::Down, Key::Enter]);
    assert!(stage.acts.is_empty() && stage.shown().contains("2 unicode"), "{}", stage.shown());
    stage.press(&[Key::Esc, Key::Enter, Key::Down, Key::Enter]);
    assert_eq!(last(&stage), set("glyphs", "unicode", Whose::User));
    stage.press(&[Key::Down, Key::Char(' ')]);
    assert_eq!(last(&stage), set("mouse", "true", Whose::User));
    stage.press(&[Key::Down, Key::Char(' ')]);
    assert_eq!(last(&stage), set("keep_awake", "false", Whose::User));
    stage.press(&[Key::Home, Key::Tab, Key::Enter]).types("claude,codex").press(&[Key::Enter]);
    assert_eq!(last(&stage), set("agent", "claude,codex", Whose::Project));
    stage.press(&[Key::Delete]);
    assert_eq!(last(&stage), Operation::UnsetConfig { key: "agent".into(), file: Whose::Project });
    let before = stage.acts.len();
    stage.press(&[Key::Enter]).types("x").press(&[Key::Esc]);
    assert_eq!(stage.acts.len(), before, "Esc writes nothing");
    assert!(stage.shown().contains("settings"), "and stays here");
}

#[test]
fn the_second_click_on_a_setting_changes_it() {
    let mut stage = settings(80, 24, Language::English);
    stage.click(4, 6);
    assert!(stage.shown().contains("The mouse belongs to the terminal app"), "{}", stage.shown());
    assert!(stage.acts.is_empty());
    stage.click(4, 6);
    let file = Whose::User;
    let expected = Operation::SetConfig { key: "mouse".into(), value: "true".into(), file };
    assert_eq!(*stage.acts[0].operation, expected);
}
