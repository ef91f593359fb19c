//! Every sample as text, in order of time: perf script's form, which FlameGraph tools read.

mod bpf_output;
mod branches;
mod data_address;
mod data_src;
mod error;
mod field_selection;
mod fields;
mod frames;
mod json;
mod line;
mod memory;
mod pass;
mod prefix;
mod records;
mod registers;
mod relative;
mod text;
mod trace;

pub use error::Error;
pub use field_selection::{FieldSelection, FieldsError};
pub use fields::field_names;
pub use json::JSON_VERSION;
pub use records::ShownRecords;
pub use relative::Times;

use data_address::for_each_named;
use fields::{Field, FieldSet};
use line::Layout;
use pass::ScriptPass;
use relative::Clock;
use rprof_abi::registers::RegisterTable;
use rprof_abi::{PerfEventAttr, SampleType, event_type, sw};
use rprof_analysis::{
    DecodedSample, First, Kernel, OtherAddress, Progress, Query, Recording, SampleOrder,
    StackEndCounts, Symbols, TracepointFormats, WantedFrames, WrittenSamples, check_filter,
    find_locations, find_spans, progress_of, run_ordered,
};
use rprof_locate::Locator;
use rprof_perfdata::feature::ClockData;
use rprof_perfdata::{Feature, FeatureId, Reader};
use rprof_profile::{Filter, NameList, Profile, StackFilter};
use rprof_symbols::{Demangling, Detail, Request};
use std::io::Write;
use trace::Traces;

/// What to print of which samples.
#[derive(Clone, Debug)]
pub struct ScriptOptions {
    /// Which samples.
    pub filter: Filter,
    /// Which parts of them.
    pub fields: FieldSelection,
    /// Call chains.
    pub chains: bool,
    /// Inlined functions as frames of their own.
    pub inlines: bool,
    /// Functions whose callers are left out.
    pub stop_at: Vec<String>,
    /// Names of functions that a stack has, wherever in it; those with `!` it has not. None at all are all.
    pub keep_stacks: NameList,
    /// Times with nanoseconds.
    pub nanoseconds: bool,
    /// What times are.
    pub times: Times,
    /// JSON, a line a sample, instead of text.
    pub json: bool,
    /// Which records are printed beside samples; in JSON, only switches.
    pub records: ShownRecords,
    /// Where to look for binaries.
    pub locator: Locator,
    /// How names of functions are to read.
    pub demangling: Demangling,
}

/// What is to be said of the samples that were printed.
#[derive(Clone, Debug, Default)]
pub struct Printed {
    /// How good the samples are, and what could not be used. It has no stacks.
    pub profile: Profile,
    /// There are samples, and the filter leaves none.
    pub none_match: bool,
}

/// Prints all samples; `progress` is told how far it is.
///
/// # Errors
/// [`Error`] if the recording cannot be read, or `out` not be written.
pub fn write_script(
    reader: &Reader,
    options: &ScriptOptions,
    progress: &mut Progress<'_>,
    out: &mut dyn Write,
) -> Result<Printed, Error> {
    let derived = options.filter.account.event().map(|(name, _)| name);
    let shown_attrs = reader.events().iter().map(|event| match derived {
        None => event.attr.clone(),
        Some(_) => as_clock(&event.attr),
    });
    let shown_attrs: Vec<PerfEventAttr> = shown_attrs.collect();
    let events = reader.events().iter().zip(&shown_attrs);
    let attrs = events.map(|(event, attr)| (event.name.raw(), attr, event.is_dummy()));
    let mut fields = options.fields.of_events(attrs, options.chains)?;
    if options.json {
        options.fields.check_json()?;
        for (fields, event) in fields.iter_mut().zip(&shown_attrs) {
            if !fields.is_empty() {
                let removed = options.fields.removed(event);
                *fields = json::default_of(*fields).minus(removed);
            }
        }
    }
    check_filter(reader, &options.filter)?;
    let clock = clock_of(reader);
    if clock.is_none() && fields.iter().any(|one| one.has(Field::Tod)) {
        return Err(FieldsError::NoWallTime.into());
    }
    let recording = Recording::open(reader, &options.locator, SampleOrder::Time)?;
    if fields.iter().any(|one| one.has(Field::Span)) {
        // Waits are cut where spans begin and end.
        if !find_spans(&recording)? {
            let option = "the field span";
            return Err(rprof_analysis::Error::NoSpans { option }.into());
        }
    }
    let frames = if options.chains || !options.keep_stacks.is_empty() {
        WantedFrames::All
    } else {
        WantedFrames::Innermost
    };
    let query = Query::of(&recording, &options.filter, frames, First::Both)?;
    let symbols = symbols_of(&query, options, &fields, progress)?;
    let (formats, bad_formats) = TracepointFormats::of(reader);
    let kernel =
        (!formats.is_empty() || options.records.text_pokes).then(|| Kernel::of(&recording));
    let layout = Layout {
        traces: Traces::new(&recording, &formats, kernel.as_ref()),
        query: &query,
        fields,
        symbols: symbols.as_ref(),
        nanoseconds: options.nanoseconds,
        times: options.times,
        json: options.json,
        inlines: options.inlines,
        stop_at: &options.stop_at,
        kept: symbols
            .as_ref()
            .and_then(|symbols| kept_of(symbols, options)),
        name_width: reader
            .events()
            .iter()
            .filter(|_| derived.is_none())
            .map(|event| event.name.shown().len())
            .chain(derived.map(str::len))
            .max()
            .unwrap_or(0),
        registers: reader
            .feature_text(FeatureId::ARCH)
            .and_then(|name| RegisterTable::of(&name)),
        clock,
    };
    if options.json {
        out.write_all(&json::header(reader)).map_err(Error::Write)?;
    }
    let mut counted = CountedWrite { out, n_bytes: 0 };
    let records = if options.json {
        options.records.of_json()
    } else {
        options.records
    };
    let pass = ScriptPass::new(&layout, records);
    let (samples, ends) = print(&pass, progress, &mut counted)?;
    let is_empty = counted.n_bytes == 0;
    drop(pass);
    let mut profile = samples.profile(&query, symbols, ends)?;
    let bad_formats = bad_formats.iter().map(ToString::to_string);
    profile.warnings.extend(bad_formats);
    let n_samples = recording.index.n_samples;
    if is_empty && n_samples == 0 {
        let none = "no samples in the recording".to_owned();
        profile.warnings.push(none);
    }
    Ok(Printed {
        profile,
        none_match: is_empty && n_samples > 0,
    })
}

