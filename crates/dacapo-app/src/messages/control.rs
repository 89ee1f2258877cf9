//! A task after its start: `resume`, `pause`, `tell`, `set`, `approve`, `kill`, `logs`, `diff`.

use super::messages;

messages! {
    CONTROL, dacapo;

    /// In front of a remark on standard error.
    label_remark() { en: "note: ", zh_cn: "提示：", zh_tw: "提示：" }

    resume_was_merged(task: &str, branch: &str) {
        en: "Task '{task}' was merged into {branch}; its worktree is gone",
        zh_cn: "任务“{task}”已合并到 {branch}；它的工作树已不存在",
        zh_tw: "任務「{task}」已合併到 {branch}；它的工作樹已不存在",
    }
    resume_start_new() {
        en: "start a new task: {dacapo}exec \"what to add\"",
        zh_cn: "启动新任务：{dacapo}exec \"要补充的内容\"",
        zh_tw: "啟動新任務：{dacapo}exec \"要補充的內容\"",
    }
    resume_undo_merge(task: &str) {
        en: "{dacapo}undo {task} brings worktree and branch back",
        zh_cn: "{dacapo}undo {task} 找回工作树和分支",
        zh_tw: "{dacapo}undo {task} 找回工作樹和分支",
    }
    inbox_failed(task: &str, error: &str) {
        en: "the inbox of task '{task}': {error}",
        zh_cn: "任务“{task}”的收件箱：{error}",
        zh_tw: "任務「{task}」的收件匣：{error}",
    }
    resume_uncommitted(number: u64, task: &str, names: &str) {
        en: (number: "1 uncommitted file here since task '{task}' ended ({names})", "{number} uncommitted files here since task '{task}' ended ({names})"),
        zh_cn: "任务“{task}”结束后，这里有 {number} 个未提交的文件（{names}）",
        zh_tw: "任務「{task}」結束後，這裡有 {number} 個未提交的檔案（{names}）",
    }
    resume_commit_first() {
        en: "commit or stash them first: they would become part of an iteration's commit",
        zh_cn: "请先提交或 stash：否则它们会混入某次迭代的提交",
        zh_tw: "請先提交或 stash：否則它們會混入某次迭代的提交",
    }
    resume_completed(task: &str) {
        en: "Task '{task}' is completed",
        zh_cn: "任务“{task}”已完成",
        zh_tw: "任務「{task}」已完成",
    }
    resume_follow_up(task: &str) {
        en: "{dacapo}resume {task} \"what to add\"",
        zh_cn: "{dacapo}resume {task} \"要补充的内容\"",
        zh_tw: "{dacapo}resume {task} \"要補充的內容\"",
    }
    resume_used_up(task: &str, iterations: u32) {
        en: (iterations: "Task '{task}' has used its 1 iteration", "Task '{task}' has used all of its {iterations} iterations"),
        zh_cn: "任务“{task}”已用完全部 {iterations} 次迭代",
        zh_tw: "任務「{task}」已用完全部 {iterations} 次迭代",
    }
    resumed_queued(task: &str) {
        en: "{task} is queued and continues when a slot is free; {dacapo}attach {task} shows it",
        zh_cn: "{task} 已排队，有空位时继续；{dacapo}attach {task} 查看它",
        zh_tw: "{task} 正在排隊，有空位時繼續；{dacapo}attach {task} 查看它",
    }
    resumed_in_background(task: &str) {
        en: "{task} continues in the background; {dacapo}attach {task} shows it",
        zh_cn: "{task} 在后台继续运行；{dacapo}attach {task} 查看它",
        zh_tw: "{task} 在背景繼續執行；{dacapo}attach {task} 查看它",
    }

    /// `status` is the word of the interface, as JSON has it.
    task_not_running(task: &str, status: &str) {
        en: "Task '{task}' is not running ({status})",
        zh_cn: "任务“{task}”没有在运行（{status}）",
        zh_tw: "任務「{task}」沒有在執行（{status}）",
    }
    tell_nothing() { en: "there is nothing to tell", zh_cn: "没有要告知的内容", zh_tw: "沒有要告知的內容" }
    tell_example(task: &str) {
        en: "{dacapo}tell {task} \"what its iterations should know\"",
        zh_cn: "{dacapo}tell {task} \"要告知后续迭代的内容\"",
        zh_tw: "{dacapo}tell {task} \"要告知後續迭代的內容\"",
    }
    set_not_key_value(text: &str) {
        en: "'{text}' is not KEY=VALUE",
        zh_cn: "“{text}”不是 KEY=VALUE 形式",
        zh_tw: "「{text}」不是 KEY=VALUE 形式",
    }
    set_unknown_limit(key: &str) {
        en: "'{key}' is not a limit that can be changed",
        zh_cn: "“{key}”不是可以更改的上限",
        zh_tw: "「{key}」不是可以更改的上限",
    }
    set_called_otherwise(key: &str, other: &str, kind: &str, own: &str) {
        en: "'{key}' is a limit of a {other}; for a {kind} it is '{own}'",
        zh_cn: "“{key}”是{other}的上限；{kind}的对应名称是“{own}”",
        zh_tw: "「{key}」是{other}的上限；{kind}的對應名稱是「{own}」",
    }
    set_possible(keys: &str) {
        en: "these can be changed: {keys}",
        zh_cn: "可以更改的有：{keys}",
        zh_tw: "可以更改的有：{keys}",
    }
    approve_no_choice(number: usize) {
        en: "there is no choice {number}",
        zh_cn: "没有选项 {number}",
        zh_tw: "沒有選項 {number}",
    }
    approve_kept_waits() {
        en: "everything; the task is still waiting",
        zh_cn: "全部内容；任务仍在等待",
        zh_tw: "全部內容；任務仍在等待",
    }
    approve_choices(choices: &str) {
        en: "the choices are {choices}",
        zh_cn: "可选项：{choices}",
        zh_tw: "可選項：{choices}",
    }
    approve_nothing_asked(task: &str, status: &str) {
        en: "Task '{task}' is not asking anything ({status})",
        zh_cn: "任务“{task}”没有提问（{status}）",
        zh_tw: "任務「{task}」沒有提問（{status}）",
    }
    status_shows_task(task: &str) {
        en: "{dacapo}status {task} shows its state",
        zh_cn: "{dacapo}status {task} 显示它的状态",
        zh_tw: "{dacapo}status {task} 顯示它的狀態",
    }

    kill_kept_nothing_to_end() {
        en: "everything; there was nothing to end",
        zh_cn: "全部内容；没有可结束的任务",
        zh_tw: "全部內容；沒有可結束的任務",
    }
    kill_status_shows_end(task: &str) {
        en: "{dacapo}status {task} shows how it ended",
        zh_cn: "{dacapo}status {task} 显示它是如何结束的",
        zh_tw: "{dacapo}status {task} 顯示它是如何結束的",
    }
    kill_cannot_end(task: &str, status: &str) {
        en: "task '{task}' is {status} and cannot be ended",
        zh_cn: "任务“{task}”的状态为“{status}”，无法结束",
        zh_tw: "任務「{task}」的狀態為「{status}」，無法結束",
    }
    kill_try_again(task: &str) {
        en: "{dacapo}kill {task} tries again",
        zh_cn: "{dacapo}kill {task} 再试一次",
        zh_tw: "{dacapo}kill {task} 再試一次",
    }
    kill_process_at_work(task: &str, status: &str, pid: i32) {
        en: "Task '{task}' is {status}, and process {pid} is working on it: a takeover, a merge or a pull request",
        zh_cn: "任务“{task}”的状态为“{status}”，进程 {pid} 正在处理它：接管、合并或拉取请求",
        zh_tw: "任務「{task}」的狀態為「{status}」，行程 {pid} 正在處理它：接管、合併或拉取請求",
    }
    kill_started_again(task: &str) {
        en: "Task '{task}' was started again",
        zh_cn: "任务“{task}”又被启动了",
        zh_tw: "任務「{task}」又被啟動了",
    }
    kill_not_recorded(task: &str, error: &str) {
        en: "cannot record the end of task '{task}': {error}",
        zh_cn: "无法记录任务“{task}”的结束：{error}",
        zh_tw: "無法記錄任務「{task}」的結束：{error}",
    }
    kill_kept_nothing_runs() {
        en: "all its work; none of its processes is running",
        zh_cn: "已完成的全部工作；它已没有任何进程在运行",
        zh_tw: "已完成的全部工作；它已沒有任何行程在執行",
    }
    kill_fix_then_kill(task: &str) {
        en: "fix the cause, then {dacapo}kill {task}",
        zh_cn: "排除原因，然后 {dacapo}kill {task}",
        zh_tw: "排除原因，然後 {dacapo}kill {task}",
    }

    output_no_turn(task: &str, turn: u32) {
        en: "task '{task}' has no turn {turn}",
        zh_cn: "任务“{task}”没有第 {turn} 次调用",
        zh_tw: "任務「{task}」沒有第 {turn} 次呼叫",
    }
    output_turns_from_zero() {
        en: "turns are numbered from 0: --turn 0",
        zh_cn: "调用从 0 开始编号：--turn 0",
        zh_tw: "呼叫從 0 開始編號：--turn 0",
    }
    output_turn_unreadable(turn: u32, task: &str, error: &str) {
        en: "cannot read turn {turn} of task '{task}': {error}",
        zh_cn: "无法读取任务“{task}”的第 {turn} 次调用：{error}",
        zh_tw: "無法讀取任務「{task}」的第 {turn} 次呼叫：{error}",
    }
    output_check_gone(number: u32, task: &str) {
        en: "the output of check run {number} of task '{task}' is gone",
        zh_cn: "任务“{task}”第 {number} 次检查的输出已不存在",
        zh_tw: "任務「{task}」第 {number} 次檢查的輸出已不存在",
    }
    output_kept_receipt(command: &str, ending: &str) {
        en: "its result: `{command}` {ending}",
        zh_cn: "它的结果：`{command}` {ending}",
        zh_tw: "它的結果：`{command}` {ending}",
    }
    output_no_check_run(task: &str, runs: u64, number: u32) {
        en: (runs: "checks of task '{task}' ran 1 time: there is no run {number}", "checks of task '{task}' ran {runs} times: there is no run {number}"),
        zh_cn: "任务“{task}”的检查运行了 {runs} 次：没有第 {number} 次",
        zh_tw: "任務「{task}」的檢查執行了 {runs} 次：沒有第 {number} 次",
    }
    output_runs_from_one() {
        en: "runs are numbered from 1, including those before the first iteration and those of proofs",
        zh_cn: "运行从 1 开始编号，包括首次迭代之前的和证明时的运行",
        zh_tw: "執行從 1 開始編號，包括首次迭代之前的和證明時的執行",
    }
    output_no_stderr(task: &str, turns: &str) {
        en: "no agent of task '{task}' wrote to standard error ({turns})",
        zh_cn: "任务“{task}”的智能体没有写入标准错误（{turns}）",
        zh_tw: "任務「{task}」的代理沒有寫入標準錯誤（{turns}）",
    }
    output_turn_heading(turn: u32, iteration: u32, agent: &str) {
        en: "--- turn {turn}, iteration {iteration}, {agent}",
        zh_cn: "--- 第 {turn} 次调用，迭代 {iteration}，{agent}",
        zh_tw: "--- 第 {turn} 次呼叫，迭代 {iteration}，{agent}",
    }

    diff_no_iteration(task: &str, number: u32) {
        en: "task '{task}' has no iteration {number}",
        zh_cn: "任务“{task}”没有迭代 {number}",
        zh_tw: "任務「{task}」沒有迭代 {number}",
    }
    diff_iterations(number: usize) {
        en: "it has {number}; the first is --iteration 1",
        zh_cn: "它有 {number} 次：--iteration 1 是第一次",
        zh_tw: "它有 {number} 次：--iteration 1 是第一次",
    }
    data_unreadable(error: &str) {
        en: "cannot read the data directory: {error}",
        zh_cn: "无法读取数据目录：{error}",
        zh_tw: "無法讀取資料目錄：{error}",
    }

    merge_came_to_no_end() {
        en: "the merge ended without a result",
        zh_cn: "合并结束了，但没有结果",
        zh_tw: "合併結束了，但沒有結果",
    }
    act_no_own_operations(kind: &str) {
        en: "tasks of kind '{kind}' have no operations of their own",
        zh_cn: "“{kind}”类任务没有专属操作",
        zh_tw: "「{kind}」類任務沒有專屬操作",
    }
    act_call_unreadable(error: &str) {
        en: "cannot read the call: {error}",
        zh_cn: "无法读取调用：{error}",
        zh_tw: "無法讀取呼叫：{error}",
    }
    act_not_written(error: &str) {
        en: "cannot pass on the operation: {error}",
        zh_cn: "无法传递操作：{error}",
        zh_tw: "無法傳遞操作：{error}",
    }
    act_not_started(error: &str) {
        en: "cannot start the operation: {error}",
        zh_cn: "无法启动操作：{error}",
        zh_tw: "無法啟動操作：{error}",
    }
    act_not_waited(error: &str) {
        en: "cannot wait for the operation: {error}",
        zh_cn: "无法等待操作结束：{error}",
        zh_tw: "無法等待操作結束：{error}",
    }
    act_strange_reply(status: &str, said: &str) {
        en: "the operation failed: its process gave no reply ({status}), but said: {said}",
        zh_cn: "无法完成操作：它的进程没有答复（{status}），但输出了：{said}",
        zh_tw: "無法完成操作：它的行程沒有答覆（{status}），但輸出了：{said}",
    }
    act_no_reply(status: &str) {
        en: "the operation failed: its process ended without a reply ({status})",
        zh_cn: "无法完成操作：它的进程没有答复就结束了（{status}）",
        zh_tw: "無法完成操作：它的行程沒有答覆就結束了（{status}）",
    }
    act_kept_on_record() {
        en: "everything that is on record; {dacapo}list shows the status of each task",
        zh_cn: "已记录的全部内容；{dacapo}list 显示各任务的状态",
        zh_tw: "已記錄的全部內容；{dacapo}list 顯示各任務的狀態",
    }
}
