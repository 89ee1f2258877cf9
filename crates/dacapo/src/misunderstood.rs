//! What is wrong with a command line, as the one error at the edge: in the user's language, where the parser says what it is
//! about; else in the parser's own words.

use std::num::{ParseFloatError, ParseIntError};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use dacapo_app::error::Failure;
use dacapo_app::messages::{Messages, Text, say};

pub(crate) fn misunderstood(error: &clap::Error) -> Failure {
    let failure = Failure::usage(message(error).unwrap_or_else(|| in_own_words(error).into()));
    match hint(error) {
        Some(hint) => failure.hint(hint),
        None => failure.hint(say(Messages::usage_help_shows)),
    }
}

/// The first paragraph says what happened.
fn in_own_words(error: &clap::Error) -> String {
    let said = error.render().to_string();
    let first = said.split("\n\n").next().unwrap_or_default();
    first.strip_prefix("error: ").unwrap_or(first).trim().to_owned()
}

fn message(error: &clap::Error) -> Option<Text> {
    let one = |kind| context(error, kind).into_iter().next();
    let argument = || one(ContextKind::InvalidArg);
    let value = one(ContextKind::InvalidValue);
    Some(match error.kind() {
        ErrorKind::UnknownArgument => {
            let argument = argument()?;
            say(|m| m.usage_unexpected_argument(&argument))
        }
        ErrorKind::InvalidSubcommand => {
            let command = one(ContextKind::InvalidSubcommand)?;
            say(|m| m.usage_unknown_command(&command))
        }
        ErrorKind::InvalidValue if value.as_deref().is_none_or(str::is_empty) => {
            let argument = argument()?;
            say(|m| m.usage_value_missing(&argument))
        }
        ErrorKind::InvalidValue => {
            let (argument, value) = (argument()?, value?);
            let valid = context(error, ContextKind::ValidValue).join(", ");
            say(|m| match valid.as_str() {
                "" => m.usage_invalid_value(&value, &argument),
                valid => m.usage_invalid_value_of(&value, &argument, valid),
            })
        }
        ErrorKind::ValueValidation => {
            let (argument, value) = (argument()?, value?);
            say(|m| match why(error, m) {
                Some(why) => m.usage_invalid_value_because(&value, &argument, &why),
                None => m.usage_invalid_value(&value, &argument),
            })
        }
        ErrorKind::ArgumentConflict => {
            let argument = argument()?;
            let others = context(error, ContextKind::PriorArg);
            let others: Vec<String> = others.iter().map(|other| format!("'{other}'")).collect();
            match others.is_empty() || others == [format!("'{argument}'")] {
                true => say(|m| m.usage_given_twice(&argument)),
                false => say(|m| m.usage_conflict(&argument, &others.join(", "))),
            }
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = context(error, ContextKind::InvalidArg).join(" ");
            (!missing.is_empty()).then(|| say(|m| m.usage_missing(&missing)))?
        }
        _ => return None,
    })
}

/// Why a value is none, by its type's own error.
fn why(error: &clap::Error, messages: Messages) -> Option<String> {
    let source = std::error::Error::source(error)?;
    Some(if source.is::<ParseIntError>() {
        messages.flaw_expected(&messages.value_whole_number())
    } else if source.is::<ParseFloatError>() {
        messages.flaw_expected(&messages.value_number())
    } else {
        source.to_string()
    })
}

fn hint(error: &clap::Error) -> Option<Text> {
    let suggested =
        [(ContextKind::SuggestedArg), (ContextKind::SuggestedSubcommand), (ContextKind::SuggestedValue)];
    // The nearest comes last.
    let near = suggested.into_iter().find_map(|kind| context(error, kind).into_iter().next_back());
    let argument = || context(error, ContextKind::InvalidArg).into_iter().next();
    match (near, error.kind()) {
        (Some(near), _) => Some(say(|m| m.hint_did_you_mean(&near))),
        (None, ErrorKind::UnknownArgument) => {
            // Clap says this only where words may follow the flags.
            let as_value = !context(error, ContextKind::Suggested).is_empty();
            let argument = argument().filter(|_| as_value)?;
            Some(say(|m| m.usage_as_value(&argument)))
        }
        (None, _) => None,
    }
}

