//! Which command lines are a prompt: `dacapo "PROMPT"`, with flags of `spawn` before or after it, and what to say of those that
//! are nearly one (L0).

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use clap::CommandFactory as _;

use super::Cli;
use crate::error::{Failure, suggest};
use crate::messages::{Messages, Text, say};

/// What stands for it among the commands.
pub(super) const COMMAND: &str = "__prompt";

/// The command line of a prompt as that of a command; any other stays as it is. A text that reads like a command is refused: it
/// must not start work that costs money.
pub fn as_command(
    args: Vec<OsString>,
    is_task: impl Fn(&str) -> bool,
) -> Result<Vec<OsString>, Box<Failure>> {
    let first = first_word(&args);
    let Some(word) = args.get(first) else { return Ok(args) };
    // A word that is neither a flag nor a text is a command, or is meant to be one.
    if !is_prompt(word) && !word.as_bytes().starts_with(b"-") {
        return Ok(args);
    }
    // Building the commands is most of what a start costs, and clap does it once more: not where no word can be a prompt.
    if !args[first..].iter().any(|word| is_prompt(word)) {
        return Ok(args);
    }
    let cli = Cli::command();
    let Some((flags, prompt)) = taken_apart(&cli, &args[first..]) else { return Ok(args) };
    let Some(text) = prompt.to_str() else {
        return Err(Box::new(
            Failure::usage(say(Messages::prompt_not_utf8))
                .kept(say(Messages::kept_nothing_started))
                .hint(say(Messages::hint_convert_to_utf8)),
        ));
    };
    if let Some(failure) = reads_like_a_command(text, &names(&cli), is_task) {
        return Err(Box::new(failure));
    }
    let mut all = args[..first].to_vec();
    all.push(COMMAND.into());
    all.extend(flags);
    all.extend(["--".into(), prompt]);
    Ok(all)
}

/// Flags of `spawn` with their values, and the one text among them; none where it is no such command line.
fn taken_apart(cli: &clap::Command, words: &[OsString]) -> Option<(Vec<OsString>, OsString)> {
    let parts = parts(cli, words);
    let of = |wanted: &[Part]| {
        let chosen = words.iter().zip(&parts).filter(|(_, part)| wanted.contains(part));
        chosen.map(|(word, _)| word.clone()).collect::<Vec<_>>()
    };
    let mut texts = of(&[Part::Text]);
    let flags = of(&[Part::Flag, Part::Unknown, Part::Value]);
    match texts.as_slice() {
        [text] if is_prompt(text) => Some((flags, texts.swap_remove(0))),
        // What follows an unknown flag may be its value; the flag is what has to be mended first.
        [.., text] if parts.contains(&Part::Unknown) && is_prompt(text) => Some((flags, texts.pop()?)),
        _ => None,
    }
}

/// What a word of a command line of `spawn` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// A flag, perhaps with its value: `--iter=3`.
    Flag,
    /// A flag that `spawn` does not know.
    Unknown,
    /// The value of the flag before it.
    Value,
    /// A word of the prompt, or all of it.
    Text,
    /// `--`: what follows are no flags.
    End,
}

/// What each of the words behind `spawn` is.
pub(super) fn parts(cli: &clap::Command, words: &[OsString]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::with_capacity(words.len());
    let mut value_follows = false;
    for word in words {
        let part = match () {
            () if parts.contains(&Part::End) => Part::Text,
            () if value_follows => Part::Value,
            () if word == "--" => Part::End,
            () => flag(cli, word, &mut value_follows),
        };
        value_follows &= part == Part::Flag;
        parts.push(part);
    }
    parts
}

