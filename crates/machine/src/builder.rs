//! Collecting sideband: what changes names and mappings, with its moment.

use crate::apply::apply;
use crate::ranges::Range;
use crate::timeline::{Comm, Owner};
use crate::{History, ImageId, ImageKind, Images, Key, RecordedImage};
use rprof_abi::record::{FileIdentity, Inode, Ksymbol, Record};
use rprof_abi::{CpuMode, Misc, SampleId};
use rprof_images::BuildId;
use rustc_hash::FxHashMap;

/// One change: small, since a long recording has millions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    Map {
        owner: Owner,
        range: Range,
    },
    KernelMap(Range),
    KernelUnmap {
        start: u64,
        end: u64,
    },
    Comm {
        pid: i32,
        tid: i32,
        comm: Comm,
        exec: bool,
    },
    Fork {
        pid: i32,
        ppid: i32,
        tid: i32,
        ptid: i32,
        inherits: bool,
    },
}

/// Takes sideband records in the file's order.
///
/// `TEXT_POKE` changes the kernel's code, not where it is or what it is called: it is passed over,
/// as are mremap (which no record tells of) and EXIT.
#[derive(Debug)]
pub struct HistoryBuilder {
    has_times: bool,
    build_ids: FxHashMap<Vec<u8>, BuildId>,
    images: Images,
    comms: FxHashMap<Vec<u8>, Comm>,
    changes: Vec<(Key, Change)>,
}

/// Name of the kernel's own map, with or without its reference symbol behind it.
const KERNEL_NAME: &[u8] = b"[kernel.kallsyms]";

impl HistoryBuilder {
    /// For a recording whose records all have times, or not. Build ids are those of its
    /// BUILD_ID section, for mappings that do not say theirs.
    pub fn new(has_times: bool, build_ids: FxHashMap<Vec<u8>, BuildId>) -> Self {
        Self {
            has_times,
            build_ids,
            images: Images::default(),
            comms: FxHashMap::default(),
            changes: Vec::new(),
        }
    }

    /// The moment of a record or sample at this offset.
    pub fn key(&self, time_ns: Option<u64>, offset: u64) -> Key {
        Key::new(self.has_times, time_ns, offset)
    }

    /// Takes one record; those that change no names or mappings are passed over.
    pub fn add(&mut self, offset: u64, misc: Misc, record: &Record<'_>, id: &SampleId) {
        let change = match record {
            Record::Mmap(map) => self.map(
                misc,
                Mapping {
                    pid: map.pid,
                    addr: map.addr,
                    len: map.len,
                    pgoff: map.pgoff,
                    filename: map.filename,
                    identity: None,
                },
            ),
            Record::Mmap2(map) => self.map(
                misc,
                Mapping {
                    pid: map.pid,
                    addr: map.addr,
                    len: map.len,
                    pgoff: map.pgoff,
                    filename: map.filename,
                    identity: Some(map.identity),
                },
            ),
            Record::Comm(comm) => Change::Comm {
                pid: comm.pid,
                tid: comm.tid,
                comm: self.comm(comm.comm),
                exec: misc.has(Misc::COMM_EXEC),
            },
            Record::Fork(task) => Change::Fork {
                pid: task.pid,
                ppid: task.ppid,
                tid: task.tid,
                ptid: task.ptid,
                inherits: !misc.has(Misc::FORK_EXEC),
            },
            Record::Ksymbol(symbol) => self.kernel_symbol(symbol),
            _ => return,
        };
        self.changes.push((self.key(id.time_ns, offset), change));
    }

    /// The number of a name.
    fn comm(&mut self, name: &[u8]) -> Comm {
        if let Some(&comm) = self.comms.get(name) {
            return comm;
        }
        let comm = Comm(u32::try_from(self.comms.len()).unwrap_or(u32::MAX));
        self.comms.insert(name.to_vec(), comm);
        comm
    }

