//! What the program says to people, in every language it speaks, side by side. A message is a method of [`Messages`]; a
//! translation that is missing does not compile, and nothing is looked up at run time.
//!
//! Logs, JSON, commits, prompts and `--help` stay English and are not here.

mod agent_faults;
mod agents;
mod clearing;
mod commands;
mod config;
mod control;
mod counts;
mod doctor;
mod ended;
mod errors;
mod faults;
mod flaws;
mod hints;
mod home;
mod init;
mod kept;
mod labels;
mod language;
mod listing;
mod live;
mod merge;
mod milestone;
mod milestone_page;
mod milestones;
mod needs;
mod next;
mod notes;
mod notices;
mod output_pane;
mod pages;
mod process;
mod progress;
mod pull_request;
mod put_away;
mod questions;
mod request;
mod rooms;
mod script;
mod settings;
mod start;
mod starting;
mod status;
mod surface;
mod surfaces;
mod symbols;
mod takeover;
mod tasks;
mod text;
mod trust;
mod tui;
mod untracked;
mod workspace;

pub use language::Language;
pub use surface::{COMMAND_PREFIX, Surface};
pub use text::{Text, command, english, english_or_null, say};

/// What can be said in one language, on one surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Messages {
    language: Language,
    surface: Surface,
    /// The user's home directory.
    home: Option<&'static str>,
}

impl Messages {
    /// In English, as logs and JSON have it.
    pub const ENGLISH: Self = Self::new(Language::English);

    /// For somebody at a shell.
    pub const fn new(language: Language) -> Self {
        Self { language, surface: Surface::Shell, home: None }
    }

    /// The same for somebody in the terminal app.
    #[must_use]
    pub const fn for_app(self) -> Self {
        Self { surface: Surface::App, ..self }
    }

    pub fn language(self) -> Language {
        self.language
    }
}

/// One message in all languages, as it is written in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub name: &'static str,
    pub english: &'static str,
    pub simplified_chinese: &'static str,
    pub traditional_chinese: &'static str,
}

/// Makes a method of [`Messages`] from each entry, and a list of them for the page of all messages.
///
/// ```text
/// messages! {
///     TASKS, dacapo;
///     hint_kill_ends_it(task: &str) {
///         en: "{dacapo}kill {task} ends it",           // `dacapo kill x` in a shell, `/kill x` in the app
///         zh_cn: "{dacapo}kill {task} 结束它",
///         zh_tw: "{dacapo}kill {task} 結束它",
///     }
///     files(number: u64) {
///         en: (number: "1 file", "{number} files"),   // one, and any other number
///         zh_cn: "{number} 个文件",
///         zh_tw: "{number} 個檔案",
///     }
/// }
/// ```
macro_rules! messages {
    (
        $table:ident, $dacapo:ident;
        $(
            $(#[$meta:meta])*
            $name:ident($($argument:ident: $type:ty),* $(,)?) {
                en: $en:tt,
                zh_cn: $cn:tt,
                zh_tw: $tw:tt $(,)?
            }
        )*
    ) => {
        impl $crate::messages::Messages {
            $(
                $(#[$meta])*
                pub fn $name(self, $($argument: $type),*) -> String {
                    use $crate::messages::Language;
                    // Named by the caller: the texts are literals of the caller's, and find only names from there.
                    let $dacapo = self.prefix();
                    let _ = $dacapo;
                    match self.language() {
                        Language::English => $crate::messages::wording!($en),
                        Language::SimplifiedChinese => $crate::messages::wording!($cn),
                        Language::TraditionalChinese => $crate::messages::wording!($tw),
                    }
                }
            )*
        }

        pub(super) const $table: &[$crate::messages::Entry] = &[$(
            $crate::messages::Entry {
                name: stringify!($name),
                english: stringify!($en),
                simplified_chinese: stringify!($cn),
                traditional_chinese: stringify!($tw),
            }
        ),*];
    };
}

/// The words of one language: a text, or one for a single thing and one for any other number.
macro_rules! wording {
    (($number:ident: $one:literal, $other:literal)) => {
        if $number == 1 { format!($one) } else { format!($other) }
    };
    ($text:literal) => {
        format!($text)
    };
}

pub(crate) use {messages, wording};

/// Every message there is, by topic.
pub const TABLES: &[(&str, &[Entry])] = &[
    ("agent_faults", agent_faults::AGENT_FAULTS),
    ("agents", agents::AGENTS),
    ("clearing", clearing::CLEARING),
    ("commands", commands::COMMANDS),
    ("config", config::CONFIG),
    ("counts", counts::COUNTS),
    ("doctor", doctor::DOCTOR),
    ("ended", ended::ENDED),
    ("errors", errors::ERRORS),
    ("faults", faults::FAULTS),
    ("control", control::CONTROL),
    ("flaws", flaws::FLAWS),
    ("hints", hints::HINTS),
    ("init", init::INIT),
    ("kept", kept::KEPT),
    ("labels", labels::LABELS),
    ("listing", listing::LISTING),
    ("live", live::LIVE),
    ("merge", merge::MERGE),
    ("milestone", milestone::MILESTONE),
    ("milestone_page", milestone_page::MILESTONE_PAGE),
    ("milestones", milestones::MILESTONES),
    ("needs", needs::NEEDS),
    ("next", next::NEXT),
    ("notes", notes::NOTES),
    ("notices", notices::NOTICES),
    ("output_pane", output_pane::OUTPUT_PANE),
    ("pages", pages::PAGES),
    ("process", process::PROCESS),
    ("progress", progress::PROGRESS),
    ("pull_request", pull_request::PULL_REQUEST),
    ("put_away", put_away::PUT_AWAY),
    ("questions", questions::QUESTIONS),
    ("request", request::REQUEST),
    ("rooms", rooms::ROOMS),
    ("script", script::SCRIPT),
    ("settings", settings::SETTINGS),
    ("start", start::START),
    ("starting", starting::STARTING),
    ("status", status::STATUS),
    ("surfaces", surfaces::SURFACES),
    ("symbols", symbols::SYMBOLS),
    ("takeover", takeover::TAKEOVER),
    ("tasks", tasks::TASKS),
    ("trust", trust::TRUST),
    ("tui", tui::TUI),
    ("untracked", untracked::UNTRACKED),
    ("workspace", workspace::WORKSPACE),
];
