//! `rprof sched map`: which thread each CPU runs, a line for each switch, as `perf sched map` has it.
//!
//! Source: tools/perf/builtin-sched.c (v6.1), `map_switch_event`.

use crate::Error;
use crate::runs::{RunOfTask, SchedOptions, SchedQuality, SchedRecording};
use foldhash::HashMap;
use rprof_abi::RecordKind;
use rprof_abi::record::Record;
use rprof_base::{Counted, Seconds as Moment};
use rprof_locate::Locator;
use rprof_machine::Key;
use rprof_perfdata::{Feature, FeatureId, Reader, Step};
use rprof_untrusted::{Held, OverBudget};
use std::io::{self, Write};
use std::iter::Peekable;
use std::vec::IntoIter;

/// Writes a line for each switch: a column for each CPU with the short name of its thread, an asterisk at the CPU that
/// switched, the moment, and what the short name stands for when it is new or the thread has another name than before.
///
/// # Errors
/// [`Error`] if the recording cannot be read, or has no switches; or of `out`.
pub fn write_map(
    reader: &Reader,
    options: &SchedOptions,
    out: &mut dyn Write,
) -> Result<SchedQuality, Error> {
    let locator = Locator::default();
    let recording = SchedRecording::open(reader, &locator)?;
    let mut map = CpuMap {
        recording: &recording,
        options,
        shown: ShortNames::default(),
        tasks: TaskRecords::read(reader)?,
        cpus: vec![None; n_cpus(reader)],
        pids: HashMap::default(),
        n_hidden: 0,
    };
    let mut written = Ok(());
    let mut read = recording.for_each_run(&mut |_| {}, |of_task| {
        written = map.switch(&of_task, out);
        written.is_ok()
    })?;
    written?;
    if map.n_hidden > 0 {
        let switches = Counted::new(map.n_hidden, "switch", "switches");
        let text = format!("{switches} of CPUs from {MOST_CPUS} on not shown");
        read.quality.warnings.push(text);
    }
    Ok(read.quality)
}

/// CPUs of the recorded machine, as far as it says.
fn n_cpus(reader: &Reader) -> usize {
    let section = reader.feature(FeatureId::NRCPUS).ok().flatten();
    let feature = section
        .and_then(|section| Feature::parse(FeatureId::NRCPUS, &section, reader.endian()).ok());
    match feature {
        Some(Feature::NrCpus(cpus)) => usize::try_from(cpus.available).unwrap_or(0).min(MOST_CPUS),
        _ => 0,
    }
}

/// Columns at most, whatever a file says. perf has as many (`MAX_CPUS`, tools/perf/util/cpumap.h).
const MOST_CPUS: usize = 4096;

/// What CPUs run.
struct CpuMap<'r> {
    recording: &'r SchedRecording<'r>,
    options: &'r SchedOptions,
    shown: ShortNames,
    tasks: TaskRecords,
    /// The short name of each CPU's thread.
    cpus: Vec<Option<[u8; 2]>>,
    /// Processes of threads that have left a CPU.
    pids: HashMap<i32, i32>,
    /// Switches of CPUs that have no column.
    n_hidden: u64,
}

impl CpuMap<'_> {
    fn switch(&mut self, of_task: &RunOfTask<'_>, out: &mut dyn Write) -> io::Result<()> {
        let &RunOfTask { run, next, key, .. } = of_task;
        while let Some((tid, what)) = self.tasks.before(key) {
            self.shown.note(tid, what);
        }
        let cpu = usize::try_from(run.cpu).ok();
        let Some(cpu) = cpu.filter(|&cpu| cpu < MOST_CPUS) else {
            self.n_hidden += 1;
            return Ok(());
        };
        if cpu >= self.cpus.len() {
            self.cpus.resize(cpu + 1, None);
        }
        let (short, is_said) = self.shown.of(next);
        if let Some(slot) = self.cpus.get_mut(cpu) {
            *slot = Some(short);
        }
        let name = self.recording.name(next, key);
        self.pids.insert(run.tid, of_task.pid);
        let next_pid = self.pids.get(&next).copied().unwrap_or(next);
        let filter = &self.options.filter;
        let is_shown = filter.accepts_task(of_task.pid, run.tid, of_task.name.raw())
            || filter.accepts_task(next_pid, next, name.raw());
        if !is_shown {
            // It is said where the thread is first seen in a line.
            self.shown.say_again(next, is_said);
            return Ok(());
        }
        write!(out, "  ")?;
        for (number, thread) in self.cpus.iter().enumerate() {
            let mark = if number == cpu { '*' } else { ' ' };
            match thread {
                Some([first, second]) => {
                    write!(out, "{mark}{}{} ", char::from(*first), char::from(*second))?;
                }
                None => write!(out, "{mark}   ")?,
            }
        }
        write!(out, "  {:>12} secs ", Moment(key.time_ns).to_string())?;
        if is_said {
            let [first, second] = short.map(char::from);
            write!(out, "{first}{second} => {name}:{next}")?;
        }
        writeln!(out)
    }
}

