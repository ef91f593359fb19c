//! Names of programs compiled here: those that their tools give them, too.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails"
)]

mod common;

use common::{fixtures, has, is_x86_64, live, report, rprof, run, scratch, tool, work};
use rprof_base::{FileOffset, Svma};
use rprof_images::{Elf, Located, SymbolTable};
use rprof_locate::{Locator, Recorded};
use rprof_symbols::{Demangling, Detail, Request, symbolize_user};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Functions inlined into each other, in a file of its own and in a header.
const PROGRAM: &str = r#"
    #include "inner.h"
    volatile int sink;
    static inline __attribute__((always_inline)) int middle(int n) {
        int sum = inner(n);
        return sum + inner(sum);
    }
    __attribute__((noinline)) int outer(int n) {
        if (n > 3)
            return middle(n);
        sink = n;
        return n;
    }
    int main(int n, char **words) {
        return outer(n) + middle(n);
    }"#;

const HEADER: &str = r"
    extern volatile int sink;
    static inline __attribute__((always_inline)) int inner(int n) {
        sink += n;
        return sink * 3;
    }";

/// Calls through stubs, and a function that is chosen when the program starts.
const STUBS: &str = r#"
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    static volatile unsigned long sink;
    static int one(int n) { sink += n; return n; }
    static void *choose(void) { return one; }
    int chosen(int) __attribute__((ifunc("choose")));
    int main(int n, char **words) {
        int (*print)(const char *, ...) = printf;
        print("%d %lu\n", chosen(n), strlen(words[0]));
        atexit((void (*)(void))abs);
        return 0;
    }"#;

fn locate(path: &Path) -> Located {
    let recorded = Recorded {
        path: path.as_os_str().as_bytes(),
        ..Recorded::default()
    };
    Locator::default().locate(recorded).unwrap()
}

/// A function and where in the source, innermost first.
type Frames = Vec<(String, Option<(String, u32)>)>;

fn frames(path: &Path, addresses: &[u64], n_threads: usize) -> Vec<Frames> {
    let located = locate(path);
    let offset = |&address: &u64| located.binary.file_offset(Svma(address)).unwrap();
    let offsets: Vec<FileOffset> = addresses.iter().map(offset).collect();
    let request = Request {
        detail: Detail::Lines,
        demangling: Demangling::Short,
        n_threads,
    };
    let answers = symbolize_user(&located, &offsets, request).unwrap();
    let frame = |frame: &rprof_symbols::Frame| {
        let line = frame.line.filter(|line| line.line != 0);
        let line = line.map(|line| (answers.name(line.file).to_owned(), line.line));
        (answers.name(frame.name).to_owned(), line)
    };
    (0..offsets.len())
        .map(|idx| answers.frames(idx).iter().map(frame).collect())
        .collect()
}

/// Every address of a file's functions whose names `choose` takes.
fn addresses(path: &Path, choose: impl Fn(&str) -> bool) -> Vec<u64> {
    let elf = Elf::open(path, &rprof_untrusted::Budget::default()).unwrap();
    let mut all = Vec::new();
    elf.for_each_symbol(SymbolTable::Static, |symbol| {
        let name = String::from_utf8_lossy(symbol.name);
        if symbol.in_code && symbol.size > 0 && choose(&name) {
            all.extend(symbol.address.0..symbol.address.0 + symbol.size);
        }
    })
    .unwrap();
    all.sort_unstable();
    all.dedup();
    all
}

fn compile(dir: &Path, name: &str, source: &str, options: &[&str]) -> PathBuf {
    let program = dir.join(name);
    std::fs::write(dir.join("main.c"), source).unwrap();
    std::fs::write(dir.join("inner.h"), HEADER).unwrap();
    let mut compiler = tool("cc");
    compiler.args(options).arg("-o").arg(&program);
    run(compiler.arg("main.c").current_dir(dir)).ok();
    program
}

