//! What is computed of the samples that are selected; each part when a view first needs it.

use crate::task::{MadePart, Recipe};
use rprof_base::Share;
use rprof_profile::{EventProfile, SampleCount};
use rprof_query::{Explorer, SampleSelection};
use std::any::Any;
use std::sync::Arc;

/// Samples that are selected, counted.
#[derive(Debug)]
pub(crate) struct CountedSamples {
    pub(crate) explorer: Arc<Explorer>,
    pub(crate) selection: SampleSelection,
    pub(crate) event: EventProfile,
    /// Weight and samples of what is shown.
    pub(crate) weight: u64,
    pub(crate) samples: u64,
}

impl CountedSamples {
    /// Counts a selection; nothing if there is no such event.
    pub(crate) fn new(explorer: Arc<Explorer>, selection: SampleSelection) -> Option<Self> {
        let event = explorer.count(&selection)?;
        let nodes = event.tree.nodes().iter().map(|node| SampleCount {
            samples: node.self_samples,
            weight: node.self_weight,
        });
        let SampleCount { samples, weight } = nodes.fold(SampleCount::default(), SampleCount::plus);
        Some(Self {
            explorer,
            selection,
            event,
            weight,
            samples,
        })
    }
}

/// A selection, and the parts of it that views have needed so far.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) counted: Arc<CountedSamples>,
    /// A [`MadePart`] each, one of a type.
    parts: Vec<Box<dyn Any + Send>>,
}

impl Shown {
    pub(crate) fn new(counted: Arc<CountedSamples>) -> Self {
        let parts = Vec::new();
        Self { counted, parts }
    }

    /// Whether all samples of the event are shown.
    pub(crate) fn is_all(&self) -> bool {
        self.counted.samples == self.counted.event.samples
    }

    /// What a recipe of this type made.
    pub(crate) fn part<R: Recipe>(&self) -> Option<&MadePart<R>> {
        self.parts.iter().find_map(|part| part.downcast_ref())
    }

    pub(crate) fn part_mut<R: Recipe>(&mut self) -> Option<&mut MadePart<R>> {
        self.parts.iter_mut().find_map(|part| part.downcast_mut())
    }

    /// Takes a part, instead of one of its type.
    pub(crate) fn take_part(&mut self, part: Box<dyn Any + Send>) {
        let kind = (*part).type_id();
        self.parts.retain(|one| (**one).type_id() != kind);
        self.parts.push(part);
    }

    /// A share of all samples, or of those that are shown.
    pub(crate) fn share(&self, weight: u64, is_relative: bool) -> Share {
        let whole = if is_relative {
            self.counted.weight
        } else {
            self.counted.event.weight
        };
        Share::of(weight, whole)
    }
}
