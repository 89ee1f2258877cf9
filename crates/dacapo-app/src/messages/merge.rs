//! `dacapo merge`: what is refused, what is planned, what became of each task.

use super::messages;

messages! {
    MERGE, dacapo;

    merge_detached() {
        en: "HEAD is detached: there is no branch to merge into",
        zh_cn: "HEAD 处于分离状态：没有可以合并到的分支",
        zh_tw: "HEAD 處於分離狀態：沒有可以合併到的分支",
    }
    merge_switch_to_branch() {
        en: "git switch main, or whichever branch the work is for",
        zh_cn: "git switch main，或切换到要合并到的其他分支",
        zh_tw: "git switch main，或切換到要合併到的其他分支",
    }
    merge_branch_without_commits(branch: &str) {
        en: "branch '{branch}' has no commits yet: there is nothing to merge into",
        zh_cn: "分支“{branch}”还没有提交：无法合并到它",
        zh_tw: "分支「{branch}」還沒有提交：無法合併到它",
    }
    merge_switch_branch() {
        en: "git switch to the branch the work is for",
        zh_cn: "用 git switch 切换到要合并到的分支",
        zh_tw: "用 git switch 切換到要合併到的分支",
    }
    merge_under_way() {
        en: "another merge is under way in this repository",
        zh_cn: "此仓库中正在进行另一个合并",
        zh_tw: "此儲存庫中正在進行另一個合併",
    }
    merge_still_finishing() {
        en: "a merge has ended here, but a git process or hook that it started is still running",
        zh_cn: "合并已结束，但它启动的 git 进程或钩子仍在运行",
        zh_tw: "合併已結束，但它啟動的 git 行程或掛鉤仍在執行",
    }
    merge_wait_then_merge() {
        en: "wait until it is done, then merge",
        zh_cn: "等它结束后再合并",
        zh_tw: "等它結束後再合併",
    }
    merge_none_ready() {
        en: "no task is proven and ready",
        zh_cn: "没有已证明且可以合并的任务",
        zh_tw: "沒有已證明且可以合併的任務",
    }
    merge_list_shows_status() {
        en: "{dacapo}list shows the status of each task",
        zh_cn: "{dacapo}list 显示各任务的状态",
        zh_tw: "{dacapo}list 顯示各任務的狀態",
    }
    merge_which() { en: "which task should be merged?", zh_cn: "要合并哪个任务？", zh_tw: "要合併哪個任務？" }
    merge_named_twice(task: &str) {
        en: "task '{task}' is named twice",
        zh_cn: "任务“{task}”写了两次",
        zh_tw: "任務「{task}」寫了兩次",
    }
    merge_name_each_once() {
        en: "name each task once, in the order to merge them",
        zh_cn: "每个任务只写一次，按合并的先后顺序",
        zh_tw: "每個任務只寫一次，依合併的先後順序",
    }
    merge_nothing_ready() {
        en: "nothing is ready; {dacapo}list shows the status of each task",
        zh_cn: "没有可以合并的任务；{dacapo}list 显示各任务的状态",
        zh_tw: "沒有可以合併的任務；{dacapo}list 顯示各任務的狀態",
    }
    merge_offer_proven(task: &str) {
        en: "{dacapo}merge {task}   ✓ proven",
        zh_cn: "{dacapo}merge {task}   ✓ 已证明",
        zh_tw: "{dacapo}merge {task}   ✓ 已證明",
    }
    merge_offer_unverified(task: &str) {
        en: "{dacapo}merge {task}   finished, unverified",
        zh_cn: "{dacapo}merge {task}   已完成，未验证",
        zh_tw: "{dacapo}merge {task}   已完成，未驗證",
    }
    merge_offer_more(number: usize) {
        en: "and {number} more: {dacapo}list",
        zh_cn: "另有 {number} 个：{dacapo}list",
        zh_tw: "另有 {number} 個：{dacapo}list",
    }
    merge_offer_all_ready() {
        en: "{dacapo}merge --ready   all proven tasks",
        zh_cn: "{dacapo}merge --ready   所有已证明的任务",
        zh_tw: "{dacapo}merge --ready   所有已證明的任務",
    }
    merge_wait_for(task: &str) {
        en: "{dacapo}wait {task}, then merge",
        zh_cn: "{dacapo}wait {task}，然后再合并",
        zh_tw: "{dacapo}wait {task}，然後再合併",
    }
    merge_has_own_branch_here(task: &str, branch: &str) {
        en: "Task '{task}' worked in your own checkout, on branch {branch}: there is no worktree to merge from",
        zh_cn: "任务“{task}”直接在你的工作区中工作，分支为 {branch}：没有工作树可以合并",
        zh_tw: "任務「{task}」直接在你的工作目錄中工作，分支為 {branch}：沒有工作樹可以合併",
    }
    merge_by_git(branch: &str) {
        en: "git merge {branch}, on the branch that it is for",
        zh_cn: "在目标分支上运行 git merge {branch}",
        zh_tw: "在目標分支上執行 git merge {branch}",
    }
    merge_detached_head() { en: "a detached HEAD", zh_cn: "分离的 HEAD", zh_tw: "分離的 HEAD" }
    merge_worked_here(task: &str, branch: &str) {
        en: "Task '{task}' worked in your own checkout: its commits are already on {branch}",
        zh_cn: "任务“{task}”直接在你的工作区中工作：它的提交已经在 {branch} 上",
        zh_tw: "任務「{task}」直接在你的工作目錄中工作：它的提交已經在 {branch} 上",
    }
    merge_start_with_worktree() {
        en: "there is nothing to merge; start tasks with --worktree to give them a branch of their own",
        zh_cn: "没有可合并的内容；用 --worktree 启动的任务才有自己的分支",
        zh_tw: "沒有可合併的內容；用 --worktree 啟動的任務才有自己的分支",
    }
    merge_branch_gone(branch: &str, task: &str) {
        en: "branch '{branch}' of task '{task}' is gone",
        zh_cn: "任务“{task}”的分支“{branch}”已不存在",
        zh_tw: "任務「{task}」的分支「{branch}」已不存在",
    }
    merge_restore_branch(branch: &str, commit: &str) {
        en: "git branch {branch} {commit} brings it back as the task left it",
        zh_cn: "git branch {branch} {commit} 可将其恢复到任务结束时的状态",
        zh_tw: "git branch {branch} {commit} 可將其恢復到任務結束時的狀態",
    }
    merge_never_committed() {
        en: "it never had a commit: there is nothing to merge",
        zh_cn: "它从未有过提交：没有可合并的内容",
        zh_tw: "它從未有過提交：沒有可合併的內容",
    }
    merge_operation_under_way(operation: &str) {
        en: "a git operation is in progress in this checkout: {operation}",
        zh_cn: "当前工作区中有尚未完成的 git 操作：{operation}",
        zh_tw: "目前的工作目錄中有尚未完成的 git 操作：{operation}",
    }
    merge_finish_operation(operation: &str) {
        en: "finish it or git {operation} --abort, then merge",
        zh_cn: "完成它，或运行 git {operation} --abort，然后再合并",
        zh_tw: "完成它，或執行 git {operation} --abort，然後再合併",
    }
    merge_unresolved_conflicts(path: &str) {
        en: "{path} has unresolved conflicts",
        zh_cn: "{path} 有未解决的冲突",
        zh_tw: "{path} 有未解決的衝突",
    }
    merge_resolve_first() {
        en: "resolve and commit them, then merge",
        zh_cn: "解决并提交后再合并",
        zh_tw: "解決並提交後再合併",
    }
    merge_changes_in_the_way(number: u64, names: &str) {
        en: (number: "1 uncommitted change here in files that the merge touches ({names})", "{number} uncommitted changes here in files that the merge touches ({names})"),
        zh_cn: "合并涉及的文件中有 {number} 处未提交的改动（{names}）",
        zh_tw: "合併涉及的檔案中有 {number} 處未提交的變更（{names}）",
    }
    merge_commit_or_stash() {
        en: "commit them, or git stash, then merge",
        zh_cn: "先提交，或 git stash，然后再合并",
        zh_tw: "先提交，或 git stash，然後再合併",
    }
    merge_untracked_in_the_way(number: u64, names: &str) {
        en: (number: "1 untracked file here where the merge brings files ({names})", "{number} untracked files here where the merge brings files ({names})"),
        zh_cn: "合并要写入的位置有 {number} 个未跟踪的文件（{names}）",
        zh_tw: "合併要寫入的位置有 {number} 個未追蹤的檔案（{names}）",
    }
    merge_move_away() {
        en: "move them away, then merge",
        zh_cn: "先移走，然后再合并",
        zh_tw: "先移走，然後再合併",
    }
    merge_task_in_query(word: &str) {
        en: "'{word}' is a task, not part of a query",
        zh_cn: "“{word}”是任务名，不是要求的一部分",
        zh_tw: "「{word}」是任務名稱，不是要求的一部分",
    }
    merge_quote_query() {
        en: "to mention a task in the query, put the query in quotes",
        zh_cn: "如果要求中要提到任务，请用引号括起来",
        zh_tw: "如果要求中要提到任務，請用引號括起來",
    }
    merge_query_empty() { en: "the query is empty", zh_cn: "要求为空", zh_tw: "要求是空的" }
    merge_leave_query_out() { en: "leave the query out", zh_cn: "省略即可", zh_tw: "省略即可" }
    merge_query_nul() {
        en: "the query contains a NUL byte",
        zh_cn: "要求中含有 NUL 字节",
        zh_tw: "要求中含有 NUL 位元組",
    }

    /// Why a task was left out.
    merge_why_conflicts(files: &str) {
        en: "conflicts in {files}, and there is no agent to resolve them",
        zh_cn: "{files} 中有冲突，且没有智能体来解决",
        zh_tw: "{files} 中有衝突，且沒有代理來解決",
    }
    merge_why_no_agent() {
        en: "no agent is available to follow the query",
        zh_cn: "没有智能体来执行该要求",
        zh_tw: "沒有代理來執行該要求",
    }
    merge_why_unresolved(agent: &str, message: &str) {
        en: "agent '{agent}' did not resolve it: {message}. Nothing was merged, and your files are untouched",
        zh_cn: "智能体“{agent}”没有解决冲突：{message}。没有合并任何内容，你的文件没有改动",
        zh_tw: "代理「{agent}」沒有解決衝突：{message}。沒有合併任何內容，你的檔案沒有變更",
    }
    merge_why_check(command: &str, ending: &str, line: &str) {
        en: "check `{command}` fails on the result ({ending}){line}",
        zh_cn: "检查 `{command}` 在合并结果上失败（{ending}）{line}",
        zh_tw: "檢查 `{command}` 在合併結果上失敗（{ending}）{line}",
    }
    merge_why_setup(command: &str, ending: &str, line: &str) {
        en: "setup `{command}` failed ({ending}){line}",
        zh_cn: "准备命令 `{command}` 失败（{ending}）{line}",
        zh_tw: "準備指令 `{command}` 失敗（{ending}）{line}",
    }
    merge_why_tests(files: &str) {
        en: "the checks pass on the result, but not with the tests as they were; changed: {files}",
        zh_cn: "合并结果的检查通过，但使用原来的测试时不通过；有改动：{files}",
        zh_tw: "合併結果的檢查通過，但使用原來的測試時不通過；有變更：{files}",
    }
    merge_why_moved() {
        en: "someone else moved the branch twice in the meantime",
        zh_cn: "期间分支被他人移动了两次",
        zh_tw: "期間分支被他人移動了兩次",
    }
    merge_why_switched() {
        en: "another branch was checked out in the meantime",
        zh_cn: "期间检出了另一个分支",
        zh_tw: "期間簽出了另一個分支",
    }
    merge_why_in_the_way(files: &str) {
        en: "files here are in the way: {files}",
        zh_cn: "这里的文件挡住了合并：{files}",
        zh_tw: "這裡的檔案擋住了合併：{files}",
    }
    merge_names_in_all(number: usize) {
        en: "… ({number} in all)",
        zh_cn: "……（共 {number} 个）",
        zh_tw: "……（共 {number} 個）",
    }

    merge_label_into() { en: "into", zh_cn: "目标", zh_tw: "目標" }
    merge_label_query() { en: "query", zh_cn: "要求", zh_tw: "要求" }
    merge_merged_before(branch: &str, commit: &str) {
        en: "already merged into {branch} as {commit}",
        zh_cn: "已经合并到 {branch}，提交为 {commit}",
        zh_tw: "已經合併到 {branch}，提交為 {commit}",
    }
    merge_size(commits: &str, files: &str) {
        en: "{commits}, {files}",
        zh_cn: "{commits}，{files}",
        zh_tw: "{commits}，{files}",
    }
    merge_task_status(status: &str) {
        en: "the task is {status}",
        zh_cn: "任务状态为“{status}”",
        zh_tw: "任務狀態為「{status}」",
    }
    merge_look_whether_done(why: &str) {
        en: "{why}: make sure that it is done",
        zh_cn: "{why}：请确认它已经做完",
        zh_tw: "{why}：請確認它已經做完",
    }
    merge_uncommitted_kept(files: u64) {
        en: (files: "1 uncommitted file in its worktree is not merged, but kept", "{files} uncommitted files in its worktree are not merged, but kept"),
        zh_cn: "工作树中 {files} 个未提交的文件不会合并，但会保留",
        zh_tw: "工作樹中 {files} 個未提交的檔案不會合併，但會保留",
    }
    merge_dry_run() {
        en: "nothing was changed (--dry-run)",
        zh_cn: "没有任何改动（--dry-run）",
        zh_tw: "沒有任何變更（--dry-run）",
    }
    merge_expected_there() { en: "already merged", zh_cn: "已经合并", zh_tw: "已經合併" }
    merge_expected_empty() { en: "nothing to merge", zh_cn: "没有可合并的内容", zh_tw: "沒有可合併的內容" }
    merge_expected_fast_forward() { en: "fast-forward", zh_cn: "快进", zh_tw: "快轉" }
    merge_expected_merge() { en: "merge", zh_cn: "合并", zh_tw: "合併" }
    merge_expected_squash() { en: "squash", zh_cn: "压缩为一个提交", zh_tw: "壓縮為一個提交" }
    merge_expected_conflicts(files: &str, helper: &str) {
        en: "conflicts in {files}; {helper}",
        zh_cn: "{files} 有冲突；{helper}",
        zh_tw: "{files} 有衝突；{helper}",
    }
    merge_expected_conflicts_with(tasks: &str, files: &str, helper: &str) {
        en: "conflicts with {tasks} in {files}; {helper}",
        zh_cn: "与 {tasks} 在 {files} 中冲突；{helper}",
        zh_tw: "與 {tasks} 在 {files} 中衝突；{helper}",
    }
    merge_agent_resolves(agent: &str) {
        en: "{agent} resolves them",
        zh_cn: "由 {agent} 解决",
        zh_tw: "由 {agent} 解決",
    }
    merge_no_agent() {
        en: "no agent: it will be left out",
        zh_cn: "没有智能体：不会合并它",
        zh_tw: "沒有代理：不會合併它",
    }
    merge_joined_by(how: &str, agent: &str) {
        en: "{how}, integrated by {agent}",
        zh_cn: "{how}，由 {agent} 整合",
        zh_tw: "{how}，由 {agent} 整合",
    }
    merge_no_agent_for_query(how: &str) {
        en: "{how}; no agent for the query: it will be left out",
        zh_cn: "{how}；没有智能体执行该要求：不会合并它",
        zh_tw: "{how}；沒有代理執行該要求：不會合併它",
    }
    merge_no_checks() {
        en: "no checks: nothing will be proven",
        zh_cn: "没有检查：不会证明任何内容",
        zh_tw: "沒有檢查：不會證明任何內容",
    }
    merge_checks(checks: &str) { en: "checks: {checks}", zh_cn: "检查：{checks}", zh_tw: "檢查：{checks}" }
    merge_check_proven(command: &str) {
        en: "{command} (proven on this commit)",
        zh_cn: "{command}（已在该提交上证明）",
        zh_tw: "{command}（已在該提交上證明）",
    }

    /// What became of it.
    merge_is_there(branch: &str) {
        en: "is already in {branch}",
        zh_cn: "已经在 {branch} 中",
        zh_tw: "已經在 {branch} 中",
    }
    merge_nothing_to_merge() {
        en: "has no commits: nothing to merge",
        zh_cn: "没有提交：没有可合并的内容",
        zh_tw: "沒有提交：沒有可合併的內容",
    }
    merge_stopped() {
        en: "stopped; it is unchanged",
        zh_cn: "已停止；它没有任何改动",
        zh_tw: "已停止；它沒有任何變更",
    }
    merge_fast_forward_to(commit: &str, checks: &str) {
        en: "fast-forward to {commit}{checks}",
        zh_cn: "快进到 {commit}{checks}",
        zh_tw: "快轉到 {commit}{checks}",
    }
    merge_merged_as(commit: &str, checks: &str) {
        en: "merged as {commit}{checks}",
        zh_cn: "已合并为 {commit}{checks}",
        zh_tw: "已合併為 {commit}{checks}",
    }
    merge_passed_before(command: &str) {
        en: " · {command} ✓ (already proven on this commit)",
        zh_cn: " · {command} ✓（此前已在该提交上证明）",
        zh_tw: " · {command} ✓（先前已在該提交上證明）",
    }
    merge_resolved(agent: &str, files: &str) {
        en: "{agent} resolved {files}",
        zh_cn: "{agent} 解决了 {files}",
        zh_tw: "{agent} 解決了 {files}",
    }
    merge_also_changed(agent: &str, files: &str) {
        en: "{agent} also changed {files}",
        zh_cn: "{agent} 还改动了 {files}",
        zh_tw: "{agent} 還變更了 {files}",
    }
    merge_not_committed(what: &str) {
        en: "not committed: {what}",
        zh_cn: "未提交：{what}",
        zh_tw: "未提交：{what}",
    }
    merge_agent_output(path: &str) {
        en: "its output: {path}",
        zh_cn: "它的输出：{path}",
        zh_tw: "它的輸出：{path}",
    }
    merge_set_aside(files: u64, path: &str) {
        en: (files: "1 uncommitted file was kept with its worktree in {path}", "{files} uncommitted files were kept with its worktree in {path}"),
        zh_cn: "{files} 个未提交的文件随工作树保存在 {path}",
        zh_tw: "{files} 個未提交的檔案隨工作樹保存在 {path}",
    }
    merge_ignored_kept(files: u64, path: &str) {
        en: (files: "1 ignored file was kept with its worktree in {path}", "{files} ignored files were kept with its worktree in {path}"),
        zh_cn: "{files} 个被忽略的文件随工作树保存在 {path}",
        zh_tw: "{files} 個被忽略的檔案隨工作樹保存在 {path}",
    }
    merge_task_left_out(task: &str, why: &str) {
        en: "task '{task}' was left out: {why}",
        zh_cn: "任务“{task}”未合并：{why}",
        zh_tw: "任務「{task}」未合併：{why}",
    }
    merge_see(path: &str) { en: "see {path}", zh_cn: "参见 {path}", zh_tw: "參見 {path}" }
    merge_nothing_changed() {
        en: "it is unchanged: branch and worktree are as before",
        zh_cn: "它没有任何改动：分支和工作树保持原样",
        zh_tw: "它沒有任何變更：分支和工作樹維持原樣",
    }
    merge_agent_integrates(agent: &str) {
        en: "{agent} integrates the changes",
        zh_cn: "{agent} 整合改动",
        zh_tw: "{agent} 整合變更",
    }
    merge_agent_resolves_files(agent: &str, files: &str) {
        en: "{agent} resolves {files}",
        zh_cn: "{agent} 解决 {files}",
        zh_tw: "{agent} 解決 {files}",
    }
    merge_runs(command: &str) { en: "runs {command}", zh_cn: "运行 {command}", zh_tw: "執行 {command}" }
    merge_not_moved(branch: &str) {
        en: "{branch} has not moved",
        zh_cn: "{branch} 没有移动",
        zh_tw: "{branch} 沒有移動",
    }
    merge_count_merged(number: usize) {
        en: "{number} merged",
        zh_cn: "已合并 {number} 个",
        zh_tw: "已合併 {number} 個",
    }
    merge_count_left_out(number: usize, tasks: &str) {
        en: "{number} left out ({tasks})",
        zh_cn: "未合并 {number} 个（{tasks}）",
        zh_tw: "未合併 {number} 個（{tasks}）",
    }

    /// What to do next.
    merge_do_agent_or_git(task: &str, branch: &str) {
        en: "{dacapo}merge {task} --agent NAME, or git merge {branch} by hand",
        zh_cn: "{dacapo}merge {task} --agent NAME，或手动 git merge {branch}",
        zh_tw: "{dacapo}merge {task} --agent NAME，或手動 git merge {branch}",
    }
    merge_do_name_agent() {
        en: "name one with --agent NAME or --agent-cmd CMD",
        zh_cn: "用 --agent NAME 或 --agent-cmd CMD 指定一个",
        zh_tw: "用 --agent NAME 或 --agent-cmd CMD 指定一個",
    }
    merge_do_another_agent(task: &str, branch: &str) {
        en: "{dacapo}merge {task} --agent ANOTHER, or git merge {branch} by hand",
        zh_cn: "{dacapo}merge {task} --agent ANOTHER，或手动 git merge {branch}",
        zh_tw: "{dacapo}merge {task} --agent ANOTHER，或手動 git merge {branch}",
    }
    merge_do_decide_about_tests(task: &str) {
        en: "{dacapo}diff {task} --tests, then {dacapo}approve {task} or {dacapo}reject {task}",
        zh_cn: "先 {dacapo}diff {task} --tests，再 {dacapo}approve {task} 或 {dacapo}reject {task}",
        zh_tw: "先 {dacapo}diff {task} --tests，再 {dacapo}approve {task} 或 {dacapo}reject {task}",
    }
    merge_do_make_checks_pass(task: &str) {
        en: "{dacapo}resume {task} \"rebase onto the new state and make the checks pass\"",
        zh_cn: "{dacapo}resume {task} \"rebase 到最新状态，并让检查通过\"",
        zh_tw: "{dacapo}resume {task} \"rebase 到最新狀態，並讓檢查通過\"",
    }
    merge_do_fix_setup() {
        en: "fix [worktree] setup in the config",
        zh_cn: "修正配置中的 [worktree] setup",
        zh_tw: "修正設定中的 [worktree] setup",
    }
    merge_do_again(task: &str) {
        en: "run {dacapo}merge {task} again",
        zh_cn: "再次运行 {dacapo}merge {task}",
        zh_tw: "再次執行 {dacapo}merge {task}",
    }
    merge_do_allow_secret(task: &str) {
        en: "run it again, with another agent, or {dacapo}merge {task} --allow-secret",
        zh_cn: "换一个智能体再次运行，或 {dacapo}merge {task} --allow-secret",
        zh_tw: "換一個代理再次執行，或 {dacapo}merge {task} --allow-secret",
    }
    merge_why_secret(path: &str, variable: &str) {
        en: "{path} holds the value of {variable}",
        zh_cn: "{path} 中含有 {variable} 的值",
        zh_tw: "{path} 中含有 {variable} 的值",
    }
    secret_in_commit(path: &str, task: &str, variable: &str) {
        en: "{path}, in a commit of task '{task}', holds the value of {variable}",
        zh_cn: "任务“{task}”的一个提交中，{path} 含有 {variable} 的值",
        zh_tw: "任務「{task}」的一個提交中，{path} 含有 {variable} 的值",
    }
    secrets_in_commits(path: &str, task: &str, variable: &str, more: u64) {
        en: "{path}, in a commit of task '{task}', holds the value of {variable}, and {more} more of its files hold secrets",
        zh_cn: "任务“{task}”的一个提交中，{path} 含有 {variable} 的值，另有 {more} 个文件含有机密",
        zh_tw: "任務「{task}」的一個提交中，{path} 含有 {variable} 的值，另有 {more} 個檔案含有機密",
    }
    secret_take_it_out(task: &str) {
        en: "or take it out of the branch's history first; {dacapo}open {task} opens its worktree",
        zh_cn: "或者先把它从分支历史中去掉；{dacapo}open {task} 打开其工作树",
        zh_tw: "或者先把它從分支歷史中去掉；{dacapo}open {task} 開啟其工作樹",
    }
    secret_squash_leaves_it_out(task: &str) {
        en: "or {dacapo}merge {task} --squash: only earlier commits hold it",
        zh_cn: "或者 {dacapo}merge {task} --squash：只有较早的提交含有它",
        zh_tw: "或者 {dacapo}merge {task} --squash：只有較早的提交含有它",
    }
    note_secret_not_merged(task: &str, why: &str) {
        en: "{task} is not merged: {why}; {dacapo}merge {task} --allow-secret merges it",
        zh_cn: "{task} 未合并：{why}；{dacapo}merge {task} --allow-secret 可合并它",
        zh_tw: "{task} 未合併：{why}；{dacapo}merge {task} --allow-secret 可合併它",
    }
    merge_do_move_away(task: &str) {
        en: "move these files away, then {dacapo}merge {task}",
        zh_cn: "移走这些文件，然后 {dacapo}merge {task}",
        zh_tw: "移走這些檔案，然後 {dacapo}merge {task}",
    }
}
