//! What a task needs a person for.

use super::messages;

messages! {
    NEEDS, dacapo;

    needs_rejected(times: u32, reason: &str) {
        en: "rejected {times}×: {reason}",
        zh_cn: "被拒绝 {times} 次：{reason}",
        zh_tw: "被拒絕 {times} 次：{reason}",
    }
    needs_settled(reason: &str) {
        en: "the Acceptor rejected it for settled findings only: {reason}",
        zh_cn: "Acceptor 仅以已解决的问题为由拒绝：{reason}",
        zh_tw: "Acceptor 僅以已解決的問題為由拒絕：{reason}",
    }
    needs_final_rejected(times: u32, reason: &str) {
        en: "the whole milestone was rejected {times}× without a new commit: {reason}",
        zh_cn: "整个里程碑在没有新提交的情况下被拒绝 {times} 次：{reason}",
        zh_tw: "整個里程碑在沒有新提交的情況下被拒絕 {times} 次：{reason}",
    }
    needs_rounds(used: u32) {
        en: (used: "the only round is used up", "all {used} rounds are used up"),
        zh_cn: "{used} 轮已全部用完",
        zh_tw: "{used} 輪已全部用完",
    }
    needs_rounds_because(used: &str, reason: &str) { en: "{used}: {reason}", zh_cn: "{used}：{reason}", zh_tw: "{used}：{reason}" }
    needs_review() {
        en: "all features are accepted; please review",
        zh_cn: "所有功能均已接受；请审阅",
        zh_tw: "所有功能均已接受；請審閱",
    }
    needs_review_and(found: &str) {
        en: "all features are accepted; please review. Also: {found}",
        zh_cn: "所有功能均已接受；请审阅。另外：{found}",
        zh_tw: "所有功能均已接受；請審閱。另外：{found}",
    }
    needs_main_branch() { en: "the main branch", zh_cn: "主分支", zh_tw: "主分支" }
    needs_main_elsewhere() { en: "elsewhere", zh_cn: "别处", zh_tw: "別處" }
    needs_main_gone(main: &str, round: u32, was: &str) {
        en: "{main} has been gone since round {round}; it was at {was}",
        zh_cn: "{main} 自第 {round} 轮起不存在了；之前在 {was}",
        zh_tw: "{main} 自第 {round} 輪起不存在了；之前在 {was}",
    }
    needs_main_lost(main: &str, was: &str, now: &str, round: u32) {
        en: "since round {round}, {main} has moved from {was} to {now} and no longer contains its old commits",
        zh_cn: "自第 {round} 轮起，{main} 从 {was} 移到了 {now}，不再包含原有的提交",
        zh_tw: "自第 {round} 輪起，{main} 從 {was} 移到了 {now}，不再包含原有的提交",
    }
    needs_main_holds(main: &str, round: u32, commits: &str) {
        en: "since round {round}, {main} contains commits of this milestone ({commits})",
        zh_cn: "{main} 自第 {round} 轮起包含本里程碑的提交（{commits}）",
        zh_tw: "{main} 自第 {round} 輪起包含本里程碑的提交（{commits}）",
    }
    needs_main_was_it_you(found: &str) {
        en: "{found}: was it you? Nothing was undone",
        zh_cn: "{found}：是你做的吗？没有撤销任何内容",
        zh_tw: "{found}：是你做的嗎？沒有復原任何內容",
    }
    needs_red_proof(commit: &str, checks: &str) {
        en: "the checks pass in the worktree, but failed twice in a row in a checkout of commit {commit}: {checks}",
        zh_cn: "检查在工作树中通过，但在提交 {commit} 的检出中连续两次失败：{checks}",
        zh_tw: "檢查在工作樹中通過，但在提交 {commit} 的簽出中連續兩次失敗：{checks}",
    }
    needs_held_out(commit: &str, checks: &str) {
        en: "all other checks pass, but these held-out ones failed twice in a row on commit {commit}: {checks}; look whether they are right, or resume with what the agent has to know",
        zh_cn: "其他检查都通过，但以下保留检查在提交 {commit} 上连续两次失败：{checks}；请确认它们是否正确，或在恢复时告诉智能体它需要知道的内容",
        zh_tw: "其他檢查都通過，但以下保留檢查在提交 {commit} 上連續兩次失敗：{checks}；請確認它們是否正確，或在恢復時告訴代理它需要知道的內容",
    }
    needs_tests_changed(files: &str) {
        en: "the checks pass, but not with the tests as they were before the task; changed: {files}",
        zh_cn: "检查通过，但使用任务开始前的测试时不通过；有改动：{files}",
        zh_tw: "檢查通過，但使用任務開始前的測試時不通過；有變更：{files}",
    }
    needs_tests_failed(checks: &str) {
        en: "with the tests as they were: {checks}",
        zh_cn: "使用原来的测试：{checks}",
        zh_tw: "使用原來的測試：{checks}",
    }
    needs_check(command: &str, exit: &str) {
        en: "`{command}` ({exit})",
        zh_cn: "`{command}`（{exit}）",
        zh_tw: "`{command}`（{exit}）",
    }
    needs_red_proof_hidden(files: &str) {
        en: "; in no commit: {files}",
        zh_cn: "；不在任何提交中：{files}",
        zh_tw: "；不在任何提交中：{files}",
    }
    needs_red_proof_cure(line: &str) {
        en: "; if a command creates what is missing, put {line} into .dacapo/config.toml and resume; --proof workspace continues without proof",
        zh_cn: "；若缺少的文件由命令生成，请在 .dacapo/config.toml 中加入 {line} 后恢复；--proof workspace 不要求证明",
        zh_tw: "；若缺少的檔案由指令產生，請在 .dacapo/config.toml 中加入 {line} 後恢復；--proof workspace 不要求證明",
    }
}
