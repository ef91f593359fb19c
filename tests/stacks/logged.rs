//! Code made at run time that neither its instructions nor frame pointers lead out of: only the log that its
//! compiler keeps says how.

use crate::common::{
    Program, Recording, has, in_path, needs, not_run, perf, rprof, run, scratch, tool,
};
use crate::stacks::samples::{Sample, program};
use std::path::{Path, PathBuf};

/// Three functions at one address, one after the other, with frames of other sizes. Each calls what it is
/// given for ever, and uses the frame pointer for something else. The log (`jit-PID.dump`) has them as they
/// are made, the last one only at the end.
const ENDLESS: &str = r#"
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <setjmp.h>
    #include <stdint.h>
    #include <stdio.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <time.h>
    #include <unistd.h>
    typedef void any(void);
    static FILE *dump;
    static any *page;
    static jmp_buf out;
    static int says_how;
    static uint64_t now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000ull + t.tv_nsec; }
    static void u32(uint32_t n) { fwrite(&n, 4, 1, dump); }
    static void u64(uint64_t n) { fwrite(&n, 8, 1, dump); }
    /* push %rbx; sub $bytes, %rsp; mov %rdi, %rbx; mov $1, %ebp; again: call *%rbx; jmp again */
    static unsigned char code[] = {0x53, 0x48, 0x83, 0xec, 0, 0x48, 0x89, 0xfb, 0xbd, 1, 0, 0, 0, 0xff, 0xd3, 0xeb, 0xfc};
    /* As after the code, at the next multiple of 8: .eh_frame, then .eh_frame_hdr. */
    static unsigned char frames[] = {
        20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0,
        24, 0, 0, 0, 28, 0, 0, 0, 0xc8, 0xff, 0xff, 0xff, 17, 0, 0, 0, 0,
        0x41, 0x0e, 16, 0x83, 2, 0x44, 0x0e, 0, 0x48, 0x07, 6, 0, 0, 0, 0,
        1, 0x1b, 3, 0x3b, 0xc4, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0xb0, 0xff, 0xff, 0xff, 0xe0, 0xff, 0xff, 0xff};
    static void make(unsigned char bytes) {
        code[4] = bytes;
        memcpy((char *)page, code, sizeof code);
    }
    static void log_it(const char *name, uint64_t time, uint64_t index, unsigned char bytes) {
        code[4] = bytes;
        frames[48] = bytes + 16;
        if (says_how) {
            u32(4); u32(40 + sizeof frames); u64(time); u64(sizeof frames); u64(20); u64(0);
            fwrite(frames, sizeof frames, 1, dump);
        }
        u32(0); u32(56 + strlen(name) + 1 + sizeof code); u64(time);
        u32(getpid()); u32(getpid()); u64((uint64_t)page); u64((uint64_t)page); u64(sizeof code); u64(index);
        fwrite(name, strlen(name) + 1, 1, dump); fwrite(code, sizeof code, 1, dump);
        fflush(dump);
    }
    NOINLINE void leaf(void) { spin(300); longjmp(out, 1); }
    NOINLINE void enter(void) { if (!setjmp(out)) ((void (*)(any *))page)(leaf); sink++; }
    NOINLINE void phase_one(void) { enter(); sink++; }
    NOINLINE void phase_two(void) { enter(); sink++; }
    NOINLINE void phase_three(void) { enter(); sink++; }
    int main(int argc, char **argv) {
        char path[64];
        if (chdir(argv[1])) return 3;
        says_how = argc < 3;
        snprintf(path, sizeof path, "jit-%d.dump", getpid());
        dump = fopen(path, "w+");
        mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0);
        u32(0x4a695444); u32(1); u32(40); u32(62); u32(0); u32(getpid()); u64(now()); u64(0);
        page = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        make(32);
        log_it("first", now(), 1, 32);
        phase_one();
        make(96);
        log_it("second", now(), 2, 96);
        phase_two();
        make(64);
        uint64_t third = now();
        phase_three();
        log_it("third", third, 3, 64);
        fclose(dump);
        return 0;
    }"#;

