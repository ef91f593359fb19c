//! How much of what an event counted its samples stand for, and what is done where that is little.
//!
//! The clocks that a process inherits begin with a whole period each: of processes that end sooner
//! there are no samples. The kernel counts them all the same. Where many samples are missing and
//! rights allow it, CPUs are sampled instead, whose clocks go on from process to process, and what is
//! of others is left out.

use crate::lineage::Lineage;
use crate::open::{EventCounters, Group};
use foldhash::HashSet;
use rprof_abi::{
    AttrFlags, Endian, PerfEventAttr, RecordHeader, RecordKind, SampleLayout, event_type, sw,
};
use rprof_perfdata::feature;
use rprof_ringbuf::Counter;
use std::time::{Duration, Instant};

/// What the samples of a recording's first event stand for.
#[derive(Debug)]
pub(crate) struct Coverage {
    /// Ids of the first event's counters.
    first: HashSet<u64>,
    /// Ids of the counters by CPU, of all events.
    by_cpu: HashSet<u64>,
    /// Whose samples those are to be.
    lineage: Lineage,
    counted: Counted,
    period: Period,
    samples: u64,
    /// What samples stand for: by thread, and by CPU.
    covered: [u64; 2],
    started: Instant,
    looked: Instant,
    n_exits: u64,
}

/// What one sample stands for.
#[derive(Clone, Copy, Debug)]
enum Period {
    /// Each says it, at a place in its body.
    At(usize),
    Fixed(u64),
}

/// Where it is known how much there was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    /// The event's counters have it.
    ByEvent,
    /// Clocks count all time, also that in the kernel, which is not sampled.
    UserTime,
}

/// How soon it is found out that processes are short, and how often it is looked for later.
const LOOK_EVERY: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(250)];
const SOON: Duration = Duration::from_secs(2);

/// Fewer samples that are missing are not worth a word.
const MANY: u64 = 20;

/// User time is known by ticks of the kernel's clock: less of it may be chance, ns.
const MUCH_USER_TIME: u64 = 100_000_000;

/// So many percent are enough.
const ENOUGH: u64 = 90;

/// Of clocks, before there is any sample, ns.
const USUAL_PERIOD: u64 = 1_000_000;

/// Where a sample's thread is in its body: behind IDENTIFIER, IP and the process.
const TID_AT: usize = 20;

impl Coverage {
    /// Of a group by thread, and the same by CPU; `None` if it is not known how much there is of what its
    /// first event samples. These threads are there already, or a command that was started.
    pub(crate) fn of(
        group: &Group,
        by_cpu: Option<&Group>,
        (threads, is_command): (&[i32], bool),
    ) -> Option<Self> {
        let first = group.events.first()?;
        let counted = counted_of(&first.attr)?;
        if counted == Counted::UserTime && !is_command {
            return None;
        }
        let layout = SampleLayout::new(&first.attr, Endian::NATIVE);
        let period = match layout.period_place() {
            Some(at) => Period::At(at),
            None => Period::Fixed(first.attr.sample_period),
        };
        let same = by_cpu.and_then(|group| group.events.first());
        let firsts = first
            .all()
            .chain(same.into_iter().flat_map(EventCounters::all));
        let by_cpu = by_cpu.into_iter().flat_map(Group::counters);
        let (first, by_cpu) = (firsts.map(Counter::id), by_cpu.map(Counter::id));
        let mut lineage = Lineage::default();
        lineage.add_threads(threads);
        let now = Instant::now();
        Some(Self {
            first: first.collect::<Result<_, _>>().ok()?,
            by_cpu: by_cpu.collect::<Result<_, _>>().ok()?,
            lineage,
            counted,
            period,
            samples: 0,
            covered: [0; 2],
            started: now,
            looked: now,
            n_exits: 0,
        })
    }

