//! Which samples are shown where: tracks of a thread and an event, and markers.

use super::markers::is_occurrence;
use rprof_profile::SampledProfile;
use std::collections::BTreeMap;

/// Samples of a thread.
#[derive(Debug, Default)]
pub(super) struct Track {
    /// Indices of samples that are summed, in order of time.
    pub(super) samples: Vec<u32>,
    /// Indices of samples that are shown as markers.
    pub(super) markers: Vec<u32>,
    /// Numbers of the thread's waits, in the order in which they ended.
    pub(super) waits: Vec<u32>,
    /// Numbers of the waits of others that it ended.
    pub(super) wake_ups: Vec<u32>,
}

/// All tracks, by thread and event.
#[derive(Debug, Default)]
pub(super) struct Tracks {
    pub(super) all: BTreeMap<(u32, u16), Track>,
    /// Whether several events have tracks.
    pub(super) are_mixed: bool,
}

impl Tracks {
    pub(super) fn of(sampled: &SampledProfile) -> Self {
        let events = || (0u16..).zip(&sampled.profile.events);
        let is_moment = |event: u16| {
            let event = sampled.profile.events.get(usize::from(event));
            event.is_some_and(is_occurrence)
        };
        let with_samples = || events().filter(|(_, event)| event.samples > 0);
        let summed: Vec<u16> = with_samples()
            .filter(|(_, event)| !is_occurrence(event))
            .map(|(number, _)| number)
            .collect();
        // Of a recording of nothing but moments the first event has tracks all the same.
        let only = if summed.is_empty() {
            with_samples().next().map(|(number, _)| number)
        } else {
            None
        };
        let mut tracks = Self {
            all: BTreeMap::new(),
            are_mixed: summed.len() > 1,
        };
        for (idx, sample) in (0u32..).zip(sampled.samples.iter()) {
            if !is_moment(sample.event) || only == Some(sample.event) {
                let key = (sample.thread, sample.event);
                tracks.all.entry(key).or_default().samples.push(idx);
            }
        }
        let first = summed.first().copied().or(only).unwrap_or(0);
        for (idx, sample) in (0u32..).zip(sampled.samples.iter()) {
            if is_moment(sample.event) {
                tracks.of_thread(sample.thread, first).markers.push(idx);
            }
        }
        for (number, wait) in (0u32..).zip(&sampled.waits) {
            tracks.of_thread(wait.thread, first).waits.push(number);
            let waker = wait.waker_thread.filter(|_| wait.is_woken);
            if let Some(waker) = waker {
                tracks.of_thread(waker, first).wake_ups.push(number);
            }
        }
        tracks
    }

    /// The first track of a thread; one of an event, if it has none.
    fn of_thread(&mut self, thread: u32, event: u16) -> &mut Track {
        let mut of_thread = self.all.range((thread, 0)..=(thread, u16::MAX));
        let key = of_thread.next().map(|(&key, _)| key);
        self.all.entry(key.unwrap_or((thread, event))).or_default()
    }
}
