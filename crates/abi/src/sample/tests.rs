//! Samples against bytes written by hand in the kernel's order, and round trips.

use super::*;
use crate::{AttrFlags, Cursor, Encoder, Endian, PerfEventAttr, RawRecord, RecordKind};
use proptest::prelude::*;

fn attr(sample_type: SampleType) -> PerfEventAttr {
    PerfEventAttr {
        sample_type,
        flags: AttrFlags::SAMPLE_ID_ALL,
        ..PerfEventAttr::default()
    }
}

/// Every field, written word by word as `perf_output_sample()` does.
fn everything(endian: Endian) -> (PerfEventAttr, Vec<u8>) {
    let mut attr = attr(SampleType((1 << 25) - 1).without(SampleType::WEIGHT));
    attr.read_format = ReadFormat((1 << 5) - 1);
    attr.branch_sample_type = BranchSampleType::HW_INDEX.with(BranchSampleType::COUNTERS);
    attr.sample_regs_user = 0b1001;
    attr.sample_regs_intr = 0b1;
    let mut bytes = Vec::new();
    let mut out = Encoder::new(&mut bytes, endian);
    out.u64(900); // IDENTIFIER
    out.u64(0x1000); // IP
    out.i32(-1);
    out.i32(12); // TID
    out.u64(13); // TIME
    out.u64(14); // ADDR
    out.u64(900); // ID
    out.u64(16); // STREAM_ID
    out.u32(17);
    out.u32(0); // CPU
    out.u64(18); // PERIOD
    for word in [2, 100, 90, 5, 51, 1, 6, 52, 0] {
        out.u64(word); // READ: nr, enabled, running, (value, id, lost) twice
    }
    for word in [3, context::KERNEL, 0xffff, context::USER] {
        out.u64(word); // CALLCHAIN
    }
    out.u32(4);
    out.bytes(b"rawd"); // RAW: u32 size and data make whole words
    for word in [1, 7, 0xa, 0xb, 0xc, 0xd] {
        out.u64(word); // BRANCH_STACK: nr, hw_idx, from, to, flags, counters
    }
    for word in [2, 21, 22] {
        out.u64(word); // REGS_USER: abi, two values
    }
    out.u64(16);
    out.bytes(b"0123456789abcdef");
    out.u64(9); // STACK_USER: size, data, dyn_size
    out.u64(3 << 48 | 2 << 32 | 1); // WEIGHT_STRUCT
    out.u64(24); // DATA_SRC
    out.u64(25); // TRANSACTION
    out.u64(0); // REGS_INTR: abi none, so no values
    out.u64(26); // PHYS_ADDR
    out.u64(27); // CGROUP
    out.u64(4096); // DATA_PAGE_SIZE
    out.u64(8192); // CODE_PAGE_SIZE
    out.u64(8);
    out.bytes(b"auxauxau"); // AUX
    (attr, bytes)
}

#[test]
fn every_field_is_read_in_the_kernels_order() {
    for endian in [Endian::Little, Endian::Big] {
        let (attr, bytes) = everything(endian);
        let layout = SampleLayout::new(&attr, endian);
        let sample = layout.parse_sample(&bytes).unwrap();
        assert_eq!(sample.id, Some(900));
        assert_eq!((sample.pid, sample.tid), (Some(-1), Some(12)));
        assert_eq!((sample.cpu, sample.period), (Some(17), Some(18)));
        let read = sample.read.unwrap();
        assert_eq!((read.enabled_ns, read.running_ns), (Some(100), Some(90)));
        let values: Vec<_> = read.values().map(|v| (v.value, v.id, v.lost)).collect();
        assert_eq!(values, [(5, Some(51), Some(1)), (6, Some(52), Some(0))]);
        assert_eq!(sample.raw, Some(&b"rawd"[..]));
        let branch = sample.branch_stack.unwrap();
        assert_eq!(branch.hw_index, Some(7));
        assert_eq!(branch.entries().next().unwrap().counters, Some(0xd));
        let regs = sample.regs_user.unwrap();
        assert_eq!(
            (regs.value(0), regs.value(1), regs.value(3)),
            (Some(21), None, Some(22))
        );
        assert_eq!(sample.stack_user.unwrap().stack(), b"012345678");
        assert_eq!(
            sample.weight,
            Some(Weight::Parts {
                var1: 1,
                var2: 2,
                var3: 3
            })
        );
        assert_eq!(sample.regs_intr.unwrap().value(0), None);
        assert_eq!((sample.phys_addr, sample.cgroup), (Some(26), Some(27)));
        assert_eq!(
            (sample.data_page_size, sample.code_page_size),
            (Some(4096), Some(8192))
        );
        assert_eq!(sample.aux, Some(&b"auxauxau"[..]));
        let raw = RawRecord {
            kind: RecordKind::SAMPLE,
            misc: crate::Misc(0),
            body: &bytes,
        };
        assert_eq!(layout.event_id(raw), Some(900));

        let mut again = Vec::new();
        layout.encode_sample(&sample, &mut Encoder::new(&mut again, endian));
        assert_eq!(again, bytes);
    }
}

