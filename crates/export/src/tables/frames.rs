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
    build_id: Option<&'a [u8]>,
    /// Of a kernel, the name of the symbol that its offsets begin at; else empty.
    reference: &'a [u8],
    /// `None` where only an address in memory is known, which is no content: all code of one name is one location.
    offset: Option<i64>,
    path: Option<&'a [u8]>,
    /// Of kernel code, the kernel's release, which tells it apart without a build id; else empty.
    release: &'a str,
}

/// Writes all locations of a recording of a kernel's release. Returns the hash of each, by its number; a hidden one has
/// none.
pub(super) fn write_frames(
    recording: &Recording<'_>,
    release: &str,
    symbols: &Symbols,
    table: &mut TableWriter<FrameColumns>,
) -> Result<Vec<Option<i64>>, TablesError> {
    let mut known = KnownHashes::default();
    let mut hashes = Vec::with_capacity(symbols.locations().len());
    for (number, &location) in (0..).zip(symbols.locations()) {
        let image = recording.index.history.images().of(ImageId(location.image));
        let place = place_of(location, image, release);
        let frames = if place.offset.is_some() {
            frames_of(symbols, number)
        } else {
            named_frame(symbols, number).into_iter().collect()
        };
        let Some(outermost) = frames.last() else {
            hashes.push(None);
            continue;
        };
        let content = hash_of(&place, outermost);
        let is_new = known
            .add(content)
            .map_err(|Collision(hash)| TablesError::Collision {
                what: "code locations",
                hash,
            })?;
        hashes.push(Some(content.hash));
        if is_new {
            write_location(content.hash, &place, &frames, table)?;
        }
    }
    Ok(hashes)
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
    release: &'a str,
) -> Place<'a> {
    let Some(image) = image else {
        return Place {
            build_id: None,
            reference: b"",
            offset: None,
            path: None,
            release: "",
        };
    };
    let build_id = image.build_id.as_ref().map(BuildId::as_bytes);
    let reference = image.reference_symbol();
    let offset = match image.kind {
        // `perf inject` writes code that was made in memory into files with build ids.
        ImageKind::User | ImageKind::GuestUser if image.is_memory() && build_id.is_none() => None,
        ImageKind::User | ImageKind::GuestUser => Some(location.address),
        ImageKind::Kernel { .. } => reference
            .as_ref()
            .map(|symbol| location.address.wrapping_sub(symbol.avma.0)),
        ImageKind::Module { start_avma } => Some(location.address.wrapping_sub(start_avma)),
        ImageKind::KernelSymbol | ImageKind::OutOfLine | ImageKind::GuestKernel => None,
    };
    let is_kernel = matches!(
        image.kind,
        ImageKind::Kernel { .. } | ImageKind::Module { .. }
    );
    Place {
        build_id,
        reference: reference.map_or(b"", |symbol| symbol.name),
        offset: offset.map(u64::cast_signed),
        path: Some(image.name_without_process()),
        release: if is_kernel { release } else { "" },
    }
}

/// The hash of a location in a function.
fn hash_of(place: &Place<'_>, function: &Frame<'_>) -> ContentHash {
    let path = place.path.unwrap_or_default();
    let level = level_name(function.level).as_bytes();
    let mut hasher;
    match (place.build_id, place.offset) {
        (Some(build_id), Some(offset)) => {
            hasher = ContentHasher::new("rprof code by build id");
            hasher.bytes(build_id);
            hasher.bytes(place.reference);
            hasher.number(offset.cast_unsigned());
        }
        (None, Some(offset)) => {
            hasher = ContentHasher::new("rprof code by path");
            hasher.bytes(level);
            hasher.bytes(place.release.as_bytes());
            hasher.bytes(path);
            hasher.bytes(place.reference);
            hasher.number(offset.cast_unsigned());
        }
        (build_id, None) => {
            hasher = ContentHasher::new("rprof code by name");
            hasher.bytes(build_id.unwrap_or_default());
            hasher.bytes(path);
            hasher.bytes(level);
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
    let build_id = place.build_id.map(|id| {
        let digits: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
        text(&digits)
    });
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

    fn hash(address: u64, image: &RecordedImage, frame: &Frame<'_>) -> i64 {
        hash_of(&place_of(at(address), Some(image), "6.1"), frame).hash
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
                5_016_698_254_134_242_367,
                -5_977_727_796_606_350_669,
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
            assert_eq!(place_of(at(0x7000), Some(one), "").offset, None);
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
            place_of(at(address), Some(&kernel(reference_avma, "_text")), "").offset
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
        assert_eq!(place_of(at(0x1010), Some(&module), "").offset, Some(0x10));
    }

    #[test]
    fn kernels_without_a_build_id_are_told_apart_by_their_release() {
        let kind = ImageKind::Kernel {
            reference_avma: Some(0x1000),
        };
        let kernel = without_build_id("[kernel.kallsyms]_text", kind);
        let hash = |release| hash_of(&place_of(at(0x1234), Some(&kernel), release), &frame(None));
        assert_ne!(hash("6.1"), hash("6.2"));
    }
}
