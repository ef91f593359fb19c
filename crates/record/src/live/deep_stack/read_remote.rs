//! The memory of a stack, read from the process page by page where a walk leads.

use super::truncated_stack::TruncatedStack;
use crate::live::process_memory::ProcessMemory;
use foldhash::HashMap;
use rprof_unwind::MemorySource;
use std::cell::RefCell;
use std::ops::Range;

/// Bytes before the end of the dump that are read again.
const OVERLAP: usize = 4 << 10;

/// What was read serves other samples of the thread that were taken before, for this long.
const FRESH_NS: u64 = 2_000_000;

/// Pages that are read of one stack at once: stacks are 8 MiB as a rule.
const MAX_PAGES: usize = 2048;

pub(super) const PAGE: usize = 4096;

/// Pages, by address.
pub(super) type Pages = HashMap<u64, Box<[u8; PAGE]>>;

/// Reads the stack of one thread at a time.
#[derive(Debug, Default)]
pub(super) struct RemoteStackReader {
    stack: RefCell<RemoteStack>,
}

/// What was read of one thread's stack.
#[derive(Debug, Default)]
struct RemoteStack {
    memory: ProcessMemory,
    pid: i32,
    tid: i32,
    /// Before the first page was read.
    at_ns: u64,
    /// `None` if the page cannot be read.
    pages: HashMap<u64, Option<Box<[u8; PAGE]>>>,
}

impl RemoteStack {
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

    /// Reads bytes from an address on; `None` if not all can be read.
    fn read(&mut self, avma: u64, into: &mut [u8]) -> Option<()> {
        let mut at = avma;
        let mut left = into;
        while !left.is_empty() {
            let into_page = usize::try_from(at % PAGE as u64).unwrap_or(0);
            let page = self.page(at - at % PAGE as u64)?;
            let n = left.len().min(PAGE - into_page);
            let (now, later) = left.split_at_mut(n);
            now.copy_from_slice(&page[into_page..into_page + n]);
            left = later;
            at += n as u64;
        }
        Some(())
    }
}

impl MemorySource for RemoteStackReader {
    fn word(&self, avma: u64) -> Option<u64> {
        let mut stack = self.stack.borrow_mut();
        if stack.pages.len() >= MAX_PAGES {
            return None;
        }
        let mut word = [0; 8];
        stack.read(avma, &mut word)?;
        Some(u64::from_le_bytes(word))
    }
}

impl RemoteStackReader {
    /// Prepares for a stack. What was read before its dump was made does not count.
    pub(super) fn begin(&mut self, truncated: TruncatedStack<'_>) {
        let stack = self.stack.get_mut();
        let now_ns = truncated.clock.now_ns();
        let is_later = truncated.tid == stack.tid && truncated.time_ns <= stack.at_ns;
        if !is_later || now_ns >= stack.at_ns.saturating_add(FRESH_NS) {
            (stack.pid, stack.tid, stack.at_ns) = (truncated.pid, truncated.tid, now_ns);
            stack.pages.clear();
        }
    }

    /// The pages that the last walk led to, and those of some addresses, as they are now.
    pub(super) fn read_again(&mut self, addresses: Range<u64>) -> Pages {
        let RemoteStack {
            memory, pid, pages, ..
        } = self.stack.get_mut();
        let first = addresses.start - addresses.start % PAGE as u64;
        let others = (first..addresses.end).step_by(PAGE);
        let mut again = Pages::default();
        for avma in pages.keys().copied().chain(others).take(MAX_PAGES) {
            let mut page = Box::new([0; PAGE]);
            // What cannot be read is left out: zeros would look like the end of a stack.
            if memory.read(*pid, avma, page.as_mut()) == Some(PAGE) {
                again.insert(avma, page);
            }
        }
        again
    }

    /// Whether the end of the dump is in the process as it was.
    pub(super) fn is_overlap_unchanged(&mut self, truncated: TruncatedStack<'_>) -> bool {
        let n_bytes = truncated.dump.len().min(OVERLAP);
        let mut now = [0; OVERLAP];
        let from = truncated.start + (truncated.dump.len() - n_bytes) as u64;
        let read = self.stack.get_mut().read(from, &mut now[..n_bytes]);
        read.is_some() && truncated.dump.ends_with(&now[..n_bytes])
    }

    /// What it reads from.
    pub(super) fn memory(&mut self) -> &mut ProcessMemory {
        &mut self.stack.get_mut().memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_ringbuf::sys::Clock;

    #[test]
    fn our_own_stack_is_read_and_an_overlap_that_changed_is_noticed() {
        let bytes: Vec<u8> = (0..100_000u32).map(|n| n.to_le_bytes()[0]).collect();
        let pid = i32::try_from(std::process::id()).unwrap();
        let mut reader = RemoteStackReader::default();
        let mut truncated = TruncatedStack {
            pid,
            tid: pid,
            time_ns: 0,
            clock: Clock::Monotonic,
            start: bytes.as_ptr() as u64,
            dump: &bytes[..60_000],
        };
        reader.begin(truncated);
        let word = u64::from_le_bytes(*bytes[70_001..].first_chunk().unwrap());
        assert_eq!(reader.word(truncated.start + 70_001), Some(word));
        assert!(reader.is_overlap_unchanged(truncated));
        let mut old = bytes[..60_000].to_vec();
        old[59_000] ^= 1;
        truncated.dump = &old;
        assert!(!reader.is_overlap_unchanged(truncated));
        truncated.start = 8;
        reader.begin(truncated);
        assert_eq!(reader.word(16), None);
    }
}
