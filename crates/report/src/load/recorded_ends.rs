//! How stacks ended that were unwound while recording: rprof's recordings say it.

use super::samples::Seen;
use super::skim::Skimmed;
use super::unwinding::End;
use rprof_abi::{Callchain, context};
use rprof_machine::ImageId;
use rprof_perfdata::feature::{self, EndedStack, StackEnds};
use rprof_perfdata::{FeatureId, Reader};
use rprof_profile::StackEnd;

/// Ends by sample.
#[derive(Debug)]
pub(crate) struct RecordedEnds {
    reasons: Vec<End>,
    /// Samples whose stacks are not whole, by offset.
    stacks: Vec<EndedStack>,
}

impl RecordedEnds {
    /// Those of a recording; `None` if it has none.
    pub(crate) fn of(reader: &Reader, skimmed: &Skimmed) -> Option<Self> {
        // A damaged section is as good as none: `rprof info` says what is wrong with it.
        let section = reader.feature(FeatureId::STACK_ENDS).ok()??;
        let mut ends = StackEnds::parse(&section, reader.endian()).ok()?;
        let image_of = |path: &[u8]| {
            let mut images = skimmed.history.images().iter();
            let found = images.find(|(_, image)| !path.is_empty() && image.path == path);
            found.map(|(id, _): (ImageId, _)| id)
        };
        let reasons = ends.reasons.iter().map(|reason| End {
            end: meaning(reason.end),
            image: image_of(&reason.image),
        });
        // Written in this order, as a rule.
        ends.stacks.sort_unstable_by_key(|stack| stack.offset);
        Some(Self {
            reasons: reasons.collect(),
            stacks: ends.stacks,
        })
    }

    /// How a sample's stack ended; `None` if it has no user part.
    #[inline]
    pub(crate) fn of_sample(&self, seen: &Seen<'_>) -> Option<End> {
        let offset = seen.key.offset;
        let noted = self
            .stacks
            .binary_search_by_key(&offset, |stack| stack.offset);
        if let Some(stack) = noted.ok().and_then(|at| self.stacks.get(at)) {
            return self.reasons.get(stack.reason as usize).copied();
        }
        let has_user = |chain: Callchain<'_>| chain.entries().any(|entry| entry == context::USER);
        let chain = seen.sample.callchain?;
        has_user(chain).then_some(End {
            end: StackEnd::Rooted,
            image: None,
        })
    }
}

fn meaning(end: feature::StackEnd) -> StackEnd {
    use feature::StackEnd as Recorded;
    match end {
        Recorded::Cut => StackEnd::Cut,
        Recorded::OffStack => StackEnd::OffStack,
        Recorded::NoInfo => StackEnd::NoInfo,
        Recorded::Unmapped => StackEnd::Unmapped,
        Recorded::Loop => StackEnd::Loop,
        Recorded::BadInfo => StackEnd::BadInfo,
        Recorded::Gap => StackEnd::Gap,
        Recorded::NotCopied => StackEnd::NotCopied,
        Recorded::ThirtyTwoBit => StackEnd::ThirtyTwoBit,
        Recorded::Other(_) => StackEnd::Other,
    }
}
