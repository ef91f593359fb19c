//! Recordings that are larger than a message, and what happens to them when rprof is killed.

use super::collector::{Collector, Received, Reply};
use super::protocols::{Pprof, PushRequest, unpacked};
use super::{push, pushed};
use crate::common::{Running, scratch};
use crate::export::otlp;
use prost::Message;
use rprof_abi::record::Record;
use rprof_abi::{
    AttrFlags, Callchain, Endian, Misc, PerfEventAttr, Sample, SampleId, SampleLayout, SampleType,
    event_type,
};
use rprof_perfdata::{Writer, WrittenEvent};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::time::SystemTime;

/// Writes a recording of samples, each of a thread of its own, with stacks of this many frames. If they are deep, all are
/// of one thread, and differ in their outermost frame.
pub(super) fn record(path: &Path, n_samples: i32, depth: u64) {
    let types = [
        SampleType::IP,
        SampleType::TID,
        SampleType::TIME,
        SampleType::CALLCHAIN,
    ];
    let sample_type = types
        .into_iter()
        .fold(SampleType::IDENTIFIER, SampleType::with);
    let event = WrittenEvent {
        name: "cpu-clock".to_owned(),
        attr: PerfEventAttr {
            kind: event_type::SOFTWARE,
            config: 0,
            sample_period: 1000,
            sample_type,
            flags: AttrFlags::SAMPLE_ID_ALL,
            ..PerfEventAttr::default()
        },
        ids: vec![5],
    };
    let layout = SampleLayout::new(&event.attr, Endian::NATIVE);
    let context = u64::MAX - 511;
    let mut records = Vec::new();
    for (tid, time_ns) in (1..=n_samples).zip(1000u64..) {
        let (tid, outer) = if depth > 1000 { (1, time_ns) } else { (tid, 0) };
        let frames = (0..depth).map(|nth| match nth {
            nth if nth + 1 == depth => 0x10_0000 + outer,
            nth => 0x1000 + 16 * nth,
        });
        let chain = [context].into_iter().chain(frames);
        let chain: Vec<u8> = chain.flat_map(u64::to_ne_bytes).collect();
        let sample = Sample {
            id: Some(5),
            ip: Some(0x1000),
            pid: Some(1),
            tid: Some(tid),
            time_ns: Some(time_ns),
            callchain: Some(Callchain::from_encoded(&chain, Endian::NATIVE)),
            ..Sample::default()
        };
        let record = Record::Sample(Box::new(sample));
        let id = SampleId::default();
        record
            .encode(Misc::USER, &id, &layout, &mut records)
            .unwrap();
    }
    let file = File::create(path).unwrap();
    let mut writer = Writer::start(file, path, &[event], Vec::new()).unwrap();
    writer.write(&records).unwrap();
    writer.finish(Vec::new()).unwrap();
}

/// Sum of samples, over messages that differ.
#[track_caller]
pub(super) fn n_samples(received: &[Received]) -> u64 {
    let bodies: BTreeSet<_> = received.iter().map(|one| unpacked(&one.body)).collect();
    let sums = bodies.iter().map(|body| {
        let message = otlp::Request::decode(&**body).unwrap();
        let rows = message.profiles().next().unwrap().samples.len();
        assert!(rows <= 16_000, "{rows}");
        assert!(body.len() <= 2 << 20);
        message.sums()[0].1
    });
    sums.sum()
}

#[test]
fn a_large_recording_is_several_messages_with_its_sums() {
    let dir = scratch();
    let file = dir.path().join("perf.data");
    record(&file, 40_000, 3);
    let server = Collector::good();
    let ran = pushed(&server.url, "otlp", &file);
    let said = "pushed 1 recording (40000 samples, 3 messages)";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert_eq!(n_samples(&server.received()), 40_000);
}

#[test]
fn pyroscope_gets_no_stack_that_is_too_long() {
    let dir = scratch();
    let file = dir.path().join("perf.data");
    record(&file, 7, 1200);
    let server = Collector::good();
    let ran = pushed(&server.url, "pyroscope", &file);
    let said = "7 samples have longer stacks than the server takes: [truncated]";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    let request = PushRequest::decode(&*server.received()[0].body).unwrap();
    let bytes = unpacked(&request.series[0].samples[0].raw_profile);
    let profile = Pprof::decode(&*bytes).unwrap();
    // They differ only in frames that are cut.
    assert_eq!(profile.sums(), [7, 7000]);
    assert_eq!(profile.samples.len(), 1);
    // Nobody has noted the time of day: it is that of the file, as perf has it.
    let written = std::fs::metadata(&file).unwrap().modified().unwrap();
    let written = written.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(
        u128::from(profile.time_ns.cast_unsigned()),
        written.as_nanos() - 6
    );
    assert!(
        profile
            .samples
            .iter()
            .all(|one| one.locations.len() == 1000)
    );
    assert!(profile.strings.iter().any(|text| text == "[truncated]"));
    // Others take it as it is.
    let server = Collector::good();
    let ran = pushed(&server.url, "otlp", &file);
    assert!(!ran.stderr.contains("[truncated]"), "{}", ran.stderr);
}

#[test]
fn a_part_whose_answer_was_not_seen_is_sent_again_and_others_are_not() {
    let dir = scratch();
    let file = dir.path().join("perf.data");
    record(&file, 40_000, 3);
    let server = Collector::new(|_, nth| match nth {
        1 => Reply::Silence,
        _ => Reply::ok(),
    });
    let running = Running::start(&mut push(&server.url, "otlp", &file));
    server.wait_for(2);
    // By SIGKILL.
    drop(running);
    pushed(&server.url, "otlp", &file);
    let received = server.received();
    let bodies: Vec<_> = received.iter().map(|one| unpacked(&one.body)).collect();
    assert_eq!(bodies.len(), 4);
    assert!(bodies[1] == bodies[2]);
    assert_eq!(n_samples(&received), 40_000);
}

#[test]
fn whenever_it_is_killed_the_server_has_all_in_the_end() {
    let dir = scratch();
    for name in ["1.data", "2.data"] {
        record(
            &dir.path().join(name),
            20_000,
            if name == "1.data" { 3 } else { 4 },
        );
    }
    let server = Collector::good();
    for n_requests in 1..4 {
        let running = Running::start(&mut push(&server.url, "otlp", dir.path()));
        server.wait_for(n_requests);
        drop(running);
    }
    pushed(&server.url, "otlp", dir.path());
    assert_eq!(n_samples(&server.received()), 40_000);
    let ran = pushed(&server.url, "otlp", dir.path());
    assert!(ran.stderr.contains("2 delivered before"), "{}", ran.stderr);
}

#[test]
fn two_do_not_push_the_same_at_once() {
    let dir = scratch();
    let file = dir.path().join("perf.data");
    record(&file, 10, 3);
    let server = Collector::new(|_, nth| match nth {
        0 => Reply::Silence,
        _ => Reply::ok(),
    });
    let _running = Running::start(&mut push(&server.url, "otlp", &file));
    server.wait_for(1);
    let error = crate::common::run(&mut push(&server.url, "otlp", &file)).fails(1);
    assert!(error.contains("another rprof push"), "{error}");
}
