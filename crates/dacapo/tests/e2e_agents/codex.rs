//! The real `codex`.

use crate::agents::CODEX;
use crate::{failures, interrupt, work};

#[test]
fn a3_three_iterations_are_three_commits_with_their_cost() {
    work::three_iterations(&CODEX);
}

#[test]
fn l13_a_conversation_goes_on() {
    work::session_resume(&CODEX);
}

#[test]
fn a1_a_prompt_of_a_megabyte_arrives() {
    work::long_prompt(&CODEX);
}

#[test]
fn l8_not_logged_in_ends_it() {
    failures::not_logged_in(&CODEX);
}

#[test]
fn l9_a_limit_is_waited_for() {
    failures::limited(&CODEX);
}

#[test]
fn l12_a_hanging_server_ends_the_turn() {
    failures::hanging(&CODEX);
}

#[test]
fn l8_a_cut_answer_may_heal() {
    failures::cut(&CODEX);
}

#[test]
fn l8_an_unreachable_server_is_not_tried_for_ever() {
    failures::unreachable(&CODEX);
}

#[test]
fn l14_ctrl_c_leaves_no_process_and_keeps_the_work() {
    interrupt::ctrl_c(&CODEX);
}

#[test]
fn a8_a_turn_without_permission_is_told_what_would_have_helped() {
    work::without_permission(&CODEX);
}
