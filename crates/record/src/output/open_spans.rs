//! Spans that threads have begun, while they run: which of them take too long.
//!
//! Readers find the same ones afterwards (`analysis/src/samples/span_finder/matching.rs`): a span is of one thread and
//! of one program, and of several of a name that are open, the last one ends.

use foldhash::HashMap;

/// Spans that are open, at most, of one name of a thread; and of all threads and names.
const MOST_NESTED: usize = 64;
const MOST_OPEN: usize = 1 << 16;

/// Something that happens to the spans of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LiveEdge {
    pub(super) time_ns: u64,
    pub(super) pid: i32,
    pub(super) tid: i32,
    pub(super) what: LiveEdgeKind,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LiveEdgeKind {
    /// One of this name begins.
    Begin(usize),
    /// One of this name ends.
    End(usize),
    /// The thread ends.
    Exit,
    /// The process executes another program: no span of the one before goes on.
    Exec,
    /// Edges were lost, of any thread.
    Lost,
}

/// A span that has begun.
#[derive(Debug)]
struct OpenSpan {
    start_ns: u64,
    /// It is known to take too long.
    is_told: bool,
    /// Another of its name has begun since. Whether this one still runs shows only when it ends: its end may have been
    /// passed by.
    is_covered: bool,
}

/// Spans that have begun, by thread and name.
#[derive(Debug)]
pub(super) struct OpenSpans {
    /// By number of the name; `None` for those that may take any time.
    limits_ns: Vec<Option<u64>>,
    open: HashMap<(i32, usize), Vec<OpenSpan>>,
    /// The process of each thread with open spans.
    pids: HashMap<i32, i32>,
}

impl OpenSpans {
    pub(super) fn new(limits_ns: Vec<Option<u64>>) -> Self {
        Self {
            limits_ns,
            open: HashMap::default(),
            pids: HashMap::default(),
        }
    }

    /// Takes what happened up to a moment, in order. Returns whether a span took too long that was not known to.
    pub(super) fn take(&mut self, edges: &[LiveEdge], until_ns: u64) -> bool {
        let mut is_slow = false;
        for edge in edges {
            match edge.what {
                LiveEdgeKind::Begin(name) => self.begin(edge, name),
                LiveEdgeKind::End(name) => is_slow |= self.end(edge, name),
                LiveEdgeKind::Exit => is_slow |= self.leave(edge.tid, edge.time_ns),
                LiveEdgeKind::Exec => is_slow |= self.leave_program(edge.pid, edge.time_ns),
                LiveEdgeKind::Lost => self.forget_all(),
            }
        }
        for ((_, name), open) in &mut self.open {
            let limit_ns = self.limits_ns.get(*name).copied().flatten();
            is_slow |= open.iter_mut().any(|one| one.is_slow(limit_ns, until_ns));
        }
        is_slow
    }

    fn begin(&mut self, edge: &LiveEdge, name: usize) {
        let key = (edge.tid, name);
        if self.open.len() >= MOST_OPEN && !self.open.contains_key(&key) {
            return;
        }
        self.pids.insert(edge.tid, edge.pid);
        let open = self.open.entry(key).or_default();
        if open.len() == MOST_NESTED {
            open.remove(0);
        }
        if let Some(before) = open.last_mut() {
            before.is_covered = true;
        }
        open.push(OpenSpan {
            start_ns: edge.time_ns,
            is_told: false,
            is_covered: false,
        });
    }

    fn end(&mut self, edge: &LiveEdge, name: usize) -> bool {
        let key = (edge.tid, name);
        let Some(open) = self.open.get_mut(&key) else {
            // It began before the recording, or on another thread.
            return false;
        };
        let ended = open.pop();
        if open.is_empty() {
            self.open.remove(&key);
        }
        let limit_ns = self.limits_ns.get(name).copied().flatten();
        ended.is_some_and(|mut ended| {
            ended.is_covered = false;
            ended.is_slow(limit_ns, edge.time_ns)
        })
    }

    /// The thread ends, or its program. Returns whether a span of it took too long by then.
    fn leave(&mut self, tid: i32, time_ns: u64) -> bool {
        let mut is_slow = false;
        if self.pids.remove(&tid).is_some() {
            for (name, limit_ns) in self.limits_ns.iter().enumerate() {
                let left = self.open.remove(&(tid, name)).unwrap_or_default();
                let mut left = left.into_iter();
                is_slow |= left.any(|mut one| one.is_slow(*limit_ns, time_ns));
            }
        }
        is_slow
    }

