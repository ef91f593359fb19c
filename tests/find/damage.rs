//! Whatever is at the path of a program or of its debug file: a report, in bounded memory.

use crate::common::{needs, rprof, run};
use crate::find::program::{BUILD_ID, Recorded, alone, compile, shown, tool};

#[test]
fn pipes_devices_and_folders_are_no_programs() {
    let Some(one) = Recorded::new(&[BUILD_ID], &[]) else {
        return;
    };
    for make in ["mkfifo program", "ln -s /dev/zero program", "mkdir program"] {
        one.clear();
        tool(one.path(), make);
        let table = shown(&one.file);
        assert!(table.contains("not a regular file"), "{make}: {table}");
    }
}

#[test]
fn a_section_cannot_claim_memory_that_it_does_not_fill() {
    needs!("objcopy" in "binutils");
    let Some(one) = Recorded::new(&[BUILD_ID], &[]) else {
        return;
    };
    tool(
        one.path(),
        "objcopy --compress-debug-sections=zlib whole program",
    );
    let mut bytes = std::fs::read(&one.program).unwrap();
    // Elf64_Chdr: ELFCOMPRESS_ZLIB, reserved, size, alignment.
    let headers: Vec<usize> = (0..bytes.len() - 24)
        .step_by(8)
        .filter(|&at| bytes[at..at + 8] == [1, 0, 0, 0, 0, 0, 0, 0])
        .filter(|&at| bytes[at + 24] == 0x78)
        .collect();
    assert!(!headers.is_empty());
    for at in headers {
        bytes[at + 8..at + 16].copy_from_slice(&(1u64 << 40).to_le_bytes());
    }
    std::fs::write(&one.program, bytes).unwrap();
    let mut limited = crate::common::tool("sh");
    let rprof = env!("CARGO_BIN_EXE_rprof");
    let shell = format!("ulimit -v 4000000; MALLOC_ARENA_MAX=1 exec {rprof} report -i perf.data");
    let limited = limited.args(["-c", &shell]).current_dir(one.path());
    let ran = run(alone(limited, &one.file)).ok();
    assert!(ran.stdout.contains("local_work"), "{}", ran.stdout);
}

#[test]
fn damaged_files_cost_names_and_nothing_else() {
    needs!("xz" in "xz-utils", "objcopy" in "binutils");
    let Some(one) = Recorded::new(&[BUILD_ID], &[]) else {
        return;
    };
    let dir = one.path();
    // Debug file, split unit and symbols inside.
    compile(dir, "program", &[BUILD_ID, "-gsplit-dwarf"]);
    tool(dir, "objcopy --only-keep-debug program part");
    tool(dir, "xz -k whole");
    let strip = "objcopy --strip-all --add-section .gnu_debugdata=whole.xz";
    tool(
        dir,
        &format!("{strip} --add-gnu-debuglink=part program stripped"),
    );
    let mut seed = 1u64;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(seed >> 33).unwrap() % below
    };
    for (target, name) in [
        ("program", "stripped"),
        ("part", "part"),
        ("program-spin.dwo", "program-spin.dwo"),
    ] {
        let whole = std::fs::read(dir.join(name)).unwrap();
        std::fs::copy(dir.join("stripped"), dir.join("program")).unwrap();
        for round in 0..24 {
            let mut bytes = whole.clone();
            match round % 3 {
                0 => bytes.truncate(next(whole.len())),
                _ => {
                    for _ in 0..=next(32) {
                        let at = next(whole.len());
                        bytes[at] = u8::try_from(next(256)).unwrap();
                    }
                }
            }
            std::fs::write(dir.join(target), bytes).unwrap();
            let mut script = rprof(["script", "-F", "ip,sym,srcline", "-i"]);
            run(alone(script.arg(&one.file), &one.file)).ok();
        }
        std::fs::write(dir.join(target), whole).unwrap();
    }
}
