//! What of a thread's stack cannot have changed.
//!
//! A call writes its return address. While that word is not written to, the frame within it is the
//! same one, and all further out is suspended. So a few return addresses of a thread are watched by
//! the CPU, and what lies outside of them is read after that. A sample that comes later, and whose copy
//! shows a frame with a watched return address that nobody has written to until then, has what
//! was read around it: whatever the program did in between, and however often.
//!
//! (A stack that moves between threads while it is deep, as coroutines' may, is watched in one of them;
//! goroutines are not completed for that.)

use super::rest::{CutStack, PAGE, Rest};
use foldhash::HashMap;
use rprof_ringbuf::Watchpoint;
use rprof_ringbuf::sys::Clock;
use rprof_unwind::{Beyond, StackFrame};
use std::ops::Range;
use std::sync::Arc;

/// What is known of threads.
#[derive(Debug, Default)]
pub(crate) struct Frozen {
    threads: HashMap<i32, Thread>,
}

/// Threads that are watched: each has up to three open files.
const MAX_THREADS: usize = 32;

/// What is kept of all threads, bytes.
const MAX_BYTES: usize = 32 << 20;

#[derive(Debug)]
struct Thread {
    pid: i32,
    watched: [Option<Watched>; BANDS],
}

impl Thread {
    fn new(pid: i32) -> Self {
        Self {
            pid,
            watched: [const { None }; BANDS],
        }
    }

    /// What was looked at, each once: return addresses that were set together share it.
    fn looks(&self) -> impl Iterator<Item = &Look> {
        let looks = || self.watched.iter().flatten().map(|watched| &watched.look);
        let is_first = move |n: usize, look| !looks().take(n).any(|other| Arc::ptr_eq(other, look));
        looks()
            .enumerate()
            .filter(move |&(n, look)| is_first(n, look))
            .map(|(_, look)| &**look)
    }
}

/// Return addresses that are watched in a stack. That in the middle of its copy lasts less long than that
/// at the end, but is in copies of deeper stacks, too; one further out is never in a copy, and lasts.
const BANDS: usize = 3;

/// A return address that is watched.
#[derive(Debug)]
struct Watched {
    slot: u64,
    watchpoint: Watchpoint,
    look: Arc<Look>,
}

/// What a stack was like.
#[derive(Debug)]
struct Look {
    /// When all had been read.
    at_ns: u64,
    pages: HashMap<u64, Box<[u8; PAGE]>>,
    /// The frames, innermost first.
    frames: Vec<StackFrame>,
}

impl Beyond for Look {
    fn word(&self, avma: u64) -> Option<u64> {
        let into = avma % PAGE as u64;
        let page = self.pages.get(&(avma - into))?;
        let word = page.get(usize::try_from(into).ok()?..)?.first_chunk()?;
        Some(u64::from_le_bytes(*word))
    }
}

impl Watched {
    fn is_untouched(&self) -> bool {
        self.watchpoint.is_untouched().unwrap_or(false)
    }

    /// The frames that call what has the watched return address, and further out.
    fn callers(&self) -> &[StackFrame] {
        callers(&self.look.frames, self.slot).unwrap_or_default()
    }
}

/// The frames from the one on whose program counter was read at an address.
fn callers(frames: &[StackFrame], slot: u64) -> Option<&[StackFrame]> {
    let first = frames.iter().position(|frame| frame.slot == slot)?;
    frames.get(first..)
}

impl Frozen {
    /// Whether all that lies outside of a stack's copy is known, further out or on the stack that a signal
    /// interrupted (what is within the watched return address is in the copy): `walk` goes through
    /// the stack with it, and says whether that led past that address to the root.
    pub(crate) fn is_whole(
        &self,
        cut: CutStack<'_>,
        mut walk: impl FnMut(&dyn Beyond, u64) -> bool,
    ) -> bool {
        let copy = cut.start..cut.copy_end();
        self.before(cut).any(|watched| {
            copy.contains(&watched.slot)
                && watched.is_untouched()
                && walk(&*watched.look, watched.slot)
        })
    }

    /// The outermost frames of those that a walk found, behind the copy, that are known to be a
    /// sample's.
    pub(crate) fn outermost(&self, cut: CutStack<'_>, frames: &[StackFrame]) -> Option<usize> {
        let mut known = self.before(cut).filter(|watched| {
            watched.slot >= cut.copy_end()
                && callers(frames, watched.slot) == Some(watched.callers())
                && watched.is_untouched()
        });
        known.next().map(|watched| watched.callers().len())
    }

