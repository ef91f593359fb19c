//! Any bytes as a kernel module, packed or not: read, or refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rprof_images::module_from_memory;

fuzz_target!(|bytes: &[u8]| {
    // Errors are answers, too.
    if let Ok(elf) = module_from_memory(bytes.to_vec(), "fuzz.ko", &Default::default()) {
        let _ = elf.for_each_symbol(rprof_images::SymbolTable::Static, |_| {});
        elf.section(".debug_info");
    }
});
