//! How stacks ended: counted by reason, and noted for those that are not complete.

use foldhash::HashMap;
use rprof_base::StackEnd;
use rprof_machine::{ImageId, Images, MovedImages};
use rprof_perfdata::feature::{EndReason, EndedStack, StackEnds};
use rprof_unwind::Outcome;

/// Ends so far.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    all: StackEnds,
    /// The index of each reason in `all`.
    reasons: HashMap<(StackEnd, Option<u32>), usize>,
}

/// How the stack of one sample ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended<'d> {
    pub(crate) outcome: Outcome,
    /// The image that frame pointers alone led through, if they did.
    pub(crate) guessed: Option<u32>,
    /// What the kernel copied of it.
    pub(crate) dump: &'d [u8],
    /// The process could be looked into.
    pub(crate) is_readable: bool,
    /// After how many entries of the chain others are missing.
    pub(crate) gap: Option<usize>,
    /// Where the sample is in the file.
    pub(crate) offset: u64,
}

/// Samples that are noted one by one: 16 MB. More are only counted.
const MAX_NOTED: usize = 1 << 20;

impl Ends {
    /// Counts and notes an end.
    pub(crate) fn add(&mut self, ended: Ended<'_>, images: &Images) {
        let Ended {
            outcome, guessed, ..
        } = ended;
        let end = match (outcome.end(), ended.gap) {
            (StackEnd::Complete, None) if guessed.is_none() => {
                self.all.complete += 1;
                return;
            }
            (StackEnd::Complete | StackEnd::Guess, Some(_)) => StackEnd::Gap,
            (StackEnd::Truncated, Some(_)) => StackEnd::Hole,
            (StackEnd::Unmapped, _) if !ended.is_readable => StackEnd::Unreadable,
            (StackEnd::MaxStack | StackEnd::NoRegisters, _) => StackEnd::Truncated,
            _ => outcome.end_in_dump(ended.dump),
        };
        let (end, image) = match guessed {
            Some(_) if end.guessed().is_guess() => (end.guessed(), guessed),
            _ => (end, outcome.image().filter(|_| end == outcome.end())),
        };
        let all = &mut self.all;
        let reason = *self.reasons.entry((end, image)).or_insert_with(|| {
            let image = image.and_then(|image| images.of(ImageId(image)));
            all.reasons.push(EndReason {
                end,
                image: image.map_or(Vec::new(), |image| image.path.clone()),
                stacks: 0,
            });
            all.reasons.len() - 1
        });
        if let Some(reason) = all.reasons.get_mut(reason) {
            reason.stacks += 1;
        }
        // Always fits: there are few reasons for each image.
        if let Ok(reason) = u32::try_from(reason)
            && all.stacks.len() < MAX_NOTED
        {
            all.stacks.push(EndedStack {
                offset: ended.offset,
                reason,
                gap: ended
                    .gap
                    .and_then(|gap| u32::try_from(gap).ok())
                    .unwrap_or(0),
            });
        }
    }

    /// Images have other numbers, or nobody has mapped them any more.
    pub(crate) fn images_moved(&mut self, moved: &MovedImages) {
        let reasons = std::mem::take(&mut self.reasons).into_iter();
        let moved = reasons.filter_map(|((end, image), reason)| {
            let image = match image {
                Some(image) => Some(moved.of(ImageId(image))?.0),
                None => None,
            };
            Some(((end, image), reason))
        });
        self.reasons = moved.collect();
    }

    /// A stack was completed with memory that was read after it was sampled.
    pub(crate) fn completed(&mut self) {
        self.all.completed += 1;
    }

    /// All of them.
    pub(crate) fn finish(self) -> StackEnds {
        self.all
    }
}
