//! JIT code: functions that a jitdump lists become mappings over the memory that they were made in, from the moment on
//! that they were made.

use super::embedded::EmbeddedSymbols;
use super::machine::recorded_elsewhere;
use foldhash::HashMap;
use rprof_abi::AttrFlags;
use rprof_base::{Counted, FileOffset};
use rprof_images::NoFile;
use rprof_images::{JitDamage, JitDump, JitMove, JitRecord};
use rprof_locate::{LiveProcess, Locator};
use rprof_machine::{HistoryBuilder, ImageId, JitCode, MappedJitDump, RecordedImage};
use rprof_perfdata::Reader;
use rprof_untrusted::{Budget, Held};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// A path below the folder that `--symfs` names.
pub(crate) fn symfs_path(root: &Path, path: &str) -> PathBuf {
    root.join(path.strip_prefix('/').unwrap_or(path))
}

/// Finds the jitdump that was recorded: as its process sees it, if that still runs, or as we do.
fn find_jitdump(
    reader: &Reader,
    locator: &Locator,
    image: &RecordedImage,
    jitdumps: &[MappedJitDump],
) -> Result<(PathBuf, JitDump), NoFile> {
    let path = String::from_utf8_lossy(&image.path);
    let budget = reader.budget();
    if let Some(root) = &locator.symfs {
        let path = symfs_path(root, &path);
        return JitDump::open_recorded(&path, None, budget).map(|dump| (path, dump));
    }
    if recorded_elsewhere(reader).is_some() {
        return Err(NoFile::Missing);
    }
    let living = jitdumps
        .iter()
        .find_map(|jitdump| LiveProcess::of(jitdump.pid));
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
const FUNCTION_BYTES: u64 = 1300;

/// Memory that it takes while the log is read, by its number, bytes: a table that grows has room for twice as many.
const INDEXED_BYTES: u64 = 64;

/// Where a jitdump was found.
#[derive(Debug)]
pub(crate) struct FoundJitdump {
    pub(crate) path: PathBuf,
    /// Whether its times are the recording's, so that it is known what was at an address at the time of a sample.
    pub(crate) has_times: bool,
}

/// What is known of jitdumps.
#[derive(Debug, Default)]
pub(super) struct Jitdumps {
    /// Where they were found.
    pub(super) found: HashMap<ImageId, FoundJitdump>,
    /// What is to be said of them.
    pub(super) notes: Vec<String>,
    /// The memory of their functions.
    pub(super) held: Option<Held>,
}

/// Takes what the jitdumps say that processes have mapped.
pub(super) fn add_jit_code(
    builder: &mut HistoryBuilder,
    reader: &Reader,
    locator: &Locator,
) -> Jitdumps {
    let mut jitdumps = builder.jitdumps().to_vec();
    let has_times = builder.has_times() && has_monotonic_times(reader);
    let mut added = Added {
        builder,
        has_times,
        held: reader.budget().hold_nothing(),
        is_full: false,
        jitdumps: Jitdumps::default(),
    };
    let mut embedded = None;
    // Children that were forked before the recording have their parent's jitdump, too.
    jitdumps.sort_by_key(|jitdump| (jitdump.image, jitdump.pid));
    for jitdumps in jitdumps.chunk_by(|a, b| a.image == b.image) {
        let id = jitdumps.first().map(|jitdump| jitdump.image);
        let image = id.and_then(|id| Some((id, added.builder.image(id)?.clone())));
        let Some((id, image)) = image else {
            continue;
        };
        let shown = String::from_utf8_lossy(&image.path);
        match find_jitdump(reader, locator, &image, jitdumps) {
            Ok((path, dump)) => {
                let has_times = added.add_jitdump(&shown, dump, jitdumps);
                added
                    .jitdumps
                    .found
                    .insert(id, FoundJitdump { path, has_times });
            }
            Err(reason) => {
                let embedded = embedded.get_or_insert_with(|| EmbeddedSymbols::of(reader));
                let functions = embedded.jit_functions(&image);
                if functions.is_empty() {
                    added.note(format!("{shown}: {reason}: no names from it"));
                }
                for (time_ns, code) in functions {
                    if added
                        .add(jitdumps, time_ns.filter(|_| has_times), code)
                        .is_break()
                    {
                        break;
                    }
                }
            }
        }
    }
    added.jitdumps.held = Some(added.held);
    added.jitdumps
}

/// Whether times are of the clock that jitdumps have.
pub(crate) fn has_monotonic_times(reader: &Reader) -> bool {
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
    jitdumps: Jitdumps,
}

impl Added<'_> {
    fn note(&mut self, note: String) {
        self.jitdumps.notes.push(note);
    }

    /// Takes all of a jitdump. Returns whether its times are the recording's.
    fn add_jitdump(&mut self, path: &str, mut dump: JitDump, jitdumps: &[MappedJitDump]) -> bool {
        let has_times = self.has_times && !dump.has_arch_times;
        if !has_times {
            self.note(format!(
                "{path}: its clock is not the recording's (record with -k mono): each address gets the name \
                 of the code that was there last"
            ));
        }
        let budget = self.held.budget().clone();
        let functions = for_each_function(&mut dump, &budget, |time_ns, code| {
            self.add(jitdumps, time_ns.filter(|_| has_times), code)
        });
        match functions {
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

    /// Adds a function to the processes that have its jitdump, unless there are too many.
    fn add(
        &mut self,
        jitdumps: &[MappedJitDump],
        time_ns: Option<u64>,
        code: JitCode,
    ) -> ControlFlow<()> {
        let bytes = FUNCTION_BYTES * jitdumps.len() as u64;
        self.is_full |= self.held.grow(bytes).is_err();
        if self.is_full {
            return ControlFlow::Break(());
        }
        for jitdump in jitdumps {
            self.builder.add_code(jitdump, time_ns, code);
        }
        ControlFlow::Continue(())
    }
}

fn damage_in_words(damage: JitDamage) -> impl Iterator<Item = String> {
    let bad = (damage.n_bad > 0).then(|| {
        let bad = Counted::new(
            damage.n_bad,
            "record is damaged or of an unknown kind: no names from it",
            "records are damaged or of unknown kinds: no names from them",
        );
        bad.to_string()
    });
    let cut = damage.cut_at.map(|at| {
        format!(
            "no complete record at offset {at} (the file is truncated, damaged, or still being \
             written): no names from there on"
        )
    });
    bad.into_iter().chain(cut)
}

/// Goes through a jitdump: all code that was loaded or moved, with its time if that is by the clock of
/// the system.
///
/// # Errors
/// If the file cannot be read any more, or there is no room to tell its code apart by number.
pub(crate) fn for_each_function(
    dump: &mut JitDump,
    budget: &Budget,
    mut visit: impl FnMut(Option<u64>, JitCode) -> ControlFlow<()>,
) -> std::io::Result<()> {
    let has_times = !dump.has_arch_times;
    // Where code with a number is, for when it is moved.
    let mut by_index: HashMap<u64, (FileOffset, u64)> = HashMap::default();
    let mut held = budget.hold_nothing();
    while let Some(record) = dump.next_record()? {
        let (time_ns, code) = match record {
            JitRecord::Load(load) => {
                let place = (load.code, load.len);
                if by_index.insert(load.index, place).is_none() {
                    held.grow(INDEXED_BYTES).map_err(std::io::Error::other)?;
                }
                let code = JitCode {
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
fn moved_code(by_index: &HashMap<u64, (FileOffset, u64)>, moved: &JitMove) -> Option<JitCode> {
    let &(offset, len) = by_index.get(&moved.index)?;
    Some(JitCode {
        start: moved.start,
        len: len.min(moved.len),
        offset,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_untrusted::Limits;

    /// A log of so many functions of one byte each.
    fn log(n_functions: u64) -> Vec<u8> {
        let words = |words: &[u32]| -> Vec<u8> {
            words.iter().flat_map(|word| word.to_ne_bytes()).collect()
        };
        let longs = |longs: &[u64]| -> Vec<u8> {
            longs.iter().flat_map(|long| long.to_ne_bytes()).collect()
        };
        let mut bytes = words(&[0x4a69_5444, 1, 40, 62, 0, 7]);
        bytes.extend(longs(&[0, 0]));
        for n in 0..n_functions {
            bytes.extend(words(&[0, 59]));
            bytes.extend(longs(&[n]));
            bytes.extend(words(&[7, 7]));
            bytes.extend(longs(&[0x1000 + n, 0x1000 + n, 1, n]));
            bytes.extend(b"f\0\xc3");
        }
        bytes
    }

    #[test]
    fn what_tells_code_of_a_log_apart_is_of_the_budget() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("jit-7.dump");
        std::fs::write(&path, log(1000)).unwrap();
        let read = |budget: &Budget| {
            let mut dump = JitDump::open(&path, &Budget::default()).unwrap();
            let mut n = 0;
            let read = for_each_function(&mut dump, budget, |_, _| {
                n += 1;
                ControlFlow::Continue(())
            });
            (read.is_ok(), n)
        };
        assert_eq!(read(&Budget::default()), (true, 1000));
        let (is_whole, n) = read(&Budget::new(Limits::of_memory(100 * INDEXED_BYTES)));
        assert!(!is_whole && n <= 100, "{n}");
    }
}
