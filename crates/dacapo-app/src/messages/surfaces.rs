//! What a surface is told of an operation that another process carries out for it.

use super::messages;

messages! {
    SURFACES, dacapo;

    act_cancelled() {
        en: "the operation was cancelled",
        zh_cn: "操作已取消",
        zh_tw: "操作已取消",
    }
}
