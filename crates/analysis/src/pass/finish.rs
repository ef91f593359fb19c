//! What was counted, as a profile.

use super::counts::{Counts, UnnamedWeights};
use super::dimensions::Grouping;
use super::group_key::GroupKey;
use super::places::Naming;
use super::query::Query;
use super::used_images::used_images;
use crate::about;
use crate::event_groups::event_groups;
use crate::hints::hints;
use crate::index::{RecordingIndex, UNKNOWN_KIND};
use crate::recording::Recording;
use crate::spans::Spans;
use crate::symbolize::Symbols;
use rprof_abi::RecordKind;
use rprof_base::Counted;
use rprof_machine::{ImageId, RecordedImage};
use rprof_perfdata::{RecordedEvent, kind_name};
use rprof_profile::{
    About, CheckedNames, EventProfile, Loss, Profile, Sampling, Tally, TimeSlots, UnnamedImage,
};
use rprof_symbols::Reason;

/// Makes a profile of all that was counted; names and functions move into it.
pub(super) fn profile_of(
    query: &Query<'_>,
    grouping: &Grouping<'_>,
    symbols: &mut Symbols,
    counts: Counts,
) -> Profile {
    let recording = query.recording;
    let unnamed = unnamed_images(recording, &symbols.unnamed, &counts.unnamed);
    let all = counts.tallies.iter().map(Tally::weight);
    let all = all.fold(0, u64::saturating_add);
    let checked = CheckedNames {
        // Samples without an address are not looked up, but no filter leaves them out.
        shown: if query.samples.filter.accepts_all() {
            all
        } else {
            counts.unnamed.shown()
        },
        all,
        are_stacks_left_out: false,
    };
    let mut profile = Profile {
        about: About {
            is_live: recording.known_names.is_some(),
            ..about::about(recording.reader)
        },
        strings: std::mem::take(&mut symbols.strings),
        frames: std::mem::take(&mut symbols.functions),
        self_time: query.self_time,
        checked: Some(checked),
        unwound: counts.ends.named(&recording.index.history),
        gaps: recording.index.gaps.clone(),
        spans: recording.spans().map(Spans::times).unwrap_or_default(),
        time_slots: time_slots(query, grouping),
        records: records(&recording.index),
        warnings: std::mem::take(&mut symbols.warnings),
        ..Profile::default()
    };
    profile.warnings.extend(counts.ignored.warnings());
    profile.warnings.extend(grouping.warnings());
    profile.warnings.extend(query.samples.source.warnings());
    profile
        .warnings
        .extend_from_slice(query.samples.speed_warnings());
    let numbers = add_events(query, grouping, symbols, counts.tallies, &mut profile);
    profile.images = used_images(recording, &profile.frames, &profile.strings);
    profile.event_groups = event_groups(recording.reader, &numbers);
    add_unnamed(recording, unnamed, &mut profile);
    profile.warnings.extend(recording.warnings());
    profile
}

/// The slots that samples are told apart by; `None` if they are not, and if they stand for times that reach into other
/// slots, or switches leave times out.
fn time_slots(query: &Query<'_>, grouping: &Grouping<'_>) -> Option<TimeSlots> {
    let samples = &query.samples;
    let is_whole = !samples.source.is_derived() && samples.filter.switches.is_empty();
    let quantum_ns = grouping.time_quantum_ns().filter(|_| is_whole)?;
    Some(TimeSlots::new(quantum_ns, samples.asked_times()))
}

/// How many records there are of each kind, in the order of their numbers.
fn records(index: &RecordingIndex) -> Vec<(String, u64)> {
    let mut kinds = index.other_kinds.clone();
    if index.n_samples > 0 {
        kinds.insert(RecordKind::SAMPLE, index.n_samples);
    }
    let name = |kind| match kind {
        UNKNOWN_KIND => "UNKNOWN".to_owned(),
        kind => kind_name(kind),
    };
    let kinds = kinds.into_iter();
    kinds.map(|(kind, n)| (name(kind), n)).collect()
}

/// Adds all events with their stacks. Returns the numbers that the recording's events have in the profile, where they
/// are in it.
fn add_events(
    query: &Query<'_>,
    grouping: &Grouping<'_>,
    symbols: &Symbols,
    tallies: Vec<Tally<GroupKey>>,
    profile: &mut Profile,
) -> Vec<Option<usize>> {
    let recording = query.recording;
    let mut numbers = Vec::with_capacity(tallies.len());
    let events = recording.reader.events().iter().zip(tallies);
    for (idx, (event, tally)) in events.enumerate() {
        let loss = loss_of(query, idx);
        if is_left_out(query, idx, tally.samples()) || is_edge(query, idx) {
            profile.warnings.extend(lost_sideband(query, idx, loss));
            numbers.push(None);
            continue;
        }
        numbers.push(Some(profile.events.len()));
        let tally = tally.into_parts();
        let mut naming = Naming {
            recording,
            symbols,
            frames: &profile.frames,
            strings: &mut profile.strings,
            demangling: query.demangling,
        };
        let groups = tally.groups.into_iter();
        let groups = groups.map(|key| key.in_profile(grouping, &mut naming, &mut profile.values));
        let groups = groups.collect();
        let (name, kind) = query.samples.source.event(idx).unwrap_or_default();
        profile.events.push(EventProfile {
            name,
            kind,
            sampling: sampling_of(query, event, &profile.about),
            samples: tally.samples,
            weight: tally.weight,
            loss,
            groups,
            tree: tally.tree,
        });
    }
    numbers
}

