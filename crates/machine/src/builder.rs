//! Collecting sideband: what changes names and mappings, with its moment.

mod jit_code;

pub use jit_code::{JitCode, MappedJitDump};

use crate::apply::Now;
use crate::change::{Change, Space};
use crate::history::CommId;
use crate::image::{GUEST_KERNEL_NAME, is_file};
use crate::ranges::{Backing, Range};
use crate::{History, ImageId, ImageKind, Images, Key, MovedImages, RecordedImage};
use foldhash::HashMap;
use foldhash::fast::RandomState;
use jit_code::Compiled;
use rprof_abi::record::{FileIdentity, Ksymbol, Mmap, Mmap2, Record};
use rprof_abi::{CpuMode, Misc, SampleId};
use rprof_base::{BuildId, Interner};
use std::cmp::Reverse;

/// Takes sideband records in the file's order.
#[derive(Debug, Default)]
pub struct HistoryBuilder {
    has_times: bool,
    build_ids: HashMap<Vec<u8>, BuildId>,
    images: Images,
    comms: Interner<CommId, Vec<u8>, RandomState>,
    changes: Vec<(Key, Change)>,
    compiled: Compiled,
}

/// Name of the kernel's own map, with or without its reference symbol after it.
const KERNEL_NAME: &[u8] = b"[kernel.kallsyms]";

/// Changes applied before their memory is given back.
const BATCH: usize = 1 << 16;

/// `PERF_RECORD_KSYMBOL_TYPE_OOL`, include/uapi/linux/perf_event.h (v6.1).
const OUT_OF_LINE: u16 = 2;

impl HistoryBuilder {
    /// For a recording whose records all have times, or not. Build ids are those of its
    /// BUILD_ID section, for mappings that do not say theirs.
    pub fn new(has_times: bool, build_ids: HashMap<Vec<u8>, BuildId>) -> Self {
        Self {
            has_times,
            build_ids,
            ..Self::default()
        }
    }

    /// For records as they come, of a machine where all goes on: images beyond this many bytes are one,
    /// [`Images::TOO_MANY`].
    pub(crate) fn with_images_up_to(bytes: u64) -> Self {
        Self {
            has_times: true,
            images: Images::up_to(bytes),
            ..Self::default()
        }
    }

    /// The moment of a record or sample at this offset.
    pub fn key(&self, time_ns: Option<u64>, offset: u64) -> Key {
        Key::new(self.has_times, time_ns, offset)
    }

