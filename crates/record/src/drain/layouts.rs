//! How samples of each event are laid out.

use rprof_abi::{Endian, PerfEventAttr, SampleLayout};

/// The layouts of a recording's events, by the ids in their samples.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layouts {
    layouts: Vec<SampleLayout>,
    /// The events of ids; sorted.
    ids: Vec<(u64, usize)>,
}

impl Layouts {
    /// Adds an event.
    pub(crate) fn add(&mut self, attr: &PerfEventAttr, ids: &[u64]) {
        let number = self.layouts.len();
        self.layouts.push(SampleLayout::new(attr, Endian::NATIVE));
        self.ids.extend(ids.iter().map(|&id| (id, number)));
        self.ids.sort_unstable();
    }

    /// The number of the event that a sample is of: its id comes first.
    #[inline]
    pub(crate) fn event_of(&self, body: &[u8]) -> Option<usize> {
        if self.layouts.len() == 1 {
            return Some(0);
        }
        let id = u64::from_ne_bytes(*body.first_chunk()?);
        let at = self.ids.binary_search_by_key(&id, |&(id, _)| id).ok()?;
        Some(self.ids.get(at)?.1)
    }

    /// An event's layout.
    #[inline]
    pub(crate) fn of(&self, event: usize) -> Option<&SampleLayout> {
        self.layouts.get(event)
    }
}
