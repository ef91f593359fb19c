//! Generic cache events: `cache[-op][-result]` in any of perf's spellings.

use rprof_abi::hw_cache::{CACHES, OPS, RESULTS};

/// Operations that each cache has, by number, one bit each: load 1, store 2, prefetch 4.
///
/// Source: `evsel__hw_cache_stat` in `tools/perf/util/evsel.c` (v6.12).
const OPS_OF_CACHE: &[u8] = &[0b111, 0b101, 0b111, 0b111, 0b001, 0b001, 0b111];

/// The `config` of a cache event; `None` if this is not the name of one.
///
/// Operation and result may stand in either order; without them, loads and accesses are meant.
pub(crate) fn cache_config(name: &str) -> Option<u64> {
    let (cache, mut rest) = strip_alias(name, CACHES)?;
    let (mut op, mut result) = (None, None);
    while let Some(part) = rest.strip_prefix('-') {
        let as_op = strip_alias(part, OPS).filter(|_| op.is_none());
        let as_result = strip_alias(part, RESULTS).filter(|_| result.is_none());
        match (as_op, as_result) {
            (Some((number, after)), _) => (op, rest) = (Some(number), after),
            (_, Some((number, after))) => (result, rest) = (Some(number), after),
            (None, None) => return None,
        }
    }
    let op = op.unwrap_or(0);
    let has_op = OPS_OF_CACHE.get(cache)? >> op & 1 == 1;
    let config = cache | op << 8 | result.unwrap_or(0) << 16;
    has_op.then_some(config as u64)
}

/// The number of the longest alias that `text` starts with, and what follows it: nothing, or a
/// dash.
fn strip_alias<'a>(text: &'a str, table: &[&[&str]]) -> Option<(usize, &'a str)> {
    let numbered = table
        .iter()
        .enumerate()
        .flat_map(|(number, aliases)| aliases.iter().map(move |alias| (number, alias)));
    numbered
        .filter_map(|(number, alias)| Some((number, text.strip_prefix(alias)?)))
        .filter(|(_, rest)| rest.is_empty() || rest.starts_with('-'))
        .min_by_key(|(_, rest)| rest.len())
}

/// Every cache event in the spelling of `perf list`.
pub(crate) fn cache_names() -> impl Iterator<Item = String> {
    CACHES.iter().zip(OPS_OF_CACHE).flat_map(|(cache, ops)| {
        let ops = OPS
            .iter()
            .enumerate()
            .filter(move |(op, _)| ops >> op & 1 == 1);
        ops.flat_map(move |(_, op)| {
            [
                format!("{}-{}", cache[0], op[1]),
                format!("{}-{}-misses", cache[0], op[0]),
            ]
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_has_its_config() {
        for (name, config) in [
            ("L1-dcache", Some(0)),
            ("L1-dcache-load-misses", Some(0x1_0000)),
            ("L1-dcache-misses-loads", Some(0x1_0000)),
            ("l1d-misses", Some(0x1_0000)),
            ("l1-d-read-miss", Some(0x1_0000)),
            ("l1d-speculative-load", Some(0x200)),
            ("L1-icache-prefetches", Some(0x201)),
            ("LLC-store-misses", Some(0x1_0102)),
            ("L2-Reference", Some(2)),
            ("Data-TLB-write-access", Some(0x103)),
            ("iTLB-load-misses", Some(0x1_0004)),
            ("branch-loads", Some(5)),
            ("bpc-load-misses", Some(0x1_0005)),
            ("node-prefetch-misses", Some(0x1_0206)),
            // Caches without this operation.
            ("L1-icache-stores", None),
            ("iTLB-prefetches", None),
            ("branch-stores", None),
            // Twice the same kind of word, and other slips.
            ("L1-dcache-loads-stores", None),
            ("L1-dcache-misses-refs", None),
            ("L1-dcache-", None),
            ("L1-dcachex", None),
            ("L1-dcache-loadsx", None),
            ("", None),
            ("-loads", None),
        ] {
            assert_eq!(cache_config(name), config, "{name}");
        }
    }

    #[test]
    fn listed_names_are_names() {
        let names: Vec<String> = cache_names().collect();
        assert!(names.contains(&"L1-dcache-load-misses".to_owned()));
        assert!(names.contains(&"node-prefetches".to_owned()));
        for name in names {
            assert!(cache_config(&name).is_some(), "{name}");
        }
    }
}
