//! The images of a recording, each once.

use foldhash::fast::RandomState;
use rprof_base::{Avma, BuildId, Interner, ReferenceSymbol, module_name};
use std::borrow::Cow;

/// Number of an image within one recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ImageId(pub u32);

rprof_base::impl_id!(ImageId);

/// What sort of thing an image is: decides how its addresses count and who can name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageKind {
    /// A mapped file, or memory without one. Addresses are offsets in the file.
    User,
    /// The kernel itself. Addresses are those in memory. Its path ends with the name of a
    /// reference symbol.
    Kernel {
        /// Where the reference symbol was in memory, if the recording says so.
        reference_avma: Option<u64>,
    },
    /// A kernel module. Addresses are those in memory.
    Module {
        /// Where it was loaded.
        start_avma: u64,
    },
    /// One range of kernel code announced by name (BPF programs, trampolines); the path is the
    /// name. Addresses are those in memory.
    KernelSymbol,
    /// A function of the kernel of which only the name is known; the path is the name. Addresses are made up.
    KernelFunction,
    /// Like kernel symbols, but copies of kernel code that were moved (kprobes) and ftrace's trampolines.
    OutOfLine,
    /// A guest's kernel or one of its modules. Addresses are those in the guest's memory; nothing
    /// on the host names them.
    GuestKernel,
    /// A file that a process of a guest has mapped: not the host's of the same path. Addresses
    /// are offsets in the file.
    GuestUser,
}

/// Whether a jitdump is named so, `jit-PID.dump`, as perf wants it (`jit_detect` in
/// tools/perf/util/jitdump.c, v6.1).
pub fn is_path_of_code_log(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next();
    let pid = name
        .and_then(|name| name.strip_prefix(b"jit-"))
        .and_then(|rest| rest.strip_suffix(b".dump"));
    let is_pid = |pid: &[u8]| !pid.is_empty() && pid.iter().all(u8::is_ascii_digit);
    path.starts_with(b"/") && pid.is_some_and(is_pid)
}

/// One image as the recording names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordedImage {
    /// Path, or a name in brackets.
    pub path: Vec<u8>,
    /// Its contents' identity.
    pub build_id: Option<BuildId>,
    /// Inode of the file, where the recording tells it and no build id.
    pub inode: Option<u64>,
    /// Major and minor number of the device of that inode.
    pub device: Option<(u32, u32)>,
    /// What it is.
    pub kind: ImageKind,
}

/// What names of guests' kernels begin with; the guest's process, `]` and the reference symbol
/// follow.
pub(crate) const GUEST_KERNEL_NAME: &[u8] = b"[guest.kernel.kallsyms";

/// Whether a mapping's name is a file's: offsets count only in those. The names are the kernel's
/// and perf's (`is_anon_memory`, `is_no_dso_memory` in tools/perf/util/map.c, v6.1). `[anon:NAME]` and
/// `[anon_shmem:NAME]` are memory that its process has named, as /proc/PID/maps shows it.
pub(crate) fn is_file(name: &[u8]) -> bool {
    let memory: [&[u8]; 7] = [
        b"//anon",
        b"[anon",
        b"/dev/zero",
        b"/anon_hugepage",
        b"[stack",
        b"[heap]",
        b"/SYSV",
    ];
    !memory.iter().any(|start| name.starts_with(start))
}