const PHASES: [[&str; 2]; 3] = [
    ["first", "phase_one"],
    ["second", "phase_two"],
    ["third", "phase_three"],
];

/// How many stacks of each phase are whole, and how many are not; their frames are right.
#[track_caller]
fn count(recording: &Recording) -> [(u32, u32); 3] {
    let mut counts = [(0, 0); 3];
    for sample in recording.samples_in("spin") {
        if sample.is_excused(recording) {
            continue;
        }
        let names = sample.names();
        assert_eq!(names[..2], ["spin", "leaf"], "{sample:#?}");
        let at = PHASES.iter().position(|[piece, _]| *piece == names[2]);
        let at = at.unwrap_or_else(|| panic!("{sample:#?}"));
        let [piece, phase] = PHASES[at];
        if sample.is_whole() {
            counts[at].0 += 1;
            sample.assert_is(recording, &["spin", "leaf", piece, "enter", phase, "main"]);
        } else {
            counts[at].1 += 1;
            assert_eq!(names.len(), 3, "{sample:#?}");
        }
    }
    counts
}

#[test]
fn code_is_left_as_its_log_says_while_recording() {
    needs!(x86_64);
    let Some(program) = program(ENDLESS) else {
        return;
    };
    let here = program.dir().to_str().unwrap();
    // While the third function ran the log had another one there, and what has been replaced when a stack is
    // walked is not known any more.
    let [first, second, third] = count(&program.record(&["-F", "999"], &[here]));
    assert!(first.0 > 20 && second.0 > 20 && third.1 > 20);
    let counts = count(&program.record(&["-F", "999"], &[here, "names only"]));
    assert!(
        counts
            .iter()
            .all(|&(whole, others)| whole == 0 && others > 20)
    );
}

/// A recording by perf, with copies of stacks.
fn by_perf(program: &Program, clock: &str, dir: &str) -> Recording {
    let args = ["-e", "cpu-clock", "-k", clock, "-F", "999"];
    let stacks = ["--call-graph", "dwarf,8192"];
    program.record_by_perf(&[&args[..], &stacks].concat(), &[dir])
}

#[test]
fn code_in_copies_of_stacks_is_left_as_its_log_says() {
    needs!(x86_64, perf);
    let Some(program) = program(ENDLESS) else {
        return;
    };
    let here = program.dir().to_str().unwrap();
    let recording = by_perf(&program, "mono", here);
    let counts = count(&recording);
    assert!(
        counts
            .iter()
            .all(|&(whole, others)| whole > 20 && others == 0)
    );
    // Where frames cannot be described, nothing is made up.
    let log = log_in(program.dir());
    let whole = std::fs::read(&log).unwrap();
    let mut damaged = whole.clone();
    for at in 0..damaged.len() - 3 {
        if damaged[at..].starts_with(&[0x41, 0x0e, 16, 0x83]) {
            damaged[at] = 0x3f;
        }
    }
    std::fs::write(&log, damaged).unwrap();
    let in_leaf = |sample: &Sample| sample.names().starts_with(&["spin", "leaf"]);
    for sample in recording.samples().iter().filter(|one| in_leaf(one)) {
        assert_eq!(
            (sample.names().len(), sample.is_whole()),
            (3, false),
            "{sample:#?}"
        );
    }
    // `unwinding_size` of the first piece.
    let mut lies = whole;
    lies[40 + 16] = 0xff;
    std::fs::write(&log, lies).unwrap();
    let mut report = rprof(["report", "-i"]);
    let said = run(report.arg(&recording.file)).ok().stderr;
    assert!(said.contains("1 record is damaged"), "{said}");
    // By another clock nobody knows what was there at the time.
    let recording = by_perf(&program, "raw", here);
    let samples = recording.samples();
    let in_leaf: Vec<_> = samples.iter().filter(|one| in_leaf(one)).collect();
    assert!(in_leaf.len() > 20 && !in_leaf.iter().any(|one| one.is_whole()));
}

