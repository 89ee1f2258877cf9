//! The real `claude`.

use crate::agents::CLAUDE;
use crate::model_server::Failure;
use crate::{failures, interrupt, work};

#[test]
fn a3_three_iterations_are_three_commits_with_their_cost() {
    work::three_iterations(&CLAUDE);
}

#[test]
fn l13_a_conversation_goes_on() {
    work::session_resume(&CLAUDE);
}

#[test]
fn a1_a_prompt_of_a_megabyte_arrives() {
    work::long_prompt(&CLAUDE);
}

#[test]
fn l8_not_logged_in_ends_it() {
    failures::not_logged_in(&CLAUDE);
}

#[test]
fn l9_a_limit_is_waited_for() {
    failures::limited(&CLAUDE);
}

#[test]
fn l9_max_wait_holds_for_a_limit_that_it_tries_again_at() {
    failures::tries_for_minutes(&CLAUDE, || Failure::limited(Some(1)));
}

#[test]
fn l9_max_wait_holds_for_an_overload_that_it_tries_again_at() {
    failures::tries_for_minutes(&CLAUDE, || Failure::status(529));
}

#[test]
fn l12_a_hanging_server_ends_the_turn() {
    failures::hanging(&CLAUDE);
}

#[test]
fn l8_a_cut_answer_may_heal() {
    failures::cut(&CLAUDE);
}

#[test]
fn l8_an_unreachable_server_is_not_tried_for_ever() {
    failures::unreachable(&CLAUDE);
}

#[test]
fn l14_ctrl_c_leaves_no_process_and_keeps_the_work() {
    interrupt::ctrl_c(&CLAUDE);
}

#[test]
fn a8_a_turn_without_permission_is_told_what_would_have_helped() {
    work::without_permission(&CLAUDE);
}
