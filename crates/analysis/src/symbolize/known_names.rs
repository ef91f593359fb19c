//! Names of recordings that follow each other: what was found once is not looked for again.
//!
//! Who looks at a program while it runs reads a recording every second. Opening the kernel's list of symbols and large
//! tables each time takes longer than all else. So it is kept which function is at which addresses of an image, in a
//! small form, and what was found beside that where samples were: an image is one by its build id, or by a file that
//! has not changed since. What is made while programs run has other names at other times, and is asked for each time.
//!
//! Programs come and go: what no reading asks for any more is forgotten.

use crate::locations::Location;
use foldhash::HashMap;
use rprof_base::Svma;
use rprof_machine::{ImageKind, RecordedImage};
use rprof_symbols::{Collector, Frame, FunctionIndex, Reason, Symbolized};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Frames of one image's locations, in their order; or why there are none.
pub(crate) type SymbolizeResult = Result<Symbolized, Reason>;

/// Names of code locations, by image.
#[derive(Debug, Default)]
pub struct KnownNames {
    images: Mutex<KnownImages>,
    /// What would give images their names, by name and reason.
    hints: Mutex<KnownHints>,
}

type KnownHints = HashMap<(Vec<u8>, String), KnownHint>;

/// Hints that are remembered. Then all are forgotten.
const MOST_HINTS: usize = 1024;

/// Readings after which something is forgotten that none of them has asked for: a minute of `rprof top`.
const MOST_UNASKED: u64 = 30;

#[derive(Debug, Default)]
struct KnownImages {
    all: HashMap<ImageIdentity, KnownImage>,
    /// Readings so far.
    n_readings: u64,
    /// Of all images.
    n_places: usize,
    /// Of their indexes.
    n_bytes: usize,
}

/// Places that are remembered, some 30 MB of them. Then all are forgotten.
const MOST_PLACES: usize = 1 << 18;

/// Bytes of indexes. Of more, all are forgotten.
const MOST_BYTES: usize = 80 << 20;

/// What tells images apart whose names are the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ImageIdentity {
    image: RecordedImage,
    /// Of a file without a build id: its length, and when it changed.
    file: Option<(u64, i64, i64)>,
}

/// What is known of an image.
#[derive(Debug, Default)]
struct KnownImage {
    /// The last reading that asked for it.
    asked: u64,
    /// By where each begins.
    places: BTreeMap<u64, KnownPlace>,
    /// Why some have no name.
    reason: Option<Reason>,
    /// All functions, once they were read.
    index: Option<FunctionIndex>,
    /// They were asked for.
    is_indexed: bool,
}

/// What would give an image its names.
#[derive(Debug)]
struct KnownHint {
    /// The last reading that asked for it.
    asked: u64,
    hint: Option<String>,
}

/// Addresses that have the same frames.
#[derive(Debug)]
struct KnownPlace {
    /// The first address behind them.
    end: u64,
    /// Innermost first; empty without a name.
    frames: Vec<(Frame, Arc<str>)>,
    /// Of what has no name, where its function begins.
    function_start: Option<Svma>,
}

impl ImageIdentity {
    /// `None` if others may have the same, or names change.
    fn of(image: &RecordedImage) -> Option<Self> {
        let file = match image.kind {
            ImageKind::Kernel { .. } | ImageKind::Module { .. } => None,
            ImageKind::User if image.build_id.is_some() && !image.is_jit_code() => None,
            ImageKind::User if image.is_file() => {
                let meta = Path::new(OsStr::from_bytes(&image.path)).metadata();
                let meta = meta.ok().filter(|meta| Some(meta.ino()) == image.inode)?;
                Some((
                    meta.len(),
                    meta.mtime_nsec() ^ meta.mtime() << 30,
                    meta.ctime(),
                ))
            }
            _ => return None,
        };
        let image = image.clone();
        Some(Self { image, file })
    }
}

impl KnownNames {
    /// Another recording is read: what none of the last ones asked for is forgotten.
    pub(crate) fn begin_reading(&self) {
        let mut images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        images.n_readings += 1;
        let is_asked = |asked| is_asked(asked, images.n_readings);
        let mut hints = self.hints.lock().unwrap_or_else(PoisonError::into_inner);
        hints.retain(|_, hint| is_asked(hint.asked));
        images.forget_unasked();
    }

    /// Names locations of an image, sorted: from here, and what is not here by `ask`.
    pub(super) fn name(
        &self,
        image: &RecordedImage,
        locations: &[Location],
        ask: impl Fn(&[Location], bool) -> Option<SymbolizeResult>,
    ) -> Option<SymbolizeResult> {
        let Some(identity) = ImageIdentity::of(image) else {
            return ask(locations, false);
        };
        let (missing, is_indexed) = self.missing(&identity, locations);
        if !missing.is_empty() {
            // Others may ask of other images meanwhile.
            let found = ask(&missing, !is_indexed)?;
            let Ok(found) = found else {
                return Some(found);
            };
            if found.is_over_budget() {
                return ask(locations, false);
            }
            let mut images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
            images.learn(&identity, &missing, found);
        }
        let images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        match images.all.get(&identity) {
            Some(known) if known.has_all(locations) => Some(Ok(known.symbolized(locations))),
            // All were forgotten meanwhile.
            _ => ask(locations, false),
        }
    }

