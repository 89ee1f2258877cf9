//! Which agent does the work, what it can and cannot do, and who writes summaries.

use super::messages;

messages! {
    AGENTS, dacapo;

    agent_needs_a_name() { en: "--agent needs a name", zh_cn: "--agent 需要一个名称", zh_tw: "--agent 需要一個名稱" }
    agent_name_or_command() {
        en: "--agent NAME, or --agent-cmd 'CMD'",
        zh_cn: "--agent NAME，或 --agent-cmd 'CMD'",
        zh_tw: "--agent NAME，或 --agent-cmd 'CMD'",
    }
    agent_named_twice(agent: &str) {
        en: "agent '{agent}' is named twice",
        zh_cn: "智能体“{agent}”指定了两次",
        zh_tw: "代理「{agent}」指定了兩次",
    }
    agent_name_each_once() {
        en: "name each agent once: when one hits its limit, another takes over",
        zh_cn: "每个智能体只写一次：一个达到上限时由另一个接替",
        zh_tw: "每個代理只寫一次：一個達到上限時由另一個接替",
    }
    agent_command_no_model(agent: &str) {
        en: "agent '{agent}' is a command: Dacapo cannot choose its model",
        zh_cn: "智能体“{agent}”是一条命令：Dacapo 无法选择它的模型",
        zh_tw: "代理「{agent}」是一條指令：Dacapo 無法選擇它的模型",
    }
    agent_model_is_option(agent: &str, model: &str) {
        en: "the model of agent '{agent}' is '{model}', which begins with '-': the agent would take it for an option",
        zh_cn: "智能体“{agent}”的模型是“{model}”，它以“-”开头：智能体会把它当作选项",
        zh_tw: "代理「{agent}」的模型是「{model}」，它以「-」開頭：代理會把它當作選項",
    }
    agent_name_model(agent: &str) {
        en: "--model NAME, or model = \"NAME\" in [agents.{agent}]",
        zh_cn: "--model 名称，或在 [agents.{agent}] 中写 model = \"名称\"",
        zh_tw: "--model 名稱，或在 [agents.{agent}] 中寫 model = \"名稱\"",
    }
    agent_model_into_command() {
        en: "put the model into the command itself",
        zh_cn: "把模型写进命令里",
        zh_tw: "把模型寫進指令裡",
    }
    agent_command_no_approval(agent: &str) {
        en: "agent '{agent}' is a command: it cannot ask for approval",
        zh_cn: "智能体“{agent}”是一条命令：它无法请求批准",
        zh_tw: "代理「{agent}」是一條指令：它無法請求核准",
    }
    agent_approval_auto_own_flags() {
        en: "--approval auto, and put the agent's own flags into the command",
        zh_cn: "--approval auto，并把智能体自己的选项写进命令",
        zh_tw: "--approval auto，並把代理自己的選項寫進指令",
    }
    agent_approval_by_acp(agent: &str) {
        en: "an agent that speaks ACP can: [agents.{agent}] output = \"acp\"",
        zh_cn: "支持 ACP 的智能体可以：[agents.{agent}] output = \"acp\"",
        zh_tw: "支援 ACP 的代理可以：[agents.{agent}] output = \"acp\"",
    }
    agent_nobody_answers(agent: &str) {
        en: "--approval ask: nobody could answer what agent '{agent}' asks",
        zh_cn: "--approval ask：没有人能回答智能体“{agent}”的提问",
        zh_tw: "--approval ask：沒有人能回答代理「{agent}」的提問",
    }
    agent_run_at_terminal() {
        en: "run it at a terminal, without --json and --quiet",
        zh_cn: "在终端中运行，不带 --json 和 --quiet",
        zh_tw: "在終端機中執行，不帶 --json 和 --quiet",
    }
    agent_approval_edits_or_auto() {
        en: "--approval edits allows edits only, --approval auto everything",
        zh_cn: "--approval edits 只允许编辑，--approval auto 允许一切",
        zh_tw: "--approval edits 只允許編輯，--approval auto 允許一切",
    }
    agent_approval_auto() {
        en: "--approval auto runs it unattended",
        zh_cn: "--approval auto 无人值守地运行",
        zh_tw: "--approval auto 無人值守地執行",
    }
    unable(agent: &str, approval: &str, why: &str) {
        en: "{agent} cannot run with --approval {approval}: {why}",
        zh_cn: "{agent} 不支持 --approval {approval}：{why}",
        zh_tw: "{agent} 不支援 --approval {approval}：{why}",
    }
    unable_codex(command: &str) {
        en: "`codex exec` cannot ask; {command} can: configure it as [agents.NAME] with output = \"acp\"",
        zh_cn: "`codex exec` 无法询问；{command} 可以：把它配置为 [agents.NAME]，output = \"acp\"",
        zh_tw: "`codex exec` 無法詢問；{command} 可以：把它設定為 [agents.NAME]，output = \"acp\"",
    }
    unable_claude(command: &str) {
        en: "it cannot ask while it runs headless; {command} can: configure it as [agents.NAME] with output = \"acp\"",
        zh_cn: "非交互运行时无法询问；{command} 可以：把它配置为 [agents.NAME]，output = \"acp\"",
        zh_tw: "非互動執行時無法詢問；{command} 可以：把它設定為 [agents.NAME]，output = \"acp\"",
    }
    unable_native() {
        en: "it runs unattended; --approval edits leaves out the shell, --approval read-only every tool that changes files",
        zh_cn: "它无人值守地运行；--approval edits 不提供 shell，--approval read-only 不提供会修改文件的工具",
        zh_tw: "它無人值守地執行；--approval edits 不提供 shell，--approval read-only 不提供會修改檔案的工具",
    }
    unable_command_unknown() {
        en: "its command is not known; define it: [agents.NAME] command = [\"…\"], output = \"acp\"",
        zh_cn: "不知道它的命令；请定义：[agents.NAME] command = [\"…\"], output = \"acp\"",
        zh_tw: "不知道它的指令；請定義：[agents.NAME] command = [\"…\"], output = \"acp\"",
    }
    unable_headless(array: &str) {
        en: "it cannot ask while it runs headless; as an ACP agent it can: [agents.NAME] command = [{array}], output = \"acp\"",
        zh_cn: "非交互运行时无法询问；作为 ACP 智能体可以：[agents.NAME] command = [{array}], output = \"acp\"",
        zh_tw: "非互動執行時無法詢問；作為 ACP 代理可以：[agents.NAME] command = [{array}], output = \"acp\"",
    }
    agent_command_empty() { en: "--agent-cmd is empty", zh_cn: "--agent-cmd 为空", zh_tw: "--agent-cmd 是空的" }
    agent_not_on_path(program: &str, origin: &str) {
        en: "agent not found: '{program}' ({origin}) is not on PATH",
        zh_cn: "找不到智能体：“{program}”（{origin}）不在 PATH 中",
        zh_tw: "找不到代理：「{program}」（{origin}）不在 PATH 中",
    }
    agent_install_or_path() {
        en: "install it, or give its full path",
        zh_cn: "请安装它，或写出完整路径",
        zh_tw: "請安裝它，或寫出完整路徑",
    }
    agent_demo_without_any() {
        en: "{dacapo}demo works without any agent",
        zh_cn: "{dacapo}demo 不需要任何智能体",
        zh_tw: "{dacapo}demo 不需要任何代理",
    }
    agent_acp_has_own_ways(agent: &str) {
        en: "[agents.{agent}] prompt and resume have no effect with output = \"acp\"",
        zh_cn: "[agents.{agent}] 中的 prompt 和 resume 在 output = \"acp\" 时不起作用",
        zh_tw: "[agents.{agent}] 中的 prompt 和 resume 在 output = \"acp\" 時不起作用",
    }
    agent_remove_them() {
        en: "remove them: the protocol has its own way for both",
        zh_cn: "去掉它们：该协议对两者都有自己的方式",
        zh_tw: "去掉它們：該協定對兩者都有自己的方式",
    }
    agent_native_no_api() {
        en: "agent 'native': no api is set",
        zh_cn: "智能体“native”：没有设置 api",
        zh_tw: "代理「native」：沒有設定 api",
    }
    agent_native_no_model() {
        en: "agent 'native': no model is set",
        zh_cn: "智能体“native”：没有设置模型",
        zh_tw: "代理「native」：沒有設定模型",
    }
    agent_native_settings() {
        en: "set [agents.native] api = \"openai\" or \"anthropic\", model, and base_url, key_env where they are not the vendor's own, in config.toml",
        zh_cn: "在 config.toml 中设置 [agents.native] api = \"openai\" 或 \"anthropic\"、model；若不用厂商默认值，还有 base_url、key_env",
        zh_tw: "在 config.toml 中設定 [agents.native] api = \"openai\" 或 \"anthropic\"、model；若不用廠商預設值，還有 base_url、key_env",
    }
    agent_native_name_model() { en: "--model M names one", zh_cn: "用 --model M 指定", zh_tw: "用 --model M 指定" }
    agent_unknown(agent: &str) {
        en: "unknown agent '{agent}'",
        zh_cn: "未知的智能体“{agent}”",
        zh_tw: "未知的代理「{agent}」",
    }
    agent_there_are(names: &str) {
        en: "available: {names}",
        zh_cn: "可用的有：{names}",
        zh_tw: "可用的有：{names}",
    }
    agent_define_it(file: &str, agent: &str) {
        en: "define it at the top of {file}: agents.{agent}.command = [\"…\"]",
        zh_cn: "在 {file} 的开头定义它：agents.{agent}.command = [\"…\"]",
        zh_tw: "在 {file} 的開頭定義它：agents.{agent}.command = [\"…\"]",
    }
    agent_no_script(error: &str) {
        en: "agent 'rehearsal' has no usable script: {error}",
        zh_cn: "智能体“rehearsal”没有可用的脚本：{error}",
        zh_tw: "代理「rehearsal」沒有可用的腳本：{error}",
    }
    agent_script_example() {
        en: "--agent rehearsal:FILE.yaml; `{dacapo}rehearsal example` prints one",
        zh_cn: "--agent rehearsal:FILE.yaml；`{dacapo}rehearsal example` 会打印一个示例",
        zh_tw: "--agent rehearsal:FILE.yaml；`{dacapo}rehearsal example` 會印出一個範例",
    }

    agent_why_native() {
        en: "[agents.native] is configured; no other agent is installed and logged in",
        zh_cn: "已配置 [agents.native]；没有其他已安装并登录的智能体",
        zh_tw: "已設定 [agents.native]；沒有其他已安裝並登入的代理",
    }
    agent_why_only_own() {
        en: "the only one that is configured; none is installed",
        zh_cn: "唯一配置过的智能体；没有安装其他智能体",
        zh_tw: "唯一設定過的代理；沒有安裝其他代理",
    }
    agent_why_installed() { en: "installed", zh_cn: "已安装", zh_tw: "已安裝" }
    agent_why_logged_in() { en: "installed, logged in", zh_cn: "已安装并登录", zh_tw: "已安裝並登入" }
    agent_billed_subscription() { en: "subscription", zh_cn: "订阅计费", zh_tw: "訂閱計費" }
    agent_billed_to(variable: &str) {
        en: "billed to {variable}",
        zh_cn: "由 {variable} 付费",
        zh_tw: "由 {variable} 付費",
    }
    agent_billed_to_key_in(file: &str) {
        en: "billed to the API key in {file}",
        zh_cn: "由 {file} 中的 API key 付费",
        zh_tw: "由 {file} 中的 API key 付費",
    }
    agent_none_installed(names: &str, path: &str) {
        en: "no agent is installed: {names} are not on PATH ({path})",
        zh_cn: "没有安装智能体：{names} 都不在 PATH 中（{path}）",
        zh_tw: "沒有安裝代理：{names} 都不在 PATH 中（{path}）",
    }
    agent_path_empty() { en: "which is empty", zh_cn: "PATH 为空", zh_tw: "PATH 是空的" }
    agent_path_more(number: usize) { en: "and {number} more", zh_cn: "另有 {number} 个", zh_tw: "另有 {number} 個" }
    agent_none_logged_in() {
        en: "no installed agent is logged in",
        zh_cn: "已安装的智能体都没有登录",
        zh_tw: "已安裝的代理都沒有登入",
    }
    agent_not_logged_in(agent: &str, how: &str) {
        en: "{agent} is installed but not logged in: {how}",
        zh_cn: "{agent} 已安装但没有登录：{how}",
        zh_tw: "{agent} 已安裝但沒有登入：{how}",
    }
    agent_doctor_shortest(install: &str) {
        en: "{dacapo}doctor shows how to install each of them; the quickest: {install}",
        zh_cn: "{dacapo}doctor 说明如何安装各个智能体；最快的办法：{install}",
        zh_tw: "{dacapo}doctor 說明如何安裝各個代理；最快的辦法：{install}",
    }
    agent_doctor_missing() {
        en: "{dacapo}doctor shows what each agent still needs",
        zh_cn: "{dacapo}doctor 列出各个智能体还缺什么",
        zh_tw: "{dacapo}doctor 列出各個代理還缺什麼",
    }
    agent_any_command() {
        en: "--agent-cmd 'CMD' runs any command; --agent NAME runs one from the config",
        zh_cn: "--agent-cmd 'CMD' 运行任意命令；--agent NAME 使用配置中的智能体",
        zh_tw: "--agent-cmd 'CMD' 執行任意指令；--agent NAME 使用設定中的代理",
    }
    agent_demo_shows_a_loop() {
        en: "{dacapo}demo shows a whole loop without any agent",
        zh_cn: "{dacapo}demo 不用任何智能体演示完整的循环",
        zh_tw: "{dacapo}demo 不用任何代理示範完整的迴圈",
    }
    agent_runs_other_program(agent: &str, command: &str, from: &str) {
        en: "agent '{agent}' runs `{command}` (from {from})",
        zh_cn: "智能体“{agent}”运行的是 `{command}`（来自 {from}）",
        zh_tw: "代理「{agent}」執行的是 `{command}`（來自 {from}）",
    }

    writer_summary_not_used(setting: &str, model: &str, agent: &str) {
        en: "{setting} = \"{model}\" is not used: agent '{agent}' is a command, and Dacapo cannot choose its model; summaries are the agent's own closing words (\"native:MODEL\" asks an endpoint)",
        zh_cn: "没有使用 {setting} = \"{model}\"：智能体“{agent}”是一条命令，Dacapo 无法选择它的模型；摘要取自智能体最后的回复（\"native:MODEL\" 可改用端点）",
        zh_tw: "沒有使用 {setting} = \"{model}\"：代理「{agent}」是一條指令，Dacapo 無法選擇它的模型；摘要取自代理最後的回覆（\"native:MODEL\" 可改用端點）",
    }
    writer_message_not_used(setting: &str, model: &str, agent: &str) {
        en: "{setting} = \"{model}\" is not used: agent '{agent}' is a command, and Dacapo cannot choose its model; commit messages are made from the summary (\"native:MODEL\" asks an endpoint)",
        zh_cn: "没有使用 {setting} = \"{model}\"：智能体“{agent}”是一条命令，Dacapo 无法选择它的模型；提交信息由摘要生成（\"native:MODEL\" 可改用端点）",
        zh_tw: "沒有使用 {setting} = \"{model}\"：代理「{agent}」是一條指令，Dacapo 無法選擇它的模型；提交訊息由摘要產生（\"native:MODEL\" 可改用端點）",
    }
    writer_by_endpoint(setting: &str) {
        en: "{setting} = \"native:MODEL\" asks an endpoint ([agents.native]) instead",
        zh_cn: "{setting} = \"native:MODEL\" 改用端点（[agents.native]）",
        zh_tw: "{setting} = \"native:MODEL\" 改用端點（[agents.native]）",
    }
    writer_own_words(flag: &str) {
        en: "{flag} '' uses the agent's own words",
        zh_cn: "{flag} '' 使用智能体自己的话",
        zh_tw: "{flag} '' 使用代理自己的話",
    }
    writer_names_no_model(setting: &str) {
        en: "{setting} = \"native:\" names no model",
        zh_cn: "{setting} = \"native:\" 没有指定模型",
        zh_tw: "{setting} = \"native:\" 沒有指定模型",
    }
    writer_no_endpoint(setting: &str, model: &str) {
        en: "{setting} = \"native:{model}\": no endpoint is set",
        zh_cn: "{setting} = \"native:{model}\"：没有设置端点",
        zh_tw: "{setting} = \"native:{model}\"：沒有設定端點",
    }
    writer_set_endpoint() {
        en: "set [agents.native] api = \"openai\" or \"anthropic\", and base_url, key_env, in config.toml",
        zh_cn: "在 config.toml 中设置 [agents.native] api = \"openai\" 或 \"anthropic\"，以及 base_url、key_env",
        zh_tw: "在 config.toml 中設定 [agents.native] api = \"openai\" 或 \"anthropic\"，以及 base_url、key_env",
    }
    writer_unable(setting: &str, model: &str, why: &str) {
        en: "{setting} = \"{model}\": {why}",
        zh_cn: "{setting} = \"{model}\"：{why}",
        zh_tw: "{setting} = \"{model}\"：{why}",
    }
}
