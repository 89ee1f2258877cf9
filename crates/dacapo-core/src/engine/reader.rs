//! Reads what an agent printed in a turn, live or later: the same parser, the same result.

use std::fs::File;
use std::io;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::agent::acp::Heard;
use crate::agent::{self, Observed, Observer, ParserSetting};
use crate::event::AgentEvent;
use crate::process::Follower;
use crate::spec::{AgentSpec, OutputFormat, Price};

/// About when this was written, as the user's clock shows it: a new file is of now, one that is read again of then.
pub(super) fn written(file: &File) -> Zoned {
    let time = file.metadata().and_then(|meta| meta.modified()).ok();
    let time = time.and_then(|time| Timestamp::try_from(time).ok()).unwrap_or_else(Timestamp::now);
    time.to_zoned(TimeZone::system())
}

/// A turn's parser and what it looks for.
pub(super) struct Reader {
    parser: Box<dyn agent::Parser>,
    observer: Observer,
    /// For plain text the promise is looked for in the bytes themselves, with echoes of the prompt left aside.
    raw_promise: Option<agent::RawPromise>,
    /// For an agent that does not say what its tokens cost.
    price: Option<Price>,
    file: File,
}

impl Reader {
    pub(super) fn new(
        agent: &AgentSpec,
        setting: ParserSetting,
        promise: Option<&str>,
        masked_prompt: &str,
        file: File,
    ) -> Self {
        let is_text = agent.output == OutputFormat::Text;
        Self {
            parser: agent::parser(agent.output, setting),
            price: agent.price,
            observer: Observer::new(promise.filter(|_| !is_text)),
            raw_promise: promise
                .filter(|_| is_text)
                .and_then(|text| agent::RawPromise::new(text, masked_prompt)),
            file,
        }
    }

    pub(super) fn read(
        mut self,
        mut follower: Follower,
        mut send: impl FnMut(Heard) -> bool,
    ) -> (Observed, Option<io::Error>) {
        let mut buffer = Vec::new();
        let mut error = None;
        let mut listening = true;
        let observer = &mut self.observer;
        let price = self.price;
        let mut hear = |mut heard: Heard| {
            if let Heard::Event(event) = &mut heard {
                if let (AgentEvent::Usage(usage), Some(price)) = (&mut *event, price) {
                    usage.cost_usd = usage.cost_usd.or_else(|| Some(price.of(usage)));
                }
                observer.see(event);
            }
            listening = listening && send(heard);
        };
        loop {
            match follower.next(&mut buffer) {
                Ok(true) => {
                    if let Some(promise) = self.raw_promise.as_mut() {
                        promise.feed(&buffer, &self.file);
                    }
                    self.parser.hear(&buffer, &mut hear);
                    // A process that lives on will print more, but not of this turn.
                    if self.parser.is_over() {
                        break;
                    }
                }
                Ok(false) => break,
                Err(problem) => {
                    error = Some(problem);
                    break;
                }
            }
        }
        self.parser.finish(&mut |event| hear(Heard::Event(event)));
        let mut observed = self.observer.finish();
        observed.promise |= self.raw_promise.is_some_and(agent::RawPromise::finish);
        (observed, error)
    }
}
