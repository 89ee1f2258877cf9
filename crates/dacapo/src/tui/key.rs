//! Keys, as screens see them: parsed once, where they come in.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::glyphs::Glyphs;

/// A key that was pressed. Letters with Shift are upper case letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Char(char),
    Ctrl(char),
    Alt(char),
    Enter,
    /// Enter with Alt, Shift or Ctrl, where the terminal tells them apart: a new line in an editor.
    NewLine,
    Esc,
    Tab,
    BackTab,
    Backspace,
    /// Backspace with Alt or Ctrl.
    DeleteWord,
    Delete,
    Up,
    Down,
    Left,
    Right,
    /// An arrow with Ctrl or Alt.
    WordLeft,
    WordRight,
    PageUp,
    PageDown,
    Home,
    End,
    Function(u8),
}

impl Key {
    /// None for what is no key of ours: releases, modifiers alone, media keys.
    pub(crate) fn parse(event: KeyEvent) -> Option<Self> {
        if event.kind == KeyEventKind::Release {
            return None;
        }
        let with = |modifier| event.modifiers.contains(modifier);
        let (ctrl, alt, shift) =
            (with(KeyModifiers::CONTROL), with(KeyModifiers::ALT), with(KeyModifiers::SHIFT));
        Some(match event.code {
            // What terminals send for Ctrl-J is the line feed that pasted lines end with.
            KeyCode::Char('j') if ctrl => Self::NewLine,
            KeyCode::Char(c) if ctrl => Self::Ctrl(c.to_ascii_lowercase()),
            KeyCode::Char(c) if alt => Self::Alt(c),
            KeyCode::Char(c) => Self::Char(c),
            KeyCode::Enter if ctrl || alt || shift => Self::NewLine,
            KeyCode::Enter => Self::Enter,
            KeyCode::Esc => Self::Esc,
            KeyCode::Tab if shift => Self::BackTab,
            KeyCode::Tab => Self::Tab,
            KeyCode::BackTab => Self::BackTab,
            KeyCode::Backspace if ctrl || alt => Self::DeleteWord,
            KeyCode::Backspace => Self::Backspace,
            KeyCode::Delete => Self::Delete,
            KeyCode::Up => Self::Up,
            KeyCode::Down => Self::Down,
            KeyCode::Left if ctrl || alt => Self::WordLeft,
            KeyCode::Right if ctrl || alt => Self::WordRight,
            KeyCode::Left => Self::Left,
            KeyCode::Right => Self::Right,
            KeyCode::PageUp => Self::PageUp,
            KeyCode::PageDown => Self::PageDown,
            KeyCode::Home => Self::Home,
            KeyCode::End => Self::End,
            KeyCode::F(number) => Self::Function(number),
            _ => return None,
        })
    }

    /// As it is shown in help. Where an arrow would be drawn as the letter `v`, it is a word.
    pub(crate) fn name(self, glyphs: Glyphs) -> String {
        let arrow = |arrow: &str, word: &str| match glyphs {
            Glyphs::Unicode => arrow.to_owned(),
            Glyphs::Narrow | Glyphs::Ascii => word.to_owned(),
        };
        match self {
            Self::Char(' ') => "Space".into(),
            Self::Char(c) => c.to_string(),
            Self::Ctrl(c) => format!("Ctrl-{}", c.to_ascii_uppercase()),
            Self::Alt(c) => format!("Alt-{c}"),
            Self::Enter => "Enter".into(),
            Self::NewLine => "Alt-Enter".into(),
            Self::Esc => "Esc".into(),
            Self::Tab => "Tab".into(),
            Self::BackTab => "Shift-Tab".into(),
            Self::Backspace => "Backspace".into(),
            Self::DeleteWord => "Ctrl-W".into(),
            Self::Delete => "Delete".into(),
            Self::Up => arrow("↑", "Up"),
            Self::Down => arrow("↓", "Down"),
            Self::Left => arrow("←", "Left"),
            Self::Right => arrow("→", "Right"),
            Self::WordLeft => format!("Ctrl-{}", arrow("←", "Left")),
            Self::WordRight => format!("Ctrl-{}", arrow("→", "Right")),
            Self::PageUp => "PgUp".into(),
            Self::PageDown => "PgDn".into(),
            Self::Home => "Home".into(),
            Self::End => "End".into(),
            Self::Function(number) => format!("F{number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_what_was_pressed() {
        let key = |code, modifiers| Key::parse(KeyEvent::new(code, modifiers));
        let none = KeyModifiers::NONE;
        assert_eq!(key(KeyCode::Char('x'), none), Some(Key::Char('x')));
        assert_eq!(key(KeyCode::Char('X'), KeyModifiers::SHIFT), Some(Key::Char('X')));
        assert_eq!(key(KeyCode::Char('z'), KeyModifiers::CONTROL), Some(Key::Ctrl('z')));
        assert_eq!(key(KeyCode::Char('j'), KeyModifiers::CONTROL), Some(Key::NewLine));
        assert_eq!(key(KeyCode::Enter, KeyModifiers::ALT), Some(Key::NewLine));
        assert_eq!(key(KeyCode::BackTab, KeyModifiers::SHIFT), Some(Key::BackTab));
        let mut released = KeyEvent::new(KeyCode::Enter, none);
        released.kind = KeyEventKind::Release;
        assert_eq!(Key::parse(released), None);
    }
}
