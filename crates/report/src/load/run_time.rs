//! Code made at run time: where its names are, and whether those are of the process that was
//! recorded.
//!
//! `/tmp/perf-PID.map` and `jit-PID.dump` are named by a number that processes share one after the
//! other, and have no build id. A map counts if its owner could have written it for us to read, and
//! if it was not written before its process began or after it ended ([`super::lives`]). A log
//! counts if it has the recorded inode. Below `--symfs` all do: who says it knows.

use super::Context;
use super::embedded::Embedded;
use super::lives::Process;
use super::resolve::PlaceKey;
use foldhash::HashMap;
use rprof_abi::AttrFlags;
use rprof_base::{Avma, FileOffset};
use rprof_images::Reason as NoFile;
use rprof_images::{JitDamage, JitDump, JitMove, JitRecord, PerfMap};
use rprof_locate::{LiveProcess, Locator, is_trusted_owner};
use rprof_machine::{CodeLog, CompiledCode, HistoryBuilder, ImageId, RecordedImage};
use rprof_perfdata::{FeatureId, Reader};
use rprof_symbols::{Answers, Reason, Request, symbolize_jitdump, symbolize_perf_map};
use rprof_untrusted::Held;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

impl Context<'_> {
    /// A log that says how its code is unwound at any time.
    pub(super) fn log_to_unwind(&self, id: ImageId, image: &RecordedImage) -> Option<JitDump> {
        let log = self.skimmed.logs.get(&id).filter(|log| log.has_times)?;
        let inode = image.inode.filter(|_| self.locator.symfs.is_none());
        JitDump::open_recorded(&log.path, inode, self.reader.budget()).ok()
    }

    /// Names places of such an image; `None` for files of any other sort.
    pub(super) fn name_run_time_code(
        &self,
        (id, image): (ImageId, &RecordedImage),
        offsets: &[FileOffset],
        request: Request,
    ) -> Option<Result<Answers, Reason>> {
        if let Some(pid) = image.process_of_map() {
            // Of memory without a file, offsets are addresses.
            let addresses: Vec<Avma> = offsets.iter().map(|offset| Avma(offset.0)).collect();
            let map = self.perf_map(pid);
            return Some(map.and_then(|map| symbolize_perf_map(&map, &addresses)));
        }
        image.is_code_log().then(|| {
            let found = self.skimmed.logs.get(&id).map(|log| log.path.as_path());
            let path = found.unwrap_or(Path::new(OsStr::from_bytes(&image.path)));
            let inode = image.inode.filter(|_| self.locator.symfs.is_none());
            let mut dump = JitDump::open_recorded(path, inode, self.reader.budget())
                .map_err(Reason::NoFile)?;
            symbolize_jitdump(&mut dump, offsets, request)
        })
    }

    /// The pieces of a log in which any of these places are, sorted, so that the recording can do
    /// without the log.
    pub(crate) fn hit_pieces(
        &self,
        (id, image): (ImageId, &RecordedImage),
        places: &[PlaceKey],
        embedded: &Embedded,
    ) -> Vec<(Option<u64>, CompiledCode)> {
        let mut hit = Vec::new();
        let logs = &self.skimmed.logs;
        let dump = logs
            .get(&id)
            .map(|log| JitDump::open(&log.path, self.reader.budget()));
        let Some(Ok(mut dump)) = dump else {
            return embedded.pieces(image);
        };
        // What is read before an error counts, as it does when pieces are mapped.
        let _ = for_each_piece(&mut dump, |time_ns, code| {
            let first = places.partition_point(|place| place.address < code.offset.0);
            let end = code.offset.0.saturating_add(code.len);
            if places.get(first).is_some_and(|place| place.address < end) {
                hit.push((time_ns, code));
            }
            ControlFlow::Continue(())
        });
        hit
    }

    fn perf_map(&self, pid: i32) -> Result<PerfMap, Reason> {
        let path = format!("/tmp/perf-{pid}.map");
        let open = |path: &Path| PerfMap::open(path, self.reader.budget());
        if let Some(root) = &self.locator.symfs {
            return open(&below(root, &path)).map_err(|error| no_map(error.kind()));
        }
        let process = Process::of(pid, &self.skimmed.lives, self.clock());
        let inside = process.living.map(|living| {
            let path = format!("/tmp/perf-{}.map", living.namespace_pid);
            living.path(&path)
        });
        let map = match inside.map(|path| open(&path)) {
            Some(Ok(map)) => map,
            _ => open(Path::new(&path)).map_err(|error| no_map(error.kind()))?,
        };
        if let Some(machine) = other_machine(self.reader) {
            return Err(Reason::NotItsMap(format!(
                "recorded on {machine}, whose file it is not (--symfs says where that is)"
            )));
        }
        if process.is_stranger(map.modified()) {
            let why = "another process had this id, and wrote the file (--symfs takes it anyway)";
            return Err(Reason::NotItsMap(why.to_owned()));
        }
        let owner = map.owner();
        if !is_trusted_owner(owner, process.living) {
            return Err(Reason::NotItsMap(format!(
                "the file is user {owner}'s, neither yours nor root's: sudo chown root it if you \
                 trust it"
            )));
        }
        Ok(map)
    }
}

