//! Programs for 64-bit ARM, in an emulator; not in every run.

use crate::unwind::compare::{WHOLE, Walked, all, walk_all};
use crate::unwind::compile::{Program, emulated};
use crate::unwind::gdb::Truth;
use crate::unwind::space::Images;
use rprof_abi::Machine;
use rprof_unwind::Outcome;

/// What gdb sees of a program.
#[track_caller]
fn arm(source: &str, flags: &[&str], plan: &str) -> Option<(Program, Truth)> {
    let program = emulated(Machine::Aarch64, source, flags)?;
    let truth = program.truth(plan);
    Some((program, truth))
}

#[track_caller]
fn calls_are_whole(flags: &[&str]) {
    let source = include_str!("programs/calls.c");
    let plan = "run_to('work'); steps(1000)";
    let Some((_program, truth)) = arm(source, flags, plan) else {
        return;
    };
    let walked = walk_all(&truth, &mut Images::default(), WHOLE);
    all(&walked, Walked::is_whole);
}

#[test]
fn static_programs_for_arm_are_walked() {
    let flags = ["-O2", "-static"];
    calls_are_whole(&flags);
}

/// gdb cannot follow signed addresses: the truth comes from a machine that does not sign.
#[test]
fn signed_return_addresses_are_walked() {
    let source = include_str!("programs/calls.c");
    let flags = ["-Os", "-static", "-mbranch-protection=standard"];
    let plan = "runs_to('leaf', 12); run_to('has_array'); steps(30)";
    let Some((program, truth)) = arm(source, &flags, plan) else {
        return;
    };
    let signs = program.truth(&format!("CPU = 'max'\n{plan}"));
    let mut images = Images::default();
    let walked = walk_all(&truth, &mut images, WHOLE);
    all(&walked, Walked::is_whole);
    // An address of the program's, with a code in the bits above.
    let is_signed = |word: &[u8]| {
        let word = word.try_into().map_or(0, u64::from_le_bytes);
        word >> 48 != 0 && (word << 16 >> 16) >> 20 == 4
    };
    assert!(signs.snapshots[0].stack.chunks(8).any(is_signed));
    for (one, signed) in walked.iter().zip(walk_all(&signs, &mut images, WHOLE)) {
        assert_eq!(one.frames, signed.frames, "{}", signed.shown());
        assert_eq!(signed.outcome, Outcome::Complete);
    }
}

#[test]
fn programs_for_arm_without_frame_records_are_walked() {
    let flags = ["-O2", "-no-pie", "-fomit-frame-pointer", "-Wl,-z,now"];
    calls_are_whole(&flags);
}

/// What glibc says of the frames that resolve a symbol is wrong by 16 bytes; gdb ends there, and so
/// does the walk, but not in the stub before.
#[test]
fn lazy_binding_on_arm_is_walked_as_far_as_can_be() {
    let source = include_str!("programs/calls.c");
    let flags = ["-O2", "-no-pie", "-Wl,-z,lazy"];
    let plan = "run_to('by_libc'); steps(100)";
    let Some((_program, truth)) = arm(source, &flags, plan) else {
        return;
    };
    let walked = walk_all(&truth, &mut Images::default(), WHOLE);
    all(&walked, |walked| {
        let gave_up = walked.snapshot.why.contains("corrupt");
        let has_ended = matches!(walked.outcome, Outcome::Complete | Outcome::Unmapped { .. });
        walked.is_whole() || gave_up && has_ended && walked.frames.len() >= 3
    });
    let in_program = |walked: &Walked<'_>| walked.snapshot.pc < 1 << 24;
    let mut in_program = walked.iter().filter(|walked| in_program(walked));
    assert!(in_program.all(|walked| walked.outcome == Outcome::Complete));
}
