//! What the kernel lost, by event.

use rprof_perfdata::{FeatureId, Reader, RecordedEvent};
use rprof_profile::Loss;

/// Losses of one event, counted in two ways that must not be added.
#[derive(Clone, Copy, Default)]
pub(super) struct Lost {
    pub(super) samples: Option<u64>,
    pub(super) records: u64,
}

/// Whether sideband has rings of its own, as our recorder makes them. Most recorders let the event that carries it share
/// its ring with samples.
pub(crate) fn has_sideband_rings(reader: &Reader) -> bool {
    let tool = reader.feature_text(FeatureId::VERSION);
    tool.is_some_and(|tool| tool.starts_with("rprof "))
}

/// Where sideband shares its ring with samples, what a LOST record says of it is about samples, too.
pub(super) fn charge_shared_rings(reader: &Reader, lost: &mut [Lost]) {
    if has_sideband_rings(reader) {
        return;
    }
    let dummies: Vec<bool> = reader
        .events()
        .iter()
        .map(RecordedEvent::is_dummy)
        .collect();
    let Some(first) = dummies.iter().position(|dummy| !dummy) else {
        return;
    };
    for idx in 0..lost.len() {
        if dummies[idx] {
            let records = std::mem::take(&mut lost[idx].records);
            lost[first].records = lost[first].records.saturating_add(records);
        }
    }
}

impl Lost {
    pub(super) fn into_loss(self) -> Loss {
        Loss {
            samples: self.samples.unwrap_or(self.records),
            at_least: self.samples.is_none() && self.records > 0,
        }
    }
}
