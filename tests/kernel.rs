//! Frames of a kernel that does not run here: a small vmlinux and a module, compiled here, and a
//! recording made of addresses in them, as another machine would have it.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails"
)]

mod common;
#[allow(dead_code, reason = "its other answers are for other tests")]
#[path = "debuginfod/server.rs"]
mod server;
#[path = "kernel/unfinished.rs"]
mod unfinished;

use common::{has, is_x86_64, rprof, run, scratch, tool};
use rprof_abi::{
    AttrFlags, Encoder, Endian, Misc, PerfEventAttr, RecordHeader, RecordKind, SampleType,
};
use rprof_perfdata::{FeatureId, Writer, WrittenEvent, feature};
use server::{Reply, Server};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

const RELEASE: &str = "6.1.0-nowhere";

/// Linked where x86-64 has its kernel, with room for being loaded elsewhere.
const VMLINUX: &str = r#"
    asm(".globl _text\n.section .head.text,\"ax\"\n_text:\nnop\n.text");
    static inline __attribute__((always_inline)) long kernel_inlined(volatile long *at) {
        return *at * 3;
    }
    __attribute__((noinline)) long kernel_work(volatile long *at) {
        return kernel_inlined(at) + 1;
    }"#;

/// Its code is in four sections, of which the kernel keeps three, one after the other.
const MODULE: &str = r#"
    static inline __attribute__((always_inline)) long module_inlined(volatile long *at) {
        return *at * 5;
    }
    __attribute__((noinline)) long module_work(volatile long *at) {
        return module_inlined(at) + 1;
    }
    __attribute__((noinline, section(".init.text"))) long module_start(volatile long *at) {
        return *at + 2;
    }
    __attribute__((noinline, section(".exit.text"))) long module_stop(volatile long *at) {
        return *at + 3;
    }"#;

/// Where the recorded boot had them.
const TEXT: u64 = 0xffff_ffff_9a00_0000;
const LOADED: u64 = 0xffff_ffff_c0a0_0000;

/// Root of a file system with the kernel's files, and a recording.
struct Machine {
    dir: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let machine = Self { dir: scratch() };
        std::fs::write(machine.path("kernel.c"), VMLINUX).unwrap();
        std::fs::write(machine.path("module.c"), MODULE).unwrap();
        let cc = "cc -g -O1 -fno-pie -mcmodel=kernel -fno-asynchronous-unwind-tables";
        machine.make(&format!(
            "{cc} -nostdlib -static -Wl,--build-id,-Ttext=0xffffffff81000000,-e,_text \
             -Wl,--section-start=.head.text=0xffffffff80fff000 -o vmlinux kernel.c"
        ));
        machine.make(&format!("{cc} -c -o module.o module.c"));
        machine.make("ld -r --build-id -o module.ko module.o");
        machine.make("objcopy --strip-debug module.ko stripped.ko");
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn make(&self, words: &str) -> String {
        let mut words = words.split_whitespace();
        let mut command = tool(words.next().unwrap());
        run(command.args(words).current_dir(self.dir.path()))
            .ok()
            .stdout
    }

    /// Puts a file where the kernel's packages would.
    fn install(&self, file: &str, place: &str) {
        let place = self.path("root").join(place);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::copy(self.path(file), place).unwrap();
    }

    fn symbol(&self, file: &str, name: &str) -> u64 {
        let table = self.make(&format!("nm {file}"));
        let line = table.lines().find(|line| line.ends_with(name)).unwrap();
        u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap()
    }

    fn build_id(&self, file: &str) -> Vec<u8> {
        let notes = self.make(&format!("readelf -n {file}"));
        let hex = notes.split("Build ID: ").nth(1).unwrap();
        let hex = hex.split_whitespace().next().unwrap();
        let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        (0..hex.len()).step_by(2).map(byte).collect()
    }

