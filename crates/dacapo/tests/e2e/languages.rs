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

/// What is said when something does not work: typed wrong, not there, not possible.
fn errors(world: &World, language: &str) -> String {
    let agent = "echo DONE";
    let _ = world.run(&["exec", "--worktree", "--name", "t", "--agent-cmd", agent, "go"]).expect(0);
    world.write(".dacapo/milestones/b.md", "---\nauto_strat: 1\n---\n");
    world.write(".dacapo/milestones/Big.md", "x");
    world.write("script.yaml", "iterations: 5\n");
    let lines: [&[&str]; 38] = [
        &["exec", "--itr", "3", "go"],
        &["exec", "--session", "old", "go"],
        &["exec", "--worktree", "--noworktree", "go"],
        &["exec", "--stall", "x", "go"],
        &["lst"],
        &["milestone", "lst"],
        &["exec", "--iter", "abc", "go"],
        &["exec", "--check-timeout", "x", "go"],
        &["exec", "--agent", "claud", "go"],
        &["exec", "--agent", "claude", "--approval", "ask", "go"],
        &["exec", "--agent", "rehearsal:script.yaml", "go"],
        &["exec", "--agent-cmd", agent, "--base", "nope", "--worktree", "go"],
        &["exec", "--agent-cmd", agent, "--name", "t", "--worktree", "go"],
        &["exec", "--agent-cmd", agent, "--check", "no-such-command", "go"],
        &["exec", "--agent-cmd", agent, "--issue", "5"],
        &["exec", "--agent-cmd", agent, "--max-cost", "1", "go"],
        &["spawn", "--agent-cmd", agent, "--pr", "--noworktree", "go"],
        &["kill", "t"],
        &["pause", "t"],
        &["approve", "t"],
        &["resume", "t"],
        &["set", "t", "iter=abc"],
        &["set", "t", "itr=5"],
        &["logs", "t", "--turn", "9"],
        &["logs", "t", "--check", "9"],
        &["diff", "t", "--iteration", "9"],
        &["merge", "t,nope"],
        &["pr", "t"],
        &["rename", "t", "T T"],
        &["rename", "t", "t"],
        &["undo", "nope"],
        &["config"],
        &["config", "set", "language", "zh"],
        &["milestone", "list"],
        &["milestone", "show", "b"],
        &["milestone", "start", "b"],
        &["milestone", "start", "Big"],
        &["milestone", "new", "c", "Title", "--feature", "## x"],
    ];
    let mut seen = String::new();
    for words in lines {
        let ran = world.command(words).env("LANG", language).output().unwrap();
        seen.push_str(&String::from_utf8_lossy(&ran.stdout));
        seen.push_str(&String::from_utf8_lossy(&ran.stderr));
    }
    seen
}

/// Words of English prose: two or more in a row that are neither a command, a path nor a name.
fn english(text: &str) -> Vec<String> {
    // What is typed, and what agents, git and the user said.
    const TYPED: [&str; 12] =
        ["dacapo", "git", "grep", "npm", "go", "fix", "boom", "echo", "test", "claude", "exit", "also"];
    let mut found = Vec::new();
    for line in text.lines() {
        let line = &without_commands(line);
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

/// From the name of a program to the next word of the reader's language.
fn without_commands(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = ["dacapo ", "git ", "npm "].iter().filter_map(|name| rest.find(name)).min() {
        out += &rest[..at];
        let command = &rest[at..];
        rest = &command[command.find(|c: char| !c.is_ascii() && c != '…').unwrap_or(command.len())..];
    }
    out + rest
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
fn u5_errors_are_told_in_chinese_without_a_sentence_of_english() {
    for (language, said) in [
        ("zh_CN.UTF-8", ["未知的参数“--itr”", "iter=abc：应为次数", "没有“auto_strat”这项设置"]),
        ("zh_TW.UTF-8", ["未知的參數「--itr」", "iter=abc：應為次數", "沒有「auto_strat」這項設定"]),
    ] {
        let world = World::new();
        let seen = errors(&world, language);
        for words in said {
            assert!(seen.contains(words), "{language}: {words}\n{seen}");
        }
        assert_eq!(english(&seen), [] as [&str; 0], "{language}\n{seen}");
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
