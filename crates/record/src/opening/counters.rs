//! Opening the counters of events: one for each target on each CPU, members of groups behind their leader.

use crate::control::DumpSize;
use crate::cpu_or_thread::CpuOrThread;
use crate::error::Error;
use crate::interrupts::Interrupts;
use crate::opening::groups;
use crate::opening::{EventCounters, Group, Opened, Rings, SmallDumps};
use rprof_abi::PerfEventAttr;
use rprof_ringbuf::sys::OpenFilesLimit;
use rprof_ringbuf::{Counter, OpenError, OpenWith, Target};
use rprof_targets::CgroupFolder;

/// An event's counter for one target on one CPU, and the same with small dumps.
struct OneOrTwo {
    large: Counter,
    small: Option<Counter>,
}

impl Opened {
    /// Nothing: samples come from elsewhere.
    pub(crate) fn nothing() -> Self {
        Self {
            sampling: Group::default(),
            sideband: Group::default(),
            by_cpu: None,
            small_rings: None,
            is_by_cpu: false,
            dump_size: DumpSize::Large,
            is_extended: false,
        }
    }
}

impl Group {
    /// Opens all events for some targets on one CPU.
    pub(crate) fn add(
        &mut self,
        targets: &[Target],
        place: CpuOrThread,
        rings: Rings<'_>,
        interrupts: &Interrupts,
    ) -> Result<(), Error> {
        if let Rings::Of(pages) = rings {
            self.map_ring(place, pages)?;
        }
        for unit in groups::units(self.events.iter().map(|event| &event.grouping)) {
            for &target in targets {
                interrupts.check()?;
                let Some(target) = self.target_of(unit.start, target, place) else {
                    break;
                };
                for idx in unit.clone() {
                    let leader = (idx > unit.start).then_some(unit.start);
                    let opened = self.open_at(idx, leader, target, place)?;
                    match opened {
                        Some(counters) => self.take(idx, counters, target, place, rings)?,
                        None if leader.is_none() => break,
                        None => {}
                    }
                }
            }
        }
        Ok(())
    }

    /// Whom an event is opened for when its turn comes for a target; `None` if that is all tasks, and it is open.
    fn target_of(&self, idx: usize, target: Target, place: CpuOrThread) -> Option<Target> {
        let event = &self.events[idx];
        if !event.is_of_wakers() || event.cgroup.is_some() {
            return Some(target);
        }
        let is_open = event.opened_for.iter().any(|&(_, at)| at == place);
        (!is_open).then_some(Target::All)
    }

    /// Opens an event for a target on a CPU, behind the last counters of its leader; `None` if the thread has
    /// ended, or if the PMU is not on that CPU.
    fn open_at(
        &self,
        idx: usize,
        leader: Option<usize>,
        target: Target,
        place: CpuOrThread,
    ) -> Result<Option<OneOrTwo>, Error> {
        let event = &self.events[idx];
        if !place.is_on(event.cpus.as_deref()) {
            return Ok(None);
        }
        let target = event.cgroup.as_ref().map_or(target, CgroupFolder::target);
        let leader = leader.map(|leader| &self.events[leader]);
        let text = event.text.as_deref();
        let open = |attr, leader| {
            let opened = open_one(attr, target, place, OpenWith { leader, text })
                .map_err(|why| Error::open(&event.name, attr, why, target))?;
            if let (Some(counter), Some(filter)) = (&opened, &event.filter) {
                filter.set(counter, &event.name)?;
            }
            Ok::<_, Error>(opened)
        };
        let large = open(
            &event.attr,
            leader.and_then(|leader| leader.counters.last()),
        )?;
        let small = event.small_dumps.as_ref().map(|small| {
            let leader = leader.and_then(|leader| leader.small_dumps.as_ref());
            open(
                &small.attr,
                leader.and_then(|leader| leader.counters.last()),
            )
        });
        Ok(match (large, small.transpose()?) {
            (Some(large), None) => Some(OneOrTwo { large, small: None }),
            (Some(large), Some(small @ Some(_))) => Some(OneOrTwo { large, small }),
            _ => None,
        })
    }

    /// Adds what was opened, and has it write into the ring of its place: of those with large and small dumps,
    /// one kind is on at first.
    fn take(
        &mut self,
        idx: usize,
        opened: OneOrTwo,
        target: Target,
        place: CpuOrThread,
        rings: Rings<'_>,
    ) -> Result<(), Error> {
        let attach = |counter: &Counter| {
            let group = match rings {
                Rings::Of(_) => &*self,
                Rings::In(other) => other,
            };
            group
                .attach(counter, place)
                .map_err(Error::system("sharing a ring"))
        };
        let (first, other) = match (&opened.small, self.first_dumps) {
            (Some(small), DumpSize::Small) => (small, Some(&opened.large)),
            (small, _) => (&opened.large, small.as_ref()),
        };
        attach(first)?;
        if let Some(other) = other.filter(|_| !self.is_off_without_ring) {
            attach(other)?;
        }
        let event = &mut self.events[idx];
        event.counters.push(opened.large);
        event.opened_for.push((target, place));
        if let (Some(small), Some(counter)) = (&mut event.small_dumps, opened.small) {
            small.counters.push(counter);
        }
        Ok(())
    }
}

/// If one event of a group has large and small dumps, all of its events are there twice.
pub(crate) fn double(events: &mut [EventCounters]) {
    for unit in groups::units(events.iter().map(|event| &event.grouping)) {
        let unit = &mut events[unit];
        if !unit.iter().any(|event| event.small_dumps.is_some()) {
            continue;
        }
        for event in unit {
            let attr = &event.attr;
            (event.small_dumps).get_or_insert_with(|| SmallDumps::new(attr.clone()));
        }
    }
}

/// Opens one counter; `None` if its thread has ended meanwhile.
fn open_one(
    attr: &PerfEventAttr,
    target: Target,
    place: CpuOrThread,
    with: OpenWith<'_>,
) -> Result<Option<Counter>, OpenError> {
    let open = || Counter::open_with(attr, target, place.cpu(), with);
    let opened = match open() {
        Err(OpenError::TooManyFiles) if OpenFilesLimit::raise() => open(),
        opened => opened,
    };
    match opened {
        Ok(counter) => Ok(Some(counter)),
        Err(OpenError::NoSuchTask) => Ok(None),
        Err(why) => Err(why),
    }
}
