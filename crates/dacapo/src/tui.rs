//! The terminal app: `dacapo` at a terminal. What is true of all of it is in docs/design/tui.md.
//!
//! | modules | what they hold |
//! |---|---|
//! | `terminal`, `input`, `foreign` | the terminal while it is ours, keys and signals, other programs that get it for a while |
//! | `runtime`, `workers`, `follow_tasks` | the one loop, and the threads that read, act and follow for it |
//! | `message`, `effect`, `model` | what happened, what is to be done, and what is known in between, without touching the world |
//! | `screen`, `stack`, `chrome`, `pages` | what every screen is, those that are open, what is around them, and which one shows what |
//! | `theme`, `glyphs`, `text`, `key`, `field` | roles and colours, characters this terminal has, foreign text made harmless, keys, typing |
//! | `mouse`, `selection` | what the mouse did, and the text that is marked with it, for those who want that |
//! | `live`, `acting`, `actions` | the tasks as they are now, operations under way, and what keys do to a task |
//! | `slash`, `carry`, `history` | what a line of the command line means, and doing it |
//! | `home`, `command_line`, `confirm`, `decision`, `question`, `help`, `launch`, `new_task`, `pager`, `settings` | the screens |

use std::io::{self, IsTerminal as _};

use dacapo_app::operations::list::Scope;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::layout::Size;

use crate::App;
use crate::config;
use crate::error::Failure;
use crate::messages::say;

mod acting;
mod actions;
mod before;
mod carry;
mod choice;
mod chrome;
mod command_line;
mod confirm;
mod decision;
mod diff;
mod effect;
mod field;
mod follow_tasks;
mod foreign;
mod glyphs;
mod help;
mod history;
mod home;
mod input;
mod key;
mod launch;
mod live;
mod message;
mod model;
mod mouse;
mod new_task;
mod output;
mod pager;
mod pages;
mod question;
mod receipt;
mod runtime;
#[cfg(test)]
mod sample;
mod screen;
mod selection;
mod settings;
mod slash;
mod stack;
mod task;
mod terminal;
#[cfg(test)]
mod testing;
mod text;
mod theme;
mod workers;

use glyphs::Glyphs;
use home::Home;
use model::{Model, Outfit};
use runtime::Runtime;
pub use slash::commands;
use terminal::MouseOf;
use theme::Theme;

/// Whether somebody sits at a terminal that can show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seat {
    Terminal,
    /// `TERM=dumb`: lines and nothing else.
    DumbTerminal,
    /// A pipe, a file, nobody.
    Elsewhere,
}

impl Seat {
    /// Where this process's streams lead.
    pub fn of(app: &App) -> Self {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Self::Elsewhere;
        }
        match app.var("TERM").and_then(|term| term.to_str()) {
            None | Some("" | "dumb") => Self::DumbTerminal,
            Some(_) => Self::Terminal,
        }
    }
}

/// Opens the app; the exit code when the user has quit.
pub fn run(app: &App) -> Result<u8, Failure> {
    // Commands are named as they are typed here.
    let app = &App { messages: app.messages.for_app(), ..app.clone() };
    let coloured = anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
    let top = app.repository().ok().map(|(repo, _)| repo.toplevel().display().to_string());
    let scope = if top.is_some() { Scope::Repository } else { Scope::Everywhere };
    let config = config::load(&app.config_sources()).map(|loaded| loaded.config).unwrap_or_default();
    let outfit = Outfit {
        messages: app.messages,
        theme: if coloured { Theme::Coloured } else { Theme::Plain },
        glyphs: Glyphs::choose(config.glyphs, |name| app.var(name)),
        zone: TimeZone::system(),
        top,
    };
    let mouse = if config.mouse { MouseOf::App } else { MouseOf::Terminal };
    let unable = |error: io::Error| Failure::failed(say(|m| m.tui_no_terminal(&error.to_string())));
    let size = rustix::termios::tcgetwinsize(io::stdout()).map_or(Size::new(80, 24), |size| {
        Size::new(
            if size.ws_col == 0 { 80 } else { size.ws_col },
            if size.ws_row == 0 { 24 } else { size.ws_row },
        )
    });
    let mut model = Model::new(outfit, scope, size, Timestamp::now());
    let first = model.open(Box::new(Home::default()));
    Runtime::new(app, mouse).and_then(|runtime| runtime.run(model, first)).map_err(unable)
}

#[cfg(test)]
mod tests;
