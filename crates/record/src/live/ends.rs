//! How stacks ended: counted by reason, and noted for those that are not whole.

use foldhash::HashMap;
use rprof_base::StackEnd;
use rprof_machine::{ImageId, Images};
use rprof_perfdata::feature::{EndReason, EndedStack, StackEnds};
use rprof_unwind::Outcome;

/// Ends so far.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    all: StackEnds,
    /// Places of reasons.
    reasons: HashMap<(StackEnd, Option<u32>), u32>,
}

/// Samples that are noted one by one: 16 MB. More are only counted.
const MAX_NOTED: usize = 1 << 20;

impl Ends {
    /// Notes how the stack of the sample at an offset ended, of which something was copied or not,
    /// of a process that could be looked into or not, and after how many entries of its chain there
    /// is a gap.
    pub(crate) fn add(
        &mut self,
        (outcome, is_copied, is_readable): (Outcome, bool, bool),
        gap: Option<usize>,
        offset: u64,
        images: &Images,
    ) {
        let end = match (outcome.end(), gap) {
            (StackEnd::Rooted, None) => {
                self.all.rooted += 1;
                return;
            }
            (StackEnd::Rooted | StackEnd::Guess, Some(_)) => StackEnd::Gap,
            (StackEnd::Cut, Some(_)) => StackEnd::Hole,
            (StackEnd::Cut | StackEnd::OffStack, _) if !is_copied => StackEnd::NotCopied,
            (StackEnd::Unmapped, _) if !is_readable => StackEnd::Unreadable,
            (StackEnd::MaxStack | StackEnd::NoRegisters, _) => StackEnd::Cut,
            (end, _) => end,
        };
        let image = outcome.image().filter(|_| end == outcome.end());
        let all = &mut self.all;
        let reason = *self.reasons.entry((end, image)).or_insert_with(|| {
            let image = image.and_then(|image| images.of(ImageId(image)));
            all.reasons.push(EndReason {
                end,
                image: image.map_or(Vec::new(), |image| image.path.clone()),
                stacks: 0,
            });
            u32::try_from(all.reasons.len() - 1).unwrap_or(u32::MAX)
        });
        if let Some(reason) = all.reasons.get_mut(reason as usize) {
            reason.stacks += 1;
        }
        if all.stacks.len() < MAX_NOTED {
            all.stacks.push(EndedStack {
                offset,
                reason,
                gap: gap.and_then(|gap| u32::try_from(gap).ok()).unwrap_or(0),
            });
        }
    }

    /// A stack was made whole with memory that was read after it was sampled.
    pub(crate) fn completed(&mut self) {
        self.all.completed += 1;
    }

    /// All of them.
    pub(crate) fn finish(self) -> StackEnds {
        self.all
    }
}
