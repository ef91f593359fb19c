//! Where the data of a memory sample came from, in perf's words.
//!
//! Source: `perf_script__meminfo_scnprintf` and its like in tools/perf/util/mem-events.c (v6.1).

use super::DataSource;

impl DataSource {
    /// What was done.
    pub fn operation_words(self) -> &'static str {
        const NAMES: &[&str] = &["N/A", "LOAD", "STORE", "PFETCH", "EXEC"];
        let first = set_bits(self.operation(), NAMES).next();
        first.unwrap_or("No")
    }

    /// The level of memory, or how far away it is.
    pub fn level_words(self) -> String {
        const NAMES: &[&str] = &[
            "N/A",
            "HIT",
            "MISS",
            "L1",
            "LFB/MAB",
            "L2",
            "L3",
            "Local RAM",
            "Remote RAM (1 hop)",
            "Remote RAM (2 hops)",
            "Remote Cache (1 hop)",
            "Remote Cache (2 hops)",
            "I/O",
            "Uncached",
        ];
        const HOPS: &[&str] = &[
            "N/A",
            "core, same node",
            "node, same socket",
            "socket, same board",
            "board",
        ];
        let remote = if self.is_remote() { "Remote " } else { "" };
        let mut text = remote.to_owned();
        let mut names: Vec<String> = Vec::new();
        match usize::try_from(self.hops()) {
            Ok(hops @ 1..) => {
                text.push_str(HOPS.get(hops).unwrap_or(&"N/A"));
                text.push(' ');
            }
            _ => names.extend(set_bits(self.level() & !FOUND, NAMES).map(str::to_owned)),
        }
        if self.level_number() != 0 {
            names.push(level_number(self.level_number()));
        }
        text.push_str(&names.join(" or "));
        if text.is_empty() {
            text.push_str("N/A");
        }
        text.push_str(found(self.level()));
        text
    }

    /// What other caches said.
    pub fn snoop_words(self) -> String {
        const NAMES: &[&str] = &["N/A", "None", "Hit", "Miss", "HitM"];
        const MORE: &[&str] = &["Fwd", "Peer"];
        any_of(set_bits(self.snoop(), NAMES).chain(set_bits(self.snoop_more(), MORE)))
    }

    /// Where the address was translated.
    pub fn tlb_words(self) -> String {
        const NAMES: &[&str] = &["N/A", "HIT", "MISS", "L1", "L2", "Walker", "Fault"];
        any_of(set_bits(self.tlb() & !FOUND, NAMES)) + found(self.tlb())
    }

    /// Whether by a locked instruction.
    pub fn lock_words(self) -> &'static str {
        const NAMES: &[&str] = &["N/A", "Yes"];
        let first = set_bits(self.lock(), NAMES).next();
        first.unwrap_or("No")
    }

    /// What it had to wait for.
    pub fn blocked_words(self) -> &'static str {
        match self.blocked() {
            0b010 => "Data",
            0b100 => "Addr",
            0b110 => "Data Addr",
            _ => "N/A",
        }
    }
}

/// The names of the bits that are set, lowest first.
fn set_bits<'n>(bits: u64, names: &'n [&str]) -> impl Iterator<Item = &'n str> {
    let named = names.iter().enumerate();
    named.filter_map(move |(at, name)| (bits >> at & 1 == 1).then_some(*name))
}

fn any_of<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() {
        "N/A".to_owned()
    } else {
        names.join(" or ")
    }
}

/// Bits 1 and 2 of levels and translations say whether it was found there.
const FOUND: u64 = 0b110;

fn found(bits: u64) -> &'static str {
    match bits & FOUND {
        0b010 => " hit",
        0b100 => " miss",
        0b110 => " hit miss",
        _ => "",
    }
}

fn level_number(number: u64) -> String {
    let name = match number {
        0x9 => "CXL",
        0xa => "I/O",
        0xb => "Any cache",
        0xc => "LFB/MAB",
        0xd => "RAM",
        0xe => "PMEM",
        0xf => "N/A",
        _ => return format!("L{number}"),
    };
    name.to_owned()
}
