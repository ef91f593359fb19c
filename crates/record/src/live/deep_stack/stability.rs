//! Which frames of a thread's stack cannot have changed: those outside of a return address that the CPU
//! watches (see [`super`]).

use super::read_remote::{PAGE, Pages, RemoteStackReader};
use super::truncated_stack::TruncatedStack;
use foldhash::HashMap;
use rprof_ringbuf::Watchpoint;
use rprof_unwind::{MemorySource, StackFrame};
use std::ops::Range;
use std::sync::Arc;

/// The watched return addresses of all threads, and what was read outside of them.
#[derive(Debug, Default)]
pub(super) struct FrameStability {
    threads: HashMap<i32, Thread>,
}

/// Threads that are watched: each has up to three open files.
const MAX_THREADS: usize = 32;

/// What is kept of all threads, bytes.
const MAX_BYTES: usize = 32 << 20;

#[derive(Debug)]
struct Thread {
    pid: i32,
    /// One for each [`Band`].
    watched: [Option<WatchedFrame>; Band::ALL.len()],
}

/// Part of a stack in which one return address is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Band {
    /// The dump's inner half. A frame there ends sooner, but is in dumps of deeper stacks, too.
    InnerHalf,
    /// All of the dump.
    Dump,
    /// What is after the dump. A frame there is in no dump, and lasts.
    AfterDump,
}

/// A frame whose return address is watched.
#[derive(Debug)]
struct WatchedFrame {
    /// Where the return address is.
    slot: u64,
    watchpoint: Watchpoint,
    observation: Arc<Observation>,
}

/// What a stack was like. Watchpoints that were set together share it.
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
    fn is_untouched(&self) -> bool {
        self.watchpoint.is_untouched().unwrap_or(false)
    }

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
            watched: [const { None }; Band::ALL.len()],
        }
    }

    /// Each once.
    fn observations(&self) -> impl Iterator<Item = &Observation> {
        let all = || {
            let watched = self.watched.iter().flatten();
            watched.map(|watched| &watched.observation)
        };
        let is_first = move |n: usize, one| !all().take(n).any(|other| Arc::ptr_eq(other, one));
        all()
            .enumerate()
            .filter(move |&(n, one)| is_first(n, one))
            .map(|(_, one)| &**one)
    }

    /// Watches what is best watched now; returns where watchpoints were set, by band.
    fn set_watchpoints(
        &mut self,
        truncated: TruncatedStack<'_>,
        frames: &[StackFrame],
    ) -> [Option<(u64, Watchpoint)>; Band::ALL.len()] {
        // A stack that has become a little deeper or less deep keeps its watchpoints.
        let drift = truncated.dump.len() as u64 / 4;
        let mut taken: Vec<u64> = Vec::with_capacity(Band::ALL.len());
        let mut set = [const { None }; Band::ALL.len()];
        let bands = Band::ALL.into_iter().zip(&mut self.watched).zip(&mut set);
        for ((band, watched), new) in bands {
            let best = band.best_slot(truncated, frames);
            let best = best.filter(|slot| !taken.contains(slot));
            taken.extend(best);
            let stays = watched.as_ref().is_some_and(|watched| {
                let is_after_dump = watched.slot >= truncated.dump_end();
                let is_good = is_after_dump == (band == Band::AfterDump)
                    && best.is_some_and(|best| watched.slot >= best.saturating_sub(drift));
                is_good && outermost(frames, watched.slot).is_some() && watched.is_untouched()
            });
            if !stays {
                *watched = None;
                *new = best.and_then(|slot| {
                    let watchpoint = Watchpoint::set(truncated.tid, slot);
                    Some((slot, watchpoint.ok()?))
                });
            }
        }
        set
    }
}

impl FrameStability {
    /// Whether all that lies after a stack's dump is known, further out or on the stack that a signal
    /// interrupted (what is within the watched return address is in the dump): `walk` goes through
    /// the stack with it, and says whether that led past that address and was complete.
    pub(super) fn is_complete(
        &self,
        truncated: TruncatedStack<'_>,
        mut walk: impl FnMut(&dyn MemorySource, u64) -> bool,
    ) -> bool {
        let dump = truncated.start..truncated.dump_end();
        self.watched_before(truncated).any(|watched| {
            dump.contains(&watched.slot)
                && watched.is_untouched()
                && walk(&*watched.observation, watched.slot)
        })
    }

    /// How many of the frames that a walk found after the dump are known to be the sample's: the
    /// outermost ones.
    pub(super) fn n_outermost(
        &self,
        truncated: TruncatedStack<'_>,
        frames: &[StackFrame],
    ) -> Option<usize> {
        let mut stable = self.watched_before(truncated).filter(|watched| {
            watched.slot >= truncated.dump_end()
                && outermost(frames, watched.slot) == Some(watched.outermost())
                && watched.is_untouched()
        });
        stable.next().map(|watched| watched.outermost().len())
    }

