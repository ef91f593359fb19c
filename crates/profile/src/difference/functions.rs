//! Functions of two sides that are one.

use super::classes::Sides;
use super::images::ImageMatch;
use super::keys::{ClassKey, FunctionKey, FunctionNames, Steps};
use super::{Side, SideFunctions};
use crate::view::{nameless_label, safe};
use crate::{FrameId, Level, StrId};
use foldhash::fast::RandomState;
use foldhash::{HashMap, HashSet};
use rprof_base::Interner;
use rprof_untrusted::Untrusted;

/// By what functions are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MatchedBy {
    /// Their names; code without names by its image, and where builds are the same by its address.
    Name,
    /// Their names without hashes and suffixes ([`stable_name`](super::stable_name)): parts that one side has otherwise.
    StableName,
    /// Their names in the source ([`source_name`](super::source_name)).
    SourceName,
}

/// A function of one side, or of both.
#[derive(Clone, Debug)]
pub struct MatchedFunction {
    /// What it is called: its name, or what stands for one.
    pub label: Untrusted<String>,
    /// Short name of its image; of several the one after.
    pub image: Untrusted<String>,
    /// Who runs it.
    pub level: Level,
    /// Whether it is a function, with a name or without; else all code of an image that has none.
    pub is_function: bool,
    /// Whether it is inlined wherever it is.
    pub is_inlined: bool,
    /// Whether its code was made while the program ran.
    pub is_jit: bool,
    /// Which sides have it.
    pub sides: Sides,
    /// By what.
    pub by: MatchedBy,
    /// Whether both sides have it, and neither has a name of it that the other has.
    pub is_renamed: bool,
    /// Tells images of one name apart.
    image_class: u32,
}

impl MatchedFunction {
    /// By what rows are sorted: no two are the same.
    fn order(&self) -> (&str, &str, u32, Level, MatchedBy) {
        let (label, image) = (self.label.raw(), self.image.raw());
        (label, image, self.image_class, self.level, self.by)
    }

    /// How it is called in tables: perf's sign of its level, and its label.
    pub fn symbol(&self) -> String {
        let inlined = if self.is_inlined { " (inlined)" } else { "" };
        format!("[{}] {}{inlined}", self.level.sign(), self.label)
    }

    /// How it is called in stacks: its label, or what stands for all code of its image that has no names.
    pub fn stack_label(&self) -> String {
        if self.is_function {
            safe(self.label.raw())
        } else {
            nameless_label(self.image.raw())
        }
    }
}

/// The functions of recordings before and after, each in one class, whatever they are called on either side.
///
/// A function is matched by the first of these that gives it a partner on the other side: its name; its name without
/// hashes and suffixes, where the sides do not have the same parts of it; its name in the source, with all that are
/// left of that name. Its image must be the same, or be likely so: of one build id, one name, or one name without
/// version; if one program that was recorded is left on each side, it is the same. What finds no partner is alone, under its own name. Neither the order of the sides nor that of functions
/// plays a part. Nothing is left out, so sums over classes are sums over functions.
#[derive(Clone, Debug, Default)]
pub struct FunctionMatch {
    functions: Vec<MatchedFunction>,
    /// By recording and number of the frame.
    numbers: Vec<Vec<u32>>,
    renamed_program: Option<(String, String)>,
}

impl FunctionMatch {
    /// Matches all functions of some recordings.
    pub fn of(recordings: &[SideFunctions<'_>]) -> Self {
        let images = ImageMatch::of(recordings);
        let mut names = FunctionNames::default();
        let keys = recordings.iter();
        let mut keys: Vec<_> = keys.map(|one| names.keys(one, &images)).collect();
        names.join_parts(&mut keys);
        let sides = recordings.iter().map(|one| one.side).zip(&keys);
        let steps = Steps::of(|| {
            let sides = sides.clone();
            sides.flat_map(|(side, keys)| keys.iter().map(move |key| (side, key)))
        });
        let mut functions: Interner<u32, MatchedFunction, RandomState, ClassKey> =
            Interner::default();
        let mut numbers = Vec::with_capacity(recordings.len());
        let mut kept = KeptNames::default();
        for (recording, keys) in recordings.iter().zip(&keys) {
            let number = |(id, key): (FrameId, &FunctionKey)| {
                let class = steps.class(key);
                let number = functions.intern_with(class, |class| MatchedFunction {
                    label: names.label(class, &images),
                    image: Untrusted::new(images.name(class.image).to_owned()),
                    level: class.level,
                    is_function: class.is_function(),
                    is_inlined: true,
                    is_jit: false,
                    sides: Sides::default(),
                    by: class.by,
                    is_renamed: false,
                    image_class: class.image,
                });
                if let Some(function) = functions.get_mut(number) {
                    let frame = recording.frames.of(id);
                    function.sides.add(recording.side);
                    function.is_inlined &= frame.is_inlined;
                    function.is_jit |= frame.is_jit;
                    kept.add(number, recording.side, key);
                }
                number
            };
            numbers.push(recording.frames.ids().zip(keys).map(number).collect());
        }
        kept.finish(&mut functions);
        Self {
            renamed_program: images.renamed,
            ..Self::in_order(functions, numbers)
        }
    }

    /// What the recorded program was called before and after, where by nothing but that it was recorded it is the same.
    pub fn renamed_program(&self) -> Option<&(String, String)> {
        self.renamed_program.as_ref()
    }

    /// All functions, in the order of their labels.
    pub fn functions(&self) -> &[MatchedFunction] {
        &self.functions
    }

    /// The number in [`Self::functions`] of a frame of a recording, as the recordings were given.
    pub fn number(&self, recording: usize, frame: FrameId) -> Option<u32> {
        let numbers = self.numbers.get(recording)?;
        numbers.get(frame.number() as usize).copied()
    }

    /// Numbered by what they are called: by nothing that depends on the order of frames.
    fn in_order(
        functions: Interner<u32, MatchedFunction, RandomState, ClassKey>,
        mut numbers: Vec<Vec<u32>>,
    ) -> Self {
        let functions = functions.into_values();
        let mut order: Vec<(u32, MatchedFunction)> = (0..).zip(functions).collect();
        order.sort_by(|(_, one), (_, other)| one.order().cmp(&other.order()));
        let mut places = vec![0; order.len()];
        for (place, (number, _)) in (0..).zip(&order) {
            places[*number as usize] = place;
        }
        for number in numbers.iter_mut().flatten() {
            *number = places[*number as usize];
        }
        let functions = order.into_iter().map(|(_, function)| function).collect();
        Self {
            functions,
            numbers,
            renamed_program: None,
        }
    }
}

/// The sides of each name of the functions that are matched by something else than their names.
#[derive(Debug, Default)]
struct KeptNames(HashMap<(u32, StrId), Sides>);

impl KeptNames {
    fn add(&mut self, function: u32, side: Side, key: &FunctionKey) {
        if let Some(name) = key.full_name() {
            self.0.entry((function, name)).or_default().add(side);
        }
    }

    fn finish(self, functions: &mut Interner<u32, MatchedFunction, RandomState, ClassKey>) {
        let kept = self.0.into_iter().filter(|(_, sides)| sides.are_both());
        let kept: HashSet<u32> = kept.map(|((function, _), _)| function).collect();
        for number in 0..u32::try_from(functions.len()).unwrap_or(u32::MAX) {
            if let Some(function) = functions.get_mut(number) {
                function.is_renamed = function.by != MatchedBy::Name
                    && function.sides.are_both()
                    && !kept.contains(&number);
            }
        }
    }
}

#[cfg(test)]
mod tests;
