//! Times at which threads waited: a marker from the beginning to the end of each, with its state, its cause and who
//! ended it; and a moment in the thread that did.

use super::clock::Clock;
use super::markers::Marker;
use super::shared::Shared;
use rprof_profile::{EventKind, SampleRow, SampledProfile, StrId, TimedWait};
use rprof_untrusted::JsonWriter;
use std::collections::BTreeSet;

/// What the kinds of markers are called.
const WAIT: &str = "Waiting";
const WAKE_UP: &str = "Wakes";

/// What a marker says of a wait, in numbers of strings.
#[derive(Clone, Copy, Debug)]
pub(super) enum WaitData {
    /// In the thread that waits.
    Wait {
        state: StrId,
        cause: StrId,
        waker: Option<StrId>,
    },
    /// In the thread that ends it.
    WakeUp { wakee: StrId, cause: StrId },
}

/// The markers of some waits, and of the wake-ups that a thread did.
pub(super) fn markers<'a>(
    sampled: &SampledProfile,
    (waits, wake_ups, clock): (&[u32], &[u32], Clock),
    shared: &mut Shared<'_>,
) -> Vec<Marker<'a>> {
    let of = |number: &u32| sampled.waits.get(*number as usize).copied();
    let mut all: Vec<Marker<'a>> = Vec::with_capacity(waits.len() + wake_ups.len());
    let ended = waits.iter().filter_map(of);
    all.extend(ended.map(|wait| {
        Marker {
            name: wait.cause.number(),
            time_ns: clock.since(wait.start_ns),
            end_ns: Some(clock.since(wait.end_ns)),
            data: WaitData::Wait {
                state: wait.state,
                cause: wait.cause,
                waker: wait.waker,
            }
            .into(),
        }
    }));
    let name = shared.strings.intern(WAKE_UP).number();
    let done = wake_ups.iter().filter_map(of);
    all.extend(done.filter_map(|wait| {
        let wakee = sampled.threads.get(wait.thread as usize)?;
        Some(Marker {
            name,
            time_ns: clock.since(wait.end_ns),
            end_ns: None,
            data: WaitData::WakeUp {
                wakee: wakee.comm,
                cause: wait.cause,
            }
            .into(),
        })
    }));
    all
}

impl WaitData {
    pub(super) fn write(self, json: &mut JsonWriter<'_>) {
        let mut text = |key: &str, text: StrId| json.key(key).number(text.number().into());
        match self {
            Self::Wait {
                state,
                cause,
                waker,
            } => {
                text("state", state);
                text("cause_", cause);
                if let Some(waker) = waker {
                    text("waker", waker);
                }
                json.key("type").text(WAIT);
            }
            Self::WakeUp { wakee, cause } => {
                text("wakee", wakee);
                text("cause_", cause);
                json.key("type").text(WAKE_UP);
            }
        }
    }
}

/// What the two kinds of markers have. The key `cause` is the page's own.
pub(super) fn write_schemas(json: &mut JsonWriter<'_>) {
    let wait = [
        ("state", "state"),
        ("cause_", "waits for"),
        ("waker", "woken by"),
    ];
    let label = "{marker.data.cause_} ({marker.data.state})";
    write_schema(WAIT, label, &wait, json);
    let wake_up = [("wakee", "woken thread"), ("cause_", "which waited for")];
    let label = "wakes {marker.data.wakee}";
    write_schema(WAKE_UP, label, &wake_up, json);
}

fn write_schema(name: &str, label: &str, fields: &[(&str, &str)], json: &mut JsonWriter<'_>) {
    json.object(|json| {
        json.key("name").text(name);
        for key in ["tooltipLabel", "tableLabel", "chartLabel"] {
            json.key(key).text(label);
        }
        let places = ["marker-chart", "marker-table", "timeline-overview"];
        json.column("display", places, JsonWriter::text);
        json.key("fields").list(|json| {
            for (key, label) in fields {
                json.object(|json| {
                    json.key("key").text(key);
                    json.key("label").text(label);
                    json.key("format").text("unique-string");
                });
            }
        });
    });
}

