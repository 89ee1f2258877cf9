//! How many there are of something.

use super::messages;

messages! {
    COUNTS, dacapo;

    iterations(number: u64) {
        en: (number: "1 iteration", "{number} iterations"),
        zh_cn: "{number} 次迭代",
        zh_tw: "{number} 次迭代",
    }
    more_iterations(number: u64) {
        en: (number: "1 more iteration", "{number} more iterations"),
        zh_cn: "再 {number} 次迭代",
        zh_tw: "再 {number} 次迭代",
    }
    rounds(number: u64) { en: (number: "1 round", "{number} rounds"), zh_cn: "{number} 轮", zh_tw: "{number} 輪" }
    more_rounds(number: u64) {
        en: (number: "1 more round", "{number} more rounds"),
        zh_cn: "再 {number} 轮",
        zh_tw: "再 {number} 輪",
    }
    turns(number: u64) { en: (number: "1 turn", "{number} turns"), zh_cn: "{number} 次调用", zh_tw: "{number} 次呼叫" }
    tasks(number: u64) { en: (number: "1 task", "{number} tasks"), zh_cn: "{number} 个任务", zh_tw: "{number} 個任務" }
    files(number: u64) { en: (number: "1 file", "{number} files"), zh_cn: "{number} 个文件", zh_tw: "{number} 個檔案" }
    untracked_files(number: u64) {
        en: (number: "1 untracked file", "{number} untracked files"),
        zh_cn: "{number} 个未跟踪的文件",
        zh_tw: "{number} 個未追蹤的檔案",
    }
    uncommitted_files(number: u64) {
        en: (number: "1 uncommitted file", "{number} uncommitted files"),
        zh_cn: "{number} 个未提交的文件",
        zh_tw: "{number} 個未提交的檔案",
    }
    commits(number: u64) {
        en: (number: "1 commit", "{number} commits"),
        zh_cn: "{number} 个提交",
        zh_tw: "{number} 個提交",
    }
    branches(number: u64) {
        en: (number: "1 branch", "{number} branches"),
        zh_cn: "{number} 个分支",
        zh_tw: "{number} 個分支",
    }
    worktrees(number: u64) {
        en: (number: "1 worktree", "{number} worktrees"),
        zh_cn: "{number} 个工作树",
        zh_tw: "{number} 個工作樹",
    }
    checks(number: u64) { en: (number: "1 check", "{number} checks"), zh_cn: "{number} 项检查", zh_tw: "{number} 項檢查" }
    processes(number: u64) {
        en: (number: "1 process", "{number} processes"),
        zh_cn: "{number} 个进程",
        zh_tw: "{number} 個行程",
    }
    failures(number: u64) {
        en: (number: "1 failure", "{number} failures"),
        zh_cn: "{number} 次失败",
        zh_tw: "{number} 次失敗",
    }
    findings(number: u64) {
        en: (number: "1 finding", "{number} findings"),
        zh_cn: "{number} 个问题",
        zh_tw: "{number} 個問題",
    }
    features(number: u64) {
        en: (number: "1 feature", "{number} features"),
        zh_cn: "{number} 项功能",
        zh_tw: "{number} 項功能",
    }
    proof_checkouts(number: u64) {
        en: (number: "1 proof checkout", "{number} proof checkouts"),
        zh_cn: "{number} 个用于证明的检出",
        zh_tw: "{number} 個用於證明的簽出",
    }
    lines(number: u64) { en: (number: "1 line", "{number} lines"), zh_cn: "{number} 行", zh_tw: "{number} 行" }
    bytes(number: u64) { en: (number: "1 byte", "{number} bytes"), zh_cn: "{number} 字节", zh_tw: "{number} 位元組" }
    seconds(number: u64) { en: (number: "1 second", "{number} seconds"), zh_cn: "{number} 秒", zh_tw: "{number} 秒" }
    minutes(number: u64) {
        en: (number: "1 minute", "{number} minutes"),
        zh_cn: "{number} 分钟",
        zh_tw: "{number} 分鐘",
    }
    days(number: u64) { en: (number: "1 day", "{number} days"), zh_cn: "{number} 天", zh_tw: "{number} 天" }
    /// At the end of a list that was cut: `a, b and 3 more`.
    and_more(number: u64) {
        en: " and {number} more",
        zh_cn: " 等，另有 {number} 个",
        zh_tw: " 等，另有 {number} 個",
    }
    /// A line below a list that was cut.
    more_below(number: u64) { en: "… {number} more", zh_cn: "……另有 {number} 个", zh_tw: "……另有 {number} 個" }
}
