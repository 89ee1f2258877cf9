//! Starting a task: what is looked at first, what is in the way, what its process could not do.

use super::messages;

messages! {
    START, dacapo;

    start_no_commits_no_worktree() {
        en: "a repository without commits cannot have a worktree",
        zh_cn: "没有提交的仓库不能创建工作树",
        zh_tw: "沒有提交的儲存庫無法建立工作樹",
    }
    start_commit_or_noworktree() {
        en: "commit something first, or work here without a worktree: --noworktree",
        zh_cn: "先提交一些内容，或不用工作树、直接在这里工作：--noworktree",
        zh_tw: "先提交一些內容，或不用工作樹、直接在這裡工作：--noworktree",
    }
    start_needs_a_commit() {
        en: "this repository has no commits yet, and a worktree needs one",
        zh_cn: "此仓库还没有提交，而工作树需要一个",
        zh_tw: "此儲存庫還沒有提交，而工作樹需要一個",
    }
    start_commit_then_again() {
        en: "git add -A && git commit -m start, then try again",
        zh_cn: "git add -A && git commit -m start，然后重试",
        zh_tw: "git add -A && git commit -m start，然後重試",
    }
    start_exec_in_this_checkout() {
        en: "{dacapo}exec --checks \"…\" works in this checkout, without a worktree",
        zh_cn: "{dacapo}exec --checks \"…\" 直接在当前工作区中工作，不用工作树",
        zh_tw: "{dacapo}exec --checks \"…\" 直接在目前的工作目錄中工作，不用工作樹",
    }
    start_then_commit() {
        en: "then commit your files: git add -A && git commit -m start",
        zh_cn: "然后提交现有内容：git add -A && git commit -m start",
        zh_tw: "然後提交現有內容：git add -A && git commit -m start",
    }
    start_home_on_local_disk() {
        en: "DACAPO_HOME=DIR keeps tasks elsewhere: on a local disk",
        zh_cn: "用 DACAPO_HOME=DIR 把任务放到别处：本地磁盘上",
        zh_tw: "用 DACAPO_HOME=DIR 把任務放到別處：本機磁碟上",
    }
    start_clone_to_local_disk() {
        en: "clone the repository to a local disk and work there",
        zh_cn: "把仓库克隆到本地磁盘，在那里工作",
        zh_tw: "把儲存庫複製到本機磁碟，在那裡工作",
    }
    start_cannot_write(path: &str, error: &str) {
        en: "cannot write to {path}: {error}",
        zh_cn: "无法写入 {path}：{error}",
        zh_tw: "無法寫入 {path}：{error}",
    }
    start_no_locks(path: &str, error: &str) {
        en: "the file system of {path} has no file locks: {error}",
        zh_cn: "{path} 所在的文件系统不支持文件锁：{error}",
        zh_tw: "{path} 所在的檔案系統不支援檔案鎖：{error}",
    }
    start_no_renames(path: &str, error: &str) {
        en: "the file system of {path} cannot rename a directory: {error}",
        zh_cn: "{path} 所在的文件系统无法重命名目录：{error}",
        zh_tw: "{path} 所在的檔案系統無法重新命名目錄：{error}",
    }
    start_merge_under_way() {
        en: "a merge is under way in this checkout",
        zh_cn: "当前工作区中正在进行合并",
        zh_tw: "目前的工作目錄中正在進行合併",
    }
    start_wait_or_worktree() {
        en: "wait until it is done, or use --worktree",
        zh_cn: "等它完成，或用 --worktree 另开工作树",
        zh_tw: "等它完成，或用 --worktree 另開工作樹",
    }
    start_checkout_taken(task: &str) {
        en: "Task '{task}' is running in this checkout; a workspace can run one loop at a time",
        zh_cn: "任务“{task}”正在当前工作区中运行；每个工作区同时只能运行一个循环",
        zh_tw: "任務「{task}」正在目前的工作目錄中執行；每個工作目錄同時只能執行一個迴圈",
    }
    start_worktree_beside() {
        en: "--worktree runs beside it",
        zh_cn: "--worktree 可以与它并行运行",
        zh_tw: "--worktree 可以與它並行執行",
    }
    start_checkout_not_locked(error: &str) {
        en: "cannot lock this checkout: {error}",
        zh_cn: "无法锁定当前工作区：{error}",
        zh_tw: "無法鎖定目前的工作目錄：{error}",
    }
    start_check_empty(flag: &str, check: &str) {
        en: "{flag} '{check}' is empty",
        zh_cn: "{flag} '{check}' 为空",
        zh_tw: "{flag} '{check}' 是空的",
    }
    start_no_checks_found() {
        en: "--checks: no checks were found in this project",
        zh_cn: "--checks：在此项目中没有找到检查",
        zh_tw: "--checks：在此專案中沒有找到檢查",
    }
    start_checks_declined() {
        en: "--checks: you declined the checks that were found",
        zh_cn: "--checks：你没有采用找到的检查",
        zh_tw: "--checks：你沒有採用找到的檢查",
    }
    start_checks_unconfirmed(found: &str) {
        en: "the checks that were found here are not confirmed yet, and nobody can be asked: {found}",
        zh_cn: "在这里找到的检查还没有确认过，而现在无法询问：{found}",
        zh_tw: "在這裡找到的檢查還沒有確認過，而現在無法詢問：{found}",
    }
    start_confirm_checks() {
        en: "--checks uses them",
        zh_cn: "--checks 采用这些检查",
        zh_tw: "--checks 採用這些檢查",
    }
    start_how_to_set_checks() {
        en: "--check 'CMD', or checks = [\"CMD\"] in .dacapo/config.toml",
        zh_cn: "--check 'CMD'，或在 .dacapo/config.toml 中写 checks = [\"CMD\"]",
        zh_tw: "--check 'CMD'，或在 .dacapo/config.toml 中寫 checks = [\"CMD\"]",
    }
    start_left_here(files: u64) {
        en: (files: "1 uncommitted file stays here; --with-changes copies it",
             "{files} uncommitted files stay here; --with-changes copies them"),
        zh_cn: "{files} 个未提交的文件留在这里；--with-changes 可以复制过去",
        zh_tw: "{files} 個未提交的檔案留在這裡；--with-changes 可以複製過去",
    }
    start_operation_in_progress(operation: &str) {
        en: "a git operation is in progress in this checkout: {operation}",
        zh_cn: "当前工作区中有尚未完成的 git 操作：{operation}",
        zh_tw: "目前的工作目錄中有尚未完成的 git 操作：{operation}",
    }
    start_finish_or_worktree() {
        en: "finish or abort it first, or use --worktree",
        zh_cn: "先完成或中止它，或用 --worktree",
        zh_tw: "先完成或中止它，或用 --worktree",
    }
    start_conflicts(path: &str) {
        en: "{path} has unresolved conflicts",
        zh_cn: "{path} 有未解决的冲突",
        zh_tw: "{path} 有未解決的衝突",
    }
    start_resolve_or_worktree() {
        en: "resolve them first, or use --worktree",
        zh_cn: "先解决冲突，或用 --worktree",
        zh_tw: "先解決衝突，或用 --worktree",
    }
    start_uncommitted(files: u64, names: &str) {
        en: (files: "1 tracked file here has uncommitted changes ({names})", "{files} tracked files here have uncommitted changes ({names})"),
        zh_cn: "这里有 {files} 个受跟踪的文件有未提交的改动（{names}）",
        zh_tw: "這裡有 {files} 個受追蹤的檔案有未提交的變更（{names}）",
    }
    start_commit_them() { en: "commit them first", zh_cn: "先提交它们", zh_tw: "先提交它們" }
    start_worktree_of_its_own() {
        en: "--worktree works in a separate checkout",
        zh_cn: "--worktree 在单独的工作树中工作",
        zh_tw: "--worktree 在單獨的工作樹中工作",
    }
    start_allow_dirty() {
        en: "--allow-dirty first commits them separately, untracked files too",
        zh_cn: "--allow-dirty 先把它们单独提交，包括未跟踪的文件",
        zh_tw: "--allow-dirty 先把它們單獨提交，包括未追蹤的檔案",
    }
    start_plain_text_promise(agent: &str) {
        en: "agent '{agent}' prints plain text: the promise counts anywhere in its output, except where it repeats the prompt",
        zh_cn: "智能体“{agent}”输出纯文本：完成语出现在输出的任何位置都算数，复述提示词的部分除外",
        zh_tw: "代理「{agent}」輸出純文字：完成語出現在輸出的任何位置都算數，複述提示詞的部分除外",
    }
    start_resume_or_another_name(task: &str) {
        en: "{dacapo}resume {task}, or choose another --name",
        zh_cn: "{dacapo}resume {task}，或用 --name 换一个名称",
        zh_tw: "{dacapo}resume {task}，或用 --name 換一個名稱",
    }
    start_cannot_create(task: &str, error: &str) {
        en: "cannot create task '{task}': {error}",
        zh_cn: "无法创建任务“{task}”：{error}",
        zh_tw: "無法建立任務「{task}」：{error}",
    }
    start_name_used_up() {
        en: "too many tasks have this name",
        zh_cn: "使用此名称的任务太多",
        zh_tw: "使用此名稱的任務太多",
    }
    start_choose_name() { en: "choose one with --name", zh_cn: "用 --name 指定名称", zh_tw: "用 --name 指定名稱" }
    start_not_rerun(task: &str, kind: &str) {
        en: "Task '{task}' is a {kind}, which cannot be rerun",
        zh_cn: "任务“{task}”的类型是{kind}，不能重新运行",
        zh_tw: "任務「{task}」的類型是{kind}，無法重新執行",
    }

    branch_exists(branch: &str) {
        en: "branch '{branch}' already exists",
        zh_cn: "分支“{branch}”已存在",
        zh_tw: "分支「{branch}」已存在",
    }
    branch_rename_or_delete(branch: &str) {
        en: "git branch -m {branch} NEW, or git branch -d {branch} if it is merged",
        zh_cn: "git branch -m {branch} NEW，或在合并后 git branch -d {branch}",
        zh_tw: "git branch -m {branch} NEW，或在合併後 git branch -d {branch}",
    }
    branch_above(above: &str, branch: &str) {
        en: "git cannot create branch '{branch}' while there is a branch '{above}'",
        zh_cn: "存在分支“{above}”时，git 无法创建分支“{branch}”",
        zh_tw: "存在分支「{above}」時，git 無法建立分支「{branch}」",
    }
    worktree_exists(task: &str) {
        en: "Worktree for task '{task}' already exists",
        zh_cn: "任务“{task}”的工作树已存在",
        zh_tw: "任務「{task}」的工作樹已存在",
    }
    start_in_own_worktree(task: &str) {
        en: "this is the worktree of task '{task}'; a task starts from a checkout of yours",
        zh_cn: "这里是任务“{task}”的工作树；任务要从你自己的检出目录启动",
        zh_tw: "這裡是任務「{task}」的工作樹；任務要從你自己的簽出目錄啟動",
    }
    worktree_remove_directory(command: &str) {
        en: "{command} when you need nothing in it",
        zh_cn: "里面的内容都不需要时：{command}",
        zh_tw: "裡面的內容都不需要時：{command}",
    }
    worktree_remove_file(command: &str) {
        en: "{command} when you do not need it: it is not a worktree",
        zh_cn: "不需要它时：{command}（它不是工作树）",
        zh_tw: "不需要它時：{command}（它不是工作樹）",
    }
}
