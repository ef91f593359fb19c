//! Which frames of a thread's stack cannot have changed: those outside of a return address that the CPU
//! watches (see [`super`]).

use super::aim::Aim;
use super::hit_budget::HitBudget;
use super::loan::{Borrower, Lender, Loan, Watched};
use super::read_remote::{PAGE, Pages, RemoteStackReader};
use super::truncated_stack::TruncatedStack;
use crate::settings::WatchpointUse;
use foldhash::HashMap;
use rprof_unwind::{MemorySource, StackFrame};

/// The watched return addresses of all threads, and what was read outside of them.
#[derive(Debug, Default)]
pub(super) struct FrameStability {
    threads: HashMap<i32, Thread>,
    lender: Lender,
    budget: HitBudget,
}

/// Threads that are watched: each has an open file.
const MAX_THREADS: usize = 32;

/// What is kept of all threads, bytes.
const MAX_BYTES: usize = 32 << 20;

#[derive(Debug)]
struct Thread {
    pid: i32,
    aim: Aim,
    watched: Option<WatchedFrame>,
}

/// A frame whose return address is watched.
#[derive(Debug)]
struct WatchedFrame {
    /// Where the return address is.
    slot: u64,
    loan: Loan,
    observation: Observation,
    /// Samples that have frames by it.
    n_proved: u32,
}

/// What a stack was like.
#[derive(Debug)]
struct Observation {
    /// When all had been read.
    at_ns: u64,
    pages: Pages,
    /// The frames, innermost first.
    frames: Vec<StackFrame>,
}

impl MemorySource for Observation {
    fn word(&self, avma: u64) -> Option<u64> {
        let into = avma % PAGE as u64;
        let page = self.pages.get(&(avma - into))?;
        let word = page.get(usize::try_from(into).ok()?..)?.first_chunk()?;
        Some(u64::from_le_bytes(*word))
    }
}

impl Observation {
    fn n_bytes(&self) -> usize {
        self.pages.len() * PAGE + self.frames.len() * size_of::<StackFrame>()
    }
}

impl WatchedFrame {
    /// The frame with the watched return address, and all further out.
    fn outermost(&self) -> &[StackFrame] {
        outermost(&self.observation.frames, self.slot).unwrap_or_default()
    }
}

/// The frames from the one on whose program counter was read at an address.
fn outermost(frames: &[StackFrame], slot: u64) -> Option<&[StackFrame]> {
    let first = frames.iter().position(|frame| frame.slot == slot)?;
    frames.get(first..)
}

impl Thread {
    fn new(pid: i32) -> Self {
        Self {
            pid,
            aim: Aim::default(),
            watched: None,
        }
    }

    /// Whether what is watched is as good as what would be watched now.
    fn is_well_watched(
        &self,
        truncated: TruncatedStack<'_>,
        frames: &[StackFrame],
        best: u64,
    ) -> bool {
        let dump = truncated.addresses();
        self.watched.as_ref().is_some_and(|watched| {
            let is_good = dump.contains(&watched.slot) || !dump.contains(&best);
            is_good
                && outermost(frames, watched.slot).is_some()
                && watched.loan.is_untouched_at(truncated.time_ns)
        })
    }
}

impl FrameStability {
    /// Whether all that lies after a stack's dump is known, further out or on the stack that a signal
    /// interrupted (what is within the watched return address is in the dump): `walk` goes through
    /// the stack with it, and says whether that led past that address and was complete.
    pub(super) fn is_complete(
        &mut self,
        truncated: TruncatedStack<'_>,
        mut walk: impl FnMut(&dyn MemorySource, u64) -> bool,
    ) -> bool {
        let Some(watched) = self.watched_before(truncated) else {
            return false;
        };
        let is_complete = truncated.addresses().contains(&watched.slot)
            && watched.loan.is_untouched_at(truncated.time_ns)
            && walk(&watched.observation, watched.slot);
        watched.n_proved += u32::from(is_complete);
        is_complete
    }

