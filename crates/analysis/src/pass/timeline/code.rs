//! Locations as code: those that need not be told apart are one.

use crate::locations::Location;
use crate::symbolize::Symbols;
use foldhash::HashMap;
use rprof_machine::{History, ImageId, ImageKind, RecordedImage};
use rprof_profile::timeline::{Code, CodeFrame, CodeKind, Image, Timeline};
use rprof_profile::{StrId, Strings};

/// Numbers of code, by location.
///
/// Callers on one line of a function are one; where samples were taken, each location is code of
/// its own. So the tree of stacks does not grow with every call site, and an instruction that
/// was sampled is still known.
pub(super) struct Codes {
    keys: Vec<Location>,
    /// By location, the number of the caller there.
    callers: Vec<u32>,
    /// By number of a caller, its location with the lowest address. Numbers from here on are locations.
    lowest: Vec<u32>,
    inlines: bool,
}

impl Codes {
    /// Of all locations that have symbols.
    pub(super) fn of(symbols: &Symbols, inlines: bool) -> Self {
        let mut codes = Self {
            keys: symbols.locations().to_vec(),
            callers: Vec::with_capacity(symbols.locations().len()),
            lowest: Vec::new(),
            inlines,
        };
        let mut numbers: HashMap<(u32, Vec<CodeFrame>), u32> = HashMap::default();
        for (location, key) in (0u32..).zip(symbols.locations()) {
            let frames = codes.frames(symbols, location).collect();
            let lowest = &mut codes.lowest;
            let number = *numbers.entry((key.image, frames)).or_insert_with(|| {
                lowest.push(location);
                u32::try_from(lowest.len() - 1).unwrap_or(u32::MAX)
            });
            codes.callers.push(number);
        }
        codes
    }

    /// The number of the code at a location: where a sample was taken, or of a caller.
    pub(super) fn number(&self, location: u32, is_own: bool) -> Option<u32> {
        let caller = self.callers.get(location as usize).copied()?;
        let n_callers = u32::try_from(self.lowest.len()).ok()?;
        if is_own {
            n_callers.checked_add(location)
        } else {
            Some(caller)
        }
    }

    fn location(&self, number: u32) -> u32 {
        let caller = self.lowest.get(number as usize).copied();
        let n_callers = u32::try_from(self.lowest.len()).unwrap_or(u32::MAX);
        caller.unwrap_or(number.wrapping_sub(n_callers))
    }

    /// Frames of a location, innermost first.
    fn frames(&self, symbols: &Symbols, location: u32) -> impl Iterator<Item = CodeFrame> {
        let (frames, lines) = (symbols.frames(location), symbols.lines(location));
        let skipped = if self.inlines {
            0
        } else {
            // Lines may have been asked for, which come with inlined functions.
            frames.len().saturating_sub(1)
        };
        let line = move |idx: usize| lines.get(idx).copied().flatten();
        let frames = frames.iter().enumerate().skip(skipped);
        frames.map(move |(idx, &frame)| CodeFrame {
            frame,
            line: line(idx).filter(|&(_, line)| line > 0),
        })
    }

    /// Adds code with these numbers, and its images, to a timeline.
    pub(super) fn describe(
        &self,
        history: &History,
        symbols: &Symbols,
        numbers: &[u32],
        timeline: &mut Timeline,
    ) {
        let mut images: HashMap<u32, u32> = HashMap::default();
        for &number in numbers {
            let location = self.location(number);
            let Some(&key) = self.keys.get(location as usize) else {
                continue;
            };
            let all = &mut timeline.images;
            let strings = &mut timeline.profile.strings;
            let recorded = history.images().of(ImageId(key.image));
            let image = *images.entry(key.image).or_insert_with(|| {
                all.push(image_of(recorded, strings));
                u32::try_from(all.len() - 1).unwrap_or(u32::MAX)
            });
            let frames: Vec<CodeFrame> = self.frames(symbols, location).collect();
            let function = symbols.start(location);
            let is_kernel = all
                .get(image as usize)
                .is_some_and(|image| image.kind == CodeKind::Kernel);
            let svma = if is_kernel {
                Some(key.address)
            } else {
                function.and_then(|start| start.checked_add(symbols.offset(location)))
            };
            timeline.code.push(Code {
                image,
                address: key.address,
                svma,
                function,
                frames,
            });
        }
    }
}

fn image_of(recorded: Option<&RecordedImage>, strings: &mut Strings) -> Image {
    let mut text = |bytes: &[u8]| -> StrId { strings.intern(&String::from_utf8_lossy(bytes)) };
    let Some(recorded) = recorded else {
        let unknown = text(b"[unknown]");
        return Image {
            name: unknown,
            path: unknown,
            build_id: None,
            kind: CodeKind::Unknown,
            base: None,
        };
    };
    let name = text(&recorded.short_name());
    // A kernel's path ends with the name of its reference symbol.
    let path = match recorded.kind {
        ImageKind::Kernel { .. } => name,
        _ => text(&recorded.path),
    };
    let build_id = recorded.build_id.as_ref();
    Image {
        name,
        path,
        build_id: build_id.map(|id| text(id.to_string().as_bytes())),
        kind: kind_of(recorded),
        base: recorded.reference_symbol().map(|symbol| symbol.avma.0),
    }
}

fn kind_of(image: &RecordedImage) -> CodeKind {
    match image.kind {
        ImageKind::GuestUser => CodeKind::Program,
        ImageKind::User => user_kind_of(image),
        _ => CodeKind::Kernel,
    }
}

fn user_kind_of(image: &RecordedImage) -> CodeKind {
    let path = &image.path;
    let name = image.short_name();
    let is_library = path == b"[vdso]" || name.windows(3).any(|part| part == b".so");
    match (image.is_jit_code(), is_library) {
        (true, _) => CodeKind::Jit,
        (_, true) => CodeKind::Library,
        _ if path.starts_with(b"[") => CodeKind::Unknown,
        _ => CodeKind::Program,
    }
}