/// Samples in order of time, and between them where waits ended: rows that count nothing. The page takes the time from
/// one row to the next for busy by what the later one counts, so that waits are idle.
pub(super) fn with_idle_times(
    samples: Vec<SampleRow>,
    waits: impl Iterator<Item = TimedWait>,
    least_ns: u64,
) -> Vec<SampleRow> {
    let Some(&any) = samples.first() else {
        return samples;
    };
    let ends = waits.filter(|wait| wait.end_ns.saturating_sub(wait.start_ns) >= least_ns);
    let mut all = samples;
    all.extend(ends.map(|wait| SampleRow {
        time_ns: wait.end_ns,
        stack: None,
        cpu: None,
        weight: 0,
        ..any
    }));
    // Of one time, the wait ends first.
    all.sort_by_key(|row| (row.time_ns, row.weight > 0));
    all
}

/// The time on a CPU that each sample stands for: of all time of a thread, its waits are none. Samples of a wait have the
/// time at which it began, and its length if they are whole. What a thread ran without any sample may have the same time.
pub(super) fn cpu_use(
    rows: &[SampleRow],
    (waits, are_whole): (&[TimedWait], bool),
    kind: EventKind,
) -> Vec<u64> {
    let mut waits = waits.to_vec();
    waits.sort_unstable_by_key(|wait| wait.start_ns);
    let mut starts: BTreeSet<u64> = BTreeSet::new();
    let mut parts: BTreeSet<(u64, u64)> = BTreeSet::new();
    // Until when the last wait lasted, and since when: who was woken waits for a CPU, since the same moment.
    let mut last = None;
    for wait in waits {
        let since_ns = match last {
            Some((end_ns, since_ns)) if end_ns == wait.start_ns => since_ns,
            _ => wait.start_ns,
        };
        starts.insert(since_ns);
        parts.insert((since_ns, wait.end_ns.saturating_sub(wait.start_ns)));
        last = wait.is_woken.then_some((wait.end_ns, since_ns));
    }
    let is_wait = |row: &SampleRow| {
        if are_whole {
            parts.contains(&(row.time_ns, row.weight))
        } else {
            starts.contains(&row.time_ns)
        }
    };
    let used = rows.iter().map(|row| match kind {
        EventKind::WallTime if is_wait(row) => 0,
        _ => row.weight,
    });
    used.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_idle_from_the_sample_before_to_their_end() {
        let row = |time_ns, weight| SampleRow {
            time_ns,
            event: 0,
            thread: 0,
            stack: Some(1),
            cpu: Some(0),
            weight,
        };
        let id = rprof_profile::Strings::default().intern("futex");
        let wait = |start_ns, end_ns| TimedWait {
            thread: 0,
            start_ns,
            end_ns,
            state: id,
            cause: id,
            waker: None,
            waker_thread: None,
            is_woken: false,
        };
        let waits = [wait(12, 30), wait(31, 32)];
        let rows = with_idle_times(vec![row(10, 5), row(35, 5)], waits.into_iter(), 10);
        let rows: Vec<_> = rows.iter().map(|row| (row.time_ns, row.weight)).collect();
        assert_eq!(rows, [(10, 5), (30, 0), (35, 5)]);
        assert!(with_idle_times(Vec::new(), waits.into_iter(), 0).is_empty());
        // Of wall time, the sample at 12 is the wait itself.
        let rows = [row(10, 5), row(12, 18), row(30, 0), row(31, 3), row(35, 5)];
        let used = |kind, are_whole| cpu_use(&rows, (&waits, are_whole), kind);
        assert_eq!(used(EventKind::WallTime, true), [5, 0, 0, 3, 5]);
        assert_eq!(used(EventKind::WallTime, false), [5, 0, 0, 0, 5]);
        assert_eq!(used(EventKind::CpuTime, true), [5, 18, 0, 3, 5]);
    }
}
