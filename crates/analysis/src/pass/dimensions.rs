//! The values of samples in dimensions, for grouping.

use super::awaited::GroupedLocks;
use super::group_by::GroupBy;
use super::group_key::GroupKey;
use super::mode::SortMode;
use super::places::{Naming, PlaceNumbers, ValuePlace, ValuePlaces};
use super::query::Query;
use super::recorded::check;
use super::tallied::Tallied;
use super::trace_texts::TraceTexts;
use super::waited_files::WaitedFiles;
use super::words::{memory_part, memory_words, parts, prediction, size, word};
use crate::Error;
use crate::locations::{Location, TaskName, comm_text, last_comm};
use crate::recording::Recording;
use crate::samples::WokenBy;
use crate::samples::{Parallelism, sockets};
use crate::stacks::{First, own_address};
use rprof_abi::Sample;
use rprof_abi::sample::DataSource;
use rprof_base::Avma;
use rprof_perfdata::{FeatureId, Reader};
use rprof_profile::{Dimension, DimensionValue, DimensionValues, without_digits};
use rprof_scheduling::{Cause, ThreadState};

/// How the samples of a recording are told apart; threads share it.
#[derive(Debug)]
pub(crate) struct Grouping<'a> {
    by: GroupBy,
    recording: &'a Recording<'a>,
    /// By CPU.
    sockets: Vec<u32>,
    parallelism: Parallelism,
    texts: TraceTexts,
    places: ValuePlaces,
    locks: GroupedLocks<'a>,
    files: WaitedFiles,
    /// Whether a value is in what not every pass asks for.
    needs_all_fields: bool,
    /// Whether sizes of functions are found when frames have names.
    has_sizes_later: bool,
}

impl<'a> Grouping<'a> {
    /// Of a recording.
    ///
    /// # Errors
    /// [`Error::KeyNotRecorded`] if no sample has what is asked for.
    pub(crate) fn of(recording: &'a Recording<'a>, by: &GroupBy) -> Result<Self, Error> {
        let mut by = by.clone();
        by.dimensions.truncate(DimensionValues::MOST);
        // They are made of the names.
        by.names |= by.dimensions.contains(&Dimension::CommNoDigit);
        let has = |dimension| by.dimensions.contains(&dimension);
        let sockets = if has(Dimension::Socket) {
            sockets(recording.reader)
        } else {
            Vec::new()
        };
        by.dimensions
            .iter()
            .try_for_each(|&one| check(recording.reader, one))?;
        let parallelism = if has(Dimension::Parallelism) {
            Parallelism::of(recording)?
        } else {
            Parallelism::default()
        };
        let is_text = |one: &Dimension| matches!(one, Dimension::Trace | Dimension::TraceField(_));
        let has_texts = by.dimensions.iter().any(is_text);
        let is_rare = |one: &Dimension| {
            use Dimension::{
                Cause, CgroupId, CommNoDigit, Cpu, Critical, Lock, Machine, Parallelism, Parent,
                Pid, Recording, Socket, Span, State, Tid, Time, Wakee, Waker,
            };
            let is_usual = matches!(
                one,
                State
                    | Cause
                    | Waker
                    | Critical
                    | Span
                    | Wakee
                    | Lock
                    | Pid
                    | Tid
                    | CommNoDigit
                    | Cpu
                    | Socket
                    | Time
                    | Parallelism
                    | Parent
                    | CgroupId
                    | Machine
                    | Recording
            );
            !is_usual && !one.is_of_branches() && !one.is_of_own_code()
        };
        Ok(Self {
            needs_all_fields: by.dimensions.iter().any(is_rare),
            texts: TraceTexts::of(recording.reader, has_texts),
            places: ValuePlaces::new(recording.reader.budget()),
            locks: GroupedLocks::of(recording),
            files: WaitedFiles::of(recording.reader, has(Dimension::File)),
            by,
            recording,
            sockets,
            parallelism,
            has_sizes_later: false,
        })
    }

    /// The same; where the first frame of each stack is where its sample was taken, it is also that of the function whose
    /// size is asked for: there are far fewer groups until then.
    pub(super) fn with_sizes_of_frames(self, query: &Query<'_>) -> Self {
        let are_own = query.stacks.chains.first == First::Own && query.mode != SortMode::Branch;
        let are_wanted = self.by.dimensions.contains(&Dimension::SymSize);
        Self {
            has_sizes_later: are_wanted && are_own && !query.samples.source.is_derived(),
            ..self
        }
    }