/// Which stacks are printed; `None` for all.
fn kept_of(symbols: &Symbols, options: &ScriptOptions) -> Option<StackFilter> {
    let names = &options.keep_stacks;
    let filter = || StackFilter::new(names, &symbols.functions, &symbols.strings);
    (!names.is_empty()).then(filter)
}

/// The attr of an event from whose samples others are derived: they are shown as those of a clock are.
fn as_clock(attr: &PerfEventAttr) -> PerfEventAttr {
    let mut attr = attr.clone();
    (attr.kind, attr.config) = (event_type::SOFTWARE, sw::CPU_CLOCK);
    attr.sample_type = attr.sample_type.with(SampleType::PERIOD);
    attr
}

/// Symbols of all locations, if any are to be shown or filtered by.
fn symbols_of(
    query: &Query<'_>,
    options: &ScriptOptions,
    fields: &[FieldSet],
    progress: &mut Progress<'_>,
) -> Result<Option<Symbols>, Error> {
    let filters_functions = options.filter.has_functions();
    let shows = |field| fields.iter().any(|one| one.has(field));
    let shows_lines = shows(Field::Srcline);
    let shows_names = shows(Field::Sym) || shows(Field::Brstacksym) || shows_lines;
    let shows_names = shows_names || !options.stop_at.is_empty() || !options.keep_stacks.is_empty();
    if !shows_names && !filters_functions {
        return Ok(None);
    }
    let more = |decoded: &DecodedSample<'_>, visit: &mut dyn FnMut(OtherAddress)| {
        let fields = fields.get(decoded.recorded_event()).copied();
        let fields = fields.unwrap_or_default();
        for_each_named(query, fields, decoded, &mut |address| {
            visit(OtherAddress::At(address));
        });
    };
    let n_chunks = query.recording.n_chunks();
    let found = find_locations(query, more, &mut |done| {
        progress(progress_of(0.1, 0.4, done, n_chunks));
    })?;
    let request = Request {
        detail: match (shows_lines, options.inlines) {
            (true, _) => Detail::Lines,
            (false, true) => Detail::Inlines,
            (false, false) => Detail::Functions,
        },
        demangling: options.demangling,
        ..Request::default()
    };
    Ok(Some(query.symbolize(found.locations, request)?))
}

/// What time it was by the recording's clock, if the recording says so.
fn clock_of(reader: &Reader) -> Option<ClockData> {
    let section = reader.feature(FeatureId::CLOCK_DATA).ok()??;
    match Feature::parse(FeatureId::CLOCK_DATA, &section, reader.endian()) {
        Ok(Feature::ClockData(clock)) => Some(clock),
        _ => None,
    }
}

/// A writer that knows how much it was given.
struct CountedWrite<'a> {
    out: &'a mut dyn Write,
    n_bytes: u64,
}

impl Write for CountedWrite<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.n_bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

fn print(
    pass: &ScriptPass<'_>,
    progress: &mut Progress<'_>,
    out: &mut dyn Write,
) -> Result<(WrittenSamples, StackEndCounts), Error> {
    let layout = pass.layout;
    let mut clock = Clock::new(layout.times, layout.nanoseconds);
    let mut with_times = Vec::new();
    let mut written = Ok(());
    let n_samples = usize::try_from(layout.query.recording.index.n_samples).unwrap_or(usize::MAX);
    let mut n_done = 0;
    let result = run_ordered(layout.query, pass, &mut |text, n| {
        n_done += n;
        progress(progress_of(0.5, 0.5, n_done, n_samples));
        written = match layout.times {
            Times::Recorded => out.write_all(text),
            Times::SinceStart | Times::SincePrevious => {
                with_times.clear();
                clock.append(text, &mut with_times);
                out.write_all(&with_times)
            }
        };
        written.is_ok()
    });
    written.and_then(|()| out.flush()).map_err(Error::Write)?;
    let result = result?;
    let mut ends = StackEndCounts::default();
    for lines in result.locals {
        ends.merge(&lines.ends);
    }
    Ok((result.samples, ends))
}
