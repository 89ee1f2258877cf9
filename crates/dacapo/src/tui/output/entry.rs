//! What a turn says, as entries that can be laid out one by one: a line of a message, a tool call, a remark.

use dacapo_app::present::{faults, words};
use dacapo_core::event::AgentEvent;
use dacapo_core::follow::{Group, Side};

use super::markdown::{Block, Fence};
use crate::messages::Messages;
use crate::tui::text::clean;

/// A line without an end is cut into entries of so many bytes: none is laid out in one piece that takes a while.
const LONGEST: usize = 8 << 10;
/// A message that comes in small pieces without ever ending its line is cut, too.
const MOST_GATHERED: usize = 8 * LONGEST;

/// Where an entry begins. It is the same whenever the turn is read, and entries are in its order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Anchor {
    pub(crate) turn: u32,
    /// Of the line of output that says so, in bytes.
    pub(crate) offset: u64,
    /// Which of the events of that line, from 1; 0 is the heading of the turn.
    pub(crate) part: u32,
    /// Which line of that event's text.
    pub(crate) line: u32,
}

impl Anchor {
    /// Before all that the turn says.
    pub(crate) fn heading(turn: u32) -> Self {
        Self { turn, ..Self::default() }
    }
}

/// Something that is laid out in one piece.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) at: Anchor,
    pub(crate) body: Body,
}

/// What it is. All text in it is clean: nothing of it can drive a terminal.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Body {
    Heading(String),
    /// A line of what the agent says.
    Said {
        text: String,
        block: Block,
    },
    /// A line of what it thinks.
    Thought(String),
    Call(Call),
    /// What a tool answered whose call is not in sight.
    Answer(Answer),
    Plan(Vec<String>),
    /// What went wrong, or almost.
    Remark {
        text: String,
        severity: Severity,
    },
    /// A line as it was printed.
    Raw(String),
    /// A line of a patch.
    Patch(String),
}

/// It uses a tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) summary: String,
    pub(crate) answer: Option<Answer>,
}

/// A tool has answered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) id: String,
    pub(crate) failed: bool,
    pub(crate) lines: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Severity {
    Warning,
    Error,
}

impl Entry {
    /// Bytes in memory, roughly.
    pub(super) fn size(&self) -> usize {
        let lines = |lines: &[String]| lines.iter().map(String::len).sum::<usize>();
        let text = match &self.body {
            Body::Heading(text)
            | Body::Said { text, .. }
            | Body::Thought(text)
            | Body::Remark { text, .. }
            | Body::Raw(text)
            | Body::Patch(text) => text.len(),
            Body::Call(call) => {
                call.summary.len() + call.answer.as_ref().map_or(0, |answer| lines(&answer.lines))
            }
            Body::Answer(answer) => lines(&answer.lines),
            Body::Plan(steps) => lines(steps),
        };
        text + size_of::<Self>()
    }

    /// All that can be read in it, line by line, folded or not.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let (one, name, many): (&str, &str, &[String]) = match &self.body {
            Body::Heading(text)
            | Body::Said { text, .. }
            | Body::Thought(text)
            | Body::Remark { text, .. }
            | Body::Raw(text)
            | Body::Patch(text) => (text, "", &[]),
            Body::Call(call) => {
                let lines = call.answer.as_ref().map_or(&[] as &[String], |answer| &answer.lines);
                (&call.summary, &call.name, lines)
            }
            Body::Answer(answer) => ("", "", &answer.lines),
            Body::Plan(steps) => ("", "", steps),
        };
        [name, one].into_iter().chain(many.iter().map(String::as_str))
    }

    /// Whether it shows less than there is when it is folded.
    pub(super) fn can_unfold(&self) -> bool {
        match &self.body {
            Body::Call(call) => call.answer.as_ref().is_some_and(|answer| !answer.lines.is_empty()),
            Body::Answer(answer) => answer.lines.len() > 1,
            Body::Heading(_)
            | Body::Said { .. }
            | Body::Thought(_)
            | Body::Plan(_)
            | Body::Remark { .. }
            | Body::Raw(_)
            | Body::Patch(_) => false,
        }
    }
}

/// Whose words are being gathered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Voice {
    Said,
    Thought,
}

