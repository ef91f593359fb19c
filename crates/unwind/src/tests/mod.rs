//! Descriptions and stacks of all kinds, most of them nonsense: each walk ends, and says why.

mod elf;
mod last_walk;
mod piece;

use crate::{AddressSpace, Mapped, Outcome, RegisterSet, Stack, UnwindTable, Unwinder};
use elf::{AARCH64, X86_64, debug_frame, elf};
use proptest::collection::vec;
use proptest::prelude::*;
use rprof_abi::Machine;
use rprof_images::Elf;
use rprof_untrusted::Budget;
use std::path::Path;

/// Where the image is.
const BIAS: u64 = 0x40_0000;
/// Bytes of it.
const LEN: u64 = 1 << 20;
/// Where the stack is.
const STACK: u64 = 0x7fff_0000;
const MAX_FRAMES: usize = 300;

/// One image.
struct Space<'t>(&'t UnwindTable);

impl AddressSpace for Space<'_> {
    fn number(&self) -> u32 {
        1
    }

    fn find(&self, avma: u64) -> Mapped<'_> {
        match avma.checked_sub(BIAS) {
            Some(svma) if svma < LEN => Mapped::Image {
                image: 7,
                table: self.0,
                bias: BIAS,
            },
            _ => Mapped::Nothing,
        }
    }
}

/// A file's table, if it makes one.
fn table(file: Vec<u8>) -> Option<UnwindTable> {
    UnwindTable::from_elf(
        &Elf::from_memory(file, "test", &Budget::default()).ok()?,
        None,
    )
    .ok()
}

/// Walks, and returns the addresses.
fn walk(table: &UnwindTable, registers: &RegisterSet, words: &[u64]) -> (Vec<u64>, Outcome) {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    let bytes: Vec<u8> = bytes.collect();
    let stack = Stack::complete(STACK, &bytes);
    let mut frames = Vec::new();
    let outcome = Unwinder::new().walk(&Space(table), registers, stack, MAX_FRAMES, |frame| {
        frames.push(frame.avma);
    });
    (frames, outcome)
}

/// A thread that stands at an address of the image.
fn standing(machine: Machine, at: u64) -> RegisterSet {
    let mut registers = RegisterSet::new(machine, BIAS + at);
    registers.set_sp(STACK);
    registers
}

/// Says where the frame is, and where the return address: `DW_CFA_def_cfa` of the stack pointer,
/// 8; `DW_CFA_offset` of the return address, 1.
const CALLED: &[u8] = &[0x0c, 7, 8, 0x90, 1];

/// Functions at 0x1000 (a frame of 16 bytes), 0x1100 (realigned: its frame's address is in memory
/// that the frame pointer leads to) and 0x1200 (it began the thread).
fn described() -> Vec<u8> {
    let realigned = [0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0];
    let functions: [(u64, u64, &[u8]); 3] = [
        (0x1000, 0x20, &[0x0e, 16]),
        (0x1100, 0x20, &realigned),
        (0x1200, 0x20, &[0x07, 16]),
    ];
    debug_frame(16, CALLED, &functions)
}

#[test]
fn frames_are_left_as_described() {
    let section = described();
    let table = table(elf(X86_64, &[(".debug_frame", 0, &section)])).unwrap();
    let mut registers = standing(Machine::X86_64, 0x1004);
    registers.set(6, STACK + 32);
    let words = [
        0,
        BIAS + 0x1104,
        0,
        STACK + 64,
        STACK + 80,
        0,
        0,
        BIAS + 0x1204,
        9,
        9,
    ];
    let (frames, outcome) = walk(&table, &registers, &words);
    assert_eq!(frames, [0x1004, 0x1104, 0x1204].map(|at| BIAS + at));
    assert_eq!(outcome, Outcome::Complete);
}

