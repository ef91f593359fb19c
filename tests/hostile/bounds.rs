//! Memory is bounded by what is really there: sections, features, logs and names that claim more than
//! files have, or that become more than anybody needs.

use crate::common::{
    Running, both, compile_c, in_path, needs, report, rprof, run, scratch, signal, tool, until,
};
use crate::hostile::elf::{Section, append_hole, append_packed, with_sections};
use crate::hostile::memory::Peak;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const GIB: u64 = 1 << 30;

/// The recorder takes no more, whatever is mapped, MiB.
const RECORDER: u64 = 256;

/// Readers of small recordings take no more: what the budget is, and their own, MiB.
pub(crate) const READER: u64 = 512 + 128;

pub(crate) const PROGRAM: &str = "
    static volatile unsigned long sink;
    __attribute__((noinline)) void inner(long ms) { WORK(ms, sink += i); }
    __attribute__((noinline)) int outer(long ms) { inner(ms); return sink == 1; }
    int main(void) { return outer(150); }";

/// A program that has been told lies about, and that runs all the same.
fn program(dir: &Path, lie: impl Fn(&Path)) -> PathBuf {
    let program = compile_c(dir, "program", PROGRAM);
    // The compiler's own DWARF would be in the way.
    run(tool("strip").arg("--strip-debug").arg(&program)).ok();
    lie(&program);
    program
}

pub(crate) fn recorded(dir: &Path, program: &Path) -> PathBuf {
    let file = dir.join("perf.data");
    let mut record = rprof(["record", "-q", "-e", "cpu-clock", "-F", "999", "-o"]);
    run(record.arg(&file).arg("--").arg(program)).ok();
    file
}

#[test]
fn the_recorder_stays_small_whatever_is_mapped() {
    needs!(x86_64, "strip" in "binutils", alone);
    let dir = scratch();
    let peak = Peak::new(dir.path());
    let hole = |name: &'static str| {
        move |path: &Path| {
            let at = append_hole(path, 4 * GIB);
            let contents = (at, 4 * GIB, false);
            with_sections(path, &[Section { name, contents }]);
        }
    };
    let packed = |path: &Path| {
        let (at, len) = append_packed(path, 1500 << 20);
        let contents = (at, len, true);
        let name = ".debug_frame";
        with_sections(path, &[Section { name, contents }]);
    };
    let lies: [&dyn Fn(&Path); 4] = [
        &hole(".eh_frame"),
        &hole(".debug_frame"),
        &hole(".note.gnu.build-id"),
        &packed,
    ];
    for lie in lies {
        let program = program(dir.path(), lie);
        let mut record = rprof(["record", "-e", "cpu-clock", "-F", "999", "-o"]);
        record
            .arg(dir.path().join("perf.data"))
            .arg("--")
            .arg(program);
        let (ran, mib) = peak.of(&record);
        ran.ok();
        assert!(mib < RECORDER, "{mib} MiB");
    }
}

/// Sixteen processes with 60,000 mappings each, no two alike, that live at the same time.
const MANY: &str = r#"
    #include <fcntl.h>
    #include <sys/mman.h>
    #include <sys/wait.h>
    #include <unistd.h>
    int main(int n_args, char **args) {
        int file = open(args[0], O_RDONLY), ready[2], go[2];
        char one;
        if (pipe(ready) || pipe(go)) return 1;
        for (long n = 0; n < 16; n++) {
            if (fork() == 0) {
                close(go[1]);
                for (long i = 0; i < 60000; i++) {
                    char *at = (char *)0x100000000000 + (n << 32) + (i << 13);
                    mmap(at, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, 0);
                }
                if (write(ready[1], "x", 1) != 1 || read(go[0], &one, 1) != 0) return 1;
                WORK(20, ;);
                _exit(0);
            }
            if (read(ready[0], &one, 1) != 1) return 1;
        }
        WORK(50, ;);
        close(go[1]);
        while (wait(0) > 0) {}
        return 0;
    }"#;