/// What binutils' addr2line says.
fn addr2line(program: &Path, addresses: &[u64]) -> Vec<Frames> {
    let mut command = tool("addr2line");
    command.args(["-a", "-f", "-i", "-e"]).arg(program);
    command.args(addresses.iter().map(|address| format!("{address:#x}")));
    let text = run(&mut command).ok().stdout;
    let mut all: Vec<Frames> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("0x") {
            all.push(Vec::new());
            continue;
        }
        let place = lines.next().unwrap();
        let place = place.split(" (discriminator").next().unwrap();
        let (file, number) = place.rsplit_once(':').unwrap();
        let number: u32 = number.parse().unwrap_or(0);
        let place = (number != 0).then(|| (file.to_owned(), number));
        all.last_mut().unwrap().push((line.to_owned(), place));
    }
    all
}

#[test]
fn every_version_of_dwarf_says_what_addr2line_reads_in_it() {
    let test = "every_version_of_dwarf_says_what_addr2line_reads_in_it";
    if !has(test, "cc", "gcc") || !has(test, "addr2line", "binutils") {
        return;
    }
    let dir = scratch();
    for version in ["2", "3", "4", "5"] {
        let option = format!("-gdwarf-{version}");
        let program = compile(dir.path(), &option, PROGRAM, &["-O2", &option]);
        let asked = addresses(&program, |name| matches!(name, "outer" | "main"));
        let ours = frames(&program, &asked, 1);
        let theirs = addr2line(&program, &asked);
        assert_eq!(ours, theirs, "DWARF {version}");
        let deepest = ours.iter().map(Vec::len).max();
        assert_eq!(deepest, Some(3), "DWARF {version}");
    }
}

#[test]
fn stubs_of_all_kinds_have_the_names_that_objdump_gives_them() {
    let test = "stubs_of_all_kinds_have_the_names_that_objdump_gives_them";
    if !has(test, "cc", "gcc") || !has(test, "objdump", "binutils") {
        return;
    }
    let dir = scratch();
    let marked = ["-fcf-protection=full", "-Wl,-z,ibtplt"];
    let kinds: [(&str, &[&str]); 4] = [
        ("plain", &[]),
        ("now", &["-Wl,-z,now"]),
        ("marked", &marked),
        ("fixed", &["-no-pie"]),
    ];
    for (name, options) in kinds {
        // Only x86-64 has stubs that are marked.
        if name == "marked" && !cfg!(target_arch = "x86_64") {
            continue;
        }
        let program = compile(dir.path(), name, STUBS, &[&["-O1"], options].concat());
        let mut objdump = tool("objdump");
        for section in [".plt", ".plt.got", ".plt.sec"] {
            objdump.args(["-j", section]);
        }
        let text = run(objdump.arg("-d").arg(&program)).stdout;
        let labels = text.lines().filter_map(|line| {
            let (address, label) = line.strip_suffix("@plt>:")?.split_once(" <")?;
            Some((u64::from_str_radix(address, 16).ok()?, label))
        });
        // In front of the stubs, or of none, is what calls the loader.
        let plt = text
            .split_once("section .plt:")
            .map(|(_, code)| code.trim_start());
        let first = plt.and_then(|code| code.lines().next()?.split_once(" <"));
        if let Some((address, label)) = first.filter(|(_, label)| !label.ends_with("@plt>:")) {
            let address = u64::from_str_radix(address, 16).unwrap();
            let ours = frames(&program, &[address, address + 6], 1);
            assert!(
                ours.iter().all(|one| one[0].0 == ".plt"),
                "{name} {label}: {ours:?}"
            );
        }
        let (asked, expected): (Vec<u64>, Vec<&str>) = labels.unzip();
        assert!(expected.len() > 3, "{name}: {text}");
        let ours = frames(&program, &asked, 1);
        for (frames, label) in ours.iter().zip(expected) {
            // objdump has the chooser's address for what the program chooses.
            let label = match label.starts_with("*ABS*") {
                true => "chosen",
                false => label,
            };
            assert_eq!(frames[0].0, format!("{label}@plt"), "{name}");
        }
    }
}

