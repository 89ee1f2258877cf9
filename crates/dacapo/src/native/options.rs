//! The arguments of the hidden command. Other programs write them, so they are plain: every option has a value but
//! `--complete`, and there is nothing else.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use dacapo_core::spec::Approval;

use crate::config::Api;

/// What most models of today take in.
const CONTEXT_TOKENS: u64 = 128_000;

/// A model that has not come to an end after so many steps is going round in circles.
const MAX_STEPS: u32 = 200;

/// A call that says nothing for so long says nothing at all.
const SILENCE: Duration = Duration::from_secs(5 * 60);

/// The first pause before a call is made again; each next one is twice as long.
const BACKOFF: Duration = Duration::from_secs(1);

pub(super) const USAGE: &str = "usage: dacapo __native --api openai|anthropic --model M [--base-url URL] \
     [--key-env NAME] [--approval auto|edits|read-only] [--context-tokens N] [--max-output-tokens N] \
     [--sessions DIR [--session ID | --new-session ID]] [--complete] <PROMPT";

#[derive(Debug, PartialEq)]
pub(super) struct Options {
    pub(super) task: Task,
    pub(super) api: Api,
    pub(super) base_url: Option<String>,
    pub(super) key_env: Option<String>,
    pub(super) model: String,
    /// What the model can take in, prompt and answer together.
    pub(super) context_tokens: u64,
    /// The longest answer; none: what the endpoint allows, or a cautious number where it must be told.
    pub(super) max_output_tokens: Option<u32>,
    pub(super) patience: Patience,
}

#[derive(Debug, PartialEq)]
pub(super) enum Task {
    /// One answer, without tools or memory.
    Complete,
    /// A turn of the agent.
    Work { approval: Approval, session: Session, max_steps: u32 },
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Session {
    /// Nothing is remembered between turns.
    None,
    /// A new conversation, with a chosen or a random id.
    New {
        directory: PathBuf,
        id: Option<String>,
    },
    Continue {
        directory: PathBuf,
        id: String,
    },
}

/// How long to wait for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Patience {
    pub(super) silence: Duration,
    pub(super) backoff: Duration,
}

pub(super) fn parse(args: &[OsString]) -> Result<Options, String> {
    let mut given = Given::read(args)?;
    let complete = given.complete;
    let api = match given.take("--api").as_deref() {
        Some("openai") => Api::Openai,
        Some("anthropic") => Api::Anthropic,
        Some(other) => return Err(format!("there is no api `{other}`")),
        None => return Err("--api is missing".into()),
    };
    let model = given.take("--model").filter(|model| !model.is_empty()).ok_or("--model is missing")?;
    let approval = match given.take("--approval").as_deref() {
        None | Some("auto") => Approval::Auto,
        Some("edits") => Approval::Edits,
        Some("read-only") => Approval::ReadOnly,
        Some(other) => return Err(format!("--approval {other} is not possible here")),
    };
    let directory = given.take("--sessions").map(PathBuf::from);
    let session = match (directory, given.take("--session"), given.take("--new-session")) {
        (None, None, None) => Session::None,
        (None, _, _) => return Err("a session needs --sessions DIR".into()),
        (Some(_), Some(_), Some(_)) => return Err("a session is either new or not".into()),
        (Some(directory), Some(id), None) => Session::Continue { directory, id: checked(id)? },
        (Some(directory), None, id) => Session::New { directory, id: id.map(checked).transpose()? },
    };
    let max_steps = given.number("--max-steps")?.unwrap_or(MAX_STEPS);
    let options = Options {
        task: if complete { Task::Complete } else { Task::Work { approval, session, max_steps } },
        api,
        base_url: given.take("--base-url"),
        key_env: given.take("--key-env"),
        model,
        context_tokens: given.number("--context-tokens")?.unwrap_or(CONTEXT_TOKENS),
        max_output_tokens: given.number("--max-output-tokens")?,
        patience: Patience {
            silence: given.number("--silence-ms")?.map_or(SILENCE, Duration::from_millis),
            backoff: given.number("--backoff-ms")?.map_or(BACKOFF, Duration::from_millis),
        },
    };
    match given.pairs.first() {
        Some((name, _)) => Err(format!("there is no option {name}, or it is given twice")),
        None => Ok(options),
    }
}

/// An id becomes a file's name, so it must not be able to name any other file.
fn checked(id: String) -> Result<String, String> {
    let plain = id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if plain && !id.is_empty() && id.len() <= 128 {
        Ok(id)
    } else {
        Err(format!("`{}` is no session id", id.escape_debug()))
    }
}

/// The arguments as names and values, the `--complete` that has none aside.
struct Given {
    pairs: Vec<(String, String)>,
    complete: bool,
}

impl Given {
    fn read(args: &[OsString]) -> Result<Self, String> {
        let mut given = Given { pairs: Vec::new(), complete: false };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let text = arg.to_str().filter(|text| text.starts_with("--"));
            let Some(text) = text else {
                return Err(format!("`{}` is no option", arg.to_string_lossy().escape_debug()));
            };
            if text == "--complete" {
                given.complete = true;
            } else if let Some((name, value)) = text.split_once('=') {
                given.pairs.push((name.to_owned(), value.to_owned()));
            } else {
                let value = args.next().and_then(|value| value.to_str());
                let value = value.ok_or_else(|| format!("{text} wants a value"))?;
                given.pairs.push((text.to_owned(), value.to_owned()));
            }
        }
        Ok(given)
    }

    fn take(&mut self, name: &str) -> Option<String> {
        let at = self.pairs.iter().position(|(given, _)| given == name)?;
        Some(self.pairs.remove(at).1)
    }

    fn number<N: std::str::FromStr>(&mut self, name: &str) -> Result<Option<N>, String> {
        match self.take(name) {
            None => Ok(None),
            Some(text) => text.parse().map(Some).map_err(|_| format!("{name} {text} is no such number")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Options, String> {
        parse(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn a_turn_and_its_session() {
        let options =
            parsed("--api=anthropic --model m --sessions /s --session a-1 --approval edits").unwrap();
        let session = Session::Continue { directory: "/s".into(), id: "a-1".into() };
        assert_eq!(options.task, Task::Work { approval: Approval::Edits, session, max_steps: 200 });
        assert_eq!((options.api, options.context_tokens), (Api::Anthropic, 128_000));
        let options = parsed("--api openai --model m --sessions /s").unwrap();
        let session = Session::New { directory: "/s".into(), id: None };
        assert_eq!(options.task, Task::Work { approval: Approval::Auto, session, max_steps: 200 });
        assert_eq!(parsed("--complete --api openai --model m").unwrap().task, Task::Complete);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, why) in [
            ("--model m", "--api is missing"),
            ("--api gemini --model m", "no api `gemini`"),
            ("--api openai", "--model is missing"),
            ("--api openai --model", "--model wants a value"),
            ("--api openai --model m --approval ask", "--approval ask"),
            ("--api openai --model m --session x", "needs --sessions"),
            ("--api openai --model m --sessions /s --session ../x", "no session id"),
            ("--api openai --model m --sessions /s --session=", "no session id"),
            ("--api openai --model m --sessions /s --session x --new-session y", "either new or not"),
            ("--api openai --model m --context-tokens -1", "no such number"),
            ("--api openai --model m --model n", "given twice"),
            ("--api openai --model m --fast yes", "no option --fast"),
            ("--api openai --model m more", "`more` is no option"),
        ] {
            let error = parsed(line).unwrap_err();
            assert!(error.contains(why), "{line}: {error}");
        }
    }
}
