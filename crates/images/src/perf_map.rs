//! `/tmp/perf-PID.map`: names that a compiler at run time leaves for profilers, one line for each
//! function: `START SIZE name`, numbers in hexadecimal.
//!
//! A file goes in, entries come out from the last to the first: a later one is newer code at the
//! same address, and readers need not remember what they passed. It may be large, and may be
//! written while it is read: it is read in windows, up to where it ended when it was opened.

use crate::source::Source;
use rprof_untrusted::Budget;
use std::cell::Cell;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::SystemTime;

/// A map of names, open.
#[derive(Debug)]
pub struct PerfMap {
    source: Source,
    budget: Budget,
    is_over_budget: Cell<bool>,
}

/// One line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerfMapEntry<'a> {
    /// Address of the code in the process.
    pub start: u64,
    /// Its bytes.
    pub len: u64,
    /// What it is called: all after the numbers, spaces and all.
    pub name: &'a [u8],
}

/// Bytes read at once.
const WINDOW: usize = 1 << 16;

/// A line that is longer names nothing.
const MAX_LINE: usize = 1 << 16;

impl PerfMap {
    /// Opens a map, which must be a regular file. What is read of it is of the budget.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(path: &Path, budget: &Budget) -> io::Result<Self> {
        let source = Source::open(path)?;
        if source.is_mostly_hole() {
            let what = "mostly a hole (sparse file)";
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        Ok(Self {
            source,
            budget: budget.clone(),
            is_over_budget: Cell::new(false),
        })
    }

    /// Whether the rest of it was not read, because the budget did not allow so much.
    pub fn is_over_budget(&self) -> bool {
        self.is_over_budget.get()
    }

    /// Who owns the file.
    pub fn owner(&self) -> u32 {
        self.source.meta().map_or(u32::MAX, |meta| meta.owner)
    }

    /// When it was last written to; `None` where file systems do not say.
    pub fn modified(&self) -> Option<SystemTime> {
        self.source.meta()?.modified
    }

    /// Shows entries from the last to the first, until `visit` breaks off. Returns how many lines
    /// of those read were none. A last line without an end is still being written, and passed over.
    ///
    /// # Errors
    /// If it cannot be read (any more).
    pub fn for_each_back(
        &self,
        mut visit: impl FnMut(PerfMapEntry<'_>) -> ControlFlow<()>,
    ) -> io::Result<u64> {
        let mut n_malformed = 0;
        self.for_each_line_back(|line| match line.and_then(parse_line) {
            Some(entry) => visit(entry),
            None => {
                n_malformed += u64::from(line.is_none_or(|line| !line.is_empty()));
                ControlFlow::Continue(())
            }
        })?;
        Ok(n_malformed)
    }

    /// Lines from the last to the first; `None` for one that is too long.
    fn for_each_line_back(
        &self,
        mut visit: impl FnMut(Option<&[u8]>) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let mut end = self.source.meta().map_or(0, |meta| meta.len);
        let mut window = Vec::with_capacity(WINDOW + MAX_LINE);
        // What was read of the line that the window before begins in.
        let mut rest: Vec<u8> = Vec::new();
        // Of that line, more or less was read than is to be shown.
        let mut is_dropped = true;
        while end > 0 {
            let len = usize::try_from(end).unwrap_or(WINDOW).min(WINDOW);
            end -= len as u64;
            if self.budget.read(len as u64).is_err() {
                self.is_over_budget.set(true);
                return Ok(());
            }
            window.resize(len, 0);
            self.source.read_exact_at(&mut window, end)?;
            let mut pieces = window.rsplit(|&byte| byte == b'\n').peekable();
            while let Some(piece) = pieces.next() {
                let is_whole = pieces.peek().is_some() || end == 0;
                rest.splice(..0, piece.iter().copied());
                if !is_dropped && rest.len() > MAX_LINE {
                    is_dropped = true;
                    rest.clear();
                    if visit(None).is_break() {
                        return Ok(());
                    }
                }
                if is_whole {
                    if !is_dropped && visit(Some(&rest)).is_break() {
                        return Ok(());
                    }
                    is_dropped = false;
                    rest.clear();
                } else if is_dropped {
                    rest.clear();
                }
            }
        }
        Ok(())
    }
}

fn parse_line(line: &[u8]) -> Option<PerfMapEntry<'_>> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let (start, rest) = hex(line)?;
    let (len, name) = hex(rest)?;
    (!name.is_empty()).then_some(PerfMapEntry { start, len, name })
}

