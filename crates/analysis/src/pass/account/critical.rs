//! The critical path that is asked for: whose it is, and from when to when.

use crate::Error;
use crate::about::command_line;
use crate::locations::{TaskName, comm_text};
use crate::recording::Recording;
use crate::samples::{find_spans, recorded_command};
use rprof_abi::record::Record;
use rprof_abi::{Misc, RecordKind};
use rprof_base::{Counted, Millis};
use rprof_machine::Key;
use rprof_perfdata::{Reader, Step};
use rprof_profile::{NameList, PathEnd};
use rprof_scheduling::{PathStep, RunGraph};
use rprof_untrusted::{Held, OverBudget, Untrusted};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::{Range, RangeInclusive};

/// Which critical path is asked for.
#[derive(Clone, Debug)]
pub(crate) struct WantedPath<'f> {
    pub(crate) end: &'f PathEnd,
    /// Only between these moments, nanoseconds.
    pub(crate) within: Option<RangeInclusive<u64>>,
    /// Whether other time counts, too, apart from it.
    pub(crate) keeps_rest: bool,
}

/// What the end of a thread waited for, from thread to thread; or what the ends of spans did.
#[derive(Debug)]
pub struct CriticalPath {
    /// Whose it is.
    pub of: PathOwner,
    /// From when to when, nanoseconds; for spans from the first to the last.
    pub range: Range<u64>,
    /// The path: it fills the range. The paths of several spans stand one after the other.
    pub steps: Vec<PathStep>,
    /// The threads on it, by id, and that whose path it is.
    pub threads: Vec<PathThread>,
    /// Whether it is known of any thread which one woke it.
    has_wakers: bool,
    /// Spans that did not end.
    n_open: u64,
    /// What is to be said of whose it is.
    said: Vec<String>,
    /// Its memory.
    _held: Held,
}

/// Whose a critical path is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathOwner {
    /// A thread's.
    Thread(i32),
    /// That of some spans, all together.
    Spans {
        /// Their names.
        names: Vec<Untrusted<String>>,
        /// How many they are.
        n_spans: u64,
    },
}

/// A thread on a critical path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathThread {
    /// Its id.
    pub tid: i32,
    /// Its process; -1 if that is not known.
    pub pid: i32,
    /// As it was called at last.
    pub name: Untrusted<String>,
}

impl CriticalPath {
    pub(super) fn find(
        recording: &Recording<'_>,
        wanted: &WantedPath<'_>,
        graph: &RunGraph,
        pid_of: impl Fn(i32) -> i32,
    ) -> Result<Self, Error> {
        let history = &recording.index.history;
        let name = |tid| comm_text(history, TaskName::at(history, tid, Key::LAST));
        let mut said = Vec::new();
        let mut path = match wanted.end {
            PathEnd::Command => {
                let (found, is_guess) = command(recording.reader)?;
                let (tid, start_ns) = found.ok_or(Error::WhichPath)?;
                let end_ns = graph.end_ns(tid).ok_or(Error::CommandHasNoSwitches)?;
                said.extend(is_guess.then(|| {
                    format!(
                        "the recording does not say which process its command was: the critical path is that of {}[{tid}], \
                         by the name of its program (-t names another thread)",
                        name(tid)
                    )
                }));
                let known_ns = graph.start_ns(tid).ok_or(Error::CommandHasNoSwitches)?;
                let start_ns = start_ns.max(known_ns);
                let last = last_of_process(graph, (tid, end_ns), &pid_of);
                said.extend(last.map(|(last, later_ns)| {
                    format!(
                        "the command's main thread ended {} ms before its process did: the critical path is that to the end of \
                         {}[{last}] (-t {tid} shows that of the main thread)",
                        Millis(later_ns),
                        name(last)
                    )
                }));
                let tid = last.map_or(tid, |(last, _)| last);
                Self::of_thread(recording, wanted, graph, (tid, start_ns))?
            }
            PathEnd::Threads { comms, pids, tids } => {
                let has = |list: &[i32], id| list.is_empty() || list.contains(&id);
                let fits = |&tid: &i32| {
                    let is_asked = has(tids, tid) && has(pids, pid_of(tid));
                    is_asked && comms.accepts(&[&name(tid).into_raw()])
                };
                let all = graph.threads().filter(|&tid| tid > 0).filter(fits);
                let mut all: Vec<i32> = all.collect();
                all.sort_unstable_by_key(|&tid| (Reverse(graph.end_ns(tid)), tid));
                let (&last, others) = all.split_first().ok_or(Error::NoSuchThread)?;
                // The end of a process is its last thread's; which of several namesakes is meant is not as clear.
                if !comms.is_empty() && !others.is_empty() {
                    said.push(namesakes(&format_args!("{}[{last}]", name(last)), others));
                }
                let start_ns = graph.start_ns(last).ok_or(Error::NoSuchThread)?;
                Self::of_thread(recording, wanted, graph, (last, start_ns))?
            }
            PathEnd::Spans(names) => Self::of_spans(recording, wanted, graph, names)?,
        };
        let owner = match path.of {
            PathOwner::Thread(tid) => Some(tid),
            PathOwner::Spans { .. } => None,
        };
        let tids = path.steps.iter().map(|step| step.tid).chain(owner);
        let tids: BTreeSet<i32> = tids.collect();
        let threads = tids.into_iter().map(|tid| PathThread {
            tid,
            pid: pid_of(tid),
            name: Untrusted::new(name(tid).into_raw().into_owned()),
        });
        path.threads = threads.collect();
        path.has_wakers = graph.has_wakers();
        path.said = said;
        Ok(path)
    }