/// Functions without a size: one before a function that strip takes the name of, and one that no
/// unwind table knows.
const SIZELESS: &str = r#"
    __asm__(
        ".text\n.p2align 6\n.globl sizeless\nsizeless:\n"
        ".cfi_startproc\nnop\nnop\nret\n.cfi_endproc\n"
        ".p2align 4\nhidden:\n.cfi_startproc\nnop\nnop\nret\n.cfi_endproc\n"
        ".p2align 4\n.globl bare\nbare:\nnop\nret\n.p2align 6\nnop\nret\n"
        ".globl last\n.type last, %function\nlast:\nret\n.size last, . - last\n");
    "#;

#[test]
fn a_symbol_without_size_ends_where_another_function_begins() {
    let test = "a_symbol_without_size_ends_where_another_function_begins";
    if !has(test, "cc", "gcc") || !has(test, "strip", "binutils") {
        return;
    }
    let dir = scratch();
    let options = ["-shared", "-fPIC", "-nostdlib", "-Wl,--eh-frame-hdr"];
    let library = compile(dir.path(), "sizeless.so", SIZELESS, &options);
    // The others are told by their alignment.
    let last = addresses(&library, |symbol| symbol == "last")[0];
    let sizeless = (last & !63) - 64;
    let hidden = sizeless + 16;
    let asked = [
        sizeless + 4,
        hidden,
        hidden + 4,
        hidden + 20,
        last - 4,
        last,
    ];
    run(tool("strip").arg(&library)).ok();
    let frames = frames(&library, &asked, 1);
    let names = frames.iter().map(|frames| frames.first());
    let names: Vec<Option<&str>> = names
        .map(|frame| frame.map(|(name, _)| name.as_str()))
        .collect();
    let bare = Some("bare");
    let expected = [Some("sizeless"), None, None, bare, bare, Some("last")];
    assert_eq!(names, expected);
}

/// A signal handler that takes all of the time.
const HANDLED: &str = r#"
    #include <signal.h>
    static volatile unsigned long sink;
    static void handler(int signal) {
        for (int n = 0; n < 30; n++)
            for (unsigned long k = 0; k < 1000000; k++) sink += k;
    }
    int main(void) {
        signal(SIGUSR1, handler);
        return raise(SIGUSR1);
    }"#;

#[test]
fn what_a_signal_handler_returns_to_has_a_name() {
    let test = "what_a_signal_handler_returns_to_has_a_name";
    if !has(test, "cc", "gcc") || !is_x86_64(test) {
        return;
    }
    let Some(_live) = live(test) else {
        return;
    };
    let dir = scratch();
    // A static program has libc's own symbols.
    let options = ["-O0", "-static"];
    let program = compile(dir.path(), "handled", HANDLED, &options);
    for how in ["fp", "auto"] {
        let file = dir.path().join(how);
        let mut record = rprof([
            "record",
            "-q",
            "-e",
            "cpu-clock:u",
            "--call-graph",
            how,
            "-o",
        ]);
        run(record.arg(&file).arg(&program)).ok();
        let script = run(rprof(["script", "-F", "ip,sym"]).arg(&file))
            .ok()
            .stdout;
        let mut lines = script
            .lines()
            .skip_while(|line| !line.ends_with(" handler"));
        let callers: Vec<&str> = lines.by_ref().take(2).collect();
        assert!(callers[1].ends_with(" __restore_rt"), "{how}: {script}");
    }
}

#[test]
fn shards_answer_as_one_thread_does() {
    let path = PathBuf::from(env!("CARGO_BIN_EXE_rprof"));
    let asked: Vec<u64> = addresses(&path, |name| name.contains("rprof"))
        .into_iter()
        .step_by(61)
        .take(4000)
        .collect();
    let one = frames(&path, &asked, 1);
    assert!(one.iter().any(|frames| frames.len() > 2));
    for n_threads in [2, 5] {
        assert_eq!(frames(&path, &asked, n_threads), one);
    }
}