    /// Takes one record; no two may have the same offset. Those that change no names or mappings
    /// are passed over: EXIT, since the kernel still works for the task, and `TEXT_POKE`, which
    /// changes code and not what it is called. Of guests, only mappings count: their tasks' ids
    /// mean nothing on the host.
    pub fn add(&mut self, offset: u64, misc: Misc, record: &Record<'_>, id: &SampleId) {
        let is_guest = matches!(misc.cpu_mode(), CpuMode::GuestKernel | CpuMode::GuestUser);
        let change = match record {
            Record::Mmap(map) => self.map(misc, &Mapping::from(map)),
            Record::Mmap2(map) => self.map(misc, &Mapping::from(map)),
            _ if is_guest => return,
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
        let key = self.key(id.time_ns, offset);
        self.compiled.note(&self.images, key, &change);
        self.changes.push((key, change));
    }

    fn map(&mut self, misc: Misc, map: &Mapping<'_>) -> Change {
        let (space, image) = match misc.cpu_mode() {
            CpuMode::Kernel => (Space::Kernel, self.kernel_image(map)),
            CpuMode::GuestKernel => (
                Space::guest_kernel(map.pid),
                self.guest_image(map, ImageKind::GuestKernel),
            ),
            CpuMode::GuestUser => (
                Space::GuestUser(map.pid),
                self.guest_image(map, ImageKind::GuestUser),
            ),
            _ => (Space::User(map.pid), self.user_image(map)),
        };
        let is_kernel = matches!(space, Space::Kernel | Space::GuestKernel(_));
        let is_memory = !is_kernel && self.is_memory(map);
        let is_whole_kernel = [KERNEL_NAME, GUEST_KERNEL_NAME]
            .iter()
            .any(|name| map.filename.starts_with(name));
        let range = Range {
            start: map.addr,
            // Tools announce the kernel up to _etext, but code for start-up and for idle tasks
            // lies after it. What lies there of modules is mapped over it.
            end: if is_kernel && is_whole_kernel {
                u64::MAX
            } else {
                map.addr.saturating_add(map.len)
            },
            // Of memory without a file only the address itself says anything.
            pgoff: if is_kernel || is_memory || map.is_listed_by_address {
                map.addr
            } else if map.is_old_vdso() {
                0
            } else {
                map.pgoff
            },
            image,
            is_code: !misc.has(Misc::MMAP_DATA),
            backing: if is_memory {
                Backing::Memory
            } else {
                Backing::File
            },
        };
        Change::Map { space, range }
    }

    /// Code in memory without a file is called as perf calls it: where its compiler may have left names.
    fn user_image(&mut self, map: &Mapping<'_>) -> ImageId {
        if !(map.is_code && self.is_memory(map)) {
            return self.host_image(map, map.filename, ImageKind::User);
        }
        self.images.intern(RecordedImage {
            path: format!("/tmp/perf-{}.map", map.pid).into_bytes(),
            inode: None,
            device: None,
            build_id: None,
            kind: ImageKind::User,
        })
    }

    /// Whether a mapping is of memory without a file. So is what has a name and no path
    /// (`memfd_create`), unless a build id tells that there is a program in it.
    fn is_memory(&self, map: &Mapping<'_>) -> bool {
        const MEMFD: &[u8] = b"/memfd:";
        let has_build_id = || map.build_id().is_some() || self.build_ids.contains_key(map.filename);
        map.is_huge
            || !is_file(map.filename)
            || map.is_code && map.filename.starts_with(MEMFD) && !has_build_id()
    }

    fn kernel_image(&mut self, map: &Mapping<'_>) -> ImageId {
        let Some(reference) = map.filename.strip_prefix(KERNEL_NAME) else {
            let kind = ImageKind::Module {
                start_avma: map.addr,
            };
            return self.host_image(map, map.filename, kind);
        };
        // The name ends with the reference symbol, and pgoff is where that was.
        let reference_avma = (!reference.is_empty()).then_some(map.pgoff);
        self.host_image(map, KERNEL_NAME, ImageKind::Kernel { reference_avma })
    }

    /// Build ids are the mapping's own, or else what the recording has for this name.
    fn host_image(&mut self, map: &Mapping<'_>, name: &[u8], kind: ImageKind) -> ImageId {
        let build_id = map.build_id();
        let build_id = build_id.or_else(|| self.build_ids.get(name).cloned());
        self.intern(map, build_id, kind)
    }

    /// The recording's build ids are by path, and paths in a guest are not the host's.
    fn guest_image(&mut self, map: &Mapping<'_>, kind: ImageKind) -> ImageId {
        self.intern(map, map.build_id(), kind)
    }

    fn kernel_symbol(&mut self, symbol: &Ksymbol<'_>) -> Change {
        let kind = match symbol.ksym_type {
            OUT_OF_LINE => ImageKind::OutOfLine,
            Ksymbol::UNKNOWN => ImageKind::KernelFunction,
            _ => ImageKind::KernelSymbol,
        };
        let image = self.images.intern(RecordedImage {
            path: symbol.name.to_vec(),
            inode: None,
            device: None,
            build_id: self.build_ids.get(symbol.name).cloned(),
            kind,
        });
        let range = Range {
            start: symbol.addr,
            end: symbol.addr.saturating_add(u64::from(symbol.len)),
            pgoff: symbol.addr,
            image,
            is_code: true,
            backing: Backing::File,
        };
        match symbol.flags & Ksymbol::UNREGISTER {
            0 => Change::Symbol(range),
            _ => Change::SymbolGone(range),
        }
    }

    fn intern(&mut self, map: &Mapping<'_>, build_id: Option<BuildId>, kind: ImageKind) -> ImageId {
        let inode = match (map.identity, kind) {
            (Some(FileIdentity::Inode(inode)), ImageKind::User | ImageKind::GuestUser) => {
                Some(inode)
            }
            _ => None,
        };
        let inode = inode.filter(|inode| inode.ino != 0 && build_id.is_none());
        self.images.intern(RecordedImage {
            path: map.filename.to_vec(),
            inode: inode.map(|inode| inode.ino),
            device: inode.map(|inode| (inode.maj, inode.min)),
            build_id,
            kind,
        })
    }

    fn comm(&mut self, name: &[u8]) -> CommId {
        self.comms.intern_ref(name)
    }

    /// The images so far.
    pub(crate) fn images(&self) -> &Images {
        &self.images
    }

    /// Forgets images that are not in use, and logs; the others have other numbers then.
    pub(crate) fn keep_images(&mut self, moved: &MovedImages) {
        self.images.keep(moved);
        self.compiled = Compiled::default();
    }

    /// The changes collected since the last time, in the order that they were added in.
    pub(crate) fn take_changes(&mut self) -> impl Iterator<Item = (Key, Change)> {
        self.changes.drain(..)
    }

    /// Puts all changes in order and applies them.
    pub fn build(self) -> History {
        drop(self.build_ids);
        let names = self.comms.into_values();
        // From last to first, so that those applied can be taken from the end. Keys hold the
        // offset: equal ones do not occur in one file.
        let mut changes = self.changes;
        changes.sort_unstable_by_key(|&(key, _)| Reverse(key));
        let mut compiled = self.compiled.into_changes();
        let vdso = self.images.named(b"[vdso]");
        let mut now = Now::new(changes.len(), vdso);
        let mut first_mapped_ns = HashMap::default();
        while let Some((key, change)) = changes.pop() {
            if let Some(image) = unidentified(&change, &self.images)
                && self.has_times
            {
                first_mapped_ns.entry(image).or_insert(key.time_ns);
            }
            let is_before = |&mut (at, _): &mut (Key, Change)| at < key;
            while let Some((at, code)) = compiled.pop_if(is_before) {
                now.apply(at, code);
            }
            now.apply(key, change);
            if changes.len().is_multiple_of(BATCH) {
                changes.shrink_to_fit();
            }
        }
        for (at, code) in compiled.into_iter().rev() {
            now.apply(at, code);
        }
        History {
            first_mapped_ns,
            ..now.finish(names, self.images)
        }
    }
}

/// The image that a process maps code of, if it has no build id.
fn unidentified(change: &Change, images: &Images) -> Option<ImageId> {
    let Change::Map {
        space: Space::User(_),
        range,
    } = change
    else {
        return None;
    };
    let has_none = images.of(range.image)?.build_id.is_none();
    (range.is_code && has_none).then_some(range.image)
}

/// `MAP_HUGETLB`, include/uapi/asm-generic/mman-common.h (v6.12).
const MAP_HUGETLB: u32 = 0x4_0000;

/// `PROT_EXEC`, include/uapi/asm-generic/mman-common.h (v6.12).
const PROT_EXEC: u32 = 4;

/// Code that was compiled at run time, whose names simpleperf found; the kernel has no such bit.
///
/// Source: AOSP, simpleperf/thread_tree.h, `map_flags`.
const PROT_JIT_SYMFILE_MAP: u32 = 0x4000;

/// What MMAP and MMAP2 have in common.
struct Mapping<'a> {
    pid: i32,
    addr: u64,
    len: u64,
    pgoff: u64,
    filename: &'a [u8],
    identity: Option<FileIdentity>,
    is_code: bool,
    is_huge: bool,
    /// Whether simpleperf lists the functions of its file by their addresses in memory.
    is_listed_by_address: bool,
}

