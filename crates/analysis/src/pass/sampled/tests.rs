//! What is selected of samples in memory is what a profile that was loaded with that filter has.

use super::load_samples;
use crate::Error;
use crate::pass::group_by::GroupBy;
use crate::pass::load::{Options, load};
use crate::pass::tests::{questions, recordings};
use rprof_base::Share;
use rprof_perfdata::Reader;
use rprof_profile::view::{Rows, SortKey, Weighing};
use rprof_profile::{
    Dimension, EventProfile, Filter, FrameId, NameList, Profile, SampledProfile, TimeSlices,
};
use rprof_query::{Explorer, FlameChart, Focus, SampleSelection, StackFolding, heat_map, lanes};
use std::collections::BTreeMap;
use std::path::Path;

/// What a row counts: its samples, their weight, and that with what it called.
type Sums = (u64, u64, u64);

/// An event: its name, its samples, their weight, its rows, and its stacks.
#[derive(Debug, PartialEq)]
struct EventSums {
    name: String,
    all: (u64, u64),
    rows: BTreeMap<Vec<String>, Sums>,
    stacks: BTreeMap<Vec<String>, (u64, u64)>,
}

fn rows(profile: &Profile, event: &EventProfile, keys: &[SortKey]) -> BTreeMap<Vec<String>, Sums> {
    let mut rows: BTreeMap<Vec<String>, Sums> = BTreeMap::new();
    for row in Rows::new(profile, event, keys, Weighing::WithChildren).iter() {
        let cells = keys.iter().map(|key| key.cell(&row.key, profile));
        let sum = rows.entry(cells.collect()).or_default();
        sum.0 += row.self_samples;
        sum.1 += row.self_weight;
        sum.2 += row.total_weight;
    }
    rows
}

fn sums(profile: &Profile, event: &EventProfile) -> EventSums {
    let strings = &profile.strings;
    let mut stacks: BTreeMap<Vec<String>, (u64, u64)> = BTreeMap::new();
    let mut paths: Vec<Vec<String>> = Vec::new();
    for node in event.tree.nodes() {
        let comm = event.groups[node.group as usize].comm;
        let outer = node.parent.map(|parent| paths[parent as usize].clone());
        let mut path = outer.unwrap_or_else(|| vec![strings.of(comm).into_raw().to_owned()]);
        path.push(frame_name(profile, node.frame));
        if node.self_samples > 0 {
            let sum = stacks.entry(path.clone()).or_default();
            sum.0 += node.self_samples;
            sum.1 += node.self_weight;
        }
        paths.push(path);
    }
    EventSums {
        name: event.name.raw().to_owned(),
        all: (event.samples, event.weight),
        rows: rows(profile, event, SortKey::DEFAULT),
        stacks,
    }
}

fn frame_name(profile: &Profile, frame: FrameId) -> String {
    let frame = profile.frames.of(frame);
    let image = profile.strings.of(frame.image).into_raw();
    let symbol = frame.symbol(&profile.strings);
    format!("{symbol} {image} {:?} {}", frame.start, frame.is_inlined)
}

fn of_profile(profile: &Profile) -> Vec<EventSums> {
    let events = profile.events.iter();
    events.map(|event| sums(profile, event)).collect()
}

fn of_samples(explorer: &mut Explorer, selection: &SampleSelection) -> Vec<EventSums> {
    let events = 0..explorer.profile().events.len();
    let events = events.map(|event| {
        let selection = SampleSelection {
            event,
            ..selection.clone()
        };
        let folding = StackFolding::default();
        let event = explorer.select(&selection, &folding).unwrap();
        sums(explorer.profile(), &event)
    });
    events.collect()
}

/// All that a profile says beside its events.
fn beside_events(profile: &Profile) -> String {
    let losses: Vec<_> = profile.events.iter().map(|event| event.loss).collect();
    format!(
        "{losses:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        profile.about,
        profile.event_groups,
        profile.images.len(),
        profile.unnamed,
        profile.unwound,
        profile.gaps,
        profile.records,
        profile.warnings
    )
}

fn samples(reader: &Reader, options: &Options) -> Result<SampledProfile, Error> {
    load_samples(reader, options, &mut |_| {})
}

