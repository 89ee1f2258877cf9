//! `dacapo list`.

use super::messages;

messages! {
    LISTING, dacapo;

    list_needs_you() { en: "NEEDS YOU", zh_cn: "需要你", zh_tw: "需要你" }
    list_ready() { en: "READY", zh_cn: "可合并", zh_tw: "可合併" }
    list_stopped() { en: "STOPPED", zh_cn: "已停止", zh_tw: "已停止" }
    list_running() { en: "RUNNING", zh_cn: "运行中", zh_tw: "執行中" }
    list_queued() { en: "QUEUED", zh_cn: "排队中", zh_tw: "排隊中" }
    list_done() { en: "DONE", zh_cn: "已完成", zh_tw: "已完成" }

    list_at(done: u32, most: u32) { en: "{done} of {most}", zh_cn: "{done}/{most}", zh_tw: "{done}/{most}" }
    /// Two facts about a task.
    list_facts(first: &str, second: &str) { en: "{first}, {second}", zh_cn: "{first}，{second}", zh_tw: "{first}，{second}" }
    list_about(first: &str, prompt: &str) { en: "{first}: {prompt}", zh_cn: "{first}：{prompt}", zh_tw: "{first}：{prompt}" }
    list_your_answer() { en: "your answer", zh_cn: "你的回答", zh_tw: "你的回答" }
    list_waiting(agent: &str) {
        en: "waiting ({agent} limit)",
        zh_cn: "等待中（{agent} 用量受限）",
        zh_tw: "等待中（{agent} 用量受限）",
    }
    list_waiting_until(time: &str, agent: &str) {
        en: "waiting until {time} ({agent} limit)",
        zh_cn: "等待至 {time}（{agent} 用量受限）",
        zh_tw: "等待至 {time}（{agent} 用量受限）",
    }
    list_preparing() { en: "preparing", zh_cn: "准备中", zh_tw: "準備中" }
    list_agent_working(agent: &str) { en: "{agent} working", zh_cn: "{agent} 工作中", zh_tw: "{agent} 工作中" }
    list_checks_running() { en: "running checks", zh_cn: "正在运行检查", zh_tw: "正在執行檢查" }
    list_committing() { en: "committing", zh_cn: "正在提交", zh_tw: "正在提交" }
    list_proving(commit: &str) { en: "proving {commit}", zh_cn: "正在验证 {commit}", zh_tw: "正在驗證 {commit}" }
    list_backing_off() { en: "waiting after a failure", zh_cn: "失败后等待重试", zh_tw: "失敗後等待重試" }
    list_queues() { en: "waiting for a slot", zh_cn: "等待空位", zh_tw: "等待空位" }
    list_merged_into(branch: &str) { en: "merged into {branch}", zh_cn: "已合并到 {branch}", zh_tw: "已合併到 {branch}" }
    list_no_changes() { en: "no changes", zh_cn: "没有改动", zh_tw: "沒有變更" }
    list_in_checkout() { en: "in your checkout", zh_cn: "在你的工作区中", zh_tw: "在你的工作目錄中" }
    list_record_broken() { en: "record broken", zh_cn: "记录损坏", zh_tw: "紀錄損壞" }
    list_left_by_takeover(files: u64) {
        en: (files: "1 uncommitted file left by takeover", "{files} uncommitted files left by takeover"),
        zh_cn: "接管后留下 {files} 个未提交的文件",
        zh_tw: "接管後留下 {files} 個未提交的檔案",
    }
    list_failed() { en: "failed", zh_cn: "失败", zh_tw: "失敗" }
    list_failed_because(message: &str) { en: "failed: {message}", zh_cn: "失败：{message}", zh_tw: "失敗：{message}" }
    list_still_red() { en: "still red", zh_cn: "检查仍未通过", zh_tw: "檢查仍未通過" }
    list_not_done() { en: "not done", zh_cn: "尚未完成", zh_tw: "尚未完成" }
    list_no_progress() { en: "no progress", zh_cn: "没有进展", zh_tw: "沒有進展" }
    list_limit_too_long() { en: "usage limit lasts too long", zh_cn: "用量限制太久", zh_tw: "用量限制太久" }
    list_time_up() { en: "time is up", zh_cn: "时间已到", zh_tw: "時間已到" }
    list_budget_used() { en: "budget used up", zh_cn: "预算已用完", zh_tw: "預算已用完" }
    list_pull_request() { en: "pull request", zh_cn: "拉取请求", zh_tw: "拉取請求" }
    list_merges_cleanly() { en: "merges cleanly", zh_cn: "可无冲突合并", zh_tw: "可無衝突合併" }
    list_conflicts(with: &str) { en: "conflicts with {with}", zh_cn: "与 {with} 冲突", zh_tw: "與 {with} 衝突" }

    list_done_and_more(name: &str, more: u64) {
        en: "{name} and {more} more",
        zh_cn: "{name} 和另外 {more} 个",
        zh_tw: "{name} 和另外 {more} 個",
    }
    list_count_merged(number: u64) { en: "{number} merged", zh_cn: "{number} 个已合并", zh_tw: "{number} 個已合併" }
    list_count_in_checkout(number: u64) {
        en: "{number} in your checkout",
        zh_cn: "{number} 个在你的工作区中",
        zh_tw: "{number} 個在你的工作目錄中",
    }
    list_count_unchanged(number: u64) {
        en: "{number} without changes",
        zh_cn: "{number} 个没有改动",
        zh_tw: "{number} 個沒有變更",
    }
    list_count_unverified(number: u64) {
        en: " ({number} unverified)",
        zh_cn: "（{number} 个未验证）",
        zh_tw: "（{number} 個未驗證）",
    }

    list_on_disk(size: &str) { en: "{size} on disk", zh_cn: "占用磁盘 {size}", zh_tw: "占用磁碟 {size}" }
    list_everywhere() { en: "all repositories", zh_cn: "所有仓库", zh_tw: "所有儲存庫" }
    list_here() { en: "this repository", zh_cn: "此仓库", zh_tw: "此儲存庫" }
    list_here_of(everywhere: usize) {
        en: "this repository (--all: {everywhere})",
        zh_cn: "此仓库（--all：{everywhere}）",
        zh_tw: "此儲存庫（--all：{everywhere}）",
    }
    list_no_tasks() {
        en: "no tasks yet; {dacapo}exec \"what the agent should do\" starts one",
        zh_cn: "还没有任务；用 {dacapo}exec \"让智能体做的事\" 开始一个",
        zh_tw: "還沒有任務；用 {dacapo}exec \"讓代理做的事\" 開始一個",
    }
    list_proof_checkouts(checkouts: &str, size: &str) {
        en: "{checkouts}: {size}; {dacapo}prune removes unused ones",
        zh_cn: "{checkouts}：{size}；{dacapo}prune 会删除未使用的",
        zh_tw: "{checkouts}：{size}；{dacapo}prune 會刪除未使用的",
    }

    status_name_queued() { en: "queued", zh_cn: "排队中", zh_tw: "排隊中" }
    status_name_running() { en: "running", zh_cn: "运行中", zh_tw: "執行中" }
    status_name_waiting() { en: "waiting", zh_cn: "等待中", zh_tw: "等待中" }
    status_name_paused() { en: "paused", zh_cn: "已暂停", zh_tw: "已暫停" }
    status_name_interrupted() { en: "interrupted", zh_cn: "已中断", zh_tw: "已中斷" }
    status_name_completed() { en: "completed", zh_cn: "已完成", zh_tw: "已完成" }
    status_name_stopped() { en: "stopped", zh_cn: "已停止", zh_tw: "已停止" }
    status_name_failed() { en: "failed", zh_cn: "失败", zh_tw: "失敗" }
    status_name_cancelled() { en: "cancelled", zh_cn: "已取消", zh_tw: "已取消" }
}
