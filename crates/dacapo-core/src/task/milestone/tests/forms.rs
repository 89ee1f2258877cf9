//! Definitions as people write them: features under headings, Chinese, decoration, sections of their own (M1).

use crate::task::milestone::{Definition, Feature};

/// Features with prose, lists, a numbered list and a code block below each; criteria to tick.
pub(in crate::task::milestone) const BACKUP: &str = "\
# M7 — 备份

## Goal

每晚自动备份仓库，并能恢复。

## Features

下面的功能按顺序实现。

### 定时备份

- 每天 02:00 启动一次
- 启动时：
  1. 锁定目标目录
  2. 写入 `backup.log`

验收：日志里有一行 `done`

### 恢复（`restore`）

从最近一次备份恢复：

```
## Features
while 还有文件:
    - 验收：不是一条
```

#### 步骤

1. 选择一份备份
2. 解压

### 界面

**验收**：
- 列表显示时间
- 列表显示大小

先做命令行。

## Acceptance Criteria

- [ ] 每晚有一份新的备份
- [x] `restore` 之后文件相同
  - 包括权限
* 失败时有日志

## 约束

不引入新的依赖。

## 背景

以前是手动做的。
";

fn feature(text: &str, accept: Option<&str>) -> Feature {
    Feature { text: text.into(), accept: accept.map(str::to_owned) }
}

#[test]
fn m1_features_may_be_headings_with_all_that_stands_under_them() {
    let read = Definition::parse(BACKUP).unwrap();
    assert_eq!(read.title.as_deref(), Some("M7 — 备份"));
    assert_eq!(
        read.features,
        [
            feature(
                "定时备份\n\n- 每天 02:00 启动一次\n- 启动时：\n  1. 锁定目标目录\n  2. 写入 `backup.log`",
                Some("日志里有一行 `done`")
            ),
            feature(
                "恢复（`restore`）\n\n从最近一次备份恢复：\n\n```\n## Features\nwhile 还有文件:\n    - 验收：不是一条\n```\n\n#### 步骤\n\n1. 选择一份备份\n2. 解压",
                None
            ),
            feature("界面\n\n先做命令行。", Some("- 列表显示时间\n- 列表显示大小")),
        ]
    );
    let titles: Vec<&str> = read.features.iter().map(Feature::title).collect();
    assert_eq!(titles, ["定时备份", "恢复（`restore`）", "界面"]);
    assert_eq!(read.criteria, ["每晚有一份新的备份", "`restore` 之后文件相同\n  - 包括权限", "失败时有日志"]);
    assert_eq!(read.constraints, "不引入新的依赖。");
    assert_eq!(read.others, "## 背景\n\n以前是手动做的。");
}

#[test]
fn m1_a_feature_under_a_heading_is_known_by_its_name() {
    let read = Definition::parse(BACKUP).unwrap();
    for (named, at) in [
        ("定时备份", Some(0)),
        ("实现定时备份，每天一次", Some(0)),
        ("F-3", Some(2)),
        ("定时备份和恢复（`restore`）", None),
        ("别的", None),
    ] {
        assert_eq!(read.feature(named), at, "{named}");
    }
    let words = Definition::parse("## Goal\ng\n## Features\n- Log in\n## Criteria\n- c").unwrap();
    assert_eq!(words.feature("Users can log in now"), Some(0));
    assert_eq!(words.feature("blog inventory"), None, "a word that goes on is another");
}

#[test]
fn m1_headings_are_known_however_they_are_written() {
    let heads = [
        ["Goal", "Features", "Acceptance Criteria", "Constraints"],
        ["goals", "FEATURES", "acceptance criteria:", "Constraint"],
        ["1. Goal", "2) Features", "3. Acceptance Criteria", "4、Constraints"],
        ["**Goal**", "🚀 Features", "`Acceptance Criteria`", "_Constraints_ #"],
        ["目标", "功能", "验收标准", "约束"],
        ["一、目标", "二、功能列表", "三、验收标准：", "四、约束条件"],
        ["目標", "功能清單", "驗收標準", "限制條件"],
        ["Goal / 目标", "Features（功能）", "验收标准 | Acceptance Criteria", "Constraints (hard)"],
        ["1.1 Goal — why", "1.2 Features - what", "Criteria", "约束：必须遵守"],
    ];
    for [goal, features, criteria, constraints] in heads {
        for level in 1..=3 {
            let marks = "#".repeat(level);
            let text = format!(
                "{marks} {goal}\ng\n{marks} {features}\n- a\n{marks} {criteria}\n- c\n{marks} {constraints}\nno\n{marks} 附录\nx\n"
            );
            let read = Definition::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
            assert_eq!(read.features, [feature("a", None)], "{text}");
            assert_eq!((read.goal.as_str(), read.constraints.as_str()), ("g", "no"), "{text}");
            assert_eq!(
                (read.criteria, read.others),
                (vec!["c".into()], format!("{marks} 附录\nx")),
                "{text}"
            );
        }
    }
    let close = "##目标\ng\n##功能\n- a\n##验收标准\n- c\n";
    assert_eq!(Definition::parse(close).unwrap().goal, "g", "no space is needed before other scripts");
}

