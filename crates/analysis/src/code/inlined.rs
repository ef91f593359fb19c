//! Functions that were inlined into others: where their code is.

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
use rprof_profile::code::CodeFrames;
use rprof_symbols::{Demangling, Detail, Request};
use std::cmp::Reverse;

/// A function that was inlined, and into which others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlinedFunction {
    /// The functions that it was inlined into, as far as there are samples in its code there; the heaviest first.
    pub into: Vec<InlinedInto>,
    /// The form of names by which it was found.
    pub names: Demangling,
}

/// A function that another one was inlined into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlinedInto {
    /// The function.
    pub function: FoundFunction,
    /// Samples in what was inlined, by event.
    pub own: Vec<SampleCount>,
}

impl WantedFunction {
    /// Which of the frames at an address is the one that is wanted, counted from the innermost: the outermost that
    /// was inlined.
    pub fn depth_in(&self, frames: &CodeFrames) -> Option<usize> {
        let (_, inlined) = frames.0.split_last()?;
        let short = Demangling::Short.of(self.name.as_bytes());
        inlined
            .iter()
            .rposition(|frame| self.is_called(&frame.function, &short))
    }

    fn is_called(&self, name: &str, short: &str) -> bool {
        name == self.name || name == short || self.accepts(name)
    }
}

impl CodeRecording<'_> {
    /// Where a function of this name was inlined; nothing if there is no sample in such code, or if where it begins is
    /// asked for: what is inlined begins nowhere.
    pub fn inlined(&self, wanted: &WantedFunction) -> Option<InlinedFunction> {
        if wanted.start.is_some() {
            return None;
        }
        let shown = self.options.demangling;
        let mut forms = vec![shown];
        if shown != Demangling::Short {
            forms.push(Demangling::Short);
        }
        forms.into_iter().find_map(|names| {
            let into = self.inlined_as(wanted, names);
            (!into.is_empty()).then_some(InlinedFunction { into, names })
        })
    }

    fn inlined_as(&self, wanted: &WantedFunction, names: Demangling) -> Vec<InlinedInto> {
        let request = Request {
            detail: Detail::Inlines,
            demangling: names,
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
    let is_inner = |number: u32| {
        let frames = symbols.frames(number).split_last();
        let inner = frames.map_or(&[][..], |(_, inner)| inner);
        let names = inner
            .iter()
            .filter_map(|&one| symbols.functions.of(one).name);
        let mut names = names.map(|name| symbols.strings.of(name).into_raw());
        names.any(|name| wanted.is_called(name, &short))
    };
    let all = (0u32..).zip(symbols.locations());
    all.filter(|&(number, _)| is_inner(number))
        .map(|(_, &location)| location)
        .collect()
}
