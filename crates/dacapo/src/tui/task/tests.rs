//! The page of a task at both sizes that people have, in two languages.

use dacapo_app::present::next::Next;
use dacapo_app::present::page::{Arrangement, Clock, Decision, Lines, Offer, Page, PageTurn, Pane, Section};

use super::*;
use crate::tui::sample::{Sample, Stage, claude_begins, claude_calls, claude_says};
use crate::tui::testing::{mouse, pictures};

/// Two iterations that failed, and one at work.
fn running() -> Sample {
    let mut sample = Sample::new("claude");
    sample.workspace().baseline();
    for iteration in 0..2 {
        let said = claude_begins() + &claude_says(&format!("This was iteration {}.", iteration + 1));
        let promise = iteration == 1;
        sample.turn(iteration, said.as_bytes()).turn_ends(iteration, promise);
        sample.iteration_ends(iteration, promise, false);
    }
    let edit = serde_json::json!({"file_path": "src/parse.rs"});
    let bash = serde_json::json!({"command": "cargo test"});
    let diff = "diff --git a/src/parse.rs b/src/parse.rs\n@@ -1 +1 @@\n-a\n+b";
    let output = claude_begins()
        + &claude_says(
            "## Plan\nI'll fix the **off-by-one** in `split()`:\n\n- read it\n- 任务还没有完成，我再看一遍解析器的代码，然后运行全部测试，直到它们通过为止。",
        )
        + &claude_calls("1", "Edit", &edit, (diff, false))
        + &claude_calls("2", "Bash", &bash, ("error: test failed\n4 failed", true));
    sample.turn(2, output.as_bytes());
    sample
}

/// The page with all that its threads would have read.
fn shown(sample: &Sample, messages: Messages) -> (Stage, TaskPage) {
    let view = sample.view();
    let stage = Stage::new(&view, messages);
    let mut page = TaskPage::new(stage.brief(), &stage.context(80, 24));
    page.take_view(&view);
    read(&mut page, sample);
    (stage, page)
}

fn read(page: &mut TaskPage, sample: &Sample) {
    page.panes.iter_mut().for_each(|pane| pane.read_now(&sample.dir));
}

fn press(page: &mut TaskPage, stage: &Stage, keys: &[Key]) {
    for key in keys {
        page.key(*key, &stage.context(80, 24));
    }
}

#[test]
fn u1_a_loop_at_work() {
    let sample = running();
    pictures("task", |look| {
        let (stage, page) = shown(&sample, look.messages());
        stage.draw(&page, look.columns, look.rows)
    });
    pictures("task_earlier", |look| {
        let (stage, mut page) = shown(&sample, look.messages());
        press(&mut page, &stage, &[Key::Char('z'), Key::Tab, Key::Up]);
        read(&mut page, &sample);
        stage.draw(&page, look.columns, look.rows)
    });
    pictures("task_search", |look| {
        let (stage, mut page) = shown(&sample, look.messages());
        stage.draw(&page, look.columns, look.rows);
        press(&mut page, &stage, &[Key::Ctrl('f')]);
        press(&mut page, &stage, &"test".chars().map(Key::Char).collect::<Vec<_>>());
        press(&mut page, &stage, &[Key::Enter]);
        read(&mut page, &sample);
        press(&mut page, &stage, &[Key::Ctrl('f')]);
        press(&mut page, &stage, &"split".chars().map(Key::Char).collect::<Vec<_>>());
        stage.draw(&page, look.columns, look.rows)
    });
}

#[test]
fn u1_an_earlier_iteration_with_all_calls_unfolded() {
    let sample = running();
    let (stage, mut page) = shown(&sample, Messages::ENGLISH);
    press(&mut page, &stage, &[Key::Char('z')]);
    let unfolded = stage.draw(&page, 80, 24);
    assert!(unfolded.contains("▾ Edit src/parse.rs") && unfolded.contains("▏ +b"), "{unfolded}");
    press(&mut page, &stage, &[Key::Tab, Key::Up]);
    read(&mut page, &sample);
    assert_eq!(page.selected, Some(1));
    press(&mut page, &stage, &[Key::Down]);
    assert_eq!(page.selected, None, "the newest is followed");
}

