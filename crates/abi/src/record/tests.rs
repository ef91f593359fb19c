//! Round trips of every kind, and bytes written by hand.

use super::*;
use crate::{AttrFlags, Endian, Misc, PerfEventAttr, SampleType, Shape};
use proptest::prelude::*;

fn layout(endian: Endian) -> SampleLayout {
    let attr = PerfEventAttr {
        sample_type: SampleType::TID
            .with(SampleType::TIME)
            .with(SampleType::CPU)
            .with(SampleType::IDENTIFIER),
        flags: AttrFlags::SAMPLE_ID_ALL,
        ..PerfEventAttr::default()
    };
    SampleLayout::new(&attr, endian)
}

const ID: SampleId = SampleId {
    pid: Some(1),
    tid: Some(2),
    time_ns: Some(3),
    id: Some(4),
    stream_id: None,
    cpu: Some(5),
};

fn samples_of_every_kind(chain: &[u8], endian: Endian) -> Vec<(Misc, Record<'_>)> {
    let none = Misc(0);
    let task = Task {
        pid: 1,
        ppid: 2,
        tid: 3,
        ptid: 4,
        time_ns: 5,
    };
    let throttle = Throttle {
        time_ns: 1,
        id: 2,
        stream_id: 3,
    };
    let mmap2 = |identity| Mmap2 {
        pid: 1,
        tid: 2,
        addr: 0x1000,
        len: 0x2000,
        pgoff: 0x3000,
        identity,
        prot: 5,
        flags: 2,
        filename: b"/lib/x.so",
    };
    vec![
        (
            none,
            Record::Mmap(Mmap {
                pid: -1,
                tid: 0,
                addr: 1,
                len: 2,
                pgoff: 3,
                filename: b"[kernel.kallsyms]_text",
            }),
        ),
        (none, Record::Lost(Lost { id: 1, lost: 2 })),
        (
            Misc::COMM_EXEC,
            Record::Comm(Comm {
                pid: 1,
                tid: 1,
                comm: b"exactly8",
            }),
        ),
        (none, Record::Exit(task)),
        (none, Record::Throttle(throttle)),
        (none, Record::Unthrottle(throttle)),
        (none, Record::Fork(task)),
        (
            none,
            Record::Mmap2(mmap2(FileIdentity::Inode(Inode {
                maj: 8,
                min: 1,
                ino: 99,
                generation: 7,
            }))),
        ),
        (
            Misc::MMAP_BUILD_ID,
            Record::Mmap2(mmap2(FileIdentity::BuildId(BuildIdBytes::new(&[9; 16])))),
        ),
        (
            none,
            Record::Aux(Aux {
                offset: 1,
                size: 2,
                flags: 3,
            }),
        ),
        (none, Record::ItraceStart(ItraceStart { pid: 1, tid: 2 })),
        (none, Record::LostSamples(LostSamples { lost: 7 })),
        (Misc::SWITCH_OUT, Record::Switch(Switch)),
        (
            none,
            Record::SwitchCpuWide(SwitchCpuWide {
                next_prev_pid: 1,
                next_prev_tid: -1,
            }),
        ),
        (
            none,
            Record::Ksymbol(Ksymbol {
                addr: 1,
                len: 2,
                ksym_type: 1,
                flags: 0,
                name: b"bpf_prog_x",
            }),
        ),
        (
            none,
            Record::BpfEvent(BpfEvent {
                event_type: 1,
                flags: 0,
                id: 2,
                tag: *b"tagtagta",
            }),
        ),
        (
            none,
            Record::Cgroup(Cgroup {
                id: 3,
                path: b"/user.slice",
            }),
        ),
        (
            none,
            Record::TextPoke(TextPoke {
                addr: 1,
                old: b"\x90\x90",
                new: b"\xeb\x01\x02",
            }),
        ),
        (none, Record::AuxOutputHwId(AuxOutputHwId { hw_id: 5 })),
        (
            none,
            Record::CallchainDeferred(CallchainDeferred {
                cookie: 77,
                chain: crate::Callchain::from_encoded(chain, endian),
            }),
        ),
        (
            none,
            Record::Unknown(RawRecord {
                kind: RecordKind(99),
                misc: none,
                body: b"whatever",
            }),
        ),
    ]
}

