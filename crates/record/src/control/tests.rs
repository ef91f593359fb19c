//! What is decided, pass after pass.

use super::*;

const CALM: PassStatistics = PassStatistics {
    fullest_ring_percent: 20,
    writer: WriterState::Idle,
    has_ample_rings: false,
    unwinding: UnwindStatistics {
        walked: ENOUGH_STACKS,
        truncated: 0,
        large: 0,
        half_large: 0,
        images_read: 0,
    },
};

const FULL: PassStatistics = PassStatistics {
    fullest_ring_percent: 60,
    ..CALM
};

const AMPLE: PassStatistics = PassStatistics {
    has_ample_rings: true,
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
            half_large: 0,
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

#[test]
fn rings_may_fill_while_small_dumps_have_been_half_empty_for_a_second() {
    let half_large = PassStatistics {
        unwinding: UnwindStatistics {
            half_large: 1,
            ..AMPLE.unwinding
        },
        ..AMPLE
    };
    let filled = |fullest_ring_percent| PassStatistics {
        fullest_ring_percent,
        ..AMPLE
    };
    let passes = [
        (499, AMPLE),
        (500, AMPLE),
        (1498, AMPLE),
        (1499, AMPLE),
        (1700, half_large),
        (2699, AMPLE),
        (2700, AMPLE),
        // As full as it was to be, or too full.
        (3000, filled(75)),
        (3100, filled(76)),
        (4099, AMPLE),
        (4100, AMPLE),
    ];
    let expected = [
        false, false, false, true, false, false, true, true, false, false, true,
    ];
    let all = decisions(large_first, passes);
    assert_eq!(all.map(|decision| decision.lets_rings_fill), expected);
    let large = decisions(Control::with_fixed_dump_size, [(70_000, AMPLE)]);
    assert!(!large[0].lets_rings_fill);
    let scarce = decisions(large_first, [(500, CALM), (70_000, CALM)]);
    assert!(!scarce[1].lets_rings_fill);
}

#[test]
fn a_ring_that_was_to_be_half_full_is_no_reason_to_unwind_elsewhere() {
    let filled = |fullest_ring_percent| PassStatistics {
        fullest_ring_percent,
        ..AMPLE
    };
    let passes = [
        (500, AMPLE),
        (1600, AMPLE),
        (1900, filled(60)),
        (2200, filled(80)),
    ];
    use UnwindPlace::{DrainThread, WriterThread};
    let expected = [WriterThread, DrainThread, DrainThread, WriterThread];
    assert_eq!(places(passes), expected);
}
