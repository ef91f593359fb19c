//! Code locations as rows of `frames`, with the hashes that stacks name them by.

use super::error::TablesError;
use super::hash::{Collision, ContentHash, ContentHasher, KnownHashes};
use super::schema::FrameColumns;
use super::table::{TableWriter, text};
use rprof_analysis::{Location, Recording, Symbols};
use rprof_base::BuildId;
use rprof_machine::{ImageId, ImageKind, RecordedImage};
use rprof_profile::Level;
use std::borrow::Cow;

/// A frame of a location: a function, or one that was inlined there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Frame<'a> {
    /// `None` if nothing names it.
    function: Option<Cow<'a, str>>,
    is_inlined: bool,
    level: Level,
    module: &'a str,
    source: Option<(&'a str, u32)>,
}

/// What a location's hash is of, and what its rows say of where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place<'a> {
    /// The same however it was recorded.
    build_id: Option<BuildId>,
    /// Of a kernel, the name of the symbol that its offsets begin at; else empty.
    reference: &'a [u8],
    /// `None` where only an address in memory is known, which is no content: all code of one name is one location.
    offset: Option<i64>,
    path: Option<&'a [u8]>,
    /// Of code that the kernel brings along, its release, which tells it apart without a build id; else empty.
    release: &'a str,
    arch: &'a str,
}

/// The system that was recorded; empty where that is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct System<'a> {
    /// The kernel's release.
    pub(super) release: &'a str,
    pub(super) arch: &'a str,
}

/// The locations of a recording, as they were written.
#[derive(Debug, Default)]
pub(super) struct WrittenFrames {
    /// The hash of each location, by its number; a hidden one has none.
    pub(super) hashes: Vec<Option<i64>>,
    /// Names of code that have the hash of other code.
    pub(super) n_collisions: usize,
}

/// Whether the hash of a location is that of its name.
pub(super) fn is_by_name(recording: &Recording<'_>, location: Location) -> bool {
    let image = recording.index.history.images().of(ImageId(location.image));
    place_of(location, image, System::default())
        .offset
        .is_none()
}

/// Writes all locations of a recording. Those that are hashed by their names come last: processes choose names, and
/// must not take the place of other code. `as_recorded` has these names, as they are hashed.
pub(super) fn write_frames(
    recording: &Recording<'_>,
    system: System<'_>,
    (symbols, as_recorded): (&Symbols, &Symbols),
    table: &mut TableWriter<FrameColumns>,
) -> Result<WrittenFrames, TablesError> {
    let mut known = KnownHashes::default();
    let mut written = WrittenFrames {
        hashes: vec![None; symbols.locations().len()],
        n_collisions: 0,
    };
    for are_by_name in [false, true] {
        let slots = written.hashes.iter_mut();
        for ((number, &location), slot) in (0..).zip(symbols.locations()).zip(slots) {
            let image = recording.index.history.images().of(ImageId(location.image));
            let place = place_of(location, image, system);
            if place.offset.is_none() != are_by_name {
                continue;
            }
            let (frames, hashed) = if are_by_name {
                let frames: Vec<_> = named_frame(symbols, number).into_iter().collect();
                let hashed = named_frame(as_recorded, as_recorded.number(location));
                let hashed = hashed.or_else(|| frames.last().cloned());
                (frames, hashed)
            } else {
                let frames = frames_of(symbols, number);
                let hashed = frames.last().cloned();
                (frames, hashed)
            };
            let Some(hashed) = hashed.filter(|_| !frames.is_empty()) else {
                continue;
            };
            let content = hash_of(&place, &hashed);
            *slot = Some(content.hash);
            match known.add(content) {
                Ok(true) => write_location(content.hash, &place, &frames, table)?,
                Ok(false) => {}
                Err(Collision(_)) if are_by_name => written.n_collisions += 1,
                Err(Collision(hash)) => {
                    let what = "code locations";
                    return Err(TablesError::Collision { what, hash });
                }
            }
        }
    }
    Ok(written)
}

/// The frames of a location, innermost first.
fn frames_of(symbols: &Symbols, number: u32) -> Vec<Frame<'_>> {
    let lines = symbols.lines(number);
    let frames = symbols.frames(number).iter().enumerate();
    let frames = frames.map(|(depth, &id)| {
        let frame = symbols.functions.of(id);
        let line = lines.get(depth).copied().flatten();
        Frame {
            function: frame.filter_name(&symbols.strings),
            is_inlined: frame.is_inlined,
            level: frame.level,
            module: symbols.strings.of(frame.image).into_raw(),
            source: line
                .filter(|&(_, line)| line > 0)
                .map(|(file, line)| (symbols.strings.of(file).into_raw(), line)),
        }
    });
    frames.collect()
}

