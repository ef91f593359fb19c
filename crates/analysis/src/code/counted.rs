//! What was counted in the code of other recordings, for the code that is shown of one.
//!
//! Addresses in files mean the same in all recordings of a build. The kernel's and those of modules are moved by where
//! each boot loaded them. Code that a process made while it ran is in no other recording.

use super::recording::{CodeOptions, count};
use crate::Error;
use crate::index::SampleOrder;
use crate::locations::Location;
use crate::pass::{CodeCounts, Progress};
use crate::recording::Recording;
use crate::samples::check_filter;
use foldhash::HashMap;
use foldhash::fast::RandomState;
use rprof_base::{BuildId, Counted, Interner};
use rprof_locate::Locator;
use rprof_machine::{History, ImageId, ImageKind, RecordedImage};
use rprof_perfdata::{Reader, RecordedEvent};
use rprof_profile::SampleCount;

/// Samples of recordings by image and address, without the recordings: as large as what is distinct in them.
#[derive(Debug, Default)]
pub struct CountedCode {
    /// Those with samples.
    images: Interner<ImageId, RecordedImage, RandomState>,
    events: Vec<CountedEvent>,
}

/// Samples of one event.
#[derive(Debug, Default)]
struct CountedEvent {
    name: String,
    /// Wherever they are.
    all: SampleCount,
    /// By address in an image.
    at: HashMap<Location, SampleCount>,
    /// Those that are in no image.
    nowhere: u64,
}

impl CountedCode {
    /// Adds the samples of a recording; `progress` is told how far it is. Returns what could not be used, one sentence
    /// each.
    ///
    /// # Errors
    /// [`Error`] if it cannot be read at all.
    pub fn add(
        &mut self,
        reader: &Reader,
        locator: &Locator,
        options: &CodeOptions,
        progress: &mut Progress<'_>,
    ) -> Result<Vec<String>, Error> {
        check_filter(reader, &options.filter)?;
        let recording = Recording::open(reader, locator, SampleOrder::Any)?;
        let (query, counts) = count(&recording, options, progress)?;
        let images = recording.index.history.images();
        let mut numbers: HashMap<u32, Option<ImageId>> = HashMap::default();
        let names: Vec<&str> = reader
            .events()
            .iter()
            .map(|event| event.name.raw())
            .collect();
        for (nth, &name) in names.iter().enumerate() {
            let known = same_event(&names[..=nth], self.events.iter().map(|event| &*event.name));
            let number = known.unwrap_or_else(|| {
                self.events.push(CountedEvent {
                    name: name.to_owned(),
                    ..CountedEvent::default()
                });
                self.events.len() - 1
            });
            let event = &mut self.events[number];
            event.all += counts.all.get(nth).copied().unwrap_or_default();
            for (location, &count) in counts.at.get(nth).into_iter().flatten() {
                let image = numbers.entry(location.image).or_insert_with(|| {
                    let image = images.of(ImageId(location.image))?;
                    Some(self.images.intern(image.clone()))
                });
                match *image {
                    Some(ImageId(image)) => {
                        *event.at.entry(Location { image, ..*location }).or_default() += count
                    }
                    None => event.nowhere += count.samples,
                }
            }
        }
        let of_source = query.samples.source.warnings();
        Ok(recording.warnings().chain(of_source).collect())
    }

    /// Its locations among the images of a recording, which images that it does not have are added to.
    pub(super) fn placed(self, events: &[RecordedEvent], history: &mut History) -> PlacedCode {
        let known = KnownImages::of(history);
        let images = self.images.values().iter();
        let images: Vec<_> = images.map(|image| known.placed(image, history)).collect();
        let mut placed = PlacedCode::default();
        let names: Vec<&str> = self.events.iter().map(|event| &*event.name).collect();
        for (nth, event) in self.events.iter().enumerate() {
            let Some(number) =
                same_event(&names[..=nth], events.iter().map(|event| event.name.raw()))
            else {
                if event.all.samples > 0 {
                    let n = Counted::new(event.all.samples, "sample", "samples");
                    placed.left_out.push(format!(
                        "{n} of {}, which the first recording does not have, are not shown",
                        event.name
                    ));
                }
                continue;
            };
            let mut elsewhere = event.nowhere;
            let mut at = Vec::with_capacity(event.at.len());
            for (location, &count) in &event.at {
                let place = images.get(location.image as usize).copied().flatten();
                let Some((ImageId(image), shift)) = place else {
                    elsewhere = elsewhere.saturating_add(count.samples);
                    continue;
                };
                let address = location.address.wrapping_add(shift);
                at.push((Location { image, address }, count));
            }
            if elsewhere > 0 {
                let n = Counted::new(elsewhere, "sample", "samples");
                placed.left_out.push(format!(
                    "{n} of {} count in percentages only: they are in code made at run time, or in a file or kernel \
                     that is not proved to be the same in the first recording",
                    event.name
                ));
            }
            placed.events.push(PlacedEvent {
                number,
                all: event.all,
                at,
            });
        }
        placed
    }
}