    /// Whether sizes of functions are found when frames have names.
    pub(super) fn has_sizes_later(&self) -> bool {
        self.has_sizes_later
    }

    /// Whether samples of one name are of one group.
    pub(super) fn are_names_all(&self) -> bool {
        let is_later = |one: &Dimension| *one == Dimension::SymSize && self.has_sizes_later;
        self.by.dimensions.iter().all(is_later)
    }

    /// What samples are told apart by.
    #[inline]
    pub(super) fn dimensions(&self) -> &[Dimension] {
        &self.by.dimensions
    }

    /// How long slots of time are, nanoseconds, if samples are told apart by them.
    pub(super) fn time_quantum_ns(&self) -> Option<u64> {
        let has_slots = self.by.dimensions.contains(&Dimension::Time);
        has_slots.then_some(self.by.time_quantum_ns)
    }

    /// Whether the name of its thread matters for a sample.
    #[inline]
    pub(super) fn has_names(&self) -> bool {
        self.by.names
    }

    /// Of the recording.
    pub(super) fn reader(&self) -> &Reader {
        self.recording.reader
    }

    /// Whether a value is in what not every pass asks for.
    pub(super) fn needs_all_fields(&self) -> bool {
        self.needs_all_fields
    }

    /// Places that samples are told apart by, as far as they are named as code is.
    pub(super) fn places(&self) -> Vec<Location> {
        let all = self.places.all().into_iter();
        all.map(|place| place.location).collect()
    }

    /// Finds the places of what is counted later.
    pub(super) fn find_places(&self, tallied: &Tallied<'_, '_>, numbers: &mut PlaceNumbers) {
        let is_place = |one: &Dimension| {
            use Dimension::{
                Dcacheline, DsoDaddr, Lock, SymOff, SymSize, SymStart, SymbolDaddr, SymbolIaddr,
            };
            matches!(
                one,
                SymbolDaddr
                    | DsoDaddr
                    | Dcacheline
                    | Lock
                    | SymbolIaddr
                    | SymOff
                    | SymSize
                    | SymStart
            )
        };
        if self.by.dimensions.iter().any(is_place) {
            GroupKey::of(tallied, self, numbers);
        }
    }

    /// What was left out, a sentence each.
    pub(super) fn warnings(&self) -> Vec<String> {
        self.texts
            .warning()
            .into_iter()
            .chain(self.places.warning())
            .chain(self.locks.warning())
            .collect()
    }

