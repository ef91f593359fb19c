//! What a copy of a stack has no room for, read from the process right after.
//!
//! The kernel copies at most 64 KiB. Frames beyond that are suspended, and as a rule still there
//! when the sample is looked at, milliseconds later: so they are read then. That they are still
//! those of the sample is not taken on trust: every return address that is found must come after
//! a call, and where that call says whom it calls, it must be the callee that was found. The
//! first of them must say so, or the end of the copy must be as it was. And they must have been
//! there for a while ([`super::known`]).

use super::memory::Memory;
use rprof_ringbuf::sys::Clock;
use rprof_unwind::{Machine, StackFrame};
use rustc_hash::FxHashMap;

/// Bytes before the copy's end that are read again.
const SEAM: usize = 4 << 10;

/// Bytes that are read behind it, at first and at most. Stacks are 8 MiB as a rule.
const FIRST: usize = 192 << 10;
const MOST: usize = 2 << 20;

/// What was read is good for so long for other samples of that thread that were taken before.
const FRESH_NS: u64 = 2_000_000;

/// Return addresses that are remembered.
const MAX_CALLS: usize = 1 << 16;

/// Reads the rest of stacks.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    memory: Memory,
    /// The stack at hand: the copy, and what follows it.
    stack: Vec<u8>,
    /// Whether the end of the copy is as it was.
    is_same: bool,
    last: Option<Read>,
    calls: FxHashMap<(u32, u64), Call>,
}

/// A piece of a thread's stack.
#[derive(Debug)]
struct Read {
    tid: i32,
    at_ns: u64,
    start: u64,
    bytes: Vec<u8>,
    /// There is nothing behind it.
    is_all: bool,
}

impl Read {
    /// Whether it was read after a stack was copied, not long ago, and has so many bytes.
    fn is_good_for(&self, cut: CutStack<'_>, from: u64, need: usize) -> bool {
        let is_later = cut.tid == self.tid && cut.time_ns <= self.at_ns;
        let is_fresh = Clock::Monotonic.now_ns() < self.at_ns.saturating_add(FRESH_NS);
        let is_enough = |bytes: &[u8]| bytes.len() >= need || self.is_all;
        is_later && is_fresh && self.from(from).is_some_and(is_enough)
    }

    /// The bytes from an address on.
    fn from(&self, avma: u64) -> Option<&[u8]> {
        let into = usize::try_from(avma.checked_sub(self.start)?).ok()?;
        self.bytes.get(into..)
    }
}

/// A stack whose copy is too small.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CutStack<'c> {
    pub(crate) pid: i32,
    pub(crate) tid: i32,
    /// When the copy was made.
    pub(crate) time_ns: u64,
    /// Where the copy begins (AVMA).
    pub(crate) start: u64,
    pub(crate) copy: &'c [u8],
}

impl Rest {
    /// The copy with what follows it by now, so many bytes in all if there are; `None` if nothing
    /// can be read there.
    pub(crate) fn longer(&mut self, cut: CutStack<'_>, len: usize) -> Option<&[u8]> {
        let seam = cut.copy.len().min(SEAM);
        let from = cut.start + (cut.copy.len() - seam) as u64;
        let need = seam + (len - cut.copy.len());
        let last = self.last.take();
        let read = match last {
            Some(read) if read.is_good_for(cut, from, need) => read,
            other => {
                let mut bytes = other.map(|read| read.bytes).unwrap_or_default();
                bytes.resize(need, 0);
                let at_ns = Clock::Monotonic.now_ns();
                let n = self.memory.read(cut.pid, from, &mut bytes)?;
                bytes.truncate(n);
                Read {
                    tid: cut.tid,
                    at_ns,
                    start: from,
                    bytes,
                    is_all: n < need,
                }
            }
        };
        let again = read.from(from).unwrap_or_default();
        let (before, behind) = again.split_at_checked(seam)?;
        self.is_same = cut.copy.ends_with(before);
        self.stack.clear();
        self.stack.extend_from_slice(cut.copy);
        self.stack.extend_from_slice(behind);
        self.last = Some(read);
        (self.stack.len() > cut.copy.len()).then_some(&self.stack)
    }

    /// How long stacks are tried to be.
    pub(crate) fn lengths(copied: usize) -> impl Iterator<Item = usize> {
        let longer = |&len: &usize| (len < MOST).then_some(MOST);
        std::iter::successors(Some(FIRST), longer).map(move |more| copied + more)
    }

    /// Whether frames that were found with what was read called each other. The first is the
    /// outermost that the copy has. `function` tells where a frame's function begins.
    pub(crate) fn are_calls(
        &mut self,
        (machine, pid, space): (Machine, i32, u32),
        frames: &[StackFrame],
        function: impl Fn(StackFrame) -> Option<u64>,
    ) -> bool {
        if self.calls.len() > MAX_CALLS {
            self.calls.clear();
        }
        let mut is_certain = self.is_same;
        for pair in frames.windows(2) {
            let &[callee, caller] = pair else { continue };
            if !caller.is_return {
                // Interrupted by a signal: the kernel called.
                continue;
            }
            let to = match self.call((machine, pid, space), caller.avma) {
                Call::None => return false,
                Call::Somewhere => None,
                Call::To(target) if self.is_stub(machine, pid, target) => None,
                Call::To(target) => Some(target),
            };
            match to {
                Some(_) if to == function(callee) => is_certain = true,
                Some(_) => return false,
                None if !is_certain => return false,
                None => {}
            }
        }
        is_certain
    }

