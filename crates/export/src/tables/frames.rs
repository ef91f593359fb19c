//! Code locations as rows of `frames`.

use super::error::TablesError;
use super::hash::{Collision, ContentHash, KnownHashes};
use super::place::{Place, System, level_name};
use super::schema::FrameColumns;
use super::table::TableWriter;
use rprof_analysis::{Location, Recording, Symbols};
use rprof_machine::ImageId;
use rprof_profile::Level;
use std::borrow::Cow;

/// A frame of a location: a function, or one that was inlined there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Frame<'a> {
    /// `None` if nothing names it.
    function: Option<Cow<'a, str>>,
    is_inlined: bool,
    level: Level,
    module: &'a str,
    source: Option<(&'a str, u32)>,
}

/// The locations of a recording, as they were written.
#[derive(Debug, Default)]
pub(super) struct WrittenFrames {
    /// The hash of each location, by its number; a hidden one has none.
    pub(super) hashes: Vec<Option<i64>>,
    known: LocationHashes,
}

impl WrittenFrames {
    /// What is to be said of them, if there is anything.
    pub(super) fn warning(&self) -> Option<String> {
        let n = self.known.n_collisions;
        let what = "names of code that have the hash of other code, and are counted as that";
        (n > 0).then(|| format!("{n} {what}"))
    }
}

/// The hashes of locations so far.
#[derive(Debug, Default)]
struct LocationHashes {
    known: KnownHashes,
    /// Names of code that have the hash of other code.
    n_collisions: usize,
}

impl LocationHashes {
    /// Adds one; whether it is new. Processes choose names: that the hash of one is taken is no error.
    fn add(&mut self, content: ContentHash, place: &Place<'_>) -> Result<bool, TablesError> {
        match self.known.add(content) {
            Ok(is_new) => Ok(is_new),
            Err(Collision(_)) if place.is_by_name() => {
                self.n_collisions += 1;
                Ok(false)
            }
            Err(Collision(hash)) => Err(TablesError::Collision {
                what: "code locations",
                hash,
            }),
        }
    }
}

/// The names of all locations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names<'a> {
    /// As they are written.
    pub(super) shown: &'a Symbols,
    /// Of code that is hashed by its name: as it was recorded.
    pub(super) recorded: &'a Symbols,
}

/// Writes all locations of a recording. Those that are hashed by their names come last: processes choose names, and
/// must not take the place of other code.
pub(super) fn write_frames(
    recording: &Recording<'_>,
    system: System<'_>,
    names: Names<'_>,
    table: &mut TableWriter<FrameColumns>,
) -> Result<WrittenFrames, TablesError> {
    let locations = names.shown.locations();
    let mut hashes = vec![None; locations.len()];
    let mut known = LocationHashes::default();
    for are_by_name in [false, true] {
        // Locations are in the order of their images.
        let mut of_image: Option<(u32, Place<'_>)> = None;
        for ((number, &location), slot) in (0..).zip(locations).zip(&mut hashes) {
            let known_place = of_image.take_if(|(image, _)| *image == location.image);
            let (_, place) = &*of_image.insert(known_place.unwrap_or_else(|| {
                let images = recording.index.history.images();
                let place = Place::of(images.of(ImageId(location.image)), system);
                (location.image, place)
            }));
            if place.is_by_name() != are_by_name {
                continue;
            }
            let Some((content, frames)) = names.hashed_frames(number, location, place) else {
                continue;
            };
            *slot = Some(content.hash);
            if known.add(content, place)? {
                let offset = place.offset(location.address);
                write_location((content.hash, offset), place, &frames, table)?;
            }
        }
    }
    Ok(WrittenFrames { hashes, known })
}

impl<'a> Names<'a> {
    /// The hash of a location, and its frames, innermost first; `None` if it is not shown.
    fn hashed_frames(
        self,
        number: u32,
        location: Location,
        place: &Place<'_>,
    ) -> Option<(ContentHash, Vec<Frame<'a>>)> {
        let hash = |frame: &Frame<'_>| {
            place.hash(location.address, frame.level, frame.function.as_deref())
        };
        if !place.is_by_name() {
            let frames = frames_of(self.shown, number);
            return Some((hash(frames.last()?), frames));
        }
        let shown = named_frame(self.shown, number)?;
        let recorded = named_frame(self.recorded, self.recorded.number(location));
        Some((hash(recorded.as_ref().unwrap_or(&shown)), vec![shown]))
    }
}

/// The frames of a location, innermost first.
fn frames_of(symbols: &Symbols, number: u32) -> Vec<Frame<'_>> {
    let lines = symbols.lines(number);
    let frames = symbols.frames(number).iter().enumerate();
    let frames = frames.map(|(depth, &id)| {
        let frame = symbols.functions.of(id);
        let line = lines.get(depth).copied().flatten();
        Frame {
            function: frame.filter_name(&symbols.strings),
            is_inlined: frame.is_inlined,
            level: frame.level,
            module: symbols.strings.of(frame.image).into_raw(),
            source: line
                .filter(|&(_, line)| line > 0)
                .map(|(file, line)| (symbols.strings.of(file).into_raw(), line)),
        }
    });
    frames.collect()
}

