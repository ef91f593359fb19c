//! A recording to a profile.

use super::account::{CriticalPath, WantedPath};
use super::alike_places::AlikePlaces;
use super::block_log::BlockLog;
use super::branches::count_branches;
use super::counts::Counts;
use super::dimensions::Grouping;
use super::finish::profile_of;
use super::flat::count_flat;
use super::group_by::GroupBy;
use super::light_rows::{self, count_light_rows};
use super::mode::SortMode;
use super::query::{Query, WantedFrames};
use super::stacks::{ROOM, StacksPass, count_by_function};
use crate::Error;
use crate::index::SampleOrder;
use crate::locations::distinct;
use crate::recording::Recording;
use crate::samples::{asked_span, check_filter, find_spans};
use crate::stacks::First;
use crate::symbolize::{KnownNames, Positions, Symbols};
use rprof_locate::Locator;
use rprof_perfdata::Reader;
use rprof_profile::{Account, Dimension, Filter, NodeKey, PathEnd, Profile, SelfTime, TimeSlices};
use rprof_symbols::{Demangling, Detail, Request};
use std::sync::Arc;

/// What to read, and how closely.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which samples.
    pub filter: Filter,
    /// Whole stacks, or only where samples were taken.
    pub stacks: bool,
    /// From which share of an event on callers are looked at, percent, where rows are those of groups alone. Long recordings
    /// are read without functions if each row is lighter.
    pub callers_from: Option<f64>,
    /// Inlined functions as frames of their own.
    pub inlines: bool,
    /// Which functions samples in inlined code are the self time of.
    pub self_time: SelfTime,
    /// Code without names by function, as FDEs (`.eh_frame`) have it; else by address, or in stacks by
    /// image.
    pub fde: bool,
    /// What samples are told apart by beside the names of threads.
    pub group_by: GroupBy,
    /// What is counted; branches have no stacks.
    pub mode: SortMode,
    /// Frames by their places in the source, too.
    pub positions: WantedPositions,
    /// By what nodes of call trees are one.
    pub nodes: NodeKey,
    /// How names of functions are to read.
    pub demangling: Demangling,
    /// Where to look for binaries.
    pub locator: Locator,
    /// Names that are known from recordings before, of the same machine and with the same options; they are added to.
    pub known_names: Option<Arc<KnownNames>>,
}

impl Options {
    /// Which frames of samples are read.
    pub(super) fn frames(&self) -> WantedFrames {
        if self.stacks && self.mode != SortMode::Branch {
            WantedFrames::All
        } else {
            WantedFrames::Innermost
        }
    }
}

/// How frames are told apart by their places in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct WantedPositions {
    /// Rows are, by line.
    pub in_rows: bool,
    /// Files have their whole paths; else their names.
    pub full_paths: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            filter: Filter::default(),
            stacks: true,
            callers_from: None,
            inlines: true,
            self_time: SelfTime::default(),
            fde: true,
            group_by: GroupBy::default(),
            mode: SortMode::default(),
            positions: WantedPositions::default(),
            nodes: NodeKey::default(),
            demangling: Demangling::default(),
            locator: Locator::default(),
            known_names: None,
        }
    }
}

/// How far reading is, from 0 to 1.
pub type Progress<'a> = dyn FnMut(f64) + 'a;

/// How far a pass over some things is that takes `part` of the time, after `before`.
#[expect(clippy::cast_precision_loss, reason = "for a progress bar")]
pub fn progress_of(before: f64, part: f64, done: usize, all: usize) -> f64 {
    before + part * (done as f64 / all.max(1) as f64).min(1.0)
}

/// Reads, symbolizes and counts a recording; `progress` is told how far it is.
///
/// # Errors
/// [`Error`] if it cannot be read at all; what is damaged in it becomes a warning.
pub fn load(
    reader: &Reader,
    options: &Options,
    progress: &mut Progress<'_>,
) -> Result<Profile, Error> {
    check_filter(reader, &options.filter)?;
    let order = if options.group_by.dimensions.contains(&Dimension::Time) {
        SampleOrder::AnyWithTimes
    } else {
        SampleOrder::Any
    };
    let recording = Recording::open(reader, &options.locator, order)?;
    load_with_path(&recording, options, None, progress).map(|(profile, _)| profile)
}

/// The same with the time that is on a critical path told apart ([`Dimension::Critical`]), and that path: from the first
/// of some times to the last one, if any are given.
///
/// # Errors
/// As [`load`]; [`Error`] if there is no such path.
pub fn load_critical(
    reader: &Reader,
    options: &Options,
    end: &PathEnd,
    times: Option<&TimeSlices>,
) -> Result<(Profile, CriticalPath), Error> {
    check_filter(reader, &options.filter)?;
    let recording = Recording::open(reader, &options.locator, SampleOrder::Any)?;
    let within = match times {
        Some(times) => asked_span(&recording, times)?,
        None => None,
    };
    let wanted = WantedPath {
        end,
        within,
        keeps_rest: true,
    };
    let (profile, path) = load_with_path(&recording, options, Some(wanted), &mut |_| {})?;
    Ok((profile, path.ok_or(Error::NoSwitches)?))
}

