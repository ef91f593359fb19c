//! The values of samples in dimensions, for grouping.

use super::trace_texts::TraceTexts;
use crate::Error;
use crate::locations::{TaskName, comm_text};
use crate::recording::Recording;
use crate::samples::{DecodedSample, sockets};
use rprof_abi::{Sample, SampleType, Weight};
use rprof_machine::Key;
use rprof_perfdata::Reader;
use rprof_profile::{Dimension, DimensionValue, DimensionValues, Strings, without_digits};
use std::hash::{Hash, Hasher};

/// A field of tracepoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceField {
    /// Of this event alone, by its whole name.
    pub event: Option<String>,
    /// Its name.
    pub name: String,
}

/// What samples are told apart by beside the names of threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupBy {
    /// At most [`DimensionValues::MOST`].
    pub dimensions: Vec<Dimension>,
    /// Times within so many nanoseconds are one.
    pub time_quantum_ns: u64,
    /// What [`Dimension::TraceField`] means, by number.
    pub trace_fields: Vec<TraceField>,
}

impl GroupBy {
    /// perf's: a tenth of a second.
    pub const TIME_QUANTUM_NS: u64 = 100_000_000;

    /// By these.
    pub fn of(dimensions: &[Dimension]) -> Self {
        Self {
            dimensions: dimensions.to_vec(),
            time_quantum_ns: Self::TIME_QUANTUM_NS,
            trace_fields: Vec::new(),
        }
    }

    /// Whether samples of a recording have values in a dimension.
    pub fn is_recorded(reader: &Reader, dimension: Dimension) -> bool {
        check(reader, dimension).is_ok()
    }
}

impl Default for GroupBy {
    fn default() -> Self {
        Self::of(&[])
    }
}

/// How the samples of a recording are told apart; threads share it.
#[derive(Debug)]
pub(crate) struct Grouping<'a> {
    by: GroupBy,
    recording: &'a Recording<'a>,
    /// By CPU.
    sockets: Vec<u32>,
    texts: TraceTexts,
    /// Whether a value is in what not every pass asks for.
    needs_all_fields: bool,
}

impl<'a> Grouping<'a> {
    /// Of a recording.
    ///
    /// # Errors
    /// [`Error::KeyNotRecorded`] if no sample has what is asked for.
    pub(crate) fn of(recording: &'a Recording<'a>, by: &GroupBy) -> Result<Self, Error> {
        let mut by = by.clone();
        by.dimensions.truncate(DimensionValues::MOST);
        let has = |dimension| by.dimensions.contains(&dimension);
        let sockets = match has(Dimension::Socket) {
            true => sockets(recording.reader),
            false => Vec::new(),
        };
        by.dimensions
            .iter()
            .try_for_each(|&one| check(recording.reader, one))?;
        let is_text = |one: &Dimension| matches!(one, Dimension::Trace | Dimension::TraceField(_));
        let has_texts = by.dimensions.iter().any(is_text);
        let is_rare = |one: &Dimension| {
            use Dimension::{CommNoDigit, Cpu, Parent, Pid, Socket, Tid, Time};
            !matches!(one, Pid | Tid | CommNoDigit | Cpu | Socket | Time | Parent)
        };
        Ok(Self {
            needs_all_fields: by.dimensions.iter().any(is_rare),
            texts: TraceTexts::of(recording.reader, has_texts),
            by,
            recording,
            sockets,
        })
    }

    /// What was left out, a sentence each.
    pub(super) fn warnings(&self) -> Vec<String> {
        self.texts.warning().into_iter().collect()
    }

