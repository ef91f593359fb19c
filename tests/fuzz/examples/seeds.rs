//! `seeds OUT FILE...`: writes what the targets start from, a folder of `OUT` for each, from those
//! files that are recordings.
//!
//! An example, not a program of the package: those are all built with coverage.

#[path = "../../hostile/crafted.rs"]
#[allow(
    clippy::unwrap_used,
    dead_code,
    reason = "a test's, where a failure ends it"
)]
mod crafted;
#[path = "../../../crates/unwind/src/tests/elf.rs"]
mod elf;
#[path = "../../../crates/images/src/kernel_module/tests/example.rs"]
mod module;

use rprof_abi::{RawRecord, RecordKind};
use rprof_fuzz::{SampleInput, Section, SectionInput};
use rprof_locate::Locator;
use rprof_perfdata::{FeatureId, Reader, Step, add_feature};
use rprof_analysis::symbol_section;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Larger recordings are too slow to start from.
const MAX_RECORDING: usize = 64 << 10;

/// Names of each kind.
const NAMES: [&str; 4] = [
    "_ZN4core3fmt5write17h0123456789abcdefE",
    "_RNvXs_CskwGfYPst2Cb_3fooNtB4_3barNtB4_3baz3run",
    "_ZNSt6vectorIiSaIiEE9push_backERKi",
    "_ZNK3FoocvT_IPFvRKS_EEEv.part.0",
];

/// Instructions with prefixes, VEX, EVEX and an index that is none; and words of 64-bit ARM.
const CODE: &[u8] = b"\x66\x66\x2e\x0f\x1f\x84\0\0\0\0\0\x3e\xff\xe0\xc5\xfe\x6f\x0e\x62\xf2\x7d\x18\xb8\x09\x8d\xb4\x26\0\0\0\0\
    \xfd\x7b\xbf\xa9\xd0\x0b\0\xb0\x11\x06\x40\xf9\x20\x02\x1f\xd6";

/// Images larger than this are, too.
const MAX_IMAGE: usize = 32 << 10;

/// Records of one kind of one event; more of them show nothing new.
const MAX_ALIKE: usize = 3;

fn main() -> io::Result<()> {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let out = args.next().expect("seeds OUT FILE...");
    for target in [
        "reader", "report", "sample", "features", "module", "unwind", "symbols", "instructions",
        "import",
    ] {
        fs::create_dir_all(out.join(target))?;
    }
    fs::write(out.join("module/example"), module::example())?;
    fs::write(out.join("instructions/each"), CODE)?;
    fs::write(out.join("import/folded"), "# a query\napp;main;parse 41\napp;main 1\n")?;
    write_walks(&out.join("unwind"))?;
    write_hostile(&out)?;
    for (n, name) in NAMES.iter().enumerate() {
        fs::write(out.join("symbols").join(format!("name-{n}")), name)?;
    }
    for (place, path) in args.enumerate() {
        let bytes = fs::read(&path)?;
        let is_recording = bytes.starts_with(b"PERFILE2") || bytes.starts_with(b"2ELIFREP");
        if is_recording && bytes.len() <= MAX_RECORDING {
            for target in ["reader", "report"] {
                fs::write(out.join(target).join(place.to_string()), &bytes)?;
            }
            write_parts(&out, place, &bytes)?;
            write_named(&out, place, &path)?;
        }
        if bytes.starts_with(b"\x7fELF") && bytes.len() <= MAX_IMAGE {
            fs::write(out.join("symbols").join(place.to_string()), &bytes)?;
        }
    }
    Ok(())
}

/// What was made to hurt: functions inlined into each other without end, sections of the same bytes,
/// names that grow, addresses that are one for the hash that everybody knows.
fn write_hostile(out: &Path) -> io::Result<()> {
    /// The reciprocal of rustc-hash's factor: products with it differ where its tables do not look.
    const ALIKE: u64 = 0x7814_94a5_5daa_ed0d;
    let symbols = out.join("symbols");
    // Abbreviations: a unit, a function and what is inlined, each with children.
    let abbreviations = [
        &[1, 0x11, 1, 0x11, 1, 0x12, 7, 0, 0][..],
        &[2, 0x2e, 1, 0x03, 8, 0x11, 1, 0x12, 7, 0, 0],
        &[3, 0x1d, 1, 0, 0, 0],
    ];
    let abbreviations = abbreviations.concat();
    let range = [0x100u64.to_le_bytes(), 0x1000u64.to_le_bytes()].concat();
    for levels in [16, 10_000] {
        let mut unit = vec![4, 0, 0, 0, 0, 0, 8, 1];
        unit.extend(&range);
        unit.extend(b"\x02inner\0");
        unit.extend(&range);
        unit.extend([3].repeat(levels));
        unit.extend([0].repeat(levels + 2));
        let len = u32::try_from(unit.len()).unwrap_or(u32::MAX);
        let info = [&len.to_le_bytes()[..], &unit].concat();
        let parts = [
            (".text", 0x100, &[0xc3; 16][..]),
            (".debug_abbrev", 0, &abbreviations),
            (".debug_info", 0, &info),
        ];
        fs::write(
            symbols.join(format!("nested-{levels}")),
            elf::elf(elf::X86_64, &parts),
        )?;
    }
    let mut cpp = String::from("_Z1f1AIiiE");
    for digit in "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ".chars().take(30) {
        cpp.push_str(&format!("S_IS{digit}_S{digit}_E"));
    }
    fs::write(symbols.join("grows"), cpp)?;
    let mut recording = crafted::Crafted::with_chains("cpu-clock");
    recording.comm(b"hostile");
    recording.map(b"/nowhere", 0, u64::MAX);
    for first in (0..1000).step_by(100) {
        let chain: Vec<u64> = (first..first + 100)
            .map(|n: u64| ALIKE.wrapping_mul(n).wrapping_add(0x1000))
            .collect();
        recording.sample_with_chain(&chain);
    }
    for target in ["reader", "report"] {
        let path = out.join(target).join("alike");
        let _ = fs::remove_file(&path);
        recording.clone().write(&path);
    }
    Ok(())
}