/// The function of a location by its name alone, without what debug information on this machine knows of it.
fn named_frame(symbols: &Symbols, number: u32) -> Option<Frame<'_>> {
    let &id = symbols.frames(number).last()?;
    let frame = symbols.functions.of(id);
    Some(Frame {
        function: frame
            .name
            .map(|name| symbols.strings.of(name).into_raw().into()),
        is_inlined: false,
        level: frame.level,
        module: symbols.strings.of(frame.image).into_raw(),
        source: None,
    })
}

/// Where a location is in its content. Addresses in memory are none of that: they differ from boot to boot.
fn place_of<'a>(
    location: Location,
    image: Option<&'a RecordedImage>,
    system: System<'a>,
) -> Place<'a> {
    let Some(image) = image else {
        return Place {
            build_id: None,
            reference: b"",
            offset: None,
            path: None,
            release: "",
            arch: system.arch,
        };
    };
    let build_id = image.build_id.as_ref().map(BuildId::canonical);
    let is_of_kernel = image.path.starts_with(b"[");
    let reference = image.reference_symbol();
    let offset = match image.kind {
        // `perf inject` writes code that was made in memory into files with build ids.
        ImageKind::User | ImageKind::GuestUser if image.is_memory() && build_id.is_none() => None,
        // Of a guest's vDSO, it is not known which kernel's it is.
        ImageKind::GuestUser if is_of_kernel && build_id.is_none() => None,
        ImageKind::User | ImageKind::GuestUser => Some(location.address),
        ImageKind::Kernel { .. } => reference
            .as_ref()
            .map(|symbol| location.address.wrapping_sub(symbol.avma.0)),
        ImageKind::Module { start_avma } => Some(location.address.wrapping_sub(start_avma)),
        ImageKind::KernelSymbol | ImageKind::OutOfLine | ImageKind::GuestKernel => None,
    };
    // Kernels bring along the vDSO, too, which has no file.
    let has_release = match image.kind {
        ImageKind::Kernel { .. } | ImageKind::Module { .. } => true,
        ImageKind::User => is_of_kernel,
        _ => false,
    };
    Place {
        build_id,
        reference: reference.map_or(b"", |symbol| symbol.name),
        offset: offset.map(u64::cast_signed),
        path: Some(image.name_without_process()),
        release: if has_release { system.release } else { "" },
        arch: system.arch,
    }
}

/// The hash of a location in a function.
fn hash_of(place: &Place<'_>, function: &Frame<'_>) -> ContentHash {
    let path = place.path.unwrap_or_default();
    let level = level_name(function.level).as_bytes();
    let mut hasher;
    match (&place.build_id, place.offset) {
        (Some(build_id), Some(offset)) => {
            hasher = ContentHasher::new("rprof code by build id");
            hasher.bytes(build_id.as_bytes());
            hasher.bytes(place.reference);
            hasher.number(offset.cast_unsigned());
        }
        (None, Some(offset)) => {
            hasher = ContentHasher::new("rprof code by path");
            hasher.bytes(level);
            hasher.bytes(place.arch.as_bytes());
            hasher.bytes(place.release.as_bytes());
            hasher.bytes(path);
            hasher.bytes(place.reference);
            hasher.number(offset.cast_unsigned());
        }
        (build_id, None) => {
            hasher = ContentHasher::new("rprof code by name");
            hasher.bytes(build_id.as_ref().map_or(b"", BuildId::as_bytes));
            hasher.bytes(path);
            hasher.bytes(level);
            hasher.bytes(place.arch.as_bytes());
            hasher.bytes(function.function.as_deref().unwrap_or_default().as_bytes());
        }
    }
    hasher.finish()
}

