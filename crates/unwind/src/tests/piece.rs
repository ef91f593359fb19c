//! What compilers at run time say of their code in logs.

use super::{BIAS, MAX_FRAMES, STACK, edit, edits, standing, thread, walk};
use crate::{Mapped, Outcome, TableError, UnwindTable};
use proptest::collection::vec;
use proptest::prelude::*;
use rprof_abi::Machine;
use rprof_base::{FileOffset, Svma};
use rprof_images::Segment;
use rprof_untrusted::{Budget, Limits};

/// Of one of Python's trampolines: `sub $8, %rsp; call *%rcx; add $8, %rsp; ret`, by Python 3.13.0.
const PYTHON: (u64, &[u8]) = (
    11,
    b"\x14\0\0\0\0\0\0\0\x01zR\0\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01\0\0\
      \x14\0\0\0\x1c\0\0\0\xd0\xff\xff\xff\x0b\0\0\0\0\x44\x0e\x10\x46\x0e\x08\0",
);

/// Of a function by V8 (node 20.20): it has a frame pointer from byte 18 on, until it is taken back 86
/// bytes on.
const V8: (u64, &[u8]) = (
    700,
    b"\x18\0\0\0\0\0\0\0\x03zLR\0\x01\x78\x10\x02\xff\x1b\x0c\x07\x08\x90\x01\0\0\0\0\
      \x20\0\0\0\x20\0\0\0\x1c\xfd\xff\xff\xbc\x02\0\0\0\x4f\x0e\x10\x86\x02\x43\x0d\x06\x02\x56\x0d\x07\
      \x41\x0e\x08\x52\x0c\x06\x10\0\0\0\0",
);

fn code(len: u64) -> Segment {
    Segment {
        offset: FileOffset(0x9000),
        file_size: len,
        address: Svma(0),
    }
}

fn piece((len, frames): (u64, &[u8])) -> Option<UnwindTable> {
    UnwindTable::from_piece(
        Machine::X86_64,
        code(len),
        frames.to_vec(),
        &Budget::default(),
    )
    .ok()
}

#[test]
fn trampolines_by_python_are_left_as_their_log_says() {
    let table = piece(PYTHON).unwrap();
    // As called, in its frame twice, and as it returns.
    let words = [BIAS + 6, 9, BIAS + 6, 9, 0];
    for (at, skipped) in [(0, 0), (4, 1), (9, 1), (10, 0)] {
        let (frames, outcome) = walk(&table, &standing(Machine::X86_64, at), &words[skipped..]);
        let first = [at, 6, 6];
        let expected = &first[..3 - skipped];
        assert_eq!(outcome, Outcome::Complete, "{at}");
        assert_eq!(
            frames,
            expected.iter().map(|at| BIAS + at).collect::<Vec<_>>()
        );
    }
}

#[test]
fn functions_by_v8_are_left_as_their_log_says() {
    let table = piece(V8).unwrap();
    for (at, base) in [(14, 0), (17, 1), (18, 3), (100, 3), (105, 0), (123, 3)] {
        let mut registers = standing(Machine::X86_64, at);
        registers.set(6, STACK + 24);
        let mut words = [0; 8];
        // The return address, above the saved frame pointer.
        words[if base == 3 { 4 } else { base }] = BIAS + 0x1000_0000;
        let (frames, outcome) = walk(&table, &registers, &words);
        let avma = BIAS + 0x1000_0000;
        assert_eq!(
            (&frames[..], outcome),
            (&[BIAS + at][..], Outcome::Unmapped { avma }),
            "{at}"
        );
    }
}

#[test]
fn a_piece_is_where_its_code_is_and_nowhere_else() {
    let table = piece(PYTHON).unwrap();
    let at = |offset| match table.mapped(3, 0x7000, FileOffset(offset)) {
        Mapped::Image { image: 3, bias, .. } => Some(bias),
        _ => None,
    };
    assert_eq!(at(0x8fff), None);
    assert_eq!((at(0x9000), at(0x900a)), (Some(0x7000), Some(0x6ff6)));
    assert_eq!(at(0x900b), None);
    assert!(piece((11, b"")).is_none());
    let none = Budget::new(Limits::of_memory(64));
    let table = UnwindTable::from_piece(Machine::X86_64, code(11), PYTHON.1.to_vec(), &none);
    assert_eq!(table.unwrap_err(), TableError::Memory);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damaged_pieces_end_a_walk(threads in vec(thread(), 1..4), edits in edits(), len: u64, is_v8: bool) {
        let (right, frames) = if is_v8 { V8 } else { PYTHON };
        let mut frames = frames.to_vec();
        edit(&mut frames, &edits);
        for len in [right, len] {
            let Some(table) = piece((len, &frames)) else { continue };
            for (registers, words) in &threads {
                let (frames, outcome) = walk(&table, registers, words);
                prop_assert!(frames.len() <= MAX_FRAMES && !frames.is_empty());
                prop_assert_eq!(outcome == Outcome::Full, frames.len() == MAX_FRAMES);
            }
        }
    }
}
