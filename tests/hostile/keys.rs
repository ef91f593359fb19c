//! Numbers in files that are chosen so that a table of them, by a hash that everybody knows, is
//! one list.

use crate::common::{rprof, run, scratch};
use crate::hostile::crafted::{Crafted, ID};
use std::path::Path;

/// The factor of `FxHash` (rustc-hash 2): a number's hash is their product, turned left by 26 bits.
const FACTOR: u64 = 0xf135_7aea_2e62_a9c5;

/// Numbers whose products with the factor count up, from a number on. Turned, what differs lies
/// between the bits that choose a slot of the table and those that are compared first. What is
/// hashed before them in a key adds the same to all.
fn alike(first: u64, n: u64) -> impl Iterator<Item = u64> {
    (0..n).map(move |nth| inverse(FACTOR).wrapping_mul(nth).wrapping_add(first))
}

/// The number whose product with an odd one is 1, by Newton's method: each step doubles the bits
/// that are right.
fn inverse(odd: u64) -> u64 {
    let step = |inverse: u64, _| {
        let product = odd.wrapping_mul(inverse);
        inverse.wrapping_mul(2u64.wrapping_sub(product))
    };
    (0..6).fold(1, step)
}

/// By the old hash, so many addresses took four minutes, in a file of 2 MB.
const MANY: u64 = 250_000;

/// Everything that looks at all samples, each under the watchdog.
#[track_caller]
fn read_in_every_way(file: &Path, symfs: &Path) {
    let ways: [&[&str]; 8] = [
        &["report"],
        &["report", "--stats"],
        &["script"],
        &["flame", "--folded"],
        &["export", "--format", "firefox"],
        &["export", "--format", "pprof"],
        &["symbols"],
        &["info"],
    ];
    for way in ways {
        let mut command = rprof(way);
        command.arg("-i").arg(file);
        if !matches!(way[0], "info") {
            command.arg("--symfs").arg(symfs);
        }
        run(&mut command).ok();
    }
}

#[test]
fn the_numbers_are_alike_for_the_hash_that_was() {
    assert_eq!(FACTOR.wrapping_mul(inverse(FACTOR)), 1);
    let hashes = alike(0x1234_5678_9abc, MANY).map(|x| x.wrapping_mul(FACTOR).rotate_left(26));
    // The slot of a table of a million, and the tag.
    let mut seen: Vec<u64> = hashes.map(|hash| hash & (0x7f << 57 | 0xf_ffff)).collect();
    seen.dedup();
    // A carry may have come in between.
    assert!(seen.len() <= 2, "{}", seen.len());
}

#[test]
fn addresses_that_collide_by_choice_take_no_longer_than_others() {
    let dir = scratch();
    let file = dir.path().join("perf.data");
    let mut crafted = Crafted::with_chains("cpu-clock");
    crafted.comm(b"hostile");
    // Addresses outside of all files are one place in stacks.
    crafted.map(b"/nowhere", 0, u64::MAX);
    let addresses: Vec<u64> = alike(0x1000, MANY).collect();
    for chain in addresses.chunks(1000) {
        crafted.sample_with_chain(chain);
    }
    crafted.write(&file);
    read_in_every_way(&file, dir.path());
}

#[test]
fn event_ids_that_collide_by_choice_take_no_longer_than_others() {
    let dir = scratch();
    let file = dir.path().join("perf.data");
    let mut crafted = Crafted::new("cpu-clock");
    crafted.comm(b"hostile");
    crafted.sample(0x1000);
    crafted.events[0].ids.extend(alike(ID, MANY).skip(1));
    // With one event nobody looks at ids.
    let mut other = crafted.events[0].clone();
    other.ids = vec![2];
    crafted.events.push(other);
    crafted.write(&file);
    read_in_every_way(&file, dir.path());
}

#[test]
fn numbers_of_compiled_code_that_collide_by_choice_take_no_longer_than_others() {
    let dir = scratch();
    std::fs::create_dir(dir.path().join("tmp")).unwrap();
    let log = dir.path().join("tmp/jit-1.dump");
    std::fs::write(log, jitdump(alike(7, MANY))).unwrap();
    let file = dir.path().join("perf.data");
    let mut crafted = Crafted::new("cpu-clock");
    crafted.comm(b"hostile");
    crafted.map(b"/tmp/jit-1.dump", 0x1000, 0x1000);
    crafted.sample(CODE_AT);
    crafted.write(&file);
    read_in_every_way(&file, dir.path());
    let report = run(rprof(["report", "--symfs"])
        .arg(dir.path())
        .arg("-i")
        .arg(&file));
    assert!(report.ok().stdout.contains("compiled"));
}

/// Where all compiled code is, one piece after the other.
const CODE_AT: u64 = 0x7f00_0000_0000;

/// A log of pieces of code with these numbers.
fn jitdump(numbers: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut log = Vec::new();
    let words = |log: &mut Vec<u8>, words: &[u32]| {
        words.iter().for_each(|word| log.extend(word.to_ne_bytes()));
    };
    // Magic, version, length, machine, padding, process; time and flags.
    words(&mut log, &[0x4a69_5444, 1, 40, 62, 0, 1, 0, 0, 0, 0]);
    for number in numbers {
        let name = b"compiled\0";
        // Kind, length, time; process and thread.
        words(&mut log, &[0, 56 + 9 + 1, 1, 0, 1, 1]);
        for field in [CODE_AT, CODE_AT, 1, number] {
            log.extend(field.to_ne_bytes());
        }
        log.extend(name);
        log.push(0xc3);
    }
    log
}
