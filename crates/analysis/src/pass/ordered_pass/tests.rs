//! What threads write comes in order of time, and all of them end when one does.

use super::*;
use crate::index::SampleOrder;
use crate::pass::query::WantedFrames;
use crate::recording::Recording;
use crate::stacks::First;
use rprof_abi::{
    AttrFlags, Callchain, Endian, Misc, PerfEventAttr, Record, Sample, SampleId, SampleLayout,
    SampleType, context,
};
use rprof_locate::Locator;
use rprof_perfdata::{Reader, Writer, WrittenEvent};
use rprof_profile::Filter;
use std::fs::File;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// More than are under way.
const SAMPLES: u64 = 100 * JOB as u64 + 1;

/// A recording of samples at 1 ns, 2 ns and so on, the last one first.
fn record(path: &Path) {
    let bits = [
        SampleType::IDENTIFIER,
        SampleType::IP,
        SampleType::TID,
        SampleType::TIME,
        SampleType::CALLCHAIN,
    ];
    let attr = PerfEventAttr {
        sample_type: bits
            .into_iter()
            .fold(SampleType::default(), SampleType::with),
        flags: AttrFlags::SAMPLE_ID_ALL,
        ..PerfEventAttr::default()
    };
    let layout = SampleLayout::new(&attr, Endian::NATIVE);
    let chain: Vec<u8> = [context::USER, 10, 20, 30]
        .iter()
        .flat_map(|entry| entry.to_ne_bytes())
        .collect();
    let mut records = Vec::new();
    for time in (1..=SAMPLES).rev() {
        let sample = Record::Sample(Box::new(Sample {
            id: Some(1),
            ip: Some(10),
            pid: Some(7),
            tid: Some(7),
            time_ns: Some(time),
            callchain: Some(Callchain::from_encoded(&chain, Endian::NATIVE)),
            ..Sample::default()
        }));
        let encoded = sample.encode(Misc::USER, &SampleId::default(), &layout, &mut records);
        encoded.unwrap();
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

/// Writes of each sample its position, its time, and how many addresses it has: those at even times are asked for their
/// stacks.
#[derive(Default)]
struct Times {
    panics_at: Option<u64>,
}

impl OrderedPass for Times {
    type Local = usize;
    type Before = usize;
    type Stack = ();

    fn local(&self) -> usize {
        0
    }

    fn pass_on<'s>(&self, before: &mut usize, samples: impl Iterator<Item = DecodedSample<'s>>) {
        *before += samples.count();
    }

    fn start(&self, position: &mut usize, before: usize) {
        *position = before;
    }

    fn wants(&self, _sample: &TaskSample<'_, '_>) -> bool {
        true
    }

    fn wants_stack(&self, decoded: &DecodedSample<'_>) -> bool {
        decoded.key.time_ns.is_multiple_of(2)
    }

    fn sample(
        &self,
        position: &mut usize,
        sample: &ResolvedSample<'_, '_>,
        _known: Option<()>,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let time = sample.decoded.key.time_ns;
        assert_ne!(Some(time), self.panics_at);
        *position += 1;
        let mut n = 0;
        sample.for_each_recorded_address(|_| n += 1);
        writeln!(out, "{position} {time} {n}").unwrap();
        None
    }
}

/// Counts the addresses of stacks that are not remembered, and writes of each sample how many it has.
#[derive(Default)]
struct Remembering {
    n_new: AtomicUsize,
}

impl OrderedPass for Remembering {
    type Local = ();
    type Before = ();
    type Stack = u32;

    const REMEMBERS_STACKS: bool = true;

    fn local(&self) {}

    fn pass_on<'s>(&self, (): &mut (), _samples: impl Iterator<Item = DecodedSample<'s>>) {}

    fn start(&self, (): &mut (), (): ()) {}

    fn wants(&self, _sample: &TaskSample<'_, '_>) -> bool {
        true
    }

    fn wants_stack(&self, _decoded: &DecodedSample<'_>) -> bool {
        true
    }

    fn sample(
        &self,
        (): &mut (),
        sample: &ResolvedSample<'_, '_>,
        known: Option<u32>,
        out: &mut Vec<u8>,
    ) -> Option<u32> {
        let n = known.unwrap_or_else(|| {
            self.n_new.fetch_add(1, Ordering::Relaxed);
            let mut n = 0;
            sample.for_each_recorded_address(|_| n += 1);
            n
        });
        writeln!(out, "{n}").unwrap();
        Some(n)
    }
}

/// Runs a pass over such a recording.
fn with_recording(test: impl FnOnce(&Query<'_>)) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("perf.data");
    record(&path);
    let reader = Reader::open(&path).unwrap();
    let (locator, filter) = (Locator::default(), Filter::default());
    let recording = Recording::open(&reader, &locator, SampleOrder::Time).unwrap();
    test(&Query::of(&recording, &filter, WantedFrames::All, First::Both).unwrap());
}

#[test]
fn samples_are_written_in_order_of_time_with_the_stacks_that_are_asked_for() {
    with_recording(|query| {
        let mut all = Vec::new();
        let written = run_ordered(query, &Times::default(), &mut |text, _| {
            all.extend_from_slice(text);
            true
        });
        written.unwrap();
        let line = |time: u64| {
            if time.is_multiple_of(2) {
                format!("{time} {time} 3\n")
            } else {
                format!("{time} {time} 1\n")
            }
        };
        let expected: String = (1..=SAMPLES).map(line).collect();
        assert!(String::from_utf8(all).unwrap() == expected);
    });
}

#[test]
fn each_thread_looks_at_a_stack_once_if_the_pass_remembers_stacks() {
    with_recording(|query| {
        let pass = Remembering::default();
        let mut all = Vec::new();
        let written = run_ordered(query, &pass, &mut |text, _| {
            all.extend_from_slice(text);
            true
        });
        written.unwrap();
        let expected: String = (1..=SAMPLES).map(|_| "3\n").collect();
        assert!(String::from_utf8(all).unwrap() == expected);
        let n_new = pass.n_new.into_inner();
        assert!((1..=parallel::n_cpus()).contains(&n_new), "{n_new}");
    });
}

#[test]
fn it_ends_when_nobody_takes_what_is_written() {
    with_recording(|query| {
        let mut n_delivered = 0;
        let written = run_ordered(query, &Times::default(), &mut |_, _| {
            n_delivered += 1;
            n_delivered < 3
        });
        written.unwrap();
        assert_eq!(n_delivered, 3);
    });
}

#[test]
fn a_panic_of_one_thread_ends_all() {
    with_recording(|query| {
        let pass = Times { panics_at: Some(2) };
        let run = || run_ordered(query, &pass, &mut |_, _| true).is_ok();
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    });
}
