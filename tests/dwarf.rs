//! Stacks that were recorded as copies (`perf record --call-graph dwarf`) are unwound: a fixture
//! whose stacks are known, damage to it, and recordings made here, which perf reads in the same way.

use crate::common;
use crate::common::{
    NO_FRAME_POINTERS, compile, fixtures, golden, needs, rprof, run, scratch, tool, work, write,
};
use std::path::{Path, PathBuf};

fn walk() -> PathBuf {
    fixtures().join("dwarf")
}

/// What a reader makes of the fixture.
fn read(args: &[&str]) -> String {
    read_file(&walk().join("perf.data"), &walk().join("root"), args).stdout
}

fn read_file(file: &Path, root: &Path, args: &[&str]) -> common::Ran {
    let mut rprof = rprof(args);
    rprof.arg("-i").arg(file).arg("--symfs").arg(root);
    // perf keeps programs that it recorded there.
    rprof.env("HOME", root);
    run(&mut rprof).ok()
}

#[test]
fn trees_reach_from_where_samples_were_taken_to_the_start() {
    golden(&walk().join("report.txt"), &read(&["report"]));
}

#[test]
fn script_prints_every_frame() {
    golden(&walk().join("script.txt"), &read(&["script"]));
}

#[test]
fn stacks_are_cut_where_the_user_wants() {
    let args = ["script", "--max-stack", "2", "-F", "comm,ip,sym,stackend"];
    let text = read(&args);
    assert!(text.contains("leaf") && !text.contains("_start"), "{text}");
    assert!(text.contains("[stack ends here: max-stack]"), "{text}");
}

/// Of a sample of the fixture, by what its event records.
struct Places {
    /// What sort of registers there are.
    abi: usize,
    /// The bytes of the copy that are stack.
    dyn_size: usize,
}

/// Samples have: address, task, time, data address, period, chain, registers, stack, data source.
fn places(bytes: &[u8]) -> Vec<Places> {
    const N_REGISTERS: usize = 20;
    let word = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().unwrap());
    let int = |at: usize| usize::try_from(word(at)).unwrap();
    let (mut at, end) = (int(40), int(40) + int(48));
    let mut all = Vec::new();
    while at < end {
        let size = usize::from(u16::from_le_bytes([bytes[at + 6], bytes[at + 7]]));
        if bytes[at..at + 4] == [9, 0, 0, 0] {
            let chain = at + 8 + 5 * 8;
            let abi = chain + 8 + 8 * int(chain);
            let stack = abi + 8 + 8 * N_REGISTERS;
            let dyn_size = stack + 8 + int(stack);
            all.push(Places { abi, dyn_size });
        }
        at += size;
    }
    assert!(all.len() > 10);
    all
}

/// The fixture's numbers after a change to each of its samples.
fn stats_after(change: impl Fn(&mut [u8], &Places)) -> String {
    let mut bytes = std::fs::read(walk().join("perf.data")).unwrap();
    for sample in places(&bytes) {
        change(&mut bytes, &sample);
    }
    let dir = scratch();
    let file = dir.path().join("perf.data");
    write(&file, &bytes);
    let root = walk().join("root");
    read_file(&file, &root, &["script"]);
    read_file(&file, &root, &["report", "--stats"]).stdout
}

