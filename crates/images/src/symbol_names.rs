//! Names of symbols in the strings of their table: in memory, or of a few symbols read from the file.

use crate::contents::Contents;
use std::ffi::CStr;
use std::ops::Range;

/// Bytes of a name, at most; one with more counts as damaged.
const MAX_NAME: usize = 1 << 16;

/// Bytes of strings that are in memory at once where few names are wanted.
const WINDOW: usize = 256 << 10;

/// Strings that are in memory.
pub(crate) struct Names<'d> {
    strings: &'d [u8],
    left: Left,
}

/// Bytes of names that may still be looked at. Names may overlap: to look for their ends must take no longer than to
/// read them all a few times.
struct Left(usize);

impl Left {
    fn of(n_strings: usize) -> Self {
        Self(n_strings.saturating_mul(8).saturating_add(MAX_NAME << 8))
    }

    /// The name that some bytes begin with; empty without an end, or if there is no room for it.
    fn name<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let most = MAX_NAME.min(self.0.saturating_add(1));
        let bytes = bytes.get(..most).unwrap_or(bytes);
        let name = CStr::from_bytes_until_nul(bytes).ok().map(CStr::to_bytes);
        self.0 = self.0.saturating_sub(name.unwrap_or(bytes).len());
        name.unwrap_or_default()
    }
}

impl<'d> Names<'d> {
    pub(crate) fn of(strings: &'d [u8]) -> Self {
        Self {
            strings,
            left: Left::of(strings.len()),
        }
    }

    /// The name that begins at a place; empty if there is none.
    pub(crate) fn at(&mut self, start: usize) -> &'d [u8] {
        self.left
            .name(self.strings.get(start..).unwrap_or_default())
    }
}

/// The names that begin at some places of the strings, which are at `(offset, length)` of a file; empty where there is
/// none. They are kept with what is read of the file; the strings are not. `None` if these cannot be read, or the names
/// do not fit into the budget.
pub(crate) fn sparse_names<'d>(
    data: &'d Contents,
    (offset, len): (u64, u64),
    starts: &[usize],
) -> Option<Vec<&'d [u8]>> {
    let mut order: Vec<usize> = (0..starts.len()).collect();
    order.sort_unstable_by_key(|&at| starts[at]);
    let mut left = Left::of(usize::try_from(len).unwrap_or(usize::MAX));
    let mut window = Window::of(data, offset, len);
    // All names, and where each is in them.
    let mut names = Vec::new();
    let mut places: Vec<Range<usize>> = vec![0..0; starts.len()];
    let mut before: Option<usize> = None;
    for at in order {
        let start = starts[at];
        if let Some(before) = before.filter(|&before| starts[before] == start) {
            places[at] = places[before].clone();
            continue;
        }
        before = Some(at);
        let name = left.name(window.from(start)?);
        data.hold(name.len() as u64).ok()?;
        places[at] = names.len()..names.len() + name.len();
        names.extend_from_slice(name);
    }
    let names = data.keep(names);
    let name = |place: Range<usize>| names.get(place).unwrap_or_default();
    Some(places.into_iter().map(name).collect())
}

/// A part of the strings.
struct Window<'d> {
    data: &'d Contents,
    /// Of the strings.
    offset: u64,
    len: u64,
    bytes: Vec<u8>,
    /// Where in the strings they are.
    start: usize,
}

impl<'d> Window<'d> {
    fn of(data: &'d Contents, offset: u64, len: u64) -> Self {
        Self {
            data,
            offset,
            len,
            bytes: Vec::new(),
            start: 0,
        }
    }

