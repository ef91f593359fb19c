//! One program, compiled and linked in all ways: wherever it is stopped, its stack is whole.

use crate::common::{needs, not_run};
use crate::unwind::compare::{WHOLE, Walked, all, walk_all};
use crate::unwind::compile::{Program, Recipe, c, make};
use crate::unwind::gdb::Truth;
use crate::unwind::space::Images;
use rprof_unwind::Outcome;

const CALLS: &str = include_str!("programs/calls.c");

/// Every instruction of the program's work, and of what libc does for it.
const STEPS: &str = "run_to('work'); steps(1200)";

/// Every third instruction, where another way of the same thing is tested.
const THIRD: &str = "run_to('work'); steps(400, 3)";

/// The walk is gdb's wherever a plan stops.
#[track_caller]
pub fn is_whole(program: &Program, plan: &str, images: &mut Images) {
    let truth = program.truth(plan);
    all(&walk_all(&truth, images, WHOLE), Walked::is_whole);
}

#[track_caller]
fn c_is_whole(flags: &[&str], plan: &str) {
    if let Some(program) = c(CALLS, flags) {
        is_whole(&program, plan, &mut Images::default());
    }
}

/// What gdb sees of it with another compiler or linker; not in every run.
#[track_caller]
fn wide(compiler: (&str, &str), flags: &[&str]) -> Option<(Program, Truth)> {
    let recipe = Recipe {
        compiler,
        name: "program.c",
        source: CALLS,
        flags,
    };
    needs!(wide);
    let program = make(recipe)?;
    let truth = program.truth(STEPS);
    Some((program, truth))
}

#[test]
fn optimised_code_is_walked() {
    c_is_whole(&["-O2"], STEPS);
}

#[test]
fn code_with_frame_pointers_is_walked() {
    let flags = ["-O2", "-fno-omit-frame-pointer", "-Wl,-z,now"];
    c_is_whole(&flags, STEPS);
}

#[test]
fn code_that_is_not_optimised_is_walked() {
    let flags = ["-O0", "-Wl,-z,lazy", "-no-pie"];
    c_is_whole(&flags, STEPS);
}

#[test]
fn code_with_branch_protection_is_walked() {
    let flags = [
        "-O2",
        "-fcf-protection=full",
        "-Wl,-z,ibtplt",
        "-Wl,-z,lazy",
    ];
    c_is_whole(&flags, THIRD);
}

#[test]
fn code_with_vectors_is_walked() {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    if !cpu.contains(" avx2 ") {
        not_run("this CPU has no AVX2");
        return;
    }
    let flags = ["-O3", "-mavx2", "-mstackrealign", "-Wl,-z,now"];
    c_is_whole(&flags, THIRD);
}

#[test]
fn static_programs_are_walked() {
    c_is_whole(&["-O2", "-static"], STEPS);
}

#[test]
fn static_programs_that_can_be_moved_are_walked() {
    c_is_whole(&["-Os", "-static-pie"], THIRD);
}

#[test]
fn programs_without_an_index_of_frames_are_walked() {
    c_is_whole(&["-O2", "-Wl,--no-eh-frame-hdr"], THIRD);
}

/// No `.eh_frame` but that of the start-up code.
const DEBUG_FRAME: [&str; 4] = [
    "-O2",
    "-g",
    "-fno-asynchronous-unwind-tables",
    "-fno-unwind-tables",
];

#[test]
fn frames_described_for_debuggers_only_are_walked() {
    c_is_whole(&DEBUG_FRAME, STEPS);
}

#[test]
fn compressed_descriptions_are_read() {
    let flags = [&DEBUG_FRAME[..], &["-gz"]].concat();
    c_is_whole(&flags, THIRD);
}

