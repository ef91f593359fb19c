//! How samples of each event are laid out.

use rprof_abi::{Endian, SampleLayout};
use rprof_perfdata::WrittenEvent;

/// The layouts of a recording's events, by the ids in their samples.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layouts {
    layouts: Vec<SampleLayout>,
    /// The events of ids; sorted.
    ids: Vec<(u64, usize)>,
}

impl Layouts {
    pub(crate) fn new<'e>(events: impl Iterator<Item = &'e WrittenEvent>) -> Self {
        let mut all = Self::default();
        for (number, event) in events.enumerate() {
            let layout = SampleLayout::new(&event.attr, Endian::NATIVE);
            all.layouts.push(layout);
            all.ids.extend(event.ids.iter().map(|&id| (id, number)));
        }
        all.ids.sort_unstable();
        all
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

    /// How many events there are.
    pub(crate) fn n_events(&self) -> usize {
        self.layouts.len()
    }

    #[inline]
    pub(crate) fn layout(&self, event: usize) -> Option<&SampleLayout> {
        self.layouts.get(event)
    }
}
