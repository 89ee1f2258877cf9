//! The terminal app: its keys, cards and notices.

use super::messages;

messages! {
    TUI, dacapo;

    tui_key_help() { en: "help", zh_cn: "帮助", zh_tw: "說明" }
    tui_key_close() { en: "close", zh_cn: "关闭", zh_tw: "關閉" }
    tui_key_scroll() { en: "scroll", zh_cn: "滚动", zh_tw: "捲動" }
    tui_key_command() { en: "command line", zh_cn: "命令行", zh_tw: "命令列" }
    tui_key_back() { en: "back", zh_cn: "返回", zh_tw: "返回" }
    tui_key_quit_short() { en: "quit", zh_cn: "退出", zh_tw: "離開" }
    tui_key_quit() { en: "quit; tasks go on", zh_cn: "退出，任务继续运行", zh_tw: "離開，任務繼續執行" }
    tui_key_suspend() { en: "suspend (fg comes back)", zh_cn: "挂起（fg 返回）", zh_tw: "暫停（fg 返回）" }
    tui_key_redraw() { en: "draw the screen anew", zh_cn: "重绘屏幕", zh_tw: "重繪畫面" }
    tui_key_search() { en: "search", zh_cn: "搜索", zh_tw: "搜尋" }

    tui_help_title() { en: "Keys", zh_cn: "按键", zh_tw: "按鍵" }
    tui_help_everywhere() { en: "Everywhere", zh_cn: "任何地方", zh_tw: "任何地方" }
    tui_help_not_now() { en: "Not now", zh_cn: "现在不可用", zh_tw: "現在不可用" }
    tui_help_symbols() { en: "Symbols", zh_cn: "符号", zh_tw: "符號" }
    tui_symbol_proven() { en: "in green: proven: the checks passed on exactly that commit", zh_cn: "绿色：已证明，检查在该提交上通过", zh_tw: "綠色：已證明，檢查在該提交上通過" }
    tui_symbol_passed() { en: "in bold: the checks passed where the agent works; not proven", zh_cn: "粗体：检查在智能体的工作区中通过，未经证明", zh_tw: "粗體：檢查在代理的工作區中通過，未經證明" }
    tui_symbol_failed() { en: "failed", zh_cn: "失败", zh_tw: "失敗" }
    tui_symbol_claimed() { en: "done by the agent's own word; nothing was checked", zh_cn: "智能体自称完成，没有经过检查", zh_tw: "代理自稱完成，沒有經過檢查" }
    tui_symbol_stopped() { en: "stopped before it was done; in an iteration: the checks are red", zh_cn: "未完成就停止；在迭代中：检查未通过", zh_tw: "未完成就停止；在迭代中：檢查未通過" }
    tui_symbol_running() { en: "running", zh_cn: "运行中", zh_tw: "執行中" }
    tui_symbol_waiting() { en: "waiting for a usage limit or a free place", zh_cn: "等待用量限制或空位", zh_tw: "等待用量限制或空位" }
    tui_symbol_needs_you() { en: "needs a decision from you", zh_cn: "需要你做决定", zh_tw: "需要你做決定" }

    tui_ctrl_c_again() {
        en: "Press Ctrl-C again or q to quit. Tasks go on.",
        zh_cn: "再按一次 Ctrl-C 或按 q 退出，任务会继续运行。",
        zh_tw: "再按一次 Ctrl-C 或按 q 離開，任務會繼續執行。",
    }
    tui_quit_while_acting(what: &str) {
        en: "Still under way: {what}. Press q again to quit; it goes on.",
        zh_cn: "仍在进行：{what}。再按一次 q 退出，它会继续。",
        zh_tw: "仍在進行：{what}。再按一次 q 離開，它會繼續。",
    }
    tui_not_started(error: &str) { en: "It cannot be started: {error}", zh_cn: "无法启动：{error}", zh_tw: "無法啟動：{error}" }
    tui_press_enter() { en: "Press Enter to go back to Dacapo.", zh_cn: "按 Enter 返回 Dacapo。", zh_tw: "按 Enter 返回 Dacapo。" }

    tui_all_repositories() { en: "all repositories", zh_cn: "所有仓库", zh_tw: "所有儲存庫" }
    tui_loading() { en: "Reading the tasks …", zh_cn: "正在读取任务……", zh_tw: "正在讀取任務……" }
    tui_tasks_of(shown: u64, number: u64) {
        en: (number: "{shown} of 1 task", "{shown} of {number} tasks"),
        zh_cn: "{number} 个任务中的 {shown} 个",
        zh_tw: "{number} 個任務中的 {shown} 個",
    }
    tui_filter(text: &str) { en: "filter: {text}", zh_cn: "筛选：{text}", zh_tw: "篩選：{text}" }
    tui_no_match(text: &str) { en: "No task matches '{text}'. Esc shows all.", zh_cn: "没有任务匹配“{text}”。按 Esc 显示全部。", zh_tw: "沒有任務符合「{text}」。按 Esc 顯示全部。" }
    tui_snoozed() { en: "SNOOZED", zh_cn: "已推迟", zh_tw: "已延後" }
    tui_snoozed_until(time: &str) { en: "asks again at {time}", zh_cn: "{time} 再次询问", zh_tw: "{time} 再次詢問" }

    tui_empty_here() { en: "No tasks in this repository yet.", zh_cn: "此仓库还没有任务。", zh_tw: "此儲存庫還沒有任務。" }
    tui_empty_everywhere() { en: "No tasks yet.", zh_cn: "还没有任务。", zh_tw: "還沒有任務。" }
    tui_empty_new() {
        en: "say what is to be done; an agent does it in a worktree of its own, until your checks pass",
        zh_cn: "说明要做什么；智能体会在自己的工作树中完成，直到你的检查通过",
        zh_tw: "說明要做什麼；代理會在自己的工作樹中完成，直到你的檢查通過",
    }
    tui_empty_demo() {
        en: "watch a whole run with a scripted agent: free, over in seconds",
        zh_cn: "观看脚本智能体的完整运行：免费，几秒钟结束",
        zh_tw: "觀看腳本代理的完整執行：免費，幾秒鐘結束",
    }
    tui_empty_doctor() {
        en: "which agents are installed here, and how to get one",
        zh_cn: "这里安装了哪些智能体，以及如何安装一个",
        zh_tw: "這裡安裝了哪些代理，以及如何取得代理",
    }
    tui_empty_all(number: u64) {
        en: (number: "the task of another repository", "{number} tasks of other repositories"),
        zh_cn: "其他仓库的 {number} 个任务",
        zh_tw: "其他儲存庫的 {number} 個任務",
    }
    tui_empty_keys() { en: "all keys and symbols", zh_cn: "所有按键和符号", zh_tw: "所有按鍵和符號" }

    tui_key_open() { en: "open", zh_cn: "打开", zh_tw: "開啟" }
    tui_key_answer() { en: "answer", zh_cn: "回答", zh_tw: "回答" }
    tui_key_new() { en: "new task", zh_cn: "新任务", zh_tw: "新任務" }
    tui_key_filter() { en: "filter", zh_cn: "筛选", zh_tw: "篩選" }
    tui_key_everywhere() { en: "all repositories", zh_cn: "所有仓库", zh_tw: "所有儲存庫" }
    tui_key_here() { en: "this repository", zh_cn: "此仓库", zh_tw: "此儲存庫" }
    tui_key_move() { en: "move", zh_cn: "移动", zh_tw: "移動" }
    tui_key_ends() { en: "first, last", zh_cn: "第一个、最后一个", zh_tw: "第一個、最後一個" }
    tui_key_snooze() { en: "snooze for an hour", zh_cn: "推迟一小时", zh_tw: "延後一小時" }
    tui_key_settings() { en: "settings", zh_cn: "设置", zh_tw: "設定" }

    tui_key_filter_done() { en: "keep this filter", zh_cn: "保留此筛选", zh_tw: "保留此篩選" }
    tui_key_filter_off() { en: "show all", zh_cn: "显示全部", zh_tw: "顯示全部" }
    tui_key_diff() { en: "diff", zh_cn: "差异", zh_tw: "差異" }
    tui_key_merge() { en: "merge", zh_cn: "合并", zh_tw: "合併" }
    tui_key_pause() { en: "pause", zh_cn: "暂停", zh_tw: "暫停" }
    tui_key_resume() { en: "resume", zh_cn: "继续", zh_tw: "繼續" }
    tui_key_kill() { en: "kill", zh_cn: "终止", zh_tw: "終止" }
    tui_key_drop() { en: "drop", zh_cn: "丢弃", zh_tw: "捨棄" }
    tui_key_undo() { en: "undo the last drop or merge", zh_cn: "撤销上次丢弃或合并", zh_tw: "復原上次捨棄或合併" }
    tui_key_takeover() { en: "take over", zh_cn: "接管", zh_tw: "接管" }
    tui_key_files() { en: "open its files", zh_cn: "打开其文件", zh_tw: "開啟其檔案" }
    tui_key_attach() { en: "plain stream (attach)", zh_cn: "纯文本输出（attach）", zh_tw: "純文字輸出（attach）" }
    tui_key_log() { en: "log in your editor", zh_cn: "在编辑器中查看日志", zh_tw: "在編輯器中查看日誌" }
    tui_key_editor() { en: "in your editor", zh_cn: "在编辑器中打开", zh_tw: "在編輯器中開啟" }
    tui_key_copy() { en: "copy", zh_cn: "复制", zh_tw: "複製" }
    tui_key_yes() { en: "yes", zh_cn: "是", zh_tw: "是" }
    tui_key_no() { en: "no", zh_cn: "否", zh_tw: "否" }
    tui_key_cancel() { en: "cancel", zh_cn: "取消", zh_tw: "取消" }
    tui_key_use_these() { en: "use it", zh_cn: "使用", zh_tw: "使用" }
    tui_key_other_commands() { en: "another command", zh_cn: "其他命令", zh_tw: "其他命令" }
    tui_key_send() { en: "send", zh_cn: "发送", zh_tw: "送出" }
    tui_key_new_line() { en: "new line", zh_cn: "换行", zh_tw: "換行" }
    tui_key_choose() { en: "choose", zh_cn: "选择", zh_tw: "選擇" }
    tui_key_later() { en: "decide later", zh_cn: "稍后决定", zh_tw: "稍後決定" }
    tui_key_do_it() { en: "do it", zh_cn: "执行", zh_tw: "執行" }
    tui_key_complete() { en: "complete", zh_cn: "补全", zh_tw: "補全" }
    tui_key_history() { en: "history", zh_cn: "历史", zh_tw: "歷史" }
    tui_page_log() { en: "log", zh_cn: "日志", zh_tw: "日誌" }
    tui_reading() { en: "Reading …", zh_cn: "正在读取……", zh_tw: "正在讀取……" }

    tui_no_terminal(error: &str) {
        en: "the terminal cannot be used: {error}",
        zh_cn: "无法使用终端：{error}",
        zh_tw: "無法使用終端機：{error}",
    }
    tui_no_task_selected() { en: "No task is selected.", zh_cn: "没有选中任务。", zh_tw: "沒有選取任務。" }
    tui_no_repository_here() { en: "You are not in a git repository.", zh_cn: "当前目录不在 git 仓库中。", zh_tw: "目前目錄不在 git 儲存庫中。" }
    tui_asks_nothing(task: &str) { en: "{task} asks nothing.", zh_cn: "{task} 没有提问。", zh_tw: "{task} 沒有提問。" }
    tui_not_running(task: &str) { en: "{task} is not running.", zh_cn: "{task} 没有在运行。", zh_tw: "{task} 沒有在執行。" }
    tui_not_resume_running(task: &str) { en: "{task} is running already.", zh_cn: "{task} 已在运行。", zh_tw: "{task} 已在執行。" }
    tui_not_while_running(task: &str) {
        en: "{task} is still running. x kills it, p pauses it.",
        zh_cn: "{task} 仍在运行。按 x 终止，按 p 暂停。",
        zh_tw: "{task} 仍在執行。按 x 終止，按 p 暫停。",
    }
    tui_not_changed(task: &str) { en: "{task} has changed nothing.", zh_cn: "{task} 没有任何改动。", zh_tw: "{task} 沒有任何變更。" }
    tui_not_merge_in_place(task: &str) {
        en: "{task} works in your checkout: there is nothing to merge.",
        zh_cn: "{task} 就在你的检出中工作，没有可合并的内容。",
        zh_tw: "{task} 就在你的簽出中工作，沒有可合併的內容。",
    }
    tui_not_merged_already(task: &str) { en: "{task} is merged already.", zh_cn: "{task} 已经合并。", zh_tw: "{task} 已經合併。" }
    tui_not_files_merged(task: &str) {
        en: "{task} is merged, and its worktree is put away. u brings it back.",
        zh_cn: "{task} 已合并，其工作树已收起。按 u 恢复。",
        zh_tw: "{task} 已合併，其工作樹已收起。按 u 復原。",
    }

    tui_confirm_title() { en: "Are you sure?", zh_cn: "确定吗？", zh_tw: "確定嗎？" }
    tui_confirm_kill(task: &str) { en: "Kill {task}?", zh_cn: "终止 {task}？", zh_tw: "終止 {task}？" }
    tui_confirm_kill_keeps() {
        en: "Its agent and all it started end now. What it did so far is committed, and resume continues from there.",
        zh_cn: "其智能体及其启动的一切会立即结束。已完成的工作会提交，之后可以继续。",
        zh_tw: "其代理及其啟動的一切會立即結束。已完成的工作會提交，之後可以繼續。",
    }
    tui_confirm_drop(task: &str) { en: "Drop {task}?", zh_cn: "丢弃 {task}？", zh_tw: "捨棄 {task}？" }
    tui_confirm_drop_keeps() {
        en: "Its worktree, branch and record go. All of it is kept first: u brings it back bit for bit.",
        zh_cn: "其工作树、分支和记录会被移除。移除前全部保留，按 u 可原样恢复。",
        zh_tw: "其工作樹、分支和記錄會被移除。移除前全部保留，按 u 可原樣復原。",
    }
    tui_confirm_merge(task: &str) { en: "Merge {task}?", zh_cn: "合并 {task}？", zh_tw: "合併 {task}？" }
    tui_confirm_merge_into(task: &str, branch: &str) { en: "Merge {task} into {branch}?", zh_cn: "将 {task} 合并到 {branch}？", zh_tw: "將 {task} 合併到 {branch}？" }
    tui_confirm_merge_resolves(branch: &str, files: &str, agent: &str) {
        en: "It conflicts with {branch} in {files}; {agent} will be started to resolve that.",
        zh_cn: "它与 {branch} 在 {files} 中冲突，将启动 {agent} 来解决。",
        zh_tw: "它與 {branch} 在 {files} 中衝突，將啟動 {agent} 來解決。",
    }
    tui_confirm_merge_conflicts(branch: &str, files: &str) {
        en: "It conflicts with {branch} in {files}, and there is no agent to resolve that: it will not be merged.",
        zh_cn: "它与 {branch} 在 {files} 中冲突，且没有智能体来解决，因此不会合并。",
        zh_tw: "它與 {branch} 在 {files} 中衝突，且沒有代理來解決，因此不會合併。",
    }
    tui_confirm_merge_unproven() {
        en: "It is not proven. Its checks and the project's run first; if they fail, nothing is merged.",
        zh_cn: "它未经证明。会先运行它和项目的检查，失败则不合并。",
        zh_tw: "它未經證明。會先執行它和專案的檢查，失敗則不合併。",
    }
    tui_confirm_undo_dropped(task: &str) { en: "Bring back {task}, which was dropped?", zh_cn: "恢复已丢弃的 {task}？", zh_tw: "復原已捨棄的 {task}？" }
    tui_confirm_undo_merged(task: &str) { en: "Bring back {task}, which was merged?", zh_cn: "恢复已合并的 {task}？", zh_tw: "復原已合併的 {task}？" }
    tui_confirm_takeover(task: &str) { en: "Take over {task}?", zh_cn: "接管 {task}？", zh_tw: "接管 {task}？" }
    tui_confirm_takeover_pauses(task: &str) {
        en: "Its agent is paused, and you get its session (or a shell) in its files. Leave that, and {task} continues.",
        zh_cn: "其智能体会暂停，你会在它的文件中得到它的会话（或 shell）。离开后 {task} 会继续。",
        zh_tw: "其代理會暫停，你會在它的檔案中得到它的工作階段（或 shell）。離開後 {task} 會繼續。",
    }
    tui_leave_comes_back() { en: "Leave it (exit), and you are back in the app.", zh_cn: "退出（exit）即可回到应用。", zh_tw: "離開（exit）即可回到應用程式。" }
    tui_confirm_command(command: &str) { en: "{command}?", zh_cn: "{command}？", zh_tw: "{command}？" }

    tui_ask_title() { en: "Before it starts", zh_cn: "开始之前", zh_tw: "開始之前" }
    tui_ask_trust() { en: "Do you trust this, until it changes?", zh_cn: "在它改动之前，信任这些内容吗？", zh_tw: "在它變更之前，信任這些內容嗎？" }
    tui_ask_checks() { en: "Do these checks prove that the work is done?", zh_cn: "用这些检查证明工作已完成吗？", zh_tw: "用這些檢查證明工作已完成嗎？" }
    tui_ask_setup() { en: "Run this in fresh checkouts, so that the checks work there?", zh_cn: "在新的检出中运行这些命令，使检查可用吗？", zh_tw: "在新的簽出中執行這些命令，使檢查可用嗎？" }
    tui_ask_plan() { en: "Does this plan belong to the task? It is committed and unchanged.", zh_cn: "此计划属于这个任务吗？它已提交且没有改动。", zh_tw: "此計畫屬於這個任務嗎？它已提交且沒有變更。" }
    tui_ask_cancelled() { en: "Nothing was started or changed.", zh_cn: "没有启动或更改任何内容。", zh_tw: "沒有啟動或變更任何內容。" }
    tui_decision_title(task: &str) { en: "{task} needs you", zh_cn: "{task} 需要你", zh_tw: "{task} 需要你" }

    tui_line_to(task: &str) { en: "tell {task}", zh_cn: "告诉 {task}", zh_tw: "告訴 {task}" }
    tui_line_hint() { en: "text goes to the selected task; /command", zh_cn: "文字会发给选中的任务；/命令", zh_tw: "文字會傳給選取的任務；/命令" }
    tui_text_for_nobody() { en: "No task is selected that could be told this. A command begins with /.", zh_cn: "没有选中可以告知的任务。命令以 / 开头。", zh_tw: "沒有選取可以告知的任務。命令以 / 開頭。" }
    tui_quote_open(quote: &str) { en: "the quotation mark {quote} is not closed", zh_cn: "引号 {quote} 没有闭合", zh_tw: "引號 {quote} 沒有閉合" }
    tui_no_stdin() { en: "the app has no standard input to read a prompt from", zh_cn: "应用没有可读取提示词的标准输入", zh_tw: "應用程式沒有可讀取提示詞的標準輸入" }
    tui_prompt_file_instead() { en: "give the prompt as words, or with --prompt-file FILE", zh_cn: "直接写提示词，或使用 --prompt-file FILE", zh_tw: "直接寫提示詞，或使用 --prompt-file FILE" }

    tui_starting() { en: "starting …", zh_cn: "正在启动……", zh_tw: "正在啟動……" }
    tui_resuming(task: &str) { en: "resuming {task} …", zh_cn: "正在继续 {task}……", zh_tw: "正在繼續 {task}……" }
    tui_killing(task: &str) { en: "killing {task} …", zh_cn: "正在终止 {task}……", zh_tw: "正在終止 {task}……" }
    tui_dropping(task: &str) { en: "dropping {task} …", zh_cn: "正在丢弃 {task}……", zh_tw: "正在捨棄 {task}……" }
    tui_opening_pull_request(task: &str) { en: "opening the pull request of {task} …", zh_cn: "正在为 {task} 打开拉取请求……", zh_tw: "正在為 {task} 開啟拉取請求……" }
    tui_working() { en: "working …", zh_cn: "正在处理……", zh_tw: "正在處理……" }

    tui_started(task: &str) { en: "{task} is running", zh_cn: "{task} 正在运行", zh_tw: "{task} 正在執行" }
    tui_started_queued(task: &str) { en: "{task} is queued: it starts when a place is free", zh_cn: "{task} 已排队，有空位时开始", zh_tw: "{task} 已排入佇列，有空位時開始" }
    tui_killed(task: &str) { en: "{task} was killed; what it did is committed", zh_cn: "{task} 已终止，已完成的工作已提交", zh_tw: "{task} 已終止，已完成的工作已提交" }
    tui_ended(task: &str) { en: "{task} has ended for good", zh_cn: "{task} 已彻底结束", zh_tw: "{task} 已徹底結束" }
    tui_pull_request(url: &str) { en: "pull request: {url}", zh_cn: "拉取请求：{url}", zh_tw: "拉取請求：{url}" }
    tui_pushed(branch: &str) { en: "{branch} was pushed", zh_cn: "{branch} 已推送", zh_tw: "{branch} 已推送" }
    tui_dropped(tasks: &str) { en: "{tasks} dropped; u brings it back", zh_cn: "{tasks} 已丢弃，按 u 恢复", zh_tw: "{tasks} 已捨棄，按 u 復原" }
    tui_undone(task: &str) { en: "{task} is back", zh_cn: "{task} 已恢复", zh_tw: "{task} 已復原" }
    tui_pruned(number: u64, size: &str) {
        en: (number: "1 thing removed, {size} freed", "{number} things removed, {size} freed"),
        zh_cn: "已移除 {number} 项，释放 {size}",
        zh_tw: "已移除 {number} 項，釋放 {size}",
    }
    tui_trusted() { en: "It is trusted, until it changes.", zh_cn: "已信任，直到它有改动。", zh_tw: "已信任，直到它有變更。" }
    tui_trust_revoked(number: u64) {
        en: (number: "1 confirmation taken back", "{number} confirmations taken back"),
        zh_cn: "已收回 {number} 项信任",
        zh_tw: "已收回 {number} 項信任",
    }
    tui_merged(task: &str, commit: &str) { en: "{task} merged as {commit}; u brings the task back", zh_cn: "{task} 已合并为 {commit}，按 u 恢复任务", zh_tw: "{task} 已合併為 {commit}，按 u 復原任務" }
    tui_merged_already(task: &str) { en: "{task} was merged already", zh_cn: "{task} 此前已合并", zh_tw: "{task} 先前已合併" }
    tui_merged_empty(task: &str) { en: "{task} has nothing to merge", zh_cn: "{task} 没有可合并的内容", zh_tw: "{task} 沒有可合併的內容" }
    tui_merge_left_out(task: &str, reason: &str) { en: "{task} was not merged: {reason}", zh_cn: "{task} 未合并：{reason}", zh_tw: "{task} 未合併：{reason}" }
    tui_merge_halted(task: &str) { en: "the merge of {task} was stopped; nothing of it has changed", zh_cn: "{task} 的合并已中止，没有任何改动", zh_tw: "{task} 的合併已中止，沒有任何變更" }
    tui_copied(text: &str) { en: "copied: {text}", zh_cn: "已复制：{text}", zh_tw: "已複製：{text}" }
    tui_dumb_terminal() {
        en: "this terminal cannot show the app (TERM=dumb); every command works all the same",
        zh_cn: "此终端无法显示应用（TERM=dumb），但所有命令仍可使用",
        zh_tw: "此終端機無法顯示應用程式（TERM=dumb），但所有命令仍可使用",
    }

    tui_new_prompt() { en: "What should be done?", zh_cn: "要做什么？", zh_tw: "要做什麼？" }
    tui_new_prompt_hint() { en: "fix the failing tests", zh_cn: "修复失败的测试", zh_tw: "修復失敗的測試" }
    tui_new_prompt_missing() { en: "Say first what is to be done.", zh_cn: "请先说明要做什么。", zh_tw: "請先說明要做什麼。" }
    tui_new_iterations() { en: "iterations", zh_cn: "迭代次数", zh_tw: "迭代次數" }
    tui_new_time() { en: "time", zh_cn: "时间", zh_tw: "時間" }
    tui_new_name() { en: "name", zh_cn: "名称", zh_tw: "名稱" }
    tui_new_agent_default() { en: "as set, else the first one that is ready; or a command", zh_cn: "按设置，否则用第一个可用的智能体；也可以是命令", zh_tw: "依設定，否則用第一個可用的代理；也可以是命令" }
    tui_new_draft_kept() { en: "draft kept: n opens it again", zh_cn: "草稿已保留：按 n 再次打开", zh_tw: "草稿已保留：按 n 再次開啟" }
    tui_new_check_default() { en: "the project's own", zh_cn: "项目自己的检查", zh_tw: "專案自己的檢查" }
    tui_new_name_default() { en: "made from the prompt", zh_cn: "由提示词生成", zh_tw: "由提示詞產生" }
    tui_new_preparing() { en: "Looking at what would run …", zh_cn: "正在查看将运行的内容……", zh_tw: "正在查看將執行的內容……" }
    tui_new_review(task: &str) { en: "{task} will run:", zh_cn: "将运行 {task}：", zh_tw: "將執行 {task}：" }
    tui_new_key_review() { en: "show what will run", zh_cn: "显示将运行的内容", zh_tw: "顯示將執行的內容" }
    tui_new_key_next() { en: "next field", zh_cn: "下一项", zh_tw: "下一項" }
    tui_new_key_agent() { en: "another agent", zh_cn: "换一个智能体", zh_tw: "換一個代理" }
    tui_new_key_start() { en: "start it", zh_cn: "启动", zh_tw: "啟動" }
    tui_new_key_change() { en: "change it", zh_cn: "修改", zh_tw: "修改" }

    tui_no_command(word: &str) { en: "There is no command '/{word}'.", zh_cn: "没有命令“/{word}”。", zh_tw: "沒有命令「/{word}」。" }
    tui_ctrl_f_searches() { en: "Ctrl-F searches what is shown", zh_cn: "按 Ctrl-F 搜索所显示的内容", zh_tw: "按 Ctrl-F 搜尋所顯示的內容" }
    tui_tab_completes() { en: "/ and Tab show all commands", zh_cn: "输入 / 再按 Tab 显示所有命令", zh_tw: "輸入 / 再按 Tab 顯示所有命令" }
    tui_settings_general() { en: "General", zh_cn: "常规", zh_tw: "一般" }
    tui_settings_default() { en: "default", zh_cn: "默认", zh_tw: "預設" }
    tui_settings_untrusted() { en: "not trusted: no effect", zh_cn: "未信任，不生效", zh_tw: "未信任，不生效" }
    tui_settings_to_user(file: &str) {
        en: "Changes go into {file}. Tab: the project's, .dacapo/config.toml.",
        zh_cn: "改动写入 {file}。Tab：项目的 .dacapo/config.toml。",
        zh_tw: "變更寫入 {file}。Tab：專案的 .dacapo/config.toml。",
    }
    tui_settings_to_project(file: &str) {
        en: "Changes go into the project's .dacapo/config.toml. Tab: your own, {file}.",
        zh_cn: "改动写入项目的 .dacapo/config.toml。Tab：你自己的 {file}。",
        zh_tw: "變更寫入專案的 .dacapo/config.toml。Tab：你自己的 {file}。",
    }
    tui_choice_now() { en: "now", zh_cn: "当前", zh_tw: "目前" }
    tui_settings_key_change() { en: "change", zh_cn: "更改", zh_tw: "變更" }
    tui_settings_key_unset() { en: "back to the default", zh_cn: "恢复默认值", zh_tw: "恢復預設值" }
    tui_settings_key_file() { en: "yours or the project's", zh_cn: "你的或项目的", zh_tw: "你的或專案的" }
    tui_settings_key_write() { en: "write it", zh_cn: "写入", zh_tw: "寫入" }

    tui_launch_goes_on(task: &str, seconds: u64) {
        en: "The process of {task} is gone. It goes on in {seconds} s.",
        zh_cn: "{task} 的进程已消失，{seconds} 秒后继续。",
        zh_tw: "{task} 的程序已消失，{seconds} 秒後繼續。",
    }
    tui_launch_begins(task: &str, seconds: u64) {
        en: "{task} starts by itself (auto_start) in {seconds} s.",
        zh_cn: "{task} 将在 {seconds} 秒后自动开始（auto_start）。",
        zh_tw: "{task} 將在 {seconds} 秒後自動開始（auto_start）。",
    }
    tui_launch_key_decline() { en: "not now", zh_cn: "暂不", zh_tw: "暫不" }
    tui_launch_key_now() { en: "now", zh_cn: "立即", zh_tw: "立即" }

    tui_cancelling(what: &str) { en: "Ending: {what}", zh_cn: "正在结束：{what}", zh_tw: "正在結束：{what}" }
    tui_initialized(files: u64, top: &str) {
        en: (files: "1 file made in {top}", "{files} files made in {top}"),
        zh_cn: "已在 {top} 中创建 {files} 个文件",
        zh_tw: "已在 {top} 中建立 {files} 個檔案",
    }
}