#[test]
fn an_image_of_another_machine_says_nothing() {
    // It saves twelve registers, more than x86-64 has: `DW_CFA_def_cfa`, `DW_CFA_offset`.
    let mut saves = vec![0x0c, 31, 96];
    saves.extend((19..=30).flat_map(|register| [0x80 | register, 31 - register]));
    let section = debug_frame(30, &saves, &[(0x1000, 0x20, &[])]);
    let table = table(elf(AARCH64, &[(".debug_frame", 0, &section)])).unwrap();
    let (frames, outcome) = walk(&table, &standing(Machine::X86_64, 0x1004), &[1; 20]);
    assert_eq!(frames, [BIAS + 0x1004]);
    let avma = BIAS + 0x1004;
    assert_eq!(outcome, Outcome::NoInfo { image: 7, avma });
    let (_, outcome) = walk(&table, &standing(Machine::Aarch64, 0x1004), &[1; 20]);
    assert_eq!(outcome, Outcome::Unmapped { avma: 1 });
}

/// What is known of a machine's signals.
struct Signals {
    machine: Machine,
    /// `nop` and `rt_sigreturn`, and the latter's place.
    code: &'static [u8],
    returns_at: u64,
    /// Words of the frame up to its last register, and of those the two that are looked at.
    n_words: usize,
    pc_at: usize,
    sp_at: usize,
    sp: u16,
}

const SIGNALS: [Signals; 3] = [
    Signals {
        machine: Machine::X86_64,
        code: &[0x90, 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05],
        returns_at: 1,
        n_words: 22,
        pc_at: 21,
        sp_at: 20,
        sp: 7,
    },
    Signals {
        machine: Machine::Aarch64,
        code: &[
            0x1f, 0x20, 0x03, 0xd5, 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4,
        ],
        returns_at: 4,
        n_words: 72,
        pc_at: 71,
        sp_at: 70,
        sp: 31,
    },
    Signals {
        machine: Machine::Riscv64,
        code: &[0x01, 0, 0x93, 0x08, 0xb0, 0x08, 0x73, 0, 0, 0],
        returns_at: 2,
        n_words: 70,
        pc_at: 38,
        sp_at: 40,
        sp: 2,
    },
];

#[test]
fn signals_are_walked_although_nothing_describes_them() {
    for signals in SIGNALS {
        let section = described();
        let text = (".text", 0x3000, signals.code);
        let parts = [(".debug_frame", 0, &section[..]), text];
        let table = table(elf(signals.machine.elf_number(), &parts)).unwrap();
        let start = BIAS + 0x3000 + signals.returns_at;
        // What was interrupted stands at the first instruction of the function that is outermost.
        let interrupted = BIAS + 0x1200;
        let mut words = vec![9; signals.n_words];
        words[signals.pc_at] = interrupted;
        words[signals.sp_at] = STACK + 0x200;
        let mut registers = RegisterSet::new(signals.machine, start);
        registers.set(signals.sp, STACK);
        let (frames, outcome) = walk(&table, &registers, &words);
        let machine = signals.machine;
        assert_eq!(frames, [start, BIAS + 0x1200], "{machine:?}: {outcome:?}");
        words.pop();
        let (frames, outcome) = walk(&table, &registers, &words);
        let off_stack = Outcome::OffStack { avma: start };
        assert_eq!((frames, outcome), (vec![start], off_stack));
    }
}

/// What RISC-V's convention says: the return address lies below where the frame pointer leads, and
/// the caller's frame pointer below that.
#[test]
fn frame_pointers_of_riscv_lead_above_their_frames() {
    let nothing = described();
    let table = table(elf(243, &[(".debug_frame", 0, &nothing)])).unwrap();
    let mut registers = standing(Machine::Riscv64, 0x2000);
    registers.set(8, STACK + 32);
    let words = [9, 9, STACK + 64, BIAS + 0x2100, 9, 9, 0, 0];
    let (frames, outcome) = walk(&table, &registers, &words);
    assert_eq!(frames, [BIAS + 0x2000, BIAS + 0x2100]);
    // What the image says of other code says nothing of this.
    assert_eq!(outcome, Outcome::Guessed { image: 7 });
    // A function that calls nothing saves the frame pointer alone.
    registers.set(8, STACK + 16);
    let (frames, _) = walk(&table, &registers, &[9, STACK + 64, 9, 9]);
    assert_eq!(frames, [BIAS + 0x2000]);
}

