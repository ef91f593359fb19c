//! Which functions addresses are in, without names: most addresses that are asked are near the one before.

use crate::{FdeEntry, FrameSection};
use rprof_base::Svma;
use std::ops::Range;

/// Descriptions that may overlap the one which begins nearest before an address. Compilers and
/// linkers make none that do.
const MOST_OVERLAPPING: usize = 64;

/// Searches a section. What was read for one address is kept for the next: those outside of all functions look at
/// [`MOST_OVERLAPPING`] descriptions, which are the same for all behind the last function.
#[derive(Debug)]
pub struct FunctionSearch<'s> {
    section: &'s FrameSection,
    /// The image's lowest address.
    base: Svma,
    /// The description that begins nearest before the last address.
    nearest: Option<FdeEntry>,
    /// How many descriptions were read, from that one on.
    n_read: usize,
    /// The code of those that can be used, the nearest first.
    ranges: Vec<Range<Svma>>,
}

impl<'s> FunctionSearch<'s> {
    /// In a section of an image with this lowest address.
    pub fn new(section: &'s FrameSection, base: Svma) -> Self {
        Self {
            section,
            base,
            nearest: None,
            n_read: 0,
            ranges: Vec::new(),
        }
    }

    /// The function that covers an address: of several, the one that begins nearest before it.
    pub fn function(&mut self, address: Svma) -> Option<Range<Svma>> {
        let at = u32::try_from(address.0.checked_sub(self.base.0)?).ok()?;
        let (_, nearest) = self.section.index.find(at)?;
        if self.nearest != Some(nearest) {
            self.nearest = Some(nearest);
            self.n_read = 0;
            self.ranges.clear();
        }
        let covers = |range: &&Range<Svma>| range.contains(&address);
        if let Some(range) = self.ranges.iter().find(covers) {
            return Some(range.clone());
        }
        let near = self.section.index.before(at).take(MOST_OVERLAPPING);
        for entry in near.skip(self.n_read) {
            self.n_read += 1;
            let Some(range) = self.range(entry) else {
                continue;
            };
            self.ranges.push(range.clone());
            if covers(&&range) {
                return Some(range);
            }
        }
        None
    }

    /// The code of a description. A list that lies about where functions begin is not believed.
    fn range(&self, entry: FdeEntry) -> Option<Range<Svma>> {
        let range = self.section.range(entry.offset as usize)?;
        (range.start.0 == self.base.0 + u64::from(entry.start)).then_some(range)
    }
}
