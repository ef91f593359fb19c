//! Folded stacks: a line for each, as FlameGraph, inferno and their like read them.

use crate::Format;
use rprof_profile::Profile;
use rprof_profile::view::{Audience, Count, FirstFrame, FoldOptions, ThreadNames, fold};
use std::io::{self, Write};

/// Stacks of one event, sorted, with their numbers of samples.
#[derive(Clone, Copy, Debug)]
pub struct Folded {
    /// Index of the event. Without such an event there are no lines.
    pub event: usize,
}

impl Format for Folded {
    type Source = Profile;

    fn write(&self, profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
        let Some(event) = profile.events.get(self.event) else {
            return Ok(());
        };
        let options = FoldOptions {
            first: FirstFrame::Outermost,
            audience: Audience::Tools,
            count: Count::Samples,
            threads: ThreadNames::Whole,
        };
        let folded = fold(profile, event, options);
        folded.lines().try_for_each(|line| writeln!(out, "{line}"))
    }
}
