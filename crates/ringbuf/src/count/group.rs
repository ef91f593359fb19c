//! Events that are counted together, and read at once.

use super::door::{Door, KernelDoor};
use super::reading::Reading;
use crate::{Cpu, OpenError, Target};
use rprof_abi::sample::ReadValues;
use rprof_abi::{AttrFlags, Cursor, Endian, PerfEventAttr, ReadFormat};
use std::io;

/// A leader and its members, or one event alone.
#[derive(Debug)]
pub struct CounterGroup<D: Door = KernelDoor> {
    door: D,
    /// The leader is the first.
    events: Vec<D::Event>,
    form: Form,
}

/// How values are read.
#[derive(Debug)]
enum Form {
    /// Each event by itself.
    OneByOne(ReadFormat),
    /// One read of the leader has all; these are their ids.
    AtOnce(ReadFormat, Vec<u64>),
}

/// What a read of a group gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// A reading for each event, in the order in which they were opened.
    Read(Vec<Reading>),
    /// The group is pinned and did not get its counters: the kernel counts nothing of it any more, until it is
    /// enabled again.
    Failed,
}

/// An event of a group could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("{source}")]
pub struct GroupError {
    /// Which, counted from 0, the leader.
    pub nth: usize,
    /// Why.
    pub source: OpenError,
}

const TIMES: ReadFormat =
    ReadFormat(ReadFormat::TOTAL_TIME_ENABLED.0 | ReadFormat::TOTAL_TIME_RUNNING.0);

impl<D: Door> CounterGroup<D> {
    /// Opens the events of some attrs, the leader's first. Their `read_format` is set here, all else is the
    /// caller's; but whether and when a group starts is said by its leader alone. (A member that is enabled after
    /// its leader is not counted before the next switch of tasks: 6.18.)
    ///
    /// # Errors
    /// Which of the events could not be opened, and why. An `Invalid` of a later one mostly means that it cannot
    /// be counted with those before it.
    pub fn open(
        door: D,
        attrs: &[PerfEventAttr],
        target: Target,
        cpu: Cpu,
    ) -> Result<Self, GroupError> {
        let at_once = TIMES.with(ReadFormat::GROUP).with(ReadFormat::ID);
        let format = if attrs.len() > 1 { at_once } else { TIMES };
        let opened = open_all(&door, attrs, format, target, cpu);
        let (events, format) = match opened {
            // Before 4.13, what is inherited cannot be read at once.
            Err(error) if error.nth == 0 && format == at_once => match error.source {
                OpenError::Invalid => (open_all(&door, attrs, TIMES, target, cpu)?, TIMES),
                _ => return Err(error),
            },
            opened => (opened?, format),
        };
        let form = if format.has(ReadFormat::GROUP) {
            let ids = events.iter().map(|event| door.id(event));
            let ids: io::Result<Vec<u64>> = ids.collect();
            let ids = ids.map_err(|error| GroupError {
                nth: 0,
                source: OpenError::Other(error),
            })?;
            Form::AtOnce(format, ids)
        } else {
            Form::OneByOne(format)
        };
        Ok(Self { door, events, form })
    }

    /// How many events it has.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Its open events, the leader first.
    pub fn events(&self) -> &[D::Event] {
        &self.events
    }

    /// Ids of its events.
    ///
    /// # Errors
    /// The kernel's.
    pub fn ids(&self) -> io::Result<Vec<u64>> {
        match &self.form {
            Form::AtOnce(_, ids) => Ok(ids.clone()),
            Form::OneByOne(_) => self.events.iter().map(|one| self.door.id(one)).collect(),
        }
    }

    /// Starts or stops it, all at one moment.
    ///
    /// # Errors
    /// The kernel's.
    pub fn enable(&self, is_on: bool) -> io::Result<()> {
        let mut leaders = self.events.iter().take(1);
        leaders.try_for_each(|leader| self.door.enable(leader, is_on))
    }

    /// Has it count from 0 again; its times go on.
    ///
    /// # Errors
    /// The kernel's.
    pub fn reset(&self) -> io::Result<()> {
        let mut leaders = self.events.iter().take(1);
        leaders.try_for_each(|leader| self.door.reset(leader))
    }

    /// Reads all its events; after their task has ended, too.
    ///
    /// # Errors
    /// The kernel's, or `InvalidData` if it wrote less than its format says.
    pub fn read(&self) -> io::Result<Values> {
        match &self.form {
            Form::OneByOne(format) => {
                let mut readings = Vec::with_capacity(self.events.len());
                for event in &self.events {
                    match self.read_event(event, *format, 1)?.first() {
                        Some((_, reading)) => readings.push(*reading),
                        None => return Ok(Values::Failed),
                    }
                }
                Ok(Values::Read(readings))
            }
            Form::AtOnce(format, ids) => {
                let Some(leader) = self.events.first() else {
                    return Ok(Values::Read(Vec::new()));
                };
                let all = self.read_event(leader, *format, ids.len())?;
                if all.is_empty() {
                    return Ok(Values::Failed);
                }
                let of = |id: &u64| {
                    let found = all.iter().find(|(of, _)| of == id);
                    found.map(|(_, reading)| *reading)
                };
                let readings: Option<Vec<Reading>> = ids.iter().map(of).collect();
                let readings =
                    readings.ok_or_else(|| invalid("the values of a group lack an event"))?;
                Ok(Values::Read(readings))
            }
        }
    }

    /// Values by id; none at the end of the file.
    fn read_event(
        &self,
        event: &D::Event,
        format: ReadFormat,
        n_values: usize,
    ) -> io::Result<Vec<(u64, Reading)>> {
        // nr and both times, then value, id and losses of each.
        let mut bytes = vec![0; 8 * (3 + 3 * n_values)];
        let len = self.door.read(event, &mut bytes)?;
        if len == 0 {
            return Ok(Vec::new());
        }
        let mut cursor = Cursor::new(bytes.get(..len).unwrap_or_default(), Endian::NATIVE);
        let read = ReadValues::parse(&mut cursor, format).map_err(invalid)?;
        let reading = |count| Reading {
            count,
            enabled_ns: read.enabled_ns.unwrap_or(0),
            running_ns: read.running_ns.unwrap_or(0),
        };
        let values = read.values();
        Ok(values
            .map(|value| (value.id.unwrap_or(0), reading(value.value)))
            .collect())
    }
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

fn open_all<D: Door>(
    door: &D,
    attrs: &[PerfEventAttr],
    format: ReadFormat,
    target: Target,
    cpu: Cpu,
) -> Result<Vec<D::Event>, GroupError> {
    let mut events: Vec<D::Event> = Vec::with_capacity(attrs.len());
    for (nth, attr) in attrs.iter().enumerate() {
        let mut attr = attr.clone();
        attr.read_format = format;
        if nth > 0 {
            let flags = attr.flags.without(AttrFlags::DISABLED);
            attr.flags = flags.without(AttrFlags::ENABLE_ON_EXEC);
        }
        let opened = door.open(&attr, target, cpu, events.first());
        events.push(opened.map_err(|source| GroupError { nth, source })?);
    }
    Ok(events)
}

#[cfg(test)]
mod tests;
