//! However many stacks have room, the same is counted.

use super::*;
use crate::index::SampleOrder;
use crate::pass::block_log::BlockLog;
use crate::pass::blocks::Blocks;
use crate::pass::light_rows::count_light_rows;
use crate::pass::load::count_stacks;
use crate::pass::query::WantedFrames;
use crate::pass::{GroupBy, Grouping};
use crate::recording::Recording;
use crate::stacks::First;
use rprof_abi::record::{FileIdentity, Inode, Mmap2};
use rprof_abi::{
    AttrFlags, Callchain, Endian, Misc, PerfEventAttr, Record, Sample, SampleId, SampleLayout,
    SampleType, context,
};
use rprof_locate::Locator;
use rprof_perfdata::{Reader, Writer, WrittenEvent};
use rprof_profile::{Dimension, Filter, Tree};
use rprof_symbols::Request;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path as FilePath;

const SAMPLES: u64 = 9_000;
const N_BLOCKS: usize = 5;
const PID: i32 = 1 << 23;

/// Addresses between mapped files.
const STEP: u64 = 0x10_0000;

/// A recording of some chunks. Each stack comes three times, far from each other.
fn record(path: &FilePath) {
    let bits = [
        SampleType::IDENTIFIER,
        SampleType::IP,
        SampleType::TID,
        SampleType::TIME,
        SampleType::CALLCHAIN,
        SampleType::PERIOD,
    ];
    let attr = PerfEventAttr {
        sample_type: bits
            .into_iter()
            .fold(SampleType::default(), SampleType::with),
        flags: AttrFlags::SAMPLE_ID_ALL,
        ..PerfEventAttr::default()
    };
    let layout = SampleLayout::new(&attr, Endian::NATIVE);
    let mut records = Vec::new();
    let mut add = |record: Record<'_>| {
        let id = SampleId {
            id: Some(1),
            pid: Some(PID),
            tid: Some(PID),
            ..SampleId::default()
        };
        let encoded = record.encode(Misc::USER, &id, &layout, &mut records);
        encoded.unwrap();
    };
    for (addr, filename) in [(STEP, b"/no/such/a"), (2 * STEP, b"/no/such/b")] {
        add(Record::Mmap2(Mmap2 {
            pid: PID,
            tid: PID,
            addr,
            len: STEP,
            pgoff: 0,
            identity: FileIdentity::Inode(Inode::default()),
            prot: 5,
            flags: 2,
            filename,
        }));
    }
    for number in 0..SAMPLES {
        let stack = number % (SAMPLES / 3);
        let image = |bit: u64| STEP * (1 + (stack >> bit & 1));
        let entries = (0..40).map(|depth| image(depth % 12) + 16 * depth);
        let chain: Vec<u64> = [context::USER].into_iter().chain(entries).collect();
        let chain: Vec<u8> = chain.iter().flat_map(|entry| entry.to_ne_bytes()).collect();
        add(Record::Sample(Box::new(Sample {
            id: Some(1),
            ip: Some(image(0)),
            pid: Some(PID),
            tid: Some(PID),
            // Nearly in order.
            time_ns: Some(number ^ 7),
            period: Some(1 + number),
            callchain: Some(Callchain::from_encoded(&chain, Endian::NATIVE)),
            ..Sample::default()
        })));
    }
    let event = WrittenEvent {
        name: "cycles".to_owned(),
        attr,
        ids: vec![1],
    };
    let file = File::create(path).unwrap();
    let mut writer = Writer::start(file, path, &[event], Vec::new()).unwrap();
    writer.write(&records).unwrap();
    writer.finish(Vec::new()).unwrap();
}

/// A stack, its samples and their weight, and both by block.
type CountedByBlock = (String, u64, u64, [SampleCount; N_BLOCKS]);

/// Every stack of a tree with its samples, sorted.
fn stacks(tree: &Tree, symbols: &Symbols, blocks: &[Vec<SampleCount>]) -> Vec<CountedByBlock> {
    let nodes = tree.nodes();
    let counted = nodes.iter().enumerate();
    let counted = counted.filter(|(_, node)| node.self_samples > 0);
    let stacks = counted.map(|(number, node)| {
        let path = std::iter::successors(Some(node), |node| nodes.get(node.parent? as usize));
        let image = |frame| symbols.strings.of(symbols.functions.of(frame).image);
        let names = path.map(|node| image(node.frame).into_raw().to_owned());
        let counts: Vec<SampleCount> = blocks.iter().map(|nodes| nodes[number]).collect();
        let counts = counts.try_into().unwrap();
        (names.collect(), node.self_samples, node.self_weight, counts)
    });
    let mut stacks: Vec<CountedByBlock> = stacks.collect();
    stacks.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    stacks
}