#[test]
fn a_stripped_go_program_says_what_it_said_with_dwarf() {
    let test = "a_stripped_go_program_says_what_it_said_with_dwarf";
    if !has(test, "go", "golang-go") || !has(test, "strip", "binutils") {
        return;
    }
    let dir = scratch();
    let source = fixtures().join("workloads/busy.go");
    for mode in ["exe", "pie"] {
        let (full, stripped) = (dir.path().join("full"), dir.path().join("busy"));
        let mut build = tool("go");
        build.args(["build", "-buildmode", mode, "-o"]).arg(&full);
        build.arg(&source).env("GOCACHE", dir.path().join("cache"));
        build.env("GOFLAGS", "").env("GO111MODULE", "off");
        run(build.current_dir(dir.path())).ok();
        run(tool("strip").arg("-o").arg(&stripped).arg(&full)).ok();
        let asked = addresses(&full, |name| {
            ["main.", "sort.", "strconv."]
                .iter()
                .any(|package| name.starts_with(package))
        });
        let theirs = frames(&full, &asked, 1);
        assert!(
            theirs
                .iter()
                .any(|frames| frames[0].0 == "main.square" && frames.len() > 1)
        );
        let ours = frames(&stripped, &asked, 1);
        let differ = theirs
            .iter()
            .zip(&ours)
            .zip(&asked)
            .find(|((a, b), _)| a != b);
        assert_eq!(differ, None, "{mode}");
    }
    // Through the whole of it.
    let Some(_live) = live(test) else {
        return;
    };
    let file = dir.path().join("perf.data");
    let mut record = rprof(["record", "-q", "-e", "cpu-clock", "-F", "1999", "-o"]);
    run(record.arg(&file).arg("--").arg(dir.path().join("busy"))).ok();
    let table = report(&file, &["--no-children", "-g", "none"]);
    assert!(table.contains("[.] main.work"), "{table}");
}

#[test]
fn names_have_the_form_that_is_asked_for() {
    let test = "names_have_the_form_that_is_asked_for";
    if !has(test, "c++", "g++") {
        return;
    }
    let dir = scratch();
    let source = dir.path().join("main.cc");
    let text = "volatile unsigned long sink;\n\
        template <typename T> __attribute__((noinline)) void busy(T n) { WORK(n, sink += i) }\n\
        int main() { busy<unsigned long>(300); }\n";
    std::fs::write(&source, format!("{}{text}", work::C)).unwrap();
    let program = dir.path().join("forms");
    run(tool("c++").args(["-O1", "-o"]).arg(&program).arg(&source)).ok();
    let Some(_live) = live(test) else {
        return;
    };
    let file = dir.path().join("perf.data");
    run(
        rprof(["record", "-q", "-e", "cpu-clock", "-F", "999", "-o"])
            .arg(&file)
            .arg(&program),
    )
    .ok();
    for (options, expected) in [
        (&[][..], "[.] busy<unsigned long>\n"),
        (
            &["--demangle=full"],
            "[.] void busy<unsigned long>(unsigned long)\n",
        ),
        (&["--demangle=folded"], "[.] busy<...>\n"),
        (&["--no-demangle"], "[.] _Z4busyImEvT_\n"),
    ] {
        let table = report(&file, &[&["--no-children", "-g", "none"], options].concat());
        assert!(table.contains(expected), "{options:?}: {table}");
        let mut folded = rprof(["flame", "--folded", "-i"]);
        let folded = run(folded.arg(&file).args(options)).ok().stdout;
        let name = expected.trim_start_matches("[.] ").trim_end();
        assert!(folded.contains(name), "{options:?}: {folded}");
        let mut script = rprof(["script", "-i"]);
        let script = run(script.arg(&file).args(options)).ok().stdout;
        assert!(script.contains(name), "{options:?}");
    }
}