#[test]
fn descriptions_in_a_debug_file_are_read() {
    needs!("objcopy" in "binutils", "strip" in "binutils");
    let Some(program) = c(CALLS, &DEBUG_FRAME) else {
        return;
    };
    program.tool(&["objcopy", "--only-keep-debug", "program", "program.debug"]);
    program.tool(&["strip", "--strip-debug", "program"]);
    program.tool(&["objcopy", "--add-gnu-debuglink=program.debug", "program"]);
    let mut images = Images::default();
    let debug = program.folder.path().join("program.debug");
    images.debug_files.insert(program.path.clone(), debug);
    is_whole(&program, THIRD, &mut images);
}

#[test]
fn stripped_programs_are_walked() {
    needs!("strip" in "binutils");
    let Some(program) = c(CALLS, &["-O2", "-no-pie"]) else {
        return;
    };
    program.tool(&["strip", "program"]);
    let plan = "run_to('__libc_start_main'); run_to('memset'); steps(100); run_to('qsort'); steps(400); run_to('printf')
steps(100); steps(200, 7)";
    is_whole(&program, plan, &mut Images::default());
}

#[test]
fn the_dynamic_linker_is_walked_from_its_first_instruction() {
    let Some(program) = c(CALLS, &["-O2"]) else {
        return;
    };
    let plan = "gdb.execute('starti', to_string=True); steps(300); steps(300, 23)";
    // gdb does not know the libraries yet.
    let truth = program.truth(plan).ends_at_start().in_code();
    let walked = walk_all(&truth, &mut Images::default(), WHOLE);
    all(&walked, Walked::is_whole);
}

#[test]
fn programs_of_clang_are_walked() {
    let Some((_program, truth)) = wide(("clang", "clang"), &["-O2"]) else {
        return;
    };
    let walked = walk_all(&truth, &mut Images::default(), WHOLE);
    all(&walked, Walked::is_whole);
}

/// lld does not describe the stubs of calls to libraries.
#[test]
fn programs_linked_by_lld_are_walked() {
    let flags = ["-O2", "-fuse-ld=lld", "-Wl,-z,lazy"];
    for more in [&[][..], &["-Wl,-z,force-ibt", "-fcf-protection=full"]] {
        let flags = [&flags, more].concat();
        let Some((_program, truth)) = wide(("clang", "clang"), &flags) else {
            return;
        };
        let truth = truth.in_code();
        let walked = walk_all(&truth, &mut Images::default(), WHOLE);
        all(&walked, Walked::is_whole);
    }
}

/// musl describes nothing of its own. No frame is invented, but where a function of musl has no
/// frame, frame pointers leave its caller out.
#[test]
fn programs_of_musl_are_walked() {
    let flags = ["-O2", "-static"];
    let Some((_program, truth)) = wide(("musl-gcc", "musl-tools"), &flags) else {
        return;
    };
    let walked = walk_all(&truth, &mut Images::default(), WHOLE);
    all(&walked, |walked| {
        walked.invents_nothing() && matches!(walked.outcome, Outcome::NoInfo { .. })
    });
}

#[test]
fn programs_of_go_are_walked() {
    let recipe = Recipe {
        compiler: ("go", "golang-go"),
        name: "program.go",
        source: include_str!("programs/program.go"),
        flags: &["build"],
    };
    needs!(wide);
    let Some(program) = make(recipe) else {
        return;
    };
    let plan = "MOST = 64 << 10
run_to('main.stop'); snap(); run_to('main.work')
for _ in range(600): snap(); gdb.execute('stepi', to_string=True)
for _ in range(200): snap(); gdb.execute('stepi 31', to_string=True)";
    // gdb does not know that 0 is where a stack ends. The runtime's own stack has no such end: what
    // lies there is no code.
    let truth = program.truth(plan).in_code();
    let walked = walk_all(&truth, &mut Images::default(), WHOLE);
    all(&walked, |walked| {
        let began = walked.snapshot.frames.last().unwrap();
        let is_off = matches!(walked.outcome, Outcome::Unmapped { .. });
        walked.is_whole() || walked.is_same() && is_off && began.name != "runtime.goexit"
    });
}
