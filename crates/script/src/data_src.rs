//! Where the data of a memory sample came from, in perf's words.
//!
//! Source: `perf_script__meminfo_scnprintf` in tools/perf/util/mem-events.c (v6.1).

use rprof_abi::sample::DataSource;

/// What perf's buffer holds.
const MAX_LEN: usize = 99;

/// A data source as a number and in words.
pub(crate) fn text(source: DataSource) -> String {
    let mut text = format!(
        "{:16x} |OP {}|LVL {}|SNP {}|TLB {}|LCK {}|BLK  {}",
        source.0,
        source.operation_words(),
        source.level_words(),
        source.snoop_words(),
        source.tlb_words(),
        source.lock_words(),
        source.blocked_words(),
    );
    text.truncate(MAX_LEN);
    text
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