    /// What would give images their names: from here, and what is not here by `ask`.
    pub(crate) fn hints(
        &self,
        images: &[(&RecordedImage, &Reason)],
        ask: impl Fn(&[(&RecordedImage, &Reason)]) -> Vec<Option<String>>,
    ) -> Vec<Option<String>> {
        let key = |(image, reason): &(&RecordedImage, &Reason)| {
            (image.long_name().to_vec(), reason.to_string())
        };
        let now = self.n_readings();
        let mut known = self.hints.lock().unwrap_or_else(PoisonError::into_inner);
        let is_missing = |one: &&(&RecordedImage, &Reason)| !known.contains_key(&key(one));
        let missing: Vec<_> = images.iter().filter(is_missing).copied().collect();
        if !missing.is_empty() && known.len() + missing.len() > MOST_HINTS {
            known.clear();
            return ask(images);
        }
        if !missing.is_empty() {
            let found = ask(&missing).into_iter();
            let found = found.map(|hint| KnownHint { asked: now, hint });
            known.extend(missing.iter().map(key).zip(found));
        }
        let hints = images.iter().map(|one| {
            let known = known.get_mut(&key(one))?;
            known.asked = now;
            known.hint.clone()
        });
        hints.collect()
    }

    /// Readings so far.
    fn n_readings(&self) -> u64 {
        let images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        images.n_readings
    }

    /// Those that are not known, after what the index has; and whether there is one.
    fn missing(&self, identity: &ImageIdentity, locations: &[Location]) -> (Vec<Location>, bool) {
        let mut images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        let now = images.n_readings;
        let Some(known) = images.all.get_mut(identity) else {
            return (locations.to_vec(), false);
        };
        known.asked = now;
        let n_before = known.places.len();
        let is_missing = |location: &&Location| {
            known.place(location.address).is_none() && !known.learn_indexed(location.address)
        };
        let missing = locations.iter().filter(is_missing).copied().collect();
        let (is_indexed, n_new) = (known.is_indexed, known.places.len() - n_before);
        images.n_places += n_new;
        if images.n_places > MOST_PLACES {
            images.forget_all();
        }
        (missing, is_indexed)
    }
}

impl KnownImages {
    fn learn(&mut self, identity: &ImageIdentity, locations: &[Location], mut found: Symbolized) {
        let index = found.take_index();
        let n_bytes = index.as_ref().map_or(0, FunctionIndex::n_bytes);
        let is_full = self.n_places + locations.len() > MOST_PLACES;
        if is_full || n_bytes > 0 && self.n_bytes + n_bytes > MOST_BYTES {
            self.forget_all();
        }
        let image = self.all.entry(identity.clone()).or_default();
        image.asked = self.n_readings;
        if let Some(reason) = found.missing_reason() {
            image.reason = Some(reason.clone());
        }
        image.is_indexed = true;
        if let Some(index) = index {
            let before = image.index.replace(index);
            self.n_bytes += n_bytes;
            self.n_bytes -= before.as_ref().map_or(0, FunctionIndex::n_bytes);
        }
        let n_before = image.places.len();
        for (idx, location) in locations.iter().enumerate() {
            image.learn(location.address, idx, &found);
        }
        self.n_places += image.places.len() - n_before;
    }

    fn forget_all(&mut self) {
        self.all.clear();
        (self.n_places, self.n_bytes) = (0, 0);
    }

    fn forget_unasked(&mut self) {
        let n_before = self.all.len();
        self.all
            .retain(|_, image| is_asked(image.asked, self.n_readings));
        if self.all.len() == n_before {
            return;
        }
        let images = || self.all.values();
        self.n_places = images().map(|image| image.places.len()).sum();
        let indexes = images().filter_map(|image| image.index.as_ref());
        self.n_bytes = indexes.map(FunctionIndex::n_bytes).sum();
        self.all.shrink_to_fit();
    }
}

/// Whether one of the last readings asked for it.
fn is_asked(asked: u64, n_readings: u64) -> bool {
    n_readings - asked <= MOST_UNASKED
}

impl KnownImage {
    fn place(&self, address: u64) -> Option<(u64, &KnownPlace)> {
        let (&start, place) = self.places.range(..=address).next_back()?;
        (address < place.end).then_some((start, place))
    }

    fn has_all(&self, locations: &[Location]) -> bool {
        let mut addresses = locations.iter().map(|location| location.address);
        addresses.all(|address| self.place(address).is_some())
    }

    fn learn(&mut self, address: u64, idx: usize, found: &Symbolized) {
        if self.place(address).is_some() || self.learn_indexed(address) {
            return;
        }
        let frames = found.frames(idx).iter();
        let frames = frames.map(|frame| (*frame, Arc::from(found.name(frame.name))));
        let place = KnownPlace {
            end: address.saturating_add(1),
            frames: frames.collect(),
            function_start: found.function_start(idx),
        };
        self.places.insert(address, place);
    }

    /// Learns of the function at an address from the index, if that has it.
    fn learn_indexed(&mut self, address: u64) -> bool {
        let Some(function) = self.index.as_ref().and_then(|index| index.find(address)) else {
            return false;
        };
        let end = function.at.saturating_add(function.len.into());
        if self.places.range(function.at..end).next().is_some() {
            return false;
        }
        let place = KnownPlace {
            end,
            frames: vec![(function.frame, Arc::from(function.name))],
            function_start: None,
        };
        self.places.insert(function.at, place);
        true
    }

    /// Frames of locations, all of which are known.
    fn symbolized(&self, locations: &[Location]) -> Symbolized {
        let mut collector = Collector::default();
        for location in locations {
            if let Some((start, place)) = self.place(location.address) {
                let into = location.address - start;
                for (frame, name) in &place.frames {
                    let name = collector.name(name.as_bytes(), |_| name.to_string());
                    collector.frame(Frame {
                        name,
                        offset: frame.offset.wrapping_add(into),
                        line: None,
                        ..*frame
                    });
                }
                if let Some(start) = place.function_start {
                    collector.function_start(start);
                }
            }
            collector.end_address();
        }
        if let Some(reason) = &self.reason {
            collector.explain(reason.clone());
        }
        collector.finish()
    }
}

#[cfg(test)]
mod tests;