#[test]
fn functions_of_python_are_left_as_its_log_says() {
    needs!(alone, x86_64);
    // Few systems have it.
    let works = || run(tool("python3.13").args(["-X", "perf_jit", "-c", ""])).status;
    if in_path("python3.13").is_none() || !works().success() {
        not_run("python3.13 is not here");
        return;
    }
    let has_perf = has("perf", "linux-perf");
    let dir = scratch();
    let file = dir.path().join("perf.data");
    let script = "
import os, time
def inner(n): return sum(i * i for i in range(n))
def middle(n): return inner(n) + 1
def outer(n): return middle(n) + 1
while time.process_time() < 0.7: outer(20000)
print(os.getpid())";
    let python = ["-X", "perf_jit", "-c", script];
    let mut rprof = rprof(["record", "-q", "-e", "cpu-clock", "-F", "999", "-o"]);
    rprof.arg(&file).arg("python3.13").args(python);
    let mut perf = perf(["record", "-q", "-e", "cpu-clock", "-k", "mono", "-F", "999"]);
    perf.args(["--call-graph", "dwarf,32768", "-o"]).arg(&file);
    perf.arg("python3.13").args(python);
    for (recorder, is_there) in [(&mut rprof, true), (&mut perf, has_perf)] {
        if !is_there {
            continue;
        }
        let ran = run(recorder).ok();
        let log = PathBuf::from(format!("/tmp/jit-{}.dump", ran.stdout.trim()));
        let recording = Recording::new(file.clone(), ran);
        let mut n_inside = 0;
        for sample in recording.samples() {
            let names = sample.names();
            let at = names.iter().position(|name| name.starts_with("py::inner:"));
            let Some(at) = at.filter(|_| !sample.is_excused(&recording)) else {
                continue;
            };
            assert!(sample.is_whole() && sample.has("_start"), "{sample:#?}");
            let mut callers = names[at..].iter().filter(|name| name.starts_with("py::"));
            for function in ["inner", "middle", "outer", "<module>"] {
                let expected = format!("py::{function}:<string>");
                assert_eq!(callers.next(), Some(&expected.as_str()), "{sample:#?}");
            }
            n_inside += 1;
        }
        std::fs::remove_file(log).unwrap();
        assert!(n_inside > 100, "{n_inside}");
    }
}

/// Where a function makes and takes back its frame, frame pointers leave out its caller.
#[test]
fn functions_of_node_have_their_callers_from_their_first_instruction_to_the_last() {
    needs!(alone, x86_64, "node" in "nodejs", perf);
    let dir = scratch();
    let script = "const compare = (x, y) => x - y;
        let t = 0;
        while (process.cpuUsage().user < 1500000) {
            const all = [];
            for (let i = 0; i < 3000; i++) all.push((t * i + i * i) % 1013);
            all.sort(compare);
            t += all[5] + 1;
        }";
    std::fs::write(dir.path().join("sort.js"), script).unwrap();
    let file = dir.path().join("perf.data");
    let mut perf = perf([
        "record",
        "-q",
        "-e",
        "cpu-clock",
        "-k",
        "mono",
        "-F",
        "1999",
    ]);
    perf.args(["--call-graph", "dwarf,8192", "-o"]).arg(&file);
    perf.args([
        "node",
        "--perf-prof",
        "--perf-prof-unwinding-info",
        "sort.js",
    ]);
    let ran = run(perf.current_dir(dir.path())).ok();
    let recording = Recording::new(file, ran);
    let mut n_inside = 0;
    for sample in recording.samples() {
        let names = sample.names();
        if let [first, caller, ..] = names[..]
            && first.starts_with("JS:*compare ")
        {
            assert!(caller.ends_with("SortCompareUserFn"), "{sample:#?}");
            n_inside += 1;
        }
    }
    assert!(n_inside > 20, "{n_inside}");
}

fn log_in(dir: &Path) -> PathBuf {
    let mut all = std::fs::read_dir(dir).unwrap().flatten();
    let log = all.find(|entry| entry.path().extension().is_some_and(|end| end == "dump"));
    log.unwrap().path()
}
