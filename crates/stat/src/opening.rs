//! Events, opened in their groups for everybody they are counted of, and read.

mod event;
mod filter;

pub(crate) use event::{EventState, StatEvent};

use crate::error::Error;
use crate::targets::{CounterTarget, Targets};
use crate::unit::Unit;
use rprof_abi::{AttrFlags, PerfEventAttr};
use rprof_events::{Event, Grouping, exclude_kernel};
use rprof_ringbuf::count::{CounterGroup, Door, GroupError, Reading, Values};
use rprof_ringbuf::sys::OpenFilesLimit;
use rprof_ringbuf::{Cpu, OpenError, Target};
use rprof_targets::CgroupFolder;
use rprof_targets::rights::advice::{Foreign, foreign, of_event, without_kernel};

/// One counter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) cpu: Option<u32>,
    pub(crate) thread: usize,
    pub(crate) reading: Reading,
}

/// How counters are opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    pub(crate) inherit: bool,
    /// They start when the command is executed; else when they are enabled.
    pub(crate) enable_on_exec: bool,
}

/// All that is counted.
#[derive(Debug)]
pub(crate) struct Counters<D: Door> {
    pub(crate) events: Vec<StatEvent>,
    groups: Vec<OpenGroup<D>>,
}

/// A group at one place.
#[derive(Debug)]
struct OpenGroup<D: Door> {
    /// Its events, by their number.
    events: Vec<usize>,
    place: CounterTarget,
    counters: CounterGroup<D>,
}

/// Opens the counters of one target after the other.
struct Opener<'o, D: Door> {
    door: &'o D,
    targets: &'o Targets,
    how: How,
    out: Counters<D>,
}

/// Events, each with the control group that it is counted of.
pub(crate) struct Wanted<'w> {
    pub(crate) events: &'w [Event],
    /// Numbers of events, and control groups.
    pub(crate) counted: &'w [(usize, Option<CgroupFolder>)],
}

impl<D: Door + Clone> Counters<D> {
    /// Opens all. What this machine does not count is left out, and marked.
    ///
    /// # Errors
    /// What is not permitted, or cannot be counted together.
    pub(crate) fn open(
        door: &D,
        wanted: &Wanted<'_>,
        targets: &Targets,
        how: How,
        unit_of: impl Fn(&Event) -> Unit,
    ) -> Result<Self, Error> {
        let mut events = Vec::with_capacity(wanted.counted.len());
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (nth, (event, cgroup)) in wanted.counted.iter().enumerate() {
            let Some(event) = wanted.events.get(*event) else {
                continue;
            };
            if event.has_latencies() {
                let event = event.name.clone();
                return Err(Error::Latency { event });
            }
            events.push((event.clone(), cgroup.as_ref()));
            match groups.last_mut() {
                Some(group) if event.grouping.is_member() => group.push(nth),
                _ => groups.push(vec![nth]),
            }
        }
        let of = |(event, cgroup): &(Event, Option<&CgroupFolder>)| StatEvent {
            unit: unit_of(event),
            cgroup: cgroup.map(|cgroup| cgroup.name().to_owned()),
            is_inherited: event.is_inherited,
            is_of_kernel: event.is_of_kernel(),
            filter: event.filter.clone(),
            ..StatEvent::new(&event.name, &event.attr)
        };
        let mut opener = Opener {
            door,
            targets,
            how,
            out: Self {
                events: events.iter().map(of).collect(),
                groups: Vec::new(),
            },
        };
        let n_needed = opener.n_files(&events);
        fit_limit(n_needed)?;
        for group in groups {
            opener.group(&events, &group)?;
        }
        opener.out.check_rights()?;
        Ok(opener.out)
    }
}

impl<D: Door> Counters<D> {
    /// Whether something may be counted.
    fn check_rights(&self) -> Result<(), Error> {
        let is_refused = |event: &&StatEvent| event.state == EventState::NotPermitted;
        match self.events.iter().find(is_refused) {
            Some(event) if self.groups.is_empty() => Err(Error::Denied {
                event: event.name.clone(),
                advice: without_kernel(),
            }),
            _ => Ok(()),
        }
    }

    /// Starts or stops all.
    pub(crate) fn enable(&self, is_on: bool) -> std::io::Result<()> {
        let mut groups = self.groups.iter();
        groups.try_for_each(|group| group.counters.enable(is_on))
    }

    /// Starts or stops the groups that have an event; returns whether there is one.
    pub(crate) fn enable_of(&self, name: &str, is_on: bool) -> std::io::Result<bool> {
        let mut is_there = false;
        for group in &self.groups {
            let is_it = |&nth: &usize| self.events.get(nth).is_some_and(|one| one.name == name);
            if group.events.iter().any(is_it) {
                is_there = true;
                group.counters.enable(is_on)?;
            }
        }
        Ok(is_there)
    }

