//! One program, compiled and linked in all ways: wherever it is stopped, its stack is whole.

use crate::compare::{WHOLE, all, walk_all};
use crate::compile::{Program, c};
use crate::space::Images;

const CALLS: &str = include_str!("programs/calls.c");

/// Every instruction of the program's work, and of what libc does for it.
const STEPS: &str = "run_to('work'); steps(1200)";

#[track_caller]
fn is_whole(what: &str, program: &Program, images: &mut Images) {
    let truth = program.truth(STEPS);
    all(&walk_all(&truth, images, WHOLE), what, |walked| {
        walked.is_whole()
    });
}

#[track_caller]
fn c_is_whole(test: &str, flags: &[&str]) {
    let Some(program) = c(test, CALLS, flags) else {
        return;
    };
    is_whole(test, &program, &mut Images::default());
}

#[test]
fn optimised_code_is_walked() {
    c_is_whole("optimised_code_is_walked", &["-O2"]);
}

#[test]
fn code_with_frame_pointers_is_walked() {
    let flags = ["-O2", "-fno-omit-frame-pointer"];
    c_is_whole("code_with_frame_pointers_is_walked", &flags);
}

#[test]
fn code_that_is_not_optimised_is_walked() {
    c_is_whole("code_that_is_not_optimised_is_walked", &["-O0"]);
}

#[test]
fn static_programs_are_walked() {
    c_is_whole("static_programs_are_walked", &["-O2", "-static"]);
}

#[test]
fn static_programs_that_can_be_moved_are_walked() {
    let test = "static_programs_that_can_be_moved_are_walked";
    c_is_whole(test, &["-Os", "-static-pie"]);
}
