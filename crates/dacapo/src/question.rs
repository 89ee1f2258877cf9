//! Questions to the person at the terminal. One is asked only where it can be seen before anything is typed: a command in a
//! pasted block must not take the next line of that block for an answer.

use std::io::{self, IsTerminal as _, Write as _};

use rustix::termios::{QueueSelector, tcflush};

use dacapo_app::question::{Answer, Answers, NotYet, Question};

use crate::App;
use crate::agents;
use crate::args::Show;
use crate::error::Failure;
use crate::inside_task::is_inside;
use crate::request::Driven;
use crate::terminal::is_ready;
use crate::trust;

/// Who could answer a question now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// A person who sees it and has typed nothing yet.
    Person,
    /// Lines are waiting that were typed for somebody else.
    TypedAhead,
    /// No terminal, or output for programs.
    Nobody,
}

impl Audience {
    /// Who reads standard error and writes standard input.
    pub(crate) fn now(show: Show) -> Self {
        let stdin = io::stdin();
        if show.json || show.quiet || !stdin.is_terminal() || !io::stderr().is_terminal() {
            Self::Nobody
        } else if is_ready(&stdin) {
            Self::TypedAhead
        } else {
            Self::Person
        }
    }
}

/// Who can answer what the agents of a task ask: questions are put on standard output and answered on standard input.
pub(crate) fn answers(show: Show, driven: Driven) -> agents::Answers {
    use agents::Answers;
    match driven {
        Driven::InBackground => Answers::ByCommand,
        Driven::Here if show.json || show.quiet => Answers::Nobody,
        Driven::Here if io::stdout().is_terminal() && io::stdin().is_terminal() => Answers::Here,
        Driven::Here => Answers::Nobody,
    }
}

/// What a yes must look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Default {
    /// Enter alone is a yes.
    Yes,
    /// Only a clear yes is one.
    No,
}

/// Asks the person; half a line that was typed before is no answer.
pub(crate) fn yes(question: &str, default: Default) -> bool {
    let stdin = io::stdin();
    let _ = tcflush(&stdin, QueueSelector::IFlush);
    let mut err = anstream::stderr();
    let _ = write!(err, "{question} ").and_then(|()| err.flush());
    let mut answer = String::new();
    let read = stdin.read_line(&mut answer).unwrap_or(0);
    match answer.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => true,
        // The end of input is no Enter.
        "" => read > 0 && default == Default::Yes,
        _ => false,
    }
}

/// Does something for which the user may have to decide something first.
pub(crate) fn asking<T>(
    app: &App,
    show: Show,
    mut act: impl FnMut(&Answers) -> Result<T, NotYet>,
) -> Result<T, Failure> {
    let mut answers = Answers::default();
    loop {
        match act(&answers) {
            Ok(done) => return Ok(done),
            Err(NotYet::Refused(failure)) => return Err(failure),
            Err(NotYet::Ask(question)) => {
                let answer = ask(app, show, &question)?;
                answers.give(*question, answer);
            }
        }
    }
}

fn ask(app: &App, show: Show, question: &Question) -> Result<Answer, Failure> {
    let messages = app.messages;
    let decided = |yes: bool| if yes { Answer::Yes } else { Answer::No };
    Ok(match question {
        Question::Trust { brought } => {
            if !somebody_can_be_trusted(app, show)? {
                return Ok(Answer::Unasked);
            }
            anstream::eprintln!("{}", trust::in_words(brought, messages));
            decided(yes(&messages.question_trust_it(), Default::No))
        }
        Question::Checks { found } => {
            for check in found {
                complain!("{}", messages.question_check(&check.command, &check.evidence));
            }
            match Audience::now(show) {
                Audience::Person => decided(yes(&messages.question_use_checks(found.len()), Default::Yes)),
                Audience::TypedAhead => {
                    complain!("{}{}", messages.label_note(), messages.question_not_asked(found.len()));
                    Answer::Unasked
                }
                Audience::Nobody => Answer::Unasked,
            }
        }
        Question::Setup { found } if Audience::now(show) == Audience::Person => {
            for setup in found {
                anstream::eprintln!("{}", messages.question_setup(&setup.command, &setup.evidence));
            }
            decided(yes(&messages.question_run_setup(found.len()), Default::Yes))
        }
        Question::Plan { path } if Audience::now(show) == Audience::Person => {
            anstream::eprintln!("{}", messages.question_plan(&path.display().to_string()));
            decided(yes(&messages.question_use_plan(), Default::No))
        }
        // The front door alone asks this, in a way of its own.
        Question::ChooseChecks { .. } => Answer::Unasked,
        Question::Setup { .. } | Question::Plan { .. } => Answer::Unasked,
    })
}

/// Not below a guard: an agent can make itself a terminal, and would say yes.
pub(crate) fn somebody_can_be_trusted(app: &App, show: Show) -> Result<bool, Failure> {
    Ok(Audience::now(show) == Audience::Person && !is_inside(app)?)
}