    /// The values of each event.
    ///
    /// # Errors
    /// The kernel's.
    pub(crate) fn read(&self) -> std::io::Result<Vec<Vec<Cell>>> {
        let mut cells = vec![Vec::new(); self.events.len()];
        for group in &self.groups {
            let readings = match group.counters.read()? {
                Values::Read(readings) => readings,
                Values::Failed => vec![Reading::default(); group.events.len()],
            };
            let cpu = match group.place.cpu {
                Cpu::On(cpu) => Some(cpu),
                Cpu::Any => None,
            };
            for (&event, reading) in group.events.iter().zip(readings) {
                let cell = Cell {
                    cpu,
                    thread: group.place.thread,
                    reading,
                };
                cells
                    .get_mut(event)
                    .into_iter()
                    .for_each(|of| of.push(cell));
            }
        }
        Ok(cells)
    }

    /// Ids of each event's counters, in the order of its cells.
    pub(crate) fn ids(&self) -> std::io::Result<Vec<Vec<u64>>> {
        let mut ids = vec![Vec::new(); self.events.len()];
        for group in &self.groups {
            for (&event, id) in group.events.iter().zip(group.counters.ids()?) {
                ids.get_mut(event).into_iter().for_each(|of| of.push(id));
            }
        }
        Ok(ids)
    }
}

/// Files that are open beside counters.
const RESERVE: usize = 16;

fn fit_limit(n_needed: usize) -> Result<(), Error> {
    let fits = || OpenFilesLimit::now().soft >= (n_needed + RESERVE) as u64;
    if fits() || (OpenFilesLimit::raise() && fits()) {
        return Ok(());
    }
    Err(Error::OpenFiles {
        needed: n_needed,
        limit: OpenFilesLimit::now().soft,
    })
}