    /// The call before a return address.
    fn call(&mut self, (machine, pid, space): (Machine, i32, u32), avma: u64) -> Call {
        let Self { memory, calls, .. } = self;
        *calls.entry((space, avma)).or_insert_with(|| {
            let mut code = [0; LONGEST_CALL];
            match memory.read(pid, avma.wrapping_sub(LONGEST_CALL as u64), &mut code) {
                Some(LONGEST_CALL) => call_before(machine, avma, &code),
                _ => Call::None,
            }
        })
    }

    /// Whether code is a jump through a table: what it leads to cannot be told from it.
    fn is_stub(&mut self, machine: Machine, pid: i32, target: u64) -> bool {
        let mut code = [0; LONGEST_CALL];
        self.memory.read(pid, target, &mut code);
        match (machine, code) {
            // With or without `endbr64` and `bnd`.
            (Machine::X86_64, [0xff, 0x25, ..] | [0xf3, 0x0f, 0x1e, 0xfa, ..]) => true,
            (Machine::X86_64, _) => false,
            // `adrp x16`, as linkers make their stubs.
            (Machine::Aarch64, [a, b, c, d, ..]) => {
                u32::from_le_bytes([a, b, c, d]) & 0x9f00_001f == 0x9000_0010
            }
        }
    }

    /// Forgets what was found out by numbers of address spaces.
    pub(crate) fn forget_spaces(&mut self) {
        self.calls.clear();
    }
}

/// Bytes of the longest call instruction, rounded up.
const LONGEST_CALL: usize = 8;

/// What code calls just before a return address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    /// Nothing: it is no return address.
    None,
    /// Code at an address (AVMA).
    To(u64),
    /// What a register or memory says.
    Somewhere,
}

/// The call at the end of code, before an address.
///
/// Source: Intel SDM volume 2, CALL (E8 and FF /2); Arm ARM, BL and BLR.
fn call_before(machine: Machine, avma: u64, code: &[u8; LONGEST_CALL]) -> Call {
    let [.., c3, c4, c5, c6, c7] = *code;
    match machine {
        Machine::X86_64 => {
            // FF /2: without or with displacement or index; a prefix may stand before it.
            let is_indirect = |len: usize| {
                let at = LONGEST_CALL - len;
                code[at] == 0xff && code[at + 1] >> 3 & 7 == 2
            };
            if c3 == 0xe8 {
                let to = i32::from_le_bytes([c4, c5, c6, c7]);
                Call::To(avma.wrapping_add_signed(to.into()))
            } else if [2, 3, 4, 6, 7].into_iter().any(is_indirect) {
                Call::Somewhere
            } else {
                Call::None
            }
        }
        Machine::Aarch64 => {
            let word = u32::from_le_bytes([c4, c5, c6, c7]);
            if word >> 26 == 0b10_0101 {
                // 26 bits with their sign, in words.
                let to = i64::from((word << 6).cast_signed() >> 6) * 4;
                Call::To(avma.wrapping_sub(4).wrapping_add_signed(to))
            } else if word & 0xfeff_f000 == 0xd63f_0000 {
                // BLR, and its forms with pointer authentication.
                Call::Somewhere
            } else {
                Call::None
            }
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
        let x86 = |tail: &[u8]| call_before(Machine::X86_64, 0x1000, &code(tail));
        assert_eq!(x86(&[0xe8, 1, 2, 0, 0]), Call::To(0x1201));
        assert_eq!(x86(&[0xe8, 0xf0, 0xff, 0xff, 0xff]), Call::To(0xff0));
        for indirect in [
            &[0xff, 0xd0][..],
            &[0x41, 0xff, 0xd4],
            &[0xff, 0x15, 1, 2, 3, 4],
            &[0xff, 0x14, 0xc8],
            &[0xff, 0x50, 8],
            &[0xff, 0x94, 0x24, 1, 2, 3, 4],
        ] {
            assert_eq!(x86(indirect), Call::Somewhere);
        }
        for other in [&[0x90; 8][..], &[0xff, 0xe0], &[0x0f, 0x05]] {
            assert_eq!(x86(other), Call::None);
        }
        let arm = |word: u32| call_before(Machine::Aarch64, 0x1000, &code(&word.to_le_bytes()));
        assert_eq!(arm(0x9400_0010), Call::To(0xffc + 64));
        assert_eq!(arm(0x97ff_ffff), Call::To(0xff8));
        assert_eq!(
            (arm(0xd63f_0100), arm(0xd73f_0901)),
            (Call::Somewhere, Call::Somewhere)
        );
        for other in [0x1400_0010, 0xd65f_03c0, 0xd503_201f] {
            assert_eq!(arm(other), Call::None);
        }
    }

    #[test]
    fn our_own_stack_is_read_and_a_seam_that_changed_is_noticed() {
        let stack: Vec<u8> = (0..100_000u32).map(|n| n.to_le_bytes()[0]).collect();
        let pid = i32::try_from(std::process::id()).unwrap();
        let mut rest = Rest::default();
        let mut cut = CutStack {
            pid,
            tid: pid,
            time_ns: 0,
            start: stack.as_ptr() as u64,
            copy: &stack[..60_000],
        };
        let longer = rest.longer(cut, 80_000).unwrap();
        assert!(longer.len() == 80_000 && longer == &stack[..80_000]);
        assert!(rest.is_same);
        let mut old = stack[..60_000].to_vec();
        old[59_000] ^= 1;
        cut.copy = &old;
        let longer = rest.longer(cut, 80_000).unwrap();
        assert!(longer[..60_000] == old && longer[60_000..] == stack[60_000..80_000]);
        assert!(!rest.is_same);
        cut.start = 8;
        assert!(rest.longer(cut, 80_000).is_none());
    }
}
