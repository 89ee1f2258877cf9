//! What stands in front of a text and says what it is. A space at the end is part of it.

use super::messages;

messages! {
    LABELS, dacapo;

    label_error() { en: "error: ", zh_cn: "错误：", zh_tw: "錯誤：" }
    /// What a failure left untouched.
    label_kept() { en: "kept: ", zh_cn: "已保留：", zh_tw: "已保留：" }
    /// The best thing to do after a failure.
    label_do() { en: "do: ", zh_cn: "下一步：", zh_tw: "下一步：" }
    /// Another thing that can be done.
    label_or() { en: "or: ", zh_cn: "或者：", zh_tw: "或者：" }
    /// Two clauses of one sentence.
    clauses(first: &str, second: &str) { en: "{first}; {second}", zh_cn: "{first}；{second}", zh_tw: "{first}；{second}" }
    /// Between the items of a list.
    comma() { en: ", ", zh_cn: "，", zh_tw: "，" }
    label_note() { en: "note    ", zh_cn: "提示    ", zh_tw: "提示    " }
    label_warning() { en: "warning: ", zh_cn: "警告：", zh_tw: "警告：" }
}
