//! The bound on disk space: the oldest recordings are deleted, those that were delivered first.

use super::spool::{Scan, Spool, SpooledFile};
use crate::say;
use rprof_push::FileStamp;
use rprof_untrusted::FileId;
use std::collections::HashSet;

/// What may be deleted.
#[derive(Clone, Copy, Debug)]
pub(super) enum Removable<'f> {
    /// What is delivered.
    Delivered,
    /// Everything, once there is nothing delivered left.
    All,
    /// The same, but for one that is being pushed.
    AllBut(&'f SpooledFile),
}

/// How much the recordings may take, and which of them go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit<'f> {
    pub(super) max_bytes: u64,
    pub(super) removable: Removable<'f>,
    /// What the server will never take: that goes before what it may take.
    pub(super) refused: &'f HashSet<FileStamp>,
}

/// Deletes recordings of directories while all of them are larger than the limit; returns which. `count` counts the
/// samples of one that nobody has counted yet.
pub(super) fn make_room(
    spool: &mut Spool,
    scan: &Scan,
    limit: &Limit<'_>,
    count: &dyn Fn(&SpooledFile) -> Option<u64>,
) -> Vec<FileStamp> {
    let is_in_directory = |file: &&SpooledFile| !file.is_named;
    let of_files = |files: &[&SpooledFile]| {
        let sizes = files.iter().map(|file| file.stamp.size);
        sizes.fold(0u64, u64::saturating_add)
    };
    let mut files: Vec<&SpooledFile> = scan.files.iter().filter(is_in_directory).collect();
    if of_files(&files) <= limit.max_bytes {
        return Vec::new();
    }
    // Those that are gone by now take no room.
    files.retain(|file| matches!(file.open(), Ok(Some(_))));
    let mut total = of_files(&files);
    let ranked = files.into_iter().filter_map(|file| {
        let is_delivered = is_delivered(spool, file);
        let may_go = match limit.removable {
            Removable::Delivered => is_delivered,
            Removable::All => true,
            Removable::AllBut(pushed) => file.stamp != pushed.stamp,
        };
        let is_refused = limit.refused.contains(&file.stamp);
        let rank = (!is_delivered, !is_refused, file.stamp.modified_ns);
        may_go.then_some((rank, file))
    });
    let mut ranked: Vec<_> = ranked.collect();
    ranked.sort_by(|(a, file), (b, other)| a.cmp(b).then_with(|| file.path.cmp(&other.path)));
    let mut removed = Vec::new();
    for (_, file) in ranked {
        if total <= limit.max_bytes {
            break;
        }
        if remove(spool, file, count) {
            total = total.saturating_sub(file.stamp.size);
            removed.push(file.stamp);
        }
    }
    removed
}

fn is_delivered(spool: &Spool, file: &SpooledFile) -> bool {
    spool.ledgers.get(file.directory).is_some_and(|ledger| {
        let content = ledger.content(&file.stamp);
        content.is_some_and(|content| ledger.is_delivered_to_all(content))
    })
}

/// Deletes a recording, and says so; whether that was possible.
fn remove(
    spool: &mut Spool,
    file: &SpooledFile,
    count: &dyn Fn(&SpooledFile) -> Option<u64>,
) -> bool {
    let is_delivered = is_delivered(spool, file);
    let Some(ledger) = spool.ledgers.get_mut(file.directory) else {
        return false;
    };
    let content = ledger.content(&file.stamp).map(str::to_owned);
    let known = content
        .as_deref()
        .and_then(|content| ledger.recording(content));
    let samples = known
        .and_then(|known| known.samples)
        .or_else(|| count(file));
    let samples = samples.map_or_else(
        || "an unknown number of samples".to_owned(),
        |samples| rprof_base::Counted::new(samples, "sample", "samples").to_string(),
    );
    let path = file.path.display();
    let removed = file.open().and_then(|opened| match opened {
        Some(opened) => FileId::of(&opened)?.remove(&file.path),
        None => Err(std::io::ErrorKind::NotFound.into()),
    });
    if let Err(error) = removed {
        if error.kind() != std::io::ErrorKind::NotFound {
            say::warning(format_args!("cannot delete {path}: {error}"));
        }
        return error.kind() == std::io::ErrorKind::NotFound;
    }
    if is_delivered {
        say::line(format_args!(
            "deleted {path} ({samples}, delivered): --max-disk"
        ));
    } else {
        say::warning(format_args!(
            "deleted {path} ({samples}, not delivered): --max-disk"
        ));
    }
    if let Some(content) = content {
        ledger.forget(&content);
    }
    true
}
