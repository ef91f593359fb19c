//! Mappings, locations and functions.

use crate::facts::image_spans;
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_pprof::{
    PprofFunction as Function, PprofLine as Line, PprofLocation as Location,
    PprofMapping as Mapping,
};
use rprof_profile::{CodeFrame, CodeKind, CountedStacks, FrameId, Profile, StrId};

/// The list of strings.
pub(super) struct Strings(Interner<u32, String, RandomState>);

impl Strings {
    pub(super) fn new() -> Self {
        let mut strings = Self(Interner::default());
        strings.of("");
        strings
    }

    /// The number of a string, new or seen before.
    pub(super) fn of(&mut self, text: &str) -> i64 {
        self.0.intern_ref(text).into()
    }

    /// All of them, by number.
    pub(super) fn into_all(self) -> Vec<String> {
        self.0.into_values()
    }
}

/// All tables that samples lead to.
pub(super) struct Tables {
    /// In the order of images.
    pub(super) mappings: Vec<Mapping>,
    /// In the order of code.
    pub(super) locations: Vec<Location>,
    pub(super) functions: Vec<Function>,
}

impl Tables {
    pub(super) fn of(stacks: &CountedStacks, strings: &mut Strings) -> Self {
        let mut functions = Functions::default();
        let locations = (1u64..).zip(&stacks.code.locations).map(|(id, code)| {
            let lines = code.frames.iter().map(|frame| Line {
                function_id: functions.of(&stacks.profile, frame, strings),
                line: frame.line.map_or(0, |(_, line)| line.into()),
            });
            Location {
                id,
                mapping_id: u64::from(code.image) + 1,
                address: code.address,
                line: lines.collect(),
            }
        });
        let locations = locations.collect();
        Self {
            mappings: mappings(stacks, strings),
            locations,
            functions: functions.0.into_values(),
        }
    }
}

fn mappings(stacks: &CountedStacks, strings: &mut Strings) -> Vec<Mapping> {
    let text = |id: StrId| stacks.profile.strings.of(id).into_raw();
    let images = stacks.code.images.iter().zip(image_spans(&stacks.code));
    let mut mappings: Vec<Mapping> = (1u64..)
        .zip(images)
        .map(|(id, (image, span))| Mapping {
            id,
            memory_start: span.start,
            memory_limit: span.limit,
            file_offset: span.file_offset,
            filename: strings.of(text(image.path)),
            build_id: image.build_id.map_or(0, |id| strings.of(text(id))),
            // Without them pprof would look for names itself, which it is free to do where we
            // have found none.
            has_functions: false,
            ..Mapping::default()
        })
        .collect();
    for code in &stacks.code.locations {
        let Some(mapping) = mappings.get_mut(code.image as usize) else {
            continue;
        };
        let is_named = |frame: &CodeFrame| stacks.profile.frames.of(frame.frame).name.is_some();
        let has_lines = code.frames.iter().any(|frame| frame.line.is_some());
        mapping.has_functions |= code.frames.iter().any(is_named);
        mapping.has_filenames |= has_lines;
        mapping.has_line_numbers |= has_lines;
        mapping.has_inline_frames |= code.frames.len() > 1;
    }
    // The first one counts as what the profile is of.
    let main = main_image(stacks).and_then(|main| mappings.get_mut(..=main));
    main.into_iter().for_each(|first| first.rotate_right(1));
    mappings
}

/// Index of the program in which most was sampled.
fn main_image(stacks: &CountedStacks) -> Option<usize> {
    let mut weights = vec![0u128; stacks.code.images.len()];
    for one in &stacks.counts {
        let node = stacks.stacks.path(one.stack).next();
        let code = node.and_then(|node| stacks.code.of(node));
        if let Some(sum) = code.and_then(|code| weights.get_mut(code.image as usize)) {
            *sum += u128::from(one.count.weight);
        }
    }
    let images = stacks.code.images.iter().zip(weights).enumerate();
    let programs = images.filter(|(_, (image, _))| image.kind == CodeKind::Program);
    let heaviest = programs.max_by_key(|&(idx, (_, weight))| (weight, std::cmp::Reverse(idx)));
    heaviest.map(|(idx, _)| idx)
}

/// Functions by name and file.
#[derive(Default)]
struct Functions(Interner<u32, Function, RandomState, (FrameId, Option<StrId>)>);

impl Functions {
    fn of(&mut self, profile: &Profile, frame: &CodeFrame, strings: &mut Strings) -> u64 {
        let file = frame.line.map(|(file, _)| file);
        let next = self.0.len() as u64 + 1;
        let number = self.0.intern_with((frame.frame, file), |_| {
            let known = profile.frames.of(frame.frame);
            let name = match known.name {
                Some(name) => profile.strings.of(name).into_raw().to_owned(),
                None => profile
                    .frames
                    .label(frame.frame, &profile.strings)
                    .into_raw(),
            };
            Function {
                id: next,
                name: strings.of(&name),
                system_name: 0,
                filename: file.map_or(0, |file| strings.of(profile.strings.of(file).into_raw())),
            }
        });
        u64::from(number) + 1
    }
}
