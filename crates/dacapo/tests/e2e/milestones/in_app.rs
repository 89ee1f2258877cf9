//! A milestone in the terminal app: its pause is seen there, and decided there (M10).

use super::people::stuck;
use crate::tui::App;

#[test]
fn m10_a_pause_is_decided_in_the_app() {
    let stage = stuck();
    stage.play(
        &["exit 9", "exit 9", "exit 9", "build F-2", "complete"],
        &["exit 9", "exit 9", "exit 9", "accept", "accept_all"],
    );
    let mut app = App::open(&stage.world);
    app.shows("NEEDS YOU 1");
    app.shows("rejected 3×");
    app.press("\r");
    app.shows("needs your decision");
    app.shows("rejections 3/3");
    app.shows("a accept the latest round");
    stage.stands("paused", [3, 0, 3]);
    app.press("a");
    // It goes on in the background, and the page follows it.
    app.shows("r5 ✓");
    app.press("\u{1b}");
    app.shows("READY 1");
    app.press("q");
    assert_eq!(app.end(), Some(0));
    stage.stands("completed", [5, 3, 0]);
    assert_eq!(stage.verdicts()[2], (true, "person".to_owned()));
}
