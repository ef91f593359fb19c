//! How stacks ended that were unwound while recording: rprof's recordings say it.

use super::ends::{EndInImage, Missing, missing};
use crate::index::RecordingIndex;
use crate::samples::DecodedSample;
use foldhash::HashMap;
use rprof_abi::{Callchain, context};
use rprof_base::StackEnd;
use rprof_machine::ImageId;
use rprof_perfdata::feature::EndedStack;
use rprof_perfdata::{Feature, FeatureId, Reader};

/// Ends by sample.
#[derive(Debug)]
pub(crate) struct RecordedEnds {
    reasons: Vec<EndInImage>,
    /// Samples whose stacks are not complete, by offset.
    stacks: Vec<EndedStack>,
    /// Of those from here on it is not known: there were more than are noted.
    known_until: u64,
}

impl RecordedEnds {
    /// Those of a recording; `None` if it has none.
    pub(crate) fn of(reader: &Reader, index: &RecordingIndex) -> Option<Self> {
        // A damaged section is as good as none: `rprof info` says what is wrong with it.
        let section = reader.feature(FeatureId::STACK_ENDS).ok()??;
        let ends = Feature::parse(FeatureId::STACK_ENDS, &section, reader.endian());
        let Ok(Feature::StackEnds(mut ends)) = ends else {
            return None;
        };
        let images = index.history.images().iter();
        let images: HashMap<&[u8], ImageId> = images
            .map(|(id, image)| (image.path.as_slice(), id))
            .collect();
        let reasons = ends.reasons.iter().map(|reason| EndInImage {
            end: reason.end,
            image: images.get(reason.image.as_slice()).copied(),
        });
        // Written in this order, as a rule.
        ends.stacks.sort_unstable_by_key(|stack| stack.offset);
        let counted = ends.reasons.iter().map(|reason| reason.stacks);
        let is_complete = counted.fold(0, u64::saturating_add) <= ends.stacks.len() as u64;
        let last = ends.stacks.last().filter(|_| !is_complete);
        Some(Self {
            reasons: reasons.collect(),
            known_until: last.map_or(u64::MAX, |last| last.offset),
            stacks: ends.stacks,
        })
    }

    /// How a sample's stack ended, and what is missing of it; `None` if it has no user part, or nobody
    /// knows.
    #[inline]
    pub(crate) fn of_sample(&self, decoded: &DecodedSample<'_>) -> Option<(EndInImage, Missing)> {
        let offset = decoded.key.offset;
        let noted = self
            .stacks
            .binary_search_by_key(&offset, |stack| stack.offset);
        if let Some(stack) = noted.ok().and_then(|at| self.stacks.get(at)) {
            let &end = self.reasons.get(stack.reason as usize)?;
            let missing = match stack.gap {
                0 => missing(end.end),
                entries => Missing::After(entries),
            };
            return Some((end, missing));
        }
        if offset > self.known_until {
            return None;
        }
        let has_user = |chain: Callchain<'_>| chain.entries().any(|entry| entry == context::USER);
        let chain = decoded.head.callchain?;
        let complete = EndInImage {
            end: StackEnd::Complete,
            image: None,
        };
        has_user(chain).then_some((complete, Missing::Nothing))
    }
}