/// A number and what follows the space after it.
fn hex(text: &[u8]) -> Option<(u64, &[u8])> {
    let end = text
        .iter()
        .position(|&byte| byte == b' ' || byte == b'\t')?;
    let (digits, rest) = text.split_at(end);
    let digits = digits.strip_prefix(b"0x").unwrap_or(digits);
    if !(1..=16).contains(&digits.len()) {
        return None;
    }
    let value = digits.iter().try_fold(0u64, |value, &digit| {
        Some(value << 4 | u64::from(char::from(digit).to_digit(16)?))
    })?;
    Some((value, rest.trim_ascii_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries from the last to the first, and the number of lines that are none.
    fn read(text: &[u8]) -> (Vec<(u64, u64, String)>, u64) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("perf-1.map");
        std::fs::write(&path, text).unwrap();
        let mut all = Vec::new();
        let n_malformed = PerfMap::open(&path, &Budget::default())
            .unwrap()
            .for_each_back(|entry| {
                let name = String::from_utf8_lossy(entry.name).into_owned();
                all.push((entry.start, entry.len, name));
                ControlFlow::Continue(())
            })
            .unwrap();
        (all, n_malformed)
    }

    #[test]
    fn entries_come_from_the_last_to_the_first() {
        let (all, n_malformed) =
            read(b"7f00 40 LazyCompile:*hot /a b.js:3\n0x10 0x8 x\r\n10 8 y\n12 3 half a li");
        let named = |start, len, name: &str| (start, len, name.to_owned());
        let expected = [
            named(0x10, 8, "y"),
            named(0x10, 8, "x"),
            named(0x7f00, 0x40, "LazyCompile:*hot /a b.js:3"),
        ];
        assert_eq!((all, n_malformed), (expected.to_vec(), 0));
    }

    #[test]
    fn what_is_no_entry_is_counted_and_passed_over() {
        let text =
            b"\n10 8\n10 8 \nxyz 8 a\n10 -8 a\n11112222333344445 1 a\n\xff\xfe\n10 8 good\n\n";
        let (all, n_malformed) = read(text);
        assert_eq!(all, [(0x10, 8, "good".to_owned())]);
        assert_eq!(n_malformed, 6);
        assert_eq!(read(b"").0, []);
        assert_eq!(read(b"10 8 no end of line").0, []);
    }

    #[test]
    fn lines_are_whole_wherever_windows_end() {
        for name_len in [
            1,
            100,
            WINDOW - 20,
            WINDOW,
            MAX_LINE - 6,
            MAX_LINE + 1,
            3 * WINDOW,
        ] {
            let name = "n".repeat(name_len);
            let mut text = Vec::new();
            for n in 0..(4 * WINDOW / name_len).clamp(5, 2000) {
                text.extend_from_slice(format!("{n:x} 1 {name}\n{n:x} 2 x\n").as_bytes());
            }
            let (all, n_malformed) = read(&text);
            let n = text.iter().filter(|&&byte| byte == b'\n').count() / 2;
            let expected: Vec<_> = (0..n as u64)
                .rev()
                .flat_map(|n| [(n, 2, "x".to_owned()), (n, 1, name.clone())])
                .filter(|(_, _, name)| name.len() + 4 <= MAX_LINE + 1)
                .collect();
            let left_out = 2 * n - expected.len();
            assert_eq!(n_malformed, left_out as u64, "{name_len}");
            assert!(all == expected, "{name_len}");
        }
    }

    #[test]
    fn reading_ends_when_enough_was_seen() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("perf-1.map");
        std::fs::write(&path, "1 1 a\n2 1 b\n3 1 c\n").unwrap();
        let mut n = 0;
        let map = PerfMap::open(&path, &Budget::default()).unwrap();
        let visit = |_: PerfMapEntry<'_>| {
            n += 1;
            ControlFlow::Break(())
        };
        map.for_each_back(visit).unwrap();
        assert_eq!(n, 1);
        assert!(PerfMap::open(dir.path(), &Budget::default()).is_err());
    }
}
