//! What happens while a task runs: orders, limits, steps, and what is waited for.

use super::messages;

messages! {
    PROGRESS, dacapo;

    iteration_number(number: u32) { en: "iteration {number}", zh_cn: "第 {number} 次迭代", zh_tw: "第 {number} 次迭代" }
    iteration_of(number: u32, most: u32) {
        en: "iteration {number} of {most}",
        zh_cn: "第 {number}/{most} 次迭代",
        zh_tw: "第 {number}/{most} 次迭代",
    }
    iteration_some() { en: "an iteration", zh_cn: "某次迭代", zh_tw: "某次迭代" }
    iterations_earlier(number: u64) {
        en: (number: "1 earlier iteration", "{number} earlier iterations"),
        zh_cn: "之前的 {number} 次迭代",
        zh_tw: "先前的 {number} 次迭代",
    }
    round_number(number: u32) { en: "round {number}", zh_cn: "第 {number} 轮", zh_tw: "第 {number} 輪" }
    round_of(number: u32, most: u32) {
        en: "round {number} of {most}",
        zh_cn: "第 {number}/{most} 轮",
        zh_tw: "第 {number}/{most} 輪",
    }
    round_some() { en: "a round", zh_cn: "某一轮", zh_tw: "某一輪" }
    rounds_earlier(number: u64) {
        en: (number: "1 earlier round", "{number} earlier rounds"),
        zh_cn: "之前的 {number} 轮",
        zh_tw: "先前的 {number} 輪",
    }

    order_by(by: &str, what: &str) { en: "{by}: {what}", zh_cn: "{by}：{what}", zh_tw: "{by}：{what}" }
    order_kill() { en: "ends the task", zh_cn: "结束任务", zh_tw: "結束任務" }
    order_pause_now() { en: "pauses now", zh_cn: "立即暂停", zh_tw: "立即暫停" }
    order_pause() {
        en: "pauses after this iteration",
        zh_cn: "本次迭代后暂停",
        zh_tw: "本次迭代後暫停",
    }
    order_yes() { en: "yes", zh_cn: "是", zh_tw: "是" }
    order_no() { en: "no", zh_cn: "否", zh_tw: "否" }
    order_no_because(reason: &str) { en: "no: {reason}", zh_cn: "否：{reason}", zh_tw: "否：{reason}" }
    order_refreeze() {
        en: "uses the criteria in the file from now on",
        zh_cn: "从现在起采用文件中的验收标准",
        zh_tw: "從現在起採用檔案中的驗收標準",
    }
    order_forget() {
        en: "the project memory is now empty",
        zh_cn: "项目记忆现已清空",
        zh_tw: "專案記憶現已清空",
    }
    order_remember() {
        en: "uses the project memory in the file from now on",
        zh_cn: "从现在起采用文件中的项目记忆",
        zh_tw: "從現在起採用檔案中的專案記憶",
    }
    order_abandon() { en: "abandons it for good", zh_cn: "彻底放弃", zh_tw: "徹底放棄" }
    order_tell_standing(text: &str) {
        en: "{text} (from now on)",
        zh_cn: "{text}（从现在起）",
        zh_tw: "{text}（從現在起）",
    }
    order_untell() {
        en: "withdraws what the agent was told",
        zh_cn: "撤回此前的留言",
        zh_tw: "撤回先前的留言",
    }

    live_thinking() { en: "thinking", zh_cn: "思考中", zh_tw: "思考中" }

    limit_stall(iterations: u32) {
        en: "stops after {iterations} without progress",
        zh_cn: "连续 {iterations} 次没有进展即停止",
        zh_tw: "連續 {iterations} 次沒有進展即停止",
    }
    limit_rejections(number: u64) {
        en: (number: "1 rejection in a row", "{number} rejections in a row"),
        zh_cn: "连续拒绝 {number} 次",
        zh_tw: "連續拒絕 {number} 次",
    }
    limit_per_call(time: &str) { en: "{time} per call", zh_cn: "每次调用 {time}", zh_tw: "每次呼叫 {time}" }
    limit_none() { en: "none", zh_cn: "无", zh_tw: "無" }

    commit_none_yet() { en: "not committed", zh_cn: "未提交", zh_tw: "未提交" }
    commit_no_changes() { en: "no changes", zh_cn: "无改动", zh_tw: "無變更" }
    commit_none() { en: "no commit", zh_cn: "无提交", zh_tw: "無提交" }
    retrying(what: &str) { en: "retrying: {what}", zh_cn: "正在重试：{what}", zh_tw: "正在重試：{what}" }
    writing_summary() { en: "summary", zh_cn: "摘要", zh_tw: "摘要" }
    writing_commit_message() { en: "commit message", zh_cn: "提交信息", zh_tw: "提交訊息" }
    files_included(files: &str, size: &str) {
        en: "copied by .worktreeinclude: {files} ({size})",
        zh_cn: "按 .worktreeinclude 复制了 {files}（{size}）",
        zh_tw: "依 .worktreeinclude 複製了 {files}（{size}）",
    }
    stderr_all(task: &str) {
        en: "all of it: {dacapo}logs {task} --stderr",
        zh_cn: "完整内容：{dacapo}logs {task} --stderr",
        zh_tw: "完整內容：{dacapo}logs {task} --stderr",
    }
}
