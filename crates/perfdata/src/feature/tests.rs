//! All sections through [`Feature`]: names, damage.

use super::*;
use crate::feature::encode_string;
use crate::testing::{Flat, ORDERS, bytes, small_counts, u32s, u64s};
use proptest::prelude::*;

fn said(id: FeatureId, section: &[u8], endian: Endian) -> Vec<String> {
    let feature = Feature::parse(id, section, endian).unwrap();
    Flat::of(|fields| feature.visit(fields))
}

#[test]
fn texts_and_numbers_are_said_under_the_names_of_their_sections() {
    for endian in ORDERS {
        let text = bytes(endian, |encoder| encode_string(b"x", encoder));
        for (id, expected) in [
            (FeatureId::HOSTNAME, "hostname=x"),
            (FeatureId::OSRELEASE, "osrelease=x"),
            (FeatureId::VERSION, "version=x"),
            (FeatureId::ARCH, "arch=x"),
            (FeatureId::CPUDESC, "cpudesc=x"),
            (FeatureId::CPUID, "cpuid=x"),
        ] {
            assert_eq!(said(id, &text, endian), [expected]);
        }
        let number = bytes(endian, |encoder| encoder.u64(7));
        for (id, expected) in [
            (FeatureId::TOTAL_MEM, "total_mem_kib=7"),
            (FeatureId::CLOCKID, "clockid.resolution_ns=7"),
            (FeatureId::DIR_FORMAT, "dir_format.version=7"),
        ] {
            assert_eq!(said(id, &number, endian), [expected]);
            assert!(Feature::parse(id, &number[..7], endian).is_err());
        }
        let pair = bytes(endian, |encoder| u32s(&[62, 1], encoder));
        for id in [FeatureId::E_MACHINE, FeatureId::CLN_SIZE] {
            assert_eq!(
                said(id, &pair, endian),
                ["e_machine.machine=62", "e_machine.flags=0x1"]
            );
            assert_eq!(said(id, &pair[..4], endian), ["cln_size.bytes=62"]);
        }
    }
}

#[test]
fn sections_of_rprofs_own_numbers_have_names() {
    let cases = [
        (
            FeatureId::LEFT_OUT,
            vec!["left_out.own=0", "left_out.others=1"],
        ),
        (
            FeatureId::RECORDER_COST,
            vec![
                "recorder_cost.cpu_ns=0",
                "recorder_cost.wall_ns=1",
                "recorder_cost.ring_bytes=2",
                "recorder_cost.written_bytes=3",
            ],
        ),
        (
            FeatureId::CPU_BUDGET,
            vec![
                "cpu_budget.percent=0",
                "cpu_budget.small_dumps_after_ns=1",
                "cpu_budget.not_unwound_after_ns=2",
                "cpu_budget.rarer_after_ns=3",
                "cpu_budget.hz=4",
            ],
        ),
        (
            FeatureId::THINNING,
            vec![
                "thinning.samples_per_hour=0",
                "thinning.taken=1",
                "thinning.kept=2",
            ],
        ),
    ];
    for endian in ORDERS {
        for (id, expected) in &cases {
            let section = bytes(endian, |encoder| {
                u64s(&[0, 1, 2, 3, 4][..expected.len()], encoder)
            });
            assert_eq!(&said(*id, &section, endian), expected);
            assert!(Feature::parse(*id, &section[..section.len() - 4], endian).is_err());
        }
    }
}

#[test]
fn sections_without_bytes_or_without_meaning_are_said_too() {
    let said = |id| said(FeatureId(id), &[], Endian::Little);
    assert_eq!(said(15), ["branch_stack=Bool(true)"]);
    assert_eq!(said(19), ["stat=Bool(true)"]);
    assert_eq!(said(131), ["simpleperf_debug_unwind_file.len_bytes=0"]);
    assert_eq!(said(134), ["simpleperf_init_map.len_bytes=0"]);
    assert_eq!(said(250), ["feature_250.len_bytes=0"]);
}

proptest! {
    #[test]
    fn any_bytes_never_panic_and_descriptions_hold(section in small_counts(300), big: bool) {
        let endian = if big { Endian::Big } else { Endian::Little };
        for id in (0..=256).map(FeatureId) {
            Feature::check_description(id, &section, endian);
            if let Ok(feature) = Feature::parse(id, &section, endian) {
                Flat::of(|fields| feature.visit(fields));
            }
        }
    }
}
