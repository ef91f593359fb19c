//! Reading a recording into a profile.

mod about;
mod branch_calls;
mod chain;
mod chunks;
mod count;
mod descent;
mod embedded;
mod exact_chains;
mod fetching;
mod freeze;
mod kernel;
mod lives;
mod locate;
mod memo;
mod names;
mod parallel;
mod pieces;
mod places;
mod recorded_ends;
mod resolve;
mod run_time;
mod samples;
pub(crate) mod skim;
mod tasks;
mod timeline;
mod unwinding;
mod values;

pub(crate) use chain::{Address, First, Missing, UserPart, UserStack, for_each_address};
pub(crate) use count::{count_places, shows_function};
pub(crate) use embedded::{Embedded, avma};
pub(crate) use kernel::Kernel;
pub(crate) use names::{Names, answer_all};
pub(crate) use places::collect;
pub(crate) use resolve::{Cache, PlaceKey, Space, Tasks};
pub(crate) use run_time::is_other_machine;
pub(crate) use samples::{Seen, Unused};
pub(crate) use tasks::{TaskParts, comm_text, task_name};
pub use timeline::{TimelineDetail, load_timeline};
pub(crate) use unwinding::{Ends, Unwinding, has_stack};

use crate::Error;
use branch_calls::has_calls;
use chain::ChainOptions;
use count::count;
use descent::Descendants;
use exact_chains::has_exact_chains;
use freeze::freeze;
use lives::WallClock;
use locate::{Contents, Holders};
use recorded_ends::RecordedEnds;
use rprof_abi::SampleType;
use rprof_images::Locator;
use rprof_perfdata::{Feature, FeatureId, Reader};
use rprof_profile::{Ancestor, Filter, Profile};
use rprof_symbols::{Demangling, Detail, Request};
use skim::Skimmed;
use std::sync::OnceLock;
use unwinding::Tables;
use values::Values;

/// What to read, and how closely.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which samples.
    pub filter: Filter,
    /// Whole stacks, or only where samples were taken.
    pub stacks: bool,
    /// Inlined functions as frames of their own.
    pub inlines: bool,
    /// Tell tasks apart by process.
    pub by_pid: bool,
    /// Tell tasks apart by thread.
    pub by_tid: bool,
    /// Tell samples apart by CPU.
    pub by_cpu: bool,
    /// How names of functions are to read.
    pub demangling: Demangling,
    /// Where to look for binaries.
    pub locator: Locator,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            filter: Filter::default(),
            stacks: true,
            inlines: true,
            by_pid: false,
            by_tid: false,
            by_cpu: false,
            demangling: Demangling::default(),
            locator: Locator::default(),
        }
    }
}

/// Everything that the sample passes share.
pub(crate) struct Context<'a> {
    pub(crate) reader: &'a Reader,
    pub(crate) skimmed: &'a Skimmed,
    pub(crate) filter: &'a Filter,
    /// The processes that are asked for by an ancestor.
    pub(crate) descendants: Option<Descendants>,
    pub(crate) chains: ChainOptions,
    pub(crate) values: Values,
    pub(crate) locator: &'a Locator,
    /// Whether branch records are call stacks, of any event.
    pub(crate) has_branch_calls: bool,
    /// Whether simpleperf unwound stacks, of any event.
    pub(crate) has_exact_chains: bool,
    /// Who has what mapped still: asked for files that are not found otherwise.
    pub(crate) holders: OnceLock<Holders>,
    clock: OnceLock<Option<WallClock>>,
    /// What was in files that have no build id.
    contents: OnceLock<Contents>,
    /// For stacks that are to be unwound, if there are any.
    pub(crate) tables: Option<Tables>,
    /// How stacks ended that were unwound while recording.
    pub(crate) recorded_ends: Option<RecordedEnds>,
}

/// What is wanted of the samples.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) filter: &'a Filter,
    pub(crate) stacks: bool,
    pub(crate) locator: &'a Locator,
}

