//! What the two are told, whole. `prompts/*.md` are the texts: read them before you change them.

use super::world::*;
use crate::task::milestone::Details;

fn same(found: &str, expected: &str) {
    assert_eq!(found, expected, "\n--- found:\n{found}");
}

fn rejected_once() -> World {
    let script = [report(1, "F-1 Login"), says("REJECTED: no limit\n- no rate limit in the app\n")];
    World::new(spec()).script(&script).run()
}

#[test]
fn m4_the_first_prompt_of_the_developer() {
    same(rejected_once().prompt(0), include_str!("prompts/developer-first.md"));
}

#[test]
fn m4_a_repair() {
    same(rejected_once().prompt(2), include_str!("prompts/developer-repair.md"));
}

#[test]
fn m11_the_acceptor_on_a_feature() {
    let world = rejected_once();
    same(world.prompt(1), include_str!("prompts/acceptor-feature.md"));
    for prompt in [world.prompt(1), world.prompt(3)] {
        assert!(!prompt.contains("wonderful") && !prompt.contains("A vision"), "{prompt}");
    }
}

#[test]
fn m5_the_acceptor_on_the_whole() {
    let world = World::new(spec()).run();
    same(world.prompt(7), include_str!("prompts/acceptor-final.md"));
    assert!(!world.prompt(7).contains("Praise"), "not the Developer's own words");
}

#[test]
fn m6_who_remembers_is_told_only_what_is_wrong() {
    let mut spec = spec();
    spec.agents = vec![resumable("codex"), resumable("claude")];
    let named = |turn: Turn| Turn { session: Some("s".into()), ..turn };
    let script = [named(says("done")), report(1, "F-1"), named(says("fine")), yes()];
    let world = World::new(spec).script(&script).run();
    same(world.prompt(1), include_str!("prompts/developer-sent-back.md"));
    same(world.prompt(3), include_str!("prompts/acceptor-sent-back.md"));
}

#[test]
fn c8_what_somebody_wrote_is_put_in_and_never_expanded() {
    let odd = "{plan} {{ x }} {round} %s $HOME".to_owned();
    let details = Details { soul: Some(odd.clone()), memory: None, vision: None, ..details() };
    let world = World::new(with(&details)).run();
    assert!(world.prompt(0).contains(&odd) && world.prompt(1).contains(&odd));
    assert!(!world.prompt(0).contains("Project memory") && !world.prompt(0).contains("Vision"));
}