#[test]
fn all_samples_are_what_a_profile_has() {
    let mut n_compared = 0;
    for path in recordings() {
        let Ok(reader) = Reader::open(&path) else {
            continue;
        };
        let questions = questions().into_iter();
        let by_name = questions.filter(|(_, options)| options.group_by == Default::default());
        for (name, options) in by_name {
            let at = format!("{} {name}", path.display());
            match (
                load(&reader, &options, &mut |_| {}),
                samples(&reader, &options),
            ) {
                (Ok(profile), Ok(sampled)) => {
                    check_order(&sampled);
                    let mut explorer = Explorer::new(sampled);
                    let said = beside_events(explorer.profile());
                    assert_eq!(said, beside_events(&profile), "{at}");
                    let selected = of_samples(&mut explorer, &SampleSelection::default());
                    assert_eq!(selected, of_profile(&profile), "{at}");
                    n_compared += 1;
                }
                (Err(of_profile), Err(of_samples)) => {
                    assert_eq!(of_samples.to_string(), of_profile.to_string(), "{at}");
                }
                (profile, sampled) => panic!("{at}: {profile:?}, but {sampled:?}"),
            }
        }
    }
    assert!(n_compared > 50, "{n_compared}");
}

/// Samples are in order of time, and threads in that of their first samples.
fn check_order(sampled: &SampledProfile) {
    let times: Vec<u64> = sampled.samples.iter().map(|row| row.time_ns).collect();
    assert!(times.is_sorted());
    let mut n_seen = 0;
    for row in sampled.samples.iter() {
        assert!(row.thread <= n_seen);
        n_seen = n_seen.max(row.thread + 1);
        let thread = sampled.threads[row.thread as usize];
        assert!((thread.start_ns..=thread.end_ns).contains(&row.time_ns));
    }
    assert_eq!(n_seen as usize, sampled.threads.len());
}

/// Filters, and the same as selections of these samples.
fn filters(sampled: &SampledProfile) -> Vec<(&'static str, Filter, SampleSelection)> {
    let none = Filter::default;
    let all = SampleSelection::default;
    let strings = &sampled.profile.strings;
    let n_samples = sampled.samples.len();
    let mut filters = Vec::new();
    if n_samples == 0 {
        return filters;
    }
    let (first, middle) = (sampled.samples.row(0), sampled.samples.row(n_samples / 2));
    let thread = sampled.threads[middle.thread as usize];
    let comms = NameList::of([strings.of(thread.comm).into_raw()]);
    let name_of = |row: rprof_profile::SampleRow| {
        let node = sampled.stacks.nodes()[row.stack? as usize];
        let frame = sampled.profile.frames.of(node.frame);
        let image = strings.of(frame.image).into_raw();
        Some((frame.filter_name(strings)?.into_owned(), image.to_owned()))
    };
    filters.push((
        "comm",
        Filter {
            comms: comms.clone(),
            ..none()
        },
        SampleSelection { comms, ..all() },
    ));
    filters.push((
        "pid, tid",
        Filter {
            pids: vec![thread.pid, 1],
            tids: vec![thread.tid],
            ..none()
        },
        SampleSelection {
            pids: vec![thread.pid, 1],
            tids: vec![thread.tid],
            ..all()
        },
    ));
    if let Some((symbol, image)) = name_of(middle) {
        let (symbols, dsos) = (NameList::of([&*symbol]), NameList::of([&*image]));
        filters.push((
            "symbol",
            Filter {
                symbols: symbols.clone(),
                ..none()
            },
            SampleSelection { symbols, ..all() },
        ));
        filters.push((
            "dso",
            Filter {
                dsos: dsos.clone(),
                ..none()
            },
            SampleSelection { dsos, ..all() },
        ));
    }
    if let (true, Some(cpu)) = (
        sampled.samples.iter().all(|row| row.cpu.is_some()),
        first.cpu,
    ) {
        filters.push((
            "cpu",
            Filter {
                cpus: vec![cpu.into()],
                ..none()
            },
            SampleSelection {
                cpus: vec![cpu],
                ..all()
            },
        ));
    }
    if sampled.has_times {
        let text = |time: u64| format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000);
        let times = format!("{},{}", text(first.time_ns), text(middle.time_ns));
        filters.push((
            "time",
            Filter {
                times: Some(TimeSlices::parse(&times).unwrap()),
                ..none()
            },
            SampleSelection {
                times_ns: Some(first.time_ns..=middle.time_ns),
                ..all()
            },
        ));
    }
    filters
}

/// What is seen over time counts what the stacks of a profile do.
fn check_over_time(
    sampled: &SampledProfile,
    selection: &SampleSelection,
    expected: &EventSums,
    at: &str,
) {
    let all = sum_of(expected.stacks.values());
    let chart = FlameChart::of(sampled, selection, Share::default());
    assert_eq!(chart.layout.whole, all.1, "{at}");
    if let Some(lanes) = lanes(sampled, selection, 7) {
        let sums: Vec<(u64, u64)> = lanes
            .lanes
            .iter()
            .map(|lane| (lane.samples, lane.slots.iter().sum()))
            .collect();
        assert_eq!(sum_of(&sums), all, "{at}");
    }
    if let Some(map) = heat_map(sampled, selection, 50) {
        let samples = map.cells.iter().map(|&cell| u64::from(cell));
        assert_eq!(samples.sum::<u64>(), all.0, "{at}");
    }
}

