//! A model call as a script sees it, whichever wire format it came in.

use super::wire::Wire;

/// What a call is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallKind {
    /// The agent's own work: it offers tools.
    Main,
    /// A title, a summary, a question of the agent to itself: it offers none.
    Side,
}

/// One entry of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    /// Standing instructions.
    System(String),
    /// What the user said, or the agent in the user's name.
    User(String),
    /// What the model said.
    Model(String),
    /// A tool the model called, and with what.
    Called(String, String),
    /// What a tool answered.
    Result(String),
}

/// A request for a model.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// The format it came in.
    pub(crate) wire: Wire,
    /// What it is for.
    pub(crate) kind: CallKind,
    /// How many calls of this kind came before it.
    pub(crate) number: u64,
    /// The model that is asked for.
    pub(crate) model: String,
    /// Whether the answer is to be a stream.
    pub(crate) stream: bool,
    /// Names of the tools it offers.
    pub(crate) tools: Vec<String>,
    /// The conversation so far, oldest first.
    pub(crate) said: Vec<Said>,
}

/// What the conversation ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Last<'a> {
    /// The model is asked something.
    Prompt(&'a str),
    /// A tool it called has answered.
    Result(&'a str),
}

impl Call {
    /// What the model is to answer to. Agents add reminders of their own after a tool's answer, so all that was said
    /// since the model's last word is looked at.
    pub(crate) fn last(&self) -> Last<'_> {
        let mut prompt = "";
        for said in self.said.iter().rev() {
            match said {
                Said::Result(text) => return Last::Result(text),
                Said::User(text) if prompt.is_empty() => prompt = text,
                Said::User(_) | Said::System(_) => {}
                Said::Model(_) | Said::Called(..) => break,
            }
        }
        Last::Prompt(prompt)
    }

    /// How often the model has answered in this conversation.
    pub(crate) fn answers(&self) -> usize {
        let mut answers = 0;
        let mut answering = false;
        for said in &self.said {
            let by_model = matches!(said, Said::Model(_) | Said::Called(..));
            answers += usize::from(by_model && !answering);
            answering = by_model;
        }
        answers
    }

    /// The conversation as text, instructions left out: what the model knows of what went before.
    pub(crate) fn history(&self) -> String {
        let lines = self.said.iter().filter_map(|said| match said {
            Said::System(_) => None,
            Said::User(text) => Some(format!("user: {text}\n")),
            Said::Model(text) => Some(format!("model: {text}\n")),
            Said::Called(name, input) => Some(format!("call: {name} {input}\n")),
            Said::Result(text) => Some(format!("result: {text}\n")),
        });
        lines.collect()
    }
}
