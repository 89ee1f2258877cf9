//! The same run in three languages (U5).

use crate::support::World;

/// Every screen of a short life: a false start, a proof, the list, the merge, the machine, an error.
fn screens(world: &World, language: &str) -> String {
    let mut seen = String::new();
    let mut show = |words: &[&str]| {
        let ran = world.command(words).env("LANG", language).output().unwrap();
        seen.push_str(&String::from_utf8_lossy(&ran.stdout));
        seen.push_str(&String::from_utf8_lossy(&ran.stderr));
    };
    let agent = "test \"$DACAPO_ITERATION\" = 1 && echo FIXED > f; echo DONE";
    show(&["exec", "--worktree", "--name", "fix", "--check", "grep -sq FIXED f", "--agent-cmd", agent, "go"]);
    show(&["list"]);
    show(&["status", "fix"]);
    show(&["merge", "fix"]);
    show(&["exec", "--worktree", "--name", "boom", "--agent-cmd", "echo DONE; echo NO >&2; exit 1", "go"]);
    show(&["doctor", "claude"]);
    show(&["status", "nope"]);
    show(&["merge", "boom"]);
    show(&["drop", "boom"]);
    show(&["undo"]);
    seen
}

/// Words of English prose: two or more in a row that are neither a command, a path nor a name.
fn english(text: &str) -> Vec<String> {
    // What is typed, and what agents, git and the user said.
    const TYPED: [&str; 12] =
        ["dacapo", "git", "grep", "npm", "go", "fix", "boom", "echo", "test", "claude", "exit", "also"];
    let mut found = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(|c: char| !(c.is_ascii_alphabetic() || c == '\'')).collect();
        // Between two words is one space and nothing else.
        let prose = words.windows(3).filter(|three| {
            let is_word = |word: &str| word.len() > 1 && word.chars().all(|c| c.is_ascii_lowercase());
            three.iter().all(|word| is_word(word)) && line.contains(&three.join(" "))
        });
        let prose = prose.filter(|three| !three.iter().any(|word| TYPED.contains(word)));
        found.extend(prose.map(|three| format!("{}: {line}", three.join(" "))));
    }
    found
}

#[test]
fn u5_the_same_run_is_told_in_three_languages_without_a_word_of_another() {
    for (language, said) in [
        ("en_US.UTF-8", ["✓ proven", "READY", "error: Task 'nope' not found"]),
        ("zh_CN.UTF-8", ["✓ 已证明", "可合并", "错误：找不到任务“nope”"]),
        ("zh_TW.UTF-8", ["✓ 已證明", "可合併", "錯誤：找不到任務「nope」"]),
    ] {
        let world = World::new();
        let seen = screens(&world, language);
        for words in said {
            assert!(seen.contains(words), "{language}: {words}\n{seen}");
        }
        if language != "en_US.UTF-8" {
            assert_eq!(english(&seen), [] as [&str; 0], "{language}\n{seen}");
        }
    }
}

#[test]
fn u5_json_is_english_whatever_the_language() {
    let world = World::new();
    let error = |language: &str| {
        let ran = world.command(&["status", "nope", "--json"]).env("LANG", language).output().unwrap();
        String::from_utf8(ran.stdout).unwrap()
    };
    assert_eq!(error("zh_TW.UTF-8"), error("C"));
    assert!(error("zh_TW.UTF-8").contains("Task 'nope' not found"));
}
