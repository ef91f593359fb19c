//! Naming JIT code by `/tmp/perf-PID.map`.

use crate::Reason;
use crate::symbolized::{Collector, Frame, Symbolized};
use crate::table::size_between;
use rprof_base::Avma;
use rprof_images::PerfMap;
use std::ops::ControlFlow;

/// Names a batch: addresses must be sorted. Names are taken as they are, as perf does; where
/// functions overlap, the one written last counts.
///
/// # Errors
/// [`Reason::NoFile`] if the map cannot be read.
pub fn symbolize_perf_map(map: &PerfMap, addresses: &[Avma]) -> Result<Symbolized, Reason> {
    let mut collector = Collector::default();
    let mut found: Vec<Option<Frame>> = vec![None; addresses.len()];
    let mut unnamed = Unnamed::all(addresses.len());
    let read = map.for_each_back(|entry| {
        // One without a size is where it starts.
        let end = entry.start.saturating_add(entry.len.max(1));
        let first = addresses.partition_point(|address| address.0 < entry.start);
        let mut at = unnamed.next(first);
        while let Some(address) = addresses.get(at).filter(|address| address.0 < end) {
            let name = collector.name(entry.name, |name| String::from_utf8_lossy(name).into());
            found[at] = Some(Frame {
                name,
                start: entry.start,
                offset: address.0 - entry.start,
                size: size_between(entry.start, end),
                is_inlined: false,
                line: None,
            });
            unnamed.remove(at);
            at = unnamed.next(at);
        }
        match unnamed.n_left {
            0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    });
    let n_malformed =
        read.map_err(|error| Reason::NoFile(rprof_images::NoFile::Unreadable(error.kind())))?;
    for frame in found {
        frame.into_iter().for_each(|frame| collector.frame(frame));
        collector.end_address();
    }
    let mut symbolized = collector.finish();
    symbolized.n_malformed = n_malformed;
    symbolized.note_over_budget(map.is_over_budget());
    Ok(symbolized)
}

/// Which of a row of addresses have no name yet; those that have one are skipped over in a step.
struct Unnamed {
    /// By index, one at or before the next without a name.
    next: Vec<usize>,
    n_left: usize,
}

impl Unnamed {
    fn all(len: usize) -> Self {
        Self {
            next: (0..=len).collect(),
            n_left: len,
        }
    }

    fn remove(&mut self, at: usize) {
        self.next[at] = at + 1;
        self.n_left -= 1;
    }

    /// The first one from an index on; the number of all if there is none.
    fn next(&mut self, from: usize) -> usize {
        let mut at = from;
        while self.next[at] != at {
            // Paths get shorter for who comes next.
            self.next[at] = self.next[self.next[at]];
            at = self.next[at];
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ask(text: &str, addresses: &[u64]) -> (Vec<Option<String>>, u64) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let map = PerfMap::open(file.path(), &rprof_untrusted::Budget::default()).unwrap();
        let addresses: Vec<Avma> = addresses.iter().copied().map(Avma).collect();
        let symbolized = symbolize_perf_map(&map, &addresses).unwrap();
        let name = |at| {
            let frame = symbolized.frames(at).first()?;
            Some(format!(
                "{}+{:x}",
                symbolized.name(frame.name),
                frame.offset
            ))
        };
        (
            (0..addresses.len()).map(name).collect(),
            symbolized.n_malformed(),
        )
    }

    #[test]
    fn what_was_written_last_counts() {
        let text = "1000 100 old\n1080 10 inner\nbad\n1000 20 new\n2000 0 point\n";
        let asked = [
            0xfff, 0x1000, 0x101f, 0x1020, 0x1080, 0x1090, 0x1100, 0x2000, 0x2001,
        ];
        let expected = [
            None,
            Some("new+0"),
            Some("new+1f"),
            Some("old+20"),
            Some("inner+0"),
            Some("old+90"),
            None,
            Some("point+0"),
            None,
        ];
        let (names, n_malformed) = ask(text, &asked);
        assert_eq!(names, expected.map(|name| name.map(str::to_owned)));
        assert_eq!(n_malformed, 1);
        assert_eq!(ask("", &[]).0, []);
    }

    proptest! {
        #[test]
        fn each_address_has_the_last_name_that_covers_it(
            entries in prop::collection::vec((0u64..200, 0u64..60), 0..40),
            mut asked in prop::collection::vec(0u64..260, 0..60),
        ) {
            asked.sort_unstable();
            asked.dedup();
            let lines = entries.iter().enumerate();
            let text: String = lines.map(|(n, (start, len))| format!("{start:x} {len:x} f{n}\n")).collect();
            let (names, n_malformed) = ask(&text, &asked);
            prop_assert_eq!(n_malformed, 0);
            for (address, name) in asked.iter().zip(names) {
                let covering = entries.iter().rposition(|&(start, len)| {
                    (start..start + len.max(1)).contains(address)
                });
                let expected = covering.map(|n| format!("f{n}+{:x}", address - entries[n].0));
                prop_assert_eq!(name, expected);
            }
        }
    }
}
