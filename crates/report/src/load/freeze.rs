//! What was counted, as a profile.

use super::Context;
use super::count::Counts;
use super::names::Names;
use super::tasks::{TaskGroup, comm_text};
use rprof_profile::{EventProfile, Group, Profile, Strings, Tally, UnnamedImage};
use rustc_hash::FxHashMap;

/// Completes the profile with all that was counted.
pub(crate) fn freeze(context: &Context<'_>, names: &Names, counts: Counts, profile: &mut Profile) {
    profile.warnings.extend(counts.unused.warnings());
    profile.unwound = counts.ends.named(context);
    profile.unnamed = unnamed_images(context, names, &counts.unnamed);
    for (idx, tally) in counts.tallies.into_iter().enumerate() {
        add_event(context, idx, tally, profile);
    }
}

fn add_event(context: &Context<'_>, idx: usize, tally: Tally<TaskGroup>, profile: &mut Profile) {
    let Some(event) = context.reader.events().get(idx) else {
        return;
    };
    let (tree, groups, samples, weight) = tally.into_parts();
    let loss = context.skimmed.losses.get(idx).copied().unwrap_or_default();
    if event.is_dummy() && samples == 0 {
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
        comm: strings.intern(&comm_text(history, group.name)),
        pid: group.pid,
        tid: group.tid,
        cpu: group.cpu,
    };
    let groups = groups
        .into_iter()
        .map(|one| group(&mut profile.strings, one));
    profile.events.push(EventProfile {
        name: event.name.clone(),
        samples,
        weight,
        loss,
        groups: groups.collect(),
        tree,
    });
}

fn unnamed_images(
    context: &Context<'_>,
    names: &Names,
    weights: &FxHashMap<u32, u64>,
) -> Vec<UnnamedImage> {
    let images = context.skimmed.history.images();
    let mut all: Vec<UnnamedImage> = names
        .unnamed
        .iter()
        .filter_map(|(id, reason)| {
            Some(UnnamedImage {
                path: String::from_utf8_lossy(&images.of(*id)?.path).into_owned(),
                weight: weights.get(&id.0).copied().filter(|&weight| weight > 0)?,
                reason: reason.to_string(),
            })
        })
        .collect();
    all.sort_by(|a, b| b.weight.cmp(&a.weight).then_with(|| a.path.cmp(&b.path)));
    all
}