fn write_location(
    hash: i64,
    place: &Place<'_>,
    frames: &[Frame<'_>],
    table: &mut TableWriter<FrameColumns>,
) -> Result<(), TablesError> {
    let build_id = place.build_id.as_ref().map(|id| text(&id.to_string()));
    let path = place.path.filter(|path| !path.is_empty());
    let path = path.map(|path| text(&String::from_utf8_lossy(path)));
    // The short name of code in memory has the number of its process.
    let module = path
        .clone()
        .filter(|_| place.path.is_some_and(|path| path.starts_with(b"[")));
    for (depth, frame) in (0..).zip(frames) {
        let columns = &mut table.columns;
        columns.frame_hash.push(hash);
        columns.inline_depth.push(depth);
        columns.build_id.push_option(build_id.clone());
        columns.offset.push_option(place.offset);
        let function = frame.function.as_deref();
        let function = function.filter(|name| !name.is_empty()).map(text);
        columns.function.push_option(function);
        columns.is_inlined.push(frame.is_inlined);
        let module = module.clone().unwrap_or_else(|| text(frame.module));
        columns.module.push(module);
        columns.path.push_option(path.clone());
        columns.level.push(text(level_name(frame.level)));
        let file = frame.source.filter(|(file, _)| !file.is_empty());
        let file = file.map(|(file, _)| text(file));
        columns.file.push_option(file);
        let line = frame.source.and_then(|(_, line)| i32::try_from(line).ok());
        columns.line.push_option(line);
        table.end_row()?;
    }
    Ok(())
}

fn level_name(level: Level) -> &'static str {
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

    fn frame(function: Option<&'static str>) -> Frame<'static> {
        Frame {
            function: function.map(Cow::Borrowed),
            is_inlined: false,
            level: Level::User,
            module: "a",
            source: None,
        }
    }

    fn at(address: u64) -> Location {
        Location { image: 0, address }
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

    fn hash(address: u64, image: &RecordedImage, frame: &Frame<'_>) -> i64 {
        hash_of(&place_of(at(address), Some(image), SYSTEM), frame).hash
    }

    /// A change of one of these raises the version of the schema: old files would not join new ones.
    #[test]
    fn hashes_stay_what_they_are() {
        assert!(include_str!("../../PARQUET.md").contains("has -5125520814542105788."));
        let function = frame(Some("f"));
        let by_build_id = image("/a", ImageKind::User);
        let by_path = without_build_id("/a", ImageKind::User);
        let by_name = without_build_id("/tmp/perf-7.map", ImageKind::User);
        let hashes = [by_build_id, by_path, by_name].map(|image| hash(0x1234, &image, &function));
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
            let unknown = hash(0x1234, &image, &frame(None));
            assert_eq!(hash(0x1234, &image, &frame(Some("f"))), unknown);
            assert_ne!(hash(0x1235, &image, &frame(Some("f"))), unknown);
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
            assert_eq!(place_of(at(0x7000), Some(one), SYSTEM).offset, None);
            for name in [None, Some("f")] {
                let frame = frame(name);
                assert_eq!(hash(0x7000, one, &frame), hash(0x8000, other, &frame));
            }
            assert_ne!(
                hash(1, one, &frame(Some("f"))),
                hash(1, one, &frame(Some("g")))
            );
        }
        let guest = |pid: &str| {
            let path = format!("[guest.kernel.kallsyms{pid}]_text");
            let image = without_build_id(&path, ImageKind::GuestKernel);
            hash(0x7000, &image, &frame(None))
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
            place_of(at(address), Some(&kernel(reference_avma, "_text")), SYSTEM).offset
        };
        let (one, other) = (0xffff_ffff_8100_0000, 0xffff_ffff_b700_0000);
        assert_eq!(offset(Some(one), one + 0x42), Some(0x42));
        assert_eq!(offset(Some(other), other + 0x42), Some(0x42));
        // Without a reference only the name is the same from boot to boot; what has none is one location.
        assert_eq!(offset(None, one), None);
        let unknown = kernel(None, "_text");
        let unnamed = frame(None);
        assert_eq!(
            hash(one, &unknown, &unnamed),
            hash(other, &unknown, &unnamed)
        );
        assert_ne!(
            hash(one, &unknown, &unnamed),
            hash(one, &unknown, &frame(Some("f")))
        );
        // Offsets from different symbols are different.
        let [text, stext] = ["_text", "_stext"].map(|symbol| kernel(Some(one), symbol));
        assert_ne!(hash(one, &text, &unnamed), hash(one, &stext, &unnamed));
        let module = image("[ext4]", ImageKind::Module { start_avma: 0x1000 });
        assert_eq!(
            place_of(at(0x1010), Some(&module), SYSTEM).offset,
            Some(0x10)
        );
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
            hash_of(&place_of(at(0x1234), Some(image), system), &frame(None)).hash
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
        let frame = frame(None);
        assert_eq!(hash(1, &one, &frame), hash(1, &other, &frame));
        assert_ne!(hash(1, &one, &frame), hash(1, &of(&[0xab; 20]), &frame));
    }

    #[test]
    fn memory_with_a_name_is_code_by_name() {
        let image = without_build_id("[anon:v8]", ImageKind::User);
        assert_eq!(place_of(at(0x7000), Some(&image), SYSTEM).offset, None);
    }
}
