//! What a recording changes while it runs: the size of stack dumps, and where stacks are unwound.
//!
//! Both have a safe way and a cheap one. After every pass over the rings [`Control::decide`] takes the
//! safe way at once if it is needed, and the cheap one after a while without need.
//!
//! *Dump size.* The kernel fixes it when an event is opened. So there are two sets of events, with large
//! dumps and with small ones, and one set is on. Large dumps are safe, small ones leave more room in the
//! rings.
//!
//! *Unwind place.* The writer thread is safe: draining goes on meanwhile. The draining thread is cheap: it
//! unwinds right out of the rings, while waking another thread, and copying for it, costs more than the
//! unwinding itself.

use crate::hysteresis::{Hysteresis, Need, Way};
use std::ops::AddAssign;
use std::time::{Duration, Instant};

/// How much of each stack the kernel copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DumpSize {
    /// As much as can be asked for.
    #[default]
    Large,
    /// What most stacks need.
    Small,
}

/// How much is done for a stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum StackCare {
    /// It is unwound, and read beyond its dump.
    #[default]
    Full,
    /// It is unwound as far as its dump goes.
    DumpOnly,
    /// Nothing: the kernel has followed frame pointers, or nobody knows callers.
    None,
}

impl DumpSize {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Large => Self::Small,
            Self::Small => Self::Large,
        }
    }
}

/// The thread that unwinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnwindPlace {
    WriterThread,
    DrainThread,
}

/// What the writer thread did when a pass began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriterState {
    /// It had written everything that it was given.
    Idle,
    Busy,
}

/// What the unwinder counted since it was last asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnwindStatistics {
    /// Stacks that were unwound.
    pub(crate) walked: u64,
    /// Stacks that go on after the end of their dump.
    pub(crate) truncated: u64,
    /// Stacks that needed more than a small dump.
    pub(crate) large: u64,
    /// Stacks that needed more than half of a small dump.
    pub(crate) half_large: u64,
    /// Images whose unwind tables were read: the next may be on a slow disk.
    pub(crate) images_read: u64,
}

impl AddAssign for UnwindStatistics {
    fn add_assign(&mut self, other: Self) {
        self.walked += other.walked;
        self.truncated += other.truncated;
        self.large += other.large;
        self.half_large += other.half_large;
        self.images_read += other.images_read;
    }
}

/// How one pass over the rings went.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PassStatistics {
    /// How full the fullest sample ring was.
    pub(crate) fullest_ring_percent: u64,
    pub(crate) writer: WriterState,
    /// Whether rings last for a while that are half full.
    pub(crate) has_ample_rings: bool,
    /// Since the pass before.
    pub(crate) unwinding: UnwindStatistics,
}

/// What holds from one pass to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) dump_size: DumpSize,
    pub(crate) unwind_place: UnwindPlace,
    /// The longest time to the next pass.
    pub(crate) poll_interval: Duration,
    /// Whether that may be waited for although a ring wakes us, if enough of it is free.
    pub(crate) lets_rings_fill: bool,
}

/// A ring wakes us when a part of it is full; a quiet one is polled.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// What a large dump has no room for is read from the process, while it is still there. A stack is known from
/// the look after its first sample on, so there are few samples between looks.
const DEEP_STACK_POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Until programs have shown how deep their stacks are, a deep one is looked for this often.
const FIRST_POLL_INTERVAL: Duration = Duration::from_millis(2);

/// The last truncated stack is not the last for this long.
const TRUNCATION_LASTS: Duration = Duration::from_millis(100);

/// Programs show by then how deep their stacks are.
const FIRST_DUMP_SIZE_HOLD: Duration = Duration::from_millis(500);

/// And by so many stacks: on a busy machine a program may not have run by then.
const ENOUGH_STACKS: u64 = 50;

/// Small dumps that were not half full for this long will do for a while: no pass comes early to see whether they did.
const SHALLOW_LASTS: Duration = Duration::from_secs(1);

/// The unwind tables of what runs have been read by then.
const FIRST_UNWIND_PLACE_HOLD: Duration = Duration::from_secs(1);

/// A ring fuller than this was drained too late.
const TOO_FULL_PERCENT: u64 = 50;

/// The same where it was to be half full.
const TOO_FULL_PERCENT_FILLED: u64 = 75;

/// Decides after each pass.
#[derive(Debug)]
pub(crate) struct Control {
    began: Instant,
    /// `None` if the size is the user's choice.
    dump_size: Option<Hysteresis>,
    unwind_place: Hysteresis,
    /// Stacks in a row that small dumps hold.
    n_small_stacks: u64,
    /// Since when small dumps have not been half full.
    shallow_since: Instant,
    /// Rings were to fill before the next pass.
    lets_rings_fill: bool,
    /// When stacks were last truncated although dumps are large.
    truncated_at: Option<Instant>,
    /// Dumps are small, whatever stacks need.
    keeps_dumps_small: bool,
    /// What is deeper than a dump is not read.
    leaves_deep_stacks: bool,
}

