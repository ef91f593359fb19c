//! The last samples of a recording that goes on: parts of it are appended, and the oldest fall out.

use crate::joined::{SampleRows, gaps_of, unnamed_of};
use crate::{CheckedNames, Gaps, Loss, Profile, SampledProfile, UnnamedImage, Unwound};
use rprof_untrusted::Untrusted;
use std::collections::VecDeque;

/// The last parts of a recording as one profile.
///
/// What it holds follows what is in it, not what was: names and stacks that no sample has any more go now and then.
#[derive(Clone, Debug)]
pub struct SampleWindow {
    joined: SampleRows,
    parts: VecDeque<Part>,
    most_parts: usize,
    most_samples: usize,
    /// Names, stacks and threads that there were after they were last looked through.
    n_entries: usize,
    left_out: u64,
}

/// What is to be said of a part, beside its samples.
#[derive(Clone, Debug)]
struct Part {
    n_samples: usize,
    losses: Vec<(Untrusted<String>, Loss)>,
    unwound: Unwound,
    unnamed: Vec<UnnamedImage>,
    checked: CheckedNames,
    gaps: Gaps,
    own_samples: u64,
    others_samples: u64,
}

impl SampleWindow {
    /// Fewer names, stacks and threads are not looked through.
    const FEW_ENTRIES: usize = 8192;

    /// Of images without names, as many are told apart in what is never to fall out, and so it is with gaps: the
    /// worst.
    const MOST_TOLD_APART: usize = 1024;

    /// Holds this many parts, and no more samples than that; `usize::MAX` if none is to fall out.
    pub fn new(most_parts: usize, most_samples: usize) -> Self {
        Self {
            joined: SampleRows::default(),
            parts: VecDeque::new(),
            most_parts: most_parts.max(1),
            most_samples,
            n_entries: 0,
            left_out: 0,
        }
    }

    /// What is in it.
    pub fn sampled(&self) -> &SampledProfile {
        &self.joined.sampled
    }

    /// Samples of its parts that it has no room for: the oldest.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Appends a part; the oldest falls out if there are too many.
    pub fn append(&mut self, part: &SampledProfile) {
        self.joined.add(part);
        let new = Part::of(part);
        match self.parts.back_mut() {
            Some(all) if self.most_parts == usize::MAX => all.add(new),
            _ => self.parts.push_back(new),
        }
        while self.parts.len() > self.most_parts {
            if let Some(oldest) = self.parts.pop_front() {
                // Some of them may have had no room.
                let left_out = self.left_out.min(oldest.n_samples as u64);
                self.left_out -= left_out;
                let n_samples = oldest.n_samples as u64 - left_out;
                self.joined
                    .drop_first(usize::try_from(n_samples).unwrap_or(usize::MAX));
            }
        }
        let n_samples = self.joined.sampled.samples.len();
        let too_many = n_samples.saturating_sub(self.most_samples);
        self.left_out += self.joined.drop_first(too_many) as u64;
        self.forget_unused();
        self.sum_up(&part.profile);
    }

    /// Forgets names and stacks that no sample has, if there may be many.
    fn forget_unused(&mut self) {
        if self.joined.n_entries() < 2 * self.n_entries.max(Self::FEW_ENTRIES) {
            return;
        }
        let mut used = SampleRows::default();
        used.add(&self.joined.sampled);
        self.n_entries = used.n_entries();
        self.joined = used;
    }

    /// Says of the whole what its parts say.
    fn sum_up(&mut self, last: &Profile) {
        let sampled = &mut self.joined.sampled;
        let first_ns = sampled.samples.span_ns().map(|span| *span.start());
        let is_in = |time_ns: u64| first_ns.is_none_or(|first_ns| time_ns >= first_ns);
        sampled.losses.retain(|loss| is_in(loss.time_ns));
        let profile = &mut sampled.profile;
        let parts = &self.parts;
        let sum = |of: fn(&Part) -> u64| parts.iter().map(of).fold(0, u64::saturating_add);
        profile.about = last.about.clone();
        profile.about.own_samples = sum(|part| part.own_samples);
        profile.about.others_samples = sum(|part| part.others_samples);
        profile.warnings.clone_from(&last.warnings);
        for event in &mut profile.events {
            let losses = parts.iter().flat_map(|part| &part.losses);
            let own = losses.filter(|(name, _)| name.raw() == event.name.raw());
            event.loss = own.fold(Loss::default(), |all, (_, loss)| all + *loss);
        }
        let ends = parts.iter().flat_map(|part| &part.unwound.ends).cloned();
        profile.unwound = Unwound::of(ends);
        profile.unnamed = unnamed_of(parts.iter().flat_map(|part| &part.unnamed));
        let checked = parts.iter().map(|part| part.checked);
        profile.checked = Some(checked.fold(CheckedNames::default(), CheckedNames::with));
        profile.gaps = gaps_of(parts.iter().map(|part| &part.gaps));
    }
}

impl Part {
    fn of(part: &SampledProfile) -> Self {
        let SampledProfile {
            profile, samples, ..
        } = part;
        let losses = profile.events.iter();
        Self {
            n_samples: samples.len(),
            losses: losses.map(|one| (one.name.clone(), one.loss)).collect(),
            unwound: profile.unwound.clone(),
            unnamed: profile.unnamed.clone(),
            checked: profile.checked_names(),
            gaps: profile.gaps.clone(),
            own_samples: profile.about.own_samples,
            others_samples: profile.about.others_samples,
        }
    }

    /// Adds what is to be said of the next one: one part for all that never fall out.
    fn add(&mut self, next: Self) {
        self.n_samples += next.n_samples;
        for (name, loss) in next.losses {
            let own = self.losses.iter_mut();
            match own.into_iter().find(|(own, _)| *own == name) {
                Some((_, own)) => *own = *own + loss,
                None => self.losses.push((name, loss)),
            }
        }
        let ends = std::mem::take(&mut self.unwound.ends);
        self.unwound = Unwound::of(ends.into_iter().chain(next.unwound.ends));
        forget_images(&mut self.unwound);
        self.unnamed = unnamed_of(self.unnamed.iter().chain(&next.unnamed));
        self.unnamed.truncate(SampleWindow::MOST_TOLD_APART);
        self.checked = self.checked.with(next.checked);
        self.gaps = gaps_of([&self.gaps, &next.gaps].into_iter());
        self.gaps.threads.truncate(SampleWindow::MOST_TOLD_APART);
        self.gaps.seconds.truncate(SampleWindow::MOST_TOLD_APART);
        self.own_samples = self.own_samples.saturating_add(next.own_samples);
        self.others_samples = self.others_samples.saturating_add(next.others_samples);
    }
}

/// Stacks that ended in images beyond some are of no image.
fn forget_images(unwound: &mut Unwound) {
    if unwound.ends.len() <= SampleWindow::MOST_TOLD_APART {
        return;
    }
    let mut ends = std::mem::take(&mut unwound.ends);
    ends.sort_by_key(|ended| std::cmp::Reverse(ended.samples));
    for ended in ends.iter_mut().skip(SampleWindow::MOST_TOLD_APART / 2) {
        ended.image = None;
    }
    *unwound = Unwound::of(ends.into_iter());
}

#[cfg(test)]
mod tests;
