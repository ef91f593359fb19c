//! The ways in which a recording is damaged: each function lists what is done to one.

use crate::damage::recordings::{Original, Places};
use rprof_abi::Endian;
use std::ops::Range;

/// What is done to a recording's bytes.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    /// Only so many bytes are left. Whether that can be seen at all is said with it.
    Cut { len: usize, shows: bool },
    /// These bytes are written at these offsets.
    Write(Vec<(usize, Vec<u8>)>),
}

impl Edit {
    /// The damaged bytes.
    pub(crate) fn apply(&self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Cut { len, .. } => bytes[..*len].to_vec(),
            Self::Write(changes) => {
                let mut bytes = bytes.to_vec();
                for (at, new) in changes {
                    let rest = bytes.iter_mut().skip(*at);
                    rest.zip(new).for_each(|(byte, new)| *byte = *new);
                }
                bytes
            }
        }
    }

    /// Whether every reader must say that something is wrong.
    pub(crate) fn must_be_said(&self) -> bool {
        matches!(self, Self::Cut { shows: true, .. })
    }
}

/// Cuts at every fiftieth, and at and around the start of every record.
pub(crate) fn cuts(recording: &Original, places: &Places) -> Vec<Edit> {
    let len = recording.bytes.len();
    let starts = places.records(&recording.bytes);
    let mut lens: Vec<usize> = (0..50).map(|part| len * part / 50).collect();
    for &start in sample(&starts, if recording.is_fixture { 200 } else { 60 }) {
        lens.extend([start.saturating_sub(1), start, start + 1]);
    }
    lens.sort_unstable();
    lens.dedup();
    lens.retain(|&cut| cut < len);
    let cut = |len: usize| {
        let shows = match places.promised {
            Some(promised) => len < promised,
            // What ends with a whole record may well have ended there. Between the records of a
            // pipe are none of those bytes that only a length speaks of.
            None => !starts.contains(&len),
        };
        Edit::Cut { len, shows }
    };
    lens.into_iter().map(cut).collect()
}

/// Every byte of header, attrs and feature table inverted, 0 and 0xff.
pub(crate) fn head_bytes(recording: &Original, places: &Places) -> Vec<Edit> {
    let mut edits = Vec::new();
    for at in places.heads.iter().cloned().flatten() {
        let old = recording.bytes[at];
        for new in [!old, 0, 0xff] {
            if new != old {
                edits.push(Edit::Write(vec![(at, vec![new])]));
            }
        }
    }
    limited(edits, recording)
}

/// Numbers that are the largest, 0, 1 and negative, of every width: in header, attrs, feature
/// table, in the first bytes of feature sections and of records.
pub(crate) fn numbers(recording: &Original, places: &Places) -> Vec<Edit> {
    let mut regions: Vec<Range<usize>> = places.heads.clone();
    let sections = places.sections.iter();
    regions.extend(sections.map(|section| section.start..section.end.min(section.start + 32)));
    let starts = places.records(&recording.bytes);
    let records = sample(&starts, 40);
    regions.extend(records.map(|&start| start..(start + 48).min(places.data.end)));
    let mut edits = Vec::new();
    for region in regions {
        for width in [8, 4, 2] {
            for at in region.clone().step_by(width) {
                for value in [u64::MAX, 0, 1, 1 << (8 * width - 1)] {
                    let bytes = number(value, width, places.endian);
                    edits.push(Edit::Write(vec![(at, bytes)]));
                }
            }
        }
    }
    limited(edits, recording)
}

/// A few changes at random places, of records mostly.
pub(crate) fn random(recording: &Original, places: &Places) -> Vec<Edit> {
    let mut random = Random(recording.bytes.len() as u64);
    let all = 0..recording.bytes.len();
    let n = if recording.is_fixture { 300 } else { 150 };
    let edits = (0..n).map(|_| {
        let n_changes = 1 + random.below(6);
        let changes = (0..n_changes).map(|_| {
            let range = match random.below(8) {
                0 => &all,
                _ => &places.data,
            };
            let at = range.start + random.below(range.len().max(1));
            let at = if random.below(2) == 0 { at & !7 } else { at };
            (at, random.bytes(&recording.bytes, places.endian))
        });
        Edit::Write(changes.collect())
    });
    edits.collect()
}

/// The bytes of a number, its lowest if it is wider.
#[expect(
    clippy::cast_possible_truncation,
    reason = "what is cut off is meant to be"
)]
fn number(value: u64, width: usize, endian: Endian) -> Vec<u8> {
    match width {
        8 => endian.bytes_u64(value).to_vec(),
        4 => endian.bytes_u32(value as u32).to_vec(),
        2 => endian.bytes_u16(value as u16).to_vec(),
        _ => vec![value as u8],
    }
}

/// At most `max` of them, spread evenly.
fn sample<T>(all: &[T], max: usize) -> impl Iterator<Item = &T> {
    all.iter().step_by(all.len().div_ceil(max).max(1))
}

fn limited(edits: Vec<Edit>, recording: &Original) -> Vec<Edit> {
    let max = if recording.is_fixture { 700 } else { 120 };
    sample(&edits, max).cloned().collect()
}

/// SplitMix64: the same numbers every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    #[expect(clippy::cast_possible_truncation, reason = "less than a usize")]
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// A byte, a number of some meaning, or what stands elsewhere in the file.
    fn bytes(&mut self, file: &[u8], endian: Endian) -> Vec<u8> {
        match self.below(4) {
            0 => number(self.next(), 1, endian),
            1 => endian.bytes_u64(self.next()).to_vec(),
            2 => {
                let value = [u64::MAX, 0, 1, 1 << 63, 1 << 31, 0xffff, 8, 128][self.below(8)];
                let width = [2, 4, 8][self.below(3)];
                number(value, width, endian)
            }
            _ => {
                let start = self.below(file.len());
                let len = 1 + self.below(64);
                file[start..].iter().take(len).copied().collect()
            }
        }
    }
}