    /// Frames that were watched before a sample, the innermost first.
    fn watched_before(&self, truncated: TruncatedStack<'_>) -> impl Iterator<Item = &WatchedFrame> {
        let thread = self.threads.get(&truncated.tid);
        let thread = thread.filter(|thread| thread.pid == truncated.pid);
        let watched = thread.into_iter().flat_map(|thread| &thread.watched);
        watched
            .flatten()
            .filter(move |watched| watched.observation.at_ns <= truncated.time_ns)
    }

    /// Watches a stack from now on; its frames are those of a complete walk.
    pub(super) fn watch(
        &mut self,
        truncated: TruncatedStack<'_>,
        frames: &[StackFrame],
        reader: &mut RemoteStackReader,
    ) {
        let thread = self.threads.remove(&truncated.tid);
        let thread = thread.filter(|thread| thread.pid == truncated.pid);
        let mut thread = thread.unwrap_or_else(|| Thread::new(truncated.pid));
        let set = thread.set_watchpoints(truncated, frames);
        // What is read now counts: it is read after watchpoints were set.
        if let Some(innermost) = set.iter().flatten().map(|(slot, _)| *slot).min() {
            let pages = reader.read_again(innermost..truncated.dump_end());
            let observation = Arc::new(Observation {
                pages,
                frames: frames.to_vec(),
                at_ns: truncated.clock.now_ns(),
            });
            for (watched, new) in thread.watched.iter_mut().zip(set) {
                if let Some((slot, watchpoint)) = new {
                    *watched = Some(WatchedFrame {
                        slot,
                        watchpoint,
                        observation: Arc::clone(&observation),
                    });
                }
            }
        }
        if thread.watched.iter().any(Option::is_some) {
            self.make_room();
            self.threads.insert(truncated.tid, thread);
        }
    }

    /// A thread has ended: its number may become another's.
    pub(super) fn forget(&mut self, tid: i32) {
        self.threads.remove(&tid);
    }

    fn n_bytes(&self) -> usize {
        let observations = self.threads.values().flat_map(Thread::observations);
        observations.map(Observation::n_bytes).sum()
    }

    /// Forgets the threads that were observed longest ago, so that there is room for one.
    fn make_room(&mut self) {
        while self.threads.len() >= MAX_THREADS || self.n_bytes() > MAX_BYTES {
            let observed_ns = |thread: &Thread| thread.observations().map(|one| one.at_ns).max();
            let all = self.threads.iter();
            let oldest = all.min_by_key(|(tid, thread)| (observed_ns(thread), **tid));
            let Some(oldest) = oldest.map(|(&tid, _)| tid) else {
                return;
            };
            self.threads.remove(&oldest);
        }
    }
}

impl Band {
    /// The innermost first.
    const ALL: [Self; 3] = [Self::InnerHalf, Self::Dump, Self::AfterDump];

    /// The return address that is best watched: the outermost of those in the dump, the middle one of
    /// those after it.
    fn best_slot(self, truncated: TruncatedStack<'_>, frames: &[StackFrame]) -> Option<u64> {
        let slots = |range: Range<u64>| {
            let callers = frames.iter().skip(1).map(Some).chain([None]);
            // What a handler returns to was written by the kernel: a watchpoint does not see that.
            let by_calls = frames
                .iter()
                .zip(callers)
                .filter(|(_, caller)| caller.is_none_or(|caller| caller.is_return));
            let slots = by_calls.map(|(frame, _)| frame.slot);
            slots.filter(move |slot| range.contains(slot) && slot % 8 == 0)
        };
        let (start, end) = (truncated.start, truncated.dump_end());
        match self {
            Self::InnerHalf => slots(start..start.midpoint(end)).max(),
            Self::Dump => slots(start..end).max(),
            Self::AfterDump => {
                let after = || slots(end..u64::MAX);
                let middle = after().min()?.midpoint(after().max()?);
                after().filter(|&slot| slot >= middle).min()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_ringbuf::sys::Clock;

    #[test]
    fn the_outermost_return_address_of_each_band_is_watched() {
        let frame = |slot, is_return| StackFrame {
            avma: 1,
            sp: 0,
            slot,
            is_return,
        };
        let dump = [0; 0x100];
        let truncated = TruncatedStack {
            pid: 1,
            tid: 1,
            time_ns: 0,
            clock: Clock::Monotonic,
            start: 0x1000,
            dump: &dump,
        };
        let slots = [0, 0x1010, 0x1070, 0x1090, 0x10f4, 0x1200, 0x1300, 0x1500];
        let mut frames: Vec<_> = slots.map(|slot| frame(slot, true)).into();
        let best = |frames: &[StackFrame]| Band::ALL.map(|band| band.best_slot(truncated, frames));
        // One that is not aligned cannot be watched.
        assert_eq!(
            best(&frames),
            [Some(0x1070), Some(0x1090), Some(0x1500)],
            "the middle of the outer ones is at 0x1380"
        );
        // The frame at 0x1090 was interrupted by a signal: the kernel wrote where its handler returns to.
        frames[3].is_return = false;
        assert_eq!(best(&frames)[0], Some(0x1010));
        assert_eq!(best(&frames[..2]), [Some(0x1010), Some(0x1010), None]);
    }
}
