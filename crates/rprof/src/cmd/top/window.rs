//! Turns the latest segments of a recording into a profile.

use crate::args::TopViewArgs;
use crate::say;
use anyhow::{Context, Result};
use rprof_analysis::{GroupBy, Options, load_samples, open_waits};
use rprof_base::Counted;
use rprof_locate::Locator;
use rprof_perfdata::Reader;
#[cfg(feature = "tui")]
use rprof_profile::SampledProfile;
use rprof_profile::view::SortKey;
use rprof_profile::{Account, CountedTime, Filter, Profile, SampleWindow};
use rprof_query::{Explorer, SampleSelection, StackFolding, tell_apart};
use rprof_record::{RecordedSegment, save_segments, write_segments};
use rprof_ringbuf::sys::give_back_free_memory;
#[cfg(feature = "tui")]
use rprof_tui::SampleScope;
use rprof_untrusted::{memory_file, quoted};
use std::collections::VecDeque;
use std::fmt::{Display, Formatter};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The last segments, read and named.
pub(super) struct LiveWindow {
    window: SampleWindow,
    options: Options,
    /// The window's segments, kept for saving.
    segments: VecDeque<RecordedSegment>,
    most_parts: usize,
    /// The durations of the window's segments.
    times: VecDeque<Duration>,
    /// Samples per second in the last segment.
    pub(super) rate: f64,
    /// Samples of the last segment.
    pub(super) n_new: u64,
    /// Number of segments so far.
    n_taken: u64,
    /// The end of the segment before, and the waits that went on then, as records; `None` if it was not read.
    before: Option<(u64, Vec<u8>)>,
}

/// So often, in segments, memory is given back: each needs much more while it is read than stays of it, in pieces that
/// the allocator does not give back by itself.
const TRIM_EVERY: u64 = 5;

/// Samples that the kernel lost.
pub(super) struct Lost {
    pub(super) samples: u64,
    at_least: bool,
    /// Some may be samples of rprof itself or of other processes, which do not count.
    has_others: bool,
}

impl Display for Lost {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let bound = match self.samples {
            _ if self.at_least => "at least ",
            1.. if self.has_others => "at most ",
            _ => "",
        };
        write!(f, "{bound}{} lost", self.samples)
    }
}

/// Maximum bytes of segments kept for saving.
const MOST_BYTES: u64 = 64 << 20;

/// Maximum number of kept segments: each is an open file.
const MOST_SEGMENTS: usize = 512;

/// Maximum number of kept samples, about 20 MB: beyond it, the oldest are dropped.
const MOST_SAMPLES: usize = 1 << 20;

impl LiveWindow {
    pub(super) fn new(view: &TopViewArgs) -> Self {
        Self {
            window: SampleWindow::new(view.n_parts(), MOST_SAMPLES),
            options: Options {
                inlines: view.inline,
                filter: Filter {
                    account: view.account(),
                    no_idle: view.no_idle,
                    ..Filter::default()
                },
                group_by: GroupBy::of(&SortKey::dimensions(&view.keys())),
                known_names: Some(Arc::default()),
                ..Options::default()
            },
            segments: VecDeque::new(),
            most_parts: view.n_parts(),
            times: VecDeque::new(),
            rate: 0.0,
            n_new: 0,
            n_taken: 0,
            before: None,
        }
    }

    /// Some segments are not read: what threads did then is not known.
    pub(super) fn skip(&mut self) {
        self.before = None;
    }

    /// Reads a segment.
    pub(super) fn take(&mut self, segment: RecordedSegment) -> Result<()> {
        let reading = "reading the recorded samples";
        let reader = self.opened(&segment).context(reading)?;
        self.options.locator = Locator {
            budget: reader.budget().clone(),
            ..Locator::default()
        };
        let mut sampled = load_samples(&reader, &self.options, &mut |_| {}).context(reading)?;
        tell_apart(&mut sampled, &self.options.group_by.dimensions)?;
        if self.options.filter.account != Account::OnCpu {
            let waits = open_waits(&reader).context(reading)?;
            self.before = Some((segment.end_ns, waits));
        }
        self.window.append(&sampled);
        let time = segment.time;
        match self.times.back_mut() {
            // None of them falls out.
            Some(all) if self.most_parts == usize::MAX => *all += time,
            _ => self.times.push_back(time),
        }
        if self.times.len() > self.most_parts {
            self.times.pop_front();
        }
        self.n_new = segment.samples;
        #[expect(clippy::cast_precision_loss, reason = "a rate")]
        let n_new = self.n_new as f64;
        self.rate = n_new / time.as_secs_f64().max(1e-3);
        self.keep(segment);
        drop((sampled, reader));
        self.n_taken += 1;
        if self.n_taken.is_multiple_of(TRIM_EVERY) {
            give_back_free_memory();
        }
        Ok(())
    }

