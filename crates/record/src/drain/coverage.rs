//! How much of what an event counted its samples stand for, and what is done if that is little.
//!
//! The clocks that a thread inherits begin with a full period. So processes and threads that end sooner have
//! no samples, but the kernel counts them all the same. If many samples are missing and rights allow it,
//! CPUs are sampled instead. Their clocks go on from task to task. Samples of others are left out.

use crate::drain::head::Head;
use crate::drain::lineage::Lineage;
use crate::opening::{EventCounters, Group, Totals};
use crate::words::u64_at;
use foldhash::HashSet;
use rprof_abi::{
    AttrFlags, Endian, PerfEventAttr, RecordHeader, RecordKind, SampleLayout, event_type, sw,
};
use rprof_perfdata::feature::{self, CoverageUnit};
use rprof_process::user_time_of_children;
use rprof_ringbuf::Counter;
use std::time::{Duration, Instant};

/// What the samples of one of a recording's events stand for.
#[derive(Debug)]
pub(crate) struct Coverage {
    /// The first event whose coverage can be known.
    event: usize,
    /// Ids of its counters.
    ids: HashSet<u64>,
    /// Ids of the counters by CPU, of all events.
    by_cpu: HashSet<u64>,
    /// Whose samples are kept.
    lineage: Lineage,
    unit: CoverageUnit,
    period: Period,
    samples: u64,
    /// What samples stand for: by thread, and by CPU.
    covered: [u64; 2],
    /// User time of our children that ended before.
    before: Duration,
    started: Instant,
    next_poll: Instant,
    n_exits: u64,
}

