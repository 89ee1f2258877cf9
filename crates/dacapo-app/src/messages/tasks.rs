//! Which repository, which task, and who may do something to it.

use super::messages;

messages! {
    TASKS, dacapo;

    path_not_text(path: &str) {
        en: "the path {path} is not valid UTF-8, and Dacapo cannot record it",
        zh_cn: "路径 {path} 不是有效的 UTF-8，Dacapo 无法记录它",
        zh_tw: "路徑 {path} 不是有效的 UTF-8，Dacapo 無法記錄它",
    }
    path_not_text_cure() {
        en: "rename the directory, or work in a clone at another path",
        zh_cn: "重命名该目录，或在其他路径的克隆中工作",
        zh_tw: "重新命名該目錄，或在其他路徑的複製中工作",
    }
    cannot_read(path: &str, error: &str) {
        en: "cannot read {path}: {error}",
        zh_cn: "无法读取 {path}：{error}",
        zh_tw: "無法讀取 {path}：{error}",
    }
    cannot_be_written(path: &str, error: &str) {
        en: "cannot write {path}: {error}",
        zh_cn: "无法写入 {path}：{error}",
        zh_tw: "無法寫入 {path}：{error}",
    }
    task_none_yet() {
        en: "this repository has no tasks yet",
        zh_cn: "此仓库还没有任务",
        zh_tw: "此儲存庫還沒有任務",
    }
    task_exec_something() {
        en: "{dacapo}exec \"what the agent should do\"",
        zh_cn: "{dacapo}exec \"要智能体做的事\"",
        zh_tw: "{dacapo}exec \"要代理做的事\"",
    }
    task_not_found(task: &str) {
        en: "Task '{task}' not found",
        zh_cn: "找不到任务“{task}”",
        zh_tw: "找不到任務「{task}」",
    }
    task_was_dropped(task: &str) {
        en: "it was dropped: {dacapo}undo {task} brings it back",
        zh_cn: "它已被丢弃：{dacapo}undo {task} 可以找回",
        zh_tw: "它已被捨棄：{dacapo}undo {task} 可以找回",
    }
    task_was_renamed(now: &str) {
        en: "it was renamed to '{now}'",
        zh_cn: "它已重命名为“{now}”",
        zh_tw: "它已重新命名為「{now}」",
    }
    task_none_named() { en: "no task was named", zh_cn: "没有指定任务", zh_tw: "沒有指定任務" }
    task_already_exists(task: &str) {
        en: "Task '{task}' already exists",
        zh_cn: "任务“{task}”已存在",
        zh_tw: "任務「{task}」已存在",
    }
    task_invalid_name(name: &str) {
        en: "invalid task name '{name}': use 1 to 64 of a-z, 0-9, '_' and '-', not starting with '-'",
        zh_cn: "任务名称“{name}”无效：请用 1 到 64 个 a-z、0-9、“_”或“-”，且不能以“-”开头",
        zh_tw: "任務名稱「{name}」無效：請用 1 到 64 個 a-z、0-9、「_」或「-」，且不能以「-」開頭",
    }
    /// `last` is what its process said last, on lines of its own, or empty.
    task_interrupted(task: &str, last: &str) {
        en: "Task '{task}' was interrupted: its process is gone{last}",
        zh_cn: "任务“{task}”已中断：它的进程不在了{last}",
        zh_tw: "任務「{task}」已中斷：它的行程不在了{last}",
    }
    task_interrupted_kept() {
        en: "all its work; it can be resumed",
        zh_cn: "已完成的全部工作；可以恢复",
        zh_tw: "已完成的全部工作；可以恢復",
    }
    task_still_running(task: &str) {
        en: "Task '{task}' is still running.",
        zh_cn: "任务“{task}”仍在运行。",
        zh_tw: "任務「{task}」仍在執行。",
    }
    task_kill_first(task: &str) {
        en: "Use {dacapo}kill {task} first.",
        zh_cn: "请先运行 {dacapo}kill {task}。",
        zh_tw: "請先執行 {dacapo}kill {task}。",
    }
    task_spawn_kill_first() {
        en: "Use /spawn --kill first.",
        zh_cn: "请先运行 /spawn --kill。",
        zh_tw: "請先執行 /spawn --kill。",
    }
    task_attach_or_wait(task: &str) {
        en: "{dacapo}attach {task} shows it, {dacapo}wait {task} waits for it",
        zh_cn: "{dacapo}attach {task} 查看它，{dacapo}wait {task} 等它结束",
        zh_tw: "{dacapo}attach {task} 查看它，{dacapo}wait {task} 等它結束",
    }
    task_still_finishing(task: &str) {
        en: "The process of task '{task}' is gone, but a git or guard process that it started is still running",
        zh_cn: "任务“{task}”的进程已不在，但它启动的 git 或守护进程仍在运行",
        zh_tw: "任務「{task}」的行程已不在，但它啟動的 git 或守護行程仍在執行",
    }
    task_wait_then_again(task: &str) {
        en: "{dacapo}wait {task} waits for it; then try again",
        zh_cn: "{dacapo}wait {task} 等它结束，然后重试",
        zh_tw: "{dacapo}wait {task} 等它結束，然後重試",
    }
    task_unreadable(task: &str, error: &str) {
        en: "cannot read task '{task}': {error}",
        zh_cn: "无法读取任务“{task}”：{error}",
        zh_tw: "無法讀取任務「{task}」：{error}",
    }
    task_finish_with_its_version() {
        en: "finish it with the version of Dacapo that created it",
        zh_cn: "用创建它的那个版本的 Dacapo 完成它",
        zh_tw: "用建立它的那個版本的 Dacapo 完成它",
    }
    task_spec_not_believed(task: &str, why: &str) {
        en: "Task '{task}' is not what was asked for: {why}",
        zh_cn: "任务“{task}”已不是当初要求的内容：{why}",
        zh_tw: "任務「{task}」已不是當初要求的內容：{why}",
    }
    task_put_spec_back(path: &str) {
        en: "if you changed it yourself: put {path} back as it was",
        zh_cn: "如果是你自己改的：请把 {path} 恢复原样",
        zh_tw: "如果是你自己改的：請把 {path} 恢復原樣",
    }
    task_drop_keeps_commits(task: &str) {
        en: "{dacapo}drop {task} removes it; its commits are kept",
        zh_cn: "{dacapo}drop {task} 丢弃它，提交会保留",
        zh_tw: "{dacapo}drop {task} 捨棄它，提交會保留",
    }
    task_unreachable(task: &str, error: &str) {
        en: "cannot reach task '{task}': {error}",
        zh_cn: "无法联系任务“{task}”：{error}",
        zh_tw: "無法聯絡任務「{task}」：{error}",
    }

    repository_none(path: &str) {
        en: "{path} is not in a git repository",
        zh_cn: "{path} 不在 git 仓库中",
        zh_tw: "{path} 不在 git 儲存庫中",
    }
    repository_bare(path: &str) {
        en: "{path} is a bare repository: there is no working tree to work in",
        zh_cn: "{path} 是裸仓库，没有可以工作的工作区",
        zh_tw: "{path} 是裸儲存庫，沒有可以工作的工作目錄",
    }
    repository_inside_git_dir(path: &str) {
        en: "{path} is inside a .git directory, not in a working tree",
        zh_cn: "{path} 在 .git 目录里，不在工作区中",
        zh_tw: "{path} 在 .git 目錄裡，不在工作目錄中",
    }
    repository_dubious(path: &str, said: &str) {
        en: "git does not trust the repository at {path}: {said}",
        zh_cn: "git 不信任 {path} 的仓库：{said}",
        zh_tw: "git 不信任 {path} 的儲存庫：{said}",
    }
    repository_elsewhere() {
        en: "use -C DIR for a repository elsewhere",
        zh_cn: "仓库在别处时用 -C DIR 指定",
        zh_tw: "儲存庫在別處時用 -C DIR 指定",
    }
    repository_clone_it() {
        en: "git clone it and work in the clone",
        zh_cn: "先 git clone，再在克隆里工作",
        zh_tw: "先 git clone，再在複製出的儲存庫裡工作",
    }
    repository_leave_git_dir() {
        en: "cd to the checkout, or use -C DIR",
        zh_cn: "cd 到工作区，或用 -C DIR",
        zh_tw: "cd 到工作目錄，或用 -C DIR",
    }
    repository_trust_owner(path: &str) {
        en: "git config --global --add safe.directory {path}, if you trust its owner",
        zh_cn: "若信任其所有者：git config --global --add safe.directory {path}",
        zh_tw: "若信任其擁有者：git config --global --add safe.directory {path}",
    }

    inside_a_task(order: &str) {
        en: "`dacapo {order}` was called from inside a task; only a person outside can do that",
        zh_cn: "`dacapo {order}` 是在任务内部调用的；只有任务之外的人可以这样做",
        zh_tw: "`dacapo {order}` 是在任務內部呼叫的；只有任務之外的人可以這樣做",
    }
    inside_use_your_terminal(order: &str) {
        en: "run dacapo {order} in a terminal of your own",
        zh_cn: "在你自己的终端里运行 dacapo {order}",
        zh_tw: "在你自己的終端機裡執行 dacapo {order}",
    }
    inside_own_home() {
        en: "DACAPO_HOME=DIR keeps tasks of your own elsewhere, for tests for example",
        zh_cn: "DACAPO_HOME=DIR 把自己的任务放在别处，例如用于测试",
        zh_tw: "DACAPO_HOME=DIR 把自己的任務放在別處，例如用於測試",
    }
    inside_other_namespace(task: &str) {
        en: "This command may come from inside a task: task '{task}' runs outside its pid namespace, so nobody can tell who gives it",
        zh_cn: "此命令可能来自某个任务内部：任务“{task}”运行在它的 pid 命名空间之外，无法判断是谁下的命令",
        zh_tw: "此指令可能來自某個任務內部：任務「{task}」在它的 pid 命名空間之外執行，無法判斷是誰下的指令",
    }
    inside_where_it_was_started() {
        en: "run it where the task was started, outside this container or sandbox",
        zh_cn: "请在启动该任务的地方运行它，即此容器或沙箱之外",
        zh_tw: "請在啟動該任務的地方執行它，即此容器或沙箱之外",
    }
    inside_when_it_has_ended(task: &str) {
        en: "{dacapo}wait {task} waits until the task has ended; then try again",
        zh_cn: "{dacapo}wait {task} 等到任务结束；然后再试一次",
        zh_tw: "{dacapo}wait {task} 等到任務結束；然後再試一次",
    }
    inside_unknown_caller(error: &str) {
        en: "cannot tell who is running this command: {error}",
        zh_cn: "无法判断是谁在运行此命令：{error}",
        zh_tw: "無法判斷是誰在執行此指令：{error}",
    }
    inside_mount_proc() {
        en: "mount /proc: Dacapo needs it to tell a person from an agent",
        zh_cn: "请挂载 /proc：Dacapo 靠它区分人和智能体",
        zh_tw: "請掛載 /proc：Dacapo 靠它區分人和代理",
    }

    directory_unusable(error: &str) {
        en: "cannot use the current directory: {error}",
        zh_cn: "无法使用当前目录：{error}",
        zh_tw: "無法使用目前目錄：{error}",
    }
    directory_go_elsewhere() { en: "cd somewhere else", zh_cn: "cd 到别的目录", zh_tw: "cd 到別的目錄" }
    home_unusable(error: &str) {
        en: "DACAPO_HOME is not a usable path: {error}",
        zh_cn: "DACAPO_HOME 不是可用的路径：{error}",
        zh_tw: "DACAPO_HOME 不是可用的路徑：{error}",
    }
    home_none() {
        en: "there is no home directory to keep tasks in",
        zh_cn: "没有可以存放任务的主目录",
        zh_tw: "沒有可以存放任務的家目錄",
    }
}
