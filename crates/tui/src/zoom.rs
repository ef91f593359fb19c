//! Parts of a profile that are looked at, one within the other.

use rprof_base::Share;
use rprof_profile::{Level, NameList, Profile, SampledProfile};
use rprof_query::SampleSelection;
use std::ops::RangeInclusive;

/// A part of a profile.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Zoom {
    /// Samples whose innermost function is in an image.
    Dso(String),
    /// Samples in the kernel.
    Kernel,
    /// Threads of a name.
    Comm(String),
    /// One thread.
    Thread { pid: i32, tid: i32, comm: String },
    /// Stacks with functions of such names.
    Frames(NameList),
    /// A time.
    Times(RangeInclusive<u64>),
}

impl Zoom {
    /// Whether both are of one kind: one takes the place of the other.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        let kind = |zoom: &Self| match zoom {
            Self::Dso(_) | Self::Kernel => 0,
            Self::Comm(_) | Self::Thread { .. } => 1,
            Self::Frames(_) => 2,
            Self::Times(_) => 3,
        };
        kind(self) == kind(other)
    }

    /// What it is, in a few words.
    pub(crate) fn text(&self, sampled: &SampledProfile) -> String {
        match self {
            Self::Dso(image) => format!("in {image}"),
            Self::Kernel => "in the kernel".to_owned(),
            Self::Comm(comm) => format!("threads {comm}"),
            Self::Thread { tid, comm, .. } => format!("thread {comm}/{tid}"),
            Self::Frames(names) => format!("stacks with {}", names.items().join(",")),
            Self::Times(times) => {
                let start = sampled.samples.span_ns().map_or(0, |span| *span.start());
                let unit = TimeUnit::of(times.end().saturating_sub(*times.start()));
                let since = |time: u64| time.saturating_sub(start);
                format!(
                    "{} to {}",
                    unit.number(since(*times.start())),
                    unit.text(since(*times.end()))
                )
            }
        }
    }

    fn narrow(&self, selection: &mut SampleSelection, profile: &Profile) {
        match self {
            Self::Dso(image) => selection.dsos = NameList::of([image.as_str()]),
            Self::Kernel => {
                let frames = profile.frames.ids().map(|id| profile.frames.of(id));
                let images = frames.filter(|frame| frame.level == Level::Kernel);
                let mut images: Vec<&str> = images
                    .map(|frame| profile.strings.of(frame.image).into_raw())
                    .collect();
                // Where nothing was in the kernel, nothing is left.
                images.push("[kernel.kallsyms]");
                images.sort_unstable();
                images.dedup();
                selection.dsos = NameList::of(images);
            }
            Self::Comm(comm) => selection.comms = NameList::of([comm.as_str()]),
            Self::Thread { pid, tid, .. } => {
                (selection.pids, selection.tids) = (vec![*pid], vec![*tid]);
            }
            Self::Frames(names) => selection.frames = names.clone(),
            Self::Times(times) => selection.times_ns = Some(times.clone()),
        }
    }
}

/// The samples that are left of an event.
pub(crate) fn selection(event: usize, zooms: &[Zoom], profile: &Profile) -> SampleSelection {
    let mut selection = SampleSelection {
        event,
        ..SampleSelection::default()
    };
    for zoom in zooms {
        zoom.narrow(&mut selection, profile);
    }
    selection
}

/// A unit of times, with three decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeUnit {
    ns: u64,
    pub(crate) name: &'static str,
}

impl TimeUnit {
    /// One in which a time of some length has digits before the decimals.
    pub(crate) fn of(length_ns: u64) -> Self {
        let (ns, name) = match length_ns {
            0..1_000_000 => (1000, "us"),
            1_000_000..1_000_000_000 => (1_000_000, "ms"),
            _ => (1_000_000_000, "s"),
        };
        Self { ns, name }
    }

    /// A time as a number of it.
    pub(crate) fn number(self, ns: u64) -> String {
        let Self { ns: unit, .. } = self;
        format!("{}.{:03}", ns / unit, ns % unit / (unit / 1000))
    }

    /// A time, with the unit.
    pub(crate) fn text(self, ns: u64) -> String {
        format!("{} {}", self.number(ns), self.name)
    }
}

/// A share in five columns and a sign.
pub(crate) fn percent(share: Share) -> String {
    format!("{share:.2}%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_time_is_no_zero() {
        let own = |ns| TimeUnit::of(ns).text(ns);
        assert_eq!(own(0), "0.000 us");
        assert_eq!(own(1_234), "1.234 us");
        assert_eq!(own(1_234_567), "1.234 ms");
        assert_eq!(own(61_234_567_890), "61.234 s");
        assert_eq!(TimeUnit::of(5_000_000).number(61_234_567_890), "61234.567");
    }
}
