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
    /// Images whose unwind tables were read: the next may be on a slow disk.
    pub(crate) images_read: u64,
}

impl AddAssign for UnwindStatistics {
    fn add_assign(&mut self, other: Self) {
        self.walked += other.walked;
        self.truncated += other.truncated;
        self.large += other.large;
        self.images_read += other.images_read;
    }
}

/// How one pass over the rings went.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PassStatistics {
    /// How full the fullest sample ring was.
    pub(crate) fullest_ring_percent: u64,
    pub(crate) writer: WriterState,
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

/// The unwind tables of what runs have been read by then.
const FIRST_UNWIND_PLACE_HOLD: Duration = Duration::from_secs(1);

/// A ring fuller than this was drained too late.
const TOO_FULL_PERCENT: u64 = 50;

/// Decides after each pass.
#[derive(Debug)]
pub(crate) struct Control {
    began: Instant,
    /// `None` if the size is the user's choice.
    dump_size: Option<Hysteresis>,
    unwind_place: Hysteresis,
    /// Stacks in a row that small dumps hold.
    n_small_stacks: u64,
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
        let reads_deep_stacks = self
            .truncated_at
            .is_some_and(|at| now.duration_since(at) < TRUNCATION_LASTS);
        let is_too_much = pass.fullest_ring_percent > TOO_FULL_PERCENT
            || reads_deep_stacks
            || pass.unwinding.images_read > 0;
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
mod tests {
    use super::*;

    const CALM: PassStatistics = PassStatistics {
        fullest_ring_percent: 20,
        writer: WriterState::Idle,
        unwinding: UnwindStatistics {
            walked: ENOUGH_STACKS,
            truncated: 0,
            large: 0,
            images_read: 0,
        },
    };

    const FULL: PassStatistics = PassStatistics {
        fullest_ring_percent: 60,
        ..CALM
    };

    const BUSY: PassStatistics = PassStatistics {
        writer: WriterState::Busy,
        ..CALM
    };

    fn unwound(truncated: u64, large: u64, images_read: u64) -> PassStatistics {
        PassStatistics {
            unwinding: UnwindStatistics {
                walked: ENOUGH_STACKS,
                truncated,
                large,
                images_read,
            },
            ..CALM
        }
    }

    /// Decides at some moments, by milliseconds since the start.
    fn decisions<const N: usize>(
        control: impl FnOnce(Instant) -> Control,
        passes: [(u64, PassStatistics); N],
    ) -> [Decision; N] {
        let start = Instant::now();
        let mut control = control(start);
        passes.map(|(millis, pass)| control.decide(start + Duration::from_millis(millis), pass))
    }

    fn large_first(now: Instant) -> Control {
        Control::new(now, DumpSize::Large)
    }

    fn sizes<const N: usize>(passes: [(u64, PassStatistics); N]) -> [DumpSize; N] {
        decisions(large_first, passes).map(|decision| decision.dump_size)
    }

    fn places<const N: usize>(passes: [(u64, PassStatistics); N]) -> [UnwindPlace; N] {
        decisions(large_first, passes).map(|decision| decision.unwind_place)
    }

    #[test]
    fn dumps_are_large_until_stacks_fit_small_ones_and_again_when_one_is_truncated() {
        use DumpSize::{Large, Small};
        let (truncated, large) = (unwound(1, 0, 0), unwound(0, 1, 0));
        let expected = [Large, Large, Small, Small, Large, Large, Small];
        let passes = [
            (400, large),
            (800, CALM),
            (900, CALM),
            (5000, CALM),
            (5100, truncated),
            // Small ones are not trusted as fast as at first.
            (5700, CALM),
            (6200, CALM),
        ];
        assert_eq!(sizes(passes), expected);
    }

    #[test]
    fn what_was_dumped_before_the_switch_does_not_undo_it() {
        let passes = [(500, CALM), (510, unwound(0, 1, 0))];
        assert_eq!(sizes(passes), [DumpSize::Small; 2]);
    }

    #[test]
    fn dumps_that_are_small_at_first_grow_with_the_first_truncated_stack() {
        use DumpSize::{Large, Small};
        let small_first = |now| Control::new(now, Small);
        let (truncated, large) = (unwound(1, 0, 0), unwound(0, 1, 0));
        let passes = [
            (1, CALM),
            (2, large),
            (3, truncated),
            (4, large),
            (5000, CALM),
        ];
        let sizes = decisions(small_first, passes).map(|decision| decision.dump_size);
        assert_eq!(sizes, [Small, Small, Large, Large, Small]);
    }

