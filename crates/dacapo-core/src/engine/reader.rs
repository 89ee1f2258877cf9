//! Reads what an agent printed in a turn, live or later: the same parser, the same result.

use std::fs::File;
use std::io;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use super::acp_process::acp_setting;
use super::machine::TurnPlan;
use crate::agent::acp::AcpItem;
use crate::agent::{self, Observed, Observer, ParserSetting};
use crate::event::{AgentEvent, Usage};
use crate::process::Follower;
use crate::spec::{AgentSpec, OutputFormat, Price};
use crate::store::TaskDir;

/// What the parser of a turn must know beside the bytes in `file`, live or later.
pub(crate) fn setting(
    task: &str,
    dir: &TaskDir,
    plan: &TurnPlan,
    agent: &AgentSpec,
    file: &File,
) -> ParserSetting {
    ParserSetting {
        earlier: plan.earlier,
        usage_file: Some(dir.usage_path(&format!("{:04}", plan.turn))),
        now: written(file),
        talk: acp_setting(task, dir, plan, agent),
    }
}

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
    /// And so is what it cannot go on without.
    raw_blocked: Option<agent::RawTag>,
    raw_tests_changed: Option<agent::RawTag>,
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
        let tag = |tag| is_text.then(|| agent::RawTag::new(tag, masked_prompt)).flatten();
        Self {
            parser: agent::parser(agent.output, setting),
            price: agent.price,
            observer: Observer::new(promise.filter(|_| !is_text)),
            raw_promise: promise
                .filter(|_| is_text)
                .and_then(|text| agent::RawPromise::new(text, masked_prompt)),
            raw_blocked: tag(agent::Tag::Blocked),
            raw_tests_changed: tag(agent::Tag::TestsChanged),
            file,
        }
    }

    /// Reads all there is and, live, all there will be.
    pub(super) fn read(
        mut self,
        mut follower: Follower,
        mut send: impl FnMut(AcpItem) -> bool,
    ) -> (Observed, Option<io::Error>) {
        let mut buffer = Vec::new();
        let mut error = None;
        let mut listening = true;
        // Read on to the end even if nobody listens: what the turn came to is in `Observed`.
        let mut hear = |heard: AcpItem| listening = listening && send(heard);
        loop {
            match follower.next(&mut buffer) {
                Ok(true) => {
                    if self.feed(&buffer, &mut hear) {
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
        (self.finish(&mut hear), error)
    }

    /// Takes the next bytes. True: the turn is over; a process that lives on will print more, but not of this turn.
    pub(super) fn feed(&mut self, bytes: &[u8], hear: &mut dyn FnMut(AcpItem)) -> bool {
        if let Some(promise) = self.raw_promise.as_mut() {
            promise.feed(bytes, &self.file);
        }
        for tag in [&mut self.raw_blocked, &mut self.raw_tests_changed].into_iter().flatten() {
            tag.feed(bytes, &self.file);
        }
        let (observer, price) = (&mut self.observer, self.price);
        self.parser.hear(bytes, &mut |heard| hear(seen(heard, observer, price)));
        self.parser.is_over()
    }

    /// The output has ended.
    pub(super) fn finish(mut self, hear: &mut dyn FnMut(AcpItem)) -> Observed {
        let (observer, price) = (&mut self.observer, self.price);
        self.parser.finish(&mut |event| hear(seen(AcpItem::Event(event), observer, price)));
        let mut observed = self.observer.finish();
        observed.promise |= self.raw_promise.is_some_and(|promise| promise.finish(&self.file));
        if let Some(blocked) = self.raw_blocked {
            observed.blocked = blocked.finish(&self.file);
        }
        if let Some(tests_changed) = self.raw_tests_changed {
            observed.tests_changed = tests_changed.finish(&self.file);
        }
        observed
    }
}

/// A parser whose reports of usage have their price.
pub(crate) struct Metered {
    parser: Box<dyn agent::Parser>,
    price: Option<Price>,
}

impl Metered {
    pub(crate) fn new(parser: Box<dyn agent::Parser>, price: Option<Price>) -> Self {
        Self { parser, price }
    }
}

impl agent::Parser for Metered {
    fn feed(&mut self, bytes: &[u8], sink: &mut dyn FnMut(AgentEvent)) {
        let price = self.price;
        self.parser.feed(bytes, &mut |event| sink(priced(event, price)));
    }

    fn finish(&mut self, sink: &mut dyn FnMut(AgentEvent)) {
        let price = self.price;
        self.parser.finish(&mut |event| sink(priced(event, price)));
    }

    fn is_over(&self) -> bool {
        self.parser.is_over()
    }

    fn checkpoint(&self) -> Box<dyn agent::Parser> {
        Box::new(Self { parser: self.parser.checkpoint(), price: self.price })
    }
}

fn priced(event: AgentEvent, price: Option<Price>) -> AgentEvent {
    match event {
        AgentEvent::Usage(usage) => AgentEvent::Usage(metered(usage, price)),
        other => other,
    }
}

/// What can be believed of a report, with its price. What is not known has none.
fn metered(report: Usage, price: Option<Price>) -> Usage {
    let usage = report.believable();
    match price {
        Some(price) if !usage.knows_cost() && usage.knows_tokens() => {
            Usage { cost_usd: Some(usage.cost_at(&price)), cost_unknown: false, ..usage }
        }
        _ => usage,
    }
}

/// What is passed on of what was heard, with its price.
fn seen(mut heard: AcpItem, observer: &mut Observer, price: Option<Price>) -> AcpItem {
    if let AcpItem::Event(event) = heard {
        let event = priced(event, price);
        observer.see(&event);
        heard = AcpItem::Event(event);
    }
    heard
}
