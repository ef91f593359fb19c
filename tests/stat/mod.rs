//! `rprof stat`: counts as perf's, in perf's forms, and how it ends.

mod control;
mod counts;
mod ends;
mod forms;
mod kept;
mod metrics;

use crate::common::{Program, needs, perf, rprof, run};
use std::process::Command;

/// Calls a function a thousand times, touches a hundred pages, and asks for its id ten times; nothing else, as it
/// has no C library.
const WORK: &str = r#"
static long call(long number, long a, long b, long c, long d, long e, long f) {
    register long r10 asm("r10") = d;
    register long r8 asm("r8") = e;
    register long r9 asm("r9") = f;
    long result;
    asm volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                 : "rcx", "r11", "memory");
    return result;
}
__attribute__((noinline, section(".hit"))) void hit(void) { asm volatile(""); }
void _start(void) {
    for (int i = 0; i < 1000; i++) hit();
    volatile char *memory = (char *)call(9, 0, 100 << 12, 3, 0x22, -1, 0);
    for (int i = 0; i < 100; i++) memory[i << 12] = 1;
    for (int i = 0; i < 10; i++) call(39, 0, 0, 0, 0, 0, 0);
    call(60, 0, 0, 0, 0, 0, 0);
}
"#;

/// Where `hit` is.
const HIT: u64 = 0x1000_0000;

/// The program. `None` where it cannot be made, which is said.
#[track_caller]
fn work() -> Option<Program> {
    needs!(x86_64);
    let at = format!("-Wl,--section-start=.hit={HIT:#x}");
    let options = [
        "-O1",
        "-static",
        "-nostdlib",
        "-fno-stack-protector",
        "-fno-pie",
        "-no-pie",
        "-fcf-protection=none",
        &at,
    ];
    Program::new(WORK, &options)
}

/// `rprof stat` and `perf stat` with the same words.
fn both(words: &[&str]) -> [Command; 2] {
    let all = || ["stat"].iter().chain(words).copied();
    [rprof(all()), perf(all())]
}

/// What both say, ours first.
#[track_caller]
fn said(words: &[&str]) -> [String; 2] {
    both(words).map(|mut command| run(&mut command).ok().stderr)
}
