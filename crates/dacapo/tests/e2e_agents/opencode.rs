//! The real `opencode`.

use crate::agents::OPENCODE;
use crate::{failures, interrupt, work};

#[test]
fn a3_three_iterations_are_three_commits_with_their_cost() {
    work::three_iterations(&OPENCODE);
}

#[test]
fn l13_a_conversation_goes_on() {
    work::session_resume(&OPENCODE);
}

#[test]
fn a1_a_prompt_of_a_megabyte_arrives() {
    work::long_prompt(&OPENCODE);
}

#[test]
fn l8_not_logged_in_ends_it() {
    failures::not_logged_in(&OPENCODE);
}

#[test]
fn l9_a_limit_is_waited_for() {
    failures::limited(&OPENCODE);
}

#[test]
fn l12_a_hanging_server_ends_the_turn() {
    failures::hanging(&OPENCODE);
}

#[test]
fn l8_a_cut_answer_may_heal() {
    failures::cut(&OPENCODE);
}

#[test]
fn l8_an_unreachable_server_is_not_tried_for_ever() {
    failures::unreachable(&OPENCODE);
}

#[test]
fn l14_ctrl_c_leaves_no_process_and_keeps_the_work() {
    interrupt::ctrl_c(&OPENCODE);
}
