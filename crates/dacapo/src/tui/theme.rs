//! What things look like: by their role, in the terminal's own foreground, bold, dim and five ANSI colours. So light and dark
//! themes both work, and nothing is said by colour alone.

use ratatui::style::{Color, Modifier, Style};

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Plain,
    /// Names, headings, what matters most in a line.
    Strong,
    /// What can be passed over.
    Faint,
    /// Proven. Only proof is green.
    Good,
    Bad,
    /// Needs a look.
    Warn,
    /// Where one is: the title, the key to press, the active pane.
    Accent,
    /// What a person said or must decide.
    Person,
    Selected,
    /// The lines around panes.
    Border,
    /// Added lines of a diff.
    Added,
    /// Removed lines of a diff.
    Removed,
}

/// How roles are shown at this terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Theme {
    Coloured,
    /// `NO_COLOR`, `--color never`: bold, dim and reverse remain.
    Plain,
}

impl Theme {
    pub(crate) fn style(self, role: Role) -> Style {
        let style = Style::new();
        let (style, colour) = match role {
            Role::Plain => (style, None),
            Role::Strong => (style.add_modifier(Modifier::BOLD), None),
            Role::Faint | Role::Border => (style.add_modifier(Modifier::DIM), None),
            Role::Good | Role::Added => (style, Some(Color::Green)),
            Role::Bad | Role::Removed => (style, Some(Color::Red)),
            Role::Warn => (style, Some(Color::Yellow)),
            Role::Accent => (style, Some(Color::Cyan)),
            Role::Person => (style, Some(Color::Magenta)),
            // One block: what is coloured or dim in it would be a block of its own.
            Role::Selected => {
                (style.fg(Color::Reset).add_modifier(Modifier::REVERSED).remove_modifier(Modifier::DIM), None)
            }
        };
        match (self, colour) {
            (Self::Coloured, Some(colour)) => style.fg(colour),
            (Self::Coloured | Self::Plain, _) => style,
        }
    }

    /// The style of text that `present` painted.
    pub(crate) fn painted(self, painted: anstyle::Style) -> Style {
        let effects = painted.get_effects();
        let mut style = Style::new();
        for (effect, modifier) in [
            (anstyle::Effects::BOLD, Modifier::BOLD),
            (anstyle::Effects::DIMMED, Modifier::DIM),
            (anstyle::Effects::UNDERLINE, Modifier::UNDERLINED),
        ] {
            if effects.contains(effect) {
                style = style.add_modifier(modifier);
            }
        }
        let role = match painted.get_fg_color() {
            Some(anstyle::Color::Ansi(anstyle::AnsiColor::Green)) => Role::Good,
            Some(anstyle::Color::Ansi(anstyle::AnsiColor::Red)) => Role::Bad,
            Some(anstyle::Color::Ansi(anstyle::AnsiColor::Yellow)) => Role::Warn,
            Some(anstyle::Color::Ansi(anstyle::AnsiColor::Cyan)) => Role::Accent,
            Some(anstyle::Color::Ansi(anstyle::AnsiColor::Magenta)) => Role::Person,
            _ => Role::Plain,
        };
        style.patch(self.style(role))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_colours_the_meaning_stays() {
        assert_eq!(Theme::Plain.style(Role::Bad), Style::new());
        assert_eq!(Theme::Plain.style(Role::Selected), Theme::Coloured.style(Role::Selected));
        let green = Theme::Coloured.style(Role::Good).patch(Theme::Coloured.style(Role::Selected));
        assert_eq!((green.fg, green.add_modifier), (Some(Color::Reset), Modifier::REVERSED));
        assert_eq!(Theme::Coloured.style(Role::Bad).fg, Some(Color::Red));
    }

    #[test]
    fn what_was_painted_for_lines_looks_the_same_here() {
        use dacapo_app::present::words::{BOLD, GOOD};
        assert_eq!(Theme::Coloured.painted(GOOD), Theme::Coloured.style(Role::Good));
        assert_eq!(Theme::Plain.painted(BOLD), Theme::Plain.style(Role::Strong));
    }
}
