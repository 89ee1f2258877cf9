//! What a failure has left as it was. The same words wherever the same is true.

use super::messages;

messages! {
    KEPT, dacapo;

    kept_nothing_started() {
        en: "everything; nothing was started",
        zh_cn: "全部内容；没有启动任何任务",
        zh_tw: "全部內容；沒有啟動任何任務",
    }
    kept_nothing_changed() {
        en: "everything; nothing was changed",
        zh_cn: "全部内容；没有任何改动",
        zh_tw: "全部內容；沒有任何變更",
    }
    kept_nothing_started_or_changed() {
        en: "everything; nothing was started and nothing was changed",
        zh_cn: "全部内容；没有启动任何任务，也没有任何改动",
        zh_tw: "全部內容；沒有啟動任何任務，也沒有任何變更",
    }
    kept_task_not_started() {
        en: "everything; the task was not started",
        zh_cn: "全部内容；任务没有启动",
        zh_tw: "全部內容；任務沒有啟動",
    }
    kept_nothing_written() {
        en: "everything; nothing was written",
        zh_cn: "全部内容；没有写入任何内容",
        zh_tw: "全部內容；沒有寫入任何內容",
    }
    kept_nothing_merged() {
        en: "everything; nothing was merged",
        zh_cn: "全部内容；没有合并任何任务",
        zh_tw: "全部內容；沒有合併任何任務",
    }
    kept_nothing_pushed() {
        en: "everything; nothing was pushed",
        zh_cn: "全部内容；没有推送任何内容",
        zh_tw: "全部內容；沒有推送任何內容",
    }
    kept_nothing_renamed() {
        en: "everything; nothing was renamed",
        zh_cn: "全部内容；没有重命名任何任务",
        zh_tw: "全部內容；沒有重新命名任何任務",
    }
    kept_nothing_dropped() {
        en: "everything; nothing was dropped",
        zh_cn: "全部内容；没有丢弃任何任务",
        zh_tw: "全部內容；沒有捨棄任何任務",
    }
    kept_nothing_removed() {
        en: "everything; nothing was removed",
        zh_cn: "全部内容；没有删除任何内容",
        zh_tw: "全部內容；沒有刪除任何內容",
    }
    kept_nothing_ended() {
        en: "everything; nothing was ended",
        zh_cn: "全部内容；没有结束任何任务",
        zh_tw: "全部內容；沒有結束任何任務",
    }
    kept_nothing_newly_trusted() {
        en: "everything; nothing new was trusted",
        zh_cn: "全部内容；没有新增任何信任",
        zh_tw: "全部內容；沒有新增任何信任",
    }
    kept_task_goes_on() {
        en: "everything; the task keeps running",
        zh_cn: "全部内容；任务继续运行",
        zh_tw: "全部內容；任務繼續執行",
    }
    kept_all_that_was_done(task: &str) {
        en: "all work so far; task '{task}' can be resumed",
        zh_cn: "已完成的全部工作；任务“{task}”可以恢复",
        zh_tw: "已完成的全部工作；任務「{task}」可以恢復",
    }
}
