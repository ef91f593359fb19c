//! What profiles say of themselves beside their samples, added up.

use crate::{Gap, Gaps, UnnamedImage};

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
