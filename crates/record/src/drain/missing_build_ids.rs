//! Images without a build id in the record of their mapping.
//!
//! The build id is read from the file when it is first mapped, while its process still runs. The
//! recording gets a section with those ids, so that any perf finds the right contents later. Of files that
//! have no build id, it is noted what is in them. None is made up: perf refuses files that lack an id that
//! the recording has.

use crate::opening::file_limit;
use foldhash::{HashMap, HashSet};
use rprof_abi::record::{BuildIdBytes, FileIdentity, Inode, Mmap2, Record};
use rprof_abi::{Encoder, Endian, Misc};
use rprof_images::{Elf, Fingerprint};
use rprof_locate::{kernel_build_id, running_vdso};
use rprof_perfdata::feature::{BuildIdEntry, FileContents};
use rprof_untrusted::{Budget, Limits};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Images so far.
#[derive(Debug)]
pub(crate) struct MissingBuildIds {
    /// Paths without build id in their records, with the id of what was mapped there first.
    paths: BTreeMap<Vec<u8>, Option<BuildIdBytes>>,
    /// Ids of files, also of files that have none. The path is part of the key: an inode is used again, and
    /// several file systems may say the same device.
    ids: HashMap<FileKey, FileBuildId>,
    /// Those that the part of a recording in memory before this one had; those that this one has, too, are taken out.
    before: HashMap<FileKey, FileBuildId>,
    /// Files that have none. The first stay open until there is time to read them.
    contents: Vec<(FileKey, Fingerprint, Option<Elf>)>,
    /// For the files that ids are read from.
    budget: Budget,
    /// Memory that is left for paths, bytes.
    left: usize,
}

/// Memory for paths, bytes. Further images get no id.
const MAX_PATH_BYTES: usize = 16 << 20;

/// Memory for what is not the path.
const EACH: usize = 100;

impl Default for MissingBuildIds {
    fn default() -> Self {
        Self {
            paths: BTreeMap::new(),
            ids: HashMap::default(),
            before: HashMap::default(),
            contents: Vec::new(),
            budget: Budget::new(Limits::BUILD_IDS),
            left: MAX_PATH_BYTES,
        }
    }
}

/// Files that stay open at most.
const MAX_OPEN: usize = 32;

/// How long checksums may keep the end waiting.
const CHECKSUMS_TIMEOUT: Duration = Duration::from_secs(1);

/// A file that was mapped.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct FileKey {
    path: Vec<u8>,
    /// Major and minor number.
    device: (u32, u32),
    inode: u64,
    generation: u64,
}

/// What is known of the build id of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileBuildId {
    Has(BuildIdBytes),
    /// It was read, and there is none.
    HasNone,
    /// It could not be read.
    Unreadable,
}

impl FileBuildId {
    fn id(self) -> Option<BuildIdBytes> {
        match self {
            Self::Has(id) => Some(id),
            Self::HasNone | Self::Unreadable => None,
        }
    }
}

impl MissingBuildIds {
    /// Puts the build id of a mapped file into the record of the mapping, or notes the path of a file without
    /// one. Returns the record's `misc` if that has to change.
    pub(crate) fn take(&mut self, record: &mut Record<'_>, misc: Misc) -> Option<Misc> {
        let Record::Mmap2(map) = record else {
            return None;
        };
        let FileIdentity::Inode(inode) = map.identity else {
            return None;
        };
        let is_code = !misc.has(Misc::MMAP_DATA);
        if let Some(id) = is_code.then(|| self.id_of(map, &inode)).flatten() {
            map.identity = FileIdentity::BuildId(id);
            return Some(Misc(misc.0 | Misc::MMAP_BUILD_ID.0));
        }
        let has_contents = map.filename == b"[vdso]" || is_file(map);
        if has_contents && !self.paths.contains_key(map.filename) && self.has_room(map) {
            let id = self.id_of(map, &inode);
            self.paths.insert(map.filename.to_vec(), id);
        }
        // Another tool's event makes the kernel say that this has one, too.
        let says_so = misc.has(Misc::MMAP_BUILD_ID);
        says_so.then_some(Misc(misc.0 & !Misc::MMAP_BUILD_ID.0))
    }

    /// For another file of the same recording: it knows the ids of files that were looked at.
    pub(crate) fn for_next_file(&self) -> Self {
        let (ids, left) = self.known(|id| id.id().is_some());
        Self {
            ids,
            left,
            ..Self::default()
        }
    }

    /// For the next part of a recording in memory: it knows of the files that this part has, and of no others. Files
    /// without an id are not opened again and again, and go without checksums.
    pub(crate) fn for_next_segment(&self) -> Self {
        let (before, left) = self.known(|id| id != FileBuildId::Unreadable);
        Self {
            before,
            left,
            ..Self::default()
        }
    }