/// What was lost of an event: derived samples may lack what was lost of any.
pub(super) fn loss_of(query: &Query<'_>, event: usize) -> Loss {
    let losses = &query.recording.index.losses;
    if !query.samples.source.is_derived() {
        return losses.get(event).copied().unwrap_or_default();
    }
    Loss {
        samples: losses.iter().map(|loss| loss.samples).sum(),
        at_least: losses.iter().any(|loss| loss.at_least),
    }
}

/// When samples of an event are taken.
pub(super) fn sampling_of(query: &Query<'_>, event: &RecordedEvent, about: &About) -> Sampling {
    if query.samples.source.is_derived() {
        Sampling::Mixed
    } else {
        about::sampling_of(&event.attr, about)
    }
}

/// What to say of losses of an event that is left out: it carries sideband only.
pub(super) fn lost_sideband(query: &Query<'_>, event: usize, loss: Loss) -> Option<String> {
    let lost = Counted::new(
        loss.samples,
        "mapping or name was",
        "mappings or names were",
    );
    let text = || format!("{lost} lost while recording: frames may lack names");
    // Lost edges are said where spans are.
    if is_edge(query, event) || query.samples.source.leaves_out(event) {
        return None;
    }
    (loss.samples > 0 && !query.samples.source.is_derived()).then(text)
}

/// Whether an event is in no profile: it carries sideband only, or others count.
pub(super) fn is_left_out(query: &Query<'_>, event: usize, samples: u64) -> bool {
    let source = &query.samples.source;
    let events = query.recording.reader.events();
    let is_dummy = || events.get(event).is_some_and(RecordedEvent::is_dummy);
    source.leaves_out(event) || !source.is_derived() && samples == 0 && is_dummy()
}

/// Whether an event is in no profile, since it begins or ends spans: it says nothing of where time goes.
fn is_edge(query: &Query<'_>, event: usize) -> bool {
    !query.samples.source.is_derived() && query.recording.is_edge(event)
}

/// Numbers of the recording's events in the profile: those that are left out have none.
pub(super) fn event_numbers(query: &Query<'_>, counts: &Counts) -> Vec<Option<u32>> {
    let mut next = 0;
    let mut number = |is_in: bool| {
        let number = is_in.then_some(next);
        next += u32::from(is_in);
        number
    };
    let events = query.recording.reader.events().iter().zip(&counts.tallies);
    (0..)
        .zip(events)
        .map(|(event, (_, tally))| {
            number(!is_left_out(query, event, tally.samples()) && !is_edge(query, event))
        })
        .collect()
}

/// An image without names, the reason, and the weight of its samples.
type Unnamed<'a> = (&'a RecordedImage, Reason, u64);

/// Those that have samples, heaviest first.
fn unnamed_images<'a>(
    recording: &'a Recording<'_>,
    unnamed: &[(ImageId, Reason)],
    weights: &UnnamedWeights,
) -> Vec<Unnamed<'a>> {
    let images = recording.index.history.images();
    let unnamed = unnamed.iter().filter_map(|(id, reason)| {
        let weight = Some(weights.of(*id)).filter(|&weight| weight > 0)?;
        Some((images.of(*id)?, reason.clone(), weight))
    });
    let mut all: Vec<Unnamed<'a>> = unnamed.collect();
    all.sort_by(|a, b| b.2.cmp(&a.2).then_with(|| a.0.path.cmp(&b.0.path)));
    all
}

/// Puts them into the profile, with what is to be done about those that are to be listed.
fn add_unnamed(recording: &Recording<'_>, unnamed: Vec<Unnamed<'_>>, profile: &mut Profile) {
    let image = |(image, reason, weight): &Unnamed<'_>| UnnamedImage {
        path: String::from_utf8_lossy(image.long_name()).into_owned(),
        weight: *weight,
        reason: reason.to_string(),
        hint: None,
    };
    profile.unnamed = unnamed.iter().map(image).collect();
    let n_listed = profile.listed_unnamed().images.len();
    let listed: Vec<_> = unnamed
        .iter()
        .take(n_listed)
        .map(|(image, reason, _)| (*image, reason))
        .collect();
    let hints = match &recording.known_names {
        Some(known) => known.hints(&listed, |listed| hints(recording, listed)),
        None => hints(recording, &listed),
    };
    for (image, hint) in profile.unnamed.iter_mut().zip(hints) {
        image.hint = hint;
    }
}
