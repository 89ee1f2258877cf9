//! A terminal window as SVG: one file, no script, no font or style from elsewhere.

use std::fmt::Write as _;

use vt100::{Cell, Color};

// Sizes in pixels. `CELL` is 0.6 em, the width of the usual monospaced fonts; every run is fitted to it, so that a
// reader's other font cannot break columns.
const FONT: f64 = 14.0;
const CELL: f64 = 8.4;
const LINE: f64 = 19.0;
const SIDE: f64 = 18.0;
const BAR: f64 = 36.0;

const BACK: &str = "#16181d";
const FRONT: &str = "#d7dae0";
const PALETTE: [&str; 16] = [
    "#3b4048", "#ef6b73", "#8fc66f", "#e3be6e", "#6cb2f2", "#cb7fe0", "#57bcc8", "#c4c9d2", //
    "#7d8590", "#ff8790", "#a9dd8a", "#f3d48d", "#8cc7ff", "#de9bf0", "#78d4df", "#f2f4f8",
];

/// How a character looks.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Style {
    fg: Color,
    bg: Color,
    bold: bool,
    dim: bool,
    italic: bool,
    underline: bool,
    inverse: bool,
}

impl Style {
    fn of(cell: &Cell) -> Self {
        // What was erased keeps the background, no more.
        let drawn = cell.has_contents();
        Self {
            fg: if drawn { cell.fgcolor() } else { Color::Default },
            bg: cell.bgcolor(),
            bold: drawn && cell.bold(),
            dim: drawn && cell.dim(),
            italic: drawn && cell.italic(),
            underline: drawn && cell.underline(),
            inverse: drawn && cell.inverse(),
        }
    }
}

