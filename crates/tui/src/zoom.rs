//! Parts of a profile that are looked at, one within the other.

use rprof_base::Share;
use rprof_profile::{Level, NameList, Profile, SampledProfile, TimeSlices};
use rprof_query::SampleSelection;
use std::ops::RangeInclusive;

/// A part of a profile.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Zoom {
    /// Samples whose innermost function is in an image.
    Dso(String),
    /// All but these.
    WithoutDso(String),
    /// Samples in the kernel.
    Kernel,
    /// Threads of a name.
    Comm(String),
    /// All but these.
    WithoutComm(String),
    /// Threads of a process.
    Process { pid: i32, comm: String },
    /// One thread.
    Thread { pid: i32, tid: i32, comm: String },
    /// Stacks with functions of such names.
    Frames(NameList),
    /// Stacks without a function.
    WithoutFunction(String),
    /// A time.
    Times(RangeInclusive<u64>),
}

impl Zoom {
    /// Whether both are of one kind: one takes the place of the other. Any number of parts may be left out.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        let kind = |zoom: &Self| match zoom {
            Self::Dso(_) | Self::Kernel => Some(0),
            Self::Comm(_) | Self::Process { .. } | Self::Thread { .. } => Some(1),
            Self::Frames(_) => Some(2),
            Self::Times(_) => Some(3),
            Self::WithoutDso(_) | Self::WithoutComm(_) | Self::WithoutFunction(_) => None,
        };
        self == other || kind(self).is_some_and(|one| kind(other) == Some(one))
    }

    /// Whether it is into threads.
    pub(crate) fn is_of_threads(&self) -> bool {
        matches!(
            self,
            Self::Comm(_) | Self::Process { .. } | Self::Thread { .. }
        )
    }

    /// The name of the threads that it is into, unless they are those of a process, which have any names.
    pub(crate) fn comm(&self) -> Option<String> {
        match self {
            Self::Comm(comm) | Self::Thread { comm, .. } => Some(comm.clone()),
            _ => None,
        }
    }

    /// What it is, in a few words.
    pub(crate) fn text(&self, sampled: &SampledProfile) -> String {
        match self {
            Self::Dso(image) => format!("in {image}"),
            Self::WithoutDso(image) => format!("without what ran in {image} itself"),
            Self::Kernel => "in the kernel".to_owned(),
            Self::Comm(comm) => format!("threads {comm}"),
            Self::WithoutComm(comm) => format!("without threads {comm}"),
            Self::Process { pid, comm } => format!("process {comm}/{pid}"),
            Self::Thread { tid, comm, .. } => format!("thread {comm}/{tid}"),
            Self::Frames(names) => stacks_text(names),
            Self::WithoutFunction(name) => format!("stacks without function {name}"),
            Self::Times(times) => {
                let start = sampled.samples.span_ns().map_or(0, |span| *span.start());
                let length = times.end().saturating_sub(*times.start());
                let since = |time: u64| time.saturating_sub(start);
                // Both ends are told apart, and no more.
                let unit = TimeUnit::of(since(*times.end())).in_steps(length / 50);
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
            Self::Dso(image) => selection.dsos.extend(NameList::of([image.as_str()])),
            Self::WithoutDso(image) => {
                selection.dsos.extend(NameList::without([image.as_str()]));
            }
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
                selection.dsos.extend(NameList::of(images));
            }
            Self::Comm(comm) => selection.comms.extend(NameList::of([comm.as_str()])),
            Self::WithoutComm(comm) => {
                selection.comms.extend(NameList::without([comm.as_str()]));
            }
            Self::Process { pid, .. } => selection.pids = vec![*pid],
            Self::Thread { pid, tid, .. } => {
                (selection.pids, selection.tids) = (vec![*pid], vec![*tid]);
            }
            Self::Frames(names) => selection.frames.extend(names.clone()),
            Self::WithoutFunction(name) => {
                selection.frames.extend(NameList::without([name.as_str()]));
            }
            Self::Times(times) => selection.times_ns = Some(times.clone()),
        }
    }
}

/// Which stacks are shown: those with some names and without others.
fn stacks_text(names: &NameList) -> String {
    let (unwanted, wanted): (Vec<&str>, Vec<&str>) = names
        .items()
        .iter()
        .map(String::as_str)
        .partition(|item| item.starts_with('!'));
    let unwanted: Vec<&str> = unwanted.iter().map(|item| &item[1..]).collect();
    let mut parts = Vec::new();
    if !wanted.is_empty() {
        parts.push(format!("with function {}", wanted.join(",")));
    }
    if !unwanted.is_empty() {
        let function = if wanted.is_empty() { "function " } else { "" };
        parts.push(format!("without {function}{}", unwanted.join(",")));
    }
    format!("stacks {}", parts.join(", "))
}

/// The time that a text says, as `--time` has it; open ends are those of the samples. Seconds count from the first
/// sample, as on the screen, or are those of the recording's clock, as `rprof script` prints them.
///
/// # Errors
/// Why it is no time of them; examples come first, for the line may be short.
pub(crate) fn times_typed(
    text: &str,
    span: RangeInclusive<u64>,
) -> Result<RangeInclusive<u64>, String> {
    let slices = TimeSlices::parse(text);
    let slices = slices.map_err(|why| format!("such as 1.5,3 or 50%-100%: {why}"))?;
    if !slices.is_one() {
        return Err("one range at a time; rprof tui --time takes several".to_owned());
    }
    let since_start = slices.clone().since_start();
    let by_clock = within(&slices, &span);
    // With an open or early start, both may be within the recording: the end tells.
    let is_beyond = end_typed(&since_start, &span).is_some_and(|end| end > *span.end());
    if is_beyond && end_typed(&slices, &span).is_some_and(|end| span.contains(&end)) {
        return by_clock;
    }
    within(&since_start, &span).or_else(|why| by_clock.map_err(|_| why))
}