/// The function of a location by its name alone, without what debug information on this machine knows of it.
fn named_frame(symbols: &Symbols, number: u32) -> Option<Frame<'_>> {
    let &id = symbols.frames(number).last()?;
    let frame = symbols.functions.of(id);
    Some(Frame {
        function: frame
            .name
            .map(|name| symbols.strings.of(name).into_raw().into()),
        is_inlined: false,
        level: frame.level,
        module: symbols.strings.of(frame.image).into_raw(),
        source: None,
    })
}

fn write_location(
    (hash, offset): (i64, Option<i64>),
    place: &Place<'_>,
    frames: &[Frame<'_>],
    table: &mut TableWriter<FrameColumns>,
) -> Result<(), TablesError> {
    let path = place.path.filter(|path| !path.is_empty());
    // The short name of code in memory has the number of its process.
    let module = path.filter(|path| path.starts_with(b"["));
    let known = knowledge(frames, table.columns.recording_number);
    for (depth, frame) in (0..).zip(frames) {
        let columns = &mut table.columns;
        columns.frame_hash.push(hash);
        columns.inline_depth.push(depth);
        let digits = place.digits.as_deref();
        columns.build_id.push_option(digits.map(str::as_bytes));
        columns.offset.push_option(offset);
        let function = frame.function.as_deref().map(str::as_bytes);
        let function = function.filter(|name| !name.is_empty());
        columns.function.push_option(function);
        columns.is_inlined.push(frame.is_inlined);
        columns
            .module
            .push(module.unwrap_or(frame.module.as_bytes()));
        columns.path.push_option(path);
        columns.level.push(level_name(frame.level).as_bytes());
        let file = frame.source.map(|(file, _)| file.as_bytes());
        columns
            .file
            .push_option(file.filter(|file| !file.is_empty()));
        let line = frame.source.and_then(|(_, line)| i32::try_from(line).ok());
        columns.line.push_option(line);
        columns.known.push(known);
        table.end_row()?;
    }
    Ok(())
}

/// How much a recording knows of a location. One more function outweighs all names and lines, so that of the recordings
/// that know most, all have the same number of rows. Of two that know as much, `recording` tells which one counts.
fn knowledge(frames: &[Frame<'_>], recording: u32) -> i64 {
    const FUNCTION: i64 = 1000;
    let of_frame = |frame: &Frame<'_>| {
        let is_named = |name: &&str| !name.is_empty() && !name.starts_with('[');
        let has_name = frame.function.as_deref().filter(is_named).is_some();
        FUNCTION + i64::from(has_name) + i64::from(frame.source.is_some())
    };
    let sum: i64 = frames.iter().map(of_frame).sum();
    sum << u32::BITS | i64::from(recording)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_machine::{ImageKind, RecordedImage};

    #[test]
    fn a_name_whose_hash_is_taken_is_counted_and_said_and_other_code_is_an_error() {
        let by_name = Place::default();
        let file = RecordedImage {
            path: b"/a".to_vec(),
            build_id: None,
            inode: None,
            device: None,
            kind: ImageKind::User,
        };
        let by_path = Place::of(Some(&file), System::default());
        let content = |check| ContentHash { hash: 7, check };
        let mut known = LocationHashes::default();
        assert!(known.add(content(1), &by_path).unwrap());
        assert!(!known.add(content(1), &by_path).unwrap());
        let error = known.add(content(2), &by_path).unwrap_err().to_string();
        assert_eq!(
            error,
            "two code locations have the hash 7: nothing is written"
        );
        let warning = |known| {
            let hashes = Vec::new();
            WrittenFrames { hashes, known }.warning()
        };
        assert_eq!(warning(LocationHashes::default()), None);
        assert!(!known.add(content(2), &by_name).unwrap());
        let said = warning(known).unwrap();
        assert!(
            said.starts_with("1 names of code that have the hash"),
            "{said}"
        );
    }

    #[test]
    fn one_more_function_outweighs_names_and_lines() {
        let frame = |function: Option<&'static str>, source| Frame {
            function: function.map(Cow::Borrowed),
            is_inlined: false,
            level: Level::User,
            module: "a",
            source,
        };
        let nothing = frame(None, None);
        let by_place = frame(Some("[a+0x10]"), None);
        let named = frame(Some("f"), None);
        let all = frame(Some("f"), Some(("f.c", 1)));
        let rising = [
            &[by_place][..],
            &[named],
            &[all],
            &[nothing.clone(), nothing],
        ];
        let of_recordings = |frames| [1, u32::MAX].map(|recording| knowledge(frames, recording));
        let rising = rising.map(of_recordings);
        assert!(rising.as_flattened().is_sorted_by(|a, b| a < b));
    }
}
