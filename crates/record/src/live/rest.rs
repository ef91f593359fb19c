//! What a copy of a stack has no room for, read from the process right after.
//!
//! The kernel copies at most 64 KiB. Frames beyond that are suspended, and as a rule still there
//! when the sample is looked at, milliseconds later: so they are read then. They count only if
//! the memory around the end of the copy is what it was, and if every return address found in
//! what was read comes after a call.

use super::memory::Memory;
use rprof_unwind::{Machine, StackFrame};
use rustc_hash::FxHashMap;
use std::time::{Duration, Instant};

/// Bytes before the copy's end that must not have changed.
const SEAM: usize = 4 << 10;

/// Bytes that are read behind it, at first and at most. Stacks are 8 MiB as a rule.
const FIRST: usize = 192 << 10;
const MOST: usize = 2 << 20;

/// What was read is good for the next samples of that thread for so long.
const FRESH: Duration = Duration::from_millis(2);

/// Return addresses that are remembered.
const MAX_CALLS: usize = 1 << 16;

/// Reads the rest of stacks.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    memory: Memory,
    /// The stack at hand: the copy, and what follows it.
    stack: Vec<u8>,
    last: Option<Read>,
    calls: FxHashMap<(u32, u64), bool>,
}

/// A piece of a thread's stack.
#[derive(Debug)]
struct Read {
    tid: i32,
    at: Instant,
    start: u64,
    bytes: Vec<u8>,
}

/// A stack whose copy is too small.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CutStack<'c> {
    pub(crate) pid: i32,
    pub(crate) tid: i32,
    /// Where the copy begins (AVMA).
    pub(crate) start: u64,
    pub(crate) copy: &'c [u8],
}

impl Rest {
    /// The stack with more of it, if that can be had: the copy, and so many bytes behind it at
    /// least; `None` if there is no more, or the stack is another one by now.
    pub(crate) fn longer(&mut self, cut: CutStack<'_>, len: usize) -> Option<&[u8]> {
        let seam = cut.copy.len().min(SEAM);
        let from = cut.start + (cut.copy.len() - seam) as u64;
        let need = seam + (len - cut.copy.len());
        if self.has(cut.tid, from, need).is_none() {
            let mut bytes = self.last.take().map(|read| read.bytes).unwrap_or_default();
            bytes.resize(need, 0);
            let n = self.memory.read(cut.pid, from, &mut bytes)?;
            bytes.truncate(n);
            self.last = Some(Read {
                tid: cut.tid,
                at: Instant::now(),
                start: from,
                bytes,
            });
        }
        let (before, behind) = self.has(cut.tid, from, seam)?.split_at(seam);
        if behind.is_empty() || !cut.copy.ends_with(before) {
            return None;
        }
        let behind = behind.to_vec();
        self.stack.clear();
        self.stack.extend_from_slice(cut.copy);
        self.stack.extend_from_slice(&behind);
        Some(&self.stack)
    }

    /// Fresh bytes of a thread's stack from an address on, at least so many.
    fn has(&self, tid: i32, from: u64, need: usize) -> Option<&[u8]> {
        let read = self.last.as_ref()?;
        let into = usize::try_from(from.checked_sub(read.start)?).ok()?;
        let bytes = read.bytes.get(into..)?;
        (read.tid == tid && read.at.elapsed() < FRESH && bytes.len() >= need).then_some(bytes)
    }

    /// How long stacks are tried to be.
    pub(crate) fn lengths(copied: usize) -> impl Iterator<Item = usize> {
        let longer = |&len: &usize| (len < MOST).then_some(MOST);
        std::iter::successors(Some(FIRST), longer).map(move |more| copied + more)
    }

