//! Perfetto's traces, read again, and made into the tables that Perfetto's trace processor makes of them.
//!
//! Source: src/trace_processor/importers/{ftrace/ftrace_sched_event_tracker, ftrace/ftrace_parser,
//! common/thread_state_tracker, types/task_state, proto/profile_module}.cc of github.com/google/perfetto, v59.1.

use super::trace_messages::{Event, Frame, Interned, Mapping, Sample, State, Text, Trace, Tree};
use prost::Message;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A row of `thread_state`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StateRow {
    pub(super) thread: usize,
    pub(super) start_ns: u64,
    /// `None` if nothing ended it.
    pub(super) ns: Option<u64>,
    /// The kernel's letters, `Running` or `Unknown`; `?` for bits that are no state.
    pub(super) state: String,
    /// Who woke it.
    pub(super) waker: Option<usize>,
    pub(super) is_irq: bool,
    /// When it was woken though it could run: new threads are, once they are made.
    pub(super) woken_ns: Option<u64>,
}

/// A thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Thread {
    pub(super) tid: i64,
    pub(super) name: String,
}

/// A row of `perf_sample`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SampleRow {
    pub(super) event: String,
    pub(super) thread: usize,
    pub(super) cpu: Option<u32>,
    /// Outermost first.
    pub(super) stack: Vec<String>,
    /// What its event has counted so far on its CPU.
    pub(super) count: u64,
}

/// The tables of a trace.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) threads: Vec<Thread>,
    pub(super) states: Vec<StateRow>,
    pub(super) samples: Vec<SampleRow>,
    /// Nanoseconds on CPUs by thread, as `sched_slice` has them.
    pub(super) on_cpus: BTreeMap<usize, u64>,
    /// Switches that contradict the one before on their CPU.
    pub(super) n_mismatched: u64,
    /// Rows of threads that were made.
    pub(super) born: BTreeSet<usize>,
    by_tid: HashMap<i64, usize>,
    last: HashMap<usize, usize>,
    cpus: HashMap<u32, (u64, i32, usize)>,
}

/// What is numbered in a sequence of packets.
#[derive(Default)]
struct Numbered {
    event: String,
    functions: HashMap<u64, String>,
    paths: HashMap<u64, Vec<u8>>,
    mappings: HashMap<u64, Mapping>,
    frames: HashMap<u64, Frame>,
    stacks: HashMap<u64, Vec<u64>>,
}

enum Happening {
    Tree(Tree),
    State(State),
    Event(u32, Event),
    Sample(Sample, String, Vec<String>),
}

impl Tables {
    pub(super) fn read(bytes: &[u8]) -> Self {
        let trace = Trace::decode(bytes).unwrap();
        let mut sequences: HashMap<u32, Numbered> = HashMap::new();
        let mut all: Vec<(u64, Happening)> = Vec::new();
        let mut release = String::new();
        for packet in trace.packet {
            let time = packet.timestamp;
            if let Some(system) = packet.system {
                release = system.utsname.unwrap().release;
            }
            if let Some(bundle) = packet.ftrace {
                let cpu = bundle.cpu.expect("events of no CPU are dropped");
                let events = bundle.event.into_iter();
                all.extend(events.map(|one| (one.timestamp, Happening::Event(cpu, one))));
            }
            all.extend(packet.tree.map(|tree| (time, Happening::Tree(tree))));
            all.extend(packet.state.map(|state| (time, Happening::State(state))));
            let Some(sample) = packet.sample.filter(|sample| sample.lost == 0) else {
                continue;
            };
            if packet.flags & 1 != 0 {
                sequences.insert(packet.sequence, Numbered::default());
            }
            let numbered = sequences.get_mut(&packet.sequence);
            let numbered = numbered.expect("the first packet of a sequence clears its state");
            if let Some(defaults) = packet.defaults {
                let timebase = defaults.sample.unwrap().timebase.unwrap();
                numbered.event = timebase.name;
            }
            numbered.add(packet.interned.unwrap_or_default());
            let stack = numbered.stack(sample.callstack);
            let event = numbered.event.clone();
            all.push((time, Happening::Sample(sample, event, stack)));
        }
        assert!(!release.is_empty(), "the release says what states mean");
        all.sort_by_key(|&(time, _)| time);
        let mut tables = Self::default();
        tables.thread(0);
        for (time, happening) in all {
            tables.take(time, happening);
        }
        tables
    }

    /// The rows of threads by a name.
    pub(super) fn states_of<'t>(&'t self, name: &'t str) -> impl Iterator<Item = &'t StateRow> {
        let is_its = move |row: &&StateRow| self.threads[row.thread].name == name;
        self.states.iter().filter(is_its)
    }

    fn thread(&mut self, tid: i64) -> usize {
        let next = self.threads.len();
        let thread = *self.by_tid.entry(tid).or_insert(next);
        if thread == next {
            let name = String::new();
            self.threads.push(Thread { tid, name });
        }
        thread
    }

    fn named(&mut self, tid: i64, name: &str) -> usize {
        let thread = self.thread(tid);
        name.clone_into(&mut self.threads[thread].name);
        thread
    }

