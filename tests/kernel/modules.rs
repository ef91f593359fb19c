//! Modules of a kernel: found by name, unpacked, laid out as in memory.

use crate::common::{self, has};
use crate::kernel::machine::{MODULE, Machine, RELEASE, can_run, has_module};
use std::path::Path;

#[test]
fn modules_are_found_by_name_unpacked_and_laid_out_as_in_the_kernel() {
    if !can_run() || !has("xz", "xz-utils") || !has("zstd", "zstd") {
        return;
    }
    let machine = Machine::new();
    let dir = format!("lib/modules/{RELEASE}/kernel/net");
    for recorded in ["[test_module]", &format!("/{dir}/test-module.ko")] {
        machine.record(recorded);
        for (pack, ending) in [
            ("cp stripped.ko packed.", ""),
            ("xz -k -C crc32 stripped.ko", ".xz"),
            ("zstd -q stripped.ko", ".zst"),
            ("gzip -k stripped.ko", ".gz"),
        ] {
            machine.make(pack);
            let file = match ending {
                "" => "packed.".to_owned(),
                _ => format!("stripped.ko{ending}"),
            };
            let place = format!("{dir}/test-module.ko{ending}");
            machine.install(&file, &place);
            let named = machine.script(&[]);
            has_module(&named);
            let table = machine.rprof(&["report", "--no-children", "-g", "none"]);
            has_module(&table);
            std::fs::remove_file(machine.path("root").join(place)).unwrap();
            std::fs::remove_file(machine.path(&file)).unwrap();
        }
    }
    // Another module of that name.
    std::fs::write(machine.path("module.c"), MODULE.replace("+ 3", "+ 4")).unwrap();
    machine.make("cc -O1 -fno-pie -c -o other.o module.c");
    machine.make("ld -r --build-id -o other.ko other.o");
    machine.install("other.ko", &format!("{dir}/test-module.ko"));
    assert!(!machine.script(&[]).contains("module_work"));
}

#[test]
fn debug_files_of_modules_give_inlined_functions_and_lines() {
    if !can_run() {
        return;
    }
    let machine = Machine::new();
    machine.record("[module]");
    let dir = format!("usr/lib/debug/lib/modules/{RELEASE}/kernel");
    machine.make("objcopy --compress-debug-sections=zlib module.ko packed.ko");
    machine.make("objcopy --only-keep-debug module.ko debug.ko");
    machine.install("stripped.ko", &format!("lib/modules/{RELEASE}/module.ko"));
    for (file, ending) in [("module.ko", ""), ("packed.ko", ""), ("debug.ko", ".debug")] {
        let place = format!("{dir}/module.ko{ending}");
        machine.install(file, &place);
        let named = machine.script(&[]);
        has_module(&named);
        for expected in ["module.c:3", "module.c:12"] {
            assert!(
                named.contains(expected),
                "{file}: no {expected} in\n{named}"
            );
        }
        let folded = machine.rprof(&["flame", "--folded"]);
        let inlined = ";module_work;module_inlined 1";
        assert!(folded.contains(inlined), "{file}: {folded}");
        std::fs::remove_file(machine.path("root").join(place)).unwrap();
    }
}

#[test]
fn damaged_files_of_a_kernel_give_no_names_and_nothing_worse() {
    if !can_run() || !has("xz", "xz-utils") {
        return;
    }
    let machine = Machine::new();
    machine.record("[module]");
    machine.make("xz -k -C crc32 module.ko");
    let place = format!("root/lib/modules/{RELEASE}");
    std::fs::create_dir_all(machine.path(&place)).unwrap();
    let write = |name: &str, bytes: &[u8]| {
        common::write(&machine.path(&place).join(name), bytes);
        machine.script(&[]);
        std::fs::remove_file(machine.path(&place).join(name)).unwrap();
    };
    for (file, name) in [("module.ko", "module.ko"), ("module.ko.xz", "module.ko.xz")] {
        let bytes = std::fs::read(machine.path(file)).unwrap();
        for part in 1..8 {
            write(name, &bytes[..bytes.len() * part / 8]);
            let mut damaged = bytes.clone();
            let at = bytes.len() * part / 8;
            damaged[at] ^= 0x80;
            write(name, &damaged);
        }
    }
    // A FIFO that nobody writes to.
    let fifo = Path::new(&place).join("module.ko");
    machine.make(&format!("mkfifo {}", fifo.display()));
    assert!(!machine.script(&[]).contains("module_work"));
}
