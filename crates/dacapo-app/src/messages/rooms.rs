//! How agents are confined (R5).

use super::messages;

messages! {
    ROOMS, dacapo;

    room_holds(mode: &str, tried: &str) {
        en: "Confined ({mode}): tried from inside and found closed: {tried}",
        zh_cn: "已限制（{mode}）：从内部试过，均无法绕过：{tried}",
        zh_tw: "已限制（{mode}）：從內部試過，均無法繞過：{tried}",
    }
    room_by_landlock(mode: &str, why: &str) {
        en: "Confined ({mode}) by Landlock alone, without a mount namespace ({why})",
        zh_cn: "仅由 Landlock 限制（{mode}），没有挂载命名空间（{why}）",
        zh_tw: "僅由 Landlock 限制（{mode}），沒有掛載命名空間（{why}）",
    }
    room_missing(why: &str) {
        en: "Not confined: this system gives no mount namespace ({why}). Changes to Dacapo's data and settings are found afterwards, not prevented",
        zh_cn: "未限制：本系统不提供挂载命名空间（{why}）。对 Dacapo 数据和设置的修改只能事后发现，不能阻止",
        zh_tw: "未限制：本系統不提供掛載命名空間（{why}）。對 Dacapo 資料和設定的修改只能事後發現，不能阻止",
    }
    room_open(open: &str) {
        en: "The room of the agents has a way out: {open}",
        zh_cn: "智能体的限制有漏洞：{open}",
        zh_tw: "代理的限制有漏洞：{open}",
    }
    room_no_new_task() {
        en: "this command runs inside a task, from where no other task can be started in the same data directory: it cannot be written there",
        zh_cn: "此命令在任务内部运行，无法在同一数据目录中启动其他任务：那里不能写入",
        zh_tw: "此命令在任務內部執行，無法在同一資料目錄中啟動其他任務：那裡不能寫入",
    }
    room_unneeded() {
        en: "agents are not confined (room = \"none\")",
        zh_cn: "不限制智能体（room = \"none\"）",
        zh_tw: "不限制代理（room = \"none\"）",
    }
    room_trial_write() { en: "a write", zh_cn: "写入", zh_tw: "寫入" }
    room_trial_signal() { en: "a signal", zh_cn: "信号", zh_tw: "訊號" }
    room_trial_unmount() { en: "an unmount", zh_cn: "卸载", zh_tw: "卸載" }
    room_trial_namespace() { en: "a nested namespace", zh_cn: "嵌套命名空间", zh_tw: "巢狀命名空間" }
    room_trial_rename() { en: "a renamed parent directory", zh_cn: "重命名上级目录", zh_tw: "重新命名上層目錄" }
    room_trial_descriptor() { en: "an inherited descriptor", zh_cn: "继承的描述符", zh_tw: "繼承的描述元" }
    room_sandbox_impossible(why: &str) {
        en: "this machine cannot hold an agent in a sandbox: {why}",
        zh_cn: "本机无法把智能体限制在沙箱中：{why}",
        zh_tw: "本機無法把代理限制在沙箱中：{why}",
    }
    room_see_doctor() {
        en: "see what holds here: {dacapo}doctor",
        zh_cn: "查看本机能做到什么：{dacapo}doctor",
        zh_tw: "查看本機能做到什麼：{dacapo}doctor",
    }
    room_without_sandbox() {
        en: "or run it without --sandbox, and with `room = \"guarded\"`",
        zh_cn: "或不用 --sandbox 运行，并设 `room = \"guarded\"`",
        zh_tw: "或不用 --sandbox 執行，並設 `room = \"guarded\"`",
    }
    doctor_room_no_sudo() {
        en: "Programs with the setuid bit (sudo) do not work there",
        zh_cn: "带 setuid 位的程序（sudo）在其中无效",
        zh_tw: "帶 setuid 位元的程式（sudo）在其中無效",
    }
}