#[test]
fn every_kind_round_trips_in_both_byte_orders() {
    for endian in [Endian::Little, Endian::Big] {
        let layout = layout(endian);
        let mut chain = endian.bytes_u64(crate::context::USER).to_vec();
        chain.extend(endian.bytes_u64(0x4000));
        for (misc, record) in samples_of_every_kind(&chain, endian) {
            let mut bytes = Vec::new();
            record.encode(misc, &ID, &layout, &mut bytes).unwrap();
            if !matches!(record, Record::TextPoke(_)) {
                assert_eq!(bytes.len() % 8, 0, "{record:?}");
            }
            let raw = RawRecord::parse(&bytes, endian).unwrap();
            assert_eq!(raw.len_bytes(), bytes.len());
            let (again, id) = Record::parse(raw, &layout).unwrap();
            match record {
                Record::Unknown(_) => assert_eq!(again.kind(), RecordKind(99)),
                _ => assert_eq!((again, id), (record, ID)),
            }
        }
    }
}

#[test]
fn every_kind_cut_short_is_an_error_or_a_shorter_name() {
    let layout = layout(Endian::Little);
    for (misc, record) in samples_of_every_kind(&[], Endian::Little) {
        let mut bytes = Vec::new();
        record.encode(misc, &ID, &layout, &mut bytes).unwrap();
        for len in 8..bytes.len() {
            let raw = RawRecord {
                kind: record.kind(),
                misc,
                body: &bytes[8..len],
            };
            // Must not panic; whether it is an error depends on where the name ends.
            let _ = Record::parse(raw, &layout);
        }
    }
}

#[test]
fn an_mmap2_from_the_kernel_header_is_read() {
    // misc bit 14: build id form. Build id of 20 bytes, size 20; no sample_id_all.
    let attr = PerfEventAttr::default();
    let layout = SampleLayout::new(&attr, Endian::Little);
    let mut bytes = vec![10, 0, 0, 0, 2, 0x40, 72 + 8, 0];
    bytes.extend(100u32.to_le_bytes());
    bytes.extend(101u32.to_le_bytes());
    [0x5000u64, 0x1000, 0x2000]
        .iter()
        .for_each(|w| bytes.extend(w.to_le_bytes()));
    bytes.extend([20, 0, 0, 0]);
    bytes.extend([0xab; 20]);
    bytes.extend(5u32.to_le_bytes());
    bytes.extend(2u32.to_le_bytes());
    bytes.extend(b"/bin/ls\0");
    let raw = RawRecord::parse(&bytes, Endian::Little).unwrap();
    let (record, _) = Record::parse(raw, &layout).unwrap();
    let Record::Mmap2(mmap) = record else {
        panic!("{record:?}")
    };
    assert_eq!(
        (mmap.pid, mmap.tid, mmap.filename),
        (100, 101, &b"/bin/ls"[..])
    );
    assert_eq!(
        mmap.identity,
        FileIdentity::BuildId(BuildIdBytes::new(&[0xab; 20]))
    );
}

#[test]
fn a_deferred_chain_and_namespaces_from_the_kernel_header_are_read() {
    let layout = SampleLayout::new(&PerfEventAttr::default(), Endian::Little);
    let mut body = Vec::new();
    [0x1_0000_0001u64, 2, crate::context::USER, 0x4242]
        .iter()
        .for_each(|w| body.extend(w.to_le_bytes()));
    let raw = RawRecord {
        kind: RecordKind::CALLCHAIN_DEFERRED,
        misc: Misc::USER,
        body: &body,
    };
    let (Record::CallchainDeferred(deferred), _) = Record::parse(raw, &layout).unwrap() else {
        panic!()
    };
    assert_eq!(deferred.cookie, 0x1_0000_0001);
    assert_eq!(
        deferred.chain.entries().collect::<Vec<_>>(),
        [crate::context::USER, 0x4242]
    );

    let mut body = vec![1, 0, 0, 0, 2, 0, 0, 0];
    [1u64, 3, 0xf000_0001]
        .iter()
        .for_each(|w| body.extend(w.to_le_bytes()));
    let raw = RawRecord {
        kind: RecordKind::NAMESPACES,
        misc: Misc(0),
        body: &body,
    };
    let (Record::Namespaces(spaces), _) = Record::parse(raw, &layout).unwrap() else {
        panic!()
    };
    assert_eq!(
        spaces.links().collect::<Vec<_>>(),
        [Namespace {
            dev: 3,
            ino: 0xf000_0001
        }]
    );
}

