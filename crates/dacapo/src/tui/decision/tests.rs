use dacapo_app::operations::diff::DiffPart;
use dacapo_app::present::act::ActCommand;
use dacapo_core::view::Status;

use super::*;
use crate::tui::sample::Sample;
use crate::tui::testing::{Stage, brief, entry, pictures};

/// What a task asks, with one answer in words.
fn a_question() -> Result<Asked, Failure> {
    let act = NextAct::of(ActCommand::Resume, "auth").with(ActArgument::Answer);
    let offer = Offer { meaning: "answer it".into(), act };
    Ok(Asked { question: "Which key?".into(), detail: Vec::new(), diff: DiffPart::All, answers: vec![offer] })
}

#[test]
fn keys_that_are_faster_than_the_question_count() {
    let mut stage = Stage::new(80, 24);
    let auth = brief("auth", Status::Paused);
    stage.tasks(vec![entry(auth.clone())]);
    let context = stage.model.context();
    let mut card = DecisionCard::new(&auth, &context);
    for key in "1the ".chars().map(Key::Char) {
        assert!(!card.key(key, &context).unused);
    }
    card.pasted("blue", &context);
    card.key(Key::Char('!'), &context);
    card.answered(Box::new(a_question()), &context);
    assert_eq!(card.words.as_ref().map(Field::text), Some("the blue!"));
}

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