#[test]
fn u1_a_search_is_typed_and_shown() {
    let sample = running();
    let (stage, mut page) = shown(&sample, Messages::ENGLISH);
    press(
        &mut page,
        &stage,
        &[Key::Ctrl('f'), Key::Char('t'), Key::Char('e'), Key::Char('s'), Key::Char('t')],
    );
    assert!(page.takes_text());
    let typing = stage.draw(&page, 80, 24);
    assert!(typing.contains("search: test"), "{typing}");
    press(&mut page, &stage, &[Key::Enter]);
    read(&mut page, &sample);
    let found = stage.draw(&page, 80, 24);
    assert!(found.contains("▾ Bash cargo test"), "the call that has it is unfolded: {found}");
    press(&mut page, &stage, &[Key::Char('N')]);
    read(&mut page, &sample);
    let none = stage.draw(&page, 80, 24);
    assert!(none.contains("no \"test\" below"), "{none}");
    // Who searches anew finds it wherever it is.
    let typed = ['P', 'l', 'a', 'n'].map(Key::Char);
    press(&mut page, &stage, &[Key::Ctrl('f')]);
    press(&mut page, &stage, &typed);
    press(&mut page, &stage, &[Key::Enter]);
    read(&mut page, &sample);
    read(&mut page, &sample);
    assert!(!stage.draw(&page, 80, 24).contains("no \"Plan\""));
}

/// Types a search.
fn search(page: &mut TaskPage, stage: &Stage, sample: &Sample, text: &str) {
    press(page, stage, &[Key::Ctrl('f')]);
    text.chars().for_each(|c| press(page, stage, &[Key::Char(c)]));
    press(page, stage, &[Key::Enter]);
    read(page, sample);
}

#[test]
fn a_search_holds_the_page_whatever_comes() {
    let mut sample = Sample::new("claude");
    let said =
        |from: u32| (from..from + 40).map(|nth| claude_says(&format!("step {nth}\n"))).collect::<String>();
    sample.workspace().turn(0, (claude_begins() + &said(1)).as_bytes());
    let (stage, mut page) = shown(&sample, Messages::ENGLISH);
    assert!(stage.draw(&page, 80, 24).contains("following"));
    search(&mut page, &stage, &sample, "step 38");
    let before = stage.draw(&page, 80, 24);
    assert!(
        before.contains("1 of 1") && before.contains("step 40") && !before.contains("following"),
        "{before}"
    );
    sample.print(said(41).as_bytes());
    read(&mut page, &sample);
    let after = stage.draw(&page, 80, 24);
    assert!(after.contains("step 38") && after.contains("step 40") && !after.contains("step 42"), "{after}");
    // Of several it says which.
    search(&mut page, &stage, &sample, "step 7");
    let many = stage.draw(&page, 80, 24);
    assert!(many.contains("2 of 11"), "{many}");
}

#[test]
fn a_search_that_is_over_leaves_no_words() {
    let sample = running();
    let (stage, mut page) = shown(&sample, Messages::ENGLISH);
    let says = |page: &TaskPage| stage.draw(page, 80, 24).contains("no \"nowhere\"");
    search(&mut page, &stage, &sample, "nowhere");
    assert!(says(&page));
    press(&mut page, &stage, &[Key::Ctrl('f'), Key::Esc]);
    assert!(!says(&page), "Esc ends the search, not only its line");
    press(&mut page, &stage, &[Key::Char('f')]);
    search(&mut page, &stage, &sample, "nowhere");
    assert!(says(&page));
    press(&mut page, &stage, &[Key::Char('f')]);
    assert!(!says(&page));
}

#[test]
fn m10_a_milestone_at_work_and_paused() {
    for (name, sample) in [("milestone", Sample::milestone(30)), ("milestone_paused", Sample::paused())] {
        pictures(name, |look| {
            let (stage, page) = shown(&sample, look.messages());
            stage.draw(&page, look.columns, look.rows)
        });
    }
}

#[test]
fn m10_every_offer_opens_what_it_says() {
    let sample = Sample::paused();
    let (stage, mut page) = shown(&sample, Messages::ENGLISH);
    let offers = page.page.as_ref().unwrap().decision.as_ref().unwrap().offers.clone();
    assert!(
        offers.iter().any(|offer| offer.key == Some('g'))
            && offers.iter().any(|offer| offer.key == Some('r'))
    );
    for offer in offers.iter().filter_map(|offer| offer.key) {
        let reply = page.key(Key::Char(offer), &stage.context(80, 24));
        assert!(matches!(reply.go, crate::tui::screen::Go::To(_)), "{offer}");
    }
    let keys = page.keys(&stage.context(80, 24));
    assert!(keys.iter().take(offers.len()).all(|binding| binding.not_now.is_none()));
}

/// A kind that nobody here has heard of: three workers side by side.
fn of_another_kind() -> Page {
    let pane = |title: &str, active| Pane {
        title: title.into(),
        active,
        turns: vec![PageTurn { turn: 0, step: 0, heading: "stage 1".into(), over: true }],
    };
    Page {
        name: "release".into(),
        facts: vec!["stage 2 of 3".into()],
        clock: Clock { elapsed: std::time::Duration::from_secs(125), since: None },
        more_facts: vec!["$3.10".into()],
        arrangement: Arrangement::PanesAbove,
        steps: Vec::new(),
        panes: vec![pane("build", false), pane("test", true), pane("publish", false)],
        sections: vec![Section {
            title: "stages".into(),
            lines: Lines::After(vec!["✓ build".into(), "▸ test".into(), "○ publish".into()]),
        }],
        phase: Some("waiting for the tests".into()),
        decision: Some(Decision {
            question: "Publish to everybody?".into(),
            offers: vec![Offer {
                key: Some('a'),
                next: Next::new("dacapo approve release", "publish".into()),
            }],
        }),
    }
}

