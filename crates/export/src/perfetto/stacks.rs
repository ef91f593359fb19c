//! Stacks, frames, functions and images: each is written once, and has a number from then on.

use super::messages::{Callstack, Frame, InternedData, InternedString, Mapping};
use foldhash::{HashMap, HashSet};
use rprof_analysis::{Recording, Symbols};
use rprof_base::BuildId;
use rprof_machine::ImageId;
use rprof_profile::{FrameId, StrId};

/// What numbers stand for, by the numbers of locations.
pub(super) struct Names<'a> {
    recording: &'a Recording<'a>,
    symbols: &'a Symbols,
    /// By location, how many frames those before it have.
    first_frames: Vec<u64>,
}

/// What of an event's stacks has been written.
#[derive(Debug, Default)]
pub(super) struct NumberedStacks {
    /// By locations, innermost first.
    stacks: HashMap<Box<[u32]>, u64>,
    locations: HashSet<u32>,
    functions: HashSet<FrameId>,
    images: HashSet<u32>,
    sources: HashSet<StrId>,
}

impl<'a> Names<'a> {
    pub(super) fn new(recording: &'a Recording<'a>, symbols: &'a Symbols) -> Self {
        let mut n_frames = 0;
        let locations = (0..).zip(symbols.locations());
        let first_frames = locations.map(|(number, _)| {
            let first = n_frames;
            n_frames += symbols.frames(number).len() as u64;
            first
        });
        Self {
            first_frames: first_frames.collect(),
            recording,
            symbols,
        }
    }

    /// The numbers of a location's frames, outermost first.
    fn frames_of(&self, location: u32) -> impl Iterator<Item = u64> {
        let first = self.first_frames.get(location as usize);
        let first = first.copied().unwrap_or(0);
        let n_frames = self.symbols.frames(location).len() as u64;
        (first..first + n_frames).rev().map(|at| at + 1)
    }
}

impl NumberedStacks {
    /// The number of a stack, and whether it is new: then it is added to `interned`, with what it leads to.
    pub(super) fn number(
        &mut self,
        stack: &[u32],
        names: &Names<'_>,
        interned: &mut InternedData,
    ) -> (u64, bool) {
        if let Some(&number) = self.stacks.get(stack) {
            return (number, false);
        }
        let number = self.stacks.len() as u64 + 1;
        self.stacks.insert(stack.into(), number);
        for &location in stack {
            self.add_location(location, names, interned);
        }
        let outermost_first = stack.iter().rev();
        let frame_ids = outermost_first.flat_map(|&location| names.frames_of(location));
        interned.callstacks.push(Callstack {
            iid: Some(number),
            frame_ids: frame_ids.collect(),
        });
        (number, true)
    }

    fn add_location(&mut self, location: u32, names: &Names<'_>, interned: &mut InternedData) {
        if !self.locations.insert(location) {
            return;
        }
        let symbols = names.symbols;
        let known = symbols.locations().get(location as usize);
        let (image, address) = known.map_or((u32::MAX, 0), |known| (known.image, known.address));
        let lines = symbols.lines(location);
        let iids: Vec<u64> = names.frames_of(location).collect();
        let frames = symbols.frames(location);
        for ((depth, &function), iid) in frames.iter().enumerate().zip(iids.into_iter().rev()) {
            self.add_image(image, function, names, interned);
            if self.functions.insert(function) {
                let label = symbols.functions.label(function, &symbols.strings);
                let name = symbols.functions.of(function).name;
                let name = name.map(|name| symbols.strings.of(name).into_raw().to_owned());
                let name = name.unwrap_or_else(|| label.into_raw());
                (interned.function_names).push(text(function_iid(function), name.as_bytes()));
            }
            let line = lines.get(depth).copied().flatten();
            let line = line.filter(|&(_, line)| line > 0);
            if let Some((source, _)) = line
                && self.sources.insert(source)
            {
                let path = symbols.strings.of(source).into_raw();
                (interned.source_paths).push(text(source_iid(source), path.as_bytes()));
            }
            interned.frames.push(Frame {
                iid: Some(iid),
                function_name_id: Some(function_iid(function)),
                mapping_id: Some(image_iid(image)),
                rel_pc: Some(address),
                source_path_iid: line.map(|(source, _)| source_iid(source)),
                line_number: line.map(|(_, line)| line),
            });
        }
    }

    fn add_image(
        &mut self,
        image: u32,
        function: FrameId,
        names: &Names<'_>,
        interned: &mut InternedData,
    ) {
        if !self.images.insert(image) {
            return;
        }
        let (iid, symbols) = (image_iid(image), names.symbols);
        let images = names.recording.index.history.images();
        let recorded = images.of(ImageId(image));
        let module = symbols.strings.of(symbols.functions.of(function).image);
        let path = recorded.map_or(module.into_raw().as_bytes(), |one| one.long_name());
        interned.mapping_paths.push(text(iid, path));
        let build_id = recorded.and_then(|one| one.build_id.as_ref());
        let build_id = build_id.map(BuildId::as_bytes);
        (interned.build_ids).extend(build_id.map(|bytes| InternedString {
            iid: Some(iid),
            str: Some(bytes.to_vec()),
        }));
        interned.mappings.push(Mapping {
            iid: Some(iid),
            build_id: build_id.map(|_| iid),
            path_string_ids: vec![iid],
        });
    }
}

/// Numbers count from 1.
fn function_iid(function: FrameId) -> u64 {
    u64::from(function.number()) + 1
}

fn image_iid(image: u32) -> u64 {
    u64::from(image) + 1
}

fn source_iid(source: StrId) -> u64 {
    u64::from(source.number()) + 1
}

fn text(iid: u64, bytes: &[u8]) -> InternedString {
    InternedString {
        iid: Some(iid),
        str: Some(bytes.to_vec()),
    }
}
