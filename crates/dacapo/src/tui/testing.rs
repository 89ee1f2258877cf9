//! A stage for tests: the model with real reads, without a terminal. Acts are kept, not done.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use dacapo_app::note::Notes;
use dacapo_app::operations::follow::Hub;
use dacapo_app::operations::list::{Listed, Scope};
use dacapo_app::present::listing::Entry;
use dacapo_core::engine::Kinds;
use dacapo_core::event::{NeedKind, Outcome, StopReason};
use dacapo_core::git::Oid;
use dacapo_core::overview::Brief;
use dacapo_core::process::Supervision;
use dacapo_core::spec::TaskName;
use dacapo_core::view::{CurrentStep, Status};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Size;
use tempfile::TempDir;
use unicode_width::UnicodeWidthStr as _;

use super::effect::{Act, Effect, Services};
use super::glyphs::Glyphs;
use super::home::Home;
use super::key::Key;
use super::live::News;
use super::message::Message;
use super::model::{Model, Outfit, Wanted};
use super::mouse::{Did, Mouse};
use super::sample::Sample;
use super::theme::Theme;
use crate::App;
use crate::messages::{Language, Messages};

/// Where the tasks of tests are.
pub(super) const REPO: &str = "/home/ada/app";

/// By the wall clock.
pub(super) fn now() -> Timestamp {
    "2026-11-16T12:00:00Z".parse().unwrap()
}

/// How somebody looks at it: at one of the two sizes that people have, in one of two languages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) columns: u16,
    pub(super) rows: u16,
    pub(super) language: Language,
}

impl Look {
    pub(super) fn messages(self) -> Messages {
        Messages::new(self.language).for_app()
    }

    /// The app as it looks then.
    pub(super) fn stage(self) -> Stage {
        Stage::in_language(self.columns, self.rows, self.language)
    }

    /// With the tasks of a working day; the one that asks something is on disk, too.
    pub(super) fn day(self) -> Stage {
        self.day_with(&Sample::asking("auth", "Which key shall I use, the blue or the red one?"))
    }

    /// The same, with another one on disk.
    pub(super) fn day_with(self, sample: &Sample) -> Stage {
        let mut stage = self.stage();
        stage.in_repository().on_disk(sample).tasks(a_day());
        stage
    }
}

/// One picture of a screen for each way to look at it, all in `tui/snapshots`.
#[track_caller]
pub(super) fn pictures(screen: &str, draw: impl Fn(Look) -> String) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (columns, rows) in [(80, 24), (160, 50)] {
        for (language, name) in [(Language::English, "en"), (Language::SimplifiedChinese, "zh")] {
            let drawn = draw(Look { columns, rows, language });
            let name = format!("{screen}_{columns}x{rows}_{name}");
            settings.bind(|| insta::assert_snapshot!(name, drawn));
        }
    }
}

pub(crate) fn mouse(did: Did, at: (u16, u16)) -> Mouse {
    Mouse { at: at.into(), did }
}

/// What a terminal is given in this language, if nobody says otherwise.
pub(super) fn glyphs(language: Language) -> Glyphs {
    match language {
        Language::English => Glyphs::Unicode,
        Language::SimplifiedChinese | Language::TraditionalChinese => Glyphs::Narrow,
    }
}

/// The app on a stage.
pub(super) struct Stage {
    pub(super) model: Model,
    pub(super) services: Services,
    /// What was to be done to the world.
    pub(super) acts: Vec<Act>,
    /// Other effects, by name.
    pub(super) effects: Vec<String>,
    pub(super) now: Timestamp,
    size: Size,
    _scratch: TempDir,
}

impl Stage {
    pub(super) fn new(columns: u16, rows: u16) -> Self {
        Self::in_language(columns, rows, Language::English)
    }