impl RecordedImage {
    /// Of a kernel, its reference symbol.
    pub fn reference_symbol(&self) -> Option<ReferenceSymbol<'_>> {
        let ImageKind::Kernel { reference_avma } = self.kind else {
            return None;
        };
        let name = self.path.splitn(2, |&byte| byte == b']').nth(1)?;
        Some(ReferenceSymbol {
            name,
            avma: Avma(reference_avma?),
        })
    }

    /// The process whose JIT code this is, by the name that perf gives to memory of code:
    /// `/tmp/perf-PID.map`.
    pub fn process_of_map(&self) -> Option<i32> {
        let pid = self.path.strip_prefix(b"/tmp/perf-")?;
        let pid = std::str::from_utf8(pid.strip_suffix(b".map")?).ok()?;
        pid.parse().ok().filter(|&pid| pid > 0)
    }

    /// Whether it is a jitdump.
    pub fn is_jitdump(&self) -> bool {
        self.kind == ImageKind::User && is_path_of_code_log(&self.path)
    }

    /// Whether it is code that was made while a process ran: by its map or log, in memory without a
    /// file, or as `perf inject` writes it (`jitted-PID-N.so`).
    pub fn is_jit_code(&self) -> bool {
        let memory: [&[u8]; 3] = [b"//anon", b"[anon", b"/memfd:"];
        let is_memory = memory.iter().any(|start| self.path.starts_with(start));
        let is_injected = || self.name_in_path().starts_with(b"jitted-");
        self.kind == ImageKind::User
            && (is_memory || self.process_of_map().is_some() || self.is_jitdump() || is_injected())
    }

    /// Whether it is a process's memory without a file that says what is in it, or code that was made there.
    pub fn is_memory(&self) -> bool {
        matches!(self.kind, ImageKind::User | ImageKind::GuestUser)
            && (self.is_jit_code() || !is_file(&self.path))
    }

    /// What it is called whatever process it is of: [`Self::long_name`], but without numbers of processes.
    pub fn name_without_process(&self) -> &[u8] {
        if self.is_memory() {
            b"[JIT]"
        } else if self.kind == ImageKind::GuestKernel && self.path.starts_with(GUEST_KERNEL_NAME) {
            b"[guest.kernel.kallsyms]"
        } else {
            self.long_name()
        }
    }

    /// Whether it is of a file that a process has mapped.
    pub fn is_file(&self) -> bool {
        self.kind == ImageKind::User && self.path.starts_with(b"/") && !self.is_jit_code()
    }

    /// perf's short name: the path's last part; names in brackets as they are, and modules'
    /// names in brackets.
    ///
    /// Source: `dso__set_basename`, tools/perf/util/dsos.c, and `__kmod_path__parse`,
    /// tools/perf/util/dso.c (v6.1).
    pub fn short_name(&self) -> Cow<'_, [u8]> {
        if let Some(pid) = self.process_of_map() {
            return format!("[JIT] tid {pid}").into_bytes().into();
        }
        if self.is_module_file() {
            return [b"[", &module_name(&self.path)[..], b"]"].concat().into();
        }
        self.name_in_path().into()
    }

    /// The whole path; the kernel's without its reference symbol.
    pub fn long_name(&self) -> &[u8] {
        match self.kind {
            ImageKind::Kernel { .. } | ImageKind::KernelFunction => self.name_in_path(),
            _ => &self.path,
        }
    }

    /// Whether it is a file of a kernel module, packed or not.
    fn is_module_file(&self) -> bool {
        let is_kernels = matches!(self.kind, ImageKind::Module { .. } | ImageKind::GuestKernel);
        let endings: [&[u8]; 4] = [b".ko", b".ko.gz", b".ko.xz", b".ko.zst"];
        is_kernels && endings.iter().any(|ending| self.path.ends_with(ending))
    }

    fn name_in_path(&self) -> &[u8] {
        match self.kind {
            ImageKind::Kernel { .. } => b"[kernel.kallsyms]",
            ImageKind::KernelFunction => b"[kernel.kallsyms]",
            ImageKind::KernelSymbol => b"bpf",
            ImageKind::GuestKernel if self.path.starts_with(b"[") => {
                let name = self.path.split_inclusive(|&byte| byte == b']').next();
                name.unwrap_or(&self.path)
            }
            _ if self.path.starts_with(b"[") => &self.path,
            _ => self
                .path
                .rsplit(|&byte| byte == b'/')
                .next()
                .filter(|name| !name.is_empty())
                .unwrap_or(&self.path),
        }
    }
}

/// All images of a recording.
#[derive(Debug)]
pub struct Images {
    all: Interner<ImageId, RecordedImage, RandomState>,
    /// Memory that new ones may take, bytes.
    left: u64,
    /// The same of all of them.
    most: u64,
}

/// The numbers of images that are still in use, by those that they had.
#[derive(Clone, Debug)]
pub struct MovedImages {
    all: Vec<Option<ImageId>>,
    n_kept: u32,
}

impl MovedImages {
    /// Of this many images, none of which is in use so far.
    pub(crate) fn of_images(n_images: usize) -> Self {
        Self {
            all: vec![None; n_images],
            n_kept: 0,
        }
    }

    /// An image is in use; returns its number from now on.
    pub(crate) fn keep(&mut self, id: ImageId) -> ImageId {
        let Some(moved) = self.all.get_mut(id.0 as usize) else {
            return id;
        };
        *moved.get_or_insert_with(|| {
            self.n_kept += 1;
            ImageId(self.n_kept - 1)
        })
    }

    /// The number that an image has now; `None` if it is forgotten.
    pub fn of(&self, id: ImageId) -> Option<ImageId> {
        self.all.get(id.0 as usize).copied().flatten()
    }

    /// All that are still there, as they were called and as they are called now.
    pub fn iter(&self) -> impl Iterator<Item = (ImageId, ImageId)> {
        let all = (0..).map(ImageId).zip(&self.all);
        all.filter_map(|(before, &now)| Some((before, now?)))
    }
}

