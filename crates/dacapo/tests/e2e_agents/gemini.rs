//! The real `gemini`.

use crate::agents::GEMINI;
use crate::{failures, interrupt, work};

#[test]
fn a3_three_iterations_are_three_commits_with_their_cost() {
    work::three_iterations(&GEMINI);
}

#[test]
fn l13_a_conversation_goes_on() {
    work::session_resume(&GEMINI);
}

#[test]
fn a1_a_prompt_of_a_megabyte_arrives() {
    work::long_prompt(&GEMINI);
}

#[test]
fn l8_not_logged_in_ends_it() {
    failures::not_logged_in(&GEMINI);
}

#[test]
fn l9_a_limit_is_waited_for() {
    failures::limited(&GEMINI);
}

#[test]
fn l12_a_hanging_server_ends_the_turn() {
    failures::hanging(&GEMINI);
}

#[test]
fn l8_a_cut_answer_may_heal() {
    failures::cut(&GEMINI);
}

#[test]
fn l8_an_unreachable_server_is_not_tried_for_ever() {
    failures::unreachable(&GEMINI);
}

#[test]
fn l14_ctrl_c_leaves_no_process_and_keeps_the_work() {
    interrupt::ctrl_c(&GEMINI);
}

#[test]
fn a8_a_turn_without_permission_is_told_what_would_have_helped() {
    work::without_permission(&GEMINI);
}