    fn take(&mut self, time: u64, happening: Happening) {
        match happening {
            Happening::Tree(tree) => {
                for thread in tree.threads {
                    let number = self.thread(thread.tid.into());
                    if let Some(name) = thread.name {
                        self.threads[number].name = name;
                    }
                    assert!(thread.tgid > 0 || thread.tid == 0);
                }
            }
            Happening::State(state) => {
                let thread = self.thread(state.tid);
                self.close(time, thread);
                self.open(time, thread, "Unknown", None);
            }
            Happening::Event(cpu, event) => self.event(time, cpu, event),
            Happening::Sample(sample, event, stack) => {
                let thread = self.thread(sample.tid.cast_signed().into());
                self.samples.push(SampleRow {
                    event,
                    thread,
                    cpu: sample.cpu,
                    stack,
                    count: sample.count,
                });
            }
        }
    }

    fn event(&mut self, time: u64, cpu: u32, event: Event) {
        if let Some(switch) = event.switch {
            let next = self.named(switch.next.into(), &switch.next_comm);
            if let Some((since, tid, thread)) = self.cpus.get(&cpu).copied() {
                if tid == switch.prev {
                    *self.on_cpus.entry(thread).or_default() += time - since;
                } else {
                    self.n_mismatched += 1;
                }
            }
            let prev = self.named(switch.prev.into(), &switch.prev_comm);
            self.cpus.insert(cpu, (time, switch.next, next));
            let before = self.last.get(&prev).map(|&row| &*self.states[row].state);
            if before.is_none_or(|state| state == "Running") {
                self.close(time, prev);
            }
            self.open(time, prev, letters(switch.state), None);
            self.close(time, next);
            self.open(time, next, "Running", None);
        } else if let Some(waking) = event.waking {
            let thread = self.named(waking.pid.into(), &waking.comm);
            let waker = Some((
                self.thread(event.pid.cast_signed().into()),
                event.flags & 0x18 != 0,
            ));
            let before = self.last.get(&thread).map(|&row| &*self.states[row].state);
            match before {
                Some("R" | "Running") => {
                    let row = &mut self.states[self.last[&thread]];
                    row.woken_ns = row.woken_ns.or(Some(time));
                }
                _ => {
                    self.close(time, thread);
                    self.open(time, thread, "R", waker);
                }
            }
        } else if let Some(new) = event.new {
            let parent = self.thread(event.pid.cast_signed().into());
            self.by_tid.remove(&new.pid.into());
            let thread = self.named(new.pid.into(), &new.comm);
            self.born.insert(self.states.len());
            assert!(matches!(new.clone_flags, 0 | 0x0001_0000));
            self.open(time, thread, "R", Some((parent, false)));
        } else if let Some(rename) = event.rename {
            self.named(rename.pid.into(), &rename.comm);
        }
    }

    fn close(&mut self, time: u64, thread: usize) {
        if let Some(&row) = self.last.get(&thread) {
            let row = &mut self.states[row];
            row.ns = Some(time - row.start_ns);
        }
    }

    fn open(&mut self, time: u64, thread: usize, state: &str, waker: Option<(usize, bool)>) {
        // The idle tasks have no states.
        if thread == 0 {
            return;
        }
        self.last.insert(thread, self.states.len());
        self.states.push(StateRow {
            thread,
            start_ns: time,
            ns: None,
            state: state.to_owned(),
            waker: waker.map(|(waker, _)| waker),
            is_irq: waker.is_some_and(|(_, is_irq)| is_irq),
            woken_ns: None,
        });
    }
}

/// Of kernels from 4.14 on.
fn letters(state: i64) -> &'static str {
    match state {
        0 => "R",
        0x100 => "R+",
        0x01 => "S",
        0x02 => "D",
        0x04 => "T",
        0x08 => "t",
        0x10 => "X",
        0x40 => "P",
        0x80 => "I",
        _ => "?",
    }
}

impl Numbered {
    fn add(&mut self, interned: Interned) {
        let text = |one: Text| (one.iid, String::from_utf8(one.text).unwrap());
        (self.functions).extend(interned.functions.into_iter().map(text));
        self.paths
            .extend(interned.paths.into_iter().map(|one| (one.iid, one.text)));
        let mappings = interned.mappings.into_iter();
        self.mappings.extend(mappings.map(|one| (one.iid, one)));
        let frames = interned.frames.into_iter();
        self.frames.extend(frames.map(|one| (one.iid, one)));
        let stacks = interned.callstacks.into_iter();
        self.stacks.extend(stacks.map(|one| (one.iid, one.frames)));
    }

    /// The functions of a stack: a frame that lacks anything is an error, as the whole stack is dropped.
    fn stack(&self, number: u64) -> Vec<String> {
        if number == 0 {
            return Vec::new();
        }
        let frames = self.stacks[&number].iter().map(|frame| {
            let frame = &self.frames[frame];
            for path in &self.mappings[&frame.mapping].paths {
                assert!(!self.paths[path].is_empty());
            }
            self.functions[&frame.function].clone()
        });
        frames.collect()
    }
}
