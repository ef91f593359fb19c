//! Spans that processes wrote to marker files themselves.

use crate::Error;
use crate::index::{MappedMarkerFile, has_monotonic_times, recorded_elsewhere, symfs_path};
use crate::recording::Recording;
use crate::spans::{Span, SpanNames, ToldOfSpans};
use rprof_images::{MarkerFile, NoFile};
use rprof_locate::LiveProcess;
use rprof_machine::Key;
use rprof_untrusted::{OverBudget, printable};
use std::path::Path;

/// Adds the spans of all marker files that processes of a recording had mapped.
pub(super) fn add(
    recording: &Recording<'_>,
    spans: &mut Vec<Span>,
    names: &mut SpanNames,
    told: &mut ToldOfSpans,
) -> Result<(), Error> {
    let mut files = recording.index.marker_files.clone();
    if files.len() == MappedMarkerFile::MOST {
        (told.others).push("too many marker files are mapped: some were not read".to_owned());
    }
    files.sort_unstable();
    files.dedup();
    if !files.is_empty() && !has_monotonic_times(recording.reader) {
        let why = "marker files were not read: their times are of CLOCK_MONOTONIC, those of the recording are not \
                   (record with -k monotonic)";
        told.others.push(why.to_owned());
        return Ok(());
    }
    let mut held = recording.reader.budget().hold_nothing();
    for file in &files {
        let path = String::from_utf8_lossy(&file.path);
        match open(recording, file, &path) {
            Ok(opened) => {
                for span in opened.spans() {
                    let Some(span) = span else {
                        told.n_bad_lines += 1;
                        continue;
                    };
                    let bytes = size_of::<Span>() as u64;
                    held.grow(bytes)
                        .map_err(|OverBudget| Error::SpansOverBudget)?;
                    let at = |time_ns| Key { time_ns, offset: 0 };
                    spans.push(Span {
                        name: names.number(span.name),
                        tid: file.tid,
                        start: at(span.start_ns),
                        end: at(span.end_ns),
                        ns: span.end_ns - span.start_ns,
                        is_ended: true,
                    });
                }
            }
            Err(why) => {
                (told.others).push(format!("{}: {why}: no spans from it", printable(&path)))
            }
        }
    }
    Ok(())
}

/// The file as its process sees it, if that still runs, or as we do.
fn open(
    recording: &Recording<'_>,
    file: &MappedMarkerFile,
    path: &str,
) -> Result<MarkerFile, NoFile> {
    let budget = recording.reader.budget();
    if let Some(root) = &recording.locator.symfs {
        return MarkerFile::open_recorded(&symfs_path(root, path), None, budget);
    }
    if recorded_elsewhere(recording.reader).is_some() {
        return Err(NoFile::Missing);
    }
    let inside = LiveProcess::of(file.pid).map(|living| living.path(path));
    if let Some(inside) = inside
        && let Ok(opened) = MarkerFile::open_recorded(&inside, file.inode, budget)
    {
        return Ok(opened);
    }
    MarkerFile::open_recorded(Path::new(path), file.inode, budget)
}
