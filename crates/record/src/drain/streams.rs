//! Threads that began while events were opened. They may have inherited their parent's events, and have
//! those that were opened for them. Their samples would count twice.

use crate::drain::head::Head;
use crate::error::Error;
use crate::opening::Group;
use crate::words::u32_at;
use foldhash::HashMap;
use rprof_abi::{Endian, SampleLayout};
use rprof_ringbuf::Target;

/// An event on a CPU.
type EventOnCpu = (usize, u32);

/// Takes a thread's samples of an event on a CPU from one counter: the first that has any.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    /// By id: the event, and the thread that its counter was opened for.
    counters: HashMap<u64, (usize, i32)>,
    /// Where each event's samples have their CPU, bytes after the header.
    cpu_places: Vec<usize>,
    /// By thread: for which thread the counter was opened that its samples are taken from.
    owners: HashMap<i32, Vec<(EventOnCpu, i32)>>,
}

/// Threads that are remembered.
const MAX_THREADS: usize = 1 << 16;

impl Streams {
    /// Those of counters that were opened for threads.
    pub(crate) fn new(sampling: &Group) -> Result<Self, Error> {
        let mut streams = Self::default();
        for (idx, event) in sampling.events.iter().enumerate() {
            let layout = SampleLayout::new(&event.attr, Endian::NATIVE);
            streams.add_event(layout.cpu_place().unwrap_or(usize::MAX));
            // There are as many with small stack dumps, or none.
            for (counter, (target, _)) in event.all().zip(event.opened_for.iter().cycle()) {
                if let Target::Thread(tid) = *target {
                    let id = counter.id();
                    let id = id.map_err(Error::system("asking for an event's id"))?;
                    streams.add(id, idx, tid);
                }
            }
        }
        Ok(streams)
    }

    /// Adds an event, with the place of the CPU in its samples, bytes after the header.
    fn add_event(&mut self, cpu_place: usize) {
        self.cpu_places.push(cpu_place);
    }

    /// Adds a counter of an event.
    fn add(&mut self, id: u64, event: usize, opened_for: i32) {
        self.counters.insert(id, (event, opened_for));
    }

    /// Whether a sample is there a second time.
    pub(crate) fn has_sample_twice(&mut self, head: &Head, body: &[u8]) -> bool {
        let event = self.counters.get(&head.id).map(|&(event, _)| event);
        let place = event.and_then(|event| self.cpu_places.get(event));
        let cpu = place.and_then(|&at| u32_at(body, at));
        cpu.is_some_and(|cpu| self.is_double(head.id, head.tid, cpu))
    }

    /// Whether a sample of a thread is there a second time.
    fn is_double(&mut self, id: u64, tid: i32, cpu: u32) -> bool {
        let Some(&(event, owner)) = self.counters.get(&id) else {
            return false;
        };
        if self.owners.len() >= MAX_THREADS {
            self.owners.clear();
        }
        let place = (event, cpu);
        let owners = self.owners.entry(tid).or_default();
        if let Some(&(_, first)) = owners.iter().find(|one| one.0 == place) {
            return first != owner;
        }
        owners.push((place, owner));
        false
    }

    /// A thread begins, whatever had its id before.
    pub(crate) fn begins(&mut self, tid: i32) {
        self.owners.remove(&tid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_with_events_of_its_own_and_inherited_ones_counts_once() {
        let mut streams = Streams::default();
        // Of two events, for a thread 10 and its child 11, which was listed later; large and small.
        for (id, event, opened_for) in [
            (1, 0, 10),
            (2, 0, 10),
            (3, 1, 10),
            (4, 0, 11),
            (5, 0, 11),
            (6, 1, 11),
        ] {
            streams.add(id, event, opened_for);
        }
        for (id, tid, cpu, is_double) in [
            (1, 10, 0, false),
            (2, 10, 0, false),
            (1, 11, 0, false),
            (4, 11, 0, true),
            (5, 11, 0, true),
            (2, 11, 0, false),
            // Passed on of one event, or on one CPU, only.
            (6, 11, 0, false),
            (4, 11, 1, false),
            (1, 11, 1, true),
            // What that one has started in turn.
            (5, 12, 0, false),
            (1, 12, 0, true),
            (99, 12, 0, false),
        ] {
            assert_eq!(
                streams.is_double(id, tid, cpu),
                is_double,
                "{id} {tid} {cpu}"
            );
        }
        streams.begins(12);
        assert!(!streams.is_double(1, 12, 0));
        assert!(streams.is_double(5, 12, 0));
    }
    #[test]
    fn the_cpu_is_where_the_event_has_it() {
        let mut streams = Streams::default();
        streams.add_event(8);
        streams.add_event(0);
        // Two counters each, of threads 10 and 11.
        for (id, event, opened_for) in [(1, 0, 10), (2, 0, 11), (3, 1, 10), (4, 1, 11)] {
            streams.add(id, event, opened_for);
        }
        let body = [[7; 8], [9; 8]].concat();
        let mut is_double = |id, n_bytes| {
            let head = Head {
                id,
                tid: 11,
                ..Head::default()
            };
            streams.has_sample_twice(&head, &body[..n_bytes])
        };
        assert!(!is_double(1, 16) && is_double(2, 16));
        assert!(!is_double(3, 16) && is_double(4, 16));
        assert!(!is_double(2, 8), "too short for a CPU");
    }
}
