//! Which samples are shown where: tracks of a thread and an event, and markers.

use rprof_profile::timeline::Timeline;
use std::collections::BTreeMap;

/// Samples of a thread.
#[derive(Debug, Default)]
pub(super) struct Track {
    /// Indices of samples that are summed, in order of time.
    pub(super) samples: Vec<u32>,
    /// Indices of samples that are shown as markers.
    pub(super) markers: Vec<u32>,
}

/// All tracks, by thread and event.
#[derive(Debug, Default)]
pub(super) struct Tracks {
    pub(super) all: BTreeMap<(u32, u32), Track>,
    /// Whether several events have tracks.
    pub(super) are_mixed: bool,
}

impl Tracks {
    pub(super) fn of(timeline: &Timeline) -> Self {
        let events = (0u32..).zip(&timeline.profile.events);
        let summed: Vec<u32> = events
            .filter(|&(idx, event)| event.samples > 0 && !timeline.is_occurrence(idx))
            .map(|(idx, _)| idx)
            .collect();
        // Of a recording of nothing but moments the first event has tracks all the same.
        let only = if summed.is_empty() {
            let mut events = (0u32..).zip(&timeline.profile.events);
            events.find(|(_, event)| event.samples > 0)
        } else {
            None
        };
        let only = only.map(|(idx, _)| idx);
        let mut tracks = Self {
            all: BTreeMap::new(),
            are_mixed: summed.len() > 1,
        };
        for (idx, sample) in (0u32..).zip(&timeline.samples) {
            let is_occurrence = timeline.is_occurrence(sample.event);
            if !is_occurrence || only == Some(sample.event) {
                let key = (sample.thread, sample.event);
                tracks.all.entry(key).or_default().samples.push(idx);
            }
        }
        let first = summed.first().copied().or(only).unwrap_or(0);
        for (idx, sample) in (0u32..).zip(&timeline.samples) {
            if !timeline.is_occurrence(sample.event) {
                continue;
            }
            let mut of_thread = tracks
                .all
                .range((sample.thread, 0)..=(sample.thread, u32::MAX));
            let key = of_thread.next().map(|(&key, _)| key);
            let key = key.unwrap_or((sample.thread, first));
            tracks.all.entry(key).or_default().markers.push(idx);
        }
        tracks
    }
}