    fn new(of: PathOwner, range: Range<u64>, (steps, held): (Vec<PathStep>, Held)) -> Self {
        Self {
            of,
            range,
            steps,
            threads: Vec::new(),
            has_wakers: false,
            n_open: 0,
            said: Vec::new(),
            _held: held,
        }
    }

    fn of_thread(
        recording: &Recording<'_>,
        wanted: &WantedPath<'_>,
        graph: &RunGraph,
        (tid, start_ns): (i32, u64),
    ) -> Result<Self, Error> {
        let end_ns = graph.end_ns(tid).ok_or(Error::NoSuchThread)?;
        let range = within(wanted, start_ns..end_ns);
        let range = range.ok_or(Error::NothingOnPath)?;
        let steps = graph.part_of_critical_path(tid, end_ns, range.clone());
        let held = recording.reader.budget().hold(bytes(&steps));
        let held = held.map_err(|OverBudget| Error::AccountOverBudget)?;
        Ok(Self::new(PathOwner::Thread(tid), range, (steps, held)))
    }

    fn of_spans(
        recording: &Recording<'_>,
        wanted: &WantedPath<'_>,
        graph: &RunGraph,
        asked: &NameList,
    ) -> Result<Self, Error> {
        let option = "--span";
        find_spans(recording)?;
        let spans = recording.spans().ok_or(Error::NoSpans { option })?;
        let fits = |name: &Untrusted<String>| asked.accepts(&[name.raw()]);
        let is_asked: Vec<bool> = spans.names().iter().map(fits).collect();
        let own = spans.all().iter();
        let own = own.filter(|span| is_asked.get(span.name as usize) == Some(&true));
        let mut steps = Vec::new();
        let mut held = recording.reader.budget().hold_nothing();
        let (mut n_spans, mut n_open, mut range) = (0, 0, None);
        for span in own {
            if !span.is_ended {
                n_open += 1;
                continue;
            }
            let Some(own) = within(wanted, span.start.time_ns..span.end.time_ns) else {
                continue;
            };
            n_spans += 1;
            let all: Range<u64> = range.unwrap_or(own.clone());
            range = Some(all.start.min(own.start)..all.end.max(own.end));
            let path = graph.part_of_critical_path(span.tid, span.end.time_ns, own);
            let grown = held.grow(bytes(&path));
            grown.map_err(|OverBudget| Error::AccountOverBudget)?;
            steps.extend(path);
        }
        let names = spans.names().iter().zip(&is_asked);
        let names = names.filter(|&(_, &is_asked)| is_asked);
        let names: Vec<_> = names.map(|(name, _)| name.clone()).collect();
        let Some(range) = range else {
            return Err(Error::NoSuchSpan {
                option,
                name: Untrusted::new(asked.items().join(",")),
                names: spans.names().iter().map(ToString::to_string).collect(),
            });
        };
        let of = PathOwner::Spans { names, n_spans };
        Ok(Self {
            n_open,
            ..Self::new(of, range, (steps, held))
        })
    }