fn set(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

#[test]
fn each_way_to_end_is_counted() {
    let whole = stats_after(|_, _| {});
    assert!(whole.contains("100.00%       12  complete"), "{whole}");
    let none = stats_after(|bytes, at| set(bytes, at.abi, 3));
    assert!(none.contains("no user registers"), "{none}");
    let small = stats_after(|bytes, at| set(bytes, at.abi, 1));
    assert!(small.contains("100.00%       12  a 32-bit task"), "{small}");
    let empty = stats_after(|bytes, at| set(bytes, at.dyn_size, 0));
    assert!(empty.contains("100.00%       12  no stack dump"), "{empty}");
    let short = stats_after(|bytes, at| set(bytes, at.dyn_size, 8));
    assert!(short.contains("not on the stack"), "{short}");
    let more = stats_after(|bytes, at| set(bytes, at.dyn_size, u64::MAX));
    assert!(more.contains("100.00%       12  complete"), "{more}");
    // Zeros from the stack pointer up: a return address of 0 ends a stack.
    let zeros = stats_after(|bytes, at| bytes[at.dyn_size - 1024..at.dyn_size].fill(0));
    assert!(zeros.contains("100.00%       12  complete"), "{zeros}");
    // Addresses that lead nowhere.
    let astray = stats_after(|bytes, at| bytes[at.dyn_size - 1024..at.dyn_size].fill(0x55));
    assert!(astray.contains("outside any code"), "{astray}");
}

#[test]
fn stacks_of_other_machines_are_said_to_be_left_out() {
    let mut bytes = std::fs::read(walk().join("perf.data")).unwrap();
    let at = bytes.windows(7).rposition(|text| text == b"x86_64\0");
    bytes[at.unwrap()..][..6].copy_from_slice(b"armv7l");
    let dir = scratch();
    let file = dir.path().join("perf.data");
    write(&file, &bytes);
    let ran = read_file(&file, &walk().join("root"), &["flame", "--folded"]);
    assert!(
        ran.stderr.contains("not unwound for armv7l"),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.stdout, "walk;leaf 12\n");
}

#[test]
fn without_the_program_few_frames_are_left() {
    let dir = scratch();
    let file = walk().join("perf.data");
    let stats = read_file(&file, dir.path(), &["report", "--stats"]).stdout;
    assert!(stats.contains("no unwind information"), "{stats}");
    assert!(stats.contains(" 5  walk"), "{stats}");
    // Callers may be missing on the way, too.
    assert!(stats.contains("and not up to the start"), "{stats}");
    assert!(stats.contains(" 7  walk"), "{stats}");
    let flame = read_file(&file, dir.path(), &["flame", "--folded"]);
    // Frames that use a frame pointer, as those of a varying size do.
    let frames = "walk;[truncated];[walk] 5\nwalk;[truncated];[walk];[walk];[walk] 7\n";
    assert_eq!(flame.stdout, frames);
    let said = "stacks: 0.0 % complete, 58.3 % by frame pointers alone (walk 58.3 %), \
                41.7 % without unwind info (walk 41.7 %)";
    assert!(flame.stderr.contains(said), "{}", flame.stderr);
}

/// Frames of several shapes, in two threads, and a deep stack.
const PROGRAM: &str = r#"
    #include <alloca.h>
    #include <pthread.h>
    #include <stdlib.h>
    static volatile unsigned long sink;
    __attribute__((noinline)) void leaf(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink += i; }
    __attribute__((noinline)) void sized(int n) { volatile char *p = alloca(n); p[n - 1] = 1; leaf(20000); sink += p[n - 1]; }
    __attribute__((noinline)) void deep(int left) { if (left) deep(left - 1); else sized(100); sink++; }
    __attribute__((noinline)) int compare(const void *a, const void *b) { leaf(20); return *(int *)a - *(int *)b; }
    static void *work(void *unused) {
        int numbers[200];
        for (long end = CPU_US() + 300000; CPU_US() < end;) {
            deep(50);
            for (int k = 0; k < 200; k++) numbers[k] = k * 7919 % 200;
            qsort(numbers, 200, sizeof *numbers, compare);
        }
        return unused;
    }
    int main(void) {
        pthread_t other;
        pthread_create(&other, 0, work, 0);
        work(0);
        pthread_join(other, 0);
        return 0;
    }"#;

/// Code made at run time, which nothing describes: it calls what it is given.
const JIT: &str = r#"
    #include <string.h>
    #include <sys/mman.h>
    static volatile unsigned long sink;
    __attribute__((noinline)) void leaf(void) { WORK(300, sink += i) }
    int main(void) {
        /* push rbp; mov rbp, rsp; call rdi; pop rbp; ret */
        static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
        void *page = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memcpy(page, code, sizeof code);
        ((void (*)(void (*)(void)))page)(leaf);
        sink++;
        return 0;
    }"#;

#[test]
fn code_made_at_run_time_is_followed_by_frame_pointers() {
    needs!(x86_64, perf, cc, alone);
    let dir = scratch();
    let program = dir.path().join("p");
    compile(&program, JIT, NO_FRAME_POINTERS);
    let file = dir.path().join("recording");
    let mut perf = common::perf(["record", "-q", "-F", "299", "-e", "cpu-clock:u"]);
    perf.args(["--call-graph", "dwarf", "-o"]);
    run(perf.arg(&file).arg("--").arg(&program)).ok();
    let fields = "comm,tid,time,event,ip,sym,dso,stackend";
    let mut rprof = rprof(["script", "--no-inline", "-F", fields, "-i"]);
    let text = run(rprof.arg(&file)).ok().stdout;
    let through = blocks(&text)
        .into_iter()
        .filter(|block| block[1].contains(" leaf ("));
    let mut n_samples = 0;
    for block in through {
        n_samples += 1;
        assert!(block[2].contains("/perf-"), "{block:#?}");
        assert!(block[3].contains(" main ("), "{block:#?}");
        assert!(is_whole(&block), "{block:#?}");
    }
    assert!(n_samples > 5, "{text}");
}

/// A function without a frame pointer in a library, called by those that have one.
const LEAF: [&str; 2] = [
    "static volatile unsigned long sink;
    void leaf(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink += i; }",
    "void leaf(unsigned long n);
    static volatile unsigned long sink;
    __attribute__((noinline)) void middle(void) { leaf(20000); sink++; }
    __attribute__((noinline)) void outer(void) { middle(); sink++; }
    int main(void) {
        volatile char deep[4096];
        for (long end = CPU_US() + 300000; CPU_US() < end; deep[0] = 1) outer();
        return 0;
    }",
];

#[test]
fn callers_that_frame_pointers_may_have_missed_are_not_called_whole() {
    needs!(x86_64, perf, cc, alone);
    let dir = scratch();
    let library = dir.path().join("libleaf.so");
    let program = dir.path().join("p");
    let sources = ["leaf.c", "p.c"].map(|name| dir.path().join(name));
    std::fs::write(&sources[0], LEAF[0]).unwrap();
    std::fs::write(&sources[1], format!("{}{}", work::C, LEAF[1])).unwrap();
    let mut cc = tool("cc");
    cc.args(["-O1", "-fomit-frame-pointer", "-shared", "-fPIC", "-o"]);
    run(cc.arg(&library).arg(&sources[0])).ok();
    let mut cc = tool("cc");
    cc.args(["-O1", "-g", "-fno-omit-frame-pointer"]);
    cc.args(["-fno-optimize-sibling-calls", "-o"]);
    run(cc.arg(&program).arg(&sources[1]).arg(&library)).ok();
    let [file, shallow] =
        [("recording", "dwarf"), ("shallow", "dwarf,1024")].map(|(name, copies)| {
            let file = dir.path().join(name);
            let mut perf = common::perf(["record", "-q", "-N", "-F", "299", "-e", "cpu-clock:u"]);
            perf.args(["--call-graph", copies, "-o"]);
            run(perf.arg(&file).arg("--").arg(&program)).ok();
            file
        });
    let fields = "comm,tid,time,event,ip,sym,dso,stackend";
    let script = |file: &Path| {
        let mut rprof = rprof(["script", "--no-inline", "-F", fields, "-i"]);
        run(rprof.arg(file)).ok().stdout
    };
    let text = script(&file);
    let all = blocks(&text);
    let of_leaf = |block: &&Vec<&str>| block[1].contains("libleaf.so");
    let n_whole = all.iter().filter(of_leaf).filter(|block| {
        assert!(
            block[2].contains(" middle (") && is_whole(block),
            "{block:#?}"
        );
        true
    });
    let n_whole = n_whole.count();
    assert!(n_whole > 5, "{text}");
    let ends_all = |text: &str, n: usize, caller: &str, end: &str| {
        let of_leaf: Vec<_> = blocks(text).into_iter().filter(|b| of_leaf(&b)).collect();
        assert_eq!(of_leaf.len(), n, "{text}");
        for block in of_leaf {
            assert!(block[2].contains(caller), "{block:#?}");
            let end = format!("[stack ends here: {end}]");
            assert!(block.last().unwrap().contains(&end), "{block:#?}");
        }
    };
    // Neither do those that do not reach the start, whose callers may be missing on the way, too.
    let text = script(&shallow);
    let n_shallow = blocks(&text).iter().filter(of_leaf).count();
    assert!(n_shallow > 5, "{text}");
    ends_all(&text, n_shallow, " middle (", "truncated");
    std::fs::remove_file(&library).unwrap();
    ends_all(&script(&file), n_whole, " outer (", "guess");
    ends_all(&script(&shallow), n_shallow, " outer (", "partial-guess");
    let report = run(rprof(["report", "--stats", "-i"]).arg(&file)).ok();
    let said = "by frame pointers alone";
    assert!(report.stdout.contains(said), "{}", report.stdout);
    let report = run(rprof(["report", "-i"]).arg(&file)).ok();
    let line = report.stdout.lines().find(|line| line.contains(said));
    let line = line.unwrap_or_else(|| panic!("{}", report.stdout));
    assert!(line.contains("(libleaf.so "), "{line}");
}

/// Samples as blocks of lines: a head and its frames, from the innermost to the root.
fn blocks(text: &str) -> Vec<Vec<&str>> {
    let blocks = text.split("\n\n").map(|block| block.lines().collect());
    blocks.filter(|block: &Vec<&str>| block.len() > 1).collect()
}

/// Whether a stack reaches where its thread began.
fn is_whole(block: &[&str]) -> bool {
    let last = block.last().unwrap_or(&"");
    [" _start", "clone3", " __clone"]
        .iter()
        .any(|name| last.contains(name))
}

/// perf loses frames (and guesses on, along what it takes for frame pointers) where it does not find
/// the unwind information; what it has of such a stack is in ours.
fn has_all(ours: &[&str], theirs: &[&str]) -> bool {
    let mut ours = ours.iter();
    theirs.iter().all(|line| ours.any(|other| other == line))
}

/// Stubs without the names of what they call, which perf does not always know.
fn without_stubs(text: &str) -> String {
    let plain = |line: &str| match line.split_once("@plt+") {
        Some((before, rest)) => {
            let address = before.trim_end_matches(|c: char| !c.is_whitespace());
            format!("{address}@plt+{rest}\n")
        }
        None => format!("{line}\n"),
    };
    text.lines().map(plain).collect()
}

#[test]
fn stacks_are_those_of_perf_line_for_line() {
    needs!(perf, cc, alone);
    let dir = scratch();
    let program = dir.path().join("p");
    compile(&program, PROGRAM, NO_FRAME_POINTERS);
    for size in ["8192", "65528"] {
        let file = dir.path().join(size);
        let mut perf = common::perf([
            "record",
            "-q",
            "-e",
            "cpu-clock",
            "-F",
            "999",
            "--call-graph",
        ]);
        perf.arg(format!("dwarf,{size}")).arg("-o").arg(&file);
        run(perf.arg("--").arg(&program)).ok();
        let fields = "comm,tid,time,event,ip,sym,symoff,dso";
        let mut perf = common::perf(["script", "--no-inline", "--max-stack", "1000", "-F", fields]);
        let theirs = run(perf.arg("-i").arg(&file)).ok().stdout;
        let mut rprof = rprof(["script", "--no-inline", "-F", fields, "-i"]);
        let ours = run(rprof.arg(&file)).ok().stdout;
        let (ours, theirs) = (without_stubs(&ours), without_stubs(&theirs));
        let (ours, theirs) = (blocks(&ours), blocks(&theirs));
        assert_eq!(ours.len(), theirs.len());
        let whole = ours.iter().zip(&theirs).filter(|(_, one)| is_whole(one));
        let (mut n_same, mut n_whole) = (0, 0);
        for (our, their) in whole {
            n_whole += 1;
            n_same += usize::from(our == their);
            assert!(has_all(our, their), "{our:#?}\nperf: {their:#?}");
        }
        assert!(n_whole * 2 > theirs.len(), "{n_whole} of {}", theirs.len());
        assert!(n_same * 100 >= n_whole * 95, "{n_same} of {n_whole}");
    }
}
