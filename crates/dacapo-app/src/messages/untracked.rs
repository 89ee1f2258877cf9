//! Files that were untracked before a task in the user's checkout.

use super::messages;

messages! {
    UNTRACKED, dacapo;

    untracked_left_out(number: u64) {
        en: (number: "1 untracked file is left out of commits", "{number} untracked files are left out of commits"),
        zh_cn: "{number} 个未跟踪的文件不会提交",
        zh_tw: "{number} 個未追蹤的檔案不會提交",
    }
    untracked_named(what: &str, names: &str) { en: "{what}: {names}", zh_cn: "{what}：{names}", zh_tw: "{what}：{names}" }
    untracked_not_kept(number: u64, groups: &str) {
        en: (number: "not kept in case an iteration changes it: {groups}", "not kept in case an iteration changes them: {groups}"),
        zh_cn: "未另存备份（若被迭代改动则无法找回）：{groups}",
        zh_tw: "未另存備份（若被迭代變更則無法找回）：{groups}",
    }
    untracked_group(names: &str, why: &str) { en: "{names} ({why})", zh_cn: "{names}（{why}）", zh_tw: "{names}（{why}）" }
    untracked_secret() { en: "looks like a secret", zh_cn: "像是密钥", zh_tw: "像是金鑰" }
    untracked_too_big() { en: "larger than 50 MB", zh_cn: "大于 50 MB", zh_tw: "大於 50 MB" }
    untracked_cache() { en: "a build recreates it", zh_cn: "构建时会重新生成", zh_tw: "建置時會重新產生" }
    untracked_too_much() {
        en: "beyond 200 MB or 10,000 files",
        zh_cn: "超过 200 MB 或 10,000 个文件",
        zh_tw: "超過 200 MB 或 10,000 個檔案",
    }
    untracked_repository() {
        en: "a git repository of its own",
        zh_cn: "独立的 git 仓库",
        zh_tw: "獨立的 git 儲存庫",
    }
    untracked_unreadable() { en: "cannot be read", zh_cn: "无法读取", zh_tw: "無法讀取" }
    untracked_same_for(number: u64) {
        en: (number: "the same goes for 1 more file that was untracked before the task", "the same goes for {number} more files that were untracked before the task"),
        zh_cn: "另有 {number} 个任务开始前未跟踪的文件也是如此",
        zh_tw: "另有 {number} 個任務開始前未追蹤的檔案也是如此",
    }
    untracked_in_all(number: u64, task: &str) {
        en: (number: "in all 1 file that was untracked: {dacapo}logs {task}", "in all {number} files that were untracked: {dacapo}logs {task}"),
        zh_cn: "共涉及 {number} 个未跟踪的文件：{dacapo}logs {task}",
        zh_tw: "共涉及 {number} 個未追蹤的檔案：{dacapo}logs {task}",
    }
    untracked_before(files: u64, names: &str, became: &str) {
        en: (files: "{names} was untracked before the task; {became}", "{names} were untracked before the task; {became}"),
        zh_cn: "{names} 在任务开始前未跟踪；{became}",
        zh_tw: "{names} 在任務開始前未追蹤；{became}",
    }
    untracked_committed(files: u64, iteration: &str) {
        en: (files: "{iteration} changed it, and it is committed", "{iteration} changed them, and they are committed"),
        zh_cn: "{iteration}改动了它，已提交",
        zh_tw: "{iteration}變更了它，已提交",
    }
    untracked_added(files: u64, iteration: &str) {
        en: (files: "the agent committed it in {iteration}", "the agent committed them in {iteration}"),
        zh_cn: "智能体在{iteration}中提交了它",
        zh_tw: "代理在{iteration}中提交了它",
    }
    untracked_changed(files: u64, iteration: &str) {
        en: (files: "{iteration} changed it, and it is not committed", "{iteration} changed them, and they are not committed"),
        zh_cn: "{iteration}改动了它，未提交",
        zh_tw: "{iteration}變更了它，未提交",
    }
    untracked_gone(files: u64, iteration: &str) {
        en: (files: "it is gone since {iteration}", "they are gone since {iteration}"),
        zh_cn: "自{iteration}起不存在了",
        zh_tw: "自{iteration}起不存在了",
    }
    untracked_old_lost(files: u64) {
        en: (files: "; its old content was not kept", "; their old content was not kept"),
        zh_cn: "；旧内容未保留",
        zh_tw: "；舊內容未保留",
    }
    untracked_old_in(files: u64, reference: &str) {
        en: (files: "; its old content is in {reference}", "; their old content is in {reference}"),
        zh_cn: "；旧内容在 {reference}",
        zh_tw: "；舊內容在 {reference}",
    }
    untracked_old_restore(files: u64, command: &str) {
        en: (files: "; {command} brings it back", "; {command} brings one back"),
        zh_cn: "；用 {command} 找回",
        zh_tw: "；用 {command} 找回",
    }
    untracked_old_show(files: u64, command: &str) {
        en: (files: "; its old content: {command}", "; their old content: {command}"),
        zh_cn: "；旧内容：{command}",
        zh_tw: "；舊內容：{command}",
    }
}