fn flag(cli: &clap::Command, word: &OsStr, value_follows: &mut bool) -> Part {
    let Some(word) = word.to_str().filter(|word| word.starts_with('-') && word.len() > 1) else {
        return Part::Text;
    };
    let (name, attached) = word.split_once('=').map_or((word, false), |(name, _)| (name, true));
    let of_spawn = cli.find_subcommand("spawn").into_iter().flat_map(clap::Command::get_arguments);
    let known = of_spawn.chain(cli.get_arguments()).find(|arg| is_called(arg, name));
    match known {
        Some(arg) => {
            *value_follows = !attached && takes_a_word(arg);
            Part::Flag
        }
        // A list item or the like: "- [ ] first", "--help me".
        None if word.contains(char::is_whitespace) => Part::Text,
        None if ["-h", "--help", "-V", "--version"].contains(&word) => Part::Flag,
        None => Part::Unknown,
    }
}

fn is_called(arg: &clap::Arg, name: &str) -> bool {
    let mut longs = arg.get_long().into_iter().chain(arg.get_all_aliases().into_iter().flatten());
    let short = arg.get_short().map(|short| format!("-{short}"));
    short.as_deref() == Some(name) || longs.any(|long| name.strip_prefix("--") == Some(long))
}

fn takes_a_word(arg: &clap::Arg) -> bool {
    arg.get_action().takes_values() && !arg.is_require_equals_set()
}

/// Commands, as people can type them.
fn names(cli: &clap::Command) -> Vec<String> {
    let visible = cli.get_subcommands().filter(|command| !command.is_hide_set());
    let typed =
        visible.flat_map(|command| std::iter::once(command.get_name()).chain(command.get_all_aliases()));
    typed.chain(["help"]).map(str::to_owned).collect()
}

/// A single word, or a command's name with one word or only tasks and flags behind it.
fn reads_like_a_command(text: &str, commands: &[String], is_task: impl Fn(&str) -> bool) -> Option<Failure> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (first, rest) = words.split_first().filter(|_| text != "-")?;
    let names_tasks = |word: &str| word.split(',').all(&is_task);
    let command = commands.iter().any(|command| command == first);
    let all = words.join(" ");
    let failure = match rest {
        [] => Failure::usage(say(|m| m.command_single_word(first))),
        _ if !command => return None,
        [_] => Failure::usage(say(|m| m.command_reads_like_one(&all))),
        _ if rest.iter().all(|word| word.starts_with('-') || names_tasks(word)) => {
            Failure::usage(say(|m| m.command_reads_like_one(&all)))
        }
        _ => return None,
    };
    let failure = failure.kept(say(Messages::kept_nothing_started));
    let failure = match (command, suggest(first, commands.iter().map(String::as_str))) {
        (true, _) => failure.hint(say(|m| m.command_without_quotes(&all))),
        (false, Some(close)) => failure.hint(say(|m| m.command_did_you_mean(close))),
        (false, None) => failure.hint(say(Messages::command_help_shows_commands)),
    };
    Some(failure.hint(say(|m| m.command_spawn_instead(&all))))
}

/// Whether the output of such a command line is for programs, told before it is understood.
pub fn want_json(args: &[OsString]) -> bool {
    args.iter().take_while(|word| *word != "--").any(|word| word == "--json")
}

/// What was meant by a command line that is no command.
pub fn not_a_prompt(args: &[OsString]) -> Text {
    let words: Vec<String> =
        args.iter().skip(first_word(args)).map(|word| word.to_string_lossy().into()).collect();
    let (flags, texts): (Vec<&String>, Vec<&String>) = words.iter().partition(|word| word.starts_with('-'));
    let commands = names(&Cli::command());
    let plain = words.iter().all(|word| !word.contains(['"', '`', '$', '\\', '\n']));
    let command_at = words.iter().position(|word| commands.contains(word));
    match (texts.as_slice(), command_at) {
        // The flags of a command come behind its name.
        (_, Some(at)) if at > 0 && plain && words[0].starts_with('-') => {
            let mut all = words.clone();
            all[..=at].rotate_right(1);
            let all = all.join(" ");
            say(|m| m.command_flags_follow(&all))
        }
        // Quoted it would be a prompt, and start work that nobody wanted.
        ([first, rest @ ..], None) if plain && rest.len() < 2 && meant_for(first, &commands).is_some() => {
            let mut all = words.clone();
            let at = words.iter().position(|word| word == *first).unwrap_or(0);
            all[at] = meant_for(first, &commands).unwrap_or(first).to_owned();
            let all = all.join(" ");
            say(|m| m.command_meant(&all))
        }
        ([first, _, ..], _) if plain && flags.is_empty() && !commands.contains(first) => {
            let all = words.join(" ");
            say(|m| m.command_quote_it(&all))
        }
        ([_, _, ..], _) if !flags.is_empty() && texts.iter().any(|text| text.contains(' ')) => {
            say(Messages::command_prompt_is_one_argument)
        }
        _ => say(Messages::command_how_to_prompt),
    }
}