#[test]
fn the_recorder_stays_small_however_many_mappings_live() {
    needs!(alone);
    let dir = scratch();
    let peak = Peak::new(dir.path());
    let program = compile_c(dir.path(), "many", MANY);
    let mut record = rprof(["record", "-e", "cpu-clock", "-F", "999", "-o"]);
    record.arg(dir.path().join("perf.data"));
    let (ran, mib) = peak.of(record.arg("--").arg(program));
    let ran = ran.ok();
    assert!(mib < RECORDER, "{mib} MiB");
    // Unless so many were lost that the rest fits.
    let said = ["too many mappings", "mappings or names were lost"];
    let is_said = said.iter().any(|said| ran.stderr.contains(said));
    assert!(is_said, "{}", ran.stderr);
}

/// Twelve such processes, which have it all before anybody records, and wait until nobody does.
const MANY_BEFORE: &str = r#"
    #include <fcntl.h>
    #include <stdio.h>
    #include <sys/mman.h>
    #include <sys/wait.h>
    #include <unistd.h>
    int main(int n_args, char **args) {
        int file = open(args[0], O_RDONLY), ready[2];
        char one;
        if (pipe(ready)) return 1;
        for (long n = 0; n < 12; n++) {
            if (fork() == 0) {
                for (long i = 0; i < 60000; i++) {
                    char *at = (char *)0x100000000000 + (n << 32) + (i << 13);
                    mmap(at, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, 0);
                }
                if (write(ready[1], "x", 1) != 1) return 1;
                _exit(read(0, &one, 1) != 0);
            }
        }
        for (int n = 0; n < 12; n++) if (read(ready[0], &one, 1) != 1) return 1;
        puts("ready");
        fflush(stdout);
        while (wait(0) > 0) {}
        return 0;
    }"#;

#[test]
fn the_recorder_stays_small_whatever_others_have_mapped_before() {
    needs!(alone, all_cpus);
    let dir = scratch();
    let peak = Peak::new(dir.path());
    let mut many = Running::start(&mut tool(compile_c(dir.path(), "many", MANY_BEFORE)));
    assert_eq!(many.line(), "ready");
    for more in [&[][..], &["--tail-synthesize"]] {
        let mut record = rprof(["record", "-a", "-e", "cpu-clock", "-F", "99", "-o"]);
        record.arg(dir.path().join("perf.data")).args(more);
        let (ran, mib) = peak.of(record.args(["--", "true"]));
        let ran = ran.ok();
        assert!(mib < RECORDER, "{mib} MiB");
        assert!(ran.stderr.contains("too many mappings"), "{}", ran.stderr);
    }
    // The writer has much to do yet, and takes longer than a disk may.
    let mut record = rprof(["record", "-a", "-e", "cpu-clock", "-F", "99", "-o"]);
    record.arg(dir.path().join("interrupted.data"));
    let mut recorder = Running::start(&mut both(&record));
    until(&mut recorder, "press Ctrl-C to stop");
    signal(recorder.pid(), "INT");
    let said = recorder.finish().ok().stdout;
    assert!(said.contains("too many mappings"), "{said}");
    report(&dir.path().join("interrupted.data"), &["-g", "none"]);
    many.close_input();
    many.finish().ok();
}

#[test]
fn sections_that_are_holes_or_the_same_bytes_are_not_read() {
    needs!(x86_64, "strip" in "binutils", live);
    let dir = scratch();
    let peak = Peak::new(dir.path());
    let names = [
        ".debug_info",
        ".debug_abbrev",
        ".debug_str",
        ".debug_line",
        ".debug_ranges",
        ".debug_rnglists",
        ".debug_addr",
        ".debug_aranges",
        ".debug_line_str",
        ".debug_str_offsets",
    ];
    let all = |path: &Path, contents| {
        let sections = names.map(|name| Section { name, contents });
        with_sections(path, &sections);
    };
    let holes = |path: &Path| {
        let at = append_hole(path, 4 * GIB);
        all(path, (at, 4 * GIB, false));
    };
    let same = |path: &Path| {
        let (at, len) = append_packed(path, 400 << 20);
        all(path, (at, len, true));
    };
    let notes = |path: &Path| {
        let contents = (append_hole(path, 4 * GIB), 4 * GIB, false);
        let name = ".note.gnu.build-id";
        with_sections(path, &[Section { name, contents }]);
    };
    const NOTES: usize = 2;
    let lies: [&dyn Fn(&Path); 3] = [&holes, &same, &notes];
    for (idx, lie) in lies.into_iter().enumerate() {
        let program = program(dir.path(), lie);
        let file = recorded(dir.path(), &program);
        for verb in ["report", "symbols"] {
            let (ran, mib) = peak.of(rprof([verb, "-i"]).arg(&file));
            let ran = ran.ok();
            assert!(mib < READER, "{verb}: {mib} MiB");
            // Without its notes the file is not the one that was recorded.
            let is_named = ran.stdout.contains("inner") || idx == NOTES;
            assert!(is_named || verb == "symbols", "{}", ran.stdout);
        }
    }
}

