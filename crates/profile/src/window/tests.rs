//! Facts about windows: what is in one is what its last parts have, whatever was in it before.

use super::*;
use crate::testing;
use crate::{EndedStacks, Gap, SampleRow, SampleTable};
use proptest::prelude::*;
use rprof_base::StackEnd;

type Taken = (u64, &'static str, &'static str, u64);

const COMMS: [&str; 3] = ["worker", "other", "third"];
const STACKS: [&str; 5] = ["", "main", "main;parse", "main;parse;read", "start;wait"];

/// A sample in words.
fn rows(sampled: &SampledProfile) -> Vec<(u64, String, i32, String, Vec<String>, u64)> {
    let SampledProfile {
        profile,
        stacks,
        threads,
        groups,
        ..
    } = sampled;
    let text = |id| profile.strings.of(id).into_raw().to_owned();
    let rows = sampled.samples.iter().map(|row| {
        let thread = threads[row.thread as usize];
        let mut frames = Vec::new();
        let mut at = row.stack;
        while let Some(node) = at.map(|node| stacks.nodes()[node as usize]) {
            let label = profile.frames.label(node.frame, &profile.strings);
            frames.push(format!(
                "{}/{}",
                text(groups[node.group as usize].comm),
                label.raw()
            ));
            at = node.parent;
        }
        let event = profile.events[usize::from(row.event)].name.raw().to_owned();
        (
            row.time_ns,
            event,
            thread.pid,
            text(thread.comm),
            frames,
            row.weight,
        )
    });
    rows.collect()
}

/// Samples with ascending times; threads keep their ids whatever part they are in.
fn sampled(samples: &[Taken]) -> SampledProfile {
    let mut sampled = testing::sampled(samples);
    let strings = &sampled.profile.strings;
    for thread in &mut sampled.threads {
        let comm = strings.of(thread.comm).into_raw();
        let nth = COMMS.iter().position(|one| *one == comm).unwrap_or(0);
        thread.pid = i32::try_from(nth).unwrap() + 10;
        thread.tid = thread.pid;
    }
    sampled
}

fn totals(sampled: &SampledProfile) -> Vec<(u64, u64)> {
    let events = sampled.profile.events.iter();
    events.map(|event| (event.samples, event.weight)).collect()
}

fn taken() -> impl Strategy<Value = Vec<Taken>> {
    let one = (0u64..3, 0..COMMS.len(), 0..STACKS.len(), 1u64..4);
    prop::collection::vec(one, 1..60).prop_map(|all| {
        let mut now = 5;
        let sample = |(later, comm, stack, weight): (u64, usize, usize, u64)| {
            now += later;
            (now, COMMS[comm], STACKS[stack], weight)
        };
        all.into_iter().map(sample).collect()
    })
}

proptest! {
    #[test]
    fn appending_parts_equals_loading_the_last_ones_at_once(
        all in taken(),
        sizes in prop::collection::vec(1usize..12, 1..20),
        most_parts in 1usize..6,
    ) {
        let mut window = SampleWindow::new(most_parts, usize::MAX);
        let mut ends = vec![0];
        let mut sizes = sizes.into_iter().cycle();
        while let Some(&start) = ends.last().filter(|&&end| end < all.len()) {
            let end = all.len().min(start + sizes.next().unwrap_or(1));
            window.append(&sampled(&all[start..end]));
            ends.push(end);
            let first = ends[ends.len().saturating_sub(most_parts + 1)];
            let whole = sampled(&all[first..end]);
            prop_assert_eq!(rows(window.sampled()), rows(&whole));
            prop_assert_eq!(totals(window.sampled()), totals(&whole));
        }
    }

    #[test]
    fn what_is_forgotten_is_not_used(all in taken(), most in 1usize..40) {
        let mut window = SampleWindow::new(100, most);
        let half = all.len() / 2;
        window.append(&sampled(&all[..half]));
        window.append(&sampled(&all[half..]));
        let before = rows(window.sampled());
        let kept = sampled(&all[all.len().saturating_sub(most)..]);
        prop_assert_eq!(&before, &rows(&kept));
        prop_assert_eq!(window.left_out(), (all.len() - before.len()) as u64);
        let mut used = SampleRows::default();
        used.add(window.sampled());
        prop_assert_eq!(&rows(&used.sampled), &before);
        let n_nodes = used.sampled.stacks.nodes().len();
        prop_assert!(n_nodes <= window.sampled().stacks.nodes().len());
    }
}

#[test]
fn samples_of_one_moment_are_put_in_order_where_parts_overlap() {
    let mut window = SampleWindow::new(9, 99);
    window.append(&sampled(&[
        (1, "worker", "main", 1),
        (7, "worker", "main", 1),
    ]));
    window.append(&sampled(&[
        (5, "other", "wait", 1),
        (9, "other", "wait", 1),
    ]));
    let times: Vec<u64> = window
        .sampled()
        .samples
        .iter()
        .map(|row| row.time_ns)
        .collect();
    assert_eq!(times, [1, 5, 7, 9]);
}

