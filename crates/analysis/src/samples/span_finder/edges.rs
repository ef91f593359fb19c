//! Where spans begin and end: samples of the events that do so, the ends of threads, and what ends a program.

use crate::Error;
use crate::recording::Recording;
use crate::samples::DecodedSample;
use crate::spans::{SpanNames, ToldOfSpans};
use rprof_abi::record::Record;
use rprof_abi::{Misc, RawRecord, RecordKind};
use rprof_base::parallel;
use rprof_machine::Key;
use rprof_perfdata::Step;
use rprof_perfdata::feature::SpanEdge;
use rprof_untrusted::{Budget, Held, OverBudget};

/// Something that happens to a thread's spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) tid: i32,
    pub(super) pid: i32,
    pub(super) key: Key,
    pub(super) what: EdgeKind,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EdgeKind {
    /// One of this name begins.
    Begin(u32),
    /// One of this name ends.
    End(u32),
    /// The thread ends.
    Exit,
}

/// All of a recording, in the order of threads and times.
#[derive(Debug)]
pub(super) struct Edges {
    pub(super) edges: Vec<Edge>,
    /// When processes executed another program, by process and time.
    pub(super) execs: Vec<(i32, Key)>,
    /// Their memory.
    pub(super) held: Held,
}

/// What a thread has found.
struct FoundEdges {
    edges: Vec<Edge>,
    execs: Vec<(i32, Key)>,
    held: Held,
    n_bad: u64,
}

impl FoundEdges {
    fn new(budget: &Budget) -> Self {
        Self {
            edges: Vec::new(),
            execs: Vec::new(),
            held: budget.hold_nothing(),
            n_bad: 0,
        }
    }

    fn hold(&mut self) -> Result<(), Error> {
        let bytes = self.edges.capacity() * size_of::<Edge>();
        let bytes = (bytes + self.execs.capacity() * size_of::<(i32, Key)>()) as u64;
        let grown = self.held.grow(bytes.saturating_sub(self.held.bytes()));
        grown.map_err(|OverBudget| Error::SpansOverBudget)
    }
}

impl Edges {
    /// Reads a recording.
    pub(super) fn find(
        recording: &Recording<'_>,
        edges: &[SpanEdge],
        names: &mut SpanNames,
        told: &mut ToldOfSpans,
    ) -> Result<Self, Error> {
        let by_event =
            by_event(recording, edges, names, told).map_err(|OverBudget| Error::SpansOverBudget)?;
        let visit = |found: &mut FoundEdges, chunk: usize| -> Result<(), Error> {
            let Some(range) = recording.index.chunks.get(chunk) else {
                return Ok(());
            };
            recording.reader.walk_windows(range.clone(), |records| {
                for (offset, raw) in records {
                    take(recording, &by_event, (offset, raw), found);
                }
                Step::On
            })?;
            found.hold()
        };
        let n_chunks = if edges.is_empty() {
            0
        } else {
            recording.index.chunks.len()
        };
        let new_found = || FoundEdges::new(recording.reader.budget());
        let work = (n_chunks, parallel::n_cpus());
        let all = parallel::for_each(work, new_found, visit, &mut |_| {})?;
        let mut edges = Vec::new();
        let mut execs = Vec::new();
        let mut held = recording.reader.budget().hold_nothing();
        let n_edges: usize = all.iter().map(|found| found.edges.len()).sum();
        let n_execs: usize = all.iter().map(|found| found.execs.len()).sum();
        let bytes = n_edges * size_of::<Edge>() + n_execs * size_of::<(i32, Key)>();
        held.grow(bytes as u64)
            .map_err(|OverBudget| Error::SpansOverBudget)?;
        edges.reserve_exact(n_edges);
        execs.reserve_exact(n_execs);
        for found in all {
            edges.extend(found.edges);
            execs.extend(found.execs);
            told.n_bad += found.n_bad;
        }
        edges.sort_unstable_by_key(|edge| (edge.tid, edge.key));
        execs.sort_unstable();
        Ok(Self { edges, execs, held })
    }
}

/// What each event of a recording is for spans.
fn by_event(
    recording: &Recording<'_>,
    edges: &[SpanEdge],
    names: &mut SpanNames,
    told: &mut ToldOfSpans,
) -> Result<Vec<Option<EdgeKind>>, OverBudget> {
    let mut by_event = vec![None; recording.reader.events().len()];
    for edge in edges {
        let name = names.number(&edge.name)?;
        let place = usize::try_from(edge.event_idx);
        match place.ok().and_then(|place| by_event.get_mut(place)) {
            Some(place) if edge.is_end == 0 => *place = Some(EdgeKind::Begin(name)),
            Some(place) => *place = Some(EdgeKind::End(name)),
            None => told.n_bad += 1,
        }
    }
    let losses = by_event.iter().zip(&recording.index.losses);
    let lost = losses.filter(|(edge, _)| edge.is_some());
    told.n_lost = lost.map(|(_, loss)| loss.samples).sum();
    Ok(by_event)
}

fn take(
    recording: &Recording<'_>,
    by_event: &[Option<EdgeKind>],
    (offset, raw): (u64, RawRecord<'_>),
    found: &mut FoundEdges,
) {
    let edge = match raw.kind {
        RecordKind::EXIT => exit(recording, offset, raw),
        RecordKind::COMM if raw.misc.has(Misc::COMM_EXEC) => {
            match exec(recording, offset, raw) {
                Some(exec) => found.execs.push(exec),
                None => found.n_bad += 1,
            }
            return;
        }
        RecordKind::SAMPLE => {
            let event = recording.reader.event_of(raw);
            let what = event.and_then(|event| *by_event.get(event)?);
            let Some(what) = what else {
                return;
            };
            let sample = DecodedSample::of(recording, offset, raw);
            sample.and_then(|sample| {
                sample.head.time_ns?;
                Some(Edge {
                    tid: sample.tid,
                    pid: sample.pid,
                    key: sample.key,
                    what,
                })
            })
        }
        _ => return,
    };
    match edge {
        Some(edge) => found.edges.extend((edge.tid > 0).then_some(edge)),
        None => found.n_bad += 1,
    }
}

fn exit(recording: &Recording<'_>, offset: u64, raw: RawRecord<'_>) -> Option<Edge> {
    let event = recording.reader.event_of(raw)?;
    let layout = &recording.reader.events().get(event)?.layout;
    match Record::parse(raw, layout).ok()? {
        (Record::Exit(task), id) => Some(Edge {
            tid: task.tid,
            pid: task.pid,
            key: recording.index.key(id.time_ns, offset),
            what: EdgeKind::Exit,
        }),
        _ => None,
    }
}

/// The process that executes another program, and when: none of its threads go on.
fn exec(recording: &Recording<'_>, offset: u64, raw: RawRecord<'_>) -> Option<(i32, Key)> {
    let event = recording.reader.event_of(raw)?;
    let layout = &recording.reader.events().get(event)?.layout;
    match Record::parse(raw, layout).ok()? {
        (Record::Comm(comm), id) => Some((comm.pid, recording.index.key(id.time_ns, offset))),
        _ => None,
    }
}
