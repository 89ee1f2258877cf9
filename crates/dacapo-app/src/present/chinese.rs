//! Finds English that was left in a screen for readers of Chinese.

/// Two words of English in a row are a sentence that nobody translated. `own` is what agents, users and the task itself
/// said; commands to type are the same in every language.
pub(crate) fn assert_no_english(screen: &str, own: &[&str]) {
    let text = own.iter().fold(screen.to_owned(), |text, words| text.replace(words, " ✂ "));
    let mut left = Vec::new();
    for line in text.lines() {
        let line = without_commands(line);
        let words: Vec<&str> = line.split_whitespace().collect();
        let pairs = words.windows(2).filter(|pair| pair.iter().all(|word| is_english(word)));
        left.extend(pairs.map(|pair| pair.join(" ")));
    }
    assert!(left.is_empty(), "{left:?} in:\n{screen}");
}

fn is_english(word: &str) -> bool {
    let word = word.trim_end_matches([',', ';', ':', '.']);
    word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// From `dacapo` or `git` to the next column or the next word of the reader's language.
fn without_commands(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = ["dacapo ", "git "].iter().filter_map(|command| rest.find(command)).min() {
        out += &rest[..at];
        let command = &rest[at..];
        let end = command.find("  ").unwrap_or(command.len());
        let foreign = command.find(|c: char| !c.is_ascii() && c != '…').unwrap_or(command.len());
        out += " ✂ ";
        rest = &command[end.min(foreign)..];
    }
    out + rest
}

#[test]
fn u5_english_is_found_and_commands_are_not_english() {
    assert_no_english(
        "已停止：时间已到 · dacapo resume fix --iter 5  继续\nclaude 表示已完成；cargo 通过",
        &[],
    );
    assert_no_english("fix the tests：失败", &["fix the tests"]);
    let found =
        std::panic::catch_unwind(|| assert_no_english("  note    ended 1 process that was left", &[]));
    assert!(found.is_err());
}
