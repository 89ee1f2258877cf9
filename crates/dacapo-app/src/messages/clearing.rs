//! Why something of a task goes or stays when it is cleared up.

use super::messages;

messages! {
    CLEARING, dacapo;

    clearing_not_kept(error: &str) {
        en: "its worktree and branch were left in place, because they could not be backed up first: {error}",
        zh_cn: "工作树和分支保留原样，因为无法先备份：{error}",
        zh_tw: "工作樹和分支保留原樣，因為無法先備份：{error}",
    }
    clearing_not_recorded(error: &str) {
        en: "its worktree and branch were left in place, because the merge could not be recorded: {error}",
        zh_cn: "工作树和分支保留原样，因为无法记录合并：{error}",
        zh_tw: "工作樹和分支保留原樣，因為無法記錄合併：{error}",
    }
    clearing_not_put_away(error: &str, task: &str) {
        en: "its worktree or branch could not be removed: {error}; {dacapo}merge {task} tries again",
        zh_cn: "无法移除工作树或分支：{error}；{dacapo}merge {task} 会重试",
        zh_tw: "無法移除工作樹或分支：{error}；{dacapo}merge {task} 會重試",
    }
    clearing_merged(into: &str) { en: "merged into {into}", zh_cn: "已合并到 {into}", zh_tw: "已合併到 {into}" }
    clearing_merged_with_files(into: &str, files: u64, task: &str) {
        en: (files: "merged into {into}; 1 ignored file is kept: {dacapo}undo {task} restores it",
             "merged into {into}; {files} ignored files are kept: {dacapo}undo {task} restores them"),
        zh_cn: "已合并到 {into}；保存了 {files} 个被忽略的文件：{dacapo}undo {task} 可恢复",
        zh_tw: "已合併到 {into}；保存了 {files} 個被忽略的檔案：{dacapo}undo {task} 可恢復",
    }
    clearing_crash() { en: "left by a crash", zh_cn: "崩溃遗留", zh_tw: "當機遺留" }
    clearing_crash_empty() {
        en: "left by a crash; nothing is in it",
        zh_cn: "崩溃遗留；其中没有内容",
        zh_tw: "當機遺留；其中沒有內容",
    }
    clearing_no_proof_for(span: &str) {
        en: "not used for a proof for {span}",
        zh_cn: "已有 {span} 没有用于证明",
        zh_tw: "已有 {span} 沒有用於證明",
    }
    clearing_kept_for(what: &str, days: u64) {
        en: (days: "{what}; removed after 1 day, or now with --dropped",
             "{what}; removed after {days} days, or now with --dropped"),
        zh_cn: "{what}；{days} 天后删除，--dropped 立即删除",
        zh_tw: "{what}；{days} 天後刪除，--dropped 立即刪除",
    }
    clearing_cut_short(task: &str) {
        en: "its drop was interrupted: {dacapo}drop {task} finishes it, {dacapo}undo {task} reverts it",
        zh_cn: "丢弃过程中断：{dacapo}drop {task} 继续，{dacapo}undo {task} 撤销",
        zh_tw: "捨棄過程中斷：{dacapo}drop {task} 繼續，{dacapo}undo {task} 復原",
    }
    clearing_git_at_work() {
        en: "a git operation is in progress there",
        zh_cn: "那里有尚未完成的 git 操作",
        zh_tw: "那裡有尚未完成的 git 操作",
    }
    clearing_uncommitted(files: u64) {
        en: (files: "1 uncommitted file; {dacapo}drop keeps it", "{files} uncommitted files; {dacapo}drop keeps them"),
        zh_cn: "{files} 个未提交的文件；{dacapo}drop 会保留",
        zh_tw: "{files} 個未提交的檔案；{dacapo}drop 會保留",
    }
    clearing_nobodys(path: &str) {
        en: "belongs to no task; see {path}",
        zh_cn: "不属于任何任务；请查看 {path}",
        zh_tw: "不屬於任何任務；請檢視 {path}",
    }
    clearing_put_away_merged() { en: "merged", zh_cn: "已合并", zh_tw: "已合併" }
    clearing_put_away_with_files() {
        en: "merged; contains files that are in no commit",
        zh_cn: "已合并；含有不在任何提交中的文件",
        zh_tw: "已合併；含有不在任何提交中的檔案",
    }
    clearing_put_away_not_merged() { en: "not merged", zh_cn: "未合并", zh_tw: "未合併" }
    clearing_a_day() { en: "a day", zh_cn: "1 天", zh_tw: "1 天" }
}