impl Default for Images {
    fn default() -> Self {
        Self::up_to(u64::MAX)
    }
}

impl Images {
    /// What stands for images that do not fit any more: no file has such a name.
    pub const TOO_MANY: &[u8] = b"[too many files]";

    /// This many bytes of them.
    pub(crate) fn up_to(bytes: u64) -> Self {
        Self {
            all: Interner::default(),
            left: bytes,
            most: bytes,
        }
    }

    /// The number of an image, new or seen before. Without a build id, files of one path are
    /// told apart by inode and device.
    pub(crate) fn intern(&mut self, image: RecordedImage) -> ImageId {
        if let Some(id) = self.all.find(&image) {
            return id;
        }
        let Some(left) = self.left.checked_sub(n_bytes(&image)) else {
            self.left = u64::MAX;
            let id = self.intern(RecordedImage {
                path: Self::TOO_MANY.to_vec(),
                build_id: None,
                inode: None,
                device: None,
                kind: ImageKind::User,
            });
            self.left = 0;
            return id;
        };
        self.left = left;
        self.all.intern(image)
    }

    /// Forgets those that are not in use; the others have other numbers then.
    pub(crate) fn keep(&mut self, moved: &MovedImages) {
        let mut kept: Vec<_> = moved.iter().collect();
        kept.sort_unstable_by_key(|&(_, now)| now);
        let before = std::mem::replace(self, Self::up_to(self.most));
        for (id, _) in kept {
            if let Some(image) = before.of(id) {
                self.left = self.left.saturating_sub(n_bytes(image));
                self.all.intern(image.clone());
            }
        }
    }

    /// The first image with this path.
    pub(crate) fn named(&self, path: &[u8]) -> Option<ImageId> {
        let mut all = self.iter();
        all.find_map(|(id, image)| (image.path == path).then_some(id))
    }

    /// One image; `None` for a number of another recording.
    pub fn of(&self, id: ImageId) -> Option<&RecordedImage> {
        self.all.get(id)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// All of them with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (ImageId, &RecordedImage)> {
        self.all.iter()
    }
}

/// Memory that an image takes.
fn n_bytes(image: &RecordedImage) -> u64 {
    /// For what is not the path.
    const EACH: u64 = 200;
    2 * image.path.len() as u64 + EACH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_called_as_perf_calls_them() {
        let module = ImageKind::Module { start_avma: 0x1000 };
        let called = |path: &str, kind| {
            let image = RecordedImage {
                path: path.as_bytes().to_vec(),
                build_id: None,
                inode: None,
                device: None,
                kind,
            };
            String::from_utf8(image.short_name().into_owned()).unwrap()
        };
        let folder = "/lib/modules/6.1/kernel/net";
        assert_eq!(called(&format!("{folder}/ath9k.ko"), module), "[ath9k]");
        assert_eq!(
            called(&format!("{folder}/nf-nat.ko.xz"), module),
            "[nf_nat]"
        );
        assert_eq!(called("[nf_nat]", module), "[nf_nat]");
        assert_eq!(called("/boot/vmlinux", module), "vmlinux");
        assert_eq!(called("/home/me/x.ko", ImageKind::User), "x.ko");
    }

    #[test]
    fn memory_that_its_process_has_named_is_no_file() {
        for path in ["[anon:v8]", "[anon_shmem:dalvik-jit-code-cache]", "//anon"] {
            let image = RecordedImage {
                path: path.as_bytes().to_vec(),
                build_id: None,
                inode: None,
                device: None,
                kind: ImageKind::User,
            };
            assert!(!is_file(path.as_bytes()) && !image.is_file(), "{path}");
            assert!(image.is_memory() && image.is_jit_code(), "{path}");
            assert_eq!(image.name_without_process(), b"[JIT]");
        }
    }

    #[test]
    fn images_that_do_not_fit_any_more_are_one() {
        let mut images = Images::up_to(1000);
        let mut intern = |n: u64| {
            images.intern(RecordedImage {
                path: format!("/{n}").into_bytes(),
                build_id: None,
                inode: Some(n),
                device: None,
                kind: ImageKind::User,
            })
        };
        let first: Vec<ImageId> = (0..4).map(&mut intern).collect();
        let others: Vec<ImageId> = (4..100).map(&mut intern).collect();
        let again: Vec<ImageId> = (0..4).map(&mut intern).collect();
        assert_eq!(first, again);
        assert!(others.iter().all(|&id| id == ImageId(4)));
        assert_eq!(images.len(), 5);
        let path = |id| images.of(id).map(|image| &image.path[..]);
        assert_eq!(path(ImageId(4)), Some(Images::TOO_MANY));
    }
}
