//! Which command lines are a prompt: `dacapo "PROMPT"`, and what to say of those that are nearly one (L0).

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use clap::Args;

/// What stands for it among the commands.
const COMMAND: &str = "__prompt";

/// What the agent is to do.
#[derive(Debug, Args)]
pub struct Prompt {
    /// The words; `-` reads them from standard input
    pub prompt: OsString,
}

/// The command line of a prompt as that of a command; any other stays as it is.
pub fn as_command(mut args: Vec<OsString>) -> Vec<OsString> {
    let first = first_word(&args);
    if first + 1 == args.len() && is_prompt(&args[first]) {
        args.splice(first..first, [COMMAND.into(), "--".into()]);
    }
    args
}

/// What was meant by a command line that is no command.
pub fn not_a_prompt(args: &[OsString]) -> String {
    let words: Vec<String> =
        args.iter().skip(first_word(args)).map(|word| word.to_string_lossy().into()).collect();
    let has_flags = words.iter().any(|word| word.starts_with('-'));
    match words.as_slice() {
        [_, _, ..] if !has_flags && words.iter().all(|word| !word.contains(['"', '`', '$', '\\', '\n'])) => {
            format!("To have an agent do it, quote it: dacapo \"{}\"", words.join(" "))
        }
        _ if has_flags && words.iter().any(|word| word.contains(' ')) => {
            "Flags go with a command: dacapo spawn [flags] \"PROMPT\", then dacapo attach".to_owned()
        }
        _ => "To have an agent do something: dacapo \"what it is to do\" (one word: dacapo spawn WORD)"
            .to_owned(),
    }
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
            assert_eq!(as_command(words(line)), expected, "{line:?}");
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
            &["--agent", "x", "fix it now"],
        ] {
            assert_eq!(as_command(words(line)), words(line), "{line:?}");
        }
    }

    #[test]
    fn l0_what_is_nearly_a_prompt_is_told_how_it_becomes_one() {
        for (line, says) in [
            (&["fix", "the", "tests"][..], "quote it: dacapo \"fix the tests\""),
            (&["-C", "x", "fix", "it"], "quote it: dacapo \"fix it\""),
            (&["fix"], "dacapo \"what it is to do\""),
            (&["fix", "$(rm)"], "dacapo \"what it is to do\""),
            (&["--agent", "x", "fix it now"], "dacapo spawn [flags] \"PROMPT\""),
        ] {
            assert!(not_a_prompt(&words(line)).contains(says), "{line:?}: {}", not_a_prompt(&words(line)));
        }
    }
}
