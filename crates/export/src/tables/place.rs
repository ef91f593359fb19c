//! Where code locations are in their content, and the hashes of that, which stacks name them by.

use super::hash::{ContentHash, ContentHasher};
use rprof_analysis::{Location, Recording};
use rprof_base::BuildId;
use rprof_machine::{ImageId, ImageKind, RecordedImage};
use rprof_profile::Level;

/// What hashes of an image's locations are of, and what their rows say of where they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Place<'a> {
    /// The same however it was recorded.
    build_id: Option<BuildId>,
    /// Of a kernel, the name of the symbol that its offsets begin at; else empty.
    reference: &'a [u8],
    /// The address that offsets begin at. `None` where only addresses in memory are known, which are no content: all
    /// code of one name is one location.
    start: Option<u64>,
    pub(super) path: Option<&'a [u8]>,
    /// Of code that the kernel brings along, its release, which tells it apart without a build id; else empty.
    release: &'a str,
    arch: &'a str,
    /// The build id in hexadecimal digits.
    pub(super) digits: Option<String>,
}

/// The system that was recorded; empty where that is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct System<'a> {
    /// The kernel's release.
    pub(super) release: &'a str,
    pub(super) arch: &'a str,
}

/// Whether the hash of a location is that of its name.
pub(super) fn is_by_name(recording: &Recording<'_>, location: Location) -> bool {
    let images = recording.index.history.images();
    Place::of(images.of(ImageId(location.image)), System::default()).is_by_name()
}

impl<'a> Place<'a> {
    /// Where locations of an image are in its content.
    pub(super) fn of(image: Option<&'a RecordedImage>, system: System<'a>) -> Self {
        let Some(image) = image else {
            return Self {
                arch: system.arch,
                ..Self::default()
            };
        };
        let build_id = image.build_id.as_ref().map(BuildId::canonical);
        let is_of_kernel = image.path.starts_with(b"[");
        let reference = image.reference_symbol();
        let start = match image.kind {
            // `perf inject` writes code that was made in memory into files with build ids.
            ImageKind::User | ImageKind::GuestUser if image.is_memory() && build_id.is_none() => {
                None
            }
            // Of a guest's vDSO, it is not known which kernel's it is.
            ImageKind::GuestUser if is_of_kernel && build_id.is_none() => None,
            ImageKind::User | ImageKind::GuestUser => Some(0),
            ImageKind::Kernel { .. } => reference.as_ref().map(|symbol| symbol.avma.0),
            ImageKind::Module { start_avma } => Some(start_avma),
            ImageKind::KernelSymbol
            | ImageKind::KernelFunction
            | ImageKind::OutOfLine
            | ImageKind::GuestKernel => None,
        };
        // Kernels bring along the vDSO, too, which has no file.
        let has_release = match image.kind {
            ImageKind::Kernel { .. } | ImageKind::Module { .. } => true,
            ImageKind::User => is_of_kernel,
            _ => false,
        };
        Self {
            digits: build_id.as_ref().map(ToString::to_string),
            build_id,
            reference: reference.map_or(b"", |symbol| symbol.name),
            start,
            path: Some(image.name_without_process()),
            release: if has_release { system.release } else { "" },
            arch: system.arch,
        }
    }

    /// Whether locations are told apart by names.
    pub(super) fn is_by_name(&self) -> bool {
        self.start.is_none()
    }

    /// The offset of an address of a [`Location`], if it is content.
    pub(super) fn offset(&self, address: u64) -> Option<i64> {
        let start = self.start?;
        Some(address.wrapping_sub(start).cast_signed())
    }

