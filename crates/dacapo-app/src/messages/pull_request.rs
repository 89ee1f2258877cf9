//! `dacapo pr`, `--pr` and `--issue`, and what follows the end of a task.

use super::messages;

messages! {
    PULL_REQUEST, dacapo;

    pr_worked_here(task: &str) {
        en: "task '{task}' worked in your checkout: a pull request needs a branch of its own",
        zh_cn: "任务“{task}”直接在你的工作区中工作：拉取请求需要单独的分支",
        zh_tw: "任務「{task}」直接在你的工作目錄中工作：拉取請求需要單獨的分支",
    }
    pr_push_yourself() {
        en: "push and open it yourself",
        zh_cn: "自行推送并创建",
        zh_tw: "自行推送並建立",
    }
    pr_use_worktree() {
        en: "start tasks with --worktree, or with spawn",
        zh_cn: "用 --worktree 或 spawn 启动任务",
        zh_tw: "用 --worktree 或 spawn 啟動任務",
    }
    pr_repository_unusable(task: &str, error: &str) {
        en: "cannot use the repository of task '{task}': {error}",
        zh_cn: "无法使用任务“{task}”的仓库：{error}",
        zh_tw: "無法使用任務「{task}」的儲存庫：{error}",
    }
    pr_was_merged(task: &str, branch: &str) {
        en: "task '{task}' was merged into {branch}: there is nothing left to propose",
        zh_cn: "任务“{task}”已合并到 {branch}：没有可提交的内容",
        zh_tw: "任務「{task}」已合併到 {branch}：沒有可提出的內容",
    }
    pr_branch_gone(branch: &str) {
        en: "branch '{branch}' is gone",
        zh_cn: "分支“{branch}”已不存在",
        zh_tw: "分支「{branch}」已不存在",
    }
    pr_kept_record() { en: "the record of the task", zh_cn: "任务记录", zh_tw: "任務紀錄" }
    pr_undo_dropped(task: &str) {
        en: "{dacapo}undo {task} brings back what was dropped",
        zh_cn: "{dacapo}undo {task} 找回被丢弃的内容",
        zh_tw: "{dacapo}undo {task} 找回被捨棄的內容",
    }
    pr_no_commits(task: &str) {
        en: "task '{task}' has no commits: there is nothing to propose",
        zh_cn: "任务“{task}”没有提交：没有可提交的内容",
        zh_tw: "任務「{task}」沒有提交：沒有可提出的內容",
    }
    pr_why_configured() { en: "by [pr] cli", zh_cn: "依据 [pr] cli", zh_tw: "依據 [pr] cli" }
    pr_why_host() { en: "by the host's name", zh_cn: "依据主机名", zh_tw: "依據主機名稱" }
    pr_why_logged_in() { en: "it is logged in there", zh_cn: "已登录该主机", zh_tw: "已登入該主機" }
    pr_cli_missing(program: &str) {
        en: "{program} is not installed; when it is, or from another machine:",
        zh_cn: "未安装 {program}；安装后，或在另一台机器上运行：",
        zh_tw: "未安裝 {program}；安裝後，或在另一台機器上執行：",
    }
    pr_open_at(url: &str) {
        en: "open it at {url}; set [pr] cli = \"gh\", \"glab\" or \"tea\" in the config to do this in one command",
        zh_cn: "在 {url} 创建；在配置中设置 [pr] cli = \"gh\"、\"glab\" 或 \"tea\" 即可一步完成",
        zh_tw: "在 {url} 建立；在設定中指定 [pr] cli = \"gh\"、\"glab\" 或 \"tea\" 即可一步完成",
    }
    pr_program_unknown(place: &str) {
        en: "no known program opens pull requests at {place}; set [pr] cli = \"gh\", \"glab\" or \"tea\" in the config",
        zh_cn: "不知道用哪个程序在 {place} 创建拉取请求；请在配置中设置 [pr] cli = \"gh\"、\"glab\" 或 \"tea\"",
        zh_tw: "不知道用哪個程式在 {place} 建立拉取請求；請在設定中指定 [pr] cli = \"gh\"、\"glab\" 或 \"tea\"",
    }
    pr_plan_missing(program: &str) {
        en: "{program} is not installed: the command is shown",
        zh_cn: "未安装 {program}：只显示命令",
        zh_tw: "未安裝 {program}：只顯示指令",
    }
    pr_plan_unknown() {
        en: "no program is known for this remote: the branch is only pushed",
        zh_cn: "没有已知程序可用于此远程：只推送分支",
        zh_tw: "沒有已知程式可用於此遠端：只推送分支",
    }
    pr_plan_push(branch: &str, remote: &str, place: &str) {
        en: "{branch} to {remote} ({place})",
        zh_cn: "{branch} 到 {remote}（{place}）",
        zh_tw: "{branch} 到 {remote}（{place}）",
    }
    pr_plan_push_as(own: &str, branch: &str, remote: &str, place: &str) {
        en: "{own} as {branch} to {remote} ({place})",
        zh_cn: "{own} 以 {branch} 之名到 {remote}（{place}）",
        zh_tw: "{own} 以 {branch} 之名到 {remote}（{place}）",
    }
    pr_plan_draft(base: &str) { en: "{base} (draft)", zh_cn: "{base}（草稿）", zh_tw: "{base}（草稿）" }
    pr_plan(push: &str, cli: &str, base: &str, title: &str) {
        en: "push   {push}\nwith   {cli}\nto     {base}\ntitle  {title}",
        zh_cn: "推送   {push}\n程序   {cli}\n目标   {base}\n标题   {title}",
        zh_tw: "推送   {push}\n程式   {cli}\n目標   {base}\n標題   {title}",
    }
    pr_unsigned() {
        en: "your git signs commits (commit.gpgsign), and those of the task are not signed",
        zh_cn: "你的 git 会签名提交（commit.gpgsign），而任务的提交没有签名",
        zh_tw: "你的 git 會簽署提交（commit.gpgsign），而任務的提交沒有簽署",
    }
    pr_took_longer(limit: &str) {
        en: "it took longer than {limit}",
        zh_cn: "超过了 {limit}",
        zh_tw: "超過了 {limit}",
    }
    pr_push_failed(branch: &str, remote: &str, why: &str) {
        en: "{branch} could not be pushed to {remote}: {why}",
        zh_cn: "无法将 {branch} 推送到 {remote}：{why}",
        zh_tw: "無法將 {branch} 推送到 {remote}：{why}",
    }
    pr_kept_commits() {
        en: "the task and all its commits; nothing was opened",
        zh_cn: "任务及其全部提交；没有创建任何内容",
        zh_tw: "任務及其全部提交；沒有建立任何內容",
    }
    pr_someone_pushed(branch: &str, remote: &str, task: &str) {
        en: "someone else has pushed to {branch} on {remote}: look at it (git fetch {remote} {branch}), then {dacapo}pr {task} tries again",
        zh_cn: "有人向 {remote} 的 {branch} 推送过：先查看（git fetch {remote} {branch}），然后 {dacapo}pr {task} 重试",
        zh_tw: "有人向 {remote} 的 {branch} 推送過：先查看（git fetch {remote} {branch}），然後 {dacapo}pr {task} 重試",
    }
    pr_fix_push(remote: &str, branch: &str, task: &str) {
        en: "fix the cause (git push {remote} {branch} shows it), then {dacapo}pr {task} tries again",
        zh_cn: "排除原因（git push {remote} {branch} 会显示），然后 {dacapo}pr {task} 重试",
        zh_tw: "排除原因（git push {remote} {branch} 會顯示），然後 {dacapo}pr {task} 重試",
    }
    pr_no_address(program: &str, said: &str) {
        en: "no pull request: {program} printed no address: {said}",
        zh_cn: "没有拉取请求：{program} 没有给出地址：{said}",
        zh_tw: "沒有拉取請求：{program} 沒有給出位址：{said}",
    }
    pr_program_failed(program: &str, code: i32, said: &str) {
        en: "no pull request: {program} failed (exit {code}): {said}",
        zh_cn: "没有拉取请求：{program} 失败（退出码 {code}）：{said}",
        zh_tw: "沒有拉取請求：{program} 失敗（結束代碼 {code}）：{said}",
    }
    pr_program_slow(program: &str, limit: &str) {
        en: "no pull request: {program} took longer than {limit}",
        zh_cn: "没有拉取请求：{program} 超过了 {limit}",
        zh_tw: "沒有拉取請求：{program} 超過了 {limit}",
    }
    pr_none(why: &str) { en: "no pull request: {why}", zh_cn: "没有拉取请求：{why}", zh_tw: "沒有拉取請求：{why}" }
    pr_kept_pushed(branch: &str, remote: &str) {
        en: "{branch} is on {remote}; the task and all its commits",
        zh_cn: "{branch} 已在 {remote} 上；任务及其全部提交",
        zh_tw: "{branch} 已在 {remote} 上；任務及其全部提交",
    }
    pr_log_in(status: &str, login: &str) {
        en: "{status} says whether you are logged in ({login})",
        zh_cn: "{status} 显示是否已登录（{login}）",
        zh_tw: "{status} 顯示是否已登入（{login}）",
    }
    pr_then_again(todo: &str, task: &str) {
        en: "{todo}, then {dacapo}pr {task} tries again",
        zh_cn: "{todo}，然后 {dacapo}pr {task} 重试",
        zh_tw: "{todo}，然後 {dacapo}pr {task} 重試",
    }
    pr_title_empty() { en: "--title is empty", zh_cn: "--title 为空", zh_tw: "--title 是空的" }
    pr_leave_title_out() {
        en: "leave it out: the title is made from the prompt",
        zh_cn: "省略即可：标题由提示词生成",
        zh_tw: "省略即可：標題由提示詞產生",
    }
    pr_no_remote() {
        en: "this repository has no remote that a branch could be pushed to",
        zh_cn: "此仓库没有可以推送分支的远程",
        zh_tw: "此儲存庫沒有可以推送分支的遠端",
    }
    pr_several_remotes(remotes: &str) {
        en: "there are several remotes ({remotes}) and none is 'origin'",
        zh_cn: "有多个远程（{remotes}），但没有“origin”",
        zh_tw: "有多個遠端（{remotes}），但沒有「origin」",
    }
    pr_say_which_remote(remote: &str, branch: &str) {
        en: "choose one: git branch --set-upstream-to={remote}/{branch} {branch}",
        zh_cn: "请指定：git branch --set-upstream-to={remote}/{branch} {branch}",
        zh_tw: "請指定：git branch --set-upstream-to={remote}/{branch} {branch}",
    }
    pr_no_base(task: &str) {
        en: "task '{task}' did not start from a branch: the target of its pull request is unknown",
        zh_cn: "任务“{task}”不是从分支开始的：不知道拉取请求的目标分支",
        zh_tw: "任務「{task}」不是從分支開始的：不知道拉取請求的目標分支",
    }

    pr_opened(url: &str) { en: "pull request {url}", zh_cn: "拉取请求 {url}", zh_tw: "拉取請求 {url}" }
    pr_already_open(url: &str) {
        en: "pull request (already open, now with the new commits) {url}",
        zh_cn: "拉取请求（已经存在，现已包含新提交）{url}",
        zh_tw: "拉取請求（已經存在，現已包含新提交）{url}",
    }
    pr_pushed_only(branch: &str, remote: &str, message: &str) {
        en: "{branch} is pushed to {remote}, but no pull request is open: {message}",
        zh_cn: "{branch} 已推送到 {remote}，但没有打开的拉取请求：{message}",
        zh_tw: "{branch} 已推送到 {remote}，但沒有開啟的拉取請求：{message}",
    }
    pr_tries_again(message: &str, task: &str) {
        en: "{message}; {dacapo}pr {task} tries again",
        zh_cn: "{message}；{dacapo}pr {task} 可重试",
        zh_tw: "{message}；{dacapo}pr {task} 可重試",
    }
    pr_pushing(branch: &str, remote: &str) {
        en: "pushing {branch} to {remote} …",
        zh_cn: "正在将 {branch} 推送到 {remote} ……",
        zh_tw: "正在將 {branch} 推送到 {remote} ……",
    }
    notify_not_sent(way: &str, error: &str) {
        en: "cannot notify by {way}: {error}",
        zh_cn: "未能通过 {way} 发送通知：{error}",
        zh_tw: "未能透過 {way} 傳送通知：{error}",
    }
    notify_no_way() {
        en: "cannot notify you: there is no desktop here, and neither webhook nor command is set",
        zh_cn: "没有可用的通知方式：这里没有桌面，也没有设置 webhook 或 command",
        zh_tw: "沒有可用的通知方式：這裡沒有桌面，也沒有設定 webhook 或 command",
    }
    notify_set_one() {
        en: "[notify] webhook = \"https://…\" or command = \"…\" in ~/.config/dacapo/config.toml",
        zh_cn: "在 ~/.config/dacapo/config.toml 中设置 [notify] webhook = \"https://…\" 或 command = \"…\"",
        zh_tw: "在 ~/.config/dacapo/config.toml 中設定 [notify] webhook = \"https://…\" 或 command = \"…\"",
    }
    notify_sent() { en: "sent", zh_cn: "已发送", zh_tw: "已傳送" }
    notify_failed(error: &str) { en: "failed: {error}", zh_cn: "失败：{error}", zh_tw: "失敗：{error}" }
    diff_no_tests() { en: "no test was changed", zh_cn: "没有测试有改动", zh_tw: "沒有測試有變更" }
    diff_nothing() { en: "nothing was committed", zh_cn: "没有任何提交", zh_tw: "沒有任何提交" }
    diff_no_git(error: &str) {
        en: "cannot run git diff: {error}",
        zh_cn: "无法运行 git diff：{error}",
        zh_tw: "無法執行 git diff：{error}",
    }
    logs_cannot_follow(task: &str, error: &str) {
        en: "cannot follow task '{task}': {error}",
        zh_cn: "无法跟踪任务“{task}”：{error}",
        zh_tw: "無法跟隨任務「{task}」：{error}",
    }
    logs_shows_what_is_there(task: &str) {
        en: "{dacapo}logs {task} shows the log so far",
        zh_cn: "{dacapo}logs {task} 显示目前的日志",
        zh_tw: "{dacapo}logs {task} 顯示目前的日誌",
    }
    rehearsal_example_prints() {
        en: "{dacapo}rehearsal example prints a script with every step",
        zh_cn: "{dacapo}rehearsal example 输出包含所有步骤的脚本",
        zh_tw: "{dacapo}rehearsal example 輸出包含所有步驟的腳本",
    }
    rehearsal_fine(script: &str, iterations: &str) {
        en: "{script} is valid: {iterations}",
        zh_cn: "{script} 没有问题：{iterations}",
        zh_tw: "{script} 沒有問題：{iterations}",
    }

    issue_is_prompt(number: u64, title: &str) {
        en: "the prompt is issue {number}: {title}",
        zh_cn: "提示词来自 issue {number}：{title}",
        zh_tw: "提示詞來自 issue {number}：{title}",
    }
    issue_is_prompt_at(number: u64, title: &str, url: &str) {
        en: "the prompt is issue {number}: {title} ({url})",
        zh_cn: "提示词来自 issue {number}：{title}（{url}）",
        zh_tw: "提示詞來自 issue {number}：{title}（{url}）",
    }
    issue_no_remote(number: u64) {
        en: "--issue {number}: this repository has no remote to read issues from",
        zh_cn: "--issue {number}：此仓库没有可以读取 issue 的远程",
        zh_tw: "--issue {number}：此儲存庫沒有可以讀取 issue 的遠端",
    }
    issue_needs(number: u64, program: &str, place: &str) {
        en: "--issue {number} needs {program} for {place}, and it is not on PATH",
        zh_cn: "--issue {number} 需要用 {program} 访问 {place}，但它不在 PATH 中",
        zh_tw: "--issue {number} 需要用 {program} 存取 {place}，但它不在 PATH 中",
    }
    issue_install(program: &str) {
        en: "install {program} and log in",
        zh_cn: "安装 {program} 并登录",
        zh_tw: "安裝 {program} 並登入",
    }
    issue_needs_one(number: u64) {
        en: "--issue {number} needs gh, glab or tea, and none is on PATH",
        zh_cn: "--issue {number} 需要 gh、glab 或 tea，但都不在 PATH 中",
        zh_tw: "--issue {number} 需要 gh、glab 或 tea，但都不在 PATH 中",
    }
    issue_install_one() {
        en: "install the one for your platform and log in",
        zh_cn: "安装你所用平台的那一个并登录",
        zh_tw: "安裝你所用平台的那一個並登入",
    }
    issue_which(number: u64, programs: &str, place: &str) {
        en: "--issue {number}: none of {programs} is logged in at {place}, so it is unclear which one to use",
        zh_cn: "--issue {number}：{programs} 都没有登录 {place}，不知道该用哪一个",
        zh_tw: "--issue {number}：{programs} 都沒有登入 {place}，不知道該用哪一個",
    }
    issue_say_which() {
        en: "[pr] cli = \"gh\", \"glab\" or \"tea\" in the config says which",
        zh_cn: "在配置中用 [pr] cli = \"gh\"、\"glab\" 或 \"tea\" 指定",
        zh_tw: "在設定中用 [pr] cli = \"gh\"、\"glab\" 或 \"tea\" 指定",
    }
    issue_unreadable(number: u64, place: &str, why: &str) {
        en: "cannot read issue {number} of {place}: {why}",
        zh_cn: "无法读取 {place} 的 issue {number}：{why}",
        zh_tw: "無法讀取 {place} 的 issue {number}：{why}",
    }
    issue_unexpected(program: &str, said: &str) {
        en: "unexpected answer from {program}: {said}",
        zh_cn: "{program} 的输出出乎意料：{said}",
        zh_tw: "{program} 的輸出出乎意料：{said}",
    }
    issue_failed(program: &str, code: i32, said: &str) {
        en: "{program} failed (exit {code}): {said}",
        zh_cn: "{program} 失败（退出码 {code}）：{said}",
        zh_tw: "{program} 失敗（結束代碼 {code}）：{said}",
    }
    issue_slow(program: &str, limit: &str) {
        en: "{program} took longer than {limit}",
        zh_cn: "{program} 超过了 {limit}",
        zh_tw: "{program} 超過了 {limit}",
    }
    issue_newer(program: &str) {
        en: "a newer {program} may answer in JSON",
        zh_cn: "较新的 {program} 也许能输出 JSON",
        zh_tw: "較新的 {program} 也許能輸出 JSON",
    }
    issue_from_file() {
        en: "--prompt-file FILE takes the text from a file",
        zh_cn: "--prompt-file FILE 从文件读取内容",
        zh_tw: "--prompt-file FILE 從檔案讀取內容",
    }
}
