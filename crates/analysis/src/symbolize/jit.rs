//! JIT code: its names, and whether those are of the process that was recorded.
//!
//! `/tmp/perf-PID.map` and `jit-PID.dump` are named by a number that processes share one after the other, and have no
//! build id. A perf map counts if its owner could have written it for us to read, and if it was not written before its
//! process began or after it ended ([`RecordedProcess`]). A jitdump counts if it has the recorded inode. Below
//! `--symfs` all do: the user answers for them.

use crate::binaries::RecordedProcess;
use crate::index::{EmbeddedSymbols, for_each_function, recorded_elsewhere, symfs_path};
use crate::locations::Location;
use crate::recording::Recording;
use rprof_base::{Avma, FileOffset};
use rprof_images::NoFile;
use rprof_images::{JitDump, PerfMap};
use rprof_locate::is_trusted_owner;
use rprof_machine::{ImageId, JitCode, RecordedImage};
use rprof_symbols::{Reason, Request, Symbolized, symbolize_jitdump, symbolize_perf_map};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Names locations of such an image; `None` for files of any other sort.
pub(super) fn name_jit_code(
    recording: &Recording<'_>,
    (id, image): (ImageId, &RecordedImage),
    offsets: &[FileOffset],
    request: Request,
) -> Option<Result<Symbolized, Reason>> {
    if let Some(pid) = image.process_of_map() {
        // Of memory without a file, offsets are addresses.
        let addresses: Vec<Avma> = offsets.iter().map(|offset| Avma(offset.0)).collect();
        let map = perf_map(recording, pid);
        return Some(map.and_then(|map| symbolize_perf_map(&map, &addresses)));
    }
    image.is_jitdump().then(|| {
        let found = recording
            .index
            .jitdumps
            .get(&id)
            .map(|jitdump| jitdump.path.as_path());
        let path = found.unwrap_or(Path::new(OsStr::from_bytes(&image.path)));
        let inode = image.inode.filter(|_| recording.locator.symfs.is_none());
        let mut dump = JitDump::open_recorded(path, inode, recording.reader.budget())
            .map_err(Reason::NoFile)?;
        symbolize_jitdump(&mut dump, offsets, request)
    })
}

/// The functions of a jitdump in which any of these locations are, sorted, so that the recording can do
/// without the jitdump.
pub(crate) fn sampled_functions(
    recording: &Recording<'_>,
    (id, image): (ImageId, &RecordedImage),
    locations: &[Location],
    embedded: &EmbeddedSymbols,
) -> Vec<(Option<u64>, JitCode)> {
    let mut hit = Vec::new();
    let jitdumps = &recording.index.jitdumps;
    let dump = jitdumps
        .get(&id)
        .map(|jitdump| JitDump::open(&jitdump.path, recording.reader.budget()));
    let Some(Ok(mut dump)) = dump else {
        return embedded.jit_functions(image);
    };
    // What is read before an error counts, as it does when functions are mapped.
    let _ = for_each_function(&mut dump, recording.reader.budget(), |time_ns, code| {
        let first = locations.partition_point(|location| location.address < code.offset.0);
        let end = code.offset.0.saturating_add(code.len);
        if locations
            .get(first)
            .is_some_and(|location| location.address < end)
        {
            hit.push((time_ns, code));
        }
        ControlFlow::Continue(())
    });
    hit
}

fn perf_map(recording: &Recording<'_>, pid: i32) -> Result<PerfMap, Reason> {
    let path = format!("/tmp/perf-{pid}.map");
    let open = |path: &Path| PerfMap::open(path, recording.reader.budget());
    if let Some(root) = &recording.locator.symfs {
        return open(&symfs_path(root, &path)).map_err(|error| no_map(error.kind()));
    }
    let process = RecordedProcess::of(pid, &recording.index.lifetimes, recording.clock());
    let inside = process.living.map(|living| {
        let path = format!("/tmp/perf-{}.map", living.namespace_pid);
        living.path(&path)
    });
    let map = match inside.map(|path| open(&path)) {
        Some(Ok(map)) => map,
        _ => open(Path::new(&path)).map_err(|error| no_map(error.kind()))?,
    };
    if let Some(machine) = recorded_elsewhere(recording.reader) {
        return Err(Reason::NotItsMap(format!(
            "recorded on {machine}, and this file is not from that machine (use --symfs with a folder of its \
             files)"
        )));
    }
    if process.is_stranger(map.modified()) {
        let why = "written by another process with the same id (--symfs uses it anyway)";
        return Err(Reason::NotItsMap(why.to_owned()));
    }
    let owner = map.owner();
    if !is_trusted_owner(owner, process.living) {
        return Err(Reason::NotItsMap(format!(
            "the file belongs to user {owner}, neither to you nor to root: if you trust it, make root its \
             owner (sudo chown root)"
        )));
    }
    Ok(map)
}

fn no_map(kind: ErrorKind) -> Reason {
    match kind {
        ErrorKind::NotFound => Reason::NoMap,
        kind => Reason::NoFile(NoFile::Unreadable(kind)),
    }
}
