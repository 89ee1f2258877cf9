//! What is said before a task starts: `dacapo "PROMPT"`, `--dry-run`, `demo`.

use super::messages;

messages! {
    STARTING, dacapo;

    start_no_check_promise() {
        en: "none: it is done when the agent says so, unproven",
        zh_cn: "无：智能体说完成即完成，未经证明",
        zh_tw: "無：代理說完成即完成，未經證明",
    }
    start_no_check_configured() { en: "none (config)", zh_cn: "无（配置）", zh_tw: "無（設定）" }
    start_check_configured(checks: &str) { en: "{checks} (config)", zh_cn: "{checks}（配置）", zh_tw: "{checks}（設定）" }
    start_no_check_chosen() {
        en: "none, as you chose (--checks asks again): unproven",
        zh_cn: "无，按你的选择（--checks 会再次询问）：未经证明",
        zh_tw: "無，依你的選擇（--checks 會再次詢問）：未經證明",
    }
    start_check_chosen(checks: &str) { en: "{checks} (as you chose)", zh_cn: "{checks}（按你的选择）", zh_tw: "{checks}（依你的選擇）" }
    start_no_check_found() {
        en: "none found: it is done when the agent says so, unproven",
        zh_cn: "未找到：智能体说完成即完成，未经证明",
        zh_tw: "找不到：代理說完成即完成，未經證明",
    }
    start_reading_terminal() {
        en: "reading the prompt from this terminal; Ctrl-D on a line of its own ends it",
        zh_cn: "正在从此终端读取提示词；在空行按 Ctrl-D 结束",
        zh_tw: "正在從此終端機讀取提示詞；在空行按 Ctrl-D 結束",
    }
    start_stdin_unreadable(error: &str) {
        en: "cannot read the prompt from standard input: {error}",
        zh_cn: "无法从标准输入读取提示词：{error}",
        zh_tw: "無法從標準輸入讀取提示詞：{error}",
    }
    start_prompt_file() {
        en: "{dacapo}spawn --prompt-file FILE reads it from a file",
        zh_cn: "{dacapo}spawn --prompt-file FILE 可从文件读取",
        zh_tw: "{dacapo}spawn --prompt-file FILE 可從檔案讀取",
    }
    start_not_utf8() { en: "the prompt is not UTF-8 text", zh_cn: "提示词不是 UTF-8 文本", zh_tw: "提示詞不是 UTF-8 文字" }
    start_convert() {
        en: "convert it, for example with iconv",
        zh_cn: "请转换编码，例如使用 iconv",
        zh_tw: "請轉換編碼，例如使用 iconv",
    }
    start_prompt_empty() { en: "the prompt is empty", zh_cn: "提示词为空", zh_tw: "提示詞為空" }
    start_prompt_example() {
        en: "dacapo \"what the agent should do\"",
        zh_cn: "dacapo \"让智能体做的事\"",
        zh_tw: "dacapo \"讓代理做的事\"",
    }
    start_kept_nothing_started() {
        en: "everything; nothing was started",
        zh_cn: "全部内容；没有启动任何任务",
        zh_tw: "全部內容；沒有啟動任何任務",
    }
    start_cancelled() { en: "cancelled", zh_cn: "已取消", zh_tw: "已取消" }
    start_subscription() { en: "subscription", zh_cn: "订阅计费", zh_tw: "訂閱計費" }
    start_skips_prompts() {
        en: "skips permission prompts",
        zh_cn: "跳过权限确认",
        zh_tw: "略過權限確認",
    }
    start_billed_to(variable: &str) { en: "billed to {variable}", zh_cn: "费用记在 {variable}", zh_tw: "費用記在 {variable}" }
    start_billed_to_key(place: &str) {
        en: "billed to the API key in {place}",
        zh_cn: "费用记在 {place} 中的 API 密钥上",
        zh_tw: "費用記在 {place} 中的 API 金鑰上",
    }
    start_not_asked_about_check() {
        en: "not asked about the check, because there was unread input: used this time",
        zh_cn: "由于有未读的输入，没有询问检查：本次使用",
        zh_tw: "由於有未讀的輸入，沒有詢問檢查：本次使用",
    }
    start_check_keys() {
        en: "[Enter] use  [e]dit  [n]one ",
        zh_cn: "[Enter] 使用  [e] 编辑  [n] 不用 ",
        zh_tw: "[Enter] 使用  [e] 編輯  [n] 不用 ",
    }
    start_this_checkout() { en: "this checkout", zh_cn: "当前工作区", zh_tw: "目前的工作目錄" }
    start_uncommitted_stay(files: u64) {
        en: (files: " · your 1 uncommitted file stays here", " · your {files} uncommitted files stay here"),
        zh_cn: " · 你的 {files} 个未提交的文件留在这里",
        zh_tw: " · 你的 {files} 個未提交的檔案留在這裡",
    }
    start_no_cost_limit(limits: &str, payer: &str) {
        en: "{limits}; no cost limit: {payer}, and [prices] is not set",
        zh_cn: "{limits}；费用没有上限：{payer}，且未设置 [prices]",
        zh_tw: "{limits}；費用沒有上限：{payer}，且未設定 [prices]",
    }

    dry_run_foreground(task: &str) {
        en: "{task} would run in the foreground",
        zh_cn: "{task} 将在前台运行",
        zh_tw: "{task} 將在前景執行",
    }
    dry_run_background(task: &str) {
        en: "{task} would run in the background",
        zh_cn: "{task} 将在后台运行",
        zh_tw: "{task} 將在背景執行",
    }
    dry_run_from(commit: &str) { en: ", from {commit}", zh_cn: "，从 {commit} 开始", zh_tw: "，從 {commit} 開始" }
    dry_run_agent_says(promise: &str) {
        en: "the agent says {promise}",
        zh_cn: "智能体输出 {promise}",
        zh_tw: "代理輸出 {promise}",
    }
    dry_run_no_check() {
        en: "none: nothing would be proven",
        zh_cn: "无：不会证明任何内容",
        zh_tw: "無：不會證明任何內容",
    }
    dry_run_word_counts() {
        en: "none: only the agent's word counts",
        zh_cn: "无：只凭智能体自己的话",
        zh_tw: "無：只憑代理自己的話",
    }
    dry_run_nothing_started() {
        en: "nothing was started; leave out --dry-run to start it",
        zh_cn: "没有启动；去掉 --dry-run 即可启动",
        zh_tw: "沒有啟動；去掉 --dry-run 即可啟動",
    }
    dry_run_secret() {
        en: "… (a secret: not stored)",
        zh_cn: "……（密钥：不保存）",
        zh_tw: "……（金鑰：不儲存）",
    }
    dry_run_stdin(command: &str) {
        en: "{command}   (prompt on standard input)",
        zh_cn: "{command}   （提示词来自标准输入）",
        zh_tw: "{command}   （提示詞來自標準輸入）",
    }

    demo_intro() {
        en: "# a scratch repository, and a scripted agent that costs nothing",
        zh_cn: "# 一个临时仓库，和一个不花钱的脚本智能体",
        zh_tw: "# 一個暫存儲存庫，和一個不花錢的腳本代理",
    }
    demo_nothing_spent() {
        en: "# the cost is the script's: nothing was spent",
        zh_cn: "# 费用只是脚本中的数字：没有花钱",
        zh_tw: "# 費用只是腳本中的數字：沒有花錢",
    }
    demo_cannot_make_folder(error: &str) {
        en: "the demo cannot create a directory: {error}",
        zh_cn: "演示无法创建目录：{error}",
        zh_tw: "示範無法建立目錄：{error}",
    }
    demo_cannot_write(error: &str) {
        en: "the demo cannot write a file: {error}",
        zh_cn: "演示无法写入文件：{error}",
        zh_tw: "示範無法寫入檔案：{error}",
    }
    demo_cannot_clear_up(error: &str) {
        en: "the demo cannot clean up: {error}",
        zh_cn: "演示无法清理：{error}",
        zh_tw: "示範無法清理：{error}",
    }
    demo_cannot_start(error: &str) {
        en: "the demo cannot start: {error}",
        zh_cn: "演示无法启动：{error}",
        zh_tw: "示範無法啟動：{error}",
    }
    own_program_missing(error: &str) {
        en: "cannot find the dacapo program itself: {error}",
        zh_cn: "找不到 dacapo 程序本身：{error}",
        zh_tw: "找不到 dacapo 程式本身：{error}",
    }
    scratch_no_git(error: &str) {
        en: "cannot run git: {error}",
        zh_cn: "无法运行 git：{error}",
        zh_tw: "無法執行 git：{error}",
    }
    scratch_failed(command: &str, said: &str) {
        en: "git {command} failed in a scratch repository: {said}",
        zh_cn: "git {command} 在临时仓库中失败：{said}",
        zh_tw: "git {command} 在暫存儲存庫中失敗：{said}",
    }
}