/// A file that is missing.
struct Missing;

impl AddressSpace for Missing {
    fn number(&self) -> u32 {
        1
    }

    fn find(&self, _: u64) -> Mapped<'_> {
        Mapped::Code {
            image: 3,
            is_file: true,
        }
    }
}

#[test]
fn callers_that_frame_pointers_may_have_skipped_are_told_of_truncated_stacks() {
    let words = [9, 9, STACK + 4096, BIAS + 0x2100];
    let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
    let mut unwinder = Unwinder::new();
    let mut walk = |frame_pointer| {
        let mut registers = standing(Machine::X86_64, 0x2000);
        registers.set(6, frame_pointer);
        let stack = Stack::truncated(STACK, &bytes);
        let mut n_frames = 0;
        let outcome = unwinder.walk(&Missing, &registers, stack, MAX_FRAMES, |_| n_frames += 1);
        (outcome, n_frames, unwinder.guessed())
    };
    assert_eq!(walk(STACK + 16), (Outcome::Truncated, 2, Some(3)));
    // No caller was found: none was skipped.
    assert_eq!(walk(STACK + 4096), (Outcome::Truncated, 1, None));
}

/// `s11` is saved by functions that save all: those are evaluated.
#[test]
fn functions_of_riscv_that_save_all_registers_are_left() {
    // The frame has 14 words: `ra`, and `s0` to `s11`.
    let mut saves = vec![0x0c, 2, 0, 0x0e, 112, 0x81, 1];
    let saved = [8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27];
    let offsets = saved.into_iter().zip(2..);
    saves.extend(offsets.flat_map(|(register, at)| [0x80 | register, at]));
    let by_last = [0x0c, 27, 0, 0x81, 1];
    let functions: [(u64, u64, &[u8]); 3] = [
        (0x1000, 0x20, &saves),
        (0x1100, 0x20, &by_last),
        (0x1200, 0x20, &[0x07, 1]),
    ];
    let section = debug_frame(1, &[0x0c, 2, 0], &functions);
    let table = table(elf(243, &[(".debug_frame", 0, &section)])).unwrap();
    let mut words = vec![9; 16];
    words[13] = BIAS + 0x1104;
    words[1] = STACK + 128;
    words[15] = BIAS + 0x1204;
    let (frames, outcome) = walk(&table, &standing(Machine::Riscv64, 0x1004), &words);
    assert_eq!(frames, [0x1004, 0x1104, 0x1204].map(|at| BIAS + at));
    assert_eq!(outcome, Outcome::Complete);
}

/// Words as stacks hold them: code, stack, and anything.
fn word() -> impl Strategy<Value = u64> {
    prop_oneof![
        (0..0x3000u64).prop_map(|at| BIAS + at),
        (0..1024u64).prop_map(|at| STACK + at),
        any::<u64>(),
        Just(0),
    ]
}

/// A thread that can stand anywhere.
fn thread() -> impl Strategy<Value = (RegisterSet, Vec<u64>)> {
    let registers = (any::<bool>(), 0..0x3000u64, vec(word(), 33));
    let registers = registers.prop_map(|(is_x86, pc, values)| {
        let machine = [Machine::Aarch64, Machine::X86_64][usize::from(is_x86)];
        let mut registers = RegisterSet::new(machine, BIAS + pc);
        for (value, number) in values.into_iter().zip(0..) {
            registers.set(number, value);
        }
        registers.set_sp(STACK);
        registers
    });
    (registers, vec(word(), 0..160))
}

/// Places in a section, and what is written there.
fn edits() -> impl Strategy<Value = Vec<(prop::sample::Index, u8)>> {
    vec((any::<prop::sample::Index>(), any::<u8>()), 0..12)
}

