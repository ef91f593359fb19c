//! Files that were mapped without a build id in their record; the file gets a section with
//! those ids, so that any perf finds the right contents later.

use rprof_abi::record::{BuildIdBytes, FileIdentity, Record};
use rprof_abi::{Encoder, Endian, Misc, RawRecord, SampleLayout};
use rprof_images::{Elf, kernel_build_id, running_vdso};
use rprof_perfdata::feature::BuildIdEntry;
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Paths without build id, each with the inode that was mapped under it first; a path in another
/// mount namespace, or of a file that has been replaced, has another one here and now.
#[derive(Debug, Default)]
pub(crate) struct Unnamed(BTreeMap<Vec<u8>, u64>);

impl Unnamed {
    /// Looks at a mapping that the kernel announced.
    pub(crate) fn see(&mut self, raw: RawRecord<'_>, layout: &SampleLayout) {
        if raw.misc.has(Misc::MMAP_BUILD_ID) {
            return;
        }
        if let Ok((record, _)) = Record::parse(raw, layout) {
            self.see_record(&record);
        }
    }

    /// Looks at a mapping.
    pub(crate) fn see_record(&mut self, record: &Record<'_>) {
        let Record::Mmap2(map) = record else { return };
        let FileIdentity::Inode(inode) = map.identity else {
            return;
        };
        let name = map.filename;
        let has_contents =
            name == b"[vdso]" || (name.starts_with(b"/") && !name.starts_with(b"//"));
        if has_contents && !self.0.contains_key(name) {
            self.0.insert(name.to_vec(), inode.ino);
        }
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
        for (name, &inode) in &self.0 {
            let elf = if name == b"[vdso]" {
                running_vdso()
            } else {
                let elf = Elf::open(Path::new(std::ffi::OsStr::from_bytes(name))).ok();
                elf.filter(|elf| elf.inode() == Some(inode))
            };
            if let Some(id) = elf.as_ref().and_then(Elf::build_id) {
                add(Misc::USER, id.as_bytes(), name);
            }
        }
        bytes
    }
}