    /// The same of all threads of a process.
    fn leave_program(&mut self, pid: i32, time_ns: u64) -> bool {
        let of_process = self.pids.iter().filter(|&(_, &own)| own == pid);
        let threads: Vec<i32> = of_process.map(|(&tid, _)| tid).collect();
        let mut is_slow = false;
        for tid in threads {
            is_slow |= self.leave(tid, time_ns);
        }
        is_slow
    }

    fn forget_all(&mut self) {
        self.open.clear();
        self.pids.clear();
    }
}

impl OpenSpan {
    /// Whether it takes too long by now, and was not known to.
    fn is_slow(&mut self, limit_ns: Option<u64>, now_ns: u64) -> bool {
        let ns = now_ns.saturating_sub(self.start_ns);
        let is_slow = !self.is_covered && limit_ns.is_some_and(|limit_ns| ns > limit_ns);
        is_slow && !std::mem::replace(&mut self.is_told, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use LiveEdgeKind::{Begin, End, Exec, Exit, Lost};

    fn edge(time_ns: u64, tid: i32, what: LiveEdgeKind) -> LiveEdge {
        LiveEdge {
            time_ns,
            pid: 1,
            tid,
            what,
        }
    }

    fn spans() -> OpenSpans {
        OpenSpans::new(vec![Some(10)])
    }

    #[test]
    fn spans_that_take_long_are_told_once() {
        let mut spans = spans();
        let quick = [
            edge(1, 7, Begin(0)),
            edge(5, 7, End(0)),
            edge(6, 7, Begin(0)),
            edge(9, 7, End(0)),
        ];
        assert!(!spans.take(&quick, 10));
        assert!(spans.take(&[edge(20, 7, Begin(0)), edge(31, 7, End(0))], 31));
        // As soon as it does, and not again at its end.
        assert!(!spans.take(&[edge(40, 7, Begin(0)), edge(41, 8, Begin(0))], 45));
        assert!(spans.take(&[], 51));
        assert!(!spans.take(&[edge(51, 8, End(0)), edge(60, 7, End(0))], 61));
        assert!(spans.open.is_empty());
    }

    #[test]
    fn any_number_of_spans_may_come_at_a_time() {
        let mut spans = spans();
        let mut edges = Vec::new();
        for number in 0..1000 {
            edges.push(edge(number * 20, 7, Begin(0)));
            let ns = if number == 3 { 11 } else { 10 };
            edges.push(edge(number * 20 + ns, 7, End(0)));
        }
        assert!(spans.take(&edges, 20_000));
        edges.drain(6..8);
        assert!(!spans.take(&edges, 20_000));
    }

    #[test]
    fn threads_and_programs_take_their_spans_with_them() {
        let mut spans = spans();
        assert!(!spans.take(&[edge(1, 7, Begin(0)), edge(5, 7, Exit)], 100));
        assert!(!spans.take(&[edge(101, 7, Begin(0)), edge(105, 8, Exec)], 200));
        assert!(!spans.take(&[edge(201, 7, Begin(0)), edge(202, 8, Lost)], 300));
        assert!(spans.pids.is_empty());
        // What was too long by then is.
        assert!(spans.take(&[edge(301, 7, Begin(0)), edge(312, 7, Exit)], 312));
        // The end is of a thread of the same id.
        assert!(!spans.take(&[edge(340, 7, End(0))], 340));
    }

    #[test]
    fn a_span_that_another_covers_is_judged_by_its_end() {
        let mut spans = spans();
        let nested = [edge(1, 7, Begin(0)), edge(5, 7, Begin(0))];
        assert!(!spans.take(&nested, 9));
        assert!(!spans.take(&[edge(12, 7, End(0))], 30));
        assert!(spans.take(&[edge(31, 7, End(0))], 31));
        // Its end was passed by: as far as is known, it took no longer than up to the next one.
        let mut spans = self::spans();
        spans.take(&nested, 9);
        assert!(!spans.take(&[edge(12, 7, End(0)), edge(100, 7, Begin(0))], 105));
        assert!(!spans.take(&[edge(106, 7, End(0))], 200));
    }
}