    fn map(&mut self, misc: Misc, map: Mapping<'_>) -> Change {
        let end = map.addr.saturating_add(map.len);
        let range = |end, pgoff, image| Range {
            start: map.addr,
            end,
            pgoff,
            image,
        };
        let owner = match misc.cpu_mode() {
            CpuMode::Kernel => {
                let image = self.kernel_image(&map);
                // Tools announce the kernel up to _etext, but code for start-up and for idle
                // tasks lies behind it. What lies there of modules is mapped over it.
                let is_module = map.filename.strip_prefix(KERNEL_NAME).is_none();
                let end = if is_module { end } else { u64::MAX };
                return Change::KernelMap(range(end, map.addr, image));
            }
            CpuMode::GuestKernel => {
                let image = self.intern(map.filename, None, ImageKind::GuestKernel, None);
                let owner = Owner::GuestKernel(map.pid);
                let range = range(end, map.addr, image);
                return Change::Map { owner, range };
            }
            CpuMode::GuestUser => Owner::GuestProcess(map.pid),
            _ => Owner::Process(map.pid),
        };
        let (build_id, inode) = match map.identity {
            Some(FileIdentity::BuildId(id)) => (BuildId::new(id.as_bytes()), None),
            Some(FileIdentity::Inode(inode)) => (None, Some(inode)),
            None => (None, None),
        };
        let pgoff = match is_file(map.filename) {
            true => map.pgoff,
            // Of memory without a file only the address itself says anything.
            false => map.addr,
        };
        let image = match map.filename.starts_with(b"//anon") {
            // Where its compiler may have left the names, as perf calls it.
            true => {
                let path = format!("/tmp/perf-{}.map", map.pid);
                self.intern(path.as_bytes(), None, ImageKind::User, None)
            }
            false => self.intern(map.filename, build_id, ImageKind::User, inode),
        };
        let range = range(end, pgoff, image);
        Change::Map { owner, range }
    }

    fn kernel_image(&mut self, map: &Mapping<'_>) -> ImageId {
        match map.filename.strip_prefix(KERNEL_NAME) {
            Some(reference) => {
                // The name ends with the reference symbol, and pgoff is where that was.
                let reference_avma = (!reference.is_empty()).then_some(map.pgoff);
                let kind = ImageKind::Kernel { reference_avma };
                let own = match map.identity {
                    Some(FileIdentity::BuildId(id)) => BuildId::new(id.as_bytes()),
                    _ => None,
                };
                let build_id = own.or_else(|| self.build_ids.get(KERNEL_NAME).cloned());
                self.intern(map.filename, build_id, kind, None)
            }
            None => self.intern(map.filename, None, ImageKind::Module, None),
        }
    }

    fn kernel_symbol(&mut self, symbol: &Ksymbol<'_>) -> Change {
        let (start, end) = (
            symbol.addr,
            symbol.addr.saturating_add(u64::from(symbol.len)),
        );
        if symbol.flags & Ksymbol::UNREGISTER != 0 {
            return Change::KernelUnmap { start, end };
        }
        let image = self.intern(symbol.name, None, ImageKind::KernelSymbol, None);
        Change::KernelMap(Range {
            start,
            end,
            pgoff: start,
            image,
        })
    }

    fn intern(
        &mut self,
        path: &[u8],
        build_id: Option<BuildId>,
        kind: ImageKind,
        inode: Option<Inode>,
    ) -> ImageId {
        let build_id = build_id.or_else(|| self.build_ids.get(path).cloned());
        let image = RecordedImage {
            path: path.to_vec(),
            inode: inode
                .map(|inode| inode.ino)
                .filter(|&ino| ino != 0 && build_id.is_none()),
            build_id,
            kind,
        };
        self.images.intern(image)
    }

    /// Puts all changes in order and applies them.
    pub fn build(self) -> History {
        let mut changes = self.changes;
        // Offsets in the keys make them all different.
        changes.sort_unstable_by_key(|&(key, _)| key);
        let mut names = vec![Vec::new(); self.comms.len()];
        for (name, comm) in self.comms {
            names[comm.0 as usize] = name;
        }
        let mut history = History {
            images: self.images,
            names,
            ..History::default()
        };
        apply(&mut history, changes);
        history.ranges.freeze();
        history
    }
}

/// Whether a mapping's name is a file's: offsets count only in those. The names are the kernel's
/// and perf's (`is_anon_memory`, `is_no_dso_memory` in tools/perf/util/map.c, v6.1).
fn is_file(name: &[u8]) -> bool {
    let memory: [&[u8]; 6] = [
        b"//anon",
        b"/dev/zero",
        b"/anon_hugepage",
        b"[stack",
        b"[heap]",
        b"/SYSV",
    ];
    !memory.iter().any(|start| name.starts_with(start))
}

/// What MMAP and MMAP2 have in common.
struct Mapping<'a> {
    pid: i32,
    addr: u64,
    len: u64,
    pgoff: u64,
    filename: &'a [u8],
    identity: Option<FileIdentity>,
}

#[cfg(test)]
mod tests;
