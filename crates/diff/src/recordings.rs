//! What is compared: recordings before and after.

use rprof_profile::difference::Side;
use rprof_profile::run::{Run, RunEvent};

/// A recording, and what it is called.
#[derive(Clone, Debug)]
pub struct NamedRun {
    /// As it was typed.
    pub name: String,
    /// What was counted.
    pub run: Run,
}

/// The recordings of both sides.
#[derive(Clone, Debug, Default)]
pub struct Recordings {
    /// What others are compared with.
    pub before: Vec<NamedRun>,
    /// What is compared.
    pub after: Vec<NamedRun>,
}

impl Recordings {
    /// In how many blocks of time a recording is counted, where there is one a side.
    pub const BLOCKS: u32 = 64;

    /// Those of a side.
    pub fn of(&self, side: Side) -> &[NamedRun] {
        match side {
            Side::Before => &self.before,
            Side::After => &self.after,
        }
    }

    /// All of them, those before first.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Side, &NamedRun)> + Clone {
        let before = self.before.iter().map(|one| (Side::Before, one));
        let after = self.after.iter().map(|one| (Side::After, one));
        before.chain(after)
    }

    /// How many there are before and after.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.before.len(), self.after.len())
    }

    /// How long recordings were, before and after: the sums of both sides, nanoseconds.
    pub fn spans_ns(&self) -> (u64, u64) {
        let of = |side| {
            let spans = self.of(side).iter();
            let spans = spans.map(|one| one.run.events.first().map_or(0, span_ns));
            spans.fold(0, u64::saturating_add)
        };
        (of(Side::Before), of(Side::After))
    }

    /// Whether there is one a side: then noise is seen by blocks of time only.
    pub fn are_single(&self) -> bool {
        self.counts() == (1, 1)
    }
}

/// From the first sample of a recording to the last, as events have it.
pub(crate) fn span_ns(event: &RunEvent) -> u64 {
    let start = event.blocks.first().map_or(0, |block| block.start_ns);
    let end = event.blocks.last().map_or(0, |block| block.end_ns);
    end.saturating_sub(start)
}

/// The number of an event in a run: by its name, or by its name without modifier where that is one only.
pub(crate) fn event_of(run: &Run, name: &str) -> Option<usize> {
    let exact = run.events.iter().position(|event| event.name == name);
    exact.or_else(|| {
        let is_it = |event: &RunEvent| {
            let kind = event.kind;
            kind.without_modifier(&event.name) == kind.without_modifier(name)
        };
        let mut found = run
            .events
            .iter()
            .enumerate()
            .filter(|(_, event)| is_it(event));
        match (found.next(), found.next()) {
            (Some((at, _)), None) => Some(at),
            _ => None,
        }
    })
}
