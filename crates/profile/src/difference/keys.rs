//! What functions are matched by: names in three forms, and which form decides.

use super::classes::{Sides, shared};
use super::functions::MatchedBy;
use super::images::ImageMatch;
use super::{Side, SideFunctions, jit_name, source_name, stable_name, whole_name};
use crate::{FrameInfo, Level, StrId, Strings};
use foldhash::{HashMap, HashSet};
use rprof_untrusted::Untrusted;

/// A function of a recording, by numbers that all recordings share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FunctionKey {
    /// Class of its image.
    image: u32,
    level: Level,
    name: NameKey,
}

impl FunctionKey {
    /// Number of its name, as it was recorded.
    pub(super) fn full_name(&self) -> Option<StrId> {
        match self.name {
            NameKey::Name(forms) => Some(forms.name),
            NameKey::Start(_) | NameKey::Image => None,
        }
    }
}

/// What it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum NameKey {
    /// By its name, in three forms; each follows from the one before.
    Name(NameForms),
    /// By where it starts in an image that is the same on both sides.
    Start(u64),
    /// By its image: nothing else is known.
    Image,
}

/// Numbers of a name's forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct NameForms {
    name: StrId,
    stable: StrId,
    source: StrId,
    /// The stable name of the function that it is a part of, if there is one.
    whole: Option<StrId>,
}

/// Functions that are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ClassKey {
    pub(super) image: u32,
    pub(super) level: Level,
    pub(super) by: MatchedBy,
    name: ClassName,
}

impl ClassKey {
    pub(super) fn is_function(&self) -> bool {
        self.name != ClassName::Image
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ClassName {
    Name(StrId),
    Start(u64),
    Image,
}

/// The names of all recordings' functions.
#[derive(Debug, Default)]
pub(super) struct FunctionNames(Strings);

impl FunctionNames {
    /// The key of each frame of a recording, by number of the frame.
    pub(super) fn keys(
        &mut self,
        recording: &SideFunctions<'_>,
        images: &ImageMatch,
    ) -> Vec<FunctionKey> {
        let SideFunctions {
            frames, strings, ..
        } = recording;
        let mut classes: HashMap<StrId, u32> = HashMap::default();
        let mut forms: HashMap<(StrId, bool), NameForms> = HashMap::default();
        let key = |id| {
            let FrameInfo {
                name,
                image,
                start,
                level,
                is_fde,
                is_jit,
                ..
            } = *frames.of(id);
            let image = *classes
                .entry(image)
                .or_insert_with(|| images.class(recording.side, strings.of(image).into_raw()));
            let start = start.filter(|_| is_fde && images.is_one_build(image));
            let is_jit = is_jit || images.is_jit(image);
            let name = match (name, start) {
                (Some(name), _) => NameKey::Name(
                    *forms
                        .entry((name, is_jit))
                        .or_insert_with(|| self.forms(strings.of(name).into_raw(), is_jit)),
                ),
                (None, Some(start)) => NameKey::Start(start),
                (None, None) => NameKey::Image,
            };
            FunctionKey { image, level, name }
        };
        frames.ids().map(key).collect()
    }

    fn forms(&mut self, name: &str, is_jit: bool) -> NameForms {
        let (stable, whole) = if is_jit {
            (jit_name(name), None)
        } else {
            let stable = stable_name(name);
            let whole = whole_name(&stable).map(|whole| self.0.intern(&whole));
            (stable, whole)
        };
        NameForms {
            name: self.0.intern(name),
            source: self.0.intern(&source_name(&stable)),
            stable: self.0.intern(&stable),
            whole,
        }
    }

    /// Makes parts of functions (`f.cold`) one with these, where their image has them on either side.
    pub(super) fn join_parts(&mut self, recordings: &mut [Vec<FunctionKey>]) {
        let all = recordings.iter().flatten();
        let known = all.filter_map(|key| match key.name {
            NameKey::Name(forms) => Some((key.image, forms.stable)),
            _ => None,
        });
        let known: HashSet<(u32, StrId)> = known.collect();
        for key in recordings.iter_mut().flatten() {
            if let NameKey::Name(forms) = &mut key.name
                && let Some(whole) = forms.whole.take()
                && known.contains(&(key.image, whole))
            {
                let source = source_name(self.0.of(whole).into_raw()).into_owned();
                forms.stable = whole;
                forms.source = self.0.intern(&source);
            }
        }
    }

    /// What the functions of a class are called.
    pub(super) fn label(&self, class: &ClassKey, images: &ImageMatch) -> Untrusted<String> {
        let image = images.name(class.image);
        let bare = image.trim_start_matches('[').trim_end_matches(']');
        Untrusted::new(match class.name {
            ClassName::Name(name) => self.0.of(name).into_raw().to_owned(),
            ClassName::Start(start) => format!("[{bare}+{start:#x}]"),
            ClassName::Image if image == "[unknown]" => image.to_owned(),
            ClassName::Image => format!("[unknown] ({image})"),
        })
    }
}

/// A name of functions of an image.
type Place = (u32, Level, StrId);

/// Which form of its name decides for a function.
#[derive(Debug)]
pub(super) struct Steps {
    /// Stable names that both sides have.
    stable: HashSet<Place>,
    /// Those of them whose parts only one side has.
    uneven: HashSet<Place>,
    /// Names in the source that both sides have, of what is left.
    source: HashSet<Place>,
}

impl Steps {
    pub(super) fn of<'k, K>(keys: impl Fn() -> K) -> Self
    where
        K: Iterator<Item = (Side, &'k FunctionKey)>,
    {
        let named = || {
            keys().filter_map(|(side, key)| match key.name {
                NameKey::Name(forms) => Some((side, (key.image, key.level), forms)),
                _ => None,
            })
        };
        let stable = shared(
            named().map(|(side, (image, level), forms)| (side, (image, level, forms.stable))),
        );
        let mut parts: HashMap<(u32, Level, NameForms), Sides> = HashMap::default();
        for (side, (image, level), forms) in named() {
            parts.entry((image, level, forms)).or_default().add(side);
        }
        let uneven = parts.into_iter().filter(|(_, sides)| !sides.are_both());
        let uneven = uneven
            .map(|((image, level, forms), _)| (image, level, forms.stable))
            .collect();
        let left = named()
            .filter(|(_, (image, level), forms)| !stable.contains(&(*image, *level, forms.stable)));
        let source =
            shared(left.map(|(side, (image, level), forms)| (side, (image, level, forms.source))));
        Self {
            stable,
            uneven,
            source,
        }
    }

    /// The class that a function is in.
    pub(super) fn class(&self, key: &FunctionKey) -> ClassKey {
        let &FunctionKey { image, level, name } = key;
        let (by, name) = match name {
            NameKey::Name(forms) => {
                let (by, name) = self.form(image, level, forms);
                (by, ClassName::Name(name))
            }
            NameKey::Start(start) => (MatchedBy::Name, ClassName::Start(start)),
            NameKey::Image => (MatchedBy::Name, ClassName::Image),
        };
        ClassKey {
            image,
            level,
            by,
            name,
        }
    }

    fn form(&self, image: u32, level: Level, forms: NameForms) -> (MatchedBy, StrId) {
        let stable = (image, level, forms.stable);
        let source = (image, level, forms.source);
        if self.stable.contains(&stable) {
            if self.uneven.contains(&stable) {
                (MatchedBy::StableName, forms.stable)
            } else {
                (MatchedBy::Name, forms.name)
            }
        } else if self.source.contains(&source) {
            (MatchedBy::SourceName, forms.source)
        } else {
            (MatchedBy::Name, forms.name)
        }
    }
}
