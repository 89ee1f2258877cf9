//! What can be typed next, and what it does.

use super::messages;

messages! {
    NEXT, dacapo;

    label_next() { en: "next: ", zh_cn: "下一步：", zh_tw: "下一步：" }

    next_diff_of_tests() { en: "see what changed of the tests", zh_cn: "查看测试的改动", zh_tw: "檢視測試的變更" }
    next_diff() { en: "see what changed", zh_cn: "查看改动", zh_tw: "檢視變更" }
    next_merge() {
        en: "merge it into your branch",
        zh_cn: "合并到你的分支",
        zh_tw: "合併到你的分支",
    }
    next_pull_request() { en: "open a pull request", zh_cn: "创建拉取请求", zh_tw: "建立拉取請求" }
    next_more_work() {
        en: "continue with one more request",
        zh_cn: "追加一项要求并继续",
        zh_tw: "追加一項要求並繼續",
    }
    next_more_iterations(number: u64) {
        en: "continue for {number} more iterations",
        zh_cn: "再继续 {number} 次迭代",
        zh_tw: "再繼續 {number} 次迭代",
    }
    next_resume() { en: "continue", zh_cn: "继续", zh_tw: "繼續" }
    next_answer() { en: "answer it and continue", zh_cn: "回答后继续", zh_tw: "回答後繼續" }
    next_resume_unproven() {
        en: "continue without proof",
        zh_cn: "不要求证明，继续",
        zh_tw: "不要求證明，繼續",
    }
    /// Something to add to what was asked.
    next_also() { en: "also …", zh_cn: "还要……", zh_tw: "還要……" }
    next_drop() {
        en: "drop it; {dacapo}undo brings it back",
        zh_cn: "丢弃；可用 {dacapo}undo 撤销",
        zh_tw: "捨棄；可用 {dacapo}undo 復原",
    }
    next_kill() { en: "end it; its work is kept", zh_cn: "结束它；保留已有工作", zh_tw: "結束它；保留已有工作" }
    next_tell() { en: "tell the agent something", zh_cn: "给智能体留言", zh_tw: "給代理留言" }
    next_attach() { en: "watch it", zh_cn: "查看运行过程", zh_tw: "檢視執行過程" }
    next_approve() { en: "allow it", zh_cn: "允许", zh_tw: "允許" }
    next_reject() { en: "refuse it", zh_cn: "拒绝", zh_tw: "拒絕" }
    next_doctor() {
        en: "check that your agents are ready",
        zh_cn: "检查智能体是否就绪",
        zh_tw: "檢查代理是否就緒",
    }
    next_status() { en: "see what it did", zh_cn: "查看它做了什么", zh_tw: "檢視它做了什麼" }
    next_undo() { en: "bring it back", zh_cn: "找回它", zh_tw: "找回它" }
    next_new_milestone() { en: "write a milestone", zh_cn: "写一个里程碑", zh_tw: "寫一個里程碑" }
    next_git_add() {
        en: "add the files to git: nothing was added",
        zh_cn: "把这些文件加入 git：还没有加入",
        zh_tw: "把這些檔案加入 git：還沒有加入",
    }
    next_first_task() { en: "start a task", zh_cn: "开始一个任务", zh_tw: "開始一個任務" }
    next_in_your_repository() {
        en: "next, in your own repository:",
        zh_cn: "下一步，在你自己的仓库中：",
        zh_tw: "下一步，在你自己的儲存庫中：",
    }

    next_tell_both() {
        en: "tell both sides, then resume",
        zh_cn: "告知双方，然后恢复",
        zh_tw: "告知雙方，然後恢復",
    }
    next_more_rounds() { en: "continue with more rounds", zh_cn: "增加轮数并继续", zh_tw: "增加輪數並繼續" }
    next_raise_rounds() {
        en: "raise the limit, then resume",
        zh_cn: "提高上限，然后恢复",
        zh_tw: "提高上限，然後恢復",
    }
    next_complete() { en: "complete the milestone", zh_cn: "完成里程碑", zh_tw: "完成里程碑" }
    next_accept_round() { en: "accept the latest round", zh_cn: "接受最近一轮", zh_tw: "接受最近一輪" }
    next_settle() {
        en: "settle this finding, then resume",
        zh_cn: "将这个问题标为已解决，然后恢复",
        zh_tw: "將這個問題標為已解決，然後恢復",
    }
    next_reject_round() {
        en: "send it back to the Developer",
        zh_cn: "退回给 Developer",
        zh_tw: "退回給 Developer",
    }
    next_kill_milestone() {
        en: "end it; you can still resume it",
        zh_cn: "结束它；之后仍可恢复",
        zh_tw: "結束它；之後仍可恢復",
    }
    next_abandon() { en: "abandon it for good", zh_cn: "彻底放弃", zh_tw: "徹底放棄" }
}
