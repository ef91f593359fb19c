//! Records made by hand, in both byte orders.

use super::*;
use crate::testing::{Flat, ORDERS, bytes, small_counts, u32s, u64s};
use proptest::prelude::*;
use rprof_abi::{AttrSize, Encoder, Misc, PerfEventAttr, RecordHeader, RecordKind};

fn raw(kind: RecordKind, body: &[u8]) -> RawRecord<'_> {
    let misc = Misc(0);
    RawRecord { kind, misc, body }
}

/// What is said of a record with this body, the same in both byte orders; also, that every body
/// shorter than `least` bytes is an error.
fn said(kind: RecordKind, least: usize, body: impl Fn(&mut Encoder<'_>)) -> Vec<String> {
    let [little, big] = ORDERS.map(|endian| {
        let body = bytes(endian, &body);
        for len in 0..least {
            assert!(FileRecord::parse(raw(kind, &body[..len]), endian).is_err());
        }
        let record = FileRecord::parse(raw(kind, &body), endian).unwrap();
        Flat::of(|fields| record.visit(fields))
    });
    assert_eq!(little, big);
    little
}

/// A text in a field of fixed length.
fn fixed(text: &[u8], len: usize, encoder: &mut Encoder<'_>) {
    encoder.bytes(text);
    encoder.bytes(&vec![0; len - text.len()]);
}

#[test]
fn attrs_come_with_ids() {
    let attr = PerfEventAttr {
        kind: 1,
        sample_period: 4000,
        ..PerfEventAttr::default()
    };
    for endian in ORDERS {
        let mut body = Vec::new();
        attr.encode(&mut body, endian, AttrSize(128));
        u64s(&[7, 8], &mut Encoder::new(&mut body, endian));
        let record = FileRecord::parse(raw(file_kind::HEADER_ATTR, &body), endian).unwrap();
        let FileRecord::HeaderAttr(read) = &record else {
            panic!("{record:?}");
        };
        assert_eq!((&read.attr, &read.ids[..]), (&attr, &[7, 8][..]));
        let said = Flat::of(|fields| record.visit(fields));
        assert!(said.contains(&"attr.sample_period=4000".to_owned()));
        assert!(said.contains(&"ids.1=8".to_owned()));
    }
}

#[test]
fn ids_may_come_with_guests() {
    let entry = [1, 5, 0, 3, u64::MAX];
    let expected = [
        "entries.0.id=5",
        "entries.0.idx=0",
        "entries.0.cpu=3",
        "entries.0.tid=-1",
        "entries.0.machine_pid=9",
        "entries.0.vcpu=2",
    ];
    let host = said(file_kind::ID_INDEX, 40, |encoder| u64s(&entry, encoder));
    assert_eq!(host, expected[..4]);
    let guest = said(file_kind::ID_INDEX, 40, |encoder| {
        u64s(&entry, encoder);
        u64s(&[9, 2], encoder);
    });
    assert_eq!(guest, expected);
}

#[test]
fn records_of_pipe_mode_announce_what_follows() {
    assert_eq!(
        said(file_kind::HEADER_EVENT_TYPE, 8, |encoder| {
            encoder.u64(3);
            fixed(b"cycles", 64, encoder);
        }),
        ["id=3", "name=cycles"]
    );
    assert_eq!(
        said(file_kind::HEADER_TRACING_DATA, 4, |encoder| encoder
            .u32(4096)),
        ["len_bytes=4096"]
    );
    assert_eq!(
        said(file_kind::HEADER_FEATURE, 8, |encoder| {
            encoder.u64(3);
            encoder.bytes(b"12345");
        }),
        ["feature=3", "name=HOSTNAME", "len_bytes=5"]
    );
    let empty: [String; 0] = [];
    assert_eq!(said(file_kind::FINISHED_ROUND, 0, |_| ()), empty);
    assert_eq!(said(file_kind::FINISHED_INIT, 0, |_| ()), empty);
}

#[test]
fn aux_records_are_read() {
    assert_eq!(
        said(file_kind::AUXTRACE_INFO, 8, |encoder| {
            u32s(&[1, 0], encoder);
            u64s(&[16, 17], encoder);
        }),
        ["type=1", "private.0=0x10", "private.1=0x11"]
    );
    assert_eq!(
        said(file_kind::AUXTRACE, 36, |encoder| {
            u64s(&[4096, 16, 1], encoder);
            u32s(&[0, u32::MAX, 2, 0], encoder);
        }),
        [
            "len_bytes=4096",
            "offset=0x10",
            "reference=0x1",
            "idx=0",
            "tid=-1",
            "cpu=2"
        ]
    );
}

#[test]
fn aux_errors_of_every_format_are_read() {
    let error = |format: u32| {
        said(file_kind::AUXTRACE_ERROR, 32, move |encoder| {
            u32s(&[1, 2, 3, 4, 5, format], encoder);
            encoder.u64(0x400);
            if format > 0 {
                encoder.u64(99);
            }
            fixed(b"overflow", 64, encoder);
            if format > 1 {
                u32s(&[7, 8], encoder);
            }
        })
    };
    let common = ["type=1", "code=2", "cpu=3", "pid=4", "tid=5", "ip=0x400"];
    let expected = |rest: &[&'static str]| [&common[..], rest].concat();
    assert_eq!(error(0), expected(&["message=overflow"]));
    assert_eq!(error(1), expected(&["time_ns=99", "message=overflow"]));
    let guest = ["time_ns=99", "message=overflow", "machine_pid=7", "vcpu=8"];
    assert_eq!(error(2), expected(&guest));
}

#[test]
fn cpu_maps_of_every_form_say_the_same_cpus() {
    let cpus = ["any_cpu=Bool(false)", "cpus.0=0-1", "cpus.1=33"];
    let map = |least, body: &dyn Fn(&mut Encoder<'_>)| said(file_kind::CPU_MAP, least, body);
    let list = map(10, &|encoder| {
        [0, 3, 0, 1, 33].iter().for_each(|&word| encoder.u16(word));
    });
    assert_eq!(list, cpus);
    let words_of_32 = map(14, &|encoder| {
        [1, 2, 4].iter().for_each(|&word| encoder.u16(word));
        u32s(&[3, 2], encoder);
    });
    assert_eq!(words_of_32, cpus);
    let words_of_64 = map(18, &|encoder| {
        [1, 1, 8].iter().for_each(|&word| encoder.u16(word));
        encoder.u32(0);
        encoder.u64(3 | 1 << 33);
    });
    assert_eq!(words_of_64, cpus);
    let range = |ends: [u16; 2]| {
        map(8, &|encoder| {
            encoder.u16(2);
            encoder.bytes(&[1, 0]);
            ends.iter().for_each(|&word| encoder.u16(word));
        })
    };
    assert_eq!(range([4, 7]), ["any_cpu=Bool(true)", "cpus.0=4-7"]);
    assert_eq!(range([4, 4]), ["any_cpu=Bool(true)", "cpus.0=4"]);
    assert_eq!(range([7, 4]), ["any_cpu=Bool(true)"]);
    let any = map(6, &|encoder| {
        [0, 1, u16::MAX].iter().for_each(|&word| encoder.u16(word));
    });
    assert_eq!(any, ["any_cpu=Bool(true)"]);
    let unknown = map(2, &|encoder| encoder.u16(3));
    assert_eq!(unknown, ["type=3", "data=Bytes([])"]);
}

#[test]
fn threads_have_names() {
    assert_eq!(
        said(file_kind::THREAD_MAP, 32, |encoder| {
            u64s(&[1, u64::MAX], encoder);
            fixed(b"sleep", 16, encoder);
        }),
        ["threads.0.tid=-1", "threads.0.comm=sleep"]
    );
}

#[test]
fn counts_of_perf_stat_are_read() {
    assert_eq!(
        said(file_kind::STAT_CONFIG, 24, |encoder| u64s(
            &[1, 1, 50],
            encoder
        )),
        ["terms.0.tag=1", "terms.0.value=50"]
    );
    assert_eq!(
        said(file_kind::STAT, 40, |encoder| {
            encoder.u64(6);
            u32s(&[1, 2], encoder);
            u64s(&[3, 4, 5], encoder);
        }),
        [
            "id=6",
            "cpu=1",
            "thread=2",
            "value=3",
            "enabled_ns=4",
            "running_ns=5"
        ]
    );
    assert_eq!(
        said(file_kind::STAT_ROUND, 16, |encoder| u64s(&[1, 2], encoder)),
        ["type=1", "time_ns=2"]
    );
}

#[test]
fn updates_name_their_event_by_id() {
    let update = |kind: u64, data: &dyn Fn(&mut Encoder<'_>)| {
        said(file_kind::EVENT_UPDATE, 16, |encoder| {
            u64s(&[kind, 40], encoder);
            data(encoder);
        })
    };
    assert_eq!(
        update(0, &|encoder| fixed(b"msec", 8, encoder)),
        ["id=40", "unit=msec"]
    );
    assert_eq!(
        update(1, &|encoder| encoder.u64(0.25f64.to_bits())),
        ["id=40", "scale=0.25"]
    );
    assert_eq!(
        update(2, &|encoder| fixed(b"cycles", 8, encoder)),
        ["id=40", "name=cycles"]
    );
    assert_eq!(
        update(3, &|encoder| [0, 1, 5]
            .iter()
            .for_each(|&word| encoder.u16(word))),
        ["id=40", "any_cpu=Bool(false)", "cpus.0=5"]
    );
    assert_eq!(
        update(4, &|encoder| encoder.u8(1)),
        ["id=40", "type=4", "data=Bytes([1])"]
    );
}

#[test]
fn time_conversion_grew() {
    let old = said(file_kind::TIME_CONV, 24, |encoder| {
        u64s(&[1, 2, 3], encoder);
    });
    assert_eq!(old, ["shift=1", "mult=2", "zero=3"]);
    let new = said(file_kind::TIME_CONV, 24, |encoder| {
        u64s(&[1, 2, 3, 4, 5], encoder);
        encoder.bytes(&[1, 0, 0, 0, 0, 0, 0, 0]);
    });
    assert_eq!(
        new[3..],
        [
            "cycles=4",
            "mask=0x5",
            "has_zero=Bool(true)",
            "is_short=Bool(false)"
        ]
    );
}

#[test]
fn compressed_data_is_without_its_padding() {
    let old = said(file_kind::COMPRESSED, 0, |encoder| encoder.bytes(b"12345"));
    let new = said(file_kind::COMPRESSED2, 13, |encoder| {
        encoder.u64(5);
        fixed(b"12345", 8, encoder);
    });
    assert_eq!(old, ["len_bytes=5"]);
    assert_eq!(new, old);
}

#[test]
fn bpf_programs_describe_themselves() {
    assert_eq!(
        said(file_kind::BPF_METADATA, 584, |encoder| {
            fixed(b"bpf_prog_1_x", 256, encoder);
            encoder.u64(1);
            fixed(b"version", 64, encoder);
            fixed(b"12", 256, encoder);
        }),
        [
            "program=bpf_prog_1_x",
            "variables.0.key=version",
            "variables.0.value=12"
        ]
    );
}

#[test]
fn simpleperf_names_files_and_symbols() {
    assert_eq!(
        said(file_kind::SIMPLEPERF_DSO, 24, |encoder| {
            u64s(&[2, 1, 0x1000], encoder);
            fixed(b"/lib.so", 8, encoder);
        }),
        ["type=2", "id=1", "min_vaddr=0x1000", "path=/lib.so"]
    );
    assert_eq!(
        said(file_kind::SIMPLEPERF_SYMBOL, 24, |encoder| {
            u64s(&[0x1040, 16, 1], encoder);
            fixed(b"main", 8, encoder);
        }),
        ["addr=0x1040", "len=16", "dso_id=1", "name=main"]
    );
    for kind in [
        file_kind::SIMPLEPERF_KERNEL_SYMBOL,
        file_kind::SIMPLEPERF_TRACING_DATA,
    ] {
        let data = said(kind, 9, |encoder| {
            encoder.u32(5);
            fixed(b"12345", 8, encoder);
        });
        assert_eq!(data, ["len_bytes=5"]);
    }
    assert_eq!(
        said(file_kind::SIMPLEPERF_EVENT_ID, 24, |encoder| u64s(
            &[1, 0, 77],
            encoder
        )),
        ["ids.0.event_idx=0", "ids.0.id=77"]
    );
}

#[test]
fn simpleperf_says_how_it_unwound() {
    assert_eq!(
        said(file_kind::SIMPLEPERF_CALLCHAIN, 48, |encoder| {
            u32s(&[1, 2], encoder);
            u64s(&[0, 99, 1, 0x400, 0x7ff], encoder);
        }),
        [
            "pid=1",
            "tid=2",
            "type=0",
            "time_ns=99",
            "frames.0.ip=0x400",
            "frames.0.sp=0x7ff"
        ]
    );
    let result = said(file_kind::SIMPLEPERF_UNWINDING_RESULT, 48, |encoder| {
        u64s(&[99, 10, 1, 0x40, 0x1000, 0x2000], encoder);
    });
    assert_eq!(result[..3], ["time_ns=99", "used_ns=10", "code=1"]);
    assert_eq!(
        said(file_kind::SIMPLEPERF_DEBUG, 8, |encoder| {
            encoder.u64(9);
            fixed(b"note", 8, encoder);
        }),
        ["time_ns=9", "text=note"]
    );
    let split = said(file_kind::SIMPLEPERF_SPLIT, 0, |encoder| encoder.u64(9));
    assert_eq!(split, ["len_bytes=8"]);
    assert!(said(file_kind::SIMPLEPERF_SPLIT_END, 0, |_| ()).is_empty());
}

#[test]
fn unknown_kinds_are_carried_along() {
    for kind in [63, 87, 88, 32768, 32779, u32::MAX] {
        let raw = raw(RecordKind(kind), &[1, 2]);
        let record = FileRecord::parse(raw, Endian::Little);
        assert_eq!(record, Ok(FileRecord::Unknown(raw)));
    }
}

#[test]
fn simpleperf_records_are_longer_than_others() {
    let header = |kind| RecordHeader {
        kind,
        misc: Misc(2),
        size: 8,
    };
    let long = header(file_kind::SIMPLEPERF_KERNEL_SYMBOL);
    assert_eq!(file_kind::record_len(long), 0x2_0008);
    assert_eq!(file_kind::record_len(header(file_kind::CPU_MAP)), 8);
    assert_eq!(file_kind::name(long.kind), Some("SIMPLEPERF_KERNEL_SYMBOL"));
    assert_eq!(file_kind::name(RecordKind::MMAP), None);
}

proptest! {
    #[test]
    fn any_bytes_never_panic_and_descriptions_hold(body in small_counts(700), big: bool) {
        let endian = if big { Endian::Big } else { Endian::Little };
        for &kind in file_kind::ALL {
            FileRecord::check_description(kind, &body, endian);
            if let Ok(record) = FileRecord::parse(raw(kind, &body), endian) {
                Flat::of(|fields| record.visit(fields));
            }
        }
    }
}
