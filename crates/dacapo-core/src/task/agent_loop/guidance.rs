//! What a person told and every iteration from then on hears (S2).

/// Standing words, and which of them the agent knows.
#[derive(Debug, Clone, Default)]
pub(super) struct Guidance {
    standing: Vec<String>,
    /// How many of them were said in the agent's present conversation.
    said: usize,
    /// Those in the prompts of the iteration at work. What is told later is for a later one.
    pub(super) heard: Vec<String>,
}

impl Guidance {
    pub(super) fn add(&mut self, text: &str) {
        self.standing.push(text.to_owned());
    }

    /// What no turn has been given yet.
    pub(super) fn unsaid(&self) -> &[String] {
        self.standing.get(self.said..).unwrap_or_default()
    }

    /// The task is completed: what was said has done its part. What no turn was given is for when the task goes on.
    pub(super) fn completed(&mut self) {
        self.standing.drain(..self.said.min(self.standing.len()));
        self.said = 0;
        self.heard.clear();
    }

    /// Takes all of it back. What was said in a conversation that goes on is to be unsaid there: these are the words for it.
    pub(super) fn clear(&mut self) -> Option<String> {
        let said = std::mem::take(&mut self.said);
        let gone = std::mem::take(&mut self.standing);
        let said: Vec<&str> = gone.iter().take(said).map(String::as_str).collect();
        (!said.is_empty()).then(|| format!("This holds no longer:\n{}", said.join("\n")))
    }

    /// A turn starts in a new conversation: it hears all that stands.
    pub(super) fn told_anew(&mut self) {
        self.heard.clone_from(&self.standing);
        self.said = self.standing.len();
    }

    /// A turn goes on in a conversation: it hears what was not said there yet.
    pub(super) fn told_on(&mut self) {
        self.heard.extend_from_slice(&self.standing[self.said.min(self.standing.len())..]);
        self.said = self.standing.len();
    }

    /// The iteration is over.
    pub(super) fn iteration_over(&mut self) {
        self.heard.clear();
    }
}