    #[test]
    fn truncated_stacks_keep_dumps_large() {
        let passes = [(400, unwound(1, 0, 0)), (800, unwound(1, 0, 0))];
        assert_eq!(sizes(passes), [DumpSize::Large; 2]);
        assert_eq!(sizes([(499, CALM), (500, CALM)])[1], DumpSize::Small);
    }

    #[test]
    fn dumps_stay_large_until_enough_stacks_have_shown_how_deep_they_are() {
        let one = PassStatistics {
            unwinding: UnwindStatistics {
                walked: 1,
                ..UnwindStatistics::default()
            },
            ..CALM
        };
        let none = PassStatistics {
            unwinding: UnwindStatistics::default(),
            ..CALM
        };
        // On a busy machine the program has hardly run, and goes deep then.
        let passes = [(500, none), (900, one), (5000, none), (6000, CALM)];
        use DumpSize::{Large, Small};
        assert_eq!(sizes(passes), [Large, Large, Large, Small]);
    }

    #[test]
    fn a_size_that_the_user_asked_for_stays() {
        let all = decisions(
            Control::with_fixed_dump_size,
            [(500, unwound(1, 0, 0)), (70_000, CALM)],
        );
        for decision in all {
            assert_eq!(decision.dump_size, DumpSize::Large);
            assert_eq!(decision.poll_interval, POLL_INTERVAL);
        }
        // What does not fit is not read: nothing keeps it from being unwound at once.
        assert_eq!(all[1].unwind_place, UnwindPlace::DrainThread);
    }

    #[test]
    fn rings_are_polled_often_while_stacks_do_not_fit_large_dumps() {
        let truncated = unwound(1, 0, 0);
        let intervals = |passes| decisions(large_first, passes).map(|one| one.poll_interval);
        assert_eq!(
            intervals([(10, CALM), (420, truncated), (519, CALM), (520, CALM)]),
            [
                FIRST_POLL_INTERVAL,
                DEEP_STACK_POLL_INTERVAL,
                DEEP_STACK_POLL_INTERVAL,
                POLL_INTERVAL
            ]
        );
        // A small dump may have been too small: the next is large.
        let passes = [(500, CALM), (600, truncated), (604, truncated), (750, CALM)];
        assert_eq!(
            intervals(passes),
            [
                POLL_INTERVAL,
                POLL_INTERVAL,
                DEEP_STACK_POLL_INTERVAL,
                POLL_INTERVAL
            ]
        );
    }

    #[test]
    fn nothing_hurries_where_deep_stacks_stay_truncated() {
        let leaving = |now| large_first(now).leaving_deep_stacks();
        let all = decisions(leaving, [(600, unwound(1, 0, 0))]);
        assert_eq!(all[0].poll_interval, POLL_INTERVAL);
    }

    #[test]
    fn the_draining_thread_unwinds_while_it_keeps_up() {
        use UnwindPlace::{DrainThread, WriterThread};
        let passes = [
            (500, FULL),
            (1400, CALM),
            (1600, BUSY),
            (1700, CALM),
            (1800, BUSY),
            (1900, FULL),
            // It is not trusted as fast as at first.
            (3800, CALM),
            (4000, CALM),
        ];
        let expected = [
            WriterThread,
            WriterThread,
            WriterThread,
            DrainThread,
            DrainThread,
            WriterThread,
            WriterThread,
            DrainThread,
        ];
        assert_eq!(places(passes), expected);
    }

    #[test]
    fn deep_stacks_and_new_images_are_read_by_the_writer_thread() {
        use UnwindPlace::{DrainThread, WriterThread};
        // Truncated while dumps are small, and then while they are large.
        let truncated = unwound(1, 0, 0);
        let passes = [
            (1000, CALM),
            (1100, truncated),
            (1104, truncated),
            (1203, CALM),
            (3202, CALM),
            (3203, CALM),
        ];
        let expected = [
            DrainThread,
            DrainThread,
            WriterThread,
            WriterThread,
            WriterThread,
            DrainThread,
        ];
        assert_eq!(places(passes), expected);
        let reads = unwound(0, 0, 1);
        let passes = [
            (1000, CALM),
            (1100, reads),
            (1200, reads),
            (3199, CALM),
            (3200, CALM),
        ];
        let expected = [
            DrainThread,
            WriterThread,
            WriterThread,
            WriterThread,
            DrainThread,
        ];
        assert_eq!(places(passes), expected);
    }
}
