//! Deep stacks that change while they are recorded: what is read after a sample may be another's.

use crate::common::Recording;
use crate::stacks::samples::program;

/// Functions that call each other more than 64 KiB deep, and a leaf for each of them: nothing but
/// the leaf's address says who was at the outer end. Arguments: how they call (bit 0: through
/// pointers all the way, bit 1: the outer one by name), milliseconds of CPU time, microseconds of it
/// in each leaf, and one in how many is another than the first (0: any of 26).
const SOURCE: &str = r"
    #include <stdlib.h>
    static volatile int which;
    static long leaf_us;
    #define ALL(X) X(a) X(b) X(c) X(d) X(e) X(f) X(g) X(h) X(i) X(j) X(k) X(l) X(m) X(n) \
                   X(o) X(p) X(q) X(r) X(s) X(t) X(u) X(v) X(w) X(x) X(y) X(z)
    #define LEAF(x) NOINLINE void leaf_##x(void) { \
        for (long end = CPU_US() + leaf_us; CPU_US() < end;) for (int i = 0; i < 10000; i++) sink += i; \
        sink++; }
    ALL(LEAF)
    #define LEAF_NAME(x) leaf_##x,
    static void (*const leaves[])(void) = { ALL(LEAF_NAME) };
    NOINLINE void down(int left) {
        volatile char room[1000];
        room[0] = left;
        if (left) down(left - 1); else leaves[which]();
        sink += room[0];
    }
    typedef void any(void);
    NOINLINE void pass(int left, int leaf, any *next) {
        volatile char room[1000];
        room[0] = left;
        if (left) ((void (*)(int, int, any *))next)(left - 1, leaf, next); else leaves[leaf]();
        sink += room[0];
    }
    #define OUTER(x) NOINLINE void outer_##x(int leaf, int how) { \
        volatile char room[64]; room[0] = 0; which = leaf; \
        if (how & 1) pass(90, leaf, (any *)pass); else down(90); \
        sink += room[0]; }
    ALL(OUTER)
    #define OUTER_NAME(x) outer_##x,
    static void (*const outers[])(int, int) = { ALL(OUTER_NAME) };
    #define NUMBER(x) number_##x,
    enum { ALL(NUMBER) };
    #define CASE(x) case number_##x: outer_##x(n, how); break;
    int main(int argc, char **argv) {
        int how = atoi(argv[1]), one_in = atoi(argv[4]);
        long end = CPU_US() + 1000L * atoi(argv[2]);
        leaf_us = atoi(argv[3]);
        unsigned long seed = 12345;
        do {
            seed = seed * 6364136223846793005UL + 1442695040888963407UL;
            int n = one_in ? (seed >> 33) % one_in == 1 : (seed >> 33) % 26;
            if (how & 2) switch (n) { ALL(CASE) } else outers[n](n, how);
        } while (CPU_US() < end);
        return argc > 99;
    }";

/// Samples in leaves.
#[derive(Debug, Default)]
struct Leaves {
    all: usize,
    whole: usize,
    /// Said to be whole, with the outer function of another leaf.
    wrong: usize,
}

fn leaves(recording: &Recording) -> Leaves {
    let mut leaves = Leaves::default();
    for sample in recording.samples() {
        let names = sample.names();
        let Some(leaf) = names.first().and_then(|name| name.strip_prefix("leaf_")) else {
            continue;
        };
        leaves.all += 1;
        if !sample.is_whole() {
            assert!(sample.is_shortened(), "{sample:#?}");
            let in_copy = |name: &&str| matches!(*name, "down" | "pass");
            assert!(sample.innermost()[1..].iter().all(in_copy), "{sample:#?}");
            let mut outer = names.iter().filter_map(|name| name.strip_prefix("outer_"));
            leaves.wrong += usize::from(!outer.all(|outer| outer == leaf));
            continue;
        }
        leaves.whole += 1;
        let outer: Vec<&str> = names
            .iter()
            .filter_map(|name| name.strip_prefix("outer_"))
            .collect();
        let calls = names
            .iter()
            .filter(|name| matches!(**name, "down" | "pass"));
        let is_right =
            outer == [leaf] && calls.count() == 91 && sample.has("main") && sample.has("_start");
        leaves.wrong += usize::from(!is_right);
    }
    leaves
}

#[test]
fn stacks_that_change_all_the_time_never_have_frames_of_others() {
    let Some(program) = program(SOURCE) else {
        return;
    };
    let mut n_samples = 0;
    // The last: of two callers, each as often as the other.
    for (how, one_in) in [("0", "0"), ("1", "0"), ("2", "0"), ("3", "0"), ("0", "2")] {
        let recording = program.record(&["-F", "10000"], &[how, "1500", "100", one_in]);
        let leaves = leaves(&recording);
        println!("{how} {one_in}: {leaves:?}");
        assert_eq!(leaves.wrong, 0, "{leaves:?}");
        n_samples += leaves.all;
    }
    // Of 75,000, where the kernel does not lower the rate.
    assert!(n_samples > 500, "{n_samples}");
}

#[test]
fn stacks_that_stay_are_completed() {
    let Some(program) = program(SOURCE) else {
        return;
    };
    for how in ["0", "1"] {
        let recording = program.record(&["-F", "4000"], &[how, "0", "500000", "0"]);
        let leaves = leaves(&recording);
        println!("{how}: {leaves:?}");
        assert!(leaves.whole > 0 && leaves.wrong == 0, "{leaves:?}");
        let ends = recording.ends();
        assert!(ends.completed >= leaves.whole as u64, "{ends:?}");
    }
}
