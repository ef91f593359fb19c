//! The file of an image: found in one way by all that read files, so that nothing is taken from
//! a wrong one.

mod process;

pub(crate) use process::RecordedProcess;

use crate::index::{recorded_elsewhere, recording_ended, wall_at_the_latest};
use crate::recording::{Contents, ProcessesByImage, Recording};
use foldhash::HashSet;
use rprof_base::BuildId;
use rprof_images::{Fingerprint, JitDump, Located, NoFile};
use rprof_locate::{Recorded, kernel_build_id};
use rprof_machine::{ImageId, ImageKind, Key, RecordedImage};
use rprof_perfdata::{Feature, FeatureId, Reader};
use std::collections::hash_map::Entry;
use std::time::SystemTime;

/// Finds the file of a user image.
pub(crate) fn locate(
    recording: &Recording<'_>,
    id: ImageId,
    image: &RecordedImage,
) -> Result<Located, NoFile> {
    // Records never have the vdso's own id, but it goes with the kernel.
    if image.path == b"[vdso]" && image.build_id.is_none() && !is_this_kernel(recording) {
        return Err(NoFile::OtherKernel);
    }
    let recorded = Recorded {
        path: &image.path,
        build_id: image.build_id.as_ref(),
        inode: image.inode,
        device: image.device,
        fingerprint: fingerprint_of(recording, image),
        unchanged_since: unchanged_since(recording, id, image),
        processes: &[],
    };
    let here = recording.locator.locate(recorded);
    if here.as_ref().is_ok_and(|files| !files.is_debug_only()) {
        return here;
    }
    let processes = recording
        .processes
        .get_or_init(|| find_processes(recording))
        .get(&id);
    let elsewhere = processes.map(|processes| {
        recording.locator.locate(Recorded {
            processes,
            ..recorded
        })
    });
    elsewhere.unwrap_or(here).or_else(|reason| {
        let id = image.build_id.as_ref();
        let on_servers = id.and_then(|id| recording.locator.locate_on_servers(id));
        on_servers.ok_or(reason)
    })
}

/// When a file without a build id was mapped first, or at least when the recording was over;
/// `perf inject` writes files of JIT code later.
fn unchanged_since(
    recording: &Recording<'_>,
    id: ImageId,
    image: &RecordedImage,
) -> Option<SystemTime> {
    if image.build_id.is_some() || image.is_jit_code() {
        return None;
    }
    let (reader, clock) = (recording.reader, recording.clock());
    let mapped_ns = recording.index.history.first_mapped_ns(id);
    let mapped = mapped_ns.and_then(|ns| wall_at_the_latest(reader, clock, ns));
    let ended = recording_ended(reader, clock);
    mapped.into_iter().chain(ended).min()
}

fn fingerprint_of(recording: &Recording<'_>, image: &RecordedImage) -> Option<Fingerprint> {
    let contents = recording
        .contents
        .get_or_init(|| contents_of(recording.reader));
    let key = (image.path.clone(), image.inode?, image.device?);
    contents.get(&key).copied()
}

fn find_processes(recording: &Recording<'_>) -> ProcessesByImage {
    let mut found = ProcessesByImage::default();
    if recorded_elsewhere(recording.reader).is_some() {
        return found;
    }
    let history = &recording.index.history;
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let living: HashSet<i32> = pids.collect();
    let mut pids: Vec<i32> = history
        .processes()
        .filter(|pid| living.contains(pid))
        .collect();
    pids.sort_unstable();
    let clock = recording.clock();
    for pid in pids {
        if RecordedProcess::of(pid, &recording.index.lifetimes, clock)
            .living
            .is_none()
        {
            continue;
        }
        let epoch = history.epoch(pid, Key::LAST);
        for image in history.mapped(epoch) {
            let processes: &mut Vec<i32> = found.entry(image).or_default();
            if processes.last() != Some(&pid) {
                processes.push(pid);
            }
        }
    }
    found
}

/// As [`locate`], for walking stacks: where the program itself is not here, servers are waited for.
pub(crate) fn locate_to_unwind(
    recording: &Recording<'_>,
    id: ImageId,
    image: &RecordedImage,
) -> Result<Located, NoFile> {
    let located = locate(recording, id, image);
    let is_here = matches!(&located, Ok(files) if files.binary.has_section(".eh_frame"));
    let (Some(servers), Some(build_id)) = (&recording.locator.debuginfod, &image.build_id) else {
        return located;
    };
    match located {
        Ok(files) if files.is_debug_only() => {
            let files = recording.locator.complete_from_servers(files, build_id);
            if !files.is_debug_only() {
                return Ok(files);
            }
            servers.wait_for(build_id);
            Ok(recording.locator.complete_from_servers(files, build_id))
        }
        _ if is_here => located,
        _ => {
            servers.wait_for(build_id);
            locate(recording, id, image)
        }
    }
}

/// A jitdump that says how its code is unwound, whenever a sample was taken.
pub(crate) fn jitdump_to_unwind(
    recording: &Recording<'_>,
    id: ImageId,
    image: &RecordedImage,
) -> Option<JitDump> {
    let log = recording
        .index
        .jitdumps
        .get(&id)
        .filter(|log| log.has_times)?;
    let inode = image.inode.filter(|_| recording.locator.symfs.is_none());
    JitDump::open_recorded(&log.path, inode, recording.reader.budget()).ok()
}

fn is_this_kernel(recording: &Recording<'_>) -> bool {
    match (kernel_id(recording), kernel_build_id()) {
        (Some(recorded), Some(running)) => recorded.matches(&running),
        _ => false,
    }
}

/// The kernel's build id, as the recording has it.
pub(crate) fn kernel_id(recording: &Recording<'_>) -> Option<BuildId> {
    let images = recording.index.history.images();
    let mut kernels = images
        .iter()
        .filter(|(_, image)| matches!(image.kind, ImageKind::Kernel { .. }));
    kernels.find_map(|(_, image)| image.build_id.clone())
}

fn contents_of(reader: &Reader) -> Contents {
    let id = FeatureId::CONTENTS;
    let section = reader.feature(id).ok().flatten().unwrap_or_default();
    let Ok(Feature::Contents(files)) = Feature::parse(id, &section, reader.endian()) else {
        return Contents::default();
    };
    let mut contents = Contents::default();
    for file in files {
        let fingerprint = Fingerprint {
            len: file.len,
            modified_ns: file.modified_ns,
            changed_ns: file.changed_ns,
            crc: file.crc,
        };
        match contents.entry((file.path, file.inode, file.device)) {
            Entry::Vacant(entry) => {
                entry.insert(fingerprint);
            }
            // One after the other had that inode: which of them was sampled is not known.
            Entry::Occupied(mut entry) if *entry.get() != fingerprint => {
                entry.insert(NO_FILE);
            }
            Entry::Occupied(_) => {}
        }
    }
    contents
}

/// What no file is like.
const NO_FILE: Fingerprint = Fingerprint {
    len: u64::MAX,
    modified_ns: i64::MIN,
    changed_ns: i64::MIN,
    crc: None,
};
