//! Which end belongs to which beginning. Both are of one thread, and of the program that its process executes then; of
//! several of a name that are open, the last one ends.

use super::edges::{Edge, EdgeKind, Edges};
use crate::spans::{Span, ToldOfSpans};
use foldhash::HashMap;
use rprof_machine::Key;
use rprof_untrusted::{Held, OverBudget};
use std::collections::VecDeque;

/// Makes spans of the edges of all threads, which are in the order of threads and times. The recording ends at
/// `end_ns`.
///
/// # Errors
/// [`OverBudget`]; the memory of the spans is returned with them.
pub(super) fn match_edges(
    all: &Edges,
    end_ns: u64,
    told: &mut ToldOfSpans,
) -> Result<(Vec<Span>, Held), OverBudget> {
    let edges = all.edges.iter();
    let begins = edges.filter(|edge| matches!(edge.what, EdgeKind::Begin(_)));
    let n_spans = begins.count();
    let budget = all.held.budget();
    let held = budget.hold((n_spans * size_of::<Span>()) as u64)?;
    // What has no counterpart, and what is open: all, at the worst, in vectors that grow.
    let of_edge = 2 * size_of::<LeftEdge>() + size_of::<usize>();
    let of_span = 2 * size_of::<(usize, i32)>();
    let _while_matching = budget.hold((all.edges.len() * of_edge + n_spans * of_span) as u64)?;
    let mut spans = Vec::with_capacity(n_spans);
    let mut left = Vec::new();
    for edges in all.edges.chunk_by(|a, b| a.tid == b.tid) {
        let mut thread = Thread {
            spans: &mut spans,
            left: &mut left,
            execs: &all.execs,
            before: None,
            open: HashMap::default(),
            last: HashMap::default(),
        };
        for edge in edges {
            thread.execute_until(edge.key);
            thread.take(edge);
            thread.before = Some((edge.pid, edge.key));
        }
        thread.execute_until(Key::LAST);
        thread.leave_open((Key::LAST, end_ns));
    }
    let crossed = crossed(left, told);
    told.n_open += spans.iter().filter(|span| !span.is_ended).count() as u64;
    told.n_open -= crossed.len() as u64;
    let mut crossed = crossed.into_iter().peekable();
    let mut number = 0;
    spans.retain(|_| {
        let is_crossed = crossed.next_if_eq(&number).is_some();
        number += 1;
        !is_crossed
    });
    Ok((spans, held))
}

/// An edge without its counterpart on its thread: the number of the span that it begins, or none.
struct LeftEdge {
    pid: i32,
    /// How many programs were executed before, in the order of processes and times.
    program: usize,
    name: u32,
    key: Key,
    begun: Option<usize>,
}

/// The spans of one thread.
struct Thread<'a> {
    spans: &'a mut Vec<Span>,
    left: &'a mut Vec<LeftEdge>,
    /// When processes executed another program, by process and time.
    execs: &'a [(i32, Key)],
    /// The process and the moment of the edge before.
    before: Option<(i32, Key)>,
    /// Those that are open, by name: number, process.
    open: HashMap<u32, Vec<(usize, i32)>>,
    /// The last one of a name that began.
    last: HashMap<u32, usize>,
}

impl Thread<'_> {
    fn take(&mut self, edge: &Edge) {
        match edge.what {
            EdgeKind::Begin(name) => {
                let number = self.spans.len();
                // If the one before never ends, it did not last beyond this one, as far as is known.
                if let Some(before) = self.last.insert(name, number)
                    && let Some(before) = self.spans.get_mut(before).filter(|one| !one.is_ended)
                {
                    before.end = edge.key;
                    before.ns = edge.key.time_ns.saturating_sub(before.start.time_ns);
                }
                self.open.entry(name).or_default().push((number, edge.pid));
                self.spans.push(Span {
                    name,
                    tid: edge.tid,
                    start: edge.key,
                    end: Key::LAST,
                    ns: 0,
                    is_ended: false,
                });
            }
            EdgeKind::End(name) => {
                let begun = self.open.get_mut(&name).and_then(Vec::pop);
                let span = begun.and_then(|(number, _)| self.spans.get_mut(number));
                match span {
                    Some(span) => {
                        span.end = after(edge.key);
                        span.ns = edge.key.time_ns.saturating_sub(span.start.time_ns);
                        span.is_ended = true;
                    }
                    None => self.left.push(LeftEdge {
                        pid: edge.pid,
                        program: program(self.execs, (edge.pid, edge.key)),
                        name,
                        key: edge.key,
                        begun: None,
                    }),
                }
            }
            EdgeKind::Exit => self.leave_open((after(edge.key), edge.key.time_ns)),
        }
    }

    /// Its process may have executed another program between the edge before and a moment: what was open is left then.
    fn execute_until(&mut self, until: Key) {
        let Some((pid, after)) = self.before.filter(|_| !self.last.is_empty()) else {
            return;
        };
        let next = self.execs.get(program(self.execs, (pid, after)));
        if let Some(&(own, key)) = next
            && own == pid
            && key < until
        {
            self.leave_open((key, key.time_ns));
        }
    }

    /// The thread ends, its program, or the recording.
    fn leave_open(&mut self, (end, end_ns): (Key, u64)) {
        for (name, open) in self.open.drain() {
            for (number, pid) in open {
                let Some(span) = self.spans.get_mut(number) else {
                    continue;
                };
                if span.end == Key::LAST {
                    span.end = end;
                    span.ns = end_ns.saturating_sub(span.start.time_ns);
                }
                self.left.push(LeftEdge {
                    pid,
                    program: program(self.execs, (pid, span.start)),
                    name,
                    key: span.start,
                    begun: Some(number),
                });
            }
        }
        self.last.clear();
    }
}

