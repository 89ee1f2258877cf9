//! The pages of a task in the terminal app.

use super::messages;

messages! {
    PAGES, dacapo;

    page_running() { en: "running", zh_cn: "运行中", zh_tw: "執行中" }
    page_said_done() { en: "said done, wasn't", zh_cn: "自称完成，其实没有", zh_tw: "自稱完成，其實沒有" }
    page_until(promise: &str) { en: "until it says {promise}", zh_cn: "直到它说 {promise}", zh_tw: "直到它說 {promise}" }
    page_tests_touched(number: u64) {
        en: (number: "1 test or check file changed", "{number} test or check files changed"),
        zh_cn: "改动了 {number} 个测试或检查文件",
        zh_tw: "更動了 {number} 個測試或檢查檔案",
    }
    page_rejections(number: u32, most: u32) {
        en: "rejections {number}/{most}",
        zh_cn: "连续拒绝 {number}/{most}",
        zh_tw: "連續拒絕 {number}/{most}",
    }
    page_waiting_for(who: &str) { en: "waiting for {who}", zh_cn: "等待 {who}", zh_tw: "等待 {who}" }
    page_criteria_frozen() { en: "criteria, frozen", zh_cn: "验收标准（已冻结）", zh_tw: "驗收標準（已凍結）" }
    page_findings_open() { en: "open findings", zh_cn: "未解决的问题", zh_tw: "未解決的問題" }
    page_verdicts() { en: "verdicts", zh_cn: "裁决", zh_tw: "裁決" }
    page_last_verdict() { en: "last verdict", zh_cn: "最近的裁决", zh_tw: "最近的裁決" }
    page_steps_iterations() { en: "iterations", zh_cn: "迭代", zh_tw: "迭代" }
    page_decide() { en: "needs your decision", zh_cn: "需要你决定", zh_tw: "需要你決定" }
    page_live() { en: "live", zh_cn: "实时", zh_tw: "即時" }
    page_key_switch() { en: "switch pane", zh_cn: "切换窗格", zh_tw: "切換窗格" }
    page_key_receipt() { en: "checks and proof", zh_cn: "检查与证明", zh_tw: "檢查與證明" }
    page_key_log() { en: "log", zh_cn: "日志", zh_tw: "記錄" }
    page_key_decide() { en: "decide", zh_cn: "决定", zh_tw: "決定" }
    page_key_limits() { en: "change limits", zh_cn: "更改上限", zh_tw: "更改上限" }
    page_key_guide() { en: "tell it something", zh_cn: "给它指示", zh_tw: "給它指示" }
    page_not_asked(task: &str) { en: "{task} asks nothing now", zh_cn: "{task} 现在没有要问的", zh_tw: "{task} 現在沒有要問的" }
    page_no_task() { en: "the task is gone", zh_cn: "任务已不存在", zh_tw: "任務已不存在" }
    receipt_title() { en: "checks and proof", zh_cn: "检查与证明", zh_tw: "檢查與證明" }
    receipt_no_end_yet() { en: "not over yet: nothing is proven", zh_cn: "尚未结束：没有任何证明", zh_tw: "尚未結束：沒有任何證明" }
    receipt_of_check(number: u32, check: &str) { en: "run {number}: {check}", zh_cn: "第 {number} 次运行：{check}", zh_tw: "第 {number} 次執行：{check}" }
    receipt_lines_left_out(number: u64) { en: (number: "1 line before these", "{number} lines before these"), zh_cn: "此前还有 {number} 行", zh_tw: "此前還有 {number} 行" }
    receipt_no_check_ran() { en: "no check has run", zh_cn: "没有运行过检查", zh_tw: "沒有執行過檢查" }
    diff_title(what: &str) { en: "diff of {what}", zh_cn: "{what}的差异", zh_tw: "{what}的差異" }
    diff_of_tests() { en: "tests, settings and scripts that judge the work", zh_cn: "评判工作的测试、设置和脚本", zh_tw: "評判工作的測試、設定和指令稿" }
    diff_all_of_it() { en: "everything", zh_cn: "全部改动", zh_tw: "全部更動" }
    diff_files(number: u64) { en: (number: "1 file", "{number} files"), zh_cn: "{number} 个文件", zh_tw: "{number} 個檔案" }
    diff_binary() { en: "binary file", zh_cn: "二进制文件", zh_tw: "二進位檔案" }
    diff_key_file() { en: "next and previous file", zh_cn: "下一个、上一个文件", zh_tw: "下一個、上一個檔案" }
    diff_key_iteration() { en: "next and previous iteration", zh_cn: "下一次、上一次迭代", zh_tw: "下一次、上一次迭代" }
    diff_key_all() { en: "all of it", zh_cn: "全部改动", zh_tw: "全部更動" }
    diff_key_whitespace() { en: "with or without whitespace changes", zh_cn: "显示或忽略空白改动", zh_tw: "顯示或忽略空白更動" }
    diff_without_whitespace() { en: "whitespace ignored", zh_cn: "忽略空白", zh_tw: "忽略空白" }
    diff_too_long(size: &str) { en: "the first {size}; e opens all of it", zh_cn: "前 {size}；按 e 打开全部", zh_tw: "前 {size}；按 e 開啟全部" }
}
