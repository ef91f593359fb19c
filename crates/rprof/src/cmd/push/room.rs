//! The bound on disk space: the oldest recordings are deleted, those that were delivered first.

use super::spool::{Scan, Spool, SpooledFile, open_as};
use crate::say;
use rprof_untrusted::FileId;

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

/// Deletes recordings of directories while all of them are larger than `max_bytes`. `count` counts the samples of one
/// that nobody has counted yet.
pub(super) fn make_room(
    spool: &mut Spool,
    scan: &Scan,
    max_bytes: u64,
    removable: Removable<'_>,
    count: &dyn Fn(&SpooledFile) -> Option<u64>,
) {
    let files = scan.files.iter().filter(|file| !file.is_named);
    // Those that are gone by now take no room.
    let mut files: Vec<&SpooledFile> = files
        .filter(|file| matches!(open_as(&file.path, &file.stamp), Ok(Some(_))))
        .collect();
    let sizes = files.iter().map(|file| file.stamp.size);
    let mut total = sizes.fold(0u64, u64::saturating_add);
    if total <= max_bytes {
        return;
    }
    files.retain(|file| match removable {
        Removable::Delivered => is_delivered(spool, file),
        Removable::All => true,
        Removable::AllBut(pushed) => file.stamp != pushed.stamp,
    });
    files.sort_by_key(|file| {
        let is_delivered = is_delivered(spool, file);
        (!is_delivered, file.stamp.modified_ns, file.path.clone())
    });
    for file in files {
        if total <= max_bytes {
            break;
        }
        if remove(spool, file, count) {
            total = total.saturating_sub(file.stamp.size);
        }
    }
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
    let removed = open_as(&file.path, &file.stamp).and_then(|opened| match opened {
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