/// The threads that are there when a recording begins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Recorded<'t> {
    /// A command that the recorder starts.
    Command(&'t [i32]),
    /// Threads that run already.
    Running(&'t [i32]),
}

/// What one sample stands for.
#[derive(Clone, Copy, Debug)]
enum Period {
    /// Each sample says it, at this offset of its record.
    At(usize),
    Fixed(u64),
}

/// At first it is found out soon that tasks are short, later less often.
const FIRST_POLL_INTERVAL: Duration = Duration::from_millis(50);
const POLL_INTERVAL: Duration = Duration::from_millis(250);
const FIRST_POLLS_TAKE: Duration = Duration::from_secs(2);

/// The pause after a poll, in times that it took: it takes a fiftieth of the time at most.
const PAUSE: u32 = 50;

/// The least number of missing samples that is worth a word, and of tasks that ended which may be why.
const MANY: u64 = 20;

/// The kernel may count user time by ticks of its clock: less than this may be chance, ns.
const MUCH_USER_TIME: u64 = 100_000_000;

/// What is covered is not worth a word from here on.
const REQUIRED_PERCENT: u64 = 90;

/// The period of clocks before there is any sample, ns.
const USUAL_PERIOD: u64 = 1_000_000;

impl Coverage {
    /// Takes events by thread, and the same events by CPU. `None` if no event counts what it samples.
    pub(crate) fn new(
        group: &Group,
        by_cpu: Option<&Group>,
        recorded: Recorded<'_>,
    ) -> Option<Self> {
        let mut units = group.events.iter().map(|event| unit_of(&event.attr));
        let judged = |unit: &Option<CoverageUnit>| match unit {
            Some(CoverageUnit::UserTime) => matches!(recorded, Recorded::Command(_)),
            Some(_) => true,
            None => false,
        };
        let event = units.position(|unit| judged(&unit))?;
        let counters = group.events.get(event)?;
        let layout = SampleLayout::new(&counters.attr, Endian::NATIVE);
        let same = by_cpu.and_then(|group| group.events.get(event));
        let all = counters
            .all()
            .chain(same.into_iter().flat_map(EventCounters::all));
        let by_cpu = by_cpu.into_iter().flat_map(Group::counters);
        let (ids, by_cpu) = (all.map(Counter::id), by_cpu.map(Counter::id));
        let mut lineage = Lineage::default();
        let (Recorded::Command(threads) | Recorded::Running(threads)) = recorded;
        lineage.add_threads(threads);
        let now = Instant::now();
        Some(Self {
            event,
            ids: ids.collect::<Result<_, _>>().ok()?,
            by_cpu: by_cpu.collect::<Result<_, _>>().ok()?,
            lineage,
            unit: unit_of(&counters.attr)?,
            period: match layout.period_place() {
                Some(at) => Period::At(RecordHeader::LEN + at),
                None => Period::Fixed(counters.attr.sample_period),
            },
            samples: 0,
            covered: [0; 2],
            before: user_time_of_children().unwrap_or_default(),
            started: now,
            next_poll: now,
            n_exits: 0,
        })
    }

    /// Counts a sample if its task is recorded; says whether it is.
    #[inline]
    pub(crate) fn takes(&mut self, head: &Head, sample: &[u8]) -> bool {
        let is_by_cpu = self.by_cpu.contains(&head.id);
        if is_by_cpu && !self.lineage.has_thread(head.tid, head.time_ns) {
            return false;
        }
        if self.ids.contains(&head.id) {
            self.samples += 1;
            let period = match self.period {
                Period::At(at) => u64_at(sample, at),
                Period::Fixed(period) => period,
            };
            let covered = &mut self.covered[usize::from(is_by_cpu)];
            *covered = covered.saturating_add(period);
        }
        true
    }

    /// Notes what a record says of a task; `body` are its bytes after the header.
    pub(crate) fn see(&mut self, kind: RecordKind, body: &[u8], time_ns: u64) {
        self.lineage.see_own(kind, body, time_ns);
    }

    /// A pass over all rings has ended.
    pub(crate) fn end_pass(&mut self) {
        self.lineage.end_pass();
    }

    /// After how long it is to be polled again.
    pub(crate) fn poll_interval(&self, now: Instant) -> Duration {
        if now.duration_since(self.started) < FIRST_POLLS_TAKE {
            FIRST_POLL_INTERVAL
        } else {
            POLL_INTERVAL
        }
    }

    /// Whether many samples are missing just now, as tasks have ended.
    pub(crate) fn is_lacking(&mut self, by_thread: &Group) -> bool {
        let now = Instant::now();
        let n_exits = self.lineage.n_exits();
        let is_worth_a_poll = n_exits >= self.n_exits + MANY && now >= self.next_poll;
        if !is_worth_a_poll || self.unit == CoverageUnit::UserTime {
            return false;
        }
        self.n_exits = n_exits;
        let is_lacking = self.count(by_thread).is_some_and(|n| self.is_short_of(n));
        // Every counter of every thread is read.
        let pause = now.elapsed() * PAUSE;
        self.next_poll = now + pause.max(self.poll_interval(now));
        is_lacking
    }

    /// How much there was by thread, without what was lost: losses are said elsewhere.
    fn count(&self, by_thread: &Group) -> Option<u64> {
        let Totals { count, lost } = by_thread.events.get(self.event)?.totals();
        let count = match self.unit {
            CoverageUnit::UserTime => {
                let user = user_time_of_children()?.saturating_sub(self.before);
                u64::try_from(user.as_nanos()).unwrap_or(u64::MAX)
            }
            _ => count,
        };
        Some(count.saturating_sub(lost.saturating_mul(self.period())))
    }

    /// What is to be said when the command has ended; `None` if enough is covered.
    pub(crate) fn finish(&self, by_thread: &Group) -> Option<feature::SampleCoverage> {
        let count = self.count(by_thread)?;
        let [sampled, by_cpu] = self.covered;
        let is_little = self.lineage.n_exits() >= MANY && self.is_short_of(count);
        if !is_little {
            return None;
        }
        Some(feature::SampleCoverage {
            covered: sampled.saturating_add(by_cpu),
            count: count.saturating_add(by_cpu),
            event: u32::try_from(self.event).ok()?,
            unit: self.unit,
        })
    }

    /// Whether samples were taken by CPU.
    pub(crate) fn has_any_by_cpu(&self) -> bool {
        self.covered[1] > 0
    }

    /// Whether much is missing of what counters by thread have.
    fn is_short_of(&self, count: u64) -> bool {
        let [sampled, by_cpu] = self.covered;
        let missing = count.saturating_sub(sampled);
        let all = count.saturating_add(by_cpu);
        let mut many = self.period().saturating_mul(MANY);
        if self.unit == CoverageUnit::UserTime {
            many = many.max(MUCH_USER_TIME);
        }
        missing > many
            && u128::from(missing) * 100 > u128::from(all) * u128::from(100 - REQUIRED_PERCENT)
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

/// The unit of what an event counts; `None` if that is not what it samples. Clocks count all time, even if
/// only part of it is sampled.
fn unit_of(attr: &PerfEventAttr) -> Option<CoverageUnit> {
    let excludes = |flag| attr.flags.has(flag);
    let is_clock = matches!(attr.config, sw::CPU_CLOCK | sw::TASK_CLOCK);
    let excluded = (
        excludes(AttrFlags::EXCLUDE_USER),
        excludes(AttrFlags::EXCLUDE_KERNEL),
    );
    match (attr.kind, excluded) {
        (event_type::TRACEPOINT | event_type::BREAKPOINT, _) => None,
        // Read with the leader of its group.
        _ if attr.sample_period == 0 => None,
        (event_type::SOFTWARE, _) if attr.config == sw::DUMMY => None,
        (event_type::SOFTWARE, (false, false)) if is_clock => Some(CoverageUnit::CpuTime),
        (event_type::SOFTWARE, (false, true)) if is_clock => Some(CoverageUnit::UserTime),
        (event_type::SOFTWARE, (false, false)) => Some(CoverageUnit::Event),
        (event_type::SOFTWARE, _) => None,
        _ => Some(CoverageUnit::Event),
    }
}
