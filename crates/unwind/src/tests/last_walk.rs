//! What is remembered of a walk changes no other.

use super::elf::{X86_64, elf};
use super::{BIAS, MAX_FRAMES, STACK, Space, described, standing, table};
use crate::{Outcome, RegisterSet, Stack, StackFrame, UnwindTable, Unwinder};
use proptest::collection::vec;
use proptest::prelude::*;
use rprof_abi::Machine;

type Walked = (Vec<StackFrame>, Outcome, u64);

fn walked(
    unwinder: &mut Unwinder,
    table: &UnwindTable,
    registers: &RegisterSet,
    stack: Stack<'_>,
) -> Walked {
    let mut frames = Vec::new();
    let outcome = unwinder.walk(&Space(table), registers, stack, MAX_FRAMES, |frame| {
        frames.push(frame);
    });
    (frames, outcome, unwinder.reach())
}

/// A word of a stack: the return addresses of functions that are described, or anything.
fn word() -> impl Strategy<Value = u64> {
    prop_oneof![
        40 => Just(BIAS + 0x1004),
        1 => Just(BIAS + 0x1104),
        1 => Just(BIAS + 0x1204),
        1 => (0u64..64).prop_map(|n| STACK + 8 * n),
        1 => 0u64..3,
    ]
}

/// What changes from one sample to the next: words, the stack pointer, the frame pointer, the function.
#[derive(Clone, Debug)]
struct Step {
    words: Vec<(usize, u64)>,
    sp: usize,
    fp: usize,
    at: u64,
    tid: i32,
}

fn step() -> impl Strategy<Value = Step> {
    let words = vec((0usize..64, word()), 0..4);
    let at = prop_oneof![4 => Just(0x1004u64), 1 => Just(0x1104)];
    (words, 0usize..40, 0usize..64, at, 0i32..130).prop_map(|(words, sp, fp, at, tid)| Step {
        words,
        sp,
        fp,
        at,
        tid: tid % 3 * 64,
    })
}

proptest! {
    #[test]
    fn walks_are_as_if_nothing_was_remembered(
        first in vec(word(), 64),
        steps in vec(step(), 1..30),
        is_truncated: bool,
    ) {
        let table = table(elf(X86_64, &[(".debug_frame", 0, &described())])).unwrap();
        let mut words = first;
        let mut remembering = Unwinder::new();
        for step in steps {
            for (at, word) in step.words {
                words[at] = word;
            }
            let bytes: Vec<u8> = words[step.sp..].iter().flat_map(|word| word.to_le_bytes()).collect();
            let sp = STACK + 8 * step.sp as u64;
            let mut registers = standing(Machine::X86_64, step.at);
            registers.set(registers.sp_number(), sp);
            registers.set(6, STACK + 8 * step.fp as u64);
            let stack = Stack::new(sp, &bytes, is_truncated);
            let expected = walked(&mut Unwinder::new(), &table, &registers, stack);
            let again = walked(&mut remembering, &table, &registers, stack.of_thread(Some(step.tid)));
            prop_assert_eq!(again, expected);
        }
    }
}

#[test]
fn callers_are_taken_from_the_last_walk_where_nothing_has_changed() {
    let table = table(elf(X86_64, &[(".debug_frame", 0, &described())])).unwrap();
    let mut words = [0; 64];
    for odd in (1..61).step_by(2) {
        words[odd] = BIAS + 0x1004;
    }
    words[61] = BIAS + 0x1204;
    let mut unwinder = Unwinder::new();
    let registers = standing(Machine::X86_64, 0x1004);
    let other = BIAS + 0x1005;
    for (at, word, n_walked) in [(0, 5, 32), (2, 5, 1), (41, other, 23), (5, other, 5)] {
        words[at] = word;
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let stack = Stack::complete(STACK, &bytes).of_thread(Some(9));
        let (frames, outcome, reach) = walked(&mut unwinder, &table, &registers, stack);
        let expected = (32, Outcome::Complete, 62 * 8, n_walked);
        assert_eq!(
            (frames.len(), outcome, reach, unwinder.n_walked()),
            expected
        );
    }
}

#[test]
fn a_stack_that_was_deep_before_the_last_walk_is_still_known() {
    let table = table(elf(X86_64, &[(".debug_frame", 0, &described())])).unwrap();
    let mut words = [0; 64];
    for odd in (1..61).step_by(2) {
        words[odd] = BIAS + 0x1004;
    }
    words[61] = BIAS + 0x1204;
    let mut unwinder = Unwinder::new();
    // Where the stack pointer is, words from the start; the frames from there; and which of them were walked.
    let (deep, shallow) = ((0, 32), (56, 4));
    for ((from, n_frames), n_walked) in [(deep, 32), (shallow, 2), (deep, 1), (shallow, 1)] {
        let bytes: Vec<u8> = words[from..]
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        let sp = STACK + 8 * from as u64;
        let mut registers = standing(Machine::X86_64, 0x1004);
        registers.set(registers.sp_number(), sp);
        let stack = Stack::complete(sp, &bytes).of_thread(Some(9));
        let (frames, outcome, reach) = walked(&mut unwinder, &table, &registers, stack);
        assert_eq!((frames.len(), outcome), (n_frames, Outcome::Complete));
        assert_eq!(
            (reach, unwinder.n_walked()),
            (62 * 8 - 8 * from as u64, n_walked)
        );
    }
}
