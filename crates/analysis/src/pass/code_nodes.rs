//! Locations as the nodes of stacks: those that need not be told apart are one.

use super::load::{Options, query_of};
use super::query::{Query, WantedFrames};
use crate::Error;
use crate::recording::Recording;
use crate::symbolize::{Positions, Symbols};
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_machine::{History, ImageId, ImageKind, RecordedImage};
use rprof_profile::{
    CodeFrame, CodeImage, CodeKind, CodeLocation, CodeTable, FrameId, NodeKey, StrId, Strings, Tree,
};
use rprof_symbols::{Detail, Request};

/// What options ask of a recording, and of its symbols, where nodes are code: lines, too.
///
/// # Errors
/// As [`check_filter`](crate::check_filter).
pub fn code_query<'a>(
    recording: &'a Recording<'a>,
    options: &'a Options,
) -> Result<(Query<'a>, Request), Error> {
    let (mut query, mut request) = query_of(recording, options, WantedFrames::All)?;
    query.positions = Some(Positions {
        in_rows: false,
        nodes: NodeKey::Function,
        full_paths: false,
        inlines: options.inlines,
    });
    request.detail = Detail::Lines;
    Ok((query, request))
}

/// The nodes that locations are in stacks of code.
///
/// Callers on one line of a function are one; where samples were taken, each location is code of
/// its own. So the tree of stacks does not grow with every call site, and an instruction that
/// was sampled is still known.
pub(super) struct CodeNodes {
    /// By location, the number of the caller there.
    callers: Vec<u32>,
    /// By number of a caller, its location with the lowest address. Numbers from here on are locations.
    lowest: Vec<u32>,
}

impl CodeNodes {
    /// Of all locations that have symbols, with lines.
    pub(super) fn new(symbols: &Symbols) -> Self {
        let locations = symbols.locations();
        let mut callers = Vec::with_capacity(locations.len());
        let mut lowest: Interner<u32, u32, RandomState, (u32, Vec<CodeFrame>)> =
            Interner::default();
        for (location, key) in (0u32..).zip(locations) {
            let frames = frames(symbols, location).collect();
            callers.push(lowest.intern_with((key.image, frames), |_| location));
        }
        Self {
            callers,
            lowest: lowest.into_values(),
        }
    }

    /// The node of a location as a caller.
    #[inline]
    pub(super) fn caller(&self, location: u32) -> Option<FrameId> {
        let caller = self.callers.get(location as usize).copied();
        caller.map(FrameId::from_number)
    }

    /// The node of a location where a sample was taken.
    #[inline]
    pub(super) fn sampled(&self, location: u32) -> Option<FrameId> {
        self.caller(location)?;
        let number = self.n_callers().checked_add(location)?;
        Some(FrameId::from_number(number))
    }

    fn n_callers(&self) -> u32 {
        u32::try_from(self.lowest.len()).unwrap_or(u32::MAX)
    }

    fn location(&self, node: FrameId) -> u32 {
        let number = node.number();
        let caller = self.lowest.get(number as usize).copied();
        caller.unwrap_or(number.wrapping_sub(self.n_callers()))
    }

    /// Describes the nodes of a tree, which get numbers in the order in which it has them.
    pub(super) fn describe(
        &self,
        tree: &mut Tree,
        (history, symbols): (&History, &Symbols),
        strings: &mut Strings,
    ) -> CodeTable {
        let mut numbers: Interner<u32, FrameId, RandomState> = Interner::default();
        tree.map_frames(|node| FrameId::from_number(numbers.intern(node)));
        let mut images: Interner<u32, CodeImage, RandomState, u32> = Interner::default();
        let mut table = CodeTable::default();
        for node in numbers.into_values() {
            let location = self.location(node);
            let Some(&key) = symbols.locations().get(location as usize) else {
                continue;
            };
            let recorded = history.images().of(ImageId(key.image));
            let image = images.intern_with(key.image, |_| code_image(recorded, strings));
            let function = symbols.start(location);
            let is_kernel = images
                .get(image)
                .is_some_and(|image| image.kind == CodeKind::Kernel);
            let svma = if is_kernel {
                Some(key.address)
            } else {
                function.and_then(|start| start.checked_add(symbols.offset(location)))
            };
            table.locations.push(CodeLocation {
                image,
                address: key.address,
                svma,
                function,
                frames: frames(symbols, location).collect(),
            });
        }
        table.images = images.into_values();
        table
    }
}

/// Frames of a location, innermost first.
fn frames(symbols: &Symbols, location: u32) -> impl Iterator<Item = CodeFrame> {
    let lines = symbols.lines(location);
    let frames = symbols.frames(location).iter().enumerate();
    frames.map(|(idx, &frame)| CodeFrame {
        frame,
        line: lines
            .get(idx)
            .copied()
            .flatten()
            .filter(|&(_, line)| line > 0),
    })
}

fn code_image(recorded: Option<&RecordedImage>, strings: &mut Strings) -> CodeImage {
    let mut text = |bytes: &[u8]| -> StrId { strings.intern(&String::from_utf8_lossy(bytes)) };
    let Some(recorded) = recorded else {
        let unknown = text(b"[unknown]");
        return CodeImage {
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
    CodeImage {
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