impl<'a> From<&Mmap<'a>> for Mapping<'a> {
    fn from(map: &Mmap<'a>) -> Self {
        Self {
            pid: map.pid,
            addr: map.addr,
            len: map.len,
            pgoff: map.pgoff,
            filename: map.filename,
            identity: None,
            is_code: true,
            is_huge: false,
            is_listed_by_address: false,
        }
    }
}

impl<'a> From<&Mmap2<'a>> for Mapping<'a> {
    fn from(map: &Mmap2<'a>) -> Self {
        Self {
            pid: map.pid,
            addr: map.addr,
            len: map.len,
            pgoff: map.pgoff,
            filename: map.filename,
            identity: Some(map.identity),
            is_code: map.prot & PROT_EXEC != 0,
            is_huge: map.flags & MAP_HUGETLB != 0,
            is_listed_by_address: map.prot & PROT_JIT_SYMFILE_MAP != 0,
        }
    }
}

impl Mapping<'_> {
    /// Whether it is the vdso of a kernel that gave its address as offset, as it does of memory
    /// (Linux before 3.16). perf takes each vdso's offset for 0 (`map__new`, tools/perf/util/map.c, v6.1).
    fn is_old_vdso(&self) -> bool {
        self.filename == b"[vdso]" && self.pgoff == self.addr
    }

    fn build_id(&self) -> Option<BuildId> {
        match self.identity {
            Some(FileIdentity::BuildId(id)) => BuildId::new(id.as_bytes()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