/// Who called a function, and what it called, count what the stacks of a profile do that have it.
fn check_around(
    explorer: &mut Explorer,
    selection: &SampleSelection,
    expected: &EventSums,
    at: &str,
) {
    let nodes = explorer.sampled().stacks.nodes();
    let Some(frame) = nodes.get(nodes.len() / 2).map(|node| node.frame) else {
        return;
    };
    let profile = explorer.profile();
    let name = frame_name(profile, frame);
    let is_such = |(path, _): &(&Vec<String>, &(u64, u64))| path[1..].contains(&name);
    let with_it = expected.stacks.iter().filter(is_such).map(|(_, sum)| sum);
    let with_it = sum_of(with_it);
    for focus in [Focus::Above(frame), Focus::Below(frame)] {
        let selection = SampleSelection {
            focus: Some(focus),
            ..selection.clone()
        };
        let event = explorer.select(&selection, &StackFolding::default());
        let found = sums(explorer.profile(), &event.unwrap());
        assert_eq!(sum_of(found.stacks.values()), with_it, "{at} {focus:?}");
    }
}

fn sum_of<'s>(sums: impl IntoIterator<Item = &'s (u64, u64)>) -> (u64, u64) {
    let sums = sums.into_iter();
    sums.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
}

#[test]
fn a_selection_is_what_a_profile_with_that_filter_has() {
    let mut n_compared = 0;
    for path in recordings() {
        let Ok(reader) = Reader::open(&path) else {
            continue;
        };
        let Ok(sampled) = samples(&reader, &Options::default()) else {
            continue;
        };
        let filters = filters(&sampled);
        let mut explorer = Explorer::new(sampled);
        for (name, filter, selection) in filters {
            let options = Options {
                filter,
                ..Options::default()
            };
            let profile = match load(&reader, &options, &mut |_| {}) {
                Ok(profile) => profile,
                Err(Error::NotRecorded { .. }) => continue,
                Err(error) => panic!("{}: {error}", path.display()),
            };
            let selected = of_samples(&mut explorer, &selection);
            let at = format!("{} {name}", path.display());
            let expected = of_profile(&profile);
            assert_eq!(selected, expected, "{at}");
            for (event, expected) in expected.iter().enumerate() {
                let selection = SampleSelection {
                    event,
                    ..selection.clone()
                };
                check_over_time(explorer.sampled(), &selection, expected, &at);
                check_around(&mut explorer, &selection, expected, &at);
            }
            n_compared += 1;
        }
    }
    assert!(n_compared > 10, "{n_compared}");
}

#[test]
fn rows_by_process_thread_and_cpu_are_those_of_a_profile() {
    let dimensions = [
        Dimension::Pid,
        Dimension::Tid,
        Dimension::Cpu,
        Dimension::CommNoDigit,
    ];
    let mut n_compared = 0;
    for path in recordings() {
        let Ok(reader) = Reader::open(&path) else {
            continue;
        };
        let recorded = dimensions.iter().copied();
        let recorded = recorded.filter(|&one| GroupBy::is_recorded(&reader, one));
        let recorded: Vec<Dimension> = recorded.collect();
        let Ok(sampled) = samples(&reader, &Options::default()) else {
            continue;
        };
        let mut explorer = Explorer::new(sampled);
        let each = recorded.iter().map(|&one| vec![one]);
        for by in each.chain([recorded.clone()]) {
            let options = Options {
                group_by: GroupBy {
                    names: false,
                    ..GroupBy::of(&by)
                },
                ..Options::default()
            };
            let profile = load(&reader, &options, &mut |_| {}).unwrap();
            let keys = by.iter().map(|&one| SortKey::Dimension(one));
            let keys: Vec<SortKey> = keys.chain([SortKey::Symbol]).collect();
            for (number, event) in profile.events.iter().enumerate() {
                let selection = SampleSelection {
                    event: number,
                    by: by.clone(),
                    ..SampleSelection::default()
                };
                let folding = StackFolding::default();
                let selected = explorer.select(&selection, &folding).unwrap();
                let selected = rows(explorer.profile(), &selected, &keys);
                let at = format!("{} {by:?}", path.display());
                assert_eq!(selected, rows(&profile, event, &keys), "{at}");
                n_compared += 1;
            }
        }
    }
    assert!(n_compared > 20, "{n_compared}");
}

#[test]
fn samples_of_the_same_recording_are_the_same() {
    let reader = Reader::open(Path::new("../../fixtures/spin/perf.data")).unwrap();
    let one = || samples(&reader, &Options::default()).unwrap();
    assert_eq!(
        format!("{:?}", one().samples),
        format!("{:?}", one().samples)
    );
    assert_eq!(one().stacks.nodes(), one().stacks.nodes());
}