#[test]
fn a_kind_that_nobody_knows_brings_its_own_page() {
    let sample = running();
    let (stage, mut page) = shown(&sample, Messages::ENGLISH);
    page.take(of_another_kind());
    read(&mut page, &sample);
    insta::assert_snapshot!(stage.draw(&page, 80, 24));
}

#[test]
fn a_tiny_terminal_is_no_reason_to_fall() {
    for sample in [running(), Sample::paused()] {
        let (stage, page) = shown(&sample, Messages::ENGLISH);
        for (columns, rows) in [(20, 5), (1, 2), (3, 3), (64, 4), (80, 6)] {
            stage.draw(&page, columns, rows);
        }
    }
}

/// Where a text is on the screen.
fn find(drawn: &str, text: &str) -> (u16, u16) {
    let nth = drawn.lines().position(|line| line.contains(text)).unwrap();
    let line = drawn.lines().nth(nth).unwrap();
    let column = crate::tui::text::width(&line[..line.find(text).unwrap()]);
    (u16::try_from(column).unwrap(), u16::try_from(nth).unwrap())
}

fn copied(reply: &crate::tui::screen::Reply) -> Option<&str> {
    reply.effects.iter().find_map(|effect| match effect {
        Effect::Copy(text) => Some(text.as_str()),
        _ => None,
    })
}

#[test]
fn text_is_marked_with_the_mouse_and_copied() {
    let sample = running();
    let (stage, mut page) = shown(&sample, Messages::ENGLISH);
    let context = stage.context(80, 24);
    let drawn = stage.draw(&page, 80, 24);
    let (x, y) = find(&drawn, "off-by-one");
    assert!(copied(&page.mouse(mouse(Did::Press, (x, y)), &context)).is_none());
    page.mouse(mouse(Did::Drag, (x + 9, y)), &context);
    assert_eq!(stage.reversed(&page, 80, 24), ["off-by-one"]);
    let reply = page.mouse(mouse(Did::Release, (x + 9, y)), &context);
    assert_eq!(copied(&reply), Some("off-by-one"));
    assert_eq!(stage.reversed(&page, 80, 24), ["off-by-one"], "it stays in sight");
    // Backwards, over lines, wide characters, and out of the pane to the left.
    let (x, y) = find(&drawn, "部测试");
    page.mouse(mouse(Did::Press, (x + 3, y)), &context);
    page.mouse(mouse(Did::Drag, (3, y - 1)), &context);
    let reply = page.mouse(mouse(Did::Release, (3, y - 1)), &context);
    let expected = "• 任务还没有完成，我再看一遍解析器的代码，然后运行全\n  部测";
    assert_eq!(copied(&reply), Some(expected));
    press(&mut page, &stage, &[Key::Up]);
    assert_eq!(stage.reversed(&page, 80, 24), [""; 0], "until the next key");
}

#[test]
fn what_is_clicked_is_gone_to_and_the_wheel_scrolls_what_is_under_it() {
    let sample = running();
    let (stage, mut page) = shown(&sample, Messages::ENGLISH);
    let context = stage.context(80, 24);
    let drawn = stage.draw(&page, 80, 24);
    let click = |page: &mut TaskPage, at: (u16, u16)| {
        page.mouse(mouse(Did::Press, at), &context);
        page.mouse(mouse(Did::Release, at), &context);
    };
    let call = find(&drawn, "▸ Edit src/parse.rs");
    click(&mut page, call);
    assert_eq!(stage.reversed(&page, 80, 24), ["▸ Edit src/parse.rs  4 lines"]);
    click(&mut page, call);
    assert!(stage.draw(&page, 80, 24).contains("▾ Edit src/parse.rs"));
    let first = find(&drawn, "1 ○");
    click(&mut page, first);
    assert_eq!((page.selected, page.focus), (Some(0), Focus::Steps));
    stage.draw(&page, 80, 24);
    click(&mut page, first);
    assert_eq!(page.focus, Focus::Pane(0));
    page.mouse(mouse(Did::WheelDown, first), &context);
    assert_eq!(page.selected, Some(1));
    page.mouse(mouse(Did::WheelDown, first), &context);
    read(&mut page, &sample);
    stage.draw(&page, 80, 12);
    let context = stage.context(80, 12);
    page.mouse(mouse(Did::WheelUp, (40, 4)), &context);
    page.mouse(mouse(Did::WheelUp, (40, 4)), &context);
    let drawn = stage.draw(&page, 80, 12);
    assert!(drawn.contains("Plan") && page.selected.is_none(), "{drawn}");
}
