//! Any image and any stack: a walk that ends.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rprof_abi::Machine;
use rprof_fuzz::WalkInput;
use rprof_images::Elf;
use rprof_unwind::{AddressSpace, Mapped, Outcome, RegisterSet, Stack, UnwindTable, Unwinder};

const MAX_FRAMES: usize = 200;

/// One image at [`WalkInput::IMAGE`].
struct Space(UnwindTable);

impl AddressSpace for Space {
    fn number(&self) -> u32 {
        1
    }

    fn find(&self, avma: u64) -> Mapped<'_> {
        if avma.wrapping_sub(WalkInput::IMAGE) < 1 << 20 {
Mapped::Image {
                image: 1,
                table: &self.0,
                bias: WalkInput::IMAGE,
            }
} else {
Mapped::Nothing
}
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some(input) = WalkInput::parse(bytes) else {
        return;
    };
    let Ok(elf) = Elf::from_memory(input.image.to_vec(), "input", &Default::default()) else {
        return;
    };
    let Ok(table) = UnwindTable::from_elf(&elf, None) else {
        return;
    };
    let machine = if input.is_x86 {
Machine::X86_64
} else {
Machine::Aarch64
};
    let [pc, values @ ..] = input.registers;
    let mut registers = RegisterSet::new(machine, pc);
    for (value, number) in values.into_iter().zip(0..) {
        registers.set(number, value);
    }
    let sp = if input.is_x86 { 7 } else { 31 };
    registers.set(sp, WalkInput::STACK);
    let stack: Vec<u8> = input
        .stack
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    let stack = Stack::new(WalkInput::STACK, &stack, input.is_cut);
    let mut n_frames = 0;
    let outcome = Unwinder::new().walk(&Space(table), &registers, stack, MAX_FRAMES, |_| {
        n_frames += 1;
    });
    assert!(n_frames <= MAX_FRAMES);
    assert_eq!(outcome == Outcome::Full, n_frames == MAX_FRAMES);
});
