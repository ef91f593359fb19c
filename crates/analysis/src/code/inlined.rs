//! Functions that have no code of their own in what was sampled: they were inlined into others.

use super::choose::weights;
use super::found::FoundFunction;
use super::recording::CodeRecording;
use super::wanted::WantedFunction;
use crate::locations::Location;
use crate::pass::{Query, WantedFrames};
use crate::stacks::First;
use crate::symbolize::Symbols;
use foldhash::HashSet;
use rprof_profile::SampleCount;
use rprof_symbols::{Demangling, Detail, Request};
use std::cmp::Reverse;

/// A function that another one was inlined into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlinedInto {
    /// The function.
    pub function: FoundFunction,
    /// Samples in what was inlined, by event.
    pub own: Vec<SampleCount>,
}

impl CodeRecording<'_> {
    /// The functions that one of this name was inlined into, as far as there are samples in it; the heaviest first.
    pub(super) fn inlined(&self, wanted: &WantedFunction) -> Vec<InlinedInto> {
        let request = Request {
            detail: Detail::Inlines,
            demangling: Demangling::Short,
            fde: self.options.fde,
            ..Request::default()
        };
        let frames = WantedFrames::Innermost;
        let query = Query::of(&self.recording, &self.options.filter, frames, First::Own);
        let symbols = query.and_then(|query| query.symbolize(self.counts.locations(), request));
        let Ok(symbols) = symbols else {
            return Vec::new();
        };
        let inner = locations(&symbols, wanted);
        let into = |function: &FoundFunction| {
            let mut own = vec![SampleCount::default(); self.events.len()];
            for &location in function.locations.iter().filter(|&one| inner.contains(one)) {
                let counts = self.counts_at(location);
                own.iter_mut()
                    .zip(counts)
                    .for_each(|(sum, one)| *sum += one);
            }
            let has_samples = own.iter().any(|own| own.samples > 0);
            has_samples.then(|| InlinedInto {
                function: function.clone(),
                own,
            })
        };
        let mut all: Vec<InlinedInto> = self.functions().iter().filter_map(into).collect();
        all.sort_by_key(|one| Reverse(weights(&one.own)));
        all
    }
}

/// Where code is of a function that was inlined.
fn locations(symbols: &Symbols, wanted: &WantedFunction) -> HashSet<Location> {
    let short = Demangling::Short.of(wanted.name.as_bytes());
    let is_wanted = |name: &str| name == wanted.name || name == short || wanted.accepts(name);
    let is_inner = |number: u32| {
        let frames = symbols.frames(number).split_last();
        let inner = frames.map_or(&[][..], |(_, inner)| inner);
        let names = inner
            .iter()
            .filter_map(|&one| symbols.functions.of(one).name);
        let mut names = names.map(|name| symbols.strings.of(name).into_raw());
        names.any(is_wanted)
    };
    let all = (0u32..).zip(symbols.locations());
    all.filter(|&(number, _)| is_inner(number))
        .map(|(_, &location)| location)
        .collect()
}
