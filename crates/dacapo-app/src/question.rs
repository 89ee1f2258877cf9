//! What only the user can decide before something starts. An operation that needs such an answer ends with the question as a
//! value, before anything has changed; the surface puts it to the user and asks for the operation again, with the answer.

use std::path::{Path, PathBuf};

use dacapo_core::git::Repo;
use dacapo_core::proof::Suspects;
use serde::{Deserialize, Serialize};

use crate::App;
use crate::config::{Brought, Loaded, Project, load};
use crate::error::Failure;
use crate::found_checks::FoundCheck;
use crate::inside_task;
use crate::messages::{Messages, say};
use crate::note::Note;
use crate::trust::{self, Store, Using, refused, unconfirmed};

/// Something to be decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "question", rename_all = "snake_case")]
pub enum Question {
    /// Whether what the repository brings may be used, until it changes (R6).
    Trust { brought: Brought },
    /// Whether these are the project's checks.
    Checks { found: Vec<FoundCheck> },
    /// Which commands prove that a task is done: these, others, or none.
    ChooseChecks { found: Vec<FoundCheck> },
    /// Whether these commands make a fresh checkout usable.
    Setup { found: Vec<FoundCheck> },
    /// Whether a plan that is committed and unchanged is to be used. The path is from the top of the repository.
    Plan { path: PathBuf },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Yes,
    No,
    Use(Vec<String>),
    /// Nobody could be asked: each question has its own safe way out.
    Unasked,
}

/// A question with its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    #[serde(flatten)]
    pub question: Question,
    pub answer: Answer,
}

/// What the user has decided so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Answers(Vec<Answered>);

impl Answers {
    pub fn give(&mut self, question: Question, answer: Answer) {
        self.0.push(Answered { question, answer });
    }

    /// Whether somebody has decided something.
    pub fn decide(&self) -> bool {
        self.0.iter().any(|answered| answered.answer != Answer::Unasked)
    }

    /// The answer to exactly this question; without one it is to be asked.
    pub fn to(&self, question: Question) -> Result<Answer, NotYet> {
        match self.0.iter().find(|answered| answered.question == question) {
            Some(answered) => Ok(answered.answer.clone()),
            None => Err(NotYet::Ask(Box::new(question))),
        }
    }
}

/// Why something was not done. A question comes before anything has changed; a failure says what was kept.
#[derive(Debug)]
pub enum NotYet {
    /// The user must be asked first.
    Ask(Box<Question>),
    /// It cannot be done.
    Refused(Failure),
}

impl<E: Into<Failure>> From<E> for NotYet {
    fn from(error: E) -> Self {
        NotYet::Refused(error.into())
    }
}

impl App {
    /// The settings to go by in the checkout at `top`. What the repository's file brings and the operation uses is confirmed
    /// first.
    pub fn settings(&self, top: &Path, uses: &[Using<'_>], answers: &Answers) -> Result<Loaded, NotYet> {
        let mut loaded = load(&self.project_sources(top))?;
        let Some(brought) = unconfirmed(&loaded, uses) else { return Ok(loaded) };
        self.confirm(top, brought, answers)?;
        if let Project::Unconfirmed { then, .. } = loaded.project {
            loaded = *then;
        }
        Ok(loaded)
    }

    /// Something else of the repository that is about to be used, such as a text.
    pub fn brought(&self, top: &Path, brought: Option<&Brought>, answers: &Answers) -> Result<(), NotYet> {
        match brought.filter(|brought| !trust::confirmed(self, top).includes(brought)) {
            Some(brought) => self.confirm(top, brought, answers),
            None => Ok(()),
        }
    }

    fn confirm(&self, top: &Path, brought: &Brought, answers: &Answers) -> Result<(), NotYet> {
        match answers.to(Question::Trust { brought: brought.clone() })? {
            Answer::Yes => {
                // An agent can answer a question, too: at a terminal of its own making, or by an operation.
                inside_task::refuse_order(self, "trust")?;
                self.keep_trust(top, brought);
                Ok(())
            }
            Answer::No => Err(Failure::usage(say(|m| m.trust_not_given(&brought.source)))
                .kept(say(Messages::kept_nothing_started_or_changed))
                .hint(say(Messages::trust_asks_again))
                .hint(say(Messages::trust_config_without_it))
                .into()),
            Answer::Unasked | Answer::Use(_) => Err(refused(brought).into()),
        }
    }

    /// Remembers what the user has confirmed, or had Dacapo write.
    pub fn keep_trust(&self, top: &Path, brought: &Brought) {
        let kept = match brought.source.as_str() {
            trust::GIT_SETTINGS => self.confirm_git_settings(top),
            _ => Store::around(self, top)
                .map_or(Ok(()), |store| store.add(brought).map_err(|error| error.to_string())),
        };
        if let Err(error) = kept {
            self.note(&Note::TrustNotStored { error });
        }
    }

    /// Not by their hash: an agent may make the same settings again.
    fn confirm_git_settings(&self, top: &Path) -> Result<(), String> {
        let repo = Repo::discover(top, &self.env).map_err(|error| error.to_string())?;
        let home = self.home().map_err(|error| error.to_string())?;
        let data = home.repo(repo.common_dir());
        let suspects = Suspects::look(&repo, data.path()).map_err(|error| error.to_string())?;
        suspects.confirm(data.path()).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_counts_for_the_very_question() {
        let plan = |path: &str| Question::Plan { path: path.into() };
        let mut answers = Answers::default();
        assert!(matches!(answers.to(plan("a")), Err(NotYet::Ask(question)) if *question == plan("a")));
        answers.give(plan("a"), Answer::No);
        assert_eq!(answers.to(plan("a")).unwrap(), Answer::No);
        assert!(matches!(answers.to(plan("b")), Err(NotYet::Ask(_))));
    }

    #[test]
    fn questions_and_answers_pass_between_processes() {
        let mut answers = Answers::default();
        let found = vec![FoundCheck { command: "cargo test".into(), evidence: "Cargo.toml".into() }];
        answers.give(Question::Checks { found: found.clone() }, Answer::Yes);
        answers.give(Question::ChooseChecks { found }, Answer::Use(vec!["make ci".into()]));
        answers.give(Question::Plan { path: "PLAN.md".into() }, Answer::Unasked);
        let brought = trust::of_file("a.md", "text").unwrap();
        answers.give(Question::Trust { brought }, Answer::No);
        let text = serde_json::to_string(&answers).unwrap();
        assert_eq!(serde_json::from_str::<Answers>(&text).unwrap(), answers);
        assert!(text.contains(r#""question":"checks","found":[{"command":"cargo test""#), "{text}");
    }
}