    /// The hash of a location in a function, called as it was recorded.
    pub(super) fn hash(&self, address: u64, level: Level, function: Option<&str>) -> ContentHash {
        let path = self.path.unwrap_or_default();
        let level = level_name(level).as_bytes();
        let mut hasher;
        match (&self.build_id, self.offset(address)) {
            (Some(build_id), Some(offset)) => {
                hasher = ContentHasher::new("rprof code by build id");
                hasher.bytes(build_id.as_bytes());
                hasher.bytes(self.reference);
                hasher.number(offset.cast_unsigned());
            }
            (None, Some(offset)) => {
                hasher = ContentHasher::new("rprof code by path");
                hasher.bytes(level);
                hasher.bytes(self.arch.as_bytes());
                hasher.bytes(self.release.as_bytes());
                hasher.bytes(path);
                hasher.bytes(self.reference);
                hasher.number(offset.cast_unsigned());
            }
            (build_id, None) => {
                hasher = ContentHasher::new("rprof code by name");
                hasher.bytes(build_id.as_ref().map_or(b"", BuildId::as_bytes));
                hasher.bytes(path);
                hasher.bytes(level);
                hasher.bytes(self.arch.as_bytes());
                hasher.bytes(function.unwrap_or_default().as_bytes());
            }
        }
        hasher.finish()
    }
}

