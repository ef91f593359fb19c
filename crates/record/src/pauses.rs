//! When samples of events are paused, for those who read the recording: what threads do meanwhile is not known.

use rprof_abi::{Encoder, Endian};
use rprof_perfdata::FeatureId;
use rprof_perfdata::feature::EventPause;

/// Pauses of each event, if there may be any.
#[derive(Debug, Default)]
pub(crate) struct Pauses {
    events: Vec<EventPauses>,
}

/// Those of one event.
#[derive(Debug, Default)]
struct EventPauses {
    /// Since when samples of it are paused.
    since_ns: Option<u64>,
    /// In order: start and end.
    past: Vec<(u64, u64)>,
}

/// Pauses of an event that are told apart: of more, the last ones are one, and what was recorded between counts as
/// paused.
const MOST_PAUSES: usize = 4096;

impl Pauses {
    /// For this number of events, which may be paused.
    pub(crate) fn of_events(n_events: usize) -> Self {
        let mut events = Vec::new();
        events.resize_with(n_events, EventPauses::default);
        Self { events }
    }

    /// Some events were enabled or disabled between two moments: `are_on` says for each what it is now.
    pub(crate) fn toggled(
        &mut self,
        (before_ns, after_ns): (u64, u64),
        are_on: impl Iterator<Item = bool>,
    ) {
        for (event, is_on) in self.events.iter_mut().zip(are_on) {
            match (event.since_ns, is_on) {
                (None, false) => event.since_ns = Some(before_ns),
                (Some(since_ns), true) => {
                    event.since_ns = None;
                    let n_past = event.past.len();
                    match event.past.last_mut() {
                        Some(last) if n_past >= MOST_PAUSES => last.1 = after_ns,
                        _ => event.past.push((since_ns, after_ns)),
                    }
                }
                (None, true) | (Some(_), false) => {}
            }
        }
    }

    /// The section of a file that ends now; `None` if no event can be paused.
    pub(crate) fn section(&self, now_ns: u64) -> Option<(FeatureId, Vec<u8>)> {
        let of_event = |(event_idx, event): (u32, &EventPauses)| {
            let open = event.since_ns.map(|since_ns| (since_ns, now_ns));
            let all = event.past.iter().copied().chain(open);
            let pauses = all.map(move |(start_ns, end_ns)| EventPause {
                event_idx,
                start_ns,
                end_ns,
            });
            pauses.collect::<Vec<_>>()
        };
        let pauses: Vec<EventPause> = (0..).zip(&self.events).flat_map(of_event).collect();
        let mut bytes = Vec::new();
        EventPause::encode_all(&pauses, &mut Encoder::new(&mut bytes, Endian::NATIVE));
        (!self.events.is_empty()).then_some((FeatureId::PAUSES, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_perfdata::Feature;

    fn section(pauses: &Pauses, now_ns: u64) -> Vec<(u32, u64, u64)> {
        let (id, bytes) = pauses.section(now_ns).unwrap();
        match Feature::parse(id, &bytes, Endian::NATIVE) {
            Ok(Feature::Pauses(all)) => all
                .iter()
                .map(|pause| (pause.event_idx, pause.start_ns, pause.end_ns))
                .collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn pauses_reach_from_before_the_first_counter_to_after_the_last() {
        let mut pauses = Pauses::of_events(2);
        pauses.toggled((10, 12), [false, true].into_iter());
        pauses.toggled((20, 22), [false, false].into_iter());
        pauses.toggled((30, 32), [true, false].into_iter());
        assert_eq!(section(&pauses, 50), [(0, 10, 32), (1, 20, 50)]);
    }

    #[test]
    fn of_too_many_pauses_the_last_ones_are_one() {
        let mut pauses = Pauses::of_events(1);
        for at in 0..MOST_PAUSES as u64 + 10 {
            pauses.toggled((10 * at, 10 * at), [false].into_iter());
            pauses.toggled((10 * at + 5, 10 * at + 5), [true].into_iter());
        }
        let all = section(&pauses, 0);
        assert_eq!(all.len(), MOST_PAUSES);
        let last = MOST_PAUSES as u64 - 1;
        assert_eq!(all.last(), Some(&(0, 10 * last, 10 * (last + 10) + 5)));
    }

    #[test]
    fn a_recording_that_is_never_paused_says_nothing() {
        assert!(Pauses::default().section(5).is_none());
    }
}
