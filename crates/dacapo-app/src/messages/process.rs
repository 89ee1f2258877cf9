//! The process of a task: how it begins, what it waits for, and why it could not go on.

use super::messages;

messages! {
    PROCESS, dacapo;

    process_cannot_start(task: &str, what: &str, error: &str) {
        en: "cannot start task '{task}' in the background: {what}: {error}",
        zh_cn: "无法在后台启动任务“{task}”：{what}：{error}",
        zh_tw: "無法在背景啟動任務「{task}」：{what}：{error}",
    }
    process_could_not_start(task: &str, why: &str) {
        en: "task '{task}' could not be started in the background: {why}",
        zh_cn: "任务“{task}”未能在后台启动：{why}",
        zh_tw: "任務「{task}」未能在背景啟動：{why}",
    }
    process_ended_silently() {
        en: "its process ended without saying why",
        zh_cn: "它的进程结束了，没有说明原因",
        zh_tw: "它的行程結束了，沒有說明原因",
    }
    process_nothing_runs() {
        en: "everything; nothing is running",
        zh_cn: "全部内容；没有任何进程在运行",
        zh_tw: "全部內容；沒有任何行程在執行",
    }
    process_resume_tries_again(task: &str) {
        en: "{dacapo}resume {task} tries again",
        zh_cn: "{dacapo}resume {task} 再试一次",
        zh_tw: "{dacapo}resume {task} 再試一次",
    }
    process_fix_then_resume(task: &str) {
        en: "fix the cause, then {dacapo}resume {task}",
        zh_cn: "排除原因，然后 {dacapo}resume {task}",
        zh_tw: "排除原因，然後 {dacapo}resume {task}",
    }
    process_unlock_then_resume(command: &str, task: &str) {
        en: "{command}, if no git and no editor is running in this repository; then {dacapo}resume {task}",
        zh_cn: "若此仓库中没有 git 和编辑器在运行：{command}；然后 {dacapo}resume {task}",
        zh_tw: "若此儲存庫中沒有 git 和編輯器在執行：{command}；然後 {dacapo}resume {task}",
    }
    process_without_its_lock() {
        en: "the process of the task did not get the task's lock",
        zh_cn: "任务的进程没有得到该任务的锁",
        zh_tw: "任務的行程沒有得到該任務的鎖",
    }
    process_no_progress(error: &str, task: &str) {
        en: "{error}; `{dacapo}drop {task}` drops the task and keeps them",
        zh_cn: "{error}；`{dacapo}drop {task}` 丢弃任务但保留它们",
        zh_tw: "{error}；`{dacapo}drop {task}` 捨棄任務但保留它們",
    }
    process_record_lost(task: &str) {
        en: "all commits, and the files as they are; the record of task '{task}' is lost",
        zh_cn: "所有提交和文件的现状；任务“{task}”的记录已丢失",
        zh_tw: "所有提交和檔案的現狀；任務「{task}」的紀錄已遺失",
    }
    process_start_a_new_task() {
        en: "look at git log and git status, then start a new task",
        zh_cn: "查看 git log 和 git status，然后启动新任务",
        zh_tw: "查看 git log 和 git status，然後啟動新任務",
    }

    setup_could_not() {
        en: "the task could not be set up",
        zh_cn: "任务未能准备就绪",
        zh_tw: "任務未能準備就緒",
    }
    setup_could_not_begin(task: &str, why: &str) {
        en: "task '{task}' could not start: {why}",
        zh_cn: "任务“{task}”未能开始：{why}",
        zh_tw: "任務「{task}」未能開始：{why}",
    }
    setup_kept_record(task: &str) {
        en: "its record ({dacapo}logs {task}); no agent was started",
        zh_cn: "它的记录（{dacapo}logs {task}）；没有启动任何智能体",
        zh_tw: "它的紀錄（{dacapo}logs {task}）；沒有啟動任何代理",
    }
    setup_fix_or_drop(task: &str) {
        en: "fix the cause, then {dacapo}resume {task}; or {dacapo}drop {task}",
        zh_cn: "排除原因，然后 {dacapo}resume {task}；或 {dacapo}drop {task}",
        zh_tw: "排除原因，然後 {dacapo}resume {task}；或 {dacapo}drop {task}",
    }
    setup_correct_the_check() {
        en: "correct the check (`sh -c` runs it at the top of the checkout), or leave it out",
        zh_cn: "修正检查（由 `sh -c` 在工作区的顶层目录运行），或去掉它",
        zh_tw: "修正檢查（由 `sh -c` 在工作目錄的頂層執行），或去掉它",
    }
    setup_missing_in_worktree(check: &str, commands: &str) {
        en: "what `{check}` needs is not installed in a fresh worktree: put [worktree] setup = [{commands}] into .dacapo/config.toml",
        zh_cn: "新的工作树里没有安装 `{check}` 需要的东西：在 .dacapo/config.toml 中写 [worktree] setup = [{commands}]",
        zh_tw: "新的工作樹裡沒有安裝 `{check}` 需要的東西：在 .dacapo/config.toml 中寫 [worktree] setup = [{commands}]",
    }
    setup_missing_here(check: &str, commands: &str, evidence: &str) {
        en: "what `{check}` needs is not installed: {commands} (by {evidence}), then start it again",
        zh_cn: "没有安装 `{check}` 需要的东西：{commands}（依据 {evidence}），然后重新启动",
        zh_tw: "沒有安裝 `{check}` 需要的東西：{commands}（依據 {evidence}），然後重新啟動",
    }

    slot_taken(other: &str, kind: &str) {
        en: "'{other}' is running; a repository can run one {kind} at a time",
        zh_cn: "“{other}”正在运行；每个仓库同时只能运行一个{kind}",
        zh_tw: "「{other}」正在執行；每個儲存庫同時只能執行一個{kind}",
    }
    slot_another(kind: &str) { en: "another {kind}", zh_cn: "另一个{kind}", zh_tw: "另一個{kind}" }
    slot_wait_or_pause(other: &str) {
        en: "{dacapo}wait {other} waits for it, {dacapo}pause {other} pauses it",
        zh_cn: "{dacapo}wait {other} 等它结束，{dacapo}pause {other} 暂停它",
        zh_tw: "{dacapo}wait {other} 等它結束，{dacapo}pause {other} 暫停它",
    }
    slot_spawn_waits(kind: &str) {
        en: "in the background a {kind} waits for its turn: --spawn",
        zh_cn: "在后台运行的{kind}会排队等待：--spawn",
        zh_tw: "在背景執行的{kind}會排隊等待：--spawn",
    }
    slot_not_taken(kind: &str, error: &str) {
        en: "cannot take the slot of this {kind}: {error}",
        zh_cn: "无法占用此{kind}的位置：{error}",
        zh_tw: "無法佔用此{kind}的位置：{error}",
    }
    slot_queue_failed(error: &str) {
        en: "cannot join the queue for a slot: {error}",
        zh_cn: "无法加入等待队列：{error}",
        zh_tw: "無法加入等待佇列：{error}",
    }

    errand_no_directory(error: &str) {
        en: "cannot create a temporary directory: {error}",
        zh_cn: "无法创建临时目录：{error}",
        zh_tw: "無法建立暫存目錄：{error}",
    }
    errand_not_watched(error: &str) {
        en: "cannot watch its output: {error}",
        zh_cn: "无法监视它的输出：{error}",
        zh_tw: "無法監看它的輸出：{error}",
    }
    errand_signal(signal: i32) {
        en: "it was ended by signal {signal}",
        zh_cn: "它被信号 {signal} 终止",
        zh_tw: "它被訊號 {signal} 終止",
    }
    errand_ended_outside() { en: "it was ended from outside", zh_cn: "它被外部终止", zh_tw: "它被外部終止" }
    signals_unavailable(error: &str) {
        en: "cannot listen to signals: {error}",
        zh_cn: "无法接收信号：{error}",
        zh_tw: "無法接收訊號：{error}",
    }
    thread_unavailable(error: &str) {
        en: "cannot start a thread: {error}",
        zh_cn: "无法启动线程：{error}",
        zh_tw: "無法啟動執行緒：{error}",
    }
    stdout_unwritable(error: &str) {
        en: "cannot write to standard output: {error}",
        zh_cn: "无法写入标准输出：{error}",
        zh_tw: "無法寫入標準輸出：{error}",
    }
    stdout_kept() {
        en: "what the command did; only its output is missing",
        zh_cn: "命令所做的一切；只是没有输出",
        zh_tw: "指令所做的一切；只是沒有輸出",
    }
    stdout_make_room() {
        en: "make room or send the output elsewhere, then try again",
        zh_cn: "腾出空间或把输出送到别处，然后重试",
        zh_tw: "騰出空間或把輸出送到別處，然後重試",
    }
    thread_kept() {
        en: "all work so far; nothing is running",
        zh_cn: "已完成的全部工作；没有任何进程在运行",
        zh_tw: "已完成的全部工作；沒有任何行程在執行",
    }
    thread_raise_limits() {
        en: "end other programs or raise the limits (ulimit -u, ulimit -v), then try again",
        zh_cn: "结束其他程序或提高限制（ulimit -u、ulimit -v），然后重试",
        zh_tw: "結束其他程式或提高限制（ulimit -u、ulimit -v），然後重試",
    }
}
