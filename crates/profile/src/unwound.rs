//! How those stacks ended that were unwound from stack dumps.

use crate::{About, EventKind};
use rprof_base::Share;
use rprof_base::StackEnd;

/// Stacks that ended in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedStacks {
    /// Why.
    pub end: StackEnd,
    /// The short name of the image that the outermost frame is in; of complete stacks none.
    pub image: Option<String>,
    /// How many.
    pub samples: u64,
}

/// How all stacks ended that were unwound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unwound {
    /// Sorted by end, then the most first.
    pub ends: Vec<EndedStacks>,
}

/// Images that one line has room for.
const MAX_IMAGES: usize = 3;

impl Unwound {
    /// Adds up stacks that ended in the same way, and sorts.
    pub fn of(ends: impl Iterator<Item = EndedStacks>) -> Self {
        let mut all: Vec<EndedStacks> = ends.collect();
        all.sort_by(|a, b| (a.end, &a.image).cmp(&(b.end, &b.image)));
        all.dedup_by(|next, one| {
            let is_same = (one.end, &one.image) == (next.end, &next.image);
            one.samples += if is_same { next.samples } else { 0 };
            is_same
        });
        all.sort_by(|a, b| a.end.cmp(&b.end).then(b.samples.cmp(&a.samples)));
        Self { ends: all }
    }

    /// Stacks that there were registers of: percentages are of these.
    pub fn samples(&self) -> u64 {
        self.sum(|end| end != StackEnd::NoRegisters)
    }

    /// Which waits have no user stack, in milliseconds ([`About::off_cpu`]), where that is why many stacks lack callers;
    /// `events` are what is counted.
    pub fn short_waits_ms<'a>(
        &self,
        about: &'a About,
        mut events: impl Iterator<Item = EventKind>,
    ) -> Option<&'a str> {
        /// Percent of stacks without some callers that need a reason.
        const MANY: f64 = 1.0;
        let has_waits =
            events.any(|kind| matches!(kind, EventKind::OffCpuTime | EventKind::WallTime));
        let holes = Share::of(self.ended(StackEnd::Hole), self.samples());
        let ms = about.off_cpu()?;
        (has_waits && holes.percent() >= MANY && ms.parse() != Ok(0.0)).then_some(ms)
    }

    /// Stacks that ended so.
    pub fn ended(&self, how: StackEnd) -> u64 {
        self.sum(|end| end == how)
    }

    /// One line; `None` if nothing was unwound.
    pub fn summary(&self) -> Option<String> {
        let all = self.samples();
        if all == 0 {
            return None;
        }
        let share = |samples| format!("{:.1} %", Share::of(samples, all));
        let complete = self.ended(StackEnd::Complete);
        let truncated = self.ended(StackEnd::Truncated);
        let guessed = self.sum(StackEnd::is_guess);
        let lacking = self.sum(StackEnd::lacks_info);
        let mut line = format!("{} complete", share(complete));
        if guessed > 0 {
            let images = self.images(StackEnd::is_guess, share);
            line += &format!(", {} by frame pointers alone ({images})", share(guessed));
        }
        if truncated > 0 {
            line += &format!(", {} truncated", share(truncated));
        }
        if lacking > 0 {
            let images = self.images(StackEnd::lacks_info, share);
            line += &format!(", {} without unwind info ({images})", share(lacking));
        }
        let holes = self.ended(StackEnd::Hole);
        if holes > 0 {
            line += &format!(", {} with callers missing", share(holes));
        }
        let others = all - complete - guessed - truncated - lacking - holes;
        if others > 0 {
            line += &format!(", {} incomplete", share(others));
        }
        Some(line)
    }

    /// The images to blame for some ends, the most first, each with its share.
    fn images(&self, is_meant: impl Fn(StackEnd) -> bool, share: impl Fn(u64) -> String) -> String {
        let mut images: Vec<(&str, u64)> = Vec::new();
        for one in self.ends.iter().filter(|one| is_meant(one.end)) {
            let name = one.image.as_deref().unwrap_or("[unknown]");
            match images.iter_mut().find(|(known, _)| *known == name) {
                Some((_, samples)) => *samples += one.samples,
                None => images.push((name, one.samples)),
            }
        }
        images.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let rest = if images.len() > MAX_IMAGES {
            ", ..."
        } else {
            ""
        };
        let images = images.iter().take(MAX_IMAGES);
        let images: Vec<String> = images
            .map(|&(name, samples)| format!("{name} {}", share(samples)))
            .collect();
        images.join(", ") + rest
    }

    fn sum(&self, is_meant: impl Fn(StackEnd) -> bool) -> u64 {
        let meant = self.ends.iter().filter(|one| is_meant(one.end));
        meant.map(|one| one.samples).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(end: StackEnd, image: Option<&str>, samples: u64) -> EndedStacks {
        EndedStacks {
            end,
            image: image.map(str::to_owned),
            samples,
        }
    }

    #[test]
    fn a_line_says_how_many_stacks_are_whole_and_why_others_are_not() {
        let all = Unwound::of(
            [
                ended(StackEnd::NoInfo, Some("[anon]"), 2),
                ended(StackEnd::Complete, None, 973),
                ended(StackEnd::NoInfo, Some("libfoo.so"), 4),
                ended(StackEnd::BadInfo, Some("libfoo.so"), 1),
                ended(StackEnd::Guess, Some("libm.so.6"), 9),
                ended(StackEnd::Truncated, Some("a"), 6),
                ended(StackEnd::Truncated, Some("b"), 5),
                ended(StackEnd::NoRegisters, None, 500),
            ]
            .into_iter(),
        );
        assert_eq!(
            all.summary().as_deref(),
            Some(
                "97.3 % complete, 0.9 % by frame pointers alone (libm.so.6 0.9 %), 1.1 % truncated, \
                 0.7 % without unwind info (libfoo.so 0.5 %, [anon] 0.2 %)"
            )
        );
        let waits = [
            ended(StackEnd::Complete, None, 1),
            ended(StackEnd::Hole, None, 3),
        ];
        assert_eq!(
            Unwound::of(waits.into_iter()).summary().as_deref(),
            Some("25.0 % complete, 75.0 % with callers missing")
        );
        let few = Unwound::of(
            [
                ended(StackEnd::Loop, None, 1),
                ended(StackEnd::Loop, None, 1),
            ]
            .into_iter(),
        );
        assert_eq!(few.ends, [ended(StackEnd::Loop, None, 2)]);
        assert_eq!(
            few.summary().as_deref(),
            Some("0.0 % complete, 100.0 % incomplete")
        );
    }

    #[test]
    fn where_nothing_was_unwound_nothing_is_said() {
        assert_eq!(Unwound::default().summary(), None);
        let threads = [ended(StackEnd::NoRegisters, None, 5)];
        assert_eq!(Unwound::of(threads.into_iter()).summary(), None);
    }
}