/// The number of the event that is the same as the last of these names: the nth of a name is the nth of that name.
fn same_event<'a>(names: &[&str], others: impl Iterator<Item = &'a str>) -> Option<usize> {
    let (name, before) = names.split_last()?;
    let n_before = before.iter().filter(|one| *one == name).count();
    let mut same = others.enumerate().filter(|(_, other)| other == name);
    same.nth(n_before).map(|(number, _)| number)
}

/// What was counted in other recordings, in terms of this one.
#[derive(Debug, Default)]
pub(super) struct PlacedCode {
    events: Vec<PlacedEvent>,
    /// What has no place here, one sentence each.
    pub(super) left_out: Vec<String>,
}

/// Samples of one event.
#[derive(Debug)]
struct PlacedEvent {
    number: usize,
    /// Wherever they are.
    all: SampleCount,
    at: Vec<(Location, SampleCount)>,
}

impl PlacedCode {
    /// Adds it to what was counted here.
    pub(super) fn add_to(&self, counts: &mut CodeCounts) {
        for event in &self.events {
            if let Some(own) = counts.all.get_mut(event.number) {
                *own += event.all;
            }
            let Some(own) = counts.at.get_mut(event.number) else {
                continue;
            };
            for &(location, count) in &event.at {
                *own.entry(location).or_default() += count;
            }
        }
    }
}

/// Images of a recording by what is in them.
#[derive(Debug)]
struct KnownImages(HashMap<BuildId, Vec<(ImageId, ImageKind)>>);

impl KnownImages {
    fn of(history: &History) -> Self {
        let mut known: HashMap<BuildId, Vec<(ImageId, ImageKind)>> = HashMap::default();
        for (id, image) in history.images().iter() {
            if let Some(build_id) = &image.build_id {
                let same = known.entry(build_id.clone()).or_default();
                same.push((id, image.kind));
            }
        }
        Self(known)
    }

    /// The same image of another recording, and how much further its addresses are there; `None` if it may be another.
    /// Without a build ID, nothing says that a file is still the same.
    fn placed(&self, image: &RecordedImage, history: &mut History) -> Option<(ImageId, u64)> {
        let build_id = image.build_id.as_ref()?;
        if image.is_memory() {
            return None;
        }
        let same = self.0.get(build_id).map(Vec::as_slice);
        let found = (same.unwrap_or_default().iter())
            .find_map(|&(id, kind)| Some((id, shift(image.kind, kind)?)));
        let is_file = image.kind == ImageKind::User;
        found.or_else(|| is_file.then(|| (history.add_image(image.clone()), 0)))
    }
}

/// How much further the addresses of one image are than those of the other; `None` if that is not known.
fn shift(from: ImageKind, to: ImageKind) -> Option<u64> {
    match (from, to) {
        (ImageKind::User, ImageKind::User) => Some(0),
        (
            ImageKind::Kernel {
                reference_avma: from,
            },
            ImageKind::Kernel { reference_avma: to },
        ) => Some(to?.wrapping_sub(from?)),
        (ImageKind::Module { start_avma: from }, ImageKind::Module { start_avma: to }) => {
            Some(to.wrapping_sub(from))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_and_modules_are_moved_by_where_they_were_loaded() {
        let kernel = |reference_avma| ImageKind::Kernel { reference_avma };
        assert_eq!(
            shift(kernel(Some(0x1000)), kernel(Some(0x5000))),
            Some(0x4000)
        );
        assert_eq!(shift(kernel(None), kernel(Some(0x5000))), None);
        let module = |start_avma| ImageKind::Module { start_avma };
        assert_eq!(
            shift(module(0x5000), module(0x1000)),
            Some(0x4000_u64.wrapping_neg())
        );
        assert_eq!(shift(ImageKind::User, module(0)), None);
        assert_eq!(
            shift(ImageKind::KernelSymbol, ImageKind::KernelSymbol),
            None
        );
    }

    #[test]
    fn the_nth_event_of_a_name_is_the_nth_of_that_name() {
        let number = |names: &[&str]| same_event(names, ["b", "a", "b"].into_iter());
        assert_eq!(number(&["a"]), Some(1));
        assert_eq!(number(&["b"]), Some(0));
        assert_eq!(number(&["b", "b"]), Some(2));
        assert_eq!(number(&["b", "b", "b"]), None);
        assert_eq!(number(&["c"]), None);
    }

    #[test]
    fn files_meet_by_what_is_in_them() {
        let image = |path: &str, build_id: Option<u8>, inode| RecordedImage {
            path: path.as_bytes().to_vec(),
            build_id: build_id.map(|byte| rprof_base::BuildId::new(&[byte; 20]).unwrap()),
            inode,
            device: None,
            kind: ImageKind::User,
        };
        let mut history = History::default();
        let here = history.add_image(image("/a", Some(1), None));
        history.add_image(image("/old", None, Some(7)));
        let known = KnownImages::of(&history);
        let mut place = |image| known.placed(&image, &mut history).map(|(id, _)| id);
        assert_eq!(place(image("/elsewhere/a", Some(1), None)), Some(here));
        // Another build, which is added; and files that may be others.
        let added = place(image("/a", Some(2), None));
        assert!(added.is_some_and(|id| id != here));
        assert_eq!(place(image("/old", None, Some(7))), None);
        assert_eq!(place(image("//anon", None, None)), None);
    }
}