impl<D: Door + Clone> Opener<'_, D> {
    fn n_files(&self, events: &[(Event, Option<&CgroupFolder>)]) -> usize {
        let places = |event: &Event| self.targets.places(event.cpus.as_deref()).len();
        events.iter().map(|(event, _)| places(event)).sum()
    }

    /// Opens a group at all its places.
    fn group(
        &mut self,
        events: &[(Event, Option<&CgroupFolder>)],
        group: &[usize],
    ) -> Result<(), Error> {
        let Some((leader, cgroup)) = group.first().and_then(|&nth| events.get(nth)) else {
            return Ok(());
        };
        let mut places = self.targets.places(leader.cpus.as_deref());
        if let Some(cgroup) = cgroup {
            for place in &mut places {
                place.target = cgroup.target();
            }
        }
        let is_weak = matches!(leader.grouping, Grouping::Leader { is_weak: true, .. });
        let n_before = self.out.groups.len();
        let mut members = group.to_vec();
        let (mut at, mut gone) = (0, None);
        while let Some(&place) = places.get(at) {
            let refused = match self.open_at(&members, place) {
                Ok(counters) => {
                    self.out.groups.push(OpenGroup {
                        events: members.clone(),
                        place,
                        counters,
                    });
                    at += 1;
                    continue;
                }
                Err(error) if matches!(error.source, OpenError::NoSuchTask) => {
                    gone = Some(place.thread);
                    at += 1;
                    continue;
                }
                Err(error) => error,
            };
            // The same events everywhere.
            self.out.groups.truncate(n_before);
            at = 0;
            let nth = refused.nth;
            match self.give_way(&members, place, refused)? {
                Way::Again => {}
                Way::Without(event) => members.retain(|&member| member != event),
                Way::Alone | Way::NoLeader if is_weak => {
                    let mut alone = group.iter();
                    return alone.try_for_each(|&member| self.group(events, &[member]));
                }
                Way::Alone => return Err(self.not_together(&members, nth)),
                Way::NoLeader => return Err(self.no_leader(&members)),
            }
            if members.is_empty() {
                return Ok(());
            }
        }
        match gone.and_then(|nth| self.targets.threads.get(nth)) {
            Some(thread) if self.out.groups.len() == n_before => {
                Err(Error::NoSuchTask { id: thread.tid })
            }
            _ => Ok(()),
        }
    }

    fn open_at(
        &self,
        members: &[usize],
        place: CounterTarget,
    ) -> Result<CounterGroup<D>, GroupError> {
        let attrs: Vec<PerfEventAttr> = members
            .iter()
            .filter_map(|&nth| self.out.events.get(nth))
            .map(|event| self.attr(event, place))
            .collect();
        CounterGroup::open(self.door.clone(), &attrs, place.target, place.cpu)
    }

    /// As it is counted: without what is for samples.
    fn attr(&self, event: &StatEvent, place: CounterTarget) -> PerfEventAttr {
        let mut flags = event.attr.flags.without(AttrFlags::FREQ);
        flags = flags.with(AttrFlags::DISABLED);
        let is_of_task = matches!(place.target, rprof_ringbuf::Target::Thread(_));
        if is_of_task && self.how.inherit && event.is_inherited {
            flags = flags.with(AttrFlags::INHERIT);
        }
        if is_of_task && self.how.enable_on_exec {
            flags = flags.with(AttrFlags::ENABLE_ON_EXEC);
        }
        PerfEventAttr {
            flags,
            // Breakpoints and tracepoints count each; so do others without a period.
            sample_period: 0,
            ..event.attr.clone()
        }
    }

    /// What to do about an event that was refused.
    fn give_way(
        &mut self,
        members: &[usize],
        place: CounterTarget,
        error: GroupError,
    ) -> Result<Way, Error> {
        let Some(&nth) = members.get(error.nth) else {
            return Ok(Way::Alone);
        };
        let is_leader = error.nth == 0;
        let (is_unknown, is_invalid) = (
            matches!(error.source, OpenError::NoSuchEvent),
            matches!(error.source, OpenError::Invalid | OpenError::TooNew),
        );
        if is_invalid && self.drops_guests(nth) {
            return Ok(Way::Again);
        }
        if matches!(error.source, OpenError::Access) && self.drops_kernel(nth) {
            return Ok(Way::Again);
        }
        let is_alone = members.len() == 1 || !is_leader;
        if matches!(error.source, OpenError::Access) && is_alone && self.is_of_kernel(nth) {
            return Ok(self.without(nth, EventState::NotPermitted));
        }
        if is_invalid && !is_leader && self.open_at(&[nth], place).is_ok() {
            return Ok(Way::Alone);
        }
        if !(is_unknown || is_invalid) {
            return Err(self.refused(nth, place, error));
        }
        if is_leader && members.len() > 1 {
            return Ok(Way::NoLeader);
        }
        Ok(self.without(nth, EventState::NotSupported))
    }

    fn without(&mut self, nth: usize, state: EventState) -> Way {
        if let Some(event) = self.out.events.get_mut(nth) {
            event.state = state;
        }
        Way::Without(nth)
    }

    /// Whether it counts nothing without the kernel, and has not been asked for so.
    fn is_of_kernel(&self, nth: usize) -> bool {
        let event = self.out.events.get(nth);
        event.is_some_and(|event| {
            event.is_of_kernel && !event.attr.flags.has(AttrFlags::EXCLUDE_KERNEL)
        })
    }

    /// PMUs that cannot exclude guests count them, as in perf.
    fn drops_guests(&mut self, nth: usize) -> bool {
        let event = self.out.events.get_mut(nth);
        let event = event.filter(|event| event.attr.flags.has(AttrFlags::EXCLUDE_GUEST));
        let Some(event) = event else {
            return false;
        };
        event.attr.flags = event.attr.flags.without(AttrFlags::EXCLUDE_GUEST);
        true
    }

    /// Users may count themselves without the kernel.
    fn drops_kernel(&mut self, nth: usize) -> bool {
        let Some(event) = self.out.events.get_mut(nth) else {
            return false;
        };
        let flags = event.attr.flags;
        let is_excluded =
            flags.has(AttrFlags::EXCLUDE_KERNEL) || flags.has(AttrFlags::EXCLUDE_USER);
        if event.is_of_kernel || is_excluded {
            return false;
        }
        exclude_kernel(&mut event.name, &mut event.attr);
        true
    }

    fn name(&self, nth: usize) -> String {
        let event = self.out.events.get(nth);
        event.map(|event| event.name.clone()).unwrap_or_default()
    }

    fn not_together(&self, members: &[usize], nth: usize) -> Error {
        let name = |nth: usize| members.get(nth).map(|&nth| self.name(nth));
        Error::Group {
            leader: name(0).unwrap_or_default(),
            member: name(nth).unwrap_or_default(),
        }
    }

    fn no_leader(&self, members: &[usize]) -> Error {
        let names: Vec<String> = members.iter().map(|&nth| self.name(nth)).collect();
        let (leader, members) = names.split_first().map_or_else(Default::default, |names| {
            (names.0.clone(), names.1.join(", "))
        });
        Error::Leader { leader, members }
    }

    fn refused(&self, nth: usize, place: CounterTarget, error: GroupError) -> Error {
        let event = self.name(nth);
        let attr = self.out.events.get(nth).map(|event| &event.attr);
        let is_refused = matches!(
            error.source,
            OpenError::Access | OpenError::Forbidden | OpenError::NoSystemCall
        );
        match attr.filter(|_| is_refused) {
            Some(attr) => Error::Denied {
                event,
                advice: advice(attr, &error.source, place.target),
            },
            None => Error::Open {
                event,
                source: error.source,
            },
        }
    }
}

/// Why an event is refused, and the smallest step that would help.
fn advice(attr: &PerfEventAttr, why: &OpenError, target: Target) -> String {
    if let (OpenError::Access, Target::Thread(tid @ 1..)) = (why, target)
        && let Some(Foreign { task, why }) = foreign(tid)
    {
        return format!("{task}: {why}");
    }
    of_event(attr, why, target)
}

/// How to go on.
enum Way {
    /// With the same events, one of them changed.
    Again,
    /// Without this event.
    Without(usize),
    /// Each event by itself: one does not go with the leader.
    Alone,
    /// The same: there is no such event as the leader.
    NoLeader,
}

#[cfg(test)]
mod tests;
