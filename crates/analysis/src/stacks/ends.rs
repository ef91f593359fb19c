//! How stacks ended, and what is missing of them.

use foldhash::HashMap;
use rprof_base::StackEnd;
use rprof_machine::{History, ImageId};
use rprof_profile::{EndedStacks, Unwound};

/// How a stack ended, and in which image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EndInImage {
    /// How.
    pub end: StackEnd,
    /// The image of the outermost frame, where it matters and is known.
    pub image: Option<ImageId>,
}

/// Which user frames are missing, as far as that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Missing {
    /// None, or nobody knows.
    #[default]
    Nothing,
    /// Those after this many entries of the chain; where there is an entry for them, it is 0.
    After(u32),
    /// The outermost.
    Outermost,
}

/// Whether a stack that ended so has more frames than were found.
pub(super) fn missing(end: StackEnd) -> Missing {
    match end {
        StackEnd::Complete | StackEnd::Guess | StackEnd::MaxStack | StackEnd::NoRegisters => {
            Missing::Nothing
        }
        _ => Missing::Outermost,
    }
}

/// How stacks ended, counted.
#[derive(Debug, Default)]
pub struct StackEndCounts {
    complete: u64,
    others: HashMap<EndInImage, u64>,
}

impl StackEndCounts {
    /// Counts one stack.
    #[inline]
    pub fn add(&mut self, end: Option<EndInImage>) {
        match end {
            None => {}
            Some(end) if end.end == StackEnd::Complete => self.complete += 1,
            Some(end) => *self.others.entry(end).or_default() += 1,
        }
    }

    /// Adds what another thread counted.
    pub fn merge(&mut self, other: &Self) {
        self.complete += other.complete;
        for (&end, samples) in &other.others {
            *self.others.entry(end).or_default() += samples;
        }
    }

    /// By the names of images.
    pub fn named(&self, history: &History) -> Unwound {
        let images = history.images();
        let complete = (self.complete > 0).then_some(EndedStacks {
            end: StackEnd::Complete,
            image: None,
            samples: self.complete,
        });
        let others = self.others.iter().map(|(ended, &samples)| {
            let image = ended.image.and_then(|id| images.of(id));
            EndedStacks {
                end: ended.end,
                image: image.map(|one| String::from_utf8_lossy(&one.short_name()).into_owned()),
                samples,
            }
        });
        Unwound::of(complete.into_iter().chain(others))
    }
}
