//! `dacapo man`: the manual pages, made from the same words as `--help` (U5).

use std::path::Path;

use clap::CommandFactory as _;
use clap_mangen::Man;

use crate::args::{self, Cli};
use crate::commands::Console;
use crate::error::{Failure, suggest};
use crate::messages::{Messages, command, say};

pub(super) fn run(app: &Console, args: &args::Man) -> Result<u8, Failure> {
    let all = pages()?;
    if let Some(dir) = &args.out {
        write(&all, dir)?;
        app.print(&app.messages.man_pages_written(all.len(), &app.messages.path(dir)));
        return Ok(0);
    }
    let wanted = std::iter::once("dacapo")
        .chain(args.command.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join("-");
    match all.iter().find(|page| page.name == wanted || page.aliases.contains(&wanted)) {
        Some(page) => {
            use std::io::Write as _;
            app.printer.wrote(std::io::stdout().write_all(&page.text));
            Ok(0)
        }
        None => {
            let typed = args.command.join(" ");
            let failure = Failure::usage(say(|m| m.man_no_such_command(&typed)));
            let names = all.iter().filter_map(|page| page.name.strip_prefix("dacapo-"));
            Err(match suggest(&typed, names) {
                Some(close) => failure.hint(command(format_args!("man {}", close.replace('-', " ")))),
                None => failure.hint(say(Messages::command_help_shows_commands)),
            })
        }
    }
}

struct Page {
    /// `dacapo`, `dacapo-spawn`, `dacapo-milestone-start`.
    name: String,
    /// The same, by other names of the command.
    aliases: Vec<String>,
    text: Vec<u8>,
}

fn pages() -> Result<Vec<Page>, Failure> {
    let mut cli = Cli::command();
    cli.build();
    let mut all = Vec::new();
    add(&mut all, &cli, "dacapo".to_owned(), Vec::new()).map_err(|error| {
        let error = error.to_string();
        Failure::failed(say(|m| m.man_not_made(&error)))
    })?;
    Ok(all)
}

fn add(
    all: &mut Vec<Page>,
    command: &clap::Command,
    name: String,
    aliases: Vec<String>,
) -> std::io::Result<()> {
    let mut text = Vec::new();
    Man::new(command.clone()).render(&mut text)?;
    for below in command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help")
    {
        let others = below.get_all_aliases().map(|alias| format!("{name}-{alias}")).collect();
        add(all, below, format!("{name}-{}", below.get_name()), others)?;
    }
    all.push(Page { name, aliases, text });
    Ok(())
}

fn write(all: &[Page], dir: &Path) -> Result<(), Failure> {
    let failed = |path: &Path, error: &std::io::Error| {
        let (path, error) = (path.display().to_string(), error.to_string());
        Failure::failed(say(|m| m.cannot_be_written(&path, &error)))
            .kept(say(Messages::man_kept_pages))
            .hint(say(Messages::man_name_a_directory))
    };
    std::fs::create_dir_all(dir).map_err(|error| failed(dir, &error))?;
    for page in all {
        let path = dir.join(format!("{}.1", page.name));
        std::fs::write(&path, &page.text).map_err(|error| failed(&path, &error))?;
    }
    Ok(())
}
