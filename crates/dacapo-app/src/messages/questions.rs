//! Questions to the person at the terminal. Keys and the first eight columns are part of the text.

use super::messages;

messages! {
    QUESTIONS, dacapo;

    question_check(command: &str, evidence: &str) {
        en: "check   {command} ({evidence})",
        zh_cn: "检查    {command}（{evidence}）",
        zh_tw: "檢查    {command}（{evidence}）",
    }
    question_setup(command: &str, evidence: &str) {
        en: "setup   {command} ({evidence})",
        zh_cn: "准备    {command}（{evidence}）",
        zh_tw: "準備    {command}（{evidence}）",
    }
    question_plan(path: &str) {
        en: "plan    {path} (committed, unchanged)",
        zh_cn: "计划    {path}（已提交，没有改动）",
        zh_tw: "計畫    {path}（已提交，沒有變更）",
    }
    question_use_checks(number: usize) {
        en: (number: "use it? [Enter] yes  [n]o", "use them? [Enter] yes  [n]o"),
        zh_cn: "使用吗？ [Enter] 是  [n] 否",
        zh_tw: "要使用嗎？ [Enter] 是  [n] 否",
    }
    question_not_asked(number: usize) {
        en: (number: "not asked whether to use it, because there was unread input: used this time",
             "not asked whether to use them, because there was unread input: used this time"),
        zh_cn: "有输入在等待，所以没有询问是否使用：这次直接使用",
        zh_tw: "有輸入在等待，所以沒有詢問是否使用：這次直接使用",
    }
    question_run_setup(number: usize) {
        en: (number: "run it in fresh checkouts, so that checks can be proven? [Enter] yes  [n]o", "run them in fresh checkouts, so that checks can be proven? [Enter] yes  [n]o"),
        zh_cn: "在新的检出中运行，以便证明检查结果？ [Enter] 是  [n] 否",
        zh_tw: "在新的簽出中執行，以便證明檢查結果？ [Enter] 是  [n] 否",
    }
    question_use_plan() {
        en: "use it, now and until it changes? [y]es  [Enter] no",
        zh_cn: "现在使用，直到它有改动？ [y] 是  [Enter] 否",
        zh_tw: "現在使用，直到它有變更？ [y] 是  [Enter] 否",
    }
    question_trust_it() {
        en: "Trust it, until it changes? [y/N]",
        zh_cn: "信任它，直到它有改动？ [y/N]",
        zh_tw: "信任它，直到它有變更？ [y/N]",
    }
    question_trust_all() {
        en: "Trust all of this, until it changes? [y/N]",
        zh_cn: "信任以上全部内容，直到它有改动？ [y/N]",
        zh_tw: "信任以上全部內容，直到它有變更？ [y/N]",
    }
}
