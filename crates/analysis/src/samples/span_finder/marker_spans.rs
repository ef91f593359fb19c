//! Spans that processes wrote to marker files themselves.

use crate::Error;
use crate::binaries::RecordedProcess;
use crate::index::{MappedMarkerFile, has_monotonic_times, recorded_elsewhere, symfs_path};
use crate::recording::Recording;
use crate::spans::{Span, SpanNames, ToldOfSpans};
use rprof_images::{MarkerFile, NoFile};
use rprof_locate::{LiveProcess, is_trusted_owner};
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
    // A file that several threads of a process mapped is one.
    let whose = |file: &MappedMarkerFile| (file.pid, file.path.clone(), file.inode, file.device);
    files.sort_by_cached_key(whose);
    files.dedup_by(|a, b| whose(a) == whose(b));
    let n_files = files.len();
    files.retain(|file| {
        let threads = &recording.index.lifetimes;
        file.tid == file.mapped_by || threads.has_thread(file.pid, file.tid)
    });
    told.n_foreign += (n_files - files.len()) as u64;
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

/// The file as its process sees it, if that still runs, or as we do; or why it is not read.
fn open(
    recording: &Recording<'_>,
    file: &MappedMarkerFile,
    path: &str,
) -> Result<MarkerFile, String> {
    let budget = recording.reader.budget();
    if let Some(root) = &recording.locator.symfs {
        let opened = MarkerFile::open_recorded(&symfs_path(root, path), None, budget);
        return opened.map_err(|why| why.to_string());
    }
    if recorded_elsewhere(recording.reader).is_some() {
        return Err(NoFile::Missing.to_string());
    }
    let process = RecordedProcess::of(file.pid, &recording.index.lifetimes, recording.clock());
    let inside = process.living.map(|living: LiveProcess| living.path(path));
    let read = |path: &Path| {
        let recorded = Some((file.inode, file.device));
        MarkerFile::open_recorded(path, recorded, budget)
    };
    let opened = match inside.map(|path| read(&path)) {
        Some(Ok(opened)) => opened,
        _ => read(Path::new(path)).map_err(|why| why.to_string())?,
    };
    let owner = opened.owner();
    if !is_trusted_owner(owner, process.living) {
        return Err(format!(
            "the file belongs to user {owner}, neither to you nor to root: if you trust it, make root its owner (sudo \
             chown root)"
        ));
    }
    Ok(opened)
}
