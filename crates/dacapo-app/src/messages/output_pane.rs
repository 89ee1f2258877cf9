//! The pane of the terminal app that shows what an agent printed.

use super::messages;

messages! {
    OUTPUT_PANE, dacapo;

    output_lines(number: u64) { en: (number: "1 line", "{number} lines"), zh_cn: "{number} 行", zh_tw: "{number} 行" }
    output_follows() { en: "following", zh_cn: "跟随中", zh_tw: "跟隨中" }
    output_lines_below(number: u64) {
        en: (number: "1 line below", "{number} lines below"),
        zh_cn: "下方还有 {number} 行",
        zh_tw: "下方還有 {number} 行",
    }
    output_bytes_below(size: &str) { en: "{size} below", zh_cn: "下方还有 {size}", zh_tw: "下方還有 {size}" }
    output_reading(percent: u64) { en: "reading {percent} %", zh_cn: "正在读取 {percent} %", zh_tw: "正在讀取 {percent} %" }
    output_searching(percent: u64) {
        en: "searching {percent} %, Esc stops",
        zh_cn: "正在搜索 {percent} %，Esc 停止",
        zh_tw: "正在搜尋 {percent} %，Esc 停止",
    }
    output_not_below(text: &str) { en: "no \"{text}\" below", zh_cn: "下方没有“{text}”", zh_tw: "下方沒有「{text}」" }
    output_not_above(text: &str) { en: "no \"{text}\" above", zh_cn: "上方没有“{text}”", zh_tw: "上方沒有「{text}」" }
    output_match(place: u64, of: u64) { en: "{place} of {of}", zh_cn: "第 {place} 处，共 {of} 处", zh_tw: "第 {place} 處，共 {of} 處" }
    output_search_ended() { en: "search ended", zh_cn: "搜索已结束", zh_tw: "搜尋已結束" }
    output_search_for() { en: "search: ", zh_cn: "搜索：", zh_tw: "搜尋：" }
    output_nothing_yet() { en: "nothing was printed yet", zh_cn: "还没有输出", zh_tw: "還沒有輸出" }
    output_side_raw() { en: "raw", zh_cn: "原始输出", zh_tw: "原始輸出" }
    output_side_stderr() { en: "stderr", zh_cn: "标准错误", zh_tw: "標準錯誤" }
    output_no_search_yet() {
        en: "nothing was searched for yet: Ctrl-F",
        zh_cn: "还没有搜索内容：按 Ctrl-F",
        zh_tw: "還沒有搜尋內容：按 Ctrl-F",
    }
    output_key_follow() { en: "follow", zh_cn: "跟随", zh_tw: "跟隨" }
    output_key_hold() { en: "stop following", zh_cn: "停止跟随", zh_tw: "停止跟隨" }
    output_key_search() { en: "search", zh_cn: "搜索", zh_tw: "搜尋" }
    output_key_next() { en: "next match", zh_cn: "下一处", zh_tw: "下一處" }
    output_key_previous() { en: "previous match", zh_cn: "上一处", zh_tw: "上一處" }
    output_key_scroll() { en: "scroll the output", zh_cn: "滚动输出", zh_tw: "捲動輸出" }
    output_key_start() { en: "to the start", zh_cn: "到开头", zh_tw: "到開頭" }
    output_key_end() { en: "to the end", zh_cn: "到末尾", zh_tw: "到結尾" }
    output_key_unfold() { en: "unfold a tool call", zh_cn: "展开工具调用", zh_tw: "展開工具呼叫" }
    output_key_calls() { en: "previous and next tool call", zh_cn: "上一个、下一个工具调用", zh_tw: "上一個、下一個工具呼叫" }
    output_key_unfold_all() { en: "unfold or fold all", zh_cn: "全部展开或折叠", zh_tw: "全部展開或摺疊" }
    output_key_side() { en: "messages, raw, stderr", zh_cn: "消息、原始输出、标准错误", zh_tw: "訊息、原始輸出、標準錯誤" }
    output_copied() { en: "copied", zh_cn: "已复制", zh_tw: "已複製" }
    output_key_copy() { en: "copy what is shown", zh_cn: "复制所显示的内容", zh_tw: "複製所顯示的內容" }
}
