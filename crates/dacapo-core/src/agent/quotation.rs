//! Tells lines that quote the prompt (`> …`, `│ …`, numbered or indented) from what the agent says itself.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

/// How much of a line is looked at before and behind the promise.
const WINDOW: u64 = 8 << 10;

/// A prefix is not longer than this.
const LONGEST_PREFIX: usize = 64;

/// Marks that nobody puts before their own words.
const QUOTE_MARKS: [char; 8] = ['>', '|', '│', '┃', '▏', '▎', '▌', '»'];

/// This many words of the prompt, directly before or behind the promise, show that it is quoted. Agents often print only the
/// beginning or the end of their prompt, so a quotation need not be whole.
const TELLING_WORDS: usize = 4;

/// What else stands before a quoted line: marks of lists and headings, numbers, blanks.
const OTHER_MARKS: &str = "#*-–•:.)]( \t0123456789";

/// Whether the output goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// More may come.
    Open,
    /// Nothing follows.
    Ended,
}

/// The prompt as quotations are looked up in it.
#[derive(Debug)]
pub(super) struct Quotations {
    /// All words, a blank between two.
    words: String,
    /// Lines with words in them.
    lines: Vec<String>,
    promise: String,
}

/// A line of the output without what stands before it.
struct Quoted<'a> {
    content: &'a str,
    /// It begins with a quotation mark.
    marked: bool,
}

impl Quotations {
    pub(super) fn new(prompt: &str, promise: &str) -> Self {
        let lines = prompt.lines().map(|line| normal(unprefixed(line).content));
        let lines = lines.filter(|line| !line.is_empty()).collect();
        Self { words: normal(prompt), lines, promise: normal(promise) }
    }

    /// Whether the promise at `offset` stands in a line that quotes the prompt; none while too little is written to tell.
    pub(super) fn is_quoted(&self, raw: &File, offset: u64, written: u64, output: Output) -> Option<bool> {
        // What is not in the prompt cannot be a quotation of it.
        if self.promise.is_empty() || !self.words.contains(&self.promise) {
            return Some(false);
        }
        let from = offset.saturating_sub(WINDOW);
        let to = written.min(offset + WINDOW);
        let mut bytes = vec![0; usize::try_from(to - from).unwrap_or(0)];
        // What cannot be read again is not known to be a quotation.
        if raw.read_exact_at(&mut bytes, from).is_err() {
            return Some(false);
        }
        let at = usize::try_from(offset - from).unwrap_or(0).min(bytes.len());
        let begin = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |newline| newline + 1);
        let end = memchr::memchr(b'\n', &bytes[at..]).map(|newline| at + newline);
        // A line longer than the window counts as complete: memory is bounded, and the rest could not change the
        // verdict.
        let complete = output == Output::Ended || to < written || to == offset + WINDOW;
        let end = match end {
            Some(end) => end,
            None if complete => bytes.len(),
            None => return None,
        };
        let line = String::from_utf8_lossy(&bytes[begin..end]).into_owned();
        let quoted = unprefixed(&line);
        let content = normal(quoted.content);
        let says_more = content.len() > self.promise.len();
        if quoted.marked && says_more && self.words.contains(&content) {
            return Some(true);
        }
        let mut undecided = false;
        match self.has_words_of_the_prompt(&bytes, at, complete) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => undecided = true,
        }
        if quoted.marked {
            // The line may be a part of a longer one of the prompt.
            let before = last_line(&bytes[..begin]);
            if before.is_some_and(|before| self.words.contains(&format!("{before} {content}"))) {
                return Some(true);
            }
            match first_line(bytes.get(end + 1..).unwrap_or_default()) {
                Some((after, whole)) if whole || complete => {
                    if self.words.contains(&format!("{content} {after}")) {
                        return Some(true);
                    }
                }
                Some(_) | None => undecided = !complete,
            }
        }
        for (index, _) in self.lines.iter().enumerate().filter(|(_, line)| **line == content) {
            let before = index.checked_sub(1).map(|index| self.lines[index].as_str());
            let after = self.lines.get(index + 1).map(String::as_str);
            let before = before.map(|line| last_line(&bytes[..begin]).is_some_and(|said| said == line));
            let after = after.map(|line| match first_line(bytes.get(end + 1..).unwrap_or_default()) {
                Some((said, whole)) if whole || complete => Some(said == line),
                None if complete => Some(false),
                Some(_) | None => None,
            });
            match (before, after) {
                // It stands alone in the prompt: nothing tells a quotation from the agent's own word.
                (None, None) => {}
                (Some(false), Some(Some(false)) | None) | (None, Some(Some(false))) => {}
                (Some(true), None | Some(Some(true))) | (None, Some(Some(true))) => return Some(true),
                // Half a quotation; with a mark it was found above.
                (Some(true), Some(Some(false))) | (Some(false), Some(Some(true))) => {}
                (_, Some(None)) => undecided = true,
            }
        }
        if undecided { None } else { Some(false) }
    }

    /// Whether the words directly before or behind the promise at `at` are those of the prompt.
    fn has_words_of_the_prompt(&self, bytes: &[u8], at: usize, complete: bool) -> Option<bool> {
        let before = words(&bytes[..at]);
        if let Some(last) = before.len().checked_sub(TELLING_WORDS).map(|from| &before[from..])
            && self.words.contains(&format!("{} {}", last.join(" "), self.promise))
        {
            return Some(true);
        }
        // With what follows it: the promise may have several words itself.
        let mut behind = words(&bytes[at..]);
        let wanted = self.promise.split(' ').count() + TELLING_WORDS;
        // A word at the end of what is written so far may go on.
        let more_may_come = !complete && behind.len() <= wanted;
        behind.truncate(wanted);
        match (self.words.contains(&behind.join(" ")), behind.len() == wanted) {
            (true, true) => Some(true),
            (true, false) if more_may_come => None,
            (true | false, _) => Some(false),
        }
    }
}

