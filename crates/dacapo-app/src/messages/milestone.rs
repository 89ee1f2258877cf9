//! Milestones: where one stands, its rounds, reports and verdicts.

use super::messages;

messages! {
    MILESTONE, dacapo;

    kind_milestone() { en: "milestone", zh_cn: "里程碑", zh_tw: "里程碑" }
    milestone_another_name() {
        en: "or give the milestone's file another name",
        zh_cn: "或者给里程碑文件另起名字",
        zh_tw: "或者給里程碑檔案另取名稱",
    }
    milestone_awaits_review() { en: "waiting for your review", zh_cn: "等待你审阅", zh_tw: "等待你審閱" }
    milestone_accepted_unverified() {
        en: "accepted, unverified",
        zh_cn: "已接受，未验证",
        zh_tw: "已接受，未驗證",
    }
    milestone_review_awaited() {
        en: "accepted: waiting for your review",
        zh_cn: "已接受：等待你审阅",
        zh_tw: "已接受：等待你審閱",
    }
    milestone_unfinished(status: &str, done: usize, features: &str) {
        en: "the milestone is {status}, {done} of {features} accepted",
        zh_cn: "里程碑的状态为“{status}”，{features}中已接受 {done} 项",
        zh_tw: "里程碑的狀態為「{status}」，{features}中已接受 {done} 項",
    }
    milestone_status_pending() { en: "pending", zh_cn: "待启动", zh_tw: "待啟動" }
    milestone_status_in_progress() { en: "in progress", zh_cn: "进行中", zh_tw: "進行中" }
    milestone_status_paused() { en: "paused", zh_cn: "已暂停", zh_tw: "已暫停" }
    milestone_status_awaiting_review() { en: "waiting for review", zh_cn: "等待审阅", zh_tw: "等待審閱" }
    milestone_status_completed() { en: "completed", zh_cn: "已完成", zh_tw: "已完成" }
    milestone_status_abandoned() { en: "abandoned", zh_cn: "已放弃", zh_tw: "已放棄" }
    milestone_rounds_of(done: u32, most: &str) { en: "{done} of {most}", zh_cn: "{most}中的 {done} 轮", zh_tw: "{most}中的 {done} 輪" }
    milestone_round_short(round: u32, most: u32) {
        en: "round {round}/{most}",
        zh_cn: "第 {round}/{most} 轮",
        zh_tw: "第 {round}/{most} 輪",
    }
    milestone_rejected_in_a_row(number: u32) {
        en: "{number} rejected in a row",
        zh_cn: "连续 {number} 次被拒绝",
        zh_tw: "連續 {number} 次被拒絕",
    }
    milestone_waits_for_developer() {
        en: "waiting for the Developer",
        zh_cn: "等待 Developer",
        zh_tw: "等待 Developer",
    }
    milestone_waits_for_acceptor() {
        en: "waiting for the Acceptor",
        zh_cn: "等待 Acceptor",
        zh_tw: "等待 Acceptor",
    }
    milestone_developer_works() {
        en: "Developer is working",
        zh_cn: "Developer 工作中",
        zh_tw: "Developer 工作中",
    }
    milestone_acceptor_works() {
        en: "Acceptor is working",
        zh_cn: "Acceptor 工作中",
        zh_tw: "Acceptor 工作中",
    }
    milestone_checks_run() { en: "checks are running", zh_cn: "检查运行中", zh_tw: "檢查執行中" }
    milestone_final_acceptance() { en: "final acceptance", zh_cn: "最终验收", zh_tw: "最終驗收" }
    milestone_accepted_count(number: u64) {
        en: "{number} accepted",
        zh_cn: "{number} 轮被接受",
        zh_tw: "{number} 輪被接受",
    }
    milestone_features_done(done: usize, features: &str) {
        en: "{done} of {features} done",
        zh_cn: "{features}中已完成 {done} 项",
        zh_tw: "{features}中已完成 {done} 項",
    }
    milestone_not_itemised() {
        en: "criteria not itemised",
        zh_cn: "未逐条说明验收标准",
        zh_tw: "未逐條說明驗收標準",
    }
    milestone_accepted_without_lines() {
        en: "criteria not itemised: the Acceptor accepted without a line for each",
        zh_cn: "未逐条说明验收标准：Acceptor 没有对每条给出说明就接受了",
        zh_tw: "未逐條說明驗收標準：Acceptor 沒有對每條給出說明就接受了",
    }
    milestone_all_complete() { en: "all features complete", zh_cn: "所有功能均已完成", zh_tw: "所有功能均已完成" }
    milestone_finding_open(id: &str, round: u32, text: &str) {
        en: "{id} open since round {round}: {text}",
        zh_cn: "{id} 自第 {round} 轮起未解决：{text}",
        zh_tw: "{id} 自第 {round} 輪起未解決：{text}",
    }
    milestone_since_round(round: u32) {
        en: "(since round {round})",
        zh_cn: "（自第 {round} 轮起）",
        zh_tw: "（自第 {round} 輪起）",
    }
    milestone_more_in_status(number: usize, task: &str) {
        en: "… {number} more: {dacapo}status {task}",
        zh_cn: "……另有 {number} 个：{dacapo}status {task}",
        zh_tw: "……另有 {number} 個：{dacapo}status {task}",
    }

    verdict_accepted() { en: "accepted", zh_cn: "已接受", zh_tw: "已接受" }
    verdict_rejected() { en: "rejected", zh_cn: "被拒绝", zh_tw: "被拒絕" }
    verdict_rejected_row(number: u32) {
        en: "rejected, {number} in a row",
        zh_cn: "被拒绝，连续 {number} 次",
        zh_tw: "被拒絕，連續 {number} 次",
    }
    verdict_milestone_accepted() {
        en: "the milestone is accepted",
        zh_cn: "里程碑已接受",
        zh_tw: "里程碑已接受",
    }
    verdict_accepted_by(by: &str) { en: "accepted by {by}", zh_cn: "{by}已接受", zh_tw: "{by}已接受" }
    verdict_accepted_against(by: &str) {
        en: "accepted by {by}, against",
        zh_cn: "{by}已接受，尽管",
        zh_tw: "{by}已接受，儘管",
    }
    verdict_rejected_by(by: &str) { en: "rejected by {by}", zh_cn: "{by}已拒绝", zh_tw: "{by}已拒絕" }
    verdict_acceptor() { en: "the Acceptor", zh_cn: "Acceptor ", zh_tw: "Acceptor " }
    verdict_engine() { en: "Dacapo", zh_cn: "Dacapo ", zh_tw: "Dacapo " }
    verdict_person() { en: "a person", zh_cn: "人工", zh_tw: "人工" }
    verdict_not_met(criteria: &str) { en: "{criteria} not met", zh_cn: "{criteria} 未满足", zh_tw: "{criteria} 未滿足" }
    verdict_met(criteria: &str) { en: "{criteria} met", zh_cn: "{criteria} 满足", zh_tw: "{criteria} 滿足" }

    touched_acceptor(what: &str) { en: "the Acceptor {what}", zh_cn: "Acceptor {what}", zh_tw: "Acceptor {what}" }
    touched_branch() { en: "moved the branch", zh_cn: "移动了分支", zh_tw: "移動了分支" }
    touched_head(branch: &str) {
        en: "left HEAD on {branch}",
        zh_cn: "把 HEAD 留在了 {branch}",
        zh_tw: "把 HEAD 留在了 {branch}",
    }
    touched_files(files: &str) { en: "changed {files}", zh_cn: "改动了 {files}", zh_tw: "變更了 {files}" }
    main_moved(what: &str) { en: "The main branch {what}", zh_cn: "主分支{what}", zh_tw: "主分支{what}" }
    main_moved_both(first: &str, second: &str) {
        en: "{first}, and {second}",
        zh_cn: "{first}，并且{second}",
        zh_tw: "{first}，並且{second}",
    }
    main_moved_gone(was: &str) {
        en: "is gone; it was at {was}",
        zh_cn: "已不存在；之前在 {was}",
        zh_tw: "已不存在；之前在 {was}",
    }
    main_moved_lost(was: &str, now: &str) {
        en: "moved from {was} to {now} and no longer contains its old commits",
        zh_cn: "从 {was} 移到了 {now}，不再包含原有的提交",
        zh_tw: "從 {was} 移到了 {now}，不再包含原有的提交",
    }
    main_moved_holds(commits: &str) {
        en: "now contains commits of the milestone: {commits}",
        zh_cn: "现已包含本里程碑的提交：{commits}",
        zh_tw: "現已包含本里程碑的提交：{commits}",
    }

    round_turn_interrupted() {
        en: "the last turn was interrupted: the round continues",
        zh_cn: "上一次调用被中断：本轮继续",
        zh_tw: "上一次呼叫被中斷：本輪繼續",
    }
    round_conversation_lost() {
        en: "its conversation was lost: it starts a new one with the full context",
        zh_cn: "对话已丢失：将带着完整上下文开始新对话",
        zh_tw: "對話已遺失：將帶著完整脈絡開始新對話",
    }
    round_astray(branch: &str) {
        en: "HEAD is on {branch}; the Developer switches back first",
        zh_cn: "HEAD 在 {branch}；Developer 会先切换回去",
        zh_tw: "HEAD 在 {branch}；Developer 會先切換回去",
    }
    round_dirty(files: &str, names: &str) {
        en: "{files}: the Developer cleans up first ({names})",
        zh_cn: "{files}：Developer 会先清理（{names}）",
        zh_tw: "{files}：Developer 會先清理（{names}）",
    }
    round_uncommitted_kept(reference: &str) {
        en: "uncommitted work is kept: {reference}",
        zh_cn: "未提交的工作已保存：{reference}",
        zh_tw: "未提交的工作已保存：{reference}",
    }
    round_sent_back_developer(complaint: &str) {
        en: "to the Developer: {complaint}",
        zh_cn: "给 Developer：{complaint}",
        zh_tw: "給 Developer：{complaint}",
    }
    round_sent_back_acceptor(complaint: &str) {
        en: "to the Acceptor: {complaint}",
        zh_cn: "给 Acceptor：{complaint}",
        zh_tw: "給 Acceptor：{complaint}",
    }
    round_was_sent_back_developer(complaint: &str) {
        en: "sent back to the Developer: {complaint}",
        zh_cn: "退回给 Developer：{complaint}",
        zh_tw: "退回給 Developer：{complaint}",
    }
    round_was_sent_back_acceptor(complaint: &str) {
        en: "sent back to the Acceptor: {complaint}",
        zh_cn: "退回给 Acceptor：{complaint}",
        zh_tw: "退回給 Acceptor：{complaint}",
    }
    round_criteria(criteria: &str) {
        en: "criteria: {criteria}",
        zh_cn: "验收标准：{criteria}",
        zh_tw: "驗收標準：{criteria}",
    }
    round_final_acceptance(who: &str) {
        en: "{who} · final acceptance, every criterion",
        zh_cn: "{who} · 最终验收，逐条检查",
        zh_tw: "{who} · 最終驗收，逐條檢查",
    }
    /// How many are left out of a list.
    round_more(number: usize) { en: "{number} more", zh_cn: "另有 {number} 个", zh_tw: "另有 {number} 個" }

    label_goal() { en: "goal", zh_cn: "目标", zh_tw: "目標" }
    label_agents() { en: "agents", zh_cn: "智能体", zh_tw: "代理" }
    label_settled() { en: "settled", zh_cn: "已解决", zh_tw: "已解決" }
    label_builds() { en: "builds", zh_cn: "开发", zh_tw: "開發" }
    label_judges() { en: "judges", zh_cn: "验收", zh_tw: "驗收" }
    label_cleans() { en: "cleans", zh_cn: "清理", zh_tw: "清理" }
    label_report() { en: "report", zh_cn: "报告", zh_tw: "報告" }
    label_sent_back() { en: "back", zh_cn: "退回", zh_tw: "退回" }
    label_failed() { en: "failed", zh_cn: "失败", zh_tw: "失敗" }
    label_astray() { en: "astray", zh_cn: "偏离", zh_tw: "偏離" }
    label_dirty() { en: "dirty", zh_cn: "未提交", zh_tw: "未提交" }
    label_touched() { en: "touched", zh_cn: "改动", zh_tw: "變更" }
    label_main() { en: "main", zh_cn: "主分支", zh_tw: "主分支" }
    label_criteria() { en: "criteria", zh_cn: "标准", zh_tw: "標準" }
    label_kept_as() { en: "kept", zh_cn: "已保存", zh_tw: "已保存" }
    label_check() { en: "check", zh_cn: "检查", zh_tw: "檢查" }
    label_note_short() { en: "note", zh_cn: "提示", zh_tw: "提示" }
}
