//! `dacapo drop`, `undo`, `prune` and `rename`.

use super::messages;

messages! {
    PUT_AWAY, dacapo;

    drop_already(task: &str) {
        en: "Task '{task}' is already dropped",
        zh_cn: "任务“{task}”已被丢弃",
        zh_tw: "任務「{task}」已被捨棄",
    }
    undo_brings_back(task: &str) {
        en: "{dacapo}undo {task} brings it back",
        zh_cn: "{dacapo}undo {task} 可以找回它",
        zh_tw: "{dacapo}undo {task} 可以找回它",
    }
    drop_refused(task: &str, error: &str) {
        en: "cannot drop task '{task}': {error}",
        zh_cn: "无法丢弃任务“{task}”：{error}",
        zh_tw: "無法捨棄任務「{task}」：{error}",
    }
    drop_kept_in_place() {
        en: "everything, in place",
        zh_cn: "全部内容，仍在原处",
        zh_tw: "全部內容，仍在原處",
    }
    drop_switch_branch(path: &str) {
        en: "git -C {path} switch main, or another branch",
        zh_cn: "git -C {path} switch main，或切换到其他分支",
        zh_tw: "git -C {path} switch main，或切換到其他分支",
    }
    drop_see_who_works() {
        en: "find out who is working there, then try again",
        zh_cn: "先弄清是谁在那里工作，然后重试",
        zh_tw: "先弄清是誰在那裡工作，然後重試",
    }
    drop_same_file_system(path: &str) {
        en: "make {path} a directory on the file system of the worktrees",
        zh_cn: "让 {path} 与工作树位于同一文件系统",
        zh_tw: "讓 {path} 與工作樹位於同一檔案系統",
    }
    drop_kept_partly_moved() {
        en: "everything: what has moved is in dropped/ and under refs/dacapo/rescue/",
        zh_cn: "全部内容：已移动的部分在 dropped/ 和 refs/dacapo/rescue/ 下",
        zh_tw: "全部內容：已移動的部分在 dropped/ 和 refs/dacapo/rescue/ 下",
    }
    drop_fix_then_again(task: &str) {
        en: "fix the cause, then {dacapo}drop {task} finishes it, or {dacapo}undo {task} reverts it",
        zh_cn: "排除原因后，{dacapo}drop {task} 会继续，{dacapo}undo {task} 则撤销",
        zh_tw: "排除原因後，{dacapo}drop {task} 會繼續，{dacapo}undo {task} 則復原",
    }
    dropped(task: &str, what: &str) {
        en: "dropped {task}: {what}",
        zh_cn: "已丢弃 {task}：{what}",
        zh_tw: "已捨棄 {task}：{what}",
    }
    dropped_record_only() {
        en: "its record; its commits stay where they are",
        zh_cn: "任务记录；提交留在原处",
        zh_tw: "任務紀錄；提交留在原處",
    }
    dropped_merged(branch: &str, commit: &str) {
        en: "worktree and branch {branch} at {commit} (merged)",
        zh_cn: "工作树和位于 {commit} 的分支 {branch}（已合并）",
        zh_tw: "工作樹和位於 {commit} 的分支 {branch}（已合併）",
    }
    dropped_not_merged(branch: &str, commit: &str) {
        en: "worktree and branch {branch} at {commit} (not merged)",
        zh_cn: "工作树和位于 {commit} 的分支 {branch}（未合并）",
        zh_tw: "工作樹和位於 {commit} 的分支 {branch}（未合併）",
    }
    its_record() { en: "its record", zh_cn: "任务记录", zh_tw: "任務紀錄" }
    dropped_untracked_held(reference: &str) {
        en: "{reference} still keeps the files that were untracked before the task",
        zh_cn: "{reference} 仍保存着任务之前未跟踪的文件",
        zh_tw: "{reference} 仍保存著任務之前未追蹤的檔案",
    }
    dropped_directory_gone(top: &str) {
        en: "this directory is gone: cd {top}",
        zh_cn: "当前目录已不存在：cd {top}",
        zh_tw: "目前目錄已不存在：cd {top}",
    }

    undo_nothing_dropped() {
        en: "nothing was dropped in this repository",
        zh_cn: "此仓库中没有丢弃过任务",
        zh_tw: "此儲存庫中沒有捨棄過任務",
    }
    undo_nothing_of(task: &str) {
        en: "nothing to undo: there is no dropped or merged task '{task}'",
        zh_cn: "没有可撤销的内容：没有名为“{task}”的已丢弃或已合并的任务",
        zh_tw: "沒有可復原的內容：沒有名為「{task}」的已捨棄或已合併的任務",
    }
    undo_list_shows() {
        en: "{dacapo}undo --list shows what can be undone",
        zh_cn: "{dacapo}undo --list 列出可以撤销的内容",
        zh_tw: "{dacapo}undo --list 列出可以復原的內容",
    }
    undo_rescue_refs(task: &str) {
        en: "git for-each-ref refs/dacapo/rescue/{task} shows what git still keeps of it",
        zh_cn: "git for-each-ref refs/dacapo/rescue/{task} 显示 git 还保留着它的哪些内容",
        zh_tw: "git for-each-ref refs/dacapo/rescue/{task} 顯示 git 還保留著它的哪些內容",
    }
    undo_refused(task: &str, error: &str) {
        en: "cannot bring '{task}' back: {error}",
        zh_cn: "无法找回“{task}”：{error}",
        zh_tw: "無法找回「{task}」：{error}",
    }
    undo_kept_unmoved(id: &str) {
        en: "everything, as it was dropped; nothing has moved (undo {id})",
        zh_cn: "全部内容，与丢弃时相同；没有移动任何内容（undo {id}）",
        zh_tw: "全部內容，與捨棄時相同；沒有移動任何內容（undo {id}）",
    }
    undo_drop_current(task: &str, id: &str) {
        en: "drop the current one first: {dacapo}drop {task}; then {dacapo}undo {id}",
        zh_cn: "先用 {dacapo}drop {task} 丢弃现在的任务；然后 {dacapo}undo {id}",
        zh_tw: "先用 {dacapo}drop {task} 捨棄現在的任務；然後 {dacapo}undo {id}",
    }
    undo_rename_branch(branch: &str, id: &str) {
        en: "rename the other branch first: git branch -m {branch} NEW; then {dacapo}undo {id}",
        zh_cn: "先给另一个分支换名：git branch -m {branch} NEW；然后 {dacapo}undo {id}",
        zh_tw: "先給另一個分支換名：git branch -m {branch} NEW；然後 {dacapo}undo {id}",
    }
    undo_move_away(path: &str, id: &str) {
        en: "move {path} elsewhere; then {dacapo}undo {id}",
        zh_cn: "把 {path} 移到别处；然后 {dacapo}undo {id}",
        zh_tw: "把 {path} 移到別處；然後 {dacapo}undo {id}",
    }
    undo_at_work(task: &str) {
        en: "another dacapo process is working on it; {dacapo}status {task}",
        zh_cn: "另一个 dacapo 进程正在处理它；{dacapo}status {task}",
        zh_tw: "另一個 dacapo 行程正在處理它；{dacapo}status {task}",
    }
    undo_kept_partly_back() {
        en: "everything: what is not back yet is in dropped/",
        zh_cn: "全部内容：尚未恢复的部分在 dropped/ 中",
        zh_tw: "全部內容：尚未恢復的部分在 dropped/ 中",
    }
    undo_fix_then_again(id: &str) {
        en: "fix the cause, then {dacapo}undo {id} continues",
        zh_cn: "排除原因后，{dacapo}undo {id} 会继续",
        zh_tw: "排除原因後，{dacapo}undo {id} 會繼續",
    }
    undo_way_revert(command: &str, branch: &str) {
        en: "{command} reverts it: {branch} has newer commits",
        zh_cn: "{command} 可以撤回：{branch} 此后又有新提交",
        zh_tw: "{command} 可以撤回：{branch} 此後又有新提交",
    }
    undo_way_move(command: &str, branch: &str) {
        en: "{command} moves {branch} back",
        zh_cn: "{command} 把 {branch} 移回",
        zh_tw: "{command} 把 {branch} 移回",
    }
    undone(task: &str, what: &str) {
        en: "{task} is back: {what}",
        zh_cn: "{task} 已恢复：{what}",
        zh_tw: "{task} 已恢復：{what}",
    }
    branch_and_path(branch: &str, path: &str) {
        en: "branch {branch} and {path}",
        zh_cn: "分支 {branch} 和 {path}",
        zh_tw: "分支 {branch} 和 {path}",
    }
    undone_stays_merged(branch: &str) {
        en: "what was merged into {branch} stays there",
        zh_cn: "已合并到 {branch} 的内容仍在那里",
        zh_tw: "已合併到 {branch} 的內容仍在那裡",
    }
    undo_list_empty() {
        en: "nothing to bring back",
        zh_cn: "没有可以找回的任务",
        zh_tw: "沒有可以找回的任務",
    }
    undo_list_merged() { en: "merged", zh_cn: "已合并", zh_tw: "已合併" }
    undo_list_in_place() { en: "in place", zh_cn: "原地任务", zh_tw: "原地任務" }
    undo_list_dropped_merged() { en: "dropped, merged", zh_cn: "已丢弃，已合并", zh_tw: "已捨棄，已合併" }
    undo_list_dropped_not_merged() {
        en: "dropped, not merged",
        zh_cn: "已丢弃，未合并",
        zh_tw: "已捨棄，未合併",
    }

    prune_changed_meanwhile(name: &str) {
        en: "{name} has changed in the meantime and was kept",
        zh_cn: "{name} 期间有变化，予以保留",
        zh_tw: "{name} 期間有變化，予以保留",
    }
    prune_kind_worktree() { en: "worktree", zh_cn: "工作树", zh_tw: "工作樹" }
    prune_kind_dropped() { en: "dropped", zh_cn: "已丢弃", zh_tw: "已捨棄" }
    prune_kind_proof() { en: "proof", zh_cn: "证明", zh_tw: "證明" }
    prune_kind_left() { en: "left over", zh_cn: "残留", zh_tw: "殘留" }
    prune_kept_as(reason: &str, reference: &str) {
        en: "{reason}; kept as {reference}",
        zh_cn: "{reason}；保存为 {reference}",
        zh_tw: "{reason}；保存為 {reference}",
    }
    prune_label_stays() { en: "stays", zh_cn: "保留", zh_tw: "保留" }
    prune_label_problem() { en: "problem", zh_cn: "问题", zh_tw: "問題" }
    prune_nothing() { en: "nothing to remove", zh_cn: "没有可删除的内容", zh_tw: "沒有可刪除的內容" }
    prune_freed(size: &str, items: u64) {
        en: (items: "freed {size} (1 item)", "freed {size} ({items} items)"),
        zh_cn: "已释放 {size}（{items} 项）",
        zh_tw: "已釋放 {size}（{items} 項）",
    }
    prune_would_free(size: &str, items: u64) {
        en: (items: "would free {size} (1 item)", "would free {size} ({items} items)"),
        zh_cn: "将释放 {size}（{items} 项）",
        zh_tw: "將釋放 {size}（{items} 項）",
    }
    prune_undo_gone(tasks: u64) {
        en: (tasks: "1 dropped task is gone for good: {dacapo}undo cannot bring it back", "{tasks} dropped tasks are gone for good: {dacapo}undo cannot bring them back"),
        zh_cn: "{tasks} 个已丢弃的任务已彻底删除：{dacapo}undo 无法找回",
        zh_tw: "{tasks} 個已捨棄的任務已徹底刪除：{dacapo}undo 無法找回",
    }
    prune_undo_would_be_gone(tasks: u64) {
        en: (tasks: "1 dropped task would be gone for good: {dacapo}undo could not bring it back", "{tasks} dropped tasks would be gone for good: {dacapo}undo could not bring them back"),
        zh_cn: "{tasks} 个已丢弃的任务将被彻底删除：{dacapo}undo 将无法找回",
        zh_tw: "{tasks} 個已捨棄的任務將被徹底刪除：{dacapo}undo 將無法找回",
    }
    prune_older_than(error: &str) {
        en: "--older-than: {error}",
        zh_cn: "--older-than：{error}",
        zh_tw: "--older-than：{error}",
    }

    rename_same_name(task: &str) {
        en: "Task '{task}' already has this name",
        zh_cn: "任务“{task}”已经是这个名称",
        zh_tw: "任務「{task}」已經是這個名稱",
    }
    rename_wait(task: &str) {
        en: "{dacapo}wait {task} waits for it; then rename it",
        zh_cn: "{dacapo}wait {task} 等它结束，然后再重命名",
        zh_tw: "{dacapo}wait {task} 等它結束，然後再重新命名",
    }
    rename_inside_worktree(task: &str) {
        en: "you are in the worktree of task '{task}', which the rename moves",
        zh_cn: "当前位于任务“{task}”的工作树中，而重命名会移动它",
        zh_tw: "目前位於任務「{task}」的工作樹中，而重新命名會移動它",
    }
    rename_from(top: &str, again: &str) {
        en: "cd {top}, then {again}",
        zh_cn: "cd {top}，然后 {again}",
        zh_tw: "cd {top}，然後 {again}",
    }
    rename_under_way(task: &str) {
        en: "Task '{task}' is being renamed by another process",
        zh_cn: "另一个进程正在重命名任务“{task}”",
        zh_tw: "另一個行程正在重新命名任務「{task}」",
    }
    rename_kept_goes_on() {
        en: "everything; the rename continues",
        zh_cn: "全部内容；重命名仍在继续",
        zh_tw: "全部內容；重新命名仍在繼續",
    }
    rename_unfinished(task: &str, why: &str) {
        en: "Task '{task}' is not completely renamed: {why}",
        zh_cn: "任务“{task}”尚未完全重命名：{why}",
        zh_tw: "任務「{task}」尚未完全重新命名：{why}",
    }
    rename_kept_unfinished(from: &str, to: &str) {
        en: "everything: the task is '{to}' now, its worktree or branch may still be '{from}'",
        zh_cn: "全部内容：任务现在名为“{to}”，工作树或分支可能仍名为“{from}”",
        zh_tw: "全部內容：任務現在名為「{to}」，工作樹或分支可能仍名為「{from}」",
    }
    /// Another name would do as well.
    rename_do_or_choose(todo: &str) {
        en: "{todo}, or choose another name",
        zh_cn: "{todo}，或换一个名称",
        zh_tw: "{todo}，或換一個名稱",
    }
    rename_do_then_finish(todo: &str, again: &str) {
        en: "{todo}; then {again} finishes it",
        zh_cn: "{todo}；然后 {again} 完成重命名",
        zh_tw: "{todo}；然後 {again} 完成重新命名",
    }
    rename_do_then(todo: &str, again: &str) {
        en: "{todo}; then {again}",
        zh_cn: "{todo}；然后 {again}",
        zh_tw: "{todo}；然後 {again}",
    }
    rename_choose_other(task: &str) {
        en: "{dacapo}status {task} shows it; choose another name",
        zh_cn: "{dacapo}status {task} 查看它；请换一个名称",
        zh_tw: "{dacapo}status {task} 查看它；請換一個名稱",
    }
    rename_start_anew() {
        en: "start a new one under another name",
        zh_cn: "换个名称重新启动一个",
        zh_tw: "換個名稱重新啟動一個",
    }
    rename_newer_version() {
        en: "it was created by a newer version of Dacapo: use that one",
        zh_cn: "它由更新版本的 Dacapo 创建：请使用该版本",
        zh_tw: "它由較新版本的 Dacapo 建立：請使用該版本",
    }
    rename_drop_continues(task: &str) {
        en: "{dacapo}drop {task} finishes the drop",
        zh_cn: "{dacapo}drop {task} 继续丢弃",
        zh_tw: "{dacapo}drop {task} 繼續捨棄",
    }
    rename_merge_continues(task: &str) {
        en: "{dacapo}merge {task} finishes the merge",
        zh_cn: "{dacapo}merge {task} 完成合并",
        zh_tw: "{dacapo}merge {task} 完成合併",
    }
    rename_undo_takes_back(task: &str) {
        en: "{dacapo}undo {task} reverts it",
        zh_cn: "{dacapo}undo {task} 撤销它",
        zh_tw: "{dacapo}undo {task} 復原它",
    }
    rename_move(path: &str) { en: "move {path} elsewhere", zh_cn: "把 {path} 移到别处", zh_tw: "把 {path} 移到別處" }
    rename_branch_or_delete(branch: &str) {
        en: "git branch -m {branch} OTHER, or git branch -d {branch} if it is merged",
        zh_cn: "git branch -m {branch} OTHER，若已合并可用 git branch -d {branch}",
        zh_tw: "git branch -m {branch} OTHER，若已合併可用 git branch -d {branch}",
    }
    rename_switch(path: &str) {
        en: "git -C {path} switch main, or to another branch",
        zh_cn: "git -C {path} switch main，或切换到其他分支",
        zh_tw: "git -C {path} switch main，或切換到其他分支",
    }
    rename_finish_operation(path: &str) {
        en: "git -C {path} status shows how to finish or abort it",
        zh_cn: "git -C {path} status 显示如何完成或中止它",
        zh_tw: "git -C {path} status 顯示如何完成或中止它",
    }
    fix_the_cause() { en: "fix the cause", zh_cn: "排除原因", zh_tw: "排除原因" }
    rename_worktree_exists(task: &str) {
        en: "Worktree for task '{task}' already exists",
        zh_cn: "任务“{task}”的工作树已存在",
        zh_tw: "任務「{task}」的工作樹已存在",
    }
    rename_drop_cut_short(task: &str) {
        en: "a drop of task '{task}' was interrupted",
        zh_cn: "任务“{task}”的丢弃曾被中断",
        zh_tw: "任務「{task}」的捨棄曾被中斷",
    }
    rename_merge_cut_short(task: &str) {
        en: "a merge of task '{task}' was interrupted",
        zh_cn: "任务“{task}”的合并曾被中断",
        zh_tw: "任務「{task}」的合併曾被中斷",
    }
    renamed(from: &str, to: &str, what: &str) {
        en: "renamed {from} to {to}: {what}",
        zh_cn: "已将 {from} 重命名为 {to}：{what}",
        zh_tw: "已將 {from} 重新命名為 {to}：{what}",
    }
    renamed_setup_again() {
        en: "its setup ran in the old directory: recreate what contains that path, such as a Python environment",
        zh_cn: "准备命令是在旧目录中运行的：含有该路径的内容（如 Python 环境）需要重新创建",
        zh_tw: "準備指令是在舊目錄中執行的：含有該路徑的內容（如 Python 環境）需要重新建立",
    }
    renamed_new_session() {
        en: "its agent starts a new session when it resumes: sessions are tied to the directory",
        zh_cn: "恢复时智能体会开始新会话：会话与目录绑定",
        zh_tw: "恢復時代理會開始新工作階段：工作階段與目錄綁定",
    }
    renamed_pull_request_stays() {
        en: "its pull request stays on the old branch of the remote",
        zh_cn: "它的拉取请求仍在远程的旧分支上",
        zh_tw: "它的拉取請求仍在遠端的舊分支上",
    }
}
