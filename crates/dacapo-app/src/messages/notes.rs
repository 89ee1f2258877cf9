//! What happens beside what the user asked for, a line each.

use super::messages;

messages! {
    NOTES, dacapo;

    note_leftovers_ended(task: &str, processes: u64) {
        en: (processes: "ended 1 process left behind by task '{task}'", "ended {processes} processes left behind by task '{task}'"),
        zh_cn: "已结束任务“{task}”遗留的 {processes} 个进程",
        zh_tw: "已結束任務「{task}」遺留的 {processes} 個行程",
    }
    note_leftover_unreachable(task: &str, pid: u32, program: &str) {
        en: "cannot end process {pid} ({program}) of task '{task}': kill -9 {pid}",
        zh_cn: "无法结束任务“{task}”的进程 {pid}（{program}）：kill -9 {pid}",
        zh_tw: "無法結束任務「{task}」的行程 {pid}（{program}）：kill -9 {pid}",
    }
    note_lock_removed(what: &str) {
        en: "{what}, left by a command that was killed",
        zh_cn: "{what}（由被强制终止的命令遗留）",
        zh_tw: "{what}（由被強制終止的指令遺留）",
    }
    note_rename_finished(from: &str, to: &str) {
        en: "finished the interrupted rename of '{from}' to '{to}'",
        zh_cn: "已完成先前中断的重命名：“{from}”改为“{to}”",
        zh_tw: "已完成先前中斷的重新命名：「{from}」改為「{to}」",
    }
    note_merge_taken_back(task: &str, files: u64) {
        en: (files: "restored 1 file after a killed merge of '{task}'",
             "restored {files} files after a killed merge of '{task}'"),
        zh_cn: "已撤回“{task}”被强制终止的合并所改动的 {files} 个文件",
        zh_tw: "已撤回「{task}」被強制終止的合併所改動的 {files} 個檔案",
    }
    note_not_ended_yet(task: &str, seconds: u64) {
        en: "{task} has not ended yet; if its process does not respond, it is killed in {seconds} s",
        zh_cn: "{task} 尚未结束；若进程不响应，将在 {seconds} 秒后强制终止",
        zh_tw: "{task} 尚未結束；若行程沒有回應，將在 {seconds} 秒後強制終止",
    }
    note_not_listening(task: &str) {
        en: "the process of {task} does not respond and is being killed",
        zh_cn: "{task} 的进程没有响应，正在强制终止",
        zh_tw: "{task} 的行程沒有回應，正在強制終止",
    }
    note_trust_not_stored(error: &str) {
        en: "cannot save your answer; you will be asked again: {error}",
        zh_cn: "无法记住这次确认，之后还会再问：{error}",
        zh_tw: "無法記住這次確認，之後還會再問：{error}",
    }
    note_task_unreadable(task: &str, why: &str, place: &str) {
        en: "cannot read task '{task}': {why}{place}",
        zh_cn: "无法读取任务“{task}”：{why}{place}",
        zh_tw: "無法讀取任務「{task}」：{why}{place}",
    }
    note_merging(task: &str) { en: "merging {task}", zh_cn: "正在合并 {task}", zh_tw: "正在合併 {task}" }
    note_merging_step(task: &str, step: &str) {
        en: "merging {task}: {step}",
        zh_cn: "正在合并 {task}：{step}",
        zh_tw: "正在合併 {task}：{step}",
    }
    note_merge_joining(agent: &str) {
        en: "{agent} is integrating the changes",
        zh_cn: "{agent} 正在整合改动",
        zh_tw: "{agent} 正在整合變更",
    }
    note_merge_resolving(agent: &str, files: u64) {
        en: (files: "{agent} is resolving 1 file", "{agent} is resolving {files} files"),
        zh_cn: "{agent} 正在解决 {files} 个文件的冲突",
        zh_tw: "{agent} 正在解決 {files} 個檔案的衝突",
    }
    note_merge_agent_at_work() { en: "the agent is working", zh_cn: "智能体正在工作", zh_tw: "代理正在工作" }
    note_merge_checking(command: &str) {
        en: "running {command}",
        zh_cn: "正在运行 {command}",
        zh_tw: "正在執行 {command}",
    }
    note_merge_passed(command: &str) { en: "{command} passed", zh_cn: "{command} 通过", zh_tw: "{command} 通過" }
    note_merge_failed(command: &str) { en: "{command} failed", zh_cn: "{command} 失败", zh_tw: "{command} 失敗" }
    note_merge_again() {
        en: "the branch has moved in the meantime; starting again from there",
        zh_cn: "分支在此期间有变动；从新位置重新开始",
        zh_tw: "分支在此期間有變動；從新位置重新開始",
    }
    note_merge_done(commit: &str) { en: "merged as {commit}", zh_cn: "已合并为 {commit}", zh_tw: "已合併為 {commit}" }
    note_merge_already_there() { en: "already merged", zh_cn: "已经合并", zh_tw: "已經合併" }
    note_merge_empty() {
        en: "no commits, nothing to merge",
        zh_cn: "没有提交，无需合并",
        zh_tw: "沒有提交，無需合併",
    }
    note_merge_left_out(reason: &str) {
        en: "left out: {reason}",
        zh_cn: "未合并：{reason}",
        zh_tw: "未合併：{reason}",
    }
    note_merge_stopped() {
        en: "stopped; nothing was changed",
        zh_cn: "已停止；没有任何改动",
        zh_tw: "已停止；沒有任何變更",
    }
}