/// The recording with its names in it, if the files that it is of lie beside it.
fn write_named(out: &Path, place: usize, path: &Path) -> io::Result<()> {
    let root = path.with_file_name("root");
    let Ok(reader) = Reader::open(path) else {
        return Ok(());
    };
    if !root.is_dir() {
        return Ok(());
    }
    let locator = Locator {
        symfs: Some(root.clone()),
        cache: None,
        debug_dir: root,
        ..Locator::default()
    };
    let section = symbol_section(&reader, &locator, &mut |_| {}).map_err(io::Error::other)?;
    for target in ["reader", "report"] {
        let named = out.join(target).join(format!("{place}-named"));
        fs::copy(path, &named)?;
        add_feature(&named, FeatureId::SYMBOLS, &section.bytes).map_err(io::Error::other)?;
    }
    let input = SectionInput {
        endian: reader.endian(),
        what: Section::Feature(FeatureId::SYMBOLS),
        bytes: &section.bytes,
    };
    let seed = out.join("features").join(format!("{place}-named"));
    fs::write(seed, input.encode())
}

/// Records and feature sections as inputs of their own.
fn write_parts(out: &Path, place: usize, bytes: &[u8]) -> io::Result<()> {
    let Ok(reader) = Reader::from_bytes(Path::new("seed"), bytes.to_vec()) else {
        // Damaged: good enough for the reader.
        return Ok(());
    };
    let mut seeds: Vec<(&str, Vec<u8>)> = Vec::new();
    let mut n_alike: HashMap<(RecordKind, usize), usize> = HashMap::new();
    let take = |_, raw: RawRecord<'_>| {
        let event = reader.event_of(raw).unwrap_or(0);
        let n = n_alike.entry((raw.kind, event)).or_default();
        *n += 1;
        if *n <= MAX_ALIKE {
            seeds.push(seed_of(&reader, event, raw));
        }
        Step::On
    };
    reader.walk(reader.data(), take).map_err(io::Error::other)?;
    for &(id, _) in reader.features() {
        if let Ok(Some(bytes)) = reader.feature(id) {
            let input = SectionInput {
                endian: reader.endian(),
                what: Section::Feature(id),
                bytes: &bytes,
            };
            seeds.push(("features", input.encode()));
        }
    }
    for (number, (target, seed)) in seeds.iter().enumerate() {
        fs::write(out.join(target).join(format!("{place}-{number}")), seed)?;
    }
    Ok(())
}

/// Threads in images with a few functions, of either machine.
fn write_walks(out: &Path) -> io::Result<()> {
    // The frame's address by register and number, and by an expression; registers saved.
    let realigned = [0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0];
    let functions: [elf::Function<'_>; 4] = [
        (
            0x1000,
            0x100,
            &[0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0a, 0x0d, 6, 0x48, 0x0b],
        ),
        (0x1100, 0x100, &realigned),
        (0x1200, 0x100, &[0x07, 16, 0x07, 30]),
        (0x1300, 0x100, &[0x16, 3, 2, 0x77, 8, 0x2e, 0, 0x09, 12, 13]),
    ];
    let of_machine = [
        (0, elf::X86_64, 16, [0x0c, 7, 8, 0x90, 1]),
        (1, elf::AARCH64, 30, [0x0c, 31, 16, 0x9e, 1]),
    ];
    for (flags, machine, column, common) in of_machine {
        let section = elf::debug_frame(column, &common, &functions);
        let image = elf::elf(machine, &[(".debug_frame", 0, &section)]);
        for (number, pc) in (0x10..0x14).enumerate() {
            let mut seed = vec![flags, 64, 1, 8, pc];
            seed.extend([2, 64, 0].repeat(33));
            // A return address to each function in turn, above something on this stack.
            let words = (0..64u16).flat_map(|n| {
                let (what, low) = match n % 2 {
                    0 => (2, 8 * (n + 1)),
                    _ => (1, 0x1008 + 0x100 * (n / 2 % 4)),
                };
                let [low, high] = low.to_le_bytes();
                [what, low, high]
            });
            seed.extend(words.chain(image.iter().copied()));
            fs::write(out.join(format!("{machine}-{number}")), seed)?;
        }
    }
    Ok(())
}

fn seed_of(reader: &Reader, event: usize, raw: RawRecord<'_>) -> (&'static str, Vec<u8>) {
    let endian = reader.endian();
    if raw.kind.name().is_none() {
        let input = SectionInput {
            endian,
            what: Section::Record(raw.kind),
            bytes: raw.body,
        };
        return ("features", input.encode());
    }
    let attr = reader.events()[event].attr.clone();
    ("sample", SampleInput { endian, attr, raw }.encode())
}
