//! The jitdump of one process, read while it is written.
//!
//! What it says of a JIT function counts only while that function is what is in memory: writers keep
//! records back, so code may have been replaced before the jitdump says so.

use foldhash::fast::FixedState;
use rprof_abi::Machine;
use rprof_base::{Avma, FileOffset};
use rprof_images::{JitDump, JitLoad, JitRecord, NoFile};
use rprof_locate::{LiveProcess, is_trusted_owner};
use rprof_ringbuf::sys::Clock;
use rprof_untrusted::{Budget, Held};
use rprof_unwind::UnwindTable;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::hash::BuildHasher;

/// The file that is a process's jitdump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JitDumpFile {
    pub(crate) pid: i32,
    pub(crate) path: String,
    pub(crate) inode: u64,
}

/// The jitdump of one process.
#[derive(Debug)]
pub(crate) struct LiveJitDump {
    file: JitDumpFile,
    machine: Machine,
    budget: Budget,
    dump: Option<RefCell<JitDump>>,
    /// It is of no use, or not trusted.
    is_void: bool,
    /// When it was last read.
    read_ns: u64,
    /// When the newest code that it has was made.
    newest_ns: u64,
    /// Changes when what it says does.
    version: u64,
    /// By address.
    functions: BTreeMap<u64, JitFunction>,
    held: Held,
    compared: Cell<Compared>,
}

/// A function whose unwind tables are in the jitdump.
#[derive(Debug)]
struct JitFunction {
    load: JitLoad,
    /// Of its bytes.
    hash: u64,
    compared: Cell<Option<Comparison>>,
    table: OnceCell<Option<Box<UnwindTable>>>,
}

/// The last comparison of a function with what is in memory.
#[derive(Clone, Copy, Debug)]
struct Comparison {
    round: u64,
    is_there: bool,
}

/// Bytes that were compared with memory in a round.
#[derive(Clone, Copy, Debug, Default)]
struct Compared {
    round: u64,
    n_bytes: u64,
}

/// When a sample was taken, and when it is unwound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleMoment {
    pub(crate) time_ns: u64,
    /// The round of recording.
    pub(crate) round: u64,
}

/// Memory of a function, with its place in the tree.
const FUNCTION_BYTES: u64 = 2 * size_of::<JitFunction>() as u64;

/// Records that are read at once: samples wait meanwhile.
const MAX_RECORDS: usize = 2000;

impl LiveJitDump {
    pub(crate) fn new(file: JitDumpFile, machine: Machine, budget: &Budget) -> Self {
        Self {
            file,
            machine,
            held: budget.hold_nothing(),
            budget: budget.clone(),
            dump: None,
            is_void: false,
            read_ns: 0,
            newest_ns: 0,
            version: 0,
            functions: BTreeMap::new(),
            compared: Cell::default(),
        }
    }

    pub(crate) fn file(&self) -> &JitDumpFile {
        &self.file
    }

    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    pub(crate) fn read_ns(&self) -> u64 {
        self.read_ns
    }

    pub(crate) fn newest_ns(&self) -> u64 {
        self.newest_ns
    }

    /// Reads what was written by the time of a sample.
    pub(crate) fn read_until(&mut self, time_ns: u64) {
        if self.is_void || time_ns <= self.read_ns {
            return;
        }
        self.read_ns = Clock::Monotonic.now_ns();
        if self.dump.is_none() {
            self.open();
        }
        let Some(dump) = self.dump.take() else {
            return;
        };
        let mut dump = dump.into_inner();
        if self.read(&mut dump).is_some() {
            self.dump = Some(RefCell::new(dump));
        } else {
            self.give_up();
        }
    }

    /// What can no longer be followed must not be taken for what is there.
    fn give_up(&mut self) {
        self.is_void = true;
        self.version += 1;
        self.dump = None;
        self.functions.clear();
        self.held = self.budget.hold_nothing();
    }

    fn open(&mut self) {
        let JitDumpFile { pid, path, inode } = &self.file;
        let Some(living) = LiveProcess::of(*pid) else {
            return;
        };
        let opened = JitDump::open_recorded(&living.path(path), Some(*inode), &self.budget);
        match opened {
            // Children have their parent's jitdump mapped.
            Ok(dump) if is_of(&dump, living) => self.dump = Some(RefCell::new(dump)),
            // Its first bytes may not be written yet.
            Err(NoFile::NotJitDump) => {}
            _ => self.is_void = true,
        }
    }