    /// Opens a segment. If the time of threads is shown, it begins with the waits that go on from the one before, and
    /// time before it does not count again.
    fn opened(&mut self, segment: &RecordedSegment) -> Result<Reader> {
        let before = self.before.take();
        if self.options.filter.account == Account::OnCpu {
            return Ok(segment.open()?);
        }
        let (begin_ns, waits) = before.unwrap_or_default();
        self.options.filter.counted = Some(CountedTime {
            since_ns: begin_ns,
            until_ns: segment.end_ns,
            waits_bytes: waits.len() as u64,
        });
        if waits.is_empty() {
            return Ok(segment.open()?);
        }
        let path = Path::new("memory");
        let file = memory_file("rprof-waits")?;
        let copy = file.try_clone()?;
        write_segments(file, path, &waits, std::slice::from_ref(segment))?;
        Ok(Reader::from_file(path, copy)?)
    }

    /// Keeps a segment while it is in the window, and not too large with the others.
    fn keep(&mut self, segment: RecordedSegment) {
        self.segments.push_back(segment);
        let size_bytes = |all: &VecDeque<RecordedSegment>| -> u64 {
            all.iter().map(|segment| segment.size_bytes).sum()
        };
        while self.segments.len() > self.most_parts.min(MOST_SEGMENTS)
            || self.segments.len() > 1 && size_bytes(&self.segments) > MOST_BYTES
        {
            self.segments.pop_front();
        }
    }

    /// Writes what is in it as a recording; returns how many samples it has.
    pub(super) fn save(&mut self, path: &Path) -> Result<u64> {
        let segments = self.segments.make_contiguous();
        save_segments(path, segments).context("saving the samples")?;
        Ok(segments.iter().map(|segment| segment.samples).sum())
    }

    /// Which samples count.
    #[cfg(feature = "tui")]
    pub(super) fn filter(&self) -> Filter {
        self.options.filter.clone()
    }

    /// Which samples are read.
    #[cfg(feature = "tui")]
    pub(super) fn scope(&self) -> SampleScope {
        SampleScope {
            account: self.options.filter.account,
            by: self.options.group_by.dimensions.clone(),
        }
    }

    /// Whether all segments of it are kept.
    #[cfg(feature = "tui")]
    pub(super) fn has_all_segments(&self) -> bool {
        let most = u64::try_from(self.most_parts).unwrap_or(u64::MAX);
        let n_kept = u64::try_from(self.segments.len()).unwrap_or(u64::MAX);
        n_kept >= self.n_taken.min(most)
    }

    /// What is in it as a recording that has no name, to be read.
    #[cfg(feature = "tui")]
    pub(super) fn copied(&mut self) -> Result<Reader> {
        let path = Path::new("memory");
        let file = tempfile::tempfile().context("creating a temporary file for the samples")?;
        let copy = file
            .try_clone()
            .context("creating a temporary file for the samples")?;
        write_segments(file, path, &[], self.segments.make_contiguous())?;
        Ok(Reader::from_file(path, copy)?)
    }

    /// How long it is.
    pub(super) fn time(&self) -> Duration {
        self.times.iter().sum()
    }

    /// Samples that there was no room for.
    pub(super) fn left_out(&self) -> u64 {
        self.window.left_out()
    }

    /// Samples of it that the kernel lost.
    pub(super) fn lost(&self) -> Lost {
        let profile = &self.window.sampled().profile;
        let samples = profile.events.iter().map(|event| event.loss.samples);
        let about = &profile.about;
        Lost {
            samples: samples.fold(0, u64::saturating_add),
            at_least: profile.events.iter().any(|event| event.loss.at_least),
            has_others: about.own_samples > 0 || about.others_samples > 0,
        }
    }

    /// The same, and says so.
    pub(super) fn save_and_say(&mut self, path: &Path) -> Result<()> {
        let samples = self.save(path)?;
        let samples = Counted::new(samples, "sample", "samples");
        let word = quoted(path.as_os_str());
        say::line(format_args!(
            "{samples} saved; next: rprof report -i {word}"
        ));
        Ok(())
    }

    /// What is in it.
    #[cfg(feature = "tui")]
    pub(super) fn sampled(&self) -> &SampledProfile {
        self.window.sampled()
    }

    /// What is in it, counted.
    pub(super) fn profile(&self) -> Profile {
        let sampled = self.window.sampled();
        let mut explorer = Explorer::new(sampled.clone());
        let events = (0..sampled.profile.events.len()).filter_map(|event| {
            let selection = SampleSelection {
                event,
                ..SampleSelection::default()
            };
            explorer.select(&selection, &StackFolding::default())
        });
        let events = events.collect();
        Profile {
            events,
            ..sampled.profile.clone()
        }
    }
}
