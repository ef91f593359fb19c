//! Spans that threads have begun, while they run: which of them take too long.
//!
//! Readers find the same ones afterwards (`analysis/src/samples/span_finder/matching.rs`): a span is of one thread and
//! of one program, and of several of a name that are open, the last one ends.

use foldhash::{HashMap, HashSet};

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
    /// The process executes another program: no span of the one before continues.
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
    /// The process of each thread that has begun spans, and its threads.
    pids: HashMap<i32, i32>,
    threads: HashMap<i32, HashSet<i32>>,
}

impl OpenSpans {
    pub(super) fn new(limits_ns: Vec<Option<u64>>) -> Self {
        Self {
            limits_ns,
            open: HashMap::default(),
            pids: HashMap::default(),
            threads: HashMap::default(),
        }
    }

    /// Takes what happened up to a moment, in order. Returns since when a span takes too long that was not known to: of
    /// several, the first.
    pub(super) fn take(&mut self, edges: &[LiveEdge], until_ns: u64) -> Option<u64> {
        let mut first = None;
        for edge in edges {
            let slow = match edge.what {
                LiveEdgeKind::Begin(name) => {
                    self.begin(edge, name);
                    None
                }
                LiveEdgeKind::End(name) => self.end(edge, name),
                LiveEdgeKind::Exit => self.leave(edge.tid, edge.time_ns),
                LiveEdgeKind::Exec => self.leave_program(edge.pid, edge.time_ns),
                LiveEdgeKind::Lost => {
                    self.forget_all();
                    None
                }
            };
            first = earliest(first, slow);
        }
        for ((_, name), open) in &mut self.open {
            let limit_ns = self.limits_ns.get(*name).copied().flatten();
            first = earliest(first, first_slow(open, limit_ns, until_ns));
        }
        first
    }

    fn begin(&mut self, edge: &LiveEdge, name: usize) {
        let key = (edge.tid, name);
        if self.open.len() >= MOST_OPEN && !self.open.contains_key(&key) {
            return;
        }
        let before = self.pids.insert(edge.tid, edge.pid);
        if before != Some(edge.pid) {
            if let Some(before) = before {
                self.forget_thread(before, edge.tid);
            }
            self.threads.entry(edge.pid).or_default().insert(edge.tid);
        }
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

    fn end(&mut self, edge: &LiveEdge, name: usize) -> Option<u64> {
        let key = (edge.tid, name);
        // Otherwise it began before the recording, or on another thread.
        let open = self.open.get_mut(&key)?;
        let mut ended = open.pop()?;
        if open.is_empty() {
            self.open.remove(&key);
        }
        let limit_ns = self.limits_ns.get(name).copied().flatten();
        let was_covered = std::mem::take(&mut ended.is_covered);
        let slow_ns = ended.slow_since(limit_ns, edge.time_ns)?;
        // What was judged only now may have taken too long since long ago.
        Some(if was_covered { edge.time_ns } else { slow_ns })
    }

    /// The thread ends, or its program. Returns since when a span of it took too long by then.
    fn leave(&mut self, tid: i32, time_ns: u64) -> Option<u64> {
        let pid = self.pids.remove(&tid)?;
        self.forget_thread(pid, tid);
        let mut first = None;
        for (name, limit_ns) in self.limits_ns.iter().enumerate() {
            let mut left = self.open.remove(&(tid, name)).unwrap_or_default();
            first = earliest(first, first_slow(&mut left, *limit_ns, time_ns));
        }
        first
    }

    /// The same of all threads of a process.
    fn leave_program(&mut self, pid: i32, time_ns: u64) -> Option<u64> {
        let threads = self.threads.remove(&pid)?.into_iter();
        let slow = threads.filter_map(|tid| self.leave(tid, time_ns));
        slow.min()
    }

    fn forget_thread(&mut self, pid: i32, tid: i32) {
        if let Some(threads) = self.threads.get_mut(&pid) {
            threads.remove(&tid);
            if threads.is_empty() {
                self.threads.remove(&pid);
            }
        }
    }

    fn forget_all(&mut self) {
        self.open.clear();
        self.pids.clear();
        self.threads.clear();
    }
}

fn earliest(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).min()
}

/// Since when one of them takes too long by now, and was not known to.
fn first_slow(open: &mut [OpenSpan], limit_ns: Option<u64>, now_ns: u64) -> Option<u64> {
    let slow = (open.iter_mut()).filter_map(|one| one.slow_since(limit_ns, now_ns));
    slow.min()
}

impl OpenSpan {
    /// Since when it takes too long, if it does by now and was not known to.
    fn slow_since(&mut self, limit_ns: Option<u64>, now_ns: u64) -> Option<u64> {
        let slow_ns = self.start_ns.checked_add(limit_ns?)?;
        let is_slow = !self.is_covered && now_ns > slow_ns;
        (is_slow && !std::mem::replace(&mut self.is_told, true)).then_some(slow_ns)
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
        assert_eq!(spans.take(&quick, 10), None);
        assert_eq!(
            spans.take(&[edge(20, 7, Begin(0)), edge(31, 7, End(0))], 31),
            Some(30)
        );
        // As soon as it does, and not again at its end.
        assert_eq!(
            spans.take(&[edge(40, 7, Begin(0)), edge(41, 8, Begin(0))], 45),
            None
        );
        assert_eq!(spans.take(&[], 51), Some(50));
        assert_eq!(
            spans.take(&[edge(51, 8, End(0)), edge(60, 7, End(0))], 61),
            None
        );
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
        assert_eq!(spans.take(&edges, 20_000), Some(70));
        edges.drain(6..8);
        assert_eq!(spans.take(&edges, 20_000), None);
    }

    #[test]
    fn threads_and_programs_take_their_spans_with_them() {
        let mut spans = spans();
        assert_eq!(
            spans.take(&[edge(1, 7, Begin(0)), edge(5, 7, Exit)], 100),
            None
        );
        assert_eq!(
            spans.take(&[edge(101, 7, Begin(0)), edge(105, 8, Exec)], 200),
            None
        );
        assert_eq!(
            spans.take(&[edge(201, 7, Begin(0)), edge(202, 8, Lost)], 300),
            None
        );
        assert!(spans.pids.is_empty() && spans.threads.is_empty());
        // What was too long by then is.
        assert_eq!(
            spans.take(&[edge(301, 7, Begin(0)), edge(312, 7, Exit)], 312),
            Some(311)
        );
        // The end is of a thread of the same id.
        assert_eq!(spans.take(&[edge(340, 7, End(0))], 340), None);
    }

    #[test]
    fn a_span_that_another_covers_is_judged_by_its_end() {
        let mut spans = spans();
        let nested = [edge(1, 7, Begin(0)), edge(5, 7, Begin(0))];
        assert_eq!(spans.take(&nested, 9), None);
        assert_eq!(spans.take(&[edge(12, 7, End(0))], 30), None);
        assert_eq!(spans.take(&[edge(31, 7, End(0))], 31), Some(31));
        // Its end was passed by: as far as is known, it took no longer than up to the next one.
        let mut spans = self::spans();
        spans.take(&nested, 9);
        assert_eq!(
            spans.take(&[edge(12, 7, End(0)), edge(100, 7, Begin(0))], 105),
            None
        );
        assert_eq!(spans.take(&[edge(106, 7, End(0))], 200), None);
    }
}
