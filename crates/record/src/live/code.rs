//! Code of processes, where nothing describes it.

use super::process_memory::ProcessMemory;
use foldhash::HashMap;

const PAGE: usize = 4096;

/// Pages that are kept.
const MAX_PAGES: usize = 256;

/// Code that was looked at. It may be replaced while a process runs, so it is read once in each round; a
/// process that has ended has what it had.
#[derive(Debug, Default)]
pub(crate) struct Code {
    memory: ProcessMemory,
    /// By process and address.
    pages: HashMap<(i32, u64), Page>,
    round: u64,
}

#[derive(Debug)]
struct Page {
    /// When it was looked at last, and whether it could be read then.
    round: u64,
    is_read: bool,
    bytes: Option<Box<[u8; PAGE]>>,
}

impl Code {
    /// A round of recording is over.
    pub(crate) fn end_round(&mut self) {
        self.round += 1;
    }

    /// Reads code of a process from an address on, up to the end of its page; returns how many bytes.
    pub(crate) fn read(&mut self, pid: i32, avma: u64, into: &mut [u8]) -> usize {
        if self.pages.len() >= MAX_PAGES {
            self.pages.clear();
        }
        let at = usize::try_from(avma % PAGE as u64).unwrap_or(0);
        let page = self.page(pid, avma - at as u64);
        let code = page.and_then(|page| page.get(at..)).unwrap_or_default();
        let len = code.len().min(into.len());
        into[..len].copy_from_slice(&code[..len]);
        len
    }

    /// Reads code of a process as it is in this round; whether all of it could be had.
    pub(crate) fn read_all(&mut self, pid: i32, avma: u64, mut into: &mut [u8]) -> bool {
        let mut at = avma;
        while !into.is_empty() {
            let n = self.read(pid, at, into);
            let page = self.pages.get(&(pid, at - at % PAGE as u64));
            if n == 0 || page.is_none_or(|page| !page.is_read) {
                return false;
            }
            into = into.split_at_mut(n).1;
            at = at.saturating_add(n as u64);
        }
        true
    }

    fn page(&mut self, pid: i32, avma: u64) -> Option<&[u8; PAGE]> {
        let round = self.round;
        let page = self.pages.entry((pid, avma)).or_insert(Page {
            round: u64::MAX,
            is_read: false,
            bytes: None,
        });
        if page.round != round {
            page.round = round;
            let mut bytes = Box::new([0; PAGE]);
            page.is_read = self.memory.read(pid, avma, bytes.as_mut()) == Some(PAGE);
            if page.is_read {
                page.bytes = Some(bytes);
            }
        }
        page.bytes.as_deref()
    }
}