fn load_with_path(
    recording: &Recording<'_>,
    options: &Options,
    wanted: Option<WantedPath<'_>>,
    progress: &mut Progress<'_>,
) -> Result<(Profile, Option<CriticalPath>), Error> {
    let frames = options.frames();
    let (mut query, request) = query_with_path(recording, options, frames, wanted)?;
    let path = query.path.take();
    let grouping = Grouping::of(recording, &options.group_by)?.with_sizes_of_frames(&query);
    let light = match options.callers_from {
        Some(percent) if recording.index.n_samples >= light_rows::MANY => {
            count_light_rows(&query, &grouping, request, percent, progress)?
        }
        _ => None,
    };
    let (mut symbols, counts) = match (light, frames) {
        (Some(counted), _) => counted,
        (None, WantedFrames::Innermost) => count_places(&query, &grouping, request, progress)?,
        (None, WantedFrames::All) => count_stacks(&query, &grouping, request, ROOM, progress)?,
    };
    let profile = profile_of(&query, &grouping, &mut symbols, counts);
    Ok((profile, path))
}

/// What options ask of a recording, and of its symbols.
pub(super) fn query_of<'a>(
    recording: &'a Recording<'a>,
    options: &'a Options,
    frames: WantedFrames,
) -> Result<(Query<'a>, Request), Error> {
    query_with_path(recording, options, frames, None)
}

fn query_with_path<'a>(
    recording: &'a Recording<'a>,
    options: &'a Options,
    frames: WantedFrames,
    wanted: Option<WantedPath<'_>>,
) -> Result<(Query<'a>, Request), Error> {
    if options.filter.account == Account::OnCpu {
        let dimensions = &options.group_by.dimensions;
        if let Some(one) = dimensions.iter().find(|one| one.is_of_account()) {
            return Err(Error::KeyOfAccount { key: one.name() });
        }
    }
    if options.group_by.dimensions.contains(&Dimension::Span) && !find_spans(recording)? {
        return Err(Error::NoSpans {
            option: "the sort key span",
        });
    }
    let nodes = match frames {
        WantedFrames::All => options.nodes,
        WantedFrames::Innermost => NodeKey::Function,
    };
    // Branches lead to symbols, as processors record them.
    let are_seen = frames == WantedFrames::All || options.self_time == SelfTime::Innermost;
    let inlines = options.inlines && options.mode != SortMode::Branch && are_seen;
    let filter = &options.filter;
    let of_filter = filter.critical.as_ref().map(|end| WantedPath {
        end,
        within: None,
        keeps_rest: false,
    });
    let is_told_apart = options.group_by.dimensions.contains(&Dimension::Critical);
    let of_command = is_told_apart.then_some(WantedPath {
        end: &PathEnd::Command,
        within: None,
        keeps_rest: true,
    });
    let wanted = wanted.or(of_filter).or(of_command);
    let has_locks = options.group_by.dimensions.contains(&Dimension::Lock);
    let wanted = (wanted, has_locks);
    let mut query = Query::with_path(recording, filter, (frames, First::Own), wanted)?;
    let WantedPositions {
        in_rows,
        full_paths,
    } = options.positions;
    query.positions = (in_rows || nodes != NodeKey::Function).then_some(Positions {
        in_rows,
        nodes,
        full_paths,
        inlines,
    });
    query.demangling = options.demangling;
    query.mode = options.mode;
    query.self_time = options.self_time;
    let request = Request {
        demangling: options.demangling,
        fde: options.fde,
        detail: match (query.positions, inlines) {
            (Some(_), _) => Detail::Lines,
            (None, true) => Detail::Inlines,
            (None, false) => Detail::Functions,
        },
        ..Request::default()
    };
    Ok((query, request))
}

/// Counts samples by where each was taken, or branches by where each led to, and names these places.
fn count_places(
    query: &Query<'_>,
    grouping: &Grouping<'_>,
    request: Request,
    progress: &mut Progress<'_>,
) -> Result<(Symbols, Counts), Error> {
    let n_chunks = query.recording.index.chunks.len();
    let mut done = |done| progress(progress_of(0.1, 0.4, done, n_chunks));
    let counts = match query.mode {
        SortMode::Branch => count_branches(query, grouping, &mut done)?,
        SortMode::Normal | SortMode::Memory => count_flat(query, grouping, &mut done)?,
    };
    let mut locations = counts.locations();
    locations.extend(grouping.places());
    let symbols = query.symbolize(distinct(locations.iter()), request)?;
    let counts = counts.by_function(query, grouping, &symbols);
    Ok((symbols, counts))
}

/// Names and counts stacks; those that have no room (bytes) are read again.
pub(super) fn count_stacks(
    query: &Query<'_>,
    grouping: &Grouping<'_>,
    request: Request,
    room: usize,
    progress: &mut Progress<'_>,
) -> Result<(Symbols, Counts), Error> {
    let pass: StacksPass<'_, BlockLog> = StacksPass::new(query, grouping, room);
    let n_chunks = query.recording.index.chunks.len();
    let mut first = |done| progress(progress_of(0.1, 0.4, done, n_chunks));
    let mut found = pass.find(&mut first)?;
    let places = grouping.places().into_iter();
    let mut locations = found.locations();
    locations.extend(places.map(|place| query.stacks.chains.counted(place)));
    let symbols = query.symbolize(distinct(locations.iter()), request)?;
    let alike = AlikePlaces::of(grouping, &symbols);
    let mut counts: Option<Counts> = None;
    let ignored = std::mem::take(&mut found.ignored);
    let mut second = |done, left| progress(progress_of(0.6, 0.4, done, left));
    pass.count_all(found, &mut second, |threads| {
        let mut counted = count_by_function(query, (&symbols, &alike), &threads)?;
        match &mut counts {
            None => counts = Some(counted),
            Some(counts) => {
                counted.count_logged();
                counts.merge(counted);
            }
        }
        Ok(())
    })?;
    let mut counts = counts.unwrap_or_default();
    counts.ignored = ignored;
    Ok((symbols, counts))
}