impl Control {
    /// Dumps that are of this size at first, which the writer thread unwinds.
    pub(crate) fn new(now: Instant, first: DumpSize) -> Self {
        let way = match first {
            DumpSize::Large => Way::Safe,
            DumpSize::Small => Way::Cheap,
        };
        Self {
            dump_size: Some(Hysteresis::new(way, now, FIRST_DUMP_SIZE_HOLD)),
            ..Self::with_fixed_dump_size(now)
        }
    }

    /// The same where dumps stay as they are.
    pub(crate) fn with_fixed_dump_size(now: Instant) -> Self {
        Self {
            began: now,
            dump_size: None,
            unwind_place: Hysteresis::new(Way::Safe, now, FIRST_UNWIND_PLACE_HOLD),
            n_small_stacks: 0,
            shallow_since: now,
            lets_rings_fill: false,
            truncated_at: None,
            keeps_dumps_small: false,
            leaves_deep_stacks: false,
        }
    }

    /// The same where stacks that are deeper than their dumps stay truncated: there is no hurry.
    pub(crate) fn leaving_deep_stacks(self) -> Self {
        Self {
            leaves_deep_stacks: true,
            ..self
        }
    }

    /// Whether the size of dumps is decided here.
    pub(crate) fn has_dump_sizes(&self) -> bool {
        self.dump_size.is_some()
    }

    /// From now on dumps are small, whatever stacks need.
    pub(crate) fn keep_dumps_small(&mut self) {
        self.keeps_dumps_small = true;
        self.truncated_at = None;
    }

    /// Decides by the last pass what holds from now on.
    pub(crate) fn decide(&mut self, now: Instant, pass: PassStatistics) -> Decision {
        let dump_size = self.dump_size(now, pass.unwinding);
        let most_percent = if self.lets_rings_fill {
            TOO_FULL_PERCENT_FILLED
        } else {
            TOO_FULL_PERCENT
        };
        let is_too_full = pass.fullest_ring_percent > most_percent;
        let is_deep = pass.unwinding.half_large > 0 || pass.unwinding.truncated > 0;
        if is_too_full || is_deep || dump_size == DumpSize::Large {
            self.shallow_since = now;
        }
        let is_shallow = now.duration_since(self.shallow_since) >= SHALLOW_LASTS;
        self.lets_rings_fill = is_shallow && pass.has_ample_rings;
        let reads_deep_stacks = self
            .truncated_at
            .is_some_and(|at| now.duration_since(at) < TRUNCATION_LASTS);
        let is_too_much = is_too_full || reads_deep_stacks || pass.unwinding.images_read > 0;
        let need = match pass.writer {
            _ if is_too_much => Need::Safe,
            WriterState::Idle => Need::Cheap,
            // It has samples that come before.
            WriterState::Busy => Need::Unchanged,
        };
        Decision {
            dump_size,
            unwind_place: match self.unwind_place.next(now, need) {
                Way::Safe => UnwindPlace::WriterThread,
                Way::Cheap => UnwindPlace::DrainThread,
            },
            poll_interval: if reads_deep_stacks {
                DEEP_STACK_POLL_INTERVAL
            } else {
                self.calm_interval(now)
            },
            lets_rings_fill: self.lets_rings_fill,
        }
    }

    /// The longest time to the next pass while no stack is known to be deep.
    pub(crate) fn calm_interval(&self, now: Instant) -> Duration {
        let is_new = now.duration_since(self.began) < FIRST_DUMP_SIZE_HOLD;
        if is_new && self.has_dump_sizes() && !self.keeps_dumps_small {
            FIRST_POLL_INTERVAL
        } else {
            POLL_INTERVAL
        }
    }

    fn dump_size(&mut self, now: Instant, unwinding: UnwindStatistics) -> DumpSize {
        let Some(dump_size) = &mut self.dump_size else {
            return DumpSize::Large;
        };
        if self.keeps_dumps_small {
            return DumpSize::Small;
        }
        let need = match (dump_size.way(), unwinding) {
            (Way::Safe, UnwindStatistics { truncated: 1.., .. }) => {
                self.truncated_at = Some(now).filter(|_| !self.leaves_deep_stacks);
                Need::Safe
            }
            (Way::Safe, UnwindStatistics { large: 1.., .. })
            | (Way::Cheap, UnwindStatistics { truncated: 1.., .. }) => Need::Safe,
            _ => Need::Cheap,
        };
        self.n_small_stacks = match need {
            Need::Safe => 0,
            _ => self.n_small_stacks.saturating_add(unwinding.walked),
        };
        let need = match need {
            Need::Cheap if self.n_small_stacks < ENOUGH_STACKS => Need::Unchanged,
            need => need,
        };
        match dump_size.next(now, need) {
            Way::Safe => DumpSize::Large,
            Way::Cheap => DumpSize::Small,
        }
    }
}

#[cfg(test)]
mod tests;