    /// Takes a sample into account, if it is of those who are recorded.
    #[inline]
    pub(crate) fn takes(&mut self, sample: &[u8]) -> bool {
        let body = sample.get(RecordHeader::LEN..).unwrap_or_default();
        let word = |at: usize| {
            let bytes = body.get(at..).and_then(|rest| rest.first_chunk());
            bytes.map_or(0, |bytes| u64::from_ne_bytes(*bytes))
        };
        let id = word(0);
        let is_by_cpu = self.by_cpu.contains(&id);
        let tid = || {
            let bytes = body.get(TID_AT..).and_then(|rest| rest.first_chunk());
            bytes.map_or(-1, |bytes| i32::from_ne_bytes(*bytes))
        };
        if is_by_cpu && !self.lineage.has_thread(tid()) {
            return false;
        }
        if self.first.contains(&id) {
            self.samples += 1;
            self.covered[usize::from(is_by_cpu)] += match self.period {
                Period::At(at) => word(at),
                Period::Fixed(period) => period,
            };
        }
        true
    }

    /// Looks at what happened to one of the tasks: the record's bytes behind its header.
    pub(crate) fn see(&mut self, kind: RecordKind, body: &[u8]) {
        self.lineage.see_own(kind, body);
    }

    /// A pass over all rings has ended.
    pub(crate) fn end_pass(&mut self) {
        self.lineage.end_pass();
    }

    /// After how long it is to be looked at again.
    pub(crate) fn look_every(&self, now: Instant) -> Duration {
        let [soon, later] = LOOK_EVERY;
        match now.duration_since(self.started) < SOON {
            true => soon,
            false => later,
        }
    }

    /// Whether many samples are missing just now, as processes have ended.
    pub(crate) fn is_lacking(&mut self, now: Instant, by_thread: &Group) -> bool {
        let n_exits = self.lineage.n_exits();
        if n_exits == self.n_exits || now.duration_since(self.looked) < self.look_every(now) {
            return false;
        }
        (self.looked, self.n_exits) = (now, n_exits);
        self.counted == Counted::ByEvent
            && self
                .count(by_thread)
                .is_some_and(|count| self.is_short_of(count))
    }

    /// How much there was by thread, without what was lost: that is another matter.
    fn count(&self, by_thread: &Group) -> Option<u64> {
        let event = by_thread.events.first()?;
        let count = match self.counted {
            Counted::ByEvent => event.count(),
            Counted::UserTime => nanoseconds(rprof_process::user_time_of_children()?),
        };
        let lost = event.lost().ok().flatten().unwrap_or(0);
        Some(count.saturating_sub(lost.saturating_mul(self.period())))
    }

    /// What is to be said of it at the end, when the command has ended; `None` if that is nothing.
    pub(crate) fn finish(&self, by_thread: &Group) -> Option<feature::Coverage> {
        let count = self.count(by_thread)?;
        let [sampled, by_cpu] = self.covered;
        self.is_short_of(count).then_some(feature::Coverage {
            covered: sampled.saturating_add(by_cpu),
            count: count.saturating_add(by_cpu),
        })
    }

    /// Whether much is missing of what counters by thread have.
    fn is_short_of(&self, count: u64) -> bool {
        let [sampled, by_cpu] = self.covered;
        let missing = count.saturating_sub(sampled);
        let all = count.saturating_add(by_cpu);
        let many = match self.counted {
            Counted::ByEvent => self.period().saturating_mul(MANY),
            Counted::UserTime => self.period().saturating_mul(MANY).max(MUCH_USER_TIME),
        };
        missing > many && u128::from(missing) * 100 > u128::from(all) * u128::from(100 - ENOUGH)
    }

    /// What a sample stands for, on average.
    fn period(&self) -> u64 {
        match self.period {
            Period::Fixed(period) => period,
            Period::At(_) => {
                let all = self.covered[0].saturating_add(self.covered[1]);
                all.checked_div(self.samples).unwrap_or(USUAL_PERIOD)
            }
        }
    }
}

fn counted_of(attr: &PerfEventAttr) -> Option<Counted> {
    let excludes = |flag| attr.flags.has(flag);
    let is_clock = matches!(attr.config, sw::CPU_CLOCK | sw::TASK_CLOCK);
    let excluded = (
        excludes(AttrFlags::EXCLUDE_USER),
        excludes(AttrFlags::EXCLUDE_KERNEL),
    );
    match (attr.kind, excluded) {
        (event_type::TRACEPOINT | event_type::BREAKPOINT, _) => None,
        (event_type::SOFTWARE, (false, false)) => Some(Counted::ByEvent),
        (event_type::SOFTWARE, (false, true)) if is_clock => Some(Counted::UserTime),
        (event_type::SOFTWARE, _) => None,
        _ => Some(Counted::ByEvent),
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