fn no_map(kind: ErrorKind) -> Reason {
    match kind {
        ErrorKind::NotFound => Reason::NoMap,
        kind => Reason::NoFile(NoFile::Unreadable(kind)),
    }
}

fn below(root: &Path, path: &str) -> PathBuf {
    root.join(path.strip_prefix('/').unwrap_or(path))
}

/// Whether another machine was recorded, as far as the recording says.
pub(crate) fn is_other_machine(reader: &Reader) -> bool {
    other_machine(reader).is_some()
}

/// The name of the machine that was recorded, if it is not this one.
pub(super) fn other_machine(reader: &Reader) -> Option<String> {
    let here = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    let there = reader.feature_text(FeatureId::HOSTNAME)?;
    (there.trim() != here.trim()).then_some(there)
}

/// Finds the log that was recorded: as its process sees it, if that lives, or as we do.
fn find_log(
    reader: &Reader,
    locator: &Locator,
    image: &RecordedImage,
    logs: &[CodeLog],
) -> Result<(PathBuf, JitDump), NoFile> {
    let path = String::from_utf8_lossy(&image.path);
    let budget = reader.budget();
    if let Some(root) = &locator.symfs {
        let path = below(root, &path);
        return JitDump::open_recorded(&path, None, budget).map(|dump| (path, dump));
    }
    if other_machine(reader).is_some() {
        return Err(NoFile::Missing);
    }
    let living = logs.iter().find_map(|log| LiveProcess::of(log.pid));
    let inside = living.map(|living| living.path(&path));
    if let Some(inside) = inside
        && let Ok(dump) = JitDump::open_recorded(&inside, image.inode, budget)
    {
        return Ok((inside, dump));
    }
    let path = PathBuf::from(&*path);
    JitDump::open_recorded(&path, image.inode, budget).map(|dump| (path, dump))
}

/// Memory that a piece of code takes for each process that has it, bytes: as measured, with the
/// history that it is put into.
const PIECE_BYTES: u64 = 1100;

/// Where a log was found.
#[derive(Debug)]
pub(crate) struct FoundLog {
    pub(super) path: PathBuf,
    /// Whether its times are the recording's: it is known what was at an address at the time of a sample.
    pub(super) has_times: bool,
}

/// What is known of logs.
#[derive(Debug, Default)]
pub(super) struct Logs {
    /// Where they were found.
    pub(super) found: HashMap<ImageId, FoundLog>,
    /// What is to be said of them.
    pub(super) notes: Vec<String>,
    /// The memory of their pieces.
    pub(super) held: Option<Held>,
}

/// Takes what the logs say that processes have mapped.
pub(super) fn add_compiled_code(
    builder: &mut HistoryBuilder,
    reader: &Reader,
    locator: &Locator,
) -> Logs {
    let mut logs = builder.code_logs().to_vec();
    let has_times = builder.has_times() && has_monotonic_times(reader);
    let mut added = Added {
        builder,
        has_times,
        held: reader.budget().hold_nothing(),
        is_full: false,
        logs: Logs::default(),
    };
    let mut embedded = None;
    // Children that were forked before the recording have their parent's log, too.
    logs.sort_by_key(|log| (log.image, log.pid));
    for logs in logs.chunk_by(|a, b| a.image == b.image) {
        let id = logs.first().map(|log| log.image);
        let image = id.and_then(|id| Some((id, added.builder.image(id)?.clone())));
        let Some((id, image)) = image else {
            continue;
        };
        let shown = String::from_utf8_lossy(&image.path);
        match find_log(reader, locator, &image, logs) {
            Ok((path, dump)) => {
                let has_times = added.add_log(&shown, dump, logs);
                added.logs.found.insert(id, FoundLog { path, has_times });
            }
            Err(reason) => {
                let embedded = embedded.get_or_insert_with(|| Embedded::of(reader));
                let pieces = embedded.pieces(&image);
                if pieces.is_empty() {
                    added.note(format!("{shown}: {reason}: no names from it"));
                }
                for (time_ns, code) in pieces {
                    if added
                        .add(logs, time_ns.filter(|_| has_times), code)
                        .is_break()
                    {
                        break;
                    }
                }
            }
        }
    }
    added.logs.held = Some(added.held);
    added.logs
}