#[derive(Debug)]
struct Begun {
    at: Anchor,
    voice: Voice,
    text: String,
}

/// How a file is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    pub(super) side: Side,
    pub(super) cloth: Cloth,
    pub(super) messages: Messages,
}

/// What lines are that are shown as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cloth {
    Text,
    Patch,
}

/// Whether it is known that a line begins where reading begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Footing {
    /// A line begins there.
    Sure,
    /// It may be in the middle of one: what comes before the next line that surely begins is left out.
    Unsure,
}

/// Turns what is read of one turn, from some place on, into entries.
#[derive(Debug)]
pub(super) struct Weaver {
    turn: u32,
    manner: Manner,
    footing: Footing,
    fence: Fence,
    begun: Option<Begun>,
    /// Entries up to this one are known already.
    after: Option<Anchor>,
}

impl Weaver {
    pub(super) fn new(turn: u32, manner: Manner, footing: Footing) -> Self {
        let footing = if manner.side == Side::Told { footing } else { Footing::Sure };
        Self { turn, manner, footing, fence: Fence::default(), begun: None, after: None }
    }

    /// Goes on after an entry; reading begins at the line of output in which that one begins.
    pub(super) fn after(entry: &Entry, manner: Manner) -> Self {
        let mut weaver = Self::new(entry.at.turn, manner, Footing::Sure);
        if let Body::Said { block, .. } = &entry.body {
            weaver.fence = Fence::before(*block);
        }
        weaver.after = Some(entry.at);
        weaver
    }

    /// Leaves out entries up to this one, of which nothing but the place is known; reading begins at its line of output.
    pub(super) fn behind(anchor: Anchor, manner: Manner) -> Self {
        let mut weaver = Self::new(anchor.turn, manner, Footing::Sure);
        weaver.after = Some(anchor);
        weaver
    }

    /// Takes in what the next line of output says.
    pub(super) fn feed(&mut self, group: &Group, out: &mut Vec<Entry>) {
        for (nth, event) in group.events.iter().enumerate() {
            let part = u32::try_from(nth + 1).unwrap_or(u32::MAX);
            let at = Anchor { turn: self.turn, offset: group.start, part, line: 0 };
            match self.manner.side {
                Side::Told => self.event(at, event, out),
                Side::Raw | Side::Stderr => {
                    if let AgentEvent::Text { text } = event {
                        let body = |piece: &str| match self.manner.cloth {
                            Cloth::Text => Body::Raw(clean(piece)),
                            Cloth::Patch => Body::Patch(clean(piece)),
                        };
                        let raw = |(line, piece): (u32, &str)| Entry {
                            at: Anchor { line, ..at },
                            body: body(piece),
                        };
                        out.extend(pieces(text).map(raw).filter(|entry| Some(entry.at) > self.after));
                    }
                }
            }
        }
    }

    /// The line that has no end yet.
    pub(super) fn begun(&self) -> Option<Entry> {
        self.begun.as_ref().filter(|begun| Some(begun.at) > self.after).map(|begun| self.entry(begun))
    }

    /// The turn is over, or something else comes: the line that was begun is at its end.
    pub(super) fn finish(&mut self, out: &mut Vec<Entry>) {
        if let Some(begun) = self.begun.take() {
            let entry = self.entry(&begun);
            // Lines before the one that is known are read once more; what they begin is known from that one.
            if begun.voice == Voice::Said && Some(begun.at) >= self.after {
                self.fence.pass(&begun.text);
            }
            self.push(entry, out);
        }
    }

    fn push(&self, entry: Entry, out: &mut Vec<Entry>) {
        if Some(entry.at) > self.after {
            out.push(entry);
        }
    }

    fn entry(&self, begun: &Begun) -> Entry {
        let text = clean(begun.text.trim_end());
        let body = match begun.voice {
            Voice::Said => Body::Said { block: self.fence.block_of(&text), text },
            Voice::Thought => Body::Thought(text),
        };
        Entry { at: begun.at, body }
    }

