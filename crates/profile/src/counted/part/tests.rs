//! Parts of counted stacks, made by hand.

use super::*;
use crate::testing;

/// Two events; a stack of three frames in one program, and one of another thread in a library.
fn whole() -> CountedStacks {
    let mut whole = CountedStacks::default();
    for (number, name) in (0u32..).zip(["main", "work", "hot", "other"]) {
        let frame = testing::frame(&mut whole.profile, name);
        let image = u32::from(name == "other");
        whole.code.locations.push(CodeLocation {
            image,
            address: number.into(),
            svma: None,
            function: None,
            frames: vec![CodeFrame { frame, line: None }],
        });
    }
    for path in ["prog", "lib"] {
        let name = whole.profile.strings.intern(path);
        whole.code.images.push(CodeImage {
            name,
            path: name,
            build_id: None,
            kind: CodeKind::Program,
            base: None,
        });
    }
    let comm = whole.profile.strings.intern("prog");
    for tid in [7, 8] {
        whole.threads.push(CountedThread { pid: 7, tid, comm });
    }
    whole.profile.events = vec![testing::event("cycles"), testing::event("faults")];
    let mut parent = None;
    for number in 0..3 {
        let frame = FrameId::from_number(number);
        parent = Some(whole.stacks.child(parent, 0, frame));
    }
    let other = whole.stacks.child(None, 0, FrameId::from_number(3));
    let counts = [
        (parent, 0, 0, (2, 20)),
        (parent, 0, 1, (1, 1)),
        (Some(other), 1, 0, (3, 30)),
        (None, 1, 0, (4, 40)),
    ];
    let counts = counts.map(|(stack, thread, event, (samples, weight))| StackCount {
        stack,
        thread,
        cpu: None,
        event,
        count: SampleCount { samples, weight },
    });
    whole.counts = counts.to_vec();
    whole
}

fn part_of(counts: &[StackCount], max_depth: usize) -> PartOf<'_> {
    PartOf {
        counts,
        max_depth,
        has_losses: true,
    }
}

/// Names of a stack's functions, innermost first.
fn names(part: &CountedStacks, one: &StackCount) -> Vec<String> {
    let nodes = part.stacks.path(one.stack);
    let locations = nodes.map(|node| part.code.of(node).unwrap());
    let frames = locations.map(|location| location.frames[0].frame);
    let profile = &part.profile;
    frames
        .map(|frame| profile.frames.label(frame, &profile.strings).into_raw())
        .collect()
}

#[test]
fn a_part_has_only_what_its_counts_lead_to() {
    let mut whole = whole();
    let counts = whole.of_event(0);
    assert_eq!(counts.len(), 3);
    whole.with_part(part_of(&counts[1..], 100), |part, cut| {
        assert_eq!(cut.samples, 0);
        assert_eq!((part.code.images.len(), part.code.locations.len()), (1, 1));
        assert_eq!(part.threads.len(), 1);
        assert_eq!(part.threads[0].tid, 8);
        let [event] = &part.profile.events[..] else {
            panic!("one event");
        };
        assert_eq!((event.samples, event.weight), (7, 70));
        assert_eq!(names(part, &part.counts[0]), ["other"]);
        assert_eq!(part.counts[1].stack, None);
    });
    assert_eq!(whole.profile.events.len(), 2);
    assert_eq!(whole.counts.len(), 4);
}

#[test]
fn longer_stacks_keep_their_innermost_frames() {
    let mut whole = whole();
    let counts = whole.of_event(0);
    for (max_depth, expected, n_cut) in [
        (3, &["hot", "work", "main"][..], 0),
        (2, &["hot", TRUNCATED], 2),
    ] {
        whole.with_part(part_of(&counts, max_depth), |part, cut| {
            assert_eq!(names(part, &part.counts[0]), expected);
            assert_eq!(cut.samples, n_cut);
            let samples = part.counts.iter().map(|one| one.count.samples);
            assert_eq!(samples.sum::<u64>(), 9);
        });
    }
}

/// Formats write one row for each place: of two, the second would replace the first.
#[test]
fn stacks_that_are_equal_once_they_are_cut_are_counted_as_one() {
    let mut whole = whole();
    // Below `other`, the same two innermost frames as below `main`.
    let other = whole.stacks.child(None, 0, FrameId::from_number(3));
    let work = whole.stacks.child(Some(other), 0, FrameId::from_number(1));
    let hot = whole.stacks.child(Some(work), 0, FrameId::from_number(2));
    for (thread, cpu) in [(0, None), (0, Some(1)), (1, None)] {
        whole.counts.push(StackCount {
            stack: Some(hot),
            thread,
            cpu,
            event: 0,
            count: SampleCount {
                samples: 5,
                weight: 50,
            },
        });
    }
    let counts = whole.of_event(0);
    whole.with_part(part_of(&counts, 2), |part, cut| {
        let rows = part.counts.iter().map(|one| {
            let SampleCount { samples, weight } = one.count;
            (names(part, one), one.thread, one.cpu, samples, weight)
        });
        let hot = || vec!["hot".to_owned(), TRUNCATED.to_owned()];
        let expected = [
            (hot(), 0, None, 7, 70),
            (vec!["other".to_owned()], 1, None, 3, 30),
            (vec![], 1, None, 4, 40),
            (hot(), 0, Some(1), 5, 50),
            (hot(), 1, None, 5, 50),
        ];
        assert_eq!(rows.collect::<Vec<_>>(), expected);
        assert_eq!(cut.samples, 17);
    });
}

#[test]
fn losses_are_of_one_part() {
    let mut whole = whole();
    whole.profile.events[0].loss.samples = 5;
    let counts = whole.of_event(0);
    for (has_losses, lost) in [(true, 5), (false, 0)] {
        let of = PartOf {
            has_losses,
            ..part_of(&counts, 9)
        };
        whole.with_part(of, |part, _| {
            assert_eq!(part.profile.events[0].loss.samples, lost);
        });
    }
}

#[test]
fn threads_of_a_name_and_their_cpus_can_be_one() {
    let mut whole = whole();
    let comm = whole.profile.strings.intern("other");
    whole.threads.push(CountedThread {
        pid: 9,
        tid: 9,
        comm,
    });
    let first = whole.counts[0];
    for (thread, cpu) in [(0, Some(3)), (1, None), (2, None), (7, None)] {
        whole.counts.push(StackCount {
            thread,
            cpu,
            ..first
        });
    }
    let counts = whole.of_event_by_comm(0).into_iter();
    let counts: Vec<_> = counts
        .map(|one| (one.stack, one.thread, one.cpu, one.count.samples))
        .collect();
    let hot = first.stack;
    let expected = [
        (hot, 0, None, 6),
        (whole.counts[2].stack, 0, None, 3),
        (None, 0, None, 4),
        (hot, 2, None, 2),
        // Nothing is known of this thread.
        (hot, 7, None, 2),
    ];
    assert_eq!(counts, expected);
}