    /// What a sample's value in a dimension is; `None` where it is not recorded.
    fn value(
        &self,
        dimension: Dimension,
        sample: &DecodedSample<'_>,
        fields: Option<&Sample<'_>>,
    ) -> Option<u64> {
        let cpu = sample.head.cpu;
        match dimension {
            Dimension::Pid => Some(of_ids(sample.pid, sample.pid)),
            Dimension::Tid => Some(of_ids(sample.pid, sample.tid)),
            Dimension::CommNoDigit => Some(0),
            Dimension::Cpu => cpu.map(u64::from),
            Dimension::Socket => {
                let socket = self.sockets.get(usize::try_from(cpu?).ok()?);
                socket.copied().map(u64::from)
            }
            Dimension::Time => {
                let quantum = self.by.time_quantum_ns.max(1);
                sample.head.time_ns.map(|time| time / quantum * quantum)
            }
            Dimension::Cgroup => Some(fields?.cgroup.unwrap_or(NO_CGROUP)),
            // Stacks have names only when all are counted: the profile finds them.
            Dimension::Parent => None,
            Dimension::Trace => self.texts.whole(sample.event, fields?.raw?, self.endian()),
            Dimension::TraceField(number) => {
                let field = self.by.trace_fields.get(usize::from(number))?;
                let event = self.recording.reader.events().get(sample.event)?;
                let is_its = |name: &String| *name == *event.name.raw();
                if !field.event.as_ref().is_none_or(is_its) {
                    return None;
                }
                let raw = fields?.raw?;
                self.texts
                    .field(sample.event, raw, self.endian(), &field.name)
            }
            Dimension::LocalWeight | Dimension::Weight => Some(parts(fields?).0),
            Dimension::LocalInsLat | Dimension::InsLat => Some(parts(fields?).1.into()),
            Dimension::LocalPStageCyc
            | Dimension::PStageCyc
            | Dimension::LocalRetireLat
            | Dimension::RetireLat => Some(parts(fields?).2.into()),
            Dimension::Transaction => Some(fields?.transaction.unwrap_or(0)),
            Dimension::CodePageSize => Some(fields?.code_page_size.unwrap_or(0)),
            Dimension::DataPageSize => Some(fields?.data_page_size.unwrap_or(0)),
            Dimension::PhysDaddr => fields?.phys_addr,
        }
    }

    fn endian(&self) -> rprof_abi::Endian {
        self.recording.reader.endian()
    }

    /// A value as a profile has it.
    fn in_profile(
        &self,
        dimension: Dimension,
        value: u64,
        name: TaskName,
        strings: &mut Strings,
    ) -> DimensionValue {
        let history = &self.recording.index.history;
        match dimension {
            Dimension::Pid | Dimension::Tid => {
                let (pid, id) = ids_of(value);
                // As it was called at last: one task is one row.
                let comm = history.comm(id, Key::LAST);
                let name = crate::locations::task_name((pid, id), comm);
                let name = strings.intern(comm_text(history, name).raw());
                DimensionValue::Task(id, name)
            }
            Dimension::CommNoDigit => {
                let name = comm_text(history, name);
                DimensionValue::Text(strings.intern(&without_digits(name.raw())))
            }
            Dimension::Cgroup => {
                let path = self.recording.index.cgroups.get(&value).map(Vec::as_slice);
                let path = match value {
                    NO_CGROUP => b"N/A",
                    _ => path.unwrap_or(b"unknown"),
                };
                DimensionValue::Text(strings.intern(&String::from_utf8_lossy(path)))
            }
            Dimension::Trace | Dimension::TraceField(_) => {
                let text = self.texts.text(value);
                DimensionValue::Text(strings.intern(&text))
            }
            _ => DimensionValue::Number(value.cast_signed()),
        }
    }
}

/// The parts of a weight, as perf has them; 0 without one.
fn parts(sample: &Sample<'_>) -> (u64, u16, u16) {
    match sample.weight {
        Some(Weight::Whole(weight)) => (weight, 0, 0),
        Some(Weight::Parts { var1, var2, var3 }) => (var1.into(), var2, var3),
        None => (0, 0, 0),
    }
}

