//! All sections through [`Feature`]: names, damage.

use super::*;
use crate::feature::encode_string;
use crate::testing::{Flat, ORDERS, bytes, u32s};
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
    fn any_bytes_never_panic_and_never_loop(
        section in proptest::collection::vec(prop_oneof![Just(0u8), Just(1), any::<u8>()], 0..300),
        big: bool,
    ) {
        let endian = if big { Endian::Big } else { Endian::Little };
        for id in (0..=256).map(FeatureId) {
            if let Ok(feature) = Feature::parse(id, &section, endian) {
                Flat::of(|fields| feature.visit(fields));
            }
        }
    }
}
