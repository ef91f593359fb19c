//! Modules made here, whole and damaged.

mod example;

use super::*;
use crate::SymbolTable;
use example::{compressed, example};
use proptest::prelude::*;
use std::io::Write;

#[test]
fn code_is_laid_out_as_the_kernel_does_and_dwarf_points_to_it() {
    let elf = module_from_memory(example(), "x.ko", &Budget::default()).unwrap();
    let start = |name| elf.section_range(name).map(|range| range.start.0);
    assert_eq!(start(".text"), Some(MODULE_BASE.0));
    assert_eq!(start(".exit.text"), Some(MODULE_BASE.0 + 32));
    assert!(start(".init.text") >= Some(ELSEWHERE) && start(".data") > start(".init.text"));
    let dwarf = elf.section(".debug_info").unwrap();
    let word = u64::from_le_bytes(dwarf[..8].try_into().unwrap());
    assert_eq!(word, MODULE_BASE.0 + 5 + 2);
    // 32 bits hold the lower half.
    let half = u32::from_le_bytes(dwarf[8..].try_into().unwrap());
    assert_eq!(u64::from(half), (MODULE_BASE.0 + 32 + 7 + 3) & 0xffff_ffff);
}

#[test]
fn compressed_modules_are_decompressed() {
    let plain = example();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&plain).unwrap();
    let compressed = encoder.finish().unwrap();
    assert_eq!(
        decompress(compressed.clone(), &mut Budget::default().hold_nothing()).unwrap(),
        plain
    );
    assert!(
        module_from_memory(
            compressed[..compressed.len() / 2].to_vec(),
            "x",
            &Budget::default()
        )
        .is_err()
    );
    for magic in [&b"\xfd7zXZ\0"[..], b"\x28\xb5\x2f\xfd", b"\x1f\x8b"] {
        let garbage = [magic, &[0xaa; 100]].concat();
        assert!(module_from_memory(garbage, "x", &Budget::default()).is_err());
        assert!(module_from_memory(magic.to_vec(), "x", &Budget::default()).is_err());
    }
}

#[test]
fn compressed_sections_are_decompressed_and_point_to_code() {
    let noise = |at: usize| ((at * at) >> 3).to_le_bytes()[0];
    let elf = module_from_memory(compressed(1, 4096, noise), "x.ko", &Budget::default()).unwrap();
    let dwarf = elf.section(".debug_info").unwrap();
    assert_eq!(
        (dwarf.len(), dwarf[7], dwarf[16]),
        (4096, noise(7), noise(16))
    );
    let word = u64::from_le_bytes(dwarf[8..16].try_into().unwrap());
    assert_eq!(word, MODULE_BASE.0 + 5 + 2);
}

#[test]
fn sections_that_are_the_same_compressed_bytes_do_not_fill_memory() {
    // Each alone is little, all of them are more than a module may become.
    let is_read = |n| {
        let file = compressed(n, 30_000, |_| 0);
        let more = u64::from(n) * 30_000 > most_from(&file);
        match module_from_memory(file, "x.ko", &Budget::default()) {
            Ok(_) => !more,
            Err(ElfError::Io { source, .. }) if source.to_string() == too_large().to_string() => {
                assert!(more);
                false
            }
            Err(other) => panic!("{other:?}"),
        }
    };
    assert!(is_read(1) && !is_read(40));
}

#[test]
fn another_module_is_not_laid_out() {
    let wanted = BuildId::new(&[7; 20]).unwrap();
    let is_placed = |wanted| {
        let elf = module(example(), "x.ko", wanted, &Budget::default()).unwrap();
        elf.section_range(".text").is_some()
    };
    assert!(!is_placed(Some(&wanted)) && is_placed(None));
}

#[test]
fn cut_modules_are_errors_or_read_as_far_as_they_go() {
    let whole = example();
    for len in 0..whole.len() {
        let _ = module_from_memory(whole[..len].to_vec(), "x", &Budget::default());
    }
}

proptest! {
    #[test]
    fn damage_is_survived(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = example();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let len = bytes.len();
        if let Ok(elf) = module_from_memory(bytes, "x", &Budget::default()) {
            let _ = elf.for_each_symbol(SymbolTable::Static, |_| {});
            prop_assert!(elf.section(".debug_info").is_none_or(|dwarf| dwarf.len() <= len * 1032));
        }
    }
}