/// Whether a command line names a command, so that what is wrong with it is wrong with that command's own words.
pub fn names_a_command(args: &[OsString]) -> bool {
    let first = args.get(first_word(args)).and_then(|word| word.to_str());
    first.is_some_and(|first| names(&Cli::command()).iter().any(|name| name == first))
}

fn meant_for<'a>(word: &str, commands: &'a [String]) -> Option<&'a str> {
    suggest(word, commands.iter().map(String::as_str))
}

/// Where the flags that go before every command end.
pub(super) fn first_word(args: &[OsString]) -> usize {
    let mut at = 1;
    while let Some(word) = args.get(at) {
        let word = word.as_bytes();
        let with_value = |flag: &str| word == flag.as_bytes();
        let attached = |flag: &str| word.starts_with(flag.as_bytes());
        at += match () {
            () if ["-C", "--directory", "--color"].into_iter().any(with_value) => 2,
            () if ["-C", "--directory=", "--color="].into_iter().any(attached) => 1,
            () => break,
        };
    }
    at.min(args.len())
}

/// One argument with a space in it is none of our words; nor is an empty one, which is a prompt that says nothing.
fn is_prompt(word: &OsStr) -> bool {
    word == "-" || word.is_empty() || word.to_string_lossy().contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &[&str]) -> Vec<OsString> {
        std::iter::once("dacapo").chain(line.iter().copied()).map(OsString::from).collect()
    }

    fn meant(line: &[&str]) -> Result<Vec<OsString>, Box<Failure>> {
        as_command(words(line), |task| ["boom", "a", "b"].contains(&task))
    }

    #[test]
    fn l0_one_argument_with_a_space_is_a_prompt_and_nothing_else_is() {
        for line in [
            &["fix the tests"][..],
            &["-"],
            &[""],
            &["  "],
            &["- [ ] first item"],
            &["--help me"],
            &["a\nb"],
            &["修正　測試"],
            &["-C", "/tmp", "fix it now"],
            &["--color=never", "-C/tmp", "fix it now"],
        ] {
            let mut expected = words(line);
            expected.splice(line.len()..line.len(), ["__prompt".into(), "--".into()]);
            assert_eq!(meant(line).unwrap(), expected, "{line:?}");
        }
        for line in [
            &[][..],
            &["fix"],
            &["list"],
            &["--help"],
            &["-h"],
            &["fix", "the tests"],
            &["exec", "fix the tests"],
            &["-C", "my directory"],
            &["-Cmy directory"],
            &["--color=no way"],
            &["--iter", "3", "fix"],
            &["--iter", "3"],
            &["--json", "list"],
            &["--agent", "my agent"],
            &["fix the tests", "and the docs"],
            &["fix the tests", "now"],
        ] {
            assert_eq!(meant(line).unwrap(), words(line), "{line:?}");
        }
    }

    #[test]
    fn l0_flags_of_spawn_go_before_or_after_the_prompt() {
        for (line, expected) in [
            (&["--agent", "x", "fix it now"][..], "__prompt --agent x -- fix it now"),
            (&["fix it now", "--agent", "x"], "__prompt --agent x -- fix it now"),
            (
                &["--iter=3", "fix it", "-q", "--check", "cargo test"],
                "__prompt --iter=3 -q --check cargo test -- fix it",
            ),
            (&["--check=cargo test", "fix it"], "__prompt --check=cargo test -- fix it"),
            (
                &["--completion-promise", "ALL DONE", "fix it"],
                "__prompt --completion-promise ALL DONE -- fix it",
            ),
            (&["--pr", "fix it"], "__prompt --pr -- fix it"),
            (&["--pr=Add auth", "fix it"], "__prompt --pr=Add auth -- fix it"),
            (&["-", "--iter", "3"], "__prompt --iter 3 -- -"),
            (&["fix it", "-C", "/tmp"], "__prompt -C /tmp -- fix it"),
            (&["--iter", "3", "--", "--help me"], "__prompt --iter 3 -- --help me"),
            // What is wrong with the flag is said of the flag.
            (&["--agnet", "claude", "fix it"], "__prompt --agnet -- fix it"),
        ] {
            let said: Vec<String> =
                meant(line).unwrap()[1..].iter().map(|word| word.to_string_lossy().into()).collect();
            assert_eq!(said.join(" "), expected, "{line:?}");
        }
    }

    #[test]
    fn l0_a_text_that_reads_like_a_command_is_never_a_prompt() {
        for (line, hint) in [
            (&["status boom"][..], "dacapo status boom, without quotes"),
            (&["status nothing"], "dacapo status nothing, without quotes"),
            (&["stop x"], "dacapo stop x, without quotes"),
            (&["ls --all"], "dacapo ls --all, without quotes"),
            (&["kill a b"], "dacapo kill a b, without quotes"),
            (&["merge a,b --squash"], "dacapo merge a,b --squash, without quotes"),
            (&["merge a,b --squash", "--json"], "dacapo merge a,b --squash, without quotes"),
            (&["--iter", "3", "run tests"], "dacapo run tests, without quotes"),
            (&["help me"], "dacapo help me, without quotes"),
            (&["  status\tboom\n"], "dacapo status boom, without quotes"),
            (&["stauts "], "did you mean dacapo status?"),
            (&[" fix"], "dacapo --help shows the commands"),
        ] {
            let failure = meant(line).unwrap_err();
            assert_eq!(failure.exit_code(), 2, "{line:?}");
            assert!(failure.hints[0].english().starts_with(hint), "{line:?}: {failure}");
        }
        for line in [
            "show me the tests",
            "run the tests",
            "fix boom",
            "status of boom is wrong",
            "kill a c",
            "log errors to a file",
        ] {
            assert!(meant(&[line]).is_ok(), "{line}");
        }
    }

    #[test]
    fn l0_what_is_nearly_a_prompt_is_told_how_it_becomes_one() {
        for (line, says) in [
            (&["fix", "the", "tests"][..], "quote it: dacapo \"fix the tests\""),
            (&["-C", "x", "fix", "it"], "quote it: dacapo \"fix it\""),
            (&["fix"], "dacapo \"what it should do\""),
            (&["stauts", "boom"], "did you mean 'dacapo status boom'?"),
            (&["stauts"], "did you mean 'dacapo status'?"),
            (&["lits", "--all"], "did you mean 'dacapo list --all'?"),
            (&["tests", "are", "broken"], "quote it: dacapo \"tests are broken\""),
            (&["fix", "$(rm)"], "dacapo \"what it should do\""),
            (&["--iter", "3", "fix it", "now"], "dacapo [flags] \"what the agent should do\""),
            (&["--json", "list"], "dacapo list --json"),
            (&["--json", "status", "boom"], "dacapo status --json boom"),
        ] {
            let told = not_a_prompt(&words(line));
            assert!(told.english().contains(says), "{line:?}: {told}");
        }
    }
}
