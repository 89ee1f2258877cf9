//! The real `qwen`. It waits for limits by itself, a minute at a time: what it would tell is in the parser's tests.

use crate::agents::QWEN;
use crate::{failures, interrupt, work};

#[test]
fn a3_three_iterations_are_three_commits_with_their_cost() {
    work::three_iterations(&QWEN);
}

#[test]
fn l13_a_conversation_goes_on() {
    work::session_resume(&QWEN);
}

#[test]
fn l8_not_logged_in_ends_it() {
    failures::not_logged_in(&QWEN);
}

#[test]
fn l8_a_cut_answer_may_heal() {
    failures::cut(&QWEN);
}

#[test]
fn l14_ctrl_c_leaves_no_process_and_keeps_the_work() {
    interrupt::ctrl_c(&QWEN);
}

#[test]
fn a8_a_turn_without_permission_is_told_what_would_have_helped() {
    work::without_permission(&QWEN);
}
