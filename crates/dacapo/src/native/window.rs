//! Keeps a conversation within what the model takes in. What goes first is what can be had again: the output of old
//! tool calls. Then whole old steps. The prompt of this turn stays, to the last byte.

use dacapo_core::context::cut;
use dacapo_core::spec::BYTES_PER_TOKEN;

use super::conversation::Message;

/// How much of an old tool's answer is left.
const SHORT_ANSWER: usize = 300;

/// How many of the newest messages are touched last.
const NEWEST: usize = 6;

const REMARK: &str = "[Earlier steps of this conversation were left out because it became too long. Look at the files \
                      for what has been done.]";

/// A conversation in a turn.
#[derive(Debug)]
pub(super) struct Talk {
    /// What was said in earlier turns.
    earlier: Vec<Message>,
    /// The prompt of this one.
    prompt: Message,
    /// What was said and done since the prompt.
    steps: Vec<Message>,
    /// Something was said that is not here any more.
    left_out: bool,
}

impl Talk {
    pub(super) fn new(earlier: Vec<Message>, prompt: String) -> Self {
        Talk { earlier, prompt: Message::User { text: prompt }, steps: Vec::new(), left_out: false }
    }

    pub(super) fn push(&mut self, message: Message) {
        self.steps.push(message);
    }

    /// All of it, in its order.
    pub(super) fn messages(&self) -> Vec<Message> {
        let remark = self.left_out.then(|| Message::Note { text: REMARK.to_owned() });
        let prompt = std::iter::once(self.prompt.clone());
        self.earlier.iter().cloned().chain(prompt).chain(remark).chain(self.steps.iter().cloned()).collect()
    }

    /// Size in bytes.
    pub(super) fn size(&self) -> usize {
        size(&self.earlier) + self.prompt.size() + size(&self.steps) + REMARK.len()
    }

    fn beyond(&self, goal: usize) -> usize {
        self.size().saturating_sub(goal)
    }
}

/// What a model takes in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    bytes: usize,
}

/// The prompt alone is larger than the window.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PromptTooLarge {
    pub(super) prompt_bytes: usize,
    pub(super) window_bytes: usize,
}

impl Window {
    /// `fixed` is what every request holds beside the conversation, in bytes.
    pub(super) fn new(context_tokens: u64, max_output_tokens: Option<u32>, fixed: usize) -> Self {
        let most = usize::MAX / BYTES_PER_TOKEN;
        let tokens = usize::try_from(context_tokens).unwrap_or(most).min(most);
        // Question and answer share the window.
        let answer = max_output_tokens.map_or(tokens / 8, |most| (most as usize).min(tokens / 2));
        Window { bytes: ((tokens - answer) * BYTES_PER_TOKEN).saturating_sub(fixed) }
    }

    /// The same for a model that turned out to take less.
    pub(super) fn smaller(self) -> Self {
        Window { bytes: self.bytes / 10 * 7 }
    }

    /// Makes the conversation fit.
    pub(super) fn fit(self, talk: &mut Talk) -> Result<(), PromptTooLarge> {
        let prompt_bytes = talk.prompt.size() + REMARK.len();
        if prompt_bytes > self.bytes {
            return Err(PromptTooLarge { prompt_bytes, window_bytes: self.bytes });
        }
        if talk.size() <= self.bytes {
            return Ok(());
        }
        // More room than is needed now: to take a little away at every step would spoil the cache that endpoints keep
        // of the beginning.
        let goal = (self.bytes / 10 * 7).max(prompt_bytes);
        let old = talk.steps.len().saturating_sub(NEWEST);
        let excess = talk.beyond(goal);
        shorten(&mut talk.earlier, excess);
        let excess = talk.beyond(goal);
        shorten(&mut talk.steps[..old], excess);
        let excess = talk.beyond(goal);
        talk.left_out |= fold(&mut talk.earlier, excess, 0);
        let excess = talk.beyond(goal);
        talk.left_out |= fold(&mut talk.steps, excess, NEWEST);
        if talk.size() > self.bytes {
            let excess = talk.beyond(goal);
            shorten(&mut talk.steps, excess);
        }
        if talk.size() > self.bytes {
            let excess = talk.beyond(goal);
            talk.left_out |= fold(&mut talk.steps, excess, 0);
        }
        Ok(())
    }
}

fn size(messages: &[Message]) -> usize {
    messages.iter().map(Message::size).sum()
}

/// Shortens answers of tools, the oldest first, until so many bytes are gained.
fn shorten(messages: &mut [Message], mut excess: usize) {
    for message in messages {
        if excess == 0 {
            return;
        }
        let before = message.size();
        if let Message::Results { answers } = message {
            for answer in answers.iter_mut().filter(|answer| answer.output.len() > SHORT_ANSWER * 2) {
                answer.output = format!(
                    "{}\n[shortened from {} bytes; use the tool again to see them]",
                    cut(&answer.output, SHORT_ANSWER),
                    answer.output.len()
                );
            }
        }
        excess = excess.saturating_sub(before - message.size());
    }
}

