//! A function whose samples are in code that was inlined: that code is shown, in the functions that it is a part of.

use super::wanted::Wanted;
use rprof_analysis::{
    AskedCode, ChoiceError, CodeRecording, Description, FoundFunction, InlinedFunction,
    InlinedInto, WantedFunction,
};
use rprof_base::{Counted, Share};
use rprof_profile::code::CodeFrames;
use rprof_profile::{NameList, SampleCount};
use std::collections::BTreeMap;

/// Maximum number of functions to name.
const N_NAMED: usize = 3;

/// Of several functions of a name, one is meant if it has this many times the samples of all others.
const DOMINANT: u64 = 20;

/// The code to show for a function requested by name.
pub(super) enum Chosen {
    /// A standalone function, with an optional note.
    Standalone(FoundFunction, Option<String>),
    /// Code of this function that was inlined into others.
    Inlined(ShownInlined),
}

impl Chosen {
    /// What has most of the samples: the function itself, or the code that was inlined. Of several functions, one is
    /// meant that has nearly all samples.
    ///
    /// # Errors
    /// The name means none or several.
    pub(super) fn of(
        recording: &CodeRecording<'_>,
        wanted: &WantedFunction,
        chosen: Result<FoundFunction, ChoiceError>,
    ) -> Result<Self, ChoiceError> {
        let (standalone, others) = match chosen {
            Ok(one) => (one, None),
            Err(ChoiceError::Inlined(found)) => {
                return Ok(Self::Inlined(ShownInlined::found(wanted.clone(), found)));
            }
            Err(ChoiceError::Several(all)) if all.iter().all(|one| n_samples(&one.own) == 0) => {
                let found = recording.inlined(wanted);
                let found = found.ok_or(ChoiceError::Several(all))?;
                return Ok(Self::Inlined(ShownInlined::found(wanted.clone(), found)));
            }
            Err(ChoiceError::Several(mut all)) => {
                let samples: Vec<u64> = all.iter().map(|one| n_samples(&one.own)).collect();
                let Some(at) = dominant(&samples) else {
                    return Err(ChoiceError::Several(all));
                };
                let one = all.remove(at);
                (one, Some(others_in_words(&all)))
            }
            Err(error) => return Err(error),
        };
        let Some(found) = recording.inlined(wanted) else {
            return Ok(Self::Standalone(standalone, others));
        };
        let n_inlined: u64 = found.into.iter().map(|one| n_samples(&one.own)).sum();
        let mut inlined = ShownInlined::found(wanted.clone(), found);
        if n_inlined <= n_samples(&standalone.own) {
            let note = format!("it was also inlined into {}", inlined.containers_in_words());
            let note = others.map_or(note.clone(), |others| format!("{others}; {note}"));
            return Ok(Self::Standalone(standalone, Some(note)));
        }
        inlined.standalone = (n_samples(&standalone.own) > 0).then_some(standalone);
        inlined.others = others;
        Ok(Self::Inlined(inlined))
    }
}

/// Which of these has nearly all samples, if one does.
fn dominant(samples: &[u64]) -> Option<usize> {
    let sum: u64 = samples.iter().sum();
    let is_dominant = |&n: &u64| n > 0 && n >= (sum - n).saturating_mul(DOMINANT);
    samples.iter().position(is_dominant)
}

/// Functions that have the name, too, and could be meant.
fn others_in_words(others: &[FoundFunction]) -> String {
    let one = |one: &FoundFunction| {
        let samples = Counted::new(n_samples(&one.own), "sample", "samples");
        format!("{}@{:#x} ({samples}, {})", one.name, one.start, one.image)
    };
    let named: Vec<String> = others.iter().take(N_NAMED).map(one).collect();
    let more = match others.len().saturating_sub(N_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("other functions with this name: {}{more}", named.join(", "))
}

/// Samples of all events.
fn n_samples(own: &[SampleCount]) -> u64 {
    own.iter().map(|own| own.samples).sum()
}

/// An inlined function, and how to distinguish its code from the surrounding code.
#[derive(Clone, Debug)]
pub(super) struct ShownInlined {
    wanted: WantedFunction,
    found: InlinedFunction,
    /// A copy of it that was not inlined, if that has samples.
    standalone: Option<FoundFunction>,
    /// Other functions of its name, in words.
    others: Option<String>,
}

impl ShownInlined {
    /// The code found for a name.
    pub(super) fn found(wanted: WantedFunction, found: InlinedFunction) -> Self {
        Self {
            wanted,
            found,
            standalone: None,
            others: None,
        }
    }

    /// The hottest functions that it was inlined into, which together have a share (percent) of its samples.
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

    /// The functions of these names that it was inlined into.
    ///
    /// # Errors
    /// A line that names those that there are, if none is called so.
    pub(super) fn containers_named(&self, names: &NameList) -> Result<Wanted, String> {
        let into = self.found.into.iter();
        let is_named = |one: &&InlinedInto| names.accepts(&[one.function.name.as_str()]);
        let functions: Vec<_> = into
            .filter(is_named)
            .map(|one| one.function.clone())
            .collect();
        if functions.is_empty() {
            return Err(format!(
                "it was inlined into {}",
                self.containers_in_words()
            ));
        }
        Ok(Wanted::all(functions))
    }

    /// The functions that it was inlined into, and its samples there, the heaviest first.
    pub(super) fn counted_containers(&self) -> impl Iterator<Item = (&str, u64)> {
        let into = self.found.into.iter();
        into.map(|one| (one.function.name.as_str(), n_samples(&one.own)))
    }

    /// Where its code is, with the samples there.
    pub(super) fn note(&self, recording: &CodeRecording<'_>) -> String {
        let mut note = format!(
            "it was inlined into {}: percentages refer to that code",
            self.containers_in_words()
        );
        if self.found.into.len() > 1 {
            note += "; --into NAME shows one, --into '*' all";
        }
        if let Some(one) = &self.standalone {
            let share = share_of_all(recording, &one.own);
            note += &format!(
                "; its standalone copy has {share}%: annotate {}@{:#x}",
                one.name, one.start
            );
        }
        if let Some(others) = &self.others {
            note += &format!("; {others}");
        }
        note
    }

    /// The hottest functions that it was inlined into.
    fn containers_in_words(&self) -> String {
        let into = &self.found.into;
        let one = |(at, (name, samples)): (usize, (&str, u64))| match at {
            0 => format!("{name} ({})", Counted::new(samples, "sample", "samples")),
            _ => format!("{name} ({samples})"),
        };
        let named: Vec<String> = self
            .counted_containers()
            .take(N_NAMED)
            .enumerate()
            .map(one)
            .collect();
        let more = match into.len().saturating_sub(N_NAMED) {
            0 => String::new(),
            more => format!(
                " and {}",
                Counted::new(more as u64, "other function", "other functions")
            ),
        };
        named.join(", ") + &more
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

/// The share of the first event.
pub(super) fn share_of_all(recording: &CodeRecording<'_>, own: &[SampleCount]) -> Share {
    let all = recording
        .events()
        .first()
        .map_or(0, |event| event.all.weight);
    Share::of(own.first().map_or(0, |own| own.weight), all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_several_is_meant_if_it_has_nearly_all_samples() {
        for (samples, meant) in [
            (&[5, 960][..], Some(1)),
            (&[960, 40, 8], Some(0)),
            (&[960, 40, 9], None),
            (&[3, 0], Some(0)),
            (&[0, 0], None),
            (&[7, 7], None),
        ] {
            assert_eq!(dominant(samples), meant, "{samples:?}");
        }
    }
}