    /// What the value of a sample or a branch in a dimension is; `None` where it is not recorded.
    pub(super) fn value(
        &self,
        dimension: Dimension,
        (tallied, fields): (&Tallied<'_, '_>, Option<&Sample<'_>>),
        numbers: &mut PlaceNumbers,
    ) -> Option<u64> {
        let sample = tallied.decoded;
        let cpu = sample.head.cpu;
        match dimension {
            Dimension::Pid => Some(of_ids(sample.pid, sample.pid)),
            Dimension::Tid => Some(of_ids(sample.pid, sample.tid)),
            // One for all samples, or made of other things.
            Dimension::CommNoDigit | Dimension::Machine | Dimension::Recording => Some(0),
            Dimension::Cpu => cpu.map(u64::from),
            Dimension::Socket => {
                let socket = self.sockets.get(usize::try_from(cpu?).ok()?);
                socket.copied().map(u64::from)
            }
            Dimension::Parallelism => Some(self.parallelism.at(sample.key).into()),
            Dimension::Time => {
                let quantum = self.by.time_quantum_ns.max(1);
                sample.head.time_ns.map(|time| time / quantum * quantum)
            }
            Dimension::Cgroup => Some(fields?.cgroup.unwrap_or(NO_CGROUP)),
            Dimension::CgroupId => {
                let namespaces = &self.recording.index.cgroup_namespaces;
                Some(namespaces.at(sample.tid, sample.key))
            }
            Dimension::DsoSize => Some(self.size_of_mapping(tallied).unwrap_or(0)),
            Dimension::SymSize if self.has_sizes_later => Some(0),
            Dimension::SymOff | Dimension::SymSize | Dimension::SymStart => {
                self.own_place(tallied, numbers)
            }
            Dimension::State => Some(sample.stretch()?.state.number()),
            Dimension::Cause => Some(sample.stretch()?.cause.number()),
            Dimension::Waker => Some(sample.stretch()?.waker.number()),
            Dimension::Critical => Some(sample.stretch()?.is_on_path.into()),
            Dimension::Span => {
                let span = sample.span.zip(self.recording.spans());
                let span = span.and_then(|(span, spans)| spans.span(span));
                Some(span.map_or(NO_SPAN, |span| span.name.into()))
            }
            Dimension::Wakee => Some(match sample.stretch()?.waker {
                WokenBy::Nobody => WokenBy::Nobody.number(),
                _ => WokenBy::Thread(tallied.task).number(),
            }),
            Dimension::Lock => self.locks.number(tallied, numbers),
            Dimension::File => WaitedFiles::number(sample, fields),
            // Stacks have names only when all are counted: the profile finds them.
            Dimension::Parent => None,
            Dimension::Trace => {
                let event = sample.recorded_event;
                self.texts.whole(event, fields?.raw?, self.endian())
            }
            Dimension::TraceField(number) => {
                let field = self.by.trace_fields.get(usize::from(number))?;
                let event = self.recording.reader.events().get(sample.recorded_event)?;
                let is_its = |name: &String| *name == *event.name.raw();
                if !field.event.as_ref().is_none_or(is_its) {
                    return None;
                }
                let raw = fields?.raw?;
                self.texts
                    .field(sample.recorded_event, raw, self.endian(), &field.name)
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
            Dimension::DsoFrom | Dimension::SymbolFrom | Dimension::SrclineFrom => {
                Some(self.place(tallied, tallied.branch?.from, numbers))
            }
            Dimension::DsoTo | Dimension::SymbolTo | Dimension::SrclineTo => {
                Some(self.place(tallied, tallied.branch?.to, numbers))
            }
            Dimension::Addr => tallied
                .branch
                .map_or(sample.head.ip, |branch| Some(branch.to)),
            Dimension::Mem
            | Dimension::Snoop
            | Dimension::Tlb
            | Dimension::Locked
            | Dimension::Blocked => {
                let source = fields?.data_src.map_or(DataSource::NONE, DataSource);
                Some(memory_part(dimension, source))
            }
            Dimension::SymbolDaddr | Dimension::DsoDaddr | Dimension::Dcacheline => {
                let place = self.data(dimension, tallied, fields?.addr.unwrap_or(0));
                Some(numbers.of(&self.places, place))
            }
            Dimension::SymbolIaddr => Some(self.place(tallied, sample.head.ip?, numbers)),
            Dimension::Mispredict => Some(prediction(tallied.branch?.flags)),
            Dimension::InTx => Some(tallied.branch?.flags.is_in_transaction().into()),
            Dimension::Abort => Some(tallied.branch?.flags.is_abort().into()),
            Dimension::Cycles => Some(tallied.branch?.flags.cycles()),
        }
    }

    /// The number of the place where a branch began or ended.
    fn place(&self, tallied: &Tallied<'_, '_>, avma: u64, numbers: &mut PlaceNumbers) -> u64 {
        let history = &self.recording.index.history;
        let location = tallied.mappings.branch_location(history, Avma(avma));
        numbers.of(&self.places, ValuePlace::of(location))
    }

    /// The number of the place where a sample was taken.
    fn own_place(&self, tallied: &Tallied<'_, '_>, numbers: &mut PlaceNumbers) -> Option<u64> {
        let address = own_address(&tallied.decoded.head, tallied.decoded.raw.misc)?;
        let history = &self.recording.index.history;
        Some(numbers.of_code(&self.places, (history, tallied.mappings), address))
    }

    /// Bytes of the mapping that a sample was taken in.
    fn size_of_mapping(&self, tallied: &Tallied<'_, '_>) -> Option<u64> {
        let history = &self.recording.index.history;
        let address = own_address(&tallied.decoded.head, tallied.decoded.raw.misc)?;
        tallied.mappings.len_of_mapping(history, address)
    }

    /// The place of data, as far as a dimension tells it apart.
    fn data(&self, dimension: Dimension, tallied: &Tallied<'_, '_>, avma: u64) -> ValuePlace {
        let history = &self.recording.index.history;
        let location = tallied.mappings.branch_location(history, Avma(avma));
        let own = own_address(&tallied.decoded.head, tallied.decoded.raw.misc);
        let by = own.and_then(|own| own.level);
        let at = |address| {
            ValuePlace::of(Location {
                address,
                ..location
            })
        };
        match dimension {
            Dimension::SymbolDaddr => ValuePlace { location, avma, by },
            Dimension::Dcacheline => ValuePlace {
                by,
                ..at(location.address & !(CACHELINE - 1))
            },
            _ => at(0),
        }
    }

    fn endian(&self) -> rprof_abi::Endian {
        self.recording.reader.endian()
    }

    /// A value as a profile has it.
    pub(super) fn in_profile(
        &self,
        dimension: Dimension,
        value: u64,
        name: Option<TaskName>,
        naming: &mut Naming<'_>,
    ) -> DimensionValue {
        let strings = &mut *naming.strings;
        let history = &self.recording.index.history;
        match dimension {
            Dimension::Pid | Dimension::Tid => {
                let (pid, id) = ids_of(value);
                let name = strings.intern(last_comm(history, pid, id).raw());
                DimensionValue::Task(id, name)
            }
            Dimension::CommNoDigit => {
                let name = name.map(|name| comm_text(history, name));
                let name = name.as_ref().map_or("", |name| name.raw());
                DimensionValue::Text(strings.intern(&without_digits(name)))
            }
            Dimension::Machine => {
                let host = self.reader().feature_text(FeatureId::HOSTNAME);
                let host = host
                    .as_deref()
                    .map(str::trim)
                    .filter(|host| !host.is_empty());
                DimensionValue::Text(strings.intern(host.unwrap_or("[unknown]")))
            }
            Dimension::Recording => {
                let path = self.reader().path().to_string_lossy();
                DimensionValue::Text(strings.intern(&path))
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
            Dimension::Mem
            | Dimension::Snoop
            | Dimension::Tlb
            | Dimension::Locked
            | Dimension::Blocked => memory_words(dimension, DataSource(value), strings),
            Dimension::CgroupId => {
                let namespace = self.recording.index.cgroup_namespaces.of(value);
                let text = format!("{}/{:#x}", namespace.dev, namespace.ino);
                DimensionValue::Text(strings.intern(&text))
            }
            Dimension::DsoSize => size(value, strings),
            Dimension::SymSize if self.has_sizes_later => size(value, strings),
            Dimension::SymSize => {
                let bytes = naming.size(self.places.of(value));
                size(bytes.map_or(0, u64::from), naming.strings)
            }
            Dimension::SymStart => match naming.start(self.places.of(value)) {
                Some(start) => DimensionValue::Number(start.cast_signed()),
                None => DimensionValue::Text(naming.strings.intern("[unknown]")),
            },
            Dimension::SymOff | Dimension::SymbolDaddr => {
                DimensionValue::Text(naming.data(self.places.of(value)))
            }
            Dimension::Lock => {
                let text = self.locks.text(value, naming.demangling);
                DimensionValue::Text(naming.strings.intern(&text))
            }
            Dimension::File => DimensionValue::Text(strings.intern(&self.files.text(value))),
            Dimension::Dcacheline => DimensionValue::Text(naming.cacheline(self.places.of(value))),
            Dimension::DsoFrom | Dimension::DsoTo | Dimension::DsoDaddr => {
                DimensionValue::Text(naming.image(self.places.of(value)))
            }
            Dimension::SymbolFrom | Dimension::SymbolTo | Dimension::SymbolIaddr => {
                DimensionValue::Text(naming.symbol(self.places.of(value)))
            }
            Dimension::SrclineFrom | Dimension::SrclineTo => {
                DimensionValue::Text(naming.srcline(self.places.of(value)))
            }
            Dimension::State => {
                let state = ThreadState::from_number(value);
                DimensionValue::Text(strings.intern(state.map_or("", ThreadState::name)))
            }
            Dimension::Cause => {
                let cause = Cause::from_number(value);
                DimensionValue::Text(strings.intern(cause.map_or("", Cause::name)))
            }
            Dimension::Waker | Dimension::Wakee => {
                let waker = WokenBy::from_number(value);
                DimensionValue::Text(strings.intern(&waker.text(history)))
            }
            Dimension::Critical => word(value, &["no", "yes"], strings),
            Dimension::Span => {
                let spans = self.recording.spans();
                let number = usize::try_from(value).ok();
                let name = spans.and_then(|spans| spans.names().get(number?));
                DimensionValue::Text(strings.intern(name.map_or("[none]", |name| name.raw())))
            }
            Dimension::Mispredict => word(value, &["N/A", "N", "Y"], strings),
            Dimension::InTx => word(value, &[".", "T"], strings),
            Dimension::Abort => word(value, &[".", "A"], strings),
            _ => DimensionValue::Number(value.cast_signed()),
        }
    }
}

/// Bytes of a line of the cache. perf asks the machine that reads.
const CACHELINE: u64 = 64;

/// What stands for no span.
const NO_SPAN: u64 = u64::MAX;

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