    /// Size and alignment of a section.
    fn section(&self, file: &str, name: &str) -> (u64, u64) {
        let table = self.make(&format!("readelf -SW {file}"));
        let line = table
            .lines()
            .find(|line| line.contains(&format!(" {name} ")));
        let words: Vec<&str> = line
            .unwrap()
            .split(name)
            .nth(1)
            .unwrap()
            .split_whitespace()
            .collect();
        let size = u64::from_str_radix(words[3], 16).unwrap();
        (size, words.last().unwrap().parse().unwrap())
    }

    /// Where the kernel has a module's function that is in a section after `.text`.
    fn behind_text(&self, section: &str, name: &str) -> u64 {
        let (text, _) = self.section("module.ko", ".text");
        let (_, align) = self.section("module.ko", section);
        LOADED + text.next_multiple_of(align) + self.symbol("module.ko", name)
    }

    /// A sample in each function, two instructions in.
    fn record(&self, module: &str) {
        let kernel =
            TEXT + (self.symbol("vmlinux", "kernel_work") - self.symbol("vmlinux", "_text"));
        let work = LOADED + self.symbol("module.ko", "module_work");
        let stop = self.behind_text(".exit.text", "module_stop");
        let mut records = Vec::new();
        mapping(
            &mut records,
            TEXT,
            0x1_0000,
            TEXT,
            b"[kernel.kallsyms]_text",
        );
        mapping(&mut records, LOADED, 0x4000, 0, module.as_bytes());
        for address in [kernel, work, stop] {
            let mut body = Vec::new();
            let mut encoder = Encoder::new(&mut body, Endian::NATIVE);
            encoder.u64(address);
            encoder.i32(7);
            encoder.i32(7);
            push(&mut records, RecordKind::SAMPLE, &body);
        }
        let path = self.path("perf.data");
        let event = WrittenEvent {
            name: "cpu-clock".to_owned(),
            attr: PerfEventAttr {
                sample_type: SampleType::IP.with(SampleType::TID),
                flags: AttrFlags::default(),
                ..PerfEventAttr::default()
            },
            ids: vec![1],
        };
        let mut writer =
            Writer::start(File::create(&path).unwrap(), &path, &[event], Vec::new()).unwrap();
        writer.write(&records).unwrap();
        let mut release = Vec::new();
        feature::encode_string(
            RELEASE.as_bytes(),
            &mut Encoder::new(&mut release, Endian::NATIVE),
        );
        let mut ids = Vec::new();
        for (file, name) in [("vmlinux", "[kernel.kallsyms]"), ("module.ko", module)] {
            let id = feature::BuildIdEntry {
                misc: Misc::KERNEL,
                pid: -1,
                build_id: rprof_abi::record::BuildIdBytes::new(&self.build_id(file)),
                filename: name.as_bytes().to_vec(),
            };
            id.encode(&mut Encoder::new(&mut ids, Endian::NATIVE));
        }
        let features = vec![(FeatureId::BUILD_ID, ids), (FeatureId::OSRELEASE, release)];
        writer.finish(features).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = rprof(args);
        command.arg("-i").arg(self.path("perf.data"));
        command.arg("--symfs").arg(self.path("root"));
        command.env("HOME", self.dir.path());
        command.current_dir(self.path("root"));
        command
    }

    fn rprof(&self, args: &[&str]) -> String {
        run(&mut self.command(args)).ok().stdout
    }

    fn script(&self, more: &[&str]) -> String {
        let args = ["script", "-F", "ip,sym,srcline"];
        self.rprof(&[&args, more].concat())
    }
}

fn push(out: &mut Vec<u8>, kind: RecordKind, body: &[u8]) {
    let header = RecordHeader {
        kind,
        misc: Misc::KERNEL,
        size: u16::try_from(RecordHeader::LEN + body.len()).unwrap(),
    };
    header.encode(&mut Encoder::new(out, Endian::NATIVE));
    out.extend(body);
}

