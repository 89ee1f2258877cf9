//! Which characters this terminal can be given. Views always draw the fine ones; where the terminal has no room for them, the
//! whole frame is translated at the end, cell by cell, so that no view has to know.
//!
//! Arrows, dots and box lines are as wide as one letter in most places, and as wide as two where text is Chinese, Japanese or
//! Korean. One that is drawn wider than it was counted moves all that follows it.

use std::ffi::OsStr;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::config::GlyphSet;

/// The characters that a frame may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Glyphs {
    /// All characters.
    Unicode,
    /// Letters of every script, but no symbol whose width is a matter of taste.
    Narrow,
    /// ASCII alone: the locale has no other characters.
    Ascii,
}

impl Glyphs {
    /// By the setting, and by the locale where it leaves that open.
    pub(crate) fn choose<'a>(wanted: GlyphSet, variable: impl Fn(&'static str) -> Option<&'a OsStr>) -> Self {
        let set = |name| variable(name).filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
        let locale = locale.map(|locale| locale.to_string_lossy().to_lowercase()).unwrap_or_default();
        let utf8 = locale.contains("utf-8") || locale.contains("utf8");
        let wide = ["zh", "ja", "ko"].iter().any(|language| locale.starts_with(language));
        match wanted {
            GlyphSet::Unicode => Self::Unicode,
            GlyphSet::Ascii if utf8 => Self::Narrow,
            GlyphSet::Ascii => Self::Ascii,
            GlyphSet::Auto if !utf8 => Self::Ascii,
            GlyphSet::Auto if wide => Self::Narrow,
            GlyphSet::Auto => Self::Unicode,
        }
    }

    /// Translates what was drawn.
    pub(crate) fn translate(self, buffer: &mut Buffer) {
        if self == Self::Unicode {
            return;
        }
        let Rect { x, y, width, height } = buffer.area;
        for (column, row) in (y..y + height).flat_map(|row| (x..x + width).map(move |column| (column, row))) {
            let cell = &mut buffer[(column, row)];
            let symbol = cell.symbol();
            if symbol.is_ascii() {
                continue;
            }
            if let Some(plain) = plain(symbol) {
                cell.set_symbol(plain);
            } else if self == Self::Ascii {
                cell.set_symbol("?");
            }
        }
    }
}

/// What stands for a symbol of ours, as wide as it.
fn plain(symbol: &str) -> Option<&'static str> {
    Some(match symbol {
        "─" | "━" | "╌" | "—" | "–" => "-",
        "│" | "┃" | "▌" | "▐" | "▕" | "▏" => "|",
        "┌" | "┐" | "└" | "┘" | "├" | "┤" | "┬" | "┴" | "┼" | "╭" | "╮" | "╰" | "╯" => {
            "+"
        }
        "·" | "•" => "-",
        "…" => "~",
        "≈" => "~",
        "→" | "▶" | "▸" | "›" | "»" => ">",
        "←" | "◀" | "◂" | "‹" | "«" => "<",
        "↑" | "▲" => "^",
        "↓" | "▼" | "▾" => "v",
        "✓" | "✔" => "+",
        "✗" | "✘" | "×" => "x",
        "⚠" => "!",
        "‖" => "=",
        "●" | "◉" | "■" => "*",
        "○" | "□" => "o",
        "◌" => ".",
        "◐" | "◑" | "◓" | "◒" => "%",
        "█" | "▓" | "▒" => "#",
        "░" => ".",
        "“" | "”" => "\"",
        "‘" | "’" => "'",
        "↵" | "⏎" => "<",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(wanted: GlyphSet, set: &[(&str, &'static str)]) -> Glyphs {
        Glyphs::choose(wanted, |name| {
            set.iter().find(|(key, _)| *key == name).map(|(_, value)| OsStr::new(*value))
        })
    }

    #[test]
    fn the_locale_decides_unless_the_user_does() {
        assert_eq!(chosen(GlyphSet::Auto, &[("LANG", "en_US.UTF-8")]), Glyphs::Unicode);
        assert_eq!(chosen(GlyphSet::Auto, &[("LANG", "zh_CN.UTF-8")]), Glyphs::Narrow);
        assert_eq!(chosen(GlyphSet::Auto, &[("LANG", "C.UTF-8")]), Glyphs::Unicode);
        assert_eq!(chosen(GlyphSet::Auto, &[("LC_ALL", "C"), ("LANG", "en_US.UTF-8")]), Glyphs::Ascii);
        assert_eq!(chosen(GlyphSet::Auto, &[]), Glyphs::Ascii);
        assert_eq!(chosen(GlyphSet::Unicode, &[("LC_ALL", "C")]), Glyphs::Unicode);
        assert_eq!(chosen(GlyphSet::Ascii, &[("LANG", "de_DE.utf8")]), Glyphs::Narrow);
    }

    #[test]
    fn every_symbol_of_ours_has_a_plain_one() {
        use unicode_width::UnicodeWidthChar as _;
        let messages = dacapo_app::messages::TABLES.iter().flat_map(|(_, entries)| *entries);
        let said = messages.flat_map(|entry| {
            [entry.english, entry.simplified_chinese, entry.traditional_chinese].map(str::to_owned)
        });
        let symbols = dacapo_app::present::legend::symbols(crate::messages::Messages::ENGLISH);
        let all: String = said.chain(symbols.into_iter().map(|(symbol, _)| symbol.to_owned())).collect();
        // Letters stay, however wide they are.
        let of_two_widths = |c: &char| c.width() != c.width_cjk() && !c.is_alphanumeric();
        let missing: Vec<char> =
            all.chars().filter(of_two_widths).filter(|c| plain(&c.to_string()).is_none()).collect();
        assert_eq!(missing, [] as [char; 0]);
    }

    #[test]
    fn a_frame_is_translated_cell_by_cell() {
        let drawn = || Buffer::with_lines(["┌─ ✓ 繼續 … é ┐"]);
        let text =
            |buffer: &Buffer| buffer.content().iter().map(ratatui::buffer::Cell::symbol).collect::<String>();
        let mut narrow = drawn();
        Glyphs::Narrow.translate(&mut narrow);
        assert_eq!(text(&narrow), text(&Buffer::with_lines(["+- + 繼續 ~ é +"])));
        let mut ascii = drawn();
        Glyphs::Ascii.translate(&mut ascii);
        assert!(text(&ascii).is_ascii(), "{}", text(&ascii));
    }
}
