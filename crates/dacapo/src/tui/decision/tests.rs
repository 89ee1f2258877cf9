use crate::tui::key::Key;
use crate::tui::sample::Sample;
use crate::tui::testing::pictures;

#[test]
fn l18_what_an_agent_asks_is_a_card() {
    pictures("decision", |look| look.day().press(&[Key::Char('a')]).shown());
    pictures("decision_typing", |look| {
        look.day().press(&[Key::Char('a'), Key::Enter]).types("the blue one").shown()
    });
}

#[test]
fn m10_what_a_milestone_asks_is_a_card() {
    let paused = Sample::paused();
    pictures("decision_milestone", |look| look.day_with(&paused).press(&[Key::Char('a')]).shown());
}