/// Refuses a dimension in which no sample has a value.
fn check(reader: &Reader, dimension: Dimension) -> Result<(), Error> {
    const WEIGHTS: &[SampleType] = &[SampleType::WEIGHT, SampleType::WEIGHT_STRUCT];
    let (bits, what, flag): (&[SampleType], _, _) = match dimension {
        Dimension::Cpu | Dimension::Socket => (&[SampleType::CPU], "CPUs", " --sample-cpu"),
        Dimension::Time => (&[SampleType::TIME], "times", " -T"),
        Dimension::Trace | Dimension::TraceField(_) => (
            &[SampleType::RAW],
            "raw data of tracepoints",
            " -e SYSTEM:EVENT",
        ),
        Dimension::LocalWeight
        | Dimension::Weight
        | Dimension::LocalInsLat
        | Dimension::InsLat
        | Dimension::LocalPStageCyc
        | Dimension::PStageCyc
        | Dimension::LocalRetireLat
        | Dimension::RetireLat => (WEIGHTS, "weights", " -W"),
        Dimension::Transaction => (
            &[SampleType::TRANSACTION][..],
            "transactions",
            " --transaction",
        ),
        Dimension::CodePageSize => (
            &[SampleType::CODE_PAGE_SIZE],
            "sizes of code pages",
            " --code-page-size",
        ),
        Dimension::DataPageSize => (
            &[SampleType::DATA_PAGE_SIZE],
            "sizes of data pages",
            " --data-page-size",
        ),
        Dimension::PhysDaddr => (
            &[SampleType::PHYS_ADDR][..],
            "physical addresses",
            " --phys-data",
        ),
        // What perf shows without them is an answer, too.
        Dimension::Pid
        | Dimension::Tid
        | Dimension::CommNoDigit
        | Dimension::Cgroup
        | Dimension::Parent => return Ok(()),
    };
    if dimension == Dimension::Socket && sockets(reader).is_empty() {
        return Err(not_recorded("sockets of CPUs", "socket", ""));
    }
    let mut events = reader.events().iter();
    match events.any(|event| bits.iter().any(|&bit| event.attr.sample_type.has(bit))) {
        true => Ok(()),
        false => Err(not_recorded(what, dimension.name(), flag)),
    }
}

fn not_recorded(what: &'static str, key: &'static str, flag: &'static str) -> Error {
    Error::KeyNotRecorded { what, key, flag }
}

/// perf's answer for samples without one; the kernel's ids begin at 1.
const NO_CGROUP: u64 = 0;

/// A process and one of its threads, or itself.
fn of_ids(pid: i32, id: i32) -> u64 {
    u64::from(pid.cast_unsigned()) << 32 | u64::from(id.cast_unsigned())
}

#[expect(clippy::cast_possible_truncation, reason = "a half is wanted")]
fn ids_of(value: u64) -> (i32, i32) {
    let half = |value: u64| (value as u32).cast_signed();
    (half(value >> 32), half(value))
}

/// What samples are counted apart by: the thread's name, and their values in the dimensions that are asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupKey {
    pub(super) name: TaskName,
    /// Whether the filter shows its task.
    pub(super) is_shown: bool,
    /// How many values there are.
    len: u8,
    /// Bits of those that are not recorded.
    missing: u8,
    values: [u64; DimensionValues::MOST],
}

impl PartialEq for GroupKey {
    fn eq(&self, other: &Self) -> bool {
        let same_name = self.name == other.name && self.is_shown == other.is_shown;
        same_name && self.missing == other.missing && self.used() == other.used()
    }
}

impl Eq for GroupKey {}

impl Hash for GroupKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
        state.write_u8(self.missing);
        for &value in self.used() {
            state.write_u64(value);
        }
    }
}

impl GroupKey {
    /// The group of a sample.
    #[inline]
    pub(super) fn of(name: TaskName, sample: &DecodedSample<'_>, grouping: &Grouping<'_>) -> Self {
        let mut key = Self {
            name,
            is_shown: true,
            len: 0,
            missing: 0,
            values: [0; DimensionValues::MOST],
        };
        if !grouping.by.dimensions.is_empty() {
            key.fill(sample, grouping);
        }
        key
    }

    fn fill(&mut self, sample: &DecodedSample<'_>, grouping: &Grouping<'_>) {
        let fields = match grouping.needs_all_fields {
            true => sample.all_fields(grouping.recording.reader),
            false => None,
        };
        for (place, &dimension) in self.values.iter_mut().zip(&grouping.by.dimensions) {
            let value = grouping.value(dimension, sample, fields.as_ref());
            self.missing |= u8::from(value.is_none()) << self.len;
            *place = value.unwrap_or(0);
            self.len += 1;
        }
    }

    #[inline]
    fn used(&self) -> &[u64] {
        self.values.get(..usize::from(self.len)).unwrap_or_default()
    }

    /// Its values as a profile has them.
    pub(super) fn values(&self, grouping: &Grouping<'_>, strings: &mut Strings) -> DimensionValues {
        let mut values = DimensionValues::default();
        let dimensions = grouping.by.dimensions.iter().zip(self.used());
        for (at, (&dimension, &value)) in dimensions.enumerate() {
            let value = (self.missing >> at & 1 == 0)
                .then(|| grouping.in_profile(dimension, value, self.name, strings));
            values.set(dimension, value);
        }
        values
    }
}
