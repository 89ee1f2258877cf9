//! `dacapo takeover` and `dacapo open`: a person works in a task's files.

use super::messages;

messages! {
    TAKEOVER, dacapo;

    takeover_needs_terminal() {
        en: "takeover needs a terminal",
        zh_cn: "takeover 需要终端",
        zh_tw: "takeover 需要終端機",
    }
    takeover_pausing(task: &str) {
        en: "pausing {task}; what its agent has done is committed",
        zh_cn: "正在暂停 {task}；智能体已完成的内容会提交",
        zh_tw: "正在暫停 {task}；代理已完成的內容會提交",
    }
    takeover_continued_session(agent: &str, place: &str) {
        en: "{agent}, where it left off, in {place}",
        zh_cn: "{agent} 从上次停下的地方继续，位于 {place}",
        zh_tw: "{agent} 從上次停下的地方繼續，位於 {place}",
    }
    takeover_new_session(agent: &str, place: &str) {
        en: "{agent}, a new session, in {place}",
        zh_cn: "{agent} 的新会话，位于 {place}",
        zh_tw: "{agent} 的新工作階段，位於 {place}",
    }
    takeover_shell(agent: &str, place: &str) {
        en: "cannot open an interactive session of {agent}: starting a shell in {place}",
        zh_cn: "无法打开 {agent} 的交互会话：改为启动 shell，位于 {place}",
        zh_tw: "無法開啟 {agent} 的互動工作階段：改為啟動 shell，位於 {place}",
    }
    takeover_the_agent() { en: "the agent", zh_cn: "智能体", zh_tw: "代理" }
    takeover_cannot_run(program: &str, error: &str) {
        en: "cannot run {program}: {error}",
        zh_cn: "无法运行 {program}：{error}",
        zh_tw: "無法執行 {program}：{error}",
    }
    takeover_kept_not_running(task: &str) {
        en: "everything; task '{task}' is not running now",
        zh_cn: "全部内容；任务“{task}”现在没有运行",
        zh_tw: "全部內容；任務「{task}」現在沒有執行",
    }
    takeover_uncommitted(files: u64) {
        en: (files: "1 uncommitted file: it becomes part of the next iteration's commit",
             "{files} uncommitted files: they become part of the next iteration's commit"),
        zh_cn: "{files} 个未提交的文件：会并入下一次迭代的提交",
        zh_tw: "{files} 個未提交的檔案：會併入下一次迭代的提交",
    }
    takeover_had_ended(task: &str, status: &str) {
        en: "{task} had already ended ({status}): {dacapo}resume {task} \"what to add\"",
        zh_cn: "{task} 之前已结束（{status}）：{dacapo}resume {task} \"要补充的内容\"",
        zh_tw: "{task} 之前已結束（{status}）：{dacapo}resume {task} \"要補充的內容\"",
    }
    takeover_not_running(task: &str) {
        en: "{task} is not running: {dacapo}resume {task} continues it",
        zh_cn: "{task} 没有在运行：{dacapo}resume {task} 继续运行",
        zh_tw: "{task} 沒有在執行：{dacapo}resume {task} 繼續執行",
    }
    takeover_in_background(task: &str) {
        en: "{task} continues in the background; {dacapo}attach {task} shows it",
        zh_cn: "{task} 在后台继续运行；{dacapo}attach {task} 查看",
        zh_tw: "{task} 在背景繼續執行；{dacapo}attach {task} 查看",
    }
    takeover_does_not_pause(task: &str) {
        en: "task '{task}' has not paused",
        zh_cn: "任务“{task}”没有暂停",
        zh_tw: "任務「{task}」沒有暫停",
    }
    takeover_kept_pauses_soon() {
        en: "everything; it will pause as soon as it can",
        zh_cn: "全部内容；它会尽快暂停",
        zh_tw: "全部內容；它會盡快暫停",
    }
    takeover_again_when_paused(task: &str) {
        en: "run {dacapo}takeover {task} again when {dacapo}list shows it as paused",
        zh_cn: "等 {dacapo}list 显示它已暂停，再运行 {dacapo}takeover {task}",
        zh_tw: "等 {dacapo}list 顯示它已暫停，再執行 {dacapo}takeover {task}",
    }
    takeover_no_worktree(task: &str, path: &str) {
        en: "task '{task}' has no worktree: {path} does not exist",
        zh_cn: "任务“{task}”没有工作树：{path} 不存在",
        zh_tw: "任務「{task}」沒有工作樹：{path} 不存在",
    }
    takeover_undo_list() {
        en: "{dacapo}undo --list shows what can be brought back",
        zh_cn: "{dacapo}undo --list 列出可以找回的内容",
        zh_tw: "{dacapo}undo --list 列出可以找回的內容",
    }
    takeover_resume_makes_it(task: &str) {
        en: "{dacapo}resume {task} creates it",
        zh_cn: "{dacapo}resume {task} 会创建它",
        zh_tw: "{dacapo}resume {task} 會建立它",
    }
    takeover_inbox(task: &str, error: &str) {
        en: "cannot write to the inbox of task '{task}': {error}",
        zh_cn: "无法写入任务“{task}”的收件箱：{error}",
        zh_tw: "無法寫入任務「{task}」的收件匣：{error}",
    }

    open_merged(task: &str, branch: &str) {
        en: "task '{task}' was merged into {branch}; its worktree is gone",
        zh_cn: "任务“{task}”已合并到 {branch}；它的工作树已不在",
        zh_tw: "任務「{task}」已合併到 {branch}；它的工作樹已不在",
    }
    open_kept_in_branch() {
        en: "all its commits, in that branch",
        zh_cn: "它的所有提交，在该分支中",
        zh_tw: "它的所有提交，在該分支中",
    }
    open_diff_shows(task: &str) {
        en: "{dacapo}diff {task} shows what it changed",
        zh_cn: "{dacapo}diff {task} 查看它的改动",
        zh_tw: "{dacapo}diff {task} 查看它的變更",
    }
    open_no_editor() {
        en: "no editor is set, and none was found",
        zh_cn: "没有设置编辑器，也没有找到",
        zh_tw: "沒有設定編輯器，也沒有找到",
    }
    open_set_editor() {
        en: "editor = \"…\" in ~/.config/dacapo/config.toml, or export EDITOR=…",
        zh_cn: "在 ~/.config/dacapo/config.toml 中写 editor = \"…\"，或 export EDITOR=…",
        zh_tw: "在 ~/.config/dacapo/config.toml 中寫 editor = \"…\"，或 export EDITOR=…",
    }
    open_print_shows() {
        en: "--print shows where the files are",
        zh_cn: "--print 显示文件在哪里",
        zh_tw: "--print 顯示檔案在哪裡",
    }
    open_files_gone(task: &str, path: &str) {
        en: "the files of task '{task}' no longer exist: {path}",
        zh_cn: "任务“{task}”的文件已不存在：{path}",
        zh_tw: "任務「{task}」的檔案已不存在：{path}",
    }
    open_kept_commits() {
        en: "its commits, unless its branch was removed too",
        zh_cn: "它的提交，除非分支也被删除",
        zh_tw: "它的提交，除非分支也被刪除",
    }
    open_switch_shows(branch: &str) {
        en: "git switch {branch} shows them here",
        zh_cn: "git switch {branch} 在这里查看",
        zh_tw: "git switch {branch} 在這裡查看",
    }
    open_resume_recreates(task: &str) {
        en: "{dacapo}resume {task} recreates its worktree and continues",
        zh_cn: "{dacapo}resume {task} 重建工作树并继续运行",
        zh_tw: "{dacapo}resume {task} 重建工作樹並繼續執行",
    }
    editor_cannot_start(editor: &str, error: &str) {
        en: "cannot start `{editor}`: {error}",
        zh_cn: "无法启动 `{editor}`：{error}",
        zh_tw: "無法啟動 `{editor}`：{error}",
    }
    editor_failed(editor: &str, status: &str) {
        en: "`{editor}` failed ({status})",
        zh_cn: "`{editor}` 失败（{status}）",
        zh_tw: "`{editor}` 失敗（{status}）",
    }
    editor_set_it() {
        en: "set `editor` in the config, or $EDITOR",
        zh_cn: "在配置中设置 `editor`，或设置 $EDITOR",
        zh_tw: "在設定中設定 `editor`，或設定 $EDITOR",
    }
}