    fn event(&mut self, at: Anchor, event: &AgentEvent, out: &mut Vec<Entry>) {
        let remark = |text: String, severity| Body::Remark { text: clean(&text), severity };
        let one = |text: &str| words::line(text, words::WHOLE);
        let body = match event {
            AgentEvent::Text { text } => return self.say(at, text, Voice::Said, out),
            AgentEvent::Thinking { text } => return self.say(at, text, Voice::Thought, out),
            // Between two pieces of one message agents count.
            AgentEvent::Usage(_) => return,
            AgentEvent::ToolCall { id, name, summary } => Some(Body::Call(Call {
                id: id.clone(),
                name: one(name),
                summary: one(summary),
                answer: None,
            })),
            AgentEvent::ToolResult { id, failed, output } => Some(Body::Answer(Answer {
                id: id.clone(),
                failed: *failed,
                lines: output.trim_end().lines().map(clean).collect(),
            })),
            AgentEvent::Plan { steps } => Some(Body::Plan(steps.iter().map(|step| one(step)).collect())),
            AgentEvent::Retry { message, status } => {
                Some(remark(words::retrying(message, *status, self.manner.messages), Severity::Warning))
            }
            AgentEvent::Refused { what } => {
                Some(remark(self.manner.messages.live_not_allowed(&one(what)), Severity::Warning))
            }
            AgentEvent::Limit { message, .. } => Some(remark(one(message), Severity::Warning)),
            AgentEvent::Error { fault, .. } => {
                Some(remark(one(&faults::told(fault, self.manner.messages)), Severity::Error))
            }
            AgentEvent::Session { .. } | AgentEvent::End { .. } => None,
        };
        self.finish(out);
        self.footing = Footing::Sure;
        if Some(at) > self.after {
            self.fence = Fence::default();
        }
        if let Some(body) = body {
            self.push(Entry { at, body }, out);
        }
    }

    fn say(&mut self, at: Anchor, text: &str, voice: Voice, out: &mut Vec<Entry>) {
        // Who thinks in between begins another message.
        if voice == Voice::Thought && self.begun.as_ref().is_none_or(|begun| begun.voice == Voice::Said) {
            self.finish(out);
            if Some(at) > self.after {
                self.fence = Fence::default();
            }
        }
        for (line, piece) in pieces(text) {
            let ends = piece.ends_with('\n');
            if self.footing == Footing::Unsure {
                if ends {
                    self.footing = Footing::Sure;
                }
                continue;
            }
            let is_other = |begun: &Begun| begun.voice != voice || begun.text.len() > MOST_GATHERED;
            if self.begun.as_ref().is_some_and(is_other) {
                self.finish(out);
            }
            let begun = self.begun.get_or_insert_with(|| Begun {
                at: Anchor { line, ..at },
                voice,
                text: String::new(),
            });
            begun.text.push_str(piece);
            if ends || piece.len() >= LONGEST - 3 {
                self.finish(out);
            }
        }
    }
}

