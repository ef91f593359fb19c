//! DWARF that nests: functions inlined into each other, names inside names.

use crate::common::{compile_c, needs, rprof, run, scratch, tool};
use crate::hostile::bounds::{PROGRAM, READER, recorded};
use crate::hostile::memory::Peak;

/// Functions inlined into each other, 20,000 times.
const NESTED: &str = r#"
    .section .debug_abbrev
    .uleb128 1, 0x11
    .byte 1
    .uleb128 0x11, 0x01, 0x12, 0x07, 0, 0
    .uleb128 2, 0x2e
    .byte 1
    .uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0
    .uleb128 3, 0x1d
    .byte 1
    .uleb128 0, 0
    .byte 0
    .section .debug_info
    .4byte end - begin
begin:
    .2byte 4
    .4byte .debug_abbrev
    .byte 8
    .uleb128 1
    .8byte inner, 4096
    .uleb128 2
    .asciz "inner"
    .8byte inner, 4096
    .rept 20000
    .byte 3
    .endr
    .rept 20000
    .byte 0
    .endr
    .byte 0, 0
end:
    .section .note.GNU-stack,"",@progbits
"#;

#[test]
fn functions_inlined_into_each_other_without_end_do_not_end_rprof() {
    needs!(x86_64, live);
    let dir = scratch();
    let source = PROGRAM.replace(
        "int main(void) { return outer(150); }",
        "int main(void) { return outer(150) + 7; }",
    );
    let plain = compile_c(dir.path(), "plain", &source);
    std::fs::write(dir.path().join("nested.s"), NESTED).unwrap();
    let program = dir.path().join("nested");
    let mut cc = tool("cc");
    cc.args([
        "-O1",
        "-g0",
        "-fno-omit-frame-pointer",
        "-fno-optimize-sibling-calls",
        "-o",
    ]);
    cc.arg(&program).arg(plain.with_extension("c"));
    run(cc.arg(dir.path().join("nested.s"))).ok();
    let file = dir.path().join("perf.data");
    let mut record = rprof(["record", "--embed-symbols", "-e", "cpu-clock", "-o"]);
    record.arg(&file).arg("--").arg(&program);
    let ran = run(&mut record);
    assert_eq!(ran.status.code(), Some(7), "{}", ran.stderr);
    let mut record = rprof(["record", "-q", "-e", "cpu-clock", "-o"]);
    let ran = run(record.arg(&file).arg("--").arg(&program));
    assert_eq!(ran.status.code(), Some(7), "{}", ran.stderr);
    let ran = run(rprof(["report", "-i"]).arg(&file)).ok();
    assert!(ran.stdout.contains("inner"), "{}", ran.stdout);
    assert!(ran.stderr.contains("nests too deep"), "{}", ran.stderr);
    let mut script = rprof(["script", "-F", "ip,sym,srcline", "-i"]);
    run(script.arg(&file)).ok();
}

/// A table of lines whose 3,000 files are called by what is left of one long name.
const FILES: &str = r#"
    .section .debug_abbrev
    .uleb128 1, 0x11
    .byte 0
    .uleb128 0x11, 0x01, 0x12, 0x07, 0x10, 0x17, 0, 0
    .byte 0
    .section .debug_info
    .4byte info_end - info
info:
    .2byte 4
    .4byte .debug_abbrev
    .byte 8
    .uleb128 1
    .8byte inner, 4096
    .4byte 0
info_end:
    .section .debug_line
    .4byte line_end - line
line:
    .2byte 5
    .byte 8, 0
    .4byte program - head
head:
    .byte 1, 1, 1, -5, 14, 13
    .byte 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1
    .byte 1
    .uleb128 1, 0x1f
    .uleb128 1
    .4byte 0
    .byte 1
    .uleb128 1, 0x1f
    .uleb128 3000
    .set at, 0
    .rept 3000
    .4byte at
    .set at, at + 1
    .endr
program:
    .byte 0, 9, 2
    .8byte inner
    .byte 1, 2
    .uleb128 4096
    .byte 0, 1, 1
line_end:
    .section .debug_line_str
    .fill 5000000, 1, 'x'
    .byte 0
    .section .note.GNU-stack,"",@progbits
"#;

#[test]
fn names_inside_names_are_not_kept_in_full() {
    needs!(x86_64, live);
    let dir = scratch();
    let peak = Peak::new(dir.path());
    let plain = compile_c(dir.path(), "plain", PROGRAM);
    std::fs::write(dir.path().join("files.s"), FILES).unwrap();
    let program = dir.path().join("files");
    let mut cc = tool("cc");
    cc.args(["-O1", "-g0", "-fno-omit-frame-pointer", "-o"]);
    cc.arg(&program).arg(plain.with_extension("c"));
    run(cc.arg(dir.path().join("files.s"))).ok();
    let file = recorded(dir.path(), &program);
    for ask in [
        &["report", "-i"][..],
        &["script", "-F", "ip,sym,srcline", "-i"],
    ] {
        let (ran, mib) = peak.of(rprof(ask).arg(&file));
        let ran = ran.ok();
        assert!(mib < READER, "{mib} MiB");
        assert!(ran.stdout.contains("inner"), "{}", ran.stdout);
    }
}