fn context(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(one)) => vec![one.clone()],
        Some(ContextValue::Strings(all)) => all.clone(),
        Some(ContextValue::StyledStr(one)) => vec![one.to_string()],
        Some(ContextValue::StyledStrs(all)) => all.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use dacapo_app::messages::Language;

    use super::*;

    fn told(words: &[&str], language: Language) -> String {
        let error = crate::args::Cli::try_parse_from(words).unwrap_err();
        misunderstood(&error).shown(Messages::new(language)).to_string()
    }

    #[test]
    fn u6_a_command_line_that_is_wrong_is_told_in_the_readers_language() {
        let cases: [&[&str]; 8] = [
            &["dacapo", "exec", "--itr", "3", "x"],
            &["dacapo", "exec", "--zzz", "x"],
            &["dacapo", "milestone", "lst"],
            &["dacapo", "exec", "--session", "old", "x"],
            &["dacapo", "exec", "--stall", "x", "y"],
            &["dacapo", "exec", "--name"],
            &["dacapo", "exec", "--worktree", "--noworktree", "x"],
            &["dacapo", "rename", "a"],
        ];
        let all = |language| cases.map(|words| told(words, language)).join("\n");
        insta::assert_snapshot!(all(Language::English), @r"
        error: unexpected argument '--itr' found
          do:   did you mean '--iter'?
        error: unexpected argument '--zzz' found
          do:   to pass '--zzz' as a value, use '-- --zzz'
        error: unrecognized subcommand 'lst'
          do:   did you mean 'list'?
        error: invalid value 'old' for '--session <MODE>' (possible values: fresh, resume)
          do:   --help shows what can be given
        error: invalid value 'x' for '--stall <K>': expected a whole number
          do:   --help shows what can be given
        error: a value is required for '--name <NAME>' but none was supplied
          do:   --help shows what can be given
        error: the argument '--worktree' cannot be used with '--noworktree'
          do:   --help shows what can be given
        error: the following arguments are required: <NEW>
          do:   --help shows what can be given
        ");
        insta::assert_snapshot!(all(Language::SimplifiedChinese), @r"
        错误：未知的参数“--itr”
          下一步：你是想输入“--iter”吗？
        错误：未知的参数“--zzz”
          下一步：若要把“--zzz”作为值传入，请写“-- --zzz”
        错误：未知的命令“lst”
          下一步：你是想输入“list”吗？
        错误：“--session <MODE>”的值“old”无效（可用的值：fresh, resume）
          下一步：--help 显示可用的参数
        错误：“--stall <K>”的值“x”无效：应为整数
          下一步：--help 显示可用的参数
        错误：“--name <NAME>”需要一个值
          下一步：--help 显示可用的参数
        错误：参数“--worktree”不能与 '--noworktree' 同时使用
          下一步：--help 显示可用的参数
        错误：缺少必需的参数：<NEW>
          下一步：--help 显示可用的参数
        ");
        insta::assert_snapshot!(all(Language::TraditionalChinese), @r"
        錯誤：未知的參數「--itr」
          下一步：你是想輸入「--iter」嗎？
        錯誤：未知的參數「--zzz」
          下一步：若要把「--zzz」作為值傳入，請寫「-- --zzz」
        錯誤：未知的指令「lst」
          下一步：你是想輸入「list」嗎？
        錯誤：「--session <MODE>」的值「old」無效（可用的值：fresh, resume）
          下一步：--help 顯示可用的參數
        錯誤：「--stall <K>」的值「x」無效：應為整數
          下一步：--help 顯示可用的參數
        錯誤：「--name <NAME>」需要一個值
          下一步：--help 顯示可用的參數
        錯誤：參數「--worktree」不能與 '--noworktree' 同時使用
          下一步：--help 顯示可用的參數
        錯誤：缺少必要的參數：<NEW>
          下一步：--help 顯示可用的參數
        ");
    }
}