    /// How many of the frames that a walk found after the dump are known to be the sample's: the
    /// outermost ones.
    pub(super) fn n_outermost(
        &mut self,
        truncated: TruncatedStack<'_>,
        frames: &[StackFrame],
    ) -> Option<usize> {
        let watched = self.watched_before(truncated)?;
        let is_stable = watched.slot >= truncated.dump_end()
            && outermost(frames, watched.slot) == Some(watched.outermost())
            && watched.loan.is_untouched_at(truncated.time_ns);
        watched.n_proved += u32::from(is_stable);
        let n_outermost = is_stable.then_some(watched.outermost().len());
        let n_proved = watched.n_proved;
        if is_stable && let Some(thread) = self.threads.get_mut(&truncated.tid) {
            thread.aim.left_gaps(n_proved);
        }
        n_outermost
    }

    /// The frame that was watched before a sample.
    fn watched_before(&mut self, truncated: TruncatedStack<'_>) -> Option<&mut WatchedFrame> {
        let thread = self.threads.get_mut(&truncated.tid);
        let thread = thread.filter(|thread| thread.pid == truncated.pid)?;
        let watched = thread.watched.as_mut();
        watched.filter(|watched| watched.observation.at_ns <= truncated.time_ns)
    }

    /// Watches a stack from now on; its frames are those of a complete walk.
    pub(super) fn watch(
        &mut self,
        truncated: TruncatedStack<'_>,
        frames: &[StackFrame],
        reader: &mut RemoteStackReader,
    ) {
        let (pid, tid) = (truncated.pid, truncated.tid);
        let thread = self.threads.remove(&tid);
        let thread = thread.filter(|thread| thread.pid == pid);
        let mut thread = thread.unwrap_or_else(|| Thread::new(pid));
        let best = thread.aim.best_slot(truncated, frames);
        let is_kept = best.is_some_and(|best| thread.is_well_watched(truncated, frames, best));
        if !is_kept {
            if let Some(watched) = thread.watched.take()
                && watched.loan.look() == Watched::Hit
            {
                self.budget.spend_on_hit(tid);
                self.lender.count_hit();
                thread.aim.hit(watched.slot, watched.n_proved);
            }
            let best = thread.aim.best_slot(truncated, frames);
            thread.watched = best.and_then(|slot| self.watch_slot(truncated, slot, reader));
            if let Some(watched) = &mut thread.watched {
                watched.observation.frames = frames.to_vec();
            }
        }
        self.make_room();
        self.threads.insert(tid, thread);
    }

    /// Watches a return address, and reads what lies outside of it, as far as a walk led.
    fn watch_slot(
        &mut self,
        truncated: TruncatedStack<'_>,
        slot: u64,
        reader: &mut RemoteStackReader,
    ) -> Option<WatchedFrame> {
        let (pid, tid) = (truncated.pid, truncated.tid);
        if !self.budget.has_some(pid, tid) {
            return None;
        }
        let clock = truncated.clock;
        let loan = self.lender.lend(Borrower { pid, tid, clock }, slot)?;
        self.budget.spend_on_set(tid);
        // What is read now counts: it is read after the watchpoint was set.
        let pages = reader.read_again(slot..truncated.dump_end());
        Some(WatchedFrame {
            slot,
            loan,
            observation: Observation {
                pages,
                frames: Vec::new(),
                at_ns: clock.now_ns(),
            },
            n_proved: 0,
        })
    }

    /// A thread has ended: its number may become another's.
    pub(super) fn forget(&mut self, tid: i32) {
        self.threads.remove(&tid);
        self.budget.forget(tid);
    }

    /// How watchpoints were used.
    pub(super) fn watchpoints(&self) -> WatchpointUse {
        self.lender.counts()
    }

    fn observations(&self) -> impl Iterator<Item = &Observation> {
        let watched = self.threads.values().filter_map(|one| one.watched.as_ref());
        watched.map(|watched| &watched.observation)
    }

    fn n_bytes(&self) -> usize {
        self.observations().map(Observation::n_bytes).sum()
    }

    /// Forgets the threads that were observed longest ago, so that there is room for one.
    fn make_room(&mut self) {
        while self.threads.len() >= MAX_THREADS || self.n_bytes() > MAX_BYTES {
            let observed_ns =
                |thread: &Thread| thread.watched.as_ref().map(|one| one.observation.at_ns);
            let all = self.threads.iter();
            let oldest = all.min_by_key(|(tid, thread)| (observed_ns(thread), **tid));
            let Some(oldest) = oldest.map(|(&tid, _)| tid) else {
                return;
            };
            self.threads.remove(&oldest);
        }
    }
}
