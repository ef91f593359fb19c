//! Where the data of a memory sample came from, in perf's words.
//!
//! Source: `perf_script__meminfo_scnprintf` in tools/perf/util/mem-events.c (v6.1).

use rprof_abi::sample::DataSource;

/// What perf's buffer holds.
const MAX_LEN: usize = 99;

/// A data source as a number and in words.
pub(crate) fn text(source: DataSource) -> String {
    let mut text = format!(
        "{:16x} |OP {}|LVL {}|SNP {}|TLB {}|LCK {}|BLK {}",
        source.0,
        operation(source),
        level(source),
        snoop(source),
        tlb(source),
        lock(source),
        blocked(source),
    );
    text.truncate(MAX_LEN);
    text
}

/// The names of the bits that are set, lowest first.
fn set_bits<'n>(bits: u64, names: &'n [&str]) -> impl Iterator<Item = &'n str> {
    let named = names.iter().enumerate();
    named.filter_map(move |(at, name)| (bits >> at & 1 == 1).then_some(*name))
}

fn any_of<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.is_empty() {
        true => "N/A".to_owned(),
        false => names.join(" or "),
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

fn operation(source: DataSource) -> &'static str {
    const NAMES: &[&str] = &["N/A", "LOAD", "STORE", "PFETCH", "EXEC"];
    let first = set_bits(source.operation(), NAMES).next();
    first.unwrap_or("No")
}

fn level(source: DataSource) -> String {
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
    let remote = if source.is_remote() { "Remote " } else { "" };
    let mut text = remote.to_owned();
    let mut names: Vec<String> = Vec::new();
    match usize::try_from(source.hops()) {
        Ok(hops @ 1..) => {
            text.push_str(HOPS.get(hops).unwrap_or(&"N/A"));
            text.push(' ');
        }
        _ => names.extend(set_bits(source.level() & !FOUND, NAMES).map(str::to_owned)),
    }
    if source.level_number() != 0 {
        names.push(level_number(source.level_number()));
    }
    text.push_str(&names.join(" or "));
    if text.is_empty() {
        text.push_str("N/A");
    }
    text.push_str(found(source.level()));
    text
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

fn snoop(source: DataSource) -> String {
    const NAMES: &[&str] = &["N/A", "None", "Hit", "Miss", "HitM"];
    const MORE: &[&str] = &["Fwd", "Peer"];
    any_of(set_bits(source.snoop(), NAMES).chain(set_bits(source.snoop_more(), MORE)))
}

fn tlb(source: DataSource) -> String {
    const NAMES: &[&str] = &["N/A", "HIT", "MISS", "L1", "L2", "Walker", "Fault"];
    any_of(set_bits(source.tlb() & !FOUND, NAMES)) + found(source.tlb())
}

fn lock(source: DataSource) -> &'static str {
    const NAMES: &[&str] = &["N/A", "Yes"];
    let first = set_bits(source.lock(), NAMES).next();
    first.unwrap_or("No")
}

fn blocked(source: DataSource) -> &'static str {
    match source.blocked() {
        0b010 => " Data",
        0b100 => " Addr",
        0b110 => " Data Addr",
        _ => " N/A",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(source: u64) -> String {
        let text = text(DataSource(source));
        text.get(17..).unwrap_or_default().to_owned()
    }

    #[test]
    fn sources_are_in_perfs_words() {
        for (source, text) in [
            (
                0x0520_0142,
                "|OP LOAD|LVL L1 hit|SNP Hit|TLB N/A|LCK N/A|BLK  N/A",
            ),
            (0, "|OP No|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A"),
            (
                4 | 0x26 << 5 | 0x1e << 26 | 2 << 24 | 6 << 40,
                "|OP STORE|LVL L2 hit miss|SNP N/A|TLB L1 or L2 hit miss|LCK Yes|BLK  Data Addr",
            ),
            (
                2 | 1 << 37 | 2 << 43 | 3 << 33 | 1 << 38,
                "|OP LOAD|LVL Remote node, same socket L3|SNP Fwd|TLB N/A|LCK No|BLK  N/A",
            ),
        ] {
            assert_eq!(said(source), text, "{source:x}");
        }
        assert_eq!(super::text(DataSource(u64::MAX)).len(), MAX_LEN);
    }
}
