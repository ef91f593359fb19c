//! Programs for 64-bit RISC-V, in an emulator; not in every run.

use crate::unwind::compare::{WHOLE, Walked, all, walk_all};
use crate::unwind::compile::emulated;
use crate::unwind::space::Images;
use rprof_abi::Machine;

/// Whether it stands in libc's functions for memory: those say nothing of themselves. What frame pointers
/// lead to from there lacks callers, and gdb guesses by instructions, sometimes wrongly.
fn is_not_described(walked: &Walked<'_>) -> bool {
    let innermost = &walked.snapshot.frames[0].name;
    ["memcpy", "memset"].contains(&innermost.as_str())
}

#[track_caller]
fn calls_are_whole(flags: &[&str]) {
    let source = include_str!("programs/calls.c");
    // Compilers for this machine leave them out unless told.
    let flags = [flags, &["-fasynchronous-unwind-tables"]].concat();
    let Some(program) = emulated(Machine::Riscv64, source, &flags) else {
        return;
    };
    let truth = program.truth("run_to('work'); steps(1000)");
    let walked = walk_all(&truth, &mut Images::default(), WHOLE);
    all(&walked, |walked| {
        walked.is_whole() || is_not_described(walked)
    });
}

#[test]
fn static_programs_for_riscv_are_walked() {
    let flags = ["-O2", "-static"];
    calls_are_whole(&flags);
}

#[test]
fn programs_for_riscv_with_libraries_are_walked() {
    calls_are_whole(&["-O2", "-no-pie", "-Wl,-z,now"]);
}