#[test]
fn m1_lists_of_all_kinds_are_read() {
    let read = |features: &str, criteria: &str| {
        let text =
            format!("Intro.\n\n## Goal\ng\n## Features\n{features}\n## Acceptance Criteria\n{criteria}\n");
        let read = Definition::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(read.others, "Intro.");
        (read.features.into_iter().map(|feature| feature.text).collect::<Vec<_>>(), read.criteria)
    };
    let two = || vec!["a".to_owned(), "b".to_owned()];
    for list in [
        "- a\n- b",
        "* a\n\n* b",
        "1. a\n2. b",
        "1) [ ] a\n2) [X] b",
        "In short:\n\n  - a\n  - b",
        "+ a\n+ b",
    ] {
        assert_eq!(read(list, list), (two(), two()), "{list}");
    }
    let plain = ["a\nb", "a\n\nb", "### Now\n- a\n### Later\n- b"];
    for list in plain {
        assert_eq!(read("- x", list).1, two(), "{list}");
    }
    assert_eq!(read("- x", "a\ngoes on\n\nb").1, ["a\ngoes on", "b"], "paragraphs, where there are any");
    assert_eq!(read("### 1. a\n### F-2: b\n### 2FA", "- c").0, ["a", "b", "2FA"]);
}

#[test]
fn m1_what_is_not_there_is_told_with_what_stands_near_it() {
    let told = |text: &str| Definition::parse(text).unwrap_err().to_string();
    assert_eq!(
        told("## Gaol\nx\n## Features\n- a\n## Acceptance Criteria\n- c\n"),
        "line 1: '## Gaol' is not a section (did you mean 'Goal'?)"
    );
    assert_eq!(
        told("## Goal\nx\n## Features\nLogin\n## Acceptance Criteria\n- c\n"),
        "line 4: '## Features' is a list (begin each item with '- ', or give it a heading '### …')"
    );
    assert_eq!(
        told("## Goal\nx\n## Features\n### F-3 a\n## Acceptance Criteria\n- c\n"),
        "line 4: this is F-1, not F-3: ids follow the order (leave the id out)"
    );
    assert_eq!(
        told("## Goal\nx\n## Features\n### a\n**Accept**:\n\n## Acceptance Criteria\n- c\n"),
        "line 4: F-1 has an empty 'Accept:' (say when it is accepted)"
    );
}

#[test]
fn m11_other_sections_are_part_of_what_is_frozen() {
    let frozen = |text: &str| Definition::parse(text).unwrap().frozen();
    assert_ne!(frozen(&BACKUP.replace("手动", "自动")), frozen(BACKUP));
    assert_eq!(frozen(&BACKUP.replace("## 约束", "## 4. Constraints / 约束")), frozen(BACKUP));
}

#[test]
fn m1_both_agents_get_what_stands_in_sections_and_under_headings() {
    use super::world::*;
    let details = crate::task::milestone::Details { definition: BACKUP.into(), ..details() };
    let world = World::new(with(&details)).run();
    let developer = world.prompt(0);
    assert!(
        developer.contains("- F-1 (not done): 定时备份\n- F-2 (not done): 恢复（`restore`）\n"),
        "{developer}"
    );
    assert!(developer.contains("以前是手动做的。"), "{developer}");
    let acceptor = world.prompt(1);
    let whole = "## Accepted by\n\n- F-1 定时备份\n  \n  - 每天 02:00 启动一次\n  - 启动时：\n    1. 锁定目标目录\n    2. 写入 `backup.log`\n  Accept: 日志里有一行 `done`\n";
    assert!(acceptor.contains(whole), "{acceptor}");
    let more = "<more_of_the_milestone>\n## 背景\n\n以前是手动做的。\n</more_of_the_milestone>";
    assert!(acceptor.contains(more), "{acceptor}");
    assert!(
        world.prompt(7).contains(more) && world.prompt(7).contains("C-2: `restore` 之后文件相同"),
        "{}",
        world.prompt(7)
    );
}
