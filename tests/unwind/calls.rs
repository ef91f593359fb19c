//! Stacks of all depths and shapes.

use crate::unwind::compare::{Limits, WHOLE, Walked, all, walk_all};
use crate::unwind::compile::{self, Program, c, make};
use crate::unwind::gdb::Truth;
use crate::unwind::space::Images;
use rprof_unwind::Outcome;

const SHAPES: &str = include_str!("programs/shapes.c");

/// What a program's walks are, given all of each stack.
fn walks(truth: &Truth) -> Vec<Walked<'_>> {
    walk_all(truth, &mut Images::default(), WHOLE)
}

/// The program has to stay while its image is read.
fn shapes(plan: &str) -> Option<(Program, Truth)> {
    let program = c(SHAPES, &["-O2", "-Wl,-z,now"])?;
    let truth = program.truth(plan);
    Some((program, truth))
}

#[test]
fn deep_recursion_is_walked_to_its_root() {
    let Some((_program, truth)) = shapes("runs_to('stop', 2)") else {
        return;
    };
    let walked = walks(&truth);
    all(&walked, Walked::is_whole);
    let frames: Vec<_> = walked.iter().map(|walked| walked.frames.len()).collect();
    assert_eq!(frames, [3006, 12006]);
}

#[test]
fn a_walk_ends_at_the_number_of_frames_asked_for() {
    let Some((_program, truth)) = shapes("runs_to('stop', 2)") else {
        return;
    };
    let limits = Limits {
        frames: 1000,
        ..WHOLE
    };
    let walked = walk_all(&truth, &mut Images::default(), limits);
    all(&walked, |walked| {
        walked.is_beginning() && walked.frames.len() == 1000 && walked.outcome == Outcome::Full
    });
}

#[test]
fn large_frames_are_walked_as_far_as_the_copy_goes() {
    let plan = "for _ in range(2): run_to('stop')\nruns_to('stop', 4)";
    let Some((_program, truth)) = shapes(plan) else {
        return;
    };
    all(&walks(&truth), Walked::is_whole);
    // What perf copies at most.
    let limits = Limits {
        stack_bytes: 65_528,
        ..WHOLE
    };
    let walked = walk_all(&truth, &mut Images::default(), limits);
    all(&walked, Walked::is_beginning);
    let outcomes: Vec<_> = walked.iter().map(|walked| walked.outcome).collect();
    let [complete, truncated] = [Outcome::Complete, Outcome::Truncated];
    assert_eq!(outcomes, [complete, complete, complete, truncated]);
    assert_eq!(walked[3].frames.len(), 2, "{}", walked[3].shown());
}

#[test]
fn a_copy_may_end_anywhere() {
    let Some((_program, truth)) = shapes("run_to('stop')\nrun_to('stop')\nruns_to('stop')") else {
        return;
    };
    let mut images = Images::default();
    for stack_bytes in (0..truth.snapshots[0].stack.len()).step_by(8) {
        let limits = Limits {
            stack_bytes,
            ..WHOLE
        };
        let walked = walk_all(&truth, &mut images, limits);
        let is_right = |walked: &Walked<'_>| {
            walked.is_whole() || walked.is_beginning() && walked.outcome == Outcome::Truncated
        };
        assert!(is_right(&walked[0]), "{stack_bytes}: {}", walked[0].shown());
    }
}

#[test]
fn tail_calls_and_calls_that_do_not_return_are_walked() {
    let plan = "run_to('tail_caller'); steps(100); run_to('ends_by_call'); steps(20)
runs_to('_exit')";
    let Some((_program, truth)) = shapes(plan) else {
        return;
    };
    all(&walks(&truth), Walked::is_whole);
}

/// Contexts and long jumps change the stack pointer in the midst of a function.
#[test]
fn stacks_of_coroutines_are_walked() {
    let source = include_str!("programs/contexts.c");
    let Some(program) = c(source, &["-O2", "-Wl,-z,now"]) else {
        return;
    };
    let plan = "gdb.execute('set follow-fork-mode parent')
run_to('coroutine'); snap(); runs_to('stop')
for way in ['to main', 'to coroutine']:
    run_to('swapcontext')
    for _ in range(48): snap(way); gdb.execute('stepi', to_string=True)
run_to('longjmp'); snap()
for _ in range(40): snap('longjmp'); gdb.execute('stepi', to_string=True)
run_to('vfork'); steps(20); run_to('posix_spawn'); steps(40)";
    // A coroutine's stack begins where makecontext has put the address of a function's first
    // instruction; gdb goes on to what lies above.
    let truth = program.truth(plan).in_code();
    all(&walks(&truth), |walked| match walked.outcome {
        Outcome::Unmapped { .. } => walked.is_same() && walked.snapshot.why != "outermost",
        _ => walked.is_whole(),
    });
}

#[test]
fn exceptions_are_walked_on_their_way_up() {
    let recipe = compile::Recipe {
        compiler: ("g++", "g++"),
        name: "exceptions.cc",
        source: include_str!("programs/exceptions.cc"),
        flags: &["-O2"],
    };
    let Some(program) = make(recipe) else {
        return;
    };
    let plan = "run_to('_Unwind_RaiseException'); steps(100); steps(120, 97)
run_to('Noisy::~Noisy'); steps(60, 1, 'destructor'); run_to('_Unwind_Resume'); steps(80, 53)
run_to('__cxa_begin_catch'); steps(60); runs_to('stop'); run_to('__cxa_end_catch'); steps(200)";
    all(&walks(&program.truth(plan)), Walked::is_whole);
}

#[test]
fn rust_futures_and_generic_functions_are_walked() {
    let recipe = compile::Recipe {
        compiler: ("rustc", "rustc"),
        name: "futures.rs",
        source: include_str!("programs/futures.rs"),
        flags: &["-Copt-level=2", "--edition=2021"],
    };
    let Some(program) = make(recipe) else {
        return;
    };
    let plan = "run_to('stop'); snap(); steps(300); runs_to('stop', 3)
run_to('rust_panic'); steps(100, 31); run_to('__cxa_finalize'); steps(20)";
    let truth = program.truth(plan).in_code();
    all(&walks(&truth), Walked::is_whole);
    let deepest = truth.snapshots.iter().map(|one| one.frames.len()).max();
    assert!(deepest > Some(200), "{deepest:?}");
}
