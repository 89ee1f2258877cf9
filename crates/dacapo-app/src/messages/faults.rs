//! What went wrong with an agent's turn, and what would help. What the agent said about it is put behind it.

use super::messages;

messages! {
    FAULTS, dacapo;

    fault_with(what: &str, said: &str) { en: "{what}: {said}", zh_cn: "{what}：{said}", zh_tw: "{what}：{said}" }
    fault_not_logged_in() { en: "not logged in", zh_cn: "未登录", zh_tw: "未登入" }
    fault_key_refused(holder: &str) {
        en: "the key in {holder} was refused",
        zh_cn: "{holder} 中的密钥被拒绝",
        zh_tw: "{holder} 中的金鑰被拒絕",
    }
    fault_check_key() {
        en: "check it, or unset it and log in",
        zh_cn: "请检查它，或取消设置后登录",
        zh_tw: "請檢查它，或取消設定後登入",
    }
    fault_log_in_or_set_key() {
        en: "log in with the agent's own program, or set its API key",
        zh_cn: "用智能体自己的程序登录，或设置其 API 密钥",
        zh_tw: "用代理自己的程式登入，或設定其 API 金鑰",
    }
    fault_to_log_in(ways: &str) { en: "to log in: {ways}", zh_cn: "登录方式：{ways}", zh_tw: "登入方式：{ways}" }
    fault_or() { en: ", or ", zh_cn: "，或 ", zh_tw: "，或 " }
    log_in_claude() {
        en: "run `claude` and then /login, or set ANTHROPIC_API_KEY",
        zh_cn: "运行 `claude` 后输入 /login，或设置 ANTHROPIC_API_KEY",
        zh_tw: "執行 `claude` 後輸入 /login，或設定 ANTHROPIC_API_KEY",
    }
    log_in_codex() {
        en: "run `codex login`, or set CODEX_API_KEY (the env_key of a provider of your own)",
        zh_cn: "运行 `codex login`，或设置 CODEX_API_KEY（自定义提供商则用它的 env_key）",
        zh_tw: "執行 `codex login`，或設定 CODEX_API_KEY（自訂供應商則用它的 env_key）",
    }
    log_in_copilot() {
        en: "run `copilot login`, or set COPILOT_GITHUB_TOKEN (COPILOT_PROVIDER_API_KEY for an endpoint of your own)",
        zh_cn: "运行 `copilot login`，或设置 COPILOT_GITHUB_TOKEN（自己的端点用 COPILOT_PROVIDER_API_KEY）",
        zh_tw: "執行 `copilot login`，或設定 COPILOT_GITHUB_TOKEN（自己的端點用 COPILOT_PROVIDER_API_KEY）",
    }
    log_in_gemini() {
        en: "run `gemini` once and choose how to log in, or set GEMINI_API_KEY",
        zh_cn: "运行一次 `gemini` 并选择登录方式，或设置 GEMINI_API_KEY",
        zh_tw: "執行一次 `gemini` 並選擇登入方式，或設定 GEMINI_API_KEY",
    }
    log_in_opencode() {
        en: "run `opencode auth login`, or set the provider's key (ANTHROPIC_API_KEY, OPENAI_API_KEY, …)",
        zh_cn: "运行 `opencode auth login`，或设置提供商的密钥（ANTHROPIC_API_KEY、OPENAI_API_KEY 等）",
        zh_tw: "執行 `opencode auth login`，或設定供應商的金鑰（ANTHROPIC_API_KEY、OPENAI_API_KEY 等）",
    }
    log_in_qwen() {
        en: "run `qwen auth`, or set OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL",
        zh_cn: "运行 `qwen auth`，或设置 OPENAI_API_KEY、OPENAI_BASE_URL 和 OPENAI_MODEL",
        zh_tw: "執行 `qwen auth`，或設定 OPENAI_API_KEY、OPENAI_BASE_URL 和 OPENAI_MODEL",
    }
    log_in_acp() {
        en: "log in with the agent's own program",
        zh_cn: "用智能体自己的程序登录",
        zh_tw: "用代理自己的程式登入",
    }
    fault_not_paid_for() { en: "payment required", zh_cn: "账户欠费", zh_tw: "帳戶欠費" }
    fault_session_unknown(agent: &str) {
        en: "the session is gone: {agent} does not know it",
        zh_cn: "会话已不存在：{agent} 找不到它",
        zh_tw: "工作階段已不存在：{agent} 找不到它",
    }
    fault_session_gone(said: &str) {
        en: "the session is gone: {said}",
        zh_cn: "会话已不存在：{said}",
        zh_tw: "工作階段已不存在：{said}",
    }
    fault_conversation_unknown(agent: &str) {
        en: "{agent} no longer knows this conversation, so it cannot be continued",
        zh_cn: "{agent} 已找不到这次对话，无法继续",
        zh_tw: "{agent} 已找不到這次對話，無法繼續",
    }
    fault_conversation_gone(agent: &str, said: &str) {
        en: "{agent} no longer has this conversation ({said})",
        zh_cn: "{agent} 已没有这次对话（{said}）",
        zh_tw: "{agent} 已沒有這次對話（{said}）",
    }
    fault_fresh_begins_anew() {
        en: "--session fresh starts over",
        zh_cn: "--session fresh 会重新开始",
        zh_tw: "--session fresh 會重新開始",
    }
    fault_fresh_or_new_task() {
        en: "start the task again, or use --session fresh",
        zh_cn: "请重新启动任务，或使用 --session fresh",
        zh_tw: "請重新啟動任務，或使用 --session fresh",
    }
    fault_fresh_starts_new() {
        en: "--session fresh starts new ones",
        zh_cn: "--session fresh 会新建对话",
        zh_tw: "--session fresh 會新建對話",
    }
    fault_fresh_needs_none() {
        en: "--session fresh needs none",
        zh_cn: "--session fresh 不需要会话",
        zh_tw: "--session fresh 不需要工作階段",
    }
    fault_session_not_taken_up(task: &str, said: &str) {
        en: "Failed to get session ID for loop follow-up (task {task}): the agent's process had ended, and the conversation could not be resumed ({said})",
        zh_cn: "无法取得循环后续的会话 ID（任务 {task}）：智能体的进程已结束，对话无法恢复（{said}）",
        zh_tw: "無法取得迴圈後續的工作階段 ID（任務 {task}）：代理的行程已結束，對話無法恢復（{said}）",
    }
    fault_outside_repository(agent: &str) {
        en: "{agent} refuses to work outside a git repository",
        zh_cn: "{agent} 拒绝在 git 仓库之外工作",
        zh_tw: "{agent} 拒絕在 git 儲存庫之外工作",
    }
    fault_put_argument(argument: &str) {
        en: "put {argument} into the agent's command",
        zh_cn: "请在智能体的命令中加上 {argument}",
        zh_tw: "請在代理的指令中加上 {argument}",
    }
    fault_prompt_too_long(agent: &str, most: &str) {
        en: "{agent} does not accept prompts of more than {most} characters",
        zh_cn: "{agent} 不接受超过 {most} 个字符的提示词",
        zh_tw: "{agent} 不接受超過 {most} 個字元的提示詞",
    }
    fault_turn_too_slow(limit: &str) {
        en: "not finished within --turn-timeout ({limit})",
        zh_cn: "在 --turn-timeout（{limit}）内未结束",
        zh_tw: "在 --turn-timeout（{limit}）內未結束",
    }
    fault_call_too_slow(limit: &str) {
        en: "not finished within call_timeout in [milestone] ({limit})",
        zh_cn: "在 [milestone] 的 call_timeout（{limit}）内未结束",
        zh_tw: "在 [milestone] 的 call_timeout（{limit}）內未結束",
    }
    fault_silent(limit: &str) {
        en: "no output and no activity for --idle-timeout ({limit})",
        zh_cn: "超过 --idle-timeout（{limit}）没有任何动静",
        zh_tw: "超過 --idle-timeout（{limit}）沒有任何動靜",
    }
    fault_tried_in_vain(attempts: u32) {
        en: "gave up after {attempts} attempts without an answer",
        zh_cn: "尝试 {attempts} 次均无回应，已放弃",
        zh_tw: "嘗試 {attempts} 次均無回應，已放棄",
    }
    fault_no_acp_answer() {
        en: "no answer in the Agent Client Protocol: is output = \"acp\" right for this command?",
        zh_cn: "没有按 Agent Client Protocol 回应：该命令的 output = \"acp\" 是否正确？",
        zh_tw: "沒有依 Agent Client Protocol 回應：該指令的 output = \"acp\" 是否正確？",
    }
    fault_unfinished() {
        en: "the agent exited with code 0 without ending its turn",
        zh_cn: "智能体以退出码 0 结束，但没有表示本轮已完成",
        zh_tw: "代理以結束代碼 0 結束，但沒有表示本輪已完成",
    }
    fault_not_runnable(code: i32) {
        en: "the agent's command cannot be run (exit {code})",
        zh_cn: "无法运行智能体的命令（退出码 {code}）",
        zh_tw: "無法執行代理的指令（結束代碼 {code}）",
    }
    fault_exited(code: i32) {
        en: "the agent exited with code {code}",
        zh_cn: "智能体退出，退出码 {code}",
        zh_tw: "代理結束，結束代碼 {code}",
    }
    fault_signalled(signal: i32) {
        en: "the agent was ended by signal {signal}",
        zh_cn: "智能体被信号 {signal} 终止",
        zh_tw: "代理被訊號 {signal} 終止",
    }
    fault_guard_lost() {
        en: "the agent's guard process was killed; everything it had started was ended",
        zh_cn: "智能体的守护进程被终止；它启动的一切均已结束",
        zh_tw: "代理的守護行程被終止；它啟動的一切均已結束",
    }
    fault_no_tools(agent: &str) {
        en: "{agent} had no tools that can change files, and changed nothing",
        zh_cn: "{agent} 没有可以修改文件的工具，因此什么也没改",
        zh_tw: "{agent} 沒有可以修改檔案的工具，因此什麼也沒改",
    }
    fault_tools_refused(agent: &str, tools: &str) {
        en: "{agent} was not allowed to use {tools}, and changed nothing",
        zh_cn: "{agent} 未获准使用 {tools}，因此什么也没改",
        zh_tw: "{agent} 未獲准使用 {tools}，因此什麼也沒改",
    }
    fault_use_approval_auto() {
        en: "use --approval auto",
        zh_cn: "请使用 --approval auto",
        zh_tw: "請使用 --approval auto",
    }
    fault_budget_used() { en: "the budget is used up", zh_cn: "预算已用完", zh_tw: "預算已用完" }
}
