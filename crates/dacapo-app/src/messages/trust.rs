//! What a repository brings runs only after the user confirmed it; and what `dacapo init` puts into one.

use super::messages;

messages! {
    TRUST, dacapo;

    /// `what` are the settings, on lines of their own.
    trust_unconfirmed(source: &str) {
        en: "This repository's {source} sets what runs on your machine or what agents are told, and you have not confirmed it:",
        zh_cn: "此仓库的 {source} 决定在你的机器上运行什么、或对智能体说什么，而你还没有确认：",
        zh_tw: "此儲存庫的 {source} 決定在你的電腦上執行什麼、或對代理說什麼，而你還沒有確認：",
    }
    trust_refused(source: &str, what: &str) {
        en: "this repository's {source} sets what runs on your machine or what agents are told, and you have not confirmed it:\n{what}",
        zh_cn: "此仓库的 {source} 决定在你的机器上运行什么、或对智能体说什么，而你还没有确认：\n{what}",
        zh_tw: "此儲存庫的 {source} 決定在你的電腦上執行什麼、或對代理說什麼，而你還沒有確認：\n{what}",
    }
    trust_asks_at_terminal() {
        en: "{dacapo}trust shows it and asks, at a terminal",
        zh_cn: "在终端中运行 {dacapo}trust 查看并确认",
        zh_tw: "在終端機中執行 {dacapo}trust 查看並確認",
    }
    trust_by_variable(variable: &str, hash: &str) {
        en: "{variable}={hash} confirms exactly this, in CI for example",
        zh_cn: "{variable}={hash} 只确认这一内容，例如用于 CI",
        zh_tw: "{variable}={hash} 只確認這一內容，例如用於 CI",
    }
    trust_not_given(source: &str) {
        en: "{source} is not trusted",
        zh_cn: "{source} 未受信任",
        zh_tw: "{source} 未受信任",
    }
    trust_asks_again() {
        en: "{dacapo}trust asks again",
        zh_cn: "{dacapo}trust 会再次询问",
        zh_tw: "{dacapo}trust 會再次詢問",
    }
    trust_config_without_it() {
        en: "{dacapo}config shows what is in effect without it",
        zh_cn: "{dacapo}config 显示没有它时生效的配置",
        zh_tw: "{dacapo}config 顯示沒有它時生效的設定",
    }
    trust_no_such_hash(hash: &str) {
        en: "this repository brings nothing with the hash {hash}",
        zh_cn: "此仓库没有哈希为 {hash} 的内容",
        zh_tw: "此儲存庫沒有雜湊為 {hash} 的內容",
    }
    trust_list_shows_brought() {
        en: "{dacapo}trust --list shows what it brings now",
        zh_cn: "{dacapo}trust --list 列出它现在带来的内容",
        zh_tw: "{dacapo}trust --list 列出它現在帶來的內容",
    }
    trust_not_revoked(hash: &str, error: &str) {
        en: "cannot revoke {hash}: {error}",
        zh_cn: "无法收回 {hash}：{error}",
        zh_tw: "無法收回 {hash}：{error}",
    }
    trust_kept_others() { en: "everything else", zh_cn: "其余全部内容", zh_tw: "其餘全部內容" }
    trust_hash_not_trusted(hash: &str) {
        en: "nothing with the hash {hash} is trusted here",
        zh_cn: "这里没有信任哈希为 {hash} 的内容",
        zh_tw: "這裡沒有信任雜湊為 {hash} 的內容",
    }
    trust_list_shows_trusted() {
        en: "{dacapo}trust --list shows what is trusted",
        zh_cn: "{dacapo}trust --list 列出受信任的内容",
        zh_tw: "{dacapo}trust --list 列出受信任的內容",
    }
    trust_no_data_directory() {
        en: "there is no data directory to remember it in",
        zh_cn: "没有可以记住它的数据目录",
        zh_tw: "沒有可以記住它的資料目錄",
    }
    trust_in_place_of(agent: &str) {
        en: "   (in place of the built-in agent '{agent}')",
        zh_cn: "   （替代内置智能体“{agent}”）",
        zh_tw: "   （替代內建代理「{agent}」）",
    }
    trust_settings_of(number: u64, source: &str) {
        en: (number: "1 setting of {source}", "{number} settings of {source}"),
        zh_cn: "{source} 的 {number} 项设置",
        zh_tw: "{source} 的 {number} 項設定",
    }
    trust_taken_back(number: u64) {
        en: (number: "1 confirmation revoked", "{number} confirmations revoked"),
        zh_cn: "已收回 {number} 项确认",
        zh_tw: "已收回 {number} 項確認",
    }
    trust_nothing_to_confirm() {
        en: "there is nothing to confirm: this repository brings nothing that runs here, or you already trust it",
        zh_cn: "没有需要确认的内容：此仓库没有带来会在这里运行的东西，或你已经信任它",
        zh_tw: "沒有需要確認的內容：此儲存庫沒有帶來會在這裡執行的東西，或你已經信任它",
    }
    trust_given(what: &str) {
        en: "trusted, until it changes: {what}",
        zh_cn: "已信任，直到它有改动：{what}",
        zh_tw: "已信任，直到它有變更：{what}",
    }
    trust_revoke_takes_back() {
        en: "{dacapo}trust --revoke revokes it",
        zh_cn: "{dacapo}trust --revoke 收回信任",
        zh_tw: "{dacapo}trust --revoke 收回信任",
    }
    trust_nobody_to_ask() {
        en: "nobody can be asked here whether to trust this",
        zh_cn: "这里没有人可以确认是否信任",
        zh_tw: "這裡沒有人可以確認是否信任",
    }
    trust_yes_confirms() {
        en: "{dacapo}trust --yes confirms it, if you have read it",
        zh_cn: "看过之后可用 {dacapo}trust --yes 确认",
        zh_tw: "看過之後可用 {dacapo}trust --yes 確認",
    }
    trust_variable_for_one_command(variable: &str) {
        en: "{variable}=HASH confirms it for one command; {dacapo}trust --list names the hash",
        zh_cn: "{variable}=HASH 只为一条命令确认；{dacapo}trust --list 会列出哈希",
        zh_tw: "{variable}=HASH 只為一條指令確認；{dacapo}trust --list 會列出雜湊",
    }
    trust_declined() { en: "not trusted", zh_cn: "未信任", zh_tw: "未信任" }
    trust_nothing_brought() {
        en: "this repository brings nothing that needs your confirmation",
        zh_cn: "此仓库没有需要你确认的内容",
        zh_tw: "此儲存庫沒有需要你確認的內容",
    }
    trust_since(time: &str) { en: "trusted since {time}", zh_cn: "自 {time} 起受信任", zh_tw: "自 {time} 起受信任" }
    trust_trusted_by(variable: &str) {
        en: "trusted by {variable}",
        zh_cn: "由 {variable} 信任",
        zh_tw: "由 {variable} 信任",
    }
    trust_no_effect() {
        en: "not trusted: no effect",
        zh_cn: "未受信任：不起作用",
        zh_tw: "未受信任：不起作用",
    }
}
