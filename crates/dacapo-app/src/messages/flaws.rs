//! What is wrong with a file that people write for milestones, and values they type.

use super::messages;

messages! {
    FLAWS, dacapo;

    flaw_at(line: usize, flaw: &str) {
        en: "line {line}: {flaw}",
        zh_cn: "第 {line} 行：{flaw}",
        zh_tw: "第 {line} 行：{flaw}",
    }
    flaw_and_hint(flaw: &str, hint: &str) {
        en: "{flaw} ({hint})",
        zh_cn: "{flaw}（{hint}）",
        zh_tw: "{flaw}（{hint}）",
    }
    flaw_too_long(bytes: usize, most: usize) {
        en: "the file has {bytes} bytes; at most {most} are read",
        zh_cn: "文件有 {bytes} 字节；最多读取 {most} 字节",
        zh_tw: "檔案有 {bytes} 位元組；最多讀取 {most} 位元組",
    }
    flaw_nul() {
        en: "a NUL byte: this is not text",
        zh_cn: "含有 NUL 字节：这不是文本",
        zh_tw: "含有 NUL 位元組：這不是文字",
    }
    flaw_empty_goal() { en: "the goal is empty", zh_cn: "目标为空", zh_tw: "目標是空的" }
    flaw_say_what_for() { en: "say what it is for", zh_cn: "写明它是为了什么", zh_tw: "寫明它是為了什麼" }
    flaw_empty_section(section: &str) {
        en: "'## {section}' is empty",
        zh_cn: "“## {section}”为空",
        zh_tw: "「## {section}」是空的",
    }
    flaw_write_one_item() {
        en: "write at least one item: '- …'",
        zh_cn: "至少写一项：“- ……”",
        zh_tw: "至少寫一項：「- ……」",
    }
    flaw_not_a_list(section: &str) {
        en: "'## {section}' is a list",
        zh_cn: "“## {section}”应是列表",
        zh_tw: "「## {section}」應是清單",
    }
    flaw_begin_items() {
        en: "begin each item with '- '",
        zh_cn: "每项以“- ”开头",
        zh_tw: "每項以「- 」開頭",
    }
    flaw_begin_or_head_items() {
        en: "begin each item with '- ', or give it a heading '### …'",
        zh_cn: "每项以“- ”开头，或使用标题“### ……”",
        zh_tw: "每項以「- 」開頭，或使用標題「### ……」",
    }
    flaw_too_many_items(section: &str, items: usize, most: usize) {
        en: "'## {section}' has {items} items; at most {most} are read",
        zh_cn: "“## {section}”有 {items} 项；最多读取 {most} 项",
        zh_tw: "「## {section}」有 {items} 項；最多讀取 {most} 項",
    }
    flaw_split() {
        en: "split the milestone",
        zh_cn: "请拆成多个里程碑",
        zh_tw: "請拆成多個里程碑",
    }
    flaw_wrong_id(own: &str, written: &str) {
        en: "this is {own}, not {written}: ids follow the order",
        zh_cn: "这是 {own}，不是 {written}：编号按顺序排列",
        zh_tw: "這是 {own}，不是 {written}：編號依順序排列",
    }
    flaw_leave_id_out() { en: "leave the id out", zh_cn: "去掉编号即可", zh_tw: "去掉編號即可" }
    flaw_says_nothing(id: &str) { en: "{id} is empty", zh_cn: "{id} 为空", zh_tw: "{id} 是空的" }
    flaw_empty_accept(id: &str) {
        en: "{id} has an empty 'Accept:'",
        zh_cn: "{id} 的“Accept:”为空",
        zh_tw: "{id} 的「Accept:」是空的",
    }
    flaw_say_when_accepted() {
        en: "say when it is accepted",
        zh_cn: "写明怎样算通过验收",
        zh_tw: "寫明怎樣算通過驗收",
    }
    flaw_fence_open() {
        en: "a code fence is never closed",
        zh_cn: "代码块没有结束",
        zh_tw: "程式碼區塊沒有結束",
    }
    flaw_close_fence() {
        en: "end it with a line of the same marks",
        zh_cn: "用一行同样的标记结束它",
        zh_tw: "用一行同樣的標記結束它",
    }
    flaw_comment_open() {
        en: "a comment is never closed",
        zh_cn: "注释没有结束",
        zh_tw: "註解沒有結束",
    }
    flaw_close_comment() { en: "end it with '-->'", zh_cn: "用“-->”结束它", zh_tw: "用「-->」結束它" }
    flaw_section_twice(section: &str, first: usize) {
        en: "'## {section}' is already in line {first}",
        zh_cn: "第 {first} 行已有“## {section}”",
        zh_tw: "第 {first} 行已有「## {section}」",
    }
    flaw_unknown_section(written: &str) {
        en: "'## {written}' is not a section",
        zh_cn: "没有“## {written}”这一节",
        zh_tw: "沒有「## {written}」這一節",
    }
    flaw_missing_section(section: &str) {
        en: "the section '## {section}' is missing",
        zh_cn: "缺少“## {section}”一节",
        zh_tw: "缺少「## {section}」一節",
    }
    flaw_all_sections() {
        en: "a milestone has the sections '## Goal', '## Features', '## Acceptance Criteria'",
        zh_cn: "里程碑有“## Goal”、“## Features”、“## Acceptance Criteria”三节",
        zh_tw: "里程碑有「## Goal」、「## Features」、「## Acceptance Criteria」三節",
    }
    flaw_not_a_setting() { en: "not a setting", zh_cn: "这不是设置", zh_tw: "這不是設定" }
    flaw_write_key_value() { en: "write 'key: value'", zh_cn: "请写“key: value”", zh_tw: "請寫「key: value」" }
    flaw_setting_twice(key: &str, first: usize) {
        en: "'{key}' is already set in line {first}",
        zh_cn: "“{key}”已在第 {first} 行设置",
        zh_tw: "「{key}」已在第 {first} 行設定",
    }
    flaw_unknown_setting(key: &str) {
        en: "'{key}' is not a setting",
        zh_cn: "没有“{key}”这项设置",
        zh_tw: "沒有「{key}」這項設定",
    }
    flaw_wrong_value(key: &str, value: &str) {
        en: "{key}: invalid value '{value}'",
        zh_cn: "{key}：值“{value}”无效",
        zh_tw: "{key}：值「{value}」無效",
    }
    flaw_expected(expected: &str) { en: "expected {expected}", zh_cn: "应为{expected}", zh_tw: "應為{expected}" }
    flaw_front_matter_open() {
        en: "the front matter is never closed",
        zh_cn: "front matter 没有结束",
        zh_tw: "front matter 沒有結束",
    }
    flaw_close_front_matter() {
        en: "close it with a line '---'",
        zh_cn: "用一行“---”结束它",
        zh_tw: "用一行「---」結束它",
    }
    flaw_braces_open() {
        en: "'{{{{' is not closed in this line",
        zh_cn: "这一行的“{{{{”没有结束",
        zh_tw: "這一行的「{{{{」沒有結束",
    }
    flaw_close_braces() {
        en: "write {{{{name}}}}; '\\{{{{' stands for the braces",
        zh_cn: "请写 {{{{name}}}}；要写花括号本身用“\\{{{{”",
        zh_tw: "請寫 {{{{name}}}}；要寫大括號本身用「\\{{{{」",
    }
    flaw_unknown_placeholder(name: &str, file: &str) {
        en: "'{{{{{name}}}}}' is not known in {file}",
        zh_cn: "{file} 中没有“{{{{{name}}}}}”",
        zh_tw: "{file} 中沒有「{{{{{name}}}}}」",
    }
    flaw_reads_otherwise() {
        en: "a title, a feature or a criterion would read as something else in the file",
        zh_cn: "标题、功能或验收标准写入文件后会有别的含义",
        zh_tw: "標題、功能或驗收標準寫入檔案後會有別的含義",
    }
    flaw_leave_marks_out() {
        en: "leave headings and list marks out",
        zh_cn: "去掉标题和列表标记",
        zh_tw: "去掉標題和清單標記",
    }

    value_such_as(what: &str, examples: &str) {
        en: "{what} such as {examples}",
        zh_cn: "{what}，如 {examples}",
        zh_tw: "{what}，如 {examples}",
    }
    value_or() { en: " or ", zh_cn: " 或 ", zh_tw: " 或 " }
    value_a_count() { en: "a count", zh_cn: "次数", zh_tw: "次數" }
    value_a_duration() { en: "a duration", zh_cn: "时长", zh_tw: "時長" }
    value_an_amount() { en: "an amount", zh_cn: "金额", zh_tw: "金額" }
    value_an_amount_in_usd() { en: "an amount in USD", zh_cn: "美元金额", zh_tw: "美元金額" }
    value_a_day() { en: "a day", zh_cn: "日期", zh_tw: "日期" }
    value_an_agent() { en: "the name of an agent", zh_cn: "智能体的名称", zh_tw: "代理的名稱" }
}
