//! A run counts what a profile does, in however many blocks.

use super::*;
use crate::pass::load::load;
use crate::pass::tests::{questions, recordings};
use rprof_profile::StrId;
use rprof_profile::TimeSlices;
use rprof_profile::run::RunRow;
use rprof_profile::view::{Rows, SortKey, Weighing};
use std::collections::BTreeMap;
use std::path::Path;

/// What a row counts: its samples, their weight, and that with what it called.
type Sums = (u64, u64, u64);

/// Sums of one event: of all samples, and of rows by what they are called.
type EventSums = ((u64, u64), BTreeMap<Vec<String>, Sums>);

fn keys(options: &Options) -> Vec<SortKey> {
    let names = options.group_by.names.then_some(SortKey::Comm);
    let dimensions = options.group_by.dimensions.iter();
    let dimensions = dimensions.map(|&one| SortKey::Dimension(one));
    let keys = names.into_iter().chain(dimensions);
    keys.chain([SortKey::Symbol]).collect()
}

fn of_profile(reader: &Reader, options: &Options) -> Result<Vec<EventSums>, Error> {
    let profile = load(reader, options, &mut |_| {})?;
    let weighing = if options.stacks && reader.has_call_chains() {
        Weighing::WithChildren
    } else {
        Weighing::Own
    };
    let keys = keys(options);
    let sums = profile.events.iter().map(|event| {
        let mut sums: BTreeMap<Vec<String>, Sums> = BTreeMap::new();
        for row in Rows::new(&profile, event, &keys, weighing).iter() {
            let cells = keys.iter().map(|key| key.cell(&row.key, &profile));
            let sum = sums.entry(cells.collect()).or_default();
            sum.0 += row.self_samples;
            sum.1 += row.self_weight;
            if weighing == Weighing::WithChildren {
                sum.2 += row.total_weight;
            }
        }
        ((event.samples, event.weight), sums)
    });
    Ok(sums.collect())
}

fn of_run(reader: &Reader, options: &Options, n_blocks: u32) -> Result<Vec<EventSums>, Error> {
    let run = load_run(reader, options, n_blocks, &mut |_| {})?;
    let added = |counts: &[SampleCount]| {
        let mut all = SampleCount::default();
        counts.iter().for_each(|&count| all.add(count));
        all
    };
    let sums = run.events.iter().map(|event| {
        let n_blocks = event.blocks.len();
        let of_blocks: Vec<SampleCount> = event.blocks.iter().map(|block| block.all).collect();
        assert_eq!(added(&of_blocks), event.all);
        let mut sums: BTreeMap<Vec<String>, Sums> = BTreeMap::new();
        for row in &event.rows {
            let (own, with_children) = (added(&row.own), added(&row.with_children));
            if own.samples == 0 && !event.has_stacks {
                continue;
            }
            assert_eq!(row.own.len(), n_blocks);
            let expected = if event.has_stacks { n_blocks } else { 0 };
            assert_eq!(row.with_children.len(), expected);
            let sum = sums.entry(cells(&run, event, row, options)).or_default();
            sum.0 += own.samples;
            sum.1 += own.weight;
            sum.2 += with_children.weight;
        }
        ((event.all.samples, event.all.weight), sums)
    });
    Ok(sums.collect())
}

fn cells(run: &Run, event: &RunEvent, row: &RunRow, options: &Options) -> Vec<String> {
    let group = event.groups[row.group as usize];
    let values = run.values.of(group.values);
    let comm = run.strings.of(group.comm);
    let names = options.group_by.names.then(|| comm.raw().to_owned());
    let dimensions = options.group_by.dimensions.iter().map(|&dimension| {
        let value = values.get(dimension);
        value.map_or(String::new(), |value| dimension.cell(value, &run.strings))
    });
    let symbol = run.frames.of(row.frame).symbol(&run.strings);
    let cells = names.into_iter().chain(dimensions);
    cells.chain([symbol]).collect()
}

#[test]
fn blocks_add_up_to_what_a_profile_has() {
    let mut n_compared = 0;
    for path in recordings() {
        let Ok(reader) = Reader::open(&path) else {
            continue;
        };
        for (name, options) in questions() {
            let at = format!("{} {name}", path.display());
            match (of_profile(&reader, &options), of_run(&reader, &options, 1)) {
                (Ok(profile), Ok(run)) => {
                    assert_eq!(run, profile, "{at}");
                    let many = of_run(&reader, &options, 7).unwrap();
                    assert_eq!(many, profile, "{at}");
                    n_compared += 1;
                }
                (Err(of_profile), Err(of_run)) => {
                    assert_eq!(of_run.to_string(), of_profile.to_string(), "{at}");
                }
                (profile, run) => panic!("{at}: {profile:?}, but {run:?}"),
            }
        }
    }
    assert!(n_compared > 50, "{n_compared}");
}

#[test]
fn blocks_follow_each_other_and_samples_are_in_several() {
    let reader = Reader::open(Path::new("../../fixtures/spin/perf.data")).unwrap();
    let run = load_run(&reader, &Options::default(), 5, &mut |_| {}).unwrap();
    let blocks = &run.events[0].blocks;
    assert_eq!(blocks.len(), 5);
    let len = |block: &rprof_profile::run::Block| block.end_ns - block.start_ns;
    assert!(
        blocks
            .windows(2)
            .all(|two| two[0].end_ns == two[1].start_ns)
    );
    assert!(blocks.iter().all(|block| len(block) == len(&blocks[0])));
    assert!(blocks[0].all.samples > 0 && blocks[4].all.samples > 0);
    let image = |name: &str| {
        let named = |(image, _): &&(StrId, _)| run.strings.of(*image).raw() == name;
        run.images.iter().find(named).cloned()
    };
    let (_, build_id) = image("spin").unwrap();
    assert!(build_id.is_some_and(|id| id.len() == 40));
    assert_eq!(image("no such image"), None);
}

#[test]
fn the_blocks_of_a_filter_are_within_its_times() {
    let reader = Reader::open(Path::new("../../fixtures/spin/perf.data")).unwrap();
    let blocks = |times: Option<&str>| {
        let mut options = Options::default();
        options.filter.times = times.map(|times| TimeSlices::parse(times).unwrap());
        let run = load_run(&reader, &options, 4, &mut |_| {}).unwrap();
        run.events[0].blocks.clone()
    };
    let (all, half) = (blocks(None), blocks(Some("0%-50%")));
    assert_eq!(half[0].start_ns, all[0].start_ns);
    assert!(half[3].end_ns < all[2].end_ns);
    assert!(half[3].all.samples > 0);
}