fn mapping(out: &mut Vec<u8>, start: u64, len: u64, pgoff: u64, name: &[u8]) {
    let mut body = Vec::new();
    let mut encoder = Encoder::new(&mut body, Endian::NATIVE);
    encoder.i32(-1);
    encoder.i32(0);
    for word in [start, len, pgoff] {
        encoder.u64(word);
    }
    encoder.bytes(name);
    encoder.bytes(&vec![0; 8 - name.len() % 8]);
    push(out, RecordKind::MMAP, &body);
}

fn can_run(test: &str) -> bool {
    is_x86_64(test)
        && has(test, "cc", "gcc")
        && ["ld", "nm", "objcopy", "readelf"]
            .iter()
            .all(|tool| has(test, tool, "binutils"))
}

/// Functions of the module, wherever it was found.
#[track_caller]
fn has_module(text: &str) {
    for name in ["module_work", "module_stop"] {
        assert!(text.contains(name), "no {name} in\n{text}");
    }
    assert!(!text.contains("module_start"), "{text}");
}

#[test]
fn a_kernel_of_another_machine_is_named_by_its_vmlinux() {
    if !can_run("a_kernel_of_another_machine_is_named_by_its_vmlinux") {
        return;
    }
    let machine = Machine::new();
    machine.record("[module]");
    std::fs::create_dir(machine.path("root")).unwrap();
    assert!(!machine.script(&[]).contains("kernel_work"));
    let own = machine.path("vmlinux");
    let own = own.to_str().unwrap();
    let places = [
        format!("usr/lib/debug/boot/vmlinux-{RELEASE}"),
        format!("usr/lib/debug/lib/modules/{RELEASE}/vmlinux"),
        format!("lib/modules/{RELEASE}/build/vmlinux"),
        format!("boot/vmlinux-{RELEASE}"),
        "vmlinux".to_owned(),
    ];
    let named = machine.script(&["--vmlinux", own]);
    for expected in ["kernel_work", "kernel.c:4"] {
        assert!(named.contains(expected), "no {expected} in\n{named}");
    }
    let folded = machine.rprof(&["flame", "--folded", "--vmlinux", own]);
    assert!(folded.contains(";kernel_work;kernel_inlined 1"), "{folded}");
    for place in places {
        machine.install("vmlinux", &place);
        assert_eq!(machine.script(&[]), named, "{place}");
        std::fs::remove_file(machine.path("root").join(place)).unwrap();
    }
    // Names alone need no DWARF.
    machine.make("objcopy --strip-debug vmlinux plain");
    machine.install("plain", &format!("boot/vmlinux-{RELEASE}"));
    let table = machine.rprof(&["report", "--no-children", "-g", "none"]);
    assert!(table.contains("[k] kernel_work"), "{table}");
}

#[test]
fn a_server_has_the_vmlinux_and_the_modules_of_another_machine() {
    if !can_run("a_server_has_the_vmlinux_and_the_modules_of_another_machine") {
        return;
    }
    let machine = Machine::new();
    machine.record("[module]");
    std::fs::create_dir(machine.path("root")).unwrap();
    let served = ["vmlinux", "module.ko"].map(|file| {
        let hex = |byte: &u8| format!("{byte:02x}");
        let id: String = machine.build_id(file).iter().map(hex).collect();
        let bytes = std::fs::read(machine.path(file)).unwrap();
        (format!("/buildid/{id}/debuginfo"), bytes)
    });
    let server = Server::new(move |asked| {
        let found = served.iter().find(|(path, _)| path == asked);
        found.map_or(Reply::Is(404, Vec::new()), |(_, bytes)| {
            Reply::Is(200, bytes.clone())
        })
    });
    let mut command = machine.command(&["flame", "--folded", "--debuginfod-wait", "60"]);
    for name in ["http_proxy", "all_proxy"] {
        command.env_remove(name).env_remove(name.to_uppercase());
    }
    command.env("DEBUGINFOD_URLS", &server.url);
    command.env("DEBUGINFOD_CACHE_PATH", machine.path("cache"));
    let folded = run(&mut command).ok().stdout;
    for name in [
        "kernel_work;kernel_inlined",
        "module_work;module_inlined",
        "module_stop",
    ] {
        assert!(folded.contains(name), "no {name} in\n{folded}");
    }
}