impl<'a> Context<'a> {
    /// For one pass after the other.
    pub(crate) fn new(reader: &'a Reader, skimmed: &'a Skimmed, wanted: Wanted<'a>) -> Self {
        let Wanted {
            filter,
            stacks,
            locator,
        } = wanted;
        let n_images = skimmed.history.images().iter().count();
        let tables = stacks.then(|| Tables::of(reader, n_images));
        Self {
            reader,
            skimmed,
            filter,
            descendants: ancestor(reader, filter)
                .map(|pid| Descendants::of(pid, &skimmed.lives.forks)),
            chains: ChainOptions {
                stacks,
                max_stack: filter.max_stack,
                first: First::Own,
            },
            values: Values::of(reader),
            locator,
            has_branch_calls: stacks && reader.events().iter().any(has_calls),
            has_exact_chains: stacks && has_exact_chains(reader),
            holders: OnceLock::new(),
            clock: OnceLock::new(),
            contents: OnceLock::new(),
            tables: tables.flatten(),
            recorded_ends: stacks.then(|| RecordedEnds::of(reader, skimmed)).flatten(),
        }
    }

    /// The recording's clock against that of files; `None` if the recording does not say.
    pub(crate) fn clock(&self) -> Option<WallClock> {
        *self.clock.get_or_init(|| WallClock::of(self.reader))
    }
}

/// How far reading is, from 0 to 1.
pub type Progress<'a> = dyn FnMut(f64) + 'a;

/// Reads, names and counts a recording; `progress` is told how far it is.
///
/// # Errors
/// [`Error`] if it cannot be read at all; what is damaged in it becomes a warning.
#[expect(clippy::cast_precision_loss, reason = "a share for the eye")]
pub fn load(
    reader: &Reader,
    options: &Options,
    progress: &mut Progress<'_>,
) -> Result<Profile, Error> {
    check_filter(reader, &options.filter)?;
    let skimmed = skim::skim(reader, &options.locator)?;
    let wanted = Wanted {
        filter: &options.filter,
        stacks: options.stacks,
        locator: &options.locator,
    };
    let context = Context::new(reader, &skimmed, wanted);
    let n_chunks = skimmed.chunks.len().max(1) as f64;
    let parts = TaskParts {
        pid: options.by_pid,
        tid: options.by_tid,
        cpu: options.by_cpu,
    };
    let mut first = |done: usize| progress(0.1 + 0.4 * done as f64 / n_chunks);
    let plain = Request {
        demangling: options.demangling,
        ..Request::default()
    };
    let mut profile = Profile {
        about: about::of(reader),
        ..Profile::default()
    };
    let (names, counts) = if options.stacks {
        let places = collect(&context, |_, _| {}, &mut first)?;
        let request = Request {
            detail: match options.inlines {
                true => Detail::Inlines,
                false => Detail::Functions,
            },
            ..plain
        };
        let names = Names::find(&context, places, request, &mut profile)?;
        let mut second = |done: usize| progress(0.6 + 0.4 * done as f64 / n_chunks);
        let counts = count(&context, &names, parts, &profile, &mut second)?;
        (names, counts)
    } else {
        let counts = count_places(&context, parts, &mut first)?;
        let names = Names::find(&context, counts.places(), plain, &mut profile)?;
        let counts = counts.named(&context, &names, &profile);
        (names, counts)
    };
    freeze(&context, &names, counts, &mut profile);
    let warnings = reader.warnings().iter().map(ToString::to_string);
    profile.warnings.extend(warnings.chain(skimmed.warnings));
    Ok(profile)
}

/// The process whose descendants a filter asks for.
fn ancestor(reader: &Reader, filter: &Filter) -> Option<i32> {
    match filter.descendants_of? {
        Ancestor::Process(pid) => Some(pid),
        Ancestor::Command => {
            let section = reader.feature(FeatureId::COMMAND).ok()??;
            match Feature::parse(FeatureId::COMMAND, &section, reader.endian()) {
                Ok(Feature::Command(command)) => i32::try_from(command.pid).ok(),
                _ => None,
            }
        }
    }
}

/// A filter by what no sample has would leave nothing, and not say why.
pub(crate) fn check_filter(reader: &Reader, filter: &Filter) -> Result<(), Error> {
    let is_recorded = |bit| {
        let mut events = reader.events().iter();
        events.any(|event| event.attr.sample_type.has(bit))
    };
    let missing = |what, option| Err(Error::NotRecorded { what, option });
    if !filter.cpus.is_empty() && !is_recorded(SampleType::CPU) {
        return missing("CPUs", "--cpu");
    }
    if filter.time_ns.is_some() && !is_recorded(SampleType::TIME) {
        return missing("times", "--time");
    }
    if filter.descendants_of.is_some() {
        if !is_recorded(SampleType::TID) {
            return missing("processes", "--descendants");
        }
        if ancestor(reader, filter).is_none() {
            return Err(Error::NoCommand);
        }
    }
    Ok(())
}
