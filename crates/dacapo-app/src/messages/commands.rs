//! The command line and what commands answer: a task that starts, what it is told, the manual.

use super::messages;

messages! {
    COMMANDS, dacapo;

    command_single_word(word: &str) {
        en: "'{word}' is a single word, not a prompt",
        zh_cn: "“{word}”只是一个词，不是提示词",
        zh_tw: "「{word}」只是一個詞，不是提示詞",
    }
    command_reads_like_one(words: &str) {
        en: "'{words}' reads like a command, not like a prompt",
        zh_cn: "“{words}”看起来像命令，不像提示词",
        zh_tw: "「{words}」看起來像指令，不像提示詞",
    }
    command_without_quotes(words: &str) {
        en: "{dacapo}{words}, without quotes, runs the command",
        zh_cn: "不加引号会运行该命令：{dacapo}{words}",
        zh_tw: "不加引號會執行該指令：{dacapo}{words}",
    }
    command_did_you_mean(command: &str) {
        en: "did you mean {dacapo}{command}?",
        zh_cn: "你是想输入 {dacapo}{command} 吗？",
        zh_tw: "你是想輸入 {dacapo}{command} 嗎？",
    }
    command_help_shows_commands() {
        en: "dacapo --help shows the commands",
        zh_cn: "dacapo --help 列出所有命令",
        zh_tw: "dacapo --help 列出所有指令",
    }
    command_spawn_instead(words: &str) {
        en: "to have an agent do it: {dacapo}spawn \"{words}\"",
        zh_cn: "要让智能体来做：{dacapo}spawn \"{words}\"",
        zh_tw: "要讓代理來做：{dacapo}spawn \"{words}\"",
    }
    command_flags_follow(words: &str) {
        en: "Flags follow the command: {dacapo}{words}",
        zh_cn: "选项写在命令之后：{dacapo}{words}",
        zh_tw: "選項寫在指令之後：{dacapo}{words}",
    }
    command_meant(words: &str) {
        en: "did you mean '{dacapo}{words}'?",
        zh_cn: "你是想输入：{dacapo}{words}",
        zh_tw: "你是想輸入：{dacapo}{words}",
    }
    command_quote_it(words: &str) {
        en: "To have an agent do it, quote it: dacapo \"{words}\"",
        zh_cn: "要让智能体来做，请加引号：dacapo \"{words}\"",
        zh_tw: "要讓代理來做，請加引號：dacapo \"{words}\"",
    }
    command_prompt_is_one_argument() {
        en: "A prompt is one argument: dacapo [flags] \"what the agent should do\"",
        zh_cn: "提示词是一个参数：dacapo [flags] \"要智能体做的事\"",
        zh_tw: "提示詞是一個參數：dacapo [flags] \"要代理做的事\"",
    }
    command_how_to_prompt() {
        en: "To have an agent do something: dacapo \"what it should do\" (one word: {dacapo}spawn WORD)",
        zh_cn: "要让智能体做事：dacapo \"要做的事\"（只有一个词时：{dacapo}spawn WORD）",
        zh_tw: "要讓代理做事：dacapo \"要做的事\"（只有一個詞時：{dacapo}spawn WORD）",
    }
    command_directory(directory: &str, error: &str) {
        en: "-C {directory}: {error}",
        zh_cn: "-C {directory}：{error}",
        zh_tw: "-C {directory}：{error}",
    }
    command_directory_must_exist() {
        en: "-C DIR must name an existing directory",
        zh_cn: "-C DIR 必须是已存在的目录",
        zh_tw: "-C DIR 必須是已存在的目錄",
    }

    usage_unexpected_argument(argument: &str) {
        en: "unexpected argument '{argument}' found",
        zh_cn: "未知的参数“{argument}”",
        zh_tw: "未知的參數「{argument}」",
    }
    usage_unknown_command(command: &str) {
        en: "unrecognized subcommand '{command}'",
        zh_cn: "未知的命令“{command}”",
        zh_tw: "未知的指令「{command}」",
    }
    usage_value_missing(argument: &str) {
        en: "a value is required for '{argument}' but none was supplied",
        zh_cn: "“{argument}”需要一个值",
        zh_tw: "「{argument}」需要一個值",
    }
    usage_invalid_value(value: &str, argument: &str) {
        en: "invalid value '{value}' for '{argument}'",
        zh_cn: "“{argument}”的值“{value}”无效",
        zh_tw: "「{argument}」的值「{value}」無效",
    }
    usage_invalid_value_of(value: &str, argument: &str, valid: &str) {
        en: "invalid value '{value}' for '{argument}' (possible values: {valid})",
        zh_cn: "“{argument}”的值“{value}”无效（可用的值：{valid}）",
        zh_tw: "「{argument}」的值「{value}」無效（可用的值：{valid}）",
    }
    usage_invalid_value_because(value: &str, argument: &str, why: &str) {
        en: "invalid value '{value}' for '{argument}': {why}",
        zh_cn: "“{argument}”的值“{value}”无效：{why}",
        zh_tw: "「{argument}」的值「{value}」無效：{why}",
    }
    usage_given_twice(argument: &str) {
        en: "the argument '{argument}' cannot be used multiple times",
        zh_cn: "参数“{argument}”不能多次使用",
        zh_tw: "參數「{argument}」不能多次使用",
    }
    usage_conflict(argument: &str, others: &str) {
        en: "the argument '{argument}' cannot be used with {others}",
        zh_cn: "参数“{argument}”不能与 {others} 同时使用",
        zh_tw: "參數「{argument}」不能與 {others} 同時使用",
    }
    usage_missing(arguments: &str) {
        en: "the following arguments are required: {arguments}",
        zh_cn: "缺少必需的参数：{arguments}",
        zh_tw: "缺少必要的參數：{arguments}",
    }
    usage_as_value(argument: &str) {
        en: "to pass '{argument}' as a value, use '-- {argument}'",
        zh_cn: "若要把“{argument}”作为值传入，请写“-- {argument}”",
        zh_tw: "若要把「{argument}」作為值傳入，請寫「-- {argument}」",
    }
    usage_help_shows() {
        en: "--help shows what can be given",
        zh_cn: "--help 显示可用的参数",
        zh_tw: "--help 顯示可用的參數",
    }

    spawn_running(task: &str, agent: &str, place: &str) {
        en: "{task} runs in the background with {agent}, {place}",
        zh_cn: "{task} 正在后台运行，使用 {agent}，{place}",
        zh_tw: "{task} 正在背景執行，使用 {agent}，{place}",
    }
    spawn_queued(task: &str, agent: &str, place: &str) {
        en: "{task} is queued until a slot is free, with {agent}, {place}",
        zh_cn: "{task} 正在排队，等待空位，使用 {agent}，{place}",
        zh_tw: "{task} 正在排隊，等待空位，使用 {agent}，{place}",
    }
    spawn_agent_why(agent: &str, why: &str) {
        en: "{agent} ({why})",
        zh_cn: "{agent}（{why}）",
        zh_tw: "{agent}（{why}）",
    }
    spawn_in_this_checkout() { en: "in this checkout", zh_cn: "在当前工作区中", zh_tw: "在目前的工作目錄中" }
    spawn_on_branch(branch: &str) { en: "on branch {branch}", zh_cn: "分支 {branch}", zh_tw: "分支 {branch}" }
    spawn_pr_or_prompt(word: &str) {
        en: "spawn --pr NAME opens a pull request for a task; to start one: {dacapo}spawn --pr --name {word} {word}",
        zh_cn: "spawn --pr NAME 为任务创建拉取请求；要启动任务：{dacapo}spawn --pr --name {word} {word}",
        zh_tw: "spawn --pr NAME 為任務建立拉取請求；要啟動任務：{dacapo}spawn --pr --name {word} {word}",
    }
    rerun_name(before: &str, word: &str) {
        en: "{dacapo}rerun {before} --name {word} gives the new task this name",
        zh_cn: "{dacapo}rerun {before} --name {word} 用它作为新任务的名称",
        zh_tw: "{dacapo}rerun {before} --name {word} 用它作為新任務的名稱",
    }
    rerun_another_prompt() {
        en: "another prompt needs several words, or --prompt-file FILE",
        zh_cn: "换提示词需要多个词，或用 --prompt-file FILE",
        zh_tw: "換提示詞需要多個詞，或用 --prompt-file FILE",
    }

    pause_done(task: &str) {
        en: "{task} is paused; {dacapo}resume {task} continues it",
        zh_cn: "{task} 已暂停；{dacapo}resume {task} 继续运行",
        zh_tw: "{task} 已暫停；{dacapo}resume {task} 繼續執行",
    }
    pause_soon(task: &str) {
        en: "{task} will pause as soon as it can; {dacapo}wait {task} waits for that",
        zh_cn: "{task} 会尽快暂停；{dacapo}wait {task} 等待它暂停",
        zh_tw: "{task} 會盡快暫停；{dacapo}wait {task} 等待它暫停",
    }
    pause_after_iteration(task: &str) {
        en: "{task} will pause after this iteration; {dacapo}wait {task} waits for that",
        zh_cn: "{task} 会在本次迭代后暂停；{dacapo}wait {task} 等待它暂停",
        zh_tw: "{task} 會在本次迭代後暫停；{dacapo}wait {task} 等待它暫停",
    }
    tell_stdin_unreadable(error: &str) {
        en: "cannot read the message from standard input: {error}",
        zh_cn: "无法从标准输入读取留言：{error}",
        zh_tw: "無法從標準輸入讀取留言：{error}",
    }
    tell_next_iteration(task: &str) {
        en: "{task} will get this in the next iteration",
        zh_cn: "{task} 会在下一次迭代收到",
        zh_tw: "{task} 會在下一次迭代收到",
    }
    tell_every_iteration(task: &str) {
        en: "{task} will get this in every iteration from the next one on; {dacapo}tell {task} --clear withdraws it",
        zh_cn: "从下一次迭代起，{task} 每次都会收到；{dacapo}tell {task} --clear 撤回",
        zh_tw: "從下一次迭代起，{task} 每次都會收到；{dacapo}tell {task} --clear 撤回",
    }
    tell_when_resumed(task: &str) {
        en: "{task} will get this when it resumes: {dacapo}resume {task}",
        zh_cn: "{task} 恢复运行时会收到：{dacapo}resume {task}",
        zh_tw: "{task} 恢復執行時會收到：{dacapo}resume {task}",
    }
    tell_from_when_resumed(task: &str) {
        en: "{task} will get this in every iteration once it resumes: {dacapo}resume {task}; {dacapo}tell {task} --clear withdraws it",
        zh_cn: "{task} 恢复运行后每次迭代都会收到：{dacapo}resume {task}；{dacapo}tell {task} --clear 撤回",
        zh_tw: "{task} 恢復執行後每次迭代都會收到：{dacapo}resume {task}；{dacapo}tell {task} --clear 撤回",
    }
    tell_cleared_from_next(task: &str) {
        en: "{task} will no longer get this from the next iteration on",
        zh_cn: "从下一次迭代起，{task} 不再收到",
        zh_tw: "從下一次迭代起，{task} 不再收到",
    }
    tell_cleared(task: &str) {
        en: "{task} will no longer get this",
        zh_cn: "{task} 不再收到",
        zh_tw: "{task} 不再收到",
    }
    set_when_resumed(task: &str, what: &str) {
        en: "{task}: {what}, when it resumes: {dacapo}resume {task}",
        zh_cn: "{task}：{what}，恢复运行时生效：{dacapo}resume {task}",
        zh_tw: "{task}：{what}，恢復執行時生效：{dacapo}resume {task}",
    }
    answer_given(task: &str) {
        en: "answer sent to {task}",
        zh_cn: "已将回答发给 {task}",
        zh_tw: "已將回答傳給 {task}",
    }
    answer_settled(finding: usize, task: &str) {
        en: "R{finding} of {task} is settled; {dacapo}milestone resume {task} continues it",
        zh_cn: "{task} 的 R{finding} 已解决；{dacapo}milestone resume {task} 继续运行",
        zh_tw: "{task} 的 R{finding} 已解決；{dacapo}milestone resume {task} 繼續執行",
    }

    man_no_such_command(command: &str) {
        en: "there is no command '{command}'",
        zh_cn: "没有命令“{command}”",
        zh_tw: "沒有指令「{command}」",
    }
    man_pages_written(pages: usize, directory: &str) {
        en: (pages: "1 page in {directory}", "{pages} pages in {directory}"),
        zh_cn: "{directory} 中有 {pages} 页",
        zh_tw: "{directory} 中有 {pages} 頁",
    }
    man_not_made(error: &str) {
        en: "cannot create the manual: {error}",
        zh_cn: "无法生成手册：{error}",
        zh_tw: "無法產生手冊：{error}",
    }
    man_kept_pages() { en: "the pages that already exist", zh_cn: "已有的页面", zh_tw: "已有的頁面" }
    man_name_a_directory() {
        en: "--out must name a directory that you can write to",
        zh_cn: "--out 应是你能写入的目录",
        zh_tw: "--out 應是你能寫入的目錄",
    }
    limits_no_cost_limit(limits: &str, payer: &str) {
        en: "{limits}; no limit on cost ({payer}), --max-cost sets one",
        zh_cn: "{limits}；没有费用上限（{payer}），可用 --max-cost 设置",
        zh_tw: "{limits}；沒有費用上限（{payer}），可用 --max-cost 設定",
    }
    limits_no_prices(limits: &str, payer: &str) {
        en: "{limits}; no limit on cost ({payer}), --max-cost needs [prices] in the config",
        zh_cn: "{limits}；没有费用上限（{payer}），--max-cost 需要配置中的 [prices]",
        zh_tw: "{limits}；沒有費用上限（{payer}），--max-cost 需要設定中的 [prices]",
    }
}
