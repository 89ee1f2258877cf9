//! A task at a terminal: what is going to happen, what happens, and the questions on the way.

use super::messages;

messages! {
    LIVE, dacapo;

    label_task() { en: "task", zh_cn: "任务", zh_tw: "任務" }
    label_agent() { en: "agent", zh_cn: "智能体", zh_tw: "代理" }
    label_until() { en: "until", zh_cn: "直到", zh_tw: "直到" }
    label_plan() { en: "plan", zh_cn: "计划", zh_tw: "計畫" }
    label_where() { en: "where", zh_cn: "位置", zh_tw: "位置" }
    label_limits() { en: "limits", zh_cn: "上限", zh_tw: "上限" }
    label_setup() { en: "setup", zh_cn: "准备", zh_tw: "準備" }
    label_before() { en: "before", zh_cn: "之前", zh_tw: "之前" }
    label_queued() { en: "queued", zh_cn: "排队", zh_tw: "排隊" }
    label_command() { en: "command", zh_cn: "命令", zh_tw: "指令" }
    label_env() { en: "env", zh_cn: "环境", zh_tw: "環境" }
    label_prompt() { en: "prompt", zh_cn: "提示词", zh_tw: "提示詞" }
    label_found() { en: "found", zh_cn: "发现", zh_tw: "發現" }

    live_then(agents: &str, next: &str) { en: "{agents}, then {next}", zh_cn: "{agents}，然后 {next}", zh_tw: "{agents}，然後 {next}" }
    live_because(what: &str, why: &str) { en: "{what} ({why})", zh_cn: "{what}（{why}）", zh_tw: "{what}（{why}）" }
    live_here_on(branch: &str) {
        en: "here, on {branch}",
        zh_cn: "当前工作区，{branch} 分支",
        zh_tw: "目前的工作目錄，{branch} 分支",
    }
    live_not_shown(number: u64) {
        en: (number: "1 agent event not shown: the reader was too slow",
             "{number} agent events not shown: the reader was too slow"),
        zh_cn: "有 {number} 条智能体输出未显示：读取太慢",
        zh_tw: "有 {number} 則代理輸出未顯示：讀取太慢",
    }
    live_turn_interrupted() {
        en: "the last turn was interrupted: the iteration runs again",
        zh_cn: "上一次调用被中断：该迭代将重新运行",
        zh_tw: "上一次呼叫被中斷：該迭代將重新執行",
    }
    live_committed(commit: &str, subject: &str) {
        en: "committed {commit} {subject}",
        zh_cn: "已提交 {commit} {subject}",
        zh_tw: "已提交 {commit} {subject}",
    }
    live_takes_over(agent: &str, why: &str) {
        en: "{agent} takes over: {why}",
        zh_cn: "由 {agent} 接手：{why}",
        zh_tw: "由 {agent} 接手：{why}",
    }
    live_stopping(why: &str) {
        en: "stopping ({why}); all work is kept",
        zh_cn: "正在停止（{why}）；保留全部工作",
        zh_tw: "正在停止（{why}）；保留全部工作",
    }
    live_queued() {
        en: "all slots are taken; it starts when one is free",
        zh_cn: "没有空位；有空位时自动开始",
        zh_tw: "沒有空位；有空位時自動開始",
    }
    live_waits_for_turn() { en: "waiting for its turn", zh_cn: "等待轮到它", zh_tw: "等待輪到它" }
    live_setup(command: &str) { en: "setup {command}", zh_cn: "准备 {command}", zh_tw: "準備 {command}" }
    live_check(command: &str) { en: "check {command}", zh_cn: "检查 {command}", zh_tw: "檢查 {command}" }
    live_proving(commit: &str) {
        en: "proving {commit}",
        zh_cn: "正在证明 {commit}",
        zh_tw: "正在證明 {commit}",
    }
    live_writing(by: &str, what: &str) {
        en: "{by} is writing the {what}",
        zh_cn: "{by} 正在写{what}",
        zh_tw: "{by} 正在寫{what}",
    }
    live_not_written(what: &str, by: &str, why: &str) {
        en: "no {what} from {by}: {why}",
        zh_cn: "{by} 没有写出{what}：{why}",
        zh_tw: "{by} 沒有寫出{what}：{why}",
    }
    live_stopping_agent() { en: "stopping the agent", zh_cn: "正在停止智能体", zh_tw: "正在停止代理" }
    live_check_changed_files(command: &str, files: &str) {
        en: "`{command}` changed files, not committed: {files}",
        zh_cn: "`{command}` 改动了文件，未提交：{files}",
        zh_tw: "`{command}` 變更了檔案，未提交：{files}",
    }
    live_waiting(why: &str) { en: "waiting ({why})", zh_cn: "等待中（{why}）", zh_tw: "等待中（{why}）" }
    live_waiting_until(time: &str, why: &str) {
        en: "waiting until {time} ({why})",
        zh_cn: "等待至 {time}（{why}）",
        zh_tw: "等待至 {time}（{why}）",
    }
    live_usage_limit() { en: "usage limit", zh_cn: "用量受限", zh_tw: "用量受限" }
    live_not_allowed(what: &str) { en: "not allowed: {what}", zh_cn: "不允许：{what}", zh_tw: "不允許：{what}" }
    live_earlier(earlier: &str, task: &str) {
        en: "… {earlier}: {dacapo}status {task}",
        zh_cn: "……{earlier}：{dacapo}status {task}",
        zh_tw: "……{earlier}：{dacapo}status {task}",
    }
    /// The checks passed before anything was done, so that they prove nothing alone.
    live_promise_needed(agent: &str) {
        en: "the checks pass already, so the task is done only when {agent} also says it is",
        zh_cn: "检查已经通过，因此还需要 {agent} 明确表示完成，任务才算完成",
        zh_tw: "檢查已經通過，因此還需要 {agent} 明確表示完成，任務才算完成",
    }

    said_done(agent: &str) { en: "{agent} says it is done", zh_cn: "{agent} 表示已完成", zh_tw: "{agent} 表示已完成" }
    said_nothing(agent: &str) {
        en: "{agent} has not said it is done",
        zh_cn: "{agent} 尚未表示完成",
        zh_tw: "{agent} 尚未表示完成",
    }
    said_blocked(agent: &str) { en: "{agent} is blocked", zh_cn: "{agent} 无法继续", zh_tw: "{agent} 無法繼續" }
    check_passes(command: &str) { en: "{command} passes", zh_cn: "{command} 通过", zh_tw: "{command} 通過" }
    check_fails(command: &str) { en: "{command} fails", zh_cn: "{command} 失败", zh_tw: "{command} 失敗" }
    check_still_fails(command: &str) {
        en: "{command} still fails",
        zh_cn: "{command} 仍然失败",
        zh_tw: "{command} 仍然失敗",
    }
    check_timed_out(command: &str) { en: "{command} timed out", zh_cn: "{command} 超时", zh_tw: "{command} 逾時" }
    proof_passes() { en: "the proof passed", zh_cn: "证明通过", zh_tw: "證明通過" }
    proof_fails_with_originals() {
        en: "not with the tests as they were",
        zh_cn: "使用原来的测试时不通过",
        zh_tw: "使用原來的測試時不通過",
    }
    proof_fails_held_out() { en: "a held-out check failed", zh_cn: "一项保留检查未通过", zh_tw: "一項保留檢查未通過" }
    proof_fails() { en: "the proof failed", zh_cn: "证明失败", zh_tw: "證明失敗" }

    ask_permission(what: &str) {
        en: "allow this?  {what}",
        zh_cn: "是否允许？  {what}",
        zh_tw: "是否允許？  {what}",
    }
    ask_no_terminal(error: &str) {
        en: "refused: this terminal cannot be read ({error})",
        zh_cn: "已拒绝：无法读取此终端（{error}）",
        zh_tw: "已拒絕：無法讀取此終端機（{error}）",
    }
    ask_for_good(choice: &str) {
        en: "{choice} (always)",
        zh_cn: "{choice}（始终）",
        zh_tw: "{choice}（一律）",
    }
    ask_answer() {
        en: "answer with a number, y or n:",
        zh_cn: "请输入序号、y 或 n：",
        zh_tw: "請輸入序號、y 或 n：",
    }
    ask_not_understood(choices: usize) {
        en: "not understood: answer with a number from 1 to {choices}, y or n",
        zh_cn: "无法理解：请输入 1 到 {choices} 的序号、y 或 n",
        zh_tw: "無法理解：請輸入 1 到 {choices} 的序號、y 或 n",
    }

    attach_question() {
        en: "[d]etach  [s]top after this iteration  [k]ill  [Enter] continue:",
        zh_cn: "[d] 离开  [s] 本次迭代后停止  [k] 结束  [Enter] 继续：",
        zh_tw: "[d] 離開  [s] 本次迭代後停止  [k] 結束  [Enter] 繼續：",
    }
    attach_stops(task: &str) {
        en: "stops after this iteration; {dacapo}resume {task} continues it",
        zh_cn: "本次迭代后停止；之后可用 {dacapo}resume {task} 继续",
        zh_tw: "本次迭代後停止；之後可用 {dacapo}resume {task} 繼續",
    }
    attach_kills() {
        en: "ending it; all work is kept",
        zh_cn: "正在结束；保留全部工作",
        zh_tw: "正在結束；保留全部工作",
    }
    attach_cannot_tell(error: &str) {
        en: "cannot reach the task: {error}; it keeps running",
        zh_cn: "无法联系任务：{error}；任务继续运行",
        zh_tw: "無法聯絡任務：{error}；任務繼續執行",
    }
    attach_detached(task: &str) {
        en: "detached; the task keeps running: {dacapo}attach {task} shows it",
        zh_cn: "已离开；任务继续运行：{dacapo}attach {task} 查看它",
        zh_tw: "已離開；任務繼續執行：{dacapo}attach {task} 查看它",
    }
    attach_cannot_watch(task: &str, error: &str) {
        en: "cannot watch task '{task}': {error}",
        zh_cn: "无法查看任务“{task}”：{error}",
        zh_tw: "無法檢視任務「{task}」：{error}",
    }
    attach_wait_instead(task: &str) {
        en: "{dacapo}wait {task} waits for its end",
        zh_cn: "{dacapo}wait {task} 等待它结束",
        zh_tw: "{dacapo}wait {task} 等待它結束",
    }
    attach_no_signals(error: &str) {
        en: "cannot listen to signals: {error}",
        zh_cn: "无法接收信号：{error}",
        zh_tw: "無法接收訊號：{error}",
    }
    kept_runs_on() {
        en: "everything; it keeps running",
        zh_cn: "全部内容；任务继续运行",
        zh_tw: "全部內容；任務繼續執行",
    }

    wait_cannot(error: &str) { en: "cannot wait: {error}", zh_cn: "无法等待：{error}", zh_tw: "無法等待：{error}" }
    wait_cannot_for(task: &str, error: &str) {
        en: "cannot wait for task '{task}': {error}",
        zh_cn: "无法等待任务“{task}”：{error}",
        zh_tw: "無法等待任務「{task}」：{error}",
    }
    wait_cannot_for_these(error: &str) {
        en: "cannot wait for these tasks: {error}",
        zh_cn: "无法等待这些任务：{error}",
        zh_tw: "無法等待這些任務：{error}",
    }

    kill_asks(tasks: &str) {
        en: "End {tasks}? Its work so far is committed. [y/N]",
        zh_cn: "结束 {tasks}？目前的工作已提交。[y/N]",
        zh_tw: "結束 {tasks}？目前的工作已提交。[y/N]",
    }
    kill_without_asking(tasks: &str) {
        en: "{dacapo}kill {tasks} ends it without asking",
        zh_cn: "{dacapo}kill {tasks} 直接结束，不再询问",
        zh_tw: "{dacapo}kill {tasks} 直接結束，不再詢問",
    }
    kill_nothing_ended() { en: "nothing was ended", zh_cn: "没有结束任何任务", zh_tw: "沒有結束任何任務" }
    kill_not_asked() {
        en: "not asked whether to end it, because there was unread input; nothing was ended",
        zh_cn: "由于有未读的输入，没有询问是否结束；没有结束任何任务",
        zh_tw: "由於有未讀的輸入，沒有詢問是否結束；沒有結束任何任務",
    }
}