/// When the meant time ends, if that is typed.
fn end_typed(slices: &TimeSlices, span: &RangeInclusive<u64>) -> Option<u64> {
    let ranges = slices.ranges(span.clone()).ok()?;
    let end = *ranges.first()?.end();
    (end < u64::MAX).then_some(end)
}

/// The part of the samples' time that is meant.
fn within(slices: &TimeSlices, span: &RangeInclusive<u64>) -> Result<RangeInclusive<u64>, String> {
    let ranges = slices.ranges(span.clone());
    let ranges = ranges.map_err(|error| error.to_string())?;
    let found = ranges.into_iter().next().and_then(|range| {
        let start = *range.start().max(span.start());
        let stop = *range.end().min(span.end());
        (start <= stop).then_some(start..=stop)
    });
    found.ok_or_else(|| {
        let length = span.end().saturating_sub(*span.start());
        let length = TimeUnit::of(length).text(length);
        format!("no such time: the recording lasts {length}")
    })
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

/// A unit of times, with as many decimals as people read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeUnit {
    ns: u64,
    /// The last digit, in nanoseconds.
    step_ns: u64,
    pub(crate) name: &'static str,
}

impl TimeUnit {
    /// One in which a time of some length has three digits.
    pub(crate) fn of(length_ns: u64) -> Self {
        let (ns, name) = match length_ns {
            0..1_000_000 => (1000, "us"),
            1_000_000..1_000_000_000 => (1_000_000, "ms"),
            _ => (1_000_000_000, "s"),
        };
        let unit = Self {
            ns,
            step_ns: ns,
            name,
        };
        unit.in_steps(length_ns / 100)
    }

    /// The same with as many decimals as times have that are so far apart.
    pub(crate) fn in_steps(self, step_ns: u64) -> Self {
        let mut step = self.ns;
        while step > step_ns.max(1) && step.is_multiple_of(10) {
            step /= 10;
        }
        Self {
            step_ns: step,
            ..self
        }
    }

    /// The same with three decimals.
    pub(crate) fn with_decimals(self) -> Self {
        self.in_steps(self.ns / 1000)
    }

    /// A time as a number of it, rounded.
    pub(crate) fn number(self, ns: u64) -> String {
        let Self {
            ns: unit,
            step_ns: step,
            ..
        } = self;
        let steps = (u128::from(ns) + u128::from(step / 2)) / u128::from(step);
        let in_unit = u128::from(unit / step);
        let (whole, rest) = (steps / in_unit, steps % in_unit);
        match unit / step {
            1 => whole.to_string(),
            parts => format!("{whole}.{rest:0width$}", width = parts.ilog10() as usize),
        }
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
    fn times_are_typed_as_the_flag_has_them() {
        const SECOND: u64 = 1_000_000_000;
        let typed = |text: &str| times_typed(text, 100 * SECOND..=110 * SECOND);
        let tenths = |start: u64, stop: u64| Ok(start * SECOND / 10..=stop * SECOND / 10);
        for (text, expected) in [
            ("1.5,3", tenths(1015, 1030)),
            ("1.5s, 3000ms", tenths(1015, 1030)),
            ("+1.5,3", tenths(1015, 1030)),
            ("8,", tenths(1080, 1100)),
            (",8", tenths(1000, 1080)),
            ("-2s,", tenths(1080, 1100)),
            ("50%-100%", tenths(1050, 1100)),
            ("50%,100%", tenths(1050, 1100)),
            ("10%/10", tenths(1090, 1100)),
            // By the clock of the recording.
            ("103,104.5", tenths(1030, 1045)),
            (",103", tenths(1000, 1030)),
            ("1,104", tenths(1000, 1040)),
            ("50%-50%", tenths(1050, 1050)),
            // By neither does it end within the recording.
            ("1,12", tenths(1010, 1100)),
        ] {
            assert_eq!(typed(text), expected, "{text}");
        }
        for (text, why) in [
            ("10%-20%,40%-50%", "one range at a time; "),
            ("1,2 3,4", "one range at a time; "),
            ("20,30", "no such time: the recording lasts 10.0 s"),
            ("+3,1", "time '+3,1' ends before it starts"),
            ("3,1", "such as 1.5,3 or 50%-100%: time '3,1': "),
            ("5", "such as 1.5,3 or 50%-100%: time '5': "),
        ] {
            let said = typed(text).unwrap_err();
            assert!(said.starts_with(why), "{said}");
        }
    }

    #[test]
    fn a_short_time_is_no_zero() {
        let own = |ns| TimeUnit::of(ns).text(ns);
        assert_eq!(own(1), "0.001 us");
        assert_eq!(own(1_234), "1.23 us");
        assert_eq!(own(1_237_567), "1.24 ms");
        assert_eq!(own(61_254_567_890), "61.3 s");
        assert_eq!(own(612_500_000_000), "613 s");
        assert_eq!(own(u64::MAX), "18446744074 s");
    }

    #[test]
    fn times_have_the_decimals_that_tell_them_apart() {
        let unit = TimeUnit::of(61_000_000_000);
        let number = |step| unit.in_steps(step).number(61_234_567_890);
        assert_eq!(number(1_000_000_000), "61");
        assert_eq!(number(400_000_000), "61.2");
        assert_eq!(number(1_000_000), "61.235");
        assert_eq!(number(0), "61.234567890");
    }
}
