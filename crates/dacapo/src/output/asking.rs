//! Questions to the person at the terminal, and their answers.

use std::io::BufRead as _;
use std::sync::{Arc, Mutex, PoisonError};

use dacapo_app::messages::Messages;
use dacapo_core::agent::acp::{Choice, Question};
use dacapo_core::engine::Reply;

/// What waits for an answer: how many choices there are, and who wants to know.
type Pending = Arc<Mutex<Option<(Vec<Choice>, Reply)>>>;

/// Listens to the terminal. Reading from it cannot be called off, so one thread does it for all questions: a line that
/// is typed belongs to the question that stands at that moment.
#[derive(Debug, Default)]
pub struct Asking {
    pending: Pending,
    listening: bool,
}

impl Asking {
    /// Puts a question; the lines to show for it.
    pub fn put(&mut self, question: &Question, reply: &Reply, messages: Messages) -> Vec<String> {
        *lock(&self.pending) = Some((question.choices.clone(), reply.clone()));
        let mut lines = vec![messages.ask_permission(&question.what)];
        if !self.listening {
            let pending = Arc::clone(&self.pending);
            let listen = move || listen(&pending, messages);
            let listening = std::thread::Builder::new().name("asking".into()).spawn(listen);
            self.listening = listening.is_ok();
            if let Err(error) = listening {
                // Nobody will ever answer.
                reply.choose(None);
                lines.push(messages.ask_no_terminal(&error.to_string()));
                return lines;
            }
        }
        lines.extend(question.choices.iter().enumerate().map(|(at, choice)| {
            let keys = format!("[{}]", at + 1);
            let name =
                if choice.for_good { messages.ask_for_good(&choice.name) } else { choice.name.clone() };
            format!("  {keys:<4} {name}")
        }));
        lines.push(messages.ask_answer());
        lines
    }

    /// Nobody wants to know any more.
    pub fn withdraw(&mut self) {
        *lock(&self.pending) = None;
    }
}

fn lock(pending: &Pending) -> std::sync::MutexGuard<'_, Option<(Vec<Choice>, Reply)>> {
    pending.lock().unwrap_or_else(PoisonError::into_inner)
}

fn listen(pending: &Pending, messages: Messages) {
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let mut asked = lock(pending);
        let Some((choices, reply)) = asked.as_ref() else { continue };
        match understood(&line, choices) {
            Some(choice) => {
                reply.choose(choice);
                *asked = None;
            }
            None => {
                complain!("{}", messages.ask_not_understood(choices.len()));
            }
        }
    }
    // The terminal is gone: nobody will ever answer.
    if let Some((_, reply)) = lock(pending).take() {
        reply.choose(None);
    }
}

/// What a line means: a choice, or that it is refused although no choice says so.
fn understood(line: &str, choices: &[Choice]) -> Option<Option<usize>> {
    let word = line.trim().to_lowercase();
    let once = |allows: bool| {
        let fitting = choices.iter().enumerate().filter(|(_, choice)| choice.allows == allows);
        fitting.min_by_key(|(_, choice)| choice.for_good).map(|(at, _)| at)
    };
    match word.as_str() {
        "y" | "yes" => once(true).map(Some),
        "n" | "no" => Some(once(false)),
        number => {
            let number: usize = number.parse().ok()?;
            (1..=choices.len()).contains(&number).then(|| Some(number - 1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(allows: bool, for_good: bool) -> Choice {
        Choice { id: "x".into(), name: "x".into(), allows, for_good }
    }

    #[test]
    fn a8_yes_and_no_mean_the_narrowest_choice() {
        let choices = [choice(true, true), choice(true, false), choice(false, false)];
        for (line, expected) in [
            ("y\n", Some(Some(1))),
            (" YES ", Some(Some(1))),
            ("n", Some(Some(2))),
            ("1", Some(Some(0))),
            ("3", Some(Some(2))),
            ("0", None),
            ("4", None),
            ("", None),
            ("sure", None),
        ] {
            assert_eq!(understood(line, &choices), expected, "{line:?}");
        }
        assert_eq!(understood("n", &choices[..1]), Some(None), "refused without a choice for it");
        assert_eq!(understood("y", &choices[2..]), None);
    }
}
