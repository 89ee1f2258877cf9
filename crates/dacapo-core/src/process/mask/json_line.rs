//! Where in a line of JSON a secret may be masked without changing what the line means.
//!
//! Only inside strings, never in the middle of an escape, and never in ids and times: those must stay what they are for
//! a conversation to go on. Names of fields and types are no secrets to begin with (see `format_words.rs`).

/// How much before and behind a match tells where it stands. No id or key is longer.
pub(super) const AROUND: usize = 256;

/// Fields whose values are compared or handed back, and not read by people.
const OPAQUE: &[&str] = &[
    "id",
    "uuid",
    "session_id",
    "sessionId",
    "sessionID",
    "thread_id",
    "threadId",
    "message_id",
    "messageId",
    "messageID",
    "tool_id",
    "tool_use_id",
    "parent_tool_use_id",
    "tool_call_id",
    "toolCallId",
    "parentToolCallId",
    "callID",
    "call_id",
    "agentId",
    "option_id",
    "optionId",
    "timestamp",
    "resets_at",
    "resetsAt",
];

/// What becomes of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MatchContext {
    Text,
    /// In what must stay as it is.
    Structure,
    /// More of the line must be seen to tell.
    Unknown,
}

/// Judges `bytes[start..end]`; `before` is what came before `bytes`. At the end of a stream nothing stays unknown.
pub(super) fn place(before: &[u8], bytes: &[u8], (start, end): (usize, usize)) -> MatchContext {
    let from = start.saturating_sub(AROUND);
    let missing = AROUND - (start - from);
    let mut head = before[before.len().saturating_sub(missing)..].to_vec();
    head.extend_from_slice(&bytes[from..start]);
    // Another line has nothing to say about this one.
    if let Some(newline) = memchr::memrchr(b'\n', &head) {
        head.drain(..=newline);
    }
    // To mask half an escape would make the line invalid JSON, and the parser would lose the whole event.
    if in_escape(&head) {
        return MatchContext::Structure;
    }
    if is_bare(&head, &bytes[start..end]) {
        return match bytes.get(end) {
            _ if bytes[end - 1].is_ascii_punctuation() => MatchContext::Structure,
            Some(next) if b",]} \t\r\n".contains(next) || is_numeric(*next) => MatchContext::Structure,
            Some(_) => MatchContext::Text,
            None => MatchContext::Unknown,
        };
    }
    let Some(opening) = opening_quote(&head) else { return MatchContext::Text };
    if !OPAQUE.iter().any(|name| is_value_of(&head[..opening], name)) {
        return MatchContext::Text;
    }
    let rest = &bytes[end..bytes.len().min(end + AROUND)];
    match rest.iter().find(|byte| matches!(byte, b'"' | b'\\' | b'\n')) {
        Some(b'"') => MatchContext::Structure,
        // With escapes or without an end it is no id.
        Some(_) => MatchContext::Text,
        None if rest.len() == AROUND => MatchContext::Text,
        None => MatchContext::Unknown,
    }
}

/// Whether what follows `head` is the rest of an escape: `\` and its letter, or `\u` and four digits.
fn in_escape(head: &[u8]) -> bool {
    let backslashes = |head: &[u8]| head.iter().rev().take_while(|byte| **byte == b'\\').count();
    if backslashes(head) % 2 == 1 {
        return true;
    }
    let digits = head.iter().rev().take(4).take_while(|byte| byte.is_ascii_hexdigit()).count();
    (0..=digits.min(3)).any(|digits| {
        let (head, _) = head.split_at(head.len() - digits);
        head.last() == Some(&b'u') && backslashes(&head[..head.len() - 1]) % 2 == 1
    })
}

fn is_numeric(byte: u8) -> bool {
    byte.is_ascii_digit() || b"+-.eE".contains(&byte)
}

/// Whether this seems to be a number, or a part of the punctuation of the line, outside all strings: between the last
/// quote and here there is nothing else, and what follows the quote is no text.
fn is_bare(head: &[u8], matched: &[u8]) -> bool {
    let bare = |byte: &u8| is_numeric(*byte) || b",:[]{} \ttruefalsn".contains(byte);
    if !matched.iter().all(bare) {
        return false;
    }
    match head.iter().rposition(|byte| !bare(byte)) {
        Some(quote) if head[quote] == b'"' => {
            let mut then = head[quote + 1..].iter().chain(matched).filter(|byte| !byte.is_ascii_whitespace());
            then.next().is_some_and(|byte| b":,]}".contains(byte))
        }
        Some(_) => false,
        None => true,
    }
}

/// The quote that opens the string in which `head` ends.
fn opening_quote(head: &[u8]) -> Option<usize> {
    memchr::memrchr_iter(b'"', head).find(|quote| {
        let escapes = head[..*quote].iter().rev().take_while(|byte| **byte == b'\\').count();
        escapes % 2 == 0
    })
}

/// Whether `head` ends in `"name":`.
fn is_value_of(head: &[u8], name: &str) -> bool {
    let key = head.trim_ascii_end().strip_suffix(b":").map(<[u8]>::trim_ascii_end);
    key.and_then(|key| key.strip_suffix(b"\""))
        .and_then(|key| key.strip_suffix(name.as_bytes()))
        .is_some_and(|rest| rest.ends_with(b"\"") && !rest.ends_with(b"\\\""))
}
