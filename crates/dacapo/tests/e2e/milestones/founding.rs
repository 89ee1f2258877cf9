//! A milestone written as the first ones were: features as headings with prose, lists and code, boxes to tick, Chinese; and
//! agents that reply exactly in the forms that those asked for (M1, M5, M6).

use super::{ID, Stage};

const WRITTEN: &str = r#"# M7 — 备份

## Goal

每晚把仓库备份一次，并且能够恢复。

## Features

### 定时备份

- 每天启动一次备份
- 启动时（在主进程里操作）：
  1. 锁定目标目录，写入 `F-1`
  2. 更新 `state.json`：`status → awake`

验收：`F-1` 不为空

### 恢复流程

从最近一份备份恢复，两步：

```
while 还有文件:
    1. 解压下一个
    - 若 ACCEPTED: 继续
## Features
```

| 步骤 | 内容 |
|------|------|
| 选择 | 最近一份 |

## Acceptance Criteria

- [ ] `F-1` 和 `F-2` 都存在
- [ ] 没有别的文件

## Constraints

- 不引入新的依赖

## 备注

先做命令行。
"#;

/// The forms of the first milestones, word for word.
const REPORT: &str = r#"echo "$round" > "$file"; commit "feat: $file"
printf '## Implementation Report — Round %s\n\n**Feature**: %s\n**Commit**: %s\n**Tests**: 3 passed, 0 failed\n**Lint**: clean\n\n### Changes\n- %s: 新增\n\n### Notes\n无\n' "$round" "$feature" "$(git rev-parse HEAD)" "$file""#;
const COMPLETE: &str = r#"printf '## ALL_FEATURES_COMPLETE\n\n所有功能已实现并提交。\n\n### Commits\n'
git log --format='- %H: %s' "$base..HEAD"; printf '\n### Summary\n备份和恢复都完成了。\n'"#;

fn stage() -> Stage {
    let stage = Stage::new();
    stage.world.write(super::FILE, format!("---\ndeveloper: dev\nacceptor: acc\n---\n{WRITTEN}"));
    stage.world.git(&["commit", "-qam", "docs: as the first ones were"]);
    stage.with_all_this()
}

fn builds(file: &str, feature: &str) -> String {
    format!("file={file} feature={feature}\n{REPORT}")
}

#[test]
fn m1_a_milestone_in_the_form_of_the_first_ones_is_completed() {
    let stage = stage();
    let (first, second) = (builds("F-1", "定时备份"), builds("F-2", "恢复流程，含解压"));
    stage.play(&[&first, &second, COMPLETE], &["accept", "accept", "accept", "accept"]);
    let said = stage.start().expect(0).stdout;
    stage.stands("completed", [3, 3, 0]);
    assert_eq!(stage.calls(), [3, 4], "a line for each criterion is asked for once");
    stage.assert_told("dev", 1, "- F-1 (not done): 定时备份\n- F-2 (not done): 恢复流程\n");
    stage.assert_told("acc", 1, "- F-1 定时备份\n");
    stage.assert_told("acc", 1, "Accept: `F-1` 不为空");
    stage.assert_told("acc", 1, "先做命令行。");
    stage.assert_not_told("acc", 1, "解压下一个");
    stage.assert_told("acc", 2, "解压下一个");
    stage.assert_told("acc", 4, "nothing is said of C-1, C-2");
    let features = stage.status()["milestone"]["features"].clone();
    assert!(features.as_array().unwrap().iter().all(|feature| feature["done"] == true), "{features:#}");
    assert_eq!(stage.round(3)["verdict"]["criteria_not_itemised"], true);
    let told = [
        said,
        stage.milestone("show", &[]).expect(0).stdout,
        stage.run(&["status", ID]).expect(0).stdout,
        stage.run(&["logs", ID]).expect(0).stdout,
        stage.milestone("show", &["--json"]).expect(0).stdout,
    ];
    for told in &told[..4] {
        assert!(told.contains("criteria not itemised"), "{told}");
    }
    assert!(told[4].contains("criteria_not_itemised"), "{}", told[4]);
}

#[test]
fn m5_a_final_rejection_in_that_form_goes_back_word_for_word_and_then_it_is_completed() {
    let stage = stage();
    let (first, second) = (builds("F-1", "定时备份"), builds("F-2", "恢复流程"));
    let no = "echo 'REJECTED: 第 1 条未满足：`F-2` 是空的，见 `git show`'";
    let repair = builds("F-2", "恢复流程");
    stage.play(
        &[&first, &second, COMPLETE, &repair, COMPLETE],
        &["accept", "accept", no, no, "accept", "accept_all"],
    );
    let _ = stage.start().expect(0);
    stage.stands("completed", [5, 4, 0]);
    assert_eq!(stage.calls(), [5, 6]);
    stage.assert_told("dev", 4, "```\n第 1 条未满足：`F-2` 是空的，见 `git show`\n```\n");
    assert_eq!(stage.verdicts()[2], (false, "acceptor".to_owned()));
    assert!(stage.round(5)["verdict"].get("criteria_not_itemised").is_none());
}
