//! Spans that processes wrote to marker files themselves.

use crate::Error;
use crate::binaries::RecordedProcess;
use crate::index::{MappedMarkerFile, has_monotonic_times, recorded_elsewhere, symfs_path};
use crate::recording::Recording;
use crate::spans::{Span, SpanNames, ToldOfSpans};
use rprof_images::{MarkerFile, NoFile};
use rprof_locate::{LiveProcess, is_trusted_owner};
use rprof_machine::Key;
use rprof_untrusted::{Held, OverBudget, printable};
use std::path::Path;

/// Adds the spans of all marker files that processes of a recording had mapped, and their memory.
pub(super) fn add(
    recording: &Recording<'_>,
    (spans, held): (&mut Vec<Span>, &mut Held),
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
    let over = |OverBudget| Error::SpansOverBudget;
    for file in &files {
        let path = String::from_utf8_lossy(&file.path);
        match open(recording, file, &path) {
            Ok(opened) => {
                let n = opened.spans().flatten().count();
                let bytes = (spans.len() + n) * size_of::<Span>();
                held.grow((bytes as u64).saturating_sub(held.bytes()))
                    .map_err(over)?;
                spans.reserve_exact(n);
                for span in opened.spans() {
                    let Some(span) = span else {
                        told.n_bad_lines += 1;
                        continue;
                    };
                    let at = |time_ns| Key { time_ns, offset: 0 };
                    spans.push(Span {
                        name: names.number(span.name).map_err(over)?,
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