#[test]
fn what_does_not_fit_is_left_out_and_said_to_be() {
    needs!(x86_64, "strip" in "binutils", live);
    let dir = scratch();
    let peak = Peak::new(dir.path());
    let program = program(dir.path(), |path| {
        let (at, len) = append_packed(path, 300 << 20);
        let contents = (at, len, true);
        let name = ".debug_info";
        with_sections(path, &[Section { name, contents }]);
    });
    let file = recorded(dir.path(), &program);
    let ask = |mem: &str| {
        let (ran, mib) = peak.of(rprof(["report", "--mem", mem, "-i"]).arg(&file));
        let ran = ran.ok();
        assert!(ran.stdout.contains("inner"), "{}", ran.stdout);
        (ran.stderr, mib)
    };
    let (said, mib) = ask("100M");
    let path = program.to_str().unwrap();
    assert!(said.contains(path) && said.contains("--mem"), "{said}");
    assert!(mib < 228, "{mib} MiB");
    let (said, _) = ask("1G");
    assert!(!said.contains("--mem"), "{said}");
}

/// With so much address space that there is no memory for what is claimed, where there is a tool
/// to say so.
fn within_2_gib(command: &Command) -> Command {
    let limit = match in_path("prlimit") {
        Some(_) => ["prlimit", "--as=2147483648"],
        None => ["env", "--"],
    };
    let mut limited = tool("env");
    limited.args(limit).arg(command.get_program());
    limited.args(command.get_args());
    limited
}

#[test]
fn features_that_are_holes_are_not_read() {
    needs!(alone);
    let dir = scratch();
    let peak = Peak::new(dir.path());
    let file = dir.path().join("perf.data");
    run(rprof(["record", "-q", "-e", "cpu-clock", "-o"])
        .arg(&file)
        .args(["--", "true"]))
    .ok();
    let bytes = std::fs::read(&file).unwrap();
    let number = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap());
    // Behind the records lies a place and a length for each feature, in the order of bits.
    let table = number(40) + number(48);
    let n_features: u32 = (72..104).step_by(8).map(|at| number(at).count_ones()).sum();
    for len in [3 * GIB, 30 * GIB] {
        let recording = File::options().write(true).open(&file).unwrap();
        let hole = append_hole(&file, len);
        for idx in 0..u64::from(n_features) {
            let entry = [hole.to_ne_bytes(), len.to_ne_bytes()].concat();
            recording.write_all_at(&entry, table + 16 * idx).unwrap();
        }
        for verb in ["report", "info", "script", "dump"] {
            let (ran, mib) = peak.of(&within_2_gib(rprof([verb, "-i"]).arg(&file)));
            let ran = ran.ok();
            assert!(mib < READER, "{verb}: {mib} MiB");
            assert!(
                verb == "info" || ran.stderr.contains("hole"),
                "{}",
                ran.stderr
            );
        }
    }
}

/// Code without a file, and a list of names that is a hole but for its last line.
const MAPPED: &str = r#"
    #include <stdio.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <unistd.h>
    /* for (n = rdi; n; n--) */
    static const unsigned char code[] = {0x48, 0x83, 0xef, 0x01, 0x75, 0xfa, 0xc3};
    int main(void) {
        char path[64];
        unsigned char *at = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memcpy(at, code, sizeof code);
        mprotect(at, 4096, PROT_READ | PROT_EXEC);
        snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
        FILE *map = fopen(path, "w");
        fseek(map, 10L << 30, SEEK_SET);
        fprintf(map, "\n%lx %lx made here\n", (long)at + 4096, 16L);
        fclose(map);
        puts(path);
        for (long end = CPU_US() + 150000; CPU_US() < end;) ((void (*)(unsigned long))at)(100000);
        return 0;
    }"#;