/// How many programs were executed up to a moment of a process.
fn program(execs: &[(i32, Key)], moment: (i32, Key)) -> usize {
    execs.partition_point(|exec| *exec <= moment)
}

/// The first moment after a record.
fn after(key: Key) -> Key {
    Key {
        offset: key.offset.saturating_add(1),
        ..key
    }
}

/// The spans that ended on another thread of their process, in order: of those that had begun, the first one ends.
fn crossed(mut left: Vec<LeftEdge>, told: &mut ToldOfSpans) -> Vec<usize> {
    let of = |edge: &LeftEdge| (edge.pid, edge.program, edge.name);
    left.sort_unstable_by_key(|edge| (of(edge), edge.key));
    let mut crossed = Vec::new();
    for edges in left.chunk_by(|a, b| of(a) == of(b)) {
        let mut begun = VecDeque::new();
        for edge in edges {
            match edge.begun {
                Some(number) => begun.push_back(number),
                None => match begun.pop_front() {
                    Some(number) => crossed.push(number),
                    None => told.n_unbegun += 1,
                },
            }
        }
    }
    crossed.sort_unstable();
    told.n_crossed += crossed.len() as u64;
    crossed
}

#[cfg(test)]
mod tests {
    use super::*;
    use EdgeKind::{Begin, End, Exit};
    use rprof_untrusted::Budget;

    fn key(time_ns: u64) -> Key {
        Key { time_ns, offset: 0 }
    }

    /// Names, starts and lengths of all spans, and whether they ended.
    fn matched(edges: &[(i32, u64, EdgeKind)]) -> (Vec<(u32, u64, u64, bool)>, ToldOfSpans) {
        matched_with(edges, &[])
    }

    /// The same, of a process that executes other programs at some times.
    fn matched_with(
        edges: &[(i32, u64, EdgeKind)],
        execs_ns: &[u64],
    ) -> (Vec<(u32, u64, u64, bool)>, ToldOfSpans) {
        let edge = |&(tid, time_ns, what): &(i32, u64, EdgeKind)| Edge {
            tid,
            pid: 1,
            key: key(time_ns),
            what,
        };
        let mut edges: Vec<Edge> = edges.iter().map(edge).collect();
        edges.sort_by_key(|edge| (edge.tid, edge.key));
        let mut told = ToldOfSpans::default();
        let edges = Edges {
            edges,
            execs: execs_ns.iter().map(|&time_ns| (1, key(time_ns))).collect(),
            held: Budget::default().hold_nothing(),
        };
        let (spans, _) = match_edges(&edges, 100, &mut told).unwrap();
        let of = |span: Span| (span.name, span.start.time_ns, span.ns, span.is_ended);
        (spans.into_iter().map(of).collect(), told)
    }

    #[test]
    fn spans_nest_by_name_on_their_thread() {
        let (spans, told) = matched(&[
            (1, 10, Begin(0)),
            (2, 11, Begin(0)),
            (1, 12, Begin(1)),
            (1, 13, Begin(0)),
            (1, 15, End(0)),
            (1, 17, End(1)),
            (2, 18, End(0)),
            (1, 20, End(0)),
        ]);
        let expected = [
            (0, 10, 10, true),
            (1, 12, 5, true),
            (0, 13, 2, true),
            (0, 11, 7, true),
        ];
        assert_eq!((spans, told), (expected.to_vec(), ToldOfSpans::default()));
    }

    #[test]
    fn what_does_not_match_is_counted() {
        let (spans, told) = matched(&[
            // Begun before the recording.
            (1, 5, End(0)),
            // Never ended: up to the next one of its name.
            (1, 10, Begin(0)),
            (1, 30, Begin(0)),
            (1, 40, End(0)),
            // The thread ends, and its id is that of another one.
            (1, 50, Begin(1)),
            (1, 60, Exit),
            (1, 70, End(1)),
            // Up to the end of the recording.
            (2, 90, Begin(2)),
        ]);
        let expected = [
            (0, 10, 20, false),
            (0, 30, 10, true),
            (1, 50, 10, false),
            (2, 90, 10, false),
        ];
        // The end of 1 is that of a span of its process which another thread of the id may have begun.
        assert_eq!(spans, [&expected[..2], &expected[3..]].concat());
        let counts = (told.n_open, told.n_unbegun, told.n_crossed);
        assert_eq!(counts, (2, 1, 1));
    }

    #[test]
    fn spans_that_end_on_another_thread_are_none() {
        let (spans, told) = matched(&[
            (1, 10, Begin(0)),
            (1, 11, Begin(0)),
            (2, 20, End(0)),
            (3, 21, End(0)),
            (3, 22, End(0)),
        ]);
        assert_eq!(spans, []);
        let counts = (told.n_open, told.n_unbegun, told.n_crossed);
        assert_eq!(counts, (0, 1, 2));
    }

    #[test]
    fn spans_end_with_the_program_that_began_them() {
        let edges = [
            (1, 10, Begin(0)),
            (2, 15, Begin(1)),
            // Of the next program.
            (1, 30, End(0)),
            (1, 40, Begin(0)),
            (1, 50, End(0)),
            (1, 60, Begin(1)),
        ];
        let (spans, told) = matched_with(&edges, &[5, 20, 70]);
        let expected = [
            (0, 10, 10, false),
            (0, 40, 10, true),
            (1, 60, 10, false),
            (1, 15, 5, false),
        ];
        assert_eq!(spans, expected);
        let counts = (told.n_open, told.n_unbegun, told.n_crossed);
        assert_eq!(counts, (3, 1, 0));
    }
}