#[test]
fn the_same_is_counted_however_many_stacks_have_room() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("perf.data");
    record(&path);
    let reader = Reader::open(&path).unwrap();
    let (locator, filter) = (Locator::default(), Filter::default());
    let recording = Recording::open(&reader, &locator, SampleOrder::Any).unwrap();
    let mut query = Query::of(&recording, &filter, WantedFrames::All, First::Own).unwrap();
    query.blocks = Blocks::of(&[0..=SAMPLES], 5).unwrap();
    let grouping = Grouping::of(&recording, &GroupBy::default()).unwrap();
    let n_chunks = recording.index.chunks.len();
    assert!(n_chunks > 3, "{n_chunks}");
    let left = |room| {
        let pass: StacksPass<'_, BlockLog> = StacksPass::new(&query, &grouping, room);
        pass.find(&mut |_| {}).unwrap().left.len()
    };
    let counted = |room| {
        let request = Request::default();
        let counted = count_stacks(&query, &grouping, request, room, &mut |_| {});
        let (symbols, mut counts) = counted.unwrap();
        let event = counts.tallies.pop().unwrap().into_parts();
        let blocks = counts.blocks.pop().unwrap();
        let of_block = |block| {
            let mut nodes = vec![SampleCount::default(); event.tree.nodes().len()];
            blocks.add_to(block, &mut nodes);
            for logged in &counts.logs {
                logged.add_to(0, block, &mut nodes);
            }
            nodes
        };
        let nodes: Vec<_> = (0..N_BLOCKS).map(of_block).collect();
        let sums = (event.samples, event.weight, blocks.totals.clone());
        (sums, stacks(&event.tree, &symbols, &nodes))
    };
    assert_eq!((left(0), left(ROOM)), (n_chunks, 0));
    let (sums, all) = counted(ROOM);
    let (samples, weight, totals) = &sums;
    assert_eq!((*samples, *weight), (SAMPLES, SAMPLES * (SAMPLES + 1) / 2));
    let of_blocks = totals.iter().map(|total| total.samples);
    assert_eq!(of_blocks.sum::<u64>(), SAMPLES);
    assert_eq!(all.len() as u64, SAMPLES / 3);
    for (_, samples, weight, blocks) in &all {
        assert_eq!(*samples, 3);
        assert_eq!(blocks.iter().map(|block| block.samples).sum::<u64>(), 3);
        assert_eq!(
            blocks.iter().map(|block| block.weight).sum::<u64>(),
            *weight
        );
    }
    // A byte for each thread: one chunk.
    for room in [0, rprof_base::parallel::n_cpus(), 300_000] {
        assert_eq!(counted(room), (sums.clone(), all.clone()), "{room}");
    }
}

/// What each group of an event counted, and how many nodes its tree has.
fn by_group(mut counts: Counts) -> (BTreeMap<String, SampleCount>, usize) {
    let tally = counts.tallies.pop().unwrap();
    let mut sums: BTreeMap<String, SampleCount> = BTreeMap::new();
    for node in tally.tree().nodes() {
        let group = format!("{:?}", tally.group_of(node.group).unwrap());
        sums.entry(group).or_default().add(node.own());
    }
    assert_eq!(tally.samples(), SAMPLES);
    (sums, tally.tree().nodes().len())
}

#[test]
fn groups_count_the_same_without_functions() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("perf.data");
    record(&path);
    let reader = Reader::open(&path).unwrap();
    let (locator, filter) = (Locator::default(), Filter::default());
    let recording = Recording::open(&reader, &locator, SampleOrder::Any).unwrap();
    let query = Query::of(&recording, &filter, WantedFrames::All, First::Own).unwrap();
    let group_by = GroupBy {
        time_quantum_ns: 100,
        ..GroupBy::of(&[Dimension::Time])
    };
    let grouping = Grouping::of(&recording, &group_by).unwrap();
    let grouping = grouping.with_sizes_of_frames(&query);
    let request = Request::default();
    let all = count_stacks(&query, &grouping, request, ROOM, &mut |_| {});
    let (symbols, all) = all.unwrap();
    let (expected, n_nodes) = by_group(all);
    assert!(n_nodes > 2 * expected.len(), "{n_nodes}");

    // The heaviest tenth of a microsecond has some 2.2 % of the weight.
    let counted = |percent| {
        let request = Request::default();
        count_light_rows(&query, &grouping, request, percent, &mut |_| {}).unwrap()
    };
    assert!(counted(2.0).is_none());
    for percent in [2.5, f64::INFINITY] {
        let (light, counts) = counted(percent).unwrap();
        assert_eq!(light.locations(), symbols.locations());
        assert_eq!(by_group(counts), (expected.clone(), expected.len()));
    }
}