/// Whether times are of the clock that logs have.
fn has_monotonic_times(reader: &Reader) -> bool {
    const CLOCK_MONOTONIC: i32 = 1;
    reader.events().iter().all(|event| {
        event.attr.flags.has(AttrFlags::USE_CLOCKID) && event.attr.clockid == CLOCK_MONOTONIC
    })
}

struct Added<'b> {
    builder: &'b mut HistoryBuilder,
    has_times: bool,
    held: Held,
    /// A piece did not fit any more.
    is_full: bool,
    logs: Logs,
}

impl Added<'_> {
    fn note(&mut self, note: String) {
        self.logs.notes.push(note);
    }

    /// Takes all of a log; whether its times are the recording's.
    fn add_log(&mut self, path: &str, mut dump: JitDump, logs: &[CodeLog]) -> bool {
        let has_times = self.has_times && !dump.has_arch_times;
        if !has_times {
            self.note(format!(
                "{path}: its times are not the recording's (record with -k mono): each address has \
                 the name of what was there last"
            ));
        }
        let pieces = for_each_piece(&mut dump, |time_ns, code| {
            self.add(logs, time_ns.filter(|_| has_times), code)
        });
        match pieces {
            Ok(()) if self.is_full => {
                let most = self.held.budget().limits().memory;
                self.note(format!(
                    "{path}: more code than fits into --mem {most}: the rest has no names"
                ));
            }
            Ok(()) => {
                let damage = damage_in_words(dump.damage());
                damage.for_each(|what| self.note(format!("{path}: {what}")));
            }
            Err(error) => self.note(format!("{path}: read in part: {error}")),
        }
        has_times
    }

    /// Adds a piece to the processes that have its log, unless there are too many.
    fn add(
        &mut self,
        logs: &[CodeLog],
        time_ns: Option<u64>,
        code: CompiledCode,
    ) -> ControlFlow<()> {
        let bytes = PIECE_BYTES * logs.len() as u64;
        self.is_full |= self.held.grow(bytes).is_err();
        if self.is_full {
            return ControlFlow::Break(());
        }
        for log in logs {
            self.builder.add_code(log, time_ns, code);
        }
        ControlFlow::Continue(())
    }
}

fn damage_in_words(damage: JitDamage) -> impl Iterator<Item = String> {
    let bad = (damage.n_bad > 0).then(|| {
        let n = damage.n_bad;
        format!("{n} records are damaged or of unknown kinds: no names from them")
    });
    let cut = damage.cut_at.map(|at| {
        format!(
            "at offset {at} is no whole record (the file is cut, damaged, or still being written): \
             no names from there on"
        )
    });
    bad.into_iter().chain(cut)
}

/// Goes through a log: all code that was loaded or moved, with its time if that is by the clock of
/// the system.
fn for_each_piece(
    dump: &mut JitDump,
    mut visit: impl FnMut(Option<u64>, CompiledCode) -> ControlFlow<()>,
) -> std::io::Result<()> {
    let has_times = !dump.has_arch_times;
    // Where code with a number is, for when it is moved.
    let mut by_index: HashMap<u64, (FileOffset, u64)> = HashMap::default();
    while let Some(record) = dump.next_record()? {
        let (time_ns, code) = match record {
            JitRecord::Load(load) => {
                by_index.insert(load.index, (load.code, load.len));
                let code = CompiledCode {
                    start: load.start,
                    len: load.len,
                    offset: load.code,
                };
                (load.time_ns, code)
            }
            JitRecord::Move(moved) => match moved_code(&by_index, &moved) {
                Some(code) => (moved.time_ns, code),
                None => continue,
            },
            _ => continue,
        };
        if visit(has_times.then_some(time_ns), code).is_break() {
            break;
        }
    }
    Ok(())
}

/// Code at its new address is still the code that was loaded. What is left at the old one keeps
/// its name, as with `perf inject`, until something else is loaded there.
fn moved_code(by_index: &HashMap<u64, (FileOffset, u64)>, moved: &JitMove) -> Option<CompiledCode> {
    let &(offset, len) = by_index.get(&moved.index)?;
    Some(CompiledCode {
        start: moved.start,
        len: len.min(moved.len),
        offset,
    })
}