#[test]
fn losses_fall_out_with_their_part() {
    let with_loss = |time, lost| {
        let mut part = sampled(&[(time, "worker", "main", 1)]);
        part.profile.events[0].loss = Loss {
            samples: lost,
            at_least: false,
        };
        part
    };
    let mut window = SampleWindow::new(2, 99);
    let lost: Vec<u64> = [(1, 5), (2, 0), (3, 2), (4, 0)]
        .into_iter()
        .map(|(time, lost)| {
            window.append(&with_loss(time, lost));
            window.sampled().profile.events[0].loss.samples
        })
        .collect();
    assert_eq!(lost, [5, 5, 2, 2]);
}

#[test]
fn an_empty_part_lets_the_oldest_fall_out() {
    let mut window = SampleWindow::new(1, 99);
    window.append(&sampled(&[(1, "worker", "main", 1)]));
    window.append(&sampled(&[]));
    assert_eq!(totals(window.sampled()), [(0, 0)]);
    assert!(window.sampled().samples.is_empty());
}

#[test]
fn names_and_stacks_that_nobody_uses_do_not_pile_up() {
    let mut window = SampleWindow::new(2, 999);
    let mut most = 0;
    for part in 0..300u64 {
        let names: Vec<String> = (0..100).map(|nth| format!("f{part}_{nth}")).collect();
        let samples: Vec<_> = names
            .iter()
            .map(|name| (part, "worker", name.as_str(), 1))
            .collect();
        window.append(&testing::sampled(&samples));
        most = most.max(window.sampled().stacks.nodes().len());
    }
    assert!(most <= 2 * SampleWindow::FEW_ENTRIES, "{most}");
    assert_eq!(window.sampled().samples.len(), 200);
}

/// Parts of programs that run once, each of another name, in threads with ids of their own.
fn of_short_programs(part: u64) -> SampledProfile {
    let names: Vec<String> = (0..100).map(|nth| format!("prog{part}_{nth}")).collect();
    let samples: Vec<_> = names
        .iter()
        .map(|name| (part, "worker", name.as_str(), 1))
        .collect();
    let mut sampled = testing::sampled(&samples);
    let threads = (0..100).map(|nth| crate::Thread {
        tid: i32::try_from(part * 100 + nth).unwrap(),
        ..sampled.threads[0]
    });
    sampled.threads = threads.collect();
    let rows: Vec<SampleRow> = (0..)
        .zip(sampled.samples.iter())
        .map(|(thread, row)| SampleRow { thread, ..row })
        .collect();
    sampled.samples = SampleTable::default();
    rows.into_iter().for_each(|row| sampled.samples.push(row));
    sampled.profile.unnamed = names
        .iter()
        .map(|path| UnnamedImage {
            path: path.clone(),
            weight: 1,
            reason: "gone".to_owned(),
            hint: None,
        })
        .collect();
    let ends = names.iter().map(|image| EndedStacks {
        end: StackEnd::NoInfo,
        image: Some(image.clone()),
        samples: 1,
    });
    sampled.profile.unwound = Unwound::of(ends);
    let second = (
        part,
        Gap {
            lost: 1,
            ..Gap::default()
        },
    );
    sampled.profile.gaps.seconds = vec![second];
    sampled
}

#[test]
fn after_all_programs_have_left_the_window_holds_what_it_held_before() {
    let stays = |time| sampled(&[(time, "worker", "main;parse", 1)]);
    let held = |window: &SampleWindow| {
        let mut used = SampleRows::default();
        used.add(window.sampled());
        let parts: Vec<_> = window
            .parts
            .iter()
            .map(|part| {
                (
                    part.unnamed.len(),
                    part.unwound.ends.len(),
                    part.gaps.seconds.len(),
                    part.losses.len(),
                )
            })
            .collect();
        (used.n_entries(), parts, rows(window.sampled()).len())
    };
    let mut window = SampleWindow::new(5, 1000);
    (0..10).for_each(|time| window.append(&stays(time)));
    let before = held(&window);
    for part in 10..1000 {
        window.append(&of_short_programs(part));
        assert!(window.joined.n_entries() <= 2 * SampleWindow::FEW_ENTRIES + 1000);
    }
    (1000..1010).for_each(|time| window.append(&stays(time)));
    assert_eq!(held(&window), before);
}

#[test]
fn what_is_said_of_parts_that_never_fall_out_is_their_sum_and_bounded() {
    let mut window = SampleWindow::new(usize::MAX, 1000);
    for part in 0..500u64 {
        let mut next = of_short_programs(part);
        next.profile.events[0].loss = Loss {
            samples: 2,
            at_least: false,
        };
        window.append(&next);
    }
    let profile = &window.sampled().profile;
    assert_eq!(profile.events[0].loss.samples, 1000);
    assert_eq!(profile.unwound.samples(), 50_000);
    assert_eq!(window.left_out(), 49_000);
    assert_eq!(window.sampled().samples.len(), 1000);
    assert_eq!(window.parts.len(), 1);
    let most = SampleWindow::MOST_TOLD_APART;
    assert!(profile.unnamed.len() <= most && profile.unwound.ends.len() <= most);
    let lost = profile.gaps.seconds.iter().map(|(_, gap)| gap.lost);
    assert_eq!(lost.sum::<u64>(), 500);
}
