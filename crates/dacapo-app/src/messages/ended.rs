//! How a task ended: what is proven, what was changed, where it is.

use super::messages;

messages! {
    ENDED, dacapo;

    ended_proven() { en: "proven", zh_cn: "已证明", zh_tw: "已證明" }
    ended_unverified() { en: "finished, unverified", zh_cn: "已完成，未验证", zh_tw: "已完成，未驗證" }
    ended_tests_approved() {
        en: "passes with changed tests, approved",
        zh_cn: "使用改动后的测试通过，已获批准",
        zh_tw: "使用變更後的測試通過，已獲核准",
    }
    ended_tests_need_person() {
        en: "paused: it passes only with changed tests and needs your decision",
        zh_cn: "已暂停：只有使用改动后的测试才能通过，需要你决定",
        zh_tw: "已暫停：只有使用變更後的測試才能通過，需要你決定",
    }
    tests_mark_awaits() { en: "tests changed", zh_cn: "测试有改动", zh_tw: "測試有變更" }
    tests_mark_free() {
        en: "tests changed (--tests free)",
        zh_cn: "测试有改动（--tests free）",
        zh_tw: "測試有變更（--tests free）",
    }
    tests_with_files(text: &str, files: &str) { en: "{text}: {files}", zh_cn: "{text}：{files}", zh_tw: "{text}：{files}" }
    tests_pass_as_they_were(files: &str) {
        en: "tests changed; the checks also pass with them as they were: {files}",
        zh_cn: "测试有改动；使用原来的测试，检查同样通过：{files}",
        zh_tw: "測試有變更；使用原來的測試，檢查同樣通過：{files}",
    }
    tests_reason(reason: &str) {
        en: "the agent's reason: {reason}",
        zh_cn: "智能体给出的理由：{reason}",
        zh_tw: "代理給出的理由：{reason}",
    }
    tests_no_reason() {
        en: "the agent gave no reason",
        zh_cn: "智能体没有给出理由",
        zh_tw: "代理沒有給出理由",
    }
    tests_fewer(before: u64, after: u64) {
        en: "fewer tests than before: {before} → {after}",
        zh_cn: "测试数量减少：{before} → {after}",
        zh_tw: "測試數量減少：{before} → {after}",
    }
    tests_file_how(file: &str, how: &str) { en: "{file} ({how})", zh_cn: "{file}（{how}）", zh_tw: "{file}（{how}）" }
    test_added() { en: "new", zh_cn: "新增", zh_tw: "新增" }
    test_deleted() { en: "deleted", zh_cn: "已删除", zh_tw: "已刪除" }
    test_part() { en: "test settings", zh_cn: "测试设置", zh_tw: "測試設定" }
    test_not_separable() { en: "not put back", zh_cn: "未恢复原样", zh_tw: "未恢復原樣" }
    test_removed(name: &str) { en: "{name} removed", zh_cn: "{name} 已移除", zh_tw: "{name} 已移除" }
    test_ignored(name: &str) { en: "{name} ignored", zh_cn: "{name} 已忽略", zh_tw: "{name} 已忽略" }
    test_changed(name: &str) { en: "{name} changed", zh_cn: "{name} 有改动", zh_tw: "{name} 有變更" }
    ended_abandoned() { en: "abandoned", zh_cn: "已放弃", zh_tw: "已放棄" }
    ended_cancelled() { en: "cancelled", zh_cn: "已取消", zh_tw: "已取消" }
    ended_failed(reason: &str) { en: "failed ({reason})", zh_cn: "失败（{reason}）", zh_tw: "失敗（{reason}）" }
    ended_max_reached() {
        en: "stopped: all iterations used, not done",
        zh_cn: "已停止：迭代次数已用完，尚未完成",
        zh_tw: "已停止：迭代次數已用完，尚未完成",
    }
    ended_limit_too_long() {
        en: "stopped: the usage limit lasts too long",
        zh_cn: "已停止：用量限制持续太久",
        zh_tw: "已停止：用量限制持續太久",
    }
    ended_time_up() {
        en: "stopped: time is up, not done",
        zh_cn: "已停止：时间已到，尚未完成",
        zh_tw: "已停止：時間已到，尚未完成",
    }
    ended_budget_used() {
        en: "stopped: the budget is used up",
        zh_cn: "已停止：预算已用完",
        zh_tw: "已停止：預算已用完",
    }
    ended_stalled() { en: "stopped: no progress", zh_cn: "已停止：没有进展", zh_tw: "已停止：沒有進展" }
    ended_paused_by_you() { en: "paused by you", zh_cn: "已由你暂停", zh_tw: "已由你暫停" }
    ended_agent_blocked() {
        en: "paused: the agent cannot continue without you",
        zh_cn: "已暂停：智能体需要你才能继续",
        zh_tw: "已暫停：代理需要你才能繼續",
    }
    ended_needs_person() {
        en: "paused: it needs your decision",
        zh_cn: "已暂停：需要你决定",
        zh_tw: "已暫停：需要你決定",
    }
    ended_because_permanent() { en: "cannot continue", zh_cn: "无法继续", zh_tw: "無法繼續" }
    ended_because_setup() {
        en: "the worktree could not be set up",
        zh_cn: "工作树的准备命令失败",
        zh_tw: "工作樹的準備指令失敗",
    }
    ended_because_no_worktree() {
        en: "the worktree could not be created",
        zh_cn: "无法创建工作树",
        zh_tw: "無法建立工作樹",
    }
    ended_because_workspace_gone() {
        en: "the workspace is gone",
        zh_cn: "工作目录已不存在",
        zh_tw: "工作目錄已不存在",
    }
    ended_because_not_started() { en: "could not start", zh_cn: "无法启动", zh_tw: "無法啟動" }
    ended_because_agent_failed() { en: "the agent failed", zh_cn: "智能体失败", zh_tw: "代理失敗" }
    ended_because_failures() {
        en: "too many failures in a row",
        zh_cn: "连续失败次数过多",
        zh_tw: "連續失敗次數過多",
    }
    ended_because_no_success() {
        en: "no iteration succeeded",
        zh_cn: "没有一次迭代成功",
        zh_tw: "沒有一次迭代成功",
    }
    ended_failed_iterations(number: u64) { en: "{number} failed", zh_cn: "{number} 次失败", zh_tw: "{number} 次失敗" }

    ended_tests_changed(files: &str) {
        en: "tests, CI or checks changed: {files}",
        zh_cn: "测试、CI 或检查有改动：{files}",
        zh_tw: "測試、CI 或檢查有變更：{files}",
    }
    ended_settings_changed(files: &str) {
        en: "settings changed: {files}",
        zh_cn: "配置有改动：{files}",
        zh_tw: "設定有變更：{files}",
    }
    ended_pull_request(url: &str) { en: "pull request {url}", zh_cn: "拉取请求 {url}", zh_tw: "拉取請求 {url}" }
    ended_before_worktree() {
        en: "ended before its worktree was created",
        zh_cn: "在工作树创建之前就结束了",
        zh_tw: "在工作樹建立之前就結束了",
    }
    ended_commits_on(commits: &str, branch: &str, range: &str) {
        en: "{commits} on {branch}{range}",
        zh_cn: "{branch} 上有 {commits}{range}",
        zh_tw: "{branch} 上有 {commits}{range}",
    }
    ended_in_worktree(commits: &str, worktree: &str) {
        en: "{commits} in {worktree}",
        zh_cn: "{commits}，位于 {worktree}",
        zh_tw: "{commits}，位於 {worktree}",
    }
    detached_head() { en: "a detached HEAD", zh_cn: "分离的 HEAD", zh_tw: "分離的 HEAD" }

    /// A check: it passed before and after.
    proof_stayed_green() { en: "stayed green", zh_cn: "一直通过", zh_tw: "一直通過" }
    proof_timed_out() { en: "timed out", zh_cn: "超时", zh_tw: "逾時" }
    proof_passed_here() { en: "here", zh_cn: "（仅在此处）", zh_tw: "（僅在此處）" }
    proof_on_commit(commit: &str) { en: "on {commit}", zh_cn: "于 {commit}", zh_tw: "於 {commit}" }
    proof_not_proven(why: &str) {
        en: "passed here, not proven: {why}",
        zh_cn: "在此处通过，未证明：{why}",
        zh_tw: "在此處通過，未證明：{why}",
    }
    proof_commit_what_is_needed() {
        en: "to prove it: commit the files that the checks need, then resume",
        zh_cn: "要证明它：先提交检查所需的文件，再恢复任务",
        zh_tw: "要證明它：先提交檢查所需的檔案，再恢復任務",
    }
    proof_configure(line: &str) {
        en: "to prove it: {line} in .dacapo/config.toml",
        zh_cn: "要证明它：在 .dacapo/config.toml 中加入 {line}",
        zh_tw: "要證明它：在 .dacapo/config.toml 中加入 {line}",
    }
    proof_no_commit() {
        en: "what passed is in no commit",
        zh_cn: "通过检查的内容不在任何提交中",
        zh_tw: "通過檢查的內容不在任何提交中",
    }
    proof_interrupted() {
        en: "stopped before the proof was finished",
        zh_cn: "在证明完成之前停止了",
        zh_tw: "在證明完成之前停止了",
    }
    proof_failed_in_checkout(commit: &str, checks: &str) {
        en: "in a checkout of {commit}: {checks}",
        zh_cn: "在 {commit} 的检出中：{checks}",
        zh_tw: "在 {commit} 的簽出中：{checks}",
    }
    proof_not_in_commit(commit: &str) {
        en: "not in commit {commit}:",
        zh_cn: "不在提交 {commit} 中：",
        zh_tw: "不在提交 {commit} 中：",
    }
    hidden_file(path: &str, why: &str) { en: "{path} ({why})", zh_cn: "{path}（{why}）", zh_tw: "{path}（{why}）" }
    hidden_ignored() { en: "ignored by .gitignore", zh_cn: "被 .gitignore 忽略", zh_tw: "被 .gitignore 忽略" }
    hidden_excluded() {
        en: "ignored by .git/info/exclude or the global excludes",
        zh_cn: "被 .git/info/exclude 或全局排除规则忽略",
        zh_tw: "被 .git/info/exclude 或全域排除規則忽略",
    }
    hidden_secret() {
        en: "left out of the commit: it looks like a secret",
        zh_cn: "未提交：像是密钥",
        zh_tw: "未提交：像是金鑰",
    }
    hidden_size() {
        en: "left out of the commit: it is larger than 50 MB",
        zh_cn: "未提交：大于 50 MB",
        zh_tw: "未提交：大於 50 MB",
    }
    hidden_untracked_before() {
        en: "untracked before the task, and so left out of its commits",
        zh_cn: "任务开始前未跟踪，因此不提交",
        zh_tw: "任務開始前未追蹤，因此不提交",
    }
    hidden_untracked() { en: "not committed", zh_cn: "未提交", zh_tw: "未提交" }
    hidden_repository() {
        en: "in a git repository of its own",
        zh_cn: "在独立的 git 仓库中",
        zh_tw: "在獨立的 git 儲存庫中",
    }
    hidden_empty_directory() {
        en: "an empty directory, which git does not keep",
        zh_cn: "空目录：git 不保存空目录",
        zh_tw: "空目錄：git 不保存空目錄",
    }
    hidden_included_changed() {
        en: "copied by .worktreeinclude and changed here",
        zh_cn: "由 .worktreeinclude 复制而来，并在此处改动过",
        zh_tw: "由 .worktreeinclude 複製而來，並在此處變更過",
    }
    hidden_assume_unchanged() {
        en: "its change is hidden by git update-index --assume-unchanged",
        zh_cn: "改动被 git update-index --assume-unchanged 隐藏",
        zh_tw: "變更被 git update-index --assume-unchanged 隱藏",
    }
    hidden_skip_worktree() {
        en: "its change is hidden by git update-index --skip-worktree",
        zh_cn: "改动被 git update-index --skip-worktree 隐藏",
        zh_tw: "變更被 git update-index --skip-worktree 隱藏",
    }
    hidden_filtered() {
        en: "a clean filter commits different content",
        zh_cn: "clean 过滤器提交了不同的内容",
        zh_tw: "clean 過濾器提交了不同的內容",
    }
    hidden_changed() { en: "it differs from the commit", zh_cn: "与提交不同", zh_tw: "與提交不同" }
    proof_started(commit: &str) {
        en: "Proving {commit} in a separate checkout",
        zh_cn: "在单独的检出中证明 {commit}",
        zh_tw: "在單獨的簽出中證明 {commit}",
    }
    proof_started_from_caches(commit: &str, base: &str) {
        en: "Proving {commit} in a separate checkout, with caches from the proof of {base}",
        zh_cn: "在单独的检出中证明 {commit}，使用 {base} 的证明留下的缓存",
        zh_tw: "在單獨的簽出中證明 {commit}，使用 {base} 的證明留下的快取",
    }
    proof_made_from_nothing() {
        en: "proof: a new checkout, built from nothing; toolchains and global packages are this machine's",
        zh_cn: "证明：全新的检出，从零构建；工具链和全局安装的软件包来自本机",
        zh_tw: "證明：全新的簽出，從零建置；工具鏈和全域安裝的套件來自本機",
    }
    proof_made_from_caches(base: &str) {
        en: "proof: a new checkout, with caches from the proof of {base}; toolchains and global packages are this machine's",
        zh_cn: "证明：全新的检出，使用 {base} 的证明留下的缓存；工具链和全局安装的软件包来自本机",
        zh_tw: "證明：全新的簽出，使用 {base} 的證明留下的快取；工具鏈和全域安裝的套件來自本機",
    }
    proof_exposed(why: &str) {
        en: "the agent's files were not hidden from this proof: {why}",
        zh_cn: "此次证明未能隐藏智能体留下的文件：{why}",
        zh_tw: "此次證明未能隱藏代理留下的檔案：{why}",
    }
    proof_exposed_refused(message: &str) {
        en: "this system allows no namespaces ({message})",
        zh_cn: "本机不允许使用命名空间（{message}）",
        zh_tw: "本機不允許使用命名空間（{message}）",
    }
    proof_exposed_home() {
        en: "your home directory is in its workspace",
        zh_cn: "你的主目录在其工作区中",
        zh_tw: "你的主目錄在其工作區中",
    }
    proof_started_after_setup(commit: &str) {
        en: "Proving {commit} in a separate checkout, after its setup",
        zh_cn: "准备完成后，在单独的检出中证明 {commit}",
        zh_tw: "準備完成後，在單獨的簽出中證明 {commit}",
    }
    proof_unavailable(commit: &str, why: &str) {
        en: "No proof of {commit}: {why}",
        zh_cn: "无法证明 {commit}：{why}",
        zh_tw: "無法證明 {commit}：{why}",
    }
    proof_failed(commit: &str) {
        en: "Proof of {commit} failed",
        zh_cn: "{commit} 的证明失败",
        zh_tw: "{commit} 的證明失敗",
    }
    proof_failed_without(commit: &str, files: &str) {
        en: "Proof of {commit} failed; not in the commit: {files}",
        zh_cn: "{commit} 的证明失败；不在该提交中：{files}",
        zh_tw: "{commit} 的證明失敗；不在該提交中：{files}",
    }
}
