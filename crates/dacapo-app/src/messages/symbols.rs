//! The legend of symbols.

use super::messages;

messages! {
    SYMBOLS, dacapo;

    symbols_heading() {
        en: "Symbols (green is used only for what is proven):",
        zh_cn: "符号（有颜色时，只有已证明的才是绿色）：",
        zh_tw: "符號（有顏色時，只有已證明的才是綠色）：",
    }
    symbol_passed() {
        en: "passed: a check, an iteration whose checks pass, a proven task",
        zh_cn: "通过：检查、检查通过的迭代、已证明的任务",
        zh_tw: "通過：檢查、檢查通過的迭代、已證明的任務",
    }
    symbol_unverified() {
        en: "the agent finished; no check judged it",
        zh_cn: "成功，但没有检查来判断",
        zh_tw: "成功，但沒有檢查來判斷",
    }
    symbol_not_yet() {
        en: "the agent finished, but a check or the proof failed; in milestones, an open feature",
        zh_cn: "成功，但检查或证明失败；尚未完成的功能",
        zh_tw: "成功，但檢查或證明失敗；尚未完成的功能",
    }
    symbol_failed() { en: "it failed", zh_cn: "失败", zh_tw: "失敗" }
    symbol_stopped() {
        en: "stopped at a limit, or cancelled",
        zh_cn: "达到上限而停止，或已取消",
        zh_tw: "達到上限而停止，或已取消",
    }
    symbol_paused() {
        en: "paused, by you or because it needs your decision",
        zh_cn: "已暂停：由你暂停，或需要你决定",
        zh_tw: "已暫停：由你暫停，或需要你決定",
    }
    symbol_doing() { en: "what the agent is doing", zh_cn: "智能体正在做的事", zh_tw: "代理正在做的事" }
    symbol_warning() {
        en: "look at this: tests, CI, checks or settings changed",
        zh_cn: "请留意：测试、CI、检查或配置有改动",
        zh_tw: "請留意：測試、CI、檢查或設定有變更",
    }
    symbol_red_to_green() {
        en: "the check failed before and passes now",
        zh_cn: "检查之前失败，现在通过",
        zh_tw: "檢查先前失敗，現在通過",
    }
    symbol_not_there() { en: "not found, not configured", zh_cn: "未找到，未配置", zh_tw: "找不到，尚未設定" }
}