/// The picture of these lines in a window so many columns wide.
pub(super) fn draw(lines: &[Vec<Cell>], cols: usize, title: &str) -> String {
    let width = px(cols) + 2.0 * SIDE;
    let height = rows(lines.len().max(1)) + BAR + SIDE;
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.1} {height:.1}" width="{width:.0}" role="img" aria-label="{0}">
<title>{0}</title>
<rect width="{width:.1}" height="{height:.1}" rx="9" fill="{BACK}"/>
<circle cx="20" cy="18" r="5.5" fill="{1}"/><circle cx="38" cy="18" r="5.5" fill="{2}"/><circle cx="56" cy="18" r="5.5" fill="{3}"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Noto Sans Mono CJK TC', monospace" font-size="{FONT}" fill="{FRONT}">
<text x="{4:.1}" y="22.5" text-anchor="middle" fill="{5}">{0}</text>
"#,
        escaped(title),
        PALETTE[1],
        PALETTE[3],
        PALETTE[2],
        width / 2.0,
        PALETTE[8],
    );
    for (number, line) in lines.iter().enumerate() {
        draw_line(&mut svg, line, BAR + rows(number));
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

fn draw_line(svg: &mut String, line: &[Cell], top: f64) {
    let mut cells: Vec<(Style, &Cell)> = Vec::with_capacity(line.len());
    for cell in line {
        let style = match cells.last() {
            // The right half of a wide character has no looks of its own.
            Some((left, _)) if cell.is_wide_continuation() => *left,
            _ => Style::of(cell),
        };
        cells.push((style, cell));
    }
    let mut col = 0;
    // Wide characters are fitted apart from others: their font's idea of two columns may differ.
    for run in cells.chunk_by(|(one, a), (other, b)| one == other && wide(a) == wide(b)) {
        let style = run[0].0;
        let (fg, bg) = colours(style);
        let left = SIDE + px(col);
        let length = px(run.len());
        col += run.len();
        // Writing to a String cannot fail.
        if let Some(bg) = bg {
            let _ = writeln!(
                svg,
                r#"<rect x="{left:.1}" y="{top:.1}" width="{length:.1}" height="{LINE}" fill="{bg}"/>"#
            );
        }
        let text: String = run.iter().map(|(_, cell)| text(cell)).collect();
        if text.trim().is_empty() {
            continue;
        }
        let base = top + 14.0;
        let _ = writeln!(
            svg,
            r#"<text x="{left:.1}" y="{base:.1}" textLength="{length:.1}" lengthAdjust="spacingAndGlyphs" xml:space="preserve"{}{}>{}</text>"#,
            fg.map(|fg| format!(r#" fill="{fg}""#)).unwrap_or_default(),
            attributes(style),
            escaped(&text)
        );
    }
}

/// Either half of a wide character.
fn wide(cell: &Cell) -> bool {
    cell.is_wide() || cell.is_wide_continuation()
}

fn text(cell: &Cell) -> &str {
    if cell.has_contents() || cell.is_wide_continuation() { cell.contents() } else { " " }
}

fn px(cols: usize) -> f64 {
    f64::from(u32::try_from(cols).unwrap_or(u32::MAX)) * CELL
}

fn rows(lines: usize) -> f64 {
    f64::from(u32::try_from(lines).unwrap_or(u32::MAX)) * LINE
}

/// Text colour where it is not the usual one, background where there is one.
fn colours(style: Style) -> (Option<String>, Option<String>) {
    let (fg, bg) = (hex(style.fg), hex(style.bg));
    if style.inverse {
        (Some(bg.unwrap_or_else(|| BACK.to_owned())), Some(fg.unwrap_or_else(|| FRONT.to_owned())))
    } else {
        (fg, bg)
    }
}

fn attributes(style: Style) -> String {
    let mut text = String::new();
    for (on, attribute) in [
        (style.bold, r#" font-weight="bold""#),
        (style.dim, r#" opacity="0.62""#),
        (style.italic, r#" font-style="italic""#),
        (style.underline, r#" text-decoration="underline""#),
    ] {
        if on {
            text.push_str(attribute);
        }
    }
    text
}

fn hex(color: Color) -> Option<String> {
    match color {
        Color::Default => None,
        Color::Idx(index @ 0..=15) => Some(PALETTE[usize::from(index)].to_owned()),
        // A cube of 6 × 6 × 6, then 24 greys: the usual extended palette.
        Color::Idx(index @ 16..=231) => {
            let step = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
            let index = index - 16;
            Some(rgb(step(index / 36), step(index / 6 % 6), step(index % 6)))
        }
        Color::Idx(index) => {
            let grey = 8 + 10 * (index - 232);
            Some(rgb(grey, grey, grey))
        }
        Color::Rgb(r, g, b) => Some(rgb(r, g, b)),
    }
}

fn rgb(r: u8, g: u8, b: u8) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU16;

    use super::super::{Size, screen};
    use super::*;

    fn drawn(input: &str) -> String {
        let size = Size { cols: NonZeroU16::new(40).unwrap(), rows: NonZeroU16::new(10).unwrap() };
        draw(&screen::lines(size, input.as_bytes()), 40, "a \"title\" & more")
    }

    #[test]
    fn text_is_escaped_and_runs_keep_their_columns() {
        let svg = drawn("a <b> & \x1b[1;31mred\x1b[0m");
        assert!(svg.contains(">a &lt;b&gt; &amp; </text>"), "{svg}");
        assert!(svg.contains(r##"x="85.2" y="50.0" textLength="25.2" lengthAdjust="spacingAndGlyphs" xml:space="preserve" fill="#ef6b73" font-weight="bold">red<"##), "{svg}");
        assert!(svg.contains("<title>a &quot;title&quot; &amp; more</title>"), "{svg}");
    }

    #[test]
    fn backgrounds_are_drawn_under_blanks_too() {
        let svg = drawn("\x1b[44m  \x1b[0m\x1b[7mx\x1b[0m");
        assert!(svg.contains(r##"width="16.8" height="19" fill="#6cb2f2"/>"##), "{svg}");
        assert!(svg.contains(r##"height="19" fill="#d7dae0"/>"##), "{svg}");
        assert!(svg.contains(r##"fill="#16181d">x<"##), "{svg}");
    }

    #[test]
    fn what_was_erased_keeps_its_background_alone() {
        let svg = drawn("x\x1b[4;7;44m\x1b[K");
        assert!(svg.contains(r##"fill="#6cb2f2"/>"##), "{svg}");
        assert!(!svg.contains(r##"height="19" fill="#d7dae0"/>"##) && !svg.contains("underline"), "{svg}");
    }

    #[test]
    fn a_wide_character_takes_two_columns() {
        let svg = drawn("ab繼續c\x1b[31m完了\x1b[0md");
        for (length, text) in [("16.8", "ab"), ("33.6", "繼續"), ("8.4", "c"), ("33.6", "完了"), ("8.4", "d")]
        {
            let run = svg.lines().find(|line| line.contains(&format!(">{text}<"))).unwrap();
            assert!(run.contains(&format!("textLength=\"{length}\"")), "{run}");
            assert_eq!(run.contains(PALETTE[1]), text == "完了", "{run}");
        }
    }

    #[test]
    fn extended_palette() {
        assert_eq!(hex(Color::Idx(16)).as_deref(), Some("#000000"));
        assert_eq!(hex(Color::Idx(208)).as_deref(), Some("#ff8700"));
        assert_eq!(hex(Color::Idx(231)).as_deref(), Some("#ffffff"));
        assert_eq!(hex(Color::Idx(244)).as_deref(), Some("#808080"));
    }
}
