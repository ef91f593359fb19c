//! Signals, threads and the kernel's own code.

use crate::common::needs;
use crate::unwind::compare::{WHOLE, Walked, all, walk_all};
use crate::unwind::compile::{Recipe, c, make};
use crate::unwind::gdb::Truth;
use crate::unwind::space::Images;
use rprof_unwind::Outcome;

fn walks(truth: &Truth) -> Vec<Walked<'_>> {
    walk_all(truth, &mut Images::default(), WHOLE)
}

const SIGNALS: &str = include_str!("programs/signals.c");

#[test]
fn what_a_signal_interrupted_is_walked() {
    // To the signal's return, and then of the signal in it.
    let plan = "run_to('handler'); steps(40); run_to('inner'); steps(40)
for _ in range(10): gdb.execute('stepi', to_string=True); snap()
run_to('traps_too'); snap()";
    for flags in [&["-O2", "-Wl,-z,now"][..], &["-O0", "-static"]] {
        let Some(program) = c(SIGNALS, flags) else {
            return;
        };
        all(&walks(&program.truth(plan)), Walked::is_whole);
    }
}

/// musl does not describe the code that returns from handlers; gdb knows its name.
#[test]
fn what_a_signal_interrupted_is_walked_with_musl() {
    let recipe = Recipe {
        compiler: ("musl-gcc", "musl-tools"),
        name: "program.c",
        source: SIGNALS,
        flags: &["-O2", "-static"],
    };
    needs!(wide);
    let Some(program) = make(recipe) else {
        return;
    };
    let truth = program.truth("run_to('handler'); snap(); run_to('inner'); steps(30)");
    all(&walks(&truth), |walked| {
        // What was interrupted is musl's, and has no frame to follow, or our own.
        let truth = &walked.snapshot.frames;
        let signal = truth.iter().position(|frame| frame.is_signal);
        let is_over = |signal| walked.frames.len() > signal + 1;
        walked.is_beginning() && signal.is_some_and(is_over)
    });
}

/// A copy of a signal's own stack holds nothing of the other: the walk ends with what was
/// interrupted, whose registers the kernel left on this one.
#[test]
fn a_stack_of_signals_ends_at_what_was_interrupted() {
    let Some(program) = c(SIGNALS, &["-O2"]) else {
        return;
    };
    let truth = program.truth("run_to('on_own_stack'); steps(40)");
    all(&walks(&truth), |walked| {
        let truth = &walked.snapshot.frames;
        let signal = truth.iter().position(|frame| frame.is_signal);
        let is_on_other = signal.is_some_and(|signal| walked.frames.len() == signal + 2);
        let is_off = matches!(walked.outcome, Outcome::OffStack { .. });
        walked.is_beginning() && is_on_other && is_off
    });
}

#[test]
fn threads_are_walked_to_where_they_began() {
    let source = include_str!("programs/threads.c");
    let plan = "run_to('main'); run_to('stops'); all_threads(); run_to('stop'); all_threads()
gdb.execute('set scheduler-locking on'); steps(30)";
    for flags in [&["-O2", "-pthread"][..], &["-O2", "-pthread", "-static"]] {
        let Some(program) = c(source, flags) else {
            return;
        };
        let truth = program.truth(plan);
        all(&walks(&truth), |walked| {
            walked.is_whole() || is_at_clone(walked)
        });
        let began = |name: &str| {
            let mut frames = truth.snapshots.iter().flat_map(|one| one.frames.last());
            frames.any(|frame| frame.name.contains(name))
        };
        assert!(began("clone3") && began("_start"));
    }
}

/// Around its system call `clone3` has no description. gdb then finds nothing, the walk what has
/// called it; but in the new thread nothing has.
fn is_at_clone(walked: &Walked<'_>) -> bool {
    let frames = &walked.snapshot.frames;
    let is_unknown = frames.len() == 2 && frames[0].name.contains("clone") && frames[1].pc == 0;
    let has_ended = matches!(walked.outcome, Outcome::Complete | Outcome::Unmapped { .. });
    is_unknown && has_ended
}

#[test]
fn system_calls_between_descriptions_are_walked() {
    let source = include_str!("programs/threads.c");
    let plan = "run_to('clone3'); gdb.execute('set scheduler-locking step'); steps(20)";
    for flags in [&["-O2", "-pthread"][..], &["-O2", "-pthread", "-static"]] {
        let Some(program) = c(source, flags) else {
            return;
        };
        let truth = program.truth(plan);
        let walked = walks(&truth);
        // From the first instruction on, until it has returned.
        let (last, inside) = walked.split_last().unwrap();
        let callers = |walked: &Walked<'_>| walked.frames[1..].to_vec();
        assert!(inside.len() > 5 && inside[0].is_whole() && last.is_whole());
        all(inside, |walked| {
            callers(walked) == callers(&inside[0]) && walked.outcome == Outcome::Complete
        });
    }
}

#[test]
fn the_vdso_is_walked() {
    let source = include_str!("programs/threads.c");
    let Some(program) = c(source, &["-O2", "-pthread", "-Wl,-z,now"]) else {
        return;
    };
    let truth = program.truth("run_to('clocks'); steps(400)");
    all(&walks(&truth), Walked::is_whole);
    let maps = &truth.maps[0];
    let (start, bytes) = maps.vdso.as_ref().unwrap();
    let range = *start..start + bytes.len() as u64;
    let in_vdso = truth.snapshots.iter().filter(|one| range.contains(&one.pc));
    assert!(in_vdso.count() > 10);
}