fn edit(bytes: &mut [u8], edits: &[(prop::sample::Index, u8)]) {
    for (at, byte) in edits {
        bytes[at.index(bytes.len())] = *byte;
    }
}

/// Call frame instructions, most of them possible.
fn instructions() -> impl Strategy<Value = Vec<u8>> {
    let opcode = prop_oneof![0u8..0x17, Just(0x2e), any::<u8>()];
    let operand = prop_oneof![0u8..32, any::<u8>()];
    let one = (opcode, vec(operand, 0..3)).prop_map(|(opcode, mut operands)| {
        operands.insert(0, opcode);
        operands
    });
    vec(one, 0..24).prop_map(|all| all.concat())
}

/// An expression: a rule for the frame's address, and one for a register.
fn expressions() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        0x06u8..0x32,
        0x70u8..0x90,
        0x94u8..0x96,
        0u8..16,
        any::<u8>()
    ];
    (vec(byte, 1..30), 0u8..20).prop_map(|(bytes, register)| {
        let len = u8::try_from(bytes.len()).unwrap();
        let mut all = vec![0x0f, len];
        all.extend(&bytes);
        all.extend([0x16, register, len]);
        all.extend(bytes);
        all
    })
}

/// What any walk must be.
fn check(file: Vec<u8>, (registers, words): &(RegisterSet, Vec<u64>)) {
    let Some(table) = table(file) else { return };
    let (frames, outcome) = walk(&table, registers, words);
    assert!(frames.len() <= MAX_FRAMES && !frames.is_empty());
    assert_eq!(outcome == Outcome::Full, frames.len() == MAX_FRAMES);
}

/// Real descriptions, small enough to make a file of them many times a second.
fn real() -> Option<[(&'static str, u64, Vec<u8>); 2]> {
    let elf = Elf::open(Path::new("/bin/true"), &Budget::default()).ok()?;
    let part = |name| {
        let start = elf.section_range(name)?.start.0;
        Some((name, start, elf.section(name)?.into_owned()))
    };
    Some([part(".eh_frame")?, part(".eh_frame_hdr")?])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damaged_descriptions_end_a_walk(threads in vec(thread(), 1..4), frames in edits(), header in edits()) {
        let Some([mut eh_frame, mut eh_frame_hdr]) = real() else { return Ok(()) };
        edit(&mut eh_frame.2, &frames);
        edit(&mut eh_frame_hdr.2, &header);
        let parts = [&eh_frame, &eh_frame_hdr].map(|(name, at, bytes)| (*name, *at, &bytes[..]));
        for thread in &threads {
            check(elf(X86_64, &parts), thread);
            check(elf(AARCH64, &parts[..1]), thread);
        }
    }

    #[test]
    fn any_instructions_end_a_walk(
        thread in thread(),
        common in instructions(),
        own in vec(prop_oneof![instructions(), expressions()], 1..5),
        edits in edits(),
        is_x86: bool,
    ) {
        let functions = own.iter().zip(1u64..).map(|(own, n)| (n * 0x800, 0x700, &own[..]));
        let functions: Vec<_> = functions.collect();
        let (machine, column) = [(AARCH64, 30), (X86_64, 16)][usize::from(is_x86)];
        let common = [CALLED, &common].concat();
        let mut section = debug_frame(column, &common, &functions);
        check(elf(machine, &[(".debug_frame", 0, &section)]), &thread);
        edit(&mut section, &edits);
        check(elf(machine, &[(".debug_frame", 0, &section)]), &thread);
    }

    #[test]
    fn any_section_ends_a_walk(thread in thread(), bytes in vec(any::<u8>(), 0..200)) {
        for name in [".eh_frame", ".eh_frame_hdr", ".debug_frame", ".plt"] {
            let described = described();
            let parts = [(name, 0x2000, &bytes[..]), (".debug_frame", 0, &described)];
            check(elf(X86_64, &parts), &thread);
        }
    }
}
