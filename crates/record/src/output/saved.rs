//! Segments of a recording as one file.

use crate::error::Error;
use crate::output::features::{self, Features};
use crate::output::segments::RecordedSegment;
use crate::output::{create, duplicate};
use rprof_perfdata::feature::{
    BuildIdEntry, EndReason, EndedStack, LeftOut, SampleTime, StackEnds,
};
use rprof_perfdata::{Feature, FeatureId, Reader, Writer};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes that are copied at a time.
const PIECE: usize = 1 << 20;

/// Sections that are of one segment alone, or made anew.
const LEFT_OUT: [FeatureId; 6] = [
    FeatureId::EVENT_DESC,
    FeatureId::BUILD_ID,
    FeatureId::SAMPLE_TIME,
    FeatureId::STACK_ENDS,
    FeatureId::LEFT_OUT,
    FeatureId::RECORDER_COST,
];

/// Writes segments that follow each other as one recording; an older one of that name becomes `NAME.old`. Returns its
/// size, bytes.
///
/// # Errors
/// [`Error`]: it cannot be written. Then an older recording has its name again.
pub fn save_segments(path: &Path, segments: &[RecordedSegment]) -> Result<u64, Error> {
    let placed = create(path).map_err(|source| Error::Output {
        path: path.to_owned(),
        source,
    })?;
    let written = duplicate(placed.file())
        .and_then(|file| write(file, path, &[], segments).map_err(write_error));
    if written.is_err() {
        placed.take_back();
    }
    written
}

/// The same into a file that has no name, with records in front of it; `path` is what messages call it.
///
/// # Errors
/// [`Error`]: it cannot be written.
pub fn write_segments(
    file: File,
    path: &Path,
    before: &[u8],
    segments: &[RecordedSegment],
) -> Result<u64, Error> {
    write(file, path, before, segments).map_err(write_error)
}

fn write_error(source: rprof_perfdata::Error) -> Error {
    Error::Write {
        source,
        size_bytes: 0,
        status: None,
    }
}

fn write(
    file: File,
    path: &Path,
    before: &[u8],
    segments: &[RecordedSegment],
) -> Result<u64, rprof_perfdata::Error> {
    let readers: Result<Vec<Reader>, _> = segments.iter().map(RecordedSegment::open).collect();
    let readers = readers?;
    let mut sections = Sections::default();
    let events = segments.first().map(|segment| &segment.events[..]);
    let known = readers.last().map(known_of).unwrap_or_default();
    let mut writer = Writer::start(file, path, events.unwrap_or_default(), known)?;
    if !before.is_empty() {
        writer.write(before)?;
    }
    for (nth, (segment, reader)) in segments.iter().zip(&readers).enumerate() {
        let mut data = reader.data();
        if nth > 0 {
            data.start += segment.repeated_bytes;
        }
        let moved = Moved {
            from: data.start,
            to: writer.end(),
        };
        sections.add(reader, moved);
        copy(segment, data, &mut writer)?;
    }
    Ok(writer.finish(sections.encoded())?.size_bytes)
}

/// What a recording says of the machine and of itself.
fn known_of(reader: &Reader) -> Features {
    let ids = reader.features().iter().map(|&(id, _)| id);
    let known = ids.filter(|id| !LEFT_OUT.contains(id));
    let section = |id| Some((id, reader.feature(id).ok()??));
    known.filter_map(section).collect()
}

fn copy(
    segment: &RecordedSegment,
    data: std::ops::Range<u64>,
    writer: &mut Writer,
) -> Result<(), rprof_perfdata::Error> {
    let mut at = data.start;
    let mut piece = Vec::new();
    while at < data.end {
        let len = usize::try_from(data.end - at).unwrap_or(PIECE).min(PIECE);
        piece.resize(len, 0);
        let read = segment.file.read_exact_at(&mut piece, at);
        read.map_err(|source| rprof_perfdata::Error::Io {
            path: "memory".into(),
            source,
        })?;
        writer.write(&piece)?;
        at += len as u64;
    }
    Ok(())
}

/// The offset of a segment's records, and where they are written.
#[derive(Clone, Copy)]
struct Moved {
    from: u64,
    to: u64,
}

/// Sections of all segments together.
#[derive(Default)]
struct Sections {
    build_ids: Vec<BuildIdEntry>,
    times: Option<SampleTime>,
    stacks: StackEnds,
    left_out: LeftOut,
}

impl Sections {
    /// Adds those of a segment.
    fn add(&mut self, reader: &Reader, moved: Moved) {
        for entry in reader.build_ids().0 {
            let is_known = |one: &BuildIdEntry| one.filename == entry.filename;
            if !self.build_ids.iter().any(is_known) {
                self.build_ids.push(entry);
            }
        }
        for &(id, _) in reader.features() {
            let section = reader.feature(id).ok().flatten().unwrap_or_default();
            match Feature::parse(id, &section, reader.endian()) {
                Ok(Feature::SampleTime(times)) => {
                    let first = self.times.map_or(times.first_ns, |all| all.first_ns);
                    let last = self.times.map_or(times.last_ns, |all| all.last_ns);
                    self.times = Some(SampleTime {
                        first_ns: first.min(times.first_ns),
                        last_ns: last.max(times.last_ns),
                    });
                }
                Ok(Feature::StackEnds(stacks)) => self.add_stacks(&stacks, moved),
                Ok(Feature::LeftOut(left_out)) => {
                    self.left_out.own += left_out.own;
                    self.left_out.others += left_out.others;
                }
                _ => {}
            }
        }
    }

    fn add_stacks(&mut self, stacks: &StackEnds, moved: Moved) {
        self.stacks.add_counts(stacks);
        for stack in &stacks.stacks {
            let reason = stacks.reasons.get(stack.reason as usize);
            let place = reason.and_then(|reason| {
                let is_it = |own: &EndReason| (own.end, &own.image) == (reason.end, &reason.image);
                u32::try_from(self.stacks.reasons.iter().position(is_it)?).ok()
            });
            if let (Some(reason), Some(offset)) = (place, stack.offset.checked_sub(moved.from)) {
                self.stacks.stacks.push(EndedStack {
                    offset: moved.to + offset,
                    reason,
                    ..*stack
                });
            }
        }
    }

    fn encoded(self) -> Features {
        let mut all = vec![features::section(FeatureId::BUILD_ID, |encoder| {
            let entries = self.build_ids.iter();
            entries.for_each(|entry| entry.encode(encoder));
        })];
        let times = self.times.as_ref();
        all.extend(times.map(|times| features::encoded(FeatureId::SAMPLE_TIME, times)));
        all.extend(features::of_left_out(self.left_out));
        if self.stacks != StackEnds::default() {
            all.push(features::of_stacks(&self.stacks));
        }
        all
    }
}
