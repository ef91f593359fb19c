//! Places that are one as soon as they have names: groups that only such places tell apart are counted as one. Functions
//! are far more than their sizes are, and each group has a tree of its own.

use super::dimensions::Grouping;
use super::group_key::GroupKey;
use crate::symbolize::Symbols;
use foldhash::HashMap;
use rprof_profile::Dimension;
use std::num::NonZeroU32;

/// For the dimensions whose values are sizes of functions: by a place's number that of the first one with its value.
#[derive(Debug, Default)]
pub(super) struct AlikePlaces {
    firsts: Vec<u64>,
    /// Where in a group's key such values are.
    values: Vec<usize>,
    /// Whether the values are sizes, those of the frames that samples were taken in.
    are_of_frames: bool,
}

impl AlikePlaces {
    /// Those that samples are told apart by, now that they have names.
    pub(super) fn of(grouping: &Grouping<'_>, symbols: &Symbols) -> Self {
        let dimensions = grouping.dimensions().iter().enumerate();
        let of_sizes = dimensions.filter(|(_, one)| **one == Dimension::SymSize);
        let values: Vec<usize> = of_sizes.map(|(at, _)| at).collect();
        if values.is_empty() {
            return Self::default();
        }
        // Without a size a place is shown as one of no bytes.
        let mut first_of_size: HashMap<u32, u64> = HashMap::default();
        let places = (0..).zip(grouping.places());
        let firsts = places.map(|(number, place)| {
            let size = symbols.size(symbols.number(place));
            let size = size.map_or(0, NonZeroU32::get);
            *first_of_size.entry(size).or_insert(number)
        });
        Self {
            firsts: firsts.collect(),
            values,
            are_of_frames: grouping.has_sizes_later(),
        }
    }

    /// Whether the group also depends on the location that a sample was taken at.
    #[inline]
    pub(super) fn are_of_frames(&self) -> bool {
        self.are_of_frames
    }

    /// The group that stands for all that are like one, of samples that were taken at a location.
    #[inline]
    pub(super) fn first(&self, key: &GroupKey, (symbols, innermost): (&Symbols, u32)) -> GroupKey {
        let mut key = *key;
        for &at in &self.values {
            key.change(at, |number| {
                if self.are_of_frames {
                    return symbols.size(innermost).map_or(0, |size| size.get().into());
                }
                let first = usize::try_from(number).ok();
                let first = first.and_then(|number| self.firsts.get(number));
                first.copied().unwrap_or(number)
            });
        }
        key
    }
}
