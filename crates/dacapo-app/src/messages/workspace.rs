//! What is wrong with the place a task works in.

use super::messages;

messages! {
    WORKSPACE, dacapo;

    workspace_head_moved(found: &str, home: &str) {
        en: "HEAD was moved to {found} and is back at {home}",
        zh_cn: "HEAD 曾被移到 {found}，现已回到 {home}",
        zh_tw: "HEAD 曾被移到 {found}，現已回到 {home}",
    }
    workspace_kept_as(refs: &str) { en: "kept as {refs}", zh_cn: "已保留为 {refs}", zh_tw: "已保留為 {refs}" }
    workspace_branch_at(branch: &str, at: &str) { en: "{branch} ({at})", zh_cn: "{branch}（{at}）", zh_tw: "{branch}（{at}）" }
    workspace_detached_at(at: &str) { en: "detached at {at}", zh_cn: "游离的 {at}", zh_tw: "分離的 {at}" }
    workspace_no_commit() { en: "no commit", zh_cn: "没有提交", zh_tw: "沒有提交" }
    workspace_nested_repository(path: &str) {
        en: "{path} is a git repository of its own and was not committed",
        zh_cn: "{path} 本身是一个 git 仓库，没有提交",
        zh_tw: "{path} 本身是一個 git 儲存庫，沒有提交",
    }
    workspace_unmerged(paths: &str) {
        en: "conflicts are left in {paths}",
        zh_cn: "{paths} 中还有冲突",
        zh_tw: "{paths} 中還有衝突",
    }
    workspace_nothing_committed() { en: "nothing was committed", zh_cn: "什么也没有提交", zh_tw: "什麼也沒有提交" }
    workspace_unfinished(operation: &str) {
        en: "a {operation} was begun and not finished",
        zh_cn: "{operation} 开始后没有完成",
        zh_tw: "{operation} 開始後沒有完成",
    }
    workspace_directory_gone(path: &str) {
        en: "the working directory {path} is gone",
        zh_cn: "工作目录 {path} 已不存在",
        zh_tw: "工作目錄 {path} 已不存在",
    }
    workspace_repository_gone(path: &str) {
        en: "there is no repository at {path} any more",
        zh_cn: "{path} 处已没有仓库",
        zh_tw: "{path} 處已沒有儲存庫",
    }
    workspace_special_file(path: &str, kind: &str) {
        en: "{path} is a {kind}: git would wait for ever to read it; nothing was committed; remove it",
        zh_cn: "{path} 是 {kind}：git 读取它会永远等待；什么也没有提交；请删除它",
        zh_tw: "{path} 是 {kind}：git 讀取它會永遠等待；什麼也沒有提交；請刪除它",
    }
    workspace_git_waited(programs: &str) { en: ", waiting for {programs}", zh_cn: "，当时在等待 {programs}", zh_tw: "，當時在等待 {programs}" }
    workspace_git_too_long(command: &str, limit: u64, waited: &str) {
        en: "`{command}` did not end within {limit} s{waited}; nothing was committed, all files are as the agent left them",
        zh_cn: "`{command}` 在 {limit} 秒内没有结束{waited}；什么也没有提交，所有文件都保持智能体留下的样子",
        zh_tw: "`{command}` 在 {limit} 秒內沒有結束{waited}；什麼也沒有提交，所有檔案都保持代理留下的樣子",
    }
    workspace_git_stopped(command: &str, waited: &str) {
        en: "`{command}` was ended because the task is to end{waited}; nothing was committed, all files are as the agent left them",
        zh_cn: "任务要结束，因此终止了 `{command}`{waited}；什么也没有提交，所有文件都保持智能体留下的样子",
        zh_tw: "任務要結束，因此終止了 `{command}`{waited}；什麼也沒有提交，所有檔案都保持代理留下的樣子",
    }
    workspace_history_gone(commit: &str) {
        en: "commit {commit} is no longer in the repository",
        zh_cn: "仓库中已没有提交 {commit}",
        zh_tw: "儲存庫中已沒有提交 {commit}",
    }
    workspace_link_replaced(path: &str) {
        en: "{path} was replaced; git commands there reach another repository",
        zh_cn: "{path} 被替换了；那里的 git 命令会作用于另一个仓库",
        zh_tw: "{path} 被替換了；那裡的 git 命令會作用於另一個儲存庫",
    }
    workspace_branch_moved(at: &str, kept: &str) {
        en: "the branch was moved by somebody else (it is at {at}); this iteration is kept as {kept}",
        zh_cn: "分支被他人移动了（现在位于 {at}）；本次迭代已保留为 {kept}",
        zh_tw: "分支被他人移動了（現在位於 {at}）；本次迭代已保留為 {kept}",
    }
    workspace_branch_removed(kept: &str) {
        en: "the branch was moved by somebody else (it is gone); this iteration is kept as {kept}",
        zh_cn: "分支被他人移动了（已不存在）；本次迭代已保留为 {kept}",
        zh_tw: "分支被他人移動了（已不存在）；本次迭代已保留為 {kept}",
    }
    workspace_start_gone(commit: &str) {
        en: "commit {commit}, from which it was to start, is gone",
        zh_cn: "作为起点的提交 {commit} 已不存在",
        zh_tw: "作為起點的提交 {commit} 已不存在",
    }
    workspace_no_commits() {
        en: "a repository without commits cannot have a worktree",
        zh_cn: "没有提交的仓库不能有工作树",
        zh_tw: "沒有提交的儲存庫不能有工作樹",
    }
    workspace_branch_exists(branch: &str) {
        en: "branch '{branch}' already exists",
        zh_cn: "分支“{branch}”已存在",
        zh_tw: "分支「{branch}」已存在",
    }
    workspace_to_be_switched(branch: &str) {
        en: "it is to be switched to {branch}",
        zh_cn: "需要切换到 {branch}",
        zh_tw: "需要切換到 {branch}",
    }
    workspace_switch_failed(branch: &str, error: &str) {
        en: "this checkout cannot be switched to {branch}: {error}",
        zh_cn: "此检出无法切换到 {branch}：{error}",
        zh_tw: "此簽出無法切換到 {branch}：{error}",
    }
    workspace_switch_back_failed(on: &str, branch: &str, error: &str) {
        en: "this checkout is on {on} and cannot be switched to {branch}: {error}",
        zh_cn: "此检出位于 {on}，无法切换到 {branch}：{error}",
        zh_tw: "此簽出位於 {on}，無法切換到 {branch}：{error}",
    }
    workspace_unusable(task: &str, error: &str) {
        en: "the workspace of task '{task}' cannot be used: {error}",
        zh_cn: "任务“{task}”的工作区无法使用：{error}",
        zh_tw: "任務「{task}」的工作區無法使用：{error}",
    }
    workspace_removed(branch: &str) {
        en: "its worktree and branch {branch} were removed; git branch {branch} COMMIT brings the branch back, and the worktree comes with it",
        zh_cn: "它的工作树和分支 {branch} 已被删除；git branch {branch} COMMIT 可恢复分支，工作树随之恢复",
        zh_tw: "它的工作樹和分支 {branch} 已被刪除；git branch {branch} COMMIT 可恢復分支，工作樹隨之恢復",
    }
    workspace_not_made(error: &str) {
        en: "cannot create the worktree: {error}",
        zh_cn: "无法创建工作树：{error}",
        zh_tw: "無法建立工作樹：{error}",
    }
    workspace_unlock(command: &str) {
        en: "{command}, if no git and no editor is running in this repository",
        zh_cn: "若此仓库中没有 git 和编辑器在运行：{command}",
        zh_tw: "若此儲存庫中沒有 git 和編輯器在執行：{command}",
    }
}