#[test]
fn a_vmlinux_of_another_build_is_not_taken() {
    if !can_run("a_vmlinux_of_another_build_is_not_taken") {
        return;
    }
    let machine = Machine::new();
    machine.record("[module]");
    // Another build of the same names, somewhere else in memory.
    let other = VMLINUX.replace("nop", ".skip 64");
    std::fs::write(machine.path("kernel.c"), other).unwrap();
    machine.make(
        "cc -O1 -fno-pie -mcmodel=kernel -nostdlib -static -Wl,--build-id,-e,_text -o other kernel.c",
    );
    machine.install("other", &format!("boot/vmlinux-{RELEASE}"));
    assert!(!machine.script(&[]).contains("kernel_work"));
    let other = machine.path("other");
    let asked = machine.script(&["--vmlinux", other.to_str().unwrap()]);
    assert!(!asked.contains("kernel_work"), "{asked}");
}

#[test]
fn symbols_says_which_file_names_the_kernel() {
    if !can_run("symbols_says_which_file_names_the_kernel") {
        return;
    }
    let machine = Machine::new();
    machine.record("[module]");
    std::fs::create_dir(machine.path("root")).unwrap();
    let kernel_of = |args: &[&str]| {
        let json = machine.rprof(&[&["symbols", "--json"], args].concat());
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let mut images = json["images"].as_array().unwrap().iter();
        let is_kernel = |image: &&serde_json::Value| image["path"] == "[kernel.kallsyms]";
        images.find(is_kernel).unwrap().clone()
    };
    let vmlinux = machine.path("vmlinux");
    let vmlinux = vmlinux.to_str().unwrap();
    let kernel = kernel_of(&["--vmlinux", vmlinux]);
    assert_eq!(kernel["files"], serde_json::json!([vmlinux]));
    assert_eq!(kernel["gives"][0], "symtab");
    std::fs::write(machine.path("list"), machine.make("nm -n vmlinux")).unwrap();
    let list = machine.path("list");
    let list = list.to_str().unwrap();
    let kernel = kernel_of(&["--kallsyms", list]);
    assert_eq!(kernel["files"], serde_json::json!([list]));
    assert_eq!(kernel["gives"], serde_json::json!(["kallsyms"]));
}

#[test]
fn a_list_of_symbols_names_the_kernel_at_another_place() {
    if !can_run("a_list_of_symbols_names_the_kernel_at_another_place") {
        return;
    }
    let machine = Machine::new();
    machine.record("[module]");
    std::fs::create_dir(machine.path("root")).unwrap();
    let list = machine.make("nm -n vmlinux");
    std::fs::write(machine.path("list"), list).unwrap();
    let list = machine.path("list");
    let named = machine.script(&["--kallsyms", list.to_str().unwrap()]);
    assert!(named.contains("kernel_work"), "{named}");
    // Where modules were in that boot it does not tell.
    assert!(!named.contains("module_work"), "{named}");
    std::fs::write(&list, "ffffffff81000000 T other\n").unwrap();
    let named = machine.script(&["--kallsyms", list.to_str().unwrap()]);
    assert!(!named.contains("other"), "{named}");
}

#[test]
fn modules_are_found_by_name_unpacked_and_laid_out_as_in_the_kernel() {
    let test = "modules_are_found_by_name_unpacked_and_laid_out_as_in_the_kernel";
    if !can_run(test) || !has(test, "xz", "xz-utils") || !has(test, "zstd", "zstd") {
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
    if !can_run("debug_files_of_modules_give_inlined_functions_and_lines") {
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
    let test = "damaged_files_of_a_kernel_give_no_names_and_nothing_worse";
    if !can_run(test) || !has(test, "xz", "xz-utils") {
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