#[test]
fn a_map_of_names_that_is_a_hole_is_not_read() {
    needs!(x86_64, alone);
    let dir = scratch();
    let program = compile_c(dir.path(), "mapped", MAPPED);
    let file = dir.path().join("perf.data");
    let mut record = rprof(["record", "-q", "-e", "cpu-clock", "-F", "999", "-o"]);
    let ran = run(record.arg(&file).arg("--").arg(&program)).ok();
    let map = PathBuf::from(ran.stdout.trim());
    let unnamed = run(rprof(["symbols", "--all", "-i"]).arg(&file)).ok();
    std::fs::remove_file(&map).unwrap();
    assert!(
        unnamed.stdout.contains("cannot be read"),
        "{}",
        unnamed.stdout
    );
}

/// A log with very many pieces of code, which children have, too.
const LOGGED: &str = r#"
    #include <fcntl.h>
    #include <stdint.h>
    #include <stdio.h>
    #include <sys/mman.h>
    #include <sys/wait.h>
    #include <time.h>
    #include <unistd.h>
    static FILE *dump;
    static void u32(uint32_t n) { fwrite(&n, 4, 1, dump); }
    static void u64(uint64_t n) { fwrite(&n, 8, 1, dump); }
    int main(void) {
        char path[64];
        snprintf(path, sizeof path, "jit-%d.dump", getpid());
        dump = fopen(path, "w+");
        u32(0x4a695444); u32(1); u32(40); u32(62); u32(0); u32(getpid()); u64(0); u64(0);
        for (long n = 0; n < 20000; n++) {
            struct timespec t;
            clock_gettime(CLOCK_MONOTONIC, &t);
            u32(0); u32(56 + 2 + 1); u64(t.tv_sec * 1000000000ull + t.tv_nsec);
            u32(getpid()); u32(getpid()); u64(0x10000 + n * 16); u64(0x10000 + n * 16); u64(1); u64(n);
            fwrite("f", 2, 1, dump); fwrite("", 1, 1, dump);
        }
        fflush(dump);
        mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0);
        for (int n = 0; n < 40; n++)
            if (fork() == 0) {
                mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0);
                _exit(0);
            }
        while (wait(0) > 0) {}
        WORK(50, ;);
        return 0;
    }"#;

#[test]
fn pieces_of_code_are_of_the_budget_for_each_process_that_has_them() {
    needs!(live);
    let dir = scratch();
    let peak = Peak::new(dir.path());
    let program = compile_c(dir.path(), "logged", LOGGED);
    let file = dir.path().join("perf.data");
    let mut record = rprof(["record", "-q", "-e", "cpu-clock", "-F", "999", "-o"]);
    record.arg(&file).arg("--").arg(&program);
    run(record.current_dir(dir.path())).ok();
    let (ran, mib) = peak.of(rprof(["report", "--mem", "100M", "-i"]).arg(&file));
    let ran = ran.ok();
    assert!(ran.stderr.contains("--mem"), "{}", ran.stderr);
    assert!(mib < 228, "{mib} MiB");
}

#[test]
fn a_debug_file_that_is_a_hole_has_no_checksum() {
    needs!("objcopy" in "binutils", live);
    let dir = scratch();
    let program = program(dir.path(), |_| {});
    let debug = dir.path().join("program.debug");
    run(tool("objcopy")
        .args(["--remove-section=.note.gnu.build-id"])
        .arg(&program))
    .ok();
    std::fs::copy(&program, &debug).unwrap();
    run(tool("objcopy")
        .arg("--add-gnu-debuglink=program.debug")
        .arg(&program)
        .current_dir(dir.path()))
    .ok();
    // A thousand times what is read in a second.
    append_hole(&debug, 2000 * GIB);
    let file = recorded(dir.path(), &program);
    assert!(report(&file, &[]).contains("inner"));
}
