//! A program that goes deep from two places by turns, in step with whoever looks at it.

use crate::common::Recording;
use crate::stacks::samples::program;

/// Two callers, each with a leaf of its own, and in between more than a copy of the stack holds.
/// Arguments: shape (0: 60 frames of 2 KiB, 1: one of 120 KiB), milliseconds of CPU time for each
/// period, and how long the other caller's turn is, in parts of a first one's. Periods go from 0.2 to
/// 50 ms, each 8 % longer than the one before.
const SOURCE: &str = r"
    #include <stdlib.h>
    static volatile int which;
    static long until;
    NOINLINE void leaf_a(void) { while (CPU_US() < until) for (int i = 0; i < 1000; i++) sink += i; sink++; }
    NOINLINE void leaf_b(void) { while (CPU_US() < until) for (int i = 0; i < 1000; i++) sink += i; sink++; }
    NOINLINE void leaf(void) { if (which) leaf_b(); else leaf_a(); sink++; }
    NOINLINE void down(int left) {
        volatile char room[2000];
        room[0] = left;
        if (left) down(left - 1); else leaf();
        sink += room[0];
    }
    NOINLINE void wide(int n) { volatile char room[120 << 10]; room[0] = n; leaf(); sink += room[0]; }
    NOINLINE void deep(int shape) { if (shape) wide(1); else down(60); sink++; }
    NOINLINE void outer_a(int shape) { which = 0; deep(shape); sink++; }
    NOINLINE void outer_b(int shape) { which = 1; deep(shape); sink++; }
    int main(int argc, char **argv) {
        int shape = atoi(argv[1]), parts = atoi(argv[3]);
        for (double period = 200; period < 50000; period *= 1.08) {
            long end = CPU_US() + 1000L * atoi(argv[2]);
            while (CPU_US() < end) {
                until = CPU_US() + period / (1 + parts); outer_a(shape);
                until = CPU_US() + period * parts / (1 + parts); outer_b(shape);
            }
        }
        return argc > 99;
    }";

/// Samples in leaves, and of them whole ones, those with a hole, and those with the other's caller.
#[derive(Debug, Default)]
struct Turns {
    all: usize,
    whole: usize,
    hole: usize,
    wrong: usize,
}

fn turns(recording: &Recording) -> Turns {
    let mut turns = Turns::default();
    for sample in recording.samples() {
        let names = sample.names();
        let Some(leaf) = names.first().and_then(|name| name.strip_prefix("leaf_")) else {
            continue;
        };
        turns.all += 1;
        turns.whole += usize::from(sample.is_whole());
        turns.hole += usize::from(!sample.is_whole() && sample.has("main"));
        let mut outer = names.iter().filter_map(|name| name.strip_prefix("outer_"));
        let is_right = outer.all(|outer| outer == leaf);
        turns.wrong += usize::from(!is_right);
    }
    turns
}

#[test]
fn callers_by_turns_in_step_with_looks_are_never_mistaken_for_each_other() {
    let Some(program) = program(SOURCE) else {
        return;
    };
    // With 300, there are some 100,000 samples at 4,000 Hz.
    let ms = std::env::var("RPROF_TURNS_MS").unwrap_or("20".to_owned());
    let mut n_samples = 0;
    for shape in ["0", "1"] {
        for (rate, parts) in [("999", "1"), ("4000", "1"), ("4000", "50")] {
            let recording = program.record(&["-F", rate], &[shape, &ms, parts]);
            let turns = turns(&recording);
            println!("shape {shape}, {rate} Hz, 1:{parts}: {turns:?}");
            assert_eq!(turns.wrong, 0, "{turns:?}");
            n_samples += turns.all;
        }
    }
    assert!(n_samples > 100, "{n_samples}");
}