/// The words of several lines, without what stands before each line.
fn words(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    text.lines()
        .flat_map(|line| unprefixed(line).content.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

/// The words of a text with one blank between them.
fn normal(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a line says behind its prefix.
fn unprefixed(line: &str) -> Quoted<'_> {
    let mut rest = line;
    let mut marked = false;
    while line.len() - rest.len() < LONGEST_PREFIX {
        if let Some(style) = rest.strip_prefix("\u{1b}[") {
            let Some((_, after)) = style.split_once('m') else { break };
            rest = after;
            continue;
        }
        let Some(first) = rest.chars().next() else { break };
        let mark = QUOTE_MARKS.contains(&first);
        if !mark && !OTHER_MARKS.contains(first) {
            break;
        }
        marked |= mark;
        rest = &rest[first.len_utf8()..];
    }
    Quoted { content: rest, marked }
}

/// What the last line with words in it says.
fn last_line(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    text.lines().rev().map(|line| normal(unprefixed(line).content)).find(|line| !line.is_empty())
}

/// What the first line with words in it says, and whether all of it is there.
fn first_line(bytes: &[u8]) -> Option<(String, bool)> {
    let text = String::from_utf8_lossy(bytes);
    text.split_inclusive('\n')
        .map(|line| (normal(unprefixed(line).content), line.ends_with('\n')))
        .find(|(line, _)| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use crate::agent::observe::RawPromise;

    const PROMISE: &str = "<promise>COMPLETE</promise>";
    const PROMPT: &str = "Build the feature.\n\n  Say <promise>COMPLETE</promise> when it works,\nnever before.\nThe word is:\n<promise>COMPLETE</promise>\nGood luck.\n";

    /// Whether an agent that prints this has made its promise, however the output is cut.
    fn promised(prompt: &str, output: &str) -> bool {
        let with = |size: usize| {
            let mut raw = tempfile::tempfile().unwrap();
            let mut search = RawPromise::new(PROMISE, prompt).unwrap();
            for chunk in output.as_bytes().chunks(size) {
                raw.write_all(chunk).unwrap();
                search.feed(chunk, &raw);
            }
            search.finish(&raw)
        };
        let whole = with(usize::MAX);
        for size in [1, 7, 64] {
            assert_eq!(with(size), whole, "in pieces of {size}: {output}");
        }
        whole
    }

    fn quoted(prefix: impl Fn(usize) -> String) -> String {
        PROMPT.lines().enumerate().map(|(number, line)| format!("{}{line}\n", prefix(number))).collect()
    }

    #[test]
    fn l7_a_quoted_prompt_is_no_promise() {
        let marks: [&dyn Fn(usize) -> String; 9] = [
            &|_| "> ".into(),
            &|_| ">> ".into(),
            &|_| "│ ".into(),
            &|_| "| ".into(),
            &|_| "# ".into(),
            &|_| "    ".into(),
            &|_| "\t".into(),
            &|number| format!("{}. ", number + 1),
            &|_| "\u{1b}[2m> \u{1b}[0m".into(),
        ];
        for mark in marks {
            let echo = quoted(mark);
            assert!(!promised(PROMPT, &echo), "{echo}");
            assert!(!promised(PROMPT, echo.trim_end()), "without a newline at its end: {echo}");
            assert!(!promised(PROMPT, &format!("I read:\n{echo}\nand now I begin\n")), "{echo}");
            assert!(
                promised(PROMPT, &format!("{echo}\nworking\n{PROMISE}\n")),
                "its own word counts: {echo}"
            );
            assert!(promised(PROMPT, &format!("{echo}\nworking\n{PROMISE}")), "{echo}");
        }
        assert!(
            !promised(PROMPT, "> Say <promise>COMPLETE</promise> when\n> it works, never before.\n"),
            "wrapped"
        );
        let alone = "> never before. The word is:\n> <promise>COMPLETE</promise>\n> Good luck.\n";
        assert!(!promised(PROMPT, alone), "wrapped around it");
        assert!(!promised(PROMPT, "> The word is:\n> <promise>COMPLETE</promise>\n\nI begin.\n"), "in part");
    }

    #[test]
    fn l7_a_part_of_the_prompt_is_no_promise() {
        let prompt = "Make it faster.\n\nWhen the task is really and completely done, and only then, end your answer with \
                      exactly this text:\n<promise>COMPLETE</promise>\nIf anything is missing, do not write it: say what \
                      is missing and go on.\n";
        let at = prompt.find(PROMISE).unwrap();
        for end in at + PROMISE.len()..=prompt.len() {
            let echo = format!("I was asked: {}", &prompt[..end]);
            assert!(!promised(prompt, &echo), "{echo}");
            assert!(!promised(prompt, &format!("{echo}…\nNow I begin.\n")), "{echo}");
        }
        for begin in 0..at - 30 {
            let echo = format!("…{}\nNow I begin.\n", &prompt[begin..]);
            assert!(!promised(prompt, &echo), "{echo}");
        }
        let tail = format!("… text:\n{}", &prompt[at..]);
        assert!(!promised(prompt, &tail), "{tail}");
        assert!(promised(prompt, &format!("I was asked: {}\nIt is done.\n{PROMISE}\n", &prompt[..at + 40])));
        assert!(promised(prompt, &format!("It is faster now.\n{PROMISE}\nIf anything is unclear, ask.\n")));
    }

    #[test]
    fn l7_what_the_agent_says_itself_counts() {
        for output in [
            PROMISE,
            "<promise>COMPLETE</promise>\n",
            "  <promise>COMPLETE</promise>\n",
            "> <promise>COMPLETE</promise>\n",
            "- <promise>COMPLETE</promise>\n",
            "# <promise>COMPLETE</promise>",
            "> all is done: <promise>COMPLETE</promise>\n",
            "It works. <promise>COMPLETE</promise> Good luck.\n",
            "The tests pass.\n<promise>COMPLETE</promise>\nGood night.\n",
        ] {
            assert!(promised(PROMPT, output), "{output}");
        }
        assert!(
            promised("Build it.", "> <promise>COMPLETE</promise> as you said\n"),
            "it is not in the prompt"
        );
    }

    #[test]
    fn r3_a_line_without_end_is_decided_in_constant_memory() {
        let output = format!("> {}{PROMISE}{}", "x".repeat(20_000), "y".repeat(20_000));
        assert!(promised(PROMPT, &output));
    }
}