    pub(super) fn in_language(columns: u16, rows: u16, language: Language) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let home: PathBuf = scratch.path().into();
        let messages = Messages::new(language).for_app().at_home(&home);
        let app = App {
            env: [("PATH".into(), std::env::var_os("PATH").unwrap_or_default())].into_iter().collect(),
            cwd: Ok(home.clone()),
            user_dir: Some(home),
            program: "dacapo".into(),
            supervision: Supervision::default(),
            kinds: Kinds::default(),
            messages,
            notes: Notes::default(),
        };
        let outfit = Outfit {
            messages,
            theme: Theme::Coloured,
            glyphs: glyphs(language),
            zone: TimeZone::UTC,
            top: Some(REPO.to_owned()),
        };
        let size = Size::new(columns, rows);
        let mut stage = Self {
            model: Model::new(outfit, Scope::Repository, size, now()),
            services: Services { app, hub: Hub::new().unwrap() },
            acts: Vec::new(),
            effects: Vec::new(),
            now: now(),
            size,
            _scratch: scratch,
        };
        let wanted = stage.model.open(Box::new(Home::default()));
        stage.carry_out(wanted);
        stage
    }

    /// Goes into a repository with one commit, where the user has an agent of their own.
    pub(super) fn in_repository(&mut self) -> &mut Self {
        let home = self.services.app.user_dir.clone().unwrap();
        let repo = home.join("app");
        fs::create_dir_all(&repo).unwrap();
        fs::create_dir_all(home.join(".config/dacapo")).unwrap();
        let agent =
            "[agents.mybot]\ncommand = [\"sh\", \"-c\", \"cat\"]\nprompt = \"stdin\"\noutput = \"text\"\n";
        fs::write(home.join(".config/dacapo/config.toml"), agent).unwrap();
        fs::write(repo.join("Makefile"), "test:\n\ttrue\n").unwrap();
        for args in [&["init", "-q", "-b", "main"][..], &["add", "-A"], &["commit", "-qm", "first"]] {
            let mut git = Command::new("git");
            git.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", &home);
            for who in ["AUTHOR", "COMMITTER"] {
                git.env(format!("GIT_{who}_NAME"), "Ada").env(format!("GIT_{who}_EMAIL"), "ada@example.org");
                git.env(format!("GIT_{who}_DATE"), "2026-11-16T11:00:00Z");
            }
            assert!(git.current_dir(&repo).args(args).status().unwrap().success(), "{args:?}");
        }
        self.services.app.cwd = Ok(repo);
        self
    }

    /// Puts the files of a task where those of this repository are.
    pub(super) fn on_disk(&mut self, sample: &Sample) -> &mut Self {
        let name = TaskName::parse(&sample.name).unwrap();
        let to = self.services.app.repository_data().unwrap().task(&name);
        fs::create_dir_all(to.path().join("turns")).unwrap();
        for path in ["spec.json", "journal.jsonl"] {
            fs::copy(sample.dir.path().join(path), to.path().join(path)).unwrap();
        }
        self
    }

    /// Tasks as they are from now on.
    pub(super) fn tasks(&mut self, entries: Vec<Entry>) -> &mut Self {
        self.tasks_of(Scope::Repository, entries)
    }

    pub(super) fn tasks_of(&mut self, scope: Scope, entries: Vec<Entry>) -> &mut Self {
        let listed = Ok(Listed { entries, elsewhere: 0, proofs: None });
        self.hear(Message::Tasks(News { scope, listed }))
    }

    pub(super) fn press(&mut self, keys: &[Key]) -> &mut Self {
        for key in keys {
            self.hear(Message::Key(*key));
        }
        self
    }

    /// The left button goes down and up again at this place of the screen.
    pub(super) fn click(&mut self, column: u16, row: u16) -> &mut Self {
        // One clicks at what one sees.
        self.shown();
        for did in [Did::Press, Did::Release] {
            self.hear(Message::Mouse(mouse(did, (column, row))));
        }
        self
    }

    pub(super) fn types(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            self.hear(Message::Key(Key::Char(c)));
        }
        self
    }

    pub(super) fn resize(&mut self, columns: u16, rows: u16) -> &mut Self {
        self.size = Size::new(columns, rows);
        self.hear(Message::Resized { columns, rows })
    }

    pub(super) fn hear(&mut self, message: Message) -> &mut Self {
        let wanted = self.model.update(message, self.now);
        self.carry_out(wanted);
        self
    }

    /// Reads are done at once; all else is kept.
    fn carry_out(&mut self, wanted: Vec<Wanted>) {
        for Wanted { screen, effect } in wanted {
            match effect {
                Effect::Read(job) => {
                    let answer = job.run(&self.services);
                    self.hear(Message::Answered { screen, answer });
                }
                Effect::Act(act) => self.acts.push(act),
                Effect::Feed(_) => self.effects.push("feed".into()),
                Effect::Copy(text) => self.effects.push(format!("copy {text}")),
                Effect::Run(foreign) => self.effects.push(format!("run {foreign:?}")),
                Effect::Cancel => self.effects.push("cancel".into()),
                Effect::Follow(scope) => self.effects.push(format!("follow {scope:?}")),
                Effect::Suspend => self.effects.push("suspend".into()),
                Effect::Redraw => self.effects.push("redraw".into()),
                Effect::Quit { exit_code } => self.effects.push(format!("quit {exit_code}")),
            }
        }
    }

    /// What the screen shows, without trailing spaces.
    pub(super) fn shown(&self) -> String {
        let backend = TestBackend::new(self.size.width, self.size.height);
        let mut terminal = Terminal::new(backend).unwrap();
        terminal.draw(|frame| self.model.draw(frame)).unwrap();
        let buffer = terminal.backend().buffer();
        let line = |row: u16| {
            let (mut line, mut column) = (String::new(), 0);
            while column < buffer.area.width {
                let symbol = buffer[(column, row)].symbol();
                line.push_str(symbol);
                // The cell behind a wide character is part of it.
                column += u16::try_from(symbol.width()).unwrap().max(1);
            }
            line.trim_end().to_owned()
        };
        let lines: Vec<String> = (0..buffer.area.height).map(line).collect();
        // Where the scratch directory is differs from run to run.
        let home = self.services.app.user_dir.as_ref().unwrap().display().to_string();
        lines.join("\n").trim_end().replace(&home, "~")
    }
}

