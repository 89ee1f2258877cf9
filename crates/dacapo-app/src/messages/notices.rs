//! What a person should know of a task, a line each.

use super::messages;

messages! {
    NOTICES, dacapo;

    notice_cost() { en: "cost", zh_cn: "费用", zh_tw: "費用" }
    notice_tokens() { en: "tokens", zh_cn: "token 用量", zh_tw: "token 用量" }
    notice_usage_unknown(agent: &str, amount: &str) {
        en: "usage unknown: {agent} reported no usable {amount} for this turn, so the budget does not count it; a second such turn in a row ends the task",
        zh_cn: "用量未知：{agent} 没有报告本次调用的{amount}，预算未计入；若连续第二次如此，任务将结束",
        zh_tw: "用量未知：{agent} 沒有回報本次呼叫的{amount}，預算未計入；若連續第二次如此，任務將結束",
    }
    notice_last_call_only(agent: &str) {
        en: "{agent} reports only what its last model call used: tokens are counted too low",
        zh_cn: "{agent} 只报告最后一次模型调用的用量：token 数偏低",
        zh_tw: "{agent} 只回報最後一次模型呼叫的用量：token 數偏低",
    }
    notice_no_mode(agent: &str, approval: &str) {
        en: "{agent} has no mode for --approval {approval}: what it asks for is refused, but what it does without asking cannot be stopped",
        zh_cn: "{agent} 没有对应 --approval {approval} 的模式：它询问的操作会被拒绝，未询问的无法拦截",
        zh_tw: "{agent} 沒有對應 --approval {approval} 的模式：它詢問的操作會被拒絕，未詢問的無法攔截",
    }
    notice_agent_ended(agent: &str) {
        en: "the process of {agent} ended between two turns",
        zh_cn: "{agent} 的进程在两次调用之间结束了",
        zh_tw: "{agent} 的行程在兩次呼叫之間結束了",
    }
    notice_output_unread(error: &str) {
        en: "cannot read all of the agent's output: {error}",
        zh_cn: "无法读完智能体的输出：{error}",
        zh_tw: "無法讀完代理的輸出：{error}",
    }
    notice_output_missing(error: &str) {
        en: "some output is missing: {error}",
        zh_cn: "输出缺失：{error}",
        zh_tw: "輸出缺失：{error}",
    }
    notice_processes_ended(number: u64) {
        en: (number: "ended 1 process that was left running", "ended {number} processes that were left running"),
        zh_cn: "已结束 {number} 个遗留的进程",
        zh_tw: "已結束 {number} 個遺留的行程",
    }
    notice_process_left(pid: u32, program: &str) {
        en: "cannot end process {pid} ({program}): it belongs to another user",
        zh_cn: "无法结束进程 {pid}（{program}）：它属于其他用户",
        zh_tw: "無法結束行程 {pid}（{program}）：它屬於其他使用者",
    }
    notice_earlier_processes_ended(number: u64) {
        en: (number: "ended 1 process left by an earlier run", "ended {number} processes left by an earlier run"),
        zh_cn: "已结束先前运行遗留的 {number} 个进程",
        zh_tw: "已結束先前執行遺留的 {number} 個行程",
    }
    notice_earlier_process_left(pid: u32, program: &str) {
        en: "cannot end process {pid} ({program}) of an earlier run",
        zh_cn: "无法结束先前运行的进程 {pid}（{program}）",
        zh_tw: "無法結束先前執行的行程 {pid}（{program}）",
    }
    notice_not_told(task: &str, texts: &str, number: u64) {
        en: (number: "it was done before the agent got your message ({texts}); {dacapo}resume {task} --iter 1 continues with it", "it was done before the agent got your {number} messages ({texts}); {dacapo}resume {task} --iter 1 continues with them"),
        zh_cn: "智能体收到你的 {number} 条消息（{texts}）之前任务就已完成；{dacapo}resume {task} --iter 1 会带着它继续",
        zh_tw: "代理收到你的 {number} 則訊息（{texts}）之前任務就已完成；{dacapo}resume {task} --iter 1 會帶著它繼續",
    }
    notice_directory_again(path: &str) {
        en: "{path} had been removed and was created again; earlier output is lost",
        zh_cn: "{path} 曾被删除，已重新创建；之前的输出已丢失",
        zh_tw: "{path} 曾被刪除，已重新建立；先前的輸出已遺失",
    }
    notice_set_aside(found: &str, path: &str, aside: &str) {
        en: "{found} was in the way at {path}; it was moved to {aside}",
        zh_cn: "{path} 处有 {found}，已移到 {aside}",
        zh_tw: "{path} 處有 {found}，已移到 {aside}",
    }
    notice_no_proofs(error: &str) {
        en: "cannot prove commits: {error}",
        zh_cn: "无法证明提交：{error}",
        zh_tw: "無法證明提交：{error}",
    }
    notice_proof_checkouts_in_use() {
        en: "waiting for a proof checkout: all are in use",
        zh_cn: "正在等待用于证明的检出：全部在使用中",
        zh_tw: "正在等待用於證明的簽出：全部使用中",
    }
    notice_held_out_readable() {
        en: "held-out checks are readable here: an agent that looks for them in Dacapo's records or in your settings finds them",
        zh_cn: "保留检查在此处可被读取：在 Dacapo 的记录或你的设置中寻找它们的智能体能够找到",
        zh_tw: "保留檢查在此處可被讀取：在 Dacapo 的記錄或你的設定中尋找它們的代理能夠找到",
    }
    notice_hidden_unknown(error: &str) {
        en: "cannot tell which files the commit lacks: {error}",
        zh_cn: "无法找出提交缺少的内容：{error}",
        zh_tw: "無法找出提交缺少的內容：{error}",
    }
    notice_not_sealed(error: &str) {
        en: "cannot seal this run: {error}",
        zh_cn: "无法为本次运行加封：{error}",
        zh_tw: "無法為本次執行加封：{error}",
    }
    notice_not_carried(error: &str) {
        en: "the latest commits are in the task's worktree and not in your repository yet: {error}",
        zh_cn: "最近的提交还在任务的工作树里，尚未进入你的仓库：{error}",
        zh_tw: "最近的提交還在任務的工作樹裡，尚未進入你的儲存庫：{error}",
    }
    note_not_carried(task: &str, error: &str) {
        en: "what task '{task}' committed last is not in your repository yet: {error}",
        zh_cn: "任务“{task}”最近的提交尚未进入你的仓库：{error}",
        zh_tw: "任務「{task}」最近的提交尚未進入你的儲存庫：{error}",
    }
    notice_not_durable(error: &str) {
        en: "the latest iteration may not be on disk yet: {error}",
        zh_cn: "最近一次迭代未能写入磁盘：{error}",
        zh_tw: "最近一次迭代未能寫入磁碟：{error}",
    }
    notice_limits_not_shared(path: &str, error: &str) {
        en: "usage limits are not shared with other tasks: cannot use {path} ({error})",
        zh_cn: "用量限制无法与其他任务共享：无法使用 {path}（{error}）",
        zh_tw: "用量限制無法與其他任務共用：無法使用 {path}（{error}）",
    }
    notice_left_uncommitted(file: &str) {
        en: "left uncommitted: {file}",
        zh_cn: "未提交，保持原样：{file}",
        zh_tw: "未提交，保持原樣：{file}",
    }
    notice_not_committed(file: &str) {
        en: "not committed: {file}",
        zh_cn: "未提交：{file}",
        zh_tw: "未提交：{file}",
    }
    notice_not_kept(file: &str) {
        en: "not kept under a ref; left in place: {file}",
        zh_cn: "未存入引用，留在原处：{file}",
        zh_tw: "未存入參照，留在原處：{file}",
    }
    notice_repository_not_kept(path: &str) {
        en: "not kept under a ref: {path} is a separate git repository",
        zh_cn: "未存入引用：{path} 是独立的仓库",
        zh_tw: "未存入參照：{path} 是獨立的儲存庫",
    }
    notice_kept(reference: &str) {
        en: "uncommitted work is kept as {reference}",
        zh_cn: "未提交的工作已保存为 {reference}",
        zh_tw: "未提交的工作已保存為 {reference}",
    }
    notice_no_commands(error: &str) {
        en: "commands cannot reach this task: {error}",
        zh_cn: "命令无法送达此任务：{error}",
        zh_tw: "指令無法送達此任務：{error}",
    }
    notice_strange_commands(number: u64, path: &str) {
        en: (number: "1 file in {path} is not a Dacapo command and was ignored",
             "{number} files in {path} are not Dacapo commands and were ignored"),
        zh_cn: "{path} 中有 {number} 个文件不是 Dacapo 的命令，已忽略",
        zh_tw: "{path} 中有 {number} 個檔案不是 Dacapo 的指令，已忽略",
    }
    notice_no_pull_request(task: &str) {
        en: "no pull request: the task is not completed; {dacapo}pr {task} opens one anyway",
        zh_cn: "没有创建拉取请求：任务未完成；{dacapo}pr {task} 仍可创建",
        zh_tw: "沒有建立拉取請求：任務未完成；{dacapo}pr {task} 仍可建立",
    }
    notice_not_notified(how: &str, error: &str) {
        en: "cannot notify by {how}: {error}",
        zh_cn: "未能通过 {how} 通知：{error}",
        zh_tw: "未能透過 {how} 通知：{error}",
    }

    notice_switched(from: &str, to: &str) {
        en: "this checkout was switched from {from} to {to}",
        zh_cn: "当前工作区已从 {from} 切换到 {to}",
        zh_tw: "目前的工作目錄已從 {from} 切換到 {to}",
    }
    notice_switched_back(from: &str, to: &str) {
        en: "this checkout was on {from}; it was switched to {to} to continue",
        zh_cn: "当前工作区原在 {from}；已切换到 {to} 以便继续",
        zh_tw: "目前的工作目錄原在 {from}；已切換到 {to} 以便繼續",
    }
    notice_stays_on(branch: &str, back: &str) {
        en: "this checkout stays on {branch}; git switch {back} goes back to {back}",
        zh_cn: "当前工作区留在 {branch}；git switch {back} 可回到 {back}",
        zh_tw: "目前的工作目錄留在 {branch}；git switch {back} 可回到 {back}",
    }
    notice_worktree_again(branch: &str) {
        en: "the worktree had been removed and was created again from {branch}; uncommitted files and what the setup had created are gone",
        zh_cn: "工作树曾被删除，已从 {branch} 重新创建；未提交的内容和准备命令生成的内容已丢失",
        zh_tw: "工作樹曾被刪除，已從 {branch} 重新建立；未提交的內容和準備指令產生的內容已遺失",
    }
    notice_its_start() { en: "its start", zh_cn: "起点", zh_tw: "起點" }
    notice_directory_again_at(at: &str) {
        en: "the working directory was created again at {at}",
        zh_cn: "已在 {at} 重新创建工作目录",
        zh_tw: "已在 {at} 重新建立工作目錄",
    }
    notice_tests_put_back(files: &str) {
        en: "tests put back as they were (--tests locked): {files}",
        zh_cn: "已将测试恢复原样（--tests locked）：{files}",
        zh_tw: "已將測試恢復原樣（--tests locked）：{files}",
    }
    notice_tests_put_back_kept(files: &str, kept: &str) {
        en: "tests put back as they were (--tests locked): {files}; what the agent made of them is kept in {kept}",
        zh_cn: "已将测试恢复原样（--tests locked）：{files}；代理的改动保存在 {kept}",
        zh_tw: "已將測試恢復原樣（--tests locked）：{files}；代理的改動保存在 {kept}",
    }
    notice_changes_came_along(written: u64, removed: u64) {
        en: (written: "1 uncommitted file was copied, {removed} removed",
             "{written} uncommitted files were copied, {removed} removed"),
        zh_cn: "复制了 {written} 个未提交的文件，删除 {removed} 个",
        zh_tw: "複製了 {written} 個未提交的檔案，刪除 {removed} 個",
    }
    notice_not_included(files: &str) {
        en: "named in .worktreeinclude, not copied: {files}",
        zh_cn: ".worktreeinclude 中列出但未复制：{files}",
        zh_tw: ".worktreeinclude 中列出但未複製：{files}",
    }
    notice_empty_submodules(files: &str) {
        en: "submodule {files} is empty in a fresh worktree; [worktree] setup = [\"git submodule update --init\"] fills it",
        zh_cn: "新工作树中的子模块 {files} 为空；可设置 [worktree] setup = [\"git submodule update --init\"]",
        zh_tw: "新工作樹中的子模組 {files} 為空；可設定 [worktree] setup = [\"git submodule update --init\"]",
    }
    notice_ports_taken() { en: "all are taken", zh_cn: "全部被占用", zh_tw: "全部被占用" }
    notice_no_ports(variable: &str, why: &str) {
        en: "no ports for this task ({variable} is not set): {why}",
        zh_cn: "此任务没有可用端口（未设置 {variable}）：{why}",
        zh_tw: "此任務沒有可用的連接埠（未設定 {variable}）：{why}",
    }
    notice_journal_not_whole() {
        en: "its journal is incomplete",
        zh_cn: "任务日志不完整",
        zh_tw: "任務日誌不完整",
    }
    notice_untracked_unknown(why: &str) {
        en: "cannot tell which files were untracked before the task ({why}): files that are untracked now stay out of commits until an iteration changes them",
        zh_cn: "无法得知任务开始前有哪些未跟踪的文件（{why}）：现在未跟踪的文件在被迭代改动之前都不会提交",
        zh_tw: "無法得知任務開始前有哪些未追蹤的檔案（{why}）：現在未追蹤的檔案在被迭代變更之前都不會提交",
    }
    notice_settings_left_out(settings: &str) {
        en: "not used in proofs, as set while an agent ran: {settings}; if they are yours, confirm them: dacapo trust",
        zh_cn: "证明中不使用，因为是在智能体运行期间设置的：{settings}；如果是你设置的，请确认：dacapo trust",
        zh_tw: "證明中不使用，因為是在代理執行期間設定的：{settings}；如果是你設定的，請確認：dacapo trust",
    }
    notice_settings_changed(files: &str) {
        en: "changed while the agent was working: {files}; this affects what your own commands do here",
        zh_cn: "智能体工作期间被改动：{files}；它会影响你自己的命令在这里的行为",
        zh_tw: "代理工作期間被變更：{files}；它會影響你自己的指令在這裡的行為",
    }

    notice_ref_moved(name: &str, task: &str, from: &str, to: &str) {
        en: "{name} moved while {task} ran: {from} → {to}",
        zh_cn: "{task} 运行期间 {name} 移动了：{from} → {to}",
        zh_tw: "{task} 執行期間 {name} 移動了：{from} → {to}",
    }
    notice_ref_gone(name: &str, task: &str, from: &str) {
        en: "{name} was removed while {task} ran: it was at {from}",
        zh_cn: "{task} 运行期间 {name} 被删除：它曾指向 {from}",
        zh_tw: "{task} 執行期間 {name} 被刪除：它曾指向 {from}",
    }
    notice_ref_kept(moved: &str, kept: &str) {
        en: "{moved}; kept under {kept}",
        zh_cn: "{moved}；已保留在 {kept}",
        zh_tw: "{moved}；已保留在 {kept}",
    }
    notice_more_refs_moved(more: u64, task: &str) {
        en: "{more} more branches and tags moved or were removed while {task} ran",
        zh_cn: "{task} 运行期间另有 {more} 个分支和标签移动或被删除",
        zh_tw: "{task} 執行期間另有 {more} 個分支和標籤移動或被刪除",
    }
    the_tag(name: &str) {
        en: "tag {name}",
        zh_cn: "标签 {name}",
        zh_tw: "標籤 {name}",
    }
    a_stash() {
        en: "a stash entry",
        zh_cn: "一个贮藏条目",
        zh_tw: "一個貯藏條目",
    }
    notice_reattached(from: &str, to: &str) {
        en: "HEAD had been moved to {from}; it is back on {to}, with the work",
        zh_cn: "HEAD 曾指向 {from}；现已连同工作一起回到 {to}",
        zh_tw: "HEAD 曾指向 {from}；現已連同工作一起回到 {to}",
    }
    notice_stale_lock(path: &str) {
        en: "removed the stale lock {path}",
        zh_cn: "已删除过期的锁 {path}",
        zh_tw: "已刪除過期的鎖 {path}",
    }
    notice_index_locked(path: &str) {
        en: "the index is locked; if no git is running, remove {path} and run `git reset`",
        zh_cn: "索引被锁定；若没有 git 在运行，请删除 {path} 并运行 `git reset`",
        zh_tw: "索引被鎖定；若沒有 git 在執行，請刪除 {path} 並執行 `git reset`",
    }
    notice_index_missing() {
        en: "the index was missing and was rebuilt from HEAD",
        zh_cn: "索引缺失，已从 HEAD 重建",
        zh_tw: "索引缺失，已從 HEAD 重建",
    }
    notice_index_broken(kept: &str) {
        en: "the index was broken and was rebuilt from HEAD; the old one is {kept}",
        zh_cn: "索引已损坏，已从 HEAD 重建；原索引保存为 {kept}",
        zh_tw: "索引已損壞，已從 HEAD 重建；原索引保存為 {kept}",
    }
    notice_link_restored(path: &str) {
        en: "{path} had been removed and was restored",
        zh_cn: "{path} 曾被删除，已恢复",
        zh_tw: "{path} 曾被刪除，已恢復",
    }
    notice_submodule_dirty(path: &str) {
        en: "submodule {path} has changes that are in no commit",
        zh_cn: "子模块 {path} 有未提交的改动",
        zh_tw: "子模組 {path} 有未提交的變更",
    }
    notice_git_warned(message: &str) {
        en: "git warned: {message}",
        zh_cn: "git 警告：{message}",
        zh_tw: "git 警告：{message}",
    }
    notice_committed_by_agent(file: &str) {
        en: "the agent committed {file}",
        zh_cn: "智能体提交了 {file}",
        zh_tw: "代理提交了 {file}",
    }

    notice_secret_committed(path: &str, variable: &str) {
        en: "the agent committed {path}, which holds the value of {variable}; merge and pr refuse that commit",
        zh_cn: "智能体提交了 {path}，其中含有 {variable} 的值；merge 和 pr 会拒绝该提交",
        zh_tw: "代理提交了 {path}，其中含有 {variable} 的值；merge 和 pr 會拒絕該提交",
    }
    left_secret(path: &str) {
        en: "{path}: looks like a secret",
        zh_cn: "{path}：像是密钥",
        zh_tw: "{path}：像是金鑰",
    }
    left_holds_secret(path: &str, variable: &str) {
        en: "{path}: it holds the value of {variable}",
        zh_cn: "{path}：其中含有 {variable} 的值",
        zh_tw: "{path}：其中含有 {variable} 的值",
    }
    left_name_holds_secret(path: &str, variable: &str) {
        en: "{path}: its name holds the value of {variable}",
        zh_cn: "{path}：文件名含有 {variable} 的值",
        zh_tw: "{path}：檔名含有 {variable} 的值",
    }
    left_too_big(path: &str, bytes: u64) {
        en: "{path}: {bytes} bytes is over the limit",
        zh_cn: "{path}：{bytes} 字节，超过上限",
        zh_tw: "{path}：{bytes} 位元組，超過上限",
    }
    left_not_stageable(path: &str, message: &str) {
        en: "{path}: git could not add it: {message}",
        zh_cn: "{path}：git 无法加入：{message}",
        zh_tw: "{path}：git 無法加入：{message}",
    }
}