#[test]
fn a_header_smaller_than_itself_is_an_error() {
    let bytes = [9, 0, 0, 0, 0, 0, 7, 0];
    assert!(RawRecord::parse(&bytes, Endian::Little).is_err());
    let bytes = [9, 0, 0, 0, 0, 0, 16, 0];
    assert!(RawRecord::parse(&bytes, Endian::Little).is_err());
}

/// Asserts that each field has a name of its own in its object, and none in a list.
#[derive(Default)]
struct UniqueNames(Vec<(Shape, Vec<String>)>);

impl UniqueNames {
    fn take(&mut self, name: &str) {
        let (shape, names) = self.0.last_mut().expect("close without open");
        assert_eq!(
            name.is_empty(),
            *shape == Shape::List,
            "{name:?} in {names:?}"
        );
        let is_new = *shape == Shape::List || !names.iter().any(|other| other == name);
        assert!(is_new, "{name} twice");
        names.push(name.to_owned());
    }
}

impl Fields for UniqueNames {
    fn field(&mut self, name: &str, _: Value<'_>) {
        self.take(name);
    }

    fn open(&mut self, name: &str, shape: Shape) {
        self.take(name);
        self.0.push((shape, Vec::new()));
    }

    fn close(&mut self) {
        self.0.pop();
    }
}

/// Bytes in which counts are small.
fn bodies() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![3 => Just(0u8), 1 => Just(1), 2 => any::<u8>()];
    proptest::collection::vec(byte, 0..200)
}

proptest! {
    #[test]
    fn every_kind_of_any_bytes_round_trips_and_names_each_field_once(
        body in bodies(), misc in any::<u16>(), big: bool, has_id: bool,
    ) {
        let endian = if big { Endian::Big } else { Endian::Little };
        let bare = SampleLayout::new(&PerfEventAttr::default(), endian);
        let layout = if has_id { layout(endian) } else { bare };
        let misc = Misc(misc);
        for kind in (0..30).map(RecordKind).filter(|&kind| kind != RecordKind::SAMPLE) {
            let Ok((record, id)) = Record::parse(RawRecord { kind, misc, body: &body }, &layout) else {
                continue;
            };
            let mut names = UniqueNames(vec![(Shape::Object, Vec::new())]);
            record.visit(&mut names);
            prop_assert_eq!(names.0.len(), 1);
            let mut bytes = Vec::new();
            record.encode(misc, &id, &layout, &mut bytes).unwrap();
            let again = RawRecord::parse(&bytes, endian).unwrap();
            match record {
                Record::Unknown(_) => prop_assert_eq!(again.body, &body),
                _ => prop_assert_eq!(Record::parse(again, &layout), Ok((record, id))),
            }
        }
    }

    #[test]
    fn every_kind_shorter_than_its_fields_is_an_error(body in bodies(), big: bool) {
        let endian = if big { Endian::Big } else { Endian::Little };
        let layout = SampleLayout::new(&PerfEventAttr::default(), endian);
        for kind in (0..30).map(RecordKind) {
            let parse = |body| Record::parse(RawRecord { kind, misc: Misc(0), body }, &layout);
            let Some(least) = Record::least_len(kind) else {
                continue;
            };
            for len in 0..least.min(body.len()) {
                prop_assert!(parse(&body[..len]).is_err(), "{kind:?}: {len} of {least} bytes");
            }
            // The first MMAP2 records are shorter than those with a protection of 0.
            let has_enough = parse(&vec![0; least]).is_ok() || kind == RecordKind::MMAP2;
            prop_assert!(has_enough, "{kind:?}: {least} bytes");
        }
    }

    #[test]
    fn any_bytes_of_any_kind_never_panic(
        kind in 0u32..30, misc in any::<u16>(), body in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let raw = RawRecord { kind: RecordKind(kind), misc: Misc(misc), body: &body };
        let _ = Record::parse(raw, &layout(Endian::Little));
    }
}