/// Leaves out the oldest messages until so many bytes are gained, but not the newest `keep`. Calls and their answers go
/// together. Tells whether any are gone.
fn fold(messages: &mut Vec<Message>, mut excess: usize, keep: usize) -> bool {
    let mut gone = 0;
    while excess > 0 && gone + keep < messages.len() {
        // Endpoints refuse a result without its call, and a call without its result.
        let answered = matches!(messages.get(gone + 1), Some(Message::Results { .. }));
        let next = if answered { gone + 2 } else { gone + 1 };
        excess = excess.saturating_sub(size(&messages[gone..next]));
        gone = next;
    }
    messages.drain(..gone);
    gone > 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Map;

    use super::super::conversation::{Call, ToolAnswer, is_whole};
    use super::*;

    fn step(n: usize, output: usize) -> [Message; 2] {
        let id = n.to_string();
        let call = Call { id: id.clone(), name: "shell".into(), arguments: Map::new() };
        [
            Message::Assistant { text: format!("step {n}"), calls: vec![call], thoughts: Vec::new() },
            Message::Results { answers: vec![ToolAnswer { id, output: "x".repeat(output) }] },
        ]
    }

    fn talk(earlier: usize, prompt: &str, steps: usize, output: usize) -> Talk {
        let mut before = Vec::new();
        for n in 0..earlier {
            before.push(Message::User { text: format!("earlier {n}") });
            before.extend(step(n, output));
            before.push(Message::said("done"));
        }
        let mut talk = Talk::new(before, prompt.into());
        (0..steps).flat_map(|n| step(earlier + n, output)).for_each(|message| talk.push(message));
        talk
    }

    fn window(bytes: usize) -> Window {
        Window { bytes }
    }

    #[test]
    fn what_fits_is_not_touched() {
        let mut all = talk(2, "do it", 3, 1000);
        let before = all.messages();
        window(all.size()).fit(&mut all).unwrap();
        assert_eq!(all.messages(), before);
    }

    #[test]
    fn old_answers_are_shortened_before_anything_is_left_out() {
        let mut all = talk(1, "do it", 20, 4000);
        window(40_000).fit(&mut all).unwrap();
        let messages = all.messages();
        assert_eq!(messages.len(), 4 + 1 + 40);
        let Message::Results { answers } = &messages[6] else { panic!() };
        assert!(answers[0].output.ends_with("[shortened from 4000 bytes; use the tool again to see them]"));
        let Some(Message::Results { answers }) = messages.last() else { panic!() };
        assert_eq!(answers[0].output.len(), 4000, "the newest is whole");
    }

    #[test]
    fn the_oldest_steps_go_and_the_prompt_stays() {
        let prompt = "p".repeat(3000);
        let mut all = talk(5, &prompt, 100, 500);
        window(10_000).fit(&mut all).unwrap();
        let messages = all.messages();
        assert!(all.size() <= 10_000);
        assert_eq!(messages[0], Message::User { text: prompt });
        assert_eq!(messages[1], Message::Note { text: REMARK.into() });
        let Some(Message::Assistant { text, .. }) = messages.iter().nth_back(1) else { panic!() };
        assert_eq!(text, "step 104", "the newest stays");
        assert!(is_whole(&messages));
    }

    #[test]
    fn a_single_step_that_fills_the_window_goes_too() {
        let mut all = talk(0, "do it", 1, 10);
        let mut arguments = Map::new();
        arguments.insert("content".into(), "x".repeat(50_000).into());
        let call = Call { id: "w".into(), name: "write_file".into(), arguments };
        all.push(Message::Assistant { text: String::new(), calls: vec![call], thoughts: Vec::new() });
        all.push(Message::Results { answers: vec![ToolAnswer { id: "w".into(), output: "ok".into() }] });
        window(20_000).fit(&mut all).unwrap();
        assert_eq!(
            all.messages(),
            [Message::User { text: "do it".into() }, Message::Note { text: REMARK.into() }]
        );
    }

    #[test]
    fn a_prompt_beyond_the_window_is_refused() {
        let mut all = talk(0, &"p".repeat(5000), 0, 0);
        let refused = window(4000).fit(&mut all).unwrap_err();
        assert_eq!(refused.window_bytes, 4000);
        assert!(refused.prompt_bytes > 5000);
    }

    #[test]
    fn any_number_of_tokens_is_a_window() {
        for tokens in [0, 1, 8, 4096, u64::MAX] {
            let _ = Window::new(tokens, None, 3000).smaller();
            let _ = Window::new(tokens, Some(u32::MAX), usize::MAX);
        }
        assert_eq!(Window::new(1000, None, 0).bytes, 875 * 4);
        assert_eq!(Window::new(1000, Some(900), 0).bytes, 500 * 4);
    }

    proptest! {
        #[test]
        fn it_always_fits_is_whole_and_keeps_the_prompt(
            earlier in 0_usize..5, steps in 0_usize..30, output in 0_usize..3000, prompt in 0_usize..2000, bytes in 2300_usize..20_000
        ) {
            let prompt = "p".repeat(prompt);
            let mut all = talk(earlier, &prompt, steps, output);
            prop_assert_eq!(window(bytes).fit(&mut all), Ok(()));
            let messages = all.messages();
            prop_assert!(all.size() <= bytes, "{} > {}", all.size(), bytes);
            prop_assert!(is_whole(&messages));
            let prompt = Message::User { text: prompt };
            prop_assert!(messages.contains(&prompt));
        }
    }
}
