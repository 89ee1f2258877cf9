//! `dacapo milestone`: what is refused, and what `list` and `new` say.

use super::messages;

messages! {
    MILESTONES, dacapo;

    milestones_step_unreadable(error: &str) {
        en: "cannot read the milestone's step: {error}",
        zh_cn: "无法读取里程碑的步骤：{error}",
        zh_tw: "無法讀取里程碑的步驟：{error}",
    }
    milestones_unreadable(error: &str) {
        en: "cannot read the milestones of this repository: {error}",
        zh_cn: "无法读取此仓库的里程碑：{error}",
        zh_tw: "無法讀取此儲存庫的里程碑：{error}",
    }
    milestones_task_is_none() {
        en: "its task is not a milestone",
        zh_cn: "它的任务不是里程碑",
        zh_tw: "它的任務不是里程碑",
    }
    milestones_task_unreadable(error: &str) {
        en: "cannot read its task: {error}",
        zh_cn: "无法读取它的任务：{error}",
        zh_tw: "無法讀取它的任務：{error}",
    }
    milestones_problem_changed(id: &str) {
        en: "its file was changed since it was started; {dacapo}milestone resume {id} --refreeze uses the new text",
        zh_cn: "启动后它的文件被改动过；{dacapo}milestone resume {id} --refreeze 采用新内容",
        zh_tw: "啟動後它的檔案被變更過；{dacapo}milestone resume {id} --refreeze 採用新內容",
    }
    milestones_problem_no_file() {
        en: "its file is gone",
        zh_cn: "它的文件已不存在",
        zh_tw: "它的檔案已不存在",
    }
    milestones_problem_task_gone(status: &str, id: &str) {
        en: "it was {status}, and its task is gone; if it was dropped, {dacapo}undo {id} brings it back",
        zh_cn: "它之前的状态为“{status}”，任务已不存在；如果是被丢弃的，{dacapo}undo {id} 可以找回",
        zh_tw: "它之前的狀態為「{status}」，任務已不存在；如果是被捨棄的，{dacapo}undo {id} 可以找回",
    }
    milestones_problem_name_taken(id: &str) {
        en: "a task that is not a milestone has this name; {dacapo}drop {id} frees it",
        zh_cn: "已有同名的任务，但它不是里程碑；{dacapo}drop {id} 可以腾出名称",
        zh_tw: "已有同名的任務，但它不是里程碑；{dacapo}drop {id} 可以騰出名稱",
    }
    milestones_not_a_file() { en: "it is not a file", zh_cn: "它不是文件", zh_tw: "它不是檔案" }
    milestones_text_unreadable(error: &str) {
        en: "it cannot be read: {error}",
        zh_cn: "无法读取：{error}",
        zh_tw: "無法讀取：{error}",
    }
    milestones_text_too_large(bytes: usize) {
        en: "it is larger than {bytes} bytes",
        zh_cn: "它超过了 {bytes} 字节",
        zh_tw: "它超過了 {bytes} 位元組",
    }
    milestones_text_not_utf8(line: usize) {
        en: "line {line} is not UTF-8",
        zh_cn: "第 {line} 行不是 UTF-8",
        zh_tw: "第 {line} 行不是 UTF-8",
    }
    milestones_not_a_mirror(error: &str) {
        en: "it does not describe a milestone: {error}",
        zh_cn: "它不是里程碑的状态文件：{error}",
        zh_tw: "它不是里程碑的狀態檔：{error}",
    }
    milestones_not_an_id(name: &str) {
        en: "'{name}' is not an ID: use 1 to 64 of a-z, 0-9, '_' and '-', not starting with '-'",
        zh_cn: "“{name}”不是有效的 ID：请用 1 到 64 个 a-z、0-9、“_”或“-”，且不能以“-”开头",
        zh_tw: "「{name}」不是有效的 ID：請用 1 到 64 個 a-z、0-9、「_」或「-」，且不能以「-」開頭",
    }
    milestones_not_found(id: &str) {
        en: "Milestone '{id}' not found",
        zh_cn: "找不到里程碑“{id}”",
        zh_tw: "找不到里程碑「{id}」",
    }
    milestones_list_shows() {
        en: "{dacapo}milestone list shows the milestones of this repository",
        zh_cn: "{dacapo}milestone list 列出此仓库的里程碑",
        zh_tw: "{dacapo}milestone list 列出此儲存庫的里程碑",
    }
    milestones_new_writes(id: &str) {
        en: "{dacapo}milestone new {id} creates it",
        zh_cn: "{dacapo}milestone new {id} 创建它",
        zh_tw: "{dacapo}milestone new {id} 建立它",
    }
    milestones_for_example(id: &str) {
        en: "for example {id}",
        zh_cn: "例如 {id}",
        zh_tw: "例如 {id}",
    }
    milestones_no_definition(id: &str, path: &str) {
        en: "milestone '{id}' has no definition: {path} is gone",
        zh_cn: "里程碑“{id}”没有定义：{path} 已不存在",
        zh_tw: "里程碑「{id}」沒有定義：{path} 已不存在",
    }
    milestones_already_started(id: &str, status: &str) {
        en: "milestone '{id}' was already started ({status})",
        zh_cn: "里程碑“{id}”已经启动过（{status}）",
        zh_tw: "里程碑「{id}」已經啟動過（{status}）",
    }
    milestones_other_task_exists(id: &str) {
        en: "Task '{id}' already exists, and is not a milestone",
        zh_cn: "任务“{id}”已存在，且不是里程碑",
        zh_tw: "任務「{id}」已存在，且不是里程碑",
    }
    milestones_rename_file() {
        en: "give the milestone's file another name",
        zh_cn: "给里程碑文件换一个名称",
        zh_tw: "給里程碑檔案換一個名稱",
    }
    milestones_undo_task(id: &str) {
        en: "if its task was dropped, {dacapo}undo {id} brings it back",
        zh_cn: "如果任务是被丢弃的，{dacapo}undo {id} 可以找回",
        zh_tw: "如果任務是被捨棄的，{dacapo}undo {id} 可以找回",
    }
    milestones_remove_mirror(id: &str) {
        en: "remove .dacapo/milestones/{id}.json to start it over",
        zh_cn: "删除 .dacapo/milestones/{id}.json 可重新开始",
        zh_tw: "刪除 .dacapo/milestones/{id}.json 可重新開始",
    }
    milestones_error(id: &str, error: &str) {
        en: "milestone '{id}': {error}",
        zh_cn: "里程碑“{id}”：{error}",
        zh_tw: "里程碑「{id}」：{error}",
    }
    milestones_attach_shows(id: &str) {
        en: "{dacapo}attach {id} shows it",
        zh_cn: "{dacapo}attach {id} 查看它",
        zh_tw: "{dacapo}attach {id} 查看它",
    }
    milestones_merge(id: &str) {
        en: "{dacapo}merge {id} merges it",
        zh_cn: "{dacapo}merge {id} 合并它",
        zh_tw: "{dacapo}merge {id} 合併它",
    }
    milestones_resume(id: &str) {
        en: "{dacapo}milestone resume {id} continues it",
        zh_cn: "{dacapo}milestone resume {id} 继续运行",
        zh_tw: "{dacapo}milestone resume {id} 繼續執行",
    }
    milestones_show(id: &str) {
        en: "{dacapo}milestone show {id} shows its state",
        zh_cn: "{dacapo}milestone show {id} 显示它的状态",
        zh_tw: "{dacapo}milestone show {id} 顯示它的狀態",
    }
    milestones_check_empty() { en: "--check is empty", zh_cn: "--check 为空", zh_tw: "--check 是空的" }
    milestones_rounds_too_few(id: &str, used: u32, rounds: u32) {
        en: (used: "milestone '{id}' has used 1 round: --rounds {rounds} leaves none", "milestone '{id}' has used {used} rounds: --rounds {rounds} leaves none"),
        zh_cn: "里程碑“{id}”已用 {used} 轮：--rounds {rounds} 没有剩余",
        zh_tw: "里程碑「{id}」已用 {used} 輪：--rounds {rounds} 沒有剩餘",
    }
    milestones_not_one(id: &str) {
        en: "Task '{id}' is not a milestone",
        zh_cn: "任务“{id}”不是里程碑",
        zh_tw: "任務「{id}」不是里程碑",
    }
    milestones_resume_task(id: &str) {
        en: "{dacapo}resume {id}, or give the milestone's file another name",
        zh_cn: "{dacapo}resume {id}，或给里程碑文件换一个名称",
        zh_tw: "{dacapo}resume {id}，或給里程碑檔案換一個名稱",
    }
    milestones_pending(id: &str) {
        en: "milestone '{id}' is pending: it was never started",
        zh_cn: "里程碑“{id}”待启动：从未启动过",
        zh_tw: "里程碑「{id}」待啟動：從未啟動過",
    }
    milestones_task_gone(id: &str, status: &str) {
        en: "milestone '{id}' was {status}, and its task is gone",
        zh_cn: "里程碑“{id}”的状态曾为“{status}”，它的任务已不存在",
        zh_tw: "里程碑「{id}」的狀態曾為「{status}」，它的任務已不存在",
    }
    milestones_diff_shows(path: &str) {
        en: "git diff {path} shows what was changed",
        zh_cn: "git diff {path} 显示改动",
        zh_tw: "git diff {path} 顯示變更",
    }
    milestones_awaits_verdict(id: &str) {
        en: "milestone '{id}' is waiting for your verdict",
        zh_cn: "里程碑“{id}”等待你的裁决",
        zh_tw: "里程碑「{id}」等待你的裁決",
    }
    milestones_approve_completes(id: &str) {
        en: "{dacapo}milestone approve {id} completes it",
        zh_cn: "{dacapo}milestone approve {id} 完成它",
        zh_tw: "{dacapo}milestone approve {id} 完成它",
    }
    milestones_reject_sends_back(id: &str) {
        en: "{dacapo}milestone reject {id} \"what is wrong\" sends it back",
        zh_cn: "{dacapo}milestone reject {id} \"哪里不对\" 退回它",
        zh_tw: "{dacapo}milestone reject {id} \"哪裡不對\" 退回它",
    }
    milestones_used_up(id: &str, rounds: u32) {
        en: (rounds: "milestone '{id}' has used its 1 round", "milestone '{id}' has used all of its {rounds} rounds"),
        zh_cn: "里程碑“{id}”已用完全部 {rounds} 轮",
        zh_tw: "里程碑「{id}」已用完全部 {rounds} 輪",
    }
    milestones_file_changed(path: &str) {
        en: "{path} was changed since the milestone was started",
        zh_cn: "里程碑启动后，{path} 被改动过",
        zh_tw: "里程碑啟動後，{path} 被變更過",
    }
    milestones_refreeze(id: &str) {
        en: "{dacapo}milestone resume {id} --refreeze uses the file as it is now",
        zh_cn: "{dacapo}milestone resume {id} --refreeze 按现在的内容继续",
        zh_tw: "{dacapo}milestone resume {id} --refreeze 依現在的內容繼續",
    }
    milestones_restore_file() {
        en: "or restore the file: the review uses the version frozen at the start",
        zh_cn: "或还原该文件：评审以启动时冻结的内容为准",
        zh_tw: "或還原該檔案：評審以啟動時凍結的內容為準",
    }

    milestones_completed(id: &str) {
        en: "milestone '{id}' is completed",
        zh_cn: "里程碑“{id}”已完成",
        zh_tw: "里程碑「{id}」已完成",
    }
    milestones_drop_removes(id: &str) {
        en: "{dacapo}drop {id} removes it; {dacapo}undo {id} brings it back",
        zh_cn: "{dacapo}drop {id} 丢弃它；{dacapo}undo {id} 可以找回",
        zh_tw: "{dacapo}drop {id} 捨棄它；{dacapo}undo {id} 可以找回",
    }
    milestones_verdict_on_all(id: &str) {
        en: "milestone '{id}' is waiting for a verdict on the whole milestone",
        zh_cn: "里程碑“{id}”等待对整体的裁决",
        zh_tw: "里程碑「{id}」等待對整體的裁決",
    }
    milestones_finding_not_open(finding: &str) {
        en: "finding {finding} is not open",
        zh_cn: "问题 {finding} 不是待解决状态",
        zh_tw: "問題 {finding} 不是待解決狀態",
    }
    milestones_all_settled() {
        en: "all findings are settled",
        zh_cn: "所有问题都已解决",
        zh_tw: "所有問題都已解決",
    }
    milestones_open_findings(findings: &str) {
        en: "open findings: {findings}",
        zh_cn: "待解决的问题：{findings}",
        zh_tw: "待解決的問題：{findings}",
    }
    milestones_round_accepted(round: u32, id: &str) {
        en: "round {round} of milestone '{id}' is already accepted",
        zh_cn: "里程碑“{id}”的第 {round} 轮已被接受",
        zh_tw: "里程碑「{id}」的第 {round} 輪已被接受",
    }
    milestones_round_without_report(round: u32, id: &str) {
        en: "round {round} of milestone '{id}' has no report to accept",
        zh_cn: "里程碑“{id}”的第 {round} 轮没有可以接受的报告",
        zh_tw: "里程碑「{id}」的第 {round} 輪沒有可以接受的報告",
    }
    milestones_nothing_to_overrule(id: &str) {
        en: "milestone '{id}' has no verdict to overrule now",
        zh_cn: "里程碑“{id}”目前没有可以推翻的裁决",
        zh_tw: "里程碑「{id}」目前沒有可以推翻的裁決",
    }
    milestones_resume_with_guidance(id: &str) {
        en: "{dacapo}milestone resume {id} \"what to do\" continues it with guidance",
        zh_cn: "{dacapo}milestone resume {id} \"要做什么\" 带着指示继续",
        zh_tw: "{dacapo}milestone resume {id} \"要做什麼\" 帶著指示繼續",
    }
    milestones_not_for_verdict(id: &str, question: &str) {
        en: "milestone '{id}' is not waiting for your verdict: {question}",
        zh_cn: "里程碑“{id}”不在等待你的裁决：{question}",
        zh_tw: "里程碑「{id}」不在等待你的裁決：{question}",
    }
    milestones_overrule(id: &str) {
        en: "{dacapo}milestone approve {id} overrules the Acceptor",
        zh_cn: "{dacapo}milestone approve {id} 推翻 Acceptor 的裁决",
        zh_tw: "{dacapo}milestone approve {id} 推翻 Acceptor 的裁決",
    }
    milestones_asks_nothing(id: &str, status: &str) {
        en: "milestone '{id}' is not asking anything ({status})",
        zh_cn: "里程碑“{id}”没有提问（{status}）",
        zh_tw: "里程碑「{id}」沒有提問（{status}）",
    }

    milestones_none_yet() {
        en: "no milestones yet; {dacapo}milestone new ID \"TITLE\" creates one",
        zh_cn: "还没有里程碑；{dacapo}milestone new ID \"TITLE\" 创建一个",
        zh_tw: "還沒有里程碑；{dacapo}milestone new ID \"TITLE\" 建立一個",
    }
    milestones_cannot_be_read() { en: "cannot be read", zh_cn: "无法读取", zh_tw: "無法讀取" }
    milestones_features_of(done: usize, total: usize) {
        en: "{done}/{total} features",
        zh_cn: "{done}/{total} 项功能",
        zh_tw: "{done}/{total} 項功能",
    }
    milestones_round_of(round: u32, most: u32) {
        en: "round {round} of {most}",
        zh_cn: "第 {round} 轮，共 {most} 轮",
        zh_tw: "第 {round} 輪，共 {most} 輪",
    }
    milestones_invalid(why: &str) {
        en: "this is not a valid milestone: {why}",
        zh_cn: "这不是有效的里程碑：{why}",
        zh_tw: "這不是有效的里程碑：{why}",
    }
    milestones_exists(id: &str, path: &str) {
        en: "milestone '{id}' already exists: {path}",
        zh_cn: "里程碑“{id}”已存在：{path}",
        zh_tw: "里程碑「{id}」已存在：{path}",
    }
    milestones_kept_file() { en: "the file as it is", zh_cn: "文件保持原样", zh_tw: "檔案維持原樣" }
    milestones_kept_written_file() {
        en: "the file that was written",
        zh_cn: "已写入的文件",
        zh_tw: "已寫入的檔案",
    }
    milestones_id_begun() {
        en: "a milestone with this ID was started before",
        zh_cn: "此 ID 的里程碑以前启动过",
        zh_tw: "此 ID 的里程碑以前啟動過",
    }
    milestones_id_was(status: &str) {
        en: "a milestone with this ID was {status} before",
        zh_cn: "此 ID 的里程碑以前的状态为“{status}”",
        zh_tw: "此 ID 的里程碑以前的狀態為「{status}」",
    }
    milestones_id_unreadable(error: &str) {
        en: "something of a milestone with this ID is left: {error}",
        zh_cn: "此 ID 的里程碑有残留：{error}",
        zh_tw: "此 ID 的里程碑有殘留：{error}",
    }
    milestones_id_taken(id: &str, why: &str) {
        en: "'{id}' cannot be a new milestone: {why}",
        zh_cn: "“{id}”不能作为新里程碑：{why}",
        zh_tw: "「{id}」不能作為新里程碑：{why}",
    }
    milestones_choose_id() { en: "choose another ID", zh_cn: "换一个 ID", zh_tw: "換一個 ID" }
    milestones_written(id: &str, path: &str) {
        en: "{id} is written to {path}",
        zh_cn: "{id} 已写入 {path}",
        zh_tw: "{id} 已寫入 {path}",
    }
    milestones_do_fill_in() { en: "fill it in", zh_cn: "填写内容", zh_tw: "填寫內容" }
    milestones_fill_in(sections: &str) {
        en: "fill in: {sections}",
        zh_cn: "请填写：{sections}",
        zh_tw: "請填寫：{sections}",
    }
    milestones_name_taken(id: &str) {
        en: "a task is called {id}; run {dacapo}drop {id} before you start the milestone",
        zh_cn: "已有名为 {id} 的任务；启动里程碑之前先 {dacapo}drop {id}",
        zh_tw: "已有名為 {id} 的任務；啟動里程碑之前先 {dacapo}drop {id}",
    }
    milestones_at_work(id: &str) {
        en: "{id} is running; {dacapo}attach {id} shows it",
        zh_cn: "{id} 正在运行；{dacapo}attach {id} 查看它",
        zh_tw: "{id} 正在執行；{dacapo}attach {id} 查看它",
    }
    milestones_flags_ignored(id: &str, flags: &str) {
        en: "{id} continues as it was started; {flags} only applies to a new milestone",
        zh_cn: "{id} 按启动时的方式继续；{flags} 只对新里程碑有效",
        zh_tw: "{id} 依啟動時的方式繼續；{flags} 只對新里程碑有效",
    }
    milestones_none_to_start() {
        en: "no milestone to start: none was interrupted, and no pending one has auto_start",
        zh_cn: "没有要启动的里程碑：没有被中断的，待启动的也都没有设置 auto_start",
        zh_tw: "沒有要啟動的里程碑：沒有被中斷的，待啟動的也都沒有設定 auto_start",
    }
    milestones_abandoned(id: &str) { en: "{id} is abandoned", zh_cn: "{id} 已放弃", zh_tw: "{id} 已放棄" }
    milestones_story_unreadable(id: &str, error: &str) {
        en: "cannot read the conversation of '{id}': {error}",
        zh_cn: "无法读取“{id}”中的对话：{error}",
        zh_tw: "無法讀取「{id}」中的對話：{error}",
    }
}
