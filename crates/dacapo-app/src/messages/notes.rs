//! What happens beside what the user asked for, a line each.

use super::messages;

messages! {
    NOTES;

    note_leftovers_ended(task: &str, processes: u64) {
        en: (processes: "ended 1 process left behind by task '{task}'", "ended {processes} processes left behind by task '{task}'"),
        zh_cn: "已结束任务“{task}”遗留的 {processes} 个进程",
        zh_tw: "已結束任務「{task}」遺留的 {processes} 個行程",
    }
    note_leftover_unreachable(task: &str, pid: u32, program: &str) {
        en: "process {pid} ({program}) of task '{task}' cannot be ended: kill -9 {pid}",
        zh_cn: "无法结束任务“{task}”的进程 {pid}（{program}）：kill -9 {pid}",
        zh_tw: "無法結束任務「{task}」的行程 {pid}（{program}）：kill -9 {pid}",
    }
    note_lock_removed(what: &str) {
        en: "{what}, left by a command that was killed",
        zh_cn: "{what}（由被强制终止的命令遗留）",
        zh_tw: "{what}（由被強制終止的命令遺留）",
    }
    note_rename_finished(from: &str, to: &str) {
        en: "finished the rename of '{from}' to '{to}', which was cut short",
        zh_cn: "已完成先前中断的重命名：“{from}”改为“{to}”",
        zh_tw: "已完成先前中斷的重新命名：「{from}」改為「{to}」",
    }
    note_merge_taken_back(task: &str, files: u64) {
        en: (files: "took back 1 file of a merge of '{task}' that was killed", "took back {files} files of a merge of '{task}' that was killed"),
        zh_cn: "已撤回“{task}”被强制终止的合并所改动的 {files} 个文件",
        zh_tw: "已撤回「{task}」被強制終止的合併所改動的 {files} 個檔案",
    }
    note_not_ended_yet(task: &str, seconds: u64) {
        en: "{task} has not ended yet; a process that does not listen is killed in {seconds} s",
        zh_cn: "{task} 尚未结束；若进程不响应，将在 {seconds} 秒后强制终止",
        zh_tw: "{task} 尚未結束；若行程沒有回應，將在 {seconds} 秒後強制終止",
    }
    note_not_listening(task: &str) {
        en: "the process of {task} does not listen and is killed",
        zh_cn: "{task} 的进程没有响应，正在强制终止",
        zh_tw: "{task} 的行程沒有回應，正在強制終止",
    }
    note_trust_not_stored(error: &str) {
        en: "this cannot be remembered, and will be asked again: {error}",
        zh_cn: "无法记住这次确认，之后还会再问：{error}",
        zh_tw: "無法記住這次確認，之後還會再問：{error}",
    }
    note_task_unreadable(task: &str, why: &str, place: &str) {
        en: "task '{task}' cannot be read: {why}{place}",
        zh_cn: "无法读取任务“{task}”：{why}{place}",
        zh_tw: "無法讀取任務「{task}」：{why}{place}",
    }
}
