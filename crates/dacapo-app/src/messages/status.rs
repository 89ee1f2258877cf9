//! `dacapo status`, and why a task ended or waits.

use super::messages;

messages! {
    STATUS, dacapo;

    status_done(count: &str, most: &str) { en: "{count}{most} done", zh_cn: "已完成 {count}{most}", zh_tw: "已完成 {count}{most}" }
    status_of(most: u32) { en: " of {most}", zh_cn: "（共 {most}）", zh_tw: "（共 {most}）" }
    status_process(pid: u32) { en: "process {pid}", zh_cn: "进程 {pid}", zh_tw: "行程 {pid}" }
    status_merged_as(branch: &str, commit: &str) {
        en: "into {branch} as {commit}",
        zh_cn: "到 {branch}，提交 {commit}",
        zh_tw: "到 {branch}，提交 {commit}",
    }
    status_every_iteration(text: &str) {
        en: "{text} (every iteration)",
        zh_cn: "{text}（每次迭代）",
        zh_tw: "{text}（每次迭代）",
    }
    status_earlier(count: &str, task: &str) {
        en: "… {count} earlier: {dacapo}logs {task}",
        zh_cn: "……之前还有 {count}：{dacapo}logs {task}",
        zh_tw: "……先前還有 {count}：{dacapo}logs {task}",
    }
    status_waiting_until(time: &str, agent: &str) {
        en: "waiting until {time} ({agent} usage limit); it continues on its own",
        zh_cn: "等待至 {time}（{agent} 用量受限）；之后自动继续",
        zh_tw: "等待至 {time}（{agent} 用量受限）；之後自動繼續",
    }
    status_waiting_for_other(agent: &str) {
        en: "waiting while another task checks the limit ({agent} usage limit); it continues on its own",
        zh_cn: "另一个任务正在检查限制，等待中（{agent} 用量受限）；之后自动继续",
        zh_tw: "另一個任務正在檢查限制，等待中（{agent} 用量受限）；之後自動繼續",
    }
    status_queued() {
        en: "queued: waiting for a slot; it starts on its own",
        zh_cn: "排队中：等待空位；会自动开始",
        zh_tw: "排隊中：等待空位；會自動開始",
    }
    status_interrupted() {
        en: "interrupted: its process is gone; nothing is lost",
        zh_cn: "已中断：进程已不存在；没有丢失任何内容",
        zh_tw: "已中斷：行程已不存在；沒有遺失任何內容",
    }
    status_record_not_whole() {
        en: "this record proves nothing; {dacapo}merge runs the checks again",
        zh_cn: "此记录不能作为证明；{dacapo}merge 会重新运行检查",
        zh_tw: "此紀錄不能作為證明；{dacapo}merge 會重新執行檢查",
    }
    status_spec_not_believed() {
        en: "this task proves nothing, and is neither merged nor resumed until spec.json is as it was",
        zh_cn: "此任务不能作为证明；在 spec.json 恢复原样之前，不会合并也不会继续",
        zh_tw: "此任務不能作為證明；在 spec.json 恢復原樣之前，不會合併也不會繼續",
    }
    status_detached() { en: "detached", zh_cn: "分离的 HEAD", zh_tw: "分離的 HEAD" }
    status_no_commit() { en: "none", zh_cn: "无", zh_tw: "無" }
    status_branch_from(branch: &str, base: &str) {
        en: "{branch} from {base}",
        zh_cn: "{branch}，起点 {base}",
        zh_tw: "{branch}，起點 {base}",
    }
    status_ports(first: u16, last: u16) { en: "ports {first}–{last}", zh_cn: "端口 {first}–{last}", zh_tw: "連接埠 {first}–{last}" }
    status_is_with_originals() {
        en: "(with the tests as they were)",
        zh_cn: "（使用原来的测试）",
        zh_tw: "（使用原來的測試）",
    }
    status_is_held_out() { en: "(held out)", zh_cn: "（保留）", zh_tw: "（保留）" }
    status_is_proof() { en: "(proof)", zh_cn: "（证明）", zh_tw: "（證明）" }
    label_merged() { en: "merged", zh_cn: "已合并", zh_tw: "已合併" }
    label_told() { en: "told", zh_cn: "留言", zh_tw: "留言" }
    label_needs() { en: "needs", zh_cn: "需要", zh_tw: "需要" }
    label_record() { en: "record", zh_cn: "记录", zh_tw: "紀錄" }

    detail_limit_too_long(limit: &str) {
        en: "{limit}; the limit lasts longer than --max-wait allows",
        zh_cn: "{limit}；限制时间超过 --max-wait",
        zh_tw: "{limit}；限制時間超過 --max-wait",
    }
    detail_ended_by(by: &str) { en: "ended by {by}", zh_cn: "由 {by} 结束", zh_tw: "由 {by} 結束" }
    by_terminal_closed() { en: "the terminal was closed", zh_cn: "终端已关闭", zh_tw: "終端機已關閉" }
    detail_time_used() { en: "the time is used up", zh_cn: "时间已用完", zh_tw: "時間已用完" }
    detail_budget_used() { en: "the budget is used up", zh_cn: "预算已用完", zh_tw: "預算已用完" }
    detail_cost_unknown(agent: &str, turns: u32) {
        en: "usage unknown: {agent} reported no usable cost in {turns} turns in a row; set [prices] for its model, or limit the task with --iter or --time",
        zh_cn: "用量未知：{agent} 连续 {turns} 次调用没有报告费用；请为其模型设置 [prices]，或用 --iter、--time 限制任务",
        zh_tw: "用量未知：{agent} 連續 {turns} 次呼叫沒有回報費用；請為其模型設定 [prices]，或用 --iter、--time 限制任務",
    }
    detail_tokens_unknown(agent: &str, turns: u32) {
        en: "usage unknown: {agent} reported no usable tokens in {turns} turns in a row; limit the task with --iter or --time",
        zh_cn: "用量未知：{agent} 连续 {turns} 次调用没有报告 token 用量；请用 --iter 或 --time 限制任务",
        zh_tw: "用量未知：{agent} 連續 {turns} 次呼叫沒有回報 token 用量；請用 --iter 或 --time 限制任務",
    }
    detail_setup_failed(command: &str, exit: &str) {
        en: "setup `{command}` failed ({exit})",
        zh_cn: "准备命令 `{command}` 失败（{exit}）",
        zh_tw: "準備指令 `{command}` 失敗（{exit}）",
    }
    detail_check_not_run(command: &str, exit: &str) {
        en: "check `{command}` cannot be run ({exit})",
        zh_cn: "无法运行检查 `{command}`（{exit}）",
        zh_tw: "無法執行檢查 `{command}`（{exit}）",
    }
    detail_check_not_run_because(command: &str, exit: &str, line: &str) {
        en: "check `{command}` cannot be run ({exit}): {line}",
        zh_cn: "无法运行检查 `{command}`（{exit}）：{line}",
        zh_tw: "無法執行檢查 `{command}`（{exit}）：{line}",
    }
    detail_no_session(task: &str) {
        en: "Failed to get session ID for loop follow-up (task {task})",
        zh_cn: "无法取得会话 ID 以继续循环（任务 {task}）",
        zh_tw: "無法取得工作階段 ID 以繼續迴圈（任務 {task}）",
    }
    exit_timed_out() { en: "timed out", zh_cn: "超时", zh_tw: "逾時" }
    exit_code(code: i32) { en: "exit {code}", zh_cn: "退出码 {code}", zh_tw: "結束代碼 {code}" }
    exit_by_signal() { en: "ended by a signal", zh_cn: "被信号终止", zh_tw: "被訊號終止" }

    wait_iteration_failed(seconds: u64) {
        en: "the iteration failed; next attempt in {seconds} s",
        zh_cn: "迭代失败；{seconds} 秒后重试",
        zh_tw: "迭代失敗；{seconds} 秒後重試",
    }
    wait_call_failed(seconds: u64) {
        en: "the call failed; next attempt in {seconds} s",
        zh_cn: "调用失败；{seconds} 秒后重试",
        zh_tw: "呼叫失敗；{seconds} 秒後重試",
    }
    wait_limit_over() { en: "its limit is over", zh_cn: "其用量限制已解除", zh_tw: "其用量限制已解除" }
    wait_task_probes(task: &str, message: &str) {
        en: "task {task} is checking whether it is over: {message}",
        zh_cn: "任务 {task} 正在检查限制是否解除：{message}",
        zh_tw: "任務 {task} 正在檢查限制是否解除：{message}",
    }
    wait_found_by(task: &str, message: &str) {
        en: "found by task {task}: {message}",
        zh_cn: "由任务 {task} 发现：{message}",
        zh_tw: "由任務 {task} 發現：{message}",
    }
}
