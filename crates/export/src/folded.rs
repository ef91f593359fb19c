//! Folded stacks: a line for each, as FlameGraph, inferno and their like read them.

use crate::Format;
use rprof_profile::Profile;
use rprof_profile::view::{Audience, Count, FirstFrame, FoldOptions, ThreadNames, fold};
use std::io::{self, Write};

/// Stacks of one event, sorted, with their numbers of samples. Where samples of a clock stand for different
/// times, as those by ptrace do, it is nanoseconds.
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
            count: Count::for_tools(event),
            threads: ThreadNames::Whole,
        };
        let folded = fold(profile, event, options);
        folded.lines().try_for_each(|line| writeln!(out, "{line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_profile::{EventKind, Sampling, testing};

    fn folded(weights: &[(&str, u64)], kind: EventKind) -> String {
        let mut profile = testing::profile(weights);
        profile.events[0].kind = kind;
        profile.events[0].sampling = Sampling::PerSecond(100);
        let mut out = Vec::new();
        Folded { event: 0 }.write(&profile, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn samples_are_counted_unless_those_of_a_clock_stand_for_different_times() {
        let even = [("main;hot", 10_000_000), ("main;cold", 10_000_000)];
        let uneven = [("main;hot", 20_000_000), ("main;cold", 4_000_000)];
        let samples = "prog;main;cold 1\nprog;main;hot 1\n";
        assert_eq!(folded(&even, EventKind::CpuTime), samples);
        assert_eq!(folded(&uneven, EventKind::Cycles), samples);
        assert_eq!(
            folded(&uneven, EventKind::CpuTime),
            "prog;main;cold 4000000\nprog;main;hot 20000000\n"
        );
    }
}
