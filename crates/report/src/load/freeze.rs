//! What was counted, as a profile.

use super::count::Counts;
use super::names::Names;
use super::tasks::{TaskGroup, comm_text};
use super::{Context, about};
use crate::mend::mends;
use foldhash::HashMap;
use rprof_machine::RecordedImage;
use rprof_perfdata::RecordedEvent;
use rprof_profile::{EventProfile, Group, Profile, Strings, Tally, TallyParts, UnnamedImage};
use rprof_symbols::Reason;

/// Completes the profile with all that was counted.
pub(crate) fn freeze(context: &Context<'_>, names: &Names, counts: Counts, profile: &mut Profile) {
    profile.warnings.extend(counts.unused.warnings());
    profile.unwound = counts.ends.named(context);
    let unnamed = unnamed_images(context, names, &counts.unnamed);
    for (idx, tally) in counts.tallies.into_iter().enumerate() {
        add_event(context, idx, tally, profile);
    }
    add_unnamed(context, unnamed, profile);
}

fn add_event(context: &Context<'_>, idx: usize, tally: Tally<TaskGroup>, profile: &mut Profile) {
    let Some(event) = context.reader.events().get(idx) else {
        return;
    };
    let TallyParts {
        tree,
        groups,
        samples,
        weight,
    } = tally.into_parts();
    let loss = context.skimmed.losses.get(idx).copied().unwrap_or_default();
    if is_left_out(event, samples) {
        if loss.samples > 0 {
            profile.warnings.push(format!(
                "{} mappings or names were lost while recording: frames may lack names",
                loss.samples
            ));
        }
        return;
    }
    let history = &context.skimmed.history;
    let group = |strings: &mut Strings, group: TaskGroup| Group {
        comm: strings.intern(comm_text(history, group.name).raw()),
        pid: group.pid,
        tid: group.tid,
        cpu: group.cpu,
    };
    let groups = groups
        .into_iter()
        .map(|one| group(&mut profile.strings, one));
    profile.events.push(EventProfile {
        name: event.name.clone(),
        kind: about::kind_of(&event.attr),
        sampling: about::sampling_of(&event.attr),
        samples,
        weight,
        loss,
        groups: groups.collect(),
        tree,
    });
}

/// Whether an event is in no profile: it carries sideband only.
pub(crate) fn is_left_out(event: &RecordedEvent, samples: u64) -> bool {
    event.is_dummy() && samples == 0
}

/// An image without names, the reason, and the weight of its samples.
type Unnamed<'a> = (&'a RecordedImage, &'a Reason, u64);

/// Those that have samples, heaviest first.
fn unnamed_images<'a>(
    context: &'a Context<'_>,
    names: &'a Names,
    weights: &HashMap<u32, u64>,
) -> Vec<Unnamed<'a>> {
    let images = context.skimmed.history.images();
    let unnamed = names.unnamed.iter().filter_map(|(id, reason)| {
        let weight = weights.get(&id.0).copied().filter(|&weight| weight > 0)?;
        Some((images.of(*id)?, reason, weight))
    });
    let mut all: Vec<Unnamed<'a>> = unnamed.collect();
    all.sort_by(|a, b| b.2.cmp(&a.2).then_with(|| a.0.path.cmp(&b.0.path)));
    all
}

/// Puts them into the profile, with what is to be done about those that are to be listed.
fn add_unnamed(context: &Context<'_>, unnamed: Vec<Unnamed<'_>>, profile: &mut Profile) {
    let image = |&(image, reason, weight): &Unnamed<'_>| UnnamedImage {
        path: String::from_utf8_lossy(image.long_name()).into_owned(),
        weight,
        reason: reason.to_string(),
        mend: None,
    };
    profile.unnamed = unnamed.iter().map(image).collect();
    let n_listed = profile.listed_unnamed().images.len();
    let listed: Vec<_> = unnamed
        .iter()
        .take(n_listed)
        .map(|&(image, reason, _)| (image, reason))
        .collect();
    for (image, mend) in profile.unnamed.iter_mut().zip(mends(context, &listed)) {
        image.mend = mend;
    }
}
