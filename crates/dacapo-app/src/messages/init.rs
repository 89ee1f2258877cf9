//! `dacapo init`: the files that Dacapo reads in a repository. The first columns are part of the text.

use super::messages;

messages! {
    INIT, dacapo;

    init_in(directory: &str, top: &str) {
        en: "{directory} in {top}",
        zh_cn: "{top} 中的 {directory}",
        zh_tw: "{top} 中的 {directory}",
    }
    init_made() { en: "  made    ", zh_cn: "  新建    ", zh_tw: "  新建    " }
    init_there() { en: "  there   ", zh_cn: "  已有    ", zh_tw: "  已有    " }
    init_imported() { en: "  import  ", zh_cn: "  导入    ", zh_tw: "  匯入    " }
    init_make_room() {
        en: "make room and run {dacapo}init again: it continues where it stopped",
        zh_cn: "腾出空间后重新运行 {dacapo}init：它会从停下的地方继续",
        zh_tw: "騰出空間後重新執行 {dacapo}init：它會從停下的地方繼續",
    }
    init_kept() { en: "everything that already existed", zh_cn: "已有的全部内容", zh_tw: "已有的全部內容" }
    init_anima_here() {
        en: ".anima/ exists: {dacapo}init --import imports its milestones",
        zh_cn: "这里有 .anima/：{dacapo}init --import 可导入其中的里程碑",
        zh_tw: "這裡有 .anima/：{dacapo}init --import 可匯入其中的里程碑",
    }
    init_set_it_yourself(file: &str, key: &str, value: &str) {
        en: "{file} already exists: set {key} = {value} in its [milestone] yourself",
        zh_cn: "{file} 已存在：请自行在它的 [milestone] 中设置 {key} = {value}",
        zh_tw: "{file} 已存在：請自行在它的 [milestone] 中設定 {key} = {value}",
    }
    init_vision_at_top() {
        en: "agents get VISION.md at the top, not .dacapo/VISION.md",
        zh_cn: "智能体读取顶层的 VISION.md，而不是 .dacapo/VISION.md",
        zh_tw: "代理讀取頂層的 VISION.md，而不是 .dacapo/VISION.md",
    }
    init_no_directory(path: &str) {
        en: "there is no directory {path}",
        zh_cn: "没有目录 {path}",
        zh_tw: "沒有目錄 {path}",
    }
    init_name_directory() {
        en: "{dacapo}init --import DIR names the .anima directory",
        zh_cn: "用 {dacapo}init --import DIR 指定 .anima 目录",
        zh_tw: "用 {dacapo}init --import DIR 指定 .anima 目錄",
    }
    init_ideas_left(name: &str) {
        en: "{name}: ideas are not imported",
        zh_cn: "{name}：不导入想法",
        zh_tw: "{name}：不匯入想法",
    }
    init_summaries_left(name: &str) {
        en: "{name}: summaries of iterations are not imported",
        zh_cn: "{name}：不导入迭代摘要",
        zh_tw: "{name}：不匯入迭代摘要",
    }
    init_auto_start() {
        en: "milestones started automatically there; add auto_start: true to those that should do so here",
        zh_cn: "那里的里程碑会自动启动；若这里也要如此，请加上 auto_start: true",
        zh_tw: "那裡的里程碑會自動啟動；若這裡也要如此，請加上 auto_start: true",
    }
    init_not_json(error: &str) {
        en: "it is not JSON: {error}",
        zh_cn: "它不是 JSON：{error}",
        zh_tw: "它不是 JSON：{error}",
    }
    init_already_exists(path: &str) {
        en: "{path} already exists",
        zh_cn: "{path} 已存在",
        zh_tw: "{path} 已存在",
    }

    init_file_config() { en: "  (every setting, as a comment)", zh_cn: "  （所有配置项，均为注释）", zh_tw: "  （所有設定項，均為註解）" }
    init_file_ignore() {
        en: "  (keeps generated files out of git)",
        zh_cn: "  （让生成的文件不进入 git）",
        zh_tw: "  （讓產生的檔案不進入 git）",
    }
    init_file_how_to() { en: "  (how a milestone is written)", zh_cn: "  （里程碑的写法）", zh_tw: "  （里程碑的寫法）" }
    init_file_prompts() {
        en: "  (what agents are told, as a comment)",
        zh_cn: "  （对智能体说的话，均为注释）",
        zh_tw: "  （對代理說的話，均為註解）",
    }
    init_file_vision() { en: "  (where the project is going)", zh_cn: "  （项目的方向）", zh_tw: "  （專案的方向）" }
    init_file_soul() { en: "  (how things are done here)", zh_cn: "  （这里的做事方式）", zh_tw: "  （這裡的做事方式）" }
    init_file_memory() { en: "  (what is known about the project)", zh_cn: "  （关于项目的已知信息）", zh_tw: "  （關於專案的已知資訊）" }
}