#[test]
fn a_sample_cut_anywhere_is_an_error() {
    let (attr, bytes) = everything(Endian::Little);
    let layout = SampleLayout::new(&attr, Endian::Little);
    for len in 0..bytes.len() {
        assert!(layout.parse_sample(&bytes[..len]).is_err(), "cut at {len}");
    }
}

#[test]
fn counts_that_overflow_are_errors() {
    let layout = SampleLayout::new(&attr(SampleType::CALLCHAIN), Endian::Little);
    for nr in [u64::MAX, 1 << 61, 2] {
        let mut bytes = nr.to_le_bytes().to_vec();
        bytes.extend([0; 8]);
        assert!(layout.parse_sample(&bytes).is_err());
    }
}

#[test]
fn an_empty_stack_dump_has_no_dyn_size() {
    let layout = SampleLayout::new(&attr(SampleType::STACK_USER), Endian::Little);
    let sample = layout.parse_sample(&[0; 8]).unwrap();
    assert_eq!(sample.stack_user.unwrap().stack(), b"");
}

#[test]
fn a_single_value_stands_before_the_times() {
    let format = ReadFormat::TOTAL_TIME_ENABLED.with(ReadFormat::LOST);
    let mut bytes = Vec::new();
    [7u64, 100, 3]
        .iter()
        .for_each(|w| bytes.extend(w.to_le_bytes()));
    let mut cursor = Cursor::new(&bytes, Endian::Little);
    let read = ReadValues::parse(&mut cursor, format).unwrap();
    let value = read.values().next().unwrap();
    assert_eq!(
        (value.value, value.lost, read.enabled_ns),
        (7, Some(3), Some(100))
    );
    assert_eq!(read.values().count(), 1);
}

#[test]
fn the_id_of_other_records_is_counted_from_their_end() {
    let layout = SampleLayout::new(
        &attr(SampleType::TID.with(SampleType::ID).with(SampleType::CPU)),
        Endian::Little,
    );
    let mut body = vec![0; 16];
    body.extend(77u64.to_le_bytes());
    body.extend([0; 8]);
    let raw = RawRecord {
        kind: RecordKind::EXIT,
        misc: crate::Misc(0),
        body: &body,
    };
    assert_eq!(layout.event_id(raw), Some(77));
    let (rest, id) = layout.split_trailer(raw).unwrap();
    assert_eq!((rest.len(), id.id), (8, Some(77)));
}

proptest! {
    #[test]
    fn any_bytes_under_any_layout_never_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
        sample_type in any::<u64>(), read in 0u64..32, regs in any::<u64>(), branch in any::<u64>(),
    ) {
        let mut attr = attr(SampleType(sample_type & ((1 << 26) - 1)));
        attr.read_format = ReadFormat(read);
        attr.sample_regs_user = regs;
        attr.branch_sample_type = BranchSampleType(branch);
        let layout = SampleLayout::new(&attr, Endian::Little);
        if let Ok(sample) = layout.parse_sample(&bytes) {
            let mut again = Vec::new();
            layout.encode_sample(&sample, &mut Encoder::new(&mut again, Endian::Little));
            if sample_type & 0x1_4000 != 0x1_4000 && !(attr.sample_type.has(SampleType::ID) && attr.sample_type.has(SampleType::IDENTIFIER)) {
                prop_assert_eq!(&bytes[..again.len()], &again[..]);
            }
        }
    }
}
