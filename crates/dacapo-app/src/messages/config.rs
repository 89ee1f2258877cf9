//! The settings: what can be wrong with them, and what came of a change.

use super::messages;

messages! {
    CONFIG, dacapo;

    /// `place` is what `config_in` says, or nothing.
    config_unknown_key(key: &str, place: &str) {
        en: "unknown key '{key}'{place}",
        zh_cn: "未知的配置项“{key}”{place}",
        zh_tw: "未知的設定項「{key}」{place}",
    }
    config_wrong_value(key: &str, place: &str, expected: &str, found: &str) {
        en: "invalid value for '{key}'{place}: expected {expected}, found {found}",
        zh_cn: "“{key}”的值无效{place}：应为{expected}，实际是{found}",
        zh_tw: "「{key}」的值無效{place}：應為{expected}，實際是{found}",
    }
    config_in(place: &str) { en: " in {place}", zh_cn: "（{place}）", zh_tw: "（{place}）" }
    config_the_request() { en: "the request", zh_cn: "请求", zh_tw: "請求" }
    config_belongs_at_top(problem: &str) {
        en: "{problem}; it belongs at the top of the file, before the first [table]",
        zh_cn: "{problem}；它应放在文件开头，第一个 [table] 之前",
        zh_tw: "{problem}；它應放在檔案開頭，第一個 [table] 之前",
    }
    config_did_you_mean(problem: &str, word: &str) {
        en: "{problem}; did you mean '{word}'?",
        zh_cn: "{problem}；你是想写“{word}”吗？",
        zh_tw: "{problem}；你是想寫「{word}」嗎？",
    }
    config_missing_key(key: &str, table: &str, place: &str) {
        en: "missing key '{key}' in [{table}] at {place}",
        zh_cn: "{place} 的 [{table}] 中缺少“{key}”",
        zh_tw: "{place} 的 [{table}] 中缺少「{key}」",
    }
    config_only_for(key: &str, place: &str, agent: &str) {
        en: "'{key}' in {place} is only for the built-in agent '{agent}'",
        zh_cn: "{place} 中的“{key}”只用于内置智能体“{agent}”",
        zh_tw: "{place} 中的「{key}」只用於內建代理「{agent}」",
    }
    config_own_file_only(key: &str, place: &str) {
        en: "'{key}' in {place} may only be set in your own config file",
        zh_cn: "{place} 中的“{key}”只能在您自己的配置文件中设置",
        zh_tw: "{place} 中的「{key}」只能在您自己的設定檔中設定",
    }
    config_not_toml(place: &str, message: &str) {
        en: "not valid TOML in {place}: {message}",
        zh_cn: "{place} 不是有效的 TOML：{message}",
        zh_tw: "{place} 不是有效的 TOML：{message}",
    }
    config_not_utf8(place: &str) {
        en: "not UTF-8 text in {place}",
        zh_cn: "{place} 不是 UTF-8 文本",
        zh_tw: "{place} 不是 UTF-8 文字",
    }
    config_too_big(path: &str, kib: u64) {
        en: "{path} is larger than {kib} KiB, the most a config may be",
        zh_cn: "{path} 超过 {kib} KiB，这是配置文件的上限",
        zh_tw: "{path} 超過 {kib} KiB，這是設定檔的上限",
    }
    config_and_more(number: usize) { en: "and {number} more", zh_cn: "另有 {number} 个", zh_tw: "另有 {number} 個" }
    config_correct_by_schema() {
        en: "correct it ({dacapo}config schema lists every key), then run the command again",
        zh_cn: "改正后重新运行命令（{dacapo}config schema 列出所有配置项）",
        zh_tw: "改正後重新執行指令（{dacapo}config schema 列出所有設定項）",
    }
    config_correct_it() {
        en: "correct it, then run the command again",
        zh_cn: "改正后重新运行命令",
        zh_tw: "改正後重新執行指令",
    }
    config_project_may_not_loosen(key: &str, place: &str, given: &str, used: &str) {
        en: "'{key}' in {place} is {given}, and a project can only make it stricter: using {used}",
        zh_cn: "{place} 中的“{key}”为 {given}，而项目只能使其更严格；改用 {used}",
        zh_tw: "{place} 中的「{key}」為 {given}，而專案只能使其更嚴格；改用 {used}",
    }
    config_clamped(key: &str, place: &str, min: i64, max: i64, used: &str) {
        en: "'{key}' in {place} is outside {min}…{max}: using {used}",
        zh_cn: "{place} 中的“{key}”不在 {min}…{max} 内；改用 {used}",
        zh_tw: "{place} 中的「{key}」不在 {min}…{max} 內；改用 {used}",
    }
    config_variable_guessed(variable: &str, key: &str) {
        en: "{variable} is read as '{key}'; to set a name with other characters, define it in a config file first",
        zh_cn: "{variable} 被当作“{key}”；名称含其他字符时，请先在配置文件中定义",
        zh_tw: "{variable} 被當作「{key}」；名稱含其他字元時，請先在設定檔中定義",
    }
    config_variable_unknown(variable: &str) {
        en: "unknown variable {variable} is ignored",
        zh_cn: "忽略未知的变量 {variable}",
        zh_tw: "忽略未知的變數 {variable}",
    }
    config_variable_meant(variable: &str, meant: &str) {
        en: "unknown variable {variable} is ignored; did you mean {meant}?",
        zh_cn: "忽略未知的变量 {variable}；你是想写 {meant} 吗？",
        zh_tw: "忽略未知的變數 {variable}；你是想寫 {meant} 嗎？",
    }

    value_true_or_false() { en: "true or false", zh_cn: " true 或 false", zh_tw: " true 或 false" }
    value_whole_number_from(min: i64, max: i64) {
        en: "a whole number from {min} to {max}",
        zh_cn: " {min} 到 {max} 的整数",
        zh_tw: " {min} 到 {max} 的整數",
    }
    value_number_from(min: f64, max: f64) {
        en: "a number from {min} to {max}",
        zh_cn: " {min} 到 {max} 的数",
        zh_tw: " {min} 到 {max} 的數",
    }
    value_duration() {
        en: "a duration such as 30s, 5m, 1h, 1h30m or 2d",
        zh_cn: "时长，如 30s、5m、1h、1h30m 或 2d",
        zh_tw: "時長，如 30s、5m、1h、1h30m 或 2d",
    }
    value_address() {
        en: "an address that begins with http:// or https://",
        zh_cn: "以 http:// 或 https:// 开头的地址",
        zh_tw: "以 http:// 或 https:// 開頭的位址",
    }
    value_non_empty_text() { en: "non-empty text", zh_cn: "非空文本", zh_tw: "非空文字" }
    value_text() { en: "text", zh_cn: "文本", zh_tw: "文字" }
    value_one_of(choices: &str) { en: "one of {choices}", zh_cn: "以下之一：{choices}", zh_tw: "以下之一：{choices}" }
    value_list_of(items: &str) { en: "a list of {items}", zh_cn: "列表，每项为{items}", zh_tw: "清單，每項為{items}" }
    value_non_empty_list_of(items: &str) {
        en: "a non-empty list of {items}",
        zh_cn: "非空列表，每项为{items}",
        zh_tw: "非空清單，每項為{items}",
    }
    value_nothing() { en: "no value", zh_cn: "空值", zh_tw: "空值" }
    value_another_address() { en: "another address", zh_cn: "别的地址", zh_tw: "別的位址" }
    value_quoted(text: &str) { en: "'{text}'", zh_cn: "“{text}”", zh_tw: "「{text}」" }
    value_empty_list() { en: "an empty list", zh_cn: "空列表", zh_tw: "空清單" }
    value_as_item(found: &str, number: usize) {
        en: "{found} as item {number}",
        zh_cn: "第 {number} 项为{found}",
        zh_tw: "第 {number} 項為{found}",
    }
    value_whole_number() { en: "a whole number", zh_cn: "整数", zh_tw: "整數" }
    value_number() { en: "a number", zh_cn: "数", zh_tw: "數" }
    value_date() { en: "a date", zh_cn: "日期", zh_tw: "日期" }
    value_list() { en: "a list", zh_cn: "列表", zh_tw: "清單" }
    value_table() { en: "a table", zh_cn: "表", zh_tw: "表" }
    value_table_or_key() {
        en: "a table, such as {{ key = \"value\" }}, or one of its keys",
        zh_cn: "表，如 {{ key = \"value\" }}，或其中的一个键",
        zh_tw: "表，如 {{ key = \"value\" }}，或其中的一個鍵",
    }

    config_no_home() {
        en: "there is no home directory to keep settings in",
        zh_cn: "没有可以存放配置的主目录",
        zh_tw: "沒有可以存放設定的家目錄",
    }
    config_set_home() {
        en: "set HOME, or XDG_CONFIG_HOME",
        zh_cn: "设置 HOME 或 XDG_CONFIG_HOME",
        zh_tw: "設定 HOME 或 XDG_CONFIG_HOME",
    }
    config_opens_again(command: &str) {
        en: "{command} opens it again",
        zh_cn: "{command} 再次打开",
        zh_tw: "{command} 再次開啟",
    }
    config_kept_what_you_wrote(path: &str) {
        en: "what you wrote, in {path}; no task can start until it is fixed",
        zh_cn: "你写的内容，在 {path} 中；改正之前不会启动任务",
        zh_tw: "你寫的內容，在 {path} 中；改正之前不會啟動任務",
    }
    config_path_shows() {
        en: "{dacapo}config path shows where the files are",
        zh_cn: "{dacapo}config path 显示文件在哪里",
        zh_tw: "{dacapo}config path 顯示檔案在哪裡",
    }
    config_is_a_link(path: &str) {
        en: "{path} is a symbolic link, which is not followed",
        zh_cn: "{path} 是符号链接，不会跟随",
        zh_tw: "{path} 是符號連結，不會跟隨",
    }
    config_link_to_nothing(path: &str) {
        en: "{path} is a symbolic link to a file that does not exist",
        zh_cn: "{path} 是符号链接，但指向的文件不存在",
        zh_tw: "{path} 是符號連結，但指向的檔案不存在",
    }
    config_not_a_file(path: &str) { en: "{path} is not a file", zh_cn: "{path} 不是文件", zh_tw: "{path} 不是檔案" }
    config_plain_file_instead() {
        en: "edit its target yourself, or replace it with a regular file",
        zh_cn: "手动修改它指向的文件，或换成普通文件",
        zh_tw: "手動修改它指向的檔案，或換成普通檔案",
    }

    config_untrusted() {
        en: "what it sets has no effect until you trust it: {dacapo}trust",
        zh_cn: "信任之前，它的设置不起作用：{dacapo}trust",
        zh_tw: "信任之前，它的設定不起作用：{dacapo}trust",
    }
    config_path_missing() { en: "  (missing)", zh_cn: "  （不存在）", zh_tw: "  （不存在）" }
    config_set_in(key: &str, path: &str) {
        en: "{key} is set in {path}",
        zh_cn: "已在 {path} 中设置 {key}",
        zh_tw: "已在 {path} 中設定 {key}",
    }
    config_set_already(key: &str, path: &str) {
        en: "{key} already has this value in {path}",
        zh_cn: "{path} 中的 {key} 已是此值",
        zh_tw: "{path} 中的 {key} 已是此值",
    }
    config_unset_in(key: &str, path: &str) {
        en: "{key} is no longer set in {path}",
        zh_cn: "已从 {path} 中去掉 {key}",
        zh_tw: "已從 {path} 中去掉 {key}",
    }
    config_not_set_in(key: &str, path: &str) {
        en: "{key} was not set in {path}",
        zh_cn: "{path} 中没有设置 {key}",
        zh_tw: "{path} 中沒有設定 {key}",
    }
    config_overridden(origin: &str) {
        en: "another value is in effect, from {origin}",
        zh_cn: "实际生效的是另一个值，来自 {origin}",
        zh_tw: "實際生效的是另一個值，來自 {origin}",
    }
    origin_default() { en: "default", zh_cn: "默认", zh_tw: "預設" }
    origin_user(place: &str) { en: "user {place}", zh_cn: "用户 {place}", zh_tw: "使用者 {place}" }
    origin_project(place: &str) { en: "project {place}", zh_cn: "项目 {place}", zh_tw: "專案 {place}" }
    origin_env(variable: &str) { en: "env {variable}", zh_cn: "环境变量 {variable}", zh_tw: "環境變數 {variable}" }
    origin_flag(flag: &str) { en: "flag {flag}", zh_cn: "选项 {flag}", zh_tw: "選項 {flag}" }
    config_not_trusted(origin: &str) {
        en: "{origin}, not trusted: no effect ({dacapo}trust)",
        zh_cn: "{origin}，未受信任：不起作用（{dacapo}trust）",
        zh_tw: "{origin}，未受信任：不起作用（{dacapo}trust）",
    }
    config_not_set() { en: "not set", zh_cn: "未设置", zh_tw: "未設定" }
    config_new_file(path: &str) {
        en: "created {path}: it lists every setting as a comment",
        zh_cn: "已创建 {path}：以注释列出所有配置项",
        zh_tw: "已建立 {path}：以註解列出所有設定項",
    }
    config_another_editor() {
        en: "EDITOR=… dacapo config edit uses another editor",
        zh_cn: "EDITOR=… dacapo config edit 可换编辑器",
        zh_tw: "EDITOR=… dacapo config edit 可換編輯器",
    }
    config_kept_as_left(path: &str) {
        en: "{path}, as the editor left it",
        zh_cn: "{path}，编辑器留下的内容",
        zh_tw: "{path}，編輯器留下的內容",
    }
    config_kept_as_was(path: &str) {
        en: "{path}, unchanged",
        zh_cn: "{path}，没有改动",
        zh_tw: "{path}，沒有變更",
    }
    config_valid(path: &str) { en: "{path} is valid", zh_cn: "{path} 没有问题", zh_tw: "{path} 沒有問題" }
    config_shows_effect() {
        en: "{dacapo}config shows what is in effect, and where each value comes from",
        zh_cn: "{dacapo}config 显示生效的值及其来源",
        zh_tw: "{dacapo}config 顯示生效的值及其來源",
    }
}