    /// Return addresses that were watched before a sample, the innermost first.
    fn before(&self, cut: CutStack<'_>) -> impl Iterator<Item = &Watched> {
        let thread = self.threads.get(&cut.tid);
        let thread = thread.filter(|thread| thread.pid == cut.pid);
        let watched = thread.into_iter().flat_map(|thread| &thread.watched);
        watched
            .flatten()
            .filter(move |watched| watched.look.at_ns <= cut.time_ns)
    }

    /// Watches a stack from now on; its frames are those of a walk that ended at the root.
    pub(crate) fn watch(&mut self, cut: CutStack<'_>, frames: &[StackFrame], rest: &mut Rest) {
        let thread = self.threads.remove(&cut.tid);
        let thread = thread.filter(|thread| thread.pid == cut.pid);
        let mut thread = thread.unwrap_or_else(|| Thread::new(cut.pid));
        // A stack that has become a little deeper or shallower needs no others.
        let drift = cut.copy.len() as u64 / 4;
        let mut taken: Vec<u64> = Vec::with_capacity(BANDS);
        let mut set = [const { None }; BANDS];
        for (band, (watched, new)) in thread.watched.iter_mut().zip(&mut set).enumerate() {
            let best = best_slot(band, cut, frames).filter(|slot| !taken.contains(slot));
            taken.extend(best);
            let stays = watched.as_ref().is_some_and(|watched| {
                let is_behind = watched.slot >= cut.copy_end();
                let is_good = is_behind == (band == BANDS - 1)
                    && best.is_some_and(|best| watched.slot >= best.saturating_sub(drift));
                is_good && callers(frames, watched.slot).is_some() && watched.is_untouched()
            });
            if !stays {
                *watched = None;
                *new = best.and_then(|slot| Some((slot, Watchpoint::set(cut.tid, slot).ok()?)));
            }
        }
        if let Some(innermost) = set.iter().flatten().map(|(slot, _)| *slot).min() {
            let pages = rest.pages_again(innermost..cut.copy_end());
            let look = Arc::new(Look {
                pages,
                frames: frames.to_vec(),
                at_ns: Clock::Monotonic.now_ns(),
            });
            for (watched, new) in thread.watched.iter_mut().zip(set) {
                if let Some((slot, watchpoint)) = new {
                    *watched = Some(Watched {
                        slot,
                        watchpoint,
                        look: Arc::clone(&look),
                    });
                }
            }
        }
        if thread.watched.iter().any(Option::is_some) {
            self.make_room();
            self.threads.insert(cut.tid, thread);
        }
    }

    /// A thread has ended: its number may become another's.
    pub(crate) fn forget(&mut self, tid: i32) {
        self.threads.remove(&tid);
    }

    fn n_bytes(&self) -> usize {
        let looks = self.threads.values().flat_map(Thread::looks);
        let bytes =
            looks.map(|look| look.pages.len() * PAGE + look.frames.len() * size_of::<StackFrame>());
        bytes.sum()
    }

    /// Forgets the threads that were looked at longest ago, so that there is room for one.
    fn make_room(&mut self) {
        while self.threads.len() >= MAX_THREADS || self.n_bytes() > MAX_BYTES {
            let last_look = |thread: &Thread| thread.looks().map(|look| look.at_ns).max();
            let all = self.threads.iter();
            let oldest = all.min_by_key(|(tid, thread)| (last_look(thread), **tid));
            let Some(oldest) = oldest.map(|(&tid, _)| tid) else {
                return;
            };
            self.threads.remove(&oldest);
        }
    }
}

/// The return address of a band that is best watched: the outermost in a copy's inner half, the outermost
/// in all of it, the middle one of those behind it.
fn best_slot(band: usize, cut: CutStack<'_>, frames: &[StackFrame]) -> Option<u64> {
    let slots = |range: Range<u64>| {
        let callers = frames.iter().skip(1).map(Some).chain([None]);
        // What a handler returns to was written by the kernel, whose writing is not seen.
        let by_calls = frames
            .iter()
            .zip(callers)
            .filter(|(_, caller)| caller.is_none_or(|caller| caller.is_return));
        let slots = by_calls.map(|(frame, _)| frame.slot);
        slots.filter(move |slot| range.contains(slot) && slot % 8 == 0)
    };
    let (start, end) = (cut.start, cut.copy_end());
    match band {
        0 => slots(start..start.midpoint(end)).max(),
        1 => slots(start..end).max(),
        _ => {
            let behind = || slots(end..u64::MAX);
            let middle = behind().min()?.midpoint(behind().max()?);
            behind().filter(|&slot| slot >= middle).min()
        }
    }
}
