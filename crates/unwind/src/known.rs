//! Code that C libraries and linkers leave without a description although its frames are known:
//! the entry point's function, and stubs of the procedure linkage table.

use crate::arch::{Aarch64, Machine, X86_64};
use crate::rule::{Kind, Rule};
use rprof_images::Elf;

/// A range of such code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    start: u32,
    end: u32,
    code: Code,
}

#[derive(Clone, Copy, Debug)]
enum Code {
    /// The program begins here.
    Entry,
    /// Stubs that only jump.
    Jumps,
    /// Stubs of x86-64 that push a number and jump to the first one, which pushes a word more; the
    /// number lies on the stack from this byte of a stub on.
    Pushes { from: u32 },
    /// Stubs of 64-bit ARM; the first one has saved the link register from this byte on.
    SavesLink { from: u32 },
}

/// Bytes behind the entry point that belong to its function. The start-up code of C libraries is
/// shorter, and does nothing but call what never returns.
const ENTRY_LEN: u32 = 64;

/// Bytes of a stub, x86-64.
const STUB_LEN: u32 = 16;

impl Known {
    /// All of an image.
    pub(crate) fn of(elf: &Elf, machine: Machine, base: u64) -> Vec<Self> {
        let relative = |address: u64| u32::try_from(address.checked_sub(base)?).ok();
        let entry = elf.entry().and_then(|entry| relative(entry.0));
        let entry = entry.map(|start| Self {
            start,
            end: start.saturating_add(ENTRY_LEN),
            code: Code::Entry,
        });
        let stubs = [".plt", ".plt.sec", ".plt.got", ".iplt"].into_iter();
        let stubs = stubs.filter_map(|name| {
            let range = elf.section_range(name)?;
            let code = match (name, machine) {
                (".plt", Machine::X86_64) => x86_64_stubs(&elf.section(name)?),
                (".plt", Machine::Aarch64) => aarch64_stubs(&elf.section(name)?),
                _ => Code::Jumps,
            };
            Some(Self {
                start: relative(range.start.0)?,
                end: relative(range.end.0)?,
                code,
            })
        });
        entry.into_iter().chain(stubs).collect()
    }

    /// The rule at an address, if it is in the range.
    pub(crate) fn rule(&self, at: u32, machine: Machine) -> Option<Rule> {
        if !(self.start..self.end).contains(&at) {
            return None;
        }
        let into = at - self.start;
        let n_pushed = match self.code {
            Code::Entry => return Some(Rule::of(Kind::Root)),
            Code::Jumps => 0,
            // `push GOT+8(%rip)`, 6 bytes.
            Code::Pushes { .. } if into < STUB_LEN => 1 + i32::from(into >= 6),
            Code::Pushes { from } => i32::from(into % STUB_LEN >= from),
            // The first stub has 32 bytes.
            Code::SavesLink { from } => 2 * i32::from((from..32).contains(&into)),
        };
        Some(match machine {
            Machine::X86_64 => Rule::just_called::<X86_64>(n_pushed),
            Machine::Aarch64 => Rule::just_called::<Aarch64>(n_pushed),
        })
    }
}

/// In programs without libraries there is no first stub that the others jump to.
fn x86_64_stubs(bytes: &[u8]) -> Code {
    let Some((first, second)) = bytes.split_at_checked(STUB_LEN as usize) else {
        return Code::Jumps;
    };
    match (first, second) {
        // `push GOT+8(%rip)`; `jmp *GOT(%rip)`, `push $number`.
        ([0xff, 0x35, ..], [0xff, 0x25, _, _, _, _, 0x68, ..]) => Code::Pushes { from: 11 },
        // `endbr64`, `push $number`.
        ([0xff, 0x35, ..], [0xf3, 0x0f, 0x1e, 0xfa, 0x68, ..]) => Code::Pushes { from: 9 },
        _ => Code::Jumps,
    }
}

fn aarch64_stubs(bytes: &[u8]) -> Code {
    match bytes {
        // `stp x16, x30, [sp, #-16]!`; it may stand behind `bti c`.
        [0xf0, 0x7b, 0xbf, 0xa9, ..] => Code::SavesLink { from: 4 },
        [_, _, _, _, 0xf0, 0x7b, 0xbf, 0xa9, ..] => Code::SavesLink { from: 8 },
        _ => Code::Jumps,
    }
}