    /// Whether it is known of any thread which one woke it: without that, the path stays in one thread.
    pub fn has_wakers(&self) -> bool {
        self.has_wakers
    }

    /// How long it is, nanoseconds; of several spans, the sum.
    pub fn len_ns(&self) -> u64 {
        let lens = self.steps.iter().map(PathStep::len_ns);
        lens.fold(0, u64::saturating_add)
    }

    /// The thread with an id that is on it.
    pub fn thread(&self, tid: i32) -> Option<&PathThread> {
        let at = self.threads.binary_search_by_key(&tid, |one| one.tid);
        self.threads.get(at.ok()?)
    }

    /// What is to be said of it.
    pub(super) fn warnings(&self) -> impl Iterator<Item = String> {
        let open = (self.n_open > 0).then(|| {
            let spans = Counted::new(self.n_open, "span has", "spans have");
            format!("{spans} no critical path: no end was recorded")
        });
        let alone = (!self.has_wakers).then(|| {
            "no thread is known to have woken another one: the critical path stays in one thread (record with \
             rprof record --off-cpu as root, or sched:sched_waking)"
                .to_owned()
        });
        self.said.iter().cloned().chain(open).chain(alone)
    }
}

/// The memory of steps.
fn bytes(steps: &[PathStep]) -> u64 {
    size_of_val(steps) as u64
}

/// The part of a range between the moments that are asked for; `None` if that is nothing.
fn within(wanted: &WantedPath<'_>, range: Range<u64>) -> Option<Range<u64>> {
    let (from_ns, to_ns) = wanted.within.clone().unwrap_or(0..=u64::MAX).into_inner();
    let part = range.start.max(from_ns)..range.end.min(to_ns);
    (!part.is_empty()).then_some(part)
}

/// What is said if several threads have a name that is asked for; others than the chosen one in the order in which they
/// are more likely meant.
fn namesakes(chosen: &dyn Display, others: &[i32]) -> String {
    const MOST: usize = 5;
    let shown = others.iter().take(MOST).map(i32::to_string);
    let shown = shown.collect::<Vec<_>>().join(", ");
    let more = if others.len() > MOST { " .." } else { "" };
    format!(
        "{} threads match: this is the critical path of {chosen}, which ended last (for another: -t {shown}{more})",
        others.len() + 1
    )
}

/// Threads that are killed as a program ends may end this much later than its main thread.
const MUCH_LATER_NS: u64 = 10_000_000;

/// The last thread of a process, and how much later than the main thread it ended, nanoseconds: `None` if the process ended
/// with its main thread.
fn last_of_process(
    graph: &RunGraph,
    (main, end_ns): (i32, u64),
    pid_of: impl Fn(i32) -> i32,
) -> Option<(i32, u64)> {
    let own = graph.threads().filter(|&tid| pid_of(tid) == main);
    let last = own.max_by_key(|&tid| (graph.end_ns(tid), Reverse(tid)))?;
    let later_ns = graph.end_ns(last)?.saturating_sub(end_ns);
    // One that is killed may still wait long for a CPU to end on.
    let (ran_ns, is_woken) = graph.activity_after(last, end_ns);
    let goes_on = ran_ns > MUCH_LATER_NS || is_woken;
    (later_ns > MUCH_LATER_NS && goes_on).then_some((last, later_ns))
}

/// The thread that executed the recorded command, and when: with `-a`, other programs are executed, too. And whether only
/// its name says that it is the one.
fn command(reader: &Reader) -> Result<(Option<(i32, u64)>, bool), Error> {
    let pid = recorded_command(reader);
    let words = command_line(reader);
    let words = programs(&words);
    let is_command = |tid: i32, comm: &[u8]| match pid {
        Some(pid) => tid == pid,
        None => words.iter().any(|word| comm == comm_of(word)),
    };
    let mut found = None;
    reader.walk(reader.data(), |_, raw| {
        if raw.kind != RecordKind::COMM || !raw.misc.has(Misc::COMM_EXEC) {
            return Step::On;
        }
        let event = reader.event_of(raw).and_then(|at| reader.events().get(at));
        let parsed = event.and_then(|event| Record::parse(raw, &event.layout).ok());
        if let Some((Record::Comm(comm), id)) = parsed
            && is_command(comm.tid, comm.comm)
        {
            found = id.time_ns.map(|time_ns| (comm.tid, time_ns));
        }
        found.map_or(Step::On, |_| Step::Stop)
    })?;
    Ok((found.or(pid.map(|pid| (pid, 0))), pid.is_none()))
}

