//! What profiles say of themselves beside their samples, added up.

use super::moved;
use crate::{Gap, Gaps, Profile, StrId, UnnamedImage, Unwound};
use foldhash::HashSet;

/// What of the parts has been added up so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct JoinedFacts {
    /// Those of the profile.
    images: HashSet<(StrId, Option<String>)>,
    n_parts: usize,
}

impl JoinedFacts {
    /// Adds what a part says beside its samples.
    pub(crate) fn add(&mut self, profile: &mut Profile, part: &Profile) {
        if self.n_parts == 0 {
            profile.about = part.about.clone();
            profile.self_time = part.self_time;
        } else {
            profile.about = std::mem::take(&mut profile.about).shared_with(&part.about);
        }
        for (name, build_id) in &part.images {
            let image = (moved(&mut profile.strings, part, *name), build_id.clone());
            if self.images.insert(image.clone()) {
                profile.images.push(image);
            }
        }
        profile.unnamed = unnamed_of(profile.unnamed.iter().chain(&part.unnamed));
        let checked = profile.checked.unwrap_or_default();
        profile.checked = Some(checked.with(part.checked_names()));
        profile.has_names &= part.has_names;
        let ends = std::mem::take(&mut profile.unwound.ends);
        profile.unwound = Unwound::of(ends.into_iter().chain(part.unwound.ends.iter().cloned()));
        profile.gaps = gaps_of([&profile.gaps, &part.gaps].into_iter());
        for spans in &part.spans {
            let mut known = profile.spans.iter_mut();
            match known.find(|known| known.name.raw() == spans.name.raw()) {
                Some(known) => known.add(spans),
                None => profile.spans.push(spans.clone()),
            }
        }
        for (kind, n) in &part.records {
            match profile.records.iter_mut().find(|(known, _)| known == kind) {
                Some((_, all)) => *all += n,
                None => profile.records.push((kind.clone(), *n)),
            }
        }
        for warning in &part.warnings {
            if !profile.warnings.contains(warning) {
                profile.warnings.push(warning.clone());
            }
        }
        self.n_parts += 1;
    }

    /// How many parts there are.
    pub(crate) fn n_parts(&self) -> usize {
        self.n_parts
    }
}

/// Images without names, each once, the heaviest first.
pub(crate) fn unnamed_of<'p>(images: impl Iterator<Item = &'p UnnamedImage>) -> Vec<UnnamedImage> {
    let mut all: Vec<UnnamedImage> = images.cloned().collect();
    all.sort_by(|a, b| (&a.path, &a.reason).cmp(&(&b.path, &b.reason)));
    all.dedup_by(|next, one| {
        let is_same = (&one.path, &one.reason) == (&next.path, &next.reason);
        if is_same {
            one.weight = one.weight.saturating_add(next.weight);
            one.hint = one.hint.take().or(next.hint.take());
        }
        is_same
    });
    all.sort_by_key(|image| std::cmp::Reverse(image.weight));
    all
}

/// Gaps of all, each CPU, thread and second once.
pub(crate) fn gaps_of<'p>(gaps: impl Iterator<Item = &'p Gaps>) -> Gaps {
    let mut all = Gaps::default();
    for gaps in gaps {
        all.cpus.extend_from_slice(&gaps.cpus);
        all.threads.extend_from_slice(&gaps.threads);
        all.seconds.extend_from_slice(&gaps.seconds);
    }
    merge(&mut all.cpus);
    merge(&mut all.threads);
    merge(&mut all.seconds);
    let worst_first = |gap: &Gap| std::cmp::Reverse(gap.severity());
    all.threads.sort_by_key(|(_, gap)| worst_first(gap));
    all.seconds.sort_by_key(|(_, gap)| worst_first(gap));
    all
}

/// Adds up what has one key, and sorts by it.
fn merge<K: Ord + Copy>(gaps: &mut Vec<(K, Gap)>) {
    gaps.sort_by_key(|&(key, _)| key);
    gaps.dedup_by(|next, one| {
        let is_same = one.0 == next.0;
        if is_same {
            one.1.add(next.1);
        }
        is_same
    });
}
