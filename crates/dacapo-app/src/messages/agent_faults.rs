//! What an agent's adapter found out about a turn that failed, and what would help.

use super::messages;

messages! {
    AGENT_FAULTS, dacapo;

    agent_fault_model_refused() {
        en: "the model refused to go on",
        zh_cn: "模型拒绝继续",
        zh_tw: "模型拒絕繼續",
    }
    agent_fault_answer_cut() {
        en: "the model's answer was cut off at its limit of tokens",
        zh_cn: "模型的回答达到 token 上限，被截断",
        zh_tw: "模型的回答達到 token 上限，被截斷",
    }
    agent_fault_calls_used() {
        en: "the agent stopped at its limit of model calls for a turn",
        zh_cn: "智能体达到单轮的模型调用上限，停止了",
        zh_tw: "代理達到單輪的模型呼叫上限，停止了",
    }
    agent_fault_cancelled() {
        en: "the agent says that the turn was cancelled",
        zh_cn: "智能体称本轮已被取消",
        zh_tw: "代理稱本輪已被取消",
    }
    agent_fault_other_protocol(version: u64, expected: u64) {
        en: "it speaks version {version} of the Agent Client Protocol, not {expected}",
        zh_cn: "它使用 Agent Client Protocol 版本 {version}，而不是 {expected}",
        zh_tw: "它使用 Agent Client Protocol 版本 {version}，而不是 {expected}",
    }
    agent_fault_no_session_id() {
        en: "Failed to get session ID: the agent opened a conversation without one",
        zh_cn: "无法取得会话 ID：智能体开始的会话没有 ID",
        zh_tw: "無法取得工作階段 ID：代理開始的工作階段沒有 ID",
    }
    agent_fault_not_reading() {
        en: "the agent asks without reading the answers",
        zh_cn: "智能体不断询问，却不读取回答",
        zh_tw: "代理不斷詢問，卻不讀取回答",
    }
    agent_fault_output_not_kept() {
        en: "what the agent says cannot be written down: is the disk full?",
        zh_cn: "无法写入智能体的输出：磁盘是否已满？",
        zh_tw: "無法寫入代理的輸出：磁碟是否已滿？",
    }
    agent_fault_path_not_text(path: &str) {
        en: "an ACP agent cannot work in {path}: the path is no UTF-8",
        zh_cn: "ACP 智能体无法在 {path} 中工作：该路径不是 UTF-8",
        zh_tw: "ACP 代理無法在 {path} 中工作：該路徑不是 UTF-8",
    }
    agent_fault_no_answer(limit: &str) {
        en: "no answer within {limit}",
        zh_cn: "{limit} 内没有回答",
        zh_tw: "{limit} 內沒有回答",
    }
    agent_fault_nothing_to_use() {
        en: "it answered without a word to use",
        zh_cn: "它的回答没有可用的内容",
        zh_tw: "它的回答沒有可用的內容",
    }
    agent_fault_ended_with(agent: &str, word: &str) {
        en: "{agent} ended with {word}",
        zh_cn: "{agent} 以 {word} 结束",
        zh_tw: "{agent} 以 {word} 結束",
    }
    agent_fault_interrupted(agent: &str, word: &str) {
        en: "{agent} was interrupted ({word})",
        zh_cn: "{agent} 被中断（{word}）",
        zh_tw: "{agent} 被中斷（{word}）",
    }
    agent_fault_request_refused() { en: "the request was refused", zh_cn: "请求被拒绝", zh_tw: "請求被拒絕" }
    agent_fault_exited(agent: &str, code: i32) {
        en: "{agent} exited with code {code}",
        zh_cn: "{agent} 退出，代码 {code}",
        zh_tw: "{agent} 結束，代碼 {code}",
    }
    agent_fault_install_newest(package: &str) {
        en: "install the newest version of {package}",
        zh_cn: "请安装最新版本的 {package}",
        zh_tw: "請安裝最新版本的 {package}",
    }
    agent_fault_old_version(agent: &str) {
        en: "this version of {agent} does not know an option that Dacapo uses",
        zh_cn: "此版本的 {agent} 不支持 Dacapo 使用的某个选项",
        zh_tw: "此版本的 {agent} 不支援 Dacapo 使用的某個選項",
    }
    agent_fault_shared_server(version: &str) {
        en: "{version} runs its tools in a background server that it shares with all sessions, where they cannot be ended",
        zh_cn: "{version} 在所有会话共用的后台服务器中运行工具，无法在那里终止它们",
        zh_tw: "{version} 在所有工作階段共用的背景伺服器中執行工具，無法在那裡終止它們",
    }
    agent_fault_install_instead(version: &str, command: &str) {
        en: "install {version}: `{command}`",
        zh_cn: "请安装 {version}：`{command}`",
        zh_tw: "請安裝 {version}：`{command}`",
    }
    agent_fault_update_it() { en: "update it", zh_cn: "请更新它", zh_tw: "請更新它" }
    agent_fault_model_not_found(model: &str) {
        en: "the model is not found: {model}",
        zh_cn: "找不到模型：{model}",
        zh_tw: "找不到模型：{model}",
    }
    agent_fault_bad_configuration() { en: "its configuration is invalid", zh_cn: "它的配置无效", zh_tw: "它的設定無效" }
    agent_fault_half_installed(command: &str) {
        en: "it is not fully installed: run `{command}` in its package",
        zh_cn: "它没有完整安装：请在其软件包中运行 `{command}`",
        zh_tw: "它沒有完整安裝：請在其套件中執行 `{command}`",
    }
}
