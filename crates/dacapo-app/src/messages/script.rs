//! What is wrong with the script of the rehearsal agent.

use super::messages;

messages! {
    SCRIPT, dacapo;

    script_unreadable(path: &str, error: &str) {
        en: "cannot read the rehearsal script {path}: {error}",
        zh_cn: "无法读取脚本 {path}：{error}",
        zh_tw: "無法讀取腳本 {path}：{error}",
    }
    script_too_big(path: &str) {
        en: "{path} is larger than 1 MiB, the most a rehearsal script may be",
        zh_cn: "{path} 超过 1 MiB，这是脚本的上限",
        zh_tw: "{path} 超過 1 MiB，這是腳本的上限",
    }
    script_not_utf8() { en: "this is not UTF-8 text", zh_cn: "这不是 UTF-8 文本", zh_tw: "這不是 UTF-8 文字" }
    script_no_iterations() { en: "there are no iterations", zh_cn: "没有迭代", zh_tw: "沒有迭代" }
    script_give_iterations() {
        en: "give at least one list of steps under `iterations:`",
        zh_cn: "在 `iterations:` 下至少写一个步骤列表",
        zh_tw: "在 `iterations:` 下至少寫一個步驟清單",
    }
    script_no_step(step: &str) {
        en: "there is no step `{step}`",
        zh_cn: "没有步骤 `{step}`",
        zh_tw: "沒有步驟 `{step}`",
    }
    script_no_output(output: &str) {
        en: "there is no output `{output}`",
        zh_cn: "没有输出方式 `{output}`",
        zh_tw: "沒有輸出方式 `{output}`",
    }
    script_no_setting(field: &str) {
        en: "there is no setting `{field}` here",
        zh_cn: "这里没有设置 `{field}`",
        zh_tw: "這裡沒有設定 `{field}`",
    }
    script_missing(field: &str) { en: "`{field}` is missing", zh_cn: "缺少 `{field}`", zh_tw: "缺少 `{field}`" }
    script_twice(key: &str) { en: "`{key}` is given twice", zh_cn: "`{key}` 写了两次", zh_tw: "`{key}` 寫了兩次" }
    script_key_twice() { en: "a key is given twice", zh_cn: "有一个键写了两次", zh_tw: "有一個鍵寫了兩次" }
    script_second_key() {
        en: "a step is exactly one key, and this is a second one",
        zh_cn: "一个步骤只有一个键，这是第二个",
        zh_tw: "一個步驟只有一個鍵，這是第二個",
    }
    script_begin_new_step() {
        en: "begin a new step with `- `",
        zh_cn: "新步骤以 `- ` 开头",
        zh_tw: "新步驟以 `- ` 開頭",
    }
    script_step_empty() { en: "this step is empty", zh_cn: "这个步骤是空的", zh_tw: "這個步驟是空的" }
    script_not_a_step() { en: "this is not a step", zh_cn: "这不是步骤", zh_tw: "這不是步驟" }
    script_step_is_one_key() {
        en: "a step is exactly one key, as in `- say: hello`",
        zh_cn: "一个步骤只有一个键，如 `- say: hello`",
        zh_tw: "一個步驟只有一個鍵，如 `- say: hello`",
    }
    script_list_expected() { en: "expected a list", zh_cn: "这里应是列表", zh_tw: "這裡應是清單" }
    script_iteration_is_list() {
        en: "an iteration is a list of steps: `- - say: hello`",
        zh_cn: "一次迭代是一个步骤列表：`- - say: hello`",
        zh_tw: "一次迭代是一個步驟清單：`- - say: hello`",
    }
    script_text_expected() { en: "expected text", zh_cn: "这里应是文本", zh_tw: "這裡應是文字" }
    script_empty_text() {
        en: "empty text is written `\"\"`",
        zh_cn: "空文本写作 `\"\"`",
        zh_tw: "空文字寫作 `\"\"`",
    }
    script_ends_early() { en: "the script ends too early", zh_cn: "脚本提前结束了", zh_tw: "腳本提前結束了" }
    script_needs_iterations() {
        en: "it needs `iterations:` with a list of steps for each",
        zh_cn: "需要 `iterations:`，每次迭代一个步骤列表",
        zh_tw: "需要 `iterations:`，每次迭代一個步驟清單",
    }
    script_one_document() {
        en: "a script is a single YAML document",
        zh_cn: "脚本只能是一个 YAML 文档",
        zh_tw: "腳本只能是一個 YAML 文件",
    }
    script_true_or_false() { en: "expected `true` or `false`", zh_cn: "应为 `true` 或 `false`", zh_tw: "應為 `true` 或 `false`" }
    script_expected(expected: &str, found: &str) {
        en: "expected {expected}, found {found}",
        zh_cn: "应为 {expected}，实际是 {found}",
        zh_tw: "應為 {expected}，實際是 {found}",
    }
    script_did_you_mean(name: &str) {
        en: "did you mean `{name}`?",
        zh_cn: "你是想写 `{name}` 吗？",
        zh_tw: "你是想寫 `{name}` 嗎？",
    }
}
