//! A machine that is not this one: its vmlinux and a module, compiled here, and a recording made of
//! addresses in them.

use crate::common::{has, is_x86_64, rprof, run, scratch, tool};
use rprof_abi::{
    AttrFlags, Encoder, Endian, Misc, PerfEventAttr, RecordHeader, RecordKind, SampleType,
};
use rprof_perfdata::{FeatureId, Writer, WrittenEvent, feature};
use std::fs::File;
use std::path::PathBuf;
use std::process::Command;

pub(crate) const RELEASE: &str = "6.1.0-nowhere";

/// Linked where x86-64 has its kernel, with room for being loaded elsewhere.
pub(crate) const VMLINUX: &str = r#"
    asm(".globl _text\n.section .head.text,\"ax\"\n_text:\nnop\n.text");
    static inline __attribute__((always_inline)) long kernel_inlined(volatile long *at) {
        return *at * 3;
    }
    __attribute__((noinline)) long kernel_work(volatile long *at) {
        return kernel_inlined(at) + 1;
    }"#;

/// Its code is in four sections, of which the kernel keeps three, one after the other.
pub(crate) const MODULE: &str = r#"
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
pub(crate) struct Machine {
    dir: tempfile::TempDir,
}

impl Machine {
    pub(crate) fn new() -> Self {
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

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn make(&self, words: &str) -> String {
        let mut words = words.split_whitespace();
        let mut command = tool(words.next().unwrap());
        run(command.args(words).current_dir(self.dir.path()))
            .ok()
            .stdout
    }

    /// Puts a file where the kernel's packages would.
    pub(crate) fn install(&self, file: &str, place: &str) {
        let place = self.path("root").join(place);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::copy(self.path(file), place).unwrap();
    }

    fn symbol(&self, file: &str, name: &str) -> u64 {
        let table = self.make(&format!("nm {file}"));
        let line = table.lines().find(|line| line.ends_with(name)).unwrap();
        u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap()
    }

    pub(crate) fn build_id(&self, file: &str) -> Vec<u8> {
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
    fn after_text(&self, section: &str, name: &str) -> u64 {
        let (text, _) = self.section("module.ko", ".text");
        let (_, align) = self.section("module.ko", section);
        LOADED + text.next_multiple_of(align) + self.symbol("module.ko", name)
    }

    /// A sample in each function, two instructions in.
    pub(crate) fn record(&self, module: &str) {
        let kernel =
            TEXT + (self.symbol("vmlinux", "kernel_work") - self.symbol("vmlinux", "_text"));
        let work = LOADED + self.symbol("module.ko", "module_work");
        let stop = self.after_text(".exit.text", "module_stop");
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
        let mut writer =
            Writer::start(File::create(&path).unwrap(), &path, &[clock()], Vec::new()).unwrap();
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

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = rprof(args);
        command.arg("-i").arg(self.path("perf.data"));
        command.arg("--symfs").arg(self.path("root"));
        command.env("HOME", self.dir.path());
        command.current_dir(self.path("root"));
        command
    }

    pub(crate) fn rprof(&self, args: &[&str]) -> String {
        run(&mut self.command(args)).ok().stdout
    }

    pub(crate) fn script(&self, more: &[&str]) -> String {
        let args = ["script", "-F", "ip,sym,srcline"];
        self.rprof(&[&args, more].concat())
    }
}

/// The event of all samples.
pub(crate) fn clock() -> WrittenEvent {
    WrittenEvent {
        name: "cpu-clock".to_owned(),
        attr: PerfEventAttr {
            sample_type: SampleType::IP.with(SampleType::TID),
            flags: AttrFlags::default(),
            ..PerfEventAttr::default()
        },
        ids: vec![1],
    }
}

pub(crate) fn push(out: &mut Vec<u8>, kind: RecordKind, body: &[u8]) {
    let header = RecordHeader {
        kind,
        misc: Misc::KERNEL,
        size: u16::try_from(RecordHeader::LEN + body.len()).unwrap(),
    };
    header.encode(&mut Encoder::new(out, Endian::NATIVE));
    out.extend(body);
}

pub(crate) fn mapping(out: &mut Vec<u8>, start: u64, len: u64, pgoff: u64, name: &[u8]) {
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

pub(crate) fn can_run() -> bool {
    is_x86_64()
        && has("cc", "gcc")
        && ["ld", "nm", "objcopy", "readelf"]
            .iter()
            .all(|tool| has(tool, "binutils"))
}

/// Functions of the module, wherever it was found.
#[track_caller]
pub(crate) fn has_module(text: &str) {
    for name in ["module_work", "module_stop"] {
        assert!(text.contains(name), "no {name} in\n{text}");
    }
    assert!(!text.contains("module_start"), "{text}");
}
