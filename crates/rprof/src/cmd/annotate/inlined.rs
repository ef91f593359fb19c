//! A function whose samples are in code that was inlined: that code is shown, in the functions that it is a part of.

use super::wanted::Wanted;
use rprof_analysis::{
    AskedCode, ChoiceError, CodeRecording, Description, FoundFunction, InlinedFunction,
    InlinedInto, WantedFunction,
};
use rprof_base::{Counted, Share};
use rprof_profile::SampleCount;
use rprof_profile::code::CodeFrames;
use std::collections::BTreeMap;

/// Functions that are named where more would not help.
const N_NAMED: usize = 3;

/// A function that was inlined, and how its code is told from that around it.
#[derive(Clone, Debug)]
pub(super) struct ShownInlined {
    wanted: WantedFunction,
    found: InlinedFunction,
}

impl ShownInlined {
    /// The inlined code that is meant by a name: where nothing of that name has samples of its own.
    pub(super) fn of(
        recording: &CodeRecording<'_>,
        wanted: &WantedFunction,
        chosen: &Result<FoundFunction, ChoiceError>,
    ) -> Option<Self> {
        let has_samples = |one: &FoundFunction| one.own.iter().any(|own| own.samples > 0);
        let found = match chosen {
            Err(ChoiceError::Inlined(found)) => Some(found.clone()),
            Ok(one) if !has_samples(one) => recording.inlined(wanted),
            Err(ChoiceError::Several(all)) if !all.iter().any(has_samples) => {
                recording.inlined(wanted)
            }
            _ => None,
        };
        found.map(|found| Self::found(wanted.clone(), found))
    }

    /// What was found of a name.
    pub(super) fn found(wanted: WantedFunction, found: InlinedFunction) -> Self {
        Self { wanted, found }
    }

    /// The functions that it was inlined into, as many of the hottest as have a share (percent) of it.
    pub(super) fn containers(&self, recording: &CodeRecording<'_>, share: f64) -> Wanted {
        let heat = |one: &InlinedInto| -> f64 {
            let events = one.own.iter().zip(recording.events());
            let shares = events.map(|(own, event)| Share::of(own.weight, event.all.weight));
            shares.map(Share::percent).sum()
        };
        let into = self.found.into.iter();
        let functions: Vec<_> = into.map(|one| (one.function.clone(), heat(one))).collect();
        let all: f64 = functions.iter().map(|(_, heat)| heat).sum();
        Wanted {
            functions,
            heat: all * share / 100.0,
        }
    }

    /// Where its code is, with shares of all samples.
    pub(super) fn note(&self, recording: &CodeRecording<'_>) -> String {
        let events = recording.events();
        let all = events.first().map_or(0, |event| event.all.weight);
        let share = |own: &[SampleCount]| Share::of(own.first().map_or(0, |own| own.weight), all);
        let into = &self.found.into;
        let one =
            |one: &InlinedInto| format!("{} ({}% of all)", one.function.name, share(&one.own));
        let named: Vec<String> = into.iter().take(N_NAMED).map(one).collect();
        let more = match into.len().saturating_sub(N_NAMED) {
            0 => String::new(),
            more => format!(
                " and {}",
                Counted::new(more as u64, "other function", "other functions")
            ),
        };
        format!(
            "it was inlined into {}{more}: percentages are of that code",
            named.join(", ")
        )
    }

    /// Which frame at each address is the inlined function's, counted from the innermost, by code.
    pub(super) fn depths(
        &self,
        recording: &CodeRecording<'_>,
        asked: &[AskedCode<'_>],
    ) -> Vec<BTreeMap<u64, usize>> {
        let described = recording.describe_as(asked, self.found.names);
        let depth = |(&address, frames): (&u64, &CodeFrames)| {
            Some((address, self.wanted.depth_in(frames)?))
        };
        let depths = |one: &Description| one.frames.iter().filter_map(depth).collect();
        described.iter().map(depths).collect()
    }
}
