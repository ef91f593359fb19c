//! What a copy of a stack has no room for, read from the process right after.
//!
//! The kernel copies at most 64 KiB. Frames beyond that are suspended, and as a rule still there
//! when the sample is looked at, milliseconds later: so they are read then. What is found counts only for
//! samples that come later, and where nothing can have changed in between ([`super::frozen`]).
//! Where that is known only of the outermost frames, those in between must make sense to begin
//! with: every return address must come after a call, and where that says whom it calls, it must
//! be the callee that was found; the first of them must say so, or the end of the copy must
//! be as it was.

use super::memory::Memory;
use foldhash::HashMap;
use rprof_ringbuf::sys::Clock;
use rprof_unwind::{Beyond, Call, LONGEST_CALL, Machine, StackFrame, call_before, is_jump_stub};
use std::cell::RefCell;
use std::ops::Range;

/// Bytes before the copy's end that are read again.
const SEAM: usize = 4 << 10;

/// What was read is good for so long for other samples of that thread that were taken before.
const FRESH_NS: u64 = 2_000_000;

/// Pages that are read of one stack at once: stacks are 8 MiB as a rule.
const MAX_PAGES: usize = 2048;

/// Return addresses that are remembered.
const MAX_CALLS: usize = 1 << 16;

/// Reads the rest of stacks.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    pages: RefCell<Pages>,
    calls: HashMap<(u32, u64), Call>,
}

pub(crate) const PAGE: usize = 4096;

/// Pages of one thread's stack, read where a walk led.
#[derive(Debug, Default)]
struct Pages {
    memory: Memory,
    pid: i32,
    tid: i32,
    /// Before the first of them was read.
    at_ns: u64,
    pages: HashMap<u64, Option<Box<[u8; PAGE]>>>,
}

impl Pages {
    /// The page at a multiple of its size.
    fn page(&mut self, avma: u64) -> Option<&[u8; PAGE]> {
        let Self {
            memory, pid, pages, ..
        } = self;
        let page = pages.entry(avma).or_insert_with(|| {
            let mut page = Box::new([0; PAGE]);
            (memory.read(*pid, avma, page.as_mut()) == Some(PAGE)).then_some(page)
        });
        page.as_deref()
    }

    /// Appends bytes from an address on; whether all could be read.
    fn read(&mut self, avma: u64, into: &mut [u8]) -> bool {
        let mut at = avma;
        let mut left = into;
        while !left.is_empty() {
            let into_page = usize::try_from(at % PAGE as u64).unwrap_or(0);
            let Some(page) = self.page(at - at % PAGE as u64) else {
                return false;
            };
            let n = left.len().min(PAGE - into_page);
            let (now, later) = left.split_at_mut(n);
            now.copy_from_slice(&page[into_page..into_page + n]);
            left = later;
            at += n as u64;
        }
        true
    }
}

impl Beyond for Rest {
    fn word(&self, avma: u64) -> Option<u64> {
        let mut pages = self.pages.borrow_mut();
        let mut word = [0; 8];
        let is_read = pages.pages.len() < MAX_PAGES && pages.read(avma, &mut word);
        is_read.then(|| u64::from_le_bytes(word))
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

impl CutStack<'_> {
    /// Where the copy ends (AVMA).
    pub(crate) fn copy_end(&self) -> u64 {
        self.start.saturating_add(self.copy.len() as u64)
    }
}

impl Rest {
    /// Prepares for a stack; what was read before it was copied does not count.
    pub(crate) fn begin(&mut self, cut: CutStack<'_>) {
        let pages = self.pages.get_mut();
        let now_ns = Clock::Monotonic.now_ns();
        let is_later = cut.tid == pages.tid && cut.time_ns <= pages.at_ns;
        if !is_later || now_ns >= pages.at_ns.saturating_add(FRESH_NS) {
            (pages.pid, pages.tid, pages.at_ns) = (cut.pid, cut.tid, now_ns);
            pages.pages.clear();
        }
    }

    /// The pages that the last walk led to, and those of some addresses, as they are now.
    pub(crate) fn pages_again(&mut self, addresses: Range<u64>) -> HashMap<u64, Box<[u8; PAGE]>> {
        let Pages {
            memory, pid, pages, ..
        } = self.pages.get_mut();
        let first = addresses.start - addresses.start % PAGE as u64;
        let others = (first..addresses.end).step_by(PAGE);
        let mut again: HashMap<u64, Box<[u8; PAGE]>> = HashMap::default();
        for avma in pages.keys().copied().chain(others).take(MAX_PAGES) {
            let mut page = Box::new([0; PAGE]);
            // What cannot be read is not there: zeros would look like the end of a stack.
            if memory.read(*pid, avma, page.as_mut()) == Some(PAGE) {
                again.insert(avma, page);
            }
        }
        again
    }

    /// Whether the end of the copy is as it was.
    fn is_same(&mut self, cut: CutStack<'_>) -> bool {
        let seam = cut.copy.len().min(SEAM);
        let mut now = [0; SEAM];
        let from = cut.start + (cut.copy.len() - seam) as u64;
        let is_read = self.pages.get_mut().read(from, &mut now[..seam]);
        is_read && cut.copy.ends_with(&now[..seam])
    }

    /// Whether frames that were found with what was read called each other. The first is the
    /// outermost that the copy has. `function` tells where a frame's function begins.
    pub(crate) fn are_calls(
        &mut self,
        (machine, space): (Machine, u32),
        cut: CutStack<'_>,
        frames: &[StackFrame],
        function: impl Fn(StackFrame) -> Option<u64>,
    ) -> bool {
        if self.calls.len() > MAX_CALLS {
            self.calls.clear();
        }
        let mut is_certain = self.is_same(cut);
        for pair in frames.windows(2) {
            let &[callee, caller] = pair else { continue };
            if !caller.is_return {
                // Interrupted by a signal: the kernel called.
                continue;
            }
            let to = match self.call((machine, cut.pid, space), caller.avma) {
                Call::None => return false,
                Call::Somewhere => None,
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
    pub(crate) fn call(&mut self, (machine, pid, space): (Machine, i32, u32), avma: u64) -> Call {
        let Self { pages, calls } = self;
        let memory = &mut pages.get_mut().memory;
        *calls.entry((space, avma)).or_insert_with(|| {
            let mut code = [0; LONGEST_CALL];
            let is_read = memory.read(pid, avma.wrapping_sub(LONGEST_CALL as u64), &mut code);
            let call = match is_read {
                Some(LONGEST_CALL) => call_before(machine, avma, &code),
                _ => Call::None,
            };
            let Call::To(target) = call else {
                return call;
            };
            code.fill(0);
            memory.read(pid, target, &mut code);
            match is_jump_stub(machine, &code) {
                true => Call::Somewhere,
                false => call,
            }
        })
    }

    /// Forgets what was found out by numbers of address spaces.
    pub(crate) fn forget_spaces(&mut self) {
        self.calls.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        rest.begin(cut);
        let word = u64::from_le_bytes(*stack[70_001..].first_chunk().unwrap());
        assert_eq!(rest.word(cut.start + 70_001), Some(word));
        assert!(rest.is_same(cut));
        let mut old = stack[..60_000].to_vec();
        old[59_000] ^= 1;
        cut.copy = &old;
        assert!(!rest.is_same(cut));
        cut.start = 8;
        rest.begin(cut);
        assert_eq!(rest.word(16), None);
    }
}
