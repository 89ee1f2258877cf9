//! `dacapo doctor`: agents and machine.

use super::messages;

messages! {
    DOCTOR, dacapo;

    doctor_agents() { en: "agents", zh_cn: "智能体", zh_tw: "代理" }
    doctor_machine() { en: "machine", zh_cn: "本机", zh_tw: "本機" }
    doctor_label_do() { en: "do: ", zh_cn: "建议：", zh_tw: "建議：" }

    doctor_scripted() { en: "scripted, costs nothing", zh_cn: "按脚本运行，不花钱", zh_tw: "依腳本執行，不花錢" }
    doctor_scripted_without_script() {
        en: "scripted, costs nothing; there is no script here",
        zh_cn: "按脚本运行，不花钱；这里没有脚本",
        zh_tw: "依腳本執行，不花錢；這裡沒有腳本",
    }
    doctor_logged_in() { en: "logged in", zh_cn: "已登录", zh_tw: "已登入" }
    doctor_not_logged_in() { en: "not logged in", zh_cn: "未登录", zh_tw: "未登入" }
    doctor_subscription() { en: "subscription", zh_cn: "订阅计费", zh_tw: "訂閱計費" }
    doctor_found() { en: "found", zh_cn: "已找到", zh_tw: "已找到" }
    doctor_not_usable() { en: "not usable", zh_cn: "不可用", zh_tw: "無法使用" }
    doctor_not_found() { en: "not found", zh_cn: "未找到", zh_tw: "找不到" }
    doctor_program_not_found(program: &str) {
        en: "not found: {program}",
        zh_cn: "未找到：{program}",
        zh_tw: "找不到：{program}",
    }
    doctor_not_configured() { en: "not configured", zh_cn: "未配置", zh_tw: "尚未設定" }
    doctor_configure_native() {
        en: "set api, model, base_url and key_env under [agents.native] in config.toml: any endpoint works",
        zh_cn: "在 config.toml 的 [agents.native] 下设置 api、model、base_url 和 key_env：任何端点都可以",
        zh_tw: "在 config.toml 的 [agents.native] 下設定 api、model、base_url 和 key_env：任何端點都可以",
    }
    doctor_install_it() {
        en: "install it, or give its full path in the config",
        zh_cn: "请安装它，或在配置中写出完整路径",
        zh_tw: "請安裝它，或在設定中寫出完整路徑",
    }
    doctor_set_variable(variable: &str) {
        en: "set {variable}",
        zh_cn: "设置 {variable}",
        zh_tw: "設定 {variable}",
    }
    doctor_no_version(seconds: u64) {
        en: "no answer to --version within {seconds} s",
        zh_cn: "{seconds} 秒内没有回应 --version",
        zh_tw: "{seconds} 秒內沒有回應 --version",
    }
    doctor_does_not_run(why: &str) {
        en: "does not run: {why}",
        zh_cn: "无法运行：{why}",
        zh_tw: "無法執行：{why}",
    }
    doctor_does_not_run_exit(code: i32, said: &str) {
        en: "does not run (exit {code}): {said}",
        zh_cn: "无法运行（退出码 {code}）：{said}",
        zh_tw: "無法執行（結束代碼 {code}）：{said}",
    }
    doctor_try_it_yourself() {
        en: "run it with --version yourself, or reinstall it",
        zh_cn: "请自行运行它的 --version，或重新安装",
        zh_tw: "請自行執行它的 --version，或重新安裝",
    }
    doctor_calls_go_to(url: &str) {
        en: "model calls go to {url}",
        zh_cn: "模型请求发往 {url}",
        zh_tw: "模型請求送往 {url}",
    }
    doctor_limited(until: &str, task: &str, message: &str) {
        en: "limited until {until}, found by task {task}: {message}",
        zh_cn: "用量受限至 {until}（由任务 {task} 发现）：{message}",
        zh_tw: "用量受限至 {until}（由任務 {task} 發現）：{message}",
    }
    doctor_runs_directly(path: &str) {
        en: "runs {path} directly, without its launcher",
        zh_cn: "直接运行 {path}，不经过启动器",
        zh_tw: "直接執行 {path}，不經過啟動器",
    }
    doctor_billed_to_variable(variable: &str) {
        en: "{variable} is set: turns are billed to it, not to a subscription",
        zh_cn: "已设置 {variable}：费用记在该密钥上，而不是订阅",
        zh_tw: "已設定 {variable}：費用記在該金鑰上，而不是訂閱",
    }
    doctor_billed_to_key(place: &str) {
        en: "turns are billed to the API key in {place}",
        zh_cn: "费用记在 {place} 中的 API 密钥上",
        zh_tw: "費用記在 {place} 中的 API 金鑰上",
    }

    doctor_name_data() { en: "data", zh_cn: "数据", zh_tw: "資料" }
    doctor_name_disk() { en: "disk", zh_cn: "磁盘", zh_tw: "磁碟" }
    doctor_name_locks() { en: "locks", zh_cn: "锁", zh_tw: "鎖" }
    doctor_name_config() { en: "config", zh_cn: "配置", zh_tw: "設定" }
    doctor_name_trust() { en: "trust", zh_cn: "信任", zh_tw: "信任" }
    doctor_name_awake() { en: "awake", zh_cn: "防休眠", zh_tw: "防休眠" }

    doctor_repair_git() { en: "repair git", zh_cn: "请修复 git", zh_tw: "請修復 git" }
    doctor_git_silent() { en: "no answer", zh_cn: "没有回应", zh_tw: "沒有回應" }
    doctor_run_git() { en: "run git --version", zh_cn: "请运行 git --version", zh_tw: "請執行 git --version" }
    doctor_install_git() { en: "install git", zh_cn: "请安装 git", zh_tw: "請安裝 git" }
    doctor_data_to_be_made(path: &str) {
        en: "{path} (created with the first task)",
        zh_cn: "{path}（随第一个任务创建）",
        zh_tw: "{path}（隨第一個任務建立）",
    }
    doctor_data_not_writable(path: &str, error: &str) {
        en: "cannot write to {path}: {error}",
        zh_cn: "无法写入 {path}：{error}",
        zh_tw: "無法寫入 {path}：{error}",
    }
    doctor_make_data_writable() {
        en: "make it writable, or set DACAPO_HOME to another place",
        zh_cn: "使其可写，或将 DACAPO_HOME 设为其他位置",
        zh_tw: "使其可寫入，或將 DACAPO_HOME 設為其他位置",
    }
    doctor_free(free: &str, size: &str) {
        en: "{free} free of {size}",
        zh_cn: "可用 {free}，共 {size}",
        zh_tw: "可用 {free}，共 {size}",
    }
    doctor_disk_full(room: &str) { en: "full: {room}", zh_cn: "已满：{room}", zh_tw: "已滿：{room}" }
    doctor_disk_nearly_full(room: &str) {
        en: "nearly full: {room}",
        zh_cn: "快满了：{room}",
        zh_tw: "快滿了：{room}",
    }
    doctor_few_files(files: u64, room: &str) {
        en: "room for only {files} more files ({room})",
        zh_cn: "只能再创建 {files} 个文件（{room}）",
        zh_tw: "只能再建立 {files} 個檔案（{room}）",
    }
    doctor_free_space() {
        en: "free some space: {dacapo}list --size, {dacapo}prune; or set DACAPO_HOME to another disk",
        zh_cn: "请清理空间：{dacapo}list --size、{dacapo}prune；或将 DACAPO_HOME 设到其他磁盘",
        zh_tw: "請清理空間：{dacapo}list --size、{dacapo}prune；或將 DACAPO_HOME 設到其他磁碟",
    }
    doctor_locks_work() {
        en: "a second process is kept out",
        zh_cn: "第二个进程无法进入",
        zh_tw: "第二個行程無法進入",
    }
    doctor_locks_do_not_work() {
        en: "a second process is not kept out",
        zh_cn: "挡不住第二个进程",
        zh_tw: "擋不住第二個行程",
    }
    doctor_locks_unavailable(error: &str) {
        en: "not available: {error}",
        zh_cn: "不可用：{error}",
        zh_tw: "無法使用：{error}",
    }
    doctor_local_disk() {
        en: "set DACAPO_HOME to a place on a local disk",
        zh_cn: "请将 DACAPO_HOME 设到本地磁盘",
        zh_tw: "請將 DACAPO_HOME 設到本機磁碟",
    }
    doctor_untrusted(source: &str, keys: &str) {
        en: "settings of {source} have no effect until you confirm them: {keys}",
        zh_cn: "{source} 中的设置在你确认之前不生效：{keys}",
        zh_tw: "{source} 中的設定在你確認之前不生效：{keys}",
    }
    doctor_run_trust() {
        en: "{dacapo}trust shows them and asks",
        zh_cn: "{dacapo}trust 会列出它们并询问",
        zh_tw: "{dacapo}trust 會列出它們並詢問",
    }
    doctor_may_sleep_by_setting() {
        en: "keep_awake = false: the machine may sleep while a task runs",
        zh_cn: "keep_awake = false：任务运行时本机可能休眠",
        zh_tw: "keep_awake = false：任務執行時本機可能休眠",
    }
    doctor_kept_awake() {
        en: "the machine is kept awake while a task runs",
        zh_cn: "任务运行期间本机不会休眠",
        zh_tw: "任務執行期間本機不會休眠",
    }
    doctor_may_sleep(why: &str) {
        en: "the machine may sleep while a task runs: {why}",
        zh_cn: "任务运行时本机可能休眠：{why}",
        zh_tw: "任務執行時本機可能休眠：{why}",
    }
    doctor_cannot_keep_awake() {
        en: "cannot keep the machine awake while a task runs",
        zh_cn: "这里没有办法在任务运行时阻止休眠",
        zh_tw: "這裡沒有辦法在任務執行時阻止休眠",
    }
    doctor_root() {
        en: "running as root: outside of what a room protects, agents can change anything on this machine",
        zh_cn: "当前是 root：除房间保护的内容外，智能体可以改动本机的任何东西",
        zh_tw: "目前是 root：除房間保護的內容外，代理可以變更本機的任何東西",
    }
    doctor_not_root() {
        en: "work as an ordinary user, or in a container",
        zh_cn: "请使用普通用户，或在容器中运行",
        zh_tw: "請使用一般使用者，或在容器中執行",
    }

    doctor_no_probe() {
        en: "no agent is ready for a test turn",
        zh_cn: "没有智能体可以试跑",
        zh_tw: "沒有代理可以試跑",
    }
    doctor_probe() { en: "probe", zh_cn: "试跑", zh_tw: "試跑" }
    doctor_probes(turns: u64, names: &str) {
        en: (turns: "1 short, real turn ({names}); this costs a little", "{turns} short, real turns ({names}); this costs a little"),
        zh_cn: "{turns} 次简短的真实调用（{names}）；会产生少量费用",
        zh_tw: "{turns} 次簡短的真實呼叫（{names}）；會產生少量費用",
    }
    probe_failed(error: &str) {
        en: "cannot run the test turn: {error}",
        zh_cn: "无法试跑：{error}",
        zh_tw: "無法試跑：{error}",
    }
    probe_limit_until(message: &str, until: &str) {
        en: "{message} (until {until})",
        zh_cn: "{message}（至 {until}）",
        zh_tw: "{message}（至 {until}）",
    }
    doctor_answered() { en: "answered", zh_cn: "有回应", zh_tw: "有回應" }
    doctor_at_limit() { en: "at its usage limit", zh_cn: "已达用量上限", zh_tw: "已達用量上限" }
    doctor_failed() { en: "failed", zh_cn: "失败", zh_tw: "失敗" }
    doctor_cannot_work() { en: "cannot work", zh_cn: "无法工作", zh_tw: "無法運作" }
    doctor_cancelled() { en: "cancelled", zh_cn: "已取消", zh_tw: "已取消" }

    doctor_ready() { en: "ready", zh_cn: "就绪", zh_tw: "就緒" }
    doctor_no_task_can_run() {
        en: "no task can run here yet",
        zh_cn: "这里还无法运行任务",
        zh_tw: "這裡還無法執行任務",
    }
    doctor_no_agent_usable() {
        en: "no agent can be used yet",
        zh_cn: "还没有可用的智能体",
        zh_tw: "還沒有可用的代理",
    }
    doctor_demo_works() {
        en: "{dacapo}demo works without any",
        zh_cn: "{dacapo}demo 不需要智能体也能运行",
        zh_tw: "{dacapo}demo 不需要代理也能執行",
    }
    doctor_probe_tries_them() {
        en: "{dacapo}doctor --probe tries them with a short, real turn each",
        zh_cn: "{dacapo}doctor --probe 会让每个智能体各做一次简短的真实调用",
        zh_tw: "{dacapo}doctor --probe 會讓每個代理各做一次簡短的真實呼叫",
    }
}