/// The words of a recorder's command line that may be the recorded program: without `--`, any but the recorder.
fn programs(words: &[Vec<u8>]) -> &[Vec<u8>] {
    let end_of_options = words.iter().position(|word| word == b"--");
    let programs = match end_of_options {
        Some(at) => words.get(at + 1..at + 2),
        None => words.get(1..),
    };
    programs.unwrap_or_default()
}

/// What a process is called that executes a program: its file's name, cut.
fn comm_of(program: &[u8]) -> &[u8] {
    let name = program.rsplit(|&byte| byte == b'/').next();
    let name = name.unwrap_or(program);
    name.get(..MAX_COMM).unwrap_or(name)
}

/// `TASK_COMM_LEN` without the zero byte; include/linux/sched.h.
const MAX_COMM: usize = 15;

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_scheduling::{SwitchState, ThreadRun, WakeUp, Waker};

    #[test]
    fn a_process_ends_with_its_last_thread() {
        let mut graph = RunGraph::default();
        for (tid, end_ns) in [
            (7, 50_000_000),
            (8, 90_000_000),
            (9, 95_000_000),
            (10, 51_000_000),
        ] {
            graph.add(ThreadRun {
                tid,
                cpu: 0,
                start_ns: Some(10),
                end_ns,
                state: SwitchState::Dead,
                wait: None,
                woken: None,
                is_lost: false,
                is_wait_lost: false,
            });
        }
        let pid_of = |tid| if tid == 9 { 9 } else { 7 };
        let last = last_of_process(&graph, (7, 50_000_000), pid_of);
        assert_eq!(last, Some((8, 40_000_000)));
        // It was killed as the main thread ended.
        let pid_of = |tid| if tid == 7 || tid == 10 { 7 } else { tid };
        assert_eq!(last_of_process(&graph, (7, 50_000_000), pid_of), None);
        // It was killed, and had no CPU for long; or it slept meanwhile.
        let pid_of = |tid| if tid == 7 || tid == 11 { 7 } else { tid };
        for (woken_ns, last) in [(49_999_999, None), (89_000_000, Some((11, 40_000_000)))] {
            graph.add(ThreadRun {
                tid: 11,
                cpu: 0,
                start_ns: Some(89_500_000),
                end_ns: 90_000_000,
                state: SwitchState::Dead,
                wait: None,
                woken: Some(WakeUp {
                    time_ns: woken_ns,
                    waker: Waker::Timer,
                }),
                is_lost: false,
                is_wait_lost: false,
            });
            assert_eq!(last_of_process(&graph, (7, 50_000_000), pid_of), last);
        }
    }

    #[test]
    fn the_other_threads_of_a_name_are_listed_up_to_a_few() {
        let of = |n: i32| namesakes(&"worker[9]", &(10..10 + n).collect::<Vec<_>>());
        let text = of(2);
        assert!(text.starts_with("3 threads match"), "{text}");
        assert!(text.contains("path of worker[9]"), "{text}");
        assert!(text.ends_with("-t 10, 11)"), "{text}");
        assert!(of(9).ends_with("-t 10, 11, 12, 13, 14 ..)"), "{}", of(9));
    }

    #[test]
    fn the_program_is_the_first_word_behind_the_options() {
        let of = |line: &str| {
            let words: Vec<Vec<u8>> = line.split(' ').map(Into::into).collect();
            programs(&words).join(&b' ')
        };
        assert_eq!(of("perf record -a -- make -C src"), b"make");
        assert_eq!(of("perf record -a make all"), b"record -a make all");
        assert_eq!(of("perf record --"), b"");
        assert_eq!(of("perf"), b"");
    }

    #[test]
    fn processes_are_called_by_the_file_of_their_program() {
        assert_eq!(comm_of(b"/usr/bin/sort"), b"sort");
        assert_eq!(comm_of(b"./a-rather-long-name"), b"a-rather-long-n");
        assert_eq!(comm_of(b"make"), b"make");
    }
}