/// A level, as the tables call it.
pub(super) fn level_name(level: Level) -> &'static str {
    match level {
        Level::User => "user",
        Level::Kernel => "kernel",
        Level::Hypervisor => "hypervisor",
        Level::GuestKernel => "guest kernel",
        Level::GuestUser => "guest user",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(path: &str, kind: ImageKind) -> RecordedImage {
        RecordedImage {
            path: path.as_bytes().to_vec(),
            build_id: BuildId::new(&[0xab; 20]),
            inode: None,
            device: None,
            kind,
        }
    }

    fn without_build_id(path: &str, kind: ImageKind) -> RecordedImage {
        RecordedImage {
            build_id: None,
            ..image(path, kind)
        }
    }

    const SYSTEM: System<'static> = System {
        release: "6.1",
        arch: "x86_64",
    };

    fn hash(address: u64, image: &RecordedImage, function: Option<&str>) -> i64 {
        let place = Place::of(Some(image), SYSTEM);
        place.hash(address, Level::User, function).hash
    }

    /// A change of one of these raises the version of the schema: old files would not join new ones.
    #[test]
    fn hashes_stay_what_they_are() {
        assert!(include_str!("../../PARQUET.md").contains("has -5125520814542105788."));
        let by_build_id = image("/a", ImageKind::User);
        let by_path = without_build_id("/a", ImageKind::User);
        let by_name = without_build_id("/tmp/perf-7.map", ImageKind::User);
        let hashes = [by_build_id, by_path, by_name].map(|image| hash(0x1234, &image, Some("f")));
        assert_eq!(
            hashes,
            [
                -5_125_520_814_542_105_788,
                6_289_719_854_753_777_204,
                377_089_139_087_720_505,
            ]
        );
    }

    #[test]
    fn what_the_reading_machine_knows_of_a_file_does_not_matter() {
        for image in [
            image("/a", ImageKind::User),
            without_build_id("/a", ImageKind::User),
            without_build_id("[vdso]", ImageKind::User),
            image("[ext4]", ImageKind::Module { start_avma: 0x1000 }),
            without_build_id("[ext4]", ImageKind::Module { start_avma: 0x1000 }),
        ] {
            let unknown = hash(0x1234, &image, None);
            assert_eq!(hash(0x1234, &image, Some("f")), unknown);
            assert_ne!(hash(0x1235, &image, Some("f")), unknown);
        }
    }

    #[test]
    fn neither_processes_nor_their_addresses_are_in_hashes() {
        for (one, other) in [
            ("/tmp/perf-7.map", "/tmp/perf-8.map"),
            ("/home/a/jit-7.dump", "/home/a/jit-8.dump"),
            ("/tmp/jitted-7-1.so", "/tmp/jitted-8-2.so"),
            ("/memfd:jit (deleted)", "/memfd:other (deleted)"),
            ("//anon", "/dev/zero (deleted)"),
            ("[heap]", "[stack:7]"),
        ] {
            let images = [one, other].map(|path| without_build_id(path, ImageKind::User));
            let [one, other] = &images;
            assert_eq!(Place::of(Some(one), SYSTEM).offset(0x7000), None);
            for name in [None, Some("f")] {
                assert_eq!(hash(0x7000, one, name), hash(0x8000, other, name));
            }
            assert_ne!(hash(1, one, Some("f")), hash(1, one, Some("g")));
        }
        let guest = |pid: &str| {
            let path = format!("[guest.kernel.kallsyms{pid}]_text");
            let image = without_build_id(&path, ImageKind::GuestKernel);
            hash(0x7000, &image, None)
        };
        assert_eq!(guest(""), guest(".77"));
    }

    #[test]
    fn where_a_kernel_was_loaded_does_not_matter() {
        let kernel = |reference_avma, symbol: &str| {
            let path = format!("[kernel.kallsyms]{symbol}");
            image(&path, ImageKind::Kernel { reference_avma })
        };
        let offset = |reference_avma, address| {
            Place::of(Some(&kernel(reference_avma, "_text")), SYSTEM).offset(address)
        };
        let (one, other) = (0xffff_ffff_8100_0000, 0xffff_ffff_b700_0000);
        assert_eq!(offset(Some(one), one + 0x42), Some(0x42));
        assert_eq!(offset(Some(other), other + 0x42), Some(0x42));
        // Without a reference only the name is the same from boot to boot; what has none is one location.
        assert_eq!(offset(None, one), None);
        let unknown = kernel(None, "_text");
        assert_eq!(hash(one, &unknown, None), hash(other, &unknown, None));
        assert_ne!(hash(one, &unknown, None), hash(one, &unknown, Some("f")));
        // Offsets from different symbols are different.
        let [text, stext] = ["_text", "_stext"].map(|symbol| kernel(Some(one), symbol));
        assert_ne!(hash(one, &text, None), hash(one, &stext, None));
        let module = image("[ext4]", ImageKind::Module { start_avma: 0x1000 });
        assert_eq!(Place::of(Some(&module), SYSTEM).offset(0x1010), Some(0x10));
    }

    #[test]
    fn kernels_without_a_build_id_are_told_apart_by_their_release() {
        let kind = ImageKind::Kernel {
            reference_avma: Some(0x1000),
        };
        let kernel = without_build_id("[kernel.kallsyms]_text", kind);
        let vdso = without_build_id("[vdso]", ImageKind::User);
        let file = without_build_id("/lib/libc.so", ImageKind::User);
        let hash = |image: &RecordedImage, release, arch| {
            let system = System { release, arch };
            let place = Place::of(Some(image), system);
            place.hash(0x1234, Level::User, None).hash
        };
        for image in [&kernel, &vdso] {
            assert_ne!(hash(image, "6.1", "x86_64"), hash(image, "6.2", "x86_64"));
            assert_ne!(hash(image, "6.1", "x86_64"), hash(image, "6.1", "aarch64"));
        }
        assert_eq!(hash(&file, "6.1", "x86_64"), hash(&file, "6.2", "x86_64"));
        assert_ne!(hash(&file, "6.1", "x86_64"), hash(&file, "6.1", "aarch64"));
    }

    #[test]
    fn how_a_build_id_was_recorded_does_not_matter() {
        let of = |bytes: &[u8]| RecordedImage {
            build_id: BuildId::new(bytes),
            ..image("/a", ImageKind::User)
        };
        let padded = [&[0xab; 8][..], &[0; 12]].concat();
        let (one, other) = (of(&[0xab; 8]), of(&padded));
        assert_eq!(hash(1, &one, None), hash(1, &other, None));
        assert_ne!(hash(1, &one, None), hash(1, &of(&[0xab; 20]), None));
    }

    #[test]
    fn memory_with_a_name_is_code_by_name() {
        let image = without_build_id("[anon:v8]", ImageKind::User);
        assert_eq!(Place::of(Some(&image), SYSTEM).offset(0x7000), None);
    }
}