    /// What is known of some files, unless there are too many; and the memory that is left then.
    fn known(&self, is_of_use: fn(FileBuildId) -> bool) -> (HashMap<FileKey, FileBuildId>, usize) {
        let known = self.ids.iter().filter(|&(_, &id)| is_of_use(id));
        let ids: HashMap<_, _> = known.map(|(key, &id)| (key.clone(), id)).collect();
        let n_bytes: usize = ids.keys().map(|key| key.path.len() + EACH).sum();
        if n_bytes < MAX_PATH_BYTES / 2 {
            (ids, MAX_PATH_BYTES - n_bytes)
        } else {
            (HashMap::default(), MAX_PATH_BYTES)
        }
    }

    /// Takes memory for a path, if there is some left.
    fn has_room(&mut self, map: &Mmap2<'_>) -> bool {
        let left = self.left.checked_sub(map.filename.len() + EACH);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    /// The build id of what is mapped.
    fn id_of(&mut self, map: &Mmap2<'_>, inode: &Inode) -> Option<BuildIdBytes> {
        if !is_file(map) {
            return None;
        }
        let key = FileKey {
            path: map.filename.to_vec(),
            device: (inode.maj, inode.min),
            inode: inode.ino,
            generation: inode.generation,
        };
        if let Some(id) = self.ids.get(&key) {
            return id.id();
        }
        if let Some((key, id)) = self.before.remove_entry(&key) {
            self.ids.insert(key, id);
            return id.id();
        }
        if !self.has_room(map) {
            return None;
        }
        let elf = open_mapped(map, inode, &self.budget);
        let id = match elf.as_ref().map(Elf::build_id) {
            Some(Some(id)) => FileBuildId::Has(BuildIdBytes::new(id.as_bytes())),
            Some(None) => FileBuildId::HasNone,
            None => FileBuildId::Unreadable,
        };
        if let (FileBuildId::HasNone, Some(elf)) = (id, elf)
            && let Some(fingerprint) = Fingerprint::of(&elf)
            && self.has_room(map)
        {
            let may_stay = self.contents.len() < MAX_OPEN && file_limit::leaves(MAX_OPEN);
            let elf = may_stay.then_some(elf);
            self.contents.push((key.clone(), fingerprint, elf));
        }
        self.ids.insert(key, id);
        id.id()
    }

    /// What was in files that have no build id. Files that no stack led into have no checksum, if it is known
    /// which those are; nor have files that were written to meanwhile: what was mapped is no longer there.
    pub(crate) fn contents(&self, entered: Option<&HashSet<Vec<u8>>>) -> Vec<FileContents> {
        let until = Instant::now().checked_add(CHECKSUMS_TIMEOUT);
        let is_entered = |key: &FileKey| entered.is_none_or(|paths| paths.contains(&key.path));
        let contents = self.contents.iter().map(|(key, fingerprint, elf)| {
            let elf = elf.as_ref().filter(|_| is_entered(key));
            let fingerprint = elf.map_or(*fingerprint, |elf| {
                fingerprint.with_checksum(elf, &self.budget, until)
            });
            FileContents {
                path: key.path.clone(),
                device: key.device,
                inode: key.inode,
                len: fingerprint.len,
                modified_ns: fingerprint.modified_ns,
                changed_ns: fingerprint.changed_ns,
                crc: fingerprint.crc,
            }
        });
        contents.collect()
    }

    /// The BUILD_ID section: the kernel, and every file that is still the one that was mapped.
    pub(crate) fn section(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes, Endian::NATIVE);
        let mut add = |misc, id: &[u8], filename: &[u8]| {
            BuildIdEntry {
                misc,
                pid: -1,
                build_id: BuildIdBytes::new(id),
                filename: filename.to_vec(),
            }
            .encode(&mut encoder);
        };
        if let Some(id) = kernel_build_id() {
            add(Misc::KERNEL, id.as_bytes(), b"[kernel.kallsyms]");
        }
        for (name, &id) in &self.paths {
            let of_vdso = || {
                let vdso = running_vdso()?;
                Some(BuildIdBytes::new(vdso.build_id()?.as_bytes()))
            };
            let id = match name.as_slice() {
                b"[vdso]" => of_vdso(),
                _ => id,
            };
            if let Some(id) = id {
                add(Misc::USER, id.as_bytes(), name);
            }
        }
        bytes
    }
}

fn is_file(map: &Mmap2<'_>) -> bool {
    map.filename.starts_with(b"/") && !map.filename.starts_with(b"//")
}

/// Opens the file that a process has mapped: from `map_files`, which only root may open, or by its path in
/// the process's mount namespace or ours, if that leads to the same file.
fn open_mapped(map: &Mmap2<'_>, inode: &Inode, budget: &Budget) -> Option<Elf> {
    let (pid, end) = (map.pid, map.addr.saturating_add(map.len));
    let mapped = PathBuf::from(format!("/proc/{pid}/map_files/{:x}-{end:x}", map.addr));
    let path = Path::new(OsStr::from_bytes(map.filename));
    let mut below_root = PathBuf::from(format!("/proc/{pid}/root"));
    below_root.as_mut_os_string().push(path);
    let mut files = [mapped.as_path(), &below_root, path]
        .into_iter()
        .filter_map(|path| Elf::open(path, budget).ok());
    files.find(|elf| elf.inode() == Some(inode.ino))
}

#[cfg(test)]
mod tests;