    /// Reads on; `None` if it can no longer be followed.
    fn read(&mut self, dump: &mut JitDump) -> Option<()> {
        dump.look_again().ok()?;
        for _ in 0..MAX_RECORDS {
            let Some(record) = dump.next_record().ok()? else {
                break;
            };
            match record {
                JitRecord::Load(load) => {
                    self.forget_replaced(load.start, load.len, load.time_ns);
                    self.load(dump, load)?;
                }
                JitRecord::Move(moved) => {
                    self.forget_replaced(moved.start, moved.len, moved.time_ns);
                }
                _ => {}
            }
        }
        Some(())
    }

    fn load(&mut self, dump: &mut JitDump, load: JitLoad) -> Option<()> {
        if load.frames.is_none() {
            return Some(());
        }
        let Some(code) = dump.code(&load).ok()? else {
            return Some(());
        };
        self.held.grow(FUNCTION_BYTES).ok()?;
        let function = JitFunction {
            load,
            hash: hash_of(code),
            compared: Cell::new(None),
            table: OnceCell::new(),
        };
        self.functions.insert(load.start.0, function);
        Some(())
    }

    /// Forgets functions that other code has replaced.
    fn forget_replaced(&mut self, start: Avma, len: u64, time_ns: u64) {
        self.version += 1;
        self.newest_ns = self.newest_ns.max(time_ns);
        let end = start.0.saturating_add(len);
        while let Some((&old, function)) = self.functions.range(..end).next_back()
            && old.saturating_add(function.load.len) > start.0
        {
            self.functions.remove(&old);
            self.held.give_back(FUNCTION_BYTES);
        }
    }

    /// The table of the code at an address at the time of a sample. `None` if `read` finds other code there;
    /// this is compared once in each round.
    pub(crate) fn table(
        &self,
        avma: u64,
        at: SampleMoment,
        read: impl FnOnce(u64, &mut [u8]) -> bool,
    ) -> Option<&UnwindTable> {
        let (_, function) = self.functions.range(..=avma).next_back()?;
        let load = &function.load;
        if avma - load.start.0 >= load.len || load.time_ns > at.time_ns {
            return None;
        }
        let is_there = match function.compared.get() {
            Some(Comparison { round, is_there }) if round == at.round => is_there,
            _ => {
                if !self.may_compare(load.len, at.round) {
                    return None;
                }
                let mut code = vec![0; usize::try_from(load.len).ok()?];
                let is_there = read(load.start.0, &mut code) && hash_of(&code) == function.hash;
                function.compared.set(Some(Comparison {
                    round: at.round,
                    is_there,
                }));
                is_there
            }
        };
        if !is_there {
            return None;
        }
        let table = function.table.get_or_init(|| {
            let mut dump = self.dump.as_ref()?.borrow_mut();
            let place = FileOffset(load.start.0);
            let table =
                UnwindTable::from_jitdump(self.machine, &mut dump, load, place, &self.budget);
            table.ok().map(Box::new)
        });
        table.as_deref()
    }

    /// Whether `n_bytes` may still be compared with memory in a round: samples wait meanwhile.
    fn may_compare(&self, n_bytes: u64, round: u64) -> bool {
        let last = self.compared.get();
        let before = if last.round == round { last.n_bytes } else { 0 };
        self.compared.set(Compared {
            round,
            n_bytes: before + n_bytes,
        });
        before < MOST_COMPARED
    }
}

/// Bytes of code that are compared with what is in memory in a round.
const MOST_COMPARED: u64 = 4 << 20;

/// Whether a jitdump is of this process, is written by a trusted user, and has the recording's clock.
fn is_of(dump: &JitDump, living: LiveProcess) -> bool {
    let is_trusted = dump
        .owner()
        .is_some_and(|owner| is_trusted_owner(owner, Some(living)));
    let is_own = i32::try_from(dump.pid) == Ok(living.namespace_pid);
    is_trusted && is_own && !dump.has_arch_times
}

fn hash_of(code: &[u8]) -> u64 {
    FixedState::default().hash_one(code)
}

#[cfg(test)]
mod tests;
