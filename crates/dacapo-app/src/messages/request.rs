//! What is asked for: flags that contradict each other, limits that cannot be held, plans and variables.

use super::messages;

messages! {
    REQUEST, dacapo;

    request_pr_needs_worktree() {
        en: "--pr needs a worktree: a pull request is made from a branch of its own",
        zh_cn: "--pr 需要工作树：拉取请求来自单独的分支",
        zh_tw: "--pr 需要工作樹：拉取請求來自單獨的分支",
    }
    request_changes_need_worktree() {
        en: "--with-changes needs a worktree: it copies uncommitted files there",
        zh_cn: "--with-changes 需要工作树：它把未提交的文件复制过去",
        zh_tw: "--with-changes 需要工作樹：它把未提交的檔案複製過去",
    }
    request_base_needs_worktree() {
        en: "--base needs a worktree: it says where the worktree starts",
        zh_cn: "--base 需要工作树：它指定工作树从哪里开始",
        zh_tw: "--base 需要工作樹：它指定工作樹從哪裡開始",
    }
    request_base_unknown(name: &str) {
        en: "--base '{name}' is not a branch, tag or commit here",
        zh_cn: "--base '{name}' 不是这里的分支、标签或提交",
        zh_tw: "--base '{name}' 不是這裡的分支、標籤或提交",
    }
    request_show_branches() {
        en: "git branch --all lists the branches; git fetch gets those of others",
        zh_cn: "git branch --all 列出分支；git fetch 取回其他人的分支",
        zh_tw: "git branch --all 列出分支；git fetch 取回其他人的分支",
    }
    request_changes_not_of_base() {
        en: "--with-changes copies changes on top of the current commit, not of --base",
        zh_cn: "--with-changes 带上的是当前提交上的改动，不是 --base 上的",
        zh_tw: "--with-changes 帶上的是目前提交上的變更，不是 --base 上的",
    }
    request_leave_one_out() {
        en: "leave one of them out",
        zh_cn: "去掉其中一个",
        zh_tw: "去掉其中一個",
    }
    prompt_empty() { en: "the prompt is empty", zh_cn: "提示词为空", zh_tw: "提示詞是空的" }
    /// `command` is how the command begins: `dacapo exec [flags]`.
    prompt_how(command: &str) {
        en: "{command} \"what the agent should do\"",
        zh_cn: "{command} \"要智能体做的事\"",
        zh_tw: "{command} \"要代理做的事\"",
    }
    prompt_has_nul() {
        en: "the prompt contains a NUL byte",
        zh_cn: "提示词包含 NUL 字节",
        zh_tw: "提示詞包含 NUL 位元組",
    }
    prompt_plain_text() {
        en: "give the prompt as plain text",
        zh_cn: "请用纯文本写提示词",
        zh_tw: "請用純文字寫提示詞",
    }
    prompt_not_utf8() {
        en: "the prompt is not UTF-8 text",
        zh_cn: "提示词不是 UTF-8 文本",
        zh_tw: "提示詞不是 UTF-8 文字",
    }
    prompt_unreadable(path: &str, error: &str) {
        en: "cannot read the prompt from {path}: {error}",
        zh_cn: "无法从 {path} 读取提示词：{error}",
        zh_tw: "無法從 {path} 讀取提示詞：{error}",
    }
    prompt_file_or_stdin() {
        en: "--prompt-file names a text file; `-` reads standard input",
        zh_cn: "--prompt-file 指定一个文本文件；`-` 从标准输入读取",
        zh_tw: "--prompt-file 指定一個文字檔；`-` 從標準輸入讀取",
    }
    prompt_stdin_unreadable(error: &str) {
        en: "cannot read the prompt from standard input: {error}",
        zh_cn: "无法从标准输入读取提示词：{error}",
        zh_tw: "無法從標準輸入讀取提示詞：{error}",
    }
    /// `flag` is `--prompt-file FILE`, perhaps with the command before it.
    prompt_from_file(flag: &str) {
        en: "{flag} reads it from a file",
        zh_cn: "{flag} 从文件读取",
        zh_tw: "{flag} 從檔案讀取",
    }

    condition_invalid(text: &str) {
        en: "Invalid loop condition: '{text}'. Expected count (e.g., '5') or duration (e.g., '1h')",
        zh_cn: "循环条件无效：“{text}”。应为次数（如 5）或时长（如 1h）",
        zh_tw: "迴圈條件無效：「{text}」。應為次數（如 5）或時長（如 1h）",
    }
    condition_time_or_count(text: &str) {
        en: "--time {text}s or --time {text}m; for a count: --iter {text}",
        zh_cn: "--time {text}s 或 --time {text}m；若是次数：--iter {text}",
        zh_tw: "--time {text}s 或 --time {text}m；若是次數：--iter {text}",
    }
    until_empty() {
        en: "--until is empty: no text would ever match it",
        zh_cn: "--until 为空：任何文本都无法匹配",
        zh_tw: "--until 是空的：任何文字都無法符合",
    }
    held_out_in_arguments(error: &str) {
        en: "held-out checks are readable here: the arguments of this process cannot be overwritten ({error})",
        zh_cn: "保留检查在此处可被读取：无法覆盖此进程的参数（{error}）",
        zh_tw: "保留檢查在此處可被讀取：無法覆寫此程序的參數（{error}）",
    }
    held_out_needs_proof(flag: &str) {
        en: "held-out checks run only when a commit is proven, and with {flag} none is",
        zh_cn: "保留检查只在证明提交时运行，而使用 {flag} 时不会证明任何提交",
        zh_tw: "保留檢查只在證明提交時執行，而使用 {flag} 時不會證明任何提交",
    }
    until_how() {
        en: "--until 'ALL TESTS PASS', or leave it out",
        zh_cn: "--until 'ALL TESTS PASS'，或去掉它",
        zh_tw: "--until 'ALL TESTS PASS'，或去掉它",
    }
    iterations_clamped(wanted: i64, used: i64) {
        en: "--max-iterations {wanted} is outside 1…100: using {used}",
        zh_cn: "--max-iterations {wanted} 超出 1…100：改用 {used}",
        zh_tw: "--max-iterations {wanted} 超出 1…100：改用 {used}",
    }
    session_cannot_continue(agent: &str) {
        en: "agent '{agent}' cannot continue a session",
        zh_cn: "智能体“{agent}”无法继续会话",
        zh_tw: "代理「{agent}」無法繼續工作階段",
    }
    session_set_resume(agent: &str) {
        en: "set resume = […] in [agents.{agent}], or use --session fresh",
        zh_cn: "在 [agents.{agent}] 中设置 resume = […]，或用 --session fresh",
        zh_tw: "在 [agents.{agent}] 中設定 resume = […]，或用 --session fresh",
    }

    budget_cost_not_positive(cost: f64) {
        en: "--max-cost {cost}: expected an amount above 0",
        zh_cn: "--max-cost {cost}：金额必须大于 0",
        zh_tw: "--max-cost {cost}：金額必須大於 0",
    }
    budget_tokens_not_positive() {
        en: "--max-tokens 0: expected a number above 0",
        zh_cn: "--max-tokens 0：必须是大于 0 的数",
        zh_tw: "--max-tokens 0：必須是大於 0 的數",
    }
    budget_plain_text(agent: &str, limit: &str) {
        en: "agent '{agent}' prints plain text and reports no usage: {limit} cannot be enforced",
        zh_cn: "智能体“{agent}”输出纯文本，不报告用量：无法执行 {limit}",
        zh_tw: "代理「{agent}」輸出純文字，不回報用量：無法執行 {limit}",
    }
    budget_other_limits(limit: &str) {
        en: "limit it with --iter, --time or --turn-timeout instead of {limit}",
        zh_cn: "改用 --iter、--time 或 --turn-timeout 代替 {limit}",
        zh_tw: "改用 --iter、--time 或 --turn-timeout 代替 {limit}",
    }
    budget_no_price(agent: &str) {
        en: "agent '{agent}' does not report its cost: --max-cost cannot be enforced",
        zh_cn: "智能体“{agent}”不报告费用：无法执行 --max-cost",
        zh_tw: "代理「{agent}」不回報費用：無法執行 --max-cost",
    }
    budget_set_prices(key: &str) {
        en: "set [prices.\"{key}\"] input = …, output = … (USD per million tokens) in config.toml",
        zh_cn: "在 config.toml 中设置 [prices.\"{key}\"] input = …, output = …（每百万 token 的美元价格）",
        zh_tw: "在 config.toml 中設定 [prices.\"{key}\"] input = …, output = …（每百萬 token 的美元價格）",
    }
    budget_tokens_need_no_prices() {
        en: "--max-tokens works without prices",
        zh_cn: "--max-tokens 不需要价格也能限制",
        zh_tw: "--max-tokens 不需要價格也能限制",
    }

    env_secret_missing(task: &str, variable: &str) {
        en: "task '{task}' was started with --env {variable}=…, which is a secret and not stored; {variable} is not set here",
        zh_cn: "任务“{task}”启动时带有 --env {variable}=…，它是机密，不会保存；这里没有设置 {variable}",
        zh_tw: "任務「{task}」啟動時帶有 --env {variable}=…，它是機密，不會儲存；這裡沒有設定 {variable}",
    }
    env_agent_secret_missing(task: &str, agent: &str, variable: &str) {
        en: "agent '{agent}' of task '{task}' was given {variable}, which is a secret and not stored; it is neither in the settings nor set here",
        zh_cn: "任务“{task}”的智能体“{agent}”用到 {variable}，它是机密，不会保存；设置中没有它，这里也没有设置",
        zh_tw: "任務「{task}」的代理「{agent}」用到 {variable}，它是機密，不會儲存；設定中沒有它，這裡也沒有設定",
    }
    env_agent_secret_in_settings(agent: &str, variable: &str) {
        en: "put {variable} into [agents.{agent}] env in your settings",
        zh_cn: "把 {variable} 写入你的设置中的 [agents.{agent}] env",
        zh_tw: "把 {variable} 寫入你的設定中的 [agents.{agent}] env",
    }
    env_rerun(task: &str) {
        en: "{dacapo}rerun {task} (or --env)",
        zh_cn: "{dacapo}rerun {task}（或 --env）",
        zh_tw: "{dacapo}rerun {task}（或 --env）",
    }
    plan_unreadable(path: &str, error: &str) {
        en: "cannot read the plan {path}: {error}",
        zh_cn: "无法读取计划 {path}：{error}",
        zh_tw: "無法讀取計畫 {path}：{error}",
    }
    plan_go_without() {
        en: "--no-plan uses no plan",
        zh_cn: "--no-plan 不使用计划",
        zh_tw: "--no-plan 不使用計畫",
    }
    plan_not_used(path: &str) {
        en: "plan: {path} is committed and unchanged, so it is not used; --plan {path} uses it",
        zh_cn: "计划：{path} 已提交且没有改动，不使用。要使用它：--plan {path}",
        zh_tw: "計畫：{path} 已提交且沒有變更，不使用。要使用它：--plan {path}",
    }
    pr_title_not_prompt(title: &str) {
        en: "\"{title}\" is the title of the pull request, not part of the prompt",
        zh_cn: "“{title}”是拉取请求的标题，不是提示词的一部分",
        zh_tw: "「{title}」是拉取請求的標題，不是提示詞的一部分",
    }

    milestone_one_agent() {
        en: "one agent is both Developer and Acceptor, in two conversations; acceptor: NAME in the milestone's front matter chooses another",
        zh_cn: "同一个智能体在两个会话中兼任 Developer 和 Acceptor；在里程碑的 front matter 中写 acceptor: NAME 可另选一个",
        zh_tw: "同一個代理在兩個對話中兼任 Developer 和 Acceptor；在里程碑的 front matter 中寫 acceptor: NAME 可另選一個",
    }
    milestone_no_checks() {
        en: "no checks: the Acceptor judges without them; checks = [\"CMD\"] in the config, or --check 'CMD'",
        zh_cn: "没有检查：Acceptor 将在没有检查的情况下判断；可在配置中写 checks = [\"CMD\"]，或用 --check 'CMD'",
        zh_tw: "沒有檢查：Acceptor 將在沒有檢查的情況下判斷；可在設定中寫 checks = [\"CMD\"]，或用 --check 'CMD'",
    }
    milestone_one_per_role(role: &str, number: usize) {
        en: "a milestone has one {role}, not {number}",
        zh_cn: "一个里程碑只有一个 {role}，不是 {number} 个",
        zh_tw: "一個里程碑只有一個 {role}，不是 {number} 個",
    }
    milestone_name_one() { en: "name one agent", zh_cn: "只指定一个智能体", zh_tw: "只指定一個代理" }
    milestone_take_limit_out(limit: &str, path: &str) {
        en: "remove {limit} from {path}; rounds and calls have limits of their own",
        zh_cn: "从 {path} 中去掉 {limit}；轮次和调用另有上限",
        zh_tw: "從 {path} 中去掉 {limit}；輪次和呼叫另有上限",
    }
    milestone_text_too_long(name: &str, kib: u64) {
        en: "{name} has {kib} KiB: too much to give to the agents every round",
        zh_cn: "{name} 有 {kib} KiB：每轮都交给智能体太长了",
        zh_tw: "{name} 有 {kib} KiB：每輪都交給代理太長了",
    }
    milestone_text_shorten(kib: u64) {
        en: "make it shorter than {kib} KiB",
        zh_cn: "缩短到 {kib} KiB 以内",
        zh_tw: "縮短到 {kib} KiB 以內",
    }
    milestone_text_utf8() {
        en: "write it as UTF-8 text",
        zh_cn: "请保存为 UTF-8 文本",
        zh_tw: "請存成 UTF-8 文字",
    }
    main_branch_unknown(name: &str) {
        en: "main_branch = \"{name}\" in the config is not a branch here",
        zh_cn: "配置中的 main_branch = \"{name}\" 不是这里的分支",
        zh_tw: "設定中的 main_branch = \"{name}\" 不是這裡的分支",
    }
    main_branch_none() {
        en: "a milestone starts from the main branch, and there is neither main nor master",
        zh_cn: "里程碑从主分支开始，但这里既没有 main 也没有 master",
        zh_tw: "里程碑從主分支開始，但這裡既沒有 main 也沒有 master",
    }
    main_branch_how() {
        en: "main_branch = \"NAME\" in .dacapo/config.toml names it; a repository without commits has none",
        zh_cn: "在 .dacapo/config.toml 中用 main_branch = \"NAME\" 指定；没有提交的仓库没有主分支",
        zh_tw: "在 .dacapo/config.toml 中用 main_branch = \"NAME\" 指定；沒有提交的儲存庫沒有主分支",
    }
}
