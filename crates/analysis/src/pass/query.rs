//! Which samples of a recording are wanted, with which stacks.

use super::account::{AccountMade, CriticalPath, WantedPath, samples_of};
use super::blocks::Blocks;
use super::mode::SortMode;
use crate::Error;
use crate::locations::Location;
use crate::recording::Recording;
use crate::samples::{DecodedSample, Samples};
use crate::stacks::{ChainOptions, First, StackSources};
use crate::symbolize::{Positions, Symbols, WantedSymbols};
use rprof_profile::{EventKind, Filter, SelfTime};
use rprof_symbols::{Demangling, Request};
use rprof_untrusted::Untrusted;

/// What passes over the same samples share.
#[derive(Debug)]
pub struct Query<'a> {
    /// The recording.
    pub recording: &'a Recording<'a>,
    /// Which samples.
    pub samples: Samples<'a>,
    /// What their stacks are made of.
    pub stacks: StackSources<'a>,
    /// Whether frames are told apart by their places in the source.
    pub(crate) positions: Option<Positions>,
    /// How names of what samples are told apart by are to read.
    pub(crate) demangling: Demangling,
    /// Which functions samples in inlined code are the self time of: filters of functions are of self time.
    pub(crate) self_time: SelfTime,
    /// What is counted.
    pub(crate) mode: SortMode,
    /// By what time samples are counted apart.
    pub(crate) blocks: Blocks,
    /// The critical path that samples are of, or are told apart by.
    pub(crate) path: Option<CriticalPath>,
}

impl<'a> Query<'a> {
    /// Asks for samples that a filter accepts.
    ///
    /// # Errors
    /// As [`check_filter`](crate::check_filter).
    pub fn of(
        recording: &'a Recording<'a>,
        filter: &'a Filter,
        frames: WantedFrames,
        first: First,
    ) -> Result<Self, Error> {
        let wanted = filter.critical.as_ref().map(|end| WantedPath {
            end,
            within: None,
            keeps_rest: false,
        });
        Self::with_path(recording, filter, (frames, first), (wanted, false))
    }

    /// The same, with a critical path, and whether samples have the locks that are waited for.
    pub(super) fn with_path(
        recording: &'a Recording<'a>,
        filter: &'a Filter,
        (frames, first): (WantedFrames, First),
        (wanted, has_locks): (Option<WantedPath<'_>>, bool),
    ) -> Result<Self, Error> {
        let chains = ChainOptions {
            stacks: frames == WantedFrames::All,
            max_stack: filter.max_stack,
            first,
        };
        let mut samples = Samples::of(recording, filter)?;
        // Spans are known by now, if they matter: waits are cut where they begin and end.
        let made = samples_of(
            recording,
            filter,
            wanted.as_ref(),
            (samples.times(), has_locks),
        )?;
        let mut path = None;
        if let Some(AccountMade {
            samples: made,
            path: found,
        }) = made
        {
            samples.source = samples.source.accounted(made);
            path = found;
        }
        Ok(Self {
            recording,
            samples,
            stacks: StackSources::of(recording, chains),
            positions: None,
            demangling: Demangling::default(),
            self_time: SelfTime::default(),
            mode: SortMode::Normal,
            blocks: Blocks::one(),
            path,
        })
    }

    /// What the samples of an event are called, and what they count; `None` for a number of none, and for events whose
    /// samples do not count, since others are derived from them.
    pub fn event(&self, event: usize) -> Option<(Untrusted<String>, EventKind)> {
        let source = &self.samples.source;
        source.event(event).filter(|_| !source.leaves_out(event))
    }

    /// What a sample, or each of its branches, counts.
    #[inline]
    pub(crate) fn weight(&self, sample: &DecodedSample<'_>) -> u64 {
        match self.mode {
            SortMode::Normal => sample.weight(self.recording.reader),
            SortMode::Branch => 1,
            SortMode::Memory => sample.cost(self.recording.reader),
        }
    }

    /// Whether a filter of functions shows a sample with this innermost location.
    pub fn shows_function(&self, symbols: &Symbols, innermost: Option<u32>) -> bool {
        match innermost {
            Some(location) => symbols.accepts(location) && !symbols.is_hidden(location),
            // Without an address it is in no function, and a filter of functions is not for it.
            None => !self.samples.filter.has_functions(),
        }
    }

    /// Symbolizes locations, which must be sorted.
    ///
    /// # Errors
    /// [`Error::Thread`].
    pub fn symbolize(&self, locations: Vec<Location>, request: Request) -> Result<Symbols, Error> {
        let wanted = WantedSymbols {
            request,
            positions: self.positions,
            hide_unresolved: self.samples.filter.hide_unresolved,
        };
        let mut symbols = Symbols::of(self.recording, &self.stacks, locations, wanted)?;
        symbols.choose(self.recording, (self.samples.filter, self.self_time));
        Ok(symbols)
    }
}

/// Which frames of samples are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedFrames {
    /// Only where each sample was taken.
    Innermost,
    /// All of its stack.
    All,
}