/// What a record says of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TaskChange {
    /// It is another one than the last of its id.
    New,
    /// It has a name, maybe the same as before.
    Named,
}

/// The records of names and new threads, in order of time.
struct TaskRecords {
    all: Peekable<IntoIter<(Key, i32, TaskChange)>>,
    _held: Held,
}

/// Memory is accounted for after this many records.
const HOLD_EVERY: usize = 1 << 12;

impl TaskRecords {
    fn read(reader: &Reader) -> Result<Self, Error> {
        let mut all: Vec<(Key, i32, TaskChange)> = Vec::new();
        let mut held = reader.budget().hold_nothing();
        // A list has room for twice as many at most.
        let bytes = (2 * HOLD_EVERY * size_of::<(Key, i32, TaskChange)>()) as u64;
        let mut is_over_budget = false;
        let read = reader.walk(reader.data(), |offset, raw| {
            if !matches!(raw.kind, RecordKind::COMM | RecordKind::FORK) {
                return Step::On;
            }
            let event = reader.event_of(raw).and_then(|at| reader.events().get(at));
            let parsed = event.and_then(|event| Record::parse(raw, &event.layout).ok());
            let time_ns = |time_ns: Option<u64>| time_ns.unwrap_or(0);
            match parsed {
                Some((Record::Comm(comm), id)) => {
                    let time_ns = time_ns(id.time_ns);
                    all.push((Key { time_ns, offset }, comm.tid, TaskChange::Named));
                }
                Some((Record::Fork(task), id)) => {
                    let time_ns = time_ns(id.time_ns);
                    all.push((Key { time_ns, offset }, task.tid, TaskChange::New));
                }
                _ => return Step::On,
            }
            if all.len().is_multiple_of(HOLD_EVERY) {
                is_over_budget = matches!(held.grow(bytes), Err(OverBudget));
            }
            if is_over_budget { Step::Stop } else { Step::On }
        });
        read.map_err(rprof_analysis::Error::from)?;
        if is_over_budget {
            return Err(rprof_analysis::Error::AccountOverBudget.into());
        }
        all.sort_unstable_by_key(|&(key, ..)| key);
        Ok(Self {
            all: all.into_iter().peekable(),
            _held: held,
        })
    }

    /// The next one that is before a moment.
    fn before(&mut self, key: Key) -> Option<(i32, TaskChange)> {
        let next = self.all.next_if(|&(of, ..)| of < key);
        next.map(|(_, tid, what)| (tid, what))
    }
}

/// Short names of threads, in the order in which they come to CPUs: A0, B0 .. Z0, A1 .. Z9, and A0 again.
#[derive(Debug)]
struct ShortNames {
    threads: HashMap<i32, ShortName>,
    next: [u8; 2],
}

#[derive(Clone, Copy, Debug, Default)]
struct ShortName {
    name: Option<[u8; 2]>,
    /// Whether the whole name has to be said.
    is_new: bool,
}

/// The idle task of each CPU.
const IDLE: [u8; 2] = *b". ";

impl Default for ShortNames {
    fn default() -> Self {
        Self {
            threads: HashMap::default(),
            next: *b"A0",
        }
    }
}

impl ShortNames {
    fn note(&mut self, tid: i32, what: TaskChange) {
        match what {
            TaskChange::New => drop(self.threads.remove(&tid)),
            TaskChange::Named => self.threads.entry(tid).or_default().is_new = true,
        }
    }

    /// The short name of a thread that comes to a CPU, and whether the whole one has to be said.
    fn of(&mut self, tid: i32) -> ([u8; 2], bool) {
        let thread = self.threads.entry(tid).or_default();
        let is_said = thread.is_new || thread.name.is_none();
        thread.is_new = false;
        let name = match thread.name {
            Some(name) => name,
            None if tid == 0 => IDLE,
            None => {
                let name = self.next;
                self.next = after(name);
                name
            }
        };
        thread.name = Some(name);
        (name, is_said)
    }

    /// The whole name was not said after all.
    fn say_again(&mut self, tid: i32, was_due: bool) {
        self.threads.entry(tid).or_default().is_new |= was_due;
    }
}

fn after([letter, digit]: [u8; 2]) -> [u8; 2] {
    match (letter, digit) {
        (b'Z', b'9') => *b"A0",
        (b'Z', digit) => [b'A', digit + 1],
        (letter, digit) => [letter + 1, digit],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_are_in_order_and_said_once_for_each_name() {
        let mut names = ShortNames::default();
        assert_eq!(names.of(7), (*b"A0", true));
        assert_eq!(names.of(0), (*b". ", true));
        assert_eq!(names.of(8), (*b"B0", true));
        assert_eq!(names.of(7), (*b"A0", false));
        names.note(7, TaskChange::Named);
        assert_eq!(names.of(7), (*b"A0", true));
        // Another thread with the same id.
        names.note(7, TaskChange::New);
        assert_eq!(names.of(7), (*b"C0", true));
        names.say_again(7, true);
        assert_eq!(names.of(7), (*b"C0", true));
        assert_eq!(after(*b"Z0"), *b"A1");
        assert_eq!(after(*b"Z9"), *b"A0");
    }
}
