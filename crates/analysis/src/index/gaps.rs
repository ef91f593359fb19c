//! Where and when samples are missing: LOST, THROTTLE and UNTHROTTLE by CPU, thread and second.

use foldhash::HashMap;
use rprof_abi::SampleId;
use rprof_abi::record::{Record, Throttle};
use rprof_profile::{Gap, Gaps};
use std::hash::Hash;

const SECOND_NS: u64 = 1_000_000_000;

/// Threads and seconds that are told apart, each.
const MAX_KEYS: usize = 1 << 16;

/// Gaps so far.
#[derive(Debug, Default)]
pub(super) struct GapCounts {
    cpus: HashMap<u32, Gap>,
    threads: HashMap<i32, Gap>,
    seconds: HashMap<u64, Gap>,
    /// When streams were stopped that have not gone on.
    stopped: HashMap<u64, u64>,
}

impl GapCounts {
    /// Takes a record of any kind.
    pub(super) fn take(&mut self, record: &Record<'_>, id: &SampleId) {
        match record {
            Record::Lost(losses) => {
                let gap = Gap {
                    lost: losses.lost,
                    ..Gap::default()
                };
                self.add(id, id.time_ns, gap);
            }
            Record::Throttle(throttle) => self.stop(throttle, id),
            Record::Unthrottle(throttle) => self.go_on(throttle, id),
            _ => {}
        }
    }

    fn stop(&mut self, throttle: &Throttle, id: &SampleId) {
        if self.stopped.len() < MAX_KEYS {
            self.stopped.insert(throttle.stream_id, throttle.time_ns);
        }
        let gap = Gap {
            throttles: 1,
            ..Gap::default()
        };
        self.add(id, Some(throttle.time_ns), gap);
    }

    fn go_on(&mut self, throttle: &Throttle, id: &SampleId) {
        let Some(since_ns) = self.stopped.remove(&throttle.stream_id) else {
            return;
        };
        let gap = Gap {
            throttled_ns: throttle.time_ns.saturating_sub(since_ns),
            ..Gap::default()
        };
        self.add(id, Some(since_ns), gap);
    }

    fn add(&mut self, id: &SampleId, time_ns: Option<u64>, gap: Gap) {
        add(&mut self.cpus, id.cpu, gap);
        add(&mut self.threads, id.tid, gap);
        add(&mut self.seconds, time_ns.map(|ns| ns / SECOND_NS), gap);
    }

    /// All of them, in order.
    pub(super) fn finish(self) -> Gaps {
        let mut cpus: Vec<_> = self.cpus.into_iter().collect();
        cpus.sort_unstable_by_key(|&(cpu, _)| cpu);
        Gaps {
            cpus,
            threads: worst_first(self.threads),
            seconds: worst_first(self.seconds),
        }
    }
}

fn add<K: Eq + Hash>(gaps: &mut HashMap<K, Gap>, key: Option<K>, gap: Gap) {
    let Some(key) = key else { return };
    if gaps.len() < MAX_KEYS || gaps.contains_key(&key) {
        gaps.entry(key).or_default().add(gap);
    }
}

fn worst_first<K: Ord + Copy>(gaps: HashMap<K, Gap>) -> Vec<(K, Gap)> {
    let mut gaps: Vec<_> = gaps.into_iter().collect();
    gaps.sort_unstable_by(|(a_key, a), (b_key, b)| {
        b.severity().cmp(&a.severity()).then(a_key.cmp(b_key))
    });
    gaps
}
