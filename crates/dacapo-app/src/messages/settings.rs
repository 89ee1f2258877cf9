//! What each setting means. In English it is what the schema says of it, and a test compares them.

use super::messages;

messages! {
    SETTINGS, dacapo;

    settings_agents() { en: "Agents", zh_cn: "智能体", zh_tw: "代理" }
    settings_prices() { en: "Prices", zh_cn: "价格", zh_tw: "價格" }
    settings_spawn_task() { en: "Spawned tasks", zh_cn: "后台任务", zh_tw: "背景任務" }
    settings_worktree() { en: "Worktrees", zh_cn: "工作树", zh_tw: "工作樹" }
    settings_tests() { en: "Tests", zh_cn: "测试", zh_tw: "測試" }
    settings_repos() { en: "Repositories", zh_cn: "仓库", zh_tw: "儲存庫" }
    settings_proof() { en: "Proofs", zh_cn: "证明", zh_tw: "證明" }
    settings_milestone() { en: "Milestones", zh_cn: "里程碑", zh_tw: "里程碑" }
    settings_notify() { en: "Notifications", zh_cn: "通知", zh_tw: "通知" }
    settings_pr() { en: "Pull requests", zh_cn: "拉取请求", zh_tw: "拉取請求" }

    about_agent() {
        en: "Which agent runs, or several in the order in which they take over from each other (`claude,codex`). Not set: the first one that is installed and logged in.",
        zh_cn: "由哪个智能体运行；也可以写多个，按接替的顺序（`claude,codex`）。未设置：第一个已安装并登录的。",
        zh_tw: "由哪個代理執行；也可以寫多個，依接替的順序（`claude,codex`）。未設定：第一個已安裝並登入的。",
    }
    about_checks() {
        en: "The commands that prove the project is right, for `--checks`, `merge` and milestones. Not set: found from the files of the project. An empty list: none, and none are looked for.",
        zh_cn: "证明项目正确的命令，用于 `--checks`、`merge` 和里程碑。未设置：从项目的文件中找出。空列表：没有检查，也不去找。",
        zh_tw: "證明專案正確的命令，用於 `--checks`、`merge` 和里程碑。未設定：從專案的檔案中找出。空清單：沒有檢查，也不去找。",
    }
    about_language() { en: "The language of the interface.", zh_cn: "界面的语言。", zh_tw: "介面的語言。" }
    about_glyphs() {
        en: "The symbols of the terminal app: those of Unicode, or plain ones. `auto`: plain ones where the locale has no others, or draws them twice as wide (Chinese, Japanese, Korean).",
        zh_cn: "终端应用使用的符号：Unicode 符号，或普通字符。`auto`：区域设置没有其他字符，或把符号画成两倍宽（中文、日文、韩文）时，用普通字符。",
        zh_tw: "終端機應用程式使用的符號：Unicode 符號，或一般字元。`auto`：地區設定沒有其他字元，或把符號畫成兩倍寬（中文、日文、韓文）時，用一般字元。",
    }
    about_mouse() {
        en: "The mouse belongs to the terminal app: a click selects, a second one opens, dragging marks text and copies it. Otherwise the terminal selects and copies as everywhere else, and the wheel scrolls.",
        zh_cn: "鼠标由终端应用使用：单击选择，再次单击打开，拖动选中文本并复制。否则由终端像平常一样选择和复制，滚轮滚动。",
        zh_tw: "滑鼠由終端機應用程式使用：單擊選取，再次單擊開啟，拖曳選取文字並複製。否則由終端機照常選取和複製，滾輪捲動。",
    }
    about_keep_awake() {
        en: "Keep the machine awake while a task runs.",
        zh_cn: "任务运行时不让机器休眠。",
        zh_tw: "任務執行時不讓機器休眠。",
    }
    about_room() {
        en: "What agents, checks and setup commands may change. `guarded`: everything but Dacapo's data, settings and program, and git's settings and hooks. `strict`: their worktree, temp, their own state and the caches of the project's tools. `none`: everything. A project's file can only make it stricter.",
        zh_cn: "智能体、检查和准备命令可以修改什么。`guarded`：除 Dacapo 的数据、设置和程序以及 git 的设置和钩子之外的一切。`strict`：只有它们的工作树、临时文件、自己的状态和项目工具的缓存。`none`：一切。项目的文件只能让它更严格。",
        zh_tw: "代理、檢查和準備命令可以修改什麼。`guarded`：除 Dacapo 的資料、設定和程式以及 git 的設定和掛鉤之外的一切。`strict`：只有它們的工作樹、暫存檔、自己的狀態和專案工具的快取。`none`：一切。專案的檔案只能讓它更嚴格。",
    }
    about_main_branch() {
        en: "The branch milestones start from. Not set: origin/HEAD, main or master.",
        zh_cn: "里程碑从哪个分支开始。未设置：origin/HEAD、main 或 master。",
        zh_tw: "里程碑從哪個分支開始。未設定：origin/HEAD、main 或 master。",
    }
    about_editor() {
        en: "The editor that `{dacapo}open` starts, with its arguments; run by the shell. Not set: $VISUAL, $EDITOR, else one that is found.",
        zh_cn: "`{dacapo}open` 启动的编辑器及其参数，由 shell 运行。未设置：$VISUAL、$EDITOR，否则用找到的一个。",
        zh_tw: "`{dacapo}open` 啟動的編輯器及其參數，由 shell 執行。未設定：$VISUAL、$EDITOR，否則用找到的一個。",
    }
    about_agent_loop_enabled() {
        en: "A plain `{dacapo}exec PROMPT` loops with this agent. While it is false the other loop settings are ignored.",
        zh_cn: "用这个智能体运行 `{dacapo}exec PROMPT` 时循环。为 false 时忽略其他循环设置。",
        zh_tw: "用這個代理執行 `{dacapo}exec PROMPT` 時循環。為 false 時忽略其他循環設定。",
    }
    about_agent_max_iterations() {
        en: "The most iterations of such a loop. A number outside the range is moved to its nearer end, and reported.",
        zh_cn: "这种循环最多的迭代次数。超出范围的数会改为较近的边界值，并给出提示。",
        zh_tw: "這種循環最多的迭代次數。超出範圍的數會改為較近的邊界值，並給出提示。",
    }
    about_agent_completion_promise() {
        en: "The text by which the agent says that it is done.",
        zh_cn: "智能体用来表示已完成的文字。",
        zh_tw: "代理用來表示已完成的文字。",
    }
    about_agent_follow_up() {
        en: "What a follow-up in the agent's own session ends with.",
        zh_cn: "在智能体自己的会话中，后续消息末尾的文字。",
        zh_tw: "在代理自己的工作階段中，後續訊息末尾的文字。",
    }
    about_agent_session() {
        en: "A new agent session in every iteration, or follow-ups in one. Not set: fresh; with `loop_enabled` resume, where the agent can.",
        zh_cn: "每次迭代用新的会话，或在同一个会话中继续。未设置：fresh；有 `loop_enabled` 且智能体支持时为 resume。",
        zh_tw: "每次迭代用新的工作階段，或在同一個工作階段中繼續。未設定：fresh；有 `loop_enabled` 且代理支援時為 resume。",
    }
    about_agent_command() { en: "The program and its arguments.", zh_cn: "程序及其参数。", zh_tw: "程式及其參數。" }
    about_agent_prompt() { en: "How the prompt goes in.", zh_cn: "提示词如何传入。", zh_tw: "提示詞如何傳入。" }
    about_agent_output() {
        en: "How what the agent prints is read.",
        zh_cn: "如何读取智能体的输出。",
        zh_tw: "如何讀取代理的輸出。",
    }
    about_agent_resume() {
        en: "The arguments that continue a session; `{{session}}` stands for its id.",
        zh_cn: "继续一个会话的参数；`{{session}}` 代表会话 ID。",
        zh_tw: "繼續一個工作階段的參數；`{{session}}` 代表其 ID。",
    }
    about_agent_script() {
        en: "The script of the built-in `rehearsal` agent; for no other.",
        zh_cn: "内置智能体 `rehearsal` 的脚本；只对它有效。",
        zh_tw: "內建代理 `rehearsal` 的腳本；只對它有效。",
    }
    about_agent_model() {
        en: "The model, by the agent's own name for it.",
        zh_cn: "模型，用智能体自己的叫法。",
        zh_tw: "模型，用代理自己的叫法。",
    }
    about_agent_api() {
        en: "The kind of endpoint the built-in `native` agent talks to.",
        zh_cn: "内置智能体 `native` 使用的接口类型。",
        zh_tw: "內建代理 `native` 使用的介面類型。",
    }
    about_agent_base_url() { en: "The address of that endpoint.", zh_cn: "该接口的地址。", zh_tw: "該介面的位址。" }
    about_agent_key_env() {
        en: "The environment variable that holds the key for it; never the key itself.",
        zh_cn: "保存其密钥的环境变量名；绝不是密钥本身。",
        zh_tw: "存放其金鑰的環境變數名稱；絕不是金鑰本身。",
    }
    about_agent_context_tokens() {
        en: "How many tokens its model takes in, prompt and answer together. Not set: 128000.",
        zh_cn: "其模型能接受多少 token，提示词和回答合计。未设置：128000。",
        zh_tw: "其模型能接受多少 token，提示詞和回答合計。未設定：128000。",
    }
    about_price_input() {
        en: "USD per million input tokens.",
        zh_cn: "每百万输入 token 的美元价格。",
        zh_tw: "每百萬輸入 token 的美元價格。",
    }
    about_repos_hidden_checks() {
        en: "Held-out checks: commands that run only when a commit is proven. Agents never see them or what they print.",
        zh_cn: "保留检查：只在证明提交时运行的命令。智能体看不到它们，也看不到它们的输出。",
        zh_tw: "保留檢查：只在證明提交時執行的命令。代理看不到它們，也看不到它們的輸出。",
    }
    about_price_output() {
        en: "USD per million output tokens.",
        zh_cn: "每百万输出 token 的美元价格。",
        zh_tw: "每百萬輸出 token 的美元價格。",
    }
    about_price_cached() {
        en: "USD per million input tokens read from a cache. Not set: as `input`.",
        zh_cn: "每百万从缓存读取的输入 token 的美元价格。未设置：与 `input` 相同。",
        zh_tw: "每百萬從快取讀取的輸入 token 的美元價格。未設定：與 `input` 相同。",
    }
    about_spawn_task_max_concurrent() {
        en: "How many run at once on this machine; more are queued.",
        zh_cn: "这台机器上同时运行多少个；其余的排队。",
        zh_tw: "這台機器上同時執行多少個；其餘的排隊。",
    }
    about_context_enabled() {
        en: "Give every iteration the record of the earlier ones.",
        zh_cn: "把之前迭代的记录交给每次迭代。",
        zh_tw: "把先前迭代的記錄交給每次迭代。",
    }
    about_context_auto_commit() {
        en: "Commit at the end of every iteration.",
        zh_cn: "每次迭代结束时提交。",
        zh_tw: "每次迭代結束時提交。",
    }
    about_context_generate_summary() {
        en: "Summarise every iteration.",
        zh_cn: "为每次迭代写摘要。",
        zh_tw: "為每次迭代寫摘要。",
    }
    about_context_summary_max_tokens() {
        en: "The most tokens of one summary. With fewer than 20 there would be room for little but the mark that it was cut.",
        zh_cn: "一份摘要最多的 token 数。少于 20 时，除了截断标记几乎放不下别的。",
        zh_tw: "一份摘要最多的 token 數。少於 20 時，除了截斷標記幾乎放不下別的。",
    }
    about_context_max_tokens() {
        en: "The most tokens of the whole record.",
        zh_cn: "整份记录最多的 token 数。",
        zh_tw: "整份記錄最多的 token 數。",
    }
    about_context_commit_message_model() {
        en: "The model that writes commit messages: the agent with this model (`haiku`), or the endpoint of `[agents.native]` (`native:MODEL`). Not set: they are made from the summary.",
        zh_cn: "写提交说明的模型：智能体使用该模型（`haiku`），或 `[agents.native]` 的接口（`native:MODEL`）。未设置：由摘要生成。",
        zh_tw: "寫提交說明的模型：代理使用該模型（`haiku`），或 `[agents.native]` 的介面（`native:MODEL`）。未設定：由摘要產生。",
    }
    about_context_summary_model() {
        en: "The model that writes summaries, likewise. Not set: the agent's closing message is the summary.",
        zh_cn: "写摘要的模型，写法同上。未设置：智能体最后的消息就是摘要。",
        zh_tw: "寫摘要的模型，寫法同上。未設定：代理最後的訊息就是摘要。",
    }
    about_context_loop_prompt() {
        en: "What follows the prompt from the second iteration on where `enabled` is false.",
        zh_cn: "`enabled` 为 false 时，从第二次迭代起接在提示词之后的文字。",
        zh_tw: "`enabled` 為 false 時，從第二次迭代起接在提示詞之後的文字。",
    }
    about_worktree_setup() {
        en: "Commands that make a fresh worktree usable, run in order by `sh -c` before anything else is. Files that git does not know come along where `.worktreeinclude` names them.",
        zh_cn: "让新工作树可用的命令，在其他一切之前由 `sh -c` 依次运行。git 不跟踪的文件，写在 `.worktreeinclude` 中的会一并带上。",
        zh_tw: "讓新工作樹可用的命令，在其他一切之前由 `sh -c` 依序執行。git 不追蹤的檔案，寫在 `.worktreeinclude` 中的會一併帶上。",
    }
    about_worktree_git_timeout() {
        en: "The limit of one git command, with the filters and hooks that it starts. One that takes longer is ended.",
        zh_cn: "一条 git 命令（包括它启动的过滤器和钩子）的时限。超过时限的会被终止。",
        zh_tw: "一條 git 命令（包括它啟動的過濾器和掛鉤）的時限。超過時限的會被終止。",
    }
    about_worktree_setup_timeout() {
        en: "The limit of each of them.",
        zh_cn: "每条命令的时限。",
        zh_tw: "每條命令的時限。",
    }
    about_tests_mode() {
        en: "What an agent may do to the tests, settings and scripts that judge its work. `original`: change them, but the work must also pass with them as they were, or a person decides. `locked`: nothing, they are put back before every commit. `free`: change them. A project can only make it stricter.",
        zh_cn: "智能体可以对评判其工作的测试、设置和脚本做什么。`original`：可以改动，但工作也必须用原来的版本通过，否则由人决定。`locked`：不可改动，每次提交前都会恢复原样。`free`：可以改动。项目只能使其更严格。",
        zh_tw: "代理可以對評判其工作的測試、設定和指令稿做什麼。`original`：可以變更，但工作也必須用原來的版本通過，否則由人決定。`locked`：不可變更，每次提交前都會恢復原樣。`free`：可以變更。專案只能使其更嚴格。",
    }
    about_tests_protect() {
        en: "Patterns of further files that judge the work, such as `fixtures/**`. Those of the project come on top of yours.",
        zh_cn: "另外还有哪些文件评判工作的匹配模式，例如 `fixtures/**`。项目的模式会加在你的模式之上。",
        zh_tw: "另外還有哪些檔案評判工作的比對模式，例如 `fixtures/**`。專案的模式會加在你的模式之上。",
    }
    about_proof_cache() {
        en: "What a proof starts with: `base` copies what a proof of the base commit built or installed, where that is safe; `none` builds everything from nothing.",
        zh_cn: "证明从什么开始：`base` 在安全的情况下复制基准提交的证明所构建或安装的内容；`none` 一切从零构建。",
        zh_tw: "證明從什麼開始：`base` 在安全的情況下複製基準提交的證明所建置或安裝的內容；`none` 一切從零建置。",
    }
    about_milestone_rounds() {
        en: "The most rounds of a milestone.",
        zh_cn: "一个里程碑最多的轮数。",
        zh_tw: "一個里程碑最多的輪數。",
    }
    about_milestone_call_timeout() {
        en: "The most time one turn of the Developer or the Acceptor may take.",
        zh_cn: "Developer 或 Acceptor 一次运行最长的时间。",
        zh_tw: "Developer 或 Acceptor 一次執行最長的時間。",
    }
    about_milestone_rejections() {
        en: "After so many rejections in a row a person is asked.",
        zh_cn: "连续拒绝这么多次后，由人来决定。",
        zh_tw: "連續拒絕這麼多次後，由人來決定。",
    }
    about_notify_desktop() {
        en: "A notification on the desktop, where there is one: notify-send, on macOS osascript.",
        zh_cn: "桌面通知（有桌面时）：notify-send，在 macOS 上用 osascript。",
        zh_tw: "桌面通知（有桌面時）：notify-send，在 macOS 上用 osascript。",
    }
    about_notify_webhook() {
        en: "An address that gets a POST with JSON, `text` and `content` for chat rooms among it. Whoever knows it can post, so it is not shown.",
        zh_cn: "接收 JSON 格式 POST 请求的地址，其中有供聊天室使用的 `text` 和 `content`。知道它的人都能发消息，所以不显示。",
        zh_tw: "接收 JSON 格式 POST 請求的位址，其中有供聊天室使用的 `text` 和 `content`。知道它的人都能發訊息，所以不顯示。",
    }
    about_notify_command() {
        en: "A command to run by the shell; what happened is in DACAPO_… variables and, as JSON, on its standard input.",
        zh_cn: "由 shell 运行的命令；发生的事在 DACAPO_… 变量中，并以 JSON 写入其标准输入。",
        zh_tw: "由 shell 執行的命令；發生的事在 DACAPO_… 變數中，並以 JSON 寫入其標準輸入。",
    }
    about_notify_command_timeout() {
        en: "The most time that command may take.",
        zh_cn: "该命令最长的运行时间。",
        zh_tw: "該命令最長的執行時間。",
    }
    about_pr_cli() {
        en: "The program that opens them. Not set: by the host of the remote.",
        zh_cn: "创建拉取请求的程序。未设置：按远程仓库的主机决定。",
        zh_tw: "建立拉取請求的程式。未設定：依遠端儲存庫的主機決定。",
    }
}