    /// What the strings have from a place on, at least as much as a name may have; `None` if it cannot be read. Places
    /// must be in order; beyond the strings there is nothing.
    fn from(&mut self, start: usize) -> Option<&[u8]> {
        if start as u64 >= self.len {
            return Some(&[]);
        }
        let end = self.start + self.bytes.len();
        let has_rest = end as u64 >= self.len;
        if start < self.start || start > end || (end - start < MAX_NAME && !has_rest) {
            let len = usize::try_from(self.len.checked_sub(start as u64)?).unwrap_or(usize::MAX);
            self.bytes.resize(len.min(WINDOW), 0);
            self.start = start;
            let at = self.offset.checked_add(start as u64)?;
            if self.data.read_exact_at(&mut self.bytes, at).is_err() {
                self.bytes.clear();
                return None;
            }
        }
        self.bytes.get(start - self.start..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use rprof_untrusted::Budget;
    use std::io::Write;

    /// A file with something before and behind the strings.
    fn contents(strings: &[u8], budget: &Budget) -> Contents {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&[&b"before\0"[..], strings, b"behind\0"].concat())
            .unwrap();
        Contents::new(Source::open(file.path()).unwrap(), budget)
    }

    /// Names that are longer than windows are, empty ones, one in the other, and a last one without an end.
    fn strings() -> Vec<u8> {
        let mut strings = vec![0];
        for n in 0..40_000 {
            strings.extend(format!("name_{}\0", "x".repeat(n % 50)).bytes());
        }
        strings.extend(vec![b'l'; MAX_NAME - 1]);
        strings.extend(b"\0\0");
        strings.extend(vec![b'm'; MAX_NAME]);
        strings.extend(b"\0no_end");
        strings
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(25))]

        #[test]
        fn names_of_a_few_places_are_those_of_all_strings(
            places in vec(0usize..1 << 22, 0..40),
            near_end in vec(0usize..140_000, 0..20),
        ) {
            let strings = strings();
            prop_assert!(strings.len() > 4 * WINDOW);
            let near_end = near_end.into_iter().map(|back| strings.len().saturating_sub(back));
            let all = places.into_iter().chain(near_end).chain([0, 1, 1, strings.len(), usize::MAX]);
            let starts: Vec<usize> = all.collect();
            let data = contents(&strings, &Budget::default());
            let range = (7, strings.len() as u64);
            let mut whole = Names::of(&strings);
            let expected: Vec<&[u8]> = starts.iter().map(|&start| whole.at(start)).collect();
            prop_assert_eq!(sparse_names(&data, range, &starts).unwrap(), expected.clone());
            // What was kept stays.
            let again = sparse_names(&data, range, &starts).unwrap();
            prop_assert_eq!(sparse_names(&data, range, &starts[..1]).unwrap()[0], expected[0]);
            prop_assert_eq!(again, expected);
        }
    }

    #[test]
    fn names_that_overlap_are_looked_at_a_few_times_and_then_have_no_end() {
        let mut left = Left::of(0);
        let long = vec![b'a'; MAX_NAME];
        let mut n_bytes = 0;
        while left.0 > 0 {
            let before = left.0;
            assert!(left.name(&long).is_empty());
            n_bytes += before - left.0;
        }
        assert_eq!(n_bytes, MAX_NAME << 8);
        assert_eq!((left.name(b"b\0"), left.name(b"\0")), (&b""[..], &b""[..]));
        let mut left = Left(3);
        let names = [&b"ab\0"[..], b"c\0", b"d\0"].map(|bytes| left.name(bytes));
        assert_eq!(names, [&b"ab"[..], b"c", b""]);
    }

    #[test]
    fn names_that_do_not_fit_are_said_and_none_is_given() {
        let mut limits = Budget::default().limits();
        limits.memory = 0;
        let budget = Budget::new(limits);
        let strings = [vec![b'b'; 3 << 20], vec![0]].concat();
        let data = contents(&strings, &budget);
        let starts: Vec<usize> = (0..200).map(|n| strings.len() - 60_000 + n).collect();
        assert!(sparse_names(&data, (7, strings.len() as u64), &starts).is_none());
        assert!(data.is_over_budget());
    }

    #[test]
    fn strings_that_the_file_does_not_have_are_no_names() {
        let data = contents(b"\0name\0", &Budget::default());
        assert_eq!(sparse_names(&data, (7, 1 << 20), &[1]), None);
        assert_eq!(sparse_names(&data, (u64::MAX, 6), &[1]), None);
        let names = sparse_names(&data, (7, 6), &[1, 6, 9]).unwrap();
        assert_eq!(names, [&b"name"[..], b"", b""]);
    }
}
