use super::*;
use crate::messages::Language;
use crate::present::chinese::assert_no_english;

#[test]
fn u5_a_list_has_no_english_sentence_in_chinese() {
    let mut entries = sketch();
    let done = |name: &str| Brief { verified: true, ..brief(name, Status::Completed) };
    entries.extend([
        entry(brief("waits-in-line", Status::Queued)),
        entry(Brief { prompt: "Fix it".into(), elapsed_seconds: 9.0, ..brief("runs", Status::Running) }),
        entry(Brief { needs: Some(NeedKind::Resume { by: None }), ..brief("held", Status::Paused) }),
        entry(Brief { left_by_hand: 2, ..done("touched") }),
        entry(brief("cut", Status::Interrupted)),
        entry(Brief { detail: Some(StopDetail::TimeUsed), ..brief("broken", Status::Failed) }),
        entry(Brief { merged_into: Some("refs/heads/main".into()), ..done("merged") }),
        entry(Brief { own_branch: None, ..done("here") }),
        entry(milestone("builds", Status::Running)),
        entry(Brief { stop_reason: Some(StopReason::Abandoned), ..milestone("over", Status::Cancelled) }),
    ]);
    for language in [Language::SimplifiedChinese, Language::TraditionalChinese] {
        for (width, done) in
            [(None, DoneTasks::Shown), (Some(80), DoneTasks::Counted), (Some(120), DoneTasks::Counted)]
        {
            let messages = Messages::new(language);
            let frame = Frame { done, messages, sizes: Sizes::All, ..frame(width) };
            assert_no_english(&shown(&entries, &frame), &["no rate limit"]);
        }
    }
    let chinese = Frame { messages: Messages::new(Language::SimplifiedChinese), ..frame(Some(80)) };
    let text = shown(&entries, &chinese);
    for words in ["需要你     auth", "✓ 已证明 $1.20，可无冲突合并", " 次迭代 · "] {
        assert!(text.contains(words), "{words}: {text}");
    }
}