/// The lines of a text with their ends; of a very long one pieces, cut between characters.
fn pieces(text: &str) -> impl Iterator<Item = (u32, &str)> {
    let mut rest = text;
    let mut next = 0_u32;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let line = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |end| end + 1);
        let mut end = line.min(LONGEST);
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        let (piece, after) = rest.split_at(end);
        rest = after;
        let nth = next;
        next += 1;
        Some((nth, piece))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(text: &str) -> AgentEvent {
        AgentEvent::Text { text: text.into() }
    }

    fn call(id: &str) -> AgentEvent {
        AgentEvent::ToolCall { id: id.into(), name: "Bash".into(), summary: "cargo test".into() }
    }

    fn groups(events: &[AgentEvent]) -> Vec<Group> {
        let group = |(nth, event): (usize, &AgentEvent)| {
            let start = 10 * nth as u64;
            Group { start, end: start + 10, events: vec![event.clone()] }
        };
        events.iter().enumerate().map(group).collect()
    }

    fn woven(mut weaver: Weaver, groups: &[Group]) -> Vec<Entry> {
        let mut out = Vec::new();
        groups.iter().for_each(|group| weaver.feed(group, &mut out));
        weaver.finish(&mut out);
        out
    }

    fn manner() -> Manner {
        Manner { side: Side::Told, cloth: Cloth::Text, messages: Messages::ENGLISH }
    }

    fn weaver(footing: Footing) -> Weaver {
        Weaver::new(3, manner(), footing)
    }

    fn lines(entries: &[Entry]) -> Vec<String> {
        entries
            .iter()
            .map(|entry| entry.texts().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn pieces_of_a_message_are_lines_of_it() {
        let events = [
            text("I fix "),
            AgentEvent::Usage(<_>::default()),
            text("it.\n\nThen 繼"),
            text("續"),
            call("a"),
        ];
        let entries = woven(weaver(Footing::Sure), &groups(&events));
        assert_eq!(lines(&entries), ["I fix it.", "", "Then 繼續", "Bash cargo test"]);
        let at: Vec<_> =
            entries.iter().map(|entry| (entry.at.offset, entry.at.part, entry.at.line)).collect();
        assert_eq!(at, [(0, 1, 0), (20, 1, 1), (20, 1, 2), (40, 1, 0)]);
    }

    #[test]
    fn nothing_in_an_entry_can_drive_a_terminal() {
        let evil = "a\u{1b}[2Jb\u{202e}c\u{7}\u{9b}1md\r";
        let result =
            AgentEvent::ToolResult { id: "a".into(), failed: true, output: format!("{evil}\n{evil}") };
        let refused = AgentEvent::Refused { what: evil.into() };
        let plan = AgentEvent::Plan { steps: vec![evil.into()] };
        let call = AgentEvent::ToolCall { id: "a".into(), name: evil.into(), summary: evil.into() };
        let thought = AgentEvent::Thinking { text: evil.into() };
        let entries =
            woven(weaver(Footing::Sure), &groups(&[text(evil), thought, call, result, refused, plan]));
        assert_eq!(entries.len(), 6);
        for shown in entries.iter().flat_map(Entry::texts) {
            let bad = |c: char| c.is_control() || dacapo_core::context::is_deceptive(c);
            assert!(!shown.chars().any(bad), "{shown:?}");
        }
    }

    #[test]
    fn a_line_without_end_is_cut_between_characters() {
        let long = "繼".repeat(LONGEST);
        let entries = woven(weaver(Footing::Sure), &groups(&[text(&long)]));
        assert!(entries.len() > 2 && entries.iter().all(|entry| entry.size() < 2 * LONGEST));
        assert_eq!(lines(&entries).concat(), long);
        let mut small = weaver(Footing::Sure);
        let mut out = Vec::new();
        for group in groups(&vec![text("drip"); 60_000]) {
            small.feed(&group, &mut out);
        }
        assert!(out.len() > 2 && out.iter().all(|entry| entry.size() < 2 * MOST_GATHERED));
    }

    fn any_event() -> impl Strategy<Value = AgentEvent> {
        prop_oneof![
            4 => "(```|diff|[a-z `]{0,4})\n?(```|[a-z繼]{0,3})\n?".prop_map(|said| text(&said)),
            1 => Just(call("x")),
            1 => "[a-z]{1,3}\n?".prop_map(|text| AgentEvent::Thinking { text }),
            1 => Just(AgentEvent::Usage(<_>::default())),
        ]
    }

    proptest! {
        #[test]
        fn reading_from_the_middle_gives_the_same_entries(events in prop::collection::vec(any_event(), 1..20), from: prop::sample::Index) {
            let groups = groups(&events);
            let all = woven(weaver(Footing::Sure), &groups);
            let part = woven(weaver(Footing::Unsure), &groups[from.index(groups.len())..]);
            let at = |entries: &[Entry]| entries.iter().map(|entry| (entry.at, lines(std::slice::from_ref(entry)))).collect::<Vec<_>>();
            prop_assert!(at(&all).ends_with(&at(&part)), "{all:?} {part:?}");
        }

        #[test]
        fn going_on_after_an_entry_gives_the_rest(events in prop::collection::vec(any_event(), 1..20), nth: prop::sample::Index) {
            let groups = groups(&events);
            let all = woven(weaver(Footing::Sure), &groups);
            prop_assume!(!all.is_empty());
            let nth = nth.index(all.len());
            let from = groups.iter().position(|group| group.start == all[nth].at.offset).unwrap();
            let rest = woven(Weaver::after(&all[nth], manner()), &groups[from..]);
            prop_assert_eq!(&rest, &all[nth + 1..]);
        }
    }
}
