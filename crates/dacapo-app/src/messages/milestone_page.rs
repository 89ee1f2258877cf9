//! What `dacapo milestone show` says: how a milestone stands, what was said in it, and what can be done next.

use super::messages;

messages! {
    MILESTONE_PAGE, dacapo;

    story_no_reply(why: &str) { en: "(no reply: {why})", zh_cn: "（没有答复：{why}）", zh_tw: "（沒有答覆：{why}）" }
    story_limit(message: &str) {
        en: "(no reply: usage limit: {message})",
        zh_cn: "（没有答复：用量受限：{message}）",
        zh_tw: "（沒有答覆：用量受限：{message}）",
    }
    story_ended() { en: "it was ended", zh_cn: "已被结束", zh_tw: "已被結束" }
    story_interrupted() { en: "it was interrupted", zh_cn: "已被中断", zh_tw: "已被中斷" }
    story_report_sent_back(complaints: &str) {
        en: "report sent back: {complaints}",
        zh_cn: "报告被退回：{complaints}",
        zh_tw: "報告被退回：{complaints}",
    }
    story_verdict_sent_back(complaint: &str) {
        en: "verdict sent back: {complaint}",
        zh_cn: "裁决被退回：{complaint}",
        zh_tw: "裁決被退回：{complaint}",
    }
    story_nothing_judged() {
        en: "nothing it is judged by",
        zh_cn: "评审依据没有变化",
        zh_tw: "評審依據沒有變化",
    }
    story_refrozen(changes: &str) {
        en: "its file was read again; changed: {changes}",
        zh_cn: "重新读取了它的文件；改动：{changes}",
        zh_tw: "重新讀取了它的檔案；變更：{changes}",
    }
    story_tree_touched() {
        en: "the Acceptor changed the working tree",
        zh_cn: "Acceptor 改动了工作区",
        zh_tw: "Acceptor 變更了工作目錄",
    }
    /// In front of a check that ran in a checkout to which no agent writes.
    label_proof() { en: "proof", zh_cn: "证明", zh_tw: "證明" }

    page_status_and(status: &str, more: &str) {
        en: "{status} ({more})",
        zh_cn: "{status}（{more}）",
        zh_tw: "{status}（{more}）",
    }
    page_process_gone() { en: "its process is gone", zh_cn: "进程已不在", zh_tw: "行程已不在" }
    page_queued() { en: "queued", zh_cn: "排队中", zh_tw: "排隊中" }
    page_waits_for_limit() {
        en: "waiting for a usage limit",
        zh_cn: "等待用量上限重置",
        zh_tw: "等待用量上限重設",
    }
    page_failed() { en: "failed", zh_cn: "失败", zh_tw: "失敗" }
    page_was_ended() { en: "was ended", zh_cn: "已被结束", zh_tw: "已被結束" }
    page_at_limit() { en: "at a limit", zh_cn: "已达上限", zh_tw: "已達上限" }
    page_features_of(done: usize, features: &str) {
        en: "{done} of {features}",
        zh_cn: "{features}中的 {done} 项",
        zh_tw: "{features}中的 {done} 項",
    }
    page_builds(agent: &str) { en: "{agent} builds", zh_cn: "{agent} 开发", zh_tw: "{agent} 開發" }
    page_judges(agent: &str) { en: "{agent} judges", zh_cn: "{agent} 评审", zh_tw: "{agent} 評審" }
    page_label_needs() { en: "needs", zh_cn: "需要", zh_tw: "需要" }
    page_label_note() { en: "note", zh_cn: "提示", zh_tw: "提示" }
    page_label_file() { en: "file", zh_cn: "文件", zh_tw: "檔案" }
    page_label_hash() { en: "hash", zh_cn: "哈希", zh_tw: "雜湊" }
    page_judged_by_frozen(hash: &str) {
        en: "{hash} (judged by the version frozen at the start)",
        zh_cn: "{hash}（以启动时冻结的内容为准）",
        zh_tw: "{hash}（以啟動時凍結的內容為準）",
    }
    page_frozen_at_start(hash: &str) {
        en: "{hash} (frozen at the start)",
        zh_cn: "{hash}（启动时冻结）",
        zh_tw: "{hash}（啟動時凍結）",
    }
    page_goal() { en: "Goal", zh_cn: "目标", zh_tw: "目標" }
    page_features() { en: "Features", zh_cn: "功能", zh_tw: "功能" }
    page_criteria() { en: "Acceptance Criteria", zh_cn: "验收标准", zh_tw: "驗收標準" }
    page_constraints() { en: "Constraints", zh_cn: "约束", zh_tw: "限制" }
    page_others() { en: "Also given to the agents", zh_cn: "同时提供给智能体", zh_tw: "同時提供給代理" }
    page_accept(text: &str) { en: "Accept: {text}", zh_cn: "验收：{text}", zh_tw: "驗收：{text}" }
    page_findings() { en: "Findings", zh_cn: "问题", zh_tw: "問題" }
    page_open() { en: "open", zh_cn: "待解决", zh_tw: "待解決" }
    page_settled() { en: "settled", zh_cn: "已解决", zh_tw: "已解決" }
    page_round_left_out(id: &str) {
        en: "… round 1 is not shown: {dacapo}milestone show {id} --all",
        zh_cn: "……省略了第 1 轮的对话：{dacapo}milestone show {id} --all",
        zh_tw: "……省略了第 1 輪的對話：{dacapo}milestone show {id} --all",
    }
    page_rounds_left_out(last: usize, id: &str) {
        en: "… rounds 1 to {last} are not shown: {dacapo}milestone show {id} --all",
        zh_cn: "……省略了第 1 到 {last} 轮的对话：{dacapo}milestone show {id} --all",
        zh_tw: "……省略了第 1 到 {last} 輪的對話：{dacapo}milestone show {id} --all",
    }
    page_label_check() { en: "check", zh_cn: "检查", zh_tw: "檢查" }
    page_label_verdict() { en: "verdict", zh_cn: "裁决", zh_tw: "裁決" }
    page_label_criteria() { en: "criteria", zh_cn: "标准", zh_tw: "標準" }
    page_round(round: u32) { en: "Round {round}", zh_cn: "第 {round} 轮", zh_tw: "第 {round} 輪" }
    page_final_acceptance() { en: "final acceptance", zh_cn: "最终验收", zh_tw: "最終驗收" }
    page_more_lines(number: usize, at: &str) {
        en: (number: "… 1 more line{at}", "… {number} more lines{at}"),
        zh_cn: "……另有 {number} 行{at}",
        zh_tw: "……另有 {number} 行{at}",
    }
    page_logs_turn(id: &str, turn: u32) {
        en: ": {dacapo}logs {id} --turn {turn}",
        zh_cn: "：{dacapo}logs {id} --turn {turn}",
        zh_tw: "：{dacapo}logs {id} --turn {turn}",
    }
    page_you() { en: "you", zh_cn: "你", zh_tw: "你" }

    page_do_edit() { en: "fix the file", zh_cn: "修正文件", zh_tw: "修正檔案" }
    page_do_undo() {
        en: "bring its task back, if it was dropped",
        zh_cn: "若任务被丢弃，将其找回",
        zh_tw: "若任務被捨棄，將其找回",
    }
    page_do_drop_other() {
        en: "drop the task with this name",
        zh_cn: "丢弃同名的任务",
        zh_tw: "捨棄同名的任務",
    }
    page_do_start() { en: "start it here", zh_cn: "在此启动", zh_tw: "在此啟動" }
    page_do_spawn() { en: "start it in the background", zh_cn: "在后台启动", zh_tw: "在背景啟動" }
    page_do_resume() { en: "continue where it stopped", zh_cn: "从停下的地方继续", zh_tw: "從停下的地方繼續" }
    page_do_abandon() { en: "abandon it", zh_cn: "放弃", zh_tw: "放棄" }
    page_do_attach() { en: "watch it", zh_cn: "查看运行过程", zh_tw: "檢視執行過程" }
    page_do_tell() { en: "tell the next turn", zh_cn: "告知下一次调用", zh_tw: "告知下一次呼叫" }
    page_do_pause() { en: "pause after this round", zh_cn: "本轮之后暂停", zh_tw: "本輪之後暫停" }
    page_do_see() { en: "see what changed", zh_cn: "查看改动", zh_tw: "檢視變更" }
    page_do_complete() { en: "complete the milestone", zh_cn: "完成里程碑", zh_tw: "完成里程碑" }
    page_what_is_wrong() { en: "\"what is wrong\"", zh_cn: "\"哪里不对\"", zh_tw: "\"哪裡不對\"" }
    page_do_reject() {
        en: "send it back to the Developer",
        zh_cn: "退回给 Developer",
        zh_tw: "退回給 Developer",
    }
    page_do_saw() { en: "see what changed", zh_cn: "查看改动", zh_tw: "檢視變更" }
    page_do_merge() { en: "merge it into your branch", zh_cn: "合并到你的分支", zh_tw: "合併到你的分支" }
    page_do_pr() { en: "open a pull request", zh_cn: "创建拉取请求", zh_tw: "建立拉取請求" }
    page_do_drop() {
        en: "drop its worktree and branch",
        zh_cn: "丢弃它的工作树和分支",
        zh_tw: "捨棄它的工作樹和分支",
    }
    page_do_more_rounds() { en: "continue with more rounds", zh_cn: "增加轮数后继续", zh_tw: "增加輪數後繼續" }
    page_do_guide() {
        en: "continue with guidance for both sides",
        zh_cn: "继续，并告诉双方怎么做",
        zh_tw: "繼續，並告訴雙方怎麼做",
    }
    page_do_accept() {
        en: "accept the latest round despite the rejection",
        zh_cn: "接受最新一轮，尽管它被拒绝",
        zh_tw: "接受最新一輪，儘管它被拒絕",
    }
    page_do_settle() {
        en: "settle this finding, then resume",
        zh_cn: "将这个问题标为已解决，然后恢复",
        zh_tw: "將這個問題標為已解決，然後恢復",
    }
    page_do_tell_both() {
        en: "tell both sides; they hear it when it resumes",
        zh_cn: "继续时双方都会收到",
        zh_tw: "繼續時雙方都會收到",
    }
    page_do_see_built() { en: "see what changed", zh_cn: "查看改动", zh_tw: "檢視變更" }
}
