//! `cargo xtask picture`: an SVG of what a command shows in a terminal, made from its real output.

mod capture;
mod screen;
mod svg;

use std::fs;
use std::num::NonZeroU16;

use crate::{Outcome, shell};

const HELP: &str = "\
cargo xtask picture [OPTIONS] -- CMD ARG…

  --out FILE    where to write it (docs/run.svg)
  --cols N      columns of the terminal (100)
  --rows N      rows of the terminal (40); a longer output is shown whole
  --as TEXT     the command as the picture shows it, instead of CMD; '' for none
  --title TEXT  the window's title (dacapo)

CMD runs in the current folder, in a terminal of its own (`script`, else `tmux`), else with its output in a pipe.
";

struct Wanted {
    out: String,
    size: Size,
    shown: Option<String>,
    title: String,
    command: Vec<String>,
}

/// The terminal, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    cols: NonZeroU16,
    rows: NonZeroU16,
}

/// Runs the command and writes the picture.
pub(crate) fn run(args: &[String]) -> Outcome<bool> {
    if args.is_empty() || args.iter().any(|a| a == "--help") {
        print!("{HELP}");
        return Ok(!args.is_empty());
    }
    let wanted = parse(args)?;
    let output = capture::capture(&wanted.command, wanted.size)?;
    let shown = wanted.shown.unwrap_or_else(|| wanted.command.join(" "));
    let mut written = Vec::new();
    if !shown.is_empty() {
        written.extend(format!("\x1b[32m$\x1b[0m \x1b[1m{shown}\x1b[0m\r\n").into_bytes());
    }
    written.extend(&output.bytes);
    let lines = screen::lines(wanted.size, &written);
    let path = shell::root().join(&wanted.out);
    let picture = svg::draw(&lines, wanted.size.cols.get().into(), &wanted.title);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|e| format!("cannot make {}: {e}", folder.display()))?;
    }
    fs::write(&path, picture).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
    println!(
        "{}: {} lines, by {}; the command ended with {}",
        wanted.out,
        lines.len(),
        output.by,
        output.status
    );
    Ok(true)
}

fn parse(args: &[String]) -> Outcome<Wanted> {
    let mut wanted = Wanted {
        out: "docs/run.svg".to_owned(),
        size: Size { cols: number("--cols", "100")?, rows: number("--rows", "40")? },
        shown: None,
        title: "dacapo".to_owned(),
        command: Vec::new(),
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().cloned().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--out" => wanted.out = value()?,
            "--cols" => wanted.size.cols = number(arg, &value()?)?,
            "--rows" => wanted.size.rows = number(arg, &value()?)?,
            "--as" => wanted.shown = Some(value()?),
            "--title" => wanted.title = value()?,
            "--" => {
                wanted.command = args.cloned().collect();
                break;
            }
            other => return Err(format!("`picture` has no '{other}'; the command comes after `--`")),
        }
    }
    if wanted.command.is_empty() {
        return Err(format!("no command to picture\n\n{HELP}"));
    }
    Ok(wanted)
}

fn number(name: &str, value: &str) -> Outcome<NonZeroU16> {
    match value.parse::<NonZeroU16>() {
        Ok(number) if (10..=400).contains(&number.get()) => Ok(number),
        _ => Err(format!("{name} takes a number from 10 to 400, not '{value}'")),
    }
}