    /// Whether all of these frames were called from where they say; address spaces by number.
    pub(crate) fn are_calls(
        &mut self,
        machine: Machine,
        pid: i32,
        space: u32,
        frames: &[StackFrame],
    ) -> bool {
        if self.calls.len() > MAX_CALLS {
            self.calls.clear();
        }
        let Self { memory, calls, .. } = self;
        let mut returns = frames.iter().filter(|frame| frame.is_return);
        returns.all(|frame| {
            *calls.entry((space, frame.avma)).or_insert_with(|| {
                let mut code = [0; LONGEST_CALL];
                let from = frame.avma.wrapping_sub(LONGEST_CALL as u64);
                memory.read(pid, from, &mut code) == Some(LONGEST_CALL)
                    && ends_with_call(machine, &code)
            })
        })
    }

    /// Forgets what was found out by numbers of address spaces.
    pub(crate) fn forget_spaces(&mut self) {
        self.calls.clear();
    }
}

/// Bytes of the longest call instruction, rounded up.
const LONGEST_CALL: usize = 8;

/// Whether code ends with a call.
///
/// Source: Intel SDM volume 2, CALL (E8 and FF /2); Arm ARM, BL and BLR.
fn ends_with_call(machine: Machine, code: &[u8; LONGEST_CALL]) -> bool {
    match machine {
        Machine::X86_64 => {
            let is_direct = code[3] == 0xe8;
            // FF /2: without or with displacement or index; a prefix may stand before it.
            let is_indirect = |len: usize| {
                let at = LONGEST_CALL - len;
                code[at] == 0xff && code[at + 1] >> 3 & 7 == 2
            };
            is_direct || [2, 3, 4, 6, 7].into_iter().any(is_indirect)
        }
        Machine::Aarch64 => {
            let [_, _, _, _, a, b, c, d] = *code;
            let word = u32::from_le_bytes([a, b, c, d]);
            // BL; BLR and its forms with pointer authentication.
            word >> 26 == 0b10_0101 || word & 0xfeff_f000 == 0xd63f_0000
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_known_by_their_bytes() {
        let code = |tail: &[u8]| {
            let mut code = [0x90; LONGEST_CALL];
            code[LONGEST_CALL - tail.len()..].copy_from_slice(tail);
            code
        };
        let x86 = |tail: &[u8]| ends_with_call(Machine::X86_64, &code(tail));
        assert!(x86(&[0xe8, 1, 2, 3, 4]));
        assert!(x86(&[0xff, 0xd0]) && x86(&[0x41, 0xff, 0xd4]));
        assert!(x86(&[0xff, 0x15, 1, 2, 3, 4]) && x86(&[0xff, 0x14, 0xc8]));
        assert!(x86(&[0xff, 0x50, 8]) && x86(&[0xff, 0x94, 0x24, 1, 2, 3, 4]));
        assert!(!x86(&[0x90; 8]) && !x86(&[0xff, 0xe0]) && !x86(&[0x0f, 0x05]));
        let arm = |word: u32| ends_with_call(Machine::Aarch64, &code(&word.to_le_bytes()));
        assert!(arm(0x9400_0010) && arm(0xd63f_0100) && arm(0xd73f_0901));
        assert!(!arm(0x1400_0010) && !arm(0xd65f_03c0) && !arm(0xd503_201f));
    }

    #[test]
    fn our_own_stack_is_read_as_long_as_its_seam_is_the_same() {
        let stack: Vec<u8> = (0..100_000u32).map(|n| n.to_le_bytes()[0]).collect();
        let pid = i32::try_from(std::process::id()).unwrap();
        let mut rest = Rest::default();
        let mut cut = CutStack {
            pid,
            tid: pid,
            start: stack.as_ptr() as u64,
            copy: &stack[..60_000],
        };
        let longer = rest.longer(cut, 80_000).unwrap();
        assert!(longer.len() >= 80_000 && longer[..80_000] == stack[..80_000]);
        let mut other = stack[..60_000].to_vec();
        other[59_000] ^= 1;
        cut.copy = &other;
        assert!(rest.longer(cut, 80_000).is_none());
        cut.start = 8;
        assert!(rest.longer(cut, 80_000).is_none());
    }
}
