//! What to do next, where several messages end in the same advice.

use super::messages;

messages! {
    HINTS, dacapo;

    hint_did_you_mean(word: &str) {
        en: "did you mean '{word}'?",
        zh_cn: "你是想输入“{word}”吗？",
        zh_tw: "你是想輸入「{word}」嗎？",
    }
    hint_list_shows_tasks() {
        en: "{dacapo}list shows the tasks of this repository",
        zh_cn: "{dacapo}list 列出此仓库的任务",
        zh_tw: "{dacapo}list 列出此儲存庫的任務",
    }
    hint_resume_continues(task: &str) {
        en: "{dacapo}resume {task} continues it",
        zh_cn: "{dacapo}resume {task} 继续运行它",
        zh_tw: "{dacapo}resume {task} 繼續執行它",
    }
    hint_look_at(path: &str) { en: "see {path}", zh_cn: "查看 {path}", zh_tw: "查看 {path}" }
    hint_kill_ends_it(task: &str) {
        en: "{dacapo}kill {task} ends it",
        zh_cn: "{dacapo}kill {task} 结束它",
        zh_tw: "{dacapo}kill {task} 結束它",
    }
    hint_wait_waits(task: &str) {
        en: "{dacapo}wait {task} waits for it",
        zh_cn: "{dacapo}wait {task} 等它结束",
        zh_tw: "{dacapo}wait {task} 等它結束",
    }
    hint_schema_lists_keys() {
        en: "{dacapo}config schema lists every key",
        zh_cn: "{dacapo}config schema 列出所有配置项",
        zh_tw: "{dacapo}config schema 列出所有設定項",
    }
    hint_set_variable(variable: &str) {
        en: "set {variable}",
        zh_cn: "设置 {variable}",
        zh_tw: "設定 {variable}",
    }
    hint_add_worktree() { en: "add --worktree", zh_cn: "加上 --worktree", zh_tw: "加上 --worktree" }
    hint_another_name() {
        en: "choose another --name",
        zh_cn: "用 --name 换一个名称",
        zh_tw: "用 --name 換一個名稱",
    }
    hint_convert_to_utf8() {
        en: "convert it, for example with iconv",
        zh_cn: "先转换编码，例如用 iconv",
        zh_tw: "先轉換編碼，例如用 iconv",
    }
}