fn oid(digit: char) -> Option<Oid> {
    Some(Oid::parse(&digit.to_string().repeat(40)).unwrap())
}

/// A task in a worktree of its own, with commits.
pub(super) fn brief(name: &str, status: Status) -> Brief {
    let ended = |outcome| (Some(outcome), Some(StopReason::Iterations));
    let (outcome, stop_reason) = match status {
        Status::Completed => ended(Outcome::Completed),
        Status::Stopped => ended(Outcome::MaxReached),
        Status::Failed => ended(Outcome::Failed),
        Status::Cancelled => ended(Outcome::Cancelled),
        Status::Queued | Status::Running | Status::Waiting | Status::Paused | Status::Interrupted => {
            (None, None)
        }
    };
    Brief {
        name: name.into(),
        repo: REPO.into(),
        status,
        outcome,
        stop_reason,
        verified: false,
        tests: None,
        broken_record: None,
        red: false,
        left_by_hand: 0,
        elapsed_seconds: 0.0,
        last_at: None,
        doing: None,
        prompt: format!("work on {name}"),
        needs: None,
        detail: None,
        iteration: 4,
        max_iterations: Some(10),
        cost_usd: None,
        agent: "claude".into(),
        waiting_until: None,
        created_at: "2026-11-15T10:00:00Z".parse().unwrap(),
        queued_at: None,
        finished_at: None,
        own_branch: Some(format!("refs/heads/dacapo/{name}")),
        merged_into: None,
        pull_request: None,
        base_commit: oid('a'),
        last_commit: oid('b'),
        kind: "loop".into(),
        own: None,
    }
}

pub(super) fn entry(brief: Brief) -> Entry {
    Entry { brief, radar: None, occupies: None }
}

/// One task of each group, as a working day has them.
pub(super) fn a_day() -> Vec<Entry> {
    use dacapo_app::present::listing::Radar;
    let needs =
        Some(NeedKind::Blocked { question: "Which key shall I use, the blue or the red one?".into() });
    let auth = Brief { needs, cost_usd: Some(4.1), elapsed_seconds: 720.0, ..brief("auth", Status::Paused) };
    let tests = Brief {
        verified: true,
        cost_usd: Some(1.2),
        elapsed_seconds: 545.0,
        iteration: 3,
        ..brief("tests", Status::Completed)
    };
    let docs = Brief { red: true, iteration: 10, elapsed_seconds: 4000.0, ..brief("docs", Status::Stopped) };
    let deps = Brief {
        doing: Some(CurrentStep::Agent { agent: "claude".into() }),
        prompt: "Update the dependencies, one after the other, and run the tests after each".into(),
        cost_usd: Some(0.4),
        elapsed_seconds: 100.0,
        last_at: Some("2026-11-16T11:59:30Z".parse().unwrap()),
        ..brief("deps", Status::Running)
    };
    let limit = Brief {
        waiting_until: Some("2026-11-16T14:05:00Z".parse().unwrap()),
        ..brief("limit", Status::Waiting)
    };
    let later = Brief { iteration: 0, ..brief("later", Status::Queued) };
    let old = Brief {
        verified: true,
        merged_into: Some("refs/heads/main".into()),
        ..brief("old", Status::Completed)
    };
    let ready = Entry { radar: Some(Radar::Clean), ..entry(tests) };
    vec![entry(auth), ready, entry(docs), entry(deps), entry(limit), entry(later), entry(old)]
}
