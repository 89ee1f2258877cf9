//! What the engine could not do: git, files, locks, records.

use super::messages;

messages! {
    ERRORS, dacapo;

    error_of(name: &str, error: &str) { en: "{name}: {error}", zh_cn: "{name}：{error}", zh_tw: "{name}：{error}" }
    cannot(action: &str, path: &str, error: &str) {
        en: "cannot {action} {path}: {error}",
        zh_cn: "无法{action} {path}：{error}",
        zh_tw: "無法{action} {path}：{error}",
    }
    action_read() { en: "read", zh_cn: "读取", zh_tw: "讀取" }
    action_write() { en: "write", zh_cn: "写入", zh_tw: "寫入" }
    action_create() { en: "create", zh_cn: "创建", zh_tw: "建立" }
    action_open() { en: "open", zh_cn: "打开", zh_tw: "開啟" }
    action_remove() { en: "remove", zh_cn: "删除", zh_tw: "刪除" }
    action_move() { en: "move", zh_cn: "移动", zh_tw: "移動" }
    action_rename() { en: "rename", zh_cn: "重命名", zh_tw: "重新命名" }
    action_copy() { en: "copy", zh_cn: "复制", zh_tw: "複製" }
    action_compare() { en: "compare", zh_cn: "比较", zh_tw: "比較" }
    action_clean() { en: "clean", zh_cn: "清理", zh_tw: "清理" }
    action_lock() { en: "lock", zh_cn: "锁定", zh_tw: "鎖定" }
    action_inspect() { en: "inspect", zh_cn: "检查", zh_tw: "檢查" }
    action_repair() { en: "repair", zh_cn: "修复", zh_tw: "修復" }
    action_run() { en: "run", zh_cn: "运行", zh_tw: "執行" }
    action_talk_to() { en: "talk to", zh_cn: "连接", zh_tw: "連線到" }
    action_start_thread() { en: "start a thread for", zh_cn: "启动线程处理", zh_tw: "啟動執行緒處理" }
    action_wait_for_checkout() {
        en: "wait for a proof checkout in",
        zh_cn: "等待用于证明的检出",
        zh_tw: "等待用於證明的簽出",
    }

    git_missing() {
        en: "git was not found on PATH",
        zh_cn: "在 PATH 中找不到 git",
        zh_tw: "在 PATH 中找不到 git",
    }
    git_index_locked(lock: &str, command: &str) {
        en: "the index is locked by {lock}; if no git and no editor is running there, a killed one left it: {command}",
        zh_cn: "索引被 {lock} 锁定；如果没有 git 和编辑器在那里运行，它就是被强制终止的进程遗留的：{command}",
        zh_tw: "索引被 {lock} 鎖定；如果沒有 git 和編輯器在那裡執行，它就是被強制終止的行程遺留的：{command}",
    }
    git_repository_locked(lock: &str, command: &str) {
        en: "the repository is locked by {lock}; if no git and no editor is running there, a killed one left it: {command}",
        zh_cn: "仓库被 {lock} 锁定；如果没有 git 和编辑器在那里运行，它就是被强制终止的进程遗留的：{command}",
        zh_tw: "儲存庫被 {lock} 鎖定；如果沒有 git 和編輯器在那裡執行，它就是被強制終止的行程遺留的：{command}",
    }
    /// `operation` is the engine's own word for it, in English: the command says as much.
    git_stopped(operation: &str, command: &str, waited: &str) {
        en: "{operation}: `{command}` was ended because somebody stopped it{waited}",
        zh_cn: "{operation}：有人要求停止，因此终止了 `{command}`{waited}",
        zh_tw: "{operation}：有人要求停止，因此終止了 `{command}`{waited}",
    }
    git_too_long(operation: &str, command: &str, limit: u64, waited: &str) {
        en: "{operation}: `{command}` did not end within {limit} s{waited}",
        zh_cn: "{operation}：`{command}` 在 {limit} 秒内没有结束{waited}",
        zh_tw: "{operation}：`{command}` 在 {limit} 秒內沒有結束{waited}",
    }
    git_stuck(operation: &str, command: &str, waited: &str) {
        en: "{operation}: `{command}` was ended because it would never have ended{waited}",
        zh_cn: "{operation}：`{command}` 永远不会结束，因此被终止{waited}",
        zh_tw: "{operation}：`{command}` 永遠不會結束，因此被終止{waited}",
    }
    git_special_file(operation: &str, path: &str, kind: &str, command: &str) {
        en: "{operation}: {path} is a {kind}: git would wait for ever to read it; remove it: {command}",
        zh_cn: "{operation}：{path} 是 {kind}：git 读取它会永远等待；请删除它：{command}",
        zh_tw: "{operation}：{path} 是 {kind}：git 讀取它會永遠等待；請刪除它：{command}",
    }
    git_leads_elsewhere(operation: &str, path: &str) {
        en: "{operation}: {path} leads out of the task's own repository; remove it",
        zh_cn: "{operation}：{path} 通向任务自己的仓库之外；请删除它",
        zh_tw: "{operation}：{path} 通向任務自己的儲存庫之外；請刪除它",
    }
    git_failed(operation: &str, command: &str, exit: &str, said: &str) {
        en: "{operation}: `{command}` failed ({exit}): {said}",
        zh_cn: "`{command}` 失败（{exit}）：{said}",
        zh_tw: "`{command}` 失敗（{exit}）：{said}",
    }
    git_io(operation: &str, path: &str, error: &str) {
        en: "{operation}: {path}: {error}",
        zh_cn: "{path}：{error}",
        zh_tw: "{path}：{error}",
    }
    git_too_old(operation: &str, version: &str) {
        en: "{operation}: this needs git {version} or newer",
        zh_cn: "需要 git {version} 或更高版本",
        zh_tw: "需要 git {version} 或更新的版本",
    }
    git_unexpected(operation: &str, answer: &str) {
        en: "{operation}: unexpected answer from git: {answer}",
        zh_cn: "git 的输出出乎意料：{answer}",
        zh_tw: "git 的輸出出乎意料：{answer}",
    }

    worktree_path_exists(path: &str) { en: "{path} already exists", zh_cn: "{path} 已存在", zh_tw: "{path} 已存在" }
    worktree_in_operation(path: &str) {
        en: "a rebase, am or bisect is in progress in {path}",
        zh_cn: "{path} 中有尚未完成的 rebase、am 或 bisect",
        zh_tw: "{path} 中有尚未完成的 rebase、am 或 bisect",
    }
    worktree_branch_moved(branch: &str) {
        en: "someone else has just moved branch '{branch}'",
        zh_cn: "分支“{branch}”刚刚被他人移动",
        zh_tw: "分支「{branch}」剛剛被他人移動",
    }
    worktree_checked_out(branch: &str, path: &str) {
        en: "branch '{branch}' is checked out at {path}",
        zh_cn: "分支“{branch}”已在 {path} 检出",
        zh_tw: "分支「{branch}」已在 {path} 簽出",
    }
    worktree_other_file_system(from: &str, to: &str) {
        en: "{from} and {to} are on different file systems",
        zh_cn: "{from} 和 {to} 不在同一个文件系统上",
        zh_tw: "{from} 和 {to} 不在同一個檔案系統上",
    }
    worktree_busy(path: &str) {
        en: "another process has locked the worktrees of this repository ({path})",
        zh_cn: "另一个进程锁定了此仓库的工作树（{path}）",
        zh_tw: "另一個行程鎖定了此儲存庫的工作樹（{path}）",
    }

    lock_held() { en: "locked by another process", zh_cn: "被另一个进程锁定", zh_tw: "被另一個行程鎖定" }
    lock_lingering() {
        en: "its process is gone, but something that it started is still running",
        zh_cn: "它的进程已不在，但它启动的程序仍在运行",
        zh_tw: "它的行程已不在，但它啟動的程式仍在執行",
    }
    lock_rename_unfinished(from: &str, to: &str) {
        en: "Task '{to}' is not completely renamed: {dacapo}rename {from} {to} finishes it",
        zh_cn: "任务“{to}”尚未完全重命名：{dacapo}rename {from} {to} 可完成重命名",
        zh_tw: "任務「{to}」尚未完全重新命名：{dacapo}rename {from} {to} 可完成重新命名",
    }

    record_no_task_at(path: &str) { en: "no task at {path}", zh_cn: "{path} 处没有任务", zh_tw: "{path} 處沒有任務" }
    record_older(path: &str, found: u32, reads: u32) {
        en: "{path} was written by an older Dacapo (format {found}; this one reads {reads})",
        zh_cn: "{path} 由旧版 Dacapo 写入（格式 {found}；此版本读取格式 {reads}）",
        zh_tw: "{path} 由舊版 Dacapo 寫入（格式 {found}；此版本讀取格式 {reads}）",
    }
    record_newer(path: &str, found: u32, reads: u32) {
        en: "{path} was written by a newer Dacapo (format {found}; this one reads up to {reads})",
        zh_cn: "{path} 由新版 Dacapo 写入（格式 {found}；此版本最高读取格式 {reads}）",
        zh_tw: "{path} 由新版 Dacapo 寫入（格式 {found}；此版本最高讀取格式 {reads}）",
    }
    record_damaged(path: &str, line: u64, message: &str) {
        en: "{path} is damaged at line {line}: {message}",
        zh_cn: "{path} 第 {line} 行已损坏：{message}",
        zh_tw: "{path} 第 {line} 行已損壞：{message}",
    }
    record_removed(path: &str) {
        en: "{path} was removed while the task was running",
        zh_cn: "{path} 在任务运行期间被删除",
        zh_tw: "{path} 在任務執行期間被刪除",
    }
    record_replaced(path: &str) {
        en: "{path} was replaced by another file while the task was running",
        zh_cn: "{path} 在任务运行期间被换成了另一个文件",
        zh_tw: "{path} 在任務執行期間被換成了另一個檔案",
    }
    record_foreign(bytes: u64, path: &str, kept: &str) {
        en: (bytes: "1 byte in {path} was not written by Dacapo and is now in {kept}",
             "{bytes} bytes in {path} were not written by Dacapo and are now in {kept}"),
        zh_cn: "{path} 中有 {bytes} 字节不是 Dacapo 写入的，已移到 {kept}",
        zh_tw: "{path} 中有 {bytes} 位元組不是 Dacapo 寫入的，已移到 {kept}",
    }
    record_altered(path: &str) {
        en: "something other than Dacapo changed {path} while the task was running",
        zh_cn: "{path} 在任务运行期间被 Dacapo 以外的程序改动",
        zh_tw: "{path} 在任務執行期間被 Dacapo 以外的程式變更",
    }
    record_journal_gone() {
        en: "its journal is gone; its commits are still in git",
        zh_cn: "它的日志已不存在；提交仍在 git 中",
        zh_tw: "它的日誌已不存在；提交仍在 git 中",
    }
    record_lock_unreadable(error: &str) {
        en: "cannot read the lock of the task: {error}",
        zh_cn: "无法读取任务的锁：{error}",
        zh_tw: "無法讀取任務的鎖：{error}",
    }
    record_event_missing(line: u64, event: u64) {
        en: "line {line} of the journal: event {event} is missing",
        zh_cn: "日志第 {line} 行：缺少事件 {event}",
        zh_tw: "日誌第 {line} 行：缺少事件 {event}",
    }
    record_events_missing(line: u64, first: u64, last: u64) {
        en: "line {line} of the journal: events {first} to {last} are missing",
        zh_cn: "日志第 {line} 行：缺少事件 {first} 到 {last}",
        zh_tw: "日誌第 {line} 行：缺少事件 {first} 到 {last}",
    }
    record_out_of_order(line: u64, event: u64, expected: u64) {
        en: "line {line} of the journal: event {event} is doubled or out of order (expected {expected})",
        zh_cn: "日志第 {line} 行：事件 {event} 重复或次序不对（应为 {expected}）",
        zh_tw: "日誌第 {line} 行：事件 {event} 重複或次序不對（應為 {expected}）",
    }
    record_spec_changed() {
        en: "spec.json was changed after the task was created",
        zh_cn: "spec.json 在任务创建之后被改动",
        zh_tw: "spec.json 在任務建立之後被變更",
    }
    record_spec_unknown() {
        en: "the journal does not say what spec.json was when the task was created",
        zh_cn: "日志没有记录任务创建时 spec.json 的内容",
        zh_tw: "日誌沒有記錄任務建立時 spec.json 的內容",
    }
    record_unsealed(why: &str) {
        en: "the journal is not sealed: {why}",
        zh_cn: "日志没有加封：{why}",
        zh_tw: "日誌沒有加封：{why}",
    }
    record_faults_more(first: &str, more: u64) {
        en: (more: "{first} (and 1 more)", "{first} (and {more} more)"),
        zh_cn: "{first}（另有 {more} 处）",
        zh_tw: "{first}（另有 {more} 處）",
    }
    follow_other_task(position: &str) {
        en: "position {position} belongs to another task; start at the beginning",
        zh_cn: "位置 {position} 属于另一个任务；请从头开始",
        zh_tw: "位置 {position} 屬於另一個任務；請從頭開始",
    }
    follow_lost(position: &str) {
        en: "the task no longer has position {position}; start at the beginning",
        zh_cn: "任务中已没有位置 {position}；请从头开始",
        zh_tw: "任務中已沒有位置 {position}；請從頭開始",
    }
    follow_kept() {
        en: "everything; nothing was written",
        zh_cn: "全部内容；没有写入任何内容",
        zh_tw: "全部內容；沒有寫入任何內容",
    }

    kind_unknown(kind: &str) {
        en: "this version does not know tasks of kind '{kind}'",
        zh_cn: "此版本不认识“{kind}”类任务",
        zh_tw: "此版本不認得「{kind}」類任務",
    }
    kind_details_unreadable(kind: &str, error: &str) {
        en: "cannot read the spec of this {kind}: {error}",
        zh_cn: "无法读取此{kind}的定义：{error}",
        zh_tw: "無法讀取此{kind}的定義：{error}",
    }
    rename_name_fixed(task: &str, kind: &str, file: &str) {
        en: "Task '{task}' is a {kind}: {file} gives it its name",
        zh_cn: "任务“{task}”是{kind}：它的名称由 {file} 决定",
        zh_tw: "任務「{task}」是{kind}：它的名稱由 {file} 決定",
    }

    launch_streams(error: &str) {
        en: "cannot set up the streams of a process: {error}",
        zh_cn: "无法设置进程的输入输出：{error}",
        zh_tw: "無法設定行程的輸入輸出：{error}",
    }
    launch_guard(error: &str) {
        en: "cannot start a guard process: {error}",
        zh_cn: "无法启动守护进程：{error}",
        zh_tw: "無法啟動守護行程：{error}",
    }
    astray(is: &str, ought: &str, found: &str) {
        en: "this checkout is on {is}, but the task works on {ought}, and {found}",
        zh_cn: "当前工作区在 {is} 上，而任务在 {ought} 上工作，且{found}",
        zh_tw: "目前的工作目錄在 {is} 上，而任務在 {ought} 上工作，且{found}",
    }
    astray_operation(operation: &str) {
        en: "a {operation} is in progress here",
        zh_cn: "这里有尚未完成的 {operation}",
        zh_tw: "這裡有尚未完成的 {operation}",
    }
    astray_uncommitted(files: &str) {
        en: "there are uncommitted files here ({files})",
        zh_cn: "这里有未提交的文件（{files}）",
        zh_tw: "這裡有未提交的檔案（{files}）",
    }
    astray_commit_or_stash(task: &str) {
        en: "commit or stash them, then {dacapo}resume {task}",
        zh_cn: "先提交或 stash，然后 {dacapo}resume {task}",
        zh_tw: "先提交或 stash，然後 {dacapo}resume {task}",
    }
    driver_queue(error: &str) {
        en: "cannot wait for a slot: {error}",
        zh_cn: "无法等待空位：{error}",
        zh_tw: "無法等待空位：{error}",
    }
    driver_no_progress(task: &str) {
        en: "the journal of task '{task}' is inconsistent: it asks for the same step over and over. Nothing more was started; its branch and files are unchanged",
        zh_cn: "任务“{task}”的日志前后矛盾：它反复要求同一步骤。没有再启动任何内容；分支和文件没有改动",
        zh_tw: "任務「{task}」的日誌前後矛盾：它反覆要求同一步驟。沒有再啟動任何內容；分支和檔案沒有變更",
    }
    proof_snapshot_missing(path: &str) {
        en: "it cannot be proven: the settings noted before the agent ran are gone ({path})",
        zh_cn: "无法证明：智能体运行之前记下的设置已不存在（{path}）",
        zh_tw: "無法證明：代理執行之前記下的設定已不存在（{path}）",
    }
    proof_snapshot_changed(path: &str) {
        en: "it cannot be proven: the settings noted before the agent ran were changed ({path})",
        zh_cn: "无法证明：智能体运行之前记下的设置被改动过（{path}）",
        zh_tw: "無法證明：代理執行之前記下的設定被變更過（{path}）",
    }

    limit_value(key: &str, value: &str, expected: &str) {
        en: "{key}={value}: expected {expected}",
        zh_cn: "{key}={value}：应为{expected}",
        zh_tw: "{key}={value}：應為{expected}",
    }
    duration_invalid(text: &str) {
        en: "invalid duration '{text}': expected for example '30s', '5m', '1h30m' or '2d'",
        zh_cn: "时长“{text}”无效：应如 30s、5m、1h30m 或 2d",
        zh_tw: "時長「{text}」無效：應如 30s、5m、1h30m 或 2d",
    }
    mirror_not_up_to_date(path: &str, error: &str) {
        en: "{path} is out of date: {error}",
        zh_cn: "{path} 没有更新：{error}",
        zh_tw: "{path} 沒有更新：{error}",
    }
    mirror_seen(path: &str, error: &str) {
        en: "git may see files below {path}: {error}",
        zh_cn: "git 可能会看到 {path} 下的文件：{error}",
        zh_tw: "git 可能會看到 {path} 下的檔案：{error}",
    }
}
